"""Suggested thresholds keep what they promise, and say so when there are too few cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine.evaluation import metrics, suggest
from workbench.engine.evaluation.suggestions import (
    conformal_fpr_threshold,
    conformal_needed,
    conformal_recall_threshold,
    cost_threshold,
    fpr_threshold,
    recall_threshold,
)

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]), st.booleans()), min_size=1, max_size=60
)


def sample(n: int = 300, seed: int = 5) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    return np.clip(rng.normal(0.3, 0.15, n) + 0.35 * y, 0, 1), y


@given(ROWS, st.sampled_from([0.5, 0.9, 0.95, 1.0]))
def test_the_recall_rule_gives_the_highest_threshold_that_reaches_it(rows: Any, target: float) -> None:
    p, y = [r[0] for r in rows], [r[1] for r in rows]
    t = recall_threshold(p, y, target)
    if not any(y):
        assert t is None
        return
    assert t is not None
    recall = metrics.confusion(p, y, t).recall
    assert recall is not None
    assert recall >= target - 1e-12
    higher = [v for v in p if v > t]
    if higher:
        above = metrics.confusion(p, y, min(higher)).recall
        assert above is not None
        assert above < target


@given(ROWS, st.sampled_from([0.01, 0.1, 0.3]))
def test_the_false_alarm_rule_gives_the_lowest_threshold_that_keeps_it(rows: Any, target: float) -> None:
    p, y = [r[0] for r in rows], [r[1] for r in rows]
    t = fpr_threshold(p, y, target)
    if all(y):
        assert t is None
        return
    if t is None:
        fpr = metrics.confusion(p, y, 1.0).fpr
        assert fpr is not None
        assert fpr > target
        return
    fpr = metrics.confusion(p, y, t).fpr
    assert fpr is not None
    assert fpr <= target + 1e-12
    lower = [v for v in p if v < t]
    if lower:
        below = metrics.confusion(p, y, max(lower)).fpr
        assert below is not None
        assert below > target


def test_rates_are_counted_in_decimals() -> None:
    p, y = list(np.linspace(0.01, 0.2, 20)), [True] * 20
    assert recall_threshold(p, y, 0.95) == pytest.approx(0.02)
    assert recall_threshold([*p], y, 0.9) == pytest.approx(0.03)


@pytest.mark.parametrize(("alpha", "needed"), [(0.05, 19), (0.01, 99), (0.1, 9), (0.5, 1), (0.2, 4)])
def test_the_bound_says_how_many_cases_it_needs(alpha: float, needed: int) -> None:
    assert conformal_needed(alpha) == needed
    p = list(np.linspace(0.2, 0.9, needed))
    assert conformal_recall_threshold(p, [True] * needed, alpha) == pytest.approx(0.2)
    assert conformal_fpr_threshold(p, [False] * needed, alpha) == math.nextafter(p[-1], 2)
    assert conformal_recall_threshold(p[1:], [True] * (needed - 1), alpha) is None
    lacking = suggest(p[1:] or [0.5], [True] * (needed - 1) or [False], "conformal_recall", alpha)
    assert lacking.threshold is None
    assert lacking.needed == needed
    assert f"needs {needed} labelled yes" in lacking.reason


def test_the_conformal_threshold_is_the_k_th_positive() -> None:
    p = [0.9, 0.1, 0.5, 0.3, 0.7]
    assert conformal_recall_threshold(p, [True] * 5, 0.34) == 0.3


def test_the_bound_on_misses_holds_on_new_cases() -> None:
    rng = np.random.default_rng(11)
    missed = []
    for _ in range(400):
        scores = rng.beta(4, 2, 40)
        t = conformal_recall_threshold(scores[:39], [True] * 39, 0.1)
        assert t is not None
        missed.append(scores[39] < t)
    assert np.mean(missed) <= 0.1 + 3 * math.sqrt(0.09 / 400)


def test_the_bound_on_false_alarms_holds_on_new_cases() -> None:
    rng = np.random.default_rng(12)
    alarms = []
    for _ in range(400):
        scores = rng.beta(2, 4, 40)
        t = conformal_fpr_threshold(scores[:39], [False] * 39, 0.1)
        assert t is not None
        alarms.append(scores[39] >= t)
    assert np.mean(alarms) <= 0.1 + 3 * math.sqrt(0.09 / 400)


def test_no_threshold_is_invented_where_good_cases_are_at_certainty() -> None:
    assert fpr_threshold([1.0, 1.0], [False, True], 0.1) is None
    suggestion = suggest([1.0] * 4, [True, True, False, False], "fpr", 0.1)
    assert suggestion.threshold is None
    assert "good cases have probability 1" in suggestion.reason


def test_the_cost_rule_needs_both_labels() -> None:
    assert cost_threshold([0.1], [True], 1, 1) is None
    assert cost_threshold([0.2, 0.8], [False, True], 1, 1) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("kind", "target"),
    [("recall", 0.9), ("fpr", 0.1), ("cost", 3.0), ("conformal_recall", 0.1), ("conformal_fpr", 0.1)],
)
def test_figures_come_from_cases_left_out_and_are_the_same_twice(kind: Any, target: float) -> None:
    p, y = sample()
    first, second = suggest(p, y, kind, target), suggest(p, y, kind, target)
    assert first == second
    assert first.threshold is not None
    assert 0 <= first.threshold <= 1
    out = first.out_of_bag
    assert out is not None
    assert out.rounds == 200
    assert out.recall is not None
    assert out.recall_range is not None
    assert out.recall_range[0] <= out.recall <= out.recall_range[1]
    assert out.threshold is not None
    assert out.threshold[0] <= first.threshold <= out.threshold[1] or kind == "cost"


def test_on_noise_the_figures_left_out_are_worse_than_those_chosen_on() -> None:
    rng = np.random.default_rng(2)
    p, y = rng.random(40), rng.random(40) < 0.5
    suggestion = suggest(p, y, "recall", 1.0)
    assert suggestion.threshold is not None
    assert metrics.confusion(p, y, suggestion.threshold).recall == 1.0
    assert suggestion.out_of_bag is not None
    assert suggestion.out_of_bag.recall is not None
    assert suggestion.out_of_bag.recall < 1.0


@pytest.mark.parametrize(
    ("p", "y"),
    [([], []), ([0.5], [True]), ([0.5, 0.6], [True, True]), ([0.1, 0.9, 0.5], [False, True, True])],
)
@pytest.mark.parametrize("kind", ["recall", "fpr", "cost"])
def test_not_enough_cases_is_an_answer(p: Any, y: Any, kind: Any) -> None:
    suggestion = suggest(p, y, kind, 0.5)
    assert suggestion.threshold is None
    assert "not enough cases" in suggestion.reason


def test_few_positives_are_warned_about() -> None:
    p, y = sample(40)
    assert "the figures are rough" in (suggest(p, y, "recall", 0.9).warning or "")
    assert suggest(*sample(300), "recall", 0.9).warning is None


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("recall", 0.0),
        ("recall", 1.1),
        ("fpr", 1.0),
        ("fpr", -0.1),
        ("cost", 0.0),
        ("cost", math.inf),
        ("conformal_recall", math.nan),
    ],
)
def test_targets_out_of_range_are_refused(kind: Any, target: float) -> None:
    with pytest.raises(ValueError):
        suggest(*sample(), kind, target)


@settings(max_examples=25)
@given(ROWS)
def test_any_cases_give_a_suggestion_or_a_reason(rows: Any) -> None:
    p, y = [r[0] for r in rows], [r[1] for r in rows]
    for kind, target in (("recall", 0.9), ("fpr", 0.1), ("cost", 2.0), ("conformal_recall", 0.2)):
        suggestion = suggest(p, y, kind, target, rounds=5)  # type: ignore[arg-type]
        assert suggestion.reason
        assert suggestion.threshold is None or 0 <= suggestion.threshold <= 1


@pytest.mark.parametrize(
    ("kind", "target", "words"),
    [
        ("recall", 0.995, "at least 99.5% of"),
        ("fpr", 0.025, "at most 2.5% of"),
        ("conformal_recall", 0.001, "at most 0.1%"),
        ("recall", 0.95, "at least 95% of"),
    ],
)
def test_a_reason_does_not_round_what_was_asked_for(kind: Any, target: float, words: str) -> None:
    p, y = [i / 2000 for i in range(2000)], [i % 2 == 0 for i in range(2000)]
    assert words in suggest(p, y, kind, target, rounds=1).reason
