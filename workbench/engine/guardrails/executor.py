"""Runs output guardrails over a chat model's response, and asks the chat model again where they say so."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from workbench.engine.guardrails.guardrail import DecisionModelOutputGuardrail
from workbench.engine.guardrails.results import GuardrailResult

MAX_RETRIES_MESSAGE = "Output validation failed. The guardrails have reached the maximum number of retries."

Complete = Callable[[Sequence[Any]], Awaitable[Any] | Any]


@dataclass(frozen=True, slots=True)
class Validation:
    """One pass over the guardrails: the response, what each guardrail said, and the reprompt that followed."""

    number: int
    response: str | None
    results: tuple[GuardrailResult, ...]
    reprompt: str | None = None

    @property
    def passed(self) -> bool:
        """Whether every guardrail passed."""
        return all(result.passed for result in self.results)


@dataclass(frozen=True, slots=True)
class GuardedResponse:
    """A response that all guardrails passed, and the validations that led to it."""

    response: str | None
    validations: tuple[Validation, ...]


class OutputGuardrailError(Exception):
    """No response passed. `validations` holds all that was tried; `fatal` is true where none was asked for."""

    def __init__(self, message: str, validations: tuple[Validation, ...], *, fatal: bool) -> None:
        super().__init__(message)
        self.message = message
        self.validations = validations
        self.fatal = fatal


@dataclass(frozen=True, slots=True)
class _Said:
    role: str
    content: str


async def guard_response(
    guardrails: Sequence[DecisionModelOutputGuardrail],
    response: str | None,
    *,
    messages: Sequence[Any] = (),
    complete: Complete | None = None,
    user_message: str | None = None,
    max_retries: int = 2,
    message_type: Callable[[str, str], Any] = _Said,
    on_validation: Callable[[Validation], None] | None = None,
) -> GuardedResponse:
    """Validate `response` with all `guardrails`, in order, until one response passes.

    Where a guardrail with a reprompt rejects, `complete` is asked for a new response to `messages` with the
    reprompt as one more user message (it is not kept in `messages`), and the whole chain runs again.
    `max_retries` counts validations, as in the reference system: 2 means one validation, one reprompt and
    a second validation; 0 means one validation. `complete` takes messages and returns a text or an object
    with `text`, plain or awaitable. `message_type(role, content)` makes the message of the reprompt.

    Raises:
        OutputGuardrailError: where a guardrail without reprompt rejects, a check has no sound answer, or the
            number of validations is used up.
        DecisionError: where the decision model fails.
    """
    validations: list[Validation] = []
    attempts = max(1, max_retries)
    for number in range(1, attempts + 1):
        results: list[GuardrailResult] = []
        failed: tuple[DecisionModelOutputGuardrail, GuardrailResult] | None = None
        for guardrail in guardrails:
            result = await guardrail.validate(response, user_message)
            results.append(result)
            if not result.passed:
                failed = guardrail, result
                break
        reprompt = _reprompt(failed) if complete is not None and number < attempts else None
        validation = Validation(number, response, tuple(results), reprompt)
        validations.append(validation)
        if on_validation is not None:
            on_validation(validation)
        if failed is None:
            return GuardedResponse(response, tuple(validations))
        if reprompt is None or complete is None:
            _give_up(failed, validations)
        response = await _ask_again(complete, [*messages, message_type("user", reprompt)])
    raise AssertionError("the last validation either returns or raises")


def _reprompt(failed: tuple[DecisionModelOutputGuardrail, GuardrailResult] | None) -> str | None:
    """Return the text to ask again with. A check that could not be judged is no reason for another response."""
    return failed[0].reprompt if failed is not None and failed[1].verdict == "rejected" else None


def _give_up(
    failed: tuple[DecisionModelOutputGuardrail, GuardrailResult], validations: list[Validation]
) -> NoReturn:
    guardrail, result = failed
    if result.verdict == "rejected" and guardrail.reprompt is not None:
        message = f"{MAX_RETRIES_MESSAGE} {result.message}"
        raise OutputGuardrailError(message, tuple(validations), fatal=False)
    raise OutputGuardrailError(result.message, tuple(validations), fatal=True)


async def _ask_again(complete: Complete, messages: Sequence[Any]) -> str | None:
    reply = complete(messages)
    if inspect.isawaitable(reply):
        reply = await reply
    text = reply if reply is None or isinstance(reply, str) else reply.text
    return text if text is None else str(text)
