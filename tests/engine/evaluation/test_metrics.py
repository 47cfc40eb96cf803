"""Every figure agrees with scikit-learn's on random data and with hand counts on the edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from workbench.engine.evaluation import metrics
from workbench.engine.evaluation.intervals import clopper_pearson, wilson

sk = pytest.importorskip("sklearn.metrics")


def data(kind: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(sum(map(ord, kind)))
    n = 400
    y = rng.random(n) < 0.3
    p = np.clip(0.5 * y + rng.normal(0.25, 0.25, n), 0, 1)
    if kind == "ties":
        p = np.round(p, 1)
    elif kind == "random":
        p = rng.random(n)
    elif kind == "perfect":
        p = np.where(y, 0.75 + 0.25 * rng.random(n), 0.5 * rng.random(n))
    elif kind == "reversed":
        p = 1 - p
    elif kind == "all-equal":
        p = np.full(n, 0.4)
    elif kind == "edges":
        p = np.where(rng.random(n) < 0.5, 0.0, 1.0)
    return p, y


KINDS = ("smooth", "ties", "random", "perfect", "reversed", "all-equal", "edges")


@pytest.mark.parametrize("kind", KINDS)
def test_the_areas_and_scores_are_scikit_learn_s(kind: str) -> None:
    p, y = data(kind)
    assert metrics.auc(p, y) == pytest.approx(sk.roc_auc_score(y, p), abs=1e-12)
    assert metrics.average_precision(p, y) == pytest.approx(sk.average_precision_score(y, p), abs=1e-12)
    assert metrics.brier(p, y) == pytest.approx(sk.brier_score_loss(y, p), abs=1e-12)
    safe = np.clip(p, metrics.LOG_FLOOR, 1 - metrics.LOG_FLOOR)
    assert metrics.log_loss(p, y) == pytest.approx(sk.log_loss(y, safe), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_curve_against_the_threshold_is_scikit_learn_s(kind: str) -> None:
    p, y = data(kind)
    curve = metrics.threshold_curve(p, y)
    precision, recall, thresholds = sk.precision_recall_curve(y, p)
    np.testing.assert_allclose(curve.thresholds, thresholds)
    np.testing.assert_allclose(curve.precision, precision[:-1])
    np.testing.assert_allclose(curve.recall, recall[:-1])
    fpr, tpr, _ = sk.roc_curve(y, p, drop_intermediate=False)
    points = metrics.roc_points(p, y)
    assert points is not None
    np.testing.assert_allclose(points[0], fpr)
    np.testing.assert_allclose(points[1], tpr)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.4, 0.5, 1.0])
def test_the_counts_at_a_threshold_are_scikit_learn_s(kind: str, threshold: float) -> None:
    p, y = data(kind)
    tn, fp, fn, tp = sk.confusion_matrix(y, p >= threshold, labels=[False, True]).ravel()
    c = metrics.confusion(p, y, threshold)
    assert (c.tp, c.fp, c.tn, c.fn) == (tp, fp, tn, fn)
    if tp + fp:
        assert c.precision == pytest.approx(sk.precision_score(y, p >= threshold))
    assert c.recall == pytest.approx(sk.recall_score(y, p >= threshold))
    assert c.f1 == pytest.approx(sk.f1_score(y, p >= threshold))


@pytest.mark.parametrize("kind", ["smooth", "random"])
def test_the_reliability_diagram_is_scikit_learn_s(kind: str) -> None:
    calibration = pytest.importorskip("sklearn.calibration")
    p, y = data(kind)
    p = p[(p * 10 % 1 != 0)]
    y = y[: len(p)]
    share, mean = calibration.calibration_curve(y, p, n_bins=10)
    bins = [b for b in metrics.reliability(p, y) if b.count]
    np.testing.assert_allclose([b.share_yes for b in bins], share)
    np.testing.assert_allclose([b.mean_p for b in bins], mean)


def test_a_case_exactly_at_the_threshold_is_flagged() -> None:
    assert metrics.confusion([0.5], [True], 0.5) == metrics.Confusion(1, 0, 0, 0)


def test_precision_is_undefined_when_nothing_is_flagged() -> None:
    c = metrics.confusion([0.1, 0.2], [True, False], 0.9)
    assert c.precision is None
    assert c.recall == 0
    assert c.f1 == 0


@pytest.mark.parametrize(("label", "defined"), [(True, "recall"), (False, "fpr")])
def test_with_one_class_only_the_other_side_s_figures_are_undefined(label: bool, defined: str) -> None:
    p, y = [0.1, 0.9], [label, label]
    c = metrics.confusion(p, y, 0.5)
    assert getattr(c, defined) == 0.5
    assert getattr(c, "fpr" if defined == "recall" else "recall") is None
    assert metrics.auc(p, y) is None
    assert metrics.roc_points(p, y) is None
    assert (metrics.average_precision(p, y) is None) is not label
    assert math.isnan(metrics.threshold_curve(p, y).f1[0]) is not label


def test_without_cases_nothing_is_defined() -> None:
    for figure in (
        metrics.auc,
        metrics.brier,
        metrics.log_loss,
        metrics.ece,
        metrics.mce,
        metrics.brier_parts,
    ):
        assert figure([], []) is None
    assert metrics.cost_curve([], []) is None
    assert len(metrics.threshold_curve([], []).thresholds) == 0
    assert metrics.confusion([], [], 0.5).accuracy is None


def test_one_case_is_enough_for_what_is_defined() -> None:
    assert metrics.brier([0.25], [True]) == pytest.approx(0.5625)
    assert metrics.ece([0.25], [True]) == pytest.approx(0.75)
    assert metrics.mce([0.25], [True]) == pytest.approx(0.75)


@pytest.mark.parametrize("p", [[1.1], [-0.1], [float("nan")], [None]], ids=str)
def test_something_that_is_no_probability_is_refused(p: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        metrics.brier(p, [True])


def test_calibration_errors_by_hand() -> None:
    p = [0.1, 0.1, 0.1, 0.1, 0.9, 0.9]
    y = [True, False, False, False, True, True]
    assert metrics.ece(p, y) == pytest.approx(4 / 6 * 0.15 + 2 / 6 * 0.1)
    assert metrics.mce(p, y) == pytest.approx(0.15)


def test_bins_are_open_below_and_closed_above_and_the_first_holds_zero() -> None:
    bins = metrics.reliability([0.0, 0.1, 0.2, 0.2000001, 1.0], [False] * 5)
    assert [b.count for b in bins] == [2, 1, 1, 0, 0, 0, 0, 0, 0, 1]
    assert (bins[3].mean_p, bins[3].interval) == (None, None)


def test_bins_of_equal_mass_hold_about_equally_many() -> None:
    p, y = data("smooth")
    inside = (p > 0) & (p < 1)
    counts = [b.count for b in metrics.reliability(p[inside], y[inside], 5, equal_mass=True)]
    assert len(counts) == 5
    assert max(counts) - min(counts) <= 2


@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_of_the_brier_score_add_up(kind: str) -> None:
    p, y = data(kind)
    parts = metrics.brier_parts(p, y)
    assert parts is not None
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx(metrics.brier(p, y))


def test_the_histogram_counts_by_label() -> None:
    h = metrics.histogram([0.0, 0.05, 0.06, 1.0], [True, False, True, True], 20)
    assert (h.yes[0], h.no[0], h.yes[1], h.yes[19]) == (1, 1, 1, 1)
    assert sum(h.yes) + sum(h.no) == 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("fp", "fn"), [(1, 1), (1, 10), (5, 1), (1, 0), (0, 1)])
def test_the_cheapest_threshold_is_the_cheapest_of_all(kind: str, fp: float, fn: float) -> None:
    p, y = data(kind)
    curve = metrics.cost_curve(p, y, fp, fn)
    assert curve is not None

    def cost(t: float) -> float:
        c = metrics.confusion(p, y, t)
        return fp * c.fp + fn * c.fn

    possible = [t for t in (*np.linspace(0, 1, 501), *curve.thresholds) if t <= 1]
    assert curve.least == pytest.approx(min(cost(t) for t in possible))
    low, high = curve.best
    assert low <= curve.suggested <= high <= 1
    assert cost(curve.suggested) == pytest.approx(curve.least)
    assert curve.ideal == pytest.approx(fp / (fp + fn))


def test_of_equal_costs_the_whole_stretch_is_given_and_its_middle_suggested() -> None:
    curve = metrics.cost_curve([0.2, 0.8], [False, True])
    assert curve is not None
    assert curve.best == (0.2, 0.8)
    assert curve.suggested == pytest.approx(0.5)
    assert curve.least == 0


@pytest.mark.parametrize("costs", [(-1, 1), (0, 0), (math.inf, 1), (math.nan, 1)])
def test_costs_that_make_no_sense_are_refused(costs: tuple[float, float]) -> None:
    with pytest.raises(ValueError):
        metrics.cost_curve([0.5], [True], *costs)


def test_a_review_band_leaves_the_middle_to_a_person() -> None:
    c = metrics.coverage([0.1, 0.4, 0.6, 0.9], [True, False, True, False], 0.3, 0.7)
    assert (c.coverage, c.accuracy, c.review, c.missed, c.false_alarms) == (0.5, 0.0, 2, 1, 1)
    with pytest.raises(ValueError):
        metrics.coverage([0.1], [True], 0.7, 0.3)


def test_drift_lists_the_cases_that_flip() -> None:
    d = metrics.drift([0.4, 0.6, 0.1], [0.6, 0.7, 0.1], 0.5)
    assert d is not None
    assert d.flips == (0,)
    assert d.mean_shift == pytest.approx(0.1)
    same = metrics.drift([0.4, 0.6], [0.4, 0.6], 0.5)
    assert same is not None
    assert (same.flips, same.psi, same.ks) == ((), 0.0, 0.0)


def test_the_distance_of_two_versions_is_scipy_s() -> None:
    stats = pytest.importorskip("scipy.stats")
    a, b = data("smooth")[0], data("ties")[0]
    d = metrics.drift(a, b, 0.5)
    assert d is not None
    assert d.ks == pytest.approx(stats.ks_2samp(a, b).statistic)


def test_false_alarms_of_several_checks_add_up() -> None:
    good = [True, True, True, False]
    assert metrics.union_fpr([[True, False, False, True], [False, True, False, True]], good) == pytest.approx(
        2 / 3
    )
    assert metrics.union_fpr([], [False]) is None


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (3, 10), (1, 1), (99, 100), (500, 1000), (1, 100_000)])
def test_intervals_are_those_of_scipy(k: int, n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    exact = stats.binomtest(k, n).proportion_ci(method="exact")
    assert clopper_pearson(k, n) == (pytest.approx(exact.low, abs=1e-9), pytest.approx(exact.high, abs=1e-9))
    score = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k, n) == (pytest.approx(score.low, abs=1e-9), pytest.approx(score.high, abs=1e-9))


def test_an_interval_of_nothing_is_undefined() -> None:
    assert wilson(0, 0) is None
    assert clopper_pearson(0, 0) is None


def test_a_million_cases_take_less_than_a_few_seconds() -> None:
    import time

    rng = np.random.default_rng(1)
    y = rng.random(1_000_000) < 0.1
    p = np.clip(rng.random(1_000_000) * 0.7 + 0.3 * y, 0, 1)
    started = time.process_time()
    metrics.auc(p, y)
    metrics.ece(p, y)
    metrics.average_precision(p, y)
    assert time.process_time() - started < 10


def test_a_cost_that_no_threshold_up_to_one_can_have_is_not_promised() -> None:
    """Good cases with probability 1 are flagged at every threshold there is."""
    curve = metrics.cost_curve([1.0, 1.0, 1.0, 0.2], [False, False, True, False])
    assert curve is not None
    assert curve.least == 2
    assert curve.best == (0.2, 1.0)
    assert 0.2 < curve.suggested <= 1
    assert curve.cost.tolist() == [3, 2, 1]


@pytest.mark.parametrize("bins", [6, 7, 12, 30, 49])
def test_a_probability_on_an_edge_belongs_to_the_bin_below(bins: int) -> None:
    p = [i / bins for i in range(1, bins + 1)]
    assert [b.count for b in metrics.reliability(p, [True] * bins, bins)] == [1] * bins
    assert metrics.histogram(p, [True] * bins, bins).yes == (1,) * bins


@pytest.mark.parametrize("labels", [[None], ["false"], ["no"], [2], [float("nan")]])
def test_what_is_no_label_is_never_taken_for_one(labels: Any) -> None:
    with pytest.raises(ValueError, match="y must hold booleans"):
        metrics.brier([0.5], labels)


def test_labels_may_be_zeros_and_ones() -> None:
    assert metrics.brier([0.5, 1.0], [0, 1]) == metrics.brier([0.5, 1.0], [False, True])


@pytest.mark.parametrize("band", [(math.nan, 0.5), (0.5, math.nan), (0.6, 0.5)])
def test_a_review_band_needs_two_numbers_in_order(band: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="allow_below and block_from"):
        metrics.coverage([0.5], [True], *band)


def test_a_case_without_a_probability_has_no_drift() -> None:
    with pytest.raises(ValueError, match="without a probability"):
        metrics.drift([0.5, None], [0.5, 0.6], 0.5)
