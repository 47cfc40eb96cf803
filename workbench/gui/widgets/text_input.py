"""A small field for plain text of several lines, read back exactly as it was typed."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from workbench.gui.editor.editor_text import document_text
from workbench.gui.shell.theme import mono_font, on_theme_changed


class TextInput(QPlainTextEdit):
    """Plain text; Tab leaves the field, so that it is no trap for the keyboard."""

    edited = Signal()
    left = Signal()

    def __init__(
        self, name: str, placeholder: str = "", lines: int = 4, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setPlaceholderText(placeholder)
        self.setTabChangesFocus(True)
        self._lines = lines
        self._refresh()
        on_theme_changed(self, self._refresh)
        self.textChanged.connect(self.edited)

    def _refresh(self) -> None:
        self.setFont(mono_font())

    def text(self) -> str:
        """Return the text; `toPlainText` would turn a no-break space into a space and U+2028 into a new line."""
        return document_text(self.document())

    def set_text(self, text: str) -> None:
        """Put a text in as one step that can be undone; the same text costs nothing."""
        if text == self.text():
            return
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.endEditBlock()

    def sizeHint(self) -> QSize:
        return QSize(240, self._lines * self.fontMetrics().lineSpacing() + 14)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 2 * self.fontMetrics().lineSpacing() + 14)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()
