"""The runs of a project as a tree: runs, newest first, with their attempts as children."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.gui.models.figures import format_duration, format_when
from workbench.gui.models.roots import ROOT

if TYPE_CHECKING:
    from workbench.engine.history import AttemptSummary, RunSummary

RUN, WHAT, RESULT, TIME, STARTED = range(5)
_HEADS = ("Run", "What", "Result", "Time", "Started")

KINDS: dict[str, str] = {
    "check": "Checks",
    "translate": "Translations",
    "evaluate": "Evaluations",
    "tool": "Tools",
}

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
    "running": "queued",
}

_WORD_OF_OUTCOME: dict[str, str] = {
    "ok": "valid",
    "instance_rejected": "rule broken",
    "no_json": "no JSON",
    "syntax": "broken JSON",
    "schema_echo": "schema echoed",
    "truncated": "cut off",
    "model_error": "model error",
    "hook_error": "hook error",
    "no_progress": "no progress",
    "cancelled": "stopped by you",
    "budget": "out of budget",
}


def status_of(outcome: str) -> str:
    """Return the shape and colour in which an outcome is shown; an outcome nobody foresaw is an error."""
    return _STATUS_OF_OUTCOME.get(outcome, "error")


def word_of(outcome: str) -> str:
    """Return an outcome in words."""
    return _WORD_OF_OUTCOME.get(outcome, outcome.replace("_", " "))


@dataclass(slots=True)
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
        """Show `runs`; those whose list keeps its shape are updated in place, so that the view stays where it is."""
        nodes = [_node(position, summary) for position, summary in enumerate(runs)]
        old_shape = [(n.summary.id, len(n.children)) for n in self._nodes]
        if old_shape == [(n.summary.id, len(n.children)) for n in nodes]:
            for old, new in zip(self._nodes, nodes, strict=True):
                if old.summary != new.summary:
                    old.summary = new.summary
                    for child, fresh in zip(old.children, new.children, strict=True):
                        child.summary, child.attempt = fresh.summary, fresh.attempt
                    self.dataChanged.emit(
                        self.createIndex(old.row, 0, old), self.createIndex(old.row, STARTED, old)
                    )
            return
        self.beginResetModel()
        self._nodes = nodes
        self.endResetModel()

    def set_merged(self, merged: bool) -> None:
        """Let the time column of a run tell when it started, for views with no room for another column."""
        if merged != self._merged:
            self._merged = merged
            if self._nodes:
                last = len(self._nodes) - 1
                self.dataChanged.emit(self.index(0, TIME), self.index(last, STARTED))

    def index_of(self, run_id: int, attempt: int | None = None) -> QModelIndex:
        """Return the index of a run or of one of its attempts, invalid when it is not shown."""
        for node in self._nodes:
            if node.summary.id == run_id:
                if attempt is None:
                    return self.createIndex(node.row, 0, node)
                for child in node.children:
                    if child.attempt is not None and child.attempt.number == attempt:
                        return self.createIndex(child.row, 0, child)
        return QModelIndex()

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
        if role == Qt.ItemDataRole.TextAlignmentRole and section in (TIME, STARTED):
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
            return _run_text(node.summary, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(node)
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in (TIME, STARTED):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


def _of(index: QModelIndex | QPersistentModelIndex) -> _Node:
    node = index.internalPointer()
    assert isinstance(node, _Node)
    return node


def _node(position: int, summary: RunSummary) -> _Node:
    node = _Node(summary, row=position)
    # A run that went well at once has nothing to unfold; a run with a history of attempts has.
    shown = summary.attempts if summary.kind == "translate" else ()
    node.children = tuple(_Node(summary, attempt, row, node) for row, attempt in enumerate(shown))
    return node


def _run_text(summary: RunSummary, column: int) -> str:
    if column == RUN:
        return f"{'★ ' if summary.starred else ''}{summary.id}"
    if column == WHAT:
        return summary.name or summary.title
    if column == RESULT:
        return _result_words(summary)
    if column == TIME:
        return format_duration(summary.elapsed_ms)
    started = datetime.fromtimestamp(summary.started_at)
    when = format_when(started, datetime.now())
    return when.removeprefix("today, ")


def _result_words(summary: RunSummary) -> str:
    word = word_of(summary.outcome)
    if summary.kind == "translate" and summary.outcome == "ok" and len(summary.attempts) > 1:
        repairs = len(summary.attempts) - 1
        return f"{word}, {repairs} repair{'s' if repairs > 1 else ''}"
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
    if summary.note:
        parts.append(f"note: {summary.note}")
    if summary.parent_run is not None:
        parts.append(f"branched from run {summary.parent_run}, attempt {summary.parent_attempt}")
    return "\n".join(parts)
