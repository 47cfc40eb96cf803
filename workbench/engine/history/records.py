"""The values in which the history store answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.engine.events import RunEvent
from workbench.engine.prices import Cost

RUNNING = "running"
INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class AttemptSummary:
    """One attempt of a run, as a list shows it.

    `elapsed_ms` is in milliseconds; token counts are `None` where the model did not tell them.
    """

    number: int
    outcome: str
    elapsed_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run, as a list shows it.

    `kind` is `check`, `translate`, `evaluate` or `tool`. `started_at` and `finished_at` are seconds since
    the epoch; a run that never finished has no `finished_at` and the outcome `running` or, once its process
    is gone, `interrupted`. `parent_run` and `parent_attempt` name the run it was branched from. `events` is
    the number of stored events. `cost` is what all calls of the run cost together, `None` where that is unknown.
    """

    id: int
    kind: str
    title: str
    outcome: str
    summary: str
    started_at: float
    finished_at: float | None
    model: str
    name: str
    note: str
    starred: bool
    live: bool
    parent_run: int | None
    parent_attempt: int | None
    events: int
    attempts: tuple[AttemptSummary, ...] = ()
    cost: Cost | None = None

    @property
    def elapsed_ms(self) -> float | None:
        """Wall-clock time of the run in milliseconds, `None` while it has not finished."""
        return None if self.finished_at is None else (self.finished_at - self.started_at) * 1000


@dataclass(frozen=True, slots=True)
class Run:
    """A whole run: its summary, the inputs it was started with, and its events in order."""

    summary: RunSummary
    inputs: Mapping[str, Any]
    events: tuple[RunEvent, ...]
