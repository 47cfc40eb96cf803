"""*Fit on my cases* writes weights into the project, uses only its labelled cases, and knows when they are stale."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from tests.engine.guardrails.support import run
from workbench.engine.decisions import DecisionError, DecisionRequest, open_decision_model
from workbench.engine.evaluation import Case, fit_on_cases, stale_checks
from workbench.engine.evaluation.fitting import questions_of
from workbench.engine.guardrails import CheckSettings, GuardrailSettings
from workbench.engine.model_settings import ModelSettings

EMBEDDED = ModelSettings("decision", "embedded")
CHECKS = (
    CheckSettings(
        "refund", "Does the customer ask for a refund?", None, "wants the money back", "asks something else"
    ),
    CheckSettings("rude", "Is the message rude?"),
)
SETTINGS = GuardrailSettings(0.5, CHECKS)
CASES = [
    Case("1", "I want my money back for the broken lamp.", {"refund": True}),
    Case("2", "Please return my payment, I never got the shoes.", {"refund": True}),
    Case("3", "When do you open on Sunday?", {"refund": False}),
    Case("4", "Which size of the jacket should I take?", {"refund": False, "rude": False}),
    Case("5", "I will refund you.", {"refund": True}, "", "output"),
]


def test_checks_with_enough_cases_are_fitted_and_the_others_say_why(tmp_path: Path) -> None:
    figures = run(fit_on_cases(EMBEDDED, {"input": SETTINGS}, CASES, root=tmp_path))
    by_check = {f.check: f for f in figures}
    assert by_check["refund"].skipped is None
    assert (by_check["refund"].positives, by_check["refund"].negatives) == (2, 2)
    assert "needs 2 labelled texts" in (by_check["rude"].skipped or "")
    stored = json.loads((tmp_path / "fitted-checks.json").read_text())
    assert list(stored["checks"]) == ["refund"]
    assert stored["model"].startswith("all-MiniLM-L6-v2-int8@")
    model = open_decision_model(EMBEDDED, root=tmp_path)
    response = run(model.decide(DecisionRequest("Give me back what I paid.", questions_of(SETTINGS))))
    assert response.yes_no("refund").detail == "judged by a fit on 2 yes and 2 no cases"


def test_a_fit_goes_stale_when_cases_or_wording_change(tmp_path: Path) -> None:
    run(fit_on_cases(EMBEDDED, {"input": SETTINGS}, CASES, root=tmp_path))
    assert stale_checks(EMBEDDED, {"input": SETTINGS}, CASES, root=tmp_path) == []
    fewer = stale_checks(EMBEDDED, {"input": SETTINGS}, CASES[1:], root=tmp_path)
    assert [s.reason for s in fewer] == ["the labelled cases changed"]
    reworded = GuardrailSettings(0.5, (dataclasses.replace(CHECKS[0], question="Refund?"),))
    assert [s.reason for s in stale_checks(EMBEDDED, {"input": reworded}, CASES, root=tmp_path)] == [
        "the wording of the check changed"
    ]


def test_nothing_fitted_is_nothing_stale(tmp_path: Path) -> None:
    assert stale_checks(EMBEDDED, {"input": SETTINGS}, CASES, root=tmp_path) == []


def test_only_the_embedded_model_can_be_fitted(tmp_path: Path) -> None:
    settings = ModelSettings("d", "openai", "http://x", "m")
    with pytest.raises(DecisionError, match="only the embedded model"):
        run(fit_on_cases(settings, {"input": SETTINGS}, CASES, root=tmp_path))


def test_a_broken_file_of_weights_is_replaced_by_a_new_fit(tmp_path: Path) -> None:
    (tmp_path / "fitted-checks.json").write_text("{")
    run(fit_on_cases(EMBEDDED, {"input": SETTINGS}, CASES, root=tmp_path))
    assert "refund" in json.loads((tmp_path / "fitted-checks.json").read_text())["checks"]
