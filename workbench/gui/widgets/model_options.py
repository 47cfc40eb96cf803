"""The options of a model that people change: its file, how long and how often it is asked, and how it answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QFormLayout, QHBoxLayout, QLineEdit, QPushButton, QWidget

from workbench.engine.model_options import NUMBER_OPTIONS, number_problem
from workbench.gui.shell.scale import fit
from workbench.gui.widgets.labels import TokenLabel
from workbench.gui.widgets.option_fields import option_field, read_number, typed_value

_LABELS = {
    "timeout": ("seconds", "Seconds that one attempt may take"),
    "max_retries": ("retries", "How often a request is sent again after the first, when the server is busy"),
    "max_tokens": ("tokens", "Tokens that a reply may have"),
    "temperature": ("temperature", "0 to 2; false sends none, for models that take none"),
    "seed": ("seed", "Seed of the random choice, where the server takes one"),
    "n_ctx": ("context", "Tokens of prompt and reply together that the model holds"),
    "num_ctx": ("context", "Tokens of prompt and reply together that the server gives the model"),
}
_LINES = (
    ("Limits", ("timeout", "max_retries", "max_tokens")),
    ("Answers", ("temperature", "seed", "n_ctx", "num_ctx")),
)
_FILES = {
    "gguf": ("path", "a .gguf file; relative to the project, or anywhere on this computer"),
    "recorded": ("recording", "all files of recordings/"),
}
_DECISIONS: Mapping[str, tuple[str, ...]] = {
    "openai": ("timeout", "max_retries"),
    "system-one": ("timeout", "max_retries"),
    "sglang": ("timeout", "max_retries"),
    "chat-logprobs": ("timeout", "max_retries"),
    "gguf": ("timeout",),
    "embedded": ("timeout",),
}
_ASKED = ("timeout", "max_retries", "max_tokens", "temperature", "seed")
_HERE = ("timeout", "max_tokens", "temperature", "seed", "n_ctx")
_CHATS: Mapping[str, tuple[str, ...]] = {
    "openai": _ASKED,
    "openai-responses": tuple(key for key in _ASKED if key != "seed"),
    "anthropic": tuple(key for key in _ASKED if key != "seed"),
    "ollama": (*_ASKED, "num_ctx"),
    "gguf": _HERE,
    "local": _HERE,
}
_HERE_DEFAULTS = {"timeout": "300", "max_tokens": "1024", "temperature": "0", "seed": "1", "n_ctx": "4096"}
_CHAT_DEFAULTS = {"timeout": "120", "max_retries": "3", "temperature": "0"}
_DECISION_DEFAULTS = {"timeout": "10", "max_retries": "2"}
_OWN_DEFAULTS: Mapping[tuple[str, bool], Mapping[str, str]] = {
    ("local", False): _HERE_DEFAULTS,
    ("gguf", False): _HERE_DEFAULTS,
    ("gguf", True): {"timeout": "60"},
    ("embedded", True): {"timeout": "30"},
}


class ModelOptionFields(QObject):
    """Rows in a form; `changed` says that something was typed. An empty field leaves its option out."""

    changed = Signal()

    def __init__(self, form: QFormLayout, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._root: Path | None = None
        self._provider, self._decides = "", False
        self._shown: dict[str, Any] = {}
        self.fields: dict[str, QLineEdit] = {}
        self._words: dict[str, TokenLabel] = {}
        self._form = form
        self._file_row = self._build_file()
        form.addRow("File", self._file_row)
        self._rows: list[tuple[QWidget, tuple[str, ...]]] = []
        for title, keys in _LINES:
            line = self._build_line(keys)
            form.addRow(title, line)
            self._rows.append((line, keys))

    def _build_file(self) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        self.file = QLineEdit()
        self.file.setAccessibleName("File of the model")
        self.choose_button = QPushButton("Choose…")
        self.choose_button.clicked.connect(self._choose)
        row.addWidget(self.file, 1)
        row.addWidget(self.choose_button)
        self.file.textChanged.connect(lambda _text: self.changed.emit())
        return line

    def _build_line(self, keys: tuple[str, ...]) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        for key in keys:
            label, about = _LABELS[key]
            words, field = TokenLabel(label, "second"), option_field(about, self.changed.emit)
            fit(field, min_width=56)
            row.addWidget(words)
            row.addWidget(field, 1)
            self._words[key], self.fields[key] = words, field
        return line

    def show_options(self, options: Mapping[str, Any], root: Path | None) -> None:
        """Show the options of a model of the project in the folder `root`."""
        self._shown, self._root = dict(options), root
        for key, field in self.fields.items():
            value = options.get(key)
            field.setText("" if value is None else "false" if value is False else str(value))
        self._show_file()

    def fit_to(self, provider: str, decides: bool) -> None:
        """Show the fields that mean something for a provider; `decides` tells a decision model from a chat model."""
        self._provider, self._decides = provider, decides
        known = self._known()
        usual = _DECISION_DEFAULTS if decides else _CHAT_DEFAULTS
        defaults = _OWN_DEFAULTS.get((provider, decides), usual)
        for line, keys in self._rows:
            for key in keys:
                self.fields[key].setPlaceholderText(defaults.get(key, "default"))
                for widget in (self.fields[key], self._words[key]):
                    widget.setVisible(key in known)
            self._form.setRowVisible(line, any(key in known for key in keys))
        self._form.setRowVisible(self._file_row, provider in _FILES)
        self._show_file()

    def _known(self) -> tuple[str, ...]:
        return (_DECISIONS if self._decides else _CHATS).get(self._provider, ())

    def _show_file(self) -> None:
        key, hint = _FILES.get(self._provider, ("", ""))
        value = self._shown.get(key)
        self.file.setText(value if isinstance(value, str) else "")
        self.file.setPlaceholderText(hint)
        self.choose_button.setVisible(self._provider == "gguf")

    def merged(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return `options` with what the visible fields say; a number that is wrong stays what it was."""
        merged = dict(options)
        for key in self._known():
            value = self._value(key)
            if value is None:
                merged.pop(key, None)
            elif number_problem(key, value) is None:
                merged[key] = value
        if self._provider in _FILES:
            key, text = _FILES[self._provider][0], self.file.text().strip()
            merged.pop(key, None)
            if text:
                merged[key] = text
        return merged

    def problem(self) -> str | None:
        """Return what is wrong with a visible field, `None` when all can be saved."""
        for key in self._known():
            value = self._value(key)
            if value is not None and (wanted := number_problem(key, value)) is not None:
                return f"{_LABELS[key][0].capitalize()} must be {wanted}."
        return None

    def _value(self, key: str) -> Any:
        def read(text: str) -> Any:
            if text.casefold() == "false":
                return False
            return int(text) if NUMBER_OPTIONS[key].whole else read_number(text)

        return typed_value(self.fields[key].text(), self._shown.get(key), read)

    def _choose(self) -> None:
        name, _filter = QFileDialog.getOpenFileName(
            self._window, "A model in GGUF form", str(self._root or ""), "GGUF files (*.gguf);;All files (*)"
        )
        if name:
            self.take_file(Path(name))

    def take_file(self, path: Path) -> None:
        """Put a file into the field; inside the project it is named from the project's folder."""
        root = self._root
        if root is not None and path.resolve().is_relative_to(root.resolve()):
            self.file.setText(path.resolve().relative_to(root.resolve()).as_posix())
        else:
            self.file.setText(str(path))
