"""Shows a stored run again, step by step and with no model, by the folds that showed it live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from workbench.engine.events import RunEvent
from workbench.engine.history.records import INTERRUPTED
from workbench.engine.workflows.errors import WorkflowError
from workbench.engine.workflows.guard_record import GuardFold, GuardRecord
from workbench.engine.workflows.tool_record import ToolFold, ToolRecord

if TYPE_CHECKING:
    from workbench.engine.history import HistoryStore
    from workbench.engine.translation import TranslationRecord


@dataclass(frozen=True, slots=True)
class PlainStep:
    """One event of a run whose kind has no record of its own; `at` is in seconds since the run began.

    `figures` are those per check that an evaluation ended with.
    """

    kind: str
    at: float
    label: str
    words: str
    figures: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class PlainRecord:
    """A run, such as an evaluation, of which the history keeps only what happened when."""

    steps: tuple[PlainStep, ...] = ()


class PlainFold:
    """Makes a step of every event."""

    def __init__(self) -> None:
        self._steps: list[PlainStep] = []

    def apply(self, event: RunEvent) -> None:
        """Take one event."""
        words = event.data.get("words") or event.data.get("message") or ""
        checks = event.data.get("checks")
        figures = tuple(each for each in checks if isinstance(each, dict)) if isinstance(checks, list) else ()
        self._steps.append(PlainStep(event.kind, event.at, event.kind.replace("_", " "), str(words), figures))

    def record(self) -> PlainRecord:
        """Return the record as far as the events went."""
        return PlainRecord(tuple(self._steps))


Record: TypeAlias = "TranslationRecord | GuardRecord | ToolRecord | PlainRecord"
"""What a run of any kind amounts to."""


class Fold(Protocol):
    """Takes the events of a run one by one; `record` gives what they amount to so far."""

    def apply(self, event: RunEvent) -> None: ...

    def record(self) -> Any: ...


def fold_for(kind: str) -> Fold:
    """Return an empty fold for runs of `kind`."""
    if kind == "translate":
        from workbench.engine.workflows.program_runs import TranslationRunFold

        return TranslationRunFold()
    if kind == "check":
        return GuardFold()
    return ToolFold() if kind == "tool" else PlainFold()


def replay_translation(events: Iterable[RunEvent]) -> TranslationRecord:
    """Return the record of a translation after these events; a `ProgramRunRecord` where a program was evaluated."""
    from workbench.engine.workflows.program_runs import TranslationRunFold

    fold = TranslationRunFold()
    for event in events:
        fold.apply(event)
    return fold.record()


def replay_events(kind: str, events: Iterable[RunEvent]) -> Record:
    """Return the record of a run of `kind` after these events."""
    fold = fold_for(kind)
    for event in events:
        fold.apply(event)
    record: Record = fold.record()
    return record


def step_cuts(kind: str, events: Sequence[RunEvent]) -> list[int]:
    """Return, for each step of the record of `events`, how many events lead up to it and include it.

    The last step includes what comes after it: the end of a translation has no step of its own.
    """
    fold = fold_for(kind)
    cuts: list[int] = []
    for position, event in enumerate(events):
        fold.apply(event)
        if event.kind != "delta" and len(fold.record().steps) > len(cuts):
            cuts.append(position + 1)
    if cuts:
        cuts[-1] = len(events)
    return cuts


def replay_run(history: HistoryStore, run_id: int, *, step: int | None = None) -> Record:
    """Show a stored run again, from its events alone, as it stood after `step` (from 1; `None`: at its end).

    The events of a run whose process died do not say that it ended; its record has the outcome `interrupted`.

    Raises:
        KeyError: where there is no such run.
        WorkflowError: where the run has no such step.
    """
    run = history.run(run_id)
    events = run.events
    if step is not None:
        cuts = step_cuts(run.summary.kind, events)
        if not 1 <= step <= len(cuts):
            raise WorkflowError(f"run {run_id} has {len(cuts)} steps, and no step {step}")
        events = events[: cuts[step - 1]]
    record = replay_events(run.summary.kind, events)
    return _interrupted(record) if step is None and run.summary.outcome == INTERRUPTED else record


def _interrupted(record: Record) -> Record:
    """Return what a dead process left of a run as the history tells it: nothing of it goes on."""
    if isinstance(record, PlainRecord) or record.outcome != "running":
        return record
    message = "The run was interrupted before it ended."
    if isinstance(record, GuardRecord | ToolRecord):
        return replace(record, outcome=INTERRUPTED, message=message)
    return replace(record.ended(INTERRUPTED), message=message)
