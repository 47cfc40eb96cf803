"""Guards a response as an application would: validate, reprompt, validate the new response, in order, and store it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.engine.events import RunEvent
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot

if TYPE_CHECKING:
    from workbench.engine.guardrails import GuardrailResult, Validation
    from workbench.engine.history import HistoryStore, Run
    from workbench.engine.language_models import Completion, Message
    from workbench.engine.secrets import Secrets
    from workbench.engine.workflows.rendering import ProjectRendering


@dataclass(frozen=True, slots=True)
class LoopOutcome:
    """How it ended: the response that passed, or the message of the guardrail."""

    passed: bool
    response: str | None
    message: str
    validations: tuple[Validation, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """What one run needs. A blank `response` is first asked of the chat model; `messages` are what it is asked with.

    `parameter_set` is the one that filled them. `parent` is the stored run that is run again; the new run is stored
    below it.
    """

    snapshot: ProjectSnapshot
    response: str
    user_message: str | None
    messages: Sequence[Message]
    decision: ModelSettings
    chat: ModelSettings | None
    secrets: Secrets
    history: HistoryStore | None = None
    parameter_set: str | None = None
    parent: int | None = None


def loop_messages(rendering: ProjectRendering | None, user_message: str | None) -> list[Message]:
    """Return what the chat model is asked with: the prompt, its user messages replaced by `user_message` if given."""
    from workbench.engine.language_models import Message

    messages = []
    if rendering is not None and not rendering.unresolved:
        messages = [Message(message.role, message.text) for message in rendering.messages]
    if user_message and user_message.strip():
        return [*(m for m in messages if m.role == "system"), Message("user", user_message)]
    return messages


def was_guarded(run: Run) -> bool:
    """Tell whether a stored run guarded a response, rather than checking a text once."""
    return run.summary.kind == "check" and "most" in run.inputs


async def run_loop(loop: Loop, tell: Callable[[RunEvent], None]) -> LoopOutcome:
    """Validate the response of the project's chat model until one passes; `tell` hears every event as it happens.

    The history gets the same events: `check_request`, then `response_asked` and `response` for each call of the
    chat model and `validation` for each response, at last `check_result` and `finished`, or `failed`.

    Raises:
        DecisionError: where the decision model fails: nothing passes then.
        LanguageModelError: where the chat model fails.
        ValueError: where a response is wanted and there is no chat model, or nothing to ask it.
    """
    from workbench.engine.decisions import open_decision_model
    from workbench.engine.guardrails import guardrail_from_settings
    from workbench.engine.language_models import Message, open_language_model

    settings = loop.snapshot.guardrail("output")
    root = loop.snapshot.root
    decision = chat = None
    if settings.asks_model:
        decision = await asyncio.to_thread(
            open_decision_model, loop.decision, root=root, secrets=loop.secrets
        )
    record = _Record(loop, decision.name if decision is not None else "", tell)
    try:
        if loop.chat is not None:
            chat = open_language_model(loop.chat, root=root, secrets=loop.secrets)
        guardrail = guardrail_from_settings(settings, decision, "output")

        async def complete(messages: Sequence[Any]) -> str:
            assert chat is not None
            reprompt = messages[-1].content if len(messages) > len(loop.messages) else ""
            record.asked(messages, reprompt)
            completion = await chat.complete(messages)
            record.answered(completion)
            return completion.text

        response = loop.response
        if not response.strip():
            if chat is None or not loop.messages:
                raise ValueError("there is no response to check, and no chat model or prompt to get one from")
            response = await complete(loop.messages)
        outcome = await _guarded(loop, guardrail, response, complete if chat else None, Message, record)
        record.finish(outcome)
        return outcome
    except BaseException as error:
        record.fail(error)
        raise
    finally:
        if decision is not None:
            await decision.aclose()
        if chat is not None:
            await chat.aclose()


async def _guarded(
    loop: Loop,
    guardrail: Any,
    response: str,
    complete: Any,
    message_type: Any,
    record: _Record,
) -> LoopOutcome:
    from workbench.engine.guardrails import OutputGuardrailError, guard_response

    try:
        guarded = await guard_response(
            [guardrail],
            response,
            messages=loop.messages,
            complete=complete,
            user_message=loop.user_message,
            max_retries=loop.snapshot.guardrail("output").max_retries,
            message_type=message_type,
            on_validation=record.validated,
        )
    except OutputGuardrailError as error:
        return LoopOutcome(False, None, error.message, error.validations)
    return LoopOutcome(True, guarded.response, "", guarded.validations)


class _Record:
    """Tells what happens as events, to the window and, where there is one, to the history."""

    def __init__(self, loop: Loop, model: str, tell: Callable[[RunEvent], None]) -> None:
        from workbench.engine.workflows.checking import check_rows
        from workbench.engine.workflows.recording import Recorder, titled

        self._last: GuardrailResult | None = None
        self._recorder = Recorder(loop.history, on_event=tell)
        settings = loop.snapshot.guardrail("output")
        inputs = {
            "stage": "output",
            "text": loop.response,
            "user_message": loop.user_message,
            "checks": check_rows(settings),
            "most": max(1, settings.max_retries),
            "reprompt": settings.reprompt,
        }
        stored = {**inputs, "parameter_set": loop.parameter_set}
        title = titled("Guarded", loop.response)
        parent = None if loop.parent is None else (loop.parent, None)
        self._recorder.start("check", title, stored, model=model, parent=parent)
        self._recorder.add("check_request", inputs)

    def asked(self, messages: Sequence[Message], reprompt: str) -> None:
        """Tell that the chat model is asked for a response."""
        from workbench.engine.translation.record import message_to_json

        sent = [message_to_json(message) for message in messages]
        self._recorder.add("response_asked", {"reprompt": reprompt, "messages": sent})

    def answered(self, completion: Completion) -> None:
        """Tell what the chat model answered."""
        from workbench.engine.translation.record import usage_to_json

        self._recorder.add(
            "response",
            {
                "text": completion.text,
                "model": completion.model,
                "finish_reason": completion.finish_reason,
                "usage": usage_to_json(completion.usage),
                "elapsed_ms": completion.elapsed_ms,
                "recorded": completion.recorded,
            },
        )

    def validated(self, validation: Validation) -> None:
        """Tell what the checks said of a response."""
        if validation.results:
            self._last = validation.results[-1]
        self._recorder.add(
            "validation",
            {
                "number": validation.number,
                "text": validation.response or "",
                "reprompt": validation.reprompt,
                "results": [each.to_record() for each in validation.results],
            },
        )

    def finish(self, found: LoopOutcome) -> None:
        """Tell the last result and how the run ended."""
        outcome = "passed" if found.passed else "rejected"
        if self._last is not None:
            self._recorder.add("check_result", self._last.to_record())
            # Nothing passes without a sound answer, but that is no rejection.
            outcome = self._last.verdict
        self._recorder.add(
            "finished", {"outcome": outcome, "response": found.response, "message": found.message}
        )
        number = len(found.validations)
        words = f"{outcome} after {number} validation{'s' if number != 1 else ''}"
        self._recorder.finish(outcome, words)

    def fail(self, error: BaseException) -> None:
        """Tell that the run did not come to an end."""
        self._recorder.fail(error)
