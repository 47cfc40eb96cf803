"""Lets the chat model write a program over the project's tools, runs it with their simulated answers, and shows each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QCheckBox, QWidget

from workbench.engine.json_text import dumps
from workbench.engine.text import shorten
from workbench.gui.models.figures import counted
from workbench.gui.models.program_turns import turns_of_program
from workbench.gui.models.runs import word_of
from workbench.gui.panes.tools.run_view import ToolRunView
from workbench.gui.panes.translation.words import why_failed
from workbench.gui.shell.session import Session
from workbench.gui.widgets.conversation import Turn
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.translation import Failure, Success


class ToolProgram(ToolRunView):
    """A request, and the program that came of it with its steps."""

    KIND = "program"
    RUN_TIP = "Let the chat model write a program over the tools, and run it (Ctrl+Return)"
    STOP_TIP = "Stop the model, or the program"
    FAILED = "There is no program."

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        self.always = QCheckBox("All requests of this project become programs")
        self.always.setToolTip(
            "Sets target in the project's translation: a program instead of a value of the schema"
        )
        self.request = TextInput(
            "Request that becomes a program", "Find order FC-20418 and tell the customer.", 3
        )
        super().__init__(session, self.always, self.request, parent)
        self.steps = self.turns_view
        self.always.clicked.connect(self._set_target)
        self._reset()

    def run(self) -> None:
        """Let the model write a program for the request, and run it."""
        if self.run_button.isEnabled():
            self._session.run_program(self.request.text())

    def _set_target(self, programs: bool) -> None:
        before = self._session.snapshot().translation.target
        after = "program" if programs else "value"
        self._session.apply(
            "translation",
            "Set what a request becomes",
            lambda project: project.set_translation("target", after),
            lambda project: project.set_translation("target", before),
        )

    def _turns(self) -> Sequence[Turn]:
        return turns_of_program(self._events)

    def _show_idle(self) -> None:
        self.banner.show_words("none", "No program yet.", "The tools are all that a program can call.")

    def _show_buttons(self) -> None:
        super()._show_buttons()
        self.always.setChecked(self._all_are_programs())

    def _all_are_programs(self) -> bool:
        session = self._session
        return session.project is not None and session.snapshot().translation.target == "program"

    def _follows(self, kind: str) -> bool:
        # Where all requests become programs, a run of the translation pane is one too.
        if kind == "translate" and not self._all_are_programs():
            if self._kind == kind:
                self._kind = self.KIND  # the translation pane has gone over to values
            return False
        return kind in (self.KIND, "translate")

    def _show_outcome(self, result: Success[Any] | Failure) -> None:
        from workbench.engine.translation import Failure, replay_program

        program = replay_program(self._events)
        ran = f"{counted(len(program.steps), 'step')} ran." if program is not None else "Nothing was run."
        if isinstance(result, Failure):
            headline = f"No value: {word_of(result.code)}."
            why = result.message.splitlines()[0]
            # A line that only introduces the errors says nothing without the first of them.
            why = why_failed(result.record) if why.endswith(":") else why
            self.banner.show_words("error", headline, f"{why} {ran}")
        else:
            value = shorten(dumps(program.value), 120) if program is not None else ""
            self.banner.show_words("passed", "The program ran.", f"{ran} Value: {value}")
