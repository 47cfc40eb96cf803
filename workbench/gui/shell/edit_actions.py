"""What the Edit menu does to the editor with the caret: undo, find, quick fix, extract, rename."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QApplication, QInputDialog, QMenu, QWidget

from workbench.engine.text import shorten
from workbench.gui.editor import CodeEditor, FindBar
from workbench.gui.panes.data_tabs import DataTabs
from workbench.gui.panes.template import TemplatePane
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session


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
        """Undo in the focused text, else the last change of the project."""
        focus = QApplication.focusWidget()
        if isinstance(focus, CodeEditor) and focus.document().isUndoAvailable():
            focus.undo()
        elif focus is not None and not isinstance(focus, CodeEditor) and _call(focus, "undo"):
            return
        else:
            self._session.undo_stack.undo()

    def redo(self) -> None:
        """Redo in the focused text, else the last undone change of the project."""
        focus = QApplication.focusWidget()
        if isinstance(focus, CodeEditor) and focus.document().isRedoAvailable():
            focus.redo()
        elif focus is not None and not isinstance(focus, CodeEditor) and _call(focus, "redo"):
            return
        else:
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
        """Mend the problem at the caret; of several fixes the user chooses."""
        editor = self.editor()
        if editor is None:
            return
        fixes = [fix for each in editor.diagnostics_at(editor.caret()) for fix in each.fixes]
        if not fixes:
            self._session.status.emit("No quick fix here.")
        elif len(fixes) == 1:
            editor.edit_span(fixes[0].start, fixes[0].end, fixes[0].replacement)
        else:
            menu = QMenu(editor)
            for fix in fixes:
                menu.addAction(
                    fix.title, lambda fix=fix: editor.edit_span(fix.start, fix.end, fix.replacement)
                )
            menu.exec(editor.viewport().mapToGlobal(editor.cursorRect().bottomLeft()))

    def extract(self, name: str | None = None) -> None:
        """Turn the selection into a parameter of the chosen set and put its placeholder in the text."""
        editor = self._template.current_editor()
        if editor is None or editor is self._template.graph_editor:
            return
        start, end = editor.selection()
        if start == end:
            self._session.status.emit("Select the text that shall become a parameter.")
            return
        rendering = self._session.rendering()
        value = rendering.parameters.value if rendering is not None else None
        if rendering is None or not isinstance(value, dict):
            self._session.status.emit("The parameters must be a JSON object first.")
            return
        chosen = editor.raw_text()[start:end]
        if name is None:
            proposal = "_".join(re.findall(r"[a-z0-9]+", chosen.casefold())[:3]) or "value"
            name, done = QInputDialog.getText(
                self._window, "Extract to a parameter", f"Name for “{shorten(chosen, 40)}”:", text=proposal
            )
            if not done:
                return
        from workbench.engine.templates import extract_parameter

        options = self._session.snapshot().template
        try:
            made = extract_parameter(editor.raw_text(), start, end, name.strip(), options, names=set(value))
        except ValueError as error:
            self._session.status.emit(str(error))
            return
        parameters = self._data.parameters.editor()
        if parameters is None:
            return
        parameters.replace_text(_with_member(rendering.parameters, made.name, made.value))
        editor.replace_text(made.text)
        self._session.render_now()

    def rename_parameter(self, new_name: str | None = None) -> None:
        """Rename the parameter at the caret in its set and in every message."""
        from workbench.engine.json_text import split_pointer
        from workbench.engine.templates import apply_fixes, rename_in_template, rename_key, template_names

        rendering = self._session.rendering()
        pointer = self._pointer_at_caret()
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
        names = template_names(rendering.parameters.value, snapshot.template)
        parameters = self._data.parameters.editor()
        fix = rename_key(rendering.parameters, pointer, new_name)
        if parameters is None or fix is None:
            return
        changed = 0
        for card in self._template.cards:
            text = card.editor.raw_text()
            fixes = rename_in_template(text, pointer, new_name, snapshot.template, names=names)
            if fixes:
                card.editor.replace_text(apply_fixes(text, fixes))
                changed += len(fixes)
        parameters.edit_span(fix.start, fix.end, fix.replacement)
        self._session.render_now()
        self._session.status.emit(f"Renamed {old} to {new_name}: the parameter and {changed} placeholders.")

    def _pointer_at_caret(self) -> str | None:
        editor, rendering = self.editor(), self._session.rendering()
        if editor is None or rendering is None:
            return None
        if editor is self._data.parameters.editor():
            return rendering.parameters.pointer_at(editor.caret())
        for index, card in enumerate(self._template.cards):
            if card.editor is editor and index < len(rendering.messages):
                caret = editor.caret()
                for use in rendering.messages[index].placeholders:
                    if use.start <= caret <= use.end:
                        return use.pointer
        return None

    def go_to(self, place: Place) -> None:
        """Show a place."""
        self._session.go_to(place)


def _call(widget: QWidget, method: str) -> bool:
    function = getattr(widget, method, None)
    if not callable(function):
        return False
    function()
    return True


def _with_member(document: Any, name: str, value: str) -> str:
    """Return the JSON text of an object with one more member at its end, in the style of the others."""
    from workbench.engine.json_text import dumps

    text: str = document.text
    start, end = document.span("")
    inner = text[start + 1 : end - 1]
    body = inner.rstrip()
    member = f"{dumps(name)}: {dumps(value)}"
    if not body.strip():
        return f"{text[:start]}{{\n  {member}\n}}{text[end:]}"
    if "\n" in inner:
        first = next(line for line in inner.split("\n") if line.strip())
        indent = first[: len(first) - len(first.lstrip(" \t"))] or "  "
        return f"{text[: start + 1]}{body},\n{indent}{member}{inner[len(body) :]}{text[end - 1 :]}"
    return f"{text[: start + 1]}{body}, {member}{inner[len(body) :]}{text[end - 1 :]}"
