"""Fitting and taking a fit away as steps of undo: the stored weights are put back byte by byte."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QUndoCommand

from workbench.gui.shell.session import Session


def fit_path(session: Session) -> Path | None:
    """Return where the weights of the decision model in use are kept, `None` for a project that was never saved."""
    from workbench.engine.decisions import fitted_path

    return fitted_path(session.decision_settings(), session.snapshot().root)


class FitStep(QUndoCommand):
    """A change of the stored fit at `path` from one file's bytes to another's; `None` is no fit."""

    def __init__(
        self, session: Session, words: str, path: Path, before: bytes | None, after: bytes | None
    ) -> None:
        super().__init__(words)
        self._session, self._path, self._before, self._after = session, path, before, after

    def redo(self) -> None:
        self._put(self._after)

    def undo(self) -> None:
        self._put(self._before)

    def _put(self, stored: bytes | None) -> None:
        from workbench.engine.decisions.fitted import restore_fit

        if fit_path(self._session) != self._path:
            # Saved elsewhere since, or another model in use: that fit is not this step's to change.
            self._session.status.emit(f"The fit at {self._path} is not the one in use; it stays as it is")
            return
        try:
            restore_fit(self._path, stored)
        except OSError as error:
            self._session.status.emit(f"The fit cannot be put back: {error}")
            return
        self._session.models_changed.emit()
