"""A rejected response is asked for again as often as the reference system does, and no more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.guardrails.support import Scripted, run
from workbench.engine.decisions import DecisionError, NoAnswer
from workbench.engine.guardrails import (
    DecisionModelOutputGuardrail,
    GuardedResponse,
    OutputGuardrailError,
    Validation,
    guard_response,
)


class Chat:
    """A chat model that says the next of its lines and keeps what it was sent."""

    def __init__(self, *lines: Any) -> None:
        self.lines = list(lines)
        self.sent: list[list[Any]] = []

    async def __call__(self, messages: Any) -> Any:
        self.sent.append(list(messages))
        return self.lines.pop(0)


def guardrail(
    model: Scripted, reprompt: str | None = "Without personal data."
) -> DecisionModelOutputGuardrail:
    builder = DecisionModelOutputGuardrail.builder().decision_model(model).check("a", "A?")
    return builder.reprompt(reprompt).build()


def guarded(model: Scripted, chat: Chat | None, retries: int = 2, **options: Any) -> GuardedResponse:
    rails = options.pop("rails", [guardrail(model)])
    return run(
        guard_response(
            rails, "first", messages=["m"], complete=chat, user_message="Hi", max_retries=retries, **options
        )
    )


def test_a_response_that_passes_is_returned_as_it_is() -> None:
    chat = Chat()
    done = guarded(Scripted({"a": 0.1}), chat)
    assert done.response == "first"
    assert len(done.validations) == 1
    assert chat.sent == []


def test_a_rejected_response_is_asked_for_again_with_the_reprompt_as_a_user_message() -> None:
    model, chat = Scripted({"a": 0.9}, {"a": 0.1}), Chat("second")
    done = guarded(model, chat)
    assert done.response == "second"
    assert [v.response for v in done.validations] == ["first", "second"]
    assert [v.reprompt for v in done.validations] == ["Without personal data.", None]
    assert chat.sent[0][0] == "m"
    assert (chat.sent[0][1].role, chat.sent[0][1].content) == ("user", "Without personal data.")
    assert model.requests[1].input["response"] == "second"  # type: ignore[index, call-overload]


@pytest.mark.parametrize(("retries", "validations"), [(-1, 1), (0, 1), (1, 1), (2, 2), (3, 3)])
def test_max_retries_counts_validations(retries: int, validations: int) -> None:
    model, chat = Scripted({"a": 0.9}), Chat("2", "3", "4")
    with pytest.raises(OutputGuardrailError) as caught:
        guarded(model, chat, retries)
    assert len(model.requests) == len(caught.value.validations) == validations
    assert len(chat.sent) == validations - 1
    assert str(caught.value) == (
        "Output validation failed. The guardrails have reached the maximum number of retries. "
        "The response was rejected by the following checks: a"
    )
    assert not caught.value.fatal


def test_without_a_reprompt_a_rejection_is_final() -> None:
    model, chat = Scripted({"a": 0.9}), Chat("second")
    with pytest.raises(OutputGuardrailError) as caught:
        guarded(model, chat, rails=[guardrail(model, None)])
    assert str(caught.value) == "The response was rejected by the following checks: a"
    assert caught.value.fatal
    assert chat.sent == []


def test_a_check_without_an_answer_is_no_reason_to_ask_again() -> None:
    model, chat = Scripted({"a": NoAnswer("x")}), Chat("second")
    with pytest.raises(OutputGuardrailError) as caught:
        guarded(model, chat)
    assert caught.value.fatal
    assert chat.sent == []


def test_an_error_of_the_decision_model_propagates() -> None:
    with pytest.raises(DecisionError):
        guarded(Scripted(DecisionError("down")), Chat())


def test_after_a_reprompt_the_whole_chain_runs_again_and_stops_at_the_first_rejection() -> None:
    first, second = Scripted({"a": 0.1}), Scripted({"a": 0.9}, {"a": 0.1})
    done = guarded(first, Chat("second"), rails=[guardrail(first), guardrail(second)])
    assert [len(v.results) for v in done.validations] == [2, 2]
    assert len(first.requests) == 2
    blocked = Scripted({"a": 0.9})
    never = Scripted({"a": 0.1})
    with pytest.raises(OutputGuardrailError):
        guarded(blocked, None, rails=[guardrail(blocked), guardrail(never)])
    assert never.requests == []


def test_each_validation_is_reported_when_it_happens() -> None:
    seen: list[Validation] = []
    guarded(Scripted({"a": 0.9}, {"a": 0.1}), Chat("second"), on_validation=seen.append)
    assert [(v.number, v.passed, v.reprompt) for v in seen] == [
        (1, False, "Without personal data."),
        (2, True, None),
    ]


def test_a_completion_object_and_a_plain_function_are_understood() -> None:
    class Completion:
        text = "second"

    done = run(
        guard_response(
            [guardrail(Scripted({"a": 0.9}, {"a": 0.1}))], "first", complete=lambda messages: Completion()
        )
    )
    assert done.response == "second"


def test_a_new_response_of_tool_calls_alone_passes() -> None:
    assert guarded(Scripted({"a": 0.9}), Chat(None)).response is None
