"""What an evaluation from the command line consists of: its cases, its fit, and the run."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.errors import CliError, wrong_input
from workbench.cli.inputs import not_utf8, with_folder
from workbench.cli.output import complain, complain_about
from workbench.cli.runs import wait_for
from workbench.engine.guardrails.settings import GuardrailSettings, Stage
from workbench.engine.projects import Project

if TYPE_CHECKING:
    from workbench.engine.decisions import DecisionModel
    from workbench.engine.decisions.embedded import FitFigures
    from workbench.engine.decisions.fitted import StaleFit
    from workbench.engine.evaluation import (
        Case,
        CaseSurvey,
        DriftAgainst,
        Evaluation,
        EvaluationRun,
        Progress,
    )
    from workbench.engine.history import HistoryStore
    from workbench.engine.model_settings import ModelSettings
    from workbench.engine.secrets import Secrets

STAGES: tuple[Stage, ...] = ("input", "output")


@dataclass
class StageRun:
    """One stage of an evaluation: what is asked, and what came of it."""

    stage: Stage
    guardrail: GuardrailSettings
    total: int
    results: Path | None
    evaluation: Evaluation
    run: EvaluationRun | None = None
    progress: Progress | None = None
    drift: DriftAgainst | None = None


@dataclass
class Job:
    """One call of the command."""

    arguments: argparse.Namespace
    project: Project
    model_settings: ModelSettings
    secrets: Secrets
    cases: Iterable[Case]
    own_cases: bool
    stages: list[StageRun]
    warnings: list[str] = field(default_factory=list)
    fit: list[FitFigures] | None = None
    stale_fits: list[StaleFit] = field(default_factory=list)
    stopped: bool = False


# ---- cases ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def open_cases(
    arguments: argparse.Namespace, project: Project
) -> Iterator[tuple[Iterable[Case], CaseSurvey]]:
    """Give the cases and what is in them; a file that is wrong ends the command before anything is asked."""
    from workbench.engine.evaluation import CaseStream, read_table

    with contextlib.ExitStack() as stack:
        cases: Iterable[Case]
        if arguments.cases is None:
            cases, survey = _own_cases(project, project.root or Path(arguments.project))
        else:
            path = Path(arguments.cases)
            if arguments.cases == "-":
                path = stack.enter_context(_spooled_input())
            try:
                if path.suffix.lower() in (".csv", ".tsv"):
                    cases, survey = read_table(path, _check_names(project))
                else:
                    cases = CaseStream(path)
                    survey = cases.survey()
            except UnicodeDecodeError as error:
                raise not_utf8(arguments.cases, error) from error
            except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
                raise CliError(f"{arguments.cases}: {getattr(error, 'strerror', None) or error}") from error
        if arguments.cases == "-":
            survey.diagnostics[:] = [d.at("-") for d in survey.diagnostics]
        if any(d.severity == "error" for d in survey.diagnostics):
            raise wrong_input(survey.diagnostics)
        complain_about(survey.diagnostics)
        yield cases, survey


def _own_cases(project: Project, root: Path) -> tuple[Iterable[Case], CaseSurvey]:
    """Return the project's own cases and what is in them; a file too long to be held is read anew for each use."""
    from workbench.engine.evaluation import CaseStream, CaseSurvey

    cases = project.every_case()
    if isinstance(cases, CaseStream):
        return cases, cases.survey()
    survey = CaseSurvey()
    for case in cases:
        survey.add(case)
    survey.note(with_folder(d, root) for d in project.diagnostics if d.file == "cases.jsonl")
    return cases, survey


@contextlib.contextmanager
def _spooled_input() -> Iterator[Path]:
    """Keep standard input in a file, since cases are read twice: once to see whether they are sound."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.jsonl"
        if sys.stdin is None:
            raise CliError("--cases -: standard input is closed")
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path


def _check_names(project: Project) -> list[str]:
    snapshot = project.snapshot()
    return [check.name for stage in STAGES for check in snapshot.guardrail(stage).checks]


def stages_of(arguments: argparse.Namespace, project: Project, survey: CaseSurvey) -> list[StageRun]:
    """Return the stages that have both checks and cases; where there is none, say what is lacking."""
    from workbench.engine.evaluation import Evaluation
    from workbench.engine.text import nearest

    snapshot, where = project.snapshot(), arguments.cases or arguments.project
    wanted = STAGES if arguments.stage is None else (arguments.stage,)
    with_checks = [stage for stage in wanted if snapshot.guardrail(stage).checks]
    if not with_checks:
        words = f"{arguments.stage} checks" if arguments.stage else "checks"
        raise CliError(f"{arguments.project}: the project has no {words} to evaluate")
    chosen = [stage for stage in with_checks if survey.stages[stage]]
    if not chosen:
        words = f"cases of the {with_checks[0]} stage" if len(with_checks) == 1 else "cases"
        raise CliError(f"{where}: there are no {words} (write cases.jsonl, or name a file with --cases)")
    names = _check_names(project)
    for name in survey.labels:
        if name not in names:
            guess = nearest(name, names)
            hint = f" (did you mean {guess!r}?)" if guess else ""
            complain(f"warning: {where}: cases are labelled for {name!r}, which is no check{hint}")
    return [
        StageRun(
            stage,
            snapshot.guardrail(stage),
            survey.stages[stage],
            _results_path(arguments, project, stage),
            Evaluation(snapshot.guardrail(stage), _reviews(project, stage)),
        )
        for stage in chosen
    ]


def _reviews(project: Project, stage: Stage) -> dict[str, float | None]:
    """Return from which probability on a person decides, by check."""
    checks = project.snapshot().guardrail(stage).checks
    return {check.name: project.review_from(stage, check.name) for check in checks if check.rule is None}


def _results_path(arguments: argparse.Namespace, project: Project, stage: Stage) -> Path | None:
    """Return where the answers are kept: where the call says, else with the project's history.

    The window keeps those of the project's own cases in the same place.
    """
    from workbench.engine.projects import ProjectError
    from workbench.engine.projects.files import prepare_workbench_folder

    if arguments.results is not None:
        return _sound_results(Path(arguments.results))
    if project.root is None or arguments.cases == "-":
        return None
    try:
        folder = prepare_workbench_folder(project.root)
    except (OSError, ProjectError) as error:
        complain(f"warning: the answers are not kept, so that a stopped run begins anew: {error}")
        return None
    if arguments.cases is None:
        return _sound_results(folder / f"results-{stage}.jsonl")
    path = Path(arguments.cases).resolve()
    digest = hashlib.sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return _sound_results(folder / f"results-{stage}-{path.stem[:40]}-{digest}.jsonl")


def _sound_results(path: Path) -> Path:
    """Return `path` unless it is there and holds something else, which must not be written into."""
    from workbench.engine.evaluation import ResultRow

    if path.exists() and not (path.is_file() or path.is_dir()) and str(path) != os.devnull:
        raise CliError(
            f"{path}: this is no file in which answers could be kept"
        )  # a device, a pipe, a socket
    try:
        with path.open("rb") as file:
            first = file.readline()
    except FileNotFoundError:
        return path
    except OSError as error:
        raise CliError(f"{path}: {error.strerror or error}") from error
    if first.strip() and first.endswith(b"\n"):
        try:
            ResultRow.from_json(json.loads(first))
        except (ValueError, AttributeError, RecursionError) as error:
            raise CliError(f"{path}:1:1: this is no file of results: {error}") from error
    return path


# ---- fitting --------------------------------------------------------------------------------------------


def fit(job: Job) -> None:
    """Fit the checks where that was asked for, and find the fits that no longer match."""
    from workbench.engine.evaluation import fit_on_cases, stale_checks

    root = job.project.root
    if job.model_settings.provider != "embedded" or root is None:
        return
    snapshot = job.project.snapshot()
    guardrails: dict[Stage, GuardrailSettings] = {stage: snapshot.guardrail(stage) for stage in STAGES}
    if job.arguments.fit:
        try:
            job.fit = wait_for(
                lambda: fit_on_cases(job.model_settings, guardrails, job.project.every_case(), root=root)
            )
        except OSError as error:
            raise CliError(f"the fitted checks cannot be stored: {error}") from error
    try:
        job.stale_fits = stale_checks(job.model_settings, guardrails, job.project.every_case(), root=root)
    except ValueError as error:
        raise CliError(f"{error} (fit again with --fit)") from error
    for stale in job.stale_fits:
        job.warnings.append(f"the fit of {stale.check} is stale: {stale.reason}; fit again with --fit")


def _open(job: Job) -> DecisionModel | None:
    """Open the model, if any check asks one; on the cases that it was fitted on it answers cross-validated."""
    if not any(stage.guardrail.asks_model for stage in job.stages):
        return None
    from workbench.engine.decisions import open_decision_model
    from workbench.engine.evaluation import open_for_evaluation

    snapshot = job.project.snapshot()
    if not job.own_cases:
        return open_decision_model(job.model_settings, root=job.project.root, secrets=job.secrets)
    guardrails: dict[Stage, GuardrailSettings] = {stage: snapshot.guardrail(stage) for stage in STAGES}
    return open_for_evaluation(
        job.model_settings, guardrails, job.project.every_case(), root=job.project.root, secrets=job.secrets
    )


# ---- the run --------------------------------------------------------------------------------------------


class _Interrupt:
    """Turns the first Ctrl+C into an orderly stop, and lets the second one break off the calls under way."""

    def __init__(self) -> None:
        self.stopped = False
        self.on_stop: Callable[[], None] = lambda: None
        self._task = asyncio.current_task()

    def __enter__(self) -> _Interrupt:
        # Not every platform can; there Ctrl+C breaks the run off at once, and the answers are kept too.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    def _interrupted(self) -> None:
        if self.stopped and self._task is not None:
            self._task.cancel()
            return
        self.stopped = True
        complain("\nstopping after the calls under way (Ctrl+C again breaks them off)")
        self.on_stop()


async def evaluate(job: Job, history: HistoryStore | None) -> None:
    """Run all stages and store that they ran."""
    from workbench.engine.workflows.recording import Recorder

    model = _open(job)
    recorder = Recorder(history)
    cases = sum(stage.total for stage in job.stages)
    names = [check.name for stage in job.stages for check in stage.guardrail.checks]
    words = " and ".join(stage.stage for stage in job.stages)
    recorder.start(
        "evaluate",
        f"Evaluate {words}, {cases} cases",
        {"stage": words, "cases": cases, "checks": names},
        model=model.name if model is not None else "",
    )
    outcome, summary = "done", ""
    try:
        with _Interrupt() as interrupt:
            for stage in job.stages:
                if not interrupt.stopped:
                    await _run_stage(job, stage, model, interrupt)
            job.stopped = interrupt.stopped
        answers = sum(rows.count for stage in job.stages for rows in stage.evaluation.rows.values())
        outcome = "cancelled" if job.stopped else "done"
        summary = f"{'stopped after ' if job.stopped else ''}{answers} answers to {cases} cases"
    except BaseException as error:
        stopped = isinstance(error, asyncio.CancelledError)
        outcome, summary = ("cancelled", "stopped") if stopped else ("error", str(error))
        if kept := kept_results(job):
            complain(f"the answers so far are in {', '.join(kept)}; the same call goes on from there")
        raise
    finally:
        if model is not None:
            await model.aclose()
        if recorder.run_id is not None:
            recorder.add("evaluated", _stored_figures(job, summary))
            recorder.finish(outcome, summary)


def kept_results(job: Job) -> list[str]:
    """Return the files of results that hold at least one whole answer, so that a next call can go on from there."""
    return [
        str(stage.results) for stage in job.stages if stage.results is not None and _has_row(stage.results)
    ]


def _has_row(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return any(line.strip() and line.endswith(b"\n") for line in file)
    except OSError:
        return False


def _stored_figures(job: Job, words: str) -> dict[str, Any]:
    """Return what the history keeps: how much was answered, and the figures as they are now."""
    from workbench.engine.evaluation import evaluated_data, joined

    report = joined({s.stage: s.evaluation.report(suggestions=False) for s in job.stages if s.run})
    answers = sum(rows.count for stage in job.stages for rows in stage.evaluation.rows.values())
    cases = sum(stage.evaluation.cases for stage in job.stages)
    return evaluated_data(report, cases=cases, answers=answers, words=words)


def open_drifts(job: Job) -> None:
    """Open the answers of an earlier version, where the call names some, before anything is asked."""
    from workbench.engine.evaluation import DriftAgainst

    if job.arguments.against is None:
        return
    try:
        path = Path(job.arguments.against)
        for stage in job.stages:
            if stage.results is not None and path.resolve() == stage.results.resolve():
                raise CliError(f"--against {path}: this run writes into that file; name a copy of it")
            stage.drift = DriftAgainst(path, stage.guardrail)
            stage.drift.open()
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        words = getattr(error, "strerror", None) or error
        raise CliError(f"--against {job.arguments.against}: {words}") from error
    for problem in dict.fromkeys(p for stage in job.stages if stage.drift for p in stage.drift.problems):
        complain(f"warning: {problem}")


async def _run_stage(job: Job, stage: StageRun, model: DecisionModel | None, interrupt: _Interrupt) -> None:
    """Run the checks of one stage and gather the rows."""
    from workbench.cli.evaluations import ProgressLine
    from workbench.engine.evaluation import earlier_path

    shown = ProgressLine(stage.stage)

    def on_progress(progress: Progress) -> None:
        stage.progress = progress
        shown(progress)

    overlap = _Overlap(job)
    stage.run = _engine_run(job, stage, model, overlap.watched(job.cases), on_progress)
    interrupt.on_stop = stage.run.stop
    try:
        async for row in stage.run.rows():
            stage.evaluation.add(row)
            if stage.drift is not None:
                stage.drift.add(row)
    finally:
        shown.end(stage.progress)
        if stage.drift is not None:
            stage.drift.close()
    if stage.run.earlier_rows and stage.results is not None:
        kept = earlier_path(stage.results)
        job.warnings.append(
            f"{stage.stage}: {stage.run.earlier_rows} answers of the earlier version are kept in {kept};"
            f" --against {kept} tells what changed"
        )
    if overlap.found:
        job.warnings.append(
            f"{overlap.found} of the cases are labelled in the project too, where checks were fitted on them:"
            " the figures flatter"
        )
    for problem in stage.run.problems:
        complain(f"warning: {problem}")


def _engine_run(
    job: Job,
    stage: StageRun,
    model: DecisionModel | None,
    cases: Iterable[Case],
    on_progress: Callable[[Progress], None],
) -> EvaluationRun:
    from workbench.engine.evaluation import ClusterRun, CrossValidatedModel, EvaluationRun, ModelOpener

    options: dict[str, Any] = {
        "stage": stage.stage,
        "results": stage.results,
        "concurrency": job.arguments.concurrency,
        "rate": job.arguments.rate,
        "total": stage.total,
        "who": "`prompt-workbench evaluate`",
        "on_progress": on_progress,
    }
    if not stage.guardrail.asks_model:
        return EvaluationRun(cases, stage.guardrail, None, **options)
    if job.arguments.scheduler is None:
        return EvaluationRun(cases, stage.guardrail, model, **options)
    if isinstance(model, CrossValidatedModel):
        complain("note: cases that the checks were fitted on are cross-validated on this machine")
        return EvaluationRun(cases, stage.guardrail, model, **options)
    secret = job.model_settings.secret
    origins = job.secrets.accepted(secret) if secret is not None else ()
    root = job.project.root.resolve() if job.project.root is not None else None
    opener = ModelOpener(job.model_settings, root, origins)
    return ClusterRun(cases, stage.guardrail, opener, scheduler=job.arguments.scheduler, **options)


class _Overlap:
    """Counts the cases of a test that the project's fitted checks have seen."""

    def __init__(self, job: Job) -> None:
        from workbench.engine.decisions import fitted_path

        self.found = 0
        self._texts: set[str] = set()
        path = fitted_path(job.model_settings, job.project.root)
        embedded = job.model_settings.provider == "embedded"
        if embedded and not job.own_cases and path is not None and path.exists():
            self._texts = {case.text for case in job.project.every_case() if case.labels}

    def watched(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Pass the cases on."""
        for case in cases:
            self.found += case.text in self._texts
            yield case
