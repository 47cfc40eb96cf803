"""The messages that were sent and received, as cards that fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from workbench.gui.delegates.ink import color, scaled_font
from workbench.gui.models.figures import counted
from workbench.gui.shell.scale import fit
from workbench.gui.shell.theme import icon_pixmap
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.labels import LinkButton, TokenLabel

FOLDED_LINES = 12
_OPEN_LINES = 40
_FOLDED_CHARACTERS = 4000
FOLLOW_MS = 300
"""How long the view still goes after the current turn: cards get their height only when they are laid out."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation. `caption` says what it is: `request prompt`, `reply 1`, `repair message`."""

    role: str
    text: str
    caption: str = ""
    current: bool = False


class _CardHead(QAbstractButton):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCheckable(True)
        self.setChecked(True)
        fit(self, height=28)
        self.role = ""
        self.caption = ""

    def sizeHint(self) -> QSize:
        return QSize(200, 28)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        name = "chevron-down" if self.isChecked() else "chevron-right"
        painter.drawPixmap(10, (self.height() - 12) // 2, icon_pixmap(name, "second", 12))
        bold = scaled_font(self.font(), bold=True)
        painter.setFont(bold)
        painter.setPen(color("text"))
        middle = int(Qt.AlignmentFlag.AlignVCenter.value)
        area = self.rect().adjusted(28, 0, -10, 0)
        painter.drawText(area, middle, self.role)
        left = painter.fontMetrics().horizontalAdvance(self.role) + 8
        painter.setFont(scaled_font(self.font(), "second"))
        painter.setPen(color("second"))
        caption = painter.fontMetrics().elidedText(
            self.caption, Qt.TextElideMode.ElideRight, area.width() - left
        )
        painter.drawText(area.adjusted(left, 0, 0, 0), middle, caption)
        if self.hasFocus():
            painter.setPen(color("accent"))
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -1.5, -1.5))


class _Card(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.turn = Turn("", "")
        self._all = False
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3, 0, 0, 0)
        layout.setSpacing(0)
        self.head = _CardHead()
        self.body = CodeView(numbers=False, indent=22)
        self.body.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.body.setSizeAdjustPolicy(CodeView.SizeAdjustPolicy.AdjustIgnored)
        self.more = LinkButton("")
        layout.addWidget(self.head)
        layout.addWidget(self.body)
        more_row = QHBoxLayout()
        more_row.setContentsMargins(23, 0, 0, 0)
        more_row.addWidget(self.more)
        more_row.addStretch(1)
        layout.addLayout(more_row)
        layout.setContentsMargins(3, 0, 8, 6)
        self.head.toggled.connect(self._fold)
        self.more.clicked.connect(self._show_all)

    def show_turn(self, turn: Turn) -> None:
        if turn.text != self.turn.text:
            self._all = self._all and turn.text.startswith(self.turn.text)
        self.turn = turn
        self.update()  # the mark of the current turn is the card's own, outside head and body
        self.head.role = turn.role
        size = counted(len(turn.text), "character")
        self.head.caption = f"{turn.caption}, {size}" if turn.caption else size
        self.head.setAccessibleName(f"{turn.role}, {self.head.caption}")
        self.head.update()
        self._fill()

    def _fill(self) -> None:
        text = self.turn.text
        lines = text.split("\n")
        hidden = 0
        if not self._all and (len(lines) > FOLDED_LINES + 2 or len(text) > _FOLDED_CHARACTERS):
            shown = "\n".join(lines[:FOLDED_LINES])[:_FOLDED_CHARACTERS]
            hidden = len(lines) - (shown.count("\n") + 1)
            self.more.setText(
                f"… {counted(hidden, 'more line')}"
                if hidden
                else f"… {len(text) - len(shown)} more characters"
            )
            hidden = max(hidden, 1)
            text = shown
        self.body.set_code(text)
        self.more.setVisible(bool(hidden) and self.head.isChecked())
        self.more.updateGeometry()
        self._fit()
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        self.body.setVisible(self.head.isChecked())
        document = self.body.document()
        lines = min(_OPEN_LINES, max(1, int(document.size().height())))
        margins = 2 * int(document.documentMargin()) + 2
        self.body.setFixedHeight(lines * self.body.fontMetrics().lineSpacing() + margins)

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)
        self._fit()
        # Lines wrap only once the text has its width, which is after the card has got its own.
        QTimer.singleShot(0, self, self._fit)

    def _fold(self, opened: bool) -> None:
        self._fill()
        self.body.setVisible(opened)
        self.head.update()

    def _show_all(self) -> None:
        self._all = True
        self._fill()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), color("base"))
        if self.turn.current:
            painter.fillRect(0, 0, 3, self.height(), color("accent"))
        painter.setPen(color("line"))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)


class ConversationView(QScrollArea):
    """All turns below each other; unchanged ones keep their widgets, so that a running conversation does not jump."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self._body = _Base()
        self._layout = QVBoxLayout(self._body)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._empty = TokenLabel("Nothing was sent yet.", "second")
        self._empty.setContentsMargins(12, 8, 12, 8)
        self._layout.addWidget(self._empty)
        self._layout.addStretch(1)
        self.setWidget(self._body)
        self._cards: list[_Card] = []
        # When it has run out, what a reader unfolds does not move the view.
        self._settling = one_shot(self, lambda: None, FOLLOW_MS)
        self.verticalScrollBar().rangeChanged.connect(self._go_along)

    def turns(self) -> list[Turn]:
        """Return the turns that are shown."""
        return [card.turn for card in self._cards]

    def set_turns(self, turns: Sequence[Turn]) -> None:
        """Show `turns`, with the current one in view."""
        while len(self._cards) > len(turns):
            card = self._cards.pop()
            self._layout.removeWidget(card)
            card.hide()
            card.deleteLater()
        for position, turn in enumerate(turns):
            if position == len(self._cards):
                card = _Card()
                self._layout.insertWidget(self._layout.count() - 1, card)
                self._cards.append(card)
            if self._cards[position].turn != turn:
                self._cards[position].show_turn(turn)
        self._empty.setVisible(not turns)
        self._settling.start()
        # The cards get their places only when the layout runs.
        QTimer.singleShot(0, self, self._show_current)

    def _go_along(self) -> None:
        if self._settling.isActive():
            self._show_current()

    def _show_current(self) -> None:
        """Scroll as little as shows the whole current turn; of one that is higher than the view, its beginning."""
        current = next((card for card in self._cards if card.turn.current), None)
        if current is not None:
            bar = self.verticalScrollBar()
            lowest = current.geometry().bottom() + 1 - self.viewport().height()
            bar.setValue(min(max(bar.value(), lowest), current.y()))


class _Base(QWidget):
    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), color("base"))
