"""How the lab takes in the answers that a project keeps: read beside the window, and dropped when it moves on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import SignalInstance

from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings, Stage
from workbench.gui.models.cases_columns import CaseColumns
from workbench.gui.panes.thresholds.batch import Loaded, fits_of, load, results_path
from workbench.gui.panes.thresholds.turns import Turns
from workbench.gui.shell.session import Session

_LOAD = "lab-load"


class StoredAnswers:
    """The part of the lab that reads stored answers. One reading at a time: a new one ends the one before.

    `loading` tells that one is under way, `has_stored` whether there is a file to read, and `reading` how many
    answers it holds, 0 while that is not known.
    """

    session: Session
    columns: CaseColumns
    guardrail: GuardrailSettings
    stage: Stage
    loaded: Loaded | None
    failure: str
    columns_changed: SignalInstance
    progress_changed: SignalInstance
    note_changed: SignalInstance
    loading = False
    has_stored = False
    reading = 0
    _turns: Turns | None = None

    def runs_over(self, stage: Stage) -> bool:
        """Tell whether a run over the cases of a stage is under way; its answers are newer than the stored ones."""
        raise NotImplementedError

    def reload(self) -> None:
        """Read the stored answers again, off this thread, and judge which of them are stale."""
        session = self.session
        self.drop_read()
        if session.project is None:
            return
        try:
            settings = session.decision_settings()
        except Exception as error:  # a model that the project does not have: say so and go on
            self.failure = str(error)
            self.progress_changed.emit()
            return
        snapshot, stage, secrets = session.snapshot(), self.stage, session.secrets
        path = results_path(snapshot.root, stage)
        self.loading, self.has_stored = True, path is not None and path.exists()
        post = session.jobs.post
        turns = Turns(post)

        def found(answers: int) -> None:
            post(self._note_reading, answers, turns)

        self._turns = turns
        session.jobs.run_async(
            lambda: load(snapshot, stage, settings, secrets, turns, found),
            lambda loaded: self._take_loaded(loaded, stage),
            self._load_failed,
            key=_LOAD,
        )

    def drop_read(self) -> None:
        """End a reading that is under way: its project, stage or model is no longer the one that is shown."""
        self.session.jobs.cancel(_LOAD)
        if self._turns is not None:
            self._turns.withdraw()
        self._turns, self.loading, self.reading = None, False, 0

    def _note_reading(self, answers: int, turns: Turns) -> None:
        if turns is self._turns:
            self.reading = answers
            self.progress_changed.emit()

    def _take_loaded(self, loaded: Loaded, stage: Stage) -> None:
        self._turns, self.loading, self.reading = None, False, 0
        if stage != self.stage or self.runs_over(stage):
            return
        self.loaded = loaded
        # Labels and texts may have been edited while the file was read.
        snapshot = self.session.snapshot()
        # A project that was never saved has no file of answers: those of this window are all there are.
        known = loaded.columns if snapshot.root is not None else self.columns
        self.columns = known.following(snapshot.cases, self.stage)
        if wording(self.columns.checks) != wording(self.guardrail.checks):
            self.reload()
            return
        self.columns_changed.emit()
        self.progress_changed.emit()
        self.note_changed.emit()

    def _load_failed(self, error: BaseException) -> None:
        self._turns, self.loading, self.reading = None, False, 0
        self.failure = f"The stored answers cannot be read: {error}"
        for column in self.columns.columns.values():
            column.changed()  # the pictures said that they were being read
        self.columns_changed.emit()
        self.progress_changed.emit()

    def _look_at_fits(self) -> None:
        """A fit belongs to the cases it was made on: after an edit look whether it still does."""
        session, loaded = self.session, self.loaded
        if loaded is None or not loaded.fitted:
            return

        def done(found: tuple[bool, tuple[tuple[str, str], ...]]) -> None:
            if self.loaded is not None:
                self.loaded = replace(self.loaded, fitted=found[0], stale_fits=found[1])
                self.note_changed.emit()

        session.jobs.run_pool(
            fits_of, session.snapshot(), session.decision_settings(), on_done=done,
            on_error=lambda error: session.status.emit(str(error)), key="lab-fits",
        )  # fmt: skip


def wording(checks: Sequence[CheckSettings]) -> list[tuple[str, object]]:
    """Return what the answers depend on; thresholds are not part of it."""
    return [(check.name, check.wording) for check in checks]
