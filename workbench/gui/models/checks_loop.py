"""Runs the output guardrail as an application would: validate, reprompt, validate the new response, in order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot

if TYPE_CHECKING:
    from workbench.engine.guardrails import GuardrailResult, Validation
    from workbench.engine.history import HistoryStore
    from workbench.engine.language_models import Message
    from workbench.engine.secrets import Secrets
    from workbench.engine.workflows import ProjectRendering


@dataclass(frozen=True, slots=True)
class LoopStep:
    """Something that happened: `asked` (`text` is the reprompt, or empty for the first response), or `validated`."""

    kind: str
    text: str = ""
    validation: Validation | None = None

    @property
    def result(self) -> GuardrailResult | None:
        """What the checks said in a `validated` step."""
        return (
            self.validation.results[-1] if self.validation is not None and self.validation.results else None
        )


@dataclass(frozen=True, slots=True)
class LoopOutcome:
    """How it ended: the response that passed, or the message of the guardrail."""

    passed: bool
    response: str | None
    message: str
    validations: tuple[Validation, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """What one run needs. A blank `response` is first asked of the chat model; `messages` are what it is asked with."""

    snapshot: ProjectSnapshot
    response: str
    user_message: str | None
    messages: Sequence[Message]
    decision: ModelSettings
    chat: ModelSettings | None
    secrets: Secrets
    history: HistoryStore | None = None


def loop_messages(rendering: ProjectRendering | None, user_message: str | None) -> list[Message]:
    """Return what the chat model is asked with: the prompt, its user messages replaced by `user_message` if given."""
    from workbench.engine.language_models import Message

    messages = []
    if rendering is not None and not rendering.unresolved:
        messages = [Message(message.role, message.text) for message in rendering.messages]
    if user_message and user_message.strip():
        return [*(m for m in messages if m.role == "system"), Message("user", user_message)]
    return messages


async def run_loop(loop: Loop, tell: Callable[[LoopStep], None]) -> LoopOutcome:
    """Validate the response of the project's chat model until one passes; `tell` hears every step as it happens.

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
    decision = await asyncio.to_thread(open_decision_model, loop.decision, root=root, secrets=loop.secrets)
    chat = None
    record = _Record(loop, decision.name)
    try:
        if loop.chat is not None:
            chat = open_language_model(loop.chat, root=root, secrets=loop.secrets)
        guardrail = guardrail_from_settings(settings, decision, "output")

        async def complete(messages: Sequence[Any]) -> str:
            assert chat is not None
            reprompt = messages[-1].content if len(messages) > len(loop.messages) else ""
            record.step(tell, LoopStep("asked", reprompt))
            return (await chat.complete(messages)).text

        response = loop.response
        if not response.strip():
            if chat is None or not loop.messages:
                raise ValueError("there is no response to check, and no chat model or prompt to get one from")
            response = await complete(loop.messages)
        outcome = await _guarded(loop, guardrail, response, complete if chat else None, Message, record, tell)
        record.finish("passed" if outcome.passed else "rejected", outcome)
        return outcome
    except BaseException as error:
        record.fail(error)
        raise
    finally:
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
    tell: Callable[[LoopStep], None],
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
            on_validation=lambda validation: record.step(
                tell, LoopStep("validated", validation.response or "", validation)
            ),
        )
    except OutputGuardrailError as error:
        return LoopOutcome(False, None, error.message, error.validations)
    return LoopOutcome(True, guarded.response, "", guarded.validations)


class _Record:
    """The run's place in the history, where there is one."""

    def __init__(self, loop: Loop, model: str) -> None:
        self._history, self._begun, self._last = loop.history, time.perf_counter(), None
        self._run_id = 0
        if self._history is not None:
            count = len(loop.snapshot.guardrail("output").checks)
            inputs = {"stage": "output", "text": loop.response, "user_message": loop.user_message}
            self._run_id = self._history.start_run(
                "check", f"Guard a response, {count} checks", inputs, model=model
            )

    def step(self, tell: Callable[[LoopStep], None], step: LoopStep) -> None:
        """Store a step and tell it."""
        result = step.result
        if result is not None:
            self._last = result  # type: ignore[assignment]
        if self._history is not None:
            data: dict[str, Any] = {"text": step.text}
            if step.validation is not None:
                data |= {"number": step.validation.number, "reprompt": step.validation.reprompt}
                data["results"] = [each.to_json() for each in step.validation.results]
            self._add("validation" if step.kind == "validated" else "response_asked", data)
        tell(step)

    def _add(self, kind: str, data: dict[str, Any]) -> None:
        from workbench.engine.events import RunEvent

        if self._history is not None:
            self._history.append(self._run_id, RunEvent(kind, time.perf_counter() - self._begun, data))

    def finish(self, outcome: str, found: LoopOutcome) -> None:
        """Store the last result and how the run ended."""
        if self._history is None:
            return
        if self._last is not None:
            self._add("check_result", self._last.to_record())
        number = len(found.validations)
        words = f"{'passed' if found.passed else 'rejected'} after {number} validation{'s' if number != 1 else ''}"
        self._history.finish_run(self._run_id, outcome, words)

    def fail(self, error: BaseException) -> None:
        """Store that the run did not come to an end."""
        if self._history is not None:
            stopped = isinstance(error, asyncio.CancelledError)
            self._history.finish_run(
                self._run_id, "cancelled" if stopped else "error", "stopped" if stopped else str(error)
            )
