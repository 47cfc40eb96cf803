"""Reads back what was stored as JSON, and says what is missing where it is of another form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def stored_object(value: Any, what: str, needed: Sequence[str] = ()) -> Mapping[str, Any]:
    """Return a stored object that has every member of `needed`; `what` names it in messages.

    Raises:
        ValueError: where it is no object or lacks a member.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} is no JSON object")
    missing = [f"`{name}`" for name in needed if name not in value]
    if missing:
        raise ValueError(f"{what} has no {' and no '.join(missing)}")
    return value
