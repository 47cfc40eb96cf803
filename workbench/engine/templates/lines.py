"""Finds the lines of a template that a missing optional value takes away."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

_LINE_END = re.compile(r"\r\n?|\n")


def line_bounds(text: str) -> list[int]:
    """Return where each line of `text` begins, and at last its end.

    A line ends at LF, CR LF or a lone CR and nowhere else. A text that ends with a line end has no further,
    empty line after it.
    """
    bounds = [0, *(match.end() for match in _LINE_END.finditer(text))]
    if bounds[-1] != len(text):
        bounds.append(len(text))
    return bounds


def touched_lines(bounds: list[int], start: int, end: int) -> range:
    """Return the numbers (from 0) of the lines between `bounds` that the range from `start` to `end` touches."""
    first = bisect_right(bounds, start) - 1
    last = bisect_right(bounds, max(start, end - 1)) - 1
    return range(first, min(last, len(bounds) - 2) + 1)


def dropped_ranges(
    text: str, tokens: Iterable[tuple[int, int]], *, collapse_blank_lines: bool = False
) -> list[tuple[int, int]]:
    """Return the half-open ranges of `text` that go when every line that a token touches is dropped.

    Where the last line goes, the line end before it goes too, unless the text ended with a line end. With
    `collapse_blank_lines`, blank lines after a dropped line go as well when what stays before them is blank
    or the beginning, and blank lines before it when nothing stays after it.
    """
    bounds = line_bounds(text)
    dropped: set[int] = set()
    for start, end in tokens:
        dropped.update(touched_lines(bounds, start, end))
    if not dropped:
        return []
    if collapse_blank_lines:
        _collapse(text, bounds, dropped)
    ranges: list[tuple[int, int]] = []
    for line in sorted(dropped):
        if ranges and ranges[-1][1] == bounds[line]:
            ranges[-1] = (ranges[-1][0], bounds[line + 1])
        else:
            ranges.append((bounds[line], bounds[line + 1]))
    start, end = ranges[-1]
    if end == len(text) and start > 0 and not text.endswith(("\n", "\r")):
        before = start - 2 if text.startswith("\r\n", start - 2) else start - 1
        ranges[-1] = (before, end)
    return ranges


def _collapse(text: str, bounds: list[int], dropped: set[int]) -> None:
    """Add to `dropped` the blank lines that would stand doubled, or at an edge, where lines went."""
    count = len(bounds) - 1

    def blank(line: int) -> bool:
        return not text[bounds[line] : bounds[line + 1]].strip()

    stays_blank = True  # what stays before the line at hand is blank, or there is nothing
    after_drop = False
    for line in range(count):
        if line in dropped:
            after_drop = True
        elif after_drop and stays_blank and blank(line):
            dropped.add(line)
        else:
            after_drop = False
            stays_blank = blank(line)
    line = count - 1
    if after_drop:
        while line >= 0 and (line in dropped or blank(line)):
            dropped.add(line)
            line -= 1
