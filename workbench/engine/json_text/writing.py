"""Writes JSON text that says exactly what the value is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring
from typing import Any

from workbench.engine.json_text.scanner import RAW_SURROGATE

__all__ = ["dumps"]


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Return `value` as JSON text: non-ASCII as it is, integers exact, `1.0` stays `1.0`.

    Half surrogate pairs are written as escapes, so that the text can always be encoded. Values of any depth
    are written.

    Raises:
        ValueError: for NaN, an infinity, or a value that contains itself.
        TypeError: for what JSON cannot hold.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except RecursionError:
        text = "".join(_pieces(value, indent))
    if text.isascii():
        return text
    return RAW_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _pieces(value: Any, indent: int | None) -> Iterator[str]:
    """Yield the JSON text of a value that is too deep for `json.dumps`, with the same layout."""
    stack: list[tuple[Iterator[tuple[str, Any]], str, int]] = []
    open_ids: set[int] = set()

    def line(depth: int) -> str:
        return "" if indent is None else "\n" + " " * (indent * depth)

    def opened(container: Any) -> str:
        if id(container) in open_ids:
            raise ValueError("the value contains itself, which JSON cannot hold")
        open_ids.add(id(container))
        if isinstance(container, Mapping):
            entries = ((encode_basestring(_key_text(key)) + ": ", item) for key, item in container.items())
            stack.append((iter(entries), "}", id(container)))
            return "{"
        stack.append((iter(("", item) for item in container), "]", id(container)))
        return "["

    def written(item: Any) -> str:
        if isinstance(item, Mapping | list | tuple):
            return opened(item) if item else ("{}" if isinstance(item, Mapping) else "[]")
        return json.dumps(item, ensure_ascii=False, allow_nan=False)

    yield written(value)
    fresh = True
    while stack:
        entries, closer, identity = stack[-1]
        entry = next(entries, None)
        if entry is None:
            stack.pop()
            open_ids.discard(identity)
            yield line(len(stack)) + closer
            fresh = False
            continue
        separator = "" if fresh else (", " if indent is None else ",")
        depth = len(stack)
        text = written(entry[1])
        fresh = len(stack) > depth
        yield separator + line(depth) + entry[0] + text


def _key_text(key: Any) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool | int | float):
        return json.dumps(key, allow_nan=False)
    raise TypeError(f"names of members must be texts, not {type(key).__name__}")
