"""The strip at the left of an editor: line numbers, and a mark where a line has a problem."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from workbench.gui.shell.scale import px
from workbench.gui.shell.theme import icon_pixmap, theme


class Gutter(QWidget):
    """Paints beside a `CodeEditor`, which tells it how wide to be."""

    def __init__(self, editor: QWidget) -> None:
        super().__init__(editor)
        self.editor = editor
        self.marks: dict[int, str] = {}
        self.setCursor(Qt.CursorShape.ArrowCursor)

    def sizeHint(self) -> QSize:
        return QSize(self.width_needed(), 0)

    def width_needed(self) -> int:
        """Return the width in pixels that the present number of lines needs."""
        digits = max(2, len(str(self.editor.blockCount())))
        return px(20) + self.editor.fontMetrics().horizontalAdvance("9") * digits

    def set_marks(self, marks: dict[int, str]) -> None:
        """Mark lines (from 1) with the severity of their worst problem."""
        if marks != self.marks:
            self.marks = marks
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colors = theme()
        painter.fillRect(event.rect(), colors.color("base"))
        editor = self.editor
        height = editor.fontMetrics().height()
        current = editor.textCursor().blockNumber() if editor.hasFocus() else -1
        font = QFont(editor.font())
        for number, top in editor.visible_lines():
            if top > event.rect().bottom():
                break
            severity = self.marks.get(number + 1)
            if severity in ("error", "warning"):
                token = "rejected" if severity == "error" else "warning"
                painter.drawPixmap(2, top + (height - px(12)) // 2, icon_pixmap("warning", token, 12))
            font.setWeight(QFont.Weight.DemiBold if number == current else QFont.Weight.Normal)
            painter.setFont(font)
            painter.setPen(colors.color("text" if number == current else "disabled"))
            box = QRect(0, top, self.width() - 8, height)
            painter.drawText(
                box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(number + 1)
            )
