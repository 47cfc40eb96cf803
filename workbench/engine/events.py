"""The one record of which every run consists, so that a stored run can be shown by the code that showed it live."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One thing that happened in a run.

    `kind` is a word such as `prompt`, `sent`, `reply` or `finished`. `at` is the time in seconds since the
    run began. `data` holds JSON values only (dictionaries with string keys, lists, strings, numbers, booleans
    and null), so that an event survives being written to disk and read back without a change.
    """

    kind: str
    at: float
    data: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the event as one JSON object with the members `kind`, `at` and `data` (not a copy)."""
        return {"kind": self.kind, "at": self.at, "data": self.data}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RunEvent:
        """Return the event that `to_json` wrote.

        Raises:
            ValueError: where a member is missing or has the wrong type.
        """
        kind, at, data = value.get("kind"), value.get("at"), value.get("data", {})
        if not isinstance(kind, str) or isinstance(at, bool) or not isinstance(at, (int, float)):
            raise ValueError("An event needs a text `kind` and a number `at`.")
        if not isinstance(data, Mapping):
            raise ValueError("The `data` of an event must be an object.")
        return cls(kind, float(at), dict(data))
