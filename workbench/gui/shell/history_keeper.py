"""Opens the history of the open project, tends it in the background, and closes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.gui.jobs import Jobs
from workbench.gui.models.figures import counted
from workbench.gui.shell.settings import AppSettings

if TYPE_CHECKING:
    from workbench.engine.history import HistoryStore

_JOB = "history"


class HistoryKeeper(QObject):
    """Holds the open `store`, `None` where runs are not kept; `problem` says why, or what is wrong with it."""

    changed = Signal()
    said = Signal(str)

    def __init__(
        self, settings: AppSettings, jobs: Jobs, scrub: Callable[[str], str], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._jobs = jobs
        self._scrub = scrub
        self.store: HistoryStore | None = None
        self.problem: str | None = None

    def open(self, root: Path | None, *, records: bool) -> None:
        """Open the history of the project in `root`; without `records` none is made and none is changed."""
        self.problem = None
        if root is None:
            self.problem = "the project was never saved"
            return
        path = root / ".workbench" / "history.sqlite"
        if not records and not path.exists():
            return
        from workbench.engine.history import HistoryStore

        try:
            self.store = HistoryStore.open(path, scrub=self._scrub)
        except Exception as error:  # whatever keeps the store shut, the project must open
            self.problem = str(error)
            self.said.emit(f"This project keeps no history: {error}")
            return
        if self.store.notice:
            self.problem = self.store.notice
            self.said.emit(self.store.notice)
        if records:
            self._tend(self.store)

    def close(self) -> None:
        """Let go of the file."""
        self._jobs.cancel(_JOB)
        if self.store is not None:
            self.store.close()
            self.store = None

    def _tend(self, store: HistoryStore) -> None:
        """Delete what the settings do not keep and look whether the file is sound, in the background."""
        days, runs, megabytes = (
            self._settings.get(f"history.{key}") for key in ("days", "runs", "megabytes")
        )

        def work() -> tuple[int, list[str]]:
            if problems := store.quick_check():
                return 0, problems
            deleted = store.prune(
                max_age_days=days or None,
                max_runs=int(runs) or None,
                max_bytes=int(megabytes * 1_000_000) or None,
            )
            return deleted, []

        def done(found: tuple[int, list[str]]) -> None:
            deleted, problems = found
            if problems:
                self.problem = f"The history file is damaged: {problems[0]}. Runs may be missing."
                self.said.emit(self.problem)
            if deleted:
                self.said.emit(f"{counted(deleted, 'old run')} deleted from the history")
            if deleted or problems:
                self.changed.emit()

        def failed(error: BaseException) -> None:
            self.said.emit(f"History: {error}")

        self._jobs.run_pool(work, on_done=done, on_error=failed, key=_JOB)
