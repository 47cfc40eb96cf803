"""Checks fitted on a project's own labelled cases: small logistic regressions, kept as plain data.

A fitted check scores the sentence vector of a text together with the zero-shot log-odds, so that what the
wording of the check already says is not lost when there are only a few cases.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.decisions.questions import YesNoQuestion
from workbench.engine.stored import stored_object

if TYPE_CHECKING:
    import numpy

    Vector = numpy.ndarray[Any, numpy.dtype[numpy.float64]]

FORMAT = 1
PENALTY = 30.0
"""Weight of the cases against the penalty on the weights (scikit-learn's `C`)."""
ZERO_SHOT_SCALE = 0.25
"""Scale at which the zero-shot log-odds stand beside the 384 small numbers of a sentence vector."""
MINIMUM = 2
"""Cases that each side needs before a check can be fitted."""


LARGEST_WEIGHT = 1e9
"""A weight beyond it is damage: fits stay below a hundred, and sums of larger ones lose their meaning."""


@dataclass(frozen=True, slots=True)
class FittedCheck:
    """The weights of one check, and all that tells whether they still belong to it.

    `weights` has one number per dimension of the sentence vector, then one for the scaled zero-shot
    log-odds. `cases_hash` stands for the texts and labels. `figures` are cross-validated.
    """

    question: YesNoQuestion
    weights: tuple[float, ...]
    intercept: float
    cases_hash: str
    positives: int
    negatives: int
    figures: Mapping[str, float | None] = field(default_factory=dict)

    def logit(self, vector: Sequence[float], zero_shot: float) -> float:
        """Return the log-odds of "yes" for a sentence vector and its zero-shot log-odds.

        Raises:
            ValueError: where the weights are not as many as the vector needs.
        """
        if len(self.weights) != len(vector) + 1:
            raise ValueError(f"it has {len(self.weights)} weights where {len(vector) + 1} are due")
        total = self.intercept + self.weights[-1] * zero_shot * ZERO_SHOT_SCALE
        return total + sum(w * x for w, x in zip(self.weights[:-1], vector, strict=True))

    def fits(self, question: YesNoQuestion) -> bool:
        """Tell whether the wording is still the one that was fitted."""
        return self.question == question


@dataclass(frozen=True, slots=True)
class FittedChecks:
    """All fitted checks of a project for one sentence model (`model` is its version)."""

    model: str
    checks: Mapping[str, FittedCheck] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; weights are rounded to six digits."""
        return {
            "format": FORMAT,
            "model": self.model,
            "checks": {
                name: {
                    "question": check.question.text,
                    "yes_means": check.question.yes_means,
                    "no_means": check.question.no_means,
                    "cases": check.cases_hash,
                    "positives": check.positives,
                    "negatives": check.negatives,
                    "figures": dict(check.figures),
                    "intercept": round(check.intercept, 6),
                    "weights": [round(weight, 6) for weight in check.weights],
                }
                for name, check in self.checks.items()
            },
        }

    @classmethod
    def from_json(cls, data: Any) -> FittedChecks:
        """Read what `to_json` wrote.

        Raises:
            ValueError: where the data is of another form or format.
        """
        form = stored_object(data, "the file", ("format",))["format"]
        if form != FORMAT:
            raise ValueError(f"the fitted checks have format {form!r}, this program reads {FORMAT}")
        rows = stored_object(stored_object(data, "the file", ("model", "checks"))["checks"], "`checks`")
        return cls(str(data["model"]), {str(name): _check(name, row) for name, row in rows.items()})

    @classmethod
    def load(cls, path: Path) -> FittedChecks | None:
        """Read a file, or return `None` where there is none; raises `ValueError` for a broken one."""
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{path.name} cannot be read: {error}") from error
        try:
            return cls.from_json(json.loads(text))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path.name}:{error.lineno}:{error.colno}: {error.msg}") from error
        except RecursionError:
            raise ValueError(f"{path.name} is nested too deeply to be a fit") from None
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from error

    def save(self, path: Path) -> None:
        """Write the file as `restore_fit` does: whole or not at all, and what it replaces is kept."""
        text = json.dumps(self.to_json(), ensure_ascii=False, indent=1)
        restore_fit(path, (text + "\n").encode())

    def digest(self) -> str:
        """Return a short hash of the weights; part of the version that results carry."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


def _check(name: str, data: Any) -> FittedCheck:
    """Return one check as it was stored; raises `ValueError` naming it and what is wrong with it."""
    what = f"the check {name!r}"
    row = stored_object(data, what, ("question", "weights", "intercept", "cases", "positives", "negatives"))
    for member in ("question", "yes_means", "no_means"):
        if not isinstance(row.get(member), str) and (member == "question" or row.get(member) is not None):
            raise ValueError(f"`{member}` of {what} is no text")
    for member in ("positives", "negatives"):
        if not isinstance(row[member], int) or isinstance(row[member], bool):
            raise ValueError(f"`{member}` of {what} is no count")
    return FittedCheck(
        YesNoQuestion(row["question"], row.get("yes_means"), row.get("no_means")),
        _numbers(name, row["weights"]),
        _numbers(name, [row["intercept"]])[0],
        str(row["cases"]),
        row["positives"],
        row["negatives"],
        dict(stored_object(row.get("figures") or {}, f"`figures` of {what}")),
    )


def _numbers(check: str, values: Any) -> tuple[float, ...]:
    """Return weights that were stored.

    Raises:
        ValueError: where there are none, or one is no number that a fit gives: with it every answer would be wrong.
    """
    kinds = values if isinstance(values, list) else [None]
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in kinds):
        raise ValueError(f"the weights of the check {check!r} are not all numbers: fit it again")
    try:
        numbers = tuple(float(value) for value in values)
    except OverflowError:  # a whole number with more digits than a float can hold
        numbers = ()
    if not numbers or not all(abs(number) <= LARGEST_WEIGHT for number in numbers):  # not true of NaN either
        raise ValueError(f"the weights of the check {check!r} are damaged: fit it again")
    return numbers


def read_fit(path: Path) -> bytes | None:
    """Return the stored fit as it lies there, `None` where nothing is fitted; `restore_fit` takes it back.

    The bytes are not looked into, so that a fit that this program cannot read is not lost either.

    Raises:
        OSError: where there is a file that cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def restore_fit(path: Path, stored: bytes | None) -> bytes | None:
    """Put a stored fit in the place of the present one (`None`: no fit), and return the present one.

    So `restore_fit(path, restore_fit(path, other))` changes nothing, and `restore_fit(path, None)` removes a fit. The fit
    replaced also stays on disk at `previous_path(path)`, for whoever has no undo: the command line, or a
    window closed since. It stays there until another fit is replaced.

    Raises:
        OSError: where the files cannot be written; then the present fit is still there.
    """
    present = read_fit(path)
    if present == stored:
        return present
    if present is not None:
        _write_whole(previous_path(path), present)
    if stored is None:
        path.unlink(missing_ok=True)
    else:
        _write_whole(path, stored)
    return present


def previous_path(path: Path) -> Path:
    """Return where the fit is kept that the fit at `path` replaced: `fitted-checks.previous.json`."""
    return path.with_name(f"{path.stem}.previous{path.suffix}")


def _write_whole(path: Path, data: bytes) -> None:
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:  # a full disk: half a fit is of no use to anybody
        temporary.unlink(missing_ok=True)
        raise


@dataclass(frozen=True, slots=True)
class StaleFit:
    """A fitted check that no longer matches: the model, the wording or the cases changed since."""

    check: str
    reason: str


def hash_cases(cases: Iterable[tuple[str, bool]]) -> str:
    """Return a hash of labelled texts that does not depend on their order."""
    rows = sorted(json.dumps([text, label], ensure_ascii=True) for text, label in cases)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]


def stale_fits(
    fitted: FittedChecks,
    model_version: str,
    questions: Mapping[str, YesNoQuestion],
    cases: Mapping[str, Sequence[tuple[str, bool]]],
) -> list[StaleFit]:
    """Return the fitted checks whose model, wording or labelled cases differ from the present ones."""
    stale: list[StaleFit] = []
    for name, check in fitted.checks.items():
        if name not in questions:
            stale.append(StaleFit(name, "the project has no such check any more"))
        elif fitted.model != model_version:
            stale.append(StaleFit(name, f"it was fitted for the model {fitted.model}"))
        elif not check.fits(questions[name]):
            stale.append(StaleFit(name, "the wording of the check changed"))
        elif hash_cases(cases.get(name, ())) != check.cases_hash:
            stale.append(StaleFit(name, "the labelled cases changed"))
    return stale


def fit_logistic(
    features: Vector, labels: Vector, sample_weights: Vector | None = None
) -> tuple[Vector, float]:
    """Fit an L2-penalised logistic regression by Newton's method.

    `features` is rows × columns, `labels` 0 or 1 per row. Returns the weights and the intercept, which is
    not penalised. The result depends on the numbers only, never on chance.
    """
    import numpy as np

    if features.shape[0] < features.shape[1]:
        # The best weights lie in the span of the rows: with few cases that is a far smaller problem.
        basis = np.linalg.qr(features.T)[0]
        inner, intercept = fit_logistic(features @ basis, labels, sample_weights)
        return basis @ inner, intercept
    rows, columns = features.shape
    design = np.hstack([features, np.ones((rows, 1))])
    weights = np.ones(rows) if sample_weights is None else sample_weights
    penalty = np.full(columns + 1, 1.0 / PENALTY)
    penalty[-1] = 1e-9
    beta = np.zeros(columns + 1)
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -30, 30)))
        gradient = design.T @ (weights * (p - labels)) + penalty * beta
        curvature = (design * (weights * p * (1 - p))[:, None]).T @ design
        curvature[np.diag_indices(columns + 1)] += penalty + 1e-10
        step = np.linalg.solve(curvature, gradient)
        # A long first step overshoots where the classes are separable.
        longest = float(np.abs(design @ step).max())
        if longest > 4:
            step *= 4 / longest
        beta = beta - step
        if float(np.abs(step).max()) < 1e-8:
            break
    return beta[:-1], float(beta[-1])


def feature_row(vector: Sequence[float], zero_shot: float) -> list[float]:
    """Return the features of one text: its vector, then the scaled zero-shot log-odds."""
    return [*vector, zero_shot * ZERO_SHOT_SCALE]


def folds(labels: Sequence[bool], count: int = 5) -> list[int]:
    """Return a fold number per row, both labels spread evenly; with few rows each is its own fold."""
    seen = {True: 0, False: 0}
    result = []
    count = min(count, *(max(1, sum(label is side for label in labels)) for side in (True, False)))
    for label in labels:
        result.append(seen[label] % count)
        seen[label] += 1
    return result
