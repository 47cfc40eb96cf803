"""Compares and copies JSON values without recursion, so that deep values cannot break a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

_SCALARS = (str, int, float, bool, type(None))


def json_type(value: Any) -> str:
    """Return the JSON type of a Python value: `object`, `array`, `string`, `number`, `boolean` or `null`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, (list, tuple)) else "object"


def json_equal(a: Any, b: Any) -> bool:
    """Tell whether two JSON values are equal: `1` equals `1.0` and never `true`; the order of members is free."""
    pending = [(a, b)]
    while pending:
        left, right = pending.pop()
        kind = json_type(left)
        if kind != json_type(right):
            return False
        if kind == "object":
            if left.keys() != right.keys():
                return False
            pending += [(left[key], right[key]) for key in left]
        elif kind == "array":
            if len(left) != len(right):
                return False
            pending += zip(left, right, strict=True)
        elif left != right:
            return False
    return True


def plain_copy(value: Any) -> Any:
    """Return a copy of `value` that consists of JSON values only and shares nothing with it.

    Dataclasses and pydantic models become objects, tuples and sets arrays; what JSON cannot say becomes its
    `repr`, so that a hook may return anything and the run can still be stored. So does what holds itself.
    """
    box: list[Any] = [None]
    pending: list[tuple[Any, Any, Any]] = [(box, 0, value)]
    around: set[int] = set()
    while pending:
        target, key, item = pending.pop()
        if target is None:  # everything inside this object is copied
            around.discard(key)
            continue
        if id(item) in around:
            target[key] = f"<{type(item).__name__} that holds itself>"
            continue
        if isinstance(item, _SCALARS):
            target[key] = item if type(item) in _SCALARS else _plain_scalar(item)
            continue
        around.add(id(item))
        pending.append((None, id(item), item))
        members = _members(item)
        if members is not None:
            target[key] = made = dict.fromkeys(members)
            pending += [(made, name, member) for name, member in members.items()]
        elif isinstance(item, (list, tuple, set, frozenset)):
            target[key] = items = [None] * len(item)
            pending += [(items, index, member) for index, member in enumerate(item)]
        else:
            target[key] = repr(item)
    return box[0]


def _plain_scalar(item: Any) -> Any:
    """Take the value out of subclasses such as string enumerations."""
    for kind in (str, int, float):
        if isinstance(item, kind):
            return kind(item.value) if hasattr(item, "value") else kind(item)
    return repr(item)


def _members(item: Any) -> dict[str, Any] | None:
    if isinstance(item, Mapping):
        return {str(key): member for key, member in item.items()}
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    dump = getattr(item, "model_dump", None)
    if callable(dump) and not isinstance(item, type):
        return {str(key): member for key, member in dump().items()}
    return None
