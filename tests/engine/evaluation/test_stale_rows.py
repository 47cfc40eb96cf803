"""Stored rows that no longer answer the question are asked again, counted and named."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.engine.evaluation.test_runner import CASES, SETTINGS, Counting
from tests.engine.guardrails.support import run
from workbench.engine.decisions import DecisionError, ModelInfo
from workbench.engine.evaluation import Case, Evaluation, EvaluationRun, ResultRow, ResultsFile
from workbench.engine.evaluation.rows import FAILED, OTHER_MODEL, OTHER_VERSION, REWORDED
from workbench.engine.evaluation.stored_rows import StoredRows
from workbench.engine.guardrails import GuardrailSettings


class Described(Counting):
    """A model that tells its name, its address and perhaps its version beforehand."""

    def __init__(self, told: str | None = None, name: str = "m", url: str = "", **options: Any) -> None:
        super().__init__(**options)
        self.told = told
        self.called = name
        self.url = url

    async def describe(self) -> ModelInfo:
        return ModelInfo("custom", self.called, self.told, "For tests.", moving=self.told is None)


def went(
    model: Any, path: Path, cases: Any = CASES, settings: GuardrailSettings = SETTINGS
) -> tuple[EvaluationRun, list[ResultRow]]:
    evaluation = EvaluationRun(cases, settings, model, results=path)
    return evaluation, run(evaluation.collect())


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (Described(told="v1"), Described(told="v2", version="v2"), OTHER_VERSION),
        (Described(name="m"), Described(name="n"), OTHER_MODEL),
        (Described(url="http://127.0.0.1:1"), Described(url="http://127.0.0.1:2"), OTHER_MODEL),
        (Described(special={c.text: DecisionError("no", kind="status", status=422) for c in CASES}), Described(), FAILED),
    ],
    ids=["version", "name", "address", "failed"],
)  # fmt: skip
def test_rows_of_another_model_are_asked_again_without_being_told(
    tmp_path: Path, first: Any, second: Any, reason: str
) -> None:
    path = tmp_path / "results.jsonl"
    went(first, path)
    evaluation, rows = went(second, path)
    assert len(second.texts) == len(CASES)
    assert evaluation.stale_counts == {reason: 20}
    assert {(row.case, row.reason) for row in evaluation.stale} == {(c.id, reason) for c in CASES}
    assert len(rows) == len(path.read_text().splitlines()) == 20


def test_a_changed_wording_names_the_rows_of_that_check_only(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    went(Described(), path)
    reworded = dataclasses.replace(SETTINGS.checks[0], question="Really?")
    settings = GuardrailSettings(0.5, (reworded, SETTINGS.checks[1]))
    evaluation, _ = went(Described(), path, settings=settings)
    assert evaluation.stale_counts == {REWORDED: 10}
    assert {row.check for row in evaluation.stale} == {"a"}


def test_rows_of_an_older_version_behind_the_same_alias_are_kept_and_counted_as_stale(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    went(Described(version="v1"), path, CASES[:4])
    evaluation, rows = went(Described(version="v2"), path, CASES)
    assert evaluation.asked == 6
    assert evaluation.version_now == "v2"
    gathered = Evaluation(SETTINGS)
    for row in rows:
        gathered.add(row)
    report = gathered.report(version_now=evaluation.version_now)
    assert [check.stale for check in report.checks.values()] == [4, 4]
    assert report.to_json()["checks"]["a"]["stale"] == 4


def test_a_row_from_before_sources_were_stored_is_still_good(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    went(Described(), path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text(
        "".join(json.dumps({k: v for k, v in line.items() if k != "source"}) + "\n" for line in lines)
    )
    model = Described()
    went(model, path)
    assert model.texts == []


def test_rows_of_cases_that_a_run_did_not_see_are_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    went(Described(), path, CASES[:5])
    went(Described(), path, CASES[3:8], GuardrailSettings(0.05, SETTINGS.checks))
    model = Described()
    went(model, path, CASES[:8])
    assert model.texts == []
    assert len(ResultsFile(path).read()) == len(path.read_text().splitlines()) == 16


def test_labels_and_thresholds_in_the_file_follow_the_project(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    went(Described(), path, CASES[:2])
    relabelled = [dataclasses.replace(CASES[0], labels={"a": False}), CASES[1]]
    went(Described(), path, relabelled, GuardrailSettings(0.05, SETTINGS.checks))
    stored = ResultsFile(path).read()
    assert (stored["c0", "a"].label, stored["c0", "b"].label) == (False, None)
    assert (stored["c1", "a"].threshold, stored["c1", "a"].status) == (0.05, "rejected")
    assert len(path.read_text().splitlines()) == 4


def test_two_cases_with_one_id_keep_an_answer_each(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    twins = [Case("c", "one", {}), Case("c", "two", {})]
    went(Described(), path, twins)
    for _ in range(2):
        model = Described()
        assert len(went(model, path, twins)[1]) == 4
        assert model.texts == []


def test_many_checks_of_one_case_are_all_found(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    checks = tuple(dataclasses.replace(SETTINGS.checks[0], name=f"n{i}") for i in range(70))
    settings = GuardrailSettings(0.5, checks)
    went(Described(), path, CASES[:3], settings)
    model = Described()
    assert len(went(model, path, CASES[:3], settings)[1]) == 210
    assert model.texts == []


def test_a_place_takes_some_bytes_whatever_the_length_of_the_texts(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "results.jsonl"
    row = ResultRow("c", "a", 0.5, "passed", None, 0.9, "v1", 1.0, "0" * 16)
    ResultsFile(path).rewrite(
        dataclasses.replace(row, case=f"case number {i}", check=check)
        for i in range(4000)
        for check in "abcd"
    )
    stored = StoredRows(path)
    stored.scan()
    assert [row.check for _, row in stored.of_case("case number 3999")] == ["a", "b", "c", "d"]
    assert stored.of_case("case number 4000") == []
    stored.close()
    tracemalloc.start()
    again = StoredRows(path)
    again.scan()
    held = tracemalloc.get_traced_memory()[0]
    again.close()
    tracemalloc.stop()
    assert len(again) == 4000
    assert held < 4000 * 60


ROW = {
    "case": "a",
    "check": "c",
    "probability": 0.5,
    "status": "passed",
    "label": None,
    "threshold": 0.6,
    "elapsed_ms": 1,
}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([], "the row is no JSON object"),
        ("text", "the row is no JSON object"),
        (
            {name: value for name, value in ROW.items() if name != "probability"},
            "the row has no `probability`",
        ),
        ({}, "the row has no `case` and no `check`"),
        ({**ROW, "probability": "0.5"}, "the probability '0.5' is not between 0 and 1"),
        ({**ROW, "probability": float("nan")}, "the probability nan is not between 0 and 1"),
        ({**ROW, "probability": True}, "the probability True is not between 0 and 1"),
        ({**ROW, "threshold": None}, "the row's `threshold` is no number: None"),
        ({**ROW, "elapsed_ms": "fast"}, "the row's `elapsed_ms` is no number: 'fast'"),
        ({**ROW, "status": ["passed"]}, "the status ['passed'] is unknown"),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value)[:50],
)
def test_a_row_of_another_form_is_refused_in_words(row: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        ResultRow.from_json(row)


def test_a_row_of_the_right_form_is_read() -> None:
    assert ResultRow.from_json(ROW).probability == 0.5
