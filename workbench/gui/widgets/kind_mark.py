"""Tells by a picture and a word that a check asks no model, and what it looks at instead."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.delegates.ink import color, scaled_font
from workbench.gui.shell.scale import px
from workbench.gui.shell.theme import icon_pixmap

KIND_ICONS = {"pattern": "pattern", "length": "length", "language": "globe"}
_SIDE = 14
_GAP = 6
_INDENT = 6


class KindMark(QWidget):
    """An icon, the kind in bold, and the rest of the sentence where there is room for it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = ""
        self._words = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_kind(self, kind: str, words: str) -> None:
        """Show `kind`, one of `KIND_ICONS`, and what is to be said of it."""
        if (kind, words) != (self._kind, self._words):
            self._kind, self._words = kind, words
            self.setAccessibleName(f"{kind}, {words}")
            self.setToolTip(f"{kind}: {words}")
            self.update()

    def kind(self) -> str:
        """Return the kind that is shown."""
        return self._kind

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(scaled_font(self.font(), "second", bold=True))
        width = _INDENT + px(_SIDE) + px(_GAP) + metrics.horizontalAdvance(f"{self._kind}  {self._words}")
        return QSize(width, max(px(_SIDE), metrics.height()) + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(px(60), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        side, start = px(_SIDE), _INDENT
        picture = icon_pixmap(KIND_ICONS.get(self._kind, "question"), "second", _SIDE)
        top = (self.height() - side) // 2
        painter.drawPixmap(QRect(start, top, side, side), picture)
        left, middle = start + side + px(_GAP), int(Qt.AlignmentFlag.AlignVCenter.value)
        bold, plain = scaled_font(self.font(), "second", bold=True), scaled_font(self.font(), "second")
        painter.setFont(bold)
        painter.setPen(color("text"))
        painter.drawText(QRect(left, 0, self.width() - left, self.height()), middle, self._kind)
        left += QFontMetrics(bold).horizontalAdvance(self._kind + "  ")
        painter.setFont(plain)
        painter.setPen(color("second"))
        room = self.width() - left
        if QFontMetrics(plain).horizontalAdvance(self._words) <= room:
            painter.drawText(QRect(left, 0, room, self.height()), middle, self._words)
