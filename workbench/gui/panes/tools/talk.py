"""Lets the chat model answer with the project's tools, and shows each call as it happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QCheckBox, QWidget

from workbench.gui.models.figures import counted, format_tokens
from workbench.gui.models.inputs import inputs_channel
from workbench.gui.models.runs import word_of
from workbench.gui.models.tool_turns import NOT_SENT, turns_of_tools
from workbench.gui.panes.tools.run_view import ToolRunView
from workbench.gui.shell.session import Session
from workbench.gui.widgets.conversation import Turn
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.tools import ToolRun


class ToolTalk(ToolRunView):
    """A message, and the conversation that came of it."""

    KIND = "tools"
    RUN_TIP = "Let the chat model answer; it may call the tools (Ctrl+Return)"
    STOP_TIP = "Stop the model, or the tool that it waits for"
    FAILED = "The model could not be asked."

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        self.with_prompt = QCheckBox("Send the project's prompt first")
        self.with_prompt.setChecked(True)
        self.message = TextInput("Message of the user", "Where is order FC-20418?", 3)
        super().__init__(session, self.with_prompt, self.message, parent)
        self.conversation = self.turns_view
        self.with_prompt.toggled.connect(lambda _on: self._show_buttons())
        inputs_channel(session).opened.connect(self._on_inputs)
        self._reset()

    def run(self) -> None:
        """Send the message, with the prompt before it where that was chosen."""
        if self.run_button.isEnabled():
            self._session.run_tools(self.message.text(), with_prompt=self.with_prompt.isChecked())

    def _turns(self) -> Sequence[Turn]:
        return turns_of_tools(self._events)

    def _has_something(self) -> bool:
        return self.with_prompt.isChecked() or super()._has_something()

    def _show_idle(self) -> None:
        self.banner.show_words(
            "none", "No conversation yet.", f"What a tool keeps back is marked “{NOT_SENT}”."
        )

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

    def _on_inputs(self, kind: str, inputs: Any) -> None:
        if kind == "tool":
            self.message.set_text(str(inputs.get("request", "")))
            self.with_prompt.setChecked(bool(inputs.get("with_prompt", True)))
