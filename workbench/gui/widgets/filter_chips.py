"""Small buttons that filter a table by what they count; at most one is chosen."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QWidget

from workbench.gui.delegates.ink import color, scaled_font
from workbench.gui.models.figures import grouped
from workbench.gui.shell.scale import px


class FilterChip(QAbstractButton):
    """One filter with its count; the chosen one is outlined and ends in a cross."""

    def __init__(self, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words, self._count = words, 0
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.show_count(0)

    def show_count(self, count: int) -> None:
        """Show how many cases the filter would leave."""
        self._count = count
        text = f"{self._words} {grouped(count)}"
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(f"Show only: {text}")
            # Only growing needs a new layout: counts change with every frame of a drag.
            if self.sizeHint().width() > self.width():
                self.updateGeometry()
            self.update()

    def count(self) -> int:
        """Return the count that is shown."""
        return self._count

    def _shown(self) -> str:
        return f"{self.text()}  ×" if self.isChecked() else self.text()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(scaled_font(self.font(), "second"))
        return QSize(metrics.horizontalAdvance(self._shown()) + 16, px(22))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        marked = self.isChecked() or self.hasFocus()
        painter.setPen(QPen(color("accent" if marked else "edge"), 2 if self.hasFocus() else 1))
        painter.setBrush(color("value_tint" if self.isChecked() else "base"))
        painter.drawRoundedRect(rect, 3, 3)
        painter.setFont(scaled_font(self.font(), "second"))
        painter.setPen(color("value_text" if self.isChecked() else "text"))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter.value), self._shown())


class FilterChips(QWidget):
    """A row of filters; those that count nothing are hidden unless they are chosen."""

    chosen = Signal(str)

    def __init__(self, words: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        self.chips: dict[str, FilterChip] = {}
        for key, name in words.items():
            chip = FilterChip(name)
            chip.setVisible(False)
            chip.clicked.connect(lambda _checked=False, key=key: self._pressed(key))
            row.addWidget(chip)
            self.chips[key] = chip

    def show_counts(self, counts: Mapping[str, int]) -> None:
        """Show how many cases each filter would leave."""
        for key, chip in self.chips.items():
            chip.show_count(counts.get(key, 0))
            chip.setVisible(chip.isChecked() or bool(chip.count()))

    def current(self) -> str:
        """Return the key of the chosen filter, an empty text for none."""
        return next((key for key, chip in self.chips.items() if chip.isChecked()), "")

    def choose(self, key: str) -> None:
        """Choose a filter, or none, without telling anybody."""
        for name, chip in self.chips.items():
            chip.setChecked(name == key)
            chip.setVisible(chip.isChecked() or bool(chip.count()))
            chip.updateGeometry()

    def _pressed(self, key: str) -> None:
        self.choose(key if self.chips[key].isChecked() else "")
        self.chosen.emit(self.current())
