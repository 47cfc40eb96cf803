"""Diagnostics of a reply as a table: where, which rule, what, and on which line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.models.roots import ROOT

POINTER, KEYWORD, MESSAGE, LINE = range(4)
_HEADS = ("Pointer", "Keyword", "What", "Line")


class DiagnosticTableModel(QAbstractTableModel):
    """One row per diagnostic, in the order given."""

    DiagnosticRole = Qt.ItemDataRole.UserRole + 1
    StatusRole = Qt.ItemDataRole.UserRole + 3

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Diagnostic] = []

    def set_diagnostics(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Show `diagnostics`."""
        if list(diagnostics) == self._rows:
            return
        self.beginResetModel()
        self._rows = list(diagnostics)
        self.endResetModel()

    def diagnostic(self, row: int) -> Diagnostic:
        """Return the diagnostic of a row."""
        return self._rows[row]

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return len(_HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _HEADS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section == LINE:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        diagnostic = self._rows[index.row()]
        column = index.column()
        if role == self.DiagnosticRole:
            return diagnostic
        if role == self.StatusRole:
            return {"error": "error_mark", "warning": "error", "info": "info"}[diagnostic.severity]
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(diagnostic, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            pointer = diagnostic.pointer if (diagnostic.pointer or "") not in diagnostic.message else None
            return "\n".join(part for part in (pointer, diagnostic.message, diagnostic.hint) if part)
        if role == Qt.ItemDataRole.TextAlignmentRole and column == LINE:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


def _text(diagnostic: Diagnostic, column: int) -> str:
    if column == POINTER:
        if diagnostic.pointer is None:
            return ""
        return diagnostic.pointer or "(whole value)"
    if column == KEYWORD:
        return diagnostic.keyword or diagnostic.code
    if column == MESSAGE:
        # The pointer has a column of its own; the rest of the message has little room.
        return (
            diagnostic.message.removeprefix(f"{diagnostic.pointer} ")
            if diagnostic.pointer
            else diagnostic.message
        )
    if diagnostic.line is None:
        return ""
    return f"{diagnostic.line}:{diagnostic.column}" if diagnostic.column is not None else str(diagnostic.line)
