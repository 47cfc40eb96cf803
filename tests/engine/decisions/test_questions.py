"""Questions, answers and responses keep the reference system's rules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.decisions.support import run
from workbench.engine.decisions import (
    BadAnswer,
    DecisionModel,
    DecisionRefused,
    DecisionRequest,
    DecisionResponse,
    InvalidDecisionResponse,
    NoAnswer,
    Refusal,
    YesNoAnswer,
    YesNoQuestion,
    ask,
)

Q = YesNoQuestion("Is it?")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: YesNoQuestion(" "), "text cannot be null or blank"),
        (lambda: YesNoQuestion("x", yes_means="\n"), "yes_means cannot be null or blank"),
        (lambda: DecisionRequest(None, {"q": Q}), "input cannot be null"),
        (lambda: DecisionRequest("  ", {"q": Q}), "input cannot be null or blank"),
        (lambda: DecisionRequest({}, {"q": Q}), "input cannot be null or empty"),
        (lambda: DecisionRequest("x", {}), "questions cannot be null or empty"),
        (lambda: DecisionRequest("x", {" ": Q}), "question name cannot be null or blank"),
        (lambda: DecisionRequest({"x": object()}, {"q": Q}), "input holds a value of type object"),
        (lambda: DecisionRequest({"x": [float("nan")]}, {"q": Q}), "input holds the number nan"),
        (lambda: DecisionRequest("x", ["q"]), "questions must be a mapping of names to questions"),
        (
            lambda: DecisionRequest("x", {"q": "Is it?"}),
            "the question 'q' must be a YesNoQuestion, but is a str",
        ),
        (
            lambda: DecisionRequest.builder().question("q", Q).question("q", Q),
            "Question 'q' is already defined",
        ),
    ],
    ids=[
        "question",
        "meaning",
        "null",
        "blank",
        "empty-map",
        "no-questions",
        "name",
        "type",
        "nan",
        "no-map",
        "no-question",
        "duplicate",
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_reason(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match="^" + message):
        make()


def test_the_builder_makes_the_same_request_as_the_class() -> None:
    built = DecisionRequest.builder().input("text").question("q", Q).build()
    assert built == DecisionRequest("text", {"q": Q})


def test_a_request_shows_its_questions_but_never_the_input() -> None:
    assert "private words" not in repr(DecisionRequest("private words", {"q": Q}))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.01, 1.01, True, "0.5", None, 10**400])
def test_no_answer_is_made_of_something_that_is_no_probability(value: Any) -> None:
    with pytest.raises(ValueError, match="probability must be between"):
        YesNoAnswer(value)


@pytest.mark.parametrize(("value", "kept"), [(1.0000002, 1.0), (-0.0000005, 0.0), (1, 1.0), (0.25, 0.25)])
def test_a_rounding_error_is_clamped(value: float, kept: float) -> None:
    assert YesNoAnswer(value).probability == kept


def test_an_answer_is_yes_from_the_threshold_on() -> None:
    assert YesNoAnswer(0.5).is_yes(0.5)
    assert not YesNoAnswer(0.4999999).is_yes(0.5)


def test_each_kind_of_answer_is_told_apart() -> None:
    response = DecisionResponse(
        {
            "yes": YesNoAnswer(0.9),
            "refused": Refusal(),
            "none": NoAnswer("nothing"),
            "bad": BadAnswer("broken"),
        }
    )
    assert response.yes_no("yes").probability == 0.9
    assert response.is_refused("refused")
    with pytest.raises(DecisionRefused, match="The decision model refused to answer the question 'refused'"):
        response.yes_no("refused")
    with pytest.raises(InvalidDecisionResponse, match="nothing"):
        response.yes_no("none")
    with pytest.raises(InvalidDecisionResponse, match="broken"):
        response.yes_no("bad")
    with pytest.raises(
        ValueError,
        match=r"There is no answer to a question named 'x'. Available answers: \[yes, refused, none, bad\]",
    ):
        response.yes_no("x")


class _Model(DecisionModel):
    def __init__(self, response: Any) -> None:
        self.response = response

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        return self.response


def test_every_model_is_held_to_the_questions_it_was_asked() -> None:
    request = DecisionRequest("x", {"a": Q, "b": Q, "c": Q})
    given: Any = {"a": YesNoAnswer(0.1), "b": 0.2, "extra": YesNoAnswer(0.3)}
    answers = run(ask(_Model(DecisionResponse(given)), request)).answers
    assert answers == {
        "a": YesNoAnswer(0.1),
        "b": BadAnswer("The answer to question 'b' is a float, but a YesNoAnswer is expected"),
        "c": NoAnswer("The response contains no answer to question 'c'"),
    }


def test_no_response_at_all_is_an_error() -> None:
    with pytest.raises(InvalidDecisionResponse, match="The decision model returned no response"):
        run(ask(_Model(None), DecisionRequest("x", {"a": Q})))


@pytest.mark.parametrize("returned", [5, "yes", [0.1], {"a": 0.1}])
def test_a_model_that_returns_something_else_is_an_error(returned: Any) -> None:
    class Odd:
        def decide(self, request: DecisionRequest) -> Any:
            return returned

    with pytest.raises(InvalidDecisionResponse, match="but a DecisionResponse is expected"):
        run(ask(Odd(), DecisionRequest("x", {"q": Q})))
