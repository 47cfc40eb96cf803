"""Find and replace below an editor."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QPushButton, QToolButton, QWidget

from workbench.gui.editor.code_editor import CodeEditor
from workbench.gui.shell.theme import set_icon, set_role, small_font

# A search that a person waits for must not take longer.
SEARCH_SECONDS = 0.5
MOST_MATCHES = 10_000


class FindBar(QWidget):
    """Searches one `CodeEditor`. Patterns run with a time limit, so no expression can hang the window."""

    toggled = Signal()

    def __init__(self, editor: CodeEditor | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.editor = editor
        self._spans: list[tuple[int, int]] = []
        self._searched: object = None
        set_role(self, "bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        layout = QGridLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.setSpacing(4)
        self.needle = _field("Find", "Text to find")
        self.replacement = _field("Replace with", "Replacement")
        self.case = _toggle("Aa", "Match case")
        self.word = _toggle("W", "Whole words")
        self.pattern = _toggle(".*", "Regular expression")
        self.count = QLabel("")
        self.count.setFont(small_font())
        set_role(self.count, "second")
        self.previous_button = _icon_button("chevron-up", "Previous match (Shift+F3)")
        self.next_button = _icon_button("chevron-down", "Next match (F3)")
        self.close_button = _icon_button("close", "Close the find bar (Escape)")
        self.replace_button = QPushButton("Replace")
        self.replace_all_button = QPushButton("Replace all")
        first = (self.needle, self.case, self.word, self.pattern, self.previous_button, self.next_button)
        for column, widget in enumerate((*first, self.count, self.close_button)):
            layout.addWidget(widget, 0, column)
        layout.addWidget(self.replacement, 1, 0)
        layout.addWidget(self.replace_button, 1, 1, 1, 3)
        layout.addWidget(self.replace_all_button, 1, 4, 1, 3)
        layout.setColumnStretch(0, 1)
        self.needle.textChanged.connect(lambda _text: self.search(move=True))
        for button in (self.case, self.word, self.pattern):
            button.toggled.connect(lambda _on: self.search(move=True))
        self.next_button.clicked.connect(lambda: self.step(1))
        self.previous_button.clicked.connect(lambda: self.step(-1))
        self.close_button.clicked.connect(self.close_bar)
        self.replace_button.clicked.connect(self.replace_one)
        self.replace_all_button.clicked.connect(self.replace_all)
        self.hide()

    def open(self, editor: CodeEditor, replace: bool = False) -> None:
        """Search `editor`, starting from its selection."""
        self.editor = editor
        start, end = editor.selection()
        chosen = editor.raw_text()[start:end]
        if chosen and "\n" not in chosen:
            self.needle.setText(chosen)
        for widget in (self.replacement, self.replace_button, self.replace_all_button):
            widget.setVisible(replace)
        self.show()
        self.toggled.emit()
        self.needle.setFocus()
        self.needle.selectAll()
        self.search(move=False)

    def search(self, move: bool) -> None:
        """Find all matches again and say how many there are."""
        if self.editor is None:
            return
        self._searched = self._query()
        error = ""
        try:
            self._spans = self._find(self.editor.raw_text())
        except (ValueError, TimeoutError) as failure:
            self._spans, error = [], str(failure)
        self.needle.setProperty("state", "error" if error else "")
        self.needle.style().unpolish(self.needle)
        self.needle.style().polish(self.needle)
        self.needle.setToolTip(error)
        if move and self._spans:
            caret = self.editor.selection()[0]
            span = next((s for s in self._spans if s[0] >= caret), self._spans[0])
            self.editor.go_to(*span, focus=False)
        self._say(error)

    def step(self, direction: int) -> None:
        """Go to the next or the previous match, around the end."""
        if self.editor is None:
            return
        if self._searched != self._query():
            self.search(move=False)
        if not self._spans:
            return
        start, end = self.editor.selection()
        if direction > 0:
            span = next((s for s in self._spans if s[0] >= max(end, start + (start == end))), self._spans[0])
        else:
            span = next((s for s in reversed(self._spans) if s[1] <= start), self._spans[-1])
        self.editor.go_to(*span, focus=False)
        self._say("")

    def replace_one(self) -> None:
        """Replace the selected match and go to the next."""
        if self.editor is None or self.editor.isReadOnly():
            return
        self.search(move=False)
        span = self.editor.selection()
        if span in self._spans:
            self.editor.edit_span(*span, self._replacement_for(span))
            self.search(move=False)
        self.step(1)

    def replace_all(self) -> None:
        """Replace every match by one undoable edit."""
        if self.editor is None or self.editor.isReadOnly():
            return
        self.search(move=False)
        text = self.editor.raw_text()
        parts, last = [], 0
        for start, end in self._spans:
            parts += [text[last:start], self._replacement_for((start, end))]
            last = end
        count = len(self._spans)
        if count:
            self.editor.replace_text("".join([*parts, text[last:]]))
        self.search(move=False)
        self.count.setText(f"{count} replaced")

    def close_bar(self) -> None:
        """Hide the bar and give the keyboard back to the editor."""
        self.hide()
        if self.editor is not None:
            self.editor.setFocus()
        self.toggled.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.replacement.hasFocus():
                self.replace_one()
            else:
                self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)

    def _query(self) -> object:
        flags = (self.case.isChecked(), self.word.isChecked(), self.pattern.isChecked())
        return (self.needle.text(), *flags, self.editor.raw_text() if self.editor is not None else "")

    def _compiled(self) -> Any:
        import regex

        needle = self.needle.text()
        source = needle if self.pattern.isChecked() else regex.escape(needle)
        if self.word.isChecked():
            source = rf"\b(?:{source})\b"
        flags = regex.MULTILINE | (0 if self.case.isChecked() else regex.IGNORECASE)
        try:
            return regex.compile(source, flags)
        except regex.error as error:
            raise ValueError(f"Not a regular expression: {error}") from error

    def _find(self, text: str) -> list[tuple[int, int]]:
        if not self.needle.text():
            return []
        spans = []
        for match in self._compiled().finditer(text, timeout=SEARCH_SECONDS):
            if match.end() > match.start():
                spans.append(match.span())
            if len(spans) >= MOST_MATCHES:
                break
        return spans

    def _replacement_for(self, span: tuple[int, int]) -> str:
        if not self.pattern.isChecked() or self.editor is None:
            return self.replacement.text()
        match = self._compiled().match(self.editor.raw_text(), span[0], timeout=SEARCH_SECONDS)
        try:
            return str(match.expand(self.replacement.text())) if match else self.replacement.text()
        except (IndexError, ValueError):
            return self.replacement.text()

    def _say(self, error: str) -> None:
        if error:
            self.count.setText("not a pattern" if "regular" in error else "took too long")
        elif not self.needle.text():
            self.count.setText("")
        elif not self._spans:
            self.count.setText("no match")
        else:
            assert self.editor is not None
            here = self.editor.selection()
            place = f"{self._spans.index(here) + 1} of " if here in self._spans else ""
            self.count.setText(f"{place}{len(self._spans)}{'+' if len(self._spans) >= MOST_MATCHES else ''}")


def _field(placeholder: str, name: str) -> QLineEdit:
    field = QLineEdit()
    field.setPlaceholderText(placeholder)
    field.setAccessibleName(name)
    return field


def _toggle(text: str, name: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setCheckable(True)
    button.setToolTip(name)
    button.setAccessibleName(name)
    return button


def _icon_button(icon_name: str, tip: str) -> QToolButton:
    button = QToolButton()
    set_icon(button, icon_name)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    return button
