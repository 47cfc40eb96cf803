"""Everything that is wrong or worth knowing, in one list that leads to each place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListView,
    QMenu,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.models.words import plain
from workbench.gui.shell.places import place_of, place_words
from workbench.gui.shell.scale import px
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import icon_pixmap, interface_font, set_role, small_font, theme
from workbench.gui.widgets.issue_label import IssueLabel

_ICONS = {"error": ("warning", "rejected"), "warning": ("warning", "warning"), "info": ("info", "second")}
PLACE_ROLE = Qt.ItemDataRole.UserRole + 1
DIAGNOSTIC_ROLE = Qt.ItemDataRole.UserRole + 2


class ProblemsModel(QAbstractListModel):
    """The diagnostics, all of them; changed row by row. The words of a place are made when it is looked at."""

    def __init__(self, place_words: Callable[[Diagnostic], str], parent: Any = None) -> None:
        super().__init__(parent)
        self._rows: list[Diagnostic] = []
        self._place_words = place_words

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        diagnostic = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return plain(diagnostic.message)
        if role == PLACE_ROLE:
            return self._place_words(diagnostic)
        if role == DIAGNOSTIC_ROLE:
            return diagnostic
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{diagnostic.severity}: {plain(diagnostic.message)}, {self._place_words(diagnostic)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(part for part in (plain(diagnostic.message), second_line(diagnostic)) if part)
        return None

    def set_rows(self, rows: list[Diagnostic]) -> None:
        """Show `rows`; rows that stay are not touched, so selection and scroll stay."""
        head = 0
        while head < min(len(rows), len(self._rows)) and rows[head] == self._rows[head]:
            head += 1
        tail = 0
        while tail < min(len(rows), len(self._rows)) - head and rows[-1 - tail] == self._rows[-1 - tail]:
            tail += 1
        old_end, new_end = len(self._rows) - tail, len(rows) - tail
        common = min(old_end, new_end)
        if common > head:
            self._rows[head:common] = rows[head:common]
            self.dataChanged.emit(self.index(head), self.index(common - 1))
        if old_end > common:
            self.beginRemoveRows(QModelIndex(), common, old_end - 1)
            del self._rows[common:old_end]
            self.endRemoveRows()
        if new_end > common:
            self.beginInsertRows(QModelIndex(), common, new_end - 1)
            self._rows[common:common] = rows[common:new_end]
            self.endInsertRows()

    def diagnostic(self, row: int) -> Diagnostic:
        """Return the diagnostic of a row."""
        return self._rows[row]


def second_line(diagnostic: Diagnostic) -> str:
    """Return what stands below the message: what to do, or the place in the schema."""
    if diagnostic.hint:
        return plain(diagnostic.hint[:1].upper() + diagnostic.hint[1:])
    if diagnostic.schema_pointer:
        return f"Schema: {diagnostic.schema_pointer}"
    return diagnostic.pointer or ""


class ProblemDelegate(QStyledItemDelegate):
    """Two lines a row: the message and its place, then what to do."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        upper, lower = QFontMetrics(interface_font()).height(), QFontMetrics(small_font()).height()
        return QSize(px(200), max(px(44), upper + lower + 12))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colors = theme()
        diagnostic: Diagnostic = index.data(DIAGNOSTIC_ROLE)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, colors.color("selection"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, colors.color("hover"))
        painter.setPen(colors.color("line"))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        name, token = _ICONS[diagnostic.severity]
        painter.drawPixmap(option.rect.left() + 12, option.rect.top() + 6, icon_pixmap(name, token, 16))
        left, right = option.rect.left() + px(24) + 12, option.rect.right() - 12
        small = QFontMetrics(small_font())
        place = index.data(PLACE_ROLE)
        width = small.horizontalAdvance(place)
        painter.setFont(small_font())
        painter.setPen(colors.color("second"))
        height = QFontMetrics(interface_font()).height()
        upper = QRect(left, option.rect.top() + 4, right - left, height)
        align = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(upper, align | Qt.AlignmentFlag.AlignRight, place)
        lower = QRect(left, upper.bottom() + 3, right - left, small.height())
        painter.drawText(
            lower,
            align,
            small.elidedText(second_line(diagnostic), Qt.TextElideMode.ElideRight, lower.width()),
        )
        painter.setFont(interface_font())
        painter.setPen(colors.color("text"))
        box = upper.adjusted(0, 0, -width - 16, 0)
        painter.drawText(
            box,
            align,
            painter.fontMetrics().elidedText(
                plain(diagnostic.message), Qt.TextElideMode.ElideRight, box.width()
            ),
        )
        painter.restore()


class ProblemsPane(QWidget):
    """The list of problems; Enter and double click go to the place, Alt+Enter applies the fix of the selected one."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.model = ProblemsModel(self._place_words, self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(ProblemDelegate(self.view))
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        self.view.setAccessibleName("Problems")
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._context_menu)
        self.view.activated.connect(lambda index: self.go(index.row()))
        self.errors, self.warnings, self.notes = IssueLabel(), IssueLabel(), IssueLabel()
        self.dock_title_widgets: list[QWidget] = [self.errors, self.warnings, self.notes]
        self.empty = QLabel("No problems.")
        self.empty.setContentsMargins(12, 12, 12, 12)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        set_role(self.empty, "second")
        self.keys = _KeyHints(
            (("F8", "next problem"), ("Enter", "go to its place"), ("Alt+Enter", "apply its fix"))
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.empty, 1)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.keys)
        set_role(self, "base")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        session.diagnostics_changed.connect(self._refresh)
        session.project_changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        found = self._session.diagnostics()
        self.model.set_rows(found)
        counts = {s: sum(d.severity == s for d in found) for s in ("error", "warning", "info")}
        self.errors.set_issue("rejected", _count(counts["error"], "error"))
        self.warnings.set_issue("warning", _count(counts["warning"], "warning"))
        self.notes.set_issue("second", _count(counts["info"], "note"))
        self.empty.setVisible(not found)
        self.view.setVisible(bool(found))
        self.keys.setVisible(bool(found))

    def chosen(self) -> Diagnostic | None:
        """Return the problem that is selected, else the first; `None` where there is none."""
        if self.model.rowCount() == 0:
            return None
        return self.model.diagnostic(max(0, self.view.currentIndex().row()))

    def menu_point(self) -> QPoint:
        """Return where a menu on the selected problem opens, in the list's viewport."""
        return self.view.visualRect(self.view.currentIndex()).bottomLeft() + QPoint(px(24), 0)

    def _place_words(self, diagnostic: Diagnostic) -> str:
        return place_words(diagnostic, self._session.snapshot(), self._session.parameter_set)

    def go(self, row: int) -> None:
        """Go to the place of a row."""
        diagnostic = self.model.diagnostic(row)
        place = place_of(diagnostic, self._session.snapshot(), self._session.parameter_set)
        self.view.setCurrentIndex(self.model.index(row))
        if place is not None:
            self._session.go_to(place)
        else:
            self._session.status.emit(plain(diagnostic.one_line()))

    def step(self, direction: int) -> None:
        """Go to the next (1) or the previous (-1) problem, around the end."""
        count = self.model.rowCount()
        if count == 0:
            self._session.status.emit("No problems.")
            return
        row = self.view.currentIndex().row()
        self.go((row + direction) % count if row >= 0 else (0 if direction > 0 else count - 1))

    def _context_menu(self, point: QPoint) -> None:
        index = self.view.indexAt(point)
        if not index.isValid():
            return
        diagnostic = self.model.diagnostic(index.row())
        menu = QMenu(self)
        self.add_fixes(menu, diagnostic)
        menu.addAction("Go to its place", lambda: self.go(index.row()))
        menu.exec(self.view.viewport().mapToGlobal(point))

    def add_fixes(self, menu: QMenu, diagnostic: Diagnostic) -> None:
        """Add the quick fixes of a diagnostic to a menu."""
        place = place_of(diagnostic, self._session.snapshot(), self._session.parameter_set)
        for fix in diagnostic.fixes if place is not None else ():
            menu.addAction(fix.title, lambda fix=fix: self._session.request_fix(place, fix))
        if diagnostic.fixes and place is not None:
            menu.addSeparator()


class _KeyHints(QWidget):
    """One line of keys and what they do; in a narrow list the last ones are left out, none is cut."""

    def __init__(self, hints: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._hints: list[tuple[QLabel, QLabel]] = []
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 12, 4)
        row.setSpacing(8)
        row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)
        for key, words in hints:
            cap, label = QLabel(key), QLabel(words)
            for part, role in ((cap, "key"), (label, "second")):
                part.setFont(small_font())
                set_role(part, role)
                row.addWidget(part)
            self._hints.append((cap, label))
        row.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        left = self.width() - 24
        for parts in self._hints:
            left -= sum(part.sizeHint().width() + 8 for part in parts)
            for part in parts:
                part.setVisible(left >= 0)


def _count(number: int, word: str) -> str:
    return "" if number == 0 else f"1 {word}" if number == 1 else f"{number} {word}s"
