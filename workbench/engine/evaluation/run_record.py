"""What the history keeps of an evaluation: the figures as they stood then, whatever becomes of cases and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.engine.evaluation.report import EvaluationReport

HEADS = ("check", "n", "yes", "threshold", "recall", "FPR", "AUC", "precision", "F1")
"""The columns of `figure_rows`; all but the first are figures."""


def evaluated_data(report: EvaluationReport, *, cases: int, answers: int, words: str) -> dict[str, Any]:
    """Return the data of the event `evaluated`: how many cases were answered how often, and the figures per check."""
    return {
        "cases": cases,
        "answers": answers,
        "words": words,
        "model": report.model,
        "union_fpr": report.union_fpr,
        "checks": [
            {
                "check": name,
                "kind": check.kind,
                "n": check.n,
                "positives": check.positives,
                "threshold": check.threshold,
                "precision": check.confusion.precision,
                "recall": check.confusion.recall,
                "fpr": check.confusion.fpr,
                "f1": check.confusion.f1,
                "auc": check.auc,
            }
            for name, check in report.checks.items()
        ],
    }


def figure_rows(checks: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return one row of texts per check under `HEADS`; what is not defined is a dash.

    `checks` is what `evaluated_data` stored. Where a check asks no model, its kind stands for its threshold.
    """
    rows = []
    for check in checks:
        kind = str(check.get("kind") or "model")
        threshold = _number(check.get("threshold"), "g") if kind == "model" else kind
        figures = [_number(check.get(key), ".3f") for key in ("recall", "fpr", "auc", "precision", "f1")]
        counts = [_number(check.get(key), "d") for key in ("n", "positives")]
        rows.append([str(check.get("check") or ""), *counts, threshold, *figures])
    return rows


def _number(value: Any, form: str) -> str:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return format(int(value) if form == "d" else value, form) if usable else "–"
