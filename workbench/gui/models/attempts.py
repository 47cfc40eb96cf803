"""The attempts of a translation as a table, and what a record says, in the forms that the widgets show."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.gui.models.figures import counted, format_duration, format_tokens
from workbench.gui.models.runs import status_of, word_of
from workbench.gui.models.table import HeadedTableModel
from workbench.gui.models.turns import last_current
from workbench.gui.widgets.conversation import Turn
from workbench.gui.widgets.timeline import Lane, Step

if TYPE_CHECKING:
    from workbench.engine.translation import Attempt, TranslationRecord

NUMBER, OUTCOME, TIME, TOKENS = range(4)
_HEADS = ("Attempt", "Outcome", "Time", "Tokens")

_SOURCES = {
    "whole": "the whole reply",
    "fence": "fenced block",
    "bare": "found in the text",
    "string": "unwrapped from a string",
}


def outcome_words(attempt: Attempt) -> str:
    """Return the outcome of an attempt as `invalid, 4 errors`."""
    word = word_of(attempt.outcome)
    errors = sum(1 for diagnostic in attempt.diagnostics if diagnostic.severity == "error")
    if attempt.outcome in ("invalid", "instance_rejected", "syntax") and errors:
        return f"{word}, {counted(errors, 'error')}"
    return word


def figures(attempt: Attempt) -> str:
    """Return time and tokens of an attempt, and whether it was recorded."""
    usage = attempt.usage
    parts = [format_duration(attempt.elapsed_ms)]
    parts.append(
        format_tokens(usage.input_tokens, usage.output_tokens) if usage is not None else "tokens unknown"
    )
    if attempt.cost is not None:
        parts.append(attempt.cost.words())
    if attempt.recorded:
        parts.append("recorded")
    if attempt.edited:
        parts.append("edited")
    return ", ".join(parts)


def cost_words(attempt: Attempt) -> str:
    """Return what an attempt cost, or why nobody knows; what was played from a recording is not paid again."""
    if attempt.cost is not None:
        return attempt.cost.words()
    if attempt.recorded:
        return "nothing: a recorded answer"
    return "unknown: the model has no prices, or told no tokens"


def turns_of(attempt: Attempt | None, *, with_reply: bool = True) -> list[Turn]:
    """Return the conversation of an attempt: what was sent, and the reply as the current turn."""
    if attempt is None:
        return []
    turns, reply = [], max(0, attempt.number - _replies_in(attempt))
    for position, message in enumerate(attempt.messages):
        if position < attempt.base_count - 1:
            caption = "preamble"
        elif position == attempt.base_count - 1:
            caption = "request prompt"
        elif message.role == "assistant":
            caption = f"reply {reply}"
            reply += 1
        else:
            caption = "repair message, written by the program"
        turns.append(Turn(message.role, message.shown_text(), caption))
    if not attempt.messages and attempt.prompt:
        turns.append(Turn("user", attempt.prompt, "prompt, not sent yet"))
    if with_reply and attempt.reply:
        state = "arriving" if attempt.outcome == "running" and attempt.elapsed_ms is None else ""
        caption = f"reply {attempt.number}, {state or word_of(attempt.outcome)}"
        turns.append(Turn("assistant", attempt.reply, caption))
    return last_current(turns)


def _replies_in(attempt: Attempt) -> int:
    return sum(1 for message in attempt.messages[attempt.base_count :] if message.role == "assistant")


def source_words(source: str) -> str:
    """Return in words where in a reply a piece of JSON was found."""
    return _SOURCES.get(source, source)


def found_words(attempt: Attempt) -> str:
    """Return how the JSON was found in the reply: `fenced block, 1 candidate, no local edits`."""
    parts = []
    if attempt.source:
        parts.append(source_words(attempt.source))
    if attempt.candidates:
        parts.append(counted(len(attempt.candidates), "candidate"))
    parts.append(counted(len(attempt.edits), "local edit") if attempt.edits else "no local edits")
    if attempt.removed_nulls:
        parts.append(f"stripped null at {', '.join(attempt.removed_nulls[:3])}")
        if len(attempt.removed_nulls) > 3:
            parts.append(f"and {len(attempt.removed_nulls) - 3} more")
    return ", ".join(parts)


def lanes_of(record: TranslationRecord) -> list[Lane]:
    """Return the timeline of a record, one lane an attempt."""
    lanes = []
    for attempt in record.attempts:
        steps = tuple(
            Step(step.label, step.at, _step_status(step.kind, attempt))
            for step in record.steps
            if step.attempt == attempt.number
        )
        lanes.append(
            Lane(
                f"Attempt {attempt.number}",
                word_of(attempt.outcome),
                status_of(attempt.outcome),
                figures(attempt),
                steps,
            )
        )
    return lanes


def _step_status(kind: str, attempt: Attempt) -> str:
    return status_of(attempt.outcome) if kind in ("validated", "failed") else ""


class AttemptTableModel(HeadedTableModel):
    """One row per attempt; a live run grows it without a reset."""

    heads = _HEADS

    StatusRole = Qt.ItemDataRole.UserRole + 3

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Attempt] = []

    def set_attempts(self, attempts: Sequence[Attempt]) -> None:
        """Show `attempts`."""
        if len(attempts) < len(self._rows):
            self.beginResetModel()
            self._rows = list(attempts)
            self.endResetModel()
            return
        for position, attempt in enumerate(attempts[: len(self._rows)]):
            if attempt is not self._rows[position]:
                self._rows[position] = attempt
                self.dataChanged.emit(self.index(position, 0), self.index(position, TOKENS))
        if len(attempts) > len(self._rows):
            self.beginInsertRows(QModelIndex(), len(self._rows), len(attempts) - 1)
            self._rows += attempts[len(self._rows) :]
            self.endInsertRows()

    def attempt(self, row: int) -> Attempt:
        """Return the attempt of a row."""
        return self._rows[row]

    def shown_rows(self) -> Sized:
        return self._rows

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        attempt = self._rows[index.row()]
        if role == self.StatusRole:
            return status_of(attempt.outcome)
        if role == Qt.ItemDataRole.DisplayRole:
            return _cell(attempt, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return attempt.message or (f"answered by {attempt.model}" if attempt.model else None)
        return None


def _cell(attempt: Attempt, column: int) -> str:
    if column == NUMBER:
        return f"{attempt.number}{', recorded' if attempt.recorded else ''}"
    if column == OUTCOME:
        return outcome_words(attempt)
    if column == TIME:
        return format_duration(attempt.elapsed_ms)
    if attempt.usage is None:
        return "unknown"
    return format_tokens(attempt.usage.input_tokens, attempt.usage.output_tokens).removesuffix(" tokens")
