"""The one interface behind which all decision models stand, and the check that every reply goes through."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.engine.decisions.errors import InvalidDecisionResponse
from workbench.engine.decisions.questions import (
    Answer,
    BadAnswer,
    DecisionRequest,
    DecisionResponse,
    NoAnswer,
    Refusal,
    YesNoAnswer,
)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a person should know of a model before trusting its numbers.

    `version` is the version that answers, `None` when only an answer can tell. `moving` is true where the
    name is an alias that may point to another version tomorrow. `calls` says how many calls a request
    with several questions takes: `"one"` or `"per check"`. `expectation` is one or two sentences.
    """

    provider: str
    name: str
    version: str | None
    expectation: str
    calls: str = "one"
    local: bool = False
    moving: bool = False


class DecisionModel(ABC):
    """Answers yes/no questions about a text with probabilities.

    Subclasses implement `decide`. A failed call raises `DecisionError`; a single answer that is missing or
    malformed is an entry of the response.
    """

    name: str = "decision"
    provider: str = "custom"

    @abstractmethod
    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Return the answers to all questions of `request`.

        Raises:
            DecisionError: where the call failed or its reply is not of the form agreed on.
        """

    async def aclose(self) -> None:
        """Release connections; the model cannot be used afterwards. Most models have nothing to release."""
        return None

    async def describe(self) -> ModelInfo:
        """Return what is known of the model without asking it anything."""
        return ModelInfo(self.provider, self.name, None, "No statement about its quality is available.")


def validated(request: DecisionRequest, response: DecisionResponse | None) -> DecisionResponse:
    """Return `response` with exactly one sound entry for every question asked.

    An absent answer becomes `NoAnswer`, anything that is no answer `BadAnswer`; answers nobody asked for
    are dropped. Nothing is ever filled in with a number.

    Raises:
        InvalidDecisionResponse: where there is no response at all.
    """
    if response is None:
        raise InvalidDecisionResponse("The decision model returned no response")
    if not isinstance(response, DecisionResponse):
        raise InvalidDecisionResponse(
            f"The decision model returned a {type(response).__name__}, but a DecisionResponse is expected"
        )
    given = response.answers
    if not isinstance(given, Mapping):
        raise InvalidDecisionResponse("The decision model returned answers that are not keyed by question")
    answers: dict[str, Answer] = {name: _sound(name, given.get(name)) for name in request.questions}
    return replace(response, answers=answers)


def _sound(name: str, answer: object) -> Answer:
    if answer is None:
        return NoAnswer(f"The response contains no answer to question '{name}'")
    if isinstance(answer, (YesNoAnswer, Refusal, NoAnswer, BadAnswer)):
        return answer
    kind = type(answer).__name__
    return BadAnswer(f"The answer to question '{name}' is a {kind}, but a YesNoAnswer is expected")


async def ask(model: Any, request: DecisionRequest) -> DecisionResponse:
    """Ask any object with a `decide` method, plain or async, and validate what it returns.

    Raises:
        DecisionError: as the model does, or where it returns nothing.
    """
    response = model.decide(request)
    if inspect.isawaitable(response):
        response = await response
    return validated(request, response)
