"""The checks of a stored guardrail run as a table: name, bar, outcome."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from workbench.gui.delegates.probability import BarState, ProbabilityDelegate
from workbench.gui.delegates.words import StatusDelegate
from workbench.gui.models.figures import format_margin
from workbench.gui.models.table import HeadedTableModel
from workbench.gui.shell.scale import px
from workbench.gui.widgets.tables import dress_table

if TYPE_CHECKING:
    from workbench.engine.guardrails import CheckResult, GuardrailResult

NAME, BAR, OUTCOME = range(3)
_HEADS = ("Check", "Probability of yes", "Outcome")


class CheckResultModel(HeadedTableModel):
    """The checks of one result."""

    heads = _HEADS

    StatusRole = Qt.ItemDataRole.UserRole + 3

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[CheckResult, ...] = ()

    def set_result(self, result: GuardrailResult | None) -> None:
        """Show the checks of a result."""
        self.beginResetModel()
        self._rows = result.checks if result is not None else ()
        self.endResetModel()

    def shown_rows(self) -> Sized:
        return self._rows

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        check = self._rows[index.row()]
        if role == self.StatusRole:
            return check.status
        if role == ProbabilityDelegate.StateRole:
            # The 0 or 1 of a check that asks no model is no probability to draw.
            if check.kind != "model":
                return None
            return BarState(
                check.probability,
                check.threshold,
                True,
                check.status,
                lower=check.lower,
                upper=check.upper,
                mass=check.mass,
            )
        if role == Qt.ItemDataRole.DisplayRole:
            kind = "" if check.kind == "model" else f"{check.kind}, no model"
            return (check.name, kind, _outcome(check))[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(part for part in (check.question, check.detail) if part)
        return None


def _outcome(check: CheckResult) -> str:
    word = check.status.replace("_", " ")
    if check.kind != "model":
        return f"{word}, {check.detail}" if check.detail else word
    if check.probability is None:
        return word
    return f"{word}, {format_margin(check.probability, check.threshold)}"


class CheckResultTable(QTableView):
    """A read-only table of check results."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.results = CheckResultModel(self)
        self.setModel(self.results)
        self.setAccessibleName("Checks of the run")
        dress_table(self, 28)
        self.setTabKeyNavigation(False)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(OUTCOME, QHeaderView.ResizeMode.Stretch)
        self.setColumnWidth(NAME, px(124))
        self.setColumnWidth(BAR, px(142))
        self.setItemDelegateForColumn(BAR, ProbabilityDelegate(self))
        self.setItemDelegateForColumn(OUTCOME, StatusDelegate(int(CheckResultModel.StatusRole), self))
