"""Tells one run in events: folds each for the result, and hands it on to whoever listens."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

from workbench.engine.events import RunEvent
from workbench.engine.language_models import Completion, Message
from workbench.engine.translation.extraction import Extraction
from workbench.engine.translation.json_values import plain_copy
from workbench.engine.translation.record import (
    TranslationFold,
    fix_to_json,
    message_to_json,
    tool_call_to_json,
    usage_to_json,
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
        usage = completion.usage
        known = usage.input_tokens is not None or usage.output_tokens is not None
        self.emit(
            "reply",
            attempt=number,
            text=completion.text,
            finish_reason=completion.finish_reason,
            refusal=completion.refusal,
            usage=usage_to_json(usage) if known else None,
            model=completion.model,
            elapsed_ms=elapsed,
            recorded=completion.recorded,
            cost=None if completion.cost is None else completion.cost.to_json(),
            tool_calls=[tool_call_to_json(call) for call in completion.tool_calls],
            notes=list(notes),
            edited=edited,
        )

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


def messages_to_json(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation as events carry it."""
    return [message_to_json(message) for message in messages]


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
