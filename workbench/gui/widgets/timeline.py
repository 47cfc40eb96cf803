"""The steps of a run on a line, attempt by attempt, with the step that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QWidget

from workbench.gui.delegates.ink import color, mono, scaled_font, status_color
from workbench.gui.shell.scale import fit, px

_HEIGHT = 78
_STEP_WIDTH = 92
_NARROWEST = 0.72


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its words, when it happened (seconds since the start of the run), and how it went."""

    label: str
    at: float
    status: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """One attempt: title, outcome in words and shape, figures, and its steps."""

    title: str
    word: str
    status: str
    figures: str
    steps: tuple[Step, ...]


class Timeline(QWidget):
    """Lanes of steps. Steps are counted through all lanes from 0; a click or the arrow keys choose one."""

    step_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lanes: tuple[Lane, ...] = ()
        self._current = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        fit(self, height=_HEIGHT + 16)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Timeline of the run")

    def set_lanes(self, lanes: Sequence[Lane], current: int) -> None:
        """Show `lanes` with the step `current` (-1: before the first)."""
        self._lanes, self._current = tuple(lanes), current
        steps = self._steps()
        if 0 <= current < len(steps):
            self.setAccessibleDescription(f"step {current + 1} of {len(steps)}: {steps[current].label}")
        self.setMinimumWidth(int(sum(self._lane_width(lane) * _NARROWEST + 8 for lane in lanes)) + 16)
        self.update()

    def lanes(self) -> tuple[Lane, ...]:
        """Return the lanes that are shown."""
        return self._lanes

    def _steps(self) -> list[Step]:
        return [step for lane in self._lanes for step in lane.steps]

    def _lane_width(self, lane: Lane) -> int:
        return max(px(_STEP_WIDTH) * max(1, len(lane.steps)), px(190))

    def sizeHint(self) -> QSize:
        return QSize(600, px(_HEIGHT + 16))

    def _layout(self) -> list[tuple[Lane, QRectF, list[QPointF]]]:
        """Return each lane with its box and the centres of its steps."""
        total = sum(self._lane_width(lane) for lane in self._lanes)
        room = self.width() - 24 - 8 * max(0, len(self._lanes) - 1)
        grow = min(1.9, max(_NARROWEST, room / total)) if total else 1.0
        placed, left = [], 12.0
        for lane in self._lanes:
            width = self._lane_width(lane) * grow
            box = QRectF(left, 8, width, px(_HEIGHT + 16) - 16)
            slot = width / max(1, len(lane.steps))
            centres = [QPointF(left + slot * (k + 0.5), 8 + px(33)) for k in range(len(lane.steps))]
            placed.append((lane, box, centres))
            left += width + 8
        return placed

    def place_of_current(self) -> tuple[int, int] | None:
        """Return where the step that is shown begins and ends on the line, in pixels; `None` where there is none."""
        number = 0
        for lane, box, centres in self._layout():
            if number <= self._current < number + len(centres):
                half = box.width() / len(centres) / 2
                middle = centres[self._current - number].x()
                return int(middle - half), int(middle + half)
            number += len(lane.steps)
        return None

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), color("window"))
        number = 0
        for lane, box, centres in self._layout():
            self._paint_box(painter, lane, box, reached=number <= self._current)
            for k, centre in enumerate(centres):
                if k:
                    self._paint_line(painter, centres[k - 1], centre, number <= self._current)
            for step, centre in zip(lane.steps, centres, strict=True):
                self._paint_step(painter, step, centre, number, box.width() / max(1, len(lane.steps)))
                number += 1
        if self.hasFocus():
            painter.setPen(QPen(color("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5))

    def _paint_box(self, painter: QPainter, lane: Lane, box: QRectF, reached: bool) -> None:
        painter.setPen(QPen(color("line"), 1))
        painter.setBrush(color("alternate"))
        painter.drawRoundedRect(box, 4, 4)
        painter.setFont(scaled_font(self.font(), bold=True))
        painter.setPen(color("text"))
        top = QRectF(box.left() + 12, box.top() + 3, box.width() - 24, px(20))
        middle = int(Qt.AlignmentFlag.AlignVCenter.value)
        painter.drawText(top, middle, lane.title)
        left = painter.fontMetrics().horizontalAdvance(lane.title) + 10
        painter.setPen(status_color(lane.status) if reached else color("second"))
        painter.drawText(top.adjusted(left, 0, 0, 0), middle, lane.word)
        left += painter.fontMetrics().horizontalAdvance(lane.word) + 10
        painter.setFont(scaled_font(self.font(), "second"))
        painter.setPen(color("second"))
        room = top.adjusted(left, 0, 0, 0)
        figures = painter.fontMetrics().elidedText(
            lane.figures, Qt.TextElideMode.ElideRight, int(room.width())
        )
        painter.drawText(room, middle | int(Qt.AlignmentFlag.AlignRight.value), figures)

    def _paint_line(self, painter: QPainter, start: QPointF, end: QPointF, reached: bool) -> None:
        pen = QPen(color("second") if reached else color("edge"), 1.6)
        if not reached:
            pen.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(pen)
        painter.drawLine(start + QPointF(10, 0), end - QPointF(10, 0))

    def _paint_step(self, painter: QPainter, step: Step, centre: QPointF, number: int, slot: float) -> None:
        reached, current = number <= self._current, number == self._current
        ink = status_color(step.status) if step.status else color("second")
        painter.setPen(QPen(ink if reached else color("edge"), 1.4))
        painter.setBrush(ink if reached else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, 4.2, 4.2)
        if current:
            painter.setPen(QPen(color("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(centre, 7.4, 7.4)
        top = int(Qt.AlignmentFlag.AlignHCenter.value | Qt.AlignmentFlag.AlignVCenter.value)
        font = scaled_font(self.font(), "second", bold=current)
        painter.setFont(font)
        painter.setPen(color("text" if reached else "second"))
        words = QFontMetrics(font).elidedText(step.label, Qt.TextElideMode.ElideRight, int(slot - 4))
        painter.drawText(QRectF(centre.x() - slot / 2, centre.y() + px(9), slot, px(17)), top, words)
        painter.setFont(mono(11))
        painter.setPen(color("second"))
        painter.drawText(
            QRectF(centre.x() - slot / 2, centre.y() + px(25), slot, px(15)), top, f"+{step.at:.2f} s"
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = 0
        for lane, box, _centres in self._layout():
            slot = box.width() / max(1, len(lane.steps))
            if box.contains(event.position()) and lane.steps:
                k = min(len(lane.steps) - 1, int((event.position().x() - box.left()) / slot))
                self.step_chosen.emit(number + k)
                return
            number += len(lane.steps)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        count = len(self._steps())
        target = {
            Qt.Key.Key_Left: self._current - 1,
            Qt.Key.Key_Right: self._current + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: count - 1,
        }.get(Qt.Key(event.key()))
        if target is None:
            super().keyPressEvent(event)
        elif count:
            self.step_chosen.emit(max(0, min(count - 1, target)))


def scrolling(timeline: Timeline) -> QScrollArea:
    """Return a strip in which a long timeline scrolls sideways."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(timeline)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    fit(area, height=_HEIGHT + 16)
    return area
