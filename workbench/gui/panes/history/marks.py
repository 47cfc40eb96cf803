"""What a person does to a stored run as a whole: star, name, note, export, delete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from workbench.engine.json_text import dumps
from workbench.gui.panes.history.runs_list import RunsList
from workbench.gui.shell.session import Session


class RunMarks(QObject):
    """Acts on the run that is chosen in the list; `deleted` tells the number of one that is gone."""

    deleted = Signal(int)

    def __init__(self, session: Session, runs: RunsList, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._runs, self._window = session, runs, window

    def star(self, starred: bool) -> None:
        """Give the chosen run a star, or take it."""
        summary, history = self._runs.summary(), self._session.history
        if summary is not None and history is not None:
            self._write(lambda: history.star(summary.id, starred))

    def rename(self, name: str | None = None) -> None:
        """Give the chosen run a name of the user's own; asks when none is given."""
        summary, history = self._runs.summary(), self._session.history
        if summary is None or history is None:
            return
        if name is None:
            shown = summary.name or summary.title
            name, accepted = QInputDialog.getText(self._window, "Rename run", "Name:", text=shown)
            if not accepted:
                return
        self._write(lambda: history.rename(summary.id, name.strip()))

    def annotate(self, note: str | None = None) -> None:
        """Write a note on the chosen run; asks when none is given."""
        summary, history = self._runs.summary(), self._session.history
        if summary is None or history is None:
            return
        if note is None:
            note, accepted = QInputDialog.getMultiLineText(
                self._window, "Note on the run", "Note:", summary.note
            )
            if not accepted:
                return
        self._write(lambda: history.annotate(summary.id, note))

    def delete(self) -> None:
        """Delete the chosen run from the history."""
        summary, history = self._runs.summary(), self._session.history
        if summary is not None and history is not None and self._write(lambda: history.delete(summary.id)):
            self.deleted.emit(summary.id)
            self._runs.refresh()

    def export(self, form: str, path: Path | None = None) -> None:
        """Write the chosen run to a file, `form` being `json` or `markdown`; asks where when no path is given."""
        from workbench.engine.history import run_to_json, run_to_markdown

        summary, history = self._runs.summary(), self._session.history
        if summary is None or history is None:
            return
        suffix = {"json": "json", "markdown": "md"}[form]
        if path is None:
            name, _filter = QFileDialog.getSaveFileName(
                self._window, "Export run", f"run-{summary.id}.{suffix}", f"*.{suffix}"
            )
            if not name:
                return
            path = Path(name)

        def write() -> None:
            run = history.run(summary.id)
            text = dumps(run_to_json(run), indent=2) + "\n" if form == "json" else run_to_markdown(run)
            path.write_text(text, encoding="utf-8")

        if self._write(write):
            self._session.status.emit(f"Run {summary.id} written to {path.name}")

    def _write(self, change: Callable[[], object]) -> bool:
        """Do something that may fail on the disk, and say why where it did; the list is read again."""
        from workbench.engine.history import HistoryError

        try:
            change()
        except OSError as error:
            name = Path(error.filename).name if error.filename else "The file"
            self._session.status.emit(f"{name} was not written: {error.strerror or error}")
            return False
        except (KeyError, HistoryError) as error:
            self._session.status.emit(str(error.args[0]))
            return False
        self._runs.refresh()
        return True
