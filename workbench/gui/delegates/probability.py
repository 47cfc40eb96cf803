"""Draws a probability as a bar with its threshold on it, alike in the guardrail rows and in the case table."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from workbench.gui.delegates.ink import color, mono
from workbench.gui.models.figures import format_probability

BAR_HEIGHT = 10.0
HANDLE_HEIGHT = 8.0
_HANDLE_HALF = 5.0


@dataclass(frozen=True, slots=True)
class BarState:
    """What a bar shows. `status` is one of the row states; `probability` is `None` where there is no number.

    `lower` and `upper` bound the probability where the model left room; `mass` is the share of the model's own
    probability that fell on an answer at all. All are from 0 to 1, `None` where the model does not tell.
    """

    probability: float | None
    threshold: float
    own: bool = True
    status: str = "idle"
    focused: bool = False
    lower: float | None = None
    upper: float | None = None
    mass: float | None = None


def mark_x(rect: QRectF, threshold: float) -> float:
    """Return where on the bar `rect` the mark of a threshold lies."""
    return rect.left() + rect.width() * min(1.0, max(0.0, threshold))


def value_at(rect: QRectF, x: float) -> float:
    """Return the value from 0 to 1 at the position `x` of the bar `rect`."""
    return min(1.0, max(0.0, (x - rect.left()) / rect.width())) if rect.width() > 0 else 0.0


def paint_bar(painter: QPainter, rect: QRectF, state: BarState, *, handle: bool = True) -> None:
    """Draw the bar into `rect`; the mark reaches a little above it and, with its `handle`, below it."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    shape = QPainterPath()
    shape.addRoundedRect(rect, 2, 2)
    if state.status == "refused":
        _paint_hatched(painter, shape, color("refused"))
    elif state.status in ("no_answer", "error"):
        _paint_empty(painter, rect, state.status)
    else:
        _paint_ground(painter, rect, shape, state)
        _paint_fill(painter, rect, shape, state)
        _paint_bounds(painter, rect, state)
    _paint_mark(painter, rect, state, handle)
    painter.restore()


def _paint_ground(painter: QPainter, rect: QRectF, shape: QPainterPath, state: BarState) -> None:
    x = mark_x(rect, state.threshold)
    painter.save()
    painter.setClipPath(shape)
    painter.fillRect(rect, color("bar_above"))
    painter.fillRect(QRectF(rect.left(), rect.top(), x - rect.left(), rect.height()), color("bar_below"))
    painter.restore()


def _paint_fill(painter: QPainter, rect: QRectF, shape: QPainterPath, state: BarState) -> None:
    if state.probability is None:
        return
    token = {"passed": "passed_fill", "rejected": "rejected_fill"}.get(state.status, "edge")
    # A probability above zero stays visible as a sliver; zero shows nothing.
    width = rect.width() * state.probability
    if 0 < width < 1:
        width = 1.0
    painter.save()
    painter.setClipPath(shape)
    painter.fillRect(QRectF(rect.left(), rect.top(), width, rect.height()), color(token))
    painter.restore()


def _paint_bounds(painter: QPainter, rect: QRectF, state: BarState) -> None:
    """Draw between which bounds the probability lies, and along the foot of the bar how much of it fell on an answer."""
    if state.probability is None:
        return
    if state.lower is not None and state.upper is not None and state.upper > state.lower:
        low, high, y = mark_x(rect, state.lower), mark_x(rect, state.upper), rect.center().y()
        for ink, width in ((color("base"), 3.6), (color("text"), 1.4)):
            painter.setPen(QPen(ink, width))
            painter.drawLine(QPointF(low, y), QPointF(high, y))
            for x in (low, high):
                painter.drawLine(QPointF(x, y - 3), QPointF(x, y + 3))
    if state.mass is not None and state.mass < 0.995:
        painter.setPen(QPen(color("warning"), 1.6))
        y = rect.bottom() - 0.8
        painter.drawLine(QPointF(rect.left(), y), QPointF(mark_x(rect, state.mass), y))


def _paint_hatched(painter: QPainter, shape: QPainterPath, ink: QColor) -> None:
    rect = shape.boundingRect()
    painter.save()
    painter.fillPath(shape, color("base"))
    painter.setClipPath(shape)
    painter.setPen(QPen(ink, 2.2))
    step, x = 7.0, rect.left() - rect.height()
    while x < rect.right():
        painter.drawLine(QPointF(x, rect.bottom() + 1), QPointF(x + rect.height() + 2, rect.top() - 1))
        x += step
    painter.restore()
    painter.setPen(QPen(ink, 1.2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(0.6, 0.6, -0.6, -0.6), 2, 2)


def _paint_empty(painter: QPainter, rect: QRectF, status: str) -> None:
    pen = QPen(color("warning" if status == "error" else "edge"), 1.2)
    pen.setStyle(Qt.PenStyle.DashLine if status == "error" else Qt.PenStyle.DotLine)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(0.6, 0.6, -0.6, -0.6), 2, 2)


def _paint_mark(painter: QPainter, rect: QRectF, state: BarState, handle: bool) -> None:
    x, ink, halo = mark_x(rect, state.threshold), color("text"), color("base")
    top, bottom = rect.top() - 3, rect.bottom() + (0 if handle else 3)
    painter.setPen(QPen(halo, 4))
    painter.drawLine(QPointF(x, top), QPointF(x, bottom))
    painter.setPen(QPen(ink, 2))
    painter.drawLine(QPointF(x, top), QPointF(x, bottom))
    if not handle:
        return
    y = rect.bottom() - 1
    house = QPolygonF(
        [
            QPointF(x, y),
            QPointF(x + _HANDLE_HALF, y + 4.5),
            QPointF(x + _HANDLE_HALF, y + HANDLE_HEIGHT),
            QPointF(x - _HANDLE_HALF, y + HANDLE_HEIGHT),
            QPointF(x - _HANDLE_HALF, y + 4.5),
        ]
    )
    painter.setPen(QPen(ink, 1.3))
    painter.setBrush(ink if state.own else halo)
    painter.drawPolygon(house)
    if state.focused:
        painter.setPen(QPen(color("accent"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(x - 8, rect.top() - 5, 16, rect.height() + HANDLE_HEIGHT + 7), 3, 3)


class ProbabilityDelegate(QStyledItemDelegate):
    """A table cell with a short bar and its number; the model gives a `BarState` under `StateRole`.

    Without one the cell shows its text.
    """

    StateRole = Qt.ItemDataRole.UserRole + 10

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._number_width = 0

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        state = index.data(self.StateRole)
        blank = QStyleOptionViewItem(option)
        self.initStyleOption(blank, index)
        words, blank.text = blank.text, ""
        widget = option.widget
        widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, blank, painter, widget)
        area = QRectF(option.rect).adjusted(8, 0, -8, 0)
        if not isinstance(state, BarState):
            painter.save()
            painter.setFont(option.font)
            painter.setPen(color("second"))
            painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
            painter.restore()
            return
        font = mono()
        painter.save()
        painter.setFont(font)
        if not self._number_width:
            self._number_width = painter.fontMetrics().horizontalAdvance("0.0000")
        number_rect = QRectF(area.right() - self._number_width, area.top(), self._number_width, area.height())
        bar = QRectF(area.left(), area.center().y() - 4, max(16.0, number_rect.left() - area.left() - 8), 8)
        paint_bar(painter, bar, state, handle=False)
        painter.setPen(color("text" if state.status in ("passed", "rejected") else "second"))
        number = "–" if state.probability is None else format_probability(state.probability, state.threshold)
        painter.drawText(number_rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(160, 24)
