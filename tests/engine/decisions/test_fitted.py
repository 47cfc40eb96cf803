"""Fitted weights: the optimum of a known problem, and stale when anything they belong to changes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.engine.decisions import YesNoQuestion
from workbench.engine.decisions.fitted import (
    PENALTY,
    FittedCheck,
    FittedChecks,
    fit_logistic,
    folds,
    hash_cases,
    previous_path,
    read_fit,
    restore_fit,
    stale_fits,
)

Q = YesNoQuestion("Rude?", "insults", "kind words")
ROWS = [("you fool", True), ("thank you", False)]
CHECK = FittedCheck(Q, (0.5, -0.25, 1.0), 0.125, hash_cases(ROWS), 1, 1, {"auc": 0.9})
FITTED = FittedChecks("m@1", {"rude": CHECK})


@pytest.mark.parametrize("separable", [False, True])
def test_the_fit_is_the_optimum_that_scikit_learn_finds(separable: bool) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 8))
    y = (x[:, 0] + (0 if separable else 1) * rng.normal(size=60) > 0).astype(float)
    shares = rng.uniform(0.5, 2, 60)
    weights, intercept = fit_logistic(x, y, shares)
    reference = linear_model.LogisticRegression(C=PENALTY, max_iter=100_000, tol=1e-10).fit(x, y, shares)
    np.testing.assert_allclose(weights, reference.coef_[0], rtol=1e-3, atol=1e-4)
    assert intercept == pytest.approx(reference.intercept_[0], rel=1e-3, abs=1e-4)


def test_more_columns_than_rows_are_no_problem() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(4, 385)), np.array([1.0, 1.0, 0.0, 0.0])
    weights, intercept = fit_logistic(x, y)
    assert ((x @ weights + intercept > 0) == (y > 0)).all()


def test_the_json_form_reads_back() -> None:
    assert FittedChecks.from_json(FITTED.to_json()) == FITTED


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "the file has no `format`"),
        ({"format": 2}, "the fitted checks have format 2, this program reads 1"),
        ({"format": 1}, "the file has no `model` and no `checks`"),
        ([], "the file is no JSON object"),
        (None, "the file is no JSON object"),
        ({"format": 1, "model": "m", "checks": []}, "`checks` is no JSON object"),
        ({"format": 1, "model": "m", "checks": {"a": 1}}, "the check 'a' is no JSON object"),
        (
            {"format": 1, "model": "m", "checks": {"a": {"question": "q", "weights": [1], "cases": "c"}}},
            "the check 'a' has no `intercept` and no `positives` and no `negatives`",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value)[:40],
)
def test_data_of_another_form_is_refused_in_words(data: object, words: str, tmp_path: Path) -> None:
    path = tmp_path / "fitted-checks.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=rf"\Afitted-checks\.json: {re.escape(words)}\Z"):
        FittedChecks.load(path)


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [
        ("question", 5, "`question` of the check 'rude' is no text"),
        ("yes_means", [], "`yes_means` of the check 'rude' is no text"),
        ("positives", "3", "`positives` of the check 'rude' is no count"),
        ("negatives", float("inf"), "`negatives` of the check 'rude' is no count"),
        ("figures", [1], "`figures` of the check 'rude' is no JSON object"),
        ("weights", 5, "weights of the check 'rude' are not all numbers"),
        ("weights", ["1"], "weights of the check 'rude' are not all numbers"),
        ("intercept", None, "weights of the check 'rude' are not all numbers"),
        ("intercept", 10**400, "weights of the check 'rude' are damaged"),
    ],
)
def test_a_member_of_another_kind_is_named_with_its_check(member: str, value: Any, words: str) -> None:
    data = FITTED.to_json()
    data["checks"]["rude"][member] = value
    with pytest.raises(ValueError, match=re.escape(words)):
        FittedChecks.from_json(data)


@pytest.mark.parametrize(
    "weights", [[], [float("nan")], [0.5, float("inf")], [1e999, 0.5], [1e300, -1e300]], ids=str
)
def test_weights_that_would_make_every_answer_wrong_are_refused(weights: list[float]) -> None:
    data = FITTED.to_json()
    data["checks"]["rude"]["weights"] = weights
    with pytest.raises(ValueError, match="weights of the check 'rude' are damaged: fit it again"):
        FittedChecks.from_json(data)


def test_an_intercept_without_end_is_refused() -> None:
    data = FITTED.to_json()
    data["checks"]["rude"]["intercept"] = float("inf")
    with pytest.raises(ValueError, match="damaged"):
        FittedChecks.from_json(data)


def test_a_file_that_is_only_brackets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fitted-checks.json"
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(ValueError, match=r"fitted-checks\.json is nested too deeply"):
        FittedChecks.load(path)


@pytest.mark.parametrize("length", [1, 3])
def test_weights_of_another_length_than_the_vector_judge_nothing(length: int) -> None:
    with pytest.raises(ValueError, match=f"has 3 weights where {length + 1} are due"):
        CHECK.logit([0.5] * length, 0.0)


@pytest.mark.parametrize(
    ("model", "questions", "cases", "reason"),
    [
        ("m@1", {"rude": Q}, ROWS, None),
        ("m@1", {"rude": Q}, ROWS[::-1], None),
        ("m@2", {"rude": Q}, ROWS, "fitted for the model m@1"),
        ("m@1", {"rude": YesNoQuestion("Rude?", "insults")}, ROWS, "wording"),
        ("m@1", {"rude": Q}, [("you fool", False), ("thank you", False)], "labelled cases"),
        ("m@1", {"rude": Q}, ROWS[:1], "labelled cases"),
        ("m@1", {}, ROWS, "no such check"),
    ],
    ids=["same", "other-order", "model", "wording", "label", "fewer", "gone"],
)
def test_a_fit_is_stale_when_what_it_belongs_to_changes(
    model: str, questions: dict[str, YesNoQuestion], cases: list[tuple[str, bool]], reason: str | None
) -> None:
    stale = stale_fits(FITTED, model, questions, {"rude": cases})
    if reason is None:
        assert stale == []
    else:
        assert [fit.check for fit in stale] == ["rude"]
        assert reason in stale[0].reason


def test_folds_spread_both_labels_evenly() -> None:
    labels = [True] * 10 + [False] * 5
    numbers = folds(labels, 5)
    for fold in range(5):
        chosen = [label for label, number in zip(labels, numbers, strict=True) if number == fold]
        assert chosen.count(True) == 2
        assert chosen.count(False) == 1


# ---- nothing is lost ------------------------------------------------------------------------------------


def other_fit() -> FittedChecks:
    return FittedChecks("m@2", {"rude": CHECK})


def test_a_fit_can_be_read_taken_away_and_put_back_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "fitted-checks.json"
    assert read_fit(path) is None
    FITTED.save(path)
    stored = read_fit(path)
    assert restore_fit(path, None) == stored
    assert FittedChecks.load(path) is None
    assert restore_fit(path, stored) is None
    assert path.read_bytes() == stored
    assert FittedChecks.load(path) == FITTED


def test_fitting_again_keeps_the_fit_it_replaces(tmp_path: Path) -> None:
    path = tmp_path / "fitted-checks.json"
    FITTED.save(path)
    other_fit().save(path)
    assert FittedChecks.load(path) == other_fit()
    assert FittedChecks.load(previous_path(path)) == FITTED
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "fitted-checks.json",
        "fitted-checks.previous.json",
    ]


def test_storing_the_same_fit_again_does_not_push_out_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "fitted-checks.json"
    FITTED.save(path)
    other_fit().save(path)
    other_fit().save(path)
    assert FittedChecks.load(previous_path(path)) == FITTED


def test_a_fit_that_cannot_be_read_as_one_is_kept_too(tmp_path: Path) -> None:
    path = tmp_path / "fitted-checks.json"
    path.write_bytes(b"{ broken \xff")
    FITTED.save(path)
    assert previous_path(path).read_bytes() == b"{ broken \xff"


def test_a_fit_that_cannot_be_written_leaves_the_present_one(tmp_path: Path) -> None:
    path = tmp_path / "fitted-checks.json"
    FITTED.save(path)
    (tmp_path / "fitted-checks.json.tmp").mkdir()
    with pytest.raises(OSError, match="fitted-checks"):
        other_fit().save(path)
    assert FittedChecks.load(path) == FITTED


def test_a_full_disk_leaves_the_present_fit_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "fitted-checks.json"
    FITTED.save(path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.engine.decisions.fitted.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        FittedChecks("m@2", {"rude": CHECK}).save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
