"""A row per placeholder, and below it what can be said of the chosen one: need, description, value, places."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.delegates.ink import mono
from workbench.gui.panes.placeholders.declaring import (
    NEEDS,
    Row,
    declaring,
    rows_of,
    tokens_of,
)
from workbench.gui.shell.scale import px
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import icon_pixmap, set_role, small_font, theme
from workbench.gui.widgets.labels import TokenLabel

ROW = Qt.ItemDataRole.UserRole + 1
_STATUS = {
    "resolved": ("passed", "passed", "has a value"),
    "kept": ("warning", "rejected", "has no value"),
    "empty": ("no-answer", "warning", "is empty"),
    "absent": ("info", "second", "is declared, but stands nowhere"),
}


class UsesModel(QAbstractListModel):
    """The placeholders of the project."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []

    def set_rows(self, rows: list[Row]) -> None:
        """Show `rows`; where the bodies stay the same, the selection stays."""
        if [row.body for row in rows] == [row.body for row in self.rows]:
            changed = [i for i, (a, b) in enumerate(zip(rows, self.rows, strict=True)) if a != b]
            self.rows = rows
            if changed:
                self.dataChanged.emit(self.index(changed[0]), self.index(changed[-1]))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.body
        if role == ROW:
            return row
        words = _STATUS[row.status][2]
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(part for part in (f"{row.body} {words}", row.description, row.value) if part)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.body}, {row.need or 'not declared'}, {words}"
        return None


class _RowDelegate(QStyledItemDelegate):
    """Two lines: body and need, then what it means or what is put in."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        height = QFontMetrics(mono()).height() + QFontMetrics(small_font()).height()
        return QSize(px(160), max(px(40), height + 10))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colors, row, box = theme(), index.data(ROW), option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, colors.color("selection"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, colors.color("hover"))
        name, token, _words = _STATUS[row.status]
        painter.drawPixmap(box.left() + 8, box.top() + 7, icon_pixmap(name, token, 14))
        left = box.left() + px(20) + 8
        width = box.right() - left - 8
        small, figures = QFontMetrics(small_font()), QFontMetrics(mono())
        first = QRect(left, box.top() + 4, width, figures.height())
        second = QRect(left, first.bottom() + 2, width, small.height())
        align, elide = Qt.AlignmentFlag.AlignVCenter, Qt.TextElideMode.ElideRight
        painter.setFont(small_font())
        painter.setPen(colors.color("second"))
        said = row.need + (f" ×{row.count}" if row.count > 1 else "")
        painter.drawText(first, align | Qt.AlignmentFlag.AlignRight, said)
        line = row.description or row.value.replace("\n", " ⏎ ") or _STATUS[row.status][2]
        painter.drawText(second, align, small.elidedText(line, elide, width))
        painter.setFont(mono())
        painter.setPen(colors.color("text"))
        room = width - (small.horizontalAdvance(said) + 10 if said else 0)
        painter.drawText(first, align, figures.elidedText(row.body, Qt.TextElideMode.ElideMiddle, room))
        painter.restore()


class UsesSection(QWidget):
    """The list of placeholders and the form of the chosen one."""

    counted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._filling = False
        self._step = 0
        self.model = UsesModel(self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(_RowDelegate(self.view))
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        self.view.setAccessibleName("Placeholders")
        self.view.activated.connect(lambda index: self.go(index.row()))
        self.view.clicked.connect(lambda index: self.go(index.row()))
        self.empty = QLabel("No placeholders. Type [% in a message to insert one.")
        self.empty.setContentsMargins(12, 12, 12, 12)
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        set_role(self.empty, "second")
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self.view)
        splitter.addWidget(self._build_form())
        splitter.setStretchFactor(0, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.empty)
        layout.addWidget(splitter, 1)
        self.view.selectionModel().currentChanged.connect(lambda *_: self._fill_form())
        session.rendered.connect(lambda _rendering: self.refresh())
        session.project_changed.connect(self.refresh)
        session.caret_moved.connect(self._follow)

    def _build_form(self) -> QWidget:
        self.form = QWidget()
        set_role(self.form, "bar")
        self.form.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        form = QFormLayout(self.form)
        form.setContentsMargins(12, 8, 12, 8)
        form.setVerticalSpacing(6)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.need = QComboBox()
        for need, words in zip(NEEDS, ("not declared", "required", "optional"), strict=True):
            self.need.addItem(words, need)
        self.need.setToolTip("A required placeholder must stand in the template; the lines of an optional one "
                             "are left out when it has no value")  # fmt: skip
        self.need.setAccessibleName("Need")
        self.need.activated.connect(lambda _index: self._declare_chosen())
        self.description = QLineEdit()
        self.description.setAccessibleName("Description")
        self.description.editingFinished.connect(self._describe_chosen)
        self.value = TokenLabel("", monospace=True, elide=True)
        self.value.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.where = QPushButton()
        set_role(self.where, "link")
        self.where.clicked.connect(self._next_place)
        self.source = QPushButton("Parameter")
        set_role(self.source, "link")
        self.source.setAccessibleName("Go to the parameter")
        self.source.clicked.connect(self._go_to_parameter)
        links = QHBoxLayout()
        links.setContentsMargins(0, 0, 0, 0)
        links.addWidget(self.where)
        links.addWidget(self.source)
        links.addStretch(1)
        form.addRow("Need", self.need)
        form.addRow("Means", self.description)
        form.addRow("Value", self.value)
        form.addRow(links)
        return self.form

    # -- showing ----------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the placeholders as they are; costs nothing while nobody looks."""
        rendering = self._session.rendering()
        if self._session.project is None or rendering is None:
            self.model.set_rows([])
        elif self.isVisible():
            chosen = self.chosen()
            self.model.set_rows(rows_of(rendering, self._session.snapshot()))
            if chosen is not None:
                self.choose(chosen.body)
        count = len(self.model.rows)
        missing = sum(row.status == "kept" for row in self.model.rows)
        self.counted.emit((f"{count}" if count else "") + (f", {missing} without a value" if missing else ""))
        self.empty.setVisible(not count)
        self.view.setVisible(bool(count))
        self._fill_form()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self.refresh()

    def chosen(self) -> Row | None:
        """Return the chosen placeholder."""
        row = self.view.currentIndex().row()
        return self.model.rows[row] if 0 <= row < len(self.model.rows) else None

    def choose(self, body: str) -> bool:
        """Choose a placeholder by its body."""
        for number, row in enumerate(self.model.rows):
            if row.body == body:
                if self.view.currentIndex().row() != number:
                    self.view.setCurrentIndex(self.model.index(number))
                return True
        return False

    def _follow(self, place: Any) -> None:
        """Choose the placeholder that has the caret."""
        if place.start is None or not self.isVisible() or place.area not in ("message", "graph"):
            return
        for row in self.model.rows:
            for where, _use in row.uses:
                if (where.area, where.name, where.start) == (place.area, place.name, place.start):
                    self.choose(row.body)
                    return

    def _fill_form(self) -> None:
        row = self.chosen()
        self.form.setVisible(row is not None)
        if row is None:
            return
        self._filling = True
        try:
            self.need.setCurrentIndex(NEEDS.index(row.need))
            if not self.description.hasFocus() or self.description.text() == "":
                self.description.setText(row.description)
            possible = self._describable(row)
            self.description.setEnabled(possible)
            self.description.setToolTip(
                "The description of the parameter in parameters.schema.json"
                if possible
                else "Only what is read from the parameters by a plain path has a description in their schema"
            )
            self.description.setPlaceholderText("kept in the parameters' schema" if possible else "")
            self.value.set_text(row.value.replace("\n", " ⏎ ") or _STATUS[row.status][2])
            self.value.setToolTip(row.value)
            count = len(row.uses)
            self.where.setText("Placeholder" if count == 1 else f"Next of {count}")
            self.where.setAccessibleName("Go to the placeholder")
            self.where.setVisible(count > 0)
            self.source.setVisible(any(use.pointer is not None for _, use in row.uses))
        finally:
            self._filling = False

    def _describable(self, row: Row) -> bool:
        foreign = any(use.source in ("context", "field") for _, use in row.uses)
        return not foreign and bool(tokens_of(row.body, self._session.snapshot().template))

    # -- going ------------------------------------------------------------------------------------------

    def go(self, number: int, step: int = 0) -> None:
        """Go to the place of a placeholder; with several, `step` chooses."""
        row = self.model.rows[number]
        self.view.setCurrentIndex(self.model.index(number))
        if row.uses:
            self._step = step % len(row.uses)
            self._session.go_to(row.uses[self._step][0])

    def _next_place(self) -> None:
        number = self.view.currentIndex().row()
        row = self.chosen()
        if row is not None:
            self.go(number, self._step + 1 if len(row.uses) > 1 else 0)

    def _go_to_parameter(self) -> None:
        from workbench.gui.shell.places import Place

        row = self.chosen()
        pointer = next((use.pointer for _, use in row.uses if use.pointer is not None), None) if row else None
        if pointer is not None:
            self._session.go_to(Place("parameters", self._session.parameter_set or "", pointer=pointer))

    # -- changing ---------------------------------------------------------------------------------------

    def _declare_chosen(self) -> None:
        row = self.chosen()
        if row is not None and not self._filling:
            self.declare(row.body, self.need.currentData())

    def declare(self, body: str, need: str) -> None:
        """Declare a placeholder `required`, `optional` or, with `""`, neither; undoable."""
        do, undo = declaring(self._session.snapshot(), body, need)
        self._session.apply("template", f"Declare {body}", do, undo)

    def _describe_chosen(self) -> None:
        row = self.chosen()
        if row is not None and not self._filling and self.description.text() != row.description:
            self.describe(row.body, self.description.text())

    def describe(self, body: str, text: str) -> None:
        """Say what a placeholder means, in the schema of the parameters; one is made where there is none."""
        from workbench.engine.json_text import parse_json
        from workbench.engine.projects.descriptions import describe
        from workbench.engine.templates import apply_fixes
        from workbench.gui.panes.schemas import inferred_text

        snapshot = self._session.snapshot()
        tokens = tokens_of(body, snapshot.template)
        if not tokens:
            return
        before = snapshot.parameters_schema.text if snapshot.parameters_schema is not None else None
        if before is None:
            rendering = self._session.rendering()
            value = rendering.parameters.value if rendering is not None and rendering.parameters.ok else {}
            document = parse_json(inferred_text(value))
        else:
            document = parse_json(before)
        fix = describe(document, tokens, text) if document.ok else None
        if fix is None:
            words = (
                "cannot be read" if not document.ok else "describes no object that could have this parameter"
            )
            self._session.status.emit(f"Not described: the parameters' schema {words}.")
            self._fill_form()
            return
        after = apply_fixes(document.text, [fix])
        self._session.apply(
            "schemas",
            f"Describe {body}",
            lambda project: project.set_parameters_schema(after),
            lambda project: project.set_parameters_schema(before),
        )
