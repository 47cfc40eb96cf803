"""The builders keep every rule and every text of the reference system."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.engine.guardrails.support import Scripted, run
from workbench.engine.guardrails import (
    CheckSettings,
    DecisionModelInputGuardrail,
    DecisionModelOutputGuardrail,
    GuardrailSettings,
    LengthCheck,
    guardrail_from_settings,
)

BUILDERS = {"input": DecisionModelInputGuardrail.builder, "output": DecisionModelOutputGuardrail.builder}
MODEL = Scripted({})

ERRORS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no-model": (lambda b: b.check("a", "A?"), "decision_model cannot be null"),
    "no-model-first": (lambda b: b.threshold(9).check(" ", " "), "decision_model cannot be null"),
    "no-checks": (lambda b: b.decision_model(MODEL), "checks cannot be null or empty"),
    "empty-checks": (lambda b: b.decision_model(MODEL).checks({}), "checks cannot be null or empty"),
    "null-checks": (
        lambda b: b.decision_model(MODEL).check("a", "A?").checks(None),
        "checks cannot be null or empty",
    ),
    "blank-name": (lambda b: b.decision_model(MODEL).check(" ", "A?"), "check name cannot be null or blank"),
    "null-name": (lambda b: b.decision_model(MODEL).check(None, "A?"), "check name cannot be null or blank"),
    "blank-question": (
        lambda b: b.decision_model(MODEL).check("a", "\n"),
        "question of check 'a' cannot be null or blank",
    ),
    "null-question": (
        lambda b: b.decision_model(MODEL).checks({"a": None}),
        "question of check 'a' cannot be null or blank",
    ),
    "threshold-high": (
        lambda b: b.decision_model(MODEL).check("a", "A?").threshold(1.5),
        "threshold must be between 0.0 and 1.0, but is: 1.5",
    ),
    "threshold-low": (
        lambda b: b.decision_model(MODEL).check("a", "A?").threshold(-0.1),
        "threshold must be between 0.0 and 1.0, but is: -0.1",
    ),
    "threshold-int": (
        lambda b: b.decision_model(MODEL).check("a", "A?").threshold(2),
        "threshold must be between 0.0 and 1.0, but is: 2.0",
    ),
    "threshold-nan": (
        lambda b: b.decision_model(MODEL).check("a", "A?").threshold(math.nan),
        "threshold must be between 0.0 and 1.0, but is: nan",
    ),
    "threshold-infinite": (
        lambda b: b.decision_model(MODEL).check("a", "A?").threshold(math.inf),
        "threshold must be between 0.0 and 1.0, but is: inf",
    ),
    "threshold-boolean": (
        lambda b: b.decision_model(MODEL).check("a", "A?").threshold(True),
        "threshold must be between 0.0 and 1.0, but is: True",
    ),
    "check-threshold": (
        lambda b: b.decision_model(MODEL).check("a", "A?", 1.5),
        "threshold of check 'a' must be between 0.0 and 1.0, but is: 1.5",
    ),
    "check-threshold-nan": (
        lambda b: b.decision_model(MODEL).check("a", "A?", math.nan),
        "threshold of check 'a' must be between 0.0 and 1.0, but is: nan",
    ),
    "check-threshold-boolean": (
        lambda b: b.decision_model(MODEL).check("a", "A?", False),
        "threshold of check 'a' must be between 0.0 and 1.0, but is: False",
    ),
    "check-threshold-text": (
        lambda b: b.decision_model(MODEL).check("a", "A?", "0.5"),
        "threshold of check 'a' must be between 0.0 and 1.0, but is: 0.5",
    ),
    "blank-meaning": (
        lambda b: b.decision_model(MODEL).check("a", "A?", yes_means=" "),
        "yes_means of check 'a' cannot be null or blank",
    ),
}


@pytest.mark.parametrize("stage", BUILDERS)
@pytest.mark.parametrize("case", ERRORS)
def test_what_cannot_be_built_is_refused_with_the_reference_text(stage: str, case: str) -> None:
    fill, message = ERRORS[case]
    with pytest.raises(ValueError) as caught:
        fill(BUILDERS[stage]()).build()
    assert str(caught.value) == message


@pytest.mark.parametrize("stage", BUILDERS)
def test_a_name_used_twice_is_refused_at_the_call(stage: str) -> None:
    builder = BUILDERS[stage]().check("a", "A?")
    for again in (
        lambda: builder.check("a", "B?"),
        lambda: builder.check("a", "B?", 0.1),
        lambda: builder.text_check("a", LengthCheck(5)),
    ):
        with pytest.raises(ValueError, match=r"^There is more than one check named 'a'$"):
            again()


def test_a_blank_reprompt_is_refused_and_none_is_allowed() -> None:
    builder = DecisionModelOutputGuardrail.builder().decision_model(MODEL).check("a", "A?")
    assert builder.reprompt(None).build().reprompt is None
    with pytest.raises(ValueError, match=r"^reprompt cannot be null or blank$"):
        builder.reprompt("  ").build()


def test_setting_the_checks_replaces_all_and_clears_their_thresholds() -> None:
    builder = (
        DecisionModelInputGuardrail.builder().decision_model(MODEL).check("old", "O?").check("a", "A?", 0.9)
    )
    guardrail = builder.checks({"b": "B?", "a": "A?"}).build()
    assert guardrail.check_names == ("b", "a")
    assert guardrail.threshold_of("a") == 0.5


def test_more_checks_can_follow_the_map() -> None:
    builder = DecisionModelInputGuardrail.builder().decision_model(MODEL).checks({"a": "A?"}).check("b", "B?")
    assert builder.build().check_names == ("a", "b")
    with pytest.raises(ValueError, match="more than one check named 'a'"):
        builder.check("a", "again?")


@pytest.mark.parametrize(
    ("own", "guardrail", "counts"),
    [(None, None, 0.5), (None, 0.7, 0.7), (0.2, 0.7, 0.2), (0, 0.7, 0.0), (1, None, 1)],
)
def test_a_check_s_own_threshold_wins_over_the_guardrail_s(own: Any, guardrail: Any, counts: float) -> None:
    builder = DecisionModelInputGuardrail.builder().decision_model(MODEL).check("a", "A?", own)
    assert builder.threshold(guardrail).build().threshold_of("a") == counts


def test_a_guardrail_does_not_change_after_it_was_built() -> None:
    model = Scripted({"a": 0.4, "b": 0.9})
    builder = DecisionModelInputGuardrail.builder().decision_model(model).check("a", "A?")
    guardrail = builder.build()
    builder.check("b", "B?").threshold(0.1)
    assert run(guardrail.validate("x")).passed
    assert list(model.requests[0].questions) == ["a"]


def test_settings_of_a_project_become_a_guardrail() -> None:
    settings = GuardrailSettings(
        0.6, (CheckSettings("a", "A?", 0.3, "yes words", ""), CheckSettings("b", "B?")), "Again, please."
    )
    model = Scripted({"a": 0.4, "b": 0.5})
    result = run(guardrail_from_settings(settings, model, "input").validate("x"))
    assert result.failed_checks == ("a",)
    assert model.requests[0].questions["a"].yes_means == "yes words"
    assert model.requests[0].questions["a"].no_means is None
    output: Any = guardrail_from_settings(settings, model, "output")
    assert output.reprompt == "Again, please."


def test_settings_without_checks_are_refused() -> None:
    with pytest.raises(ValueError, match="checks cannot be null or empty"):
        guardrail_from_settings(GuardrailSettings(), MODEL, "input")


@pytest.mark.parametrize(
    "number",
    [np.float64(0.25), np.float32(0.25), Decimal("0.25"), Fraction(1, 4)],
    ids=lambda number: type(number).__name__,
)
def test_a_threshold_may_be_a_real_number_of_any_library(number: Any) -> None:
    builder = DecisionModelInputGuardrail.builder().decision_model(MODEL)
    guardrail = builder.check("own", "A?", number).check("b", "B?").threshold(number).build()
    for name in guardrail.check_names:
        assert type(guardrail.threshold_of(name)) is float
        assert guardrail.threshold_of(name) == 0.25


@pytest.mark.parametrize(("number", "shown"), [(10**400, "inf"), (np.float32(1.5), "1.5"), (2, "2.0")])
def test_a_number_out_of_range_is_refused_in_the_same_words_whatever_its_type(
    number: Any, shown: str
) -> None:
    builder = DecisionModelInputGuardrail.builder().decision_model(MODEL).check("a", "A?").threshold(number)
    with pytest.raises(ValueError) as caught:
        builder.build()
    assert str(caught.value) == f"threshold must be between 0.0 and 1.0, but is: {shown}"
