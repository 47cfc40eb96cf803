"""What the pictures of the threshold lab share, and curves. Imports pyqtgraph, so it waits until they are seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent, QTransform
from PySide6.QtWidgets import QGraphicsEllipseItem, QGraphicsItem, QWidget

from workbench.gui.delegates.ink import color
from workbench.gui.shell.theme import on_theme_changed, small_font

# What stays as it is while a threshold is dragged over it is painted once.
_CACHED = QGraphicsItem.CacheMode.DeviceCoordinateCache


class Plot(pg.PlotWidget):
    """A plot in the theme's colours, without a menu and without wheel surprises."""

    clicked = Signal(float, float)
    """A click into the picture, in the plot's own units."""

    def __init__(self, left: str, bottom: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._labels = (left, bottom)
        self.setAccessibleName(f"{left} over {bottom}")
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
        self._note = pg.TextItem(anchor=(0, 0))
        self._note.setZValue(40)
        self._note.setVisible(False)
        self.addItem(self._note, ignoreBounds=True)
        self._top: float | None = None
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
        self._note.setColor(color("second"))
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
            self._make_room()
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

    def set_note(self, words: str) -> None:
        """Say in a corner of the picture what is to be known of it; an empty text says nothing."""
        if words != self.note():
            self._note.setText(words, color=color("second"))
            self._note.setFont(small_font())
            self._note.fill = pg.mkBrush(color("base:200"))
        self._note.setVisible(bool(words))
        self._make_room()

    def note(self) -> str:
        """Return what is said in the corner."""
        return self._note.toPlainText() if self._note.isVisible() else ""

    def _set_top(self, top: float) -> None:
        """Let the y axis go from 0 to `top`, below the words at the head of the picture."""
        self._top = top
        self._make_room()

    def _head_height(self) -> float:
        """Return the pixels that words take above all that is drawn."""
        return float(self._note.boundingRect().height()) if self._note.isVisible() else 0.0

    def _make_room(self) -> None:
        """Move the upper end of the y axis so far up that no word lies over what is drawn."""
        if self._top is not None:
            below, above = 0.04 * self._top, 0.04 * self._top
            height, head = float(self.getViewBox().height()), self._head_height()
            # In a picture that is hardly higher than its words they may lie over it.
            if head and height > 2 * head:
                above = max(above, (self._top + below) * (head + 3) / (height - head - 3))
            self.setYRange(-below, self._top + above, padding=0)
        self._place_note()

    def _place_note(self) -> None:
        (x0, _x1), (_y0, y1) = self.getViewBox().viewRange()
        self._note.setPos(x0, y1)

    def message(self) -> str:
        """Return the words that are shown instead of a picture."""
        return self._message.toPlainText() if self._message.isVisible() else ""


class DrawnItem(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph has no types
    """A part of a picture that is drawn in pixels by one function, so that other figures cost a repaint and no new items.

    `area` is the part of the plot, in its own units, outside of which nothing is drawn.
    """

    def __init__(self, area: QRectF) -> None:
        super().__init__()
        self._area = area
        self.setCacheMode(_CACHED)

    def boundingRect(self) -> QRectF:
        return self._area

    def paint(self, painter: QPainter, *_: object) -> None:
        place = painter.transform()
        painter.save()
        painter.resetTransform()
        self.draw(painter, place)
        painter.restore()

    def draw(self, painter: QPainter, place: QTransform) -> None:
        """Draw in pixels; `place` maps the plot's units to them."""
        raise NotImplementedError


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
    The items of the curves are kept and filled anew: making them costs more than all that is drawn.
    """

    def __init__(
        self, bottom: str, left: str = "value", *, over_threshold: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(left, bottom, parent)
        self._curves: list[Line] = []
        self._items: list[Any] = []
        self._named: list[str] = []
        self._why_empty = ""
        self._points: list[tuple[float, float, str]] = []
        self._dots: list[QGraphicsEllipseItem] = []
        self.setXRange(0, 1, padding=0.03)
        self.legend = self.addLegend(offset=(-1, 1), labelTextSize="8.5pt")
        self.legend.layout.setContentsMargins(4, 0, 4, 0)
        self._set_top(1.0)
        self.line: ThresholdLine | None = None
        if over_threshold:
            self.line = ThresholdLine(0.5, movable=False)
            self.addItem(self.line, ignoreBounds=True)
        self._dress_legend()

    def set_curves(
        self, curves: Sequence[Line], why_empty: str = "", top: float = 1.0, note: str = ""
    ) -> None:
        """Show curves; without any, `why_empty` says why there are none.

        `top` is the end of the y axis; `note` says in the picture what is odd about these curves.
        """
        self._curves, self._why_empty = list(curves), why_empty
        self._top = top or 1.0
        self._show_curves()
        self.set_note(note if self._curves else "")

    def curves(self) -> list[Line]:
        """Return the curves that are shown."""
        return list(self._curves)

    def redraw(self) -> None:
        self._dress_legend()
        if self.line is not None:
            self.line.dress()
        self._show_curves()

    def _dress_legend(self) -> None:
        self.legend.setLabelTextColor(color("text"))
        self.legend.setBrush(pg.mkBrush(color("base")))
        self.legend.setPen(pg.mkPen(None))

    def _head_height(self) -> float:
        """Return the pixels of the legend and of the note: side by side where both fit, else one above the other."""
        note = super()._head_height()
        if not self.legend.isVisible():
            return note
        wide, entries = float(self.getViewBox().width()), len(self.legend.items)
        for columns in range(entries, 0, -1):
            self.legend.setColumnCount(columns)
            if self.legend.boundingRect().width() <= wide:
                break
        legend = self.legend.boundingRect()
        beside = note and self._note.boundingRect().width() + legend.width() + 12 <= wide
        self.legend.anchor((1, 0), (1, 0), offset=(-1, 1 if beside or not note else note))
        return max(note, float(legend.height())) if beside else note + float(legend.height())

    def _show_curves(self) -> None:
        if self.line is not None:
            self.line.setVisible(bool(self._curves))
        self.say("" if self._curves else self._why_empty)
        for place, curve in enumerate(self._curves):
            x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
            if curve.steps and len(x):
                x, y = np.repeat(np.r_[0.0, x], 2)[1:-1], np.repeat(y, 2)
            pen = pg.mkPen(color(curve.token), width=2, style=curve.style)
            self._item(place).setData(x, y, pen=pen, connect="finite")
        for place, item in enumerate(self._items):
            item.setVisible(place < len(self._curves))
        self._name_curves()
        self._draw_points()

    def _item(self, place: int) -> Any:
        if place == len(self._items):
            item = pg.PlotCurveItem()
            item.setCacheMode(_CACHED)
            self._items.append(item)
            self.addItem(item)
        return self._items[place]

    def _name_curves(self) -> None:
        """Let the legend say the names; where only words changed, the lines of the legend stay."""
        names = [curve.name for curve in self._curves]
        self.legend.setVisible(any(names))
        if names == self._named:
            return
        if [bool(name) for name in names] == [bool(name) for name in self._named]:
            labels = iter(label for _sample, label in self.legend.items)
            for name in filter(None, names):
                next(labels).setText(name)
            self.legend.updateSize()
            self._make_room()
        else:
            self.legend.clear()
            for item, name in zip(self._items, names, strict=False):
                if name:
                    self.legend.addItem(item, name)
            self._make_room()
        self._named = names

    def set_threshold(self, threshold: float, points: Sequence[tuple[float, float, str]] = ()) -> None:
        """Move the line, and put a dot at each of `points` (x, y, colour token)."""
        if self.line is not None:
            self.line.setValue(threshold)
        self._points = list(points)
        self._draw_points()

    def _draw_points(self) -> None:
        shown = [
            (x, y, token)
            for x, y, token in (self._points if self._curves else [])
            if np.isfinite(x) and np.isfinite(y)
        ]
        while len(self._dots) < len(shown):
            self._dots.append(self._new_dot())
        for place, dot in enumerate(self._dots):
            dot.setVisible(place < len(shown))
            if place < len(shown):
                x, y, token = shown[place]
                dot.setPos(x, y)
                dot.setPen(pg.mkPen(color(token), width=2))
                dot.setBrush(pg.mkBrush(color("base")))

    def _new_dot(self) -> QGraphicsEllipseItem:
        dot = QGraphicsEllipseItem(-4.5, -4.5, 9, 9)
        dot.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIgnoresTransformations)
        dot.setZValue(30)
        self.addItem(dot, ignoreBounds=True)
        return dot

    def points(self) -> list[tuple[float, float]]:
        """Return where dots are shown."""
        return [(dot.x(), dot.y()) for dot in self._dots if dot.isVisible()]
