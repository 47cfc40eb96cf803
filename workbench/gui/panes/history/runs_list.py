"""The list at the left of the history: the tree of runs, its search and its filter."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QMenu,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.delegates.words import MonoDelegate, StatusDelegate, TextDelegate
from workbench.gui.models.figures import format_size, grouped
from workbench.gui.models.runs import COST, KINDS, OUTCOMES, RESULT, RUN, STARTED, TIME, WHAT, RunTreeModel
from workbench.gui.shell.scale import on_scale, px
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.labels import Banner, LinkButton, Strip, TokenLabel

if TYPE_CHECKING:
    from workbench.engine.history import HistoryStore, RunSummary

PAGE = 300
_INDENT = 14
_WIDE = 392
_WIDTHS = {RUN: 58, RESULT: 122, TIME: 74, COST: 112, STARTED: 70}
_NARROW_WIDTHS = {RUN: 46, RESULT: 96}


class RunTree(QTreeView):
    """The tree of runs; `resized` tells its width, by which columns are shown or left out."""

    resized = Signal(int)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit(self.width())


class RunsList(QWidget):
    """Runs, newest first. `chosen` tells a run and perhaps an attempt of it; `refreshed`, that the list was read."""

    chosen = Signal(int, object)
    refreshed = Signal()
    menu_asked = Signal(QPoint)
    delete_asked = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._kind: str | None = None
        self._outcome: str | None = None
        self._starred = False
        self._newest: int | None = None
        self._limit = PAGE
        self._search_pause = one_shot(self, self.refresh, 200)
        self._build()
        self.search.textChanged.connect(lambda _text: self._search_pause.start())
        self.tree.selectionModel().currentChanged.connect(self._row_changed)
        self.tree.customContextMenuRequested.connect(
            lambda place: self.menu_asked.emit(self.tree.viewport().mapToGlobal(place))
        )
        self.tree.resized.connect(self._fit_columns)
        self.more.clicked.connect(self.show_more)

    def _build(self) -> None:
        strip = Strip(40, "window")
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search runs")
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
        self.notice = Banner()
        self.notice.hide()
        self.foot = Strip(26, "window")
        self.foot_words = TokenLabel("", "second", size="second", elide=True)
        self.more = LinkButton("Show older runs")
        self.foot.row.addWidget(self.foot_words, 1)
        self.foot.row.addWidget(self.more)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(strip)
        layout.addWidget(self.notice)
        layout.addWidget(self._build_tree(), 1)
        layout.addWidget(self.foot)
        self.setMinimumWidth(236)  # in pixels at every size of text: a narrow list leaves columns out

    def _build_tree(self) -> QWidget:
        self.model = RunTreeModel(self)
        self.tree = RunTree()
        self.tree.setModel(self.model)
        self.tree.setAccessibleName("Runs")
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(_INDENT)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(WHAT, QHeaderView.ResizeMode.Stretch)
        on_scale(self.tree, partial(_size_columns, weakref.ref(self.tree)))
        role = int(RunTreeModel.StatusRole)
        self.tree.setItemDelegateForColumn(WHAT, TextDelegate(self.tree, padding=6))
        self.tree.setItemDelegateForColumn(RESULT, StatusDelegate(role, self.tree))
        for column in (TIME, COST, STARTED):
            self.tree.setItemDelegateForColumn(column, MonoDelegate(self.tree, second=True))
        delete = QAction("Delete run", self.tree)
        delete.setShortcut(QKeySequence(Qt.Key.Key_Delete))
        delete.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        delete.triggered.connect(lambda _checked=False: self.delete_asked.emit())
        self.tree.addAction(delete)
        return self.tree

    def _build_filter(self) -> QMenu:
        menu = QMenu(self)
        outcomes = {key: words for key, (words, _outcomes) in OUTCOMES.items()}
        self._add_choices(menu, {"": "All kinds", **KINDS}, self.set_kind)
        menu.addSeparator()
        self._add_choices(menu, {"": "All results", **outcomes}, self.set_outcome)
        menu.addSeparator()
        self.starred_action = menu.addAction("Starred only")
        self.starred_action.setCheckable(True)
        self.starred_action.toggled.connect(self.set_starred_only)
        return menu

    def _add_choices(self, menu: QMenu, choices: dict[str, str], put: object) -> None:
        group = QActionGroup(menu)
        for key, words in choices.items():
            action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(not key)
            action.setData(key)
            group.addAction(action)
        group.triggered.connect(lambda action: put(action.data() or None))  # type: ignore[operator]

    def _fit_columns(self, width: int) -> None:
        # Most models have no prices, and then the column would have nothing to say.
        priced = self.model.priced() and width >= px(_WIDE)
        self.tree.setColumnHidden(COST, not priced)
        narrow = width < px(460 + (_WIDTHS[COST] if priced else 0))
        self.tree.setColumnHidden(STARTED, narrow)
        # Where the titles would have no room left, the time goes too: the tip of a row tells it.
        cramped = width < px(320)
        self.tree.setColumnHidden(TIME, cramped)
        _size_columns(weakref.ref(self.tree), 1.0)
        self.model.set_merged(narrow)

    def wanted_width(self) -> int:
        """Return the width in pixels at which every column has room that has something to say."""
        return px(_WIDE + _WIDTHS[COST] if self.model.priced() else _WIDE)

    # What is listed

    def set_kind(self, kind: str | None) -> None:
        """List only runs of one kind, all for `None`."""
        self._kind = kind
        self._filter_changed()

    def set_outcome(self, group: str | None) -> None:
        """List only runs whose outcome is of a group of `OUTCOMES`, all for `None`."""
        self._outcome = group
        self._filter_changed()

    def set_starred_only(self, starred: bool) -> None:
        """List only runs with a star."""
        self._starred = starred
        self._filter_changed()

    def filtered(self) -> bool:
        """Tell whether the list leaves runs out on purpose."""
        return bool(self.search.text().strip() or self._kind or self._outcome or self._starred)

    def _filter_changed(self) -> None:
        self._limit = PAGE
        narrowed = bool(self._kind or self._outcome or self._starred)
        set_icon(self.filter_button, "filter", "accent" if narrowed else "text")
        self.refresh()

    def show_more(self) -> None:
        """List older runs too."""
        self._limit += PAGE
        self.refresh()

    def refresh(self) -> None:
        """Read the list of runs again; the selection stays, and so does what is unfolded."""
        from workbench.engine.history import HistoryError

        self._search_pause.stop()
        history = self._session.history
        self._show_notice(history)
        if history is None:
            self.model.set_runs([])
            self.foot_words.set_text("No runs")
            self.more.hide()
        else:
            try:
                self._read(history)
            except HistoryError as error:
                # What could be read before stays listed; a damaged file must not take the window with it.
                self.notice.show_words("error", "The history cannot be read.", str(error))
                self.notice.show()
        self.refreshed.emit()

    def _read(self, history: HistoryStore) -> None:
        chosen = self.selected()
        opened = {
            index.data(RunTreeModel.SummaryRole).id
            for index in self.model.run_indexes()
            if self.tree.isExpanded(index)
        }
        wanted = {
            "search": self.search.text().strip() or None,
            "kind": self._kind,
            "outcome": OUTCOMES[self._outcome][1] if self._outcome else None,
            "starred": self._starred,
        }
        found = history.runs(**wanted, limit=self._limit)
        newest = max((each.id for each in found), default=None)
        last, self._newest = self._newest, newest
        fresh = newest is not None and self.model.rowCount() > 0 and not self.model.index_of(newest).isValid()
        self.model.set_runs(found if self.filtered() else _with_parents(history, found))
        self._fit_columns(self.tree.width())
        for run_id in opened | ({newest} if fresh and newest is not None else set()):
            self._unfold(run_id)
        if chosen is not None:
            self.select_quietly(*chosen)
        if newest is not None and (chosen is None or (fresh and chosen[0] == last)):
            # Whoever looked at the newest run sees the next one when it comes.
            self.select(newest)
        self._show_counts(history, len(found), history.count(**wanted) if self.filtered() else None)

    def _unfold(self, run_id: int) -> None:
        index = self.model.index_of(run_id)
        while index.isValid():
            self.tree.expand(index)
            index = index.parent()

    def _show_counts(self, history: HistoryStore, listed: int, fitting: int | None) -> None:
        total = history.count()
        words = f"{grouped(total)} runs" if total != 1 else "1 run"
        if fitting is not None:
            words = f"{grouped(fitting)} of {words}"
        size, on_disk = history.size(), history.size_on_disk()
        # An empty history has a size too, that of its tables, which says nothing of runs.
        self.foot_words.set_text(f"{words}, {format_size(size)}" if total else "no runs yet")
        self.foot_words.setToolTip(
            f"{format_size(size)} of runs, which is what the limit in the settings is about;\n"
            f"{format_size(on_disk)} on the disk, with what SQLite has not tidied up yet"
        )
        self.more.setVisible(listed < (total if fitting is None else fitting))

    def empty_words(self) -> str:
        """Return why no run is listed, where no filter is the reason."""
        session = self._session
        if session.project is None:
            return "Open a project to see its runs."
        if session.history is None and session.history_problem:
            return f"No runs are kept: {session.history_problem}"
        return (
            "No runs yet. Every check, translation, evaluation and conversation with tools will be kept here."
        )

    def _show_notice(self, history: HistoryStore | None) -> None:
        problem = self._session.history_problem
        if history is None:
            headline = "This project keeps no history."
        elif history.problem:
            headline, problem = (
                "Not everything was stored.",
                history.problem.removeprefix(f"{history.path}: "),
            )
        else:
            headline = "The history needs a look."
        self.notice.show_words("error", headline, problem or "")
        self.notice.setVisible(bool(problem) and self._session.project is not None)

    # What is chosen

    def selected(self) -> tuple[int, int | None] | None:
        """Return the chosen run and attempt."""
        index = self.tree.currentIndex()
        summary = index.data(RunTreeModel.SummaryRole) if index.isValid() else None
        if summary is None:
            return None
        attempt = index.data(RunTreeModel.AttemptRole)
        return summary.id, attempt.number if attempt is not None else None

    def summary(self) -> RunSummary | None:
        """Return the chosen run."""
        index = self.tree.currentIndex()
        return index.data(RunTreeModel.SummaryRole) if index.isValid() else None

    def select(self, run_id: int, attempt: int | None = None) -> bool:
        """Choose a run, or one of its attempts; False when it is not listed."""
        index = self.model.index_of(run_id, attempt)
        if index.isValid():
            self.tree.setCurrentIndex(index)
        return index.isValid()

    def choose_none(self) -> None:
        """Forget which run was chosen: the newest is when the list is read again."""
        self.tree.setCurrentIndex(QModelIndex())

    def select_quietly(self, run_id: int, attempt: int | None = None) -> None:
        """Move the selection without a word to anybody."""
        index = self.model.index_of(run_id, attempt)
        if index.isValid():
            selection = self.tree.selectionModel()
            selection.currentChanged.disconnect(self._row_changed)
            self.tree.setCurrentIndex(index)
            selection.currentChanged.connect(self._row_changed)

    def _row_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        chosen = self.selected()
        if chosen is not None:
            self.chosen.emit(*chosen)


def _size_columns(tree: weakref.ref[RunTree], _factor: float) -> None:
    """Give the columns their widths at the size of text in use."""
    if (target := tree()) is not None:
        cramped = target.width() < px(320)
        widths = _WIDTHS | (_NARROW_WIDTHS if cramped else {})
        for column, width in widths.items():
            target.setColumnWidth(column, px(width))
        # The numbers of branches are indented; without room they would be left out without a trace.
        model = target.model()
        below = model.depth() - 1 if isinstance(model, RunTreeModel) else 0
        target.setColumnWidth(RUN, px(widths[RUN]) + _INDENT * max(0, below))


def _with_parents(history: HistoryStore, runs: list[RunSummary]) -> list[RunSummary]:
    """Return `runs` and those that they branched from, however old, so that branches stand below them."""
    known = {run.id: run for run in runs}
    while True:
        missing = {r.parent_run for r in known.values() if r.parent_run is not None} - set(known)
        added = history.summaries(missing) if missing else []
        if not added:
            return sorted(known.values(), key=lambda run: -run.id)
        known.update((run.id, run) for run in added)
