"""Says what the numbers and headers among a model's options may be, for every kind of model and the window alike."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["HEADER_NAME", "NUMBER_OPTIONS", "NumberOption", "header_problem", "number_problem", "whole_call"]

_KEY_HEADERS = frozenset({"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie"})
_FRAMING_HEADERS = frozenset({"content-length", "transfer-encoding"})
"""What tells where a request ends: each request has its own."""
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class NumberOption:
    """One option: its least and greatest value (both allowed), whether it is whole, and what it is, in words."""

    least: float
    most: float = math.inf
    whole: bool = False
    words: str = "a number"
    or_false: bool = False


NUMBER_OPTIONS: Mapping[str, NumberOption] = {
    "timeout": NumberOption(0.001, words="a number of seconds above 0"),
    "max_retries": NumberOption(0, whole=True, words="a whole number from 0: the requests after the first"),
    "max_tokens": NumberOption(1, whole=True, words="a whole number of tokens from 1"),
    "temperature": NumberOption(
        0, 2, words="a number from 0 to 2, or false where none is to be sent", or_false=True
    ),
    "seed": NumberOption(-math.inf, whole=True, words="a whole number"),
    "n_ctx": NumberOption(128, whole=True, words="a whole number of tokens from 128"),
    "n_threads": NumberOption(1, whole=True, words="a whole number from 1"),
    "num_ctx": NumberOption(1, whole=True, words="a whole number of tokens from 1"),
}
"""The options of `ModelSettings` that are numbers and bounded the same way for every provider."""


def number_problem(key: str, value: Any) -> str | None:
    """Return what the option `key` of `NUMBER_OPTIONS` must be, `None` when `value` will do."""
    option = NUMBER_OPTIONS[key]
    if value is False and option.or_false:
        return None
    if isinstance(value, bool) or not isinstance(value, int if option.whole else int | float):
        return option.words
    return None if option.least <= value <= option.most and value < math.inf else option.words


def whole_call(options: Mapping[str, Any], key: str, budget: float, timeout: float) -> float:
    """Return the seconds that a call has with all its attempts.

    A `budget` that the project sets under `key` is kept to. One that nobody set gives way to a longer `timeout`:
    who grants one attempt more time means it. A budget of 0 forbids retries, not the first attempt.
    """
    return budget if options.get(key) and budget > 0 else max(budget, timeout)


def header_problem(name: str, value: str) -> tuple[str, str | None] | None:
    """Return what is wrong with a header of a project, and a hint; `None` when it can be sent.

    The problem is the end of a sentence that begins with the header. The value may be confidential, so that it is not
    shown.
    """
    if name.lower() in _KEY_HEADERS:
        return "would carry a key in the project", "name a secret under `secret` instead"
    if name.lower() in _FRAMING_HEADERS:
        return "cannot be set: every request has its own", None
    if not HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
        return "cannot be sent: HTTP takes plain ASCII on one line", None
    return None
