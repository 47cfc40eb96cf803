"""The project's tools: what the model is told of each, what it answers, and the conversation that uses them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.json_text import dumps, parse_json
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.tools.kept import kept_back
from workbench.gui.delegates.words import TextDelegate
from workbench.gui.models.figures import counted, format_duration
from workbench.gui.panes.tools.form import ToolForm
from workbench.gui.panes.tools.program import ToolProgram
from workbench.gui.panes.tools.talk import ToolTalk
from workbench.gui.shell.places import Place
from workbench.gui.shell.scale import fit
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.labels import SectionHead, StatusMark, Strip, TokenLabel, column
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.tools import ToolExecution


NEW_TOOL = ToolDefinition(
    "tool",
    "",
    '{\n  "type": "object",\n  "properties": {},\n  "required": []\n}\n',
    Simulation(text="Done."),
)


def _button(picture: str, words: str) -> QToolButton:
    button = QToolButton()
    set_icon(button, picture)
    button.setToolTip(words)
    button.setAccessibleName(words)
    return button


class ToolsPane(QWidget):
    """A list of tools; the chosen one can be edited and tried, and the chat model can use all of them."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._tools: tuple[ToolDefinition, ...] = ()
        self._shown: ToolDefinition | None = NEW_TOOL
        self._build()
        session.project_changed.connect(self.reload)
        session.edited.connect(lambda area: self.reload() if area == "tools" else None)
        session.reveal.connect(self._on_reveal)
        self.list.currentRowChanged.connect(lambda _row: self._show_tool())
        self.form.changed.connect(self._put)
        self.add_button.clicked.connect(self.add_tool)
        self.duplicate_button.clicked.connect(self.duplicate_tool)
        self.remove_button.clicked.connect(self.remove_tool)
        self.run_button.clicked.connect(self.run)
        self.reload()

    def _build(self) -> None:
        self.head = SectionHead("Tools")
        self.list = QListWidget()
        self.list.setAccessibleName("Tools")
        self.list.setItemDelegate(TextDelegate(self.list))
        self.add_button = _button("plus", "Add a tool")
        self.duplicate_button = _button("duplicate", "Add a copy of this tool")
        self.remove_button = _button("trash", "Remove this tool")
        for button in (self.add_button, self.duplicate_button, self.remove_button):
            self.head.add(button)
        left = column(self.head, self.list)
        fit(left, min_width=160)
        self.description = TokenLabel("", "second", wrap=True)
        self.description.setContentsMargins(12, 6, 12, 6)
        self.form = ToolForm()
        self.talk = ToolTalk(self._session)
        self.program = ToolProgram(self._session)
        self.arguments = TextInput("Arguments as JSON", '{"order_id": "FC-20418"}', 4)
        self.run_button = QPushButton("Run")
        set_icon(self.run_button, "play")
        self.run_button.setToolTip("Run the simulated tool with these arguments; nothing is sent")
        bar = Strip(36, "window")
        bar.row.addWidget(TokenLabel("Arguments", "second", size="second"), 1)
        bar.row.addWidget(self.run_button)
        self.mark = StatusMark("idle", 14)
        self.outcome = TokenLabel("Not run yet.", "second", elide=True)
        words = QWidget()
        row = QHBoxLayout(words)
        row.setContentsMargins(12, 6, 12, 6)
        row.addWidget(self.mark)
        row.addWidget(self.outcome, 1)
        self.result = CodeView()
        self.result.set_wrapped(True)
        attempt = QWidget()
        layout = QVBoxLayout(attempt)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (bar, self.arguments, words):
            layout.addWidget(widget)
        self.kept = CodeView()
        self.kept.set_wrapped(True)
        self.kept_box = column(SectionHead("Not sent to the model"), self.kept)
        self.kept_box.hide()
        both = QSplitter(Qt.Orientation.Horizontal)
        both.setChildrenCollapsible(False)
        both.setHandleWidth(1)
        both.addWidget(column(SectionHead("Sent to the model"), self.result))
        both.addWidget(self.kept_box)
        layout.addWidget(both, 1)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(attempt, "Try")
        self.tabs.addTab(self.form, "Definition")
        self.tabs.addTab(self.talk, "With the model")
        self.tabs.addTab(self.program, "As a program")
        right = column(self.description, self.tabs)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(left)
        splitter.addWidget(right)
        splitter.setStretchFactor(1, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(splitter)

    def reload(self) -> None:
        """Show the project's tools; the chosen one stays chosen."""
        row = self.list.currentRow()
        self._tools = self._session.snapshot().tools
        self.setEnabled(self._session.project is not None)
        self.list.blockSignals(True)
        while self.list.count() > len(self._tools):
            self.list.takeItem(self.list.count() - 1)
        for position, tool in enumerate(self._tools):
            if position == self.list.count():
                self.list.addItem(QListWidgetItem())
            item = self.list.item(position)
            item.setText(tool.name)
            item.setToolTip(tool.description)
        self.list.setCurrentRow(min(max(row, 0), len(self._tools) - 1))
        self.list.blockSignals(False)
        self.head.note.set_text(counted(len(self._tools), "tool") if self._tools else "none yet")
        self._show_tool()

    # Editing

    def _change(self, words: str, tools: tuple[ToolDefinition, ...], merge: str | None = None) -> None:
        before = self._tools
        self._session.apply(
            "tools",
            words,
            lambda project: project.set_tools(tools),
            lambda project: project.set_tools(before),
            merge=merge,
        )

    def _put(self, tool: ToolDefinition) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._tools):
            before = self._tools[row].name
            # A tool that is renamed goes on undoing what it undid.
            tools = tuple(
                tool
                if k == row
                else replace(each, compensate=tool.name)
                if each.compensate == before
                else each
                for k, each in enumerate(self._tools)
            )
            self._change(f"Edit tool {tool.name}", tools, merge=f"tool/{row}")

    def add_tool(self, tool: ToolDefinition | None = None) -> None:
        """Add a tool at the end and show its form."""
        if not isinstance(tool, ToolDefinition):
            tool = replace(NEW_TOOL, name=self._free_name("tool"))
        self._change(f"Add tool {tool.name}", (*self._tools, tool))
        self.list.setCurrentRow(len(self._tools) - 1)
        self.tabs.setCurrentWidget(self.form)
        self.form.name.setFocus()
        self.form.name.selectAll()

    def duplicate_tool(self) -> None:
        """Add a copy of the chosen tool."""
        tool = self.current()
        if tool is not None:
            self.add_tool(replace(tool, name=self._free_name(tool.name)))

    def remove_tool(self) -> None:
        """Remove the chosen tool; undo brings it back."""
        row = self.list.currentRow()
        if 0 <= row < len(self._tools):
            self._change(
                f"Remove tool {self._tools[row].name}", (*self._tools[:row], *self._tools[row + 1 :])
            )

    def _free_name(self, stem: str) -> str:
        taken = {tool.name for tool in self._tools}
        return next(name for k in range(1, len(taken) + 2) if (name := f"{stem}_{k}") not in taken)

    def current(self) -> ToolDefinition | None:
        """Return the chosen tool."""
        row = self.list.currentRow()
        return self._tools[row] if 0 <= row < len(self._tools) else None

    def _show_tool(self) -> None:
        tool = self.current()
        row = self.list.currentRow()
        for button in (self.duplicate_button, self.remove_button):
            button.setEnabled(tool is not None)
        self.form.show_tool(tool, {each.name for k, each in enumerate(self._tools) if k != row})
        self.run_button.setEnabled(tool is not None and tool.simulate is not None)
        self.arguments.setEnabled(tool is not None)
        if tool is self._shown:
            return
        self._shown = tool
        self._say(
            "idle", "Not run yet." if tool is None or tool.simulate else "This tool has no simulated answer."
        )
        self.result.set_code("")
        self.kept_box.hide()
        if tool is None:
            self.description.set_text(
                "Tools are functions that the model may ask for. Add one with + at the left."
            )
            self.arguments.set_text("")
            return
        self.description.set_text(tool.description or "No description.")
        self.arguments.set_text(_example(tool))

    def run(self) -> None:
        """Run the simulated tool with the arguments typed."""
        tool = self.current()
        if tool is None:
            return
        arguments = self.arguments.text()
        self.run_button.setEnabled(False)
        self._say("queued", "Running…")
        self._session.jobs.run_async(
            lambda: _execute(tool, arguments), self._answered, self._failed, key="tool"
        )

    def _answered(self, execution: ToolExecution) -> None:
        self.run_button.setEnabled(True)
        took = format_duration(execution.elapsed_ms)
        if execution.has_failed:
            self._say("error_mark", "An error, as the model would see it.")
        else:
            self._say("passed", f"Result after {took}, as the model would see it.")
        text = execution.message().shown_text()
        document = parse_json(text)
        self.result.set_code(
            dumps(document.value, indent=2) if document.ok else text, "json" if document.ok else ""
        )
        kept = kept_back(execution.to_json())
        self.kept.set_code(dumps(kept, indent=2) if kept else "", "json")
        self.kept_box.setVisible(bool(kept))

    def _failed(self, error: BaseException) -> None:
        self.run_button.setEnabled(True)
        self._say("error_mark", str(error))

    def _say(self, status: str, words: str) -> None:
        self.mark.set_status(status)
        self.outcome.set_text(words)
        self.outcome.set_look(token="rejected" if status == "error_mark" else "second")

    def _on_reveal(self, place: Place) -> None:
        if place.area == "tools" and place.name:
            for row, tool in enumerate(self._tools):
                if tool.name == place.name:
                    self.list.setCurrentRow(row)


def _example(tool: ToolDefinition) -> str:
    """Return arguments that the tool's schema accepts, `{}` where none can be made."""
    from workbench.engine.schemas import JsonSchema, SchemaError, example

    try:
        return dumps(example(JsonSchema.parse(tool.parameters)), indent=2)
    except (SchemaError, ValueError):
        return "{}"


async def _execute(tool: ToolDefinition, arguments: str) -> ToolExecution:
    from workbench.engine.language_models import ToolCall
    from workbench.engine.tools import execute_tool, simulated_tool

    alone = simulated_tool(replace(tool, compensate=None))  # nothing is undone in a try
    return await execute_tool(ToolCall("call-1", tool.name, arguments), [alone])
