"""The two JSON Schemas of a project: of its parameters, and of what translation must give."""

from __future__ import annotations

from typing import Any, Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from workbench.engine.diagnostics import Diagnostic, Fix
from workbench.gui.editor import CodeEditor, FindBar, PygmentsHighlighter
from workbench.gui.panes.schema_watch import FileWatch
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_role
from workbench.gui.widgets.schema_example import SchemaExample
from workbench.gui.widgets.schema_hints import SchemaHints

Kind = Literal["parameters", "output"]
FILES = {"parameters": "parameters.schema.json", "output": "output.schema.json"}
_WORDS = {
    "parameters": "This project has no schema of its parameters. With one, every parameter set is checked while you type, and the form knows its fields.",
    "output": "This project has no output schema. Translation turns a request into a JSON value of this schema.",
}
_NEW = '{\n  "$schema": "https://json-schema.org/draft/2020-12/schema",\n  "type": "object",\n  "properties": {},\n  "required": []\n}\n'


class SchemaPane(QWidget):
    """One schema as text; it is checked as a schema on every pause, and when a file that it refers to changes."""

    def __init__(self, session: Session, kind: Kind, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self.kind = session, kind
        self._syncing = False
        self.editor = CodeEditor(name=f"{kind.capitalize()} schema")
        self.editor.indent_unit = "  "
        set_role(self.editor, "framed")
        PygmentsHighlighter(self.editor.document(), "json")
        self.find_bar = FindBar(self.editor)
        self._build()
        self._watched: tuple[Any, str] | None = None
        self.watch = FileWatch(self)
        self.watch.changed.connect(self._part_changed)
        self.editor.edited.connect(self._typed)
        self.editor.caret_changed.connect(self._caret_changed)
        self.editor.focused.connect(self._caret_changed)
        session.project_changed.connect(lambda: self._sync(fresh=True))
        session.edited.connect(lambda area: self._sync() if area == "schemas" else None)
        session.diagnostics_changed.connect(self._show_diagnostics)
        session.reveal.connect(self._on_reveal)
        session.fix_requested.connect(self._on_fix)
        session.settings.changed.connect(self._setting_changed)
        self.editor.set_wrap(session.settings.get("editor.wrap"))
        self.editor.show_line_numbers(session.settings.get("editor.line_numbers"))
        self._sync(fresh=True)

    def _build(self) -> None:
        empty = QWidget()
        column = QVBoxLayout(empty)
        column.setContentsMargins(16, 16, 16, 16)
        words = QLabel(_WORDS[self.kind])
        words.setWordWrap(True)
        set_role(words, "second")
        self.create_button = QPushButton("Write a schema")
        self.create_button.clicked.connect(lambda: self._write(_NEW))
        self.infer_button = QPushButton("Make one from this parameter set")
        self.infer_button.setVisible(self.kind == "parameters")
        self.infer_button.clicked.connect(self._infer)
        row = QHBoxLayout()
        row.addWidget(self.create_button)
        row.addWidget(self.infer_button)
        row.addStretch(1)
        column.addWidget(words)
        column.addLayout(row)
        column.addStretch(1)
        text = QWidget()
        stack = QVBoxLayout(text)
        stack.setContentsMargins(0, 0, 0, 0)
        stack.setSpacing(0)
        stack.addWidget(self.editor, 1)
        stack.addWidget(self.find_bar)
        self.hints = SchemaHints(self._session, FILES[self.kind])
        self.hints.setVisible(self.kind == "output")
        self.hints.chosen.connect(self._go_to_hint)
        stack.addWidget(self.hints)
        self.example = SchemaExample(FILES[self.kind])
        self.example.setVisible(self.kind == "output")
        stack.addWidget(self.example)
        # One at a time: where the pane is low, both would leave nothing of the schema to see.
        for one, other in ((self.hints, self.example), (self.example, self.hints)):
            one.toggle.toggled.connect(
                lambda shown, other=other: other.toggle.setChecked(False) if shown else None
            )
        self.pages = QStackedWidget()
        self.pages.addWidget(empty)
        self.pages.addWidget(text)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.pages)

    def _text(self) -> str | None:
        snapshot = self._session.snapshot()
        file = snapshot.parameters_schema if self.kind == "parameters" else snapshot.output_schema
        return None if file is None else file.text

    def _sync(self, fresh: bool = False) -> None:
        if self._syncing:
            return
        self._syncing = True
        try:
            text = self._text()
            self.pages.setCurrentIndex(0 if text is None else 1)
            if (text or "") != self.editor.raw_text():
                self.editor.set_text(text or "") if fresh else self.editor.follow_text(text or "")
        finally:
            self._syncing = False
        self.setEnabled(self._session.project is not None)
        self._show_diagnostics()

    def _setter(self, text: str | None) -> Any:
        name = "set_parameters_schema" if self.kind == "parameters" else "set_output_schema"
        return lambda project: getattr(project, name)(text)

    def _write(self, text: str) -> None:
        self._session.apply("schemas", f"Add {self.kind} schema", self._setter(text), self._setter(None))
        self.editor.setFocus()

    def _infer(self) -> None:
        rendering = self._session.rendering()
        value = rendering.parameters.value if rendering is not None and rendering.parameters.ok else {}
        self._write(inferred_text(value))

    def _typed(self) -> None:
        if not self._syncing:
            self._session.touch("schemas", ("schema", self.kind), self._pull)

    def _pull(self) -> None:
        if self._session.project is not None and self._text() is not None:
            self._setter(self.editor.raw_text())(self._session.project)

    def _show_diagnostics(self) -> None:
        file = FILES[self.kind]
        self.editor.set_diagnostics(d for d in self._session.diagnostics() if d.file == file)
        self._look_at_parts()
        if self.kind == "output":
            self._show_extras()

    def _show_extras(self, anew: bool = False) -> None:
        from workbench.engine.schemas import schema_files

        text = self.editor.raw_text()
        snapshot = self._session.snapshot()
        type_name = snapshot.translation.type_name
        self.example.show_for(text, schema_files(snapshot), type_name, anew=anew)
        self.hints.show_for(text, anew=anew)

    def _go_to_hint(self, hint: Diagnostic) -> None:
        if hint.file == FILES[self.kind] and hint.start is not None:
            self.editor.setFocus(Qt.FocusReason.OtherFocusReason)
            self.editor.go_to(hint.start, hint.end)

    # -- the files that the schema refers to ----------------------------------------------------------------

    def _look_at_parts(self, anew: bool = False) -> None:
        """Find out which files the schema refers to, and watch them."""
        snapshot, text, file = self._session.snapshot(), self.editor.raw_text(), FILES[self.kind]
        key = (snapshot.root, text)
        if key == self._watched and not anew:
            return
        self._watched = key
        from workbench.engine.schemas.files import refers_to_files

        if not refers_to_files(text):
            self._session.jobs.cancel(f"parts/{file}")
            self.watch.watch(None, ())
            return
        from workbench.engine.schemas import referenced_files, schema_files

        self._session.jobs.run_pool(
            referenced_files,
            text,
            file,
            schema_files(snapshot),
            on_done=lambda files: self.watch.watch(snapshot.root, files),
            on_error=lambda _error: self.watch.watch(None, ()),
            key=f"parts/{file}",
        )

    def _part_changed(self) -> None:
        self._look_at_parts(anew=True)
        self._session.render_now()
        if self.kind == "output":
            self._show_extras(anew=True)

    def _caret_changed(self) -> None:
        if self.editor.hasFocus():
            cursor = self.editor.textCursor()
            words = (
                f"{self.kind} schema, line {cursor.blockNumber() + 1}, column {cursor.positionInBlock() + 1}"
            )
            self._session.caret_words.emit(words)

    def _on_reveal(self, place: Place) -> None:
        if place.area == f"{self.kind}_schema":
            self.editor.setFocus(Qt.FocusReason.OtherFocusReason)
            if place.start is not None:
                self.editor.go_to(place.start, place.end)

    def _on_fix(self, place: Place, fix: Fix) -> None:
        if place.area == f"{self.kind}_schema":
            self.editor.edit_span(fix.start, fix.end, fix.replacement)

    def _setting_changed(self, key: str) -> None:
        if key == "editor.wrap":
            self.editor.set_wrap(self._session.settings.get(key))
        elif key == "editor.line_numbers":
            self.editor.show_line_numbers(self._session.settings.get(key))


def inferred_text(value: Any) -> str:
    """Return the text of a schema file for values like `value`."""
    from workbench.engine.json_text import dumps

    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **infer_schema(value)}
    return dumps(schema, indent=2) + "\n"


def infer_schema(value: Any, depth: int = 0) -> dict[str, Any]:
    """Return a schema that `value` fulfils: types, members and, for lists, what their first item is."""
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        return {"type": "integer"}
    if isinstance(value, float):
        return {"type": "number"}
    if isinstance(value, str):
        return {"type": "string"}
    if isinstance(value, list):
        return (
            {"type": "array", "items": infer_schema(value[0], depth + 1)}
            if value and depth < 50
            else {"type": "array"}
        )
    if isinstance(value, dict):
        if depth >= 50:
            return {"type": "object"}
        members = {key: infer_schema(item, depth + 1) for key, item in value.items()}
        return {"type": "object", "properties": members, "required": list(value)}
    return {}
