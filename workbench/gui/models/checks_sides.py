"""Two models, or two wordings of one check, asked the same: on one text, or on all labelled cases."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.evaluation import metrics
from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import GuardrailSettings, Stage
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.gui.models.cases_columns import CaseColumns
from workbench.gui.models.figures_check import CheckFigures

if TYPE_CHECKING:
    from workbench.engine.decisions import DecisionModel
    from workbench.engine.evaluation import Progress
    from workbench.engine.guardrails import GuardrailResult
    from workbench.engine.secrets import Secrets


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: a model and the checks that it is asked, under a title for people."""

    title: str
    settings: ModelSettings
    guardrail: GuardrailSettings

    def results_path(self, root: Path | None, stage: Stage) -> Path | None:
        """Return where the answers of this side are kept, so that a comparison asks nothing twice."""
        if root is None:
            return None
        wording = [(c.name, c.question, c.yes_means, c.no_means) for c in self.guardrail.checks]
        key = hashlib.sha256(repr((self.settings, wording)).encode()).hexdigest()[:12]
        return root / ".workbench" / f"compare-{stage}-{key}.jsonl"


@dataclass(frozen=True, slots=True)
class Flip:
    """A case whose outcome is another on the second side; `label` is that of the check."""

    case: Case
    label: bool | None
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The figures of one check on both sides, over the cases that both answered with a number.

    `flips` are in the order of the size of the change; `drift` is `None` without common cases.
    """

    check: str
    threshold: float
    first: CheckFigures
    second: CheckFigures
    flips: tuple[Flip, ...]
    drift: metrics.Drift | None
    uncommon: int

    def rows(self) -> list[tuple[str, float | None, float | None]]:
        """Return (name, first, second) of every figure."""
        a, b = self.first.confusion(self.threshold), self.second.confusion(self.threshold)
        return [
            ("AUC", self.first.auc, self.second.auc),
            ("AP", self.first.average_precision, self.second.average_precision),
            ("precision", a.precision, b.precision),
            ("recall", a.recall, b.recall),
            ("FPR", a.fpr, b.fpr),
            ("F1", a.f1, b.f1),
            ("ECE", self.first.ece, self.second.ece),
            ("Brier", self.first.brier, self.second.brier),
            ("log loss", self.first.log_loss, self.second.log_loss),
        ]


async def ask_both(
    sides: Sequence[Side],
    snapshot: ProjectSnapshot,
    stage: Stage,
    text: str,
    user_message: str | None,
    secrets: Secrets,
) -> list[GuardrailResult | Exception]:
    """Validate one text on every side; a side that fails gives its error, and does not hide the other."""
    from workbench.engine.decisions import DecisionError
    from workbench.engine.guardrails import guardrail_from_settings

    async def ask(side: Side) -> GuardrailResult | Exception:
        try:
            model = await asyncio.to_thread(_open, side, snapshot, secrets)
        except DecisionError as error:
            return error
        try:
            guardrail = guardrail_from_settings(side.guardrail, model, stage)
            if stage == "input":
                return await guardrail.validate(text)  # type: ignore[call-arg]
            return await guardrail.validate(text, user_message)  # type: ignore[call-arg]
        except DecisionError as error:
            return error
        finally:
            await model.aclose()

    return [await ask(side) for side in sides]


def _open(side: Side, snapshot: ProjectSnapshot, secrets: Secrets) -> DecisionModel:
    from workbench.engine.decisions import open_decision_model

    return open_decision_model(side.settings, root=snapshot.root, secrets=secrets)


async def run_side(
    side: Side,
    snapshot: ProjectSnapshot,
    stage: Stage,
    cases: Sequence[Case],
    secrets: Secrets,
    on_progress: Callable[[Progress], None] | None = None,
) -> CaseColumns:
    """Ask one side about all cases and return the answers in columns.

    Raises:
        DecisionError: where the model cannot be used.
    """
    from workbench.engine.evaluation import EvaluationRun, open_for_evaluation

    guardrails: dict[Stage, GuardrailSettings] = {stage: side.guardrail}
    model = await asyncio.to_thread(
        lambda: open_for_evaluation(side.settings, guardrails, cases, root=snapshot.root, secrets=secrets)
    )
    columns = CaseColumns(cases, side.guardrail.checks)
    try:
        run = EvaluationRun(
            list(cases),
            side.guardrail,
            model,
            stage=stage,
            results=side.results_path(snapshot.root, stage),
            on_progress=on_progress,
        )
        async for row in run.rows():
            columns.take([row], lambda *_: None)
    finally:
        await model.aclose()
    return columns


def stored_sides(snapshot: ProjectSnapshot, stage: Stage, earlier: Path, now: Path) -> list[CaseColumns]:
    """Return the answers of two results files in columns; nothing is asked.

    Only answers to the present texts and wordings count, so that both sides answered the same.

    Raises:
        OSError: where a file cannot be read.
        ValueError: where a file holds no such answer.
    """
    from workbench.engine.evaluation.rows import ResultsFile, asked_hash

    cases = [case for case in snapshot.cases if case.stage == stage]
    found = []
    for path in (earlier, now):
        with path.open("rb"):
            pass  # a file that is not there reads as one without rows
        columns = CaseColumns(cases, snapshot.guardrail(stage).checks)
        columns.take(
            ResultsFile(path).rows(),
            lambda row, case, check: None if row.asked == asked_hash(case, check) else "reworded",
        )
        for column in columns.columns.values():
            column.p[column.stale > 0] = np.nan
        if not columns.answered():
            raise ValueError(f"{path.name} holds no answer to the present cases and wordings")
        found.append(columns)
    return found


def compare(check: str, threshold: float, first: CaseColumns, second: CaseColumns) -> Comparison:
    """Compare the answers of both sides to one check; both were asked the same cases in the same order."""
    a, b = first.columns[check], second.columns[check]
    both = np.isfinite(a.p) & np.isfinite(b.p)
    labelled = both & (a.label >= 0)
    turned = np.flatnonzero(both & ((a.p >= threshold) != (b.p >= threshold)))
    turned = turned[np.argsort(-np.abs(a.p[turned] - b.p[turned]), kind="stable")]
    flips = tuple(
        Flip(
            first.cases[k],
            None if a.label[k] < 0 else bool(a.label[k]),
            float(a.p[k]),
            float(b.p[k]),
        )
        for k in turned.tolist()
    )
    answered = (a.state != 0) | (b.state != 0)
    return Comparison(
        check,
        threshold,
        CheckFigures(a.p[labelled], a.label[labelled] == 1),
        CheckFigures(b.p[labelled], b.label[labelled] == 1),
        flips,
        metrics.drift(a.p[both], b.p[both], threshold) if both.any() else None,
        int((answered & ~both).sum()),
    )
