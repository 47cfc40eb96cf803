"""The project's tools: names, parameters, and what the simulated tool answers when it is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.json_text import dumps, parse_json
from workbench.engine.tools.definitions import ToolDefinition
from workbench.gui.delegates.words import TextDelegate
from workbench.gui.models.figures import counted, format_duration
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.labels import SectionHead, StatusMark, Strip, TokenLabel, column
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.tools import ToolExecution


class ToolsPane(QWidget):
    """A list of tools; for the chosen one its parameters, and a field of arguments with which it can be run."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._tools: tuple[ToolDefinition, ...] = ()
        self._build()
        session.project_changed.connect(self.reload)
        session.edited.connect(lambda area: self.reload() if area == "tools" else None)
        session.reveal.connect(self._on_reveal)
        self.list.currentRowChanged.connect(lambda _row: self._show_tool())
        self.run_button.clicked.connect(self.run)
        self.reload()

    def _build(self) -> None:
        self.head = SectionHead("Tools")
        self.list = QListWidget()
        self.list.setAccessibleName("Tools")
        self.list.setItemDelegate(TextDelegate(self.list))
        left = column(self.head, self.list)
        left.setMinimumWidth(160)
        self.description = TokenLabel("", "second", wrap=True)
        self.description.setContentsMargins(12, 6, 12, 6)
        self.parameters = CodeView()
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
        layout.addWidget(self.result, 1)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(attempt, "Try")
        self.tabs.addTab(self.parameters, "Parameters")
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
        """Show the project's tools."""
        row = self.list.currentRow()
        self._tools = self._session.snapshot().tools
        self.list.clear()
        for tool in self._tools:
            item = QListWidgetItem(tool.name)
            item.setToolTip(tool.description)
            self.list.addItem(item)
        self.head.note.set_text(counted(len(self._tools), "tool") if self._tools else "none yet")
        self.list.setCurrentRow(min(max(row, 0), len(self._tools) - 1))
        self._show_tool()

    def current(self) -> ToolDefinition | None:
        """Return the chosen tool."""
        row = self.list.currentRow()
        return self._tools[row] if 0 <= row < len(self._tools) else None

    def _show_tool(self) -> None:
        tool = self.current()
        self.tabs.setEnabled(tool is not None)
        self.run_button.setEnabled(tool is not None and tool.simulate is not None)
        self._say("idle", "Not run yet." if tool is None or tool.simulate else "This tool has no simulated answer.")
        self.result.set_code("")
        if tool is None:
            self.description.set_text("Tools are functions that the model may ask for; add them under [[tools]].")
            self.parameters.set_code("")
            return
        self.description.set_text(tool.description or "No description.")
        self.parameters.set_code(tool.parameters, "json")
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
        content = execution.message().content
        text = content if isinstance(content, str) else dumps([dict(part) for part in content], indent=2)
        document = parse_json(text)
        self.result.set_code(dumps(document.value, indent=2) if document.ok else text, "json" if document.ok else "")

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

    return await execute_tool(ToolCall("call-1", tool.name, arguments), [simulated_tool(tool)])
