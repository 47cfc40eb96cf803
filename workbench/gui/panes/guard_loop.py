"""The output guardrail at work: how often it may ask again, with which words, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QSpinBox, QWidget

from workbench.engine.workflows.guard_record import GuardFold
from workbench.gui.models.checks_loop import KIND, start_loop
from workbench.gui.models.model_title import model_title
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.guard_steps import GuardSteps
from workbench.gui.widgets.labels import TokenLabel

if TYPE_CHECKING:
    from workbench.engine.events import RunEvent


_TIP = (
    "Validate, reprompt the chat model and validate again, until a response passes;\n"
    "with no response above, the chat model is asked for one first"
)


class GuardLoop(QWidget):
    """Controls of the reprompt, and the run. `steps` is a widget of its own, for the list of rows.

    `shown` tells the result of a validation whose checks shall be shown in the rows.
    """

    shown = Signal(object)
    response_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._fold = GuardFold()
        self._mine = False
        self.steps = GuardSteps()
        self.steps.setVisible(False)
        self.reprompt = QLineEdit()
        self.reprompt.setAccessibleName("Reprompt")
        self.reprompt.setPlaceholderText("no reprompt: a rejection is final")
        self.reprompt.setToolTip("What the chat model is told when its response was rejected")
        self.most = QSpinBox()
        self.most.setRange(0, 20)
        self.most.setAccessibleName("max_retries")
        self.most.setToolTip(
            "max_retries counts validations: 2 means one validation, one reprompt and a second validation;\n"
            "0 and 1 mean one validation and no reprompt."
        )
        self.run_button = QPushButton("Guard")
        set_icon(self.run_button, "shield")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 8, 6)
        row.setSpacing(8)
        row.addWidget(TokenLabel("Reprompt", "second", size="second"))
        row.addWidget(self.reprompt, 1)
        row.addWidget(TokenLabel("max_retries", "second", size="second"))
        row.addWidget(self.most)
        row.addWidget(self.run_button)
        self.run_button.clicked.connect(self.response_wanted)
        self.reprompt.editingFinished.connect(self._reprompt_edited)
        self.most.valueChanged.connect(self._most_changed)
        self.steps.chosen.connect(self.shown)
        session.run_started.connect(self._on_started)
        session.run_finished.connect(self._on_finished)
        session.run_failed.connect(self._on_failed)

    # The settings

    def refresh(self) -> None:
        """Show the settings of the project."""
        settings = self._session.snapshot().output_guardrail
        if not self.reprompt.hasFocus():
            self.reprompt.setText(settings.reprompt or "")
            self.reprompt.setCursorPosition(0)
        blocked = self.most.blockSignals(True)
        self.most.setValue(settings.max_retries)
        self.most.blockSignals(blocked)
        self._show_button()

    def _show_button(self) -> None:
        checks = bool(self._session.snapshot().output_guardrail.checks)
        self.run_button.setEnabled(checks and KIND not in self._session.running())
        self.run_button.setToolTip(
            _TIP if checks else "There is no output check that could reject a response"
        )

    def clear(self) -> None:
        """Take the steps away: they belong to another project."""
        self._fold, self._mine = GuardFold(), False
        self.steps.clear()
        self.steps.setVisible(False)

    def _reprompt_edited(self) -> None:
        before, after = (
            self._session.snapshot().output_guardrail.reprompt,
            self.reprompt.text().strip() or None,
        )
        self._set("reprompt", before, after, "Reprompt")

    def _most_changed(self, value: int) -> None:
        self._set("max_retries", self._session.snapshot().output_guardrail.max_retries, value, "max_retries")

    def _set(self, key: str, before: object, after: object, words: str) -> None:
        project = self._session.project
        if before != after and project is not None:
            # Undo takes a key away that the file did not have: its default is not written.
            restored = before if project.states("guardrails", "output", key) else None
            self._session.apply(
                "guardrails",
                words,
                lambda project: project.set_guardrail("output", key, after),
                lambda project: project.set_guardrail("output", key, restored),
                merge=f"guardrail/output/{key}",
            )

    # Running

    def run(self, response: str, user_message: str | None) -> None:
        """Guard a response; a blank one is first asked of the chat model."""
        session = self._session
        if session.project is None or KIND in session.running():
            return
        self._reprompt_edited()
        self._fold = GuardFold()
        loop = start_loop(session, response, user_message, self._happened)
        if loop is None:
            return
        self._mine = True
        self.steps.clear()
        self.steps.setVisible(True)
        session.status.emit(f"Guarding the response with {model_title(loop.chat)}")

    def _happened(self, event: RunEvent) -> None:
        # How a run failed is told by `_on_failed`, without the secrets that an error may name.
        if KIND not in self._session.running() or event.kind == "failed":
            return
        self._fold.apply(event)
        record = self._fold.record()
        self.steps.show_record(record, running=event.kind != "finished")
        last = record.steps[-1] if record.steps else None
        if event.kind == "validation" and last is not None and last.result is not None:
            self.shown.emit(last.result)

    def text_of(self, result: object) -> str | None:
        """Return the response that a result of this run belongs to, `None` for any other result."""
        found = [step for step in self._fold.record().validations() if step.result is result]
        return found[-1].text if found else None

    def _on_started(self, kind: str) -> None:
        if kind == KIND:
            self._show_button()

    def _on_finished(self, kind: str, _result: object) -> None:
        if kind == KIND:
            self._end()

    def _on_failed(self, kind: str, message: str) -> None:
        if kind == KIND:
            self._end(message)

    def _end(self, failure: str = "") -> None:
        """Show how the run ended; one that the history ran again is shown there, not here."""
        self._show_button()
        if self._mine:
            self._mine = False
            self.steps.show_record(self._fold.record(), failure=failure)
