"""The bar of one check, on which the threshold can be dragged or moved with the arrow keys."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from workbench.gui.delegates.probability import BAR_HEIGHT, BarState, mark_x, paint_bar, value_at
from workbench.gui.shell.timers import one_shot

STEP = 0.01
PAGE = 0.10
_SETTLE_MS = 350


class ProbabilityBar(QAbstractSlider):
    """Shows a probability and its threshold.

    The mouse drags the mark (or brings it to a click on the bar); Left and Right move it by 0.01, Page Up and Page Down by
    0.10, Home and End to 0 and 1. `moved` tells every position on the way, `chosen` the one that was meant, `dropped`
    that a drag was given up with Escape, `inherited` that the check shall take the default again (Delete).
    """

    moved = Signal(float)
    chosen = Signal(float)
    dropped = Signal()
    inherited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # The integer value of the slider speaks to assistive technology, in hundredths.
        self.setRange(0, 100)
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self._state = BarState(None, 0.5)
        self._dragging = False
        self._settle = one_shot(self, self._commit, _SETTLE_MS)

    def state(self) -> BarState:
        """Return what the bar shows."""
        return self._state

    def set_state(self, state: BarState) -> None:
        """Show another probability, threshold or status."""
        if state == self._state:
            return
        self._state = state
        blocked = self.blockSignals(True)
        self.setValue(round(state.threshold * 100))
        self.blockSignals(blocked)
        self.update()

    def bar_rect(self) -> QRectF:
        """Return where the bar lies in the widget."""
        return QRectF(6, 4, max(20, self.width() - 12), BAR_HEIGHT)

    def sizeHint(self) -> QSize:
        return QSize(240, 24)

    def minimumSizeHint(self) -> QSize:
        return QSize(90, 24)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        state = self._state
        shown = replace(state, focused=self.hasFocus())
        paint_bar(painter, self.bar_rect(), shown)

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._dragging = True
            self._before = self._state.threshold
            near = abs(event.position().x() - mark_x(self.bar_rect(), self._state.threshold)) <= 8
            if not near:
                self._move_to(value_at(self.bar_rect(), event.position().x()))
            event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragging:
            self._move_to(value_at(self.bar_rect(), event.position().x()))
        else:
            near = abs(event.position().x() - mark_x(self.bar_rect(), self._state.threshold)) <= 8
            self.setCursor(Qt.CursorShape.SplitHCursor if near else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._dragging and event.button() == Qt.MouseButton.LeftButton:
            self._dragging = False
            if self._state.threshold != self._before:
                self.chosen.emit(self._state.threshold)

    # Keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {
            Qt.Key.Key_Left: -STEP,
            Qt.Key.Key_Right: STEP,
            Qt.Key.Key_PageDown: -PAGE,
            Qt.Key.Key_PageUp: PAGE,
            Qt.Key.Key_Home: -1.0,
            Qt.Key.Key_End: 1.0,
        }
        key = Qt.Key(event.key())
        if key in steps:
            self._move_to(self._state.threshold + steps[key])
            self._settle.start()
        elif key == Qt.Key.Key_Escape and self._dragging:
            self._dragging = False
            self.dropped.emit()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.inherited.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._settle.isActive():
            self._commit()
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self._settle.isActive():
            self._commit()
        self.update()

    def _move_to(self, threshold: float) -> None:
        threshold = round(min(1.0, max(0.0, threshold)) / STEP) * STEP
        threshold = round(threshold, 2)
        if threshold != self._state.threshold:
            state = self._state
            self.set_state(replace(state, threshold=threshold, own=True))
            self.moved.emit(threshold)

    def _commit(self) -> None:
        self._settle.stop()
        self.chosen.emit(self._state.threshold)
