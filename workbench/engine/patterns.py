"""Compiles regular expressions that a project brings along, and refuses those that would eat the memory.

The `regex` package writes counted repeats out: `a{99999999}` takes gigabytes before anything is searched, and
no time limit stops it. A search is stopped by its `timeout`; compiling is kept small by what is refused here.
"""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["MOST_ITEMS", "compile_pattern", "written_out"]

MOST_ITEMS: Final = 50_000
"""Items that a pattern may have when its repeats are written out; they take about 15 MB."""

_DEEPEST: Final = 100
_COUNT = re.compile(r"\{(\d*)(?:,\d*)?\}")
_GROUP_HEAD = re.compile(r"\((?:\?(?:P?<[^>]*>|[^)a-zA-Z]|[a-zA-Z-]*:)?|\*)?")
_NAMED_ESCAPE = re.compile(r"\\[pPNgk]\{[^}]*\}|\\.", re.DOTALL)


def compile_pattern(pattern: str, flags: int = 0) -> Any:
    """Return `pattern`, compiled by the `regex` package.

    Raises:
        regex.error: where it is malformed, nested more than 100 deep, or longer than `MOST_ITEMS` when its
            repeats are written out.
    """
    import regex

    size, depth = written_out(pattern)
    if depth > _DEEPEST:
        raise regex.error(f"groups are nested more than {_DEEPEST} deep")
    if size > MOST_ITEMS:
        raise regex.error(f"its repeats ask for more than {MOST_ITEMS:,} items; use smaller counts")
    try:
        return regex.compile(pattern, flags)
    except OverflowError as error:
        raise regex.error(f"a count is too large: {error}") from None


def written_out(pattern: str) -> tuple[int, int]:
    """Return how many items `pattern` has with its least repeats written out, and how deep its groups nest.

    The pattern need not be sound; the count is then that of its readable part.
    """
    totals = [0]
    deepest = at = last = 0
    while at < len(pattern):
        character = pattern[at]
        count = _COUNT.match(pattern, at) if character == "{" else None
        if count is not None:
            times = _least(count.group(1))
            totals[-1] += last * (times - 1)
            last *= times
            at = count.end()
            continue
        if character == "(":
            head = _GROUP_HEAD.match(pattern, at)
            totals.append(0)
            deepest = max(deepest, len(totals) - 1)
            at = head.end() if head else at + 1
            last = 0
            continue
        if character == ")" and len(totals) > 1:
            last = totals.pop() + 1
        elif character in "|*+?":
            last = 0 if character == "|" else last
            at += 1
            continue
        else:
            last = 1
        totals[-1] += last
        at = _item_end(pattern, at)
    return sum(totals), deepest


def _least(digits: str) -> int:
    """Return how often an item is written out; a number of many digits is too large whatever it is."""
    return max(1, int(digits or 1)) if len(digits) <= 9 else 10**9


def _item_end(pattern: str, at: int) -> int:
    """Return where the item that begins at `at` ends: an escape, a class in brackets, or one character."""
    escape = _NAMED_ESCAPE.match(pattern, at)
    if escape is not None:
        return escape.end()
    if pattern[at] != "[":
        return at + 1
    at += 1
    at += pattern.startswith("^", at)
    at += pattern.startswith("]", at)
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1
