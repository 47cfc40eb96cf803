"""The options of the template in a small form; each change shows its effect in the preview at once."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates.options import DIALECTS, TemplateOptions
from workbench.engine.text import shorten
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
    _Switch("expand_parameters", "Fill inside parameters", "Strings of the parameters are filled once themselves"),
    _Switch("replace_keys", "Fill member names", "In an object graph, names of members are filled too"),
    _Switch("literal_escape", "Backslash makes literal", "A backslash before a placeholder keeps it as text"),
    _Switch("collapse_blank_lines", "Collapse blank lines", "Blank lines around dropped lines become one"),
)  # fmt: skip


MOST_EFFECTS = 6


def effects(rendering: Any, snapshot: ProjectSnapshot, name: str | None) -> list[tuple[str, str, str]]:
    """Return body, text without the options and text with them, for every placeholder that they change."""
    from workbench.engine.workflows import render_project

    plain = replace(
        snapshot.template,
        escape="none",
        null_text="",
        many="join",
        unresolved="keep",
        expand_parameters=False,
        replace_keys=False,
        collapse_blank_lines=False,
    )
    without = render_project(snapshot, name, options=plain, validate=False).placeholders
    texts = {(use.node, use.is_key, use.start): use.text for use in without}
    found: dict[tuple[str, str, str], None] = {}
    for use in rendering.placeholders:
        before = texts.get((use.node, use.is_key, use.start), use.body)
        if before != use.text:
            found[use.body, before, use.text] = None
    return list(found)


def _shown(text: str) -> str:
    short = html.escape(shorten(text.replace("\n", " ⏎ "), 60))
    return f"<code>{short}</code>" if text else "<i>nothing</i>"


class TemplateOptionsPane(QScrollArea):
    """Dialect, context name, escaper, null text and the rest; every change is undoable."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._filling = False
        self.refused = ""
        """Why the last change of the dialect was refused, with the place."""
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
        head = QLabel("Effect of the options")
        set_role(head, "title")
        head.setToolTip("The values that are put in otherwise than without these options")
        column.addWidget(head)
        self.effect = QLabel()
        self.effect.setWordWrap(True)
        self.effect.setFont(small_font())
        self.effect.setAccessibleName("Effect of the options")
        self.effect.setTextFormat(Qt.TextFormat.RichText)
        set_role(self.effect, "plain")
        column.addWidget(self.effect)
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
            (name, f"{name}  {_DIALECT_WORDS[name]}") for name in DIALECTS
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
        if key == "context_name" and (not value or any(mark in value for mark in (".", "[%", "%]"))):
            self._session.status.emit("A context name is not empty and has neither a dot nor a mark in it.")
            self.refresh()
            return
        self._session.apply(
            "template",
            f"Option {key.replace('_', ' ')}",
            lambda project: project.set_template_option(key, value),
            lambda project: project.set_template_option(key, before),
        )

    def set_dialect(self, target: str) -> None:
        """Write all messages and the graph in another dialect, without loss; where that cannot be, say where."""
        if self._filling:
            return
        from workbench.engine.json_text import parse_json
        from workbench.engine.templates import (
            ConversionError,
            GraphText,
            convert_graph,
            convert_template,
            converted_options,
            template_names,
        )

        snapshot = self._session.snapshot()
        options = snapshot.template
        if target == options.dialect:
            return
        rendering = self._session.rendering()
        value = rendering.parameters.value if rendering is not None else None
        names = template_names(value, options)
        old = [message.content for message in snapshot.messages]
        new: list[str] = []
        place, title = Place("graph"), "The object graph"
        old_graph = snapshot.graph.text if snapshot.graph is not None else None
        new_graph = None
        try:
            if old_graph is not None:
                graph = GraphText(parse_json(old_graph))
                new_graph = convert_graph(graph, options, target, names=names)  # type: ignore[arg-type]
            for index, text in enumerate(old):
                place, title = Place("message", str(index)), f"The message {message_title(snapshot, index)}"
                new.append(convert_template(text, options, target, names=names))  # type: ignore[arg-type]
        except ConversionError as error:
            self.refresh()
            self._refuse(place, title, error)
            return
        goal = converted_options(options, target)  # type: ignore[arg-type]

        def change(to: TemplateOptions, texts: list[str], graph_text: str | None) -> Any:
            def do(project: Any) -> None:
                project.set_template_option("dialect", to.dialect)
                for key in ("required", "optional"):
                    if getattr(options, key) != getattr(goal, key):
                        project.set_template_option(key, list(getattr(to, key)))
                for i, text in enumerate(texts):
                    project.set_message(i, text)
                if graph_text is not None:
                    project.set_graph(graph_text)

            return do

        self._session.apply(
            "template", f"Dialect {target}", change(goal, new, new_graph), change(options, old, old_graph)
        )

    def _refuse(self, place: Place, title: str, error: Any) -> None:
        self.refused = f"{title} cannot be written in that dialect without loss: {error}"
        self.note.setText(self.refused)
        set_role(self.note, "error")
        self._session.status.emit(self.refused)
        found = next((d for d in error.diagnostics if d.start is not None), None)
        if found is not None:
            self._session.go_to(replace(place, start=found.start, end=found.end))

    # -- effect -----------------------------------------------------------------------------------------

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        rendering = self._session.rendering()
        if rendering is not None:
            self._say_effect(rendering)

    def _say_effect(self, rendering: Any) -> None:
        if not self.isVisible():
            return
        uses = rendering.placeholders
        counts = {s: sum(use.status == s for use in uses) for s in ("resolved", "empty", "kept")}
        if self.refused:
            self.refused = ""
            set_role(self.note, "second")
        self.note.setText(
            f"{len(uses)} placeholders: {counts['resolved']} filled, {counts['empty']} empty, "
            f"{counts['kept']} without a value."
        )
        snapshot, name = self._session.snapshot(), self._session.parameter_set
        self._session.jobs.run_pool(
            lambda: effects(rendering, snapshot, name),
            on_done=self._show_effects,
            on_error=lambda error: self._session.status.emit(str(error)),
            key="render/options",
        )

    def _show_effects(self, found: list[tuple[str, str, str]]) -> None:
        lines = [
            f"<tr><td><b>{html.escape(shorten(body, 40))}</b></td></tr>"
            f"<tr><td>{_shown(before)} → {_shown(after)}</td></tr>"
            for body, before, after in found[:MOST_EFFECTS]
        ]
        more = len(found) - MOST_EFFECTS
        self.effect.setText(
            f"<table>{''.join(lines)}</table>" + (f"and {more} more" if more > 0 else "")
            if found
            else "These options change no value at the moment."
        )

    def _on_reveal(self, place: Place) -> None:
        if place.area == "template_options":
            self.dialect.setFocus()
