"""What can be done with the run and the attempt on show: go on from it, run it again, put its inputs back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.gui.models.inputs import inputs_channel
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session

if TYPE_CHECKING:
    from workbench.engine.history import Run
    from workbench.engine.translation import Attempt

# The name under which the session runs each kind of stored run.
_JOBS = {"translate": "translate", "check": "check", "tool": "tools"}


class RunDoing(QObject):
    """Acts on what is on show. `made` tells the number of the run that came of it."""

    made = Signal(int)

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.run: Run | None = None
        self.attempt: Attempt | None = None
        self._awaited: tuple[str, str, int] | None = None
        session.run_finished.connect(self._on_finished)
        session.run_failed.connect(self._on_failed)

    def show(self, run: Run | None, attempt: Attempt | None) -> None:
        """Act on this run and attempt from now on."""
        self.run, self.attempt = run, attempt

    def forget(self) -> None:
        """Another project is open: nothing is awaited any more."""
        self.run = self.attempt = self._awaited = None

    # What can be done

    def can_branch(self) -> bool:
        """Tell whether a repair can go on from the attempt on show."""
        attempt, run = self.attempt, self.run
        if attempt is None or run is None or not attempt.messages or self._session.history is None:
            return False
        return self._session.snapshot().output_schema is not None or bool(run.inputs.get("schema"))

    def can_run_again(self) -> bool:
        """Tell whether the run on show can be run again with today's project."""
        return self.can_open()

    def can_open(self) -> bool:
        """Tell whether the inputs of the run on show have a pane to go to."""
        return self.run is not None and self.run.summary.kind in _JOBS

    # Doing it

    def branch(self) -> None:
        """Ask what shall differ at the attempt on show, and go on from it."""
        from workbench.gui.dialogs.branch import BranchDialog

        run, attempt = self.run, self.attempt
        if run is None or attempt is None or not self.can_branch():
            return
        dialog = BranchDialog(self._session, run, attempt, self._window)
        if dialog.exec():
            self.branch_from(run.summary.id, attempt.number, **dialog.changes())
        dialog.deleteLater()

    def branch_from(self, run_id: int, attempt: int, **changes: str | None) -> None:
        """Go on from an attempt with today's project; `changes` are those of `Session.branch`."""
        self._awaited = ("translate", "translate", run_id)
        self._session.branch(run_id, attempt, **changes)

    def run_again(self) -> bool:
        """Run what the run on show was started with again, with today's prompt; the new run stands below it."""
        run = self.run
        if run is None or not self.can_run_again():
            return False
        kind, run_id = run.summary.kind, run.summary.id
        job = self._job_of(run)
        self._awaited = (job, kind, run_id)
        if not self._start(job, run):
            self._awaited = None
        return self._awaited is not None

    def _job_of(self, run: Run) -> str:
        """Return the name under which the session runs a stored run again; a one-off program stays one."""
        from workbench.engine.workflows.guarding import was_guarded
        from workbench.engine.workflows.programs import target_of

        if was_guarded(run):
            return "guard"
        kind = run.summary.kind
        one_off = self._session.snapshot().translation.target != "program"
        return "program" if kind == "translate" and one_off and target_of(run) == "program" else _JOBS[kind]

    def _start(self, job: str, run: Run) -> bool:
        from workbench.engine.workflows import PromptText, target_of
        from workbench.gui.models.checks_loop import start_loop

        session, inputs, run_id = self._session, run.inputs, run.summary.id
        request, text = str(inputs.get("request", "")), str(inputs.get("text") or "")
        if job == "guard":
            return start_loop(session, text, inputs.get("user_message"), parent=run_id) is not None
        if job == "program":
            session.run_program(request, parent=run_id)
        elif job == "translate":
            session.translate(request, parent=run_id, target=target_of(run))
        elif job == "check":
            checked, message = PromptText.from_inputs(inputs), inputs.get("user_message")
            session.run_checks(inputs.get("stage", "input"), checked, message, parent=run_id)
        else:
            session.run_tools(request, with_prompt=bool(inputs.get("with_prompt", True)), parent=run_id)
        return True

    def run_batch(self) -> None:
        """Open the window in which many requests are run."""
        from PySide6.QtCore import Qt

        from workbench.gui.dialogs.request_batch import RequestBatchDialog

        dialog = RequestBatchDialog(self._session, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def open_inputs(self) -> None:
        """Put what the run was started with back into its pane."""
        if self.run is None or not self.can_open():
            return
        kind, inputs = self.run.summary.kind, dict(self.run.inputs)
        inputs_channel(self._session).opened.emit(kind, inputs)
        place = {
            "translate": Place("translation"),
            "tool": Place("tools"),
        }.get(kind, Place("guardrails", str(inputs.get("stage", "input"))))
        self._session.go_to(place)

    def _on_finished(self, job: str, result: Any) -> None:
        if self._awaited is None or self._awaited[0] != job:
            return
        history, (_job, kind, parent) = self._session.history, self._awaited
        self._awaited = None
        if history is None or history.problem:
            return
        newest = history.runs(kind=kind, limit=1)
        if newest and newest[0].id > parent:
            self.made.emit(newest[0].id)

    def _on_failed(self, job: str, message: str) -> None:
        if self._awaited is not None and self._awaited[0] == job:
            self._awaited = None
            self._session.status.emit(message)
