"""Which placeholders there are, which must have a value, and the texts that contexts and fields give."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
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

from workbench.engine.text import shorten
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import icon, mono_font, on_theme_changed, set_icon, set_role

_NEED = ("", "required", "optional")
_STATUS = {
    "resolved": ("passed", "passed"),
    "kept": ("warning", "rejected"),
    "empty": ("no-answer", "warning"),
}


class PlaceholdersPane(QWidget):
    """A row per placeholder: its body, whether it is required or optional, how often it occurs, its value.

    Below it the data-only contexts and fields, which are edited in place.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._filling = False
        self._uses: dict[str, list[tuple[int, Any]]] = {}
        self.table = _table(("Placeholder", "Need", "Uses", "Value"), "Placeholders")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.itemActivated.connect(lambda item: self._go(item.row()))
        self.table.cellClicked.connect(self._cell_clicked)
        self.texts = _table(("Context or field", "Key", "Text"), "Texts of contexts and fields")
        self.texts.itemChanged.connect(self._text_edited)
        self.add_text = QPushButton("Add text")
        self.remove_text = QPushButton("Remove")
        for button, name in ((self.add_text, "plus"), (self.remove_text, "minus")):
            set_icon(button, name, "second")
            set_role(button, "flat")
        self.add_text.clicked.connect(self._add_text)
        self.remove_text.clicked.connect(self._remove_text)
        head = QLabel("Contexts and fields")
        head.setToolTip(
            "A context gives a text for [%NAME.KEY%], before the parameters are asked. A field gives one for a "
            "placeholder without a context: leave the first column empty."
        )
        set_role(head, "title")
        strip = QHBoxLayout()
        strip.setContentsMargins(12, 4, 8, 4)
        strip.addWidget(head, 1)
        strip.addWidget(self.add_text)
        strip.addWidget(self.remove_text)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.table, 3)
        layout.addLayout(strip)
        layout.addWidget(self.texts, 2)
        session.rendered.connect(self._show)
        session.project_changed.connect(self._project_changed)
        session.edited.connect(lambda area: self._fill_texts() if area == "template" else None)
        on_theme_changed(self, self._recolor)
        self._project_changed()

    def _project_changed(self) -> None:
        self.setEnabled(self._session.project is not None)
        if self._session.project is None:
            self.table.setRowCount(0)
        self._fill_texts()

    def _recolor(self) -> None:
        rendering = self._session.rendering()
        if rendering is not None:
            self._show(rendering)

    # -- placeholders -------------------------------------------------------------------------------------

    def _show(self, rendering: Any) -> None:
        options = self._session.snapshot().template
        uses: dict[str, list[tuple[int, Any]]] = {}
        for index, message in enumerate(rendering.messages):
            for use in message.placeholders:
                uses.setdefault(use.body, []).append((index, use))
        if rendering.graph is not None:
            for use in rendering.graph.placeholders:
                uses.setdefault(use.body, []).append((0, use))
        for name in (*options.required, *options.optional):
            uses.setdefault(name.strip("{}"), [])
        self._uses = uses
        self.table.setRowCount(len(uses))
        for row, (body, found) in enumerate(uses.items()):
            need = (
                "required"
                if _declared(body, options.required)
                else "optional"
                if _declared(body, options.optional)
                else ""
            )
            first = found[0][1] if found else None
            value = (
                shorten(first.text.replace("\n", " ⏎ "), 80)
                if first is not None and first.status != "kept"
                else ""
            )
            name = _item(body, mono=True)
            if first is not None:
                name.setIcon(icon(*_STATUS[first.status]))
                name.setToolTip(
                    {"resolved": "has a value", "kept": "has no value", "empty": "is empty"}[first.status]
                )
            need_item = _item(need or "–")
            need_item.setToolTip("Click to change: not declared, required, optional")
            for column, item in enumerate((name, need_item, _item(str(len(found))), _item(value, mono=True))):
                self.table.setItem(row, column, item)

    def _go(self, row: int) -> None:
        found = list(self._uses.values())[row]
        if found:
            index, use = found[0]
            self._session.go_to(Place("message", str(index), use.start, use.end, use.pointer))

    def _cell_clicked(self, row: int, column: int) -> None:
        if column == 1:
            body = list(self._uses)[row]
            options = self._session.snapshot().template
            now = 1 if _declared(body, options.required) else 2 if _declared(body, options.optional) else 0
            self.declare(body, _NEED[(now + 1) % 3])

    def declare(self, body: str, need: str) -> None:
        """Declare a placeholder `required`, `optional` or, with `""`, neither; undoable."""
        options = self._session.snapshot().template
        before = (options.required, options.optional)
        required = tuple(name for name in options.required if name.strip("{}") != body)
        optional = tuple(name for name in options.optional if name.strip("{}") != body)
        if need == "required":
            required = (*required, body)
        elif need == "optional":
            optional = (*optional, body)

        def change(required: tuple[str, ...], optional: tuple[str, ...]) -> Any:
            def do(project: Any) -> None:
                project.set_template_option("required", list(required))
                project.set_template_option("optional", list(optional))

            return do

        self._session.apply("template", f"Declare {body}", change(required, optional), change(*before))

    # -- contexts and fields --------------------------------------------------------------------------------

    def _rows(self) -> list[tuple[str, str, str]]:
        options = self._session.snapshot().template
        rows = [(name, key, text) for name, texts in options.contexts.items() for key, text in texts.items()]
        return rows + [("", body, text) for body, text in options.fields.items()]

    def _fill_texts(self) -> None:
        rows = self._rows()
        shown = [tuple(self._cell(r, c) for c in range(3)) for r in range(self.texts.rowCount())]
        if rows == [row for row in shown if row[1]]:
            return
        self._filling = True
        try:
            self.texts.setRowCount(len(rows))
            for r, row in enumerate(rows):
                for c, text in enumerate(row):
                    self.texts.setItem(r, c, _item(text, mono=True, editable=True))
        finally:
            self._filling = False

    def _cell(self, row: int, column: int) -> str:
        item = self.texts.item(row, column)
        return item.text() if item is not None else ""

    def _add_text(self) -> None:
        self._filling = True
        try:
            row = self.texts.rowCount()
            self.texts.insertRow(row)
            for column in range(3):
                self.texts.setItem(row, column, _item("", mono=True, editable=True))
        finally:
            self._filling = False
        self.texts.setCurrentCell(row, 0)
        self.texts.editItem(self.texts.item(row, 0))

    def _remove_text(self) -> None:
        row = self.texts.currentRow()
        if row >= 0:
            self.texts.removeRow(row)
            self._write_texts()

    def _text_edited(self, _item: QTableWidgetItem) -> None:
        if not self._filling:
            self._write_texts()

    def _write_texts(self) -> None:
        contexts: dict[str, dict[str, str]] = {}
        fields: dict[str, str] = {}
        for row in range(self.texts.rowCount()):
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


def _declared(body: str, names: tuple[str, ...]) -> bool:
    return any(name.strip("{}") == body for name in names)


def _table(headers: tuple[str, ...], name: str) -> QTableWidget:
    table = QTableWidget(0, len(headers))
    table.setHorizontalHeaderLabels(headers)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(24)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    table.horizontalHeader().setStretchLastSection(True)
    table.horizontalHeader().setHighlightSections(False)
    table.setShowGrid(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setTabKeyNavigation(False)
    table.setAccessibleName(name)
    table.setColumnWidth(0, 180)
    table.setColumnWidth(1, 80)
    if len(headers) == 4:
        table.setColumnWidth(2, 48)
    return table


def _item(text: str, mono: bool = False, editable: bool = False) -> QTableWidgetItem:
    item = QTableWidgetItem(text)
    if mono:
        item.setFont(mono_font())
    if not editable:
        item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
    return item
