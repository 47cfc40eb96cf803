"""The runs of a project as a tree: runs, newest first, with their attempts and their branches below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.engine.outcomes import word_of
from workbench.gui.models.figures import counted, format_duration, format_when
from workbench.gui.models.roots import ROOT

if TYPE_CHECKING:
    from workbench.engine.history import AttemptSummary, RunSummary

RUN, WHAT, RESULT, TIME, COST, STARTED = range(6)
_HEADS = ("Run", "What", "Result", "Time", "Cost", "Started")
_FIGURES = (TIME, COST, STARTED)

KINDS: dict[str, str] = {
    "check": "Checks",
    "translate": "Translations",
    "evaluate": "Evaluations",
    "tool": "Tools",
}

OUTCOMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "good": ("Valid or passed", ("ok", "passed", "done")),
    "bad": (
        "Rejected or invalid",
        (
            "rejected", "invalid", "instance_rejected", "syntax", "no_json", "schema_echo", "truncated", "empty",
            "no_progress", "ambiguous", "failed", "refused", "no_answer",
        ),
    ),
    "error": ("Errors", ("error", "model_error", "hook_error", "tool_error", "budget", "limit")),
    "stopped": ("Stopped or interrupted", ("cancelled", "interrupted", "running")),
}  # fmt: skip
"""The groups of outcomes by which runs are filtered: words, and the outcomes of each."""

_STATUS_OF_OUTCOME: dict[str, str] = {
    "ok": "passed",
    "passed": "passed",
    "valid": "passed",
    "done": "passed",
    "rejected": "rejected",
    "invalid": "rejected",
    "instance_rejected": "rejected",
    "syntax": "rejected",
    "no_json": "rejected",
    "schema_echo": "rejected",
    "truncated": "rejected",
    "empty": "rejected",
    "no_progress": "rejected",
    "ambiguous": "rejected",
    "failed": "rejected",
    "refused": "refused",
    "no_answer": "no_answer",
    "cancelled": "no_answer",
    "stopped": "no_answer",
    "interrupted": "no_answer",
    "budget": "error",
    "limit": "error",
    "running": "queued",
}


def status_of(outcome: str) -> str:
    """Return the shape and colour in which an outcome is shown; an outcome nobody foresaw is an error."""
    return _STATUS_OF_OUTCOME.get(outcome, "error")


@dataclass(slots=True, eq=False)
class _Node:
    summary: RunSummary
    attempt: AttemptSummary | None = None
    row: int = 0
    parent: _Node | None = None
    children: tuple[_Node, ...] = ()


class RunTreeModel(QAbstractItemModel):
    """Runs and attempts. The pane fills it from `HistoryStore.runs`."""

    SummaryRole = Qt.ItemDataRole.UserRole + 1
    AttemptRole = Qt.ItemDataRole.UserRole + 2
    StatusRole = Qt.ItemDataRole.UserRole + 3

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._nodes: list[_Node] = []
        self._merged = False

    def set_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show `runs`; those whose tree keeps its shape are updated in place, so that the view stays where it is."""
        nodes = _tree(runs)
        if _shape(nodes) == _shape(self._nodes):
            self._update(self._nodes, nodes)
            return
        self.beginResetModel()
        self._nodes = nodes
        self.endResetModel()

    def _update(self, old: Sequence[_Node], new: Sequence[_Node]) -> None:
        for node, fresh in zip(old, new, strict=True):
            if (node.summary, node.attempt) != (fresh.summary, fresh.attempt):
                node.summary, node.attempt = fresh.summary, fresh.attempt
                self.dataChanged.emit(
                    self.createIndex(node.row, 0, node), self.createIndex(node.row, STARTED, node)
                )
            self._update(node.children, fresh.children)

    def set_merged(self, merged: bool) -> None:
        """Let the time column of a run tell when it started, for views with no room for another column."""
        if merged != self._merged:
            self._merged = merged
            if self._nodes:
                last = len(self._nodes) - 1
                self.dataChanged.emit(self.index(0, TIME), self.index(last, STARTED))

    def priced(self) -> bool:
        """Tell whether the cost of any run that is shown is known."""
        return any(node.attempt is None and node.summary.cost is not None for node in self.nodes())

    def index_of(self, run_id: int, attempt: int | None = None) -> QModelIndex:
        """Return the index of a run or of one of its attempts, invalid when it is not shown."""
        for node in self.nodes():
            found = node.attempt.number if node.attempt is not None else None
            if node.summary.id == run_id and found == attempt:
                return self.createIndex(node.row, 0, node)
        return QModelIndex()

    def nodes(self) -> Iterator[_Node]:
        """Yield every row of the tree from top to bottom, whether unfolded or not."""
        stack = list(reversed(self._nodes))
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def run_indexes(self) -> Iterator[QModelIndex]:
        """Yield the index of every run, branches included."""
        for node in self.nodes():
            if node.attempt is None:
                yield self.createIndex(node.row, 0, node)

    def depth(self) -> int:
        """Return how many runs the deepest branch stands below: 0 where there is no branch."""
        deepest, level = 0, [node for node in self._nodes if node.attempt is None]
        while level := [child for node in level for child in node.children if child.attempt is None]:
            deepest += 1
        return deepest

    # Qt's side

    def index(
        self,
        row: int,
        column: int,
        parent: QModelIndex | QPersistentModelIndex = ROOT,
    ) -> QModelIndex:
        nodes = self._nodes if not parent.isValid() else _of(parent).children
        if 0 <= row < len(nodes) and 0 <= column < len(_HEADS):
            return self.createIndex(row, column, nodes[row])
        return QModelIndex()

    def parent(self, index: QModelIndex | QPersistentModelIndex = ROOT) -> QModelIndex:
        above = _of(index).parent if index.isValid() else None
        return QModelIndex() if above is None else self.createIndex(above.row, 0, above)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        if not parent.isValid():
            return len(self._nodes)
        return len(_of(parent).children) if parent.column() == 0 else 0

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return len(_HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _HEADS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section in _FIGURES:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        node = _of(index)
        if role == self.SummaryRole:
            return node.summary
        if role == self.AttemptRole:
            return node.attempt
        if role == self.StatusRole:
            return status_of(node.attempt.outcome if node.attempt else node.summary.outcome)
        if role == Qt.ItemDataRole.DisplayRole:
            if node.attempt is not None:
                return _attempt_text(node, index)
            column = STARTED if self._merged and index.column() == TIME else index.column()
            return _run_text(node, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(node)
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in _FIGURES:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


def _of(index: QModelIndex | QPersistentModelIndex) -> _Node:
    node = index.internalPointer()
    assert isinstance(node, _Node)
    return node


def _tree(runs: Sequence[RunSummary]) -> list[_Node]:
    """Return runs with their attempts, and each branch below the run that it left, where that one is shown."""
    nodes = {summary.id: _Node(summary) for summary in runs}
    tops: list[_Node] = []
    branches: dict[int, list[_Node]] = {}
    for summary in runs:
        node = nodes[summary.id]
        if summary.parent_run in nodes and summary.parent_run != summary.id:
            node.parent = nodes[summary.parent_run]
            branches.setdefault(summary.parent_run, []).append(node)
        else:
            tops.append(node)
    for run_id, node in nodes.items():
        shown = node.summary.attempts if node.summary.kind == "translate" else ()
        attempts = [_Node(node.summary, attempt, parent=node) for attempt in shown]
        # Branches in the order in which they were made, like the attempts above them.
        node.children = (*attempts, *sorted(branches.get(run_id, ()), key=lambda each: each.summary.id))
        for row, child in enumerate(node.children):
            child.row = row
    for row, node in enumerate(tops):
        node.row = row
    return tops


def _shape(nodes: Sequence[_Node]) -> tuple[Any, ...]:
    return tuple(
        (n.summary.id, n.attempt.number if n.attempt is not None else None, _shape(n.children)) for n in nodes
    )


def _run_text(node: _Node, column: int) -> str:
    summary = node.summary
    if column == RUN:
        return f"{'★ ' if summary.starred else ''}{summary.id}"
    if column == WHAT:
        return summary.name or branch_words(summary, below=node.parent is not None) or summary.title
    if column == RESULT:
        return _result_words(summary)
    if column == TIME:
        return format_duration(summary.elapsed_ms)
    if column == COST:
        return summary.cost.words() if summary.cost is not None else ""
    started = datetime.fromtimestamp(summary.started_at)
    when = format_when(started, datetime.now())
    return when.removeprefix("today, ")


def branch_words(summary: RunSummary, *, below: bool) -> str:
    """Return how a run came from another one; `below` leaves out the number of the run it stands below of."""
    if summary.parent_run is None:
        return ""
    run = "" if below else f" {summary.parent_run}"
    if summary.parent_attempt is None:
        return f"Run{run} again" if run else "Run again"
    return f"From{run}{',' if run else ''} attempt {summary.parent_attempt}"


def run_word(summary: RunSummary) -> str:
    """Return the outcome of a run in a word; a conversation with tools that went well was answered."""
    return "answered" if (summary.kind, summary.outcome) == ("tool", "ok") else word_of(summary.outcome)


def _result_words(summary: RunSummary) -> str:
    word = run_word(summary)
    if summary.kind == "translate" and summary.outcome == "ok" and len(summary.attempts) > 1:
        return f"{word}, {counted(len(summary.attempts) - 1, 'repair')}"
    return word


def _attempt_text(node: _Node, index: QModelIndex | QPersistentModelIndex) -> str:
    attempt = node.attempt
    assert attempt is not None
    column = index.column()
    if column == WHAT:
        return f"  Attempt {attempt.number}"
    if column == RESULT:
        return word_of(attempt.outcome)
    if column == TIME:
        return format_duration(attempt.elapsed_ms)
    return ""


def _tip(node: _Node) -> str:
    summary = node.summary
    parts = [summary.title]
    if summary.summary:
        parts.append(summary.summary)
    if summary.model:
        parts.append(f"answered by {summary.model}")
    if summary.cost is not None:
        parts.append(f"cost {summary.cost.words()}")
    if summary.note:
        parts.append(f"note: {summary.note}")
    if summary.parent_run is not None:
        again = summary.parent_attempt is None
        attempt = "" if again else f", attempt {summary.parent_attempt}"
        parts.append(
            f"{'ran' if again else 'branched from'} run {summary.parent_run}{attempt}{' again' if again else ''}"
        )
    return "\n".join(parts)
