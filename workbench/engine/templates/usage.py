"""Tells which parameters no template reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import escape_pointer

_LIMIT = 200


def unused_parameters(parameters: Any, used_pointers: Iterable[str]) -> list[Diagnostic]:
    """Return a warning for every member of the parameters that is never read, the outermost unread one each.

    A value counts as read when a used pointer names it, something above it or something below it. Items of
    lists are alike, so a list of which one item is read counts as read. At most 200 warnings are given.
    """
    used = set(used_pointers)
    if "" in used:
        return []
    above = {beginning for pointer in used for beginning in _beginnings(pointer)}
    unread: list[Diagnostic] = []
    waiting = _members("", parameters)
    while waiting and len(unread) < _LIMIT:
        pointer, value = waiting.pop()
        if pointer in used:
            continue
        if pointer in above:
            waiting += _members(pointer, value)
            continue
        unread.append(
            Diagnostic(
                "warning",
                "unused_parameter",
                f"the parameter {pointer} is not used by any template",
                pointer=pointer,
                hint="use it in a placeholder, or remove it",
            )
        )
    return unread


def _members(pointer: str, value: Any) -> list[tuple[str, Any]]:
    """Return the members of a map with their pointers, the first one last."""
    if not isinstance(value, Mapping):
        return []
    return [(f"{pointer}/{escape_pointer(str(key))}", item) for key, item in reversed(list(value.items()))]


def _beginnings(pointer: str) -> Iterable[str]:
    end = pointer.rfind("/")
    while end > 0:
        yield pointer[:end]
        end = pointer.rfind("/", 0, end)
