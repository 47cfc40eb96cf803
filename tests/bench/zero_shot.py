"""Fits the weights of the zero-shot score and says what they are worth on checks that took no part in the fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tests.shared_data import SHARED
from workbench.engine.decisions import YesNoQuestion
from workbench.engine.decisions.embedded import EmbeddedDecisionModel
from workbench.engine.decisions.fitted import fit_logistic
from workbench.engine.decisions.windows import windows
from workbench.engine.decisions.zero_shot import descriptions, zero_shot_features
from workbench.engine.evaluation import metrics
from workbench.engine.projects import Project, list_samples, sample_folder

HELD_OUT = Path(__file__).resolve().parents[1] / "data" / "decisions" / "held_out.jsonl"
ROUNDS = 4
"""Fits in a row: which window of a text counts depends on the weights."""
DRAWS = 2000

Features = list[np.ndarray]
Weights = tuple[np.ndarray, float]


@dataclass(frozen=True)
class Row:
    """One labelled text of one check. Rows of the same `family` are left out together."""

    check: str
    family: str
    question: YesNoQuestion
    text: str
    label: bool


def public_rows(path: Path) -> list[Row]:
    """Return the rows of one of the two sets over the twelve public checks."""
    folder = SHARED / "guardrail-cases"
    if not folder.exists():
        raise SystemExit("the development set is not here: ../shared/data/guardrail-cases")
    checks = json.loads((folder / "checks.json").read_text(encoding="utf-8"))
    questions = {c["name"]: YesNoQuestion(c["question"], c["yes_means"], c["no_means"]) for c in checks}
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Row(name, name, questions[name], case["text"], label)
        for case in cases
        for name, label in case["labels"].items()
    ]


def development_rows() -> list[Row]:
    """Return the rows of the development set."""
    return public_rows(SHARED / "guardrail-cases" / "development.jsonl")


def held_out_rows() -> list[Row]:
    """Return the rows of the held-out set."""
    return public_rows(HELD_OUT)


def sample_rows() -> list[Row]:
    """Return the labelled cases of the sample projects. All checks on injection are one family."""
    rows = []
    for sample in list_samples():
        snapshot = Project.load(sample_folder(sample.name)).snapshot()
        for case in snapshot.cases:
            for check in snapshot.guardrail(case.stage).checks:
                if check.name in case.labels:
                    name = f"{sample.name}/{check.name}"
                    family = "injection" if check.name == "promptInjection" else name
                    question = YesNoQuestion(check.question, check.yes_means, check.no_means)
                    rows.append(Row(name, family, question, case.text, case.labels[check.name]))
    return rows


def reworded(rows: Sequence[Row], *, yes: bool, no: bool) -> list[Row]:
    """Return the rows with only the descriptions asked for."""
    return [
        replace(
            row,
            question=YesNoQuestion(
                row.question.text,
                row.question.yes_means if yes else None,
                row.question.no_means if no else None,
            ),
        )
        for row in rows
    ]


async def features(model: EmbeddedDecisionModel, rows: Sequence[Row]) -> Features:
    """Return per row an array of windows × 3 similarities."""
    result = []
    for row in rows:
        texts = [text for text in descriptions(row.question) if text]
        known = await model._text_vectors(texts)
        vectors = await model._window_vectors(windows(row.text) or [" "])
        result.append(
            np.array(
                [
                    zero_shot_features(
                        [
                            float(np.dot(vector, known[text])) if text else 0.0
                            for text in descriptions(row.question)
                        ]
                    )
                    for vector in vectors
                ]
            )
        )
    return result


def shares(rows: Sequence[Row]) -> np.ndarray:
    """Return a weight per row, so that every check and each of its sides weighs the same."""
    sides = [(row.check, row.label) for row in rows]
    return np.array([1.0 / sides.count(side) for side in sides])


def fit(windowed: Features, rows: Sequence[Row]) -> Weights:
    """Return the weights and the intercept; of every text the window that scores highest counts."""
    labels = np.array([float(row.label) for row in rows])
    chosen = np.array([each.mean(axis=0) for each in windowed])
    weights, intercept = fit_logistic(chosen, labels, shares(rows))
    for _ in range(ROUNDS - 1):
        chosen = np.array([each[np.argmax(each @ weights)] for each in windowed])
        weights, intercept = fit_logistic(chosen, labels, shares(rows))
    return weights, intercept


def logits(windowed: Features, weights: Weights) -> np.ndarray:
    """Return the log-odds of every row."""
    return np.array([float((each @ weights[0]).max()) + weights[1] for each in windowed])


def left_out(windowed: Features, rows: Sequence[Row]) -> np.ndarray:
    """Return the log-odds of every row from weights that its family of checks took no part in."""
    result = np.zeros(len(rows))
    for family in sorted({row.family for row in rows}):
        inside = [row.family == family for row in rows]
        others = [i for i, own in enumerate(inside) if not own]
        weights = fit([windowed[i] for i in others], [rows[i] for i in others])
        mine = [i for i, own in enumerate(inside) if own]
        result[mine] = logits([windowed[i] for i in mine], weights)
    return result


def interval(scores: Sequence[float], rows: Sequence[Row], seed: int = 1) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the AUROC: checks are drawn, then texts of each side of a check.

    Texts of one check fail together, so that drawing texts alone would promise too narrow an interval.
    """
    rng = np.random.default_rng(seed)
    sides: dict[str, dict[bool, list[float]]] = {}
    for row, score in zip(rows, scores, strict=True):
        sides.setdefault(row.check, {True: [], False: []})[row.label].append(score)
    names = sorted(sides)
    found = []
    for _ in range(DRAWS):
        drawn: dict[bool, list[float]] = {True: [], False: []}
        for name in rng.choice(names, len(names)):
            for label in (True, False):
                own = sides[name][label]
                drawn[label] += list(rng.choice(own, len(own))) if own else []
        labels = [True] * len(drawn[True]) + [False] * len(drawn[False])
        value = metrics.auc([*drawn[True], *drawn[False]], labels)
        if value is not None:
            found.append(value)
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
