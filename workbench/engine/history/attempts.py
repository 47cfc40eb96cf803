"""Reads the attempts of a run out of its events, for runs that ended before anybody could sum them up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.engine.events import RunEvent
from workbench.engine.history.records import INTERRUPTED, AttemptSummary


def attempts_of(events: Iterable[RunEvent], unfinished: str = INTERRUPTED) -> list[AttemptSummary]:
    """Return one summary per attempt that the events tell of, in the order of their numbers.

    An attempt of which no end was stored gets the outcome `unfinished`. Events of any other shape are passed
    over, so a damaged run gives what is left of it.
    """
    found: dict[int, dict[str, Any]] = {}
    for event in events:
        number = event.data.get("attempt")
        if not isinstance(number, int) or isinstance(number, bool):
            continue
        fields = found.setdefault(number, {"outcome": unfinished})
        if event.kind == "reply":
            usage = event.data.get("usage")
            usage = usage if isinstance(usage, dict) else {}
            fields["elapsed_ms"] = _number(event.data.get("elapsed_ms"))
            fields["input_tokens"] = _number(usage.get("input_tokens"))
            fields["output_tokens"] = _number(usage.get("output_tokens"))
        elif event.kind in ("validated", "failed"):
            fields["outcome"] = str(event.data.get("outcome") or unfinished)
    return [AttemptSummary(number, **fields) for number, fields in sorted(found.items())]


def _number(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
