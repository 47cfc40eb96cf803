"""What changed since another version answered: only the same questions are compared, and nothing is lost on the way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.decisions import DecisionRequest, DecisionResponse, ModelInfo, YesNoAnswer
from workbench.engine.evaluation import (
    Case,
    DriftAgainst,
    EvaluationRun,
    ResultRow,
    ResultsFile,
    earlier_path,
)
from workbench.engine.evaluation import version_drift as module
from workbench.engine.guardrails import CheckSettings, GuardrailSettings, LengthCheck

SETTINGS = GuardrailSettings(0.5, (CheckSettings("a", "A?"), CheckSettings("long", rule=LengthCheck(3))))


def row(case: str, p: float | None, *, asked: str = "q", model: str = "m@1", check: str = "a") -> ResultRow:
    status: Any = "refused" if p is None else "rejected" if p >= 0.5 else "passed"
    return ResultRow(case, check, p, status, True, 0.5, model, 1.0, asked)


def against(path: Path, before: list[ResultRow], now: list[ResultRow]) -> Any:
    file = ResultsFile(path)
    file.append(before)
    file.close()
    drift = DriftAgainst(path, SETTINGS)
    drift.open()
    for each in now:
        drift.add(each)
    drift.close()
    return drift.report()


def test_only_the_same_question_is_compared_and_all_else_is_counted(tmp_path: Path) -> None:
    before = [row("c1", 0.2), row("c2", 0.6), row("c3", None), row("c4", 0.5), row("c5", 0.1, asked="old")]
    now = [row("c1", 0.7), row("c2", 0.5), row("c3", 0.4), row("c4", None), row("c5", 0.9), row("new", 0.9)]
    found = against(tmp_path / "r.jsonl", before, [*now, row("c1", 1.0, check="long")])
    assert list(found) == ["a"]
    drift = found["a"]
    assert (drift.cases, drift.flipped, drift.gained, drift.lost, drift.reworded) == (2, 1, 1, 1, 1)
    assert [flip.to_json() for flip in drift.flips] == [
        {"case": "c1", "label": True, "before": 0.2, "after": 0.7}
    ]
    assert drift.mean_shift == pytest.approx(0.2)
    assert drift.models == ("m@1",)


def test_the_last_earlier_answer_counts(tmp_path: Path) -> None:
    found = against(tmp_path / "r.jsonl", [row("c1", 0.9), row("c1", 0.2)], [row("c1", 0.3)])
    assert (found["a"].flipped, found["a"].mean_shift) == (0, pytest.approx(0.1))


def test_without_common_cases_nothing_is_claimed(tmp_path: Path) -> None:
    drift = against(tmp_path / "r.jsonl", [row("c1", 0.9)], [row("c2", 0.3)])["a"]
    assert (drift.cases, drift.flipped, drift.mean_shift, drift.psi, drift.ks) == (0, 0, None, None, None)


def test_all_flips_are_counted_and_the_farthest_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_FLIPS", 3)
    before = [row(f"c{k}", 0.4) for k in range(9)]
    now = [row(f"c{k}", 0.5 + k / 20) for k in range(9)]
    drift = against(tmp_path / "r.jsonl", before, now)["a"]
    assert (drift.flipped, [flip.case for flip in drift.flips]) == (9, ["c8", "c7", "c6"])


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        DriftAgainst(tmp_path / "none.jsonl", SETTINGS).open()


class Versioned:
    """A model of which another version answers each time it is made."""

    name = "m"

    def __init__(self, version: str, p: float) -> None:
        self.version, self.p = version, p

    async def describe(self) -> ModelInfo:
        return ModelInfo("recorded", "m", self.version, "for tests")

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        answers: Any = {name: YesNoAnswer(self.p) for name in request.questions}
        return DecisionResponse(answers, self.version)

    async def aclose(self) -> None:
        pass


def test_answers_of_another_version_are_asked_again_and_kept_beside(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    cases = [Case(f"c{k}", f"text {k}", {"a": True}) for k in range(3)]
    settings = replace(SETTINGS, checks=SETTINGS.checks[:1])

    def evaluate(model: Versioned) -> EvaluationRun:
        run = EvaluationRun(cases, settings, model, results=path)
        asyncio.run(run.collect())
        return run

    assert evaluate(Versioned("m@1", 0.2)).earlier_rows == 0
    assert not earlier_path(path).exists()
    assert evaluate(Versioned("m@2", 0.8)).earlier_rows == 3
    kept = ResultsFile(earlier_path(path)).read()
    assert {(each.model, each.probability) for each in kept.values()} == {("m@1", 0.2)}
    assert {each.model for each in ResultsFile(path).read().values()} == {"m@2"}
    drift = DriftAgainst(earlier_path(path), settings)
    drift.open()
    for each in ResultsFile(path).rows():
        drift.add(each)
    drift.close()
    assert (drift.report()["a"].flipped, drift.report()["a"].mean_shift) == (3, pytest.approx(0.6))
