"""Edits a simulated answer: what a tool gives while its backend is away, and what undoing it gives."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QHBoxLayout, QPushButton, QSpinBox, QVBoxLayout, QWidget

from workbench.engine.json_text import dumps, parse_json
from workbench.engine.tools.definitions import Simulation
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.labels import TokenLabel
from workbench.gui.widgets.text_input import TextInput

NOTHING = "none"
KINDS = {
    "text": "a text",
    "json": "JSON",
    "contents": "contents (text, images)",
    "error": "an error",
}
_HINTS = {
    "text": "The parcel left the warehouse yesterday.",
    "json": '{"state": "sent"}',
    "contents": '[{"type": "text", "text": "See the picture."}, {"type": "image", "url": "https://example.org/a.png"}]',
    "error": "The warehouse is closed.",
}


class AnswerEditor(QWidget):
    """`changed` says that something was chosen, `edited` that something is being typed, `left` that a field lost the
    focus. `choices` are what may be chosen instead of an answer: keys (never those of `KINDS`) with their words;
    `before` goes in front of the words for a kind of answer."""

    changed = Signal()
    edited = Signal()
    left = Signal()

    def __init__(
        self, name: str, choices: dict[str, str], before: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._kinds = {key: before + words for key, words in KINDS.items()}
        self.kind = QComboBox()
        self.kind.setAccessibleName(name)
        self._choices: dict[str, str] = {}
        self.delay = QSpinBox()
        self.delay.setRange(0, 600_000)
        self.delay.setSuffix(" ms")
        self.delay.setAccessibleName(f"{name}: time until the answer")
        self.delay.setKeyboardTracking(False)
        self.example_button = QPushButton("Example")
        set_icon(self.example_button, "bulb")
        self.example_button.setToolTip("Put in an answer of this kind")
        self.answer = TextInput(f"{name}: the answer", "", 4)
        self.result = TextInput(f"{name}: raw result as JSON", '{"row": 17}', 1)
        self.attributes = TextInput(f"{name}: attributes as a JSON object", '{"trace": "t-1"}', 1)
        self._lay_out()
        self.set_choices(choices)
        self.kind.activated.connect(lambda _index: self._chosen())
        self.delay.valueChanged.connect(lambda _value: self.changed.emit())
        self.example_button.clicked.connect(self._write_example)
        for field in (self.answer, self.result, self.attributes):
            field.edited.connect(self.edited)
            field.left.connect(self.left)

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.addWidget(self.kind, 1)
        self._after = TokenLabel("after", "second")
        for widget in (self._after, self.delay, self.example_button):
            line.addWidget(widget)
        self._kept = QWidget()
        kept = QFormLayout(self._kept)
        kept.setContentsMargins(0, 0, 0, 0)
        kept.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        kept.addRow(TokenLabel("Not sent to the model:", "second", size="second"))
        kept.addRow("Raw result", self.result)
        kept.addRow("Attributes", self.attributes)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(line)
        layout.addWidget(self.answer)
        layout.addWidget(self._kept)

    def set_choices(self, choices: dict[str, str]) -> None:
        """Offer other things than an answer; what is chosen stays chosen where it still is there."""
        if choices == self._choices:
            return
        chosen = self.kind.currentData()
        self._choices = dict(choices)
        self.kind.clear()
        for key, words in (*choices.items(), *self._kinds.items()):
            self.kind.addItem(words, key)
        self.kind.setCurrentIndex(max(0, self.kind.findData(chosen)))
        self._fit()

    def choice(self) -> str | None:
        """Return the key of what was chosen instead of an answer, `None` where an answer is given."""
        key = self.kind.currentData()
        return key if key in self._choices else None

    def show_answer(self, answer: Simulation | str | None) -> None:
        """Show an answer, or what was chosen instead of one; fields that say the same already keep their carets."""
        key, text = (answer or NOTHING) if not isinstance(answer, Simulation) else NOTHING, ""
        if isinstance(answer, Simulation):
            for kind in KINDS:
                value = getattr(answer, kind)
                if value is not None:
                    key, text = kind, value if isinstance(value, str) else dumps(list(value), indent=2)
            if self.kind.currentData() == key and self.simulation() == answer:
                return
            self.answer.set_text(text)
            self.delay.setValue(answer.delay_ms)
            self.result.set_text(answer.result or "")
            self.attributes.set_text(answer.attributes or "")
        self.kind.setCurrentIndex(max(0, self.kind.findData(key)))
        self._fit()

    def simulation(self) -> Simulation | None:
        """Return the answer as the fields say it, `None` where none is given or its contents are no list."""
        if self.choice() is not None:
            return None
        kind, delay = self.kind.currentData(), self.delay.value()
        kept = (
            {}
            if kind == "error"
            else {"result": self._filled(self.result), "attributes": self._filled(self.attributes)}
        )
        if kind == "contents":
            contents = self._contents()
            return None if contents is None else Simulation(contents=contents, delay_ms=delay, **kept)
        return Simulation(**{kind: self.answer.text()}, delay_ms=delay, **kept)

    def broken_contents(self) -> bool:
        """Whether contents are chosen and what is written is no list."""
        return self.kind.currentData() == "contents" and self._contents() is None

    @staticmethod
    def _filled(field: TextInput) -> str | None:
        text = field.text()
        return text if text.strip() else None

    def _contents(self) -> tuple[object, ...] | None:
        document = parse_json(self.answer.text() or "[]")
        return tuple(document.value) if document.ok and isinstance(document.value, list) else None

    def _fit(self) -> None:
        kind = self.kind.currentData()
        given = kind in KINDS
        self.answer.setVisible(given)
        self.answer.setPlaceholderText(_HINTS.get(kind, ""))
        self._kept.setVisible(given and kind != "error")
        for widget in (self._after, self.delay, self.example_button):
            widget.setVisible(given)

    def _chosen(self) -> None:
        self._fit()
        self.changed.emit()

    def _write_example(self) -> None:
        self.answer.set_text(_HINTS[self.kind.currentData()])
        self.changed.emit()
