"""Edits what is sent before the request prompt: nothing, the project's own prompt, or messages written here."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from workbench.engine.templates.options import MessageTemplate
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.text_input import TextInput

Preamble = Literal["template"] | tuple[MessageTemplate, ...]
ROLES = ("system", "user", "assistant")


class _Section(QWidget):
    """One message: role and text."""

    def __init__(self, editor: PreambleEditor, message: MessageTemplate) -> None:
        super().__init__()
        self.role = QComboBox()
        self.role.setAccessibleName("Role of the message")
        self.role.addItems(list(dict.fromkeys([*ROLES, message.role])))
        self.role.setCurrentText(message.role)
        self.text = TextInput("Text of the message", "Today is 2 May 2027.", 3)
        self.text.set_text(message.content)
        self.text.document().clearUndoRedoStacks()
        self.remove = QToolButton()
        set_icon(self.remove, "trash")
        self.remove.setToolTip("Remove this message")
        self.remove.setAccessibleName("Remove this message")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.role)
        row.addWidget(self.text, 1)
        row.addWidget(self.remove)
        self.role.activated.connect(lambda _index: editor.changed.emit())
        self.text.left.connect(editor.changed.emit)
        self.remove.clicked.connect(lambda: editor.remove_section(self))


class PreambleEditor(QWidget):
    """A choice and, for messages of one's own, a list of them. `changed` is emitted when the value may differ."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice = QComboBox()
        self.choice.setAccessibleName("Sent before the request prompt")
        for key, words in (
            ("none", "nothing"),
            ("template", "the project's prompt, filled"),
            ("own", "these messages"),
        ):
            self.choice.addItem(words, key)
        self.add_button = QPushButton("Add message")
        set_icon(self.add_button, "plus")
        self._sections: list[_Section] = []
        self._shown: Preamble | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.choice)
        self._rows = QVBoxLayout()
        layout.addLayout(self._rows)
        row = QHBoxLayout()
        row.addWidget(self.add_button)
        row.addStretch(1)
        layout.addLayout(row)
        self.choice.activated.connect(lambda _index: self._chosen())
        self.add_button.clicked.connect(lambda: self.add_section())
        self.show_value(())

    def value(self) -> Preamble:
        """Return what is to be sent before the request prompt; messages without a text are left out."""
        key = self.choice.currentData()
        if key == "template":
            return "template"
        if key == "none":
            return ()
        return tuple(
            MessageTemplate(section.role.currentText(), section.text.text())
            for section in self._sections
            if section.text.text().strip()
        )

    def show_value(self, value: Preamble) -> None:
        """Show a value; the same one leaves the fields alone, also those that are still empty."""
        if value == self._shown and value == self.value():
            return
        self._shown = value
        if value != self.value() or not self._sections:
            self._clear()
            for message in () if value == "template" else value:
                self._append(message)
            key = "template" if value == "template" else "own" if value else "none"
            self.choice.setCurrentIndex(self.choice.findData(key))
        self._fit()

    def _chosen(self) -> None:
        if self.choice.currentData() == "own" and not self._sections:
            self._append(MessageTemplate("system", ""))
        self._fit()
        self.changed.emit()

    def add_section(self, role: str = "user", text: str = "") -> None:
        """Add a message at the end."""
        self._append(MessageTemplate(role, text))
        if text:
            self.changed.emit()

    def remove_section(self, section: _Section) -> None:
        """Take a message away."""
        self._drop(section)
        self.changed.emit()

    def sections(self) -> list[_Section]:
        """Return the rows of messages."""
        return list(self._sections)

    def _append(self, message: MessageTemplate) -> None:
        section = _Section(self, message)
        self._sections.append(section)
        self._rows.addWidget(section)

    def _drop(self, section: _Section) -> None:
        self._sections.remove(section)
        self._rows.removeWidget(section)
        section.hide()
        section.deleteLater()

    def _clear(self) -> None:
        for section in list(self._sections):
            self._drop(section)

    def _fit(self) -> None:
        own = self.choice.currentData() == "own"
        self.add_button.setVisible(own)
        for section in self._sections:
            section.setVisible(own)
