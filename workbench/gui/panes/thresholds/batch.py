"""The work of the threshold lab that must not block the window: reading stored answers, and asking for new ones."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import CheckSettings, Stage
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.gui.models.cases_columns import CaseColumns
from workbench.gui.models.figures import counted
from workbench.gui.panes.thresholds.turns import Turns

if TYPE_CHECKING:
    from workbench.engine.decisions import DecisionModel, ModelInfo
    from workbench.engine.evaluation import Evaluation, Progress, ResultRow
    from workbench.engine.history import HistoryStore
    from workbench.engine.secrets import Secrets

_TURN_SECONDS = 0.0005
PIECE_SECONDS = 0.1
"""Answers reach the window together, this often."""

STAGES: tuple[Stage, ...] = ("input", "output")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is known of a stage when it is opened.

    `version` is the model version that answers now, `None` where only an answer can tell; `problem` says why the
    model cannot be asked. `fitted` tells whether checks were fitted on the project's cases, `stale_fits` names
    (check, reason) of those that no longer match.
    """

    columns: CaseColumns
    info: ModelInfo | None = None
    version: str | None = None
    problem: str = ""
    fitted: bool = False
    stale_fits: tuple[tuple[str, str], ...] = ()
    broken_lines: tuple[str, ...] = ()


@contextlib.contextmanager
def short_turns() -> Iterator[None]:
    """Let the window's thread have the interpreter more often while another one computes.

    Painting goes in and out of Python hundreds of times a frame; waiting the usual 5 ms each time would be seen.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def results_path(root: Path | None, stage: Stage) -> Path | None:
    """Return where the answers of a stage are kept, so that a stopped run goes on and nothing is asked twice."""
    return root / ".workbench" / f"results-{stage}.jsonl" if root is not None else None


def stage_columns(snapshot: ProjectSnapshot, stage: Stage) -> CaseColumns:
    """Return the cases of a stage without any answer."""
    places = [place for place, case in enumerate(snapshot.cases) if case.stage == stage]
    cases = [snapshot.cases[place] for place in places]
    return CaseColumns(cases, snapshot.guardrail(stage).checks, places)


def open_model(snapshot: ProjectSnapshot, settings: ModelSettings, secrets: Secrets) -> DecisionModel:
    """Open the model as the lab asks it: checks fitted on these cases are judged by fits that did not see them.

    Raises:
        DecisionError: where it cannot be used.
    """
    from workbench.engine.evaluation import open_for_evaluation

    guardrails = {stage: snapshot.guardrail(stage) for stage in STAGES}
    return open_for_evaluation(
        settings, guardrails, snapshot.every_case(), root=snapshot.root, secrets=secrets
    )


async def load(
    snapshot: ProjectSnapshot,
    stage: Stage,
    settings: ModelSettings,
    secrets: Secrets,
    turns: Turns,
    found: Callable[[int], None],
) -> Loaded:
    """Read the stored answers of a stage and judge which are stale; nothing is asked.

    The reading takes `turns` with the window and ends when it is cancelled; `found` gets the number of answers, from
    another thread, before they are read.
    """
    try:
        path = results_path(snapshot.root, stage)
        if path is not None:
            await asyncio.to_thread(_count, path, turns, found)
        info, source, problem = None, "", ""
        if snapshot.guardrail(stage).asks_model:
            info, source, problem = await _describe(snapshot, settings, secrets)
        with short_turns():
            return await asyncio.to_thread(_read, snapshot, stage, settings, info, source, problem, turns)
    finally:
        # A thread cannot be cancelled: where nobody waits for it any more, it must end by itself.
        turns.withdraw()


async def _describe(
    snapshot: ProjectSnapshot, settings: ModelSettings, secrets: Secrets
) -> tuple[ModelInfo | None, str, str]:
    """Return what the model says of itself, what its answers come from, and why it cannot be asked."""
    from workbench.engine.decisions import DecisionError
    from workbench.engine.evaluation.runner import model_source

    info, source = None, ""
    try:
        model = await asyncio.to_thread(open_model, snapshot, settings, secrets)
        try:
            info = await model.describe()
            source = model_source(info, model)
        finally:
            await model.aclose()
    except DecisionError as error:
        return info, source, str(error)
    return info, source, ""


def _count(path: Path, turns: Turns, found: Callable[[int], None]) -> None:
    from workbench.engine.evaluation.rows import ResultsFile

    found(sum(turns.paced(ResultsFile(path).line_counts())))


def _read(
    snapshot: ProjectSnapshot,
    stage: Stage,
    settings: ModelSettings,
    info: ModelInfo | None,
    source: str,
    problem: str,
    turns: Turns,
) -> Loaded:
    import numpy.ma  # noqa: F401 - `np.unique` wants it, and the window should not be the one that waits

    from workbench.engine.evaluation.rows import FAILED, OTHER_VERSION, ResultsFile, stale_reason

    turns.give_way()
    columns = stage_columns(snapshot, stage)
    path, broken = results_path(snapshot.root, stage), []
    version = info.version if info is not None else None
    if path is not None and path.exists():
        file = ResultsFile(path)
        answering = version or last_version(path)

        def judge(row: ResultRow, case: Case, check: CheckSettings) -> str | None:
            reason = stale_reason(row, case, check, version, source)
            if reason is None and row.model not in (answering, None):
                reason = OTHER_VERSION
            # A failed call is no stale answer: it is shown as what it is, and asked again by the next run.
            return None if reason == FAILED else reason

        # Row by row: the answers of ten thousand cases as objects would take more memory than all else here.
        columns.take(turns.paced(file.rows()), judge)
        broken, version = file.problems, answering
        for column in turns.paced(columns.columns.values()):
            # What every row of the list of checks shows is worked out here, not in the window's thread.
            _ = column.figures().auc
    fitted, stale = fits_of(snapshot, settings)
    return Loaded(columns, info, version, problem, fitted, stale, tuple(broken))


def last_version(path: Path) -> str | None:
    """Return the version behind the last stored answer: what answered last is what answers now, for all we know."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 64_000))
        for line in reversed(file.read().split(b"\n")[:-1]):
            with contextlib.suppress(ValueError, AttributeError):
                if (version := json.loads(line).get("model")) is not None:
                    return str(version)
    return None


def fits_of(snapshot: ProjectSnapshot, settings: ModelSettings) -> tuple[bool, tuple[tuple[str, str], ...]]:
    """Tell whether checks are fitted on the project's cases, and which of the fits are stale."""
    from workbench.engine.decisions import DecisionError, fitted_path
    from workbench.engine.evaluation import stale_checks

    path = fitted_path(settings, snapshot.root) if settings.provider == "embedded" else None
    if path is None or snapshot.root is None or not path.exists():
        return False, ()
    guardrails = {stage: snapshot.guardrail(stage) for stage in STAGES}
    try:
        found = stale_checks(settings, guardrails, snapshot.every_case(), root=snapshot.root)
    except (ValueError, DecisionError) as error:
        return True, (("all checks", str(error)),)
    return True, tuple((each.check, each.reason) for each in found)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one run over the cases needs. `rate` is the most calls a second, `None` for no limit.

    `version` is the version that answered last where the model itself does not tell: answers of others are asked again.
    """

    snapshot: ProjectSnapshot
    stage: Stage
    cases: Sequence[Case]
    settings: ModelSettings
    secrets: Secrets
    history: HistoryStore | None
    concurrency: int = 4
    rate: float | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: answers given, cases run over (its length), cases that were asked, the version that answered."""

    answers: int
    cases: int
    asked: int
    version: str | None

    def __len__(self) -> int:
        return self.cases


Arrived = Callable[[list["ResultRow"], "Progress | None"], None]


@dataclass(slots=True)
class _Pieces:
    """Collects rows and hands them on together, so that the window is not woken for each."""

    arrived: Arrived
    rows: list[ResultRow] = field(default_factory=list)
    progress: Progress | None = None
    last: float = 0.0

    def add(self, row: ResultRow) -> None:
        self.rows.append(row)
        self._pass_on()

    def report(self, progress: Progress) -> None:
        self.progress = progress
        self._pass_on()

    def _pass_on(self) -> None:
        if time.monotonic() - self.last >= PIECE_SECONDS:
            self.flush()

    def flush(self) -> None:
        self.last = time.monotonic()
        rows, self.rows = self.rows, []
        self.arrived(rows, self.progress)


async def evaluate(batch: Batch, arrived: Arrived) -> Outcome:
    """Run the checks over the cases and store the run; `arrived` gets rows and progress as they come.

    Raises:
        DecisionError: where the model cannot be used; what was answered until then is kept.
    """
    from workbench.engine.evaluation import Evaluation, EvaluationRun

    guardrail = batch.snapshot.guardrail(batch.stage)
    model = None
    if guardrail.asks_model:
        model = await asyncio.to_thread(open_model, batch.snapshot, batch.settings, batch.secrets)
    record = _Record(batch, model.name if model is not None else "")
    pieces, figures = _Pieces(arrived), Evaluation(guardrail)
    count = 0
    try:
        run = EvaluationRun(
            batch.cases,
            guardrail,
            model,
            stage=batch.stage,
            results=results_path(batch.snapshot.root, batch.stage),
            concurrency=batch.concurrency,
            rate=batch.rate,
            model_version=batch.version,
            who="a run in the window",
            on_progress=pieces.report,
        )
        async for row in run.rows():
            count += 1
            figures.add(row)
            pieces.add(row)
        words = f"{counted(count, 'answer')} to {counted(len(batch.cases), 'case')}"
        record.finish("done", words, count, figures)
        return Outcome(count, len(batch.cases), run.asked, run.version_now)
    except asyncio.CancelledError:
        record.finish("cancelled", f"stopped after {counted(count, 'answer')}", count, figures)
        raise
    except Exception as error:
        record.finish("error", str(error), count, figures)
        raise
    finally:
        pieces.flush()
        if model is not None:
            await model.aclose()


class _Record:
    """The run's line in the history, where there is one."""

    def __init__(self, batch: Batch, model: str) -> None:
        from workbench.engine.workflows.recording import Recorder

        self._recorder = Recorder(batch.history)
        guardrail = batch.snapshot.guardrail(batch.stage)
        inputs = {
            "stage": batch.stage,
            "cases": len(batch.cases),
            "checks": [check.name for check in guardrail.checks],
        }
        title = f"Evaluate {batch.stage}, {counted(len(batch.cases), 'case')}"
        self._recorder.start("evaluate", title, inputs, model=model)

    def finish(self, outcome: str, words: str, answers: int, figures: Evaluation) -> None:
        if self._recorder.run_id is None:
            return
        from workbench.engine.evaluation import evaluated_data

        report = figures.report(suggestions=False)
        data = evaluated_data(report, cases=figures.cases, answers=answers, words=words)
        self._recorder.add("evaluated", data)
        self._recorder.finish(outcome, words)
