"""A short text of a fixed size that may change every frame: it repaints itself and moves nothing else."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.delegates.ink import Size, color, mono, scaled_font


class FigureLabel(QWidget):
    """Shows a text within the width of `widest`; a `QLabel` would have the whole window laid out anew."""

    def __init__(
        self,
        widest: str = "0.000",
        token: str = "text",
        *,
        size: Size = "normal",
        bold: bool = False,
        monospace: bool = False,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._text, self._widest, self._token = "", widest, token
        self._size: Size = size
        self._bold, self._monospace = bold, monospace
        self._flags = int((align | Qt.AlignmentFlag.AlignVCenter).value)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """Return the text that is shown."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show a text; the same text costs nothing."""
        if text != self._text:
            self._text = text
            self.update()

    def _shown_font(self) -> QFont:
        return scaled_font(mono() if self._monospace else self.font(), self._size, self._bold)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._shown_font())
        return QSize(metrics.horizontalAdvance(self._widest) + 2, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self._shown_font())
        painter.setPen(color(self._token if self.isEnabled() else "disabled"))
        painter.drawText(self.rect(), self._flags, self._text)
