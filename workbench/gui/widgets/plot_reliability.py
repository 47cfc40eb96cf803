"""The reliability diagram of the threshold lab: what the probabilities promise against what the labels say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPen, QPolygonF, QTransform
from PySide6.QtWidgets import QWidget

from workbench.gui.delegates.ink import color
from workbench.gui.shell.theme import small_font
from workbench.gui.widgets.plots import DrawnItem, Plot

if TYPE_CHECKING:
    from workbench.engine.evaluation.metrics import ReliabilityBin

_BEAM = 4.0


class _Marks(DrawnItem):
    """Diagonal, intervals, points and counts, drawn in one go."""

    def __init__(self) -> None:
        super().__init__(QRectF(-0.05, -0.1, 1.1, 1.2))
        self.bins: list[ReliabilityBin] = []

    def draw(self, painter: QPainter, place: QTransform) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color("second"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(place.map(QPointF(0, 0)), place.map(QPointF(1, 1)))
        points = [place.map(QPointF(each.mean_p or 0.0, each.share_yes or 0.0)) for each in self.bins]
        painter.setPen(QPen(color("edge"), 1.4))
        for each, point in zip(self.bins, points, strict=True):
            low, high = each.interval or (0.0, 1.0)
            ends = [QPointF(point.x(), place.map(QPointF(0, end)).y()) for end in (low, high)]
            painter.drawLine(*ends)
            for end in ends:
                painter.drawLine(QPointF(end.x() - _BEAM, end.y()), QPointF(end.x() + _BEAM, end.y()))
        painter.setPen(QPen(color("accent"), 1.6))
        painter.drawPolyline(QPolygonF(points))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color("accent"))
        for point in points:
            painter.drawEllipse(point, 3.5, 3.5)
        self._draw_counts(painter, points, place)

    def _draw_counts(self, painter: QPainter, points: list[QPointF], place: QTransform) -> None:
        painter.setPen(color("text"))
        painter.setFont(small_font())
        metrics = painter.fontMetrics()
        height = float(metrics.height())
        top, taken = place.map(QPointF(0, 1.04)).y(), list[QRectF]()
        for each, point in zip(self.bins, points, strict=True):
            words = str(each.count)
            width = float(metrics.horizontalAdvance(words))
            # The number stays inside the picture also at its edges, and off the other numbers where there is room.
            left, right = point.x() - width - 7, point.x() + 7
            above, below = point.y() - height - 3, point.y() + 2
            places = [(right, below), (left, above), (right, above), (left, below)]
            if (each.share_yes or 0.0) < 0.08:
                places = [(point.x() - width / 2, above), (right, above), (left, above)]
            if (each.mean_p or 0.0) > 0.93:
                places = [(left, below), (left, above)]
            areas = [QRectF(x, y, width, height) for x, y in places]
            free = (a for a in areas if a.top() >= top and not any(a.intersects(b) for b in taken))
            area = next(free, None)
            if area is not None:
                taken.append(area)
                painter.drawText(QPointF(area.left(), area.top() + metrics.ascent()), words)


class ReliabilityPlot(Plot):
    """Share of yes labels against mean probability, with Wilson intervals, counts and the ideal diagonal.

    A click near a point tells its bin: `bin_chosen(low, high)`.
    """

    bin_chosen = Signal(float, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("share labelled yes", "mean probability in the bin", parent)
        self._why_empty = ""
        self._marks = _Marks()
        self._marks.setVisible(False)
        self.addItem(self._marks, ignoreBounds=True)
        self.setXRange(0, 1, padding=0.03)
        self._set_top(1.0)
        self.setAccessibleName("Reliability diagram")
        self.setToolTip(
            "Dashed: ideal. Bars: 95 % Wilson interval of the share. Numbers: cases in the bin.\n"
            "The binary form: P(yes) against the label, not the confidence in the likelier answer.\n"
            "A click on a point shows its cases."
        )
        self.clicked.connect(self._point_clicked)

    def set_bins(self, bins: Sequence[ReliabilityBin], why_empty: str = "", note: str = "") -> None:
        """Show the bins; empty ones are left out. Without any, `why_empty` says why there are none.

        `note` says in the picture what is odd about these cases.
        """
        self._marks.bins = [each for each in bins if each.mean_p is not None and each.share_yes is not None]
        self._why_empty = why_empty
        self.redraw()
        self.set_note(note if self._marks.bins else "")

    def bins(self) -> list[ReliabilityBin]:
        """Return the bins that are shown."""
        return list(self._marks.bins)

    def _point_clicked(self, x: float, y: float) -> None:
        near = [
            (abs((b.mean_p or 0) - x) + abs((b.share_yes or 0) - y), k)
            for k, b in enumerate(self._marks.bins)
        ]
        if near and min(near)[0] < 0.12:
            chosen = self._marks.bins[min(near)[1]]
            self.bin_chosen.emit(chosen.low, chosen.high)

    def redraw(self) -> None:
        self.say("" if self._marks.bins else self._why_empty)
        self._marks.setVisible(bool(self._marks.bins))
        self._marks.update()
