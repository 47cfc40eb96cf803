"""The figures that an evaluation ended with, a row per check, as the history kept them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from workbench.engine.evaluation.run_record import HEADS, figure_rows
from workbench.gui.delegates.words import MonoDelegate
from workbench.gui.widgets.tables import dress_table


class EvaluationTable(QTableWidget):
    """A read-only table of counts and rates."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, len(HEADS), parent)
        # The lab calls its column of thresholds so too; the whole word would push the last figures out of sight.
        short = {"threshold": "t"}
        self.setHorizontalHeaderLabels([short.get(head, head[0].upper() + head[1:]) for head in HEADS])
        self.horizontalHeaderItem(HEADS.index("threshold")).setToolTip("Threshold: rejected at or above it")
        self.setAccessibleName("Figures of the evaluation")
        dress_table(self, 28)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.horizontalHeaderItem(0).setTextAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for place in range(1, len(HEADS)):
            self.setItemDelegateForColumn(place, MonoDelegate(self, padding=8))

    def show_figures(self, checks: Sequence[Mapping[str, Any]]) -> None:
        """Show what `evaluated_data` kept of each check."""
        rows = figure_rows(checks)
        self.setRowCount(len(rows))
        for row, texts in enumerate(rows):
            for place, text in enumerate(texts):
                item = QTableWidgetItem(text)
                if place:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(row, place, item)
