"""Shows the request prompt and the repair prompt as they would be sent now, while settings are edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.gui.models.turns import last_current
from workbench.gui.shell.session import Session
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.conversation import ConversationView, Turn
from workbench.gui.widgets.labels import SegmentedControl, Strip, TokenLabel

if TYPE_CHECKING:
    from workbench.engine.translation import Attempt
    from workbench.engine.translation.preview import PromptPreview

PAUSE_MS = 200
SAMPLE_REQUEST = "(the request)"
SAMPLE_REPLY = "{}"


class PromptsView(QWidget):
    """A conversation that is not sent. It is made anew on a pause of typing, and only while somebody looks."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._request = ""
        self._attempt: Attempt | None = None
        self.mode = SegmentedControl({"request": "Request prompt", "repair": "Repair prompt"})
        self.note = TokenLabel("", "second", size="second", elide=True)
        strip = Strip(32)
        strip.row.addWidget(self.note, 1)
        strip.row.addWidget(self.mode)
        self.conversation = ConversationView()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(strip)
        layout.addWidget(self.conversation, 1)
        self._pause = one_shot(self, self.refresh, PAUSE_MS)
        self.mode.chosen.connect(lambda _key: self.refresh())
        session.edited.connect(lambda _area: self._soon())
        session.parameter_set_changed.connect(lambda _name: self._soon())
        session.project_changed.connect(self._soon)

    def show_for(self, request: str, attempt: Attempt | None) -> None:
        """Show the prompts of a request, and the repair that the reply of `attempt` would get."""
        if request != self._request or attempt is not self._attempt:
            self._request, self._attempt = request, attempt
            self._soon()

    def _soon(self) -> None:
        if self.isVisible():
            self._pause.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Write the prompts again."""
        self._pause.stop()
        session = self._session
        if session.project is None or session.snapshot().output_schema is None:
            self.conversation.set_turns([])
            self.note.set_text("The project has no output schema.")
            return
        snapshot, parameter_set = session.snapshot(), session.parameter_set
        request = self._request or SAMPLE_REQUEST
        attempt = self._attempt if self._attempt is not None and self._attempt.reply else None
        repair = self.mode.current() == "repair"

        async def work() -> tuple[PromptPreview, str]:
            from workbench.engine.translation import Attempt
            from workbench.engine.workflows import preview_translation

            asked = await preview_translation(snapshot, request, parameter_set=parameter_set)
            if not repair:
                return asked, "What Translate would send now; nothing is sent here"
            if attempt is not None:
                found = await preview_translation(snapshot, request, attempt=attempt)
                return found, f"What would follow reply {attempt.number}, by today's schema"
            made_up = Attempt(1, asked.messages, len(asked.messages), reply=SAMPLE_REPLY)
            found = await preview_translation(snapshot, request, attempt=made_up)
            return found, f"What would follow if the model answered {SAMPLE_REPLY}"

        session.jobs.run_async(work, lambda done: self._show(*done), self._failed, key="prompt-preview")

    def _show(self, preview: PromptPreview, words: str) -> None:
        turns = last_current(
            Turn(message.role, message.shown_text(), _caption(k, preview))
            for k, message in enumerate(preview.messages)
        )
        self.conversation.set_turns(turns)
        if not turns:
            words = preview.problem or "This reply is valid, so no repair would be asked for."
        self.note.set_text(words)
        self.note.setToolTip(words)

    def _failed(self, error: BaseException) -> None:
        self.conversation.set_turns([])
        self.note.set_text(str(error))
        self.note.setToolTip(str(error))


def _caption(position: int, preview: PromptPreview) -> str:
    last = len(preview.messages) - 1
    if position == last:
        return "repair prompt" if preview.judged is not None else "request prompt"
    if preview.judged is not None and position == preview.judged.base_count - 1:
        return "request prompt"
    return "reply" if preview.messages[position].role == "assistant" else "sent before"
