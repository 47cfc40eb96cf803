"""Proposes thresholds from labelled cases, with figures from cases that a proposal was not chosen on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from workbench.engine.evaluation.intervals import FEW, Interval
from workbench.engine.evaluation.metrics import Numbers, _arrays, cost_curve, threshold_curve

Kind = Literal["recall", "fpr", "cost", "conformal_recall", "conformal_fpr"]

ROUNDS = 200
"""Bootstrap rounds behind the figures of a suggestion."""
TARGETS: Mapping[Kind, float] = {
    "recall": 0.95,
    "fpr": 0.05,
    "cost": 2.0,
    "conformal_recall": 0.05,
    "conformal_fpr": 0.05,
}
"""What each rule aims at unless somebody says otherwise, in the window, on the command line and in reports.

Rates for four of them; `cost` is what a miss costs in false alarms."""
SEED = 20_240_607
"""Fixed, so that the same cases give the same figures."""


@dataclass(frozen=True, slots=True)
class OutOfBag:
    """Figures of a rule on cases that were left out when it chose its threshold (bootstrap).

    Each is a mean over the rounds with the range from the 2.5th to the 97.5th percentile, `None` where it
    was defined in no round. `threshold` is the range of the thresholds chosen. `rounds` counts the rounds in
    which the rule had an answer.
    """

    recall: float | None
    recall_range: Interval | None
    fpr: float | None
    fpr_range: Interval | None
    precision: float | None
    precision_range: Interval | None
    threshold: Interval | None
    rounds: int

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON-like values."""
        return {
            "recall": self.recall,
            "recall_range": self.recall_range,
            "fpr": self.fpr,
            "fpr_range": self.fpr_range,
            "precision": self.precision,
            "precision_range": self.precision_range,
            "threshold_range": self.threshold,
            "rounds": self.rounds,
        }


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A proposed threshold and what stands behind it.

    `threshold` is `None` where the cases do not suffice; `reason` then says what is lacking and `needed` how
    many cases of the side concerned it takes. `target` is the rate asked for (or the cost ratio c_fn / c_fp).
    `stretch` is the range of thresholds that do equally well on these cases.
    """

    kind: Kind
    target: float
    threshold: float | None
    reason: str
    needed: int | None = None
    stretch: Interval | None = None
    out_of_bag: OutOfBag | None = None
    warning: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the suggestion as JSON-like values."""
        return {
            "kind": self.kind,
            "target": self.target,
            "threshold": self.threshold,
            "reason": self.reason,
            "needed": self.needed,
            "stretch": self.stretch,
            "out_of_bag": self.out_of_bag.to_json() if self.out_of_bag is not None else None,
            "warning": self.warning,
        }


Rule = Callable[[Any, Any], float | None]


def recall_threshold(p: Numbers, y: Numbers, target: float) -> float | None:
    """Return the highest threshold whose recall on these cases reaches `target`; `None` without positives."""
    curve = threshold_curve(p, y)
    if not curve.positives:
        return None
    # The counts fall as the threshold rises, so that those which reach the target come first.
    reached = int((curve.tp >= _count(target, curve.positives, math.ceil)).sum())
    return float(curve.thresholds[reached - 1]) if reached else None


def fpr_threshold(p: Numbers, y: Numbers, target: float) -> float | None:
    """Return the lowest threshold whose false-positive rate on these cases is at most `target`.

    `None` without negatives, or where even 1 is too low since good cases have probability 1.
    """
    curve = threshold_curve(p, y)
    if not curve.negatives:
        return None
    too_many = int((curve.fp > _count(target, curve.negatives, math.floor)).sum())
    if too_many < len(curve.thresholds):
        return float(curve.thresholds[too_many])
    above = math.nextafter(float(curve.thresholds[-1]), math.inf)
    return above if above <= 1 else None


def cost_threshold(p: Numbers, y: Numbers, cost_fp: float, cost_fn: float) -> float | None:
    """Return the middle of the thresholds with the least cost; `None` unless both labels occur."""
    _, labels = _arrays(p, y)
    if not labels.any() or labels.all():
        return None
    curve = cost_curve(p, y, cost_fp, cost_fn)
    return None if curve is None else curve.suggested


def conformal_recall_threshold(p: Numbers, y: Numbers, alpha: float) -> float | None:
    """Return the threshold that misses a new positive with probability at most `alpha`.

    Holds for cases that come from the same source as the labelled ones (exchangeable). With n positives
    sorted ascending it is the k-th, k = floor(alpha · (n + 1)); `None` where k is 0.
    """
    import numpy as np

    probabilities, labels = _arrays(p, y)
    positives = np.sort(probabilities[labels])
    k = _conformal_rank(alpha, len(positives))
    return float(positives[k - 1]) if k else None


def conformal_fpr_threshold(p: Numbers, y: Numbers, alpha: float) -> float | None:
    """Return the threshold that flags a new negative with probability at most `alpha`; mirrors the recall's.

    A case is flagged from the threshold on, so that it is the next number above the k-th largest negative.
    """
    import numpy as np

    probabilities, labels = _arrays(p, y)
    negatives = np.sort(probabilities[~labels])[::-1]
    k = _conformal_rank(alpha, len(negatives))
    if not k:
        return None
    above = math.nextafter(float(negatives[k - 1]), math.inf)
    return above if above <= 1 else None


def conformal_needed(alpha: float) -> int:
    """Return how many cases of a side the conformal bound needs: 19 for 0.05, 99 for 0.01."""
    return max(1, math.ceil(1 / Decimal(str(alpha)) - 1))


def _conformal_rank(alpha: float, n: int) -> int:
    # In decimal arithmetic: 0.05 * 20 must be 1, not a little less.
    return min(n, math.floor(Decimal(str(alpha)) * (n + 1)))


def _count(share: float, total: int, rounded: Callable[[Decimal], int]) -> int:
    return rounded(Decimal(str(share)) * total)


def suggest(
    p: Numbers, y: Numbers, kind: Kind, target: float, *, rounds: int = ROUNDS, confidence_needed: int = 2
) -> Suggestion:
    """Return a threshold by one rule, with out-of-bag figures, or say why there is none.

    `target`: the recall to reach, the false-positive rate not to exceed, the cost of a miss in false
    alarms, or the conformal bound on misses or false alarms. `confidence_needed` is the least number of
    cases of each side for the rules that compare both.

    Raises:
        ValueError: where `target` is out of range.
    """
    _check_target(kind, target)
    probabilities, labels = _arrays(p, y)
    positives, negatives = int(labels.sum()), int((~labels).sum())
    lacking = _lacking(kind, target, positives, negatives, confidence_needed)
    if lacking is not None:
        return lacking
    rule = _rule(kind, target)
    threshold = rule(probabilities, labels)
    if threshold is None:
        return Suggestion(
            kind, target, None, "no threshold up to 1 keeps the target: good cases have probability 1"
        )
    stretch = None
    if kind == "cost":
        curve = cost_curve(probabilities, labels, 1.0, target)
        stretch = curve.best if curve is not None else None
    side, name = (negatives, "no") if kind in ("fpr", "conformal_fpr") else (positives, "yes")
    few = few_words({name: side}) if side < FEW else None
    figures = out_of_bag(probabilities, labels, rule, rounds)
    # All digits of the target: a bound of 0.1 % must not read as one of 0 %.
    reason = _REASONS[kind].format(target=target, share=f"{target * 100:.10g}%")
    return Suggestion(kind, target, threshold, reason, None, stretch, figures, few)


def few_words(few: Mapping[str, int]) -> str:
    """Return the warning that a label, or both, has few cases: their number by label."""
    (label, count), *others = few.items()
    cases = "case is" if count == 1 else "cases are"
    more = "".join(f" and {number} {other}" for other, number in others)
    return f"only {count} {cases} labelled {label}{more}: the figures are rough"


_REASONS: dict[Kind, str] = {
    "recall": "the highest threshold that catches at least {share} of the labelled yes cases",
    "fpr": "the lowest threshold that flags at most {share} of the labelled no cases",
    "cost": "the middle of the thresholds with the least cost, a miss costing {target:g} false alarms",
    "conformal_recall": "misses a new yes case with a probability of at most {share}",
    "conformal_fpr": "flags a new no case with a probability of at most {share}",
}


def _rule(kind: Kind, target: float) -> Rule:
    rules: dict[Kind, Rule] = {
        "recall": lambda p, y: recall_threshold(p, y, target),
        "fpr": lambda p, y: fpr_threshold(p, y, target),
        "cost": lambda p, y: cost_threshold(p, y, 1.0, target),
        "conformal_recall": lambda p, y: conformal_recall_threshold(p, y, target),
        "conformal_fpr": lambda p, y: conformal_fpr_threshold(p, y, target),
    }
    return rules[kind]


def _check_target(kind: Kind, target: float) -> None:
    if not math.isfinite(target) or target <= 0:
        raise ValueError(f"the target must be above 0, but is {target}")
    if kind == "recall" and target > 1:
        raise ValueError(f"the recall to reach must be at most 1, but is {target}")
    if kind in ("fpr", "conformal_recall", "conformal_fpr") and target >= 1:
        raise ValueError(f"the rate not to exceed must be below 1, but is {target}")


def _lacking(kind: Kind, target: float, positives: int, negatives: int, least: int) -> Suggestion | None:
    """Return the suggestion that says what is lacking, or `None` where the cases suffice."""
    if kind.startswith("conformal"):
        needed = conformal_needed(target)
        have, name = (positives, "yes") if kind == "conformal_recall" else (negatives, "no")
        if have >= needed:
            return None
        return Suggestion(
            kind,
            target,
            None,
            f"not enough cases: the bound needs {needed} labelled {name}, there are {have}",
            needed,
        )
    if positives >= least and negatives >= least:
        return None
    return Suggestion(
        kind,
        target,
        None,
        f"not enough cases: {least} of each label are needed, there are {positives} yes and {negatives} no",
        least,
    )


def out_of_bag(p: Numbers, y: Numbers, rule: Rule, rounds: int = ROUNDS) -> OutOfBag:
    """Estimate what a rule is worth on new cases.

    In every round the rule chooses on a sample drawn with replacement and is judged on the cases left out.
    """
    import numpy as np

    probabilities, labels = _arrays(p, y)
    rng = np.random.default_rng(SEED)
    n = len(labels)
    thresholds, recalls, fprs, precisions = [], [], [], []
    for _ in range(rounds if n else 0):
        drawn = rng.integers(0, n, n)
        left = np.ones(n, dtype=np.bool_)
        left[drawn] = False
        if not left.any():
            continue
        threshold = rule(probabilities[drawn], labels[drawn])
        if threshold is None:
            continue
        thresholds.append(threshold)
        flagged, yes = probabilities[left] >= threshold, labels[left]
        tp, positives = int((flagged & yes).sum()), int(yes.sum())
        negatives, hits = len(yes) - positives, int(flagged.sum())
        if positives:
            recalls.append(tp / positives)
        if negatives:
            fprs.append((hits - tp) / negatives)
        if hits:
            precisions.append(tp / hits)
    recall, recall_range = _summary(recalls)
    fpr, fpr_range = _summary(fprs)
    precision, precision_range = _summary(precisions)
    return OutOfBag(
        recall,
        recall_range,
        fpr,
        fpr_range,
        precision,
        precision_range,
        _summary(thresholds)[1],
        len(thresholds),
    )


def _summary(values: list[float]) -> tuple[float | None, Interval | None]:
    if not values:
        return None, None
    import numpy as np

    low, high = np.percentile(values, [2.5, 97.5])
    return float(np.mean(values)), (float(low), float(high))
