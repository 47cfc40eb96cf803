"""The object graph of a project: its JSON text with placeholders, and the same as a tree beside it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHBoxLayout,
    QHeaderView,
    QInputDialog,
    QLabel,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Diagnostic, Fix
from workbench.engine.json_text import edits as json_edits
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.gui.delegates.words import MonoDelegate
from workbench.gui.editor import CodeEditor, FindBar, GraphHighlighter, Tint
from workbench.gui.models.figures import counted
from workbench.gui.models.graph_tree import GraphTreeModel
from workbench.gui.models.json_tree import NAME, TYPE, VALUE
from workbench.gui.shell.places import Place, place_of
from workbench.gui.shell.scale import px
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon, set_role
from workbench.gui.widgets.issue_label import IssueLabel

if TYPE_CHECKING:
    from workbench.engine.json_text import JsonDocument
    from workbench.engine.templates import GraphText, PlaceholderUse
    from workbench.engine.workflows import ProjectRendering

OPENED_UP_TO = 300
LONGEST_OUTLINE = 400
WIDE_ENOUGH = 460


def _is_f2(event: QEvent) -> bool:
    return (
        isinstance(event, QKeyEvent)
        and event.key() == Qt.Key.Key_F2
        and event.modifiers() == Qt.KeyboardModifier.NoModifier
    )


class GraphTree(QTreeView):
    """The tree of a graph. Its edits are edits of the text, so that undo and redo here are those of the text."""

    undo_asked = Signal()
    redo_asked = Signal()

    def undo(self) -> None:
        """Ask to take back the last edit."""
        self.undo_asked.emit()

    def redo(self) -> None:
        """Ask to do again what was taken back."""
        self.redo_asked.emit()

    def event(self, event: QEvent) -> bool:
        # The window has an action on F2, which would take it from the tree.
        if event.type() == QEvent.Type.ShortcutOverride and _is_f2(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if _is_f2(event) and index.isValid() and not index.flags() & Qt.ItemFlag.ItemIsEditable:
            # An item of a list has no name to edit, and arrows move by rows.
            index = index.siblingAtColumn(VALUE)
            if index.flags() & Qt.ItemFlag.ItemIsEditable:
                self.edit(index)
                return
        super().keyPressEvent(event)


class GraphPane(QWidget):
    """The graph as text and as a tree; without a graph, the offer to make one."""

    focused = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._syncing = False
        self._closed: set[str] = set()
        self._text: GraphText | None = None
        self._uses: list[tuple[int, int, PlaceholderUse]] = []
        self._shown: Any = None
        self._following = False
        self._wide = True
        self._build()
        session.rendered.connect(self._show_rendering)
        session.diagnostics_changed.connect(self._show_diagnostics)
        session.caret_moved.connect(self._on_caret_elsewhere)
        session.fix_requested.connect(self._on_fix)
        session.settings.changed.connect(self._setting_changed)

    # -- building -------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.editor = CodeEditor(name="Object graph")
        self.editor.indent_unit = "  "
        set_role(self.editor, "framed")
        self.editor.set_wrap(self._session.settings.get("editor.wrap"))
        self.editor.show_line_numbers(self._session.settings.get("editor.line_numbers"))
        self.highlighter = GraphHighlighter(self.editor.document())
        self.editor.edited.connect(self._typed)
        self.editor.caret_changed.connect(self._caret_changed)
        self.editor.focused.connect(self._focused)
        self.editor.completion_source = self._complete
        self.find_bar = FindBar(self.editor)
        self.tree = self._build_tree()
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.editor)
        self.splitter.addWidget(self.tree)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._build_strip())
        column.addWidget(self.splitter, 1)
        column.addWidget(self.find_bar)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._build_offer())
        self._stack.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)

    def _build_offer(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 16, 16, 16)
        words = QLabel(
            "An object graph is any JSON value; the placeholders in all of its strings are filled. "
            "A project sends either its messages or a graph."
        )
        words.setWordWrap(True)
        set_role(words, "second")
        self.create_button = QPushButton("Use an object graph")
        self.create_button.setToolTip("Make graph.json from the messages and send it in their place")
        self.create_button.clicked.connect(self.create)
        column.addWidget(words)
        column.addWidget(self.create_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        return page

    def _build_strip(self) -> QWidget:
        strip = QWidget()
        set_role(strip, "bar")
        strip.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(strip)
        row.setContentsMargins(8, 2, 6, 2)
        row.setSpacing(4)
        title = QLabel("graph.json")
        set_role(title, "title")
        self.values = QLabel("")
        set_role(self.values, "second")
        self.missing = IssueLabel()
        self.tree_button = QToolButton()
        set_icon(self.tree_button, "graph", "second")
        self.tree_button.setCheckable(True)
        self.tree_button.setChecked(True)
        self.tree_button.setToolTip("Show the tree beside the text")
        self.tree_button.setAccessibleName("Show the tree")
        self.tree_button.toggled.connect(self._toggle_tree)
        self.remove_button = QPushButton("Use messages again")
        self.remove_button.setToolTip("Take graph.json out of the project and send the messages")
        set_role(self.remove_button, "flat")
        self.remove_button.clicked.connect(self._remove_graph)
        for widget in (title, self.values, self.missing):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.remove_button)
        row.addWidget(self.tree_button)
        return strip

    def _build_tree(self) -> GraphTree:
        self.model = GraphTreeModel(self)
        self.model.name_asked.connect(self._rename_member)
        self.model.value_asked.connect(self._set_value)
        tree = GraphTree()
        tree.undo_asked.connect(lambda: self._session.undo_in(self.editor))
        tree.redo_asked.connect(lambda: self._session.redo_in(self.editor))
        tree.setModel(self.model)
        tree.setUniformRowHeights(True)
        tree.setIndentation(14)
        tree.setAccessibleName("Object graph as a tree")
        tree.setItemDelegateForColumn(NAME, MonoDelegate(tree, padding=4))
        tree.setItemDelegateForColumn(VALUE, MonoDelegate(tree, padding=4))
        tree.setItemDelegateForColumn(TYPE, MonoDelegate(tree, second=True, padding=4))
        tree.header().setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Stretch)
        tree.header().setStretchLastSection(False)
        tree.setColumnWidth(NAME, px(120))
        tree.setColumnWidth(TYPE, px(56))
        tree.setMinimumWidth(120)
        tree.viewport().installEventFilter(self)
        triggers = QAbstractItemView.EditTrigger
        tree.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed)
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._context_menu)
        tree.selectionModel().currentChanged.connect(self._node_chosen)
        tree.collapsed.connect(lambda index: self._closed.add(index.data(GraphTreeModel.PointerRole)))
        tree.expanded.connect(lambda index: self._closed.discard(index.data(GraphTreeModel.PointerRole)))
        return tree

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= WIDE_ENOUGH
        if wide != self._wide:
            # Text and tree side by side need room; who wants the tree all the same presses its button.
            self._wide = wide
            self.tree_button.setChecked(wide)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._fit_tree()
        return super().eventFilter(watched, event)

    def _fit_tree(self) -> None:
        """Share the width of the tree; where it is narrow, the types go first, then the ends of the values."""
        width = self.tree.viewport().width()
        self.tree.setColumnHidden(TYPE, width < 280)
        # Names stand the farther right the deeper they are; they get what they need up to this share.
        wanted = self.tree.sizeHintForColumn(NAME)
        self.tree.setColumnWidth(NAME, max(70, min(wanted, int(width * 0.65))))

    # -- from the project -----------------------------------------------------------------------------

    def sync(self, snapshot: ProjectSnapshot, fresh: bool) -> None:
        """Show the project's graph; an editor that already does is left alone."""
        has = snapshot.graph is not None
        self._stack.setCurrentIndex(1 if has else 0)
        self.highlighter.configure(snapshot.template, self.highlighter.names)
        text = snapshot.graph.text if snapshot.graph is not None else ""
        self._syncing = True
        try:
            if fresh:
                self._closed.clear()
                self._shown = None
                self.editor.document().clearUndoRedoStacks()
            if self.editor.raw_text() != text:
                self.editor.set_text(text) if fresh else self.editor.follow_text(text)
        finally:
            self._syncing = False

    def _typed(self) -> None:
        if not self._syncing and self._session.project is not None:
            self._session.touch("template", "graph", self._pull)

    def _pull(self) -> None:
        project = self._session.project
        if project is not None and project.snapshot().graph is not None:
            project.set_graph(self.editor.raw_text())

    def create(self) -> None:
        """Make a graph of the messages; undoable."""
        from workbench.engine.json_text import dumps

        messages = [{"role": m.role, "content": m.content} for m in self._session.snapshot().messages]
        text = dumps({"messages": messages or [{"role": "user", "content": ""}]}, indent=2) + "\n"
        kept = [text]

        def take(project: Any) -> None:
            # What was typed since is not part of this step, and comes back when the step is done again.
            graph = project.snapshot().graph
            if graph is not None:
                kept[0] = graph.text
            project.set_graph(None)

        self._session.apply(
            "template", "Use an object graph", lambda project: project.set_graph(kept[0]), take
        )
        self.editor.setFocus()

    def _remove_graph(self) -> None:
        graph = self._session.snapshot().graph
        if graph is not None:
            text = graph.text
            self._session.apply(
                "template",
                "Use messages",
                lambda project: project.set_graph(None),
                lambda project: project.set_graph(text),
            )

    # -- from the engine --------------------------------------------------------------------------------

    def _show_rendering(self, rendering: ProjectRendering) -> None:
        document = rendering.graph_document
        if rendering.graph is None or document is None:
            self._text, self._uses = None, []
            self.model.clear()
            self._shown = None
            return
        from workbench.engine.templates import GraphText

        value = rendering.parameters.value
        names = frozenset(value) if isinstance(value, dict) else frozenset()
        self.highlighter.configure(self._session.snapshot().template, names)
        self._text = GraphText(document)
        placed = [(self._text.span_of(use), use) for use in rendering.graph.placeholders]
        self._uses = sorted(
            ((*span, use) for span, use in placed if span is not None), key=lambda found: found[:2]
        )
        kept = [found for found in self._uses if found[2].status == "kept"]
        self.editor.set_tints(Tint(a, b, "missing_tint", "rejected", data=use) for a, b, use in kept)
        count = len(placed)
        self.values.setText(counted(count, "value") if count else "")
        self.missing.set_issue("rejected", f"{len(kept)} missing" if kept else "")
        self._show_tree(document, rendering)
        self._outline_caret()

    def _show_tree(self, document: JsonDocument, rendering: ProjectRendering) -> None:
        from workbench.engine.json_text import resolve_pointer
        from workbench.engine.text import shorten

        self.tree.setEnabled(document.ok)
        if not document.ok or self.tree.isHidden() or rendering.graph is None:
            return
        self.model.filled = {}
        if not self._session.snapshot().template.replace_keys:
            for node in {use.node for use in rendering.graph.placeholders}:
                self.model.filled[node] = shorten(str(resolve_pointer(rendering.graph.value, node)), 400)
        shown = (document.value,)
        if self._shown == shown:
            return
        self._shown = shown
        chosen = self.tree.currentIndex().data(GraphTreeModel.PointerRole)
        self._following = True
        closed = set(self._closed)
        # The field in which a name or a value was just written goes with its row; the keyboard stays here.
        held = self.tree.isAncestorOf(QApplication.focusWidget() or self)
        self.model.set_value(document.value)
        if held and not self.tree.hasFocus():
            self.tree.setFocus()
        if document.text.count("\n") < OPENED_UP_TO:
            self.tree.expandAll()
        else:
            self.tree.expandToDepth(0)
        for pointer in closed:
            self.tree.setExpanded(self.model.index_of(pointer), False)
        self._closed = closed
        if chosen is not None and (index := self.model.index_of(chosen)).isValid():
            self.tree.setCurrentIndex(index)
        self._following = False
        self._fit_tree()

    def _show_diagnostics(self) -> None:
        snapshot = self._session.snapshot()
        if snapshot.graph is None:
            return
        found: list[Diagnostic] = []
        for each in self._session.diagnostics():
            place = place_of(each, snapshot, self._session.parameter_set)
            if place is not None and place.area == "graph" and each.start is not None:
                found.append(each)
        self.editor.set_diagnostics(found)

    def _complete(self, text: str, offset: int) -> Any:
        if not self._session.settings.get("editor.complete"):
            return None
        from workbench.engine.templates import completion_in_graph

        rendering = self._session.rendering()
        parameters = rendering.parameters.value if rendering is not None and rendering.parameters.ok else None
        return completion_in_graph(text, offset, parameters, self._session.snapshot().template)

    # -- caret ------------------------------------------------------------------------------------------

    def use_at(self, offset: int) -> tuple[int, int, PlaceholderUse] | None:
        """Return the placeholder at an offset of the text, with its span."""
        return next((found for found in self._uses if found[0] <= offset <= found[1]), None)

    def graph_text(self) -> GraphText | None:
        """Return the places of the text that was filled last, `None` when it changed since."""
        if self._text is None or self._text.document.text != self.editor.raw_text():
            return None
        return self._text

    def _focused(self) -> None:
        self.focused.emit()
        self._caret_changed()

    def _caret_changed(self) -> None:
        if self._syncing or not self.editor.hasFocus():
            return
        cursor = self.editor.textCursor()
        line, column = cursor.blockNumber() + 1, cursor.positionInBlock() + 1
        self._session.caret_words.emit(f"graph, line {line}, column {column}")
        self._outline_caret()

    def _outline_caret(self) -> None:
        if not self.editor.hasFocus() or not self.editor.text_is_read() or self.graph_text() is None:
            return
        found = self.use_at(self.editor.caret())
        self.editor.set_outline(*([found[:2]] if found is not None else []))
        if found is None:
            self._session.caret_moved.emit(Place("graph"))
        else:
            self._session.caret_moved.emit(Place("graph", "", found[0], found[1], found[2].pointer))
        self._follow_in_tree()

    def _follow_in_tree(self) -> None:
        """Select the value at the caret in the tree."""
        if self.tree.isHidden() or self._text is None:
            return
        pointer = self._text.document.pointer_at(self.editor.caret())
        index = self.model.index_of(pointer) if pointer is not None else QModelIndex()
        if index.isValid() and index.data(GraphTreeModel.PointerRole) != self._chosen():
            self._following = True
            self.tree.setCurrentIndex(index)
            self._following = False

    def _chosen(self) -> str | None:
        pointer: str | None = self.tree.currentIndex().data(GraphTreeModel.PointerRole)
        return pointer

    def _on_caret_elsewhere(self, place: Place) -> None:
        if place.area == "graph":
            return
        spans = [
            (start, end) for start, end, use in self._uses if place.pointer and use.pointer == place.pointer
        ]
        self.editor.set_outline(*spans)

    def reveal(self, place: Place) -> None:
        """Show a place in the graph and take the keyboard."""
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)
        start, end = place.start, place.end
        if start is None and place.pointer and self._text is not None:
            start, end = self._text.document.span(place.pointer) or (None, None)
        if start is not None:
            self.editor.go_to(start, end)

    def _on_fix(self, place: Place, fix: Fix) -> None:
        if place.area == "graph":
            self.editor.edit_span(fix.start, fix.end, fix.replacement)

    # -- the tree ---------------------------------------------------------------------------------------

    def _toggle_tree(self, shown: bool) -> None:
        self.tree.setVisible(shown)
        rendering = self._session.rendering()
        if shown and rendering is not None:
            self._shown = None
            self._show_rendering(rendering)

    def _node_chosen(self, index: QModelIndex, _before: QModelIndex) -> None:
        """Frame the chosen value in the text and scroll to it."""
        text = self.graph_text()
        if self._following or text is None or not index.isValid():
            return
        span = text.document.span(index.data(GraphTreeModel.PointerRole))
        if span is not None:
            self.editor.go_to(span[0], focus=False)
            self.editor.set_outline(*([span] if span[1] - span[0] < LONGEST_OUTLINE else []))

    def _edit(self, fix: Fix | None) -> None:
        if fix is not None:
            self.editor.edit_span(fix.start, fix.end, fix.replacement)
            self._session.render_now()

    def _set_value(self, pointer: str, text: str, is_string: bool) -> None:
        from workbench.engine.json_text import dumps, parse_json

        graph = self.graph_text()
        if graph is None:
            return
        if is_string:
            text = dumps(text)
        elif not parse_json(text).ok:
            self._session.status.emit("That is no JSON value; a text needs its quotes.")
            return
        self._edit(json_edits.change(graph.document, pointer, text.strip()))

    def _rename_member(self, pointer: str, name: str) -> None:
        from workbench.engine.json_text import resolve_pointer
        from workbench.engine.templates import rename_key

        graph = self.graph_text()
        if graph is None:
            return
        owner = resolve_pointer(graph.document.value, pointer.rpartition("/")[0])
        if name in owner:
            self._session.status.emit(f"There is a member named {name} already.")
            return
        self._edit(rename_key(graph.document, pointer, name))

    def _context_menu(self, point: QPoint) -> None:
        index = self.tree.indexAt(point)
        if index.isValid():
            menu = self.menu_of(index.data(GraphTreeModel.PointerRole))
            menu.exec(self.tree.viewport().mapToGlobal(point))
            menu.deleteLater()

    def menu_of(self, pointer: str) -> QMenu:
        """Return the menu of a value in the tree."""
        menu = QMenu(self)
        index = self.model.index_of(pointer)
        kind = index.data(GraphTreeModel.KindRole)
        if kind == "object":
            menu.addAction("Add member…", lambda: self.add(pointer))
        if kind == "array":
            menu.addAction("Add item", lambda: self.add(pointer, ""))
        if pointer:
            menu.addAction("Duplicate", partial(self.duplicate, pointer))
            menu.addAction("Remove", partial(self.remove, pointer))
        return menu

    def add(self, pointer: str, name: str | None = None) -> None:
        """Add an empty text to a list, or as a member called `name` (asked for when `None`) to an object."""
        from workbench.engine.json_text import dumps, resolve_pointer

        graph = self.graph_text()
        if graph is None:
            return
        owner = resolve_pointer(graph.document.value, pointer)
        if isinstance(owner, list):
            self._edit(json_edits.append(graph.document, pointer, '""'))
            return
        if name is None:
            name, done = QInputDialog.getText(self, "Add member", "Name of the member:")
            if not done:
                return
        if not name or name in owner:
            self._session.status.emit("A member needs a name that its object does not have yet.")
            return
        self._edit(json_edits.append(graph.document, pointer, f'{dumps(name)}: ""'))

    def duplicate(self, pointer: str) -> None:
        """Put a copy of a value behind it."""
        from workbench.engine.json_text import resolve_pointer, split_pointer

        graph = self.graph_text()
        if graph is None:
            return
        owner = resolve_pointer(graph.document.value, pointer.rpartition("/")[0])
        name = split_pointer(pointer)[-1]
        while isinstance(owner, dict) and name in owner:
            name += "_copy"
        self._edit(json_edits.duplicate(graph.document, pointer, name))

    def remove(self, pointer: str) -> None:
        """Take a value out of the graph."""
        graph = self.graph_text()
        if graph is not None:
            self._edit(json_edits.remove(graph.document, pointer))

    def _setting_changed(self, key: str) -> None:
        if key == "editor.wrap":
            self.editor.set_wrap(self._session.settings.get(key))
        elif key == "editor.line_numbers":
            self.editor.show_line_numbers(self._session.settings.get(key))
