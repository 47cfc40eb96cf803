"""Cases that a check was fitted on are judged by fits that did not see them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.engine.guardrails.support import run
from workbench.engine.decisions import DecisionRequest, decision_model_available, open_decision_model
from workbench.engine.evaluation import (
    Case,
    CrossValidatedModel,
    EvaluationRun,
    evaluate_rows,
    fit_on_cases,
    open_for_evaluation,
)
from workbench.engine.evaluation.fitting import questions_of
from workbench.engine.guardrails import CheckSettings, GuardrailSettings
from workbench.engine.guardrails.settings import Stage
from workbench.engine.model_settings import ModelSettings

EMBEDDED = ModelSettings("decision", "embedded")
SETTINGS = GuardrailSettings(
    0.5,
    (
        CheckSettings("code", "Does the text name a colour?", None, "a colour", "no colour"),
        CheckSettings("unfitted", "Is it rude?", None, "an insult", "a polite text"),
    ),
)
GUARDRAILS: dict[Stage, GuardrailSettings] = {"input": SETTINGS}
# The labels follow no rule: whoever predicts them well has seen them.
TEXTS = [
    "The train leaves at noon.", "We had soup for dinner.", "My brother plays the violin.", "It rained in Rome.",
    "The door is locked.", "She sells old maps.", "A fox crossed the road.", "Bring your own chair.",
    "The bridge was closed.", "He forgot his glasses.", "Eggs are in the fridge.", "They moved to Lisbon.",
]  # fmt: skip
CASES = [Case(f"c{i}", text, {"code": i % 2 == 0}) for i, text in enumerate(TEXTS)]

pytestmark = pytest.mark.skipif(
    decision_model_available(EMBEDDED, None) is not None, reason="the embedded model's files are not here"
)


@pytest.fixture
def fitted(tmp_path: Path) -> Path:
    run(fit_on_cases(EMBEDDED, GUARDRAILS, CASES, root=tmp_path))
    return tmp_path


def test_labels_without_a_rule_are_not_predicted_by_having_seen_them(fitted: Path) -> None:
    seen = run(EvaluationRun(CASES, SETTINGS, open_decision_model(EMBEDDED, root=fitted)).collect())
    assert evaluate_rows(seen, SETTINGS).checks["code"].auc == 1.0
    fair = open_for_evaluation(EMBEDDED, GUARDRAILS, CASES, root=fitted)
    rows = run(EvaluationRun(CASES, SETTINGS, fair).collect())
    auc = evaluate_rows(rows, SETTINGS).checks["code"].auc
    assert auc is not None
    assert auc < 0.8


def test_the_figures_are_those_that_the_fit_told(fitted: Path) -> None:
    [figures, _] = run(fit_on_cases(EMBEDDED, GUARDRAILS, CASES, root=fitted))
    fair = open_for_evaluation(EMBEDDED, GUARDRAILS, CASES, root=fitted)
    rows = run(EvaluationRun(CASES, SETTINGS, fair).collect())
    report = evaluate_rows(rows, SETTINGS).checks["code"]
    assert report.auc == pytest.approx(figures.after["auc"])
    assert report.confusion.accuracy == pytest.approx(figures.after["accuracy"])


def test_other_texts_and_checks_that_were_not_fitted_are_answered_by_the_model_itself(fitted: Path) -> None:
    plain = open_decision_model(EMBEDDED, root=fitted)
    fair = open_for_evaluation(EMBEDDED, GUARDRAILS, CASES, root=fitted)
    for text, names in (("A text that nobody labelled.", {"code", "unfitted"}), (TEXTS[0], {"unfitted"})):
        request = DecisionRequest(text, questions_of(SETTINGS))
        there, here = run(plain.decide(request)), run(fair.decide(request))
        for name in names:
            assert here.yes_no(name).probability == there.yes_no(name).probability
    request = DecisionRequest(TEXTS[0], questions_of(SETTINGS))
    assert run(fair.decide(request)).yes_no("code").detail == "by a fit on the other cases"


def test_a_reworded_check_is_scored_by_its_wording(fitted: Path) -> None:
    changed = GuardrailSettings(0.5, (dataclasses.replace(SETTINGS.checks[0], question="Other?"),))
    fair = open_for_evaluation(EMBEDDED, {"input": changed}, CASES, root=fitted)
    answer = run(fair.decide(DecisionRequest(TEXTS[0], questions_of(changed)))).yes_no("code")
    assert answer.detail == "judged by its wording only"


def test_a_changed_label_is_another_version(fitted: Path) -> None:
    changed = [dataclasses.replace(CASES[0], labels={"code": False}), *CASES[1:]]
    versions = set()
    for cases in (CASES, changed):
        model = open_for_evaluation(EMBEDDED, GUARDRAILS, cases, root=fitted)
        assert isinstance(model, CrossValidatedModel)
        assert run(model.describe()).version == model.version
        versions.add(model.version)
    assert len(versions) == 2


def test_without_a_fit_the_model_is_opened_as_always(tmp_path: Path) -> None:
    model = open_for_evaluation(EMBEDDED, GUARDRAILS, CASES, root=tmp_path)
    assert not isinstance(model, CrossValidatedModel)
