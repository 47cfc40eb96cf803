"""Shows every run that was stored, replays it step by step without a network, and goes on from any attempt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import dumps
from workbench.gui.models.attempts import figures, lanes_of, step_cuts, turns_of
from workbench.gui.models.figures import format_duration
from workbench.gui.models.inputs import inputs_channel
from workbench.gui.models.runs import status_of, word_of
from workbench.gui.models.tool_turns import executions_of, tool_steps, turns_of_tools
from workbench.gui.panes.history.compared import compared_attempt, compared_check, exchange_rows, result_of
from workbench.gui.panes.history.comparing import Comparing
from workbench.gui.panes.history.marks import RunMarks
from workbench.gui.panes.history.runs_list import RunsList
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.attempt_details import AttemptDetails
from workbench.gui.widgets.check_table import CheckResultTable
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.comparison import Compared, ComparisonView
from workbench.gui.widgets.conversation import ConversationView, Turn
from workbench.gui.widgets.diagnostic_list import DiagnosticList
from workbench.gui.widgets.json_view import JsonView
from workbench.gui.widgets.labels import SectionHead, StatusMark, Strip, TokenLabel, column
from workbench.gui.widgets.reply_view import ReplyView
from workbench.gui.widgets.timeline import Lane, Step, Timeline, scrolling

if TYPE_CHECKING:
    from workbench.engine.history import Run, RunSummary
    from workbench.engine.translation import Attempt, TranslationRecord

COMPACT_BELOW = 520
TERSE_BELOW = 1280
_BRANCH, _OPEN, _COMPARE = "Repair again from here", "Open with its inputs", "Compare with…"
_PLAY_FASTEST_MS, _PLAY_SLOWEST_MS = 250, 1500


class HistoryPane(QWidget):
    """Runs at the left; the chosen run at the right, at the step that was chosen. Low panes show tabs instead of a grid."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._run: Run | None = None
        self._cuts: list[int] = []
        self._step = -1
        self._record: TranslationRecord | None = None
        self._attempt: int | None = None
        self.comparing = Comparing(session)
        self._awaited: tuple[str, int] | None = None
        self._unread = False
        self._compact: bool | None = None
        self._terse = False
        self._player = QTimer(self)
        self._player.setSingleShot(True)
        self._player.timeout.connect(self._play_on)
        self._build()
        self._connect()
        self.refresh()

    # Building

    def _build(self) -> None:
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        self.list = RunsList(self._session)
        self.marks = RunMarks(self._session, self.list, self)
        self.runs, self.tree, self.search, self.foot_words = (
            self.list.model, self.list.tree, self.list.search, self.list.foot_words,
        )  # fmt: skip
        self.splitter.addWidget(self.list)
        self.splitter.addWidget(self._build_run())
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([368, 1072])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        # The grid's own wishes must not keep the pane from becoming low, where it turns into tabs.
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        layout.addWidget(self.splitter)

    def _build_run(self) -> QWidget:
        self.controls = self._build_controls()
        self.timeline = Timeline()
        self._timeline_strip = scrolling(self.timeline)
        self.conversation = ConversationView()
        self.conversation_head = SectionHead("Conversation")
        self._conversation_box = column(self.conversation_head, self.conversation)
        self.diagnostics = DiagnosticList()
        self.checks = CheckResultTable()
        self._below = QStackedWidget()
        self._below.addWidget(self.diagnostics)
        self._checks_box = column(SectionHead("Checks"), self.checks)
        self._below.addWidget(self._checks_box)
        self.reply = ReplyView()
        self.value = JsonView()
        self.request_view = CodeView()
        self.settings_view = CodeView()
        self.details = AttemptDetails()
        self.compare = ComparisonView()
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        for widget, title in (
            (self.reply, "Raw reply"),
            (self.value, "JSON"),
            (self.details, "Details"),
            (self.request_view, "Request"),
            (self.settings_view, "Settings"),
        ):
            self.tabs.addTab(widget, title)
        self._left = QSplitter(Qt.Orientation.Vertical)
        self._right = QSplitter(Qt.Orientation.Vertical)
        self._grid = QSplitter(Qt.Orientation.Horizontal)
        for splitter in (self._left, self._right, self._grid):
            splitter.setChildrenCollapsible(False)
            splitter.setHandleWidth(1)
        self._grid.addWidget(self._left)
        self._grid.addWidget(self._right)
        self._grid.setSizes([440, 590])
        self._right.addWidget(self.tabs)
        self.empty = TokenLabel("Choose a run at the left.", "second", align=Qt.AlignmentFlag.AlignHCenter)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self._grid)
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.controls)
        layout.addWidget(self._timeline_strip)
        layout.addWidget(self._pages, 1)
        self._arrange(compact=False)
        return box

    def _build_controls(self) -> QWidget:
        strip = Strip(42, "window")
        strip.row.setSpacing(4)
        self.buttons: dict[str, QToolButton] = {}
        for name, picture, words, slot in (
            ("first", "first", "First step", lambda: self.go_to_step(0)),
            ("back", "back", "One step back", lambda: self.go_to_step(self._step - 1)),
            ("play", "play", "Play the run at its own pace", self.play_or_pause),
            ("forward", "forward", "One step forward", lambda: self.go_to_step(self._step + 1)),
            ("last", "last", "Last step", lambda: self.go_to_step(self.step_count() - 1)),
        ):
            button = QToolButton()
            set_icon(button, picture)
            button.setToolTip(words)
            button.setAccessibleName(words)
            button.clicked.connect(lambda _checked=False, slot=slot: slot())
            strip.row.addWidget(button)
            self.buttons[name] = button
        self.step_words = TokenLabel("", bold=True)
        self.offline_mark = StatusMark("passed", 14)
        self.offline_words = TokenLabel(
            "Offline replay, nothing is sent", "passed", size="second", elide=True
        )
        strip.row.addSpacing(8)
        strip.row.addWidget(self.step_words)
        strip.row.addSpacing(8)
        strip.row.addWidget(self.offline_mark)
        strip.row.addWidget(self.offline_words, 1)
        self.branch_button = QPushButton(_BRANCH)
        set_icon(self.branch_button, "branch")
        self.branch_button.setToolTip(
            "Edit the repair prompt or the reply of this attempt, and go on from there"
        )
        self.open_button = QPushButton(_OPEN)
        set_icon(self.open_button, "open")
        self.open_button.setToolTip("Put the run's request or text back into its pane")
        self.compare_button = QPushButton(_COMPARE)
        set_icon(self.compare_button, "compare")
        self.compare_button.setToolTip("Compare this attempt with another one")
        self.more_button = QToolButton()
        set_icon(self.more_button, "more")
        self.more_button.setToolTip("What else can be done with the run")
        self.more_button.setAccessibleName("More for this run")
        for button in (self.branch_button, self.open_button, self.compare_button, self.more_button):
            strip.row.addWidget(button)
        return strip

    def _connect(self) -> None:
        session = self._session
        session.history_changed.connect(self._on_history)
        session.project_changed.connect(self._on_project)
        session.reveal.connect(self._on_reveal)
        session.run_finished.connect(self._on_finished)
        session.run_failed.connect(self._on_failed)
        self.list.chosen.connect(self._on_chosen)
        self.list.refreshed.connect(self._show_empty)
        self.marks.deleted.connect(self._forget)
        self.list.menu_asked.connect(self._show_menu)
        self.list.delete_asked.connect(self.marks.delete)
        self.timeline.step_chosen.connect(self.go_to_step)
        self.diagnostics.chosen.connect(self._go_to)
        self.open_button.clicked.connect(self.open_inputs)
        self.branch_button.clicked.connect(self.branch)
        self.compare_button.clicked.connect(self._show_compare_menu)
        self.more_button.clicked.connect(
            lambda: self._show_menu(self.more_button.mapToGlobal(QPoint(0, self.more_button.height())))
        )
        self.details.place_chosen.connect(self._show_in_reply)

    def _arrange(self, compact: bool) -> None:
        """Lay the parts out as a grid, or, where there is little height, all as tabs."""
        if compact == self._compact:
            return
        self._compact = compact
        extra = (
            (self._conversation_box, "Messages"),
            (self._below, "Diagnostics"),
            (self.compare, "Compare"),
        )
        self._timeline_strip.setVisible(not compact)
        self.conversation_head.setVisible(not compact)
        if compact:
            for position, (widget, title) in enumerate(extra):
                self.tabs.insertTab(position if position == 0 else self.tabs.count(), widget, title)
        else:
            for widget, _title in extra:
                index = self.tabs.indexOf(widget)
                if index >= 0:
                    self.tabs.removeTab(index)
            self._left.addWidget(self._conversation_box)
            self._left.addWidget(self._below)
            self._right.addWidget(self.compare)
            for widget, _title in extra:
                widget.show()
            if self._run is not None:
                self._fit_parts(self._run.summary.kind)
            self._left.setSizes([380, 270])
            self._right.setSizes([400, 270])
        self._left.setVisible(not compact)
        runs = int(self.width() * 0.42) if compact else 368
        self.splitter.setSizes([runs, max(300, self.width() - runs)])

    def minimumSizeHint(self) -> QSize:
        return QSize(480, 150)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(self.height() < COMPACT_BELOW)
        self._fit_buttons(self.width() < TERSE_BELOW)

    def _fit_buttons(self, terse: bool) -> None:
        """Leave the buttons their pictures alone where their words have no room."""
        self._terse = terse
        for button, words in (
            (self.branch_button, _BRANCH), (self.open_button, _OPEN), (self.compare_button, _COMPARE),
        ):  # fmt: skip
            button.setText("" if terse else words)
            button.setAccessibleName(words)

    # The list

    def _on_project(self) -> None:
        self._player.stop()
        self._run = self._awaited = None
        self.comparing.reset()
        self._cuts, self._step = [], -1
        self.refresh()
        self._show_run()

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

    def set_kind(self, kind: str | None) -> None:
        """List only runs of one kind, all for `None`."""
        self.list.set_kind(kind)

    def set_outcome(self, group: str | None) -> None:
        """List only runs with an outcome of one group, all for `None`."""
        self.list.set_outcome(group)

    def set_starred_only(self, starred: bool) -> None:
        """List only runs with a star."""
        self.list.set_starred_only(starred)

    def refresh(self) -> None:
        """Read the list of runs again; the selection stays."""
        self.list.refresh()

    def _show_empty(self) -> None:
        if self.runs.rowCount():
            words = "Choose a run at the left."
        elif self._session.history is None:
            words = self._session.history_problem or "No history is kept."
        elif self.list.filtered():
            words = "No run fits the search."
        else:
            words = "Nothing was run yet. Every check and every translation will be kept here."
        self.empty.set_text(words)

    def selected(self) -> tuple[int, int | None] | None:
        """Return the chosen run and attempt."""
        return self.list.selected()

    def select(self, run_id: int, attempt: int | None = None) -> None:
        """Choose a run, or one of its attempts."""
        self.list.select(run_id, attempt)

    def _on_chosen(self, run_id: int, attempt: int | None) -> None:
        self._player.stop()
        self._show_play()
        if self._run is None or self._run.summary.id != run_id:
            self.open_run(run_id)
        if attempt is not None:
            self.go_to_attempt(attempt)

    def open_run(self, run_id: int) -> None:
        """Load a run and show its last step."""
        from workbench.engine.history import HistoryError

        history = self._session.history
        if history is None:
            return
        self.comparing.forget_choice()
        try:
            self._run = history.run(run_id)
        except (KeyError, HistoryError) as error:
            self._session.status.emit(str(error.args[0]))
            self._run = None
        self._cuts = _cuts_of(self._run) if self._run is not None else []
        self._step = len(self._cuts) - 1
        self._show_run()

    # Replay

    def step_count(self) -> int:
        """Return the number of steps of the run."""
        return len(self._cuts)

    def step(self) -> int:
        """Return the step that is shown, from 0; -1 when there is none."""
        return self._step

    def record(self) -> TranslationRecord | None:
        """Return the record at the step that is shown."""
        return self._record

    def go_to_step(self, step: int) -> None:
        """Show a step, from 0."""
        if not self._cuts:
            return
        self._step = max(0, min(step, len(self._cuts) - 1))
        self._show_run()

    def go_to_attempt(self, number: int) -> None:
        """Show the last step of an attempt."""
        if self._run is None or self._run.summary.kind != "translate":
            return
        from workbench.engine.translation import replay

        steps = replay(self._run.events).steps
        last = max((k for k, step in enumerate(steps) if step.attempt == number), default=None)
        if last is not None:
            self.go_to_step(last)

    def play_or_pause(self) -> None:
        """Play the steps at the pace at which they happened, or stop playing."""
        if self._player.isActive():
            self._player.stop()
        elif self._cuts:
            if self._step >= len(self._cuts) - 1:
                self.go_to_step(0)
            self._player.start(self._pause_before_next())
        self._show_play()

    def playing(self) -> bool:
        """Tell whether the run is being played."""
        return self._player.isActive()

    def _play_on(self) -> None:
        self.go_to_step(self._step + 1)
        if self._step < len(self._cuts) - 1:
            self._player.start(self._pause_before_next())
        self._show_play()

    def _pause_before_next(self) -> int:
        assert self._run is not None
        events = self._run.events
        now, then = self._cuts[self._step] - 1, self._cuts[min(self._step + 1, len(self._cuts) - 1)] - 1
        gap = (events[then].at - events[now].at) * 1000
        return int(max(_PLAY_FASTEST_MS, min(_PLAY_SLOWEST_MS, gap)))

    def _show_play(self) -> None:
        playing = self._player.isActive()
        set_icon(self.buttons["play"], "pause" if playing else "play")
        words = "Pause" if playing else "Play the run at its own pace"
        self.buttons["play"].setToolTip(words)
        self.buttons["play"].setAccessibleName(words)

    # The run

    def _show_run(self) -> None:
        run = self._run
        self._pages.setCurrentIndex(0 if run is None else 1)
        count = self.step_count()
        self.step_words.set_text(f"Step {self._step + 1} of {count}" if count else "")
        for name in ("first", "back"):
            self.buttons[name].setEnabled(self._step > 0)
        for name in ("forward", "last"):
            self.buttons[name].setEnabled(0 <= self._step < count - 1)
        self.buttons["play"].setEnabled(count > 1)
        self.offline_mark.setVisible(count > 0)
        self.offline_words.setVisible(count > 0)
        kind = run.summary.kind if run is not None else ""
        self.open_button.setEnabled(kind in ("translate", "check", "tool"))
        self.compare_button.setEnabled(kind in ("translate", "check"))
        self.branch_button.setEnabled(False)
        self.more_button.setEnabled(run is not None)
        if run is None:
            self._record = None
            self.timeline.set_lanes([], -1)
            return
        self.settings_view.set_code(dumps(dict(run.inputs), indent=2), "json")
        self._fit_parts(run.summary.kind)
        if run.summary.kind == "translate":
            self._show_translation(run)
        elif run.summary.kind == "check":
            self._show_check(run)
        elif run.summary.kind == "tool":
            self._show_tools(run)
        else:
            self._show_other(run)

    def _fit_parts(self, kind: str) -> None:
        """Show only the parts that say something about a run of this kind."""
        translation = kind == "translate"
        self.tabs.setTabText(self.tabs.indexOf(self.reply), "Raw reply" if translation else "Result")
        self.tabs.setTabVisible(self.tabs.indexOf(self.details), kind in ("translate", "check"))
        if self._compact:
            self.tabs.setTabText(
                self.tabs.indexOf(self._below), "Checks" if kind == "check" else "Diagnostics"
            )
        self._show_compare(translation)

    def _show_compare(self, shown: bool) -> None:
        if self._compact:
            self.tabs.setTabVisible(self.tabs.indexOf(self.compare), shown)
        else:
            self.compare.setVisible(shown)

    def _events(self, run: Run) -> tuple[Any, ...]:
        return run.events[: self._cuts[self._step]] if self._cuts else run.events

    def _show_translation(self, run: Run) -> None:
        from workbench.engine.translation import replay

        whole = replay(run.events)
        self._record = record = replay(self._events(run))
        self.timeline.set_lanes(lanes_of(whole), self._step)
        self._attempt = record.steps[-1].attempt if record.steps else None
        attempt = next((a for a in record.attempts if a.number == self._attempt), None)
        self._follow_in_tree(run.summary.id)
        self.branch_button.setEnabled(self._can_branch(attempt))
        self._below.setCurrentWidget(self.diagnostics)
        turns = turns_of(attempt)
        self.conversation.set_turns(turns)
        sent = len(attempt.messages) if attempt is not None else 0
        self.conversation_head.note.set_text(
            f"attempt {attempt.number} was sent {sent} message{'s' if sent != 1 else ''}"
            if attempt and sent
            else ""
        )
        self.reply.show_attempt(attempt)
        self.diagnostics.show_diagnostics(
            attempt.diagnostics if attempt is not None else (),
            f"Diagnostics of attempt {attempt.number}" if attempt is not None else "Diagnostics",
        )
        self.details.show_attempt(attempt)
        self._show_value(attempt)
        self.request_view.set_code(record.request or str(run.inputs.get("request", "")))
        self._show_comparison(run, attempt)

    def _follow_in_tree(self, run_id: int) -> None:
        """Let the tree point to the attempt that is shown, once it points to an attempt at all."""
        chosen = self.selected()
        if chosen is None or chosen[0] != run_id or chosen[1] is None:
            return
        if self._attempt and chosen[1] != self._attempt:
            self.list.select_quietly(run_id, self._attempt)

    def _show_value(self, attempt: Attempt | None) -> None:
        if attempt is not None and attempt.has_value:
            self.value.show_value(attempt.value, figures(attempt))
        else:
            self.value.show_nothing("No value at this step.")

    def _show_comparison(self, run: Run, attempt: Attempt | None) -> None:
        pair = self.comparing.pair(run, attempt) if attempt is not None else None
        if pair is None:
            self.compare.clear("Compare", "There is only one attempt so far.")
        else:
            self.compare.compare(*pair)

    def _show_check(self, run: Run) -> None:
        self._record = None
        result = result_of(self._events(run))
        whole = result_of(run.events)
        inputs = run.inputs
        stage = inputs.get("stage", "input")
        word = word_of(whole.verdict) if whole is not None else word_of(run.summary.outcome)
        status = status_of(whole.verdict if whole is not None else run.summary.outcome)
        took = format_duration(whole.elapsed_ms) if whole is not None else ""
        steps = tuple(
            Step(_STEP_WORDS.get(event.kind, event.kind.replace("_", " ")), event.at, status if k else "")
            for k, event in enumerate(run.events)
        )
        self.timeline.set_lanes([Lane(f"Check {stage}", word, status, took, steps)], self._step)
        turns = []
        if inputs.get("user_message"):
            turns.append(Turn("user", str(inputs["user_message"]), "user message"))
        turns.append(
            Turn("assistant" if stage == "output" else "user", str(inputs.get("text", "")), "checked text")
        )
        self.conversation.set_turns(turns)
        self.conversation_head.note.set_text(whole.model_version or whole.model_name or "" if whole else "")
        self.checks.results.set_result(result)
        self._below.setCurrentWidget(self._checks_box)
        self.reply.show_attempt(None)
        self.reply.how.set_text(result.message if result is not None else run.summary.summary)
        self.reply.code.set_code(dumps(result.to_json(), indent=2) if result is not None else "", "json")
        if result is not None:
            self.value.show_value(result.to_json(), word)
        else:
            self.value.show_nothing("No answer at this step.")
        self.request_view.set_code(str(inputs.get("text", "")))
        self.details.show_rows(exchange_rows(whole))
        chosen = self.comparing.chosen_check(run)
        self._show_compare(chosen is not None)
        if chosen is None:
            self.compare.clear("Compare", "Choose another check run to compare with.")
        else:
            self.compare.compare(chosen, compared_check(run))

    def _show_tools(self, run: Run) -> None:
        self._record = None
        shown = self._events(run)
        outcome = run.summary.outcome
        status, word = status_of(outcome), "answered" if outcome == "ok" else word_of(outcome)
        steps = tuple(Step(*step) for step in tool_steps(run.events))
        took = format_duration(run.summary.elapsed_ms)
        self.timeline.set_lanes([Lane(run.summary.title, word, status, took, steps)], self._step)
        self.conversation.set_turns(turns_of_tools(shown))
        self.conversation_head.note.set_text(run.summary.model)
        self._below.setCurrentWidget(self.diagnostics)
        self.diagnostics.show_diagnostics([], "Diagnostics")
        self.reply.show_attempt(None)
        self.reply.how.set_text(run.summary.summary)
        answers = [event for event in shown if event.kind in ("reply", "finished") and event.data.get("text")]
        self.reply.code.set_code(str(answers[-1].data["text"]) if answers else "")
        executions = executions_of(shown)
        if executions:
            self.value.show_value(executions, "every tool call: what was sent to the model, and what was not")
        else:
            self.value.show_nothing("No tool call at this step.")
        self.request_view.set_code(str(run.inputs.get("request", "")))
        self.compare.clear()

    def _show_other(self, run: Run) -> None:
        self._record = None
        steps = tuple(Step(event.kind.replace("_", " "), event.at) for event in run.events)
        status, word = status_of(run.summary.outcome), word_of(run.summary.outcome)
        took = format_duration(run.summary.elapsed_ms)
        self.timeline.set_lanes(
            [Lane(run.summary.title, word, status, took, steps[:60])], min(self._step, 59)
        )
        self.conversation.set_turns([Turn("run", run.summary.summary or run.summary.title, word)])
        self._below.setCurrentWidget(self.diagnostics)
        self.diagnostics.show_diagnostics([])
        self.reply.show_attempt(None)
        shown = self._events(run)
        self.reply.how.set_text(run.summary.summary)
        self.reply.code.set_code(dumps(shown[-1].data, indent=2) if shown else "", "json")
        self.value.show_nothing("")
        self.details.show_attempt(None)
        self.request_view.set_code("")
        self.compare.clear()

    def _go_to(self, diagnostic: Diagnostic) -> None:
        if self.reply.go_to(diagnostic):
            self.tabs.setCurrentWidget(self.reply)

    def _show_in_reply(self, start: int, end: int) -> None:
        self.tabs.setCurrentWidget(self.reply)
        self.reply.code.go_to(start, end)

    # What can be done with a run

    def attempt(self) -> Attempt | None:
        """Return the attempt that is shown."""
        attempts = self._record.attempts if self._record is not None else ()
        return next((each for each in attempts if each.number == self._attempt), None)

    def _can_branch(self, attempt: Attempt | None) -> bool:
        if attempt is None or not attempt.messages or self._session.history is None:
            return False
        return self._session.snapshot().output_schema is not None

    def branch(self) -> None:
        """Ask what shall differ at the attempt shown, and go on from it."""
        from workbench.gui.dialogs.branch import BranchDialog

        run, attempt = self._run, self.attempt()
        if run is None or attempt is None or not self._can_branch(attempt):
            return
        dialog = BranchDialog(self._session, run, attempt, self)
        if dialog.exec():
            self.branch_from(run.summary.id, attempt.number, **dialog.changes())
        dialog.deleteLater()

    def branch_from(self, run_id: int, attempt: int, **changes: str | None) -> None:
        """Go on from an attempt with today's project; `changes` are those of `Session.branch`."""
        self._awaited = ("translate", run_id)
        self._session.branch(run_id, attempt, **changes)

    def run_again(self) -> None:
        """Run the chosen run's request or text again with today's prompt, and show what changed."""
        run = self._run
        if run is None:
            return
        kind, inputs = run.summary.kind, run.inputs
        if kind == "translate":
            self._awaited = (kind, run.summary.id)
            self._session.translate(str(inputs.get("request", "")), parent=run.summary.id)
        elif kind == "check":
            self._awaited = (kind, run.summary.id)
            self.comparing.reset(base=compared_check(run))
            self._session.run_checks(
                inputs.get("stage", "input"), inputs.get("text"), inputs.get("user_message")
            )

    def _on_finished(self, kind: str, result: Any) -> None:
        if self._awaited is None or self._awaited[0] != kind:
            return
        # The store has it by now; a filter that hides it must not hide the answer to what was just asked.
        history, (_kind, parent) = self._session.history, self._awaited
        self._awaited = None
        if history is None or history.problem:
            return
        newest = history.runs(kind=kind, limit=1)
        if newest and newest[0].id > parent:
            self.refresh()
            if not self.list.select(newest[0].id):
                self.open_run(newest[0].id)

    def _on_failed(self, kind: str, message: str) -> None:
        if self._awaited is not None and self._awaited[0] == kind:
            self._awaited = None
            self._session.status.emit(message)

    def run_batch(self) -> None:
        """Open the window in which many requests are run."""
        from workbench.gui.dialogs.request_batch import RequestBatchDialog

        dialog = RequestBatchDialog(self._session, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def open_inputs(self) -> None:
        """Put what the run was started with back into its pane."""
        if self._run is None:
            return
        kind, inputs = self._run.summary.kind, dict(self._run.inputs)
        inputs_channel(self._session).opened.emit(kind, inputs)
        place = {
            "translate": Place("translation"),
            "tool": Place("tools"),
        }.get(kind, Place("guardrails", str(inputs.get("stage", "input"))))
        self._session.go_to(place)

    def _forget(self, run_id: int) -> None:
        """Show nothing where the run that was shown is gone."""
        if self._run is not None and self._run.summary.id == run_id:
            self._player.stop()
            self._run, self._cuts, self._step = None, [], -1
            self._show_run()

    def menu_items(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return what can be done with the chosen run: words (empty for a line), icon, and what to call."""
        summary = self.list.summary()
        if summary is None or self._run is None:
            return [("Run requests of a file…", "list", self.run_batch)]
        items: list[tuple[str, str, Callable[[], object]]] = []
        if self.branch_button.isEnabled():
            items.append((f"{_BRANCH}…", "branch", self.branch))
        if summary.kind in ("translate", "check"):
            items.append(("Run again with today's prompt", "refresh", self.run_again))
        items.append(("Run requests of a file…", "list", self.run_batch))
        if self.open_button.isEnabled():
            items.append((_OPEN, "open", self.open_inputs))
        if summary.kind in ("translate", "check"):
            items += [("", "", self.refresh), (*self.comparing.base_words(self._shown()), self.toggle_base)]
        items += [
            ("", "", self.refresh),
            (
                "Take the star" if summary.starred else "Star",
                "star",
                lambda: self.marks.star(not summary.starred),
            ),
            ("Rename…", "edit", self.marks.rename),
            ("Note…", "message", self.marks.annotate),
            ("", "", self.refresh),
            ("Export as JSON…", "export", lambda: self.marks.export("json")),
            ("Export as Markdown…", "export", lambda: self.marks.export("markdown")),
            ("Delete", "trash", self.marks.delete),
        ]
        return items

    def _show_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        for words, picture, slot in self.menu_items():
            if not words:
                menu.addSeparator()
                continue
            action = menu.addAction(words)
            set_icon(action, picture)
            action.triggered.connect(lambda _checked=False, slot=slot: slot())
        menu.exec(place)
        menu.deleteLater()

    # Comparing

    def _shown(self) -> Compared | None:
        """Return what is shown, for a comparison."""
        run = self._run
        if run is None:
            return None
        if run.summary.kind == "check":
            return compared_check(run)
        attempt = self.attempt()
        return compared_attempt(run, attempt, name_run=True) if attempt is not None else None

    def toggle_base(self) -> None:
        """Compare whatever is chosen next with what is shown now, or stop doing so."""
        self.comparing.toggle_base(self._shown())
        self._show_run()

    def compare_with(self, run_id: int, number: int | None = None) -> None:
        """Compare what is shown with an attempt of this run or of another, or with another check run."""
        if self.comparing.choose(run_id, number):
            self._show_run()
            if self._compact:
                self.tabs.setCurrentWidget(self.compare)

    def _show_compare_menu(self) -> None:
        run, history = self._run, self._session.history
        if run is None or history is None:
            return
        menu = QMenu(self)
        if run.summary.kind == "check":
            for summary in history.runs(kind="check", limit=16):
                if summary.id != run.summary.id:
                    words = f"Run {summary.id}, {word_of(summary.outcome)}, {summary.title}"
                    self._add_compare(menu, words, summary.id, None)
        else:
            self._add_attempts(menu, run.summary, own=True)
            others = menu.addMenu("Other runs")
            for summary in history.runs(kind="translate", limit=15):
                if summary.id != run.summary.id:
                    self._add_attempts(others, summary, own=False)
            others.setEnabled(not others.isEmpty())
        menu.addSeparator()
        words, picture = self.comparing.base_words(self._shown())
        action = menu.addAction(words)
        set_icon(action, picture)
        action.triggered.connect(lambda _checked=False: self.toggle_base())
        menu.exec(self.compare_button.mapToGlobal(QPoint(0, self.compare_button.height())))
        menu.deleteLater()

    def _add_attempts(self, menu: QMenu, summary: RunSummary, *, own: bool) -> None:
        for attempt in summary.attempts:
            if not own or attempt.number != self._attempt:
                title = f"Attempt {attempt.number}" if own else f"Run {summary.id}, attempt {attempt.number}"
                self._add_compare(menu, f"{title}, {word_of(attempt.outcome)}", summary.id, attempt.number)

    def _add_compare(self, menu: QMenu, words: str, run_id: int, number: int | None) -> None:
        action = menu.addAction(words)
        action.triggered.connect(lambda _checked=False: self.compare_with(run_id, number))

    def _on_reveal(self, place: Place) -> None:
        if place.area == "history" and place.name.isdigit():
            self.select(int(place.name))


_STEP_WORDS = {
    "check_request": "asked",
    "check_result": "answered",
    "error": "failed",
    "run_failed": "failed",
}


def _cuts_of(run: Run) -> list[int]:
    """Return, for each step of a run, how many of its events lead up to it."""
    if run.summary.kind == "translate":
        return step_cuts(run.events)
    return list(range(1, len(run.events) + 1))
