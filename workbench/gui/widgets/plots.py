"""The pictures of the threshold lab. Importing this module imports pyqtgraph, so it waits until they are seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QPen, QResizeEvent
from PySide6.QtWidgets import QGraphicsItem, QWidget

from workbench.gui.delegates.ink import color
from workbench.gui.shell.theme import on_theme_changed, small_font

if TYPE_CHECKING:
    from workbench.engine.evaluation.metrics import Histogram, ReliabilityBin


# What stays as it is while a threshold is dragged over it is painted once.
_CACHED = QGraphicsItem.CacheMode.DeviceCoordinateCache


class Plot(pg.PlotWidget):
    """A plot in the theme's colours, without a menu and without wheel surprises."""

    clicked = Signal(float, float)
    """A click into the picture, in the plot's own units."""

    def __init__(self, left: str, bottom: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._labels = (left, bottom)
        self.setMenuEnabled(False)
        self.hideButtons()
        self.setMouseEnabled(x=False, y=False)
        self.setAntialiasing(True)
        self.setFrameShape(self.Shape.NoFrame)
        self.setMinimumSize(120, 90)
        self._message = pg.TextItem(anchor=(0.5, 0.5))
        self._message.setZValue(50)
        self._message.setVisible(False)
        self.addItem(self._message, ignoreBounds=True)
        self.scene().sigMouseClicked.connect(self._on_click)
        self._dress()
        on_theme_changed(self, self._on_theme)

    def _on_theme(self) -> None:
        self._dress()
        self.redraw()

    def _dress(self) -> None:
        self.setBackground(color("base"))
        for side, words in zip(("left", "bottom"), self._labels, strict=True):
            axis = self.getAxis(side)
            axis.setPen(pg.mkPen(color("line")))
            axis.setTextPen(pg.mkPen(color("second")))
            axis.setStyle(tickFont=small_font(), tickLength=0)
            axis.setLabel(words, color=color("second").name())
            axis.label.setFont(small_font())
            axis.setCacheMode(_CACHED)
        self.showGrid(x=True, y=True, alpha=0.12)
        self._message.setColor(color("second"))
        self._message.fill = pg.mkBrush(color("base"))

    def _on_click(self, event: Any) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.getViewBox().sceneBoundingRect().contains(
            event.scenePos()
        ):
            place: QPointF = self.getViewBox().mapSceneToView(event.scenePos())
            self.clicked.emit(place.x(), place.y())

    def redraw(self) -> None:
        """Draw again in the colours of the theme; subclasses keep what they need for it."""

    def say(self, words: str) -> None:
        """Show words in the middle instead of a picture; an empty text takes them away."""
        self._message.setText(words)
        self._message.setVisible(bool(words))
        self._place_message()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        # The base class lays itself out before this one is complete.
        if getattr(self, "_message", None) is not None:
            self._place_message()

    def _place_message(self) -> None:
        """Put the words into the middle, in as many lines as they need."""
        item = self._message.textItem
        item.setTextWidth(-1)
        room = max(80.0, self.getViewBox().width() - 16)
        if item.boundingRect().width() > room:
            option = item.document().defaultTextOption()
            option.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            item.document().setDefaultTextOption(option)
            item.setTextWidth(room)
        self._message.updateTextPos()
        (x0, x1), (y0, y1) = self.getViewBox().viewRange()
        self._message.setPos((x0 + x1) / 2, (y0 + y1) / 2)

    def message(self) -> str:
        """Return the words that are shown instead of a picture."""
        return self._message.toPlainText() if self._message.isVisible() else ""


class ThresholdLine(pg.InfiniteLine):
    """The threshold as a line that can be dragged between 0 and 1."""

    def __init__(self, value: float, movable: bool = True, *, dashed: bool = False) -> None:
        self._dashed = dashed
        super().__init__(value, angle=90, movable=movable, bounds=(0.0, 1.0))
        self.setZValue(20)
        self.dress()

    def dress(self) -> None:
        """Take the theme's accent."""
        style = Qt.PenStyle.DashLine if self._dashed else Qt.PenStyle.SolidLine
        self.setPen(pg.mkPen(color("accent"), width=2, style=style))
        self.setHoverPen(pg.mkPen(color("accent"), width=4, style=style))


class HistogramPlot(Plot):
    """Cases by probability: labelled yes hatched upwards, labelled no filled downwards, each half to its own scale.

    `moved` tells every place of the threshold on its way, `chosen` where it was let go; `band_moved` the lower end of
    a review band. A click on a bar tells its bin: `bin_chosen(low, high, labelled yes)`.
    """

    moved = Signal(float)
    chosen = Signal(float)
    band_moved = Signal(float)
    bin_chosen = Signal(float, float, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("cases", "probability of yes", parent)
        self._histogram: Histogram | None = None
        self._bars: list[Any] = []
        self._why_empty = ""
        self.setXRange(0, 1, padding=0.03)
        self.setYRange(-1.12, 1.72, padding=0)
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
        for item in (
            self._above, self._between, self._mark, self.band_line, self.line, self._left_words,
            self._right_words, self._yes_words, self._no_words, self._tag,
        ):  # fmt: skip
            self.addItem(item, ignoreBounds=True)
        self._above.setZValue(-20)
        self._between.setZValue(-19)
        self.line.sigPositionChanged.connect(self._moving)
        self.line.sigPositionChangeFinished.connect(
            lambda _line: self.chosen.emit(round(self.line.value(), 2))
        )
        self.band_line.sigPositionChanged.connect(self._band_moving)
        self.clicked.connect(self._bar_clicked)
        self.setAccessibleName("Histogram of probabilities by label")
        self._place()
        self.redraw()

    def set_histogram(self, histogram: Histogram | None, why_empty: str = "") -> None:
        """Show counts by label, `None` for none; `why_empty` says why there are none."""
        self._histogram, self._why_empty = histogram, why_empty
        self.redraw()

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
        self.band_moved.emit(round(min(self.band_line.value(), self.line.value()), 2))

    def _place(self) -> None:
        """Put everything where the threshold is."""
        value = self.line.value()
        self._tag.setText(f" {value:.2f} ", color=color("on_accent"))
        self._tag.setPos(value, 1.7)
        self._left_words.setPos(value - 0.035, 1.7)
        self._right_words.setPos(value + 0.035, 1.7)
        self._left_words.setVisible(value > 0.12)
        self._right_words.setVisible(value < 0.72)
        self._above.setRegion((value, 1.0))
        if self._between.isVisible():
            self._between.setRegion((min(self.band_line.value(), value), value))

    def _dress_marks(self) -> None:
        self.line.dress()
        self.band_line.dress()
        self._tag.fill = pg.mkBrush(color("accent"))
        self._above.setBrush(pg.mkBrush(color("bar_below:90")))
        self._between.setBrush(pg.mkBrush(color("accent:40")))
        self._left_words.setText("← passes", color=color("second"))
        self._right_words.setText("rejected at or above →", color=color("second"))
        for item in (self._left_words, self._right_words, self._yes_words, self._no_words, self._tag):
            item.setFont(small_font())
        self._place()

    def redraw(self) -> None:
        for bar in self._bars:
            self.removeItem(bar)
        self._bars = []
        self._dress_marks()
        histogram = self._histogram
        total = sum(histogram.yes) + sum(histogram.no) if histogram is not None else 0
        self.say("" if total else self._why_empty)
        for item in (self._yes_words, self._no_words):
            item.setVisible(bool(total))
        if histogram is None or not total:
            self.getAxis("left").setTicks([[]])
            return
        lefts = list(histogram.edges[:-1])
        width = histogram.edges[1] - histogram.edges[0]
        yes_top, no_top = max(1, *histogram.yes), max(1, *histogram.no)
        yes = QBrush(color("rejected_fill"), Qt.BrushStyle.BDiagPattern)
        self._add_bars(
            lefts, width, [count / yes_top for count in histogram.yes], yes, color("rejected_fill")
        )
        no = QColor(color("accent"))
        no.setAlpha(150)
        self._add_bars(lefts, width, [-count / no_top for count in histogram.no], QBrush(no), color("accent"))
        self.getAxis("left").setTicks([[(1.0, str(yes_top)), (0.0, "0"), (-1.0, str(no_top))]])
        self._yes_words.setText(f"labelled yes, {sum(histogram.yes)} (above the line)", color=color("text"))
        self._no_words.setText(f"labelled no, {sum(histogram.no)} (below the line)", color=color("text"))
        self._yes_words.setPos(1.0, 1.02)
        self._no_words.setPos(1.0, -1.06)

    def _add_bars(
        self, lefts: list[float], width: float, heights: list[float], brush: QBrush, edge: QColor
    ) -> None:
        places = [k for k, height in enumerate(heights) if height]
        bars = pg.BarGraphItem(
            x0=[lefts[k] for k in places],
            width=width * 0.94,
            y0=0,
            height=[heights[k] for k in places],
            brush=brush,
            pen=QPen(edge, 0),
        )
        bars.setCacheMode(_CACHED)
        self._bars.append(bars)
        self.addItem(bars)

    def _bar_clicked(self, x: float, y: float) -> None:
        if self._histogram is None or not 0 <= x <= 1 or not -1.1 <= y <= 1.1:
            return
        edges = self._histogram.edges
        k = min(len(edges) - 2, max(0, int(x * (len(edges) - 1))))
        if (self._histogram.yes if y >= 0 else self._histogram.no)[k]:
            self.bin_chosen.emit(edges[k], edges[k + 1], y >= 0)


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: its name in the legend (none where empty), points (gaps are NaN), colour token, pen style.

    With `steps` the value belongs to the stretch that ends at its x: a threshold between two probabilities acts as
    the next higher one.
    """

    name: str
    x: Any
    y: Any
    token: str = "accent"
    style: Any = Qt.PenStyle.SolidLine
    steps: bool = False


class CurvesPlot(Plot):
    """Curves told apart by dash, with the threshold as a line or as a point on the curve.

    A click tells the threshold that is meant: the place itself where the x axis is the threshold (`over_threshold`).
    """

    def __init__(
        self, bottom: str, left: str = "value", *, over_threshold: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(left, bottom, parent)
        self._curves: list[Line] = []
        self._items: list[Any] = []
        self._why_empty = ""
        self._points: list[tuple[float, float, str]] = []
        self.setXRange(0, 1, padding=0.03)
        self.setYRange(0, 1, padding=0.04)
        self.legend = self.addLegend(offset=(-12, -12), labelTextSize="8.5pt")
        self.line: ThresholdLine | None = None
        if over_threshold:
            self.line = ThresholdLine(0.5, movable=False)
            self.addItem(self.line, ignoreBounds=True)
        self._dots = pg.ScatterPlotItem(size=9)
        self._dots.setZValue(30)
        self.addItem(self._dots, ignoreBounds=True)

    def set_curves(self, curves: Sequence[Line], why_empty: str = "", top: float = 1.0) -> None:
        """Show curves; without any, `why_empty` says why there are none. `top` is the end of the y axis."""
        self._curves, self._why_empty = list(curves), why_empty
        self.setYRange(0, top or 1.0, padding=0.04)
        self.redraw()

    def curves(self) -> list[Line]:
        """Return the curves that are shown."""
        return list(self._curves)

    def redraw(self) -> None:
        for item in self._items:
            self.removeItem(item)
        self._items = []
        self.legend.setLabelTextColor(color("text"))
        self.legend.setBrush(pg.mkBrush(color("base")))
        self.legend.setPen(pg.mkPen(color("line")))
        self.legend.setVisible(any(curve.name for curve in self._curves))
        if self.line is not None:
            self.line.dress()
            self.line.setVisible(bool(self._curves))
        self.say("" if self._curves else self._why_empty)
        for curve in self._curves:
            pen = pg.mkPen(color(curve.token), width=2, style=curve.style)
            x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
            if curve.steps and len(x):
                x, y = np.repeat(np.r_[0.0, x], 2)[1:-1], np.repeat(y, 2)
            item = pg.PlotDataItem(x, y, pen=pen, name=curve.name or None, connect="finite")
            item.curve.setCacheMode(_CACHED)
            self._items.append(item)
            self.addItem(item)
        self._draw_points()

    def set_threshold(self, threshold: float, points: Sequence[tuple[float, float, str]] = ()) -> None:
        """Move the line, and put a dot at each of `points` (x, y, colour token)."""
        if self.line is not None:
            self.line.setValue(threshold)
        self._points = list(points)
        self._draw_points()

    def _draw_points(self) -> None:
        spots = [
            {
                "pos": (x, y),
                "pen": pg.mkPen(color(token), width=2),
                "brush": pg.mkBrush(color("base")),
            }
            for x, y, token in (self._points if self._curves else [])
            if np.isfinite(x) and np.isfinite(y)
        ]
        self._dots.setData(spots)


class ReliabilityPlot(Plot):
    """Share of yes labels against mean probability, with Wilson intervals, counts and the ideal diagonal.

    A click near a point tells its bin: `bin_chosen(low, high)`.
    """

    bin_chosen = Signal(float, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("share labelled yes", "mean probability in the bin", parent)
        self._bins: list[ReliabilityBin] = []
        self._items: list[Any] = []
        self._why_empty = ""
        self.setXRange(0, 1, padding=0.03)
        self.setYRange(0, 1, padding=0.04)
        self.setAccessibleName("Reliability diagram")
        self.setToolTip(
            "Dashed: ideal. Bars: 95 % Wilson interval of the share. Numbers: cases in the bin.\n"
            "P(yes) against the label. A click on a point shows its cases."
        )
        self.clicked.connect(self._point_clicked)

    def set_bins(self, bins: Sequence[ReliabilityBin], why_empty: str = "") -> None:
        """Show the bins; empty ones are left out."""
        self._bins = [each for each in bins if each.mean_p is not None and each.share_yes is not None]
        self._why_empty = why_empty
        self.redraw()

    def _point_clicked(self, x: float, y: float) -> None:
        near = [(abs((b.mean_p or 0) - x) + abs((b.share_yes or 0) - y), k) for k, b in enumerate(self._bins)]
        if near and min(near)[0] < 0.12:
            chosen = self._bins[min(near)[1]]
            self.bin_chosen.emit(chosen.low, chosen.high)

    def redraw(self) -> None:
        for item in self._items:
            self.removeItem(item)
        self._items = []
        self.say("" if self._bins else self._why_empty)
        if not self._bins:
            return
        diagonal = pg.mkPen(color("second"), width=1, style=Qt.PenStyle.DashLine)
        self._add(pg.PlotDataItem([0, 1], [0, 1], pen=diagonal))
        x = np.array([each.mean_p or 0.0 for each in self._bins])
        y = np.array([each.share_yes or 0.0 for each in self._bins])
        low = np.array([each.interval[0] if each.interval else 0.0 for each in self._bins])
        high = np.array([each.interval[1] if each.interval else 1.0 for each in self._bins])
        self._add(
            pg.ErrorBarItem(
                x=x, y=y, top=high - y, bottom=y - low, beam=0.02, pen=pg.mkPen(color("edge"), width=1.4)
            )
        )
        self._add(
            pg.PlotDataItem(
                x, y, pen=pg.mkPen(color("accent"), width=1.6), symbol="o", symbolSize=7,
                symbolBrush=color("accent"), symbolPen=None,
            )
        )  # fmt: skip
        for each, px, py in zip(self._bins, x, y, strict=True):
            # The number stays inside the picture also at its right and lower edge.
            label = pg.TextItem(
                str(each.count), color=color("text"), anchor=(1 if px > 0.93 else 0, 1 if py < 0.08 else 0)
            )
            label.setFont(small_font())
            label.setPos(px + (-0.01 if px > 0.93 else 0.01), py)
            self._add(label)

    def _add(self, item: Any) -> None:
        self._items.append(item)
        self.addItem(item, ignoreBounds=True)
