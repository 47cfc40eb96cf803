"""Reads what a run cost out of its events, so that lists can tell it without reading the events again."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.engine.events import RunEvent
from workbench.engine.prices import Cost, cost_from_json, total_cost

PRICED_KINDS = frozenset({"translate", "tool"})
"""The kinds of runs in which each call is told with its cost; of others nobody knows."""


def cost_of(kind: str, events: Iterable[RunEvent]) -> Cost | None:
    """Return what all calls of a run of `kind` cost together, `None` where one of them is unknown.

    A call that failed after it was made is unknown too, as is one whose answer never came: servers may charge for what
    they never delivered. A reply that a person wrote, or that a branch took over, cost nothing and is not counted.
    """
    if kind not in PRICED_KINDS:
        return None
    costs: list[Cost | None] = []
    asked = False
    for event in events:
        data = event.data
        if event.kind == "sent":
            asked = True
        elif event.kind == "reply":
            asked = False
            # A branch begins with a reply that is there already; nobody was asked for it, so it took no time.
            taken_over = "elapsed_ms" in data and data["elapsed_ms"] is None
            if not data.get("edited") and not taken_over:
                costs.append(cost_from_json(data.get("cost")))
        elif event.kind == "failed":
            asked = False
            if data.get("elapsed_ms") is not None:
                costs.append(None)
    return total_cost([*costs, None] if asked else costs)
