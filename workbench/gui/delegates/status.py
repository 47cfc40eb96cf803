"""Draws the shapes that tell outcomes apart without colour: ring, octagon, triangle, clock and their kin."""

from __future__ import annotations

import math
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from workbench.gui.delegates.ink import status_color

SHAPES = (
    "passed",
    "rejected",
    "refused",
    "no_answer",
    "error",
    "error_mark",
    "queued",
    "stale",
    "idle",
    "info",
)


def paint_status(painter: QPainter, rect: QRectF, status: str, color: QColor | None = None) -> None:
    """Draw the icon of `status` into `rect`, which should be square, about 14 to 20 pixels wide."""
    side = min(rect.width(), rect.height())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(rect.center())
    painter.scale(side / 16, side / 16)
    pen = QPen(color or status_color(status), 1.4)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    _PAINTERS.get(status, _info)(painter, pen)
    painter.restore()


@lru_cache(maxsize=128)
def _pixmap(status: str, side: int, ratio: float, rgba: int) -> QPixmap:
    pixmap = QPixmap(QSize(round(side * ratio), round(side * ratio)))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    paint_status(painter, QRectF(0, 0, side, side), status, QColor.fromRgba(rgba))
    painter.end()
    return pixmap


def status_pixmap(status: str, side: int = 16, ratio: float = 1.0, color: QColor | None = None) -> QPixmap:
    """Return the icon of `status` as a picture of `side` logical pixels."""
    return _pixmap(status, side, ratio, (color or status_color(status)).rgba())


def _ring(painter: QPainter) -> None:
    painter.drawEllipse(QPointF(0, 0), 6.3, 6.3)


def _tick(painter: QPainter, pen: QPen) -> None:
    _ring(painter)
    painter.drawPolyline(QPolygonF([QPointF(-2.8, 0.2), QPointF(-0.8, 2.2), QPointF(2.9, -2)]))


def _octagon(painter: QPainter, pen: QPen) -> None:
    corners = [
        QPointF(6.6 * math.cos(math.pi / 8 + k * math.pi / 4), 6.6 * math.sin(math.pi / 8 + k * math.pi / 4))
        for k in range(8)
    ]
    painter.drawPolygon(QPolygonF(corners))
    painter.drawLine(QPointF(-2.1, -2.1), QPointF(2.1, 2.1))
    painter.drawLine(QPointF(-2.1, 2.1), QPointF(2.1, -2.1))


def _slash(painter: QPainter, pen: QPen) -> None:
    _ring(painter)
    painter.drawLine(QPointF(-4.3, 4.3), QPointF(4.3, -4.3))


def _dashed_ring(painter: QPainter, pen: QPen) -> None:
    dashed = QPen(pen)
    dashed.setDashPattern([2.2, 1.9])
    dashed.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(dashed)
    _ring(painter)


def _triangle(painter: QPainter, pen: QPen) -> None:
    painter.drawPolygon(QPolygonF([QPointF(0, -5.8), QPointF(6.5, 5.4), QPointF(-6.5, 5.4)]))
    painter.drawLine(QPointF(0, -1.8), QPointF(0, 1.6))
    painter.drawPoint(QPointF(0, 3.6))


def _clock(painter: QPainter, pen: QPen) -> None:
    _ring(painter)
    painter.drawPolyline(QPolygonF([QPointF(0, -3.6), QPointF(0, 0.2), QPointF(2.6, 1.7)]))


def _info(painter: QPainter, pen: QPen) -> None:
    _ring(painter)
    painter.drawLine(QPointF(0, -0.4), QPointF(0, 3.1))
    painter.drawPoint(QPointF(0, -3))


def _empty_ring(painter: QPainter, pen: QPen) -> None:
    path = QPainterPath()
    path.addEllipse(QPointF(0, 0), 5.4, 5.4)
    painter.drawPath(path)


_PAINTERS = {
    "passed": _tick,
    "rejected": _octagon,
    "refused": _slash,
    "no_answer": _dashed_ring,
    "error": _triangle,
    "error_mark": _triangle,
    "queued": _clock,
    "stale": _clock,
    "idle": _empty_ring,
    "info": _info,
}
