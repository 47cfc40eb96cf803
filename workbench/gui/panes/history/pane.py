"""Shows every run that was stored, replays it step by step without a network, and goes on from any attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from workbench.engine.json_text import dumps
from workbench.gui.models.program_turns import is_program_step
from workbench.gui.panes.history import showing
from workbench.gui.panes.history.compared import compared_attempt, compared_run
from workbench.gui.panes.history.comparing import Comparing
from workbench.gui.panes.history.controls import BRANCH, COMPARE, OPEN, ReplayControls
from workbench.gui.panes.history.doing import RunDoing
from workbench.gui.panes.history.marks import RunMarks
from workbench.gui.panes.history.menus import MenuItem, compare_menu, show_menu
from workbench.gui.panes.history.replay import Replay
from workbench.gui.panes.history.run_view import RunView
from workbench.gui.panes.history.runs_list import RunsList
from workbench.gui.shell.places import Place
from workbench.gui.shell.rule_places import show_rule
from workbench.gui.shell.session import Session
from workbench.gui.widgets.comparison import Compared

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.engine.history import Run
    from workbench.engine.translation import Attempt, TranslationRecord
    from workbench.engine.workflows import GuardRecord, PlainRecord, ToolRecord

_COMPARABLE = ("translate", "check", "tool")


class HistoryPane(QWidget):
    """Runs at the left; the chosen run at the right, at the step that was chosen.

    `abilities_changed` tells that something else can be done now; `abilities` says what.
    """

    abilities_changed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._whole: Any = None
        self._record: Any = None
        self._attempt: Attempt | None = None
        self._unread = False
        self._divided = False
        self._listed = self._history_path()
        self.comparing = Comparing(session)
        self.replay = Replay(self)
        self._build()
        self.doing = RunDoing(session, self)
        self.marks = RunMarks(session, self.list, self)
        self._connect()
        self.refresh()
        self._show_run()

    # Building

    def _build(self) -> None:
        self.list = RunsList(self._session)
        self.controls = ReplayControls(self.replay)
        self.view = RunView()
        box = QWidget()
        right = QVBoxLayout(box)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        right.addWidget(self.controls)
        right.addWidget(self.view, 1)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        self.splitter.addWidget(self.list)
        self.splitter.addWidget(box)
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([self.list.wanted_width(), 1048])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        layout.addWidget(self.splitter)

    def _connect(self) -> None:
        session = self._session
        session.history_changed.connect(self._on_history)
        session.project_changed.connect(self._on_project)
        session.reveal.connect(self._on_reveal)
        session.edited.connect(lambda area: self._show_abilities() if area == "schemas" else None)
        self.list.chosen.connect(self._on_chosen)
        self.list.refreshed.connect(self._show_empty)
        self.list.menu_asked.connect(self._show_menu)
        self.list.delete_asked.connect(self.marks.delete)
        self.marks.deleted.connect(self._forget)
        self.replay.moved.connect(self._show_run)
        self.view.step_chosen.connect(self.replay.go_to)
        self.view.diagnostics.rule_asked.connect(lambda found: show_rule(session, found))
        self.doing.made.connect(self._on_made)
        self.splitter.splitterMoved.connect(self._on_divided)
        # The view is arranged anew while it is given its size, which is after the pane was.
        self.view.arranged.connect(self._share_anew, Qt.ConnectionType.QueuedConnection)
        self.controls.branch_asked.connect(self.branch)
        self.controls.open_asked.connect(self.open_inputs)
        self.controls.compare_asked.connect(self._show_compare_menu)
        self.controls.more_asked.connect(self._show_menu)

    def minimumSizeHint(self) -> QSize:
        return QSize(480, 150)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The layout would do so only afterwards, and shares of the old width are no shares of the new one.
        self.splitter.setGeometry(self.rect())
        self._share_anew()

    def _on_divided(self) -> None:
        """Whoever moved the border keeps it where it is."""
        self._divided = True

    def _share_anew(self) -> None:
        if not self._divided:
            self._share_width()

    def _share_width(self) -> None:
        # Low panes have no conversation beside the rest, so that the list may have more.
        most = int(self.width() * 0.42)
        runs = most if self.view.compact else min(self.list.wanted_width(), most)
        self.splitter.setSizes([runs, max(300, self.width() - runs)])

    # The list

    def _on_project(self) -> None:
        self.replay.load(None)
        self.doing.forget()
        self.comparing.reset()
        listed = self._history_path()
        if listed != self._listed:
            # A run of another project may have the same number.
            self._listed = listed
            self.list.choose_none()
        self.refresh()
        chosen = self.selected()
        if chosen is not None and self.replay.run is None:
            self._on_chosen(*chosen)
        else:
            self._show_run()

    def _history_path(self) -> Path | None:
        history = self._session.history
        return history.path if history is not None else None

    def _on_history(self) -> None:
        """Runs come with every pause of typing; a pane that nobody sees reads them when it is seen."""
        self._unread = not self.isVisible()
        if not self._unread:
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._unread:
            self._unread = False
            self.refresh()

    def refresh(self) -> None:
        """Read the list of runs again; the selection stays."""
        wanted = self.list.wanted_width()
        self.list.refresh()
        if not self._divided and self.list.wanted_width() != wanted:
            self._share_width()
        self._follow_run()

    def _follow_run(self) -> None:
        """Read the run on show again where it has ended since, or a later check while typing took its place."""
        run, listed = self.replay.run, self.list.summary()
        if run is None or listed is None or listed.id != run.summary.id:
            return
        if (listed.started_at, listed.outcome) != (run.summary.started_at, run.summary.outcome):
            self.open_run(listed.id)

    def _show_empty(self) -> None:
        if self.list.model.rowCount():
            words = "Choose a run at the left."
        elif self.list.filtered():
            words = "No run fits the search."
        else:
            words = self.list.empty_words()
        self.view.empty.set_text(words)

    def selected(self) -> tuple[int, int | None] | None:
        """Return the chosen run and attempt."""
        return self.list.selected()

    def select(self, run_id: int, attempt: int | None = None) -> None:
        """Choose a run, or one of its attempts."""
        self.list.select(run_id, attempt)

    def _on_chosen(self, run_id: int, attempt: int | None) -> None:
        self.replay.stop()
        run = self.replay.run
        if run is None or run.summary.id != run_id:
            self.open_run(run_id)
        if attempt is not None:
            self.go_to_attempt(attempt)

    def _on_made(self, run_id: int) -> None:
        # The store has it by now; a filter that hides it must not hide the answer to what was just asked.
        self.refresh()
        if not self.list.select(run_id):
            self.open_run(run_id)

    def _on_reveal(self, place: Place) -> None:
        if place.area == "history" and place.name.isdigit() and not self.list.select(int(place.name)):
            self.open_run(int(place.name))

    def _forget(self, run_id: int) -> None:
        """Show nothing where the run that was shown is gone."""
        run = self.replay.run
        if run is not None and run.summary.id == run_id:
            self.replay.load(None)
            self._show_run()

    # The run

    def open_run(self, run_id: int) -> None:
        """Load a run and show its last step."""
        from workbench.engine.history import HistoryError

        history = self._session.history
        if history is None:
            return
        self.comparing.forget_choice()
        run = None
        try:
            run = history.run(run_id)
        except (KeyError, HistoryError) as error:
            self._session.status.emit(str(error.args[0]))
        self.replay.load(run)
        self._show_run()

    def record(self) -> TranslationRecord | GuardRecord | ToolRecord | PlainRecord | None:
        """Return the record of the run at the step that is shown."""
        record: TranslationRecord | GuardRecord | ToolRecord | PlainRecord | None = self._record
        return record

    def attempt(self) -> Attempt | None:
        """Return the attempt that is shown."""
        return self._attempt

    def go_to_attempt(self, number: int) -> None:
        """Show the last step of an attempt."""
        run = self.replay.run
        if run is None or run.summary.kind != "translate":
            return
        steps = cast("TranslationRecord", self._whole).steps
        # The steps of a program follow those of the attempt that wrote it, and are the run's.
        mine = [k for k, step in enumerate(steps) if step.attempt == number and not is_program_step(step)]
        last = max(mine, default=None)
        if last is not None:
            self.replay.go_to(last)

    def _show_run(self) -> None:
        from workbench.engine.workflows import replay_events

        run = self.replay.run
        self.controls.refresh()
        if run is None:
            self._whole = self._record = self._attempt = None
            self.view.show_empty()
            self._show_abilities()
            return
        kind = run.summary.kind
        self._whole = replay_events(kind, run.events)
        self._record = replay_events(kind, self.replay.events())
        self._attempt = None
        self.view.settings.set_code(dumps(dict(run.inputs), indent=2), "json")
        self.view.fit(kind)
        whole, now, step = self._whole, self._record, self.replay.step
        if kind == "translate":
            self._attempt = showing.show_translation(self.view, run, whole, now, step)
            self._follow_in_tree(run.summary.id)
            self._compare_attempts(run)
        elif kind == "check":
            showing.show_check(self.view, run, whole, now, step)
            self._compare_runs(run)
        elif kind == "tool":
            showing.show_tools(self.view, run, whole, now, step)
            self._compare_runs(run)
        else:
            showing.show_other(self.view, run, whole, now, step)
        self._show_abilities()

    def _follow_in_tree(self, run_id: int) -> None:
        """Let the tree point to the attempt that is shown, once it points to an attempt at all."""
        chosen = self.selected()
        if chosen is None or chosen[0] != run_id or chosen[1] is None or self._attempt is None:
            return
        if chosen[1] != self._attempt.number:
            self.list.select_quietly(run_id, self._attempt.number)

    # Comparing

    def _compare_attempts(self, run: Run) -> None:
        pair = self.comparing.pair(run, self._attempt) if self._attempt is not None else None
        if pair is None:
            self.view.compare.clear("Compare", "There is only one attempt so far.")
        else:
            self.view.compare.compare(*pair)

    def _compare_runs(self, run: Run) -> None:
        pair = self.comparing.run_pair(run)
        self.view.show_compare(pair is not None)
        if pair is None:
            self.view.compare.clear("Compare", "Choose another run to compare with.")
        else:
            self.view.compare.compare(*pair)

    def _shown(self) -> Compared | None:
        """Return what is shown, for a comparison."""
        run = self.replay.run
        if run is None or run.summary.kind != "translate":
            return compared_run(run) if run is not None else None
        return compared_attempt(run, self._attempt, name_run=True) if self._attempt is not None else None

    def toggle_base(self) -> None:
        """Compare whatever is chosen next with what is shown now, or stop doing so."""
        self.comparing.toggle_base(self._shown())
        self._show_run()

    def compare_with(self, run_id: int, number: int | None = None) -> None:
        """Compare what is shown with an attempt of this run or of another, or with another run of its kind."""
        if self.comparing.choose(run_id, number):
            self._show_run()
            self.view.front_compare()

    def compare(self) -> None:
        """Show what the run on show can be compared with."""
        shown = self.controls.compare.isVisible()
        button = self.controls.compare if shown else self.controls.more
        self._show_compare_menu(button.mapToGlobal(QPoint(0, button.height())))

    def _show_compare_menu(self, place: QPoint) -> None:
        run, history = self.replay.run, self._session.history
        if run is None or history is None:
            return
        number = self._attempt.number if self._attempt is not None else None
        words, picture = self.comparing.base_words(self._shown())
        menu = compare_menu(self, history, run, number, self.compare_with, (words, picture, self.toggle_base))
        menu.exec(place)
        menu.deleteLater()

    # What can be done

    def abilities(self) -> frozenset[str]:
        """Return what can be done now: `branch`, `again`, `open`, `compare`, `mark` (star, name, export, delete)."""
        run = self.replay.run
        found = set()
        if self.doing.can_branch():
            found.add("branch")
        if self.doing.can_run_again():
            found.add("again")
        if self.doing.can_open():
            found.add("open")
        if run is not None and run.summary.kind in _COMPARABLE:
            found.add("compare")
        if run is not None and self.list.summary() is not None:
            found.add("mark")
        return frozenset(found)

    def _show_abilities(self) -> None:
        self.doing.show(self.replay.run, self._whole_attempt())
        can = self.abilities()
        self.controls.branch.setEnabled("branch" in can)
        self.controls.open.setEnabled("open" in can)
        self.controls.compare.setEnabled("compare" in can)
        self.abilities_changed.emit()

    def _whole_attempt(self) -> Attempt | None:
        """Return the attempt on show with all that came of it, at whichever of its steps it is shown."""
        number = self._attempt.number if self._attempt is not None else None
        attempts: tuple[Attempt, ...] = self._whole.attempts if number is not None else ()
        return next((each for each in attempts if each.number == number), None)

    def branch(self) -> None:
        """Ask what shall differ at the attempt shown, and go on from it."""
        self.doing.branch()

    def branch_from(self, run_id: int, attempt: int, **changes: str | None) -> None:
        """Go on from an attempt with today's project; `changes` are those of `Session.branch`."""
        self.doing.branch_from(run_id, attempt, **changes)

    def run_again(self) -> None:
        """Run the chosen run's request or text again with today's prompt; it is compared with the first."""
        self.doing.run_again()

    def run_batch(self) -> None:
        """Open the window in which many requests are run."""
        self.doing.run_batch()

    def open_inputs(self) -> None:
        """Put what the run was started with back into its pane."""
        self.doing.open_inputs()

    def menu_items(self) -> list[MenuItem]:
        """Return what can be done with the chosen run: words (empty for a line), icon, and what to call."""
        summary, can = self.list.summary(), self.abilities()
        batch: MenuItem = ("Run requests of a file…", "list", self.run_batch)
        line: MenuItem = ("", "", self.refresh)
        if summary is None or "mark" not in can:
            return [batch]
        items: list[MenuItem] = []
        if "branch" in can:
            items.append((f"{BRANCH}…", "branch", self.branch))
        if "again" in can:
            items.append(("Run again with today's prompt", "refresh", self.run_again))
        items.append(batch)
        if "open" in can:
            items.append((OPEN, "open", self.open_inputs))
        if "compare" in can:
            items += [
                line,
                (COMPARE, "compare", self.compare),
                (*self.comparing.base_words(self._shown()), self.toggle_base),
            ]
        starred = summary.starred
        return [
            *items,
            line,
            ("Take the star" if starred else "Star", "star", lambda: self.marks.star(not starred)),
            ("Rename…", "edit", self.marks.rename),
            ("Note…", "message", self.marks.annotate),
            line,
            ("Export as JSON…", "export", lambda: self.marks.export("json")),
            ("Export as Markdown…", "export", lambda: self.marks.export("markdown")),
            ("Delete", "trash", self.marks.delete),
        ]

    def _show_menu(self, place: QPoint) -> None:
        show_menu(self, self.menu_items(), place)
