"""JSON Pointers by RFC 6901: the addresses of values inside a JSON value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engine.text import shorten

__all__ = ["PointerError", "escape_pointer", "join_pointer", "resolve_pointer", "split_pointer"]


class PointerError(LookupError):
    """A JSON Pointer is malformed, or leads to nothing in the value; the text says which."""


def escape_pointer(token: str | int) -> str:
    """Return one reference token as RFC 6901 writes it: `~` is `~0` and `/` is `~1`."""
    return str(token).replace("~", "~0").replace("/", "~1")


def join_pointer(*tokens: str | int) -> str:
    """Return the JSON Pointer of member names and array indexes; no token gives the root, an empty text."""
    return "".join("/" + escape_pointer(token) for token in tokens)


def split_pointer(pointer: str) -> list[str]:
    """Return the tokens of a JSON Pointer; the root gives an empty list.

    Raises:
        PointerError: where the pointer neither is empty nor begins with `/`.
    """
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise PointerError(f"the JSON Pointer {shorten(pointer)!r} must be empty or begin with '/'")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def resolve_pointer(value: Any, pointer: str) -> Any:
    """Return what `pointer` leads to in `value` (mappings, lists and tuples are walked).

    Raises:
        PointerError: where the pointer is malformed or leads to nothing.
    """
    here = value
    tokens = split_pointer(pointer)
    for depth, token in enumerate(tokens):
        if isinstance(here, Mapping) and token in here:
            here = here[token]
            continue
        index = _array_index(token)
        if isinstance(here, list | tuple) and index is not None and index < len(here):
            here = here[index]
            continue
        raise PointerError(f"nothing is at {join_pointer(*tokens[: depth + 1])!r}")
    return here


def _array_index(token: str) -> int | None:
    """Return the array index that a token names by RFC 6901: ASCII digits without a leading zero."""
    if token.isascii() and token.isdigit() and (token == "0" or token[0] != "0") and len(token) < 19:
        return int(token)
    return None
