"""Everything that is known of one attempt and has no view of its own: candidates, edits, nulls, usage, tool calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from workbench.engine.text import shorten
from workbench.gui.delegates.ink import mono
from workbench.gui.models.attempts import cost_words, source_words
from workbench.gui.models.figures import counted, format_duration
from workbench.gui.models.runs import word_of
from workbench.gui.shell.scale import px
from workbench.gui.widgets.tables import dress_table

if TYPE_CHECKING:
    from workbench.engine.translation import Attempt

Row = tuple[str, str, tuple[int, int] | None]
_STATUS_WORDS = {"echo": "the schema itself", "type": "a root type that the schema does not allow"}


def detail_rows(attempt: Attempt) -> Iterator[Row]:
    """Yield name, words and, where there is one, the span in the reply of each detail of an attempt."""
    yield (
        "Outcome",
        ", ".join(part for part in (word_of(attempt.outcome), attempt.message.split("\n")[0]) if part),
        None,
    )
    yield "Model", attempt.model or "not told", None
    yield (
        "Time of the call",
        format_duration(attempt.elapsed_ms) if attempt.elapsed_ms is not None else "no model was called",
        None,
    )
    usage = attempt.usage
    for name, number in (
        ("Input tokens", usage.input_tokens if usage else None),
        ("Output tokens", usage.output_tokens if usage else None),
    ):
        yield name, str(number) if number is not None else "unknown", None
    yield "Cost", cost_words(attempt), None
    failure = attempt.failure or {}
    for name, key in (("HTTP status", "status"), ("The server said", "server_said")):
        if failure.get(key) is not None:
            yield name, str(failure[key]), None
    yield "Ended because", attempt.finish_reason or "not told", None
    if attempt.refusal:
        yield "Refusal", attempt.refusal, None
    for words, is_so in (
        ("a recorded answer, no model ran", attempt.recorded),
        ("edited by hand", attempt.edited),
    ):
        if is_so:
            yield "Reply", words, None
    for number, each in enumerate(attempt.candidates, 1):
        errors = f", {counted(each.errors, 'error')}" if each.errors else ""
        status = _STATUS_WORDS.get(each.status, each.status)
        words = f"{status}{errors}, {source_words(each.source)}, characters {each.start}–{each.end}"
        yield f"Candidate {number}", words, (each.start, each.end)
    for edit in attempt.edits:
        yield "Edited here", f"{edit.title}, character {edit.start}", (edit.start, edit.end)
    for pointer in attempt.removed_nulls:
        yield "Null taken out", pointer, None
    for note in attempt.notes:
        yield "Note", note, None
    for call in attempt.tool_calls:
        yield f"Tool call {call.name}", shorten(call.arguments, 400), None


class AttemptDetails(QWidget):
    """A table of details; one that has a place in the reply tells `place_chosen` when it is chosen."""

    place_chosen = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = QTableWidget(0, 2)
        self.table.setHorizontalHeaderLabels(["What", "Value"])
        dress_table(self.table, 24)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.setColumnWidth(0, px(150))
        self.table.setAccessibleName("Details of the attempt")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.table)
        self._rows: list[Row] = []
        self.table.itemActivated.connect(lambda item: self._choose(item.row()))
        self.table.itemClicked.connect(lambda item: self._choose(item.row()))

    def rows(self) -> list[tuple[str, str]]:
        """Return the names and words that are shown."""
        return [(name, words) for name, words, _span in self._rows]

    def show_attempt(self, attempt: Attempt | None) -> None:
        """Show the details of an attempt, of `None` nothing."""
        self.show_rows(list(detail_rows(attempt)) if attempt is not None else [])

    def show_rows(self, rows: list[Row]) -> None:
        """Show any names and words."""
        if rows == self._rows:
            return
        self._rows = rows
        self.table.setRowCount(len(rows))
        for row, (name, words, span) in enumerate(rows):
            for column, text in enumerate((name, words)):
                item = QTableWidgetItem(text)
                item.setToolTip(f"{text}\nClick to see it in the reply." if span is not None else text)
                if column:
                    item.setFont(mono())
                self.table.setItem(row, column, item)

    def _choose(self, row: int) -> None:
        span = self._rows[row][2]
        if span is not None:
            self.place_chosen.emit(*span)
