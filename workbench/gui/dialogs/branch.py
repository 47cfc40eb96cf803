"""Asks what shall differ when a translation goes on from an attempt of a stored run: prompt, reply, schema, model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.dialogs.branch_schema import SchemaEdit
from workbench.gui.models.figures import counted
from workbench.gui.models.model_title import model_title
from workbench.gui.models.runs import word_of
from workbench.gui.shell.scale import resize_window
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon, set_role
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.diagnostic_list import DiagnosticList
from workbench.gui.widgets.labels import Banner, SectionHead, TokenLabel, column
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.history import Run
    from workbench.engine.projects.snapshot import ProjectSnapshot
    from workbench.engine.translation import Attempt
    from workbench.engine.translation.preview import PromptPreview

PAUSE_MS = 250


class BranchDialog(QDialog):
    """The reply, the repair prompt, the schema and the model, each to be edited; the schema judges the reply at once.

    The repair prompt follows the reply for as long as nobody has edited it.
    """

    def __init__(self, session: Session, run: Run, attempt: Attempt, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._run, self._attempt = session, run, attempt
        self._written = ""
        self.preview: PromptPreview | None = None
        self.setWindowTitle(f"Repair again from run {run.summary.id}, attempt {attempt.number}")
        resize_window(self, 860, 620)
        self._build()
        self._pause = one_shot(self, self._judge, PAUSE_MS)
        self.reply.set_text(attempt.reply)
        self.reply.document().clearUndoRedoStacks()
        self.reply.edited.connect(self._edited)
        self.schema.edited.connect(self._edited)
        self.prompt.edited.connect(self._show_buttons)
        self._show_buttons()
        self._judge()

    def _build(self) -> None:
        words = (
            "A new run begins with this conversation and is stored below the old one, which stays as it is."
        )
        self.reply = TextInput("Reply to go on from", "", 12)
        snapshot = self._snapshot()
        today = snapshot.output_schema.text if snapshot.output_schema is not None else None
        stored = self._run.inputs.get("schema")
        self.schema = SchemaEdit(today, stored if isinstance(stored, str) else None)
        self.diagnostics = DiagnosticList("What is wrong with the reply")
        self.verdict = Banner()
        self.prompt = TextInput("Repair prompt", "", 12)
        self.prompt_head = SectionHead("Repair prompt")
        self.again = QPushButton("Write it again")
        set_icon(self.again, "refresh")
        self.again.setToolTip("Drop what was edited here and take the prompt that today's project writes")
        self.again.clicked.connect(self._write_again)
        self.prompt_head.add(self.again)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(column(self.prompt_head, self.prompt), "Repair prompt")
        self.tabs.addTab(
            column(SectionHead("Reply of the model, as if it had come like this"), self.reply), "Reply"
        )
        self.tabs.addTab(self.schema, "Schema")
        if snapshot.translation.target == "program":
            # A program is judged by the tools, so that no schema would be looked at.
            self.tabs.setTabVisible(self.tabs.indexOf(self.schema), False)
        self.tabs.addTab(self.diagnostics, "Diagnostics")
        self.model = QComboBox()
        self.model.setAccessibleName("Model that answers")
        self.model.addItem("as the project says", None)
        for name in self._session.chat_models():
            self.model.addItem(f"{name}: {model_title(snapshot.models[name])}", name)
        row = QHBoxLayout()
        row.addWidget(TokenLabel("Ask", "second"))
        row.addWidget(self.model, 1)
        if self._attempt.model:
            row.addWidget(TokenLabel(f"model of this attempt: {self._attempt.model}", "second"))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.start = QPushButton("Go on from here")
        set_role(self.start, "main")
        set_icon(self.start, "branch", "on_accent")
        self.buttons.addButton(self.start, QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 12)
        layout.setSpacing(10)
        layout.addWidget(TokenLabel(words, "second", wrap=True))
        layout.addWidget(self.verdict)
        layout.addWidget(self.tabs, 1)
        layout.addLayout(row)
        layout.addWidget(self.buttons)

    def _snapshot(self) -> ProjectSnapshot:
        """Return today's project, in which the request becomes what it became in the run: a value, or a program."""
        from workbench.engine.workflows import target_of, with_target

        return with_target(self._session.snapshot(), target_of(self._run))

    # What the reply is worth today

    def _edited(self) -> None:
        """Say at once that the verdict is about another text, and judge this one when the typing pauses."""
        self._session.jobs.cancel("branch-preview")
        self.preview = None
        self.verdict.show_words(
            "running", "Checking…", "What was said here was about the text before the edit."
        )
        self._show_buttons()
        self._pause.start()

    def _judge(self) -> None:
        from workbench.engine.workflows import preview_translation

        snapshot, reply, schema = self._snapshot(), self.reply.text(), self.schema.changed()
        request, attempt = str(self._run.inputs.get("request", "")), self._attempt
        self._session.jobs.run_async(
            lambda: preview_translation(snapshot, request, attempt=attempt, reply=reply, schema_text=schema),
            self._judged,
            self._not_judged,
            key="branch-preview",
        )

    def _judged(self, preview: PromptPreview) -> None:
        self.preview = preview
        self.schema.show_problems(())
        self.tabs.setTabText(self.tabs.indexOf(self.schema), "Schema")
        judged = preview.judged
        diagnostics = judged.diagnostics if judged is not None else ()
        errors = sum(1 for each in diagnostics if each.severity == "error")
        self.diagnostics.show_diagnostics(diagnostics)
        words = f"Diagnostics {errors}" if errors else "Diagnostics"
        self.tabs.setTabText(self.tabs.indexOf(self.diagnostics), words)
        untouched = self.prompt.text() == self._written
        self._written = preview.prompt
        if untouched:
            self.prompt.set_text(preview.prompt)
        if judged is not None and judged.outcome == "ok":
            self.verdict.show_words(
                "passed", "This reply is valid now.", "No model is asked; the run ends with its value."
            )
        else:
            outcome = word_of(judged.outcome) if judged is not None else "not judged"
            found = f"{outcome}, {counted(errors, 'error')}"
            self.verdict.show_words(
                "rejected", f"This reply now: {found}.", "The repair prompt below is sent to the model."
            )
        self._show_buttons()

    def _not_judged(self, error: BaseException) -> None:
        from workbench.engine.workflows import OUTPUT_SCHEMA_FILE, WorkflowError

        self.preview = None
        found = error.diagnostics if isinstance(error, WorkflowError) else ()
        problems = [each for each in found if each.file in (None, OUTPUT_SCHEMA_FILE)]
        self.schema.show_problems(problems)
        headline = "This project cannot go on from here."
        if problems:
            headline = "The schema cannot be used."
            self.tabs.setTabText(self.tabs.indexOf(self.schema), f"Schema {len(problems)}")
        self.verdict.show_words("error", headline, str(error))
        self._show_buttons()

    def _write_again(self) -> None:
        self.prompt.set_text(self._written)

    def _show_buttons(self) -> None:
        edited = self.prompt.text() != self._written
        self.again.setEnabled(edited)
        self.prompt_head.note.set_text("edited here" if edited else "as today's project writes it")
        valid = (
            self.preview is not None
            and self.preview.judged is not None
            and self.preview.judged.outcome == "ok"
        )
        self.start.setEnabled(self.preview is not None and (valid or bool(self.prompt.text().strip())))

    def done(self, result: int) -> None:
        self._pause.stop()
        self._session.jobs.cancel("branch-preview")
        super().done(result)

    def changes(self) -> dict[str, str | None]:
        """Return what differs from going on unchanged, as `Session.branch` takes it."""
        reply, prompt = self.reply.text(), self.prompt.text()
        return {
            "reply": reply if reply != self._attempt.reply else None,
            "repair_prompt": prompt if prompt != self._written and prompt.strip() else None,
            "schema_text": self.schema.changed(),
            "model_name": self.model.currentData(),
        }
