"""Labels, section heads, banners and links that take their colour from the theme at the moment they are painted."""

from __future__ import annotations

import re

from PySide6.QtCore import QChildEvent, QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.delegates.ink import Size, color, mono, scaled_font
from workbench.gui.delegates.status import paint_status
from workbench.gui.shell.scale import fit, px

# A sentence, or a part of one that stands for itself, ends here.
_SENTENCE_END = re.compile(r"[.;:](?=\s)|(?=\s[(·])")


class TokenLabel(QLabel):
    """A line of plain text in a colour of the theme; a text too long for its place ends in an ellipsis.

    With `sentences` it shows as many whole sentences as there is room for. Either way the tip has the rest.
    """

    def __init__(
        self,
        text: str = "",
        token: str = "text",
        *,
        size: Size = "normal",
        bold: bool = False,
        monospace: bool = False,
        elide: bool = False,
        sentences: bool = False,
        wrap: bool = False,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._token = token
        self._size: Size = size
        self._bold = bold
        self._monospace = monospace
        self._sentences = sentences
        self._whole_parts = False
        self._elide = elide or sentences
        self.setWordWrap(wrap)
        self.setAlignment(align | Qt.AlignmentFlag.AlignVCenter)
        if self._elide:
            self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_look(self, *, token: str | None = None, bold: bool | None = None) -> None:
        """Change the colour or the weight."""
        if token is not None:
            self._token = token
        if bold is not None and bold != self._bold:
            self._bold = bold
            self.updateGeometry()
        self.update()

    def set_text(self, text: str) -> None:
        """Change the text; the same text costs nothing."""
        if text != self.text():
            self.setText(text)

    def shown_font(self) -> QFont:
        """Return the font in which the text is painted."""
        base = mono() if self._monospace else self.font()
        return scaled_font(base, self._size, self._bold)

    def shown_text(self) -> str:
        """Return what of the text has room in one line, with an ellipsis where it is cut."""
        text, metrics, room = self.text(), QFontMetrics(self.shown_font()), self.contentsRect().width()
        if self._sentences and metrics.horizontalAdvance(text) > room:
            whole = [text[: found.end()].rstrip(" :;") for found in _SENTENCE_END.finditer(text)]
            text = next((each for each in reversed(whole) if metrics.horizontalAdvance(each) <= room), text)
        if self._whole_parts:
            parts = text.split(", ")
            heads = (", ".join(parts[:count]) for count in range(len(parts), 0, -1))
            return next((each for each in heads if metrics.horizontalAdvance(each) <= room), "")
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)

    def show_whole_parts(self) -> None:
        """From now on cut at commas only, and show nothing before half of the first part: for figures."""
        self._whole_parts = True

    def _flags(self) -> int:
        flags = int(self.alignment().value)
        if self.wordWrap():
            flags |= int(Qt.TextFlag.TextWordWrap.value)
        return flags

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.shown_font())
        if self.wordWrap():
            width = max(self.width(), 160)
            return QSize(width, self.heightForWidth(width))
        margins = self.contentsMargins()
        width = metrics.horizontalAdvance(self.text()) + 2 + margins.left() + margins.right()
        return QSize(width, metrics.height() + 2 + margins.top() + margins.bottom())

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return QSize(20 if self._elide or self.wordWrap() else hint.width(), hint.height())

    def hasHeightForWidth(self) -> bool:
        return self.wordWrap()

    def heightForWidth(self, width: int) -> int:
        if not self.wordWrap():
            return -1
        margins = self.contentsMargins()
        room = QRect(0, 0, max(40, width - margins.left() - margins.right()), 10_000)
        text = QFontMetrics(self.shown_font()).boundingRect(room, self._flags(), self.text())
        return text.height() + 2 + margins.top() + margins.bottom()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = self.shown_font()
        painter.setFont(font)
        painter.setPen(color(self._token if self.isEnabled() else "disabled"))
        text = self.text()
        if not self.wordWrap():
            shown = self.shown_text()
            if self._elide and not self.toolTip() and shown != text:
                self.setToolTip(text)
            text = shown
        painter.drawText(self.contentsRect(), self._flags(), text)


class LinkButton(QAbstractButton):
    """A text that does something, in the accent colour, reachable by keyboard."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setText(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(text)

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 6, metrics.height() + 6)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = QFont(self.font())
        font.setUnderline(self.underMouse() or self.hasFocus())
        painter.setFont(font)
        painter.setPen(color("accent" if self.isEnabled() else "disabled"))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter.value), self.text())


class Segment(QAbstractButton):
    """One choice of a `SegmentedControl`."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setText(text)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(text)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(scaled_font(self.font(), bold=True))
        return QSize(metrics.horizontalAdvance(self.text()) + px(24), max(px(24), metrics.height() + 6))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(color("accent" if self.isChecked() else "edge"), 1))
        painter.setBrush(color("selection" if self.isChecked() else "base"))
        painter.drawRoundedRect(rect, 3, 3)
        if self.hasFocus():
            painter.setPen(QPen(color("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 3, 3)
        painter.setFont(scaled_font(self.font(), bold=self.isChecked()))
        painter.setPen(color("text" if self.isEnabled() else "disabled"))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter.value), self.text())


class SegmentedControl(QWidget):
    """A few choices side by side, of which one is taken; arrow keys move between them."""

    chosen = Signal(str)

    def __init__(self, choices: dict[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._group = QButtonGroup(self)
        self._segments: dict[str, Segment] = {}
        for key, text in choices.items():
            segment = Segment(text, self)
            self._group.addButton(segment)
            layout.addWidget(segment)
            self._segments[key] = segment
            segment.clicked.connect(lambda _=False, key=key: self.chosen.emit(key))
        next(iter(self._segments.values())).setChecked(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def current(self) -> str:
        """Return the key of the choice taken."""
        return next(key for key, segment in self._segments.items() if segment.isChecked())

    def choose(self, key: str) -> None:
        """Take a choice, as if it had been clicked."""
        if not self._segments[key].isChecked():
            self._segments[key].setChecked(True)
            self.chosen.emit(key)

    def set_text(self, key: str, text: str) -> None:
        """Change the words of a choice."""
        segment = self._segments[key]
        if segment.text() != text:
            segment.setText(text)
            segment.setAccessibleName(text)
            segment.updateGeometry()


class StatusMark(QWidget):
    """The shape of an outcome, 14 to 20 pixels of the design wide."""

    def __init__(self, status: str = "idle", side: int = 16, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._status = status
        fit(self, width=side, height=side)

    def set_status(self, status: str) -> None:
        """Change the outcome."""
        if status != self._status:
            self._status = status
            self.update()

    def status(self) -> str:
        """Return the outcome that is shown."""
        return self._status

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_status(QPainter(self), QRectF(self.rect()), self._status)


class Banner(QWidget):
    """A strip that says how things stand: shape, a bold headline, and the rest of the sentence."""

    activated = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = "none"
        self._headline = ""
        self._detail = ""
        fit(self, min_height=32)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_words(self, kind: str, headline: str, detail: str = "") -> None:
        """Show a headline and a detail; `kind` is passed, rejected, error, running, stale or none."""
        if (kind, headline, detail) == (self._kind, self._headline, self._detail):
            return
        self._kind, self._headline, self._detail = kind, headline, detail
        self.setAccessibleName(f"{headline} {detail}".strip())
        self.setToolTip(detail)
        self.updateGeometry()
        self.update()

    def kind(self) -> str:
        """Return the kind shown."""
        return self._kind

    def headline(self) -> str:
        """Return the bold part."""
        return self._headline

    def detail(self) -> str:
        """Return the rest."""
        return self._detail

    def sizeHint(self) -> QSize:
        return QSize(260, self.heightForWidth(self.width() or 400))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        bold = QFontMetrics(scaled_font(self.font(), bold=True))
        head = bold.horizontalAdvance(self._headline + " ")
        tail = self.fontMetrics().horizontalAdvance(self._detail)
        room = max(80, width - px(46) - 10)
        if head + tail <= room:
            return px(32)
        flags = int(Qt.TextFlag.TextWordWrap.value)
        lines = bold.boundingRect(QRect(0, 0, room, 1000), flags, self._headline).height()
        if self._detail:
            lines += self.fontMetrics().boundingRect(QRect(0, 0, room, 1000), flags, self._detail).height()
        return max(px(32), lines + 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        ground = {"rejected": "verdict_rejected", "passed": "verdict_passed"}.get(self._kind, "alternate")
        painter.fillRect(self.rect(), color(ground))
        painter.setPen(color("line"))
        painter.drawLine(0, 0, self.width(), 0)
        status = {"running": "queued", "none": "idle"}.get(self._kind, self._kind)
        paint_status(painter, QRectF(14, self.height() / 2 - px(9), px(18), px(18)), status)
        left = 14 + px(28)
        area = QRect(left, 0, self.width() - left - 12, self.height())
        bold = scaled_font(self.font(), bold=True)
        token = {"rejected": "rejected", "passed": "passed", "error": "warning"}.get(self._kind, "text")
        metrics = QFontMetrics(bold)
        head = metrics.horizontalAdvance(self._headline + " ")
        one_line = head + self.fontMetrics().horizontalAdvance(self._detail) <= area.width()
        middle = int(Qt.AlignmentFlag.AlignVCenter.value)
        wrap = int(Qt.TextFlag.TextWordWrap.value)
        painter.setFont(bold)
        painter.setPen(color(token))
        if one_line:
            painter.drawText(area, middle, self._headline)
            painter.setFont(self.font())
            painter.setPen(color("text"))
            painter.drawText(area.adjusted(head, 0, 0, 0), middle, self._detail)
            return
        height = metrics.boundingRect(QRect(0, 0, area.width(), 1000), wrap, self._headline).height()
        painter.drawText(QRect(area.left(), 8, area.width(), height), wrap, self._headline)
        painter.setFont(self.font())
        painter.setPen(color("text"))
        painter.drawText(area.adjusted(0, 8 + height, 0, -4), wrap, self._detail)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.activated.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)


class SectionHead(QWidget):
    """The title strip of a part of a pane, one line high, with room for controls at its right."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        fit(self, height=32)
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(12, 0, 8, 0)
        self._layout.setSpacing(8)
        self.title = TokenLabel(title, bold=True)
        self.note = TokenLabel("", "second", size="second", elide=True, align=Qt.AlignmentFlag.AlignRight)
        self._layout.addWidget(self.title)
        self._layout.addWidget(self.note, 1)

    def add(self, widget: QWidget) -> None:
        """Put a control at the right end."""
        self._layout.addWidget(widget)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), color("head"))
        painter.setPen(color("line"))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)


class Strip(QWidget):
    """A plain strip of controls on the `alternate` ground, with a line below it."""

    def __init__(self, height: int = 32, ground: str = "alternate", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        fit(self, height=height)
        self._ground = ground
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(12, 0, 8, 0)
        self.row.setSpacing(8)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), color(self._ground))
        painter.setPen(color("line"))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)


class Lendable(Strip):
    """A strip whose one widget may be taken elsewhere, such as into the title of a dock; then the strip goes away."""

    def __init__(self, widget: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(34, "head", parent)
        self.row.addWidget(widget, 1)

    def childEvent(self, event: QChildEvent) -> None:
        super().childEvent(event)
        if event.removed() and self.row.count() <= 1:
            self.hide()


class Ground(QWidget):
    """A widget that paints the theme's base colour, for lists made of widgets."""

    def __init__(self, token: str = "base", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._token = token

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), color(self._token))


class Chip(QWidget):
    """A short text on the value tint, such as `chosen JSON` or `recorded`."""

    def __init__(self, text: str = "", status: str | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = text
        self._status = status
        fit(self, height=20)
        self.setAccessibleName(text)

    def set_text(self, text: str, status: str | None = None) -> None:
        """Change what the chip says."""
        self._text, self._status = text, status
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """Return what the chip says."""
        return self._text

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(scaled_font(self.font(), "second"))
        return QSize(metrics.horizontalAdvance(self._text) + 16 + (px(18) if self._status else 0), px(20))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color("value_tint"))
        painter.drawRoundedRect(QRectF(self.rect()), 3, 3)
        left = 8
        if self._status:
            paint_status(painter, QRectF(7, px(3), px(14), px(14)), self._status, color("value_text"))
            left = 7 + px(18)
        painter.setFont(scaled_font(self.font(), "second"))
        painter.setPen(color("value_text"))
        painter.drawText(
            self.rect().adjusted(left, 0, -4, 0), int(Qt.AlignmentFlag.AlignVCenter.value), self._text
        )


def column(*widgets: QWidget, parent: QWidget | None = None) -> QWidget:
    """Return a widget that holds `widgets` below each other without gaps; the last one takes the room."""
    box = QWidget(parent)
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    for widget in widgets:
        layout.addWidget(widget)
    if widgets:
        layout.setStretchFactor(widgets[-1], 1)
    return box
