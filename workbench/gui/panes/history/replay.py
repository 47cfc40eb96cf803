"""Where in a stored run the reader stands: step forward and back, or let it play at a chosen speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.gui.shell.timers import one_shot

if TYPE_CHECKING:
    from workbench.engine.events import RunEvent
    from workbench.engine.history import Run

SPEEDS: dict[float, str] = {
    0.25: "a quarter of the pace",
    0.5: "half the pace",
    1.0: "its own pace, long waits cut short",
    2.0: "twice the pace",
    4.0: "four times the pace",
    16.0: "as fast as one can look",
    0.0: "as it happened, to the second",
}
"""How fast a run is played: a factor, and 0 for the true waits, however long."""

_SHORTEST_MS, _LONGEST_MS = 250, 1500
_FASTEST_MS = 30


class Replay(QObject):
    """A run and the step that is shown. `moved` tells another step, `playing_changed` that it plays or stops."""

    moved = Signal()
    playing_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run: Run | None = None
        self.step = -1
        self.speed = 1.0
        self._cuts: list[int] = []
        self._timer = one_shot(self, self._play_on)

    def load(self, run: Run | None) -> None:
        """Take another run and stand at its last step; nobody is told."""
        from workbench.engine.workflows import step_cuts

        self.stop()
        self.run = run
        self._cuts = step_cuts(run.summary.kind, run.events) if run is not None else []
        self.step = len(self._cuts) - 1

    def count(self) -> int:
        """Return the number of steps."""
        return len(self._cuts)

    def events(self) -> tuple[RunEvent, ...]:
        """Return the events up to the step that is shown."""
        if self.run is None:
            return ()
        return self.run.events[: self._cuts[self.step]] if self._cuts else self.run.events

    def go_to(self, step: int) -> None:
        """Show a step, from 0; one beyond an end is the one at that end."""
        if self._cuts:
            self.step = max(0, min(step, len(self._cuts) - 1))
            self.moved.emit()

    # Playing

    def playing(self) -> bool:
        """Tell whether the run is being played."""
        return self._timer.isActive()

    def play_or_pause(self) -> None:
        """Play the steps one after the other, or stop playing; from the last step it begins anew."""
        if self.playing():
            self.stop()
            return
        if self.count() > 1:
            if self.step >= self.count() - 1:
                self.go_to(0)
            self._timer.start(self.pause_ms())
            self.playing_changed.emit(True)

    def stop(self) -> None:
        """Stop playing."""
        if self.playing():
            self._timer.stop()
            self.playing_changed.emit(False)

    def set_speed(self, speed: float) -> None:
        """Play at one of `SPEEDS`; a run that is playing goes on at it."""
        self.speed = speed
        if self.playing():
            self._timer.start(self.pause_ms())

    def pause_ms(self) -> int:
        """Return how long the present step stays while the run is played."""
        if self.run is None or self.step >= self.count() - 1:
            return _FASTEST_MS
        events = self.run.events
        now, then = self._cuts[self.step] - 1, self._cuts[self.step + 1] - 1
        gap = max(0.0, (events[then].at - events[now].at) * 1000)
        if not self.speed:
            return max(_FASTEST_MS, round(gap))
        return max(_FASTEST_MS, round(max(_SHORTEST_MS, min(_LONGEST_MS, gap)) / self.speed))

    def _play_on(self) -> None:
        self.go_to(self.step + 1)
        if self.step < self.count() - 1:
            self._timer.start(self.pause_ms())
        else:
            self.playing_changed.emit(False)
