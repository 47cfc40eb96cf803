"""SGLang's own decisions, a third form under the same path as OpenAI's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.engine.decisions.questions import (
    Answer,
    BadAnswer,
    DecisionRequest,
    NoAnswer,
    YesNoAnswer,
)
from workbench.engine.decisions.wire import (
    Decoded,
    Dialect,
    WireOptions,
    no_answer,
    probability,
    text_or_none,
    type_name,
    unlike,
    usage_of,
    wrong_answers,
)

_SUM_SLACK = 0.01


class SglangDialect(Dialect):
    """A list of `yes_no` questions with an `id`; answers come as a map with both probabilities and their mass."""

    name = "sglang"
    path = ("v1", "decisions")
    endings = ("decisions",)
    needs_model = False

    def encode(self, request: DecisionRequest, options: WireOptions) -> dict[str, Any]:
        """Return the body. The server refuses members that it does not know, so only set ones are sent."""
        questions = []
        for name, question in request.questions.items():
            entry = {"id": name, "type": "yes_no", "question": question.text}
            if question.yes_means is not None:
                entry["yes"] = question.yes_means
            if question.no_means is not None:
                entry["no"] = question.no_means
            questions.append(entry)
        text = request.input if isinstance(request.input, str) else dict(request.input)
        body: dict[str, Any] = {"input": text, "questions": questions}
        if options.model:
            body["model"] = options.model
        temperature = (options.extra or {}).get("temperature")
        if temperature is not None:
            body["temperature"] = temperature
        return body

    def decode(self, value: Mapping[str, Any], request: DecisionRequest, options: WireOptions) -> Decoded:
        """Read the answers; a mass below the least one set is no answer."""
        answers = value["answers"]
        if not isinstance(answers, dict):
            raise wrong_answers(answers, "an object", value, self.name)
        decoded = {name: self._answer(name, answers, options.min_mass) for name in request.questions}
        return Decoded(
            decoded,
            text_or_none(value.get("model")),
            usage_of(value.get("usage"), "prompt_tokens", "completion_tokens"),
        )

    def _answer(self, name: str, answers: dict[str, Any], min_mass: float) -> Answer:
        answer = answers.get(name)
        if answer is None:
            return no_answer(name)
        if (other := unlike(name, answer, "yes_no")) is not None:
            return other
        sides = answer.get("probabilities")
        if not isinstance(sides, dict):
            return BadAnswer(
                f"The answer to question '{name}' has an invalid probabilities: {type_name(sides)}"
            )
        yes = probability(name, sides.get("yes"), "probability of yes")
        no = probability(name, sides.get("no"), "probability of no")
        if not isinstance(yes, YesNoAnswer):
            return yes
        if not isinstance(no, YesNoAnswer):
            return no
        if abs(yes.probability + no.probability - 1) > _SUM_SLACK:
            return BadAnswer(
                f"The answer to question '{name}' has probabilities that add up to "
                f"{yes.probability + no.probability:.3f}"
            )
        if answer.get("label_mass") is None:
            return yes
        mass = probability(name, answer["label_mass"], "label_mass")
        if not isinstance(mass, YesNoAnswer):
            return mass
        if mass.probability < min_mass:
            return NoAnswer(
                f"The model answered '{name}' neither with yes nor with no: "
                f"their mass is {mass.probability:.2f}, at least {min_mass:.2f} is needed"
            )
        return replace(yes, mass=mass.probability)
