"""Reads JSON that has not arrived completely, for the preview of a streamed or cut reply."""

from __future__ import annotations

import json
import re
from typing import Any

from workbench.engine.json_text import DEFAULT_DEPTH
from workbench.engine.translation.scanning import (
    SCALAR,
    find_value_end,
    refuse_constant,
    scan_reply,
    space_end,
)


def partial_json(text: str, start: int = 0) -> tuple[Any, bool] | None:
    """Return the value of JSON that may stop anywhere, and whether it was complete; `None` for no value yet.

    The value holds what has arrived: complete members and items, and the part of a string that is there. A
    number or a word at the very end is left out since it may go on.
    """
    ending = find_value_end(text, start)
    if ending.complete:
        return _loads(text[start : ending.end]), True
    cut, closers = _partial_cut(text, start)
    if cut is None:
        return None
    return _loads(cut + closers), False


def preview_reply(text: str) -> tuple[Any, bool] | None:
    """Return the JSON of a reply that is still arriving, and whether it is complete; `None` for none yet.

    Prose, fences and reasoning in front of it are passed over, as in extraction; of several values the last counts.
    """
    scan = scan_reply(text, 0, len(text), frozenset(), False)
    if scan.broken is not None:
        return partial_json(text, scan.broken)
    if not scan.found:
        return None
    return _loads(text[scan.found[-1].start : scan.found[-1].end]), True


def _loads(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None


_PARTIAL_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')


def _partial_cut(text: str, start: int) -> tuple[str | None, str]:
    """Return the longest prefix that can be closed, and what closes it."""
    stack: list[str] = []
    position = start
    safe: tuple[int, str] | None = None
    value_next = True
    length = len(text)
    while position < length and len(stack) <= DEFAULT_DEPTH:
        position = space_end(text, position)
        character = text[position] if position < length else ""
        if not character:
            break
        if character in "{[":
            stack.append("}" if character == "{" else "]")
            position += 1
            value_next = character == "["
            safe = position, ""
        elif character in "}]":
            if not stack or stack[-1] != character:
                break
            stack.pop()
            position += 1
            safe = position, ""
        elif character in ",:":
            position += 1
            value_next = character == ":" or (bool(stack) and stack[-1] == "]")
            continue
        else:
            scalar = SCALAR.match(text, position)
            if scalar is None or (character != '"' and scalar.end() == length):
                unfinished = _PARTIAL_STRING.match(text, position)
                if unfinished is not None and value_next:
                    safe = unfinished.end(), '"'
                break
            position = scalar.end()
            if value_next:
                safe = position, ""
        if not stack:
            break
    if safe is None:
        return None, ""
    return text[start : safe[0]] + safe[1], "".join(reversed(_open_at(text, start, safe[0])))


def _open_at(text: str, start: int, end: int) -> list[str]:
    stack: list[str] = []
    for match in _STRING_OR_BRACKET.finditer(text, start, end):
        character = match[0]
        if character in "{[":
            stack.append("}" if character == "{" else "]")
        elif character in "}]" and stack:
            stack.pop()
    return stack


_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)|[\[\]{}]', re.DOTALL)
