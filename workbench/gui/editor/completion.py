"""The list that opens under the caret inside a placeholder: paths with their types and sample values."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QPlainTextEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from workbench.gui.shell.scale import px
from workbench.gui.shell.theme import mono_font, small_font, theme

_TYPE, _SAMPLE = Qt.ItemDataRole.UserRole + 1, Qt.ItemDataRole.UserRole + 2
MOST_ROWS = 200


def row_height() -> int:
    """Return the height of a row in pixels, which grows with the text of the editors."""
    return max(px(24), QFontMetrics(mono_font()).height() + 6)


class _CandidateDelegate(QStyledItemDelegate):
    """Paints path, type and sample in one row."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colors = theme()
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, colors.color("selection"))
        box = option.rect.adjusted(8, 0, -8, 0)
        align = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(mono_font())
        painter.setPen(colors.color("text"))
        text = index.data()
        painter.drawText(box, align, text)
        used = painter.fontMetrics().horizontalAdvance(text) + 16
        painter.setFont(small_font())
        painter.setPen(QColor(colors.hex("second")))
        kind = index.data(_TYPE)
        width = painter.fontMetrics().horizontalAdvance(kind)
        painter.drawText(box, align | Qt.AlignmentFlag.AlignRight, kind)
        rest = QRect(box.left() + used, box.top(), box.width() - used - width - 12, box.height())
        if rest.width() > 30:
            sample = painter.fontMetrics().elidedText(
                index.data(_SAMPLE), Qt.TextElideMode.ElideRight, rest.width()
            )
            painter.drawText(rest, align, sample)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(320, row_height())


class CompletionPopup(QListView):
    """Shows the candidates of an engine `Completion` and puts the chosen one into the editor."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        super().__init__(editor)
        self._editor = editor
        self._completion: Any = None
        self._model = QStandardItemModel(self)
        self.setModel(self._model)
        self.setItemDelegate(_CandidateDelegate(self))
        self.setObjectName("completion")
        self.setFrameShape(QFrame.Shape.Box)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Completions")
        self.clicked.connect(lambda _index: self.accept())
        self.hide()

    def offer(self, completion: Any) -> None:
        """Show `completion.candidates` below the caret; what is chosen replaces `[start, end)`."""
        self._completion = completion
        self._model.clear()
        for candidate in completion.candidates[:MOST_ROWS]:
            item = QStandardItem(candidate.text)
            item.setData(candidate.type, _TYPE)
            item.setData(candidate.sample, _SAMPLE)
            item.setToolTip(f"{candidate.text} · {candidate.type} · {candidate.sample}")
            self._model.appendRow(item)
        self.setCurrentIndex(self._model.index(0, 0))
        rows = min(self._model.rowCount(), 9)
        width = max(440, 40 * QFontMetrics(mono_font()).averageCharWidth())
        size = QSize(min(width, self._editor.window().width() - 8), rows * row_height() + 4)
        # The popup is a child of the editor's window, so that it may reach beyond the editor.
        window = self._editor.window()
        if self.parent() is not window:
            self.setParent(window)
        self._editor.ensureCursorVisible()
        caret = self._editor.cursorRect()
        below = self._editor.viewport().mapTo(window, QPoint(caret.left(), caret.bottom() + 2))
        x = max(4, min(below.x(), window.width() - size.width() - 4))
        y = below.y()
        if y + size.height() > window.height() - 4:
            y = self._editor.viewport().mapTo(window, caret.topLeft()).y() - size.height() - 2
        self.setGeometry(x, max(4, y), size.width(), size.height())
        self.show()
        self.raise_()

    def takes(self, event: QKeyEvent) -> bool:
        """Handle a key of the editor; False when the editor shall have it."""
        key, row = event.key(), self.currentIndex().row()
        if not self._editor.hasFocus():
            self.hide()
            return False
        if key == Qt.Key.Key_Escape:
            self.hide()
            return True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            self.accept()
            return True
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}.get(key)
        if step is not None:
            count = self._model.rowCount()
            target = (row + step) % count if abs(step) == 1 else max(0, min(count - 1, row + step))
            self.setCurrentIndex(self._model.index(target, 0))
            return True
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End):
            self.hide()
        return False

    def accept(self) -> None:
        """Put the chosen candidate into the text."""
        index = self.currentIndex()
        self.hide()
        if index.isValid() and self._completion is not None:
            done = self._completion
            chosen = done.candidates[index.row()].text + done.closing
            self._editor.edit_span(done.start, done.end, chosen)
