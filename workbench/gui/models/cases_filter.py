"""Which of the cases are shown: cells of the confusion matrix, kinds of answers, and ranges of the probability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.gui.models.cases_columns import (
    ERROR,
    NO,
    NO_ANSWER,
    NO_LABEL,
    NOT_ASKED,
    NUMBER,
    REFUSED,
    YES,
    CheckColumn,
)
from workbench.gui.models.figures import NEAR

CELLS: dict[str, str] = {
    "tp": "caught",
    "fn": "missed",
    "fp": "false alarms",
    "tn": "let through",
}
"""The cells of the confusion matrix, by the words that people read."""

FILTERS: dict[str, str] = {
    "wrong": "wrong",
    "near": "near the threshold",
    "refused": "refused",
    "failed": "no answer",
    "stale": "out of date",
    "unanswered": "not run",
    "unlabelled": "no label",
}
"""What the cases can be filtered by besides the cells of the matrix."""


def cell_of(probability: float | None, label: bool | None, threshold: float) -> str | None:
    """Return the cell of the confusion matrix a case belongs to; `None` without a label or a number."""
    if probability is None or label is None:
        return None
    if probability >= threshold:
        return "tp" if label else "fp"
    return "fn" if label else "tn"


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """Which cases are shown: those of a cell or kind (`key`), and those with a probability in (`low`, `high`].

    `label` restricts the latter to cases labelled so. `words` name the filter for people.
    """

    key: str = ""
    low: float | None = None
    high: float | None = None
    label: bool | None = None
    words: str = ""


EVERYTHING = CaseFilter()


def case_mask(column: CheckColumn, wanted: CaseFilter, threshold: float) -> Any:
    """Return the mask of the cases that a filter shows."""
    current = column.current
    number = current & (column.state == NUMBER)
    with np.errstate(invalid="ignore"):
        rejected = number & (column.p >= threshold)
    passed = number & ~rejected
    yes, no = column.label == YES, column.label == NO
    masks: dict[str, Callable[[], Any]] = {
        "tp": lambda: rejected & yes,
        "fp": lambda: rejected & no,
        "fn": lambda: passed & yes,
        "tn": lambda: passed & no,
        "wrong": lambda: (rejected & no) | (passed & yes),
        "near": lambda: number & (np.abs(np.nan_to_num(column.p) - threshold) < NEAR),
        "refused": lambda: current & (column.state == REFUSED),
        "failed": lambda: current & ((column.state == NO_ANSWER) | (column.state == ERROR)),
        "stale": lambda: (column.state != NOT_ASKED) & (column.stale != 0),
        "unanswered": lambda: column.state == NOT_ASKED,
        "unlabelled": lambda: column.label == NO_LABEL,
    }
    mask = masks.get(wanted.key, lambda: np.ones(len(column.p), dtype=np.bool_))()
    if wanted.low is not None and wanted.high is not None:
        with np.errstate(invalid="ignore"):
            lowest = column.p >= 0 if wanted.low == 0 else column.p > wanted.low
            mask = mask & number & lowest & (column.p <= wanted.high)
        mask &= (yes | no) if wanted.label is None else (yes if wanted.label else no)
    return mask
