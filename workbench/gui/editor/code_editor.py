"""The text editor of templates, parameters, schemas and replies: exact text, line numbers, squiggles, completion."""

from __future__ import annotations

import bisect
import html
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextOption,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QWidget

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.editor.completion import CompletionPopup
from workbench.gui.editor.editor_text import EditorText, document_text
from workbench.gui.editor.gutter import Gutter
from workbench.gui.models.words import plain
from workbench.gui.shell.theme import mono_font, on_theme_changed, set_role, theme

# Beyond this, every key would lay out the whole line again (a quarter of a second at 800,000 characters).
LONGEST_EDITED_LINE = 100_000
LONGEST_WRAPPED_LINE = 10_000
BRACKET_REACH = 20_000
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Tint:
    """A coloured span: code-point offsets into the engine's text, and the tokens of its colours."""

    start: int
    end: int
    ground: str
    text: str | None = None
    bold: bool = False
    tip: object = ""
    data: object = None


class CodeEditor(QPlainTextEdit):
    """An editor whose text is the engine's text, character by character.

    Offsets in the public methods are code points into `raw_text()`; nothing outside needs UTF-16.
    """

    edited = Signal()
    caret_changed = Signal()
    focused = Signal()
    clicked = Signal(int)
    long_line = Signal(bool)

    def __init__(self, parent: QWidget | None = None, *, line_numbers: bool = True, name: str = "") -> None:
        super().__init__(parent)
        self._codec = EditorText("")
        self._text_cache: EditorText | None = self._codec
        self._loading = False
        self._diagnostics: tuple[Diagnostic, ...] = ()
        self._tints: tuple[Tint, ...] = ()
        self._tint_starts: list[int] = []
        self._marks: list[QTextEdit.ExtraSelection] = []
        self._marks_for: tuple[int, int] | None = None
        self._outlines: tuple[tuple[int, int], ...] = ()
        self._selections_key: object = None
        self._wrap_wanted = True
        self._too_long = False
        self.indent_unit = ""
        self.completion_source: Callable[[str, int], object] | None = None
        self._completer: CompletionPopup | None = None
        # Edits that came from the project: the undo depth after each, the text before it and after it.
        self._given: list[tuple[int, str, str]] = []
        self._taken: list[tuple[int, str, str]] = []
        self.gutter = Gutter(self) if line_numbers else None
        set_role(self, "bare")
        self.setFont(mono_font())
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance(" ") * 4)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(5)
        self.setMouseTracking(True)
        if name:
            self.setAccessibleName(name)
        self.document().contentsChange.connect(self._contents_changed)
        self.blockCountChanged.connect(lambda _count: self._place_gutter())
        self.updateRequest.connect(self._scrolled)
        self.cursorPositionChanged.connect(self._caret_changed)
        on_theme_changed(self, self._theme_changed)
        self._place_gutter()

    # -- text -----------------------------------------------------------------------------------------

    def raw_text(self) -> str:
        """Return the engine's text, exactly."""
        return self.text_now().raw

    def text_now(self) -> EditorText:
        """Return the text with its conversions; read from the document once per change."""
        if self._text_cache is None:
            self._codec = self._codec.after_edit(document_text(self.document()))
            self._text_cache = self._codec
        return self._text_cache

    def text_is_read(self) -> bool:
        """Tell whether the present text was read already, so that asking for offsets costs nothing."""
        return self._text_cache is not None

    def set_text(self, text: str) -> None:
        """Show another text; its undo stack starts empty. Does not emit `edited`."""
        codec = EditorText(text)
        if codec.raw == self.text_now().raw and not self.document().isUndoAvailable():
            return
        self._loading = True
        try:
            self._codec = codec
            self.document().setUndoRedoEnabled(False)
            cursor = QTextCursor(self.document())
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.insertText(codec.display)
            self.document().setUndoRedoEnabled(True)
            self._given.clear()
            self._taken.clear()
            self._text_cache = codec
            cursor.setPosition(0)
            self.setTextCursor(cursor)
        finally:
            self._loading = False
        self._judge_lines()
        self._refresh_selections(force=True)

    def replace_text(self, text: str) -> None:
        """Make the text `text` by one undoable edit of only what differs; scroll and undo stack stay."""
        now = self.text_now()
        if text == now.raw:
            return
        codec = EditorText(text, like=self._codec)
        self._codec = codec
        old, new = now.display, codec.display
        head = _common_prefix(old, new)
        tail = _common_suffix(old, new, min(len(old), len(new)) - head)
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.setPosition(now._display_index.to_utf16(head))
        cursor.setPosition(now._display_index.to_utf16(len(old) - tail), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(new[head : len(new) - tail])
        cursor.endEditBlock()

    def follow_text(self, text: str) -> None:
        """Show what a change of the project made of the text.

        What the project takes back is undone here, so that the undo stack stays what it was before.
        """
        now, document = self.raw_text(), self.document()
        if text == now:
            return
        depth = document.availableUndoSteps()
        if self._given and self._given[-1] == (depth, text, now):
            document.undo()
            if self.raw_text() == text:
                self._taken.append(self._given.pop())
                return
            document.redo()
        if self._taken and self._taken[-1][1:] == (now, text) and document.isRedoAvailable():
            document.redo()
            if self.raw_text() == text:
                self._given.append(self._taken.pop())
                return
            document.undo()
        self._taken.clear()
        self.replace_text(text)
        self._given.append((document.availableUndoSteps(), now, text))

    def undo_is_the_projects(self) -> bool:
        """Tell whether the last edit here was part of a change of the project, which is undone as a whole."""
        depth = self.document().availableUndoSteps()
        return bool(self._given) and self._given[-1][::2] == (depth, self.raw_text())

    def redo_is_the_projects(self) -> bool:
        """Tell whether the next edit to redo here is part of a change of the project."""
        return bool(self._taken) and self._taken[-1][1] == self.raw_text()

    def edit_span(self, start: int, end: int, replacement: str, *, select: bool = False) -> None:
        """Replace a span by one undoable edit and put the caret behind it (or select it)."""
        text = self.text_now()
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.setPosition(text.to_position(start))
        cursor.setPosition(text.to_position(end), QTextCursor.MoveMode.KeepAnchor)
        first = cursor.selectionStart()
        codec = EditorText(replacement, like=self._codec)
        # What the replacement needs of stand-ins holds from now on, for the rest of the text too.
        self._codec = (
            EditorText(self._codec.raw, like=codec)
            if codec._stand_ins != self._codec._stand_ins
            else self._codec
        )
        cursor.insertText(codec.display)
        cursor.endEditBlock()
        if select:
            last = cursor.position()
            cursor.setPosition(first)
            cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def caret(self) -> int:
        """Return the caret's offset."""
        return self.text_now().to_offset(self.textCursor().position())

    def selection(self) -> tuple[int, int]:
        """Return the selected span, empty at the caret where nothing is selected."""
        cursor, text = self.textCursor(), self.text_now()
        return text.to_offset(cursor.selectionStart()), text.to_offset(cursor.selectionEnd())

    def go_to(self, start: int, end: int | None = None, *, focus: bool = True) -> None:
        """Select a span, scroll to it, and take the keyboard."""
        text = self.text_now()
        cursor = self.textCursor()
        cursor.setPosition(text.to_position(start if end is None else end))
        if end is not None:
            cursor.setPosition(text.to_position(start), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.centerCursor() if self._outside_view(cursor) else self.ensureCursorVisible()
        if focus:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _outside_view(self, cursor: QTextCursor) -> bool:
        return not self.viewport().rect().contains(self.cursorRect(cursor))

    def _contents_changed(self, _position: int, removed: int, added: int) -> None:
        if removed == 0 and added == 0:
            return
        self._text_cache = None
        if not self._loading:
            self.edited.emit()

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        cursor = self.textCursor()
        # The selection's own text, with no-break spaces and U+2028 as they are.
        data.setText(self._codec.restore(cursor.selectedText().replace("\u2029", "\n")))
        return data

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText() and not self.isReadOnly():
            pasted = source.text().replace("\r\n", "\n").replace("\r", "\n")
            self.edit_span(*self.selection(), pasted.replace("\n", self._codec.newline))
            self.ensureCursorVisible()
            self._judge_lines()

    # -- looks ----------------------------------------------------------------------------------------

    def set_wrap(self, wrap: bool) -> None:
        """Wrap long lines at the edge, unless a line is too long for that."""
        self._wrap_wanted = wrap
        self._judge_lines()

    def _judge_lines(self) -> None:
        """Apply the policy for very long lines: no wrapping, and beyond a bound no editing unasked."""
        longest, block = 0, self.document().firstBlock()
        if self.document().characterCount() > LONGEST_WRAPPED_LINE:
            while block.isValid():
                longest = max(longest, block.length())
                block = block.next()
        mode = QPlainTextEdit.LineWrapMode
        self.setLineWrapMode(
            mode.WidgetWidth if self._wrap_wanted and longest <= LONGEST_WRAPPED_LINE else mode.NoWrap
        )
        too_long = longest > LONGEST_EDITED_LINE
        if too_long != self._too_long:
            self._too_long = too_long
            self.setReadOnly(too_long)
            self.long_line.emit(too_long)

    def edit_anyway(self) -> None:
        """Allow editing although a line is so long that every key will be felt."""
        self.setReadOnly(False)

    def _theme_changed(self) -> None:
        self.setFont(mono_font())
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance(" ") * 4)
        self._place_gutter()
        self._refresh_selections(force=True)

    def visible_lines(self) -> Iterator[tuple[int, int]]:
        """Yield (block number, top in the viewport) of every visible line."""
        block = self.firstVisibleBlock()
        offset = self.contentOffset()
        top = round(self.blockBoundingGeometry(block).translated(offset).top())
        limit = self.viewport().height()
        while block.isValid() and top <= limit:
            if block.isVisible():
                yield block.blockNumber(), top
            top += round(self.blockBoundingRect(block).height())
            block = block.next()

    def _place_gutter(self) -> None:
        if self.gutter is None:
            return
        width = self.gutter.width_needed()
        if self.viewportMargins().left() != width:
            self.setViewportMargins(width, 0, 0, 0)
        area = self.contentsRect()
        self.gutter.setGeometry(QRect(area.left(), area.top(), width, area.height()))

    def show_line_numbers(self, shown: bool) -> None:
        """Show or hide the gutter."""
        if self.gutter is None:
            return
        self.gutter.setVisible(shown)
        if shown:
            self._place_gutter()
        else:
            self.setViewportMargins(0, 0, 0, 0)

    def _scrolled(self, rect: QRect, dy: int) -> None:
        if self.gutter is not None:
            if dy:
                self.gutter.scroll(0, dy)
            else:
                self.gutter.update(0, rect.y(), self.gutter.width(), rect.height())
        if dy:
            self._refresh_selections()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_gutter()
        self._refresh_selections()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # A style sheet that polishes a widget again takes it back to the font of the application.
        if event.type() == QEvent.Type.FontChange and self.font().family() != mono_font().family():
            self.setFont(mono_font())

    # -- squiggles, tints, outline ----------------------------------------------------------------------

    def set_diagnostics(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Underline the places of `diagnostics`; their texts show on hover."""
        found = tuple(diagnostics)
        if found == self._diagnostics:
            return
        self._diagnostics = found
        marks: dict[int, str] = {}
        for each in found:
            if each.line is not None and marks.get(each.line) != "error":
                marks[each.line] = each.severity
        if self.gutter is not None:
            self.gutter.set_marks({} if len(marks) == 0 else marks)
        self._refresh_selections(force=True)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics that are underlined."""
        return self._diagnostics

    def set_tints(self, tints: Iterable[Tint]) -> None:
        """Colour spans of the text (in order of their start) over what the highlighter does."""
        self._tints = tuple(tints)
        self._tint_starts = [tint.start for tint in self._tints]
        self._refresh_selections(force=True)

    def set_outline(self, *spans: tuple[int, int]) -> None:
        """Draw a frame around spans: the value, the placeholder or the parameter that the caret speaks of."""
        if spans != self._outlines:
            self._outlines = spans
            self.viewport().update()

    def _visible_span(self) -> tuple[int, int]:
        """Return the visible document positions."""
        first = self.firstVisibleBlock()
        bottom = self.cursorForPosition(QPoint(0, self.viewport().height() - 1)).block()
        return first.position(), bottom.position() + bottom.length()

    def _refresh_selections(self, force: bool = False) -> None:
        visible = self._visible_span()
        key = (visible, self.textCursor().position(), self.hasFocus())
        if not force and key == self._selections_key:
            return
        self._selections_key = key
        # While a key waits for its rendering the marks of the last one move along with the text; the text is
        # not read here.
        if self._text_cache is not None and (force or visible != self._marks_for):
            self._marks_for = visible
            self._marks = self._mark_selections(visible)
        ground = [self._line_selection()] if self.hasFocus() and not self.isReadOnly() else []
        self.setExtraSelections([*ground, *self._marks, *self._bracket_selections()])

    def _mark_selections(self, visible: tuple[int, int]) -> list[QTextEdit.ExtraSelection]:
        # Qt paints only one of two formats over the same characters, so those of one span become one.
        formats: dict[tuple[int, int], QTextCharFormat] = {}
        text = self.text_now()
        first, last = text.to_offset(visible[0]), text.to_offset(visible[1])
        # Tints are in order and do not overlap: the one before the first may reach into what is visible.
        begin = max(0, bisect.bisect_left(self._tint_starts, first) - 1)
        for tint in self._tints[begin : bisect.bisect_right(self._tint_starts, last)]:
            if (span := _clip(text, tint.start, tint.end, visible)) is not None:
                formats.setdefault(span, QTextCharFormat()).merge(_tint_format(tint))
        for diagnostic in self._diagnostics:
            if diagnostic.start is None or last < diagnostic.start < len(text.raw):
                continue
            end = diagnostic.end if diagnostic.end is not None else diagnostic.start + 1
            span = _clip(text, diagnostic.start, max(end, diagnostic.start + 1), visible)
            if span is not None:
                formats.setdefault(span, QTextCharFormat()).merge(_squiggle(diagnostic.severity))
        return [self._selection(*span, style) for span, style in formats.items()]

    def _selection(self, start: int, end: int, style: QTextCharFormat) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        last = self.document().characterCount() - 1
        cursor.setPosition(min(start, last))
        cursor.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
        selection.cursor = cursor
        selection.format = style
        return selection

    def _line_selection(self) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        selection.format.setBackground(theme().color("current_line"))
        selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        selection.cursor = self.textCursor()
        selection.cursor.clearSelection()
        return selection

    def _bracket_selections(self) -> list[QTextEdit.ExtraSelection]:
        if not self.hasFocus():
            return []
        pair = self.matching_brackets()
        if pair is None:
            return []
        style = QTextCharFormat()
        style.setBackground(theme().color("bracket"))
        style.setFontWeight(600)
        return [self._selection(position, position + 1, style) for position in pair]

    def matching_brackets(self) -> tuple[int, int] | None:
        """Return the document positions of the bracket at the caret and of its partner."""
        document, caret = self.document(), self.textCursor().position()
        for position in (caret, caret - 1):
            if position < 0:
                continue
            character = document.characterAt(position)
            if character in _OPEN or character in _CLOSE:
                partner = self._partner(position, character)
                if partner is not None:
                    return position, partner
        return None

    def _partner(self, position: int, character: str) -> int | None:
        forward = character in _OPEN
        other = (_CLOSE if forward else _OPEN)[(_OPEN if forward else _CLOSE).index(character)]
        cursor = QTextCursor(self.document())
        last = self.document().characterCount() - 1
        cursor.setPosition(position if forward else max(0, position - BRACKET_REACH))
        cursor.setPosition(
            min(last, position + BRACKET_REACH) if forward else position + 1, QTextCursor.MoveMode.KeepAnchor
        )
        text = cursor.selectedText()
        # Units, not code points: a bracket is one unit, and so is each half of a pair here.
        units = text.encode("utf-16-le", "surrogatepass")
        characters = [units[i] if units[i + 1] == 0 else 0 for i in range(0, len(units), 2)]
        same, opposite = ord(character), ord(other)
        depth = 0
        order = range(len(characters)) if forward else range(len(characters) - 1, -1, -1)
        for i in order:
            if characters[i] == same:
                depth += 1
            elif characters[i] == opposite:
                depth -= 1
                if depth == 0:
                    return position + i if forward else position - (len(characters) - 1 - i)
        return None

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._outlines or self._text_cache is None:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme().color("accent"), 1.2))
        for start, end in self._outlines:
            for box in self.span_boxes(start, end):
                painter.drawRoundedRect(box.adjusted(-1.5, -0.5, 1.5, 0.5), 3, 3)

    def span_boxes(self, start: int, end: int) -> list[QRectF]:
        """Return the boxes that a span covers in the viewport, one per visible line."""
        text = self.text_now()
        first, last = text.to_position(start), text.to_position(end)
        boxes: list[QRectF] = []
        block = self.document().findBlock(first)
        offset = self.contentOffset()
        while block.isValid() and block.position() <= last:
            origin = self.blockBoundingGeometry(block).translated(offset).topLeft()
            if origin.y() > self.viewport().height():
                break
            layout = block.layout()
            for i in range(layout.lineCount()):
                line = layout.lineAt(i)
                begin = max(first - block.position(), line.textStart())
                finish = min(last - block.position(), line.textStart() + line.textLength())
                if begin < finish:
                    left, right = line.cursorToX(begin), line.cursorToX(finish)
                    left, right = (v[0] if isinstance(v, tuple) else v for v in (left, right))
                    boxes.append(
                        QRectF(origin.x() + left, origin.y() + line.y(), right - left, line.height())
                    )
            block = block.next()
        return boxes

    # -- hover and mouse --------------------------------------------------------------------------------

    def offset_at(self, point: QPoint) -> int | None:
        """Return the offset of the character under a point of the viewport, `None` where there is none."""
        cursor = self.cursorForPosition(point)
        box = self.cursorRect(cursor)
        if abs(box.center().y() - point.y()) > box.height() or abs(box.x() - point.x()) > 40:
            return None
        position = cursor.position()
        if box.x() > point.x() and position > cursor.block().position():
            position -= 1
        return self.text_now().to_offset(position)

    def diagnostics_at(self, offset: int) -> list[Diagnostic]:
        """Return the diagnostics whose span holds `offset`."""
        return [
            d
            for d in self._diagnostics
            if d.start is not None
            and d.start <= offset <= max(d.start, (d.end if d.end is not None else d.start))
        ]

    def tint_at(self, offset: int) -> Tint | None:
        """Return the tint whose span holds `offset`."""
        at = bisect.bisect_right(self._tint_starts, offset) - 1
        return self._tints[at] if at >= 0 and offset < self._tints[at].end else None

    def hover_text(self, offset: int) -> str:
        """Return the rich text to show over `offset`, `""` for none."""
        found = self.diagnostics_at(offset)
        if found:
            return "<br>".join(_diagnostic_html(each) for each in found[:4])
        tint = self.tint_at(offset)
        return str(tint.tip) if tint is not None else ""

    def event(self, event: QEvent) -> bool:
        undoing = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
        if event.type() == QEvent.Type.ShortcutOverride and any(map(event.matches, undoing)):
            # The window decides whether the text or the project is meant; without a window's action the key
            # still arrives here.
            event.ignore()
            return True
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            point = self.viewport().mapFrom(self, event.pos())
            offset = self.offset_at(point) if self.viewport().rect().contains(point) else None
            text = self.hover_text(offset) if offset is not None else ""
            if text:
                QToolTip.showText(event.globalPos(), f"<div style='white-space:pre-wrap'>{text}</div>", self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            offset = self.offset_at(event.position().toPoint())
            if offset is not None:
                self.clicked.emit(offset)

    # -- keys ---------------------------------------------------------------------------------------------

    def _caret_changed(self) -> None:
        self._refresh_selections()
        if self.gutter is not None:
            self.gutter.update()
        self.caret_changed.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._refresh_selections()
        if self.gutter is not None:
            self.gutter.update()
        self.focused.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._refresh_selections()
        if self.gutter is not None:
            self.gutter.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._completer is not None and self._completer.isVisible() and self._completer.takes(event):
            return
        key = event.key()
        if key == Qt.Key.Key_Tab and event.modifiers() == Qt.KeyboardModifier.NoModifier and self.indent_unit:
            self._indent(1)
            return
        if key == Qt.Key.Key_Backtab and self.indent_unit:
            self._indent(-1)
            return
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        ):
            self._new_line()
            return
        # Shift+Return would put U+2028 into the text, which no one means.
        if (
            key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and event.modifiers() == Qt.KeyboardModifier.ShiftModifier
        ):
            self._new_line()
            return
        super().keyPressEvent(event)
        if (event.text() and event.text().isprintable() and self.completion_source is not None) or (
            self._completer is not None and self._completer.isVisible()
        ):
            self.complete(asked=False)

    def _new_line(self) -> None:
        if self.isReadOnly():
            return
        cursor = self.textCursor()
        line = cursor.block().text()[: cursor.positionInBlock()]
        indent = line[: len(line) - len(line.lstrip(" \t"))] if self.indent_unit else ""
        if self.indent_unit and line.rstrip().endswith(("{", "[")):
            indent += self.indent_unit
        cursor.insertText("\n" + indent)
        self.ensureCursorVisible()

    def _indent(self, direction: int) -> None:
        if self.isReadOnly():
            return
        cursor = self.textCursor()
        if direction > 0 and not cursor.hasSelection():
            cursor.insertText(self.indent_unit)
            return
        document = self.document()
        first = document.findBlock(cursor.selectionStart()).blockNumber()
        last = document.findBlock(max(cursor.selectionStart(), cursor.selectionEnd() - 1)).blockNumber()
        cursor.beginEditBlock()
        for number in range(first, last + 1):
            block = document.findBlockByNumber(number)
            edit = QTextCursor(block)
            if direction > 0:
                edit.insertText(self.indent_unit)
            else:
                text = block.text()
                width = min(len(text) - len(text.lstrip(" ")), len(self.indent_unit))
                edit.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, width)
                edit.removeSelectedText()
        cursor.endEditBlock()

    # -- completion ---------------------------------------------------------------------------------------

    def complete(self, asked: bool = True) -> None:
        """Offer completions at the caret; `asked` by the user, or while typing."""
        if self.completion_source is None or self.isReadOnly():
            return
        if not asked and not self._inside_token():
            if self._completer is not None:
                self._completer.hide()
            return
        completion = self.completion_source(self.raw_text(), self.caret())
        if completion is None or not completion.candidates:
            if self._completer is not None:
                self._completer.hide()
            return
        if self._completer is None:
            self._completer = CompletionPopup(self)
        self._completer.offer(completion)

    def _inside_token(self) -> bool:
        """Tell from the caret's line alone whether a placeholder may be open there."""
        cursor = self.textCursor()
        units = cursor.positionInBlock()
        line = cursor.block().text()
        before = (
            line[:units]
            if line.isascii()
            else line.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "replace")
        )
        opener = max(before.rfind("[%"), before.rfind("{"))
        closer = max(before.rfind("%]"), before.rfind("}"))
        return opener > closer

    def content_height(self) -> int:
        """Return the height in pixels at which the whole text is visible without scrolling."""
        lines = max(1, round(self.document().size().height()))
        margins = round(2 * self.document().documentMargin()) + 2 * self.frameWidth()
        return lines * self.fontMetrics().lineSpacing() + margins + 2

    def sizeHint(self) -> QSize:
        return QSize(320, 120)


def _clip(text: EditorText, start: int, end: int, visible: tuple[int, int]) -> tuple[int, int] | None:
    """Return the document span of an engine span where it is visible."""
    length = len(text.raw)
    if start > length:
        start = max(0, length - 1)
    first, last = text.to_position(start), text.to_position(min(end, length))
    if last < visible[0] or first > visible[1]:
        return None
    if first == last:
        first = max(0, first - 1)
    return max(first, visible[0]), min(last, visible[1])


def _tint_format(tint: Tint) -> QTextCharFormat:
    style = QTextCharFormat()
    style.setBackground(theme().color(tint.ground))
    if tint.text is not None:
        style.setForeground(theme().color(tint.text))
    if tint.bold:
        style.setFontWeight(600)
    return style


def _squiggle(severity: str) -> QTextCharFormat:
    style = QTextCharFormat()
    style.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
    token = {"error": "rejected", "warning": "warning"}.get(severity, "accent")
    style.setUnderlineColor(QColor(theme().hex(token)))
    return style


def _diagnostic_html(diagnostic: Diagnostic) -> str:
    where = f"<b>{html.escape(diagnostic.pointer)}</b>&nbsp; " if diagnostic.pointer else ""
    tail = ""
    if diagnostic.keyword:
        tail = (
            f" <span style='color:{theme().hex('second')}'>schema: {html.escape(diagnostic.keyword)}</span>"
        )
    hint = f"<br>{html.escape(plain(diagnostic.hint))}" if diagnostic.hint else ""
    return f"{where}{html.escape(plain(diagnostic.message))}{tail}{hint}"


def _common_prefix(a: str, b: str) -> int:
    """Return the number of equal characters at the start, by halving: comparing slices is quick."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(a: str, b: str, limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle - 1
    return low
