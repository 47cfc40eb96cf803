"""OpenAI's Decisions API, and the servers that speak it (LiteLLM, Fireworks)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engine.decisions.questions import Answer, BadAnswer, DecisionRequest
from workbench.engine.decisions.wire import (
    Decoded,
    Dialect,
    WireOptions,
    input_text,
    no_answer,
    probability,
    text_or_none,
    unlike,
    usage_of,
    with_meanings,
    wrong_answers,
)


class OpenAiDialect(Dialect):
    """A list of questions, each a `predicate` with `instructions`; answers come as a list."""

    name = "openai"
    default_base_url = "https://api.openai.com/v1"
    path = ("v1", "decisions")
    endings = ("decisions",)

    def encode(self, request: DecisionRequest, options: WireOptions) -> dict[str, Any]:
        """Return the body; the descriptions of the answers follow the question on lines of their own."""
        body: dict[str, Any] = {
            "model": options.model,
            "input": input_text(request.input),
            "questions": [
                {"type": "predicate", "name": name, "instructions": with_meanings(question)}
                for name, question in request.questions.items()
            ],
        }
        identifier = (options.extra or {}).get("safety_identifier")
        if identifier:
            body["safety_identifier"] = str(identifier)
        return body

    def decode(self, value: Mapping[str, Any], request: DecisionRequest, options: WireOptions) -> Decoded:
        """Find each answer by its name, or by its place where the server gives no names."""
        answers = value["answers"]
        if not isinstance(answers, list):
            raise wrong_answers(answers, "a list", value, self.name)
        decoded: dict[str, Answer] = {}
        for place, name in enumerate(request.questions):
            found = [a for a in answers if isinstance(a, dict) and a.get("name") == name]
            if not found and len(answers) == len(request.questions):
                # Only a list as long as the questions says by its order which answer belongs to which.
                at_place = answers[place]
                if not isinstance(at_place, dict) or at_place.get("name") is None:
                    found = [at_place]
            decoded[name] = self._answer(name, found)
        return Decoded(
            decoded,
            text_or_none(value.get("model")),
            usage_of(value.get("usage"), "input_tokens", "output_tokens"),
        )

    def _answer(self, name: str, found: list[Any]) -> Answer:
        if not found:
            return no_answer(name)
        if len(found) > 1:
            return BadAnswer(f"The response contains {len(found)} answers to question '{name}'")
        answer = found[0]
        if (other := unlike(name, answer, "predicate")) is not None:
            return other
        return probability(name, answer.get("probability"), "probability")
