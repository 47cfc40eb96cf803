"""Figures of one check over its labelled answers, sorted once so that a threshold can be dragged over any number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workbench.engine.evaluation import metrics
from workbench.engine.evaluation.intervals import FEW
from workbench.gui.models.figures import counted, format_threshold, grouped

BINS = 20
RELIABILITY_BINS = 10
CURVE_POINTS = 400
"""Columns to which a curve is thinned: more steps than a plot has pixels only cost time."""

DEFINITIONS = {
    "precision": "Precision: of the rejected cases, the share labelled yes. Undefined when nothing is rejected.",
    "recall": "Recall: of the cases labelled yes, the share that is rejected.",
    "FPR": "False-positive rate: of the cases labelled no, the share that is rejected (false alarms).",
    "F1": "F1: harmonic mean of precision and recall.",
    "AUC": "AUC: area under the ROC curve; the probability that a yes case scores above a no case, ties counting half.",
    "AP": "Average precision: area under the precision-recall steps, without interpolation.",
    "ECE": "Expected calibration error: mean distance of the share of yes from the mean probability of its bin, "
    "weighted by the bins' counts, over 10 bins of equal width. Depends on the bins.",
    "MCE": "Maximum calibration error: the distance in the worst of the 10 bins of equal width.",
    "Brier": "Brier score: mean squared distance of the probability from the label, 0 to 1, lower is better.",
    "skill": "Brier skill: 1 − Brier / (base rate × (1 − base rate)); above 0 the probabilities say more than "
    "always the base rate would.",
    "log loss": "Log loss: mean negative natural logarithm of the probability given to the label; "
    "probabilities are kept 1e-15 off 0 and 1.",
    "base rate": "Base rate: share of the labelled cases that are labelled yes.",
}


@dataclass(frozen=True, slots=True)
class Curve:
    """Step curves over the threshold, thinned for drawing; NaN where a figure is not defined."""

    thresholds: Any
    precision: Any
    recall: Any
    fpr: Any
    f1: Any


class CheckFigures:
    """The labelled, current answers to one check: probabilities `p` and labels `y` of equal length.

    What was refused, broken, stale or not labelled is counted here and never a number. The counts at a
    threshold take a binary search; everything else is worked out on first use and kept.
    """

    def __init__(
        self, p: Any, y: Any, *, refused: int = 0, errors: int = 0, stale: int = 0, unlabelled: int = 0
    ) -> None:
        self.p = np.asarray(p, dtype=np.float64)
        self.y = np.asarray(y, dtype=np.bool_)
        self.yes = np.sort(self.p[self.y])
        self.no = np.sort(self.p[~self.y])
        self.refused, self.errors, self.stale, self.unlabelled = refused, errors, stale, unlabelled

    def __len__(self) -> int:
        return len(self.p)

    @property
    def positives(self) -> int:
        """Number of scored cases labelled yes."""
        return len(self.yes)

    @property
    def negatives(self) -> int:
        """Number of scored cases labelled no."""
        return len(self.no)

    @property
    def few(self) -> bool:
        """Whether a side has so few cases that its figures are rough."""
        return min(self.positives, self.negatives) < FEW

    @cached_property
    def oddity(self) -> str:
        """What makes these cases poor evidence, in words: one label only, one probability only, few cases."""
        if not len(self):
            return ""
        total, parts = counted(len(self), "case"), []
        if not self.positives or not self.negatives:
            side = "yes" if self.positives else "no"
            parts.append(
                f"The only case is labelled {side}" if len(self) == 1 else f"All {total} are labelled {side}"
            )
        elif self.few:
            parts.append(f"Only {grouped(self.positives)} yes and {grouped(self.negatives)} no cases: rough")
        if len(self) > 1 and float(self.p.min()) == float(self.p.max()):
            parts.append(f"all probabilities are {format_threshold(float(self.p[0]))}")
        return "; ".join(parts)

    def confusion(self, threshold: float) -> metrics.Confusion:
        """Return the counts at `threshold`; a probability equal to it is rejected."""
        fn = int(np.searchsorted(self.yes, threshold, "left"))
        tn = int(np.searchsorted(self.no, threshold, "left"))
        return metrics.Confusion(len(self.yes) - fn, len(self.no) - tn, tn, fn)

    def coverage(self, allow_below: float, block_from: float) -> metrics.Coverage:
        """Return what a review band leaves to a person; see the engine's `coverage`."""
        low, high = min(allow_below, block_from), max(allow_below, block_from)
        missed, kept = (int(np.searchsorted(side, low, "left")) for side in (self.yes, self.no))
        caught = len(self.yes) - int(np.searchsorted(self.yes, high, "left"))
        alarms = len(self.no) - int(np.searchsorted(self.no, high, "left"))
        decided, total = missed + kept + caught + alarms, len(self)
        return metrics.Coverage(
            low,
            high,
            decided / total if total else None,
            (kept + caught) / decided if decided else None,
            total - decided,
            missed,
            alarms,
        )

    def band_curve(self, threshold: float, steps: int = 30) -> tuple[list[float], list[float]]:
        """Return (coverage, accuracy among the decided) for bands that widen evenly around `threshold`."""
        if not len(self):
            return [], []
        width = np.linspace(0.0, 1.0, steps + 1)
        low, high = threshold * (1 - width), threshold + (1 - threshold) * width
        missed, kept = (np.searchsorted(side, low, "left") for side in (self.yes, self.no))
        caught = len(self.yes) - np.searchsorted(self.yes, high, "left")
        alarms = len(self.no) - np.searchsorted(self.no, high, "left")
        decided = missed + kept + caught + alarms
        some = decided > 0
        share, right = decided[some] / len(self), (kept + caught)[some] / decided[some]
        order = np.lexsort((right, share))
        return share[order].tolist(), right[order].tolist()

    @cached_property
    def histogram(self) -> metrics.Histogram | None:
        """Counts by label in bins of 0.05; `None` without cases."""
        return metrics.histogram(self.p, self.y, BINS) if len(self) else None

    @cached_property
    def _full(self) -> metrics.ThresholdCurve:
        """The curve that all figures over thresholds come from, sorted once."""
        return metrics.threshold_curve(self.p, self.y)

    @cached_property
    def curve(self) -> Curve | None:
        """The curves over the threshold, thinned; `None` without cases."""
        if not len(self):
            return None
        full = self._full
        keep = thinned(full.thresholds)
        return Curve(*(a[keep] for a in (full.thresholds, full.precision, full.recall, full.fpr, full.f1)))

    @cached_property
    def roc(self) -> tuple[Any, Any] | None:
        """Points of the ROC curve, thinned; `None` with one label only."""
        points = self._full.roc
        return None if points is None else _thinned_pair(*points)

    @cached_property
    def precision_recall(self) -> tuple[Any, Any] | None:
        """Points (recall, precision), thinned; `None` without yes cases."""
        points = self._full.precision_recall
        return None if points is None else _thinned_pair(*points)

    @cached_property
    def auc(self) -> float | None:
        """Area under the ROC curve."""
        return self._full.auc

    @cached_property
    def average_precision(self) -> float | None:
        """Area under the precision-recall steps."""
        return self._full.average_precision

    @cached_property
    def ece(self) -> float | None:
        """Expected calibration error over ten bins."""
        return metrics.ece_of(self._reliability_equal_width)

    @cached_property
    def mce(self) -> float | None:
        """Maximum calibration error over ten bins."""
        return metrics.mce_of(self._reliability_equal_width)

    @cached_property
    def brier(self) -> float | None:
        """Brier score."""
        return metrics.brier(self.p, self.y)

    @cached_property
    def skill(self) -> float | None:
        """Brier skill against always saying the base rate; `None` with one label only."""
        rate = self.base_rate
        if self.brier is None or rate is None or not 0 < rate < 1:
            return None
        # The same as the skill of `metrics.brier_parts`, without grouping the cases by their probabilities.
        return 1 - self.brier / (rate * (1 - rate))

    @cached_property
    def log_loss(self) -> float | None:
        """Log loss, natural logarithm."""
        return metrics.log_loss(self.p, self.y)

    @cached_property
    def base_rate(self) -> float | None:
        """Share labelled yes."""
        return self.positives / len(self) if len(self) else None

    def reliability(self, equal_mass: bool = False) -> list[metrics.ReliabilityBin]:
        """Return the bins of the reliability diagram."""
        return self._reliability_equal_mass if equal_mass else self._reliability_equal_width

    @cached_property
    def _reliability_equal_width(self) -> list[metrics.ReliabilityBin]:
        return metrics.reliability(self.p, self.y, RELIABILITY_BINS) if len(self) else []

    @cached_property
    def _reliability_equal_mass(self) -> list[metrics.ReliabilityBin]:
        return metrics.reliability(self.p, self.y, RELIABILITY_BINS, equal_mass=True) if len(self) else []

    def cost(self, cost_fn: float) -> metrics.CostCurve | None:
        """Return the cost curve where a miss costs `cost_fn` false alarms; `None` without cases."""
        return metrics.cost_of(self._full, 1.0, cost_fn) if len(self) else None

    def cost_at(self, threshold: float, cost_fn: float) -> float:
        """Return the cost at `threshold` in false alarms."""
        counts = self.confusion(threshold)
        return counts.fp + cost_fn * counts.fn


def thinned(x: Any, columns: int = CURVE_POINTS) -> Any:
    """Return the indexes of a rising `x` (0 to 1) that a plot needs: the first and the last of every column."""
    if len(x) <= 2 * columns:
        return np.arange(len(x))
    column = np.minimum((np.asarray(x) * columns).astype(np.int64), columns - 1)
    edge = np.flatnonzero(column[1:] != column[:-1])
    return np.unique(np.r_[0, edge, edge + 1, len(x) - 1])


def _thinned_pair(x: Any, y: Any) -> tuple[Any, Any]:
    keep = thinned(x)
    return x[keep], y[keep]
