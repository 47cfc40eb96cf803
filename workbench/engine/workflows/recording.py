"""Writes a run into the history while it happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.engine.events import RunEvent
from workbench.engine.text import shorten

if TYPE_CHECKING:
    from workbench.engine.history import HistoryStore
    from workbench.engine.translation import Failure, Success


T = TypeVar("T")

# A line of a list: more of a text than this does not fit.
_TITLE_LENGTH = 48


def history_path(root: Path) -> Path:
    """Return where the history of the project in folder `root` lives."""
    return root / ".workbench" / "history.sqlite"


def titled(head: str, text: str) -> str:
    """Return a run's title, with the start of its text: else all runs of a project would look alike.

    `head` is a word: the list has room for about twenty characters.
    """
    words = " ".join(text[:400].split())
    return f"{head}: {shorten(words, _TITLE_LENGTH)}" if words else head


class Recorder:
    """Writes one run into a history, or nowhere when there is none.

    A history that fails (a full disk, say) does not take the answer with it that a model was asked for: the
    run goes on unrecorded, and the store's `problem` says why. `on_event` hears every event that `add` makes.
    """

    def __init__(
        self, history: HistoryStore | None, on_event: Callable[[RunEvent], None] | None = None
    ) -> None:
        self._history = history
        self._on_event = on_event
        self._run_id: int | None = None
        self._began = 0.0
        self._done = False

    @property
    def run_id(self) -> int | None:
        """The number of the run in the history, `None` where it is not stored."""
        return self._run_id

    def start(
        self,
        kind: str,
        title: str,
        inputs: dict[str, Any],
        *,
        model: str,
        live_key: str | None = None,
        parent: tuple[int, int | None] | None = None,
    ) -> None:
        self._began = time.monotonic()
        history = self._history
        if history is not None:
            self._run_id = self._stored(
                lambda: history.start_run(kind, title, inputs, model=model, live_key=live_key, parent=parent)
            )

    def _stored(self, write: Callable[[], T]) -> T | None:
        from workbench.engine.history import HistoryError

        assert self._history is not None
        try:
            return write()
        except (HistoryError, KeyError) as error:  # a KeyError: somebody deleted the run meanwhile
            self._history.problem = str(error.args[0])
            self._history = None
            return None

    def add(self, kind: str, data: dict[str, Any]) -> None:
        event = RunEvent(kind, time.monotonic() - self._began, data)
        self.store(event)
        if self._on_event is not None:
            self._on_event(event)

    def store(self, event: RunEvent) -> None:
        # Pieces of a streamed reply are shown live; the whole reply follows in an event of its own.
        history, run_id = self._history, self._run_id
        if history is not None and run_id is not None and event.kind != "delta":
            self._stored(lambda: history.append(run_id, event))

    def finish(self, outcome: str, summary: str, *, model: str | None = None) -> None:
        self._done = True
        history, run_id = self._history, self._run_id
        if history is not None and run_id is not None:
            self._stored(lambda: history.finish_run(run_id, outcome, summary, model=model))
            if self._history is not None:
                # The problem is that of the last run, and this one is stored whole.
                history.problem = None

    def finish_translation(self, result: Success[Any] | Failure) -> None:
        from workbench.engine.history import AttemptSummary
        from workbench.engine.translation import Failure

        attempts = result.attempts
        history, run_id = self._history, self._run_id
        if history is not None and run_id is not None:
            rows = [
                AttemptSummary(
                    attempt.number,
                    attempt.outcome,
                    attempt.elapsed_ms,
                    attempt.usage.input_tokens if attempt.usage is not None else None,
                    attempt.usage.output_tokens if attempt.usage is not None else None,
                )
                for attempt in attempts
            ]
            self._stored(lambda: history.set_attempts(run_id, rows))
        outcome = result.code if isinstance(result, Failure) else "ok"
        repairs = max(0, len(attempts) - 1)
        summary = f"{repairs} repair{'s' if repairs != 1 else ''}" if repairs else "first attempt"
        self.finish(outcome, summary)

    def fail(self, error: BaseException) -> None:
        if self._done:
            return
        stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
        if not stopped:
            self.add("failed", {"error": type(error).__name__, "message": str(error)})
        self.finish("cancelled" if stopped else "error", "stopped" if stopped else str(error))
