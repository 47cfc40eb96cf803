"""Draws table cells whose outcome has a shape before its word, and cells in the monospace font."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QIcon, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from workbench.gui.delegates.ink import color, mono, scaled_font, status_color
from workbench.gui.delegates.status import paint_status
from workbench.gui.shell.scale import px


def draw_ground(
    delegate: QStyledItemDelegate,
    painter: QPainter,
    option: QStyleOptionViewItem,
    index: QModelIndex | QPersistentModelIndex,
    dressed: QStyleOptionViewItem | None = None,
) -> str:
    """Draw a cell's ground (selection, focus) without its text, and return the text.

    `dressed` is an option that was initialised from the index already; it loses its text and icon.
    """
    blank = dressed
    if blank is None:
        blank = QStyleOptionViewItem(option)
        delegate.initStyleOption(blank, index)
    text = blank.text
    blank.text = ""
    blank.icon = QIcon()
    widget = option.widget
    widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, blank, painter, widget)
    # Qt puts a line separator where the model said "new line".
    return str(text).replace("\u2028", "\n")


class StatusDelegate(QStyledItemDelegate):
    """Shape and word of an outcome. With `word=False` only the shape; with `colored=False` the word in text colour."""

    def __init__(
        self, role: int, parent: QWidget | None = None, *, word: bool = True, colored: bool = True
    ) -> None:
        super().__init__(parent)
        self._role = role
        self._word = word
        self._colored = colored

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        text = draw_ground(self, painter, option, index)
        status = index.data(self._role)
        area = QRectF(option.rect).adjusted(12, 0, -4, 0)
        painter.save()
        if status:
            side = px(14)
            paint_status(painter, QRectF(area.left(), area.center().y() - side / 2, side, side), status)
            area.setLeft(area.left() + side + 6)
        if self._word:
            painter.setFont(option.font)
            painter.setPen(status_color(status) if status and self._colored else color("text"))
            elided = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, int(area.width()))
            painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, elided)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width() + px(14) + 12, max(px(24), size.height()))


class TextDelegate(QStyledItemDelegate):
    """Plain cells with the design's inner margin.

    A second line, if the text has one, is set smaller and in second text. `DecorationRole` may give a pixmap or an icon,
    `FontRole`, `ForegroundRole` and `TextAlignmentRole` work as usual.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        monospace: bool = False,
        second: bool = False,
        padding: int = 12,
    ) -> None:
        super().__init__(parent)
        self._padding = padding
        self._monospace = monospace
        self._second = second

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        dressed = QStyleOptionViewItem(option)
        self.initStyleOption(dressed, index)
        picture = QIcon(dressed.icon)
        text = draw_ground(self, painter, option, index, dressed)
        first, _, rest = text.partition("\n")
        area = QRectF(option.rect).adjusted(self._padding, 0, -self._padding / 2, 0)
        painter.save()
        if not picture.isNull():
            picture.paint(painter, QRectF(area.left(), area.center().y() - px(8), px(16), px(16)).toRect())
            area.setLeft(area.left() + px(24))
        align = Qt.AlignmentFlag(index.data(Qt.ItemDataRole.TextAlignmentRole) or Qt.AlignmentFlag.AlignLeft)
        horizontal = align & Qt.AlignmentFlag.AlignHorizontal_Mask
        font = mono() if self._monospace else dressed.font
        foreground = index.data(Qt.ItemDataRole.ForegroundRole)
        ink = foreground.color() if foreground is not None else color("second" if self._second else "text")
        if rest:
            self._draw(
                painter,
                area.adjusted(0, 4, 0, -area.height() / 2),
                first,
                scaled_font(font, bold=True),
                ink,
                horizontal,
            )
            lower = area.adjusted(0, area.height() / 2, 0, -4)
            self._draw(painter, lower, rest, scaled_font(font, "second"), color("second"), horizontal)
        else:
            self._draw(painter, area, first, font, ink, horizontal)
        painter.restore()

    def _draw(
        self, painter: QPainter, area: QRectF, text: str, font: QFont, ink: QColor, align: Qt.AlignmentFlag
    ) -> None:
        painter.setFont(font)
        painter.setPen(ink)
        words = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(area.width()))
        painter.drawText(area, int(align.value | Qt.AlignmentFlag.AlignVCenter.value), words)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width() + 2 * self._padding, max(px(24), size.height()))


class MonoDelegate(TextDelegate):
    """A cell in the monospace font, in text or second-text colour."""

    def __init__(self, parent: QWidget | None = None, *, second: bool = False, padding: int = 12) -> None:
        super().__init__(parent, monospace=True, second=second, padding=padding)
