"""One check as a row: name and question over its bar, probability, threshold, outcome."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFontMetrics,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from workbench.gui.delegates.ink import color
from workbench.gui.delegates.probability import BarState
from workbench.gui.models.checks import CheckRow
from workbench.gui.shell.scale import fit, px
from workbench.gui.widgets.kind_mark import KindMark
from workbench.gui.widgets.labels import StatusMark, Strip, TokenLabel
from workbench.gui.widgets.probability_bar import ProbabilityBar

NUMBER_WIDTH = 52
THRESHOLD_WIDTH = 66
OUTCOME_WIDTH = 152
ROW_HEIGHT = 44

_HEAD = "Check and question"
_BAR = "bar: p from 0 to 1"
_BAR_TIP = "The bar shows p, the probability of yes, from 0 to 1; from the threshold on, yes rejects"


class ThresholdSpin(QDoubleSpinBox):
    """A threshold from 0 to 1 in steps of 0.01; digits beyond two are kept when a project has them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(0.0, 1.0)
        self.setSingleStep(0.01)
        self.setDecimals(4)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        fit(self, width=THRESHOLD_WIDTH)

    def textFromValue(self, value: float) -> str:
        text = f"{value:.4f}"
        return text[:-2] if text.endswith("00") else text.rstrip("0")

    def set_quietly(self, value: float) -> None:
        """Show a value without telling anybody."""
        if abs(self.value() - value) > 1e-9:
            blocked = self.blockSignals(True)
            self.setValue(value)
            self.blockSignals(blocked)

    def wheelEvent(self, event: object) -> None:
        """A wheel that scrolls the list must not change a threshold in passing."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class CheckHead(Strip):
    """The heads of the columns."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(22, "alternate", parent)
        self.row.setContentsMargins(12, 0, 10, 0)
        self.row.setSpacing(0)
        right = Qt.AlignmentFlag.AlignRight
        self.name = _caption(_HEAD)
        self.name.setToolTip(_BAR_TIP)
        self.row.addWidget(self.name, 1)
        self.bar = _caption(_BAR, align=right)
        self.bar.setToolTip(_BAR_TIP)
        self.row.addWidget(self.bar, 1)
        self.row.addWidget(_caption("p", NUMBER_WIDTH, right))
        self.row.addSpacing(14)
        self.row.addWidget(_caption("Threshold", THRESHOLD_WIDTH))
        self.row.addSpacing(16)
        self.row.addWidget(_caption("Outcome", OUTCOME_WIDTH))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_words()

    def _fit_words(self) -> None:
        """Say as much as there is room for, and nothing by half."""
        metrics = QFontMetrics(self.name.shown_font())
        fixed = px(NUMBER_WIDTH) + 14 + px(THRESHOLD_WIDTH) + 16 + px(OUTCOME_WIDTH)
        margins = self.row.contentsMargins()
        room = self.width() - margins.left() - margins.right() - fixed
        # Both halves are of one width.
        both = 2 * max(metrics.horizontalAdvance(words) + 4 for words in (_HEAD, _BAR)) <= room
        self.bar.setVisible(both)
        whole = both or metrics.horizontalAdvance(_HEAD) + 4 <= room
        self.name.set_text(_HEAD if whole else "Check")

    def leave_room(self, pixels: int) -> None:
        """Keep the heads above their columns where a scroll bar takes `pixels` of the rows."""
        self.row.setContentsMargins(12, 0, 10 + pixels, 0)
        self._fit_words()


def _caption(words: str, width: int = 0, align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft) -> TokenLabel:
    label = TokenLabel(words, "second", size="second", elide=not width, align=align)
    if width:
        fit(label, width=width)
    return label


class CheckRowWidget(QWidget):
    """The widgets of one row; it shows a `CheckRow` and tells what the user does with the threshold."""

    moved = Signal(float)
    chosen = Signal(float)
    inherited = Signal()
    dropped = Signal()
    edit_asked = Signal()
    menu_asked = Signal(QPoint)
    selected = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        fit(self, height=ROW_HEIGHT)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._shown: CheckRow | None = None
        self._strongest = ""
        self._selected = False
        self.name = TokenLabel(bold=True)
        # In a narrow pane a long name gives way, not the outcome.
        self.name.setMinimumWidth(40)
        self.question = TokenLabel("", "second", size="second", elide=True)
        self.question.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.bar = ProbabilityBar()
        self.kind = KindMark()
        self.kind.hide()
        self.number = TokenLabel("–", monospace=True, align=Qt.AlignmentFlag.AlignRight)
        fit(self.number, width=NUMBER_WIDTH)
        self.spin = ThresholdSpin()
        self.origin = TokenLabel("default", "second", size="second")
        self.mark = StatusMark()
        self.word = TokenLabel("", bold=True)
        self.remark = TokenLabel("", "second", size="second", elide=True)
        self._lay_out()
        self.bar.moved.connect(self._on_moved)
        self.bar.chosen.connect(self.chosen)
        self.bar.dropped.connect(self.dropped)
        self.bar.inherited.connect(self.inherited)
        self.spin.valueChanged.connect(self.chosen)

    def _lay_out(self) -> None:
        outer = QHBoxLayout(self)
        outer.setContentsMargins(6, 1, 10, 1)
        outer.setSpacing(0)
        left = QVBoxLayout()
        left.setSpacing(0)
        heads = QHBoxLayout()
        heads.setSpacing(8)
        heads.setContentsMargins(6, 0, 0, 0)
        heads.addWidget(self.name)
        heads.addWidget(self.question, 1)
        left.addLayout(heads)
        bar_row = QHBoxLayout()
        # The bar's own margin leaves room for half a handle; the ground must still line up with the name.
        bar_row.setContentsMargins(0, 0, 0, 0)
        bar_row.setSpacing(0)
        bar_row.addWidget(self.bar)
        bar_row.addWidget(self.kind)
        left.addLayout(bar_row)
        left.setContentsMargins(0, 0, 0, 0)
        outer.addLayout(left, 1)
        outer.addWidget(self.number)
        outer.addSpacing(14)
        middle = QVBoxLayout()
        middle.setSpacing(0)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.addWidget(self.spin)
        middle.addWidget(self.origin)
        thresholds = QWidget()
        thresholds.setLayout(middle)
        fit(thresholds, width=THRESHOLD_WIDTH)
        outer.addWidget(thresholds)
        outer.addSpacing(16)
        outer.addWidget(self.mark)
        outer.addSpacing(8)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addStretch(1)
        right.addWidget(self.word)
        right.addWidget(self.remark)
        right.addStretch(1)
        holder = QWidget()
        holder.setLayout(right)
        right.setContentsMargins(0, 0, 0, 0)
        fit(holder, width=OUTCOME_WIDTH - 24)
        outer.addWidget(holder)

    def shown(self) -> CheckRow | None:
        """Return the row that is shown."""
        return self._shown

    def show_row(self, row: CheckRow) -> None:
        """Show a row."""
        if row == self._shown:
            return
        self._shown = row
        self.name.set_text(row.check.name)
        self.name.setToolTip(row.check.name)
        self.question.set_text(row.check.question)
        self.question.setToolTip(_question_tip(row))
        asks = row.kind == "model"
        self.bar.setVisible(asks)
        self.spin.setVisible(asks)
        self.kind.setVisible(not asks)
        if not asks:
            self.kind.show_kind(row.kind, "asks no model")
        self.bar.set_state(_bar_state(row))
        self.bar.setAccessibleName(f"Threshold of {row.check.name}")
        self.bar.setAccessibleDescription(row.spoken())
        self.bar.setToolTip("Drag the mark, or move it with the arrow keys; Delete takes the default again")
        rejected = row.state == "rejected"
        self.number.set_text(row.number)
        self.number.set_look(token="text" if row.current else "second", bold=rejected)
        self.spin.set_quietly(row.threshold)
        self.spin.setAccessibleName(f"Threshold of {row.check.name}")
        self._show_origin(row)
        self.mark.set_status(row.state)
        self.word.set_text(row.word)
        self.word.set_look(token=_token_of(row.state))
        self.remark.set_text(row.remark)
        self.remark.set_look(token="text" if row.near else "second", bold=row.near)
        self._show_tip(row)
        self.setAccessibleName(row.spoken())

    def set_strongest(self, words: str) -> None:
        """Say in the tip of the outcome which part of the text decided; nothing where it was the whole."""
        if words != self._strongest:
            self._strongest = words
            self.setAccessibleDescription(words)
            if self._shown is not None:
                self._show_tip(self._shown)

    def _show_tip(self, row: CheckRow) -> None:
        tip = "\n".join(part for part in (_outcome_tip(row), self._strongest) if part)
        for widget in (self.mark, self.word, self.remark):
            widget.setToolTip(tip)
        self.number.setToolTip(self._strongest)

    def _show_origin(self, row: CheckRow) -> None:
        """Say where the threshold comes from, and loudly when it belongs to another model or wording."""
        if row.kind != "model":
            self.origin.set_text("none")
            self.origin.set_look(token="second", bold=False)
            self.origin.setToolTip("The answer of this check is yes or no, so there is no threshold.")
            return
        stale = bool(row.origin_stale)
        self.origin.set_text("default" if not row.own else "own, stale" if stale else "own")
        self.origin.set_look(token="warning" if stale else "second", bold=stale)
        parts = [f"The threshold was {row.origin}." if row.origin else ""]
        parts.append(f"It is out of date: {row.origin_stale}." if stale else "")
        tip = "\n".join(part for part in parts if part)
        self.origin.setToolTip(tip)
        self.spin.setToolTip(tip)

    def set_selected(self, selected: bool) -> None:
        """Show whether this is the row that edit, duplicate and delete act on."""
        if selected != self._selected:
            self._selected = selected
            self.update()

    def _on_moved(self, threshold: float) -> None:
        self.spin.set_quietly(threshold)
        self.moved.emit(threshold)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._selected:
            painter.fillRect(self.rect(), color("selection"))
        painter.setPen(color("line"))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        if self.hasFocus():
            painter.setPen(color("accent"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -2))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.selected.emit()
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.edit_asked.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.selected.emit()
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def keyPressEvent(self, event: object) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.edit_asked.emit()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.focusNextPrevChild(key == Qt.Key.Key_Down)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.selected.emit()
        self.menu_asked.emit(event.globalPos())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()


def _bar_state(row: CheckRow) -> BarState:
    return BarState(
        row.probability, row.threshold, row.own, row.state, lower=row.lower, upper=row.upper, mass=row.mass
    )


def _outcome_tip(row: CheckRow) -> str:
    parts = [row.detail or row.remark]
    if row.kind != "model":
        return parts[0]
    if row.lower is not None and row.upper is not None:
        parts.append(f"The probability lies between {row.lower:.3f} and {row.upper:.3f}.")
        if row.uncertain:
            parts.append("The threshold lies in between: the outcome is not certain.")
    if row.mass is not None:
        parts.append(f"{row.mass:.1%} of the model's own probability fell on yes or no.")
    return "\n".join(part for part in parts if part)


def _token_of(state: str) -> str:
    if state in ("passed", "rejected", "refused"):
        return state
    return "warning" if state == "error" else "second"


def _question_tip(row: CheckRow) -> str:
    parts = [row.check.question]
    if row.check.yes_means:
        parts.append(f"yes (rejected): {row.check.yes_means}")
    if row.check.no_means:
        parts.append(f"no (passes): {row.check.no_means}")
    return "\n".join(parts)
