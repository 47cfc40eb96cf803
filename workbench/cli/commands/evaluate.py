"""`evaluate`: run checks over labelled cases and tell what the thresholds are worth."""

from __future__ import annotations

import argparse
import math
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.errors import BAD_VERDICT, GOOD, INTERRUPTED, MODEL_FAILED, CliError
from workbench.cli.evaluation_job import (
    STAGES,
    Job,
    StageRun,
    evaluate,
    fit,
    kept_results,
    open_cases,
    open_drifts,
    stages_of,
)
from workbench.cli.inputs import load_project
from workbench.cli.output import complain, print_json, write
from workbench.cli.runs import add_model_options, close_history, open_history, secrets_for, wait_for
from workbench.engine.guardrails.settings import Stage

if TYPE_CHECKING:
    from workbench.engine.decisions.embedded import FitFigures
    from workbench.engine.evaluation import CheckDrift, EvaluationReport

_LEAST_RATE = 1e-9
STALE_SHOWN = 10
"""Stale rows that are named one by one in the text; the JSON document names more."""


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    from workbench.engine.evaluation.suggestions import TARGETS

    parser = commands.add_parser(
        "evaluate",
        help="run checks over labelled cases and print their figures",
        description="Run the checks over labelled cases and print what their thresholds catch and block. A run"
        " that was stopped goes on where it ended, and nothing is asked twice.",
        epilog="Exit status: 0 done, 1 a gate failed, 2 a wrong call or file, 3 the model failed, 130 stopped.",
    )
    parser.add_argument("project", help="the project's folder")
    parser.add_argument(
        "--cases", metavar="FILE", help="cases to test on instead of the project's (JSON Lines, or CSV)"
    )
    parser.add_argument("--results", metavar="FILE", help="where the answers are kept, as JSON Lines")
    parser.add_argument(
        "--against",
        metavar="FILE",
        help="results of an earlier version of the model: tell how the probabilities and outcomes moved since",
    )
    parser.add_argument(
        "--stage", choices=STAGES, default=None, help="only the checks of one stage (default: both)"
    )
    parser.add_argument("--html", metavar="FILE", help="also write the figures and pictures as one HTML file")
    parser.add_argument("--suggest", action="store_true", help="suggest thresholds; none is changed")
    parser.add_argument(
        "--miss-cost",
        metavar="X",
        type=_rate,
        default=TARGETS["cost"],
        help=f"what a miss costs in false alarms, for --suggest (default: {TARGETS['cost']:g})",
    )
    parser.add_argument(
        "--fit",
        action="store_true",
        help="first fit the embedded model's checks on the project's labelled cases",
    )
    gates = parser.add_argument_group("gates: exit 1 when a check misses one")
    gates.add_argument("--min-recall", metavar="X", type=_share, help="least recall of every check")
    gates.add_argument("--max-fpr", metavar="X", type=_share, help="largest false-positive rate")
    gates.add_argument("--max-ece", metavar="X", type=_share, help="largest expected calibration error")
    pace = parser.add_argument_group("pace")
    pace.add_argument(
        "--concurrency", metavar="N", type=_count, default=4, help="calls at the same time (default: 4)"
    )
    pace.add_argument("--rate", metavar="N", type=_rate, help="calls a second at the most")
    pace.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on the dask.distributed cluster with this scheduler"
    )
    add_model_options(parser)
    parser.set_defaults(run=run)


def _share(text: str) -> float:
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _rate(text: str) -> float:
    value = _number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    if not _LEAST_RATE <= value <= 1 / _LEAST_RATE:
        raise argparse.ArgumentTypeError(f"{text} is not between {_LEAST_RATE:g} and {1 / _LEAST_RATE:g}")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return int(text)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text} is not a number")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, print the figures, and return the exit status."""
    from workbench.engine.workflows import decision_settings

    if arguments.scheduler is not None:
        _require_cluster()
    project = load_project(arguments.project)
    snapshot = project.snapshot()
    model_settings = decision_settings(snapshot, arguments.model)
    if arguments.fit and model_settings.provider != "embedded":
        raise CliError(
            f"--fit: only the embedded model can be fitted, and '{model_settings.name}' is of the provider"
            f" {model_settings.provider} (choose one with --model)"
        )
    with open_cases(arguments, project) as (cases, survey):
        stages = stages_of(arguments, project, survey)
        job = Job(
            arguments,
            project,
            model_settings,
            secrets_for(arguments, snapshot),
            cases,
            arguments.cases is None,
            stages,
        )
        open_drifts(job)
        fit(job)
        history = open_history(project.root, arguments, job.secrets)
        try:
            wait_for(lambda: evaluate(job, history))
        except OSError as error:
            raise CliError(f"{error.filename or arguments.project}: {error.strerror or error}") from error
        finally:
            close_history(history)
    return _report(job)


def _require_cluster() -> None:
    import importlib.util

    if importlib.util.find_spec("distributed") is None:
        raise CliError("--scheduler: a cluster needs the package distributed (pip install distributed)")


def _report(job: Job) -> int:
    """Print the figures in every form that was asked for and return the exit status."""
    from workbench.engine.evaluation import joined

    arguments = job.arguments
    wanted = bool(arguments.suggest or arguments.json or arguments.html)
    reports = {
        stage.stage: stage.evaluation.report(
            suggestions=wanted, version_now=stage.run.version_now, targets={"cost": arguments.miss_cost}
        )
        for stage in job.stages
        if stage.run is not None
    }
    report = joined(reports)
    _notes(job, reports)
    failures = report.gate_failures(
        min_recall=arguments.min_recall, max_fpr=arguments.max_fpr, max_ece=arguments.max_ece
    )
    if arguments.html is not None:
        _write_html(job, report)
    if arguments.json:
        print_json(_document(job, report, reports, failures))
    else:
        write(_text(job, report))
    for warning in job.warnings:
        complain(f"warning: {warning}")
    for failure in failures:
        complain(f"gate: {failure}")
    return _status(job, failures)


def _status(job: Job, failures: list[str]) -> int:
    if job.stopped:
        kept = kept_results(job)
        where = f"; the answers so far are in {', '.join(kept)}, and the same call goes on from there"
        complain("stopped" + (where if kept else ""))
        return INTERRUPTED
    errors = sum(rows.errors for stage in job.stages for rows in stage.evaluation.rows.values())
    if errors:
        complain(f"the model failed for {errors} answers; the same call asks again for these only")
        return MODEL_FAILED
    return BAD_VERDICT if failures else GOOD


def _notes(job: Job, reports: dict[Stage, EvaluationReport]) -> None:
    """Gather what a reader of the figures must know: aliases, stale rows, thresholds chosen on something else."""
    for stage in job.stages:
        run = stage.run
        if run is None or stage.stage not in reports:
            continue
        report = reports[stage.stage]
        if run.info is not None and run.info.moving:
            answered = run.version_now or "a version that it does not tell"
            job.warnings.append(
                f"{stage.stage}: {run.info.name} is an alias that may move; these figures and the thresholds"
                f" chosen on them belong to {answered}"
            )
        for reason, count in run.stale_counts.items():
            job.warnings.append(f"{stage.stage}: {count} stored rows were stale and asked again: {reason}")
        for name, check in report.checks.items():
            if check.stale:
                others = ", ".join(model for model in check.models if model != run.version_now)
                job.warnings.append(
                    f"{name}: {check.stale} rows are stale: {others} answered them, and now {run.version_now}"
                    " answers; move the results file away to ask again, and name it with --against to see what"
                    " changed"
                )
        _note_origins(job, stage, run.version_now)


def _note_origins(job: Job, stage: StageRun, version: str | None) -> None:
    plain = (version or "").partition("+cv-")[0]
    for check in stage.guardrail.checks:
        origin = job.project.threshold_origin(stage.stage, check.name)
        if origin is None or check.rule is not None:
            continue
        if plain and origin.model and plain not in origin.model and origin.model not in plain:
            job.warnings.append(
                f"{check.name}: the threshold is stale: it was chosen for {origin.model}, and {plain} answers now"
            )
        elif reworded := origin.reworded(check):
            job.warnings.append(f"{check.name}: the threshold is stale: {reworded}")


def _text(job: Job, report: EvaluationReport) -> str:
    from workbench.cli.evaluations import drift_text, figures_table, fit_table, suggestion_lines

    parts = []
    if job.fit is not None:
        parts.append(fit_table(job.fit) + "(after: cross-validated, each case judged by a fit without it)\n")
    cases = ", ".join(f"{stage.evaluation.cases} {stage.stage} cases" for stage in job.stages)
    parts.append(f"{cases}; answered by {report.model or 'nobody'}\n" + figures_table(report))
    if report.union_fpr is not None:
        parts.append(f"good cases that at least one check flags: {report.union_fpr:.1%} of {report.good}\n")
    for name, check in report.checks.items():
        parts += [f"{name}: {warning}\n" for warning in check.warnings]
        if check.review is not None:
            parts.append(f"{name}: {check.review.words()}\n")
    if job.arguments.against is not None:
        parts.append("\n" + drift_text(_drifts(job), job.arguments.against) + "\n")
    if stale := [row for stage in job.stages if stage.run is not None for row in stage.run.stale]:
        parts.append(f"stale rows that were asked again ({len(stale)}):\n")
        parts += [f"  {row.case}, {row.check}: {row.reason}\n" for row in stale[:STALE_SHOWN]]
        if len(stale) > STALE_SHOWN:
            parts.append("  …\n")
    if job.arguments.suggest:
        parts.append("\n" + suggestion_lines(report))
    if kept := [str(stage.results) for stage in job.stages if stage.results is not None]:
        parts.append(f"answers: {', '.join(dict.fromkeys(kept))}\n")
    if job.arguments.html is not None:
        parts.append(f"report: {job.arguments.html}\n")
    return "".join(parts)


def _document(
    job: Job, report: EvaluationReport, reports: dict[Stage, EvaluationReport], failures: list[str]
) -> dict[str, Any]:
    document = report.to_json()
    runs = {stage.stage: stage for stage in job.stages if stage.run is not None}
    infos = [
        stage.run.info for stage in runs.values() if stage.run is not None and stage.run.info is not None
    ]
    document["moving_alias"] = any(info.moving for info in infos)
    document["stages"] = {
        name: {
            "cases": stage.evaluation.cases,
            "checks": list(reports[name].checks),
            "union_fpr": reports[name].union_fpr,
            "asked": stage.run.asked if stage.run is not None else 0,
            "results": str(stage.results) if stage.results is not None else None,
            "stale": [
                {"case": row.case, "check": row.check, "reason": row.reason, "model": row.model}
                for row in (stage.run.stale if stage.run is not None else ())
            ],
        }
        for name, stage in runs.items()
    }
    document["fit"] = None if job.fit is None else {f.check: _fit_json(f) for f in job.fit}
    document["stale_fits"] = [{"check": s.check, "reason": s.reason} for s in job.stale_fits]
    drifts = {name: drift.to_json() for name, drift in _drifts(job).items()}
    document["drift"] = drifts if job.arguments.against is not None else None
    document["gates"] = {"passed": not failures, "failures": failures}
    document["stopped"] = job.stopped
    document["warnings"] = job.warnings
    return document


def _drifts(job: Job) -> dict[str, CheckDrift]:
    """Return how each check moved since the results that the call names."""
    found: dict[str, CheckDrift] = {}
    for stage in job.stages:
        for name, drift in (stage.drift.report() if stage.drift is not None else {}).items():
            found[f"{name} ({stage.stage})" if name in found else name] = drift
    return found


def _fit_json(figures: FitFigures) -> dict[str, Any]:
    return {
        "positives": figures.positives,
        "negatives": figures.negatives,
        "before": dict(figures.before),
        "after": dict(figures.after),
        "skipped": figures.skipped,
    }


def _write_html(job: Job, report: EvaluationReport) -> None:
    from workbench.engine.evaluation.html_report import html_report

    stages = [stage.evaluation.rows for stage in job.stages if stage.run is not None]
    each = [rows for by_name in stages for rows in by_name.values()]
    rows = dict(zip(report.checks, each, strict=True))
    when = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    title = f"Evaluation of {job.project.name}"
    text = html_report(report, rows, title=title, when=when, notes=job.warnings, drifts=_drifts(job))
    try:
        Path(job.arguments.html).write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise CliError(f"{job.arguments.html}: {error.strerror or error}") from error
