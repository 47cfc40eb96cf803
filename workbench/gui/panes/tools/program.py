"""Lets the chat model write a program over the project's tools, runs it with their simulated answers, and shows each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QPushButton, QSplitter, QVBoxLayout, QWidget

from workbench.engine.events import RunEvent
from workbench.engine.json_text import dumps
from workbench.engine.text import shorten
from workbench.gui.models.figures import counted
from workbench.gui.models.program_turns import turns_of_program
from workbench.gui.models.runs import word_of
from workbench.gui.shell.session import Session, model_title
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.conversation import ConversationView
from workbench.gui.widgets.labels import Banner, Strip, TokenLabel
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.translation import Failure, Success

KIND = "program"
REFRESH_MS = 60
FOLLOW_MS = 300
"""How long after its end the view still follows a run: cards get their height only when they are laid out."""


class ToolProgram(QWidget):
    """A request, Run and Stop, and the program that came of it with its steps, folded from the events of the run."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._events: list[RunEvent] = []
        self._kind = KIND
        self._follow = False
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(REFRESH_MS)
        self._refresh.timeout.connect(self._show_turns)
        self._still = QTimer(self)
        self._still.setSingleShot(True)
        self._still.setInterval(FOLLOW_MS)
        self._still.timeout.connect(self._stand_still)
        self._build()
        self.steps.verticalScrollBar().rangeChanged.connect(self._go_along)
        self.run_button.clicked.connect(self.run)
        self.stop_button.clicked.connect(lambda: session.stop(self._kind))
        self.always.clicked.connect(self._set_target)
        self.request.edited.connect(self._show_buttons)
        session.run_started.connect(self._on_started)
        session.run_progress.connect(self._on_progress)
        session.run_finished.connect(self._on_finished)
        session.run_failed.connect(self._on_failed)
        session.project_changed.connect(self._reset)
        session.edited.connect(lambda _area: self._show_buttons())
        session.models_changed.connect(self._show_buttons)
        shortcut = QShortcut(QKeySequence("Ctrl+Return"), self.request)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(self.run)
        self._reset()

    def _build(self) -> None:
        bar = Strip(36, "window")
        self.always = QCheckBox("All requests of this project become programs")
        self.always.setToolTip(
            "Sets target in the project's translation: a program instead of a value of the schema"
        )
        self.model_words = TokenLabel(
            "", "second", size="second", elide=True, align=Qt.AlignmentFlag.AlignRight
        )
        self.run_button = QPushButton("Run")
        set_icon(self.run_button, "play")
        self.run_button.setToolTip(
            "Let the chat model write a program over the tools, and run it (Ctrl+Return)"
        )
        self.stop_button = QPushButton("Stop")
        set_icon(self.stop_button, "stop")
        self.stop_button.setToolTip("Stop the model, or the program")
        bar.row.addWidget(self.always)
        bar.row.addWidget(self.model_words, 1)
        bar.row.addWidget(self.run_button)
        bar.row.addWidget(self.stop_button)
        self.request = TextInput(
            "Request that becomes a program", "Find order FC-20418 and tell the customer.", 3
        )
        self.steps = ConversationView()
        self.banner = Banner()
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(self.request)
        splitter.addWidget(self.steps)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([70, 400])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(bar)
        layout.addWidget(splitter, 1)
        layout.addWidget(self.banner)

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

    def _reset(self) -> None:
        self._events, self._kind = [], KIND
        self.request.set_text("")
        self._show_turns()
        self.banner.show_words("none", "No program yet.", "The tools are all that a program can call.")
        self._show_buttons()

    def _show_buttons(self) -> None:
        session = self._session
        running = self._kind in session.running()
        self.stop_button.setEnabled(running)
        if session.project is None:
            self.run_button.setEnabled(False)
            return
        snapshot = session.snapshot()
        self.always.setChecked(snapshot.translation.target == "program")
        something = bool(self.request.text().strip())
        self.run_button.setEnabled(not running and something and bool(snapshot.tools))
        try:
            settings = session.chat_settings()
        except Exception as error:  # a model that the project does not have: say so and go on
            self.model_words.set_text(str(error))
            return
        self.model_words.set_text(model_title(settings))

    def _go_along(self, _low: int, high: int) -> None:
        """Keep the last step in view while the run goes on; later, what a reader unfolds must not move the view."""
        if self._follow:
            self.steps.verticalScrollBar().setValue(high)

    def _stand_still(self) -> None:
        self._follow = False

    def _show_turns(self) -> None:
        self.steps.set_turns(turns_of_program(self._events))

    def _on_started(self, kind: str) -> None:
        # Where all requests become programs, a run of the translation pane is one too.
        programs = (
            self._session.project is not None and self._session.snapshot().translation.target == "program"
        )
        if kind == "translate" and not programs and self._kind == kind:
            self._kind = KIND  # the translation pane has gone over to values
        elif kind == KIND or (kind == "translate" and programs):
            self._kind = kind
            self._events = []
            self._still.stop()
            self._follow = True
            self._show_turns()
            self.banner.show_words("running", "Asking the model…", "Stop closes the connection.")
            self._show_buttons()

    def _on_progress(self, kind: str, event: RunEvent) -> None:
        if kind == self._kind:
            self._events.append(event)
            if not self._refresh.isActive():
                self._refresh.start()

    def _on_finished(self, kind: str, result: Any) -> None:
        if kind == self._kind:
            self._refresh.stop()
            self._show_turns()
            self._show_outcome(result)
            self._show_buttons()
            self._still.start()

    def _show_outcome(self, result: Success[Any] | Failure) -> None:
        from workbench.engine.translation import Failure, replay_program

        program = replay_program(self._events)
        ran = f"{counted(len(program.steps), 'step')} ran." if program is not None else "Nothing was run."
        if isinstance(result, Failure):
            headline = f"No value: {word_of(result.code)}."
            self.banner.show_words("error", headline, f"{result.message.splitlines()[0]} {ran}")
        else:
            value = shorten(dumps(program.value), 120) if program is not None else ""
            self.banner.show_words("passed", "The program ran.", f"{ran} Value: {value}")

    def _on_failed(self, kind: str, message: str) -> None:
        if kind == self._kind:
            self._refresh.stop()
            self._show_turns()
            stopped = message == "stopped by you"
            headline = "Stopped by you." if stopped else "There is no program."
            self.banner.show_words("none" if stopped else "error", headline, "" if stopped else message)
            self._show_buttons()
            self._still.start()
