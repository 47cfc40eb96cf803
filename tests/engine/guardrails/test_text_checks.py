"""Checks that ask no model stand beside the others and are told apart."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.engine.guardrails.support import Scripted, run
from workbench.engine.decisions import BadAnswer, YesNoAnswer
from workbench.engine.guardrails import (
    DecisionModelInputGuardrail,
    LanguageCheck,
    LengthCheck,
    PatternCheck,
    guess_language,
)


@pytest.mark.parametrize(
    ("check", "text", "p"),
    [
        (PatternCheck(r"\b\d{3}-\d{4}\b"), "call 555-0199", 1.0),
        (PatternCheck(r"\b\d{3}-\d{4}\b"), "call me", 0.0),
        (PatternCheck("SECRET"), "a secret", 1.0),
        (PatternCheck("SECRET", ignore_case=False), "a secret", 0.0),
        (PatternCheck("ticket #", must_match=True), "no number", 1.0),
        (PatternCheck("ticket #", must_match=True), "ticket # 7", 0.0),
        (LengthCheck(5), "12345", 0.0),
        (LengthCheck(5), "123456", 1.0),
        (LengthCheck(least=3), "ab", 1.0),
        (LengthCheck(2), "🙂🙂", 0.0),
        (LanguageCheck(("en",)), "Bitte senden Sie mir die Rechnung und das Paket nicht", 1.0),
        (LanguageCheck(("en", "de")), "Bitte senden Sie mir die Rechnung und das Paket nicht", 0.0),
        (LanguageCheck(("en",)), "ok", 0.0),
    ],
)
def test_the_text_alone_decides(check: Any, text: str, p: float) -> None:
    answer = check.answer(text)
    assert isinstance(answer, YesNoAnswer)
    assert answer.probability == p


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Where is the parcel that I ordered for my mother?", "en"),
        ("Wo ist das Paket und die Rechnung?", "de"),
        ("Où est le colis que vous avez envoyé pour la fête ?", "fr"),
        ("¿Dónde está el paquete que pedí para mi madre?", "es"),
        ("Где моя посылка?", "ru"),
        ("荷物はどこですか", "ja"),
        ("我的包裹在哪里", "zh"),
        ("12345", None),
        ("", None),
    ],
)
def test_languages_are_recognised_where_the_text_tells(text: str, code: str | None) -> None:
    assert guess_language(text) == code


@pytest.mark.parametrize(
    "make",
    [
        lambda: PatternCheck("("),
        lambda: LengthCheck(),
        lambda: LengthCheck(-1),
        lambda: LengthCheck(2, 3),
        lambda: LanguageCheck(()),
        lambda: LanguageCheck(("xx",)),
    ],
    ids=["pattern", "no-limit", "negative", "reversed", "none", "unknown"],
)
def test_settings_that_make_no_sense_are_refused(make: Any) -> None:
    with pytest.raises(ValueError):
        make()


def test_a_pattern_that_runs_away_is_an_error_and_does_not_pass() -> None:
    model = Scripted({"a": 0.0})
    builder = DecisionModelInputGuardrail.builder().decision_model(model).check("a", "A?")
    guardrail = builder.text_check("runaway", PatternCheck(r"^(a|a|b?)*(aa|a)*$")).build()
    started = time.perf_counter()
    result = run(guardrail.validate("a" * 3000 + "!"))
    assert time.perf_counter() - started < 5
    assert result.check("runaway").status == "error"
    assert isinstance(PatternCheck(r"^(a|a|b?)*(aa|a)*$").answer("a" * 3000 + "!"), BadAnswer)
    assert result.verdict == "error"


def test_they_stand_in_the_list_of_checks_with_their_kind() -> None:
    model = Scripted({"a": 0.1})
    builder = DecisionModelInputGuardrail.builder().decision_model(model).text_check("long", LengthCheck(3))
    result = run(builder.check("a", "A?").build().validate("hello"))
    assert [(c.name, c.kind, c.status) for c in result.checks] == [
        ("long", "length", "rejected"),
        ("a", "model", "passed"),
    ]
    assert list(model.requests[0].questions) == ["a"]
    assert result.to_json()["checks"][0]["kind"] == "length"


def test_with_text_checks_alone_the_model_is_not_asked() -> None:
    model = Scripted({})
    guardrail = (
        DecisionModelInputGuardrail.builder().decision_model(model).text_check("long", LengthCheck(3)).build()
    )
    assert not run(guardrail.validate("hello")).passed
    assert model.requests == []


def test_a_long_pattern_is_told_shortened() -> None:
    with pytest.raises(ValueError, match="no regular expression") as told:
        PatternCheck("a|" * 500_000 + "(")
    assert len(str(told.value)) < 400


def test_a_wrong_pattern_is_told_as_it_was_written() -> None:
    with pytest.raises(ValueError, match="no regular expression") as told:
        PatternCheck(r"\d{4}(")
    assert r"“\d{4}(”" in str(told.value)
