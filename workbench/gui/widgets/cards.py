"""Cards and list rows of the welcome page: things to press that say what they do in two lines."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.delegates.ink import color, mono, scaled_font, status_color
from workbench.gui.delegates.status import paint_status
from workbench.gui.shell.scale import fit, px
from workbench.gui.shell.theme import icon_pixmap, on_theme_changed
from workbench.gui.widgets.labels import StatusMark, TokenLabel

_LEFT = int(Qt.AlignmentFlag.AlignLeft.value | Qt.AlignmentFlag.AlignVCenter.value)
_RIGHT = int(Qt.AlignmentFlag.AlignRight.value | Qt.AlignmentFlag.AlignVCenter.value)


class _PaintedButton(QAbstractButton):
    """A button that paints itself; subclasses draw inside the frame."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _ground(self) -> str:
        if self.isDown():
            return "line"
        return "hover" if self.underMouse() and self.isEnabled() else "base"


class ActionCard(_PaintedButton):
    """One of the first things to do: icon, what, a remark, and its shortcut."""

    def __init__(
        self, icon_name: str, title: str, remark: str, shortcut: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._icon, self._remark, self._shortcut = icon_name, remark, shortcut
        self.setText(title)
        self.setAccessibleName(title.rstrip("…"))
        self.setAccessibleDescription(remark)
        fit(self, height=48)

    def sizeHint(self) -> QSize:
        return QSize(px(200), px(48))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = color("accent") if self.hasFocus() else color("line")
        painter.setPen(QPen(edge, 1.4 if self.hasFocus() else 1))
        painter.setBrush(color(self._ground()))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.drawPixmap(QPointF(px(14), px(16)), icon_pixmap(self._icon, "accent", 16))
        area = QRectF(self.rect()).adjusted(px(42), 6, -12, -6)
        key_width = 0.0
        if self._shortcut:
            key_width = self._paint_key(painter, area)
        half = area.height() / 2
        painter.setFont(scaled_font(self.font(), bold=True))
        painter.setPen(color("text"))
        painter.drawText(QRectF(area.left(), area.top(), area.width(), half), _LEFT, self.text())
        painter.setFont(scaled_font(self.font(), "second"))
        painter.setPen(color("second"))
        box = QRectF(area.left(), area.top() + half, area.width() - key_width - 8, half)
        words = painter.fontMetrics().elidedText(self._remark, Qt.TextElideMode.ElideRight, int(box.width()))
        painter.drawText(box, _LEFT, words)

    def _paint_key(self, painter: QPainter, area: QRectF) -> float:
        font = scaled_font(self.font(), "second")
        width = QFontMetrics(font).horizontalAdvance(self._shortcut) + 12
        box = QRectF(area.right() - width, area.center().y() - px(9), width, px(18))
        painter.setPen(QPen(color("line"), 1))
        painter.setBrush(color("window"))
        painter.drawRoundedRect(box, 3, 3)
        painter.setFont(font)
        painter.setPen(color("second"))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter.value), self._shortcut)
        return float(width)


class ProjectRow(_PaintedButton):
    """A recent project: name, folder, when; a folder that is gone says so."""

    forget_asked = Signal()

    def __init__(
        self, name: str, folder: str, when: str, missing: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._folder, self._when, self._missing = folder, when, missing
        self.setText(name)
        fit(self, height=48)
        words = "folder not found" if missing else when
        self.setAccessibleName(f"{name}, {words}")
        self.setAccessibleDescription(folder)
        self.setToolTip(folder)

    def missing(self) -> bool:
        """Tell whether the folder was not found."""
        return self._missing

    def sizeHint(self) -> QSize:
        return QSize(px(200), px(48))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = "selection" if self.hasFocus() else self._ground()
        painter.fillRect(self.rect(), color(ground))
        painter.setPen(color("line"))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        painter.drawPixmap(QPointF(px(13), px(16)), icon_pixmap("folder", "second", 16))
        area = QRectF(self.rect()).adjusted(px(40), 6, -12, -6)
        half = area.height() / 2
        right = self._paint_right(painter, area)
        painter.setFont(scaled_font(self.font(), bold=True))
        painter.setPen(color("second" if self._missing else "text"))
        width = area.width() - right - 8
        name = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, int(width))
        painter.drawText(QRectF(area.left(), area.top(), width, half), _LEFT, name)
        painter.setFont(mono(11.5))
        painter.setPen(color("second"))
        folder = painter.fontMetrics().elidedText(self._folder, Qt.TextElideMode.ElideMiddle, int(width))
        painter.drawText(QRectF(area.left(), area.top() + half, width, half), _LEFT, folder)

    def _paint_right(self, painter: QPainter, area: QRectF) -> float:
        painter.setFont(scaled_font(self.font(), "second"))
        words = "folder not found" if self._missing else self._when
        painter.setPen(status_color("error") if self._missing else color("second"))
        painter.drawText(area, _RIGHT, words)
        width = float(painter.fontMetrics().horizontalAdvance(words))
        if self._missing:
            side = px(14)
            left = area.right() - width - side - 4
            paint_status(painter, QRectF(left, area.center().y() - side / 2, side, side), "error")
            width += side + 4
        return width

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.addAction("Take off the list").triggered.connect(lambda _checked=False: self.forget_asked.emit())
        menu.exec(event.globalPos())
        menu.deleteLater()


class Frame(QWidget):
    """A rounded card on the base colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color("line"), 1))
        painter.setBrush(color("base"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)


class SampleCard(Frame):
    """A sample project: what it is about, what it shows, what it needs, and a button that opens a copy."""

    open_asked = Signal(str)

    def __init__(
        self, name: str, icon_name: str, title: str, description: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.name = name
        self._icon_name = icon_name
        self._picture = QLabel()
        fit(self._picture, width=18, height=18)
        self.shows = TokenLabel("", "second", size="second", wrap=True)
        self.mark = StatusMark("passed", 14)
        self.needs = TokenLabel("works offline", "passed", size="second")
        self.button = QPushButton("Open a copy")
        self.button.setAccessibleName(f"Open a copy of {title}")
        self.button.clicked.connect(lambda: self.open_asked.emit(self.name))
        head = QHBoxLayout()
        head.setSpacing(9)
        head.addWidget(self._picture)
        head.addWidget(TokenLabel(title, size="section", bold=True), 1)
        words = TokenLabel(description, wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        words.setToolTip(description)
        foot = QHBoxLayout()
        foot.setSpacing(6)
        foot.addWidget(self.mark)
        foot.addWidget(self.needs, 1)
        foot.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.setSpacing(6)
        layout.addLayout(head)
        layout.addWidget(words, 1)
        layout.addWidget(self.shows)
        layout.addLayout(foot)
        fit(self, min_height=150)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._refresh()
        on_theme_changed(self, self._refresh)

    def set_needs(self, status: str, words: str) -> None:
        """Say what the sample needs here: `passed` when nothing is missing, `error` when something is."""
        self.mark.set_status(status)
        self.needs.set_text(words)
        self.needs.set_look(token="passed" if status == "passed" else "warning")

    def _refresh(self) -> None:
        self._picture.setPixmap(icon_pixmap(self._icon_name, "accent", 18))


class FactRow(QWidget):
    """One line of "on this computer": shape, name, and what to expect."""

    def __init__(
        self, name: str, words: str = "…", status: str = "queued", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.mark = StatusMark(status, 16)
        self.words = TokenLabel(words, "second", elide=True)
        title = TokenLabel(name, bold=True)
        fit(title, width=150)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 0, 12, 0)
        layout.setSpacing(10)
        layout.addWidget(self.mark)
        layout.addWidget(title)
        layout.addWidget(self.words, 1)
        fit(self, height=40)
        self.setAccessibleName(name)

    def say(self, status: str, words: str) -> None:
        """Say how it stands."""
        self.mark.set_status(status)
        self.words.set_text(words)
        self.words.setToolTip(words)
        self.setAccessibleDescription(words)
