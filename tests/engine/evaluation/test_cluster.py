"""A run on a cluster gives the rows of a run on this machine, goes on where it ended, and tells what failed there."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.guardrails.support import run
from workbench.engine.decisions import (
    DecisionError,
    DecisionModel,
    DecisionRequest,
    DecisionResponse,
    ModelInfo,
    Refusal,
    YesNoAnswer,
    decision_model_available,
)
from workbench.engine.evaluation import (
    Case,
    ClusterRun,
    EvaluationRun,
    ModelOpener,
    ResultRow,
    evaluate_rows,
)
from workbench.engine.guardrails import CheckSettings, GuardrailSettings
from workbench.engine.model_settings import ModelSettings

distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")

SETTINGS = GuardrailSettings(0.5, (CheckSettings("a", "A?"), CheckSettings("b", "B?", 0.9)))
CASES = [Case(f"c{i}", f"text {i}", {"a": i % 3 == 0, "b": False}) for i in range(120)]


@dataclass
class Calls:
    """What the workers were asked; they are threads of this process."""

    texts: list[Any] = field(default_factory=list)
    threads: set[str] = field(default_factory=set)


CALLS = Calls()


class Hashing(DecisionModel):
    """Gives each text a probability of its own, refuses some and fails for those in `broken`."""

    name = "hashing"

    def __init__(self, broken: tuple[str, ...] = (), version: str = "v1", told: str | None = None) -> None:
        self.broken = broken
        self.version = version
        self.told = told

    async def describe(self) -> ModelInfo:
        return ModelInfo("custom", "hashing", self.told, "For tests.")

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        CALLS.texts.append(request.input)
        CALLS.threads.add(threading.current_thread().name)
        number = int(str(request.input).rpartition(" ")[2])
        if request.input in self.broken:
            raise DecisionError("too wide", kind="status", status=422)
        answers: dict[str, Any] = {
            name: YesNoAnswer((number * 37 % 100) / 100 if name == "a" else (number * 53 % 100) / 100)
            for name in request.questions
        }
        if number % 17 == 5:
            answers = {name: Refusal() for name in answers}
        return DecisionResponse(answers, self.version)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as cluster:  # fmt: skip
        yield cluster.scheduler_address


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    CALLS.texts.clear()
    CALLS.threads.clear()


def on_cluster(scheduler: str, opener: Any = Hashing, cases: Any = CASES, **options: Any) -> list[ResultRow]:
    return run(ClusterRun(cases, SETTINGS, opener, scheduler=scheduler, **options).collect())


def comparable(rows: list[ResultRow]) -> list[ResultRow]:
    return sorted((replace(row, elapsed_ms=0.0) for row in rows), key=lambda row: (row.case, row.check))


def test_the_rows_and_figures_are_those_of_a_run_on_this_machine(scheduler: str) -> None:
    there = on_cluster(scheduler)
    assert sorted(CALLS.texts) == sorted(case.text for case in CASES)
    assert len(CALLS.threads) == 2
    here = run(EvaluationRun(CASES, SETTINGS, Hashing()).collect())
    assert comparable(there) == comparable(here)
    assert evaluate_rows(there, SETTINGS).to_json() == evaluate_rows(here, SETTINGS).to_json()


def test_a_run_that_was_stopped_goes_on_with_nothing_asked_twice(scheduler: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"

    async def stopped() -> None:
        evaluation = ClusterRun(CASES, SETTINGS, Hashing, scheduler=scheduler, results=path, rate=100)
        async for _ in evaluation.rows():
            evaluation.stop()

    run(stopped())
    first = list(CALLS.texts)
    assert 0 < len(first) < len(CASES)
    rows = on_cluster(scheduler, results=path)
    assert len(rows) == 2 * len(CASES)
    assert sorted(CALLS.texts) == sorted(case.text for case in CASES)
    assert on_cluster(scheduler, results=path)
    assert len(CALLS.texts) == len(CASES)
    assert len(path.read_text().splitlines()) == 2 * len(CASES)


def test_a_local_run_goes_on_with_what_a_cluster_found(scheduler: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    on_cluster(scheduler, results=path, cases=CASES[:30])
    CALLS.texts.clear()
    rows = run(EvaluationRun(CASES[:40], SETTINGS, Hashing(), results=path).collect())
    assert len(CALLS.texts) == 10
    assert comparable(rows) == comparable(run(EvaluationRun(CASES[:40], SETTINGS, Hashing()).collect()))


def test_only_the_checks_that_are_missing_are_asked_there(scheduler: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    only_a = GuardrailSettings(0.5, SETTINGS.checks[:1])
    run(EvaluationRun(CASES[:10], only_a, Hashing(), results=path).collect())
    CALLS.texts.clear()
    rows = on_cluster(scheduler, results=path, cases=CASES[:12])
    assert len(rows) == 24
    assert comparable(rows) == comparable(run(EvaluationRun(CASES[:12], SETTINGS, Hashing()).collect()))


def test_the_rate_holds_for_the_whole_cluster(scheduler: str) -> None:
    import time

    started = time.perf_counter()
    on_cluster(scheduler, cases=CASES[:50], rate=50)
    assert time.perf_counter() - started >= 0.9


def test_a_case_that_fails_there_is_a_row_that_says_so(scheduler: str) -> None:
    opener = functools.partial(Hashing, broken=("text 3",))
    failed = [row for row in on_cluster(scheduler, opener, CASES[:10]) if row.status == "error"]
    assert [(row.case, row.detail) for row in failed] == [("c3", "too wide"), ("c3", "too wide")]


def test_a_model_that_cannot_be_opened_there_ends_the_run(scheduler: str) -> None:
    here = threading.current_thread()

    def opener() -> DecisionModel:
        if threading.current_thread() is not here:
            raise DecisionError("no weights on this worker", kind="unavailable")
        return Hashing()

    with pytest.raises(DecisionError, match="no weights on this worker") as caught:
        on_cluster(scheduler, _Unpickled(opener))
    assert caught.value.kind == "unavailable"


class _Unpickled:
    """Hands a local function to workers of this process, which a pickle could not."""

    table: dict[int, Any] = {}  # noqa: RUF012 - shared on purpose

    def __init__(self, call: Any) -> None:
        self.key = id(call)
        self.table[self.key] = call

    def __call__(self) -> DecisionModel:
        opened: DecisionModel = self.table[self.key]()
        return opened


def test_a_worker_with_another_version_ends_the_run(scheduler: str) -> None:
    opener = functools.partial(Hashing, version="v2", told="v1")
    with pytest.raises(DecisionError, match="answered with v2, this machine has v1"):
        on_cluster(scheduler, opener)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x"])
def test_a_scheduler_that_is_not_there_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.engine.evaluation.cluster.CONNECT_TIMEOUT", 1.0)
    with pytest.raises(DecisionError, match=address) as caught:
        on_cluster(address)
    assert caught.value.kind == "connect"


def test_a_project_folder_that_a_worker_does_not_have_is_named(tmp_path: Path) -> None:
    opener = ModelOpener(ModelSettings("decision", "embedded"), tmp_path / "gone")
    with pytest.raises(DecisionError, match="gone is not there"):
        opener()


@pytest.mark.skipif(
    decision_model_available(ModelSettings("d", "embedded"), None) is not None,
    reason="the embedded model's files are not here",
)
def test_the_embedded_model_answers_on_a_cluster_as_it_does_here(scheduler: str, tmp_path: Path) -> None:
    opener = ModelOpener(ModelSettings("decision", "embedded"), tmp_path)
    cases = CASES[:12]
    there = on_cluster(scheduler, opener, cases)
    here = run(EvaluationRun(cases, SETTINGS, opener()).collect())
    plain = [replace(row, detail=None) for row in comparable(there)]
    assert plain == [replace(row, detail=None) for row in comparable(here)]
    assert all(row.model and row.model.startswith("all-MiniLM") for row in there)
