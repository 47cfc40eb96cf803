"""Shows text that is not to be edited: numbered lines, colours, one marked span, and places of problems."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from workbench.engine.text import LineIndex
from workbench.gui.delegates.ink import color
from workbench.gui.delegates.status import paint_status
from workbench.gui.editor.editor_text import EditorText
from workbench.gui.shell.scale import px
from workbench.gui.shell.theme import mono_font, on_theme_changed

_MAX_COLOURED = 200_000
_LONGEST_WRAPPED = 20_000


@dataclass(frozen=True, slots=True)
class Mark:
    """A problem at a span of the text, in code points; `status` is `error_mark`, `error` (a warning) or `info`."""

    start: int
    end: int
    status: str = "error_mark"
    tip: str = ""


def token_spans(
    text: str, language: str, start: int = 0, end: int | None = None
) -> list[tuple[int, int, str]]:
    """Return (start, end, colour token) of what pygments finds in `text[start:end]`, in code points of `text`.

    A language that pygments does not know, and a text too long to colour in time, give nothing.
    """
    part = text[start:end]
    if language in ("", "text") or len(part) > _MAX_COLOURED:
        return []
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, stripall=False, ensurenl=False)
    except ClassNotFound:
        return []
    spans = []
    for offset, kind, value in lexer.get_tokens_unprocessed(part):
        token = _color_token(kind)
        if token is not None:
            spans.append((start + offset, start + offset + len(value), token))
    return spans


def _color_token(kind: object) -> str | None:
    from pygments.token import Comment, Keyword, Literal, Name, Number, String

    if kind in Comment:
        return "second"
    if kind in Name.Tag or kind in Name.Attribute or kind in Name.Property:
        return "json_key"
    if kind in Number or kind in Keyword.Constant:
        return "json_number"
    if kind in String or kind in Literal.Date:
        return "json_string"
    if kind in Keyword:
        return "accent"
    if kind in Name.Class or kind in Name.Function:
        return "json_key"
    return None


class _SpanHighlighter(QSyntaxHighlighter):
    """Applies spans that were computed for the whole text at once."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._starts: list[int] = []
        self._spans: list[tuple[int, int, str]] = []
        self._reach = 0

    def set_spans(self, spans: list[tuple[int, int, str]]) -> None:
        """Take spans in UTF-16 units, sorted by start."""
        self._spans = spans
        self._starts = [span[0] for span in spans]
        self._reach = max((span[1] - span[0] for span in spans), default=0)

    def highlightBlock(self, text: str) -> None:
        first = self.currentBlock().position()
        last = first + len(text.encode("utf-16-le", "surrogatepass")) // 2
        position = bisect.bisect_left(self._starts, first - self._reach)
        while position < len(self._spans) and self._starts[position] < last:
            start, end, token = self._spans[position]
            position += 1
            if end > first:
                ink = QTextCharFormat()
                ink.setForeground(color(token))
                self.setFormat(max(start, first) - first, min(end, last) - max(start, first), ink)


class _Gutter(QWidget):
    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:
        return QSize(self._view.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._view.paint_gutter(QPainter(self), event.rect())


class CodeView(QPlainTextEdit):
    """A read-only text with line numbers.

    Offsets are code points of the text that was set. `line_labels` replaces the numbers (one string a line), for views in
    which lines are left out or put in.
    """

    line_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None, *, numbers: bool = True, indent: int = 8) -> None:
        super().__init__(parent)
        # Not `set_role`: polishing a widget before it is first shown makes it forget a font set afterwards.
        self.setProperty("role", "bare")
        self.setReadOnly(True)
        self.setAccessibleName("Text")
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text = ""
        self._index = LineIndex("")
        self._map = EditorText("")
        self._numbers = numbers
        self._indent = indent
        self._labels: list[str] | None = None
        self._line_grounds: dict[int, str] = {}
        self._char_grounds: list[tuple[int, int, str]] = []
        self._marks: list[Mark] = []
        self._span: tuple[int, int] | None = None
        self._found: tuple[int, int] | None = None
        self._language = ""
        self._wrapped = True
        self._highlighter = _SpanHighlighter(self.document())
        self._gutter = _Gutter(self)
        self._gutter.setVisible(numbers)
        self.updateRequest.connect(self._on_update)
        self.blockCountChanged.connect(lambda _count: self._fit_gutter())
        self._refresh_theme()
        on_theme_changed(self, self._refresh_theme)

    # What is shown

    def code(self) -> str:
        """Return the text that was set."""
        return self._text

    def set_code(
        self,
        text: str,
        language: str = "",
        *,
        region: tuple[int, int] | None = None,
    ) -> None:
        """Show `text`, coloured as `language` (a pygments name), within `region` only when one is given.

        The same text keeps its scroll position and its selection.
        """
        same_text = text == self._text
        if same_text and language == self._language and region == self._span:
            return
        self._language = language
        if not same_text:
            self._labels = None
            self._line_grounds, self._char_grounds, self._marks = {}, [], []
            self._span = self._found = None
        spans = token_spans(text, language, *(region or (0, None)))
        before = self._map
        self._index, self._map = LineIndex(text), EditorText(text)
        units = self._map.to_position
        self._highlighter.set_spans([(units(start), units(end), token) for start, end, token in spans])
        if same_text:
            self._highlighter.rehighlight()
        elif before.display and self._map.display.startswith(before.display) and not spans:
            # A reply that streams in: append only what is new, so that the view does not jump.
            cursor = QTextCursor(self.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            bar = self.verticalScrollBar()
            at_end = bar.value() >= bar.maximum() - 2
            cursor.insertText(self._map.display[len(before.display) :])
            if at_end:
                bar.setValue(bar.maximum())
        else:
            self._fit_wrapping(text)
            self.setPlainText(self._map.display)
        self._text = text
        self._paint_selections()
        self._fit_gutter()

    def _fit_wrapping(self, text: str) -> None:
        """A line of many thousand characters costs seconds to break, so it runs on."""
        too_long = len(text) > _LONGEST_WRAPPED and max(map(len, text.split("\n"))) > _LONGEST_WRAPPED
        wanted = self._wrapped and not too_long
        mode = self.LineWrapMode.WidgetWidth if wanted else self.LineWrapMode.NoWrap
        if mode != self.lineWrapMode():
            self.setLineWrapMode(mode)

    def mark_span(self, span: tuple[int, int] | None) -> None:
        """Tint a span (the JSON chosen from a reply), with a bar at the left of its lines."""
        self._span = span
        self._paint_selections()
        self.viewport().update()

    def span(self) -> tuple[int, int] | None:
        """Return the tinted span."""
        return self._span

    def set_marks(self, marks: Sequence[Mark]) -> None:
        """Underline spans with problems and show their shape in the gutter."""
        self._marks = list(marks)
        self._fit_gutter()
        self._paint_selections()

    def marks(self) -> list[Mark]:
        """Return the problems that are shown."""
        return list(self._marks)

    def set_diff(
        self, labels: list[str], line_grounds: dict[int, str], char_grounds: list[tuple[int, int, str]]
    ) -> None:
        """Show line labels and the colour tokens of whole lines (from 0) and of spans."""
        self._labels = labels
        self._line_grounds = line_grounds
        self._char_grounds = char_grounds
        self._fit_gutter()
        self._paint_selections()

    def go_to(self, start: int, end: int | None = None) -> None:
        """Scroll to a span and outline it."""
        self._found = (start, end if end is not None else start)
        cursor = self._cursor(start, start)
        self.setTextCursor(cursor)
        self.centerCursor()
        self._paint_selections()

    def found(self) -> tuple[int, int] | None:
        """Return the span that `go_to` went to last."""
        return self._found

    # Painting

    def _refresh_theme(self) -> None:
        self.setFont(mono_font())
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance("    "))
        self._highlighter.rehighlight()
        self._paint_selections()
        self._fit_gutter()

    def set_wrapped(self, wrapped: bool) -> None:
        """Break long lines at the edge, or let them run on."""
        self._wrapped = wrapped
        self._fit_wrapping(self._text)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)

    def _cursor(self, start: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(self._map.to_position(start), self.document().characterCount() - 1))
        cursor.setPosition(
            min(self._map.to_position(end), self.document().characterCount() - 1),
            QTextCursor.MoveMode.KeepAnchor,
        )
        return cursor

    def _paint_selections(self) -> None:
        selections: list[QTextEdit.ExtraSelection] = []
        for line, token in self._line_grounds.items():
            selections += self._line_selections(line, color(token))
        if self._span is not None:
            first, _ = self._index.position(self._span[0])
            last, _ = self._index.position(max(self._span[0], self._span[1] - 1))
            for line in range(first, min(last, first + 500) + 1):
                selections += self._line_selections(line - 1, color("value_tint"))
        for start, end, token in self._char_grounds:
            selections.append(self._span_selection(start, end, ground=color(token)))
        for mark in self._marks[:200]:
            selections.append(
                self._span_selection(mark.start, max(mark.end, mark.start + 1), wave=mark.status)
            )
        if self._found is not None and self._found[1] > self._found[0]:
            selections.append(self._span_selection(*self._found, ground=color("selection")))
        self.setExtraSelections(selections)

    def _line_selections(self, line: int, ground: QColor) -> list[QTextEdit.ExtraSelection]:
        """Return the tint of a line: over the whole width, and over the text, which may be wrapped to more rows."""
        selections = []
        for whole in (True, False):
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document().findBlockByNumber(line))
            ink = QTextCharFormat()
            ink.setBackground(ground)
            if whole:
                ink.setProperty(QTextFormat.Property.FullWidthSelection, True)
            else:
                cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
            selection.cursor = cursor
            selection.format = ink
            selections.append(selection)
        return selections

    def _span_selection(
        self, start: int, end: int, *, ground: QColor | None = None, wave: str = ""
    ) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        ink = QTextCharFormat()
        if ground is not None:
            ink.setBackground(ground)
        if wave:
            ink.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            ink.setUnderlineColor(color("rejected" if wave == "error_mark" else "warning"))
        selection.cursor = self._cursor(start, end)
        selection.format = ink
        return selection

    # The gutter

    def gutter_width(self) -> int:
        """Return the width of the number column in pixels."""
        if not self._numbers:
            return 0
        digits = max((len(label) for label in self._labels), default=2) if self._labels else 0
        digits = max(digits, len(str(self.blockCount())), 2)
        return 18 + self.fontMetrics().horizontalAdvance("9") * digits + (px(18) if self._marks else 0)

    def _fit_gutter(self) -> None:
        self.setViewportMargins(self.gutter_width() + 4 if self._numbers else self._indent, 0, 0, 0)
        content = self.contentsRect()
        self._gutter.setGeometry(QRect(content.left(), content.top(), self.gutter_width(), content.height()))
        self._gutter.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_gutter()

    def _on_update(self, rect: QRect, dy: int) -> None:
        if dy:
            self._gutter.scroll(0, dy)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())

    def paint_gutter(self, painter: QPainter, clip: QRect) -> None:
        """Draw numbers, problems and the bar of the tinted span."""
        painter.fillRect(clip, color("base"))
        painter.setFont(self.font())
        marked = {self._index.position(mark.start)[0]: mark.status for mark in reversed(self._marks)}
        first = last = 0
        if self._span is not None:
            first, _ = self._index.position(self._span[0])
            last, _ = self._index.position(max(self._span[0], self._span[1] - 1))
        block = self.firstVisibleBlock()
        width = self._gutter.width()
        while block.isValid():
            area = self.blockBoundingGeometry(block).translated(QPointF(self.contentOffset()))
            if area.top() > clip.bottom():
                break
            if block.isVisible() and area.bottom() >= clip.top():
                self._paint_line_head(painter, block, area, width, marked, (first, last))
            block = block.next()

    def _paint_line_head(
        self,
        painter: QPainter,
        block: QTextBlock,
        area: QRectF,
        width: int,
        marked: dict[int, str],
        span: tuple[int, int],
    ) -> None:
        line = block.blockNumber() + 1
        ground = self._line_grounds.get(line - 1)
        if ground:
            painter.fillRect(QRectF(0, area.top(), width, area.height()), color(ground))
        height = self.fontMetrics().height()
        label = (
            str(line)
            if self._labels is None
            else (self._labels[line - 1] if line <= len(self._labels) else "")
        )
        painter.setPen(color("second"))
        box = QRectF(0, area.top(), width - 10, max(height, 1))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignRight.value), label)
        if line in marked:
            paint_status(painter, QRectF(3, area.top() + (height - px(13)) / 2, px(13), px(13)), marked[line])
        if span[0] and span[0] <= line <= span[1]:
            painter.fillRect(QRectF(width - 3, area.top(), 3, area.height()), color("accent"))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            position = self.cursorForPosition(event.pos()).position()
            offset = self._map.to_offset(position)
            tips = [mark.tip for mark in self._marks if mark.start <= offset <= mark.end and mark.tip]
            self.setToolTip("\n".join(tips))
        return super().event(event)
