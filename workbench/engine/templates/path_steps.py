"""Finds the steps of a path in its text, so that one name can be changed and everything else stays as typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.engine.json_path import JsonPathError, plain_segments
from workbench.engine.templates.paths import format_path

_NAME = re.compile(r"[^\s.\[\]'\"*?@()<>=!&|,:]+")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: its span with the dot or brackets, and what it selects.

    `name` is set for a single name, `several` for an index, a wildcard, a slice or a filter, which select
    items of a list; with neither it is something that is not followed (`..`, a union). `filter` is the span
    of a filter's expression.
    """

    start: int
    end: int
    name: str | None = None
    several: bool = False
    filter: tuple[int, int] | None = None


def rename_in_path(content: str, target: Sequence[str], new_name: str) -> str | None:
    """Return `content` with the name at `target` changed, `None` when the path does not speak of it.

    `target` are the tokens of a JSON Pointer; one that is an index stands for every item of its list, since
    items are alike. Names in filters that speak of the same place are changed too.
    """
    edits: list[tuple[int, int, str]] = []
    start = 1 if content.startswith("$") else 0
    _follow(content, start, len(content), list(target), new_name, edits)
    if not edits:
        return None
    for first, last, text in sorted(edits, reverse=True):
        content = content[:first] + text + content[last:]
    return content


def _follow(
    text: str, at: int, end: int, target: list[str], new_name: str, edits: list[tuple[int, int, str]]
) -> None:
    """Walk along the steps from `at` as long as they agree with `target`; note the change of its last name."""
    position = 0
    while at < end and position < len(target):
        step = read_step(text, at, end)
        if step is None:
            return
        wanted = target[position]
        if step.filter is not None and wanted.isdigit():
            _follow_filter(text, *step.filter, target[position + 1 :], new_name, edits)
        if step.name is not None:
            if step.name != wanted:
                return
            if position + 1 == len(target):
                path = format_path((new_name,))
                # The very first name of a path has no dot before it.
                dot = "" if path.startswith("[") or (step.start == 0 and text[:1] != ".") else "."
                edits.append((step.start, step.end, dot + path))
        elif not (step.several and wanted.isdigit()):
            return
        position += 1
        at = step.end


def _follow_filter(
    text: str, start: int, end: int, target: list[str], new_name: str, edits: list[tuple[int, int, str]]
) -> None:
    """Follow every `@` of a filter's expression; quoted texts in it are no paths."""
    at = start
    while at < end:
        if text[at] in "'\"":
            at = _after_quoted(text, at, end)
        elif text[at] == "@":
            at += 1
            _follow(text, at, end, target, new_name, edits)
        else:
            at += 1


def read_step(text: str, at: int, end: int) -> Step | None:
    """Return the step that begins at `at`, `None` when no step that is understood does."""
    start = at
    if text.startswith("..", at):
        return None
    if text.startswith(".", at):
        at += 1
    if text.startswith("[", at):
        return _bracket(text, start, at, end)
    if text.startswith("*", at):
        return Step(start, at + 1, several=True)
    found = _NAME.match(text, at, end)
    return None if found is None else Step(start, found.end(), found.group())


def _bracket(text: str, start: int, at: int, end: int) -> Step | None:
    close = _closing(text, at, end)
    if close is None:
        return None
    inner = text[at + 1 : close].strip()
    if inner.startswith("?"):
        first = text.index("?", at) + 1
        return Step(start, close + 1, several=True, filter=(first, close))
    if inner == "*" or re.fullmatch(r"-?\d+|-?\d*\s*:[-\d\s:]*", inner):
        return Step(start, close + 1, several=True)
    try:
        segments = plain_segments(f"[{inner}]")
    except JsonPathError:
        return None
    if segments is None or len(segments) != 1 or not isinstance(segments[0], str):
        return Step(start, close + 1)
    return Step(start, close + 1, segments[0])


def _closing(text: str, at: int, end: int) -> int | None:
    depth = 0
    while at < end:
        if text[at] in "'\"":
            at = _after_quoted(text, at, end)
            continue
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        if depth == 0:
            return at
        at += 1
    return None


def _after_quoted(text: str, at: int, end: int) -> int:
    quote = text[at]
    at += 1
    while at < end and text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return min(end, at + 1)
