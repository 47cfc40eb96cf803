"""Labelled cases with the answers of one check: a table that filters itself and follows a moving threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.engine.evaluation.cases import Case
from workbench.gui.delegates.probability import BarState, ProbabilityDelegate
from workbench.gui.models.figures import format_duration, is_near
from workbench.gui.models.roots import ROOT

if TYPE_CHECKING:
    from workbench.engine.evaluation import ResultRow

ID, TEXT, LABEL, PROBABILITY, OUTCOME, NOTE, TIME = range(7)
_HEADS = ("Case", "Text", "Label", "Probability", "Outcome", "Note", "Time")

CELLS: dict[str, str] = {
    "tp": "caught",
    "fn": "missed",
    "fp": "false alarms",
    "tn": "let through",
}
"""The cells of the confusion matrix, by the words that people read."""

_OUTCOME_WORDS = {"tp": "caught", "fn": "missed", "fp": "false alarm", "tn": "let through"}


def cell_of(probability: float | None, label: bool | None, threshold: float) -> str | None:
    """Return the cell of the confusion matrix a case belongs to; `None` without a label or a number."""
    if probability is None or label is None:
        return None
    if probability >= threshold:
        return "tp" if label else "fp"
    return "fn" if label else "tn"


class CaseTableModel(QAbstractTableModel):
    """The cases of a stage under one check. `set_threshold` changes only what depends on it."""

    StatusRole = Qt.ItemDataRole.UserRole + 3
    CaseRole = Qt.ItemDataRole.UserRole + 4

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cases: list[Case] = []
        self._rows: Mapping[tuple[str, str], ResultRow] = {}
        self._check = ""
        self._threshold = 0.5
        self._cell: str | None = None
        self._search = ""
        self._order = (ID, Qt.SortOrder.AscendingOrder)
        self._shown: list[int] = []

    def set_cases(
        self, cases: Sequence[Case], rows: Mapping[tuple[str, str], ResultRow], check: str, threshold: float
    ) -> None:
        """Show `cases` with the answers to `check` among `rows` (by case and check)."""
        self._cases, self._rows, self._check, self._threshold = list(cases), rows, check, threshold
        self._search_texts = [f"{c.id}\n{c.text}\n{c.note}".casefold() for c in self._cases]
        self._refilter()

    def set_threshold(self, threshold: float) -> None:
        """Judge the cases by another threshold."""
        if threshold == self._threshold:
            return
        self._threshold = threshold
        if self._cell is not None:
            self._refilter()
        elif self._shown:
            self.dataChanged.emit(self.index(0, PROBABILITY), self.index(len(self._shown) - 1, OUTCOME))

    def set_filter(self, cell: str | None = None, search: str = "") -> None:
        """Show only cases of a cell of the confusion matrix, and only those that hold `search`."""
        self._cell, self._search = cell, search.casefold().strip()
        self._refilter()

    def answers_arrived(self) -> None:
        """Show answers that were put into the mapping since."""
        if self._cell is not None or self._order[0] in (PROBABILITY, OUTCOME, TIME):
            self._refilter()
        elif self._shown:
            self.dataChanged.emit(self.index(0, PROBABILITY), self.index(len(self._shown) - 1, TIME))

    def total(self) -> int:
        """Return the number of cases without a filter."""
        return len(self._cases)

    def case(self, row: int) -> Case:
        """Return the case of a row."""
        return self._cases[self._shown[row]]

    def _answer(self, position: int) -> ResultRow | None:
        return self._rows.get((self._cases[position].id, self._check))

    def _probability(self, position: int) -> float | None:
        answer = self._answer(position)
        return answer.probability if answer is not None else None

    def _label(self, position: int) -> bool | None:
        return self._cases[position].labels.get(self._check)

    def _refilter(self) -> None:
        self.beginResetModel()
        shown = range(len(self._cases))
        kept = [
            k
            for k in shown
            if (
                self._cell is None
                or cell_of(self._probability(k), self._label(k), self._threshold) == self._cell
            )
            and (not self._search or self._search in self._search_texts[k])
        ]
        column, order = self._order
        if column != ID or order == Qt.SortOrder.DescendingOrder:
            kept.sort(key=lambda k: self._key(k, column), reverse=order == Qt.SortOrder.DescendingOrder)
        self._shown = kept
        self.endResetModel()

    def _key(self, position: int, column: int) -> Any:
        case = self._cases[position]
        if column == PROBABILITY:
            probability = self._probability(position)
            return -1.0 if probability is None else probability
        if column == LABEL:
            label = self._label(position)
            return -1 if label is None else int(label)
        if column == TIME:
            answer = self._answer(position)
            return answer.elapsed_ms if answer is not None else -1.0
        if column == OUTCOME:
            return self._outcome(position)[1]
        return {ID: position, TEXT: case.text, NOTE: case.note}[column]

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
        self._refilter()

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        position = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(position, index.column())
        if role == ProbabilityDelegate.StateRole and index.column() == PROBABILITY:
            return self._bar(position)
        if role == self.StatusRole:
            return self._outcome(position)[0]
        if role == self.CaseRole:
            return self._cases[position]
        if role == Qt.ItemDataRole.ToolTipRole:
            answer = self._answer(position)
            detail = answer.detail if answer is not None and answer.detail else ""
            return "\n\n".join(part for part in (self._cases[position].text, detail) if part)
        return None

    def _bar(self, position: int) -> BarState | None:
        answer = self._answer(position)
        if answer is None:
            return None
        status = answer.status
        if answer.probability is not None:
            status = "rejected" if answer.probability >= self._threshold else "passed"
        return BarState(answer.probability, self._threshold, True, status)

    def _outcome(self, position: int) -> tuple[str, str]:
        answer = self._answer(position)
        if answer is None:
            return "", ""
        cell = cell_of(answer.probability, self._label(position), self._threshold)
        if cell is not None:
            return ("passed" if cell in ("tp", "tn") else "rejected"), _OUTCOME_WORDS[cell]
        if answer.probability is None:
            return answer.status, answer.status.replace("_", " ")
        return "info", ("rejected" if answer.probability >= self._threshold else "passed") + ", no label"

    def _text(self, position: int, column: int) -> str:
        case, answer = self._cases[position], self._answer(position)
        if column == ID:
            return case.id
        if column == TEXT:
            return " ".join(case.text[:300].split())
        if column == LABEL:
            label = self._label(position)
            return "" if label is None else ("+ yes" if label else "– no")
        if column == OUTCOME:
            return self._outcome(position)[1]
        if column == NOTE:
            near = (
                answer is not None
                and answer.probability is not None
                and is_near(answer.probability, self._threshold)
            )
            return case.note or ("near the threshold" if near else "")
        if column == TIME:
            return format_duration(answer.elapsed_ms) if answer is not None else ""
        return ""
