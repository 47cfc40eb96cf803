"""Many requests that are run one after the other, and what became of each beside its last stored run."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.gui.models.figures import counted, format_duration
from workbench.gui.models.runs import status_of, word_of
from workbench.gui.models.table import HeadedTableModel
from workbench.gui.widgets.diff_view import changes_in_words

if TYPE_CHECKING:
    from workbench.engine.history import HistoryStore, Run
    from workbench.engine.translation.settings import Target

NUMBER, REQUEST, RESULT, CHANGE, TOKENS, TIME = range(6)
_HEADS = ("", "Request", "Result", "Against the last run", "Tokens", "Time")


@dataclass(slots=True)
class BatchRow:
    """One request. `tokens` are those of all its attempts. `before` is the stored run that it is compared with, `run_id` the run that was made of it."""

    request: str
    outcome: str = ""
    repairs: int = 0
    change: str = ""
    tokens: str = ""
    changed: bool = False
    elapsed_ms: float | None = None
    before: int | None = None
    run_id: int | None = None
    message: str = ""

    def words(self) -> str:
        """Return the result in words."""
        if not self.outcome:
            return "waiting"
        if self.outcome == "ok" and self.repairs:
            return f"valid, {counted(self.repairs, 'repair')}"
        return word_of(self.outcome)


class BatchModel(HeadedTableModel):
    """One row per request."""

    heads = _HEADS

    StatusRole = Qt.ItemDataRole.UserRole + 3

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[BatchRow] = []

    def set_requests(self, requests: Sequence[str]) -> None:
        """Show `requests`, none of them run."""
        self.beginResetModel()
        self.rows = [BatchRow(request) for request in requests]
        self.endResetModel()

    def update_row(self, row: int, **values: Any) -> None:
        """Change what is known of a row."""
        for name, value in values.items():
            setattr(self.rows[row], name, value)
        self.dataChanged.emit(self.index(row, 0), self.index(row, TIME))

    def shown_rows(self) -> Sized:
        return self.rows

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == self.StatusRole:
            return status_of(row.outcome) if row.outcome else "idle"
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.message or row.request
        if role == Qt.ItemDataRole.DisplayRole:
            return {
                NUMBER: str(index.row() + 1),
                REQUEST: " ".join(row.request.split()),
                RESULT: row.words(),
                CHANGE: row.change,
                TOKENS: row.tokens,
                TIME: format_duration(row.elapsed_ms) if row.elapsed_ms is not None else "",
            }[index.column()]
        return None


def last_run_of(history: HistoryStore, request: str) -> Run | None:
    """Return the newest stored translation of exactly this request that gave a value, `None` where there is none."""
    for outcome in ("ok", None):
        for summary in history.runs(search=request[:400], kind="translate", outcome=outcome, limit=20):
            run = history.run(summary.id)
            if run.inputs.get("request") == request and summary.outcome != "running":
                return run
    return None


def change_words(before: Run | None, after: Run | None) -> tuple[str, bool]:
    """Return in words how a run differs from the one before it, and whether its outcome or value does."""
    from workbench.engine.workflows import compare_runs

    if before is None:
        return "first run of this request", False
    if after is None:
        return "the run was not stored", False
    found = compare_runs(before, after)
    against = f"run {found.before}"
    words = []
    if found.outcomes[0] != found.outcomes[1]:
        words.append(f"{word_of(found.outcomes[0])} in {against}")
    elif found.changes:
        words.append(f"{changes_in_words(found.changes)} against {against}")
    elif found.changes is not None:
        words.append(f"same value as {against}")
    else:
        words.append(f"no value, as in {against}")
    if found.prompts[0] != found.prompts[1]:
        words.append("another prompt")
    if found.schemas[0] != found.schemas[1]:
        words.append("another schema")
    return ", ".join(words), not found.same


def tokens_words(run: Run | None) -> str:
    """Return the tokens of all attempts of a run as `403 + 88`, empty where they are not known."""
    numbers = (
        [(each.input_tokens, each.output_tokens) for each in run.summary.attempts] if run is not None else []
    )
    if not numbers or any(None in pair for pair in numbers):
        return ""
    return " + ".join(str(sum(pair[side] or 0 for pair in numbers)) for side in (0, 1))


def stored_requests(history: HistoryStore, target: Target, limit: int = 200) -> list[str]:
    """Return the requests of the newest stored translations that became a `target`, each once, newest first."""
    from workbench.engine.workflows import target_of

    found: dict[str, None] = {}
    for summary in history.runs(kind="translate", limit=limit):
        run = history.run(summary.id)
        request = run.inputs.get("request")
        if isinstance(request, str) and request.strip() and target_of(run) == target:
            found.setdefault(request)
    return list(found)
