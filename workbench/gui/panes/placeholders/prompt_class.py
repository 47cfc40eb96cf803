"""Prompt classes as starting points: their built-in template in any language, put into the project."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.text import shorten
from workbench.gui.editor import CodeEditor, TemplateHighlighter
from workbench.gui.shell.places import Place, message_title
from workbench.gui.shell.scale import fit
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_role, small_font

if TYPE_CHECKING:
    from workbench.engine.prompts import PromptVariant

LANGUAGE_WORDS = {"en": "English", "es": "Español", "pt": "Português", "de": "Deutsch"}


class PromptClassSection(QWidget):
    """Chooses class and language; inserts the template, or switches the language of a message that holds one."""

    counted = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._variants: list[PromptVariant] = []
        self._key: object = None
        self._current = 0
        self.classes, self.languages = QComboBox(), QComboBox()
        for combo, name in ((self.classes, "Prompt class"), (self.languages, "Language")):
            combo.setAccessibleName(name)
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            combo.setMinimumContentsLength(8)
        self.classes.activated.connect(lambda _index: self._show_class())
        self.languages.activated.connect(lambda _index: self._show_variant())
        self.words, self.names, self.holds = QLabel(), QLabel(), QLabel()
        for label in (self.words, self.names, self.holds):
            label.setWordWrap(True)
            label.setFont(small_font())
            set_role(label, "second")
        self.names.setTextFormat(Qt.TextFormat.RichText)
        self.template = CodeEditor(name="Built-in template", line_numbers=False)
        fit(self.template, min_height=60)
        self.template.setReadOnly(True)
        self.highlighter = TemplateHighlighter(self.template.document())
        self.insert_button = QPushButton("Add as message")
        self.insert_button.setToolTip(
            "Add the template as a message, with its parameters and what is required"
        )
        self.insert_button.clicked.connect(lambda: self.insert())
        self.switch_button = QPushButton("Switch language")
        self.switch_button.clicked.connect(lambda: self.switch())
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setVerticalSpacing(6)
        form.addRow("Class", self.classes)
        form.addRow("Language", self.languages)
        buttons = QVBoxLayout()
        buttons.addWidget(self.insert_button)
        buttons.addWidget(self.switch_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(6)
        layout.addLayout(form)
        layout.addWidget(self.words)
        layout.addWidget(self.template, 1)
        layout.addWidget(self.names)
        layout.addWidget(self.holds)
        layout.addLayout(buttons)
        session.rendered.connect(lambda _rendering: self.refresh())
        session.project_changed.connect(self.refresh)
        session.caret_moved.connect(self._caret_moved)

    # -- showing ----------------------------------------------------------------------------------------

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Show the classes in the project's dialect, and what the current message holds."""
        self.setEnabled(self._session.project is not None)
        if not self.isVisible() or self._session.project is None:
            return
        from workbench.engine.prompts import prompt_variants

        options = self._session.snapshot().template
        key = (options.dialect, options.context_name, options.literal_escape)
        if key != self._key:
            self._key = key
            self._variants = prompt_variants(options)
            chosen = self.classes.currentData()
            self.classes.clear()
            for variant in self._variants:
                if self.classes.findData(variant.component) < 0:
                    self.classes.addItem(variant.title, variant.component)
            self.classes.setCurrentIndex(max(0, self.classes.findData(chosen)))
            self._show_class()
        self._show_held()

    def _show_class(self) -> None:
        language = self.languages.currentData()
        self.languages.clear()
        for variant in self._variants:
            if variant.component == self.classes.currentData():
                self.languages.addItem(
                    LANGUAGE_WORDS.get(variant.language, variant.language), variant.language
                )
        self.languages.setCurrentIndex(max(0, self.languages.findData(language)))
        self._show_variant()

    def variant(self) -> PromptVariant | None:
        """Return the chosen class in the chosen language."""
        wanted = (self.classes.currentData(), self.languages.currentData())
        return next((v for v in self._variants if (v.component, v.language) == wanted), None)

    def _show_variant(self) -> None:
        variant = self.variant()
        if variant is None:
            return
        import html
        from dataclasses import replace

        options = self._session.snapshot().template
        self.words.setText(variant.description)
        self.highlighter.configure(
            replace(options, required=variant.required, optional=variant.optional),
            frozenset(variant.descriptions),
        )
        self.template.set_text(variant.text)
        self.template.setToolTip(variant.component)
        lines = []
        for name in (*variant.required, *variant.optional):
            need = "required" if name in variant.required else "optional"
            lines.append(
                f"<b>{html.escape(name)}</b> ({need}): {html.escape(variant.descriptions.get(name, ''))}"
            )
        self.names.setText("<br>".join(lines))
        self._show_held()

    def held(self) -> PromptVariant | None:
        """Return the built-in template that the current message holds unchanged, `None` where it holds none."""
        from workbench.engine.prompts import find_variant

        messages = self._session.snapshot().messages
        if not 0 <= self._current < len(messages):
            return None
        return find_variant(messages[self._current].content, self._variants)

    def _show_held(self) -> None:
        snapshot, held, variant = self._session.snapshot(), self.held(), self.variant()
        same = held is not None and variant is not None and held.component == variant.component
        if held is None:
            self.holds.setText("")
        else:
            title = message_title(snapshot, self._current)
            language = LANGUAGE_WORDS.get(held.language, held.language)
            self.holds.setText(f"The message “{title}” holds “{held.title}” in {language}.")
        self.holds.setVisible(held is not None)
        other = same and held is not None and variant is not None and held.language != variant.language
        self.switch_button.setEnabled(other)
        self.switch_button.setToolTip(
            "Write the message in the chosen language"
            if other
            else "Put the caret into a message that holds this class unchanged, and choose another language"
        )

    def _caret_moved(self, place: Place) -> None:
        if place.area == "message" and place.name.isdigit() and int(place.name) != self._current:
            self._current = int(place.name)
            if self.isVisible():
                held = self.held()
                if held is not None and held.component != self.classes.currentData():
                    self.classes.setCurrentIndex(self.classes.findData(held.component))
                    self._show_class()
                self._show_held()

    # -- changing ---------------------------------------------------------------------------------------

    def insert(self) -> None:
        """Add the template as a message, declare its placeholders and give their parameters a place; undoable."""
        variant, snapshot = self.variant(), self._session.snapshot()
        if variant is None or self._session.project is None:
            return
        options, count = snapshot.template, len(snapshot.messages)
        required = [*options.required, *(n for n in variant.required if n not in options.required)]
        optional = [*options.optional, *(n for n in variant.optional if n not in options.optional)]
        chosen = self._session.parameter_set
        old = snapshot.parameter_sets[chosen].text if chosen in snapshot.parameter_sets else None
        new = None if old is None else _with_members(old, variant)
        schema = snapshot.parameters_schema.text if snapshot.parameters_schema is not None else None
        described = None if schema is None else _with_descriptions(schema, variant)

        def texts(parameters: str | None, schema_text: str | None) -> Callable[[Any], None]:
            def do(project: Any) -> None:
                if parameters is not None and chosen is not None:
                    project.set_parameter_set(chosen, parameters)
                if schema_text is not None:
                    project.set_parameters_schema(schema_text)

            return do

        def do(project: Any) -> None:
            project.add_message("user" if count else "system", variant.text, count)
            project.set_template_option("required", required)
            project.set_template_option("optional", optional)
            texts(new, described)(project)

        def undo(project: Any) -> None:
            project.remove_message(count)
            project.set_template_option("required", list(options.required))
            project.set_template_option("optional", list(options.optional))
            texts(old, schema)(project)

        self._session.apply("template+parameters+schemas", f"Add {variant.title}", do, undo)
        self._current = count
        self._session.render_now()
        self._show_held()
        self._session.status.emit(f"Added “{shorten(variant.title, 40)}” as a message.")

    def switch(self) -> None:
        """Write the message that holds the class in the chosen language; undoable."""
        held, variant, index = self.held(), self.variant(), self._current
        if held is None or variant is None or held.component != variant.component:
            return
        before = self._session.snapshot().messages[index].content
        self._session.apply(
            "template",
            f"Language {variant.language}",
            lambda project: project.set_message(index, variant.text),
            lambda project: project.set_message(index, before),
        )
        self._session.render_now()
        self._show_held()


def _with_members(text: str, variant: PromptVariant) -> str:
    """Return the JSON text of a parameter set with a member for every placeholder that lacks one."""
    from workbench.engine.json_text import dumps, edits, parse_json
    from workbench.engine.templates import apply_fixes

    document = parse_json(text)
    for name in (*variant.required, *variant.optional):
        if not document.ok or not isinstance(document.value, dict) or name in document.value:
            continue
        value = "null" if name in variant.optional else '""'
        fix = edits.append(document, "", f"{dumps(name)}: {value}")
        if fix is not None:
            text = apply_fixes(text, [fix])
            document = parse_json(text)
    return text


def _with_descriptions(text: str, variant: PromptVariant) -> str:
    """Return the schema's text with the descriptions of the class, where it has none of its own."""
    from workbench.engine.json_text import parse_json
    from workbench.engine.projects.descriptions import describe, description_at
    from workbench.engine.templates import apply_fixes

    for name, words in variant.descriptions.items():
        document = parse_json(text)
        if not document.ok or description_at(document.value, [name]):
            continue
        fix = describe(document, [name], words)
        if fix is not None:
            text = apply_fixes(text, [fix])
    return text
