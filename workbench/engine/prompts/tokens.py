"""Puts values in the place of whole tokens, and drops the lines of tokens without a value (DashAI's contract)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from workbench.engine.templates.lines import dropped_ranges


def substitute(template: str, values: Mapping[str, Any]) -> str:
    """Replace every token of `values` in one pass from left to right; values become text by `str`.

    Tokens and values are literal text. Where several tokens match at one place, the longest wins. What was
    put in is never read again.

    Raises:
        ValueError: for an empty token.
    """
    if not values:
        return template
    return _pattern(values).sub(lambda match: str(values[match.group()]), template)


def drop_lines(template: str, absent: Collection[str], tokens: Collection[str]) -> str:
    """Drop every line that holds one of the `absent` tokens; `tokens` are all tokens of the template.

    Lines end at LF, CR LF or CR. When the last line goes, no line end is left dangling; a final line end
    that the template had stays.

    Raises:
        ValueError: for an empty token.
    """
    if not absent:
        return template
    places = [
        match.span() for match in _pattern({*tokens, *absent}).finditer(template) if match.group() in absent
    ]
    parts: list[str] = []
    done = 0
    for start, end in dropped_ranges(template, places):
        parts.append(template[done:start])
        done = end
    return "".join(parts) + template[done:]


def occurrences(template: str, token: str) -> Iterator[tuple[int, int]]:
    """Yield the half-open ranges of `template` at which `token` stands."""
    start = template.find(token)
    while start >= 0:
        yield start, start + len(token)
        start = template.find(token, start + len(token))


def _pattern(tokens: Collection[str]) -> re.Pattern[str]:
    if "" in tokens:
        raise ValueError("an empty token cannot be replaced; give the token's text, such as {input}")
    longest_first = sorted(tokens, key=len, reverse=True)
    return re.compile("|".join(re.escape(token) for token in longest_first))
