"""Decides which two attempts or runs are compared: those that were chosen, else a run and where it came from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.gui.panes.history.compared import compared_attempt, compared_run
from workbench.gui.shell.session import Session
from workbench.gui.widgets.comparison import Compared

if TYPE_CHECKING:
    from workbench.engine.history import Run
    from workbench.engine.translation import Attempt


class Comparing:
    """`choice` holds for the run on show; `base` is compared with whatever is shown until it is taken back."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.choice: Compared | None = None
        self.base: Compared | None = None
        self._others: dict[int, Run | None] = {}

    def reset(self, base: Compared | None = None) -> None:
        """Forget everything, and compare with `base` from now on."""
        self.choice, self.base = None, base
        self._others.clear()

    def forget_choice(self) -> None:
        """Another run is on show: what was chosen for the last one no longer holds."""
        self.choice = None
        self._others.clear()

    def choose(self, run_id: int, number: int | None) -> bool:
        """Compare with an attempt of a run, or with a run that has none; False where there is nothing to compare."""
        run = self._other_run(run_id)
        if run is None:
            return False
        if run.summary.kind == "translate":
            found = self._attempt_of(run, number, name_run=True)
        else:
            found = compared_run(run)
        if found is not None:
            self.choice = found
        return found is not None

    def toggle_base(self, shown: Compared | None) -> None:
        """Make what is shown the base, or stop comparing with it where it is the base already."""
        self.base = None if self._is_base(shown) else shown

    def base_words(self, shown: Compared | None) -> tuple[str, str]:
        """Return the words and the icon of the action that does `toggle_base`."""
        if self._is_base(shown):
            return "Stop comparing everything with this", "close"
        return "Compare whatever I choose next with this", "flag"

    def _is_base(self, shown: Compared | None) -> bool:
        return self.base is not None and shown is not None and self.base.key == shown.key

    def run_pair(self, run: Run) -> tuple[Compared, Compared] | None:
        """Return the two that are compared while a run without attempts is shown, the earlier one first."""
        this, kind = compared_run(run), run.summary.kind
        if this is None:
            return None
        parent = self._other_run(run.summary.parent_run) if run.summary.parent_run is not None else None
        came_from = compared_run(parent) if parent is not None else None
        for other in (self.choice, self.base, came_from):
            if other is not None and other.key != this.key and self._kind_of(other) == kind:
                return (other, this) if other.key[0] < run.summary.id else (this, other)
        return None

    def _kind_of(self, compared: Compared) -> str:
        run = self._other_run(compared.key[0])
        return run.summary.kind if run is not None else ""

    def pair(self, run: Run, attempt: Attempt) -> tuple[Compared, Compared] | None:
        """Return the two that are compared while `attempt` is shown, the earlier one first; `None` for none."""
        other = self._counterpart(run, attempt)
        if other is None:
            return None
        # Of a request that ran again, what matters is today's prompt, however many repairs each run took.
        again = run.summary.parent_attempt is None and other.key[0] == run.summary.parent_run
        this = compared_attempt(run, attempt, name_run=False, request_only=again)
        later = other.key[0] == run.summary.id and other.key > this.key
        return (this, other) if later else (other, this)

    def _counterpart(self, run: Run, attempt: Attempt) -> Compared | None:
        key = (run.summary.id, attempt.number)
        for chosen in (self.choice, self.base):
            if chosen is not None and chosen.key != key and chosen.key[1] is not None:
                same_run = chosen.key[0] == run.summary.id
                return replace(chosen, title=f"Attempt {chosen.key[1]}") if same_run else chosen
        came_from = self._came_from(run, attempt)
        if came_from is not None:
            return came_from
        other = attempt.number - 1 if attempt.number > 1 else attempt.number + 1
        return self._attempt_of(run, other, name_run=False)

    def _came_from(self, run: Run, attempt: Attempt) -> Compared | None:
        summary = run.summary
        if summary.parent_run is None or (summary.parent_attempt is not None and attempt.number > 1):
            return None
        parent = self._other_run(summary.parent_run)
        if parent is None:
            return None
        again = summary.parent_attempt is None
        return self._attempt_of(parent, summary.parent_attempt, name_run=True, request_only=again)

    def _other_run(self, run_id: int) -> Run | None:
        """Return a stored run, read once while the same run is on show."""
        from workbench.engine.history import HistoryError

        history = self._session.history
        if run_id not in self._others and history is not None:
            try:
                self._others[run_id] = history.run(run_id)
            except (KeyError, HistoryError):
                self._others[run_id] = None
        return self._others.get(run_id)

    def _attempt_of(
        self, run: Run, number: int | None, *, name_run: bool, request_only: bool = False
    ) -> Compared | None:
        """Return an attempt of a run, the last one for `None`."""
        from workbench.engine.translation import replay

        attempts = replay(run.events).attempts
        found = [each for each in attempts if number is None or each.number == number]
        if not found:
            return None
        return compared_attempt(run, found[-1], name_run=name_run, request_only=request_only)
