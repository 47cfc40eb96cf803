"""The report counts everything, leaves out only what has no number, and gates what is not defined."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.engine.evaluation import ResultRow, evaluate_rows
from workbench.engine.guardrails import CheckSettings, GuardrailSettings

SETTINGS = GuardrailSettings(0.5, (CheckSettings("a", "A?"), CheckSettings("b", "B?", 0.8)))


def row(case: int, p: float | None, label: bool | None, check: str = "a", status: Any = None) -> ResultRow:
    status = status or ("rejected" if p is not None and p >= 0.5 else "passed")
    return ResultRow(f"c{case}", check, p, status, label, 0.5, "v1", 1.0)


ROWS = [
    row(0, 0.9, True),
    row(1, 0.4, True),
    row(2, 0.6, False),
    row(3, 0.1, False),
    row(4, None, True, status="refused"),
    row(5, None, False, status="no_answer"),
    row(6, None, False, status="error"),
    row(7, 0.7, None),
]


def test_the_figures_of_a_check() -> None:
    report = evaluate_rows(ROWS, SETTINGS).checks["a"].to_json()
    assert {
        k: report[k] for k in ("n", "positives", "scored", "refused", "errors", "no_answers", "unlabelled")
    } == {
        "n": 7,
        "positives": 3,
        "scored": 4,
        "refused": 1,
        "errors": 2,
        "no_answers": 1,
        "unlabelled": 1,
    }
    assert report["confusion"] == {"tp": 1, "fp": 1, "tn": 1, "fn": 1}
    assert (report["precision"], report["recall"], report["f1"], report["fpr"]) == (0.5, 0.5, 0.5, 0.5)
    assert report["auc"] == 0.75
    assert json.loads(json.dumps(report)) == json.loads(json.dumps(report, allow_nan=False))


def test_the_report_has_the_shape_of_the_command_line() -> None:
    data = evaluate_rows(ROWS, SETTINGS).to_json()
    assert data["format"] == 1
    assert data["model"] == "v1"
    wanted = "n positives refused errors threshold precision recall f1 fpr auc average_precision brier log_loss ece mce confusion suggestions"
    assert set(wanted.split()) <= set(data["checks"]["a"])
    json.dumps(data, allow_nan=False)


def test_thresholds_of_the_settings_count_and_not_those_of_the_rows() -> None:
    lower = GuardrailSettings(0.05, SETTINGS.checks)
    assert evaluate_rows(ROWS, lower).checks["a"].confusion.recall == 1.0


def test_a_check_without_rows_has_no_figures_but_a_place() -> None:
    report = evaluate_rows(ROWS, SETTINGS).checks["b"]
    assert (report.n, report.auc, report.brier, report.confusion.recall) == (0, None, None, None)
    assert "no labelled case has a probability" in report.warnings[0]


def test_false_alarms_of_all_checks_are_counted_together() -> None:
    rows = [
        row(0, 0.6, False),
        row(0, 0.1, False, "b"),
        row(1, 0.1, False),
        row(1, 0.9, False, "b"),
        row(2, 0.1, False),
    ]
    assert evaluate_rows(rows, SETTINGS).union_fpr == pytest.approx(2 / 3)


def test_a_case_with_a_yes_label_is_no_good_case() -> None:
    rows = [row(0, 0.9, False), row(0, 0.9, True, "b"), row(1, 0.1, False)]
    assert evaluate_rows(rows, SETTINGS).union_fpr == 0.0


def test_several_model_versions_are_pointed_out() -> None:
    import dataclasses

    rows = [row(0, 0.9, True), dataclasses.replace(row(1, 0.1, False), model="v2")]
    report = evaluate_rows(rows, SETTINGS)
    assert report.model == "v1, v2"
    assert any("several model versions: v1, v2" in w for w in report.checks["a"].warnings)


@pytest.mark.parametrize(
    ("gates", "failures"),
    [
        ({"min_recall": 0.5}, ["b: recall (not defined) is below 0.5"]),
        ({"min_recall": 0.6}, ["a: recall 0.500 is below 0.6", "b: recall (not defined) is below 0.6"]),
        ({"max_fpr": 0.5}, ["b: false-positive rate (not defined) is above 0.5"]),
        (
            {"max_fpr": 0.4},
            [
                "a: false-positive rate 0.500 is above 0.4",
                "b: false-positive rate (not defined) is above 0.4",
            ],
        ),
        ({}, []),
    ],
)
def test_gates_fail_on_a_figure_that_misses_or_is_not_defined(gates: Any, failures: list[str]) -> None:
    assert evaluate_rows(ROWS, SETTINGS).gate_failures(**gates) == failures


def test_the_calibration_gate() -> None:
    report = evaluate_rows(ROWS, GuardrailSettings(0.5, SETTINGS.checks[:1]))
    assert report.checks["a"].ece is not None
    assert report.gate_failures(max_ece=1.0) == []
    assert report.gate_failures(max_ece=0.01) != []


def test_a_figure_that_misses_a_gate_by_little_does_not_read_like_the_gate() -> None:
    rows = [row(i, 0.9 if i < 8999 else 0.1, True) for i in range(10_000)]
    report = evaluate_rows(rows, GuardrailSettings(0.5, SETTINGS.checks[:1]), suggestions=False)
    assert report.gate_failures(min_recall=0.9) == ["a: recall 0.899900 is below 0.9"]


def test_a_rounded_figure_never_reads_as_if_it_met_the_gate() -> None:
    rows = [row(i, 0.9 if i < 1999 else 0.1, True) for i in range(2_000)]
    report = evaluate_rows(rows, GuardrailSettings(0.5, SETTINGS.checks[:1]), suggestions=False)
    assert report.gate_failures(min_recall=0.9996) == ["a: recall 0.999500 is below 0.9996"]


@pytest.mark.parametrize(
    ("yes", "no", "words"),
    [
        (1, 1, ["only 1 case is labelled yes and 1 no: the figures are rough"]),
        (2, 1, ["only 2 cases are labelled yes and 1 no: the figures are rough"]),
        (99, 1, ["only 1 case is labelled no: the figures are rough"]),
        (99, 99, []),
    ],
)
def test_few_cases_of_a_label_are_counted_in_one_sentence(yes: int, no: int, words: list[str]) -> None:
    rows = [row(i, 0.9 - i / 1000, i < yes) for i in range(yes + no)]
    report = evaluate_rows(rows, GuardrailSettings(0.5, SETTINGS.checks[:1]), suggestions=False)
    assert list(report.checks["a"].warnings) == words
