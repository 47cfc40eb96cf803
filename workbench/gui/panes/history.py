"""Shows every run that was stored, replays it step by step without a network, and compares attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QInputDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import dumps
from workbench.gui.delegates.words import MonoDelegate, StatusDelegate, TextDelegate
from workbench.gui.models.attempts import figures, lanes_of, step_cuts, turns_of
from workbench.gui.models.figures import format_duration, format_size, grouped
from workbench.gui.models.inputs import inputs_channel
from workbench.gui.models.runs import KINDS, RESULT, RUN, STARTED, TIME, WHAT, RunTreeModel, status_of, word_of
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.check_table import CheckResultTable
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.conversation import ConversationView, Turn
from workbench.gui.widgets.diagnostic_list import DiagnosticList
from workbench.gui.widgets.diff_view import DiffView, changes_in_words
from workbench.gui.widgets.json_view import JsonView
from workbench.gui.widgets.labels import SectionHead, StatusMark, Strip, TokenLabel, column
from workbench.gui.widgets.reply_view import ReplyView
from workbench.gui.widgets.timeline import Lane, Step, Timeline, scrolling

if TYPE_CHECKING:
    from workbench.engine.guardrails import GuardrailResult
    from workbench.engine.history import Run, RunSummary
    from workbench.engine.translation import Attempt, TranslationRecord

COMPACT_BELOW = 520
PAGE = 300
_PLAY_FASTEST_MS, _PLAY_SLOWEST_MS = 250, 1500


class RunTree(QTreeView):
    """The tree of runs; `resized` tells its width, by which columns are shown or left out."""

    resized = Signal(int)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit(self.width())


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
        self._compared: tuple[int, Attempt] | None = None
        self._kind: str | None = None
        self._newest: int | None = None
        self._unread = False
        self._starred = False
        self._compact: bool | None = None
        self._player = QTimer(self)
        self._player.setSingleShot(True)
        self._player.timeout.connect(self._play_on)
        self._search_pause = QTimer(self)
        self._search_pause.setSingleShot(True)
        self._search_pause.setInterval(200)
        self._search_pause.timeout.connect(self.refresh)
        self._build()
        self._connect()
        self.refresh()

    # Building

    def _build(self) -> None:
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        self.splitter.addWidget(self._build_runs())
        self.splitter.addWidget(self._build_run())
        self.splitter.setStretchFactor(0, 0)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([368, 1072])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        # The grid's own wishes must not keep the pane from becoming low, where it turns into tabs.
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        layout.addWidget(self.splitter)

    def _build_runs(self) -> QWidget:
        strip = Strip(40, "window")
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search texts, results, pointers")
        self.search.setAccessibleName("Search runs")
        self.search.setClearButtonEnabled(True)
        icon_action = QAction(self.search)
        set_icon(icon_action, "search", "second")
        self.search.addAction(icon_action, QLineEdit.ActionPosition.LeadingPosition)
        self.filter_button = QToolButton()
        set_icon(self.filter_button, "filter")
        self.filter_button.setToolTip("Which runs are listed")
        self.filter_button.setAccessibleName("Filter runs")
        self.filter_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.filter_button.setMenu(self._build_filter())
        strip.row.addWidget(self.search, 1)
        strip.row.addWidget(self.filter_button)
        self.runs = RunTreeModel(self)
        self.tree = RunTree()
        self.tree.setModel(self.runs)
        self.tree.setAccessibleName("Runs")
        self.tree.setUniformRowHeights(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(WHAT, QHeaderView.ResizeMode.Stretch)
        for column_, width in ((RUN, 58), (RESULT, 122), (TIME, 78), (STARTED, 70)):
            self.tree.setColumnWidth(column_, width)
        role = int(RunTreeModel.StatusRole)
        self.tree.setItemDelegateForColumn(WHAT, TextDelegate(self.tree, padding=6))
        self.tree.setItemDelegateForColumn(RESULT, StatusDelegate(role, self.tree))
        for column_ in (TIME, STARTED):
            self.tree.setItemDelegateForColumn(column_, MonoDelegate(self.tree, second=True))
        self.foot = Strip(26, "window")
        self.foot_words = TokenLabel("", "second", size="second", elide=True)
        self.foot.row.addWidget(self.foot_words, 1)
        box = column(strip, self.tree)
        layout = box.layout()
        assert layout is not None
        layout.addWidget(self.foot)
        box.setMinimumWidth(300)
        return box

    def _build_filter(self) -> QMenu:
        menu = QMenu(self)
        group = QActionGroup(menu)
        for kind, words in {"": "All runs", **KINDS}.items():
            action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(kind == "")
            action.setData(kind)
            group.addAction(action)
        group.triggered.connect(lambda action: self.set_kind(action.data() or None))
        menu.addSeparator()
        starred = menu.addAction("Starred only")
        starred.setCheckable(True)
        starred.toggled.connect(self.set_starred_only)
        return menu

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
        self.compare = DiffView()
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        for widget, title in (
            (self.reply, "Raw reply"),
            (self.value, "JSON"),
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
        self.offline_words = TokenLabel("Offline replay, nothing is sent", "passed", size="second", elide=True)
        strip.row.addSpacing(8)
        strip.row.addWidget(self.step_words)
        strip.row.addSpacing(8)
        strip.row.addWidget(self.offline_mark)
        strip.row.addWidget(self.offline_words, 1)
        self.open_button = QPushButton("Open with its inputs")
        set_icon(self.open_button, "open")
        self.open_button.setToolTip("Put the run's request or text back into its pane")
        self.compare_button = QPushButton("Compare with…")
        set_icon(self.compare_button, "compare")
        self.compare_button.setToolTip("Compare this attempt with another one")
        strip.row.addWidget(self.open_button)
        strip.row.addWidget(self.compare_button)
        return strip

    def _connect(self) -> None:
        session = self._session
        session.history_changed.connect(self._on_history)
        session.project_changed.connect(self._on_project)
        session.reveal.connect(self._on_reveal)
        self.search.textChanged.connect(lambda _text: self._search_pause.start())
        self.tree.selectionModel().currentChanged.connect(self._row_changed)
        self.tree.customContextMenuRequested.connect(self._show_menu)
        self.tree.resized.connect(self._fit_columns)
        self.timeline.step_chosen.connect(self.go_to_step)
        self.diagnostics.chosen.connect(self._go_to)
        self.open_button.clicked.connect(self.open_inputs)
        self.compare_button.clicked.connect(self._show_compare_menu)
        delete = QAction("Delete run", self.tree)
        delete.setShortcut(QKeySequence(Qt.Key.Key_Delete))
        delete.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        delete.triggered.connect(lambda _checked=False: self.delete_run())
        self.tree.addAction(delete)

    def _arrange(self, compact: bool) -> None:
        """Lay the parts out as a grid, or, where there is little height, all as tabs."""
        if compact == self._compact:
            return
        self._compact = compact
        extra = ((self._conversation_box, "Messages"), (self._below, "Diagnostics"), (self.compare, "Compare"))
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
        for button, words in ((self.open_button, "Open with its inputs"), (self.compare_button, "Compare with…")):
            button.setText("" if compact else words)
            button.setAccessibleName(words)
        runs = int(self.width() * 0.42) if compact else 368
        self.splitter.setSizes([runs, max(300, self.width() - runs)])

    def minimumSizeHint(self) -> QSize:
        return QSize(480, 150)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(self.height() < COMPACT_BELOW)

    def _fit_columns(self, width: int) -> None:
        narrow = width < 460
        self.tree.setColumnHidden(STARTED, narrow)
        self.runs.set_merged(narrow)

    # The list

    def _on_project(self) -> None:
        self._player.stop()
        self._run = None
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
        self._kind = kind
        self.refresh()

    def set_starred_only(self, starred: bool) -> None:
        """List only runs with a star."""
        self._starred = starred
        self.refresh()

    def refresh(self) -> None:
        """Read the list of runs again; the selection stays."""
        self._search_pause.stop()
        history = self._session.history
        if history is None:
            self.runs.set_runs([])
            self.foot_words.set_text(self._session.history_problem or "No history.")
            self._show_empty()
            return
        chosen = self.selected()
        opened = {
            summary.id
            for row in range(self.runs.rowCount())
            if self.tree.isExpanded(self.runs.index(row, 0))
            and (summary := self.runs.index(row, 0).data(RunTreeModel.SummaryRole)) is not None
        }
        found = history.runs(
            search=self.search.text().strip() or None, kind=self._kind, starred=self._starred, limit=PAGE
        )
        newest = found[0].id if found else None
        last = self._newest
        self._newest = newest
        fresh = newest is not None and self.runs.rowCount() > 0 and not self.runs.index_of(newest).isValid()
        self.runs.set_runs(found)
        for run_id in opened | ({newest} if fresh and newest is not None else set()):
            index = self.runs.index_of(run_id)
            if index.isValid():
                self.tree.expand(index)
        if chosen is not None:
            index = self.runs.index_of(*chosen)
            if index.isValid():
                self._select_quietly(index)
        if newest is not None and (chosen is None or (fresh and chosen[0] == last)):
            # Whoever looked at the newest run sees the next one when it comes.
            self.select(newest)
        self.foot_words.set_text(f"{grouped(history.count())} runs, {format_size(history.size())}")
        self._show_empty()

    def _show_empty(self) -> None:
        filtered = bool(self.search.text().strip() or self._kind or self._starred)
        if self.runs.rowCount():
            words = "Choose a run at the left."
        elif filtered:
            words = "No run fits the search."
        else:
            words = "Nothing was run yet. Every check and every translation will be kept here."
        self.empty.set_text(words)

    def selected(self) -> tuple[int, int | None] | None:
        """Return the chosen run and attempt."""
        index = self.tree.currentIndex()
        summary = index.data(RunTreeModel.SummaryRole) if index.isValid() else None
        if summary is None:
            return None
        attempt = index.data(RunTreeModel.AttemptRole)
        return summary.id, attempt.number if attempt is not None else None

    def _select_quietly(self, index: QModelIndex) -> None:
        selection = self.tree.selectionModel()
        selection.currentChanged.disconnect(self._row_changed)
        self.tree.setCurrentIndex(index)
        selection.currentChanged.connect(self._row_changed)

    def select(self, run_id: int, attempt: int | None = None) -> None:
        """Choose a run, or one of its attempts."""
        index = self.runs.index_of(run_id, attempt)
        if index.isValid():
            self.tree.setCurrentIndex(index)

    def _row_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        chosen = self.selected()
        if chosen is None:
            return
        self._player.stop()
        self._show_play()
        run_id, attempt = chosen
        if self._run is None or self._run.summary.id != run_id:
            self.open_run(run_id)
        if attempt is not None:
            self.go_to_attempt(attempt)

    def open_run(self, run_id: int) -> None:
        """Load a run and show its last step."""
        history = self._session.history
        if history is None:
            return
        try:
            self._run = history.run(run_id)
        except KeyError as error:
            self._session.status.emit(str(error))
            self._run = None
        self._compared = None
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
        self.open_button.setEnabled(run is not None and run.summary.kind in ("translate", "check"))
        self.compare_button.setEnabled(run is not None and run.summary.kind == "translate")
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
        else:
            self._show_other(run)

    def _fit_parts(self, kind: str) -> None:
        """Show only the parts that say something about a run of this kind."""
        translation = kind == "translate"
        self.tabs.setTabText(self.tabs.indexOf(self.reply), "Raw reply" if translation else "Result")
        if self._compact:
            self.tabs.setTabText(self.tabs.indexOf(self._below), "Checks" if kind == "check" else "Diagnostics")
            self.tabs.setTabVisible(self.tabs.indexOf(self.compare), translation)
        else:
            self.compare.setVisible(translation)

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
        self._below.setCurrentWidget(self.diagnostics)
        turns = turns_of(attempt)
        self.conversation.set_turns(turns)
        sent = len(attempt.messages) if attempt is not None else 0
        self.conversation_head.note.set_text(
            f"attempt {attempt.number} was sent {sent} message{'s' if sent != 1 else ''}" if attempt and sent else ""
        )
        self.reply.show_attempt(attempt)
        self.diagnostics.show_diagnostics(
            attempt.diagnostics if attempt is not None else (),
            f"Diagnostics of attempt {attempt.number}" if attempt is not None else "Diagnostics",
        )
        self._show_value(attempt)
        self.request_view.set_code(record.request or str(run.inputs.get("request", "")))
        self._show_comparison(attempt, record)

    def _follow_in_tree(self, run_id: int) -> None:
        """Let the tree point to the attempt that is shown, once it points to an attempt at all."""
        chosen = self.selected()
        if chosen is not None and chosen[0] == run_id and chosen[1] is not None and self._attempt:
            index = self.runs.index_of(run_id, self._attempt)
            if index.isValid() and chosen[1] != self._attempt:
                self._select_quietly(index)

    def _show_value(self, attempt: Attempt | None) -> None:
        if attempt is not None and attempt.has_value:
            self.value.show_value(attempt.value, figures(attempt))
        else:
            self.value.show_nothing("No value at this step.")

    def _show_comparison(self, attempt: Attempt | None, record: TranslationRecord) -> None:
        pair = self._pair(attempt, record)
        if pair is None:
            self.compare.clear("Compare", "There is only one attempt so far.")
            return
        from workbench.engine.translation import pointer_diff

        (before_title, before), (after_title, after) = pair
        self.compare.head.title.set_text(f"{before_title} and {after_title[0].lower()}{after_title[1:]}")
        self.compare.show_texts(
            before.json_text or before.reply,
            after.json_text or after.reply,
            f"{before_title.lower()}, {word_of(before.outcome)}",
            f"{after_title.lower()}, {word_of(after.outcome)}",
        )
        changes = pointer_diff(before.value, after.value)
        self.compare.show_pointers(changes)
        self.compare.say(
            f"{changes_in_words(changes)}. Valid means that the schema holds, not that the values are right."
        )

    def _pair(
        self, attempt: Attempt | None, record: TranslationRecord
    ) -> tuple[tuple[str, Attempt], tuple[str, Attempt]] | None:
        """Return which two attempts are compared: those chosen, else this one and its neighbour in the whole run."""
        if attempt is None or self._run is None:
            return None
        if self._compared is not None:
            run_id, other = self._compared
            title = f"Run {run_id}, attempt {other.number}"
            if run_id == self._run.summary.id:
                if other.number == attempt.number:
                    return None
                title = f"Attempt {other.number}"
            return (title, other), (f"Attempt {attempt.number}", attempt)
        from workbench.engine.translation import replay

        attempts = {a.number: a for a in replay(self._run.events).attempts}
        other_number = attempt.number - 1 if attempt.number > 1 else attempt.number + 1
        if other_number not in attempts:
            return None
        first, second = sorted((attempt.number, other_number))
        return (f"Attempt {first}", attempts[first]), (f"Attempt {second}", attempts[second])

    def _show_check(self, run: Run) -> None:
        self._record = None
        result = _result_of(self._events(run))
        whole = _result_of(run.events)
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
        turns.append(Turn("assistant" if stage == "output" else "user", str(inputs.get("text", "")), "checked text"))
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
        self.compare.clear("Compare", "Only attempts of translations are compared.")

    def _show_other(self, run: Run) -> None:
        self._record = None
        steps = tuple(Step(event.kind.replace("_", " "), event.at) for event in run.events)
        status, word = status_of(run.summary.outcome), word_of(run.summary.outcome)
        took = format_duration(run.summary.elapsed_ms)
        self.timeline.set_lanes([Lane(run.summary.title, word, status, took, steps[:60])], min(self._step, 59))
        self.conversation.set_turns([Turn("run", run.summary.summary or run.summary.title, word)])
        self._below.setCurrentWidget(self.diagnostics)
        self.diagnostics.show_diagnostics([])
        self.reply.show_attempt(None)
        shown = self._events(run)
        self.reply.code.set_code(dumps(shown[-1].data, indent=2) if shown else "", "json")
        self.value.show_nothing("")
        self.request_view.set_code("")
        self.compare.clear()

    def _go_to(self, diagnostic: Diagnostic) -> None:
        if self.reply.go_to(diagnostic):
            self.tabs.setCurrentWidget(self.reply)

    # What can be done with a run

    def _summary(self) -> RunSummary | None:
        chosen = self.selected()
        if chosen is None:
            return None
        data = self.tree.currentIndex().data(RunTreeModel.SummaryRole)
        return data  # type: ignore[no-any-return]

    def open_inputs(self) -> None:
        """Put what the run was started with back into its pane."""
        if self._run is None:
            return
        kind, inputs = self._run.summary.kind, dict(self._run.inputs)
        inputs_channel(self._session).opened.emit(kind, inputs)
        place = Place("translation") if kind == "translate" else Place("guardrails", str(inputs.get("stage", "input")))
        self._session.go_to(place)

    def star_run(self, starred: bool) -> None:
        """Give the chosen run a star, or take it."""
        summary, history = self._summary(), self._session.history
        if summary is not None and history is not None:
            history.star(summary.id, starred)
            self.refresh()

    def rename_run(self, name: str | None = None) -> None:
        """Give the chosen run a name of the user's own; asks when none is given."""
        summary, history = self._summary(), self._session.history
        if summary is None or history is None:
            return
        if name is None:
            name, accepted = QInputDialog.getText(self, "Rename run", "Name:", text=summary.name or summary.title)
            if not accepted:
                return
        history.rename(summary.id, name.strip())
        self.refresh()

    def annotate_run(self, note: str | None = None) -> None:
        """Write a note on the chosen run; asks when none is given."""
        summary, history = self._summary(), self._session.history
        if summary is None or history is None:
            return
        if note is None:
            note, accepted = QInputDialog.getMultiLineText(self, "Note on the run", "Note:", summary.note)
            if not accepted:
                return
        history.annotate(summary.id, note)
        self.refresh()

    def delete_run(self) -> None:
        """Delete the chosen run from the history."""
        summary, history = self._summary(), self._session.history
        if summary is None or history is None:
            return
        self._player.stop()
        history.delete(summary.id)
        if self._run is not None and self._run.summary.id == summary.id:
            self._run, self._cuts, self._step = None, [], -1
            self._show_run()
        self.refresh()

    def _show_menu(self, place: QPoint) -> None:
        summary = self._summary()
        if summary is None:
            return
        menu = QMenu(self)
        for words, slot in (
            ("Open with its inputs", self.open_inputs),
            ("Rename…", self.rename_run),
            ("Note…", self.annotate_run),
            ("Take the star" if summary.starred else "Star", lambda: self.star_run(not summary.starred)),
            ("Delete", self.delete_run),
        ):
            menu.addAction(words).triggered.connect(lambda _checked=False, slot=slot: slot())
        menu.exec(self.tree.viewport().mapToGlobal(place))
        menu.deleteLater()

    def compare_with(self, run_id: int, number: int) -> None:
        """Compare the attempt shown with another one, of this run or of another."""
        history = self._session.history
        if history is None:
            return
        from workbench.engine.translation import replay

        other = next((a for a in replay(history.run(run_id).events).attempts if a.number == number), None)
        if other is not None:
            self._compared = (run_id, other)
            self._show_run()
            if self._compact:
                self.tabs.setCurrentWidget(self.compare)

    def _show_compare_menu(self) -> None:
        if self._run is None or self._session.history is None:
            return
        menu = QMenu(self)
        for attempt in self._run.summary.attempts:
            if attempt.number != self._attempt:
                self._add_compare(menu, self._run.summary, attempt.number, attempt.outcome, f"Attempt {attempt.number}")
        others = menu.addMenu("Other runs")
        for summary in self._session.history.runs(kind="translate", limit=15):
            if summary.id != self._run.summary.id:
                for attempt in summary.attempts:
                    title = f"Run {summary.id}, attempt {attempt.number}"
                    self._add_compare(others, summary, attempt.number, attempt.outcome, title)
        others.setEnabled(not others.isEmpty())
        menu.exec(self.compare_button.mapToGlobal(QPoint(0, self.compare_button.height())))
        menu.deleteLater()

    def _add_compare(self, menu: QMenu, summary: RunSummary, number: int, outcome: str, title: str) -> None:
        action = menu.addAction(f"{title}, {word_of(outcome)}")
        run_id = summary.id
        action.triggered.connect(lambda _checked=False: self.compare_with(run_id, number))

    def _on_reveal(self, place: Place) -> None:
        if place.area == "history" and place.name.isdigit():
            self.select(int(place.name))


_STEP_WORDS = {"check_request": "asked", "check_result": "answered", "error": "failed", "run_failed": "failed"}


def _cuts_of(run: Run) -> list[int]:
    """Return, for each step of a run, how many of its events lead up to it."""
    if run.summary.kind == "translate":
        return step_cuts(run.events)
    return list(range(1, len(run.events) + 1))


def _result_of(events: tuple[Any, ...]) -> GuardrailResult | None:
    """Return the guardrail result among events, `None` before the answer came."""
    from workbench.engine.guardrails import GuardrailResult

    for event in reversed(events):
        if event.kind == "check_result":
            return GuardrailResult.from_json(event.data)
    return None
