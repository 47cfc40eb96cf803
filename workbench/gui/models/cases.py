"""Labelled cases under one check: a table that filters itself, follows a moving threshold and can be edited."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sized
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from workbench.engine.evaluation.cases import Case
from workbench.gui.delegates.probability import BarState, ProbabilityDelegate
from workbench.gui.models.cases_columns import (
    NO_LABEL,
    NOT_ASKED,
    NUMBER,
    STATUS_OF_STATE,
    YES,
    CaseColumns,
    CheckColumn,
    edited,
)
from workbench.gui.models.cases_filter import EVERYTHING, CaseFilter, case_mask, cell_of
from workbench.gui.models.figures import format_duration, is_near
from workbench.gui.models.table import HeadedTableModel

ID, TEXT, USER, LABEL, PROBABILITY, OUTCOME, NOTE, TIME = range(8)
_HEADS = ("Case", "Text", "User message", "Label", "Probability", "Outcome", "Note", "Time")
EDITABLE = (TEXT, USER, LABEL, NOTE)

_OUTCOME_WORDS = {"tp": "caught", "fn": "missed", "fp": "false alarm", "tn": "let through"}
LABEL_WORDS = {True: "+ yes", False: "– no", None: ""}


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


def _search_text(case: Case) -> str:
    """Return what a search looks through."""
    return f"{case.id}\n{case.text}\n{case.user_message or ''}\n{case.note}".casefold()


class CaseTableModel(HeadedTableModel):
    """The cases of a stage under one check. `set_threshold` changes only what depends on it.

    What somebody types or labels is told by `edit_asked` (position of the case, column, value) and shown when the
    project has taken it.
    """

    heads = _HEADS

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
        self._search_texts: list[str] = []
        self._searched: list[Case] = []
        self._order = (ID, Qt.SortOrder.AscendingOrder)
        self._sorted: Any = None
        self._behind = False
        self._shown: Any = np.zeros(0, dtype=np.int64)

    # What is shown

    def set_columns(self, columns: CaseColumns, check: str, threshold: float) -> None:
        """Show the cases of `columns` with the labels and answers of `check`."""
        column = columns.column(check) or CheckColumn(len(columns))
        # Other answers or labels leave the order of the ids and texts as it is.
        if columns is not self._columns or self._order[0] != ID:
            self._sorted = None
        self._columns, self._column, self._threshold = columns, column, threshold
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
        self._move_rows(shown)

    def _move_rows(self, shown: Any) -> None:
        """Show other rows, or the same in another order; whoever keeps a row keeps the case that it shows."""
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        positions = [self.position(index.row()) for index in kept]
        self._shown = shown
        rows = {position: self.row_of(position) for position in set(positions)}
        self.changePersistentIndexList(
            kept,
            [
                QModelIndex() if (row := rows[position]) is None else self.index(row, index.column())
                for position, index in zip(positions, kept, strict=True)
            ],
        )
        self.layoutChanged.emit()

    def _found(self) -> Any:
        cases, texts = self._columns.cases, self._search_texts
        if len(self._searched) != len(cases):
            self._searched, texts[:] = list(cases), map(_search_text, cases)
        else:
            for k in edited(self._searched, cases):
                self._searched[k], texts[k] = cases[k], _search_text(cases[k])
        return np.fromiter(
            map(operator.contains, texts, itertools.repeat(self._search)), np.bool_, len(texts)
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

    def bar(self, position: int) -> BarState | None:
        """Return what the bar of a case shows, `None` where no model was asked."""
        column = self._column
        state = column.state[position]
        # The 0 or 1 of a check that asks no model is no probability to draw.
        if state == NOT_ASKED or column.kind != "model":
            return None
        probability = float(column.p[position]) if state == NUMBER else None
        if column.stale[position]:
            return BarState(probability, self._threshold, True, "stale")
        if probability is None:
            return BarState(None, self._threshold, True, STATUS_OF_STATE[state])
        status = "rejected" if probability >= self._threshold else "passed"
        return BarState(probability, self._threshold, True, status)

    def outcome(self, position: int) -> tuple[str, str]:
        """Return the status and the words of the outcome of a case."""
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

    def cell_text(self, position: int, column: int) -> str:
        """Return what the cell of a case says, in one line."""
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
            return self.outcome(position)[1]
        if (
            column == PROBABILITY
            and self._column.kind != "model"
            and self._column.state[position] != NOT_ASKED
        ):
            return f"{self._column.kind}, no model"
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

    def shown_rows(self) -> Sized:
        return self._shown

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
            return self.cell_text(position, index.column())
        if role == Qt.ItemDataRole.EditRole:
            return self._edited(position, index.column())
        if role == ProbabilityDelegate.StateRole and index.column() == PROBABILITY:
            return self.bar(position)
        if role == self.StatusRole:
            return self.outcome(position)[0]
        if role == self.StaleRole:
            return bool(self._column.stale[position])
        if role == self.CaseRole:
            return self._columns.cases[position]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(position)
        return None
