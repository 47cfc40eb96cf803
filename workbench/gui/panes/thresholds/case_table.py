"""The labelled cases: filtered by outcome, searched, labelled with one key and edited in place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPushButton,
    QSizePolicy,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.models.cases import ID, LABEL, NOTE, OUTCOME, PROBABILITY, TEXT, TIME, USER, CaseTableModel
from workbench.gui.models.cases_filter import EVERYTHING, FILTERS, CaseFilter
from workbench.gui.models.figures import grouped
from workbench.gui.panes.thresholds.cells import dress
from workbench.gui.panes.thresholds.check_list import plain_table
from workbench.gui.panes.thresholds.lab import Lab
from workbench.gui.shell.scale import px
from workbench.gui.shell.theme import set_icon
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.figure_label import FigureLabel
from workbench.gui.widgets.filter_chips import FilterChips
from workbench.gui.widgets.labels import LinkButton, SectionHead

_LABEL_KEYS = {Qt.Key.Key_Y: True, Qt.Key.Key_N: False, Qt.Key.Key_U: None}
_COUNT_MS = 80
_FOLLOW_MS = 90
_MISTAKES = ("wrong", "fp", "fn")


class CaseView(QTableView):
    """The table itself; it turns keys into wishes."""

    labelled = Signal(object)
    delete_asked = Signal()
    add_asked = Signal()

    def dataChanged(
        self,
        first: QModelIndex | QPersistentModelIndex,
        last: QModelIndex | QPersistentModelIndex,
        roles: Sequence[int] = (),
    ) -> None:
        """Repaint the columns that changed only: while a threshold is dragged that is every frame."""
        if first == last or self.state() == QAbstractItemView.State.EditingState:
            super().dataChanged(first, last, roles)
            return
        left = self.columnViewportPosition(first.column())
        right = self.columnViewportPosition(last.column()) + self.columnWidth(last.column())
        self.viewport().update(left, 0, right - left, self.viewport().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, plain = Qt.Key(event.key()), not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and key in _LABEL_KEYS and self.state() != QAbstractItemView.State.EditingState:
            self.labelled.emit(_LABEL_KEYS[key])
        elif plain and key == Qt.Key.Key_Delete:
            self.delete_asked.emit()
        elif plain and key == Qt.Key.Key_Insert:
            self.add_asked.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        # Single letters are also shortcuts somewhere; in this table they label.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            own = (*_LABEL_KEYS, Qt.Key.Key_Delete, Qt.Key.Key_Insert)
            if event.key() in own and not event.modifiers():
                event.accept()
                return True
        return bool(super().event(event))


class CaseTable(QWidget):
    """The cases under the chosen check, with their filters and the buttons that add, import and delete."""

    import_asked = Signal()
    selected = Signal(object)

    def __init__(self, lab: Lab, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lab = lab
        self._shown = lab.columns
        self._ordered = False
        self.model = CaseTableModel(self)
        self.view = CaseView()
        self._build_head()
        self._build_view()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.head)
        layout.addWidget(self.view, 1)
        self._counting = one_shot(self, self._show_chips, _COUNT_MS)
        self._following = one_shot(self, self._follow, _FOLLOW_MS)
        self._connect()

    def _build_head(self) -> None:
        self.head = SectionHead("Cases")
        self.count = FigureLabel("10,000 of 10,000")
        head = self.head.layout()
        assert isinstance(head, QHBoxLayout)
        head.insertWidget(1, self.count)
        self.count.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.chips = FilterChips(FILTERS)
        self.filter_link = LinkButton("")
        self.filter_link.setToolTip("Show all cases again")
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search cases")
        self.search.setAccessibleName("Search cases")
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(200)
        picture = QAction(self.search)
        set_icon(picture, "search", "second")
        self.search.addAction(picture, QLineEdit.ActionPosition.LeadingPosition)
        self.add_button = QPushButton("Add case")
        set_icon(self.add_button, "plus")
        self.import_button = QPushButton("Import…")
        set_icon(self.import_button, "import")
        self.import_button.setToolTip("Import labelled cases from a CSV file")
        self.delete_button = QToolButton()
        set_icon(self.delete_button, "trash")
        self.delete_button.setAccessibleName("Delete the selected cases")
        self.delete_button.setToolTip("Delete the selected cases (Delete)")
        for widget in (
            self.chips, self.filter_link, self.search, self.add_button, self.import_button, self.delete_button
        ):  # fmt: skip
            self.head.add(widget)

    def _build_view(self) -> None:
        view = self.view
        view.setModel(self.model)
        plain_table(view, "Labelled cases", 24)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        view.setSortingEnabled(True)
        view.sortByColumn(ID, Qt.SortOrder.AscendingOrder)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.setToolTip("Y labels yes, N no, U takes the label away; F2 edits, Insert adds, Delete deletes")
        header = view.horizontalHeader()
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        for place, width in (
            (ID, 92), (USER, 220), (LABEL, 76), (PROBABILITY, 150), (OUTCOME, 140), (NOTE, 180), (TIME, 76)
        ):  # fmt: skip
            view.setColumnWidth(place, px(width))
        dress(view, self.model)

    def _connect(self) -> None:
        lab, view = self._lab, self.view
        lab.columns_changed.connect(self.refresh)
        lab.check_changed.connect(self.refresh)
        lab.threshold_moved.connect(self._threshold_moved)
        lab.filter_changed.connect(self._filter_changed)
        self.model.edit_asked.connect(lab.edit_cell, Qt.ConnectionType.QueuedConnection)
        self.search.textChanged.connect(lambda _text: self._apply_filter())
        self.chips.chosen.connect(self._chip_chosen)
        self.filter_link.clicked.connect(self.clear_filter)
        self.add_button.clicked.connect(self.add_case)
        self.import_button.clicked.connect(self.import_asked)
        self.delete_button.clicked.connect(self.delete_selected)
        view.labelled.connect(self.label_selected)
        view.delete_asked.connect(self.delete_selected)
        view.add_asked.connect(self.add_case)
        view.customContextMenuRequested.connect(self._show_menu)
        view.selectionModel().currentRowChanged.connect(self._current_changed)

    # What is shown

    def refresh(self) -> None:
        """Show the cases of the lab under its check; the selection stays on the cases it was on."""
        lab, kept = self._lab, self.selected_positions()
        current = self.view.currentIndex()
        fallback = current.row() if current.isValid() else -1
        column = current.column() if current.isValid() else TEXT
        same = lab.columns is self._shown
        self._shown = lab.columns
        self.model.set_columns(lab.columns, lab.check_name, lab.threshold())
        self.view.setColumnHidden(USER, lab.stage != "output")
        if same:
            self._select(kept, fallback, column)
        self._show_count()
        self._counting.start()

    def _select(self, positions: list[int], fallback: int, column: int) -> None:
        """Select cases again after the rows moved; where all of them are gone, the row that took their place."""
        if not positions or self.model.rowCount() == 0:
            return
        rows = [row for position in positions if (row := self.model.row_of(position)) is not None]
        if rows == [index.row() for index in self.view.selectionModel().selectedRows()]:
            return
        if not rows:
            rows = [min(max(0, fallback), self.model.rowCount() - 1)]
        selection = self.view.selectionModel()
        flags = QItemSelectionModel.SelectionFlag
        selection.setCurrentIndex(self.model.index(rows[0], column), flags.ClearAndSelect | flags.Rows)
        for row in rows[1:]:
            selection.select(self.model.index(row, 0), flags.Select | flags.Rows)

    def selected_positions(self) -> list[int]:
        """Return which cases are selected."""
        if self.view.selectionModel() is None:
            return []
        rows = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        return [self.model.position(row) for row in rows if row < self.model.rowCount()]

    def select_case(self, identifier: str) -> bool:
        """Select a case by its id and scroll to it; false where there is no such case at this stage."""
        positions = self._lab.columns.positions(identifier)
        if not positions:
            return False
        if self.model.row_of(positions[0]) is None:
            self.clear_filter()
        row = self.model.row_of(positions[0])
        if row is not None:
            self.view.selectRow(row)
            self.view.scrollTo(self.model.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)
        return row is not None

    def _threshold_moved(self, threshold: float) -> None:
        self.model.set_threshold(threshold, soon=True)
        if self.model.behind() and not self._following.isActive():
            self._following.start()
        if not self._counting.isActive():
            self._counting.start()

    def _order_mistakes(self, shown: bool) -> None:
        """Show mistakes with the most confident first, and all cases in their own order again; no other order is touched."""
        header, ascending = self.view.horizontalHeader(), Qt.SortOrder.AscendingOrder
        now = header.sortIndicatorSection()
        if shown and now == ID and header.sortIndicatorOrder() == ascending:
            self._ordered = True
            self.view.sortByColumn(OUTCOME, ascending)
        elif not shown and self._ordered:
            self._ordered = False
            if now == OUTCOME:
                self.view.sortByColumn(ID, ascending)

    def _follow(self) -> None:
        """Let the filter follow a threshold that moves: some times a second, not in every frame."""
        kept, row = self.selected_positions(), self.view.currentIndex().row()
        self.model.catch_up()
        self._select(kept, row, TEXT)
        self._show_count()

    def _filter_changed(self) -> None:
        wanted = self._lab.filter
        self.chips.choose(wanted.key if wanted.key in FILTERS else "")
        self._order_mistakes(wanted.key in _MISTAKES)
        other = bool(wanted.words) and wanted.key not in FILTERS
        self.filter_link.setText(f"{wanted.words}  ×" if other else "")
        self.filter_link.setAccessibleName(f"Remove the filter {wanted.words}" if other else "")
        self.filter_link.setVisible(other)
        self.filter_link.updateGeometry()
        self._apply_filter()

    def _apply_filter(self) -> None:
        self.model.set_filter(self._lab.filter, self.search.text())
        self._show_count()

    def _chip_chosen(self, key: str) -> None:
        self._lab.set_filter(CaseFilter(key, words=FILTERS[key]) if key else EVERYTHING)

    def clear_filter(self) -> None:
        """Show all cases again."""
        self.search.clear()
        self._lab.set_filter(EVERYTHING)

    def _show_count(self) -> None:
        shown, total = self.model.rowCount(), self.model.total()
        self.count.set_text(f"{grouped(shown)} of {grouped(total)}" if shown != total else grouped(total))

    def _show_chips(self) -> None:
        self.chips.show_counts({key: self.model.count(key) for key in FILTERS})

    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self.selected.emit(self.model.position(current.row()) if current.isValid() else None)

    # What the user does

    def label_selected(self, label: bool | None) -> None:
        """Label the selected cases for the chosen check; a single one hands on to the next row."""
        positions = self.selected_positions()
        if not positions:
            return
        current = self.view.currentIndex()
        self._lab.label(positions, label)
        if len(positions) != 1:
            return
        row = self.model.row_of(positions[0])
        # Where the case left the filter, the next one already stands in its place.
        after = current.row() if row is None else row + 1
        if after < self.model.rowCount():
            self.view.setCurrentIndex(self.model.index(after, current.column()))

    def add_case(self) -> None:
        """Add an empty case and open its text."""
        if self._lab.session.project is None:
            return
        self.clear_filter()
        row = self.model.row_of(self._lab.add_case())
        if row is not None:
            index = self.model.index(row, TEXT)
            self.view.setCurrentIndex(index)
            self.view.scrollTo(index)
            self.view.edit(index)

    def delete_selected(self) -> None:
        """Delete the selected cases; undo brings them back."""
        positions = self.selected_positions()
        if positions:
            row = self.view.currentIndex().row()
            self._lab.delete(positions)
            if self.model.rowCount():
                self.view.selectRow(min(max(0, row), self.model.rowCount() - 1))

    def _show_menu(self, place: QPoint) -> None:
        if not self.selected_positions():
            return
        menu = QMenu(self)
        for words, label in (
            ("Label yes\tY", True),
            ("Label no\tN", False),
            ("Take the label away\tU", None),
        ):
            menu.addAction(words, lambda label=label: self.label_selected(label))
        menu.addSeparator()
        menu.addAction(
            "Edit text\tF2", lambda: self.view.edit(self.view.currentIndex().siblingAtColumn(TEXT))
        )
        menu.addAction("Delete\tDel", self.delete_selected)
        menu.exec(self.view.viewport().mapToGlobal(place))
        menu.deleteLater()
