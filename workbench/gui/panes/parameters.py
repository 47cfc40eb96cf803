"""The parameter sets: each as JSON text, and as a form over the same text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QMenu,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Fix
from workbench.gui.editor import CodeEditor, FindBar, PygmentsHighlighter
from workbench.gui.panes.parameter_form import ParameterForm
from workbench.gui.shell.places import Place, place_of
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon, set_role

if TYPE_CHECKING:
    from workbench.engine.json_text import JsonDocument
    from workbench.engine.workflows import ProjectRendering


class ParametersPane(QWidget):
    """The chosen parameter set. Every set has its own editor, so that each keeps its undo stack."""

    title_changed = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._syncing = False
        self._read: JsonDocument | None = None
        self.editors: dict[str, CodeEditor] = {}
        self._build()
        session.project_changed.connect(self._reload)
        session.edited.connect(self._on_edited)
        session.parameter_set_changed.connect(lambda _name: self._sync())
        session.rendered.connect(self._show_rendering)
        session.diagnostics_changed.connect(self._show_diagnostics)
        session.reveal.connect(self._on_reveal)
        session.caret_moved.connect(self._on_caret_elsewhere)
        session.fix_requested.connect(self._on_fix)
        session.settings.changed.connect(self._setting_changed)
        self._reload()

    def _build(self) -> None:
        self.view_buttons: dict[str, QToolButton] = {}
        for view, icon_name, tip in (
            ("json", "braces", "Show the JSON text"),
            ("form", "form", "Show a form"),
        ):
            button = QToolButton()
            set_icon(button, icon_name)
            button.setCheckable(True)
            button.setToolTip(tip)
            button.setAccessibleName(tip)
            button.clicked.connect(lambda _checked=False, view=view: self.show_view(view))
            self.view_buttons[view] = button
        self.view_buttons["json"].setChecked(True)
        self.set_menu_button = QToolButton()
        set_icon(self.set_menu_button, "more", "second")
        self.set_menu_button.setToolTip("Add, duplicate, rename or delete a parameter set")
        self.set_menu_button.setAccessibleName("Parameter sets")
        self.set_menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.set_menu_button)
        menu.addAction("New set…", self.ask_new)
        menu.addAction("Duplicate this set…", self.ask_duplicate)
        menu.addAction("Rename this set…", self.ask_rename)
        menu.addSeparator()
        menu.addAction("Delete this set", self.delete_set)
        self.set_menu_button.setMenu(menu)
        self.corner = QWidget()
        row = QHBoxLayout(self.corner)
        row.setContentsMargins(0, 2, 4, 2)
        row.setSpacing(4)
        for button in self.view_buttons.values():
            row.addWidget(button)
        row.addWidget(self.set_menu_button)
        set_role(self.corner, "plain")
        self._editors = QStackedWidget()
        self._empty = QWidget()
        empty = QVBoxLayout(self._empty)
        empty.setContentsMargins(16, 16, 16, 16)
        words = QLabel(
            "This project has no parameter set. A set is one JSON value that fills the placeholders."
        )
        words.setWordWrap(True)
        set_role(words, "second")
        self.new_button = QPushButton("New parameter set…")
        self.new_button.clicked.connect(self.ask_new)
        empty.addWidget(words)
        empty.addWidget(self.new_button, 0, Qt.AlignmentFlag.AlignLeft)
        empty.addStretch(1)
        self._editors.addWidget(self._empty)
        self.find_bar = FindBar()
        self.form = ParameterForm(self._form_edit)
        text_page = QWidget()
        column = QVBoxLayout(text_page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._editors, 1)
        column.addWidget(self.find_bar)
        self.views = QStackedWidget()
        self.views.addWidget(text_page)
        self.views.addWidget(self.form)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.views)

    def _make_editor(self, name: str) -> CodeEditor:
        editor = CodeEditor(name=f"Parameters {name}")
        editor.indent_unit = "  "
        set_role(editor, "framed")
        editor.set_wrap(self._session.settings.get("editor.wrap"))
        editor.show_line_numbers(self._session.settings.get("editor.line_numbers"))
        PygmentsHighlighter(editor.document(), "json")
        editor.edited.connect(lambda: self._typed(editor))
        editor.caret_changed.connect(lambda: self._caret_changed(editor))
        editor.focused.connect(lambda: self._caret_changed(editor))
        self._editors.addWidget(editor)
        return editor

    # -- from the project -----------------------------------------------------------------------------

    def _reload(self) -> None:
        for editor in self.editors.values():
            self._drop(editor)
        self.editors.clear()
        self._sync(fresh=True)
        self.setEnabled(self._session.project is not None)

    def _on_edited(self, area: str) -> None:
        if area in ("parameters", "schemas"):
            self._sync()

    def _sync(self, fresh: bool = False) -> None:
        if self._syncing:
            return
        self._syncing = True
        try:
            sets = self._session.snapshot().parameter_sets
            for name in [name for name in self.editors if name not in sets]:
                self._drop(self.editors.pop(name))
            for name, text in sets.items():
                # The editor of a set that nobody looks at yet is made when it is needed.
                if name not in self.editors and name != self._session.parameter_set:
                    continue
                if name not in self.editors:
                    self.editors[name] = self._make_editor(name)
                    self.editors[name].set_text(text.text)
                elif self.editors[name].raw_text() != text.text:
                    editor = self.editors[name]
                    editor.set_text(text.text) if fresh else editor.follow_text(text.text)
        finally:
            self._syncing = False
        chosen = self.editor()
        self._editors.setCurrentWidget(chosen if chosen is not None else self._empty)
        self.title_changed.emit(self._session.parameter_set or "")
        self._show_diagnostics()
        self._fill_form()

    def _drop(self, editor: CodeEditor) -> None:
        self._editors.removeWidget(editor)
        editor.hide()
        editor.deleteLater()

    def editor(self) -> CodeEditor | None:
        """Return the editor of the chosen set."""
        return self.editors.get(self._session.parameter_set or "")

    # -- edits ----------------------------------------------------------------------------------------

    def _name_of(self, editor: CodeEditor) -> str | None:
        return next((name for name, each in self.editors.items() if each is editor), None)

    def _typed(self, editor: CodeEditor) -> None:
        if not self._syncing and self._name_of(editor) is not None:
            self._session.touch("parameters", ("parameters", id(editor)), partial(self._pull, editor))

    def _pull(self, editor: CodeEditor) -> None:
        name = self._name_of(editor)
        if name is not None and self._session.project is not None:
            self._session.project.set_parameter_set(name, editor.raw_text())

    def add_set(self, name: str, text: str = "{}\n") -> None:
        """Add a parameter set and choose it; undoable."""
        before = self._session.parameter_set

        def undo(project: Any) -> None:
            project.remove_parameter_set(name)
            if self._session.parameter_set == name:
                self._session.parameter_set = before
                self._session.parameter_set_changed.emit(before or "")

        self._session.apply(
            "parameters", f"Add set {name}", lambda project: project.add_parameter_set(name, text), undo
        )
        self._session.set_parameter_set(name)

    def rename_set(self, old: str, new: str) -> None:
        """Rename a parameter set; undoable."""

        def change(source: str, target: str) -> Any:
            def do(project: Any) -> None:
                project.rename_parameter_set(source, target)
                if source in self.editors:
                    self.editors[target] = self.editors.pop(source)
                if self._session.parameter_set == source:
                    self._session.parameter_set = target
                    self._session.parameter_set_changed.emit(target)

            return do

        self._session.apply("parameters", f"Rename set {old}", change(old, new), change(new, old))

    def delete_set(self, name: str | None = None) -> None:
        """Delete a parameter set (the chosen one when none is named); undoable."""
        target = name if name is not None else self._session.parameter_set
        sets = self._session.snapshot().parameter_sets
        if target is None or target not in sets:
            return
        text = sets[target]

        def do(project: Any) -> None:
            project.remove_parameter_set(target)
            if self._session.parameter_set == target:
                self._session.parameter_set = project.snapshot().default_parameter_set()
                self._session.parameter_set_changed.emit(self._session.parameter_set or "")

        def undo(project: Any) -> None:
            project.add_parameter_set(target, text)
            if self._session.parameter_set is None:
                self._session.parameter_set = target
                self._session.parameter_set_changed.emit(target)

        self._session.apply("parameters", f"Delete set {target}", do, undo)

    def ask_new(self) -> None:
        """Ask for a name and add an empty set."""
        if (name := self._ask_name("New parameter set", "")) is not None:
            self.add_set(name)

    def ask_duplicate(self) -> None:
        """Ask for a name and add a copy of the chosen set."""
        chosen = self._session.parameter_set
        sets = self._session.snapshot().parameter_sets
        if (
            chosen in sets
            and (name := self._ask_name("Duplicate parameter set", f"{chosen}-copy")) is not None
        ):
            self.add_set(name, sets[chosen].text)

    def ask_rename(self) -> None:
        """Ask for another name of the chosen set."""
        chosen = self._session.parameter_set
        if chosen is not None and (name := self._ask_name("Rename parameter set", chosen)) not in (
            None,
            chosen,
        ):
            self.rename_set(chosen, str(name))

    def _ask_name(self, title: str, proposal: str) -> str | None:
        taken = self._session.snapshot().parameter_sets
        prompt = "Name (letters, digits, “-” and “_”):"
        while True:
            name, done = QInputDialog.getText(self, title, prompt, text=proposal)
            name = name.strip()
            if not done or not name:
                return None
            if name == proposal and name in taken:
                return name
            problem = set_name_problem(name, taken)
            if problem is None:
                return name
            prompt, proposal = f"{problem}\nAnother name:", name

    # -- from the engine --------------------------------------------------------------------------------

    def _show_rendering(self, _rendering: ProjectRendering) -> None:
        self._fill_form()
        # A value that grew or shrank has another span now, and only now is it known.
        if (editor := self.editor()) is not None:
            self._caret_changed(editor)

    def _show_diagnostics(self) -> None:
        chosen, snapshot = self._session.parameter_set, self._session.snapshot()
        found: dict[str, list[Any]] = {name: [] for name in self.editors}
        for each in self._session.diagnostics():
            place = place_of(each, snapshot, chosen)
            if (
                place is not None
                and place.area == "parameters"
                and place.name in found
                and each.severity != "info"
            ):
                found[place.name].append(each)
        for name, diagnostics in found.items():
            self.editors[name].set_diagnostics(diagnostics)
        self.form.set_diagnostics(found.get(chosen or "", []))

    # -- the form -------------------------------------------------------------------------------------------

    def show_view(self, name: str) -> None:
        """Show the set as `json` or as a `form`."""
        self.views.setCurrentIndex(1 if name == "form" else 0)
        for view, button in self.view_buttons.items():
            button.setChecked(view == name)
        self._fill_form()

    def _fill_form(self) -> None:
        if self.views.currentIndex() != 1:
            return
        rendering, snapshot = self._session.rendering(), self._session.snapshot()
        schema: Any = None
        if snapshot.parameters_schema is not None:
            from workbench.engine.json_text import parse_json
            from workbench.engine.schemas import bundled_text, schema_files

            text = snapshot.parameters_schema.text
            document = parse_json(bundled_text(text, "parameters.schema.json", schema_files(snapshot)))
            schema = document.value if document.ok else None
        if rendering is not None and rendering.parameter_set == self._session.parameter_set:
            self.form.fill(self._present(rendering), schema)

    def _present(self, rendering: ProjectRendering) -> JsonDocument:
        """Return the chosen set as its editor holds it: what was rendered may be some keys behind."""
        from workbench.engine.json_text import parse_json

        editor = self.editor()
        text = rendering.parameters.text if editor is None else editor.raw_text()
        if text == rendering.parameters.text:
            return rendering.parameters
        if self._read is None or self._read.text != text:
            self._read = parse_json(text)
        return self._read

    def _form_edit(self, start: int, end: int, replacement: str) -> None:
        editor = self.editor()
        if editor is not None:
            editor.edit_span(start, end, replacement)
            # A long prompt is filled in the background, but the project has the text at once and tells it: the next
            # key meets the places of the new text.
            self._session.render_now()

    # -- caret ------------------------------------------------------------------------------------------

    def _caret_changed(self, editor: CodeEditor) -> None:
        name = self._name_of(editor)
        if self._syncing or name is None or not editor.hasFocus():
            return
        cursor = editor.textCursor()
        words = f"{name}, line {cursor.blockNumber() + 1}, column {cursor.positionInBlock() + 1}"
        self._session.caret_words.emit(words)
        rendering = self._session.rendering()
        if rendering is None or not editor.text_is_read() or rendering.parameters.text != editor.raw_text():
            return
        pointer = rendering.parameters.pointer_at(editor.caret())
        span = rendering.parameters.span(pointer) if pointer else None
        editor.set_outline(*([span] if span is not None and span[1] - span[0] < 400 else []))
        self._session.caret_moved.emit(Place("parameters", name, *(span or (None, None)), pointer))

    def _on_caret_elsewhere(self, place: Place) -> None:
        editor, rendering = self.editor(), self._session.rendering()
        if place.area == "parameters" or editor is None:
            return
        span = None
        if place.pointer and rendering is not None and rendering.parameters.text == editor.raw_text():
            span = rendering.parameters.span(place.pointer)
        editor.set_outline(*([span] if span is not None and span[1] - span[0] < 400 else []))

    def _on_reveal(self, place: Place) -> None:
        if place.area != "parameters":
            return
        if place.name:
            self._session.set_parameter_set(place.name)
        self.show_view("json")
        editor = self.editor()
        if editor is None:
            return
        start, end = place.start, place.end
        rendering = self._session.rendering()
        if start is None and place.pointer and rendering is not None:
            start, end = rendering.parameters.span(place.pointer) or (None, None)
        editor.setFocus(Qt.FocusReason.OtherFocusReason)
        if start is not None:
            editor.go_to(start, end)

    def _on_fix(self, place: Place, fix: Fix) -> None:
        if place.area == "parameters" and place.name in self.editors:
            self.editors[place.name].edit_span(fix.start, fix.end, fix.replacement)

    def _setting_changed(self, key: str) -> None:
        for editor in self.editors.values():
            if key == "editor.wrap":
                editor.set_wrap(self._session.settings.get(key))
            elif key == "editor.line_numbers":
                editor.show_line_numbers(self._session.settings.get(key))


def set_name_problem(name: str, taken: Any) -> str | None:
    """Return why `name` cannot name a parameter set (it becomes a file name), or `None`."""
    if not name or name.startswith(".") or any(c in name for c in '/\\:*?"<>|\0') or name.strip() != name:
        return "A set's name is a file name: no slash, no leading dot, none of : * ? \" < > |"
    if len(name.encode("utf-8", "replace")) > 200:
        return "That name is too long for a file."
    folded = name.casefold()
    if any(folded == each.casefold() for each in taken):
        return f"There is a set named {name} already."
    return None
