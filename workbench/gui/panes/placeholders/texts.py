"""The texts that contexts and fields give to placeholders, edited in place."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.shell.scale import px
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import mono_font, set_icon, set_role, small_font


class TextsSection(QWidget):
    """A row per text: context (empty for a field), key, text."""

    counted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._filling = False
        self.table = QTableWidget(0, 3)
        self.table.setHorizontalHeaderLabels(("Context", "Key or field", "Text"))
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        self.table.setColumnWidth(0, px(70))
        self.table.setColumnWidth(1, px(90))
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        self.table.setAccessibleName("Texts of contexts and fields")
        self.table.itemChanged.connect(self._edited)
        words = QLabel(
            "A context gives a text for [%CONTEXT.KEY%] before the parameters are asked. A field gives one for "
            "a placeholder without a context: leave the first column empty."
        )
        words.setWordWrap(True)
        words.setFont(small_font())
        words.setContentsMargins(12, 8, 12, 8)
        set_role(words, "second")
        self.add_button, self.remove_button = QPushButton("Add text"), QPushButton("Remove")
        for button, name in ((self.add_button, "plus"), (self.remove_button, "minus")):
            set_icon(button, name, "second")
            set_role(button, "flat")
        self.add_button.clicked.connect(self._add)
        self.remove_button.clicked.connect(self._remove)
        strip = QHBoxLayout()
        strip.setContentsMargins(8, 4, 8, 4)
        strip.addWidget(self.add_button)
        strip.addWidget(self.remove_button)
        strip.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(words)
        layout.addWidget(self.table, 1)
        layout.addLayout(strip)
        session.project_changed.connect(self.refresh)
        session.edited.connect(lambda area: self.refresh() if area == "template" else None)

    def rows(self) -> list[tuple[str, str, str]]:
        """Return context (empty for a field), key and text of every text of the project."""
        options = self._session.snapshot().template
        rows = [(name, key, text) for name, texts in options.contexts.items() for key, text in texts.items()]
        return rows + [("", body, text) for body, text in options.fields.items()]

    def refresh(self) -> None:
        """Show the texts of the project."""
        self.setEnabled(self._session.project is not None)
        rows = self.rows()
        self.counted.emit(str(len(rows)) if rows else "")
        shown = [tuple(self._cell(r, c) for c in range(3)) for r in range(self.table.rowCount())]
        # A row stays where it was added, so that whoever writes on finds the next cell in it.
        if sorted(rows) == sorted(row for row in shown if row[1]):
            return
        self._filling = True
        try:
            self.table.setRowCount(len(rows))
            for r, row in enumerate(rows):
                for c, text in enumerate(row):
                    self.table.setItem(r, c, _item(text))
        finally:
            self._filling = False

    def _cell(self, row: int, column: int) -> str:
        item = self.table.item(row, column)
        return item.text() if item is not None else ""

    def _add(self) -> None:
        self._filling = True
        try:
            row = self.table.rowCount()
            self.table.insertRow(row)
            for column in range(3):
                self.table.setItem(row, column, _item(""))
        finally:
            self._filling = False
        self.table.setCurrentCell(row, 0)
        self.table.editItem(self.table.item(row, 0))

    def _remove(self) -> None:
        row = self.table.currentRow()
        if row >= 0:
            self.table.removeRow(row)
            self._write()

    def _edited(self, _item: QTableWidgetItem) -> None:
        if not self._filling:
            self._write()

    def _write(self) -> None:
        contexts: dict[str, dict[str, str]] = {}
        fields: dict[str, str] = {}
        for row in range(self.table.rowCount()):
            name, key, text = (self._cell(row, column) for column in range(3))
            if not key:
                continue
            if name:
                contexts.setdefault(name, {})[key] = text
            else:
                fields[key] = text
        options = self._session.snapshot().template
        before = ({name: dict(texts) for name, texts in options.contexts.items()}, dict(options.fields))
        if before == (contexts, fields):
            return

        def change(contexts: dict[str, dict[str, str]], fields: dict[str, str]) -> Any:
            def do(project: Any) -> None:
                project.set_template_option("contexts", contexts)
                project.set_template_option("fields", fields)

            return do

        self._session.apply("template", "Contexts and fields", change(contexts, fields), change(*before))


def _item(text: str) -> QTableWidgetItem:
    item = QTableWidgetItem(text)
    item.setFont(mono_font())
    return item
