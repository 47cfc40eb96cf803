"""Figures of one check on labelled cases: what a threshold catches, what it blocks wrongly, and calibration.

"Positive" means yes, that is: must be rejected. A case is flagged from the threshold on (`p >= t`). All
functions take probabilities `p` (floats from 0 to 1) and labels `y` (booleans) of equal length, as sequences
or arrays. A figure that is not defined, such as the precision when nothing is flagged, is `None` or NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.engine.evaluation.intervals import Interval, clopper_pearson, wilson

if TYPE_CHECKING:
    import numpy

    FloatArray = numpy.ndarray[Any, numpy.dtype[numpy.float64]]
    BoolArray = numpy.ndarray[Any, numpy.dtype[numpy.bool_]]
    IntArray = numpy.ndarray[Any, numpy.dtype[numpy.int64]]

Numbers = Any
"""A sequence of numbers or an array."""

LOG_FLOOR = 1e-15
"""Distance from 0 and 1 that a probability keeps before its logarithm is taken."""


def _arrays(p: Numbers, y: Numbers) -> tuple[FloatArray, BoolArray]:
    import numpy as np

    probabilities = np.asarray(p, dtype=np.float64)
    labels = _labels(y)
    if probabilities.shape != labels.shape or probabilities.ndim != 1:
        raise ValueError("p and y must be one-dimensional and of the same length")
    if probabilities.size and not bool(np.all((probabilities >= 0) & (probabilities <= 1))):
        raise ValueError("p must lie between 0 and 1; a missing probability is left out, never a number")
    return probabilities, labels


def _labels(y: Numbers) -> BoolArray:
    """Return labels as an array; an absent one, or a text, must not be taken for yes or no."""
    import numpy as np

    given = np.asarray(y)
    if given.dtype == np.bool_:
        return given
    if given.size and (given.dtype.kind not in "iuf" or not bool(np.all((given == 0) | (given == 1)))):
        raise ValueError("y must hold booleans; a case without a label is left out")
    return given.astype(np.bool_)


def _edges(bins: int) -> FloatArray:
    """Return the edges i / n of equal-width bins; a sum of steps may miss them, and with them the cases on one."""
    import numpy as np

    if bins < 1:
        raise ValueError("there must be at least one bin")
    return np.arange(bins + 1, dtype=np.float64) / bins


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts at one threshold: flagged rightly (`tp`) and wrongly (`fp`), passed rightly (`tn`) and wrongly (`fn`)."""

    tp: int
    fp: int
    tn: int
    fn: int

    @property
    def precision(self) -> float | None:
        """Share of the flagged that must be rejected; `None` when nothing is flagged."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """Share of those that must be rejected that are flagged; `None` without any."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def fpr(self) -> float | None:
        """Share of the good ones that are flagged (false alarms); `None` without any."""
        return _ratio(self.fp, self.fp + self.tn)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; `None` without positives and flagged."""
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def accuracy(self) -> float | None:
        """Share of right outcomes; `None` without cases."""
        return _ratio(self.tp + self.tn, self.tp + self.fp + self.tn + self.fn)

    @property
    def recall_interval(self) -> Interval | None:
        """95 % interval (Wilson) of the recall."""
        return wilson(self.tp, self.tp + self.fn)

    @property
    def precision_interval(self) -> Interval | None:
        """95 % interval (Wilson) of the precision."""
        return wilson(self.tp, self.tp + self.fp)

    @property
    def fpr_interval(self) -> Interval | None:
        """95 % interval (Wilson) of the false-positive rate."""
        return wilson(self.fp, self.fp + self.tn)

    def exact_intervals(self) -> dict[str, Interval | None]:
        """Return the exact 95 % intervals (Clopper–Pearson) of precision, recall and fpr; wider than Wilson's."""
        return {
            "precision": clopper_pearson(self.tp, self.tp + self.fp),
            "recall": clopper_pearson(self.tp, self.tp + self.fn),
            "fpr": clopper_pearson(self.fp, self.fp + self.tn),
        }

    def to_json(self) -> dict[str, int]:
        """Return `{"tp", "fp", "tn", "fn"}`."""
        return {"tp": self.tp, "fp": self.fp, "tn": self.tn, "fn": self.fn}


def confusion(p: Numbers, y: Numbers, threshold: float) -> Confusion:
    """Return the counts at `threshold`."""
    probabilities, labels = _arrays(p, y)
    flagged = probabilities >= threshold
    tp = int((flagged & labels).sum())
    fp = int((flagged & ~labels).sum())
    positives = int(labels.sum())
    return Confusion(tp, fp, len(labels) - positives - fp, positives - tp)


@dataclass(frozen=True, slots=True)
class ThresholdCurve:
    """Counts and rates at every threshold that makes a difference.

    `thresholds` are the distinct probabilities, rising; between two of them nothing changes, and a threshold
    in such a gap acts as the next higher one. The arrays have one entry per threshold. `precision`, `recall`,
    `fpr` and `f1` hold NaN where they are not defined.
    """

    thresholds: FloatArray
    tp: IntArray
    fp: IntArray
    positives: int
    negatives: int
    precision: FloatArray
    recall: FloatArray
    fpr: FloatArray
    f1: FloatArray

    @property
    def roc(self) -> tuple[FloatArray, FloatArray] | None:
        """(False-positive rates, recalls) from (0, 0) to (1, 1); `None` with one class only."""
        import numpy as np

        if not self.positives or not self.negatives:
            return None
        return np.r_[0.0, self.fpr[::-1]], np.r_[0.0, self.recall[::-1]]

    @property
    def auc(self) -> float | None:
        """The area under the ROC curve, ties counting half; `None` with one class only."""
        import numpy as np

        if (points := self.roc) is None:
            return None
        x, height = points
        return float(np.sum(np.diff(x) * (height[1:] + height[:-1]) / 2))

    @property
    def precision_recall(self) -> tuple[FloatArray, FloatArray] | None:
        """(Recalls, precisions) by falling threshold; `None` without positives."""
        return (self.recall[::-1], self.precision[::-1]) if self.positives else None

    @property
    def average_precision(self) -> float | None:
        """The area under the precision-recall steps (no interpolation); `None` without positives."""
        import numpy as np

        if (points := self.precision_recall) is None:
            return None
        recall, precision = points
        return float(np.sum(np.diff(np.r_[0.0, recall]) * precision))


def threshold_curve(p: Numbers, y: Numbers) -> ThresholdCurve:
    """Return the step curves of precision, recall, false-positive rate and F1 against the threshold."""
    import numpy as np

    probabilities, labels = _arrays(p, y)
    order = np.argsort(probabilities, kind="stable")[::-1]
    sorted_p, sorted_y = probabilities[order], labels[order]
    # The last index of every run of equal probabilities: ties are flagged together.
    last = np.flatnonzero(np.r_[sorted_p[1:] != sorted_p[:-1], True]) if len(sorted_p) else np.array([], int)
    tp = np.cumsum(sorted_y)[last] if len(last) else np.array([], int)
    flagged = last + 1
    fp = flagged - tp
    positives, negatives = int(labels.sum()), int((~labels).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = tp / flagged
        recall = tp / positives if positives else np.full(len(tp), np.nan)
        fpr = fp / negatives if negatives else np.full(len(tp), np.nan)
        f1 = 2 * tp / (tp + fp + positives)
    if not positives:
        f1 = np.full(len(tp), np.nan)
    back = slice(None, None, -1)
    return ThresholdCurve(
        sorted_p[last][back],
        tp[back].astype(np.int64),
        fp[back].astype(np.int64),
        positives,
        negatives,
        precision[back].astype(np.float64),
        recall[back].astype(np.float64),
        fpr[back].astype(np.float64),
        f1[back].astype(np.float64),
    )


def roc_points(p: Numbers, y: Numbers) -> tuple[FloatArray, FloatArray] | None:
    """Return (false-positive rates, recalls) from (0, 0) to (1, 1); `None` with one class only."""
    return threshold_curve(p, y).roc


def auc(p: Numbers, y: Numbers) -> float | None:
    """Return the area under the ROC curve, ties counting half; `None` with one class only."""
    return threshold_curve(p, y).auc


def pr_points(p: Numbers, y: Numbers) -> tuple[FloatArray, FloatArray] | None:
    """Return (recalls, precisions) by falling threshold; `None` without positives."""
    return threshold_curve(p, y).precision_recall


def average_precision(p: Numbers, y: Numbers) -> float | None:
    """Return the area under the precision-recall steps (no interpolation); `None` without positives."""
    return threshold_curve(p, y).average_precision


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """One bin of the reliability diagram; the numbers are `None` in an empty bin.

    The bin holds the probabilities in (`low`, `high`], the first one also 0. `interval` is the 95 % Wilson
    interval of `share_yes`.
    """

    low: float
    high: float
    count: int
    mean_p: float | None
    share_yes: float | None
    interval: Interval | None


def reliability(p: Numbers, y: Numbers, bins: int = 10, *, equal_mass: bool = False) -> list[ReliabilityBin]:
    """Return the bins of the reliability diagram of P(yes) against the label (the binary form).

    Bins are of equal width; with `equal_mass` they hold about equally many cases, and ties stay together.
    """
    import numpy as np

    probabilities, labels = _arrays(p, y)
    edges = _edges(bins)
    if equal_mass and len(probabilities):
        inner = np.quantile(probabilities, edges[1:-1], method="inverted_cdf")
        edges = np.unique(np.r_[0.0, inner, 1.0])
    found = len(edges) - 1
    number = np.clip(np.searchsorted(edges, probabilities, side="left") - 1, 0, found - 1)
    counts = np.bincount(number, minlength=found).tolist()
    sums = np.bincount(number, weights=probabilities, minlength=found).tolist()
    hits = np.bincount(number[labels], minlength=found).tolist()
    return [
        ReliabilityBin(low, high, count, total / count, yes / count, wilson(yes, count))
        if count
        else ReliabilityBin(low, high, 0, None, None, None)
        for low, high, count, total, yes in zip(
            edges[:-1].tolist(), edges[1:].tolist(), counts, sums, hits, strict=True
        )
    ]


def _gaps(bins: Sequence[ReliabilityBin]) -> list[tuple[int, float]]:
    return [
        (b.count, abs(b.share_yes - b.mean_p))
        for b in bins
        if b.share_yes is not None and b.mean_p is not None
    ]


def ece(p: Numbers, y: Numbers, bins: int = 10) -> float | None:
    """Return the expected calibration error over equal-width bins; `None` without cases."""
    return ece_of(reliability(p, y, bins))


def ece_of(bins: Sequence[ReliabilityBin]) -> float | None:
    """Return the calibration error expected over `bins`; `None` where all of them are empty."""
    gaps = _gaps(bins)
    total = sum(count for count, _ in gaps)
    return sum(count * gap for count, gap in gaps) / total if total else None


def mce(p: Numbers, y: Numbers, bins: int = 10) -> float | None:
    """Return the maximum calibration error: the gap of the worst bin; `None` without cases."""
    return mce_of(reliability(p, y, bins))


def mce_of(bins: Sequence[ReliabilityBin]) -> float | None:
    """Return the gap of the worst of `bins`; `None` where all of them are empty."""
    return max((gap for _, gap in _gaps(bins)), default=None)


def brier(p: Numbers, y: Numbers) -> float | None:
    """Return the mean squared distance of p from the label, from 0 to 1 (binary form); `None` without cases."""
    probabilities, labels = _arrays(p, y)
    return float(((probabilities - labels) ** 2).mean()) if len(labels) else None


@dataclass(frozen=True, slots=True)
class BrierParts:
    """Murphy's parts of the Brier score over the distinct probabilities: reliability − resolution + uncertainty.

    `skill` is 1 − Brier / uncertainty, against always saying the base rate; `None` with one class only.
    """

    reliability: float
    resolution: float
    uncertainty: float
    skill: float | None

    def to_json(self) -> dict[str, float | None]:
        """Return the parts by name."""
        return {
            "reliability": self.reliability,
            "resolution": self.resolution,
            "uncertainty": self.uncertainty,
            "skill": self.skill,
        }


def brier_parts(p: Numbers, y: Numbers) -> BrierParts | None:
    """Return the parts of the Brier score; `None` without cases. Grouped by value, they add up exactly."""
    import numpy as np

    probabilities, labels = _arrays(p, y)
    if not len(labels):
        return None
    values, group = np.unique(probabilities, return_inverse=True)
    count = np.bincount(group)
    share = np.bincount(group, weights=labels.astype(float)) / count
    base = float(labels.mean())
    off = float((count * (values - share) ** 2).sum() / len(labels))
    resolution = float((count * (share - base) ** 2).sum() / len(labels))
    uncertainty = base * (1 - base)
    score = off - resolution + uncertainty
    return BrierParts(off, resolution, uncertainty, 1 - score / uncertainty if uncertainty else None)


def log_loss(p: Numbers, y: Numbers) -> float | None:
    """Return the mean negative log likelihood (natural logarithm), with p kept off 0 and 1; `None` without cases."""
    import numpy as np

    probabilities, labels = _arrays(p, y)
    if not len(labels):
        return None
    safe = np.clip(probabilities, LOG_FLOOR, 1 - LOG_FLOOR)
    return float(-np.where(labels, np.log(safe), np.log1p(-safe)).mean())


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of probabilities by label. `edges` has one entry more than the counts; bins are (low, high]."""

    edges: tuple[float, ...]
    yes: tuple[int, ...]
    no: tuple[int, ...]


def histogram(p: Numbers, y: Numbers, bins: int = 20) -> Histogram:
    """Return the histogram by label over equal-width bins, the first of which includes 0."""
    import numpy as np

    probabilities, labels = _arrays(p, y)
    edges = _edges(bins)
    number = np.clip(np.searchsorted(edges, probabilities, side="left") - 1, 0, bins - 1)
    yes = np.bincount(number[labels], minlength=bins)
    no = np.bincount(number[~labels], minlength=bins)
    return Histogram(tuple(edges.tolist()), tuple(yes.tolist()), tuple(no.tolist()))


@dataclass(frozen=True, slots=True)
class CostCurve:
    """The cost at every threshold that makes a difference, and where it is least.

    `thresholds` rise and end above the largest probability (flag nothing). `least` and `best` consider
    thresholds up to 1 only, since there are no others: a case with probability 1 is always flagged. `best` is
    the whole half-open stretch (from, to] of thresholds with the least cost; `suggested` lies in its middle,
    `ideal` is the threshold c_fp / (c_fp + c_fn) that would be best if the probabilities were calibrated.
    """

    thresholds: FloatArray
    cost: FloatArray
    least: float
    best: tuple[float, float]
    suggested: float
    ideal: float


def cost_curve(p: Numbers, y: Numbers, cost_fp: float = 1.0, cost_fn: float = 1.0) -> CostCurve | None:
    """Return the cost c_fp · FP + c_fn · FN against the threshold; `None` without cases.

    Raises:
        ValueError: where a cost is negative or both are 0.
    """
    return cost_of(threshold_curve(p, y), cost_fp, cost_fn)


def cost_of(curve: ThresholdCurve, cost_fp: float = 1.0, cost_fn: float = 1.0) -> CostCurve | None:
    """Return the cost at every threshold of `curve`; see `cost_curve`."""
    import numpy as np

    if cost_fp < 0 or cost_fn < 0 or cost_fp + cost_fn <= 0 or not math.isfinite(cost_fp + cost_fn):
        raise ValueError("costs must be numbers from 0 on, and not both 0")
    if not len(curve.thresholds):
        return None
    top = math.nextafter(float(curve.thresholds[-1]), math.inf)
    thresholds = np.r_[curve.thresholds, top]
    cost = np.r_[
        cost_fp * curve.fp + cost_fn * (curve.positives - curve.tp), cost_fn * float(curve.positives)
    ]
    possible = thresholds <= 1
    least = float(cost[possible].min())
    at = np.flatnonzero(possible & (cost <= least + 1e-12 * max(1.0, abs(least))))
    # Of separate stretches with the same cost take the longest.
    first, last = _longest_run(at.tolist(), thresholds.tolist())
    low = float(thresholds[first - 1]) if first else 0.0
    high = min(1.0, float(thresholds[last])) if last < len(thresholds) - 1 else 1.0
    high = max(high, low)
    middle = (low + high) / 2
    suggested = middle if middle > low else high
    return CostCurve(
        thresholds, cost.astype(np.float64), least, (low, high), suggested, cost_fp / (cost_fp + cost_fn)
    )


def _longest_run(indexes: list[int], thresholds: list[float]) -> tuple[int, int]:
    best, best_length = (indexes[0], indexes[0]), -1.0
    start = indexes[0]
    for here, following in zip(indexes, [*indexes[1:], -1], strict=True):
        if following == here + 1:
            continue
        low = thresholds[start - 1] if start else 0.0
        high = 1.0 if here == len(thresholds) - 1 else thresholds[here]
        if high - low > best_length:
            best, best_length = (start, here), high - low
        start = following
    return best


@dataclass(frozen=True, slots=True)
class Coverage:
    """What two thresholds decide alone: below `allow_below` passes, from `block_from` on is blocked.

    `coverage` is the share decided without a person, `accuracy` the share of right decisions among those
    (`None` when none is decided), `review` the number left to a person.
    """

    allow_below: float
    block_from: float
    coverage: float | None
    accuracy: float | None
    review: int
    missed: int
    false_alarms: int

    def words(self) -> str:
        """Return what the band does, in one sentence without a full stop."""
        band = f"review band {self.allow_below:g} to {self.block_from:g}"
        if self.coverage is None:
            return f"{band}: no labelled answers yet"
        right = "none is decided" if self.accuracy is None else f"{self.accuracy:.1%} of those right"
        alarms = "false alarm" if self.false_alarms == 1 else "false alarms"
        return (
            f"{band}: {self.review} to a person, {self.coverage:.1%} decided alone, {right};"
            f" {self.missed} missed, {self.false_alarms} {alarms}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON-like values; `from` and `to` are the ends of the band."""
        return {
            "from": self.allow_below,
            "to": self.block_from,
            "coverage": self.coverage,
            "accuracy": self.accuracy,
            "review": self.review,
            "missed": self.missed,
            "false_alarms": self.false_alarms,
        }


def coverage(p: Numbers, y: Numbers, allow_below: float, block_from: float) -> Coverage:
    """Return what a review band between two thresholds leaves to a person.

    Raises:
        ValueError: where the band is turned round.
    """
    if not allow_below <= block_from:
        raise ValueError("allow_below and block_from must be numbers, the first not above the second")
    probabilities, labels = _arrays(p, y)
    allowed, blocked = probabilities < allow_below, probabilities >= block_from
    decided = int(allowed.sum() + blocked.sum())
    missed, alarms = int((allowed & labels).sum()), int((blocked & ~labels).sum())
    return Coverage(
        allow_below,
        block_from,
        _ratio(decided, len(labels)),
        _ratio(decided - missed - alarms, decided),
        len(labels) - decided,
        missed,
        alarms,
    )


@dataclass(frozen=True, slots=True)
class Drift:
    """How the probabilities of the same cases moved from one model version to another.

    `flips` are the indexes of cases whose outcome at the threshold changed. `psi` is the population stability
    index over ten equal-width bins, `ks` the largest distance between the two distributions.
    """

    flips: tuple[int, ...]
    mean_shift: float
    psi: float
    ks: float


def drift(before: Numbers, after: Numbers, threshold: float) -> Drift | None:
    """Compare two probabilities per case, in the same order; `None` without cases."""
    import numpy as np

    old, new = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if old.shape != new.shape:
        raise ValueError("before and after must hold the same cases")
    if np.isnan(old).any() or np.isnan(new).any():
        raise ValueError("a case without a probability is left out of both")
    if not len(old):
        return None
    flips = np.flatnonzero((old >= threshold) != (new >= threshold))
    edges = np.linspace(0.0, 1.0, 11)
    shares = [np.maximum(np.histogram(values, edges)[0] / len(values), 1e-4) for values in (old, new)]
    psi = float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())
    points = np.unique(np.r_[old, new])
    distances = np.searchsorted(np.sort(old), points, "right") / len(old) - np.searchsorted(
        np.sort(new), points, "right"
    ) / len(new)
    return Drift(tuple(flips.tolist()), float((new - old).mean()), psi, float(np.abs(distances).max()))


def union_fpr(flagged: Sequence[Numbers], good: Numbers) -> float | None:
    """Return the share of good cases that at least one check flags; `None` without good cases.

    `flagged` has one sequence of booleans per check, over the same cases; `good` marks the cases that no
    check should reject. False alarms of several checks add up, which no single check shows.
    """
    import numpy as np

    mask = np.asarray(good, dtype=np.bool_)
    if not mask.any():
        return None
    hit = np.zeros(len(mask), dtype=np.bool_)
    for column in flagged:
        hit |= np.asarray(column, dtype=np.bool_)
    return float((hit & mask).sum() / mask.sum())
