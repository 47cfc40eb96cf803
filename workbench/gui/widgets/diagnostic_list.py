"""Diagnostics of one attempt, each of which leads to its place and its rule, with what the schema expected below."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QToolButton, QVBoxLayout, QWidget

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import dumps
from workbench.gui.delegates.words import MonoDelegate, StatusDelegate
from workbench.gui.models.diagnostics import KEYWORD, LINE, MESSAGE, POINTER, DiagnosticTableModel
from workbench.gui.models.figures import counted
from workbench.gui.shell.scale import px
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.labels import SectionHead, Strip, TokenLabel
from workbench.gui.widgets.tables import dress_table


class DiagnosticList(QWidget):
    """A table of diagnostics under a head; choosing one tells `chosen`.

    With `to_schema` a button below leads to the rule that was broken; it tells `rule_asked`.
    """

    chosen = Signal(object)
    rule_asked = Signal(object)

    def __init__(
        self, title: str = "Diagnostics", parent: QWidget | None = None, *, to_schema: bool = False
    ) -> None:
        super().__init__(parent)
        self._to_schema = to_schema
        self.head = SectionHead(title)
        self.model = DiagnosticTableModel(self)
        self.table = QTableView()
        self.table.setModel(self.model)
        self.table.setAccessibleName("Diagnostics of the reply")
        dress_table(self.table, 28)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(MESSAGE, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)
        role = int(DiagnosticTableModel.StatusRole)
        self.table.setItemDelegateForColumn(POINTER, StatusDelegate(role, self.table, colored=False))
        self.table.setItemDelegateForColumn(KEYWORD, MonoDelegate(self.table, second=True))
        self.table.setItemDelegateForColumn(LINE, MonoDelegate(self.table, second=True))
        self.expected = Strip(30, "window")
        self.expected_words = TokenLabel("", "second", size="second", elide=True)
        self.expected.row.addWidget(self.expected_words, 1)
        self.rule_button = QToolButton()
        self.rule_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.rule_button.setText("Rule")
        set_icon(self.rule_button, "schema")
        self.rule_button.setToolTip("Show the rule of the output schema that was broken")
        self.rule_button.setAccessibleName("Show the rule in the schema")
        self.rule_button.clicked.connect(self._ask_rule)
        self.expected.row.addWidget(self.rule_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.head)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.expected)
        self.table.selectionModel().currentRowChanged.connect(self._row_changed)
        self.table.activated.connect(self._activated)
        self.table.clicked.connect(self._activated)
        self.show_diagnostics([])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room(event.size().width())

    def _share_room(self, width: int) -> None:
        """Give what is wrong the most room; `width` is that of the list, in pixels.

        A narrow list leaves the keyword to the line below the table. Pointer and keyword get no more than their
        words need, and no more than a share: a long pointer is in its tip as a whole.
        """
        self.table.setColumnHidden(KEYWORD, width < px(480))
        for column, least, share in ((POINTER, px(64), 0.28), (KEYWORD, px(56), 0.16), (LINE, px(40), 0.3)):
            words = self.table.sizeHintForColumn(column) + px(10)
            head = self.table.horizontalHeader().sectionSizeHint(column)
            most = max(least, int(width * share))
            self.table.setColumnWidth(column, min(max(words, head, least), most))

    def show_diagnostics(self, diagnostics: Sequence[Diagnostic], title: str | None = None) -> None:
        """Show `diagnostics`."""
        if title is not None:
            self.head.title.set_text(title)
        self.model.set_diagnostics(diagnostics)
        self._share_room(self.width())
        errors = sum(1 for each in diagnostics if each.severity == "error")
        self.head.note.set_text(counted(errors, "error") if errors else "no errors")
        self.head.note.set_look(token="rejected" if errors else "second")
        if not diagnostics:
            self.expected_words.set_text("")
        self._offer_rule()

    def current(self) -> Diagnostic | None:
        """Return the chosen diagnostic."""
        index = self.table.currentIndex()
        return self.model.diagnostic(index.row()) if index.isValid() else None

    def _offer_rule(self) -> None:
        chosen = self.current()
        self.rule_button.setVisible(
            self._to_schema and chosen is not None and chosen.schema_pointer is not None
        )

    def _ask_rule(self) -> None:
        chosen = self.current()
        if chosen is not None:
            self.rule_asked.emit(chosen)

    def _row_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if current.isValid():
            diagnostic = self.model.diagnostic(current.row())
            self.expected_words.set_text(_expectation(diagnostic))
            self._offer_rule()
            self.chosen.emit(diagnostic)

    def _activated(self, index: QModelIndex) -> None:
        self.chosen.emit(self.model.diagnostic(index.row()))


def _expectation(diagnostic: Diagnostic) -> str:
    parts = []
    if diagnostic.schema_pointer is not None:
        parts.append(f"Schema: {diagnostic.schema_pointer}")
    if diagnostic.expected is not None:
        parts.append(f"Expected: {dumps(diagnostic.expected)}")
    if diagnostic.hint:
        parts.append(diagnostic.hint)
    return "   ".join(parts)
