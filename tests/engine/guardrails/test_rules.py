"""A project's checks that ask no model: they stand in the guardrail's list, and no model is needed for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.engine.guardrails.support import Scripted, run
from workbench.engine.decisions import BadAnswer, DecisionError
from workbench.engine.guardrails import (
    LANGUAGES,
    BrokenCheck,
    CheckSettings,
    DecisionModelInputGuardrail,
    DecisionModelOutputGuardrail,
    GuardrailResult,
    GuardrailSettings,
    LanguageCheck,
    LengthCheck,
    PatternCheck,
    TextCheck,
    guardrail_from_settings,
    guess_language,
    rule_result,
)
from workbench.engine.guardrails.settings import Stage

CARD = CheckSettings("card", rule=PatternCheck(r"\d{4} \d{4}"))
LONG = CheckSettings("long", rule=LengthCheck(40))
ENGLISH = CheckSettings("english", rule=LanguageCheck(("en",)))
RUDE = CheckSettings("rude", "Is it rude?")
VAGUE = CheckSettings("vague", "Is it vague?")
TEXT = "My card is 1234 5678 and you may keep it for good."


def validate(
    checks: tuple[CheckSettings, ...], text: str, model: Any = None, **options: Any
) -> GuardrailResult:
    settings = GuardrailSettings(options.pop("threshold", 0.5), checks)
    stage: Stage = options.pop("stage", "input")
    return run(guardrail_from_settings(settings, model, stage).validate(text, **options))


def test_only_the_questions_go_to_the_model_and_the_order_is_that_of_the_list() -> None:
    model = Scripted({"rude": 0.9, "vague": 0.1})
    result = validate((CARD, RUDE, LONG, VAGUE, ENGLISH), TEXT, model)
    assert [(c.name, c.kind, c.status) for c in result.checks] == [
        ("card", "pattern", "rejected"),
        ("rude", "model", "rejected"),
        ("long", "length", "rejected"),
        ("vague", "model", "passed"),
        ("english", "language", "passed"),
    ]
    assert [list(request.questions) for request in model.requests] == [["rude", "vague"]]
    assert result.message == "The user message was rejected by the following checks: card, rude, long"
    assert [c.detail for c in result.checks] == [
        "found at character 12", None, "50 characters", None, "looks like en"
    ]  # fmt: skip


def test_without_a_question_no_model_is_needed_named_or_asked() -> None:
    result = validate((CARD, LONG), "short")
    assert result.passed
    assert (result.model_name, result.model_version, result.exchanges) == (None, None, ())
    model = Scripted({})
    assert not validate((CARD, LONG), TEXT, model).passed
    assert model.requests == []


def test_a_question_still_needs_a_model() -> None:
    with pytest.raises(ValueError, match="decision_model cannot be null"):
        guardrail_from_settings(GuardrailSettings(checks=(CARD, RUDE)), None, "input")
    with pytest.raises(ValueError, match="decision_model cannot be null"):
        DecisionModelInputGuardrail.builder().build()
    DecisionModelOutputGuardrail.builder().text_check("long", LengthCheck(3)).build()


def test_at_the_output_stage_the_response_is_looked_at_and_not_the_message() -> None:
    checks = (CheckSettings("digits", rule=PatternCheck(r"\d")),)
    assert validate(checks, "no digit", stage="output", user_message="call 555").passed
    assert not validate(checks, "call 555", stage="output", user_message="no digit").passed


@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0])
def test_no_threshold_of_the_guardrail_turns_a_rule(threshold: float) -> None:
    result = validate((CARD, LONG), "My card is 1234 5678", threshold=threshold)
    assert [c.status for c in result.checks] == ["rejected", "passed"]
    moved = result.with_thresholds(GuardrailSettings(1 - threshold, (CARD, LONG)))
    assert [c.status for c in moved.checks] == ["rejected", "passed"]


def test_where_the_model_fails_the_error_propagates_with_what_the_rules_found() -> None:
    failure = DecisionError("the server is down", kind="connect", hint="start it")
    for _ in range(2):  # the same error again must not pile up words
        with pytest.raises(DecisionError) as caught:
            validate((CARD, RUDE, LONG), TEXT, Scripted(failure))
    assert caught.value is failure
    assert str(failure) == (
        "the server is down (start it). The checks that ask no model found: "
        "card: rejected (found at character 12), long: rejected (50 characters)"
    )
    assert [(c.name, c.status) for c in failure.found] == [("card", "rejected"), ("long", "rejected")]  # type: ignore[attr-defined]


def test_a_failing_model_without_rules_says_no_more_than_before() -> None:
    with pytest.raises(DecisionError) as caught:
        validate((RUDE,), TEXT, Scripted(DecisionError("down", kind="connect")))
    assert (str(caught.value), caught.value.found) == ("down", ())


def test_a_blank_text_passes_before_any_check_sees_it() -> None:
    result = validate((CheckSettings("some", rule=LengthCheck(least=5)),), "  \n")
    assert result.passed
    assert result.checks == ()


def test_a_rule_that_cannot_be_used_lets_nothing_pass_and_says_why() -> None:
    result = validate((CheckSettings("x", rule=BrokenCheck("pattern", "it has no end")),), "anything")
    assert (result.verdict, result.checks[0].kind, result.checks[0].detail) == (
        "error",
        "pattern",
        "it has no end",
    )


def test_a_rule_has_its_words_in_the_place_of_the_question_and_no_threshold() -> None:
    check = CheckSettings("a", "other words", 0.9, "yes", "no", rule=LengthCheck(1200, 3))
    assert check.question == "the text has more than 1\u202f200 characters or fewer than 3 characters"
    assert (check.threshold, check.yes_means, check.no_means, check.kind) == (None, None, None, "length")
    assert replace(check, rule=None, question="Q?").kind == "model"
    assert replace(check, rule=PatternCheck("x", ignore_case=False)).question.endswith("in exactly this case")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PatternCheck("a"), PatternCheck("b")),
        (PatternCheck("a"), PatternCheck("a", must_match=True)),
        (PatternCheck("a"), PatternCheck("a", ignore_case=False)),
        (LengthCheck(5), LengthCheck(6)),
        (LengthCheck(5), LengthCheck(least=5)),
        (LanguageCheck(("en",)), LanguageCheck(("en", "de"))),
    ],
)
def test_rules_that_differ_differ_in_their_words(one: TextCheck, other: TextCheck) -> None:
    assert one.description != other.description
    assert CheckSettings("a", rule=one).wording != CheckSettings("a", rule=other).wording


@pytest.mark.parametrize(
    ("most", "least", "words"),
    [
        (0, 5, "contradict"),
        (4, 9, "at least 9 and at most 4"),
        (None, -1, "below 0"),
        (-1, None, "below 0"),
        (None, None, "needs a limit"),
    ],
)
def test_limits_that_make_no_sense_are_refused(most: int | None, least: int | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LengthCheck(most, least)


SENTENCES = {
    "en": "Where is the parcel that I ordered for you?",
    "de": "Wo ist das Paket und die Rechnung?",
    "fr": "Où est le colis que vous avez envoyé pour la fête ?",
    "es": "¿Dónde está el paquete que pedí para mi madre?",
    "it": "Dove si trova il pacco della mia amica? Non è più qui come vorrei",
    "pt": "Onde está o pacote que você não mandou para uma amiga?",
    "nl": "Waar is het pakket dat ik voor mijn moeder heb besteld?",
    "ru": "Где моя посылка?",
    "ja": "荷物はどこですか",
    "ko": "제 소포는 어디에 있습니까",
    "zh": "我的包裹在哪里",
    "ar": "أين طردي",
    "he": "איפה החבילה שלי",
    "el": "Πού είναι το δέμα μου",
    "hi": "मेरा पार्सल कहाँ है",
    "th": "พัสดุของฉันอยู่ที่ไหน",
}


def test_every_language_that_can_be_named_can_be_recognised() -> None:
    assert {code: guess_language(text) for code, text in SENTENCES.items()} == {
        code: code for code in LANGUAGES
    }


def test_one_rule_can_be_tried_alone() -> None:
    found = rule_result(CARD, TEXT)
    assert (found.name, found.status, found.detail) == ("card", "rejected", "found at character 12")
    assert isinstance(BrokenCheck("length", "x").answer("t"), BadAnswer)
    with pytest.raises(ValueError, match="asks a model"):
        rule_result(RUDE, TEXT)
