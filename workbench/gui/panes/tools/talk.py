"""Lets the chat model answer with the project's tools, and shows each call as it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QPushButton, QSplitter, QVBoxLayout, QWidget

from workbench.engine.events import RunEvent
from workbench.gui.models.figures import counted, format_tokens
from workbench.gui.models.inputs import inputs_channel
from workbench.gui.models.runs import word_of
from workbench.gui.models.tool_turns import NOT_SENT, turns_of_tools
from workbench.gui.shell.session import Session, model_title
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.conversation import ConversationView
from workbench.gui.widgets.labels import Banner, Strip, TokenLabel
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.tools import ToolRun

KIND = "tools"
REFRESH_MS = 60


class ToolTalk(QWidget):
    """A message, Run and Stop, and the conversation that came of it, folded from the events of the run."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._events: list[RunEvent] = []
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(REFRESH_MS)
        self._refresh.timeout.connect(self._show_turns)
        self._build()
        self.run_button.clicked.connect(self.run)
        self.stop_button.clicked.connect(lambda: session.stop(KIND))
        self.message.edited.connect(self._show_buttons)
        self.with_prompt.toggled.connect(lambda _on: self._show_buttons())
        session.run_started.connect(self._on_started)
        session.run_progress.connect(self._on_progress)
        session.run_finished.connect(self._on_finished)
        session.run_failed.connect(self._on_failed)
        session.project_changed.connect(self._reset)
        session.edited.connect(lambda _area: self._show_buttons())
        session.models_changed.connect(self._show_buttons)
        inputs_channel(session).opened.connect(self._on_inputs)
        shortcut = QShortcut(QKeySequence("Ctrl+Return"), self.message)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(self.run)
        self._reset()

    def _build(self) -> None:
        bar = Strip(36, "window")
        self.with_prompt = QCheckBox("Send the project's prompt first")
        self.with_prompt.setChecked(True)
        self.model_words = TokenLabel(
            "", "second", size="second", elide=True, align=Qt.AlignmentFlag.AlignRight
        )
        self.run_button = QPushButton("Run")
        set_icon(self.run_button, "play")
        self.run_button.setToolTip("Let the chat model answer; it may call the tools (Ctrl+Return)")
        self.stop_button = QPushButton("Stop")
        set_icon(self.stop_button, "stop")
        bar.row.addWidget(self.with_prompt)
        bar.row.addWidget(self.model_words, 1)
        bar.row.addWidget(self.run_button)
        bar.row.addWidget(self.stop_button)
        self.message = TextInput("Message of the user", "Where is order FC-20418?", 3)
        self.conversation = ConversationView()
        self.banner = Banner()
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(self.message)
        splitter.addWidget(self.conversation)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([70, 400])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(bar)
        layout.addWidget(splitter, 1)
        layout.addWidget(self.banner)

    def run(self) -> None:
        """Send the message, with the prompt before it where that was chosen."""
        if self.run_button.isEnabled():
            self._session.run_tools(self.message.text(), with_prompt=self.with_prompt.isChecked())

    def events(self) -> list[RunEvent]:
        """Return the events of the run that is shown."""
        return list(self._events)

    def _reset(self) -> None:
        self._events = []
        self.message.set_text("")
        self._show_turns()
        self.banner.show_words(
            "none", "No conversation yet.", f"What a tool keeps back is marked “{NOT_SENT}”."
        )
        self._show_buttons()

    def _show_buttons(self) -> None:
        session = self._session
        running = KIND in session.running()
        self.stop_button.setEnabled(running)
        if session.project is None:
            self.run_button.setEnabled(False)
            return
        something = self.with_prompt.isChecked() or bool(self.message.text().strip())
        self.run_button.setEnabled(not running and something and bool(session.snapshot().tools))
        try:
            settings = session.chat_settings()
        except Exception as error:  # a model that the project does not have: say so and go on
            self.model_words.set_text(str(error))
            return
        self.model_words.set_text(model_title(settings))

    def _show_turns(self) -> None:
        self.conversation.set_turns(turns_of_tools(self._events))

    def _on_started(self, kind: str) -> None:
        if kind == KIND:
            self._events = []
            self._show_turns()
            self.banner.show_words("running", "Asking the model…", "Stop closes the connection.")
            self._show_buttons()

    def _on_progress(self, kind: str, event: RunEvent) -> None:
        if kind == KIND:
            self._events.append(event)
            if not self._refresh.isActive():
                self._refresh.start()

    def _on_finished(self, kind: str, result: Any) -> None:
        if kind == KIND:
            self._refresh.stop()
            self._show_turns()
            self._show_outcome(result)
            self._show_buttons()

    def _show_outcome(self, result: ToolRun) -> None:
        usage = result.usage
        tokens = (
            format_tokens(usage.input_tokens, usage.output_tokens) if usage is not None else "tokens unknown"
        )
        if result.cost is not None:
            tokens += f", {result.cost.words()}"
        calls = f"{counted(len(result.executions), 'tool call')}, {counted(result.round_trips, 'round trip')}, {tokens}."
        undone = sum(1 for each in result.executions if each.rolled_back is not None)
        failed = sum(1 for each in result.executions if each.has_failed) - undone
        errors = f" {counted(failed, 'call')} gave an error, which the model was told." if failed else ""
        if undone:
            errors += f" {counted(undone, 'call')} rolled back."
        if result.immediate:
            self.banner.show_words("passed", "Answered with the tool's result.", calls)
        elif result.outcome == "ok":
            self.banner.show_words("passed", "Answered.", calls + errors)
        else:
            self.banner.show_words(
                "error", f"Not answered: {word_of(result.outcome)}.", f"{result.message} {calls}"
            )

    def _on_failed(self, kind: str, message: str) -> None:
        if kind == KIND:
            self._refresh.stop()
            self._show_turns()
            stopped = message == "stopped by you"
            headline = "Stopped by you." if stopped else "The model could not be asked."
            self.banner.show_words("none" if stopped else "error", headline, "" if stopped else message)
            self._show_buttons()

    def _on_inputs(self, kind: str, inputs: Any) -> None:
        if kind == "tool":
            self.message.set_text(str(inputs.get("request", "")))
            self.with_prompt.setChecked(bool(inputs.get("with_prompt", True)))
