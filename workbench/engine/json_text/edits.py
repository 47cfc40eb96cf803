"""Edits of a JSON text by pointer: each changes only the lines it is about and keeps the style of the rest."""

from __future__ import annotations

from workbench.engine.diagnostics import Fix
from workbench.engine.json_text.reading import JsonDocument
from workbench.engine.json_text.writing import dumps

_BLANKS = " \t\r\n"


def change(document: JsonDocument, pointer: str, text: str) -> Fix | None:
    """Return the edit that puts the JSON text `text` in the place of a value; `None` where it says so already."""
    span = document.span(pointer)
    if span is None or document.text[slice(*span)] == text:
        return None
    return Fix("Change", *span, text)


def append(document: JsonDocument, pointer: str, text: str) -> Fix | None:
    """Return the edit that adds `text`, an item or `"name": value`, at the end of a list or an object."""
    span = document.span(pointer)
    if span is None:
        return None
    source = document.text[slice(*span)]
    inner = source[1:-1]
    body = inner.rstrip()
    comma = "," if body.strip() else ""
    tail = inner[len(body) :]
    if "\n" in inner and body.strip():
        first = next(line for line in inner.split("\n")[1:] or [inner] if line.strip())
        indent = first[: len(first) - len(first.lstrip(" \t"))] or "  "
        addition = f"{comma}\n{indent}{text}"
    elif comma:
        addition = f", {text}"
    else:
        outer = _indent_of(document.text, span[0])
        addition, tail = f"\n{outer}  {text}", f"\n{outer}"
    at = span[0] + 1 + len(body)
    return Fix("Add", at, span[1] - 1, addition + tail)


def remove(document: JsonDocument, pointer: str) -> Fix | None:
    """Return the edit that takes a member or an item out, with the comma that belongs to it."""
    whole = _whole(document, pointer)
    if whole is None:
        return None
    text = document.text
    start, end = whole
    after = _skip(text, end)
    before = start
    while before > 0 and text[before - 1] in _BLANKS:
        before -= 1
    if text[after : after + 1] == ",":
        return Fix("Remove", start, _skip(text, after + 1), "")
    if before > 0 and text[before - 1] == ",":
        return Fix("Remove", before - 1, end, "")
    return Fix("Remove", before, after, "")


def duplicate(document: JsonDocument, pointer: str, name: str | None = None) -> Fix | None:
    """Return the edit that puts a copy of an item behind it; of a member, a copy with another `name`."""
    whole, span = _whole(document, pointer), document.span(pointer)
    if whole is None or span is None:
        return None
    text = document.text
    copy = text[slice(*span)]
    if document.key_span(pointer) is not None:
        copy = f"{dumps(name if name is not None else pointer)}: {copy}"
    line = text.rfind("\n", 0, whole[0]) + 1
    alone = not text[line : whole[0]].strip()
    glue = f",\n{text[line : whole[0]]}" if alone and "\n" in text else ", "
    return Fix("Duplicate", whole[1], whole[1], glue + copy)


def _whole(document: JsonDocument, pointer: str) -> tuple[int, int] | None:
    """Return the span of an item, or of a member with its name; `None` for the root and where nothing is."""
    span = document.span(pointer)
    if span is None or not pointer:
        return None
    key = document.key_span(pointer)
    return (key[0] if key is not None else span[0]), span[1]


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
