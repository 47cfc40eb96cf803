"""Tells one run in events: folds each for the result, and hands it on to whoever listens."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

from workbench.engine.events import RunEvent
from workbench.engine.language_models import Completion
from workbench.engine.translation.extraction import Extraction
from workbench.engine.translation.json_values import plain_copy
from workbench.engine.translation.record import (
    TranslationFold,
    completion_to_json,
    fix_to_json,
)


class RunLog:
    """The events of one run; `began` is on the clock of `time.monotonic`."""

    def __init__(self, on_event: Callable[[RunEvent], Any] | None) -> None:
        self.fold = TranslationFold()
        self.began = time.monotonic()
        self._on_event = on_event
        self._pending: list[asyncio.Future[Any]] = []

    def emit(self, event_kind: str, /, **data: Any) -> None:
        """Fold an event and hand it on. What a listener raises is its own affair and never ends the run."""
        event = RunEvent(event_kind, round(time.monotonic() - self.began, 6), data)
        self.fold.apply(event)
        if self._on_event is None:
            return
        try:
            answer = self._on_event(event)
            if inspect.isawaitable(answer):
                self._pending.append(asyncio.ensure_future(answer))
        except Exception:
            return

    async def settle(self) -> None:
        """Wait for listeners that are asynchronous."""
        if self._pending:
            await asyncio.gather(*self._pending, return_exceptions=True)

    def reply(
        self,
        number: int,
        completion: Completion,
        *,
        elapsed: float | None,
        notes: Sequence[str] = (),
        edited: bool = False,
    ) -> None:
        """Tell what the model answered. `elapsed` is in milliseconds, `None` where no model was called."""
        told = completion_to_json(completion)
        if set(told["usage"].values()) == {None}:  # the model said nothing
            told["usage"] = None
        self.emit("reply", attempt=number, **told, elapsed_ms=elapsed, notes=list(notes), edited=edited)

    def call_failed(
        self,
        number: int,
        outcome: str,
        message: str,
        began: float,
        pieces: list[str],
        hint: str | None = None,
        failure: dict[str, Any] | None = None,
    ) -> None:
        """Tell that a call, which `began` on the clock of `time.monotonic`, gave no answer but these pieces."""
        elapsed = round((time.monotonic() - began) * 1000, 3)
        text = "".join(pieces) if pieces else None
        self.emit(
            "failed",
            attempt=number,
            outcome=outcome,
            message=message,
            hint=hint,
            elapsed_ms=elapsed,
            text=text,
            failure=failure,
        )


def extraction_event(extraction: Extraction) -> dict[str, Any]:
    """Return the data of the event that tells how the JSON of a reply was found."""
    return {
        "found": extraction.judgement is not None,
        "span": None if extraction.span is None else list(extraction.span),
        "source": extraction.source,
        "notes": list(extraction.notes),
        "candidates": [candidate.to_json() for candidate in extraction.candidates],
        "edits": [fix_to_json(fix) for fix in extraction.edits],
        "partial": plain_copy(extraction.partial),
    }
