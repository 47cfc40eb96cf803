"""Cells of the table of cases that paint fast: while a threshold is dragged all of them are painted every frame."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from workbench.gui.delegates.cells import LabelDelegate, LongTextDelegate
from workbench.gui.delegates.ink import color, mono, status_color
from workbench.gui.delegates.probability import BarState, ProbabilityDelegate, mark_x, paint_bar
from workbench.gui.delegates.status import status_pixmap
from workbench.gui.delegates.words import MonoDelegate, StatusDelegate
from workbench.gui.models.cases import (
    ID,
    LABEL,
    NOTE,
    OUTCOME,
    PROBABILITY,
    TEXT,
    TIME,
    USER,
    CaseTableModel,
)
from workbench.gui.models.figures import format_probability
from workbench.gui.shell.scale import px
from workbench.gui.shell.theme import on_theme_changed

_MARKED = QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_HasFocus
_MOST_ELIDED = 4000
_LEFT, _RIGHT = 12, 6
_BAR_FILL = {"passed": "passed_fill", "rejected": "rejected_fill"}


class Ink:
    """Fonts, colours and shortened texts of the table, looked up once for a theme and a size."""

    def __init__(self, view: QTableView) -> None:
        self._view = view
        on_theme_changed(view, self.forget)
        self.forget()

    def forget(self) -> None:
        """Look everything up anew: the theme or the size is another."""
        self.font, self.mono = QFont(self._view.font()), mono()
        self._metrics = {False: QFontMetrics(self.font), True: QFontMetrics(self.mono)}
        self._colors: dict[str, QColor] = {}
        self._elided: dict[tuple[str, int, bool], str] = {}
        self.number_width = self._metrics[True].horizontalAdvance("0.0000")

    def color(self, token: str) -> QColor:
        """Return a colour of the theme; `status:NAME` is that of an outcome's word."""
        found = self._colors.get(token)
        if found is None:
            name = token.removeprefix("status:")
            found = self._colors[token] = status_color(name) if name != token else color(token)
        return found

    def width_of(self, figure: str) -> int:
        """Return how wide a figure is in the monospace font."""
        return int(self._metrics[True].horizontalAdvance(figure))

    def draw(self, painter: QPainter, rect: QRect, text: str, token: str, *, monospace: bool = False) -> None:
        """Draw a text into `rect`, shortened where it is too long."""
        if not text:
            return
        metrics, key = self._metrics[monospace], (text, rect.width(), monospace)
        words = self._elided.get(key)
        if words is None:
            if len(self._elided) >= _MOST_ELIDED:
                self._elided.clear()
            words = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
            self._elided[key] = words
        painter.setFont(self.mono if monospace else self.font)
        painter.setPen(self.color(token))
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        painter.drawText(rect.left(), baseline, words)


class _Quick(QStyledItemDelegate):
    """Paints cells that are neither selected nor focused straight from the model; the others as they always were."""

    ink: Ink
    cases: CaseTableModel

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        if option.state & _MARKED:
            super().paint(painter, option, index)
            return
        row = index.row()
        if row < self.cases.rowCount():
            self.quick(painter, option.rect, self.cases.position(row), index.column())

    def quick(self, painter: QPainter, rect: QRect, position: int, column: int) -> None:
        """Paint the cell of a case."""
        raise NotImplementedError


class _QuickText(_Quick):
    token, monospace = "text", False

    def quick(self, painter: QPainter, rect: QRect, position: int, column: int) -> None:
        text = self.cases.cell_text(position, column)
        area = rect.adjusted(px(_LEFT), 0, -_RIGHT, 0)
        self.ink.draw(painter, area, text, self.token, monospace=self.monospace)


class TextCell(_QuickText, LongTextDelegate):
    """Text, user message and note."""


class LabelCell(_QuickText, LabelDelegate):
    """The label."""


class MonoCell(_QuickText, MonoDelegate):
    """Id and time."""

    token, monospace = "second", True


class OutcomeCell(_Quick, StatusDelegate):
    """Shape and word of the outcome."""

    def quick(self, painter: QPainter, rect: QRect, position: int, column: int) -> None:
        status, words = self.cases.outcome(position)
        area = rect.adjusted(px(_LEFT), 0, -4, 0)
        if status:
            side = px(14)
            picture = status_pixmap(status, side, painter.device().devicePixelRatioF())
            painter.drawPixmap(area.left(), area.center().y() - side // 2, picture)
            area.setLeft(area.left() + side + px(6))
        self.ink.draw(painter, area, words, f"status:{status}" if status else "text")


class ProbabilityCell(_Quick, ProbabilityDelegate):
    """The bar with its threshold and the number."""

    def quick(self, painter: QPainter, rect: QRect, position: int, column: int) -> None:
        state = self.cases.bar(position)
        ink, left, right = self.ink, rect.left() + 8, rect.right() - 8
        if state is None:
            # A check that asks no model says its kind in the place of the bar.
            words = self.cases.cell_text(position, column)
            if words:
                ink.draw(painter, QRect(left, rect.top(), right - left, rect.height()), words, "second")
            return
        height = px(8)
        bar = QRect(
            left, rect.center().y() - height // 2, max(16, right - ink.number_width - 8 - left), height
        )
        if state.probability is None:
            paint_bar(painter, QRectF(bar), state, handle=False)
            words = "–"
        else:
            self._quick_bar(painter, bar, state)
            words = format_probability(state.probability, state.threshold)
        token = "text" if state.status in _BAR_FILL else "second"
        advance = ink.width_of(words)
        area = QRect(right - advance, rect.top(), advance + 2, rect.height())
        ink.draw(painter, area, words, token, monospace=True)

    def _quick_bar(self, painter: QPainter, bar: QRect, state: BarState) -> None:
        """Draw what `paint_bar` draws, in whole pixels and without round corners: four rectangles."""
        ink, x = self.ink, round(mark_x(QRectF(bar), state.threshold))
        filled = max(1, round(bar.width() * state.probability)) if state.probability else 0
        painter.fillRect(bar, ink.color("bar_above"))
        painter.fillRect(QRect(bar.left(), bar.top(), x - bar.left(), bar.height()), ink.color("bar_below"))
        fill = ink.color(_BAR_FILL.get(state.status, "edge"))
        painter.fillRect(QRect(bar.left(), bar.top(), filled, bar.height()), fill)
        painter.fillRect(QRect(x - 2, bar.top() - 3, 4, bar.height() + 6), ink.color("base"))
        painter.fillRect(QRect(x - 1, bar.top() - 3, 2, bar.height() + 6), ink.color("text"))


def dress(view: QTableView, cases: CaseTableModel) -> None:
    """Give the columns of the table of cases their delegates."""
    ink = Ink(view)
    cells: dict[int, _Quick] = {
        ID: MonoCell(view, second=True),
        TEXT: TextCell(view),
        USER: TextCell(view),
        LABEL: LabelCell(view),
        PROBABILITY: ProbabilityCell(view),
        OUTCOME: OutcomeCell(int(CaseTableModel.StatusRole), view),
        NOTE: TextCell(view),
        TIME: MonoCell(view, second=True),
    }
    for column, cell in cells.items():
        cell.ink, cell.cases = ink, cases
        view.setItemDelegateForColumn(column, cell)
