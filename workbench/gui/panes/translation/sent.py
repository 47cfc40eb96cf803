"""One line below the request that says what Translate would send now, filled, and leads to the whole of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.engine.text import shorten
from workbench.gui.models.figures import counted
from workbench.gui.shell.session import Session
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.labels import LinkButton, TokenLabel

if TYPE_CHECKING:
    from workbench.engine.translation.preview import PromptPreview

PAUSE_MS = 250
TIP_LENGTH = 2_000


class SentLine(QWidget):
    """Counts what would be sent; its tip and its link show the text. Made anew on a pause, while it is seen."""

    asked = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._request = ""
        self.words = TokenLabel("", "second", size="second", sentences=True)
        self.link = LinkButton("Show")
        self.link.setAccessibleName("Show the prompt that would be sent")
        self.link.setToolTip("Show the prompt that would be sent")
        self.link.clicked.connect(lambda: self.asked.emit())
        self.link.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.words, 1)
        row.addWidget(self.link)
        self._pause = one_shot(self, self.refresh, PAUSE_MS)
        session.edited.connect(lambda _area: self._soon())
        session.parameter_set_changed.connect(lambda _name: self._soon())
        session.project_changed.connect(self._soon)

    def show_for(self, request: str) -> None:
        """Take up another request."""
        if request != self._request:
            self._request = request
            self._soon()

    def _soon(self) -> None:
        if self.isVisible():
            self._pause.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._pause.start()

    def refresh(self) -> None:
        """Make the prompt as it would be sent and count it."""
        self._pause.stop()
        session, request = self._session, self._request
        if session.project is None or session.snapshot().output_schema is None:
            self._say("The project has no output schema, so nothing can be sent.", "")
            return
        if not request.strip():
            self._say("Nothing is sent while the request is empty.", "")
            return
        snapshot, parameter_set = session.snapshot(), session.parameter_set

        async def work() -> PromptPreview:
            from workbench.engine.workflows import preview_translation

            return await preview_translation(snapshot, request, parameter_set=parameter_set)

        session.jobs.run_async(work, self._show, lambda error: self._say(str(error), ""), key="sent-line")

    def _show(self, preview: PromptPreview) -> None:
        if not preview.messages:
            self._say(preview.problem or "Nothing would be sent.", "")
            return
        from workbench.engine.templates import count_texts

        texts = [message.text() for message in preview.messages]
        counts = count_texts(texts)
        before = len(texts) - 1
        filled = f", {counted(before, 'message')} before it" if before else ""
        if before and self._session.snapshot().translation.preamble == "template":
            filled += f" filled from “{self._session.parameter_set or 'no set'}”"
        words = f"Sends about {counted(counts.tokens, 'token')}: the request in its prompt{filled}."
        self._say(f"{words} {counted(counts.characters, 'character')}.", "\n\n".join(texts))

    def _say(self, words: str, text: str) -> None:
        self.words.set_text(words)
        self.words.setToolTip(f"{words}\n\n{shorten(text, TIP_LENGTH)}" if text else words)
        self.link.setVisible(bool(text))
        self.updateGeometry()
