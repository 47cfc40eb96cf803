"""Marks a part of a small text field without touching its text, its selection or its undo stack."""

from __future__ import annotations

from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from workbench.gui.delegates.ink import color
from workbench.gui.editor.editor_text import document_text, utf16_length


def mark_part(field: QPlainTextEdit, span: tuple[int, int] | None, *, show: bool = False) -> None:
    """Mark a part of the field's text by ground and underline; `None` takes the mark away.

    `span` is half-open, in code points of the text. With `show` the field is scrolled to it.
    """
    if span is None:
        field.setExtraSelections([])
        return
    cursor = _cursor(field, span)
    selection = QTextEdit.ExtraSelection()
    ink = QTextCharFormat()
    ink.setBackground(color("match"))
    ink.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    ink.setUnderlineColor(color("warning"))
    selection.cursor, selection.format = cursor, ink
    field.setExtraSelections([selection])
    if show:
        place = QTextCursor(field.document())
        place.setPosition(cursor.selectionEnd())
        field.setTextCursor(place)
        field.ensureCursorVisible()
        place.setPosition(cursor.selectionStart())
        field.setTextCursor(place)
        field.ensureCursorVisible()


def marked_part(field: QPlainTextEdit) -> str:
    """Return the text that is marked, nothing where none is."""
    return "".join(each.cursor.selectedText() for each in field.extraSelections()).replace("\u2029", "\n")


def _cursor(field: QPlainTextEdit, span: tuple[int, int]) -> QTextCursor:
    text = document_text(field.document())
    start, end = (max(0, min(offset, len(text))) for offset in span)
    cursor = QTextCursor(field.document())
    cursor.setPosition(utf16_length(text[:start]))
    cursor.setPosition(utf16_length(text[:end]), QTextCursor.MoveMode.KeepAnchor)
    return cursor
