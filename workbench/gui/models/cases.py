"""Labelled cases under one check: a table that filters itself, follows a moving threshold and can be edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from workbench.engine.evaluation.cases import Case
from workbench.gui.delegates.probability import BarState, ProbabilityDelegate
from workbench.gui.models.cases_columns import (
    ERROR,
    NO,
    NO_ANSWER,
    NO_LABEL,
    NOT_ASKED,
    NUMBER,
    REFUSED,
    STATUS_OF_STATE,
    YES,
    CaseColumns,
    CheckColumn,
)
from workbench.gui.models.figures import format_duration, is_near
from workbench.gui.models.roots import ROOT

ID, TEXT, USER, LABEL, PROBABILITY, OUTCOME, NOTE, TIME = range(8)
_HEADS = ("Case", "Text", "User message", "Label", "Probability", "Outcome", "Note", "Time")
EDITABLE = (TEXT, USER, LABEL, NOTE)

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

_OUTCOME_WORDS = {"tp": "caught", "fn": "missed", "fp": "false alarm", "tn": "let through"}
_NEAR = 0.05
LABEL_WORDS = {True: "+ yes", False: "– no", None: ""}


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

_STATUS = Qt.ItemDataRole.UserRole + 3
_CASE = Qt.ItemDataRole.UserRole + 4
_STALE = Qt.ItemDataRole.UserRole + 5
_ROLES = frozenset(
    (
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.EditRole,
        Qt.ItemDataRole.ToolTipRole,
        ProbabilityDelegate.StateRole,
        _STATUS,
        _CASE,
        _STALE,
    )
)


def case_mask(column: CheckColumn, wanted: CaseFilter, threshold: float) -> Any:
    """Return the mask of the cases that a filter shows."""
    current = column.current
    number = current & (column.state == NUMBER)
    with np.errstate(invalid="ignore"):
        rejected = number & (column.p >= threshold)
    passed = number & ~rejected
    yes, no = column.label == YES, column.label == NO
    masks: dict[str, Any] = {
        "tp": rejected & yes,
        "fp": rejected & no,
        "fn": passed & yes,
        "tn": passed & no,
        "wrong": (rejected & no) | (passed & yes),
        "refused": current & (column.state == REFUSED),
        "failed": current & ((column.state == NO_ANSWER) | (column.state == ERROR)),
        "stale": (column.state != NOT_ASKED) & (column.stale != 0),
        "unanswered": column.state == NOT_ASKED,
        "unlabelled": column.label == NO_LABEL,
    }
    if wanted.key == "near":
        with np.errstate(invalid="ignore"):
            mask = number & (np.abs(column.p - threshold) < _NEAR)
    else:
        mask = masks.get(wanted.key, np.ones(len(column.p), dtype=np.bool_))
    if wanted.low is not None and wanted.high is not None:
        with np.errstate(invalid="ignore"):
            lowest = column.p >= 0 if wanted.low == 0 else column.p > wanted.low
            mask = mask & number & lowest & (column.p <= wanted.high)
        mask &= (yes | no) if wanted.label is None else (yes if wanted.label else no)
    return mask


class CaseTableModel(QAbstractTableModel):
    """The cases of a stage under one check. `set_threshold` changes only what depends on it.

    What somebody types or labels is told by `edit_asked` (position of the case, column, value) and shown when the
    project has taken it.
    """

    StatusRole = _STATUS
    CaseRole = _CASE
    StaleRole = _STALE
    edit_asked = Signal(int, int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns = CaseColumns((), ())
        self._column = CheckColumn(0)
        self._threshold = 0.5
        self._filter = EVERYTHING
        self._search = ""
        self._search_texts: list[str] | None = None
        self._order = (ID, Qt.SortOrder.AscendingOrder)
        self._sorted: Any = None
        self._behind = False
        self._shown: Any = np.zeros(0, dtype=np.int64)

    # What is shown

    def set_columns(self, columns: CaseColumns, check: str, threshold: float) -> None:
        """Show the cases of `columns` with the labels and answers of `check`."""
        if columns is not self._columns:
            self._search_texts = None
        self._columns, self._threshold = columns, threshold
        self._column = columns.column(check) or CheckColumn(len(columns))
        self._sorted = None
        self._refilter()

    def set_threshold(self, threshold: float, *, soon: bool = False) -> None:
        """Judge the cases by another threshold; with `soon` the rows stay as they are until `catch_up`."""
        if threshold == self._threshold:
            return
        self._threshold = threshold
        if self._order[0] == OUTCOME:
            self._sorted = None
        self._behind = bool(self._filter.key) or self._order[0] == OUTCOME
        if self._behind and not soon:
            self.catch_up()
        else:
            self._repaint(PROBABILITY, NOTE)

    def behind(self) -> bool:
        """Tell whether the rows do not yet follow the filter and the order under the present threshold."""
        return self._behind

    def catch_up(self) -> None:
        """Filter and order the rows by the present threshold."""
        if self._behind:
            self._refilter()

    def set_filter(self, wanted: CaseFilter = EVERYTHING, search: str = "") -> None:
        """Show only what `wanted` says, and only cases that hold `search`."""
        self._filter, self._search = wanted, search.casefold().strip()
        self._refilter()

    def refresh(self) -> None:
        """Show what became of the columns: answers that arrived, labels and texts that were edited."""
        self._search_texts = None
        if self._order[0] != ID:
            self._sorted = None
        self._refilter()

    def _repaint(self, first: int, last: int) -> None:
        if len(self._shown):
            self.dataChanged.emit(self.index(0, first), self.index(len(self._shown) - 1, last))

    def total(self) -> int:
        """Return the number of cases without a filter."""
        return len(self._columns)

    def threshold(self) -> float:
        """Return the threshold by which the cases are judged."""
        return self._threshold

    def position(self, row: int) -> int:
        """Return which of the cases a row shows."""
        return int(self._shown[row])

    def row_of(self, position: int) -> int | None:
        """Return the row of a case, `None` where the filter hides it."""
        found = np.flatnonzero(self._shown == position)
        return int(found[0]) if len(found) else None

    def case(self, row: int) -> Case:
        """Return the case of a row."""
        return self._columns.cases[self.position(row)]

    def count(self, key: str) -> int:
        """Return how many cases a filter would show, whatever the search."""
        return int(case_mask(self._column, CaseFilter(key), self._threshold).sum())

    def _refilter(self) -> None:
        self._behind = False
        mask = case_mask(self._column, self._filter, self._threshold)
        if self._search:
            mask = mask & self._found()
        order = self._ordered()
        shown = order[mask[order]]
        if len(shown) == len(self._shown) and np.array_equal(shown, self._shown):
            self._repaint(ID, TIME)
            return
        self.beginResetModel()
        self._shown = shown
        self.endResetModel()

    def _found(self) -> Any:
        if self._search_texts is None:
            cases = self._columns.cases
            self._search_texts = [
                f"{c.id}\n{c.text}\n{c.user_message or ''}\n{c.note}".casefold() for c in cases
            ]
        return np.fromiter(
            (self._search in text for text in self._search_texts), np.bool_, len(self._search_texts)
        )

    def _ordered(self) -> Any:
        if self._sorted is not None and len(self._sorted) == len(self._columns):
            return self._sorted
        column, order = self._order
        positions = np.arange(len(self._columns))
        if column == ID:
            self._sorted = positions
        elif column in (TEXT, NOTE, USER):
            self._sorted = np.array(sorted(positions.tolist(), key=self._text_key(column)), dtype=np.int64)
        else:
            self._sorted = np.argsort(self._number_key(column), kind="stable")
        if order == Qt.SortOrder.DescendingOrder:
            self._sorted = self._sorted[::-1]
        return self._sorted

    def _text_key(self, column: int) -> Any:
        cases = self._columns.cases
        if column == TEXT:
            return lambda k: cases[k].text
        return (lambda k: cases[k].note) if column == NOTE else (lambda k: cases[k].user_message or "")

    def _number_key(self, column: int) -> Any:
        if column == LABEL:
            return self._column.label
        if column == TIME:
            return np.nan_to_num(self._column.elapsed, nan=-1.0)
        p = np.nan_to_num(self._column.p, nan=-1.0)
        if column == PROBABILITY:
            return p
        # Outcomes by kind; within one kind the most confident first, since those no threshold catches.
        wrong = case_mask(self._column, CaseFilter("wrong"), self._threshold)
        kind = np.where(wrong, 0, np.where(p < 0, 1, np.where(self._column.label == NO_LABEL, 2, 3)))
        return kind - np.abs(p - self._threshold) / 2

    # What a row says

    def _label(self, position: int) -> bool | None:
        code = self._column.label[position]
        return None if code == NO_LABEL else bool(code == YES)

    def _bar(self, position: int) -> BarState | None:
        column = self._column
        state = column.state[position]
        if state == NOT_ASKED:
            return None
        probability = float(column.p[position]) if state == NUMBER else None
        if column.stale[position]:
            return BarState(probability, self._threshold, True, "stale")
        if probability is None:
            return BarState(None, self._threshold, True, STATUS_OF_STATE[state])
        status = "rejected" if probability >= self._threshold else "passed"
        return BarState(probability, self._threshold, True, status)

    def _outcome(self, position: int) -> tuple[str, str]:
        column = self._column
        state = column.state[position]
        if state == NOT_ASKED:
            return "", ""
        if column.stale[position]:
            return "stale", "out of date"
        if state != NUMBER:
            status = STATUS_OF_STATE[state]
            return status, status.replace("_", " ")
        probability = float(column.p[position])
        cell = cell_of(probability, self._label(position), self._threshold)
        if cell is not None:
            return ("passed" if cell in ("tp", "tn") else "rejected"), _OUTCOME_WORDS[cell]
        return "info", ("rejected" if probability >= self._threshold else "passed") + ", no label"

    def _text(self, position: int, column: int) -> str:
        case = self._columns.cases[position]
        if column == ID:
            return case.id
        if column == TEXT:
            return " ".join(case.text[:300].split())
        if column == USER:
            return " ".join((case.user_message or "")[:300].split())
        if column == LABEL:
            return LABEL_WORDS[self._label(position)]
        if column == OUTCOME:
            return self._outcome(position)[1]
        if column == NOTE:
            return case.note or ("near the threshold" if self._near(position) else "")
        if column == TIME:
            elapsed = float(self._column.elapsed[position])
            return format_duration(elapsed) if elapsed == elapsed else ""
        return ""

    def _near(self, position: int) -> bool:
        column = self._column
        number = column.state[position] == NUMBER and not column.stale[position]
        return bool(number and is_near(float(column.p[position]), self._threshold))

    def _edited(self, position: int, column: int) -> Any:
        """Return the value that an editor of the cell begins with."""
        case = self._columns.cases[position]
        if column == LABEL:
            return self._label(position)
        return {TEXT: case.text, USER: case.user_message or "", NOTE: case.note}.get(column)

    def _tip(self, position: int) -> str:
        column, case = self._column, self._columns.cases[position]
        parts = [f"User message: {case.user_message}" if case.user_message else "", case.text, case.note]
        if column.state[position] != NOT_ASKED:
            parts.append(column.details.get(position, ""))
            if reason := column.reason(position):
                parts.append(f"Out of date: {reason}.")
            if model := column.model(position):
                parts.append(f"Answered by {model}.")
        return "\n\n".join(part for part in parts if part)

    # Qt's side

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return len(_HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _HEADS[section]
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._order = (column, order)
        self._sorted = None
        self._refilter()

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() in EDITABLE else flags

    def setData(
        self, index: QModelIndex | QPersistentModelIndex, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        if role != Qt.ItemDataRole.EditRole or index.column() not in EDITABLE:
            return False
        position = self.position(index.row())
        if value == self._edited(position, index.column()):
            return False
        self.edit_asked.emit(position, index.column(), value)
        return True

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        # Painting asks for many roles of many cells; most of them are not ours.
        if role not in _ROLES or not index.isValid() or index.row() >= len(self._shown):
            return None
        position = int(self._shown[index.row()])
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(position, index.column())
        if role == Qt.ItemDataRole.EditRole:
            return self._edited(position, index.column())
        if role == ProbabilityDelegate.StateRole and index.column() == PROBABILITY:
            return self._bar(position)
        if role == self.StatusRole:
            return self._outcome(position)[0]
        if role == self.StaleRole:
            return bool(self._column.stale[position])
        if role == self.CaseRole:
            return self._columns.cases[position]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(position)
        return None
