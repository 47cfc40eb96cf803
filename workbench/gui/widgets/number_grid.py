"""A few named figures side by side, each with its definition and its interval in the tooltip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.gui.widgets.figure_label import FigureLabel
from workbench.gui.widgets.labels import TokenLabel

UNDEFINED = "–"


@dataclass(frozen=True, slots=True)
class Number:
    """One figure: `value` is `None` where it is not defined, `interval` its 95 % interval where there is one."""

    name: str
    value: float | None
    definition: str = ""
    interval: tuple[float, float] | None = None
    digits: int = 2

    def text(self) -> str:
        """Return the figure as text, a dash where it is not defined."""
        return UNDEFINED if self.value is None else f"{self.value:.{self.digits}f}"

    def tip(self) -> str:
        """Return definition and interval."""
        parts = [self.definition]
        if self.value is None:
            parts.append("Not defined for these cases.")
        if self.interval is not None:
            low, high = self.interval
            parts.append(f"95 % interval (Wilson): {low:.{self.digits}f} to {high:.{self.digits}f}")
        return "\n".join(part for part in parts if part)


class NumberGrid(QWidget):
    """Figures in rows of a fixed number of columns: a small name over a value, with `intervals` their range below."""

    def __init__(self, columns: int = 4, *, intervals: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._intervals = intervals
        self._columns = columns
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(12, 4, 12, 6)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(0)
        for column in range(columns):
            self._grid.setColumnStretch(column, 1)
        self._labels: list[tuple[TokenLabel, FigureLabel, FigureLabel]] = []

    def show_numbers(self, numbers: Sequence[Number]) -> None:
        """Show the figures."""
        while len(self._labels) < len(numbers):
            self._add()
        for (name, value, range_), number in zip(self._labels, numbers, strict=False):
            name.set_text(number.name)
            value.set_text(number.text())
            value.setAccessibleName(f"{number.name} {number.text()}")
            interval = number.interval
            range_.set_text("" if interval is None else f"{interval[0]:.2f}–{interval[1]:.2f}")
            for label in (name, value, range_):
                label.setToolTip(number.tip())

    def shown(self) -> dict[str, str]:
        """Return the texts of the figures by name."""
        return {name.text(): value.text() for name, value, _ in self._labels}

    def tips(self) -> dict[str, str]:
        """Return the tooltips by name."""
        return {name.text(): name.toolTip() for name, _, _ in self._labels}

    def _add(self) -> None:
        place = len(self._labels)
        row, column = 3 * (place // self._columns), place % self._columns
        labels = (
            TokenLabel("", "second", size="second"),
            FigureLabel("0.000", bold=True, monospace=True),
            FigureLabel("0.00–0.00", "second", size="second"),
        )
        for offset, label in enumerate(labels):
            self._grid.addWidget(label, row + offset, column)
        labels[2].setVisible(self._intervals)
        self._labels.append(labels)
