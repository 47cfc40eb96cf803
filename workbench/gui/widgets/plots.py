"""The pictures of the threshold lab. Importing this module imports pyqtgraph, so it waits until they are seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QColor, QPen
from PySide6.QtWidgets import QWidget

from workbench.gui.delegates.ink import color
from workbench.gui.shell.theme import on_theme_changed, small_font

if TYPE_CHECKING:
    from workbench.engine.evaluation.metrics import Histogram, ReliabilityBin


class Plot(pg.PlotWidget):
    """A plot in the theme's colours, without a menu and without wheel surprises."""

    def __init__(self, left: str, bottom: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._labels = (left, bottom)
        self.setMenuEnabled(False)
        self.hideButtons()
        self.setMouseEnabled(x=False, y=False)
        self.setAntialiasing(True)
        self.setFrameShape(self.Shape.NoFrame)
        self._message = pg.TextItem(anchor=(0.5, 0.5))
        self._message.setVisible(False)
        self.addItem(self._message, ignoreBounds=True)
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
        self.showGrid(x=True, y=True, alpha=0.12)
        self._message.setColor(color("second"))

    def redraw(self) -> None:
        """Draw again in the colours of the theme; subclasses keep what they need for it."""

    def say(self, words: str) -> None:
        """Show words in the middle instead of a picture; an empty text takes them away."""
        self._message.setText(words)
        self._message.setVisible(bool(words))
        (x0, x1), (y0, y1) = self.getViewBox().viewRange()
        self._message.setPos((x0 + x1) / 2, (y0 + y1) / 2)


class ThresholdLine(pg.InfiniteLine):
    """The threshold as a line that can be dragged between 0 and 1."""

    def __init__(self, value: float, movable: bool = True) -> None:
        super().__init__(value, angle=90, movable=movable, bounds=(0.0, 1.0))
        self.dress()

    def dress(self) -> None:
        """Take the theme's accent."""
        self.setPen(pg.mkPen(color("accent"), width=2))
        self.setHoverPen(pg.mkPen(color("accent"), width=4))


class HistogramPlot(Plot):
    """Cases by probability: labelled yes hatched upwards, labelled no filled downwards, each half to its own scale."""

    moved = Signal(float)
    chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("cases", "probability of yes", parent)
        self._histogram: Histogram | None = None
        self._bars: list[Any] = []
        self.setXRange(0, 1, padding=0.03)
        self.setYRange(-1.15, 1.4, padding=0)
        self.line = ThresholdLine(0.5)
        self._tag = pg.TextItem(anchor=(0.5, 0))
        self.addItem(self.line, ignoreBounds=True)
        self.addItem(self._tag, ignoreBounds=True)
        self.line.sigPositionChanged.connect(self._moving)
        self.line.sigPositionChangeFinished.connect(
            lambda _line: self.chosen.emit(round(self.line.value(), 2))
        )
        self.setAccessibleName("Histogram of probabilities by label")

    def set_histogram(self, histogram: Histogram | None) -> None:
        """Show counts by label, `None` for none."""
        self._histogram = histogram
        self.redraw()

    def set_threshold(self, threshold: float) -> None:
        """Put the line at a threshold without telling anybody."""
        blocked = self.line.blockSignals(True)
        self.line.setValue(threshold)
        self.line.blockSignals(blocked)
        self._place_tag()

    def _moving(self, _line: object) -> None:
        self._place_tag()
        self.moved.emit(round(self.line.value(), 2))

    def _place_tag(self) -> None:
        self._tag.setHtml(
            f'<div style="background:{color("accent").name()};color:{color("on_accent").name()};padding:1px 4px">'
            f"&nbsp;{self.line.value():.2f}&nbsp;</div>"
        )
        self._tag.setPos(self.line.value(), 1.38)

    def redraw(self) -> None:
        for bar in self._bars:
            self.removeItem(bar)
        self._bars = []
        self.line.dress()
        self._place_tag()
        histogram = self._histogram
        total = sum(histogram.yes) + sum(histogram.no) if histogram is not None else 0
        self.say("" if total else "Run the checks on the cases to see their probabilities.")
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
        ticks = [(1.0, str(yes_top)), (0.0, "0"), (-1.0, str(no_top))]
        self.getAxis("left").setTicks([ticks])

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
        self._bars.append(bars)
        self.addItem(bars)


class CurvesPlot(Plot):
    """Curves from 0 to 1 told apart by dash; with a threshold line when the x axis is the threshold."""

    def __init__(self, bottom: str, *, line: bool = False, parent: QWidget | None = None) -> None:
        super().__init__("value", bottom, parent)
        self._curves: list[tuple[str, Sequence[float], Sequence[float], str, Any, bool]] = []
        self._items: list[Any] = []
        self._why_empty = ""
        self.setXRange(0, 1, padding=0.03)
        self.setYRange(0, 1, padding=0.04)
        self.legend = self.addLegend(offset=(-12, -12))
        self.line: ThresholdLine | None = None
        if line:
            self.line = ThresholdLine(0.5, movable=False)
            self.addItem(self.line, ignoreBounds=True)

    def set_curves(
        self,
        curves: Sequence[tuple[str, Sequence[float], Sequence[float], str, Any, bool]],
        why_empty: str = "",
    ) -> None:
        """Show curves (name, x, y, colour token, pen style, as steps); gaps are NaN."""
        self._curves, self._why_empty = list(curves), why_empty
        self.redraw()

    def redraw(self) -> None:
        for item in self._items:
            self.removeItem(item)
        self._items = []
        self.legend.setLabelTextColor(color("text"))
        self.legend.setBrush(pg.mkBrush(color("base")))
        self.legend.setPen(pg.mkPen(color("line")))
        if self.line is not None:
            self.line.dress()
        self.say("" if self._curves else self._why_empty)
        for name, x, y, token, style, steps in self._curves:
            pen = pg.mkPen(color(token), width=2, style=style)
            if steps and len(x):
                # A threshold between two values acts as the next higher one: the step lies to the left of its value.
                item = pg.PlotDataItem(
                    [0.0, *x], list(y), pen=pen, name=name, stepMode="center", connect="finite"
                )
            else:
                item = pg.PlotDataItem(list(x), list(y), pen=pen, name=name, connect="finite")
            self._items.append(item)
            self.addItem(item)

    def set_threshold(self, threshold: float) -> None:
        """Move the line."""
        if self.line is not None:
            self.line.setValue(threshold)


class ReliabilityPlot(Plot):
    """Share of yes labels against mean probability, with Wilson intervals, counts and the ideal diagonal."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("share labelled yes", "mean probability in the bin", parent)
        self._bins: list[ReliabilityBin] = []
        self._items: list[Any] = []
        self.setXRange(0, 1, padding=0.03)
        self.setYRange(0, 1, padding=0.04)
        self.setAccessibleName("Reliability diagram")

    def set_bins(self, bins: Sequence[ReliabilityBin]) -> None:
        """Show the bins; empty ones are left out."""
        self._bins = [each for each in bins if each.mean_p is not None and each.share_yes is not None]
        self.redraw()

    def redraw(self) -> None:
        for item in self._items:
            self.removeItem(item)
        self._items = []
        self.say("" if self._bins else "No labelled answers yet.")
        diagonal = pg.mkPen(color("second"), width=1, style=Qt.PenStyle.DashLine)
        self._add(pg.PlotDataItem([0, 1], [0, 1], pen=diagonal))
        if not self._bins:
            return
        x = [each.mean_p or 0.0 for each in self._bins]
        y = [each.share_yes or 0.0 for each in self._bins]
        low = [
            (each.interval[0] if each.interval else share) for each, share in zip(self._bins, y, strict=True)
        ]
        high = [
            (each.interval[1] if each.interval else share) for each, share in zip(self._bins, y, strict=True)
        ]
        import numpy as np

        self._add(
            pg.ErrorBarItem(
                x=np.array(x),
                y=np.array(y),
                top=np.array(high) - np.array(y),
                bottom=np.array(y) - np.array(low),
                beam=0.02,
                pen=pg.mkPen(color("edge"), width=1.4),
            )
        )
        self._add(
            pg.PlotDataItem(
                x, y, pen=pg.mkPen(color("accent"), width=1.6), symbol="o", symbolSize=7,
                symbolBrush=color("accent"), symbolPen=None,
            )
        )  # fmt: skip
        for each, px, py in zip(self._bins, x, y, strict=True):
            label = pg.TextItem(str(each.count), color=color("text"), anchor=(0, 0))
            label.setFont(small_font())
            label.setPos(px + 0.01, py - 0.01)
            self._add(label)

    def _add(self, item: Any) -> None:
        self._items.append(item)
        self.addItem(item, ignoreBounds=True)
