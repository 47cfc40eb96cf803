"""TypeSafe's System One, and the servers that speak it (Perplexity, OpenRouter, Portkey, Ollama)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engine.decisions.questions import Answer, DecisionRequest
from workbench.engine.decisions.wire import (
    Decoded,
    Dialect,
    WireOptions,
    no_answer,
    probability,
    text_or_none,
    unlike,
    usage_of,
    wrong_answers,
)


class SystemOneDialect(Dialect):
    """A map of questions, each a `noul` with `instructions`; answers come as a map of the same names."""

    name = "system-one"
    default_base_url = "https://api.typesafe.ai"
    path = ("v1", "systemone")
    endings = ("systemone", "decisions")
    retry_header = "X-TypeSafe-Retry-Count"

    def encode(self, request: DecisionRequest, options: WireOptions) -> dict[str, Any]:
        """Return the body. Criteria are sent with both sides or not at all: some servers want both."""
        questions: dict[str, Any] = {}
        for name, question in request.questions.items():
            entry: dict[str, Any] = {"type": "noul", "instructions": question.text}
            if question.yes_means is not None or question.no_means is not None:
                entry["criteria"] = {"true": question.yes_means or "", "false": question.no_means or ""}
            questions[name] = entry
        state = request.input if isinstance(request.input, str) else dict(request.input)
        return {"model": options.model, "state": state, "questions": questions}

    def decode(self, value: Mapping[str, Any], request: DecisionRequest, options: WireOptions) -> Decoded:
        """Read the answers asked for; further ones and further members are ignored."""
        answers = value["answers"]
        if not isinstance(answers, dict):
            raise wrong_answers(answers, "an object", value, self.name)
        decoded = {name: self._answer(name, answers) for name in request.questions}
        return Decoded(
            decoded,
            text_or_none(value.get("model")),
            usage_of(value.get("usage"), "input_tokens", "output_tokens"),
        )

    def _answer(self, name: str, answers: dict[str, Any]) -> Answer:
        if name not in answers or answers[name] is None:
            return no_answer(name)
        answer = answers[name]
        if (other := unlike(name, answer, "noul")) is not None:
            return other
        return probability(name, answer.get("noul"), "noul")
