"""Questions to a decision model and its answers: plain values that every provider shares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from types import MappingProxyType
from typing import Any

from workbench.engine.decisions.errors import DecisionRefused, InvalidDecisionResponse

SLACK = 1e-6
"""How far a probability may lie outside 0..1 and still be taken for a rounding error (it is then clamped)."""


def _require_text(value: object, name: str) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} cannot be null or blank")


@dataclass(frozen=True, slots=True)
class YesNoQuestion:
    """A question whose answer is a probability of "yes", from 0 to 1.

    `yes_means` and `no_means` describe the two answers in words; both are optional.

    Raises:
        ValueError: where a text is blank.
    """

    text: str
    yes_means: str | None = None
    no_means: str | None = None

    def __post_init__(self) -> None:
        _require_text(self.text, "text")
        for name in ("yes_means", "no_means"):
            if getattr(self, name) is not None:
                _require_text(getattr(self, name), name)

    @classmethod
    def of(cls, text: str, yes_means: str | None = None, no_means: str | None = None) -> YesNoQuestion:
        """Return the question; the same as calling the class."""
        return cls(text, yes_means, no_means)


@dataclass(frozen=True, slots=True)
class YesNoAnswer:
    """The probability of "yes", and what is known of how sure that number is.

    `lower` and `upper` bound the probability where the model's answer leaves room (token probabilities);
    `mass` is the share of the model's probability that fell on "yes" or "no" at all. `detail` says how the
    number came about. `span` is the part of the judged text that decided, as half-open offsets from 0, where
    it is known and not the whole. Values up to 0.000001 outside 0..1 are clamped.

    Any kind of real number will do, such as those of numpy; it is kept as a `float`.

    Raises:
        ValueError: where `probability` is no finite number from 0 to 1.
    """

    probability: float
    lower: float | None = None
    upper: float | None = None
    mass: float | None = None
    detail: str | None = None
    span: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        value = real_number(self.probability)
        if value is None or not in_range(value):
            raise ValueError(
                f"probability must be between 0.0 and 1.0, but is: {shown_number(self.probability)}"
            )
        object.__setattr__(self, "probability", clamp(value))

    def is_yes(self, threshold: float) -> bool:
        """Tell whether the probability reaches `threshold` (inclusive)."""
        return not self.probability < threshold  # from NaN on, which no number is below, all is "yes"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The model answered that it will not judge this question."""

    detail: str = "the decision model refused to answer"


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The reply holds no answer to the question, or too little to make one."""

    detail: str


@dataclass(frozen=True, slots=True)
class BadAnswer:
    """The reply holds something in the answer's place that is no answer."""

    detail: str


Answer = YesNoAnswer | Refusal | NoAnswer | BadAnswer

_KIND_NAMES: dict[type, str] = {
    YesNoAnswer: "YesNoAnswer",
    Refusal: "Refusal",
    NoAnswer: "NoAnswer",
    BadAnswer: "BadAnswer",
}


def real_number(value: object) -> float | None:
    """Return a real number of whatever type as a `float`; `None` for a boolean, a text and all else."""
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    except ValueError:  # a Decimal's signalling NaN
        return math.nan


def shown_number(value: object) -> str:
    """Return what was given for a number as a message shows it: any real number as a `float`."""
    number = real_number(value)
    return str(value if number is None else number)


def in_range(value: float) -> bool:
    """Tell whether a number is a probability, within the slack for rounding."""
    return math.isfinite(value) and -SLACK <= value <= 1 + SLACK


def clamp(value: float) -> float:
    """Return `value` moved into 0..1."""
    return min(1.0, max(0.0, value))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a call cost; `None` where the server did not say, which is not zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    def to_json(self) -> dict[str, int | None]:
        """Return `{"input_tokens", "output_tokens"}`."""
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}

    def plus(self, other: Usage) -> Usage:
        """Return the sum; what is unknown on either side stays unknown."""

        def add(a: int | None, b: int | None) -> int | None:
            return None if a is None or b is None else a + b

        return Usage(add(self.input_tokens, other.input_tokens), add(self.output_tokens, other.output_tokens))


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request as it was sent and the reply as it came back, with every secret removed.

    `request` and `reply` are JSON texts (or the raw text of a reply that is no JSON); `status` is 0 where
    no server was involved.
    """

    url: str
    request: str
    reply: str
    status: int = 200
    elapsed_ms: float = 0.0
    attempts: int = 1
    request_headers: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON-like values."""
        return {
            "url": self.url,
            "request": self.request,
            "reply": self.reply,
            "status": self.status,
            "elapsed_ms": self.elapsed_ms,
            "attempts": self.attempts,
            "request_headers": dict(self.request_headers),
        }


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """What is asked in one call: the input and any number of questions by name.

    `input` is a text, or a mapping of names to JSON-like values (such as `userMessage` and `response`).
    The representation leaves the input out, since it may be personal.

    Raises:
        ValueError: where the input or the questions are missing or blank.
    """

    input: str | Mapping[str, Any]
    questions: Mapping[str, YesNoQuestion]

    def __post_init__(self) -> None:
        if self.input is None:
            raise ValueError("input cannot be null")
        if isinstance(self.input, str):
            _require_text(self.input, "input")
        elif not isinstance(self.input, Mapping):
            raise ValueError(f"input must be a text or a mapping, but is a {type(self.input).__name__}")
        elif not self.input:
            raise ValueError("input cannot be null or empty")
        else:
            copied = {name: _json_like(value) for name, value in self.input.items()}
            object.__setattr__(self, "input", MappingProxyType(copied))
        if not self.questions:
            raise ValueError("questions cannot be null or empty")
        object.__setattr__(self, "questions", MappingProxyType(_require_questions(self.questions)))

    def __repr__(self) -> str:
        return f"DecisionRequest(questions={list(self.questions)!r})"

    @staticmethod
    def builder() -> DecisionRequestBuilder:
        """Return a builder in the style of the reference system."""
        return DecisionRequestBuilder()

    def part(self, names: list[str]) -> DecisionRequest:
        """Return the request with only the questions `names`."""
        return DecisionRequest(self.input, {name: self.questions[name] for name in names})


def _require_questions(questions: object) -> dict[str, YesNoQuestion]:
    if not isinstance(questions, Mapping):
        kind = type(questions).__name__
        raise ValueError(f"questions must be a mapping of names to questions, but is a {kind}")
    for name, question in questions.items():
        _require_text(name, "question name")
        if not isinstance(question, YesNoQuestion):
            kind = type(question).__name__
            raise ValueError(f"the question '{name}' must be a YesNoQuestion, but is a {kind}")
    return dict(questions)


def _json_like(value: object) -> object:
    """Return a copy in which every mapping is a `dict`, the only one that can be written as JSON.

    Raises:
        ValueError: where JSON has no such value.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"input holds the number {value}, which JSON does not have")
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        return {name: _json_like(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_like(item) for item in value]
    raise ValueError(f"input holds a value of type {type(value).__name__}, which is not JSON-like")


class DecisionRequestBuilder:
    """Collects a `DecisionRequest`; each method returns the builder."""

    def __init__(self) -> None:
        self._input: Any = None
        self._questions: dict[str, YesNoQuestion] = {}

    def input(self, value: str | Mapping[str, Any]) -> DecisionRequestBuilder:
        """Set the text or mapping that the questions are about."""
        self._input = value
        return self

    def question(self, name: str, question: YesNoQuestion) -> DecisionRequestBuilder:
        """Add a question.

        Raises:
            ValueError: where the name is blank or taken.
        """
        _require_text(name, "question name")
        if name in self._questions:
            raise ValueError(f"Question '{name}' is already defined")
        self._questions[name] = question
        return self

    def build(self) -> DecisionRequest:
        """Return the request; raises `ValueError` as `DecisionRequest` does."""
        return DecisionRequest(self._input, self._questions)


@dataclass(frozen=True, slots=True)
class DecisionResponse:
    """What a model said, by question name. Every name asked has an entry; what went wrong is an entry too.

    `model_name` is the version that answered, which may differ from the name asked for. `usage` is `None`
    where the server did not say. `exchanges` has one record per call that was made. `recorded` is true for
    answers played from a recording.
    """

    answers: Mapping[str, Answer]
    model_name: str | None = None
    usage: Usage | None = None
    exchanges: tuple[Exchange, ...] = ()
    recorded: bool = False
    notes: tuple[str, ...] = field(default=())

    def answer(self, name: str) -> Answer:
        """Return the entry for `name`, whatever it is.

        Raises:
            ValueError: where nothing of that name was asked.
        """
        if name not in self.answers:
            available = ", ".join(self.answers)
            raise ValueError(
                f"There is no answer to a question named '{name}'. Available answers: [{available}]"
            )
        return self.answers[name]

    def yes_no(self, name: str) -> YesNoAnswer:
        """Return the probability of "yes" for `name`.

        Raises:
            ValueError: where nothing of that name was asked.
            DecisionRefused: where the model refused.
            InvalidDecisionResponse: where the answer is missing or malformed.
        """
        answer = self.answer(name)
        if isinstance(answer, YesNoAnswer):
            return answer
        if isinstance(answer, Refusal):
            raise DecisionRefused(f"The decision model refused to answer the question '{name}'")
        if isinstance(answer, (NoAnswer, BadAnswer)):
            raise InvalidDecisionResponse(answer.detail)
        raise InvalidDecisionResponse(
            f"The answer to the question '{name}' is a {type(answer).__name__}, not a YesNoAnswer"
        )

    def is_refused(self, name: str) -> bool:
        """Tell whether the model refused the question `name`."""
        return isinstance(self.answer(name), Refusal)

    def validate(self) -> None:
        """Raise `InvalidDecisionResponse` for the first answer that is missing or malformed."""
        for name, answer in self.answers.items():
            if not isinstance(answer, Refusal):
                self.yes_no(name)
