"""Sums up the rows of an evaluation: figures per check, suggestions, and whether they pass the gates."""

from __future__ import annotations

import array
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.engine.evaluation import metrics
from workbench.engine.evaluation.intervals import FEW
from workbench.engine.evaluation.rows import ResultRow
from workbench.engine.evaluation.suggestions import ROUNDS, TARGETS, Kind, Suggestion, few_words, suggest
from workbench.engine.guardrails.settings import GuardrailSettings, Stage

FORMAT = 1


class CheckRows:
    """The labelled results of one check, in two flat arrays, so that a million of them take little room.

    Refused and unanswered rows are counted, not turned into numbers.
    """

    def __init__(self) -> None:
        self.p = array.array("d")
        self.y = array.array("b")
        self.refused = 0
        self.no_answers = 0
        self.errors = 0
        self.unlabelled = 0
        self.labelled = 0
        self.labelled_yes = 0
        self.models: dict[str, int] = {}
        self.count = 0

    def add(self, row: ResultRow) -> None:
        """Take one row in."""
        self.count += 1
        if row.model is not None:
            self.models[row.model] = self.models.get(row.model, 0) + 1
        if row.status == "refused":
            self.refused += 1
        elif row.status == "no_answer":
            self.no_answers += 1
        elif row.status == "error":
            self.errors += 1
        if row.label is None:
            self.unlabelled += 1
            return
        self.labelled += 1
        self.labelled_yes += row.label
        if row.probability is not None:
            self.p.append(row.probability)
            self.y.append(row.label)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The figures of one check at one threshold.

    `n` counts the labelled cases, `positives` those labelled yes, `scored` those that have a probability;
    all rates are over the scored ones. `errors` counts failed and broken answers, absent ones included.
    `models` maps the versions that answered to their number of rows; `stale` counts the rows of versions other
    than the one that answers now. `kind` is `model`, or that of a check that asks none: its 0 or 1 is no estimate,
    so that such a report has no Brier score, no log loss, no calibration errors and no suggestions. `review` is what
    the project's review band leaves to a person, `None` where it has none; `brier_parts` are Murphy's parts of the
    Brier score.
    """

    check: str
    n: int
    positives: int
    scored: int
    refused: int
    errors: int
    no_answers: int
    unlabelled: int
    threshold: float
    confusion: metrics.Confusion
    auc: float | None
    average_precision: float | None
    brier: float | None
    log_loss: float | None
    ece: float | None
    mce: float | None
    suggestions: tuple[Suggestion, ...] = ()
    models: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    stale: int = 0
    kind: str = "model"
    review: metrics.Coverage | None = None
    brier_parts: metrics.BrierParts | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the shape that `prompt-workbench evaluate --json` prints for a check."""
        c = self.confusion
        return {
            "n": self.n,
            "positives": self.positives,
            "scored": self.scored,
            "refused": self.refused,
            "errors": self.errors,
            "no_answers": self.no_answers,
            "unlabelled": self.unlabelled,
            "threshold": self.threshold,
            "precision": c.precision,
            "precision_interval": c.precision_interval,
            "recall": c.recall,
            "recall_interval": c.recall_interval,
            "f1": c.f1,
            "fpr": c.fpr,
            "fpr_interval": c.fpr_interval,
            "exact_intervals": c.exact_intervals(),
            "auc": self.auc,
            "average_precision": self.average_precision,
            "brier": self.brier,
            "brier_parts": self.brier_parts.to_json() if self.brier_parts is not None else None,
            "log_loss": self.log_loss,
            "ece": self.ece,
            "mce": self.mce,
            "confusion": c.to_json(),
            "suggestions": [suggestion.to_json() for suggestion in self.suggestions],
            "models": dict(self.models),
            "stale": self.stale,
            "warnings": list(self.warnings),
            "kind": self.kind,
            "review": self.review.to_json() if self.review is not None else None,
        }


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The figures of all checks. `union_fpr` is the share of the `good` (all-no) cases that any check flags."""

    model: str | None
    checks: Mapping[str, CheckReport]
    union_fpr: float | None = None
    good: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the shape that `prompt-workbench evaluate --json` prints."""
        return {
            "format": FORMAT,
            "model": self.model,
            "checks": {name: report.to_json() for name, report in self.checks.items()},
            "union_fpr": self.union_fpr,
        }

    def gate_failures(
        self, *, min_recall: float | None = None, max_fpr: float | None = None, max_ece: float | None = None
    ) -> list[str]:
        """Return one sentence per figure that misses a gate. A figure that is not defined misses it.

        The calibration of a check that asks no model is not asked for.
        """
        failures = []
        for name, report in self.checks.items():
            c = report.confusion
            if min_recall is not None and not (c.recall is not None and c.recall >= min_recall):
                failures.append(f"{name}: recall {_shown(c.recall, min_recall)} is below {min_recall:g}")
            if max_fpr is not None and not (c.fpr is not None and c.fpr <= max_fpr):
                failures.append(f"{name}: false-positive rate {_shown(c.fpr, max_fpr)} is above {max_fpr:g}")
            if max_ece is None or report.kind != "model":
                continue
            if not (report.ece is not None and report.ece <= max_ece):
                failures.append(
                    f"{name}: calibration error {_shown(report.ece, max_ece)} is above {max_ece:g}"
                )
        return failures


def _shown(value: float | None, gate: float) -> str:
    """Return a figure with so many digits that, as it reads, it misses the gate."""
    if value is None:
        return "(not defined)"
    texts = (f"{value:.{digits}f}" for digits in (3, 6))
    read = ((text, float(text)) for text in texts)
    return next(
        (text for text, figure in read if figure != gate and (figure < gate) == (value < gate)), repr(value)
    )


class Evaluation:
    """Gathers rows while they come and makes the report at any time.

    `reviews` says from which probability on, up to the threshold, a person decides, by check. Holds nine bytes per labelled row and no case. The rows of one case must come together, as a run gives
    them: whether any check flags a good case is told when the next case begins.
    """

    def __init__(
        self, settings: GuardrailSettings, reviews: Mapping[str, float | None] | None = None
    ) -> None:
        self.settings = settings
        self._reviews = dict(reviews or {})
        self.rows: dict[str, CheckRows] = {check.name: CheckRows() for check in settings.checks}
        self.cases = 0
        self._thresholds = {check.name: settings.threshold_of(check) for check in settings.checks}
        self._kinds = {check.name: check.kind for check in settings.checks}
        self._good = self._good_flagged = 0
        self._case: str | None = None
        self._labels: set[bool] = set()
        self._flagged = False

    def add(self, row: ResultRow) -> None:
        """Take one row in; rows of checks that the settings do not have are passed over."""
        if row.check not in self.rows:
            return
        if row.case != self._case:
            self._good, self._good_flagged = self._good_cases()
            self._case, self._labels, self._flagged = row.case, set(), False
            self.cases += 1
        self.rows[row.check].add(row)
        if row.label is True:
            self._labels.add(True)
        elif row.label is False and row.probability is not None:
            self._labels.add(False)
            self._flagged |= row.probability >= self._thresholds[row.check]

    def _good_cases(self) -> tuple[int, int]:
        """Return how many cases have "no" labels only, and how many of them any check flagged."""
        good = self._labels == {False}
        return self._good + good, self._good_flagged + (good and self._flagged)

    def report(
        self,
        *,
        suggestions: bool = True,
        version_now: str | None = None,
        targets: Mapping[Kind, float] | None = None,
    ) -> EvaluationReport:
        """Return the figures at the present thresholds; rows of versions other than `version_now` are stale.

        `targets` are what suggestions aim at, where that is not the usual (`TARGETS`).
        """
        checks = {
            name: report_check(
                name,
                rows,
                self._thresholds[name],
                suggestions=suggestions,
                version_now=version_now,
                kind=self._kinds[name],
                targets=targets,
                review_from=self._reviews.get(name),
            )
            for name, rows in self.rows.items()
        }
        good, flagged = self._good_cases()
        versions = {model for report in checks.values() for model in report.models}
        model = ", ".join(sorted(versions)) or None
        return EvaluationReport(model, checks, flagged / good if good else None, good)


def joined(reports: Mapping[Stage, EvaluationReport]) -> EvaluationReport:
    """Return the reports of both stages as one; a check whose name occurs twice is called `NAME (output)`."""
    checks: dict[str, CheckReport] = {}
    for stage, report in reports.items():
        for name, check in report.checks.items():
            checks[f"{name} ({stage})" if name in checks else name] = check
    models = sorted({model for check in checks.values() for model in check.models})
    good = sum(report.good for report in reports.values())
    flagged = sum(round((report.union_fpr or 0.0) * report.good) for report in reports.values())
    return EvaluationReport(", ".join(models) or None, checks, flagged / good if good else None, good)


def evaluate_rows(
    rows: Iterable[ResultRow], settings: GuardrailSettings, *, suggestions: bool = True
) -> EvaluationReport:
    """Return the report over `rows`, in any order, at the thresholds of `settings`. No model is asked."""
    evaluation = Evaluation(settings)
    by_case: dict[str, list[ResultRow]] = {}
    for row in rows:
        by_case.setdefault(row.case, []).append(row)
    for row in itertools.chain.from_iterable(by_case.values()):
        evaluation.add(row)
    return evaluation.report(suggestions=suggestions)


def report_check(
    name: str,
    rows: CheckRows,
    threshold: float,
    *,
    suggestions: bool = True,
    version_now: str | None = None,
    kind: str = "model",
    targets: Mapping[Kind, float] | None = None,
    review_from: float | None = None,
) -> CheckReport:
    """Return the figures of one check at `threshold`; rows of versions other than `version_now` are stale.

    With `review_from` they tell what a person is left with between it and the threshold.
    """
    import numpy as np

    stale = 0
    if version_now is not None:
        stale = sum(count for model, count in rows.models.items() if model != version_now)

    p = np.frombuffer(rows.p, dtype=np.float64) if rows.p else np.empty(0)
    y = np.frombuffer(rows.y, dtype=np.int8).astype(np.bool_) if rows.y else np.empty(0, dtype=np.bool_)
    # Rows come in the order in which calls end; sums and draws must not depend on it.
    order = np.lexsort((y, p))
    p, y = p[order], y[order]
    estimated = kind == "model"
    curve = metrics.threshold_curve(p, y)
    bins = metrics.reliability(p, y) if estimated else []
    return CheckReport(
        name,
        rows.labelled,
        rows.labelled_yes,
        len(p),
        rows.refused,
        rows.errors + rows.no_answers,
        rows.no_answers,
        rows.unlabelled,
        threshold,
        metrics.confusion(p, y, threshold),
        curve.auc,
        curve.average_precision,
        metrics.brier(p, y) if estimated else None,
        metrics.log_loss(p, y) if estimated else None,
        metrics.ece_of(bins),
        metrics.mce_of(bins),
        _suggestions(p, y, targets) if suggestions and estimated else (),
        dict(rows.models),
        tuple(_warnings(rows, p, y, kind)),
        stale,
        kind,
        None if review_from is None else metrics.coverage(p, y, min(review_from, threshold), threshold),
        metrics.brier_parts(p, y) if estimated else None,
    )


def _suggestions(p: Any, y: Any, targets: Mapping[Kind, float] | None) -> tuple[Suggestion, ...]:
    # Bootstrapping a million cases two hundred times tells nothing more than twenty times.
    rounds = ROUNDS if len(p) <= 20_000 else 20
    return tuple(
        suggest(p, y, kind, target, rounds=rounds) for kind, target in {**TARGETS, **(targets or {})}.items()
    )


def _warnings(rows: CheckRows, p: Any, y: Any, kind: str) -> Sequence[str]:
    warnings = []
    positives = int(y.sum())
    if not len(y):
        what = "a probability" if kind == "model" else "an answer"
        warnings.append(f"no labelled case has {what}")
    elif positives in (0, len(y)):
        side = "no" if positives == 0 else "yes"
        warnings.append(f"all labelled cases are {side}: AUC and average precision are not defined")
    else:
        sides = {"yes": positives, "no": len(y) - positives}
        few = {side: count for side, count in sides.items() if count < FEW}
        if few:
            warnings.append(few_words(few))
        if len(y) > 1 and float(p.min()) == float(p.max()) and kind == "model":
            warnings.append(f"all probabilities are {float(p[0]):g}: no threshold tells the cases apart")
    if len(rows.models) > 1:
        warnings.append("the rows come from several model versions: " + ", ".join(sorted(rows.models)))
    unanswered = rows.refused + rows.no_answers + rows.errors
    if unanswered:
        what = "probability" if kind == "model" else "answer"
        warnings.append(f"{unanswered} rows have no {what} and are not in the rates")
    return warnings
