"""Checks that ask no model are evaluated on the way: with figures, without a call, a suggestion or a fit."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.engine.evaluation.test_runner import Counting
from tests.engine.guardrails.support import run
from workbench.engine.decisions import DecisionError
from workbench.engine.evaluation import (
    Case,
    ClusterRun,
    Evaluation,
    EvaluationReport,
    EvaluationRun,
    Progress,
    ResultRow,
    evaluate_rows,
    fit_on_cases,
)
from workbench.engine.evaluation.fitting import gathered
from workbench.engine.guardrails import (
    CheckSettings,
    GuardrailSettings,
    LanguageCheck,
    LengthCheck,
    PatternCheck,
)
from workbench.engine.model_settings import ModelSettings

DIGITS = CheckSettings("digits", rule=PatternCheck(r"\d{3}"))
LONG = CheckSettings("long", rule=LengthCheck(12))
ASKED = CheckSettings("asked", "Is it?", 0.05)
RULES = GuardrailSettings(0.5, (DIGITS, LONG))
MIXED = GuardrailSettings(0.5, (DIGITS, ASKED, LONG))
CASES = [
    Case("a", "call 555", {"digits": True, "asked": True, "long": False}),
    Case("b", "call me", {"digits": False, "asked": True}),
    Case("c", "call me now or call 5 5 5", {"digits": True, "long": True}),
    Case("d", "  ", {"digits": False}),
]


def go(settings: GuardrailSettings, model: Any, **options: Any) -> tuple[EvaluationRun, list[ResultRow]]:
    evaluation = EvaluationRun(CASES, settings, model, **options)
    return evaluation, run(evaluation.collect())


def report_of(settings: GuardrailSettings, rows: list[ResultRow]) -> EvaluationReport:
    return evaluate_rows(rows, settings)


def test_rules_alone_need_no_model_and_make_no_call() -> None:
    seen: list[Progress] = []
    evaluation, rows = go(RULES, None, on_progress=seen.append)
    assert [(r.case, r.check, r.probability, r.status, r.label, r.model) for r in rows[:6]] == [
        ("a", "digits", 1.0, "rejected", True, None),
        ("a", "long", 0.0, "passed", False, None),
        ("b", "digits", 0.0, "passed", False, None),
        ("b", "long", 0.0, "passed", None, None),
        ("c", "digits", 0.0, "passed", True, None),
        ("c", "long", 1.0, "rejected", True, None),
    ]
    assert evaluation.asked == 0
    assert (seen[-1].done, seen[-1].kept, seen[-1].asked) == (4, 4, 0)


def test_as_in_a_guardrail_a_blank_text_gives_no_number() -> None:
    _, rows = go(RULES, None)
    assert {(r.status, r.probability) for r in rows if r.case == "d"} == {("no_answer", None)}


def test_of_a_mixed_list_only_the_questions_are_asked_and_each_case_has_every_row() -> None:
    model = Counting()
    _, rows = go(MIXED, model)
    assert (len(model.texts), model.questions) == (3, 3)
    assert {r.case: {x.check for x in rows if x.case == r.case} for r in rows} == {
        case.id: {"digits", "asked", "long"} for case in CASES
    }
    assert {r.check: r.model for r in rows if r.case == "a"} == {"digits": None, "long": None, "asked": "v1"}


def test_where_the_model_fails_the_rules_keep_their_answers(tmp_path: Path) -> None:
    model = Counting({"call 555": DecisionError("too wide", kind="status", status=422)})
    _, rows = go(MIXED, model)
    found = {r.check: (r.status, r.probability) for r in rows if r.case == "a"}
    assert found == {"digits": ("rejected", 1.0), "asked": ("error", None), "long": ("passed", 0.0)}


def test_stored_answers_of_rules_are_kept_whatever_model_comes_and_worked_out_anew_when_the_rule_changes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "results.jsonl"
    go(MIXED, Counting(), results=path)
    lines = path.read_text().splitlines()
    evaluation, _ = go(MIXED, Counting(version="v1"), results=path)
    assert (path.read_text().splitlines(), evaluation.stale) == (lines, [])
    shorter = GuardrailSettings(0.5, (DIGITS, ASKED, CheckSettings("long", rule=LengthCheck(3))))
    changed, rows = go(shorter, Counting(), results=path)
    assert {row.check for row in changed.stale} == {"long"}
    assert {(r.case, r.status) for r in rows if r.check == "long"} == {
        ("a", "rejected"), ("b", "rejected"), ("c", "rejected"), ("d", "no_answer"),
    }  # fmt: skip


def test_a_question_that_reads_like_a_rule_does_not_get_its_answers(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    go(RULES, None, results=path)
    model = Counting()
    question = CheckSettings("digits", DIGITS.question)
    evaluation, rows = go(GuardrailSettings(0.5, (question,)), model, results=path)
    assert evaluation.asked == len(CASES)
    assert {r.probability for r in rows if r.case != "d"} == {0.1}


def test_the_report_has_their_figures_and_says_what_they_are() -> None:
    _, rows = go(MIXED, Counting())
    report = report_of(MIXED, rows)
    digits, asked = report.checks["digits"], report.checks["asked"]
    assert (digits.kind, digits.threshold, asked.kind) == ("pattern", 0.5, "model")
    assert (digits.confusion.tp, digits.confusion.fn, digits.confusion.tn) == (1, 1, 1)
    assert (digits.confusion.recall, digits.confusion.precision, digits.auc) == (0.5, 1.0, 0.75)
    assert (digits.brier, digits.log_loss, digits.ece, digits.mce) == (None, None, None, None)
    assert digits.suggestions == ()
    assert asked.suggestions
    assert asked.ece is not None
    assert digits.to_json()["kind"] == "pattern"


def test_a_gate_on_calibration_does_not_ask_it_of_a_rule_but_recall_does() -> None:
    _, rows = go(RULES, None)
    report = report_of(RULES, rows)
    assert report.gate_failures(max_ece=0.0) == []
    assert [words.split(":")[0] for words in report.gate_failures(min_recall=0.9)] == ["digits"]


def test_nothing_is_fitted_and_why_is_said(tmp_path: Path) -> None:
    questions, rows = gathered({"input": MIXED}, CASES)
    assert list(questions) == list(rows) == ["asked"]
    figures = run(fit_on_cases(ModelSettings("d", "embedded"), {"input": RULES}, CASES, root=tmp_path))
    assert {f.check: f.skipped for f in figures} == dict.fromkeys(
        ("digits", "long"), "asks no model: there is nothing to fit"
    )


def test_rules_that_take_their_time_let_others_have_a_turn() -> None:
    slow = GuardrailSettings(0.5, (CheckSettings("slow", rule=PatternCheck(r"^(a|a|b?)*(aa|a)*$")),))
    cases = [Case(f"c{number}", "a" * 3000 + "!") for number in range(4)]

    async def both() -> tuple[list[ResultRow], int]:
        import asyncio

        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        beside = asyncio.ensure_future(other())
        rows = await EvaluationRun(cases, slow, None).collect()
        beside.cancel()
        return rows, turns

    started = time.perf_counter()
    rows, turns = run(both())
    assert {row.status for row in rows} == {"error"}
    assert turns >= 3
    assert time.perf_counter() - started < 10


def test_an_evaluation_takes_their_rows_as_any_others() -> None:
    evaluation = Evaluation(RULES)
    for row in go(RULES, None)[1]:
        evaluation.add(row)
    assert evaluation.report().union_fpr == 0.0


def test_on_a_cluster_the_rules_are_answered_here(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
    settings = GuardrailSettings(0.5, (ASKED, CheckSettings("words", rule=LanguageCheck(("en",)))))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as cluster:  # fmt: skip
        there = run(ClusterRun(CASES, settings, Counting, scheduler=cluster.scheduler_address).collect())
    here = run(EvaluationRun(CASES, settings, Counting()).collect())

    def told(rows: list[ResultRow]) -> set[tuple[Any, ...]]:
        return {(r.case, r.check, r.probability, r.status, r.model) for r in rows}

    assert told(there) == told(here)
    assert evaluate_rows(there, settings).to_json() == evaluate_rows(here, settings).to_json()
