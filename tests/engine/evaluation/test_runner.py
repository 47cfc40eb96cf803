"""A batch run asks each case once, goes on where it ended, and keeps what could not be judged apart."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engine.guardrails.support import run
from workbench.engine.decisions import (
    DecisionError,
    DecisionModel,
    DecisionRequest,
    DecisionResponse,
    NoAnswer,
    Refusal,
    YesNoAnswer,
)
from workbench.engine.evaluation import Case, EvaluationRun, Progress, ResultRow, ResultsFile
from workbench.engine.guardrails import CheckSettings, GuardrailSettings

SETTINGS = GuardrailSettings(0.5, (CheckSettings("a", "A?"), CheckSettings("b", "B?", 0.9)))
CASES = [Case(f"c{i}", f"text {i}", {"a": i % 2 == 0, "b": False}) for i in range(10)]


class Counting(DecisionModel):
    """Says 0.1 for every check of a text, or what `special` has for it; counts calls and their overlap."""

    name = "counting"

    def __init__(
        self, special: dict[str, Any] | None = None, delay: float = 0.0, version: str = "v1"
    ) -> None:
        self.special = special or {}
        self.delay = delay
        self.version = version
        self.texts: list[Any] = []
        self.questions = 0
        self.now = self.most = 0

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        self.texts.append(request.input)
        self.questions += len(request.questions)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.delay)
        self.now -= 1
        reply = self.special.get(request.input) if isinstance(request.input, str) else None
        if isinstance(reply, BaseException):
            raise reply
        answers = {name: YesNoAnswer(0.1) for name in request.questions}
        return DecisionResponse({**answers, **(reply or {})}, self.version)


def go(
    model: Any, cases: Any = CASES, settings: GuardrailSettings = SETTINGS, **options: Any
) -> list[ResultRow]:
    return run(EvaluationRun(cases, settings, model, **options).collect())


def test_every_case_gives_a_row_per_check_with_its_label() -> None:
    model = Counting()
    rows = go(model)
    assert len(rows) == 20
    assert len(model.texts) == 10
    first = next(row for row in rows if (row.case, row.check) == ("c0", "a"))
    assert (first.probability, first.status, first.label, first.threshold, first.model) == (
        0.1,
        "passed",
        True,
        0.5,
        "v1",
    )


def test_a_row_has_the_shape_of_the_command_line() -> None:
    row = go(Counting(), CASES[:1])[1].to_json()
    assert {"case", "check", "probability", "status", "label", "threshold", "model", "elapsed_ms"} <= set(row)
    assert json.loads(json.dumps(row)) == row
    assert row["label"] is False


def test_a_check_without_a_label_has_null() -> None:
    assert go(Counting(), [Case("x", "t", {"a": True})])[1].label is None


def test_only_cases_of_the_stage_are_run() -> None:
    cases = [*CASES[:2], Case("o", "response", {"a": True}, "", "output", "question")]
    assert {row.case for row in go(Counting(), cases)} == {"c0", "c1"}
    model = Counting()
    assert {row.case for row in go(model, cases, stage="output")} == {"o"}
    assert dict(model.texts[0]) == {"userMessage": "question", "response": "response"}


@pytest.mark.parametrize(
    ("answer", "status"), [(Refusal(), "refused"), (NoAnswer("n"), "no_answer"), ("x", "error")]
)
def test_what_could_not_be_judged_keeps_its_state_and_has_no_number(answer: Any, status: str) -> None:
    rows = go(Counting({"text 0": {"a": answer}}), CASES[:1])
    assert (rows[0].status, rows[0].probability) == (status, None)
    assert rows[1].probability == 0.1


def test_a_case_that_the_server_refuses_is_recorded_and_the_run_goes_on() -> None:
    error = DecisionError("too wide", kind="status", status=422)
    rows = go(Counting({"text 3": error}))
    failed = [row for row in rows if row.status == "error"]
    assert [(row.case, row.detail) for row in failed] == [("c3", "too wide"), ("c3", "too wide")]
    assert len(rows) == 20


def test_a_model_that_is_down_stops_the_run_after_a_few_cases() -> None:
    model = Counting({case.text: DecisionError("down", kind="connect") for case in CASES})
    with pytest.raises(DecisionError, match="down"):
        go(model, concurrency=1)
    assert len(model.texts) == 5


def test_a_model_that_cannot_be_used_at_all_stops_the_run_at_once() -> None:
    model = Counting({case.text: DecisionError("no file", kind="unavailable") for case in CASES})
    with pytest.raises(DecisionError):
        go(model, concurrency=1)
    assert len(model.texts) == 1


def test_calls_overlap_as_much_as_allowed_and_no_more() -> None:
    model = Counting(delay=0.02)
    go(model, concurrency=3)
    assert model.most == 3


def test_the_rate_limits_the_calls_per_second() -> None:
    started = time.perf_counter()
    go(Counting(), rate=50, concurrency=4)
    assert time.perf_counter() - started >= 9 / 50


def test_progress_counts_up_to_the_total_with_the_time_left() -> None:
    seen: list[Progress] = []
    go(Counting(delay=0.001), on_progress=seen.append)
    assert [p.done for p in seen] == list(range(1, 11))
    assert seen[-1].total == 10
    assert seen[-1].remaining_s == 0
    guesses = [p.remaining_s for p in seen]
    assert guesses[0] is None
    assert all(guess is not None and guess > 0 for guess in guesses[4:-1])


def test_the_time_left_does_not_count_the_loading_of_the_model() -> None:
    class Loading(Counting):
        async def decide(self, request: Any) -> Any:
            if not self.texts:
                self.texts.append("loading")
                await asyncio.sleep(0.5)
            return await super().decide(request)

    seen: list[Progress] = []
    go(Loading(delay=0.001), on_progress=seen.append, concurrency=1)
    assert max(p.remaining_s or 0.0 for p in seen) < 0.5


# ---- resume -------------------------------------------------------------------------------------------


def test_a_run_that_was_stopped_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"

    async def stopped() -> list[ResultRow]:
        evaluation = EvaluationRun(CASES, SETTINGS, first, results=path, concurrency=2)
        rows = []
        async for row in evaluation.rows():
            rows.append(row)
            if len(rows) >= 8:
                evaluation.stop()
        return rows

    first = Counting(delay=0.001)
    part = run(stopped())
    assert 8 <= len(part) < 20
    second = Counting()
    rows = go(second, results=path)
    assert len(rows) == 20
    assert sorted(map(str, first.texts + second.texts)) == sorted(case.text for case in CASES)
    third = Counting()
    assert len(go(third, results=path)) == 20
    assert third.texts == []
    assert len(path.read_text().splitlines()) == 20


def test_a_run_whose_process_was_killed_goes_on_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from tests.engine.evaluation.test_runner import CASES, SETTINGS, Counting\n"
        "from workbench.engine.evaluation import EvaluationRun\n"
        "async def go():\n"
        "    run = EvaluationRun(CASES, SETTINGS, Counting(delay=0.1), results=Path(sys.argv[1]), concurrency=1)\n"
        "    async for row in run.rows():\n"
        "        print(row.case, flush=True)\n"
        "asyncio.run(go())\n"
    )
    root = Path(__file__).resolve().parents[3]
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], cwd=root, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(6):
        process.stdout.readline()
    process.kill()
    process.wait(10)
    process.stdout.close()
    kept = len(path.read_text().splitlines()) // 2
    assert 3 <= kept < 10
    model = Counting()
    assert len(go(model, results=path)) == 20
    assert len(model.texts) == 10 - kept


def test_a_line_cut_in_two_is_dropped_and_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    go(Counting(), CASES[:3], results=path, concurrency=1)
    path.write_bytes(path.read_bytes()[:-20])
    model = Counting()
    rows = go(model, CASES[:3], results=path)
    assert len(rows) == 6
    assert (model.texts, model.questions) == (["text 2"], 1)
    assert all(ResultRow.from_json(json.loads(line)) for line in path.read_text().splitlines())


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        (lambda c, s: ([dataclasses.replace(c[0], text="new"), *c[1:]], s), 1),
        (lambda c, s: (c, dataclasses.replace(s, checks=(dataclasses.replace(s.checks[0], question="New?"), s.checks[1]))), 3),
        (lambda c, s: (c, dataclasses.replace(s, checks=(dataclasses.replace(s.checks[0], yes_means="new"), s.checks[1]))), 3),
        (lambda c, s: (c, dataclasses.replace(s, checks=(*s.checks, CheckSettings("n", "N?")))), 3),
        (lambda c, s: (c, dataclasses.replace(s, threshold=0.05)), 0),
        (lambda c, s: ([dataclasses.replace(c[0], labels={"a": False}), *c[1:]], s), 0),
        (lambda c, s: ([*c, Case("more", "more", {})], s), 1),
    ],
    ids=["text", "question", "meaning", "new-check", "threshold", "label", "new-case"],
)  # fmt: skip
def test_only_what_changed_is_asked_again(tmp_path: Path, change: Any, asked: int) -> None:
    path = tmp_path / "results.jsonl"
    go(Counting(), CASES[:3], results=path)
    cases, settings = change(CASES[:3], SETTINGS)
    model = Counting()
    rows = go(model, cases, settings, results=path)
    assert len(model.texts) == asked
    assert {(r.case, r.check) for r in rows} == {(c.id, k.name) for c in cases for k in settings.checks}
    for row in rows:
        case = next(c for c in cases if c.id == row.case)
        assert row.label == case.labels.get(row.check)
    stored = ResultsFile(path).read()
    assert len(stored) == len(rows) == len(path.read_text().splitlines())


def test_rows_of_another_model_version_are_asked_again_where_the_version_is_known(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    go(Counting(version="v1"), CASES[:3], results=path)
    model = Counting(version="v2")
    rows = go(model, CASES[:3], results=path, model_version="v2")
    assert len(model.texts) == 3
    assert {row.model for row in rows} == {"v2"}


def test_failed_rows_are_asked_again_and_refused_ones_are_not(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    failing = {"text 0": DecisionError("busy", kind="status", status=422), "text 1": {"a": Refusal()}}
    go(Counting(failing), CASES[:3], results=path)
    model = Counting()
    rows = go(model, CASES[:3], results=path)
    assert model.texts == ["text 0"]
    assert {row.status for row in rows if row.case == "c1" and row.check == "a"} == {"refused"}


def test_a_moved_threshold_is_applied_to_stored_probabilities(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    go(Counting(), CASES[:1], results=path)
    model = Counting()
    rows = go(model, CASES[:1], GuardrailSettings(0.05, SETTINGS.checks), results=path)
    assert [row.status for row in rows] == ["rejected", "passed"]
    assert model.texts == []


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "{}",
        '{"case":"c0","check":"a","probability":1.5,"status":"passed","label":true,"threshold":0.5}',
        '{"case":"c0","check":"a","probability":null,"status":"passed","label":true,"threshold":0.5}',
        '{"case":"c0","check":"a","probability":0.1,"status":"fine","label":true,"threshold":0.5}',
        '{"case":"c0","check":"a","probability":0.1,"status":"passed","label":1,"threshold":0.5}',
    ],
)
def test_a_broken_line_is_named_and_its_case_asked(tmp_path: Path, line: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(line + "\n")
    model = Counting()
    evaluation = EvaluationRun(CASES[:1], SETTINGS, model, results=path)
    assert len(run(evaluation.collect())) == 2
    assert len(model.texts) == 1
    results = ResultsFile(path)
    results.read()
    assert results.problems[0].startswith("results.jsonl:1: ")


def test_cancelling_keeps_what_was_found(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"

    async def cancelled() -> None:
        task = asyncio.ensure_future(
            EvaluationRun(CASES, SETTINGS, Counting(delay=0.02), results=path, concurrency=1).collect()
        )
        await asyncio.sleep(0.15)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(cancelled())
    assert 2 <= len(ResultsFile(path).read()) < 20


def test_many_cases_stream_without_being_held(tmp_path: Path) -> None:
    seen = 0

    def endless() -> Any:
        nonlocal seen
        while True:
            seen += 1
            yield Case(f"n{seen}", f"text {seen}", {})

    async def some() -> int:
        evaluation = EvaluationRun(endless(), SETTINGS, Counting(), concurrency=4)
        rows = 0
        async for _ in evaluation.rows():
            rows += 1
            if rows == 400:
                evaluation.stop()
        return rows

    rows = run(some())
    assert 400 <= rows <= 410
    assert seen <= 210


def test_batches_that_fail_together_leave_no_complaint_behind() -> None:
    class Together(EvaluationRun):
        """Two batches at a time, as on a cluster, that end with an error at the same moment."""

        batch_size = 5

        def _concurrent_batches(self) -> int:
            return 2

        async def _ask_batch(self, batch: Any) -> list[ResultRow]:
            raise DecisionError("the server is gone", kind="connect")

    complaints: list[Any] = []

    async def both() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        with pytest.raises(DecisionError, match="the server is gone"):
            await Together(CASES, SETTINGS, Counting()).collect()
        gc.collect()
        await asyncio.sleep(0)

    run(both())
    assert complaints == []
