"""Says what differs between two JSON values by JSON Pointer, so that it can be seen what a repair changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from workbench.engine.json_text import escape_pointer
from workbench.engine.translation.json_values import json_equal, json_type


@dataclass(frozen=True, slots=True)
class PointerChange:
    """One place at which two values differ. `before` is None for what was added, `after` for what was removed."""

    kind: Literal["added", "removed", "changed"]
    pointer: str
    before: Any = None
    after: Any = None

    def to_json(self) -> dict[str, Any]:
        """Return the change as a JSON object."""
        return {"kind": self.kind, "pointer": self.pointer, "before": self.before, "after": self.after}


def pointer_diff(a: Any, b: Any) -> list[PointerChange]:
    """Return the places at which `b` differs from `a`, in the order of the values.

    Objects are compared by member; arrays by index, except that items which both arrays share at their beginning
    and at their end are set aside first, so that one inserted item is one change. Pointers of what was
    removed are those of `a`, all others those of `b`.
    """
    changes: list[PointerChange] = []
    pending: list[tuple[str, str, Any, Any, bool, bool]] = [("", "", a, b, True, True)]
    while pending:
        old, new, left, right, in_left, in_right = pending.pop()
        if not in_right:
            changes.append(PointerChange("removed", old, before=left))
        elif not in_left:
            changes.append(PointerChange("added", new, after=right))
        elif json_type(left) == json_type(right) == "object":
            pending += reversed(_members(old, new, left, right))
        elif json_type(left) == json_type(right) == "array":
            pending += reversed(_items(old, new, left, right))
        elif not json_equal(left, right):
            changes.append(PointerChange("changed", new, left, right))
    return changes


def _members(old: str, new: str, left: Any, right: Any) -> list[tuple[str, str, Any, Any, bool, bool]]:
    names = [*left, *(name for name in right if name not in left)]
    return [
        (
            f"{old}/{escape_pointer(name)}",
            f"{new}/{escape_pointer(name)}",
            left.get(name),
            right.get(name),
            name in left,
            name in right,
        )
        for name in names
    ]


def _items(old: str, new: str, left: Any, right: Any) -> list[tuple[str, str, Any, Any, bool, bool]]:
    shared = min(len(left), len(right))
    head = 0
    while head < shared and json_equal(left[head], right[head]):
        head += 1
    tail = 0
    if len(left) != len(right):
        while tail < shared - head and json_equal(left[-1 - tail], right[-1 - tail]):
            tail += 1
    rows = []
    left_end, right_end = len(left) - tail, len(right) - tail
    for index in range(head, max(left_end, right_end)):
        in_left, in_right = index < left_end, index < right_end
        rows.append(
            (
                f"{old}/{index}",
                f"{new}/{index}",
                left[index] if in_left else None,
                right[index] if in_right else None,
                in_left,
                in_right,
            )
        )
    return rows
