"""The confusion matrix as four cells to press, each of which filters the cases."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QSizePolicy, QWidget

from workbench.gui.delegates.ink import color, mono, scaled_font
from workbench.gui.models.cases_filter import CELLS
from workbench.gui.shell.scale import px
from workbench.gui.widgets.labels import TokenLabel

_GOOD = ("tp", "tn")


class ConfusionCell(QAbstractButton):
    """One cell: a count, its name, and its share."""

    def __init__(self, cell: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cell = cell
        self._count, self._share = 0, ""
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip(f"Show only the cases that were {CELLS[cell]}")

    def show_count(self, count: int, share: str) -> None:
        """Show a count and what share of its row it is."""
        if (count, share) != (self._count, self._share):
            self._count, self._share = count, share
            self.setAccessibleName(f"{count} {CELLS[self.cell]}, {share}")
            self.setToolTip(f"{count} {CELLS[self.cell]}, {share}. Show only these cases")
            self.update()

    def count(self) -> int:
        """Return the count that is shown."""
        return self._count

    def sizeHint(self) -> QSize:
        return QSize(px(140), px(50))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), color("verdict_passed" if self.cell in _GOOD else "verdict_rejected"))
        chosen = self.isChecked() or self.hasFocus()
        painter.setPen(QPen(color("accent" if chosen else "line"), 2 if self.isChecked() else 1))
        painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        area = QRectF(self.rect()).adjusted(12, 4, -6, -4)
        middle = int(Qt.AlignmentFlag.AlignVCenter.value)
        number = str(self._count)
        font = mono(17)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(color("text"))
        top = QRectF(area.left(), area.top(), area.width(), area.height() / 2)
        painter.drawText(top, middle, number)
        rest = top.adjusted(painter.fontMetrics().horizontalAdvance(number) + 8, 0, 0, 0)
        painter.setFont(scaled_font(self.font(), bold=True))
        name, below = CELLS[self.cell], self._share
        if painter.fontMetrics().horizontalAdvance(name) > rest.width():
            # Beside a long number the name is set smaller, or below it in the place of the share.
            painter.setFont(scaled_font(self.font(), "second"))
            if painter.fontMetrics().horizontalAdvance(name) > rest.width():
                name, below = "", name
        painter.drawText(rest, middle, name)
        painter.setFont(scaled_font(self.font(), "second"))
        painter.setPen(color("second"))
        painter.drawText(area.adjusted(0, area.height() / 2, 0, 0), middle, below)


class ConfusionMatrix(QWidget):
    """Labels down, outcomes across. At most one cell is chosen; choosing it again takes the filter away."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 8, 12, 8)
        grid.setSpacing(4)
        for column, words in ((1, "rejected"), (2, "passed")):
            grid.addWidget(TokenLabel(words, "second", size="second"), 0, column)
        self.cells: dict[str, ConfusionCell] = {}
        for row, (words, pair) in enumerate(
            (("labelled yes", ("tp", "fn")), ("labelled no", ("fp", "tn"))), 1
        ):
            grid.addWidget(TokenLabel(words, "second", size="second"), row, 0)
            for column, cell in enumerate(pair, 1):
                button = ConfusionCell(cell)
                button.clicked.connect(lambda _=False, cell=cell: self._pressed(cell))
                grid.addWidget(button, row, column)
                self.cells[cell] = button
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(2, 1)

    def show_counts(self, tp: int, fn: int, fp: int, tn: int, nothing: str = "no such label") -> None:
        """Show the counts; the shares are those of the labels. `nothing` says why a label has no cases."""
        for cell, count, total, words in (
            ("tp", tp, tp + fn, "recall {:.2f}"),
            ("fn", fn, tp + fn, "{:.1%} of yes"),
            ("fp", fp, fp + tn, "{:.1%} of no"),
            ("tn", tn, fp + tn, "{:.1%} of no"),
        ):
            self.cells[cell].show_count(count, words.format(count / total) if total else nothing)

    def current(self) -> str | None:
        """Return the chosen cell."""
        return next((cell for cell, button in self.cells.items() if button.isChecked()), None)

    def choose(self, cell: str | None) -> None:
        """Choose a cell, or none."""
        for name, button in self.cells.items():
            button.setChecked(name == cell)

    def _pressed(self, cell: str) -> None:
        for name, button in self.cells.items():
            if name != cell:
                button.setChecked(False)
        self.chosen.emit(cell if self.cells[cell].isChecked() else "")
