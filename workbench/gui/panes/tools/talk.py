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


PROMPT_FIRST = "Send the project's prompt first"
PROMPT_TIP = "The filled prompt goes to the model; the message below, where there is one, follows it"
TWICE = ": two user messages"
TWICE_TIP = (
    "The prompt ends with a message of the user, and yours follows as a second one.\n"
    "Leave the message empty to send the prompt alone, or take the mark away to send the message alone."
)


class ToolTalk(ToolRunView):
    """A message, and the conversation that came of it."""

    KIND = "tools"
    RUN_TIP = "Let the chat model answer; it may call the tools (Ctrl+Return)"
    STOP_TIP = "Stop the model, or the tool that it waits for"
    FAILED = "The model could not be asked."

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        self.with_prompt = QCheckBox(PROMPT_FIRST)
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

    def _show_buttons(self) -> None:
        super()._show_buttons()
        twice = self.sends_two_messages()
        self.with_prompt.setText(PROMPT_FIRST + (TWICE if twice else ""))
        self.with_prompt.setToolTip(TWICE_TIP if twice else PROMPT_TIP)

    def sends_two_messages(self) -> bool:
        """Whether the prompt ends with a message of the user and the one typed here follows it."""
        if not self.with_prompt.isChecked() or not self.message.text().strip():
            return False
        messages = self._session.snapshot().messages
        return bool(messages) and messages[-1].role == "user"

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
        calls = f"{counted(result.round_trips, 'round trip')}, {tokens}."
        if result.executions:
            calls = f"{counted(len(result.executions), 'tool call')}, {calls}"
        undone = sum(1 for each in result.executions if each.rolled_back is not None)
        failed = sum(1 for each in result.executions if each.has_failed) - undone
        errors = f" {counted(failed, 'call')} gave an error, which the model was told." if failed else ""
        if undone:
            errors += f" {counted(undone, 'call')} rolled back."
        if result.immediate:
            self.banner.show_words("passed", "Answered with the tool's result.", calls)
        elif result.outcome == "ok":
            # A tool that nobody called has not been tried; that looks like no success of the tools.
            kind = "passed" if result.executions else "none"
            headline = "Answered." if result.executions else "Answered without calling a tool."
            self.banner.show_words(kind, headline, calls + errors)
        else:
            self.banner.show_words(
                "error", f"Not answered: {word_of(result.outcome)}.", f"{result.message} {calls}"
            )

    def _on_inputs(self, kind: str, inputs: Any) -> None:
        if kind == "tool":
            self.message.set_text(str(inputs.get("request", "")))
            self.with_prompt.setChecked(bool(inputs.get("with_prompt", True)))
