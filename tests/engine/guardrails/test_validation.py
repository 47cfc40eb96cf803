"""What a guardrail sends, when a check fails, and that nothing but a sound "no" lets a text through."""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.guardrails.support import Scripted, run
from workbench.engine.decisions import (
    BadAnswer,
    DecisionError,
    DecisionResponse,
    Exchange,
    InvalidDecisionResponse,
    NoAnswer,
    Refusal,
    Usage,
    YesNoAnswer,
)
from workbench.engine.guardrails import (
    CheckResult,
    CheckSettings,
    DecisionModelInputGuardrail,
    DecisionModelOutputGuardrail,
    GuardrailResult,
    GuardrailSettings,
    message_text,
    verdict_of,
)


def guard(
    reply: Any, text: Any = "hello", thresholds: tuple[float | None, ...] = (None, None)
) -> GuardrailResult:
    model = reply if isinstance(reply, Scripted) else Scripted(reply)
    builder = DecisionModelInputGuardrail.builder().decision_model(model)
    for name, threshold in zip("ab", thresholds, strict=False):
        builder.check(name, f"{name.upper()}?", threshold)
    return run(builder.build().validate(text))


@pytest.mark.parametrize(
    ("p", "threshold", "status"),
    [
        (0.5, None, "rejected"),
        (0.4999, None, "passed"),
        (0.0, 0.0, "rejected"),
        (1.0, 1.0, "rejected"),
        (0.999999, 1.0, "passed"),
        (0.3, 0.3, "rejected"),
    ],
)
def test_a_check_fails_from_its_threshold_on(p: float, threshold: float | None, status: str) -> None:
    assert guard({"a": p, "b": 0.0}, thresholds=(threshold, 1.0)).check("a").status == status


def test_failed_checks_are_named_in_the_order_of_their_definition() -> None:
    result = guard({"b": 0.9, "a": 0.8})
    assert result.failed_checks == ("a", "b")
    assert result.message == "The user message was rejected by the following checks: a, b"
    assert result.verdict == "rejected"


def test_the_message_holds_no_probability() -> None:
    assert "0.9" not in guard({"a": 0.987, "b": 0.1}).message


def test_a_text_that_passes_has_no_message() -> None:
    result = guard({"a": 0.1, "b": 0.2})
    assert (result.passed, result.verdict, result.message, result.failed_checks) == (True, "passed", "", ())


def test_all_checks_are_asked_in_one_call_with_the_text_as_it_is() -> None:
    model = Scripted({"a": 0.1, "b": 0.2})
    guard(model, "  hello\n")
    assert len(model.requests) == 1
    assert model.requests[0].input == "  hello\n"
    assert list(model.requests[0].questions) == ["a", "b"]


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u00a0", "\u2003\u2028"], ids=ascii)
def test_a_blank_text_passes_without_a_call(text: str) -> None:
    model = Scripted({"a": 1.0, "b": 1.0})
    result = guard(model, text)
    assert result.passed
    assert result.checks == ()
    assert model.requests == []


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["one", "two"], "one\ntwo"),
        (["look", {"type": "image", "data": "…"}], "look\n[attached image]"),
        (
            [{"type": "audio"}, {"type": "video"}, {"type": "pdf"}],
            "[attached audio]\n[attached video]\n[attached pdf]",
        ),
        ([{"type": "text", "text": "hi"}], "hi"),
    ],
    ids=["texts", "image", "others", "text-part"],
)
def test_attachments_become_markers(parts: list[Any], text: str) -> None:
    assert message_text(parts) == text


def test_a_message_of_an_attachment_alone_is_checked() -> None:
    model = Scripted({"a": 0.9, "b": 0.1})
    assert not guard(model, [{"type": "image"}]).passed
    assert model.requests[0].input == "[attached image]"


def test_the_parts_of_tool_results_are_understood() -> None:
    class ImageContent:
        pass

    class TextContent:
        text = "words"

    assert message_text([TextContent(), ImageContent()]) == "words\n[attached image]"


@pytest.mark.parametrize("content", [None, b"x", {"type": "text"}, [Ellipsis], [{"type": "magic"}]], ids=repr)
def test_what_is_no_message_is_refused(content: Any) -> None:
    with pytest.raises(TypeError):
        message_text(content)


@pytest.mark.parametrize(
    ("answer", "status", "verdict"),
    [
        (Refusal(), "refused", "rejected"),
        (NoAnswer("nothing"), "no_answer", "error"),
        (BadAnswer("broken"), "error", "error"),
        ("0.1", "error", "error"),
        (None, "no_answer", "error"),
    ],
    ids=["refusal", "no-answer", "bad", "text", "null"],
)
def test_only_a_sound_no_passes(answer: Any, status: str, verdict: str) -> None:
    result = guard({"a": answer, "b": 0.1})
    assert result.check("a").status == status
    assert result.check("a").probability is None
    assert result.check("b").status == "passed"
    assert result.verdict == verdict
    assert not result.passed


def test_a_refused_check_counts_as_failed_by_name() -> None:
    result = guard({"a": Refusal(), "b": 0.9})
    assert result.message == "The user message was rejected by the following checks: a, b"


def test_a_check_without_an_answer_is_named_but_not_called_failed() -> None:
    result = guard({"a": NoAnswer("nothing"), "b": 0.1})
    assert result.failed_checks == ()
    assert result.unanswered_checks == ("a",)
    assert result.message == (
        "The user message was not let through, because these checks have no sound answer: a (no answer)"
    )


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        (["passed", "passed"], "passed"),
        (["passed", "rejected", "error"], "rejected"),
        (["refused", "no_answer"], "rejected"),
        (["passed", "no_answer"], "error"),
        (["error"], "error"),
        ([], "passed"),
    ],
)
def test_the_verdict_over_all_checks(statuses: list[Any], verdict: str) -> None:
    assert verdict_of([CheckResult("c", "q", None, 0.5, status) for status in statuses]) == verdict


@pytest.mark.parametrize("error", [DecisionError("down", kind="connect"), RuntimeError("bug")])
def test_an_error_of_the_model_propagates(error: Exception) -> None:
    with pytest.raises(type(error)):
        guard(error)


def test_a_model_that_returns_nothing_is_an_error() -> None:
    with pytest.raises(InvalidDecisionResponse, match="returned no response"):
        guard(Scripted(None))


def test_a_subclass_may_say_it_otherwise() -> None:
    class Polite(DecisionModelInputGuardrail):
        def failure_message(self, failed_checks: list[str]) -> str:
            return f"Sorry ({len(failed_checks)})"

    guardrail = Polite.builder().decision_model(Scripted({"a": 0.9})).check("a", "A?").build()
    assert isinstance(guardrail, Polite)
    assert run(guardrail.validate("x")).message == "Sorry (1)"


def test_probabilities_are_logged_for_debugging_and_the_text_never(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        guard({"a": 0.75, "b": 0.1}, "private words")
    assert "0.75" in caplog.text
    assert "private words" not in caplog.text


# ---- output -------------------------------------------------------------------------------------------


def output(reply: Any, *args: Any) -> tuple[GuardrailResult, Scripted]:
    model = Scripted(reply)
    guardrail = DecisionModelOutputGuardrail.builder().decision_model(model).check("a", "A?").build()
    return run(guardrail.validate(*args)), model


@pytest.mark.parametrize(
    ("user_message", "sent"),
    [
        ("Hi", [("userMessage", "Hi"), ("response", "Yes")]),
        (None, [("response", "Yes")]),
        (" ", [("response", "Yes")]),
    ],
)
def test_the_response_is_sent_with_the_user_message_in_front(user_message: Any, sent: Any) -> None:
    result, model = output({"a": 0.9}, "Yes", user_message)
    assert list(dict(model.requests[0].input).items()) == sent  # type: ignore[call-overload]
    assert result.message == "The response was rejected by the following checks: a"
    assert result.stage == "output"


@pytest.mark.parametrize("response", [None, "", "  "])
def test_a_response_without_text_passes_without_a_call(response: Any) -> None:
    result, model = output({"a": 1.0}, response, "Hi")
    assert result.passed
    assert model.requests == []


# ---- results as data ----------------------------------------------------------------------------------

SETTINGS = GuardrailSettings(0.5, (CheckSettings("a", "A?"), CheckSettings("b", "B?")))


def test_moving_a_threshold_changes_the_verdict_without_a_call() -> None:
    model = Scripted({"a": 0.4, "b": 0.2})
    result = guard(model)
    moved = result.with_thresholds(dataclasses.replace(SETTINGS, threshold=0.3))
    assert moved.failed_checks == ("a",)
    assert moved.message == "The user message was rejected by the following checks: a"
    assert moved.with_thresholds(SETTINGS).passed
    assert len(model.requests) == 1


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_new_threshold_judges_as_a_new_run_would(p: float, threshold: float) -> None:
    result = guard({"a": p, "b": 0.0}, thresholds=(0.5, 1.0))
    settings = GuardrailSettings(1.0, (CheckSettings("a", "A?", threshold),))
    again = guard({"a": p, "b": 0.0}, thresholds=(threshold, 1.0))
    assert result.with_thresholds(settings).check("a") == again.check("a")


@pytest.mark.parametrize("answer", [Refusal(), NoAnswer("x"), BadAnswer("y")])
def test_no_threshold_makes_an_unanswered_check_pass(answer: Any) -> None:
    result = guard({"a": answer, "b": 0.0})
    for threshold in (0.0, 0.5, 1.0):
        moved = result.with_thresholds(GuardrailSettings(threshold, SETTINGS.checks))
        assert moved.check("a").status == result.check("a").status
        assert not moved.passed


def test_the_json_form_is_that_of_the_command_line() -> None:
    data = guard({"a": 0.9, "b": Refusal("no")}).to_json()
    assert json.loads(json.dumps(data)) == data
    assert {k: data[k] for k in ("format", "verdict", "message", "failed", "model")} == {
        "format": 1,
        "verdict": "rejected",
        "message": "The user message was rejected by the following checks: a, b",
        "failed": ["a", "b"],
        "model": {"name": "scripted", "version": "scripted-1"},
    }
    assert data["checks"] == [
        {
            "name": "a",
            "question": "A?",
            "probability": 0.9,
            "threshold": 0.5,
            "status": "rejected",
            "detail": None,
            "kind": "model",
        },
        {
            "name": "b",
            "question": "B?",
            "probability": None,
            "threshold": 0.5,
            "status": "refused",
            "detail": "no",
            "kind": "model",
        },
    ]
    assert guard({"a": 0.1, "b": 0.1}).to_json()["message"] is None


def test_a_stored_result_reads_back_whole() -> None:
    answers = {"a": YesNoAnswer(0.4, 0.3, 0.6, 0.8, "d"), "b": NoAnswer("n")}
    exchange = Exchange("http://x", "{}", "{}", 200, 1.5, 2, {"accept": "*"})
    response = DecisionResponse(answers, "v", Usage(3, None), (exchange,), True, ("note",))
    result = guard(Scripted(response))
    assert GuardrailResult.from_json(json.loads(json.dumps(result.to_record()))) == result


def test_a_status_from_elsewhere_never_reads_as_passed() -> None:
    data = guard({"a": 0.1, "b": 0.1}).to_json()
    data["checks"][0]["status"] = "waved_through"
    assert GuardrailResult.from_json(data).verdict == "error"


def test_bounds_on_both_sides_of_the_threshold_make_a_result_uncertain() -> None:
    result = guard({"a": YesNoAnswer(0.45, 0.4, 0.6), "b": YesNoAnswer(0.1, 0.05, 0.2)})
    assert result.check("a").uncertain
    assert not result.check("b").uncertain
    assert result.check("a").margin == pytest.approx(-0.05)


def test_a_threshold_that_is_no_number_lets_nothing_through() -> None:
    passed = guard({"a": 0.0, "b": 0.0})
    assert passed.passed
    assert passed.checks[0].with_threshold(float("nan")).status == "rejected"


def test_a_user_message_with_an_attachment_goes_beside_the_response() -> None:
    model = Scripted({"a": 0.1})
    guardrail = DecisionModelOutputGuardrail.builder().decision_model(model).check("a", "A?").build()
    run(guardrail.validate("A cat.", ["What is this?", {"type": "image"}]))
    assert dict(model.requests[0].input) == {
        "userMessage": "What is this?\n[attached image]",
        "response": "A cat.",
    }
