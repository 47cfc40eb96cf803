"""How the tables of the window look, and how a row of texts is put into one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QTableView, QTableWidget, QTableWidgetItem

from workbench.gui.delegates.words import TextDelegate
from workbench.gui.shell.scale import fit_rows


def dress_table(table: QTableView, row_height: float) -> None:
    """Give a table the look of the window: whole rows, no grid, no row heads, heads at the left.

    `row_height` is a height of the design, in pixels.
    """
    table.setShowGrid(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setItemDelegate(TextDelegate(table))
    table.verticalHeader().hide()
    fit_rows(table, row_height)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def fill_row(table: QTableWidget, row: int, words: Sequence[str]) -> None:
    """Put texts into the cells of a row, from the first column on."""
    for column, text in enumerate(words):
        table.setItem(row, column, QTableWidgetItem(text))
