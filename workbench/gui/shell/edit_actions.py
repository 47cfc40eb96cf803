"""What the Edit menu does to the editor with the caret: undo, find, quick fix, extract, rename."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QInputDialog, QMenu, QWidget

from workbench.engine.diagnostics import Diagnostic, Fix
from workbench.engine.json_text import edits as json_edits
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.text import shorten
from workbench.gui.editor import CodeEditor, FindBar
from workbench.gui.models.figures import counted
from workbench.gui.panes.data_tabs import DataTabs
from workbench.gui.panes.template import TemplatePane
from workbench.gui.shell.places import Place, place_of
from workbench.gui.shell.session import Session

if TYPE_CHECKING:
    from workbench.engine.projects.renaming import Renaming
    from workbench.gui.panes.problems import ProblemsPane

# What would mend a problem: the words for it, and the action.
Mendings = list[tuple[str, Callable[[], None]]]


class EditActions:
    """Finds out which editor is meant and acts on it."""

    def __init__(self, window: QWidget, session: Session, template: TemplatePane, data: DataTabs) -> None:
        self._window, self._session = window, session
        self._template, self._data = template, data
        self._last: CodeEditor | None = None
        self._connected = True
        QApplication.instance().focusChanged.connect(self._focus_changed)

    def close(self) -> None:
        """Let go of the application's focus signal."""
        if self._connected:
            self._connected = False
            QApplication.instance().focusChanged.disconnect(self._focus_changed)

    def _focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        if isinstance(now, CodeEditor):
            self._last = now
            now.destroyed.connect(self._forget)

    def _forget(self) -> None:
        self._last = None

    def editor(self) -> CodeEditor | None:
        """Return the editor that has, or had last, the keyboard."""
        focus = QApplication.focusWidget()
        if isinstance(focus, CodeEditor):
            return focus
        return self._last if self._last is not None else self._template.current_editor()

    # -- undo, clipboard --------------------------------------------------------------------------------

    def undo(self) -> None:
        """Undo in the focused text, else the last change of the project.

        What the project did to several texts at once is undone at once, whichever of them has the keyboard.
        """
        focus = QApplication.focusWidget()
        if isinstance(focus, CodeEditor):
            self._session.undo_in(focus)
        elif focus is None or not _call(focus, "undo"):
            self._session.undo_stack.undo()

    def redo(self) -> None:
        """Redo in the focused text, else the last undone change of the project."""
        focus = QApplication.focusWidget()
        if isinstance(focus, CodeEditor):
            self._session.redo_in(focus)
        elif focus is None or not _call(focus, "redo"):
            self._session.undo_stack.redo()

    def clipboard(self, method: str) -> Callable[[], None]:
        """Return the action `cut`, `copy`, `paste` or `selectAll` on whatever has the keyboard."""

        def act() -> None:
            focus = QApplication.focusWidget()
            if focus is not None:
                _call(focus, method)

        return act

    # -- find --------------------------------------------------------------------------------------------

    def _find_bar(self) -> tuple[FindBar, CodeEditor] | None:
        editor = self.editor()
        for owner in (self._template, self._data):
            found = owner.find_bar()
            if found is not None and editor is not None and owner.isAncestorOf(editor):
                return found[0], editor
        return self._template.find_bar()

    def find(self, replace: bool) -> None:
        """Open the find bar of the editor."""
        if (found := self._find_bar()) is not None:
            found[0].open(found[1], replace)

    def find_step(self, direction: int) -> None:
        """Go to the next or the previous match."""
        if (found := self._find_bar()) is not None:
            if not found[0].needle.text():
                found[0].open(found[1])
            else:
                found[0].editor = found[1]
                found[0].step(direction)

    # -- placeholders ---------------------------------------------------------------------------------------

    def complete(self) -> None:
        """Offer completions at the caret."""
        editor = self.editor()
        if editor is not None:
            editor.complete()

    def quick_fix(self) -> None:
        """Mend the problem that is chosen in the list, where that has the keyboard, else the one at the caret."""
        listed = _problems_around(QApplication.focusWidget())
        if listed is not None:
            diagnostic = listed.chosen()
            if diagnostic is not None:
                self._offer(self.fixes_of(diagnostic), listed.view, listed.menu_point(), "this problem")
            return
        editor = self.editor()
        if editor is not None:
            point = editor.cursorRect().bottomLeft()
            self._offer(self.fixes_at_caret(editor), editor, point, "the text at the caret")

    def _offer(self, fixes: Mendings, widget: QAbstractScrollArea, point: QPoint, subject: str) -> None:
        """Do the one thing that mends, or let the user choose from several."""
        if not fixes:
            self._session.status.emit(f"There is no quick fix for {subject}.")
        elif len(fixes) == 1:
            title, act = fixes[0]
            self._session.status.emit(f"Done: {title}.")  # before it: what is not done says so itself
            act()
        else:
            menu = QMenu(widget)
            for title, act in fixes:
                menu.addAction(title, act)
            menu.exec(widget.viewport().mapToGlobal(point))
            menu.deleteLater()

    def fixes_of(self, diagnostic: Diagnostic) -> Mendings:
        """Return title and action of everything that would mend a problem, wherever the caret is."""
        session = self._session
        place = place_of(diagnostic, session.snapshot(), session.parameter_set)
        if place is None:
            return []
        fixes: Mendings = [(fix.title, partial(session.request_fix, place, fix)) for fix in diagnostic.fixes]
        editor = self._editor_of(place)
        if editor is not None and place.start is not None:
            self._add_missing(fixes, diagnostic.fixes, self._use_at(editor, place.start))
        return fixes

    def _editor_of(self, place: Place) -> CodeEditor | None:
        """Return the editor of a message or of the graph."""
        if place.area == "graph":
            return self._template.graph_editor
        if place.area == "message" and int(place.name) < len(self._template.cards):
            return self._template.cards[int(place.name)].editor
        return None

    def fixes_at_caret(self, editor: CodeEditor) -> Mendings:
        """Return title and action of everything that would mend the problem at the caret."""
        caret = editor.caret()
        found = [fix for each in editor.diagnostics_at(caret) for fix in each.fixes]
        fixes: Mendings = [
            (fix.title, partial(editor.edit_span, fix.start, fix.end, fix.replacement)) for fix in found
        ]
        self._add_missing(fixes, found, self._use_at(editor, caret))
        return fixes

    def _add_missing(self, mendings: Mendings, fixes: Sequence[Fix], use: Any | None) -> None:
        """Offer, among what is made of `fixes`, the parameter that a placeholder asks for and nobody gives."""
        addition = self._missing_member(use) if use is not None and use.status == "kept" else None
        if addition is not None:
            mendings.insert(_before_literal(fixes), addition)

    def _missing_member(self, use: Any) -> tuple[str, Callable[[], None]] | None:
        """Return the action that adds the parameter which a placeholder asks for, where that can be done."""
        from workbench.engine.templates import missing_member

        rendering = self._session.rendering()
        parameters = self._data.parameters.editor()
        if rendering is None or parameters is None or rendering.parameters.text != parameters.raw_text():
            return None
        found = missing_member(use.body, rendering.parameters.value, self._session.snapshot().template)
        if found is None:
            return None
        owner, text, name = found
        fix = json_edits.append(rendering.parameters, owner, text)
        if fix is None:
            return None

        def act() -> None:
            parameters.edit_span(fix.start, fix.end, fix.replacement)
            self._session.render_now()

        return f"Add “{name}” to {self._session.parameter_set}", act

    def extract(self, name: str | None = None) -> None:
        """Turn the selection into a parameter of the chosen set and put its placeholder in the text; undoable."""
        editor = self._template.current_editor()
        if editor is None:
            return
        start, end = editor.selection()
        if start == end:
            self._session.status.emit("Select the text that shall become a parameter.")
            return
        self._session.render_now()
        snapshot, chosen_set = self._session.snapshot(), self._session.parameter_set
        document = self._parameters(snapshot, chosen_set)
        if document is None or not isinstance(document.value, dict):
            self._session.status.emit("The parameters must be a JSON object first.")
            return
        if name is None:
            name = self._ask_extracted(editor.raw_text()[start:end])
            if name is None:
                return
        from workbench.engine.json_text import dumps, parse_json
        from workbench.engine.templates import GraphText, apply_fixes, extract_in_graph, extract_parameter

        in_graph = editor is self._template.graph_editor
        text, options, names = editor.raw_text(), snapshot.template, set(document.value)
        try:
            if in_graph:
                made = extract_in_graph(
                    GraphText(parse_json(text)), start, end, name.strip(), options, names=names
                )
            else:
                made = extract_parameter(text, start, end, name.strip(), options, names=names)
        except ValueError as error:
            self._session.status.emit(str(error))
            return
        fix = json_edits.append(document, "", f"{dumps(made.name)}: {dumps(made.value)}")
        if fix is None or chosen_set is None:
            return
        old = document.text
        new = apply_fixes(old, [fix])
        index = self._template.current_index()

        def change(template: str, parameters: str) -> Callable[[Any], None]:
            def do(project: Any) -> None:
                project.set_graph(template) if in_graph else project.set_message(index, template)
                project.set_parameter_set(chosen_set, parameters)

            return do

        self._session.apply(
            "template+parameters", f"Extract {made.name}", change(made.text, new), change(text, old)
        )
        self._session.render_now()

    def _parameters(self, snapshot: ProjectSnapshot, name: str | None) -> Any | None:
        from workbench.engine.json_text import parse_json

        text = snapshot.parameter_sets.get(name) if name is not None else None
        document = parse_json(text.text) if text is not None else None
        return document if document is not None and document.ok else None

    def _ask_extracted(self, chosen: str) -> str | None:
        proposal = "_".join(re.findall(r"[a-z0-9]+", chosen.casefold())[:3]) or "value"
        name, done = QInputDialog.getText(
            self._window, "Extract to a parameter", f"Name for “{shorten(chosen, 40)}”:", text=proposal
        )
        return name if done else None

    def rename_parameter(self, new_name: str | None = None, pointer: str | None = None) -> None:
        """Rename the parameter at the caret (or at `pointer`) in all templates, all sets and the schema; undoable."""
        from workbench.engine.json_text import split_pointer
        from workbench.engine.projects.renaming import rename_parameter

        rendering = self._session.rendering()
        pointer = pointer if pointer is not None else self._pointer_at_caret()
        if rendering is None or not pointer or rendering.parameters.key_span(pointer) is None:
            self._session.status.emit("Put the caret on a placeholder or on a member of the parameters.")
            return
        old = split_pointer(pointer)[-1]
        if new_name is None:
            new_name, done = QInputDialog.getText(
                self._window, "Rename parameter", f"New name of {old}:", text=old
            )
            if not done:
                return
        new_name = new_name.strip()
        if not new_name or new_name == old:
            return
        snapshot = self._session.snapshot()
        try:
            renamed = rename_parameter(snapshot, pointer, new_name)
        except ValueError as error:
            self._session.status.emit(f"Not renamed: {error}")
            return
        self._session.apply(
            "template+parameters+schemas",
            f"Rename {old}",
            partial(_put_renaming, renamed),
            partial(_put_renaming, _before(renamed, snapshot)),
        )
        self._session.render_now()
        words = f"Renamed {old} to {new_name}: {counted(len(renamed.parameter_sets), 'set')}"
        words += f" and {counted(renamed.placeholders, 'placeholder')}."
        if renamed.unread:
            words += f" Not in {', '.join(renamed.unread)}: no JSON."
        self._session.status.emit(words)

    def _pointer_at_caret(self) -> str | None:
        editor, rendering = self.editor(), self._session.rendering()
        if editor is None or rendering is None:
            return None
        if editor is self._data.parameters.editor():
            pointer: str | None = rendering.parameters.pointer_at(editor.caret())
            return pointer
        use = self._use_at(editor, editor.caret())
        return use.pointer if use is not None else None

    def _use_at(self, editor: CodeEditor, caret: int) -> Any | None:
        """Return the placeholder at an offset of a message or of the graph."""
        rendering = self._session.rendering()
        if editor is self._template.graph_editor:
            found = self._template.graph.use_at(caret)
            return found[2] if found is not None else None
        for index, card in enumerate(self._template.cards):
            if card.editor is editor and rendering is not None and index < len(rendering.messages):
                uses = rendering.messages[index].placeholders
                return next((use for use in uses if use.start <= caret <= use.end), None)
        return None

    def go_to(self, place: Place) -> None:
        """Show a place."""
        self._session.go_to(place)


def _before_literal(fixes: Sequence[Fix]) -> int:
    """Return where a better mending belongs among `fixes`: a placeholder is seldom meant as text, so that is last."""
    return next((at for at, fix in enumerate(fixes) if set(fix.replacement) == {"\\"}), len(fixes))


def _problems_around(widget: QWidget | None) -> ProblemsPane | None:
    """Return the list of problems that a widget is part of."""
    from workbench.gui.panes.problems import ProblemsPane

    while widget is not None and not isinstance(widget, ProblemsPane):
        widget = widget.parentWidget()
    return widget


def _call(widget: QWidget, method: str) -> bool:
    function = getattr(widget, method, None)
    if not callable(function):
        return False
    function()
    return True


def _put_renaming(renamed: Renaming, project: Any) -> None:
    """Write the texts of a renaming into the project."""
    for index, text in renamed.messages.items():
        project.set_message(index, text)
    for name, text in renamed.parameter_sets.items():
        project.set_parameter_set(name, text)
    if renamed.graph is not None:
        project.set_graph(renamed.graph)
    if renamed.parameters_schema is not None:
        project.set_parameters_schema(renamed.parameters_schema)
    for key, names in (("required", renamed.required), ("optional", renamed.optional)):
        if names is not None:
            project.set_template_option(key, list(names))


def _before(renamed: Renaming, snapshot: ProjectSnapshot) -> Renaming:
    """Return what takes a renaming back."""
    schema, graph = snapshot.parameters_schema, snapshot.graph
    return replace(
        renamed,
        messages={index: snapshot.messages[index].content for index in renamed.messages},
        parameter_sets={name: snapshot.parameter_sets[name].text for name in renamed.parameter_sets},
        graph=graph.text if graph is not None and renamed.graph is not None else None,
        parameters_schema=schema.text
        if schema is not None and renamed.parameters_schema is not None
        else None,
        required=None if renamed.required is None else snapshot.template.required,
        optional=None if renamed.optional is None else snapshot.template.optional,
    )
