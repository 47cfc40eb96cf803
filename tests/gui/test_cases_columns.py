"""Cases in columns: what counts, what is stale, and figures that a binary search gives as the metrics do."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from workbench.engine.evaluation import metrics
from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.rows import ResultRow
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings
from workbench.gui.models.cases_columns import CaseColumns
from workbench.gui.models.cases_edit import CasesEdit
from workbench.gui.models.cases_filter import CaseFilter, case_mask, cell_of
from workbench.gui.models.figures_check import CheckFigures, thinned

A, B = CheckSettings("a", "Is it a?"), CheckSettings("b", "Is it b?", 0.8)
SETTINGS = GuardrailSettings(0.5, (A, B))


def row(case: str, check: str, p: float | None, status: str | None = None) -> ResultRow:
    """Return a result row as the engine stores it."""
    status = status or ("rejected" if (p or 0) >= 0.5 else "passed")
    return ResultRow(case, check, p, status, None, 0.5, "m@1", 4.0)  # type: ignore[arg-type]


def filled() -> CaseColumns:
    """Return four cases: a bad one, a good one, an unlabelled one, and one that was refused."""
    cases = [
        Case("1", "one", {"a": True, "b": False}),
        Case("2", "two", {"a": False, "b": False}),
        Case("3", "three"),
        Case("4", "four", {"a": True}),
    ]
    columns = CaseColumns(cases, SETTINGS.checks)
    rows = [row(str(k), name, 0.9 if k == 1 else 0.2) for k in (1, 2, 3) for name in "ab"]
    rows += [row("4", "a", None, "refused"), row("4", "b", 0.7)]
    columns.take(rows, lambda *_: None)
    return columns


@pytest.mark.parametrize(
    ("probability", "label", "cell"),
    [
        (0.5, True, "tp"),
        (0.49, True, "fn"),
        (0.5, False, "fp"),
        (0.49, False, "tn"),
        (None, True, None),
        (0.5, None, None),
    ],
)
def test_cells_take_a_probability_at_the_threshold_as_rejected_and_never_guess(
    probability: float | None, label: bool | None, cell: str | None
) -> None:
    assert cell_of(probability, label, 0.5) == cell


def test_a_refusal_is_counted_and_never_becomes_a_number() -> None:
    found = filled().columns["a"].figures()
    assert len(found) == 2
    assert found.refused == 1
    assert found.confusion(0.0) == metrics.Confusion(1, 1, 0, 0)


def test_all_checks_together_count_a_refusal_as_rejected() -> None:
    both = filled().union(SETTINGS)
    assert (both.good, both.blocked, both.bad, both.caught) == (1, 0, 2, 2)
    stricter = filled().union(SETTINGS, {"a": 0.1})
    assert (stricter.good, stricter.blocked) == (1, 1)


def test_a_stale_answer_is_shown_but_takes_no_part_in_any_figure() -> None:
    columns = filled()
    columns.take([row("1", "a", 0.9)], lambda *_: None)
    columns.columns["a"].put(0, row("1", "a", 0.9), "the model changed")
    column = columns.columns["a"]
    assert column.reason(0) == "the model changed"
    assert len(column.figures()) == 1
    assert columns.stale() == 1
    assert columns.union(SETTINGS).bad == 1


def test_an_edited_label_keeps_the_answer_and_an_edited_text_makes_it_stale() -> None:
    columns = filled()
    cases = list(columns.cases)
    cases[1] = replace(cases[1], labels={"a": True})
    columns = columns.replaced(cases, columns.places)
    assert columns.columns["a"].figures().positives == 2
    cases[1] = replace(cases[1], text="other words")
    columns = columns.replaced(cases, columns.places)
    assert columns.columns["a"].reason(1)
    assert columns.columns["a"].figures().positives == 1


def test_answers_follow_their_cases_when_some_are_deleted_and_added() -> None:
    columns = filled()
    cases = [Case("9", "new"), *columns.cases[1:]]
    fresh = columns.replaced(cases, [0, 1, 2, 3])
    assert fresh is not columns
    assert [float(p) for p in fresh.columns["b"].p[1:]] == [0.2, 0.2, 0.7]
    assert fresh.columns["b"].state[0] == 0


def test_cases_with_one_id_keep_their_own_answers() -> None:
    cases = [Case("x", "one", {"a": True}), Case("x", "two", {"a": False})]
    columns = CaseColumns(cases, (A,))
    texts = {0.9: "one", 0.1: "two"}
    rows = [row("x", "a", 0.9), row("x", "a", 0.1)]
    columns.take(rows, lambda r, case, _check: None if texts[r.probability] == case.text else "another text")  # type: ignore[index]
    assert [float(p) for p in columns.columns["a"].p] == [0.9, 0.1]
    assert columns.stale() == 0


def random_figures(seed: int, n: int = 400) -> CheckFigures:
    """Return figures over random probabilities with many ties."""
    chance = random.Random(seed)
    p = [round(chance.random(), 2) for _ in range(n)]
    return CheckFigures(p, [chance.random() < each for each in p])


@pytest.mark.parametrize("seed", range(5))
def test_counts_by_binary_search_are_those_of_the_metrics_at_every_threshold(seed: int) -> None:
    found = random_figures(seed)
    for k in range(101):
        assert found.confusion(k / 100) == metrics.confusion(found.p, found.y, k / 100)
        low = k / 200
        assert found.coverage(low, k / 100) == metrics.coverage(found.p, found.y, low, k / 100)


@pytest.mark.parametrize(
    ("p", "y"),
    [([], []), ([0.5], [True]), ([0.5, 0.5], [True, False]), ([0.0, 1.0], [False, True])],
    ids=["none", "one", "all equal", "ends"],
)
def test_figures_of_very_few_cases_are_defined_or_none_and_never_raise(p: list[float], y: list[bool]) -> None:
    found = CheckFigures(p, y)
    for threshold in (0.0, 0.5, 1.0):
        assert found.confusion(threshold) == metrics.confusion(p, y, threshold)
    assert found.auc == metrics.auc(p, y)
    assert (found.roc is None) == (len(set(y)) < 2)
    assert len(found.reliability()) == (10 if p else 0)
    assert (found.curve is None) == (not p)
    assert found.band_curve(0.5)[0] == sorted(found.band_curve(0.5)[0])


def test_a_thinned_curve_keeps_both_ends_and_is_never_off_by_more_than_a_column() -> None:
    import numpy as np

    x = np.sort(np.random.default_rng(3).random(20_000))
    keep = thinned(x, 100)
    assert len(keep) <= 201
    assert keep[0] == 0
    assert keep[-1] == len(x) - 1
    assert np.diff(x[keep]).max() <= 0.0101


class Holder:
    """Stands where a project stands: it holds cases."""

    def __init__(self, cases: list[Case]) -> None:
        self.cases = tuple(cases)

    def snapshot(self) -> Holder:
        return self

    def set_cases(self, cases: list[Case]) -> None:
        self.cases = tuple(cases)


@pytest.mark.parametrize("seed", range(30))
def test_an_edit_of_cases_keeps_only_what_it_changes_and_goes_both_ways(seed: int) -> None:
    chance = random.Random(seed)
    before = [Case(f"c{k}", f"text {k}") for k in range(200)]
    after = list(before)
    kind = ("change", "add", "delete", "insert", "none")[seed % 5]
    places = chance.sample(range(200), 3)
    if kind == "change":
        for place in places:
            after[place] = replace(after[place], note="seen")
    elif kind == "add":
        after.append(Case("new", "new"))
    elif kind == "insert":
        after[places[0] : places[0]] = [before[places[0]]] * 2
    elif kind == "delete":
        del after[places[0]]
    step = CasesEdit.between(before, after)
    holder = Holder(before)
    step.do(holder)  # type: ignore[arg-type]
    assert holder.cases == tuple(after)
    step.undo(holder)  # type: ignore[arg-type]
    assert holder.cases == tuple(before)
    assert len(step.old) + len(step.new) + len(step.gone) + len(step.come) <= 6


def test_columns_follow_few_edits_of_the_cases_and_many() -> None:
    cases = tuple(
        Case(f"c{k}", f"text {k}", {"a": k % 2 == 0}, stage="output" if k % 5 == 0 else "input")
        for k in range(50)
    )
    columns = CaseColumns((), (A,)).following(cases, "input")
    assert len(columns) == 40
    columns.take([row(case.id, "a", 0.9) for case in cases], lambda *_: None)
    edited = list(cases)
    edited[7] = replace(edited[7], labels={"a": True})
    edited[10] = replace(edited[10], labels={})  # of the other stage
    same = columns.following(tuple(edited), "input")
    assert same is columns
    assert same.cases == [case for case in edited if case.stage == "input"]
    assert same.columns["a"].figures().positives == sum(
        bool(case.labels.get("a")) for case in edited if case.stage == "input"
    )
    moved = [*edited[:7], replace(edited[7], stage="output"), *edited[8:]]
    fresh = same.following(tuple(moved), "input")
    assert len(fresh) == 39
    assert fresh.columns["a"].figures().positives == same.columns["a"].figures().positives - 1


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (CaseFilter("tp"), [0]),
        (CaseFilter("tn"), [1]),
        (CaseFilter("refused"), [3]),
        (CaseFilter("unlabelled"), [2]),
        (CaseFilter("", 0.1, 0.2), [1]),
        (CaseFilter("", 0.85, 0.9, True), [0]),
        (CaseFilter("", 0.85, 0.9, False), []),
        (CaseFilter(), [0, 1, 2, 3]),
    ],
)
def test_a_filter_shows_what_it_names(wanted: CaseFilter, shown: list[int]) -> None:
    mask = case_mask(filled().columns["a"], wanted, 0.5)
    assert [k for k, each in enumerate(mask) if each] == shown


def test_the_brier_skill_is_that_of_murphy_s_parts() -> None:
    chance = np.random.default_rng(4)
    p = chance.random(60).round(1)
    y = chance.random(60) < p
    parts = metrics.brier_parts(p, y)
    assert parts is not None
    assert CheckFigures(p, y).skill == pytest.approx(parts.skill)
    assert CheckFigures([0.2, 0.4], [True, True]).skill is None
    assert CheckFigures([], []).skill is None
