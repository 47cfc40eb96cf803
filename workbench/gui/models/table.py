"""What every flat table with fixed column heads answers alike, so that each model holds only its cells."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, ClassVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from workbench.gui.models.roots import ROOT


class HeadedTableModel(QAbstractTableModel):
    """A table without children. A subclass sets `heads` and says what its rows are."""

    heads: ClassVar[tuple[str, ...]] = ()

    def shown_rows(self) -> Sized:
        """Return the rows; only their number is asked for."""
        raise NotImplementedError

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() else len(self.shown_rows())

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return len(self.heads)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.heads[section]
        return None
