"""Spreads what a change of the lab draws over several turns of the window, so that none of them is long."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from workbench.gui.shell.timers import one_shot


class Slices(QObject):
    """Pieces of work by name, one a turn, in the order in which they were asked for; asked twice is done once."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: dict[str, Callable[[], object]] = {}
        self._drawing = False
        self._timer = one_shot(self, self._turn)

    def later(self, name: str, work: Callable[[], object]) -> None:
        """Do `work` in a turn of its own, soon."""
        self._waiting[name] = work
        if not self._timer.isActive():
            self._timer.start(0)

    def waiting(self, name: str | None = None) -> bool:
        """Tell whether a piece of work, or with no name any, is still to be done."""
        return bool(self._waiting) if name is None else name in self._waiting

    def finish(self) -> None:
        """Do all that waits now: somebody wants to see the whole."""
        while self._waiting:
            self._next()

    def _turn(self) -> None:
        # What a piece of work changed is painted in the next turn; that one has no work of its own.
        self._drawing = not self._drawing
        if self._waiting and self._drawing:
            self._next()
        if self._waiting or self._drawing:
            self._timer.start(0)

    def _next(self) -> None:
        name = next(iter(self._waiting))
        self._waiting.pop(name)()
