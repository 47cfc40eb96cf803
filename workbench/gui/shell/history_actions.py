"""What the menus and the palette do with the run in the history, and the word when a run could not be kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from workbench.engine.text import shorten
from workbench.gui.shell.docks import DockManager
from workbench.gui.shell.session import Session
from workbench.gui.shell.status_bar import StatusItem, WorkbenchStatusBar

if TYPE_CHECKING:
    from workbench.gui.panes.history import HistoryPane

PANE = "history"
# Kinds of runs that can be started again from the history.
_STARTED = ("translate", "check", "tool")


class HistoryActions(QObject):
    """Acts on the history pane, which is opened where it was not; `changed` tells that `abilities` are others now."""

    changed = Signal()

    def __init__(self, parent: QObject, session: Session, docks: DockManager) -> None:
        super().__init__(parent)
        self._session, self._docks = session, docks
        self._pane: HistoryPane | None = None
        session.history_changed.connect(self._on_history)
        docks.docks[PANE].built.connect(self._built)

    def slots(self) -> dict[str, Callable[[], Any]]:
        """Return what each action of the history does."""
        return {
            "history.again": lambda: self.pane().run_again(),
            "history.branch": lambda: self.pane().branch(),
            "history.batch": lambda: self.pane().run_batch(),
            "history.compare": lambda: self.pane().compare(),
            "history.open": lambda: self.pane().open_inputs(),
            "history.export-json": lambda: self.pane().marks.export("json"),
            "history.export-markdown": lambda: self.pane().marks.export("markdown"),
            "history.star": self._star,
            "history.rename": lambda: self.pane().marks.rename(),
            "history.note": lambda: self.pane().marks.annotate(),
            "history.delete": lambda: self.pane().marks.delete(),
        }

    def pane(self) -> HistoryPane:
        """Bring the history to the front and return it."""
        pane: HistoryPane = self._docks.show_pane(PANE)
        return pane

    def abilities(self) -> frozenset[str]:
        """Return what can be done with the run that the history shows, or would show were it opened now."""
        if self._session.project is None or self._session.history is None:
            return frozenset()
        if self._pane is not None:
            return self._pane.abilities()
        newest = self._newest()
        if newest is None:
            return frozenset()
        found = {"mark"}
        if newest.kind in _STARTED:
            found |= {"again", "open", "compare"}
        if newest.attempts:
            found.add("branch")
        return frozenset(found)

    def _newest(self) -> Any:
        from workbench.engine.history import HistoryError

        assert self._session.history is not None
        try:
            runs = self._session.history.runs(limit=1)
        except HistoryError:  # the pane itself says what is wrong, once it is opened
            return None
        return runs[0] if runs else None

    def _built(self, pane: Any) -> None:
        self._pane = pane
        pane.abilities_changed.connect(self.changed)
        self.changed.emit()

    def _on_history(self) -> None:
        if self._pane is None:
            self.changed.emit()

    def _star(self) -> None:
        pane = self.pane()
        summary = pane.list.summary()
        if summary is not None:
            pane.marks.star(not summary.starred)


class HistoryNotice(QObject):
    """Says in the status bar, once and until it is mended, that a run could not be kept; a click leads to the reason."""

    def __init__(self, bar: WorkbenchStatusBar, session: Session, show: Callable[[], Any]) -> None:
        super().__init__(bar)
        self._session = session
        self._said: str | None = None
        self.item = StatusItem()
        self.item.clicked.connect(show)
        self.item.say("")
        bar.addPermanentWidget(self.item)
        session.history_changed.connect(self._look)
        session.project_changed.connect(self._look)

    def _look(self) -> None:
        history = self._session.history
        problem = history.problem if history is not None else None
        if problem == self._said:
            return
        self._said = problem
        self.item.say("Last run not kept" if problem else "", "warning", "rejected")
        self.item.setToolTip(problem or "")
        if problem and history is not None:
            # The tip and the history say it all; a long line would push the rest out of the bar.
            reason = problem.removeprefix(f"{history.path}: ").split(";")[0]
            self._session.status.emit(f"The run is not in the history: {shorten(reason, 60)}")
