"""The options of the template in a small form; each change shows its effect in the preview at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.templates.options import DIALECTS
from workbench.gui.shell.places import Place, message_title
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_role, small_font

_DIALECT_WORDS = {
    "context": "[%param.path%]",
    "braces": "{name}",
    "double-braces": "{{path}}",
}


@dataclass(frozen=True)
class _Choice:
    key: str
    title: str
    tip: str
    choices: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Switch:
    key: str
    title: str
    tip: str


_CHOICES = (
    _Choice("unresolved", "Without a value", "What happens to a placeholder that has no value",
            (("keep", "keep the placeholder"), ("empty", "put nothing"), ("error", "stop with an error"))),
    _Choice("many", "Several matches", "What a path puts in that matches several values",
            (("join", "join with commas"), ("json", "a JSON list"), ("first", "the first"), ("error", "stop with an error"))),
)  # fmt: skip
_SWITCHES = (
    _Switch("expand_parameters", "Fill placeholders in parameters", "Strings of the parameters are filled once themselves"),
    _Switch("replace_keys", "Fill member names", "In an object graph, names of members are filled too"),
    _Switch("literal_escape", "Backslash makes literal", "A backslash before a placeholder keeps it as text"),
    _Switch("collapse_blank_lines", "Collapse blank lines", "Blank lines around dropped lines become one"),
)  # fmt: skip


class TemplateOptionsPane(QScrollArea):
    """Dialect, context name, escaper, null text and the rest; every change is undoable."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._filling = False
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QWidget()
        set_role(page, "base")
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 12, 12, 12)
        self._form = QFormLayout()
        self._form.setHorizontalSpacing(12)
        self._form.setVerticalSpacing(8)
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        column.addLayout(self._form)
        self.note = QLabel()
        self.note.setWordWrap(True)
        self.note.setFont(small_font())
        set_role(self.note, "second")
        column.addWidget(self.note)
        column.addStretch(1)
        self.setWidget(page)
        self._build()
        session.project_changed.connect(self.refresh)
        session.edited.connect(lambda area: self.refresh() if area == "template" else None)
        session.rendered.connect(self._say_effect)
        session.reveal.connect(self._on_reveal)
        self.refresh()

    def _build(self) -> None:
        self.dialect = self._combo("Dialect", "How placeholders are written", tuple(
            (name, f"{name}   {_DIALECT_WORDS[name]}") for name in DIALECTS
        ))  # fmt: skip
        self.dialect.activated.connect(lambda _i: self.set_dialect(self.dialect.currentData()))
        self.context_name = self._line("Context name", "The name before the path, in dialect “context”")
        self.context_name.editingFinished.connect(
            lambda: self._put("context_name", self.context_name.text().strip())
        )
        self.escape = self._combo("Escape values", "Escapes every inserted value, and nothing else", ())
        self.escape.activated.connect(lambda _i: self._put("escape", self.escape.currentText()))
        self.choices: dict[str, QComboBox] = {}
        for choice in _CHOICES:
            combo = self._combo(choice.title, choice.tip, choice.choices)
            combo.activated.connect(lambda _i, key=choice.key, c=combo: self._put(key, c.currentData()))
            self.choices[choice.key] = combo
        self.null_text = self._line("Null becomes", "The text of a value that is null")
        self.null_text.setPlaceholderText("nothing")
        self.null_text.editingFinished.connect(lambda: self._put("null_text", self.null_text.text()))
        self.switches: dict[str, QCheckBox] = {}
        for switch in _SWITCHES:
            box = QCheckBox(switch.title)
            box.setToolTip(switch.tip)
            box.toggled.connect(lambda on, key=switch.key: self._put(key, on))
            self._form.addRow(box)
            self.switches[switch.key] = box

    def _combo(self, title: str, tip: str, choices: tuple[tuple[str, str], ...]) -> QComboBox:
        combo = QComboBox()
        for value, words in choices:
            combo.addItem(words, value)
        combo.setToolTip(tip)
        combo.setAccessibleName(title)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(10)
        self._form.addRow(title, combo)
        return combo

    def _line(self, title: str, tip: str) -> QLineEdit:
        line = QLineEdit()
        line.setToolTip(tip)
        line.setAccessibleName(title)
        self._form.addRow(title, line)
        return line

    # -- values -----------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the options as they are."""
        options = self._session.snapshot().template
        self._filling = True
        try:
            if self.escape.count() == 0 and self._session.project is not None:
                from workbench.engine.templates import ESCAPERS

                self.escape.addItems(list(dict.fromkeys(["none", *ESCAPERS])))
            self.dialect.setCurrentIndex(self.dialect.findData(options.dialect))
            self.escape.setCurrentText(options.escape)
            for line, value in (
                (self.context_name, options.context_name),
                (self.null_text, options.null_text),
            ):
                if line.text() != value:
                    line.setText(value)
            self.context_name.setEnabled(options.dialect == "context")
            for key, combo in self.choices.items():
                combo.setCurrentIndex(combo.findData(getattr(options, key)))
            for key, box in self.switches.items():
                box.setChecked(getattr(options, key))
        finally:
            self._filling = False
        self.setEnabled(self._session.project is not None)

    def _put(self, key: str, value: Any) -> None:
        if self._filling or self._session.project is None:
            return
        before = getattr(self._session.snapshot().template, key)
        if before == value:
            return
        self._session.apply(
            "template",
            f"Option {key.replace('_', ' ')}",
            lambda project: project.set_template_option(key, value),
            lambda project: project.set_template_option(key, before),
        )

    def set_dialect(self, target: str) -> None:
        """Write all messages in another dialect, without loss; where that cannot be done, say where."""
        if self._filling:
            return
        from workbench.engine.templates import ConversionError, convert_template, template_names

        snapshot = self._session.snapshot()
        before = snapshot.template.dialect
        if target == before:
            return
        rendering = self._session.rendering()
        value = rendering.parameters.value if rendering is not None else None
        names = template_names(value, snapshot.template)
        old = [message.content for message in snapshot.messages]
        new: list[str] = []
        for index, text in enumerate(old):
            try:
                new.append(convert_template(text, snapshot.template, target, names=names))  # type: ignore[arg-type]
            except ConversionError as error:
                self.refresh()
                self._refuse(index, message_title(snapshot, index), error)
                return

        def change(dialect: str, texts: list[str]) -> Any:
            def do(project: Any) -> None:
                project.set_template_option("dialect", dialect)
                for i, text in enumerate(texts):
                    project.set_message(i, text)

            return do

        self._session.apply("template", f"Dialect {target}", change(target, new), change(before, old))

    def _refuse(self, index: int, title: str, error: Any) -> None:
        box = QMessageBox(
            QMessageBox.Icon.Warning,
            "Dialect",
            f"The message {title} cannot be written in that dialect without loss.\n\n{error}",
            QMessageBox.StandardButton.Ok,
            self.window(),
        )
        box.exec()
        place = next((d for d in error.diagnostics if d.start is not None), None)
        if place is not None:
            self._session.go_to(Place("message", str(index), place.start, place.end))

    def _say_effect(self, rendering: Any) -> None:
        uses = rendering.placeholders
        counts = {s: sum(use.status == s for use in uses) for s in ("resolved", "empty", "kept")}
        self.note.setText(
            f"{len(uses)} placeholders: {counts['resolved']} filled, {counts['empty']} empty, {counts['kept']} without a value."
        )

    def _on_reveal(self, place: Place) -> None:
        if place.area == "template_options":
            self.dialect.setFocus()
