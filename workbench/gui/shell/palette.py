"""The command palette: every action, and every place of the project, by a few letters of its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.shell.scale import fit, px
from workbench.gui.shell.theme import icon_pixmap, interface_font, set_role, small_font, theme

_ENTRY = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True)
class PaletteEntry:
    """One row: what it is called, where it belongs, its shortcut, and what it does."""

    text: str
    group: str
    run: Callable[[], None]
    shortcut: str = ""
    icon: str = ""
    enabled: bool = True


def match_score(query: str, text: str) -> int | None:
    """Return how well `query` fits `text` (less is better), or `None` where its letters do not occur in order.

    The start of the text is best, then the start of a word, then anywhere, then scattered letters.
    """
    query, text = query.casefold().strip(), text.casefold()
    if not query:
        return 0
    if text.startswith(query):
        return 0
    at = text.find(f" {query}")
    if at >= 0:
        return 10 + at
    at = text.find(query)
    if at >= 0:
        return 100 + at
    words = query.split()
    if len(words) > 1 and all(word in text for word in words):
        return 200
    position = 0
    gaps = 0
    for letter in query.replace(" ", ""):
        found = text.find(letter, position)
        if found < 0:
            return None
        gaps += found - position
        position = found + 1
    return 500 + gaps


class CommandPalette(QDialog):
    """Type, choose with the arrow keys, Enter runs."""

    def __init__(self, entries: list[PaletteEntry], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self._entries = entries
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("palette")
        self.setAccessibleName("Actions")
        self.needle = QLineEdit()
        self.needle.setPlaceholderText("Find an action or a part of the project")
        self.needle.setAccessibleName("Find an action")
        fit(self.needle, min_height=32)
        self.needle.installEventFilter(self)
        self.model = QStandardItemModel(self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(_EntryDelegate(self.view))
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        set_role(self, "card")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(8)
        layout.addWidget(self.needle)
        layout.addWidget(self.view)
        self.needle.textChanged.connect(self._filter)
        self.view.clicked.connect(self._run)
        self._filter("")
        self.resize(min(px(520), parent.width() - 40), min(px(420), parent.height() - 100))

    def open_over(self, window: QWidget) -> None:
        """Open at the top of `window`."""
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - self.width()) // 2, corner.y() + 72)
        self.show()
        self.needle.setFocus()

    def visible_texts(self) -> list[str]:
        """Return the names of the rows that are shown."""
        return [self.model.item(row).text() for row in range(self.model.rowCount())]

    def _filter(self, query: str) -> None:
        scored = []
        for position, entry in enumerate(self._entries):
            score = match_score(query, entry.text)
            other = match_score(query, f"{entry.group} {entry.text}")
            best = min(
                (s for s in (score, None if other is None else other + 50) if s is not None), default=None
            )
            if best is not None:
                scored.append((not entry.enabled, best, position, entry))
        self.model.clear()
        for *_, entry in sorted(scored, key=lambda row: row[:3]):
            item = QStandardItem(entry.text)
            item.setData(entry, _ENTRY)
            item.setEnabled(entry.enabled)
            self.model.appendRow(item)
        self.view.setCurrentIndex(self.model.index(0, 0))

    def _run(self, index: QModelIndex) -> None:
        entry = index.data(_ENTRY)
        if entry is not None and entry.enabled:
            self.close()
            entry.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            row, count = self.view.currentIndex().row(), self.model.rowCount()
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}.get(
                event.key()
            )
            if step is not None and count:
                target = (row + step) % count if abs(step) == 1 else max(0, min(count - 1, row + step))
                self.view.setCurrentIndex(self.model.index(target, 0))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run(self.view.currentIndex())
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.close()
                return True
        return super().eventFilter(watched, event)


class _EntryDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(px(200), px(30))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry: PaletteEntry = index.data(_ENTRY)
        colors = theme()
        painter.save()
        box = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, colors.color("selection"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, colors.color("hover"))
        token = "text" if entry.enabled else "disabled"
        if entry.icon:
            painter.drawPixmap(
                box.left() + 8, box.center().y() - px(16) // 2, icon_pixmap(entry.icon, token, 16)
            )
        align = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(small_font())
        painter.setPen(colors.color("second"))
        keys = painter.fontMetrics().horizontalAdvance(entry.shortcut)
        painter.drawText(box.adjusted(0, 0, -12, 0), align | Qt.AlignmentFlag.AlignRight, entry.shortcut)
        group = painter.fontMetrics().horizontalAdvance(entry.group)
        place = QRect(box.right() - keys - group - 32, box.top(), group, box.height())
        painter.drawText(place, align, entry.group)
        painter.setFont(interface_font())
        painter.setPen(colors.color(token))
        name = QRect(
            box.left() + px(26) + 8, box.top(), place.left() - box.left() - px(26) - 16, box.height()
        )
        painter.drawText(
            name,
            align,
            painter.fontMetrics().elidedText(entry.text, Qt.TextElideMode.ElideRight, name.width()),
        )
        painter.restore()
