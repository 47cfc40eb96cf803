"""The parts in which a stored run is shown: timeline, conversation, reply, value, details, comparison."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.shell.scale import px
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.attempt_details import AttemptDetails
from workbench.gui.widgets.check_table import CheckResultTable
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.comparison import ComparisonView
from workbench.gui.widgets.conversation import ConversationView
from workbench.gui.widgets.diagnostic_list import DiagnosticList
from workbench.gui.widgets.evaluation_table import EvaluationTable
from workbench.gui.widgets.json_view import JsonView
from workbench.gui.widgets.labels import SectionHead, TokenLabel, column
from workbench.gui.widgets.reply_view import ReplyView
from workbench.gui.widgets.timeline import Lane, Timeline, scrolling

COMPACT_BELOW = 480


class RunView(QWidget):
    """A grid of the parts; where there is little height they all become tabs.

    `step_chosen` tells a click on the line, `arranged` that the grid became tabs or the tabs a grid.
    """

    step_chosen = Signal(int)
    arranged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.compact: bool | None = None
        self._kind = ""
        self._build_parts()
        self._left = _splitter(Qt.Orientation.Vertical)
        self._right = _splitter(Qt.Orientation.Vertical)
        grid = _splitter(Qt.Orientation.Horizontal)
        grid.addWidget(self._left)
        grid.addWidget(self._right)
        grid.setSizes([440, 590])
        self._right.addWidget(self.tabs)
        self.empty = TokenLabel(
            "Choose a run at the left.", "second", wrap=True, align=Qt.AlignmentFlag.AlignHCenter
        )
        self._pages = QStackedWidget()
        self._pages.addWidget(self.empty)
        self._pages.addWidget(grid)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        # The grid's own wishes must not keep the pane from becoming low, where it turns into tabs.
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        layout.addWidget(self._timeline_strip)
        layout.addWidget(self._pages, 1)
        self.timeline.step_chosen.connect(self.step_chosen)
        self.diagnostics.chosen.connect(self._go_to)
        self.details.place_chosen.connect(self._show_in_reply)
        self.tabs.setTabVisible(self.tabs.indexOf(self.evaluation), False)
        self.tabs.setCurrentWidget(self.reply)
        self.arrange(compact=False)

    def _build_parts(self) -> None:
        self.timeline = Timeline()
        self._timeline_strip = scrolling(self.timeline)
        # The line has its new length only after the events that are waiting now.
        self._following = one_shot(self, self._follow_step)
        self.conversation = ConversationView()
        self.conversation_head = SectionHead("Conversation")
        self._conversation_box = column(self.conversation_head, self.conversation)
        self.diagnostics = DiagnosticList(to_schema=True)
        self.checks = CheckResultTable()
        self.checks_head = SectionHead("Checks")
        self._checks_box = column(self.checks_head, self.checks)
        self._below = QStackedWidget()
        self._below.addWidget(self.diagnostics)
        self._below.addWidget(self._checks_box)
        self.evaluation = EvaluationTable()
        self.reply = ReplyView()
        self.value = JsonView()
        self.request = CodeView()
        self.settings = CodeView()
        self.details = AttemptDetails()
        self.compare = ComparisonView()
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        for widget, title in (
            (self.evaluation, "Figures"),
            (self.reply, "Raw reply"),
            (self.value, "JSON"),
            (self.details, "Details"),
            (self.request, "Request"),
            (self.settings, "Settings"),
        ):
            self.tabs.addTab(widget, title)

    def arrange(self, compact: bool) -> None:
        """Lay the parts out as a grid, or, where there is little height, all as tabs."""
        if compact == self.compact:
            return
        self.compact = compact
        extra = (
            (self._conversation_box, "Messages"),
            (self._below, "Diagnostics"),
            (self.compare, "Compare"),
        )
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
            self._left.setSizes([380, 270])
            self._right.setSizes([400, 270])
        self._left.setVisible(not compact)
        self._fit_timeline()
        self.fit(self._kind)
        self.arranged.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange(event.size().height() < px(COMPACT_BELOW))

    def show_lanes(self, lanes: Sequence[Lane], step: int) -> None:
        """Show the timeline with the step `step`, which a long line is scrolled to."""
        self.timeline.set_lanes(lanes, step)
        self._following.start()

    def _follow_step(self) -> None:
        place = self.timeline.place_of_current()
        if place is not None:
            for x in reversed(place):
                self._timeline_strip.ensureVisible(x, 0, 12, 0)

    def show_empty(self, words: str | None = None) -> None:
        """Show no run, and say why (`None`: as said before)."""
        if words is not None:
            self.empty.set_text(words)
        self._pages.setCurrentIndex(0)
        self._kind = ""  # or another width of the pane would bring the parts of the last run back
        self.show_lanes([], -1)
        self._fit_timeline()

    def fit(self, kind: str) -> None:
        """Show the parts that say something about a run of this kind."""
        self._kind = kind
        if not kind:
            return
        self._pages.setCurrentIndex(1)
        self._fit_timeline()
        translation = kind == "translate"
        self.tabs.setTabText(self.tabs.indexOf(self.reply), "Raw reply" if translation else "Result")
        self.tabs.setTabVisible(self.tabs.indexOf(self.details), kind != "evaluate")
        self.tabs.setTabVisible(self.tabs.indexOf(self.value), kind != "evaluate")
        figures = self.tabs.indexOf(self.evaluation)
        if (kind == "evaluate") != self.tabs.isTabVisible(figures):
            self.tabs.setTabVisible(figures, kind == "evaluate")
            self.tabs.setCurrentWidget(self.evaluation if kind == "evaluate" else self.reply)
        self._below.setCurrentWidget(self._checks_box if kind == "check" else self.diagnostics)
        useful = kind in ("check", "translate")
        if self.compact:
            index = self.tabs.indexOf(self._below)
            self.tabs.setTabText(index, "Checks" if kind == "check" else "Diagnostics")
            self.tabs.setTabVisible(index, useful)
        else:
            self._below.setVisible(useful)
        self.show_compare(translation)

    def _fit_timeline(self) -> None:
        shown = not self.compact and self._pages.currentIndex() == 1
        self._timeline_strip.setVisible(shown)

    def show_compare(self, shown: bool) -> None:
        """Show the comparison, or take it away where there is nothing to compare."""
        if self.compact:
            self.tabs.setTabVisible(self.tabs.indexOf(self.compare), shown)
        else:
            self.compare.setVisible(shown)

    def front_compare(self) -> None:
        """Bring the comparison to the front where it is a tab."""
        if self.compact:
            self.tabs.setCurrentWidget(self.compare)

    def _go_to(self, diagnostic: Diagnostic) -> None:
        if self.reply.go_to(diagnostic):
            self.tabs.setCurrentWidget(self.reply)

    def _show_in_reply(self, start: int, end: int) -> None:
        self.tabs.setCurrentWidget(self.reply)
        self.reply.code.go_to(start, end)


def _splitter(orientation: Qt.Orientation) -> QSplitter:
    splitter = QSplitter(orientation)
    splitter.setChildrenCollapsible(False)
    splitter.setHandleWidth(1)
    return splitter
