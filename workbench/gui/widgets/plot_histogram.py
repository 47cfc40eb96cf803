"""The histogram of the threshold lab: cases by probability and label, with the threshold and a review band to drag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QTransform
from PySide6.QtWidgets import QWidget

from workbench.gui.delegates.ink import color
from workbench.gui.models.figures import grouped
from workbench.gui.shell.theme import small_font
from workbench.gui.widgets.plots import DrawnItem, Plot, ThresholdLine

if TYPE_CHECKING:
    from workbench.engine.evaluation.metrics import Histogram

_ONE_SCALE = 4.0
"""Up to this many times as many cases in its highest bar, a half still leaves the other one to be read."""


class _Bars(DrawnItem):
    """The bars of both halves, drawn in one go."""

    def __init__(self) -> None:
        super().__init__(QRectF(0, -1, 1, 2))
        self.histogram: Histogram | None = None
        self.tops = (1, 1)

    def draw(self, painter: QPainter, place: QTransform) -> None:
        if self.histogram is None:
            return
        no = QColor(color("accent"))
        no.setAlpha(150)
        hatched = QBrush(color("rejected_fill"), Qt.BrushStyle.BDiagPattern)
        self._draw_half(painter, place, self.histogram.yes, 1 / self.tops[0], hatched, color("rejected_fill"))
        self._draw_half(painter, place, self.histogram.no, -1 / self.tops[1], QBrush(no), color("accent"))

    def _draw_half(
        self, painter: QPainter, place: QTransform, counts: tuple[int, ...], unit: float, brush: QBrush, edge: QColor
    ) -> None:  # fmt: skip
        assert self.histogram is not None
        edges = self.histogram.edges
        width = 0.94 * (edges[1] - edges[0])
        painter.setBrush(brush)
        painter.setPen(QPen(edge, 1))
        painter.drawRects(
            [
                QRectF(
                    place.map(QPointF(edges[k], 0)), place.map(QPointF(edges[k] + width, count * unit))
                ).normalized()
                for k, count in enumerate(counts)
                if count
            ]
        )


class HistogramPlot(Plot):
    """Cases by probability: labelled yes hatched upwards, labelled no filled downwards.

    Both halves have one scale where both can be read on it; else each has its own, and the picture says so.

    `moved` tells every place of the threshold on its way, `chosen` where it was let go; `band_moved` and `band_chosen`
    those of the lower end of a review band. A click on a bar tells its bin: `bin_chosen(low, high, labelled yes)`.
    """

    moved = Signal(float)
    chosen = Signal(float)
    band_moved = Signal(float)
    band_chosen = Signal(float)
    bin_chosen = Signal(float, float, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("cases", "probability of yes", parent)
        self._histogram: Histogram | None = None
        self._bars = _Bars()
        self._why_empty = self._odd = ""
        self.setXRange(0, 1, padding=0.03)
        self._head, self._foot = 1.7, -1.5
        self.line = ThresholdLine(0.5)
        self.band_line = ThresholdLine(0.25, dashed=True)
        self.band_line.setVisible(False)
        self._above = pg.LinearRegionItem((0.5, 1.0), movable=False, pen=pg.mkPen(None))
        self._between = pg.LinearRegionItem((0.25, 0.5), movable=False, pen=pg.mkPen(None))
        self._between.setVisible(False)
        self._tag = pg.TextItem(anchor=(0.5, 0))
        self._left_words = pg.TextItem(anchor=(1, 0))
        self._right_words = pg.TextItem(anchor=(0, 0))
        self._mark = pg.InfiniteLine(0, angle=90, movable=False)
        self._mark.setVisible(False)
        self._yes_words = pg.TextItem(anchor=(1, 1))
        self._no_words = pg.TextItem(anchor=(1, 1))
        self._scale_words = pg.TextItem(anchor=(0, 1))
        for item in (
            self._above, self._between, self._bars, self._mark, self.band_line, self.line, self._left_words,
            self._right_words, self._yes_words, self._no_words, self._scale_words, self._tag,
        ):  # fmt: skip
            self.addItem(item, ignoreBounds=True)
        self._tag.setZValue(30)
        self._above.setZValue(-20)
        self._between.setZValue(-19)
        self.line.sigPositionChanged.connect(self._moving)
        self.line.sigPositionChangeFinished.connect(
            lambda _line: self.chosen.emit(round(self.line.value(), 2))
        )
        self.band_line.sigPositionChanged.connect(self._band_moving)
        self.band_line.sigPositionChangeFinished.connect(
            lambda _line: self.band_chosen.emit(self._band_end())
        )
        self.clicked.connect(self._bar_clicked)
        self.setAccessibleName("Histogram of probabilities by label")
        self._make_room()
        self.redraw()

    def set_histogram(self, histogram: Histogram | None, why_empty: str = "", note: str = "") -> None:
        """Show counts by label, `None` for none; `why_empty` says why there are none, `note` what is odd about them."""
        self._histogram, self._why_empty, self._odd = histogram, why_empty, note
        self._show_bars()

    def set_threshold(self, threshold: float) -> None:
        """Put the line at a threshold without telling anybody."""
        blocked = self.line.blockSignals(True)
        self.line.setValue(threshold)
        self.line.blockSignals(blocked)
        self._place()

    def set_band(self, allow_below: float | None) -> None:
        """Show a review band from `allow_below` up to the threshold; `None` for none."""
        shown = allow_below is not None
        self.band_line.setVisible(shown)
        self._between.setVisible(shown)
        if allow_below is not None:
            blocked = self.band_line.blockSignals(True)
            self.band_line.setValue(allow_below)
            self.band_line.blockSignals(blocked)
        self._place()

    def set_mark(self, probability: float | None) -> None:
        """Mark where the case chosen in the table lies."""
        self._mark.setVisible(probability is not None)
        if probability is not None:
            self._mark.setPen(pg.mkPen(color("text"), width=1, style=Qt.PenStyle.DotLine))
            self._mark.setValue(probability)

    def _moving(self, _line: object) -> None:
        self._place()
        self.moved.emit(round(self.line.value(), 2))

    def _band_moving(self, _line: object) -> None:
        self._place()
        self.band_moved.emit(self._band_end())

    def _band_end(self) -> float:
        return float(round(min(self.band_line.value(), self.line.value()), 2))

    def _make_room(self) -> None:
        """Leave two lines of words above the bars and one below, whatever the height of the picture."""
        line, height = float(self._tag.boundingRect().height()) + 2, float(self.getViewBox().height())
        # In a picture that is hardly higher than its words they may lie over the bars.
        unit = 2 / max(height - 3 * line, height / 3, 1.0)
        self._head, self._foot = 1 + 2 * line * unit, -1 - line * unit
        self.setYRange(self._foot, self._head, padding=0)
        self._yes_words.setPos(1.0, 1.0)
        for words, x in ((self._no_words, 1.0), (self._scale_words, 0.0)):
            words.setPos(x, self._foot)
        self._place()

    def _place(self) -> None:
        """Put everything where the threshold is."""
        value = self.line.value()
        self._tag.setText(f" {value:.2f} ", color=color("on_accent"))
        self._tag.setPos(value, self._head)
        self._left_words.setPos(value - 0.035, self._head)
        self._right_words.setPos(value + 0.035, self._head)
        self._left_words.setVisible(value > 0.12)
        self._right_words.setVisible(value < 0.72)
        self._above.setRegion((value, 1.0))
        if self._between.isVisible():
            self._between.setRegion((min(self.band_line.value(), value), value))

    def _dress_marks(self) -> None:
        self.line.dress()
        self.band_line.dress()
        self._tag.fill = pg.mkBrush(color("accent"))
        for item in (self._yes_words, self._no_words, self._scale_words):
            item.fill = pg.mkBrush(color("base:200"))
        self._above.setBrush(pg.mkBrush(color("bar_below:90")))
        self._between.setBrush(pg.mkBrush(color("accent:40")))
        self._left_words.setText("← passes", color=color("second"))
        self._right_words.setText("rejected at or above →", color=color("second"))
        for item in (
            self._left_words, self._right_words, self._yes_words, self._no_words, self._scale_words, self._tag
        ):  # fmt: skip
            item.setFont(small_font())
        self._make_room()

    def redraw(self) -> None:
        self._dress_marks()
        self._show_bars()

    def _show_bars(self) -> None:
        histogram = self._histogram
        total = sum(histogram.yes) + sum(histogram.no) if histogram is not None else 0
        self.say("" if total else self._why_empty)
        self._bars.histogram = histogram if total else None
        for item in (self._yes_words, self._no_words, self._scale_words):
            item.setVisible(bool(total))
        if histogram is None or not total:
            self.getAxis("left").setTicks([[]])
            self._bars.update()
            return
        highest = (max(histogram.yes), max(histogram.no))
        self._bars.tops = tops = bar_tops(*highest)
        self._bars.update()
        self.getAxis("left").setTicks([[(1.0, str(tops[0])), (0.0, "0"), (-1.0, str(tops[1]))]])
        self._yes_words.setText(_half_words("yes", sum(histogram.yes), "above"), color=color("text"))
        self._no_words.setText(_half_words("no", sum(histogram.no), "below"), color=color("text"))
        self._scale_words.setText(self.scale_words(), color=color("second"))
        self._make_room()

    def scale_words(self) -> str:
        """Return what the picture says of the scales of its halves where they differ, and of odd cases."""
        if self._bars.histogram is None:
            return ""
        above, below = (grouped(top) for top in self._bars.tops)
        scales = "" if above == below else f"two scales: up to {above} above, {below} below"
        return "; ".join(part for part in (scales, self._odd) if part)

    def _bar_clicked(self, x: float, y: float) -> None:
        if self._histogram is None or not 0 <= x <= 1 or not -1.1 <= y <= 1.1:
            return
        edges = self._histogram.edges
        k = min(len(edges) - 2, max(0, int(x * (len(edges) - 1))))
        if (self._histogram.yes if y >= 0 else self._histogram.no)[k]:
            self.bin_chosen.emit(edges[k], edges[k + 1], y >= 0)


def bar_tops(yes: int, no: int) -> tuple[int, int]:
    """Return the counts at which the upper and the lower half end, from the highest bar of each."""
    high, low = max(yes, no), min(yes, no)
    if not low or high <= _ONE_SCALE * low:
        return max(1, high), max(1, high)
    return max(1, yes), max(1, no)


def _half_words(label: str, count: int, side: str) -> str:
    return (
        f"labelled {label}, {grouped(count)} ({side} the line)" if count else f"no case is labelled {label}"
    )
