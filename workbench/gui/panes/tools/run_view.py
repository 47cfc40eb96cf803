"""What the two ways to run a project's tools share: a request, Run and Stop, and what came of it, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QPushButton, QSplitter, QVBoxLayout, QWidget

from workbench.engine.events import RunEvent
from workbench.gui.jobs import STOPPED
from workbench.gui.models.model_title import model_title
from workbench.gui.models.shown_project import ShownProject
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.conversation import ConversationView, Turn
from workbench.gui.widgets.labels import Banner, Strip, TokenLabel
from workbench.gui.widgets.text_input import TextInput

REFRESH_MS = 60


class ToolRunView(QWidget):
    """A text, a choice beside Run and Stop, and turns folded from the events of the run under way or done last.

    A kind of run says which it follows (`_follows`), how it is started (`run`), and how its events and its end
    are shown.
    """

    KIND: str
    RUN_TIP: str
    STOP_TIP: str
    FAILED: str
    """The headline of a run that gave no result."""

    def __init__(
        self, session: Session, choice: QCheckBox, text: TextInput, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._events: list[RunEvent] = []
        self._shown = ShownProject()
        self._kind = self.KIND
        self._refresh = one_shot(self, self._show_turns, REFRESH_MS)
        self._text = text
        self.turns_view = ConversationView()
        self.banner = Banner()
        self._build(choice)
        self.run_button.clicked.connect(self.run)
        self.stop_button.clicked.connect(lambda: session.stop(self._kind))
        text.edited.connect(self._show_buttons)
        session.run_started.connect(self._on_started)
        session.run_progress.connect(self._on_progress)
        session.run_finished.connect(self._on_finished)
        session.run_failed.connect(self._on_failed)
        session.project_changed.connect(self._reset)
        session.edited.connect(lambda _area: self._show_buttons())
        session.models_changed.connect(self._show_buttons)
        shortcut = QShortcut(QKeySequence("Ctrl+Return"), text)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(self.run)

    def _build(self, choice: QCheckBox) -> None:
        bar = Strip(36, "window")
        self.model_words = TokenLabel(
            "", "second", size="second", elide=True, align=Qt.AlignmentFlag.AlignRight
        )
        self.run_button = QPushButton("Run")
        set_icon(self.run_button, "play")
        self.run_button.setToolTip(self.RUN_TIP)
        self.stop_button = QPushButton("Stop")
        set_icon(self.stop_button, "stop")
        self.stop_button.setToolTip(self.STOP_TIP)
        bar.row.addWidget(choice)
        bar.row.addWidget(self.model_words, 1)
        bar.row.addWidget(self.run_button)
        bar.row.addWidget(self.stop_button)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(self._text)
        splitter.addWidget(self.turns_view)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([70, 400])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(bar)
        layout.addWidget(splitter, 1)
        layout.addWidget(self.banner)

    def run(self) -> None:
        """Start the run, where there is something to run."""
        raise NotImplementedError

    def events(self) -> list[RunEvent]:
        """Return the events of the run that is shown."""
        return list(self._events)

    def _turns(self) -> Sequence[Turn]:
        raise NotImplementedError

    def _show_idle(self) -> None:
        raise NotImplementedError

    def _show_outcome(self, result: Any) -> None:
        raise NotImplementedError

    def _has_something(self) -> bool:
        return bool(self._text.text().strip())

    def _follows(self, kind: str) -> bool:
        """Tell whether a run that begins belongs here."""
        return kind == self.KIND

    def _show_turns(self) -> None:
        self.turns_view.set_turns(self._turns())

    def _reset(self) -> None:
        self._events, self._kind = [], self.KIND
        if self._shown.becomes(self._session.project):
            self._text.set_text("")
        self._show_turns()
        self._show_idle()
        self._show_buttons()

    def _show_buttons(self) -> None:
        session = self._session
        running = self._kind in session.running()
        self.stop_button.setEnabled(running)
        if session.project is None:
            self.run_button.setEnabled(False)
            return
        self.run_button.setEnabled(not running and self._has_something() and bool(session.snapshot().tools))
        try:
            settings = session.chat_settings()
        except Exception as error:  # a model that the project does not have: say so and go on
            self.model_words.set_text(str(error))
            return
        self.model_words.set_text(model_title(settings))

    def _on_started(self, kind: str) -> None:
        if self._follows(kind):
            self._kind = kind
            self._events = []
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
            self._ended()
            self._show_outcome(result)

    def _on_failed(self, kind: str, message: str) -> None:
        if kind == self._kind:
            self._ended()
            stopped = message == STOPPED
            headline = "Stopped by you." if stopped else self.FAILED
            self.banner.show_words("none" if stopped else "error", headline, "" if stopped else message)

    def _ended(self) -> None:
        self._refresh.stop()
        self._show_turns()
        self._show_buttons()
