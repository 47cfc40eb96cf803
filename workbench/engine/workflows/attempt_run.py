"""Takes one attempt out of a stored translation as a run of its own, so that attempts compare as runs do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.events import RunEvent
from workbench.engine.workflows.errors import WorkflowError

if TYPE_CHECKING:
    from workbench.engine.history import Run

__all__ = ["run_of_attempt"]


def run_of_attempt(run: Run, number: int) -> Run:
    """Return what a stored translation would be if attempt `number` were all of it.

    Outcome, value, tokens and time are those of the attempt; its prompt is the whole conversation that was sent.

    Raises:
        WorkflowError: where the run is no translation.
        KeyError: where it has no such attempt.
    """
    if run.summary.kind != "translate":
        raise WorkflowError(f"run {run.summary.id} is no translation, so it has no attempts to compare")
    found = next((each for each in run.summary.attempts if each.number == number), None)
    if found is None:
        raise KeyError(f"run {run.summary.id} has no attempt {number}")
    events = tuple(_whole(event) for event in run.events if event.data.get("attempt") == number)
    finished = None if found.elapsed_ms is None else run.summary.started_at + found.elapsed_ms / 1000
    summary = replace(run.summary, outcome=found.outcome, attempts=(found,), finished_at=finished)
    return replace(run, summary=summary, events=events)


def _whole(event: RunEvent) -> RunEvent:
    """Let all of what was sent count as the prompt: for an attempt the repair belongs to it."""
    if event.kind != "sent":
        return event
    return replace(event, data={**event.data, "base_count": len(event.data.get("messages", ()))})
