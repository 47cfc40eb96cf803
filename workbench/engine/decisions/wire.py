"""What all wire dialects share: the strict reading of a reply, so that nothing broken becomes a number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from workbench.engine.decisions.errors import DecisionError
from workbench.engine.decisions.hints import hint_for_reply
from workbench.engine.decisions.questions import (
    Answer,
    BadAnswer,
    DecisionRequest,
    NoAnswer,
    Refusal,
    Usage,
    YesNoAnswer,
    YesNoQuestion,
    in_range,
    real_number,
)
from workbench.engine.json_text import JsonDocument, dumps
from workbench.engine.text import shorten

MIN_MASS = 0.2
"""Share of the model's probability that must fall on "yes" and "no" together for them to be an answer."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a reply says: one entry per question asked, the version that answered, and the tokens."""

    answers: Mapping[str, Answer]
    model_name: str | None
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class WireOptions:
    """What the settings of a model say about its requests: the model's name and the provider's own keys."""

    model: str | None = None
    min_mass: float = MIN_MASS
    extra: Mapping[str, Any] | None = None


class Dialect(ABC):
    """One form of request and reply. `most_questions` is the limit per call, `path` the endpoint's path.

    `retry_header` tells the server that a request is a repetition, and which.
    """

    name: ClassVar[str]
    default_base_url: ClassVar[str | None] = None
    path: ClassVar[tuple[str, ...]]
    endings: ClassVar[tuple[str, ...]]
    needs_model: ClassVar[bool] = True
    most_questions: ClassVar[int] = 128
    retry_header: ClassVar[str] = "X-Retry-Count"

    @abstractmethod
    def encode(self, request: DecisionRequest, options: WireOptions) -> dict[str, Any]:
        """Return the JSON body of the request."""

    @abstractmethod
    def decode(self, value: Mapping[str, Any], request: DecisionRequest, options: WireOptions) -> Decoded:
        """Return what a reply says; raises `DecisionError` for an envelope of another form."""


def envelope(document: JsonDocument, dialect: str) -> Mapping[str, Any]:
    """Return the object in a reply.

    Raises:
        DecisionError: where it is no JSON object, or a name occurs twice in it (which answer would count?).
    """
    if not document.ok:
        problem = document.diagnostics[0].message if document.diagnostics else "it is not JSON"
        raise DecisionError(f"the reply is not JSON: {problem}", kind="body")
    if (twice := named_twice(document)) is not None:
        raise DecisionError(f"the reply cannot be trusted: {twice}", kind="envelope")
    value = document.value
    if not isinstance(value, dict):
        found = type_name(value)
        raise DecisionError(f"the reply is {found}, but an object is expected", kind="envelope")
    # Cloudflare wraps the body.
    inner = value.get("result")
    if "answers" not in value and isinstance(inner, dict) and "answers" in inner:
        value = inner
    if "answers" not in value:
        raise DecisionError(
            "the reply has no 'answers'", kind="envelope", hint=hint_for_reply(value, dialect)
        )
    return value


def named_twice(document: JsonDocument) -> str | None:
    """Return which name occurs twice in one object of a document, so that nobody can tell which one counts."""
    for diagnostic in document.diagnostics:
        if diagnostic.code == "duplicate_key":
            # The rest of the sentence says which one a mere reader would take.
            return diagnostic.message.rpartition(";")[0]
    return None


def wrong_answers(value: Any, expected: str, reply: Any, dialect: str) -> DecisionError:
    """Return the error for `answers` that are not `expected` (an object, a list)."""
    return DecisionError(
        f"the 'answers' of the reply are {type_name(value)}, but {expected} is expected",
        kind="envelope",
        hint=hint_for_reply(reply, dialect),
    )


def probability(name: str, value: Any, field: str) -> Answer:
    """Return the answer for a number in a reply; anything that is no probability is a `BadAnswer`."""
    number = real_number(value)
    if number is None or not in_range(number):
        return BadAnswer(f"The answer to question '{name}' has an invalid {field}: {shown(value)}")
    return YesNoAnswer(number)


def shown(value: Any) -> str:
    """Return a value of a reply for a message: short, and in JSON where it is a number or null."""
    if isinstance(value, (list, dict)):
        return type_name(value)
    try:
        return "null" if value is None else shorten(repr(value), 60)
    except ValueError:  # an integer with more digits than Python writes
        return "a number with very many digits"


def no_answer(name: str) -> NoAnswer:
    """Return the entry for a question that the reply does not answer."""
    return NoAnswer(f"The response contains no answer to question '{name}'")


def refused_answer(name: str) -> Refusal:
    """Return the entry for a question that the model refused to answer."""
    return Refusal(f"The decision model refused to answer the question '{name}'")


def unlike(name: str, answer: Any, expected: str) -> Answer | None:
    """Return the entry for an answer that is none of the type asked for; `None` for one whose value is to be read.

    An answer that does not say its type counts as one of the type asked for.
    """
    kind = type_name(answer)
    if isinstance(answer, dict):
        found = answer.get("type", expected)
        if found == expected:
            return None
        if found == "refusal":
            return refused_answer(name)
        kind = f"a {found}" if isinstance(found, str) else type_name(found)
    return BadAnswer(f"The answer to question '{name}' is {kind}, but a {expected} is expected")


def type_name(value: Any) -> str:
    """Return the JSON name of a value's type with its article."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def text_or_none(value: Any) -> str | None:
    """Return a non-blank text, else `None`."""
    return value if isinstance(value, str) and value.strip() else None


def usage_of(value: Any, inputs: str, outputs: str) -> Usage | None:
    """Return the token counts of a `usage` object, `None` where there are none; nothing counts as zero."""
    if not isinstance(value, dict):
        return None

    def count(field: str) -> int | None:
        number = value.get(field)
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < 1e15:
            return None
        return int(number)

    usage = Usage(count(inputs), count(outputs))
    return None if usage == Usage() else usage


def with_meanings(question: YesNoQuestion) -> str:
    """Return the question with its two descriptions on lines of their own, for dialects without fields for them."""
    lines = [question.text]
    if question.yes_means is not None:
        lines.append(f"Answer yes when: {question.yes_means}")
    if question.no_means is not None:
        lines.append(f"Answer no when: {question.no_means}")
    return "\n".join(lines)


def input_text(value: str | Mapping[str, Any]) -> str:
    """Return the input as one text; a mapping becomes JSON, in which no entry can pose as another."""
    return value if isinstance(value, str) else dumps(dict(value))
