"""Two texts side by side, line by line, and two values pointer by pointer."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.json_text import dumps
from workbench.gui.delegates.ink import color, mono
from workbench.gui.models.figures import counted
from workbench.gui.shell.scale import px
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.labels import Ground, SectionHead, SegmentedControl, Strip, TokenLabel
from workbench.gui.widgets.tables import dress_table

_MAX_LINES = 4000
_MODES = {"text": "Text", "pointer": "By pointer"}


@dataclass
class Side:
    """One side of a text diff: its lines with fillers, their labels, and what is tinted."""

    lines: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    grounds: dict[int, str] = field(default_factory=dict)
    spans: list[tuple[int, int, str]] = field(default_factory=list)

    def add(self, line: str, label: str, ground: str = "") -> None:
        """Append a line."""
        if ground:
            self.grounds[len(self.lines)] = ground
        self.lines.append(line)
        self.labels.append(label)

    def text(self) -> str:
        """Return the lines as one text."""
        return "\n".join(self.lines)


def align(before: str, after: str) -> tuple[Side, Side]:
    """Return both texts with fillers so that equal lines lie at the same height.

    Removed lines carry `−` and the ground of a rejection, added ones `+` and that of a pass; a changed line also
    tints the characters that differ. Texts of more than 4,000 lines are compared only that far.
    """
    left, right = Side(), Side()
    a, b = before.split("\n")[:_MAX_LINES], after.split("\n")[:_MAX_LINES]
    for tag, a0, a1, b0, b1 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            for k in range(a1 - a0):
                left.add(a[a0 + k], f"{a0 + k + 1}  ")
                right.add(b[b0 + k], f"{b0 + k + 1}  ")
            continue
        for k in range(max(a1 - a0, b1 - b0)):
            old = a[a0 + k] if a0 + k < a1 else None
            new = b[b0 + k] if b0 + k < b1 else None
            _put(left, old, a0 + k, "−", "verdict_rejected")
            _put(right, new, b0 + k, "+", "verdict_passed")
            if old is not None and new is not None:
                _tint_characters(left, right, old, new)
    return left, right


def _put(side: Side, line: str | None, number: int, sign: str, ground: str) -> None:
    if line is None:
        side.add("", "", "alternate")
    else:
        side.add(line, f"{number + 1} {sign}", ground)


def _tint_characters(left: Side, right: Side, old: str, new: str) -> None:
    if len(old) > 500 or len(new) > 500:
        return
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    for side, line, token in ((left, old, "rejected:70"), (right, new, "passed:70")):
        start = sum(len(text) + 1 for text in side.lines[:-1])
        if head < len(line) - tail:
            side.spans.append((start + head, start + len(line) - tail, token))


class DiffView(QWidget):
    """Compares two things: by text, and by JSON Pointer where both are JSON values."""

    def __init__(self, parent: QWidget | None = None, modes: Mapping[str, str] = _MODES) -> None:
        super().__init__(parent)
        self.head = SectionHead("Compare")
        self.mode = SegmentedControl(dict(modes))
        self.head.add(self.mode)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._build_text())
        self._stack.addWidget(self._build_pointers())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.head)
        layout.addWidget(self._stack, 1)
        self.note = Ground("window")
        self.note_words = TokenLabel("", "second", size="second", wrap=True)
        note = QVBoxLayout(self.note)
        note.setContentsMargins(12, 5, 12, 5)
        note.addWidget(self.note_words)
        self.note.hide()
        layout.addWidget(self.note)
        self.mode.chosen.connect(lambda key: self._stack.setCurrentIndex(0 if key == "text" else 1))

    def _build_text(self) -> QWidget:
        box = QWidget()
        grid = QHBoxLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(1)
        self.left, self.right = CodeView(), CodeView()
        self.left_words = TokenLabel("", "second", size="second", elide=True)
        self.right_words = TokenLabel("", "second", size="second", elide=True)
        for words, view in ((self.left_words, self.left), (self.right_words, self.right)):
            half = QVBoxLayout()
            half.setSpacing(0)
            strip = Strip(24)
            strip.row.addWidget(words, 1)
            half.addWidget(strip)
            half.addWidget(view, 1)
            view.set_wrapped(False)
            grid.addLayout(half, 1)
        for one, other in ((self.left, self.right), (self.right, self.left)):
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
            one.horizontalScrollBar().valueChanged.connect(other.horizontalScrollBar().setValue)
        return box

    def _build_pointers(self) -> QWidget:
        self.table = QTableWidget(0, 4)
        self.table.setHorizontalHeaderLabels(["", "Pointer", "Before", "After"])
        self.table.setAlternatingRowColors(False)
        dress_table(self.table, 24)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        header = self.table.horizontalHeader()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.table.setColumnWidth(1, px(160))
        self.table.setColumnWidth(2, px(180))
        self.table.setAccessibleName("Changes by JSON Pointer")
        return self.table

    def show_texts(
        self, before: str, after: str, before_words: str, after_words: str, language: str = "json"
    ) -> None:
        """Compare two texts."""
        left, right = align(before, after)
        for view, side, words, label in (
            (self.left, left, self.left_words, f"− {before_words}"),
            (self.right, right, self.right_words, f"+ {after_words}"),
        ):
            view.set_code(side.text(), language)
            view.set_diff(side.labels, side.grounds, side.spans)
            words.set_text(label)

    def show_pointers(self, changes: Sequence[Any]) -> None:
        """List the changes of `pointer_diff`: kind, pointer, before, after."""
        self.table.setRowCount(len(changes))
        counts = {"changed": 0, "added": 0, "removed": 0}
        for row, change in enumerate(changes):
            counts[change.kind] += 1
            sign, token = {
                "added": ("+", "passed"),
                "removed": ("−", "rejected"),
                "changed": ("±", "text"),
            }[change.kind]
            cells = (
                f"{sign} {change.kind}",
                change.pointer or "(whole value)",
                "" if change.kind == "added" else dumps(change.before),
                "" if change.kind == "removed" else dumps(change.after),
            )
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                item.setToolTip(text)
                if column == 0:
                    item.setForeground(color(token))
                else:
                    item.setFont(mono())
                self.table.setItem(row, column, item)
        words = [f"{number} {kind}" for kind, number in counts.items() if number]
        self.head.note.set_text(", ".join(words) if words else "no difference")

    def say(self, words: str) -> None:
        """Show a remark below the comparison; an empty one takes the strip away."""
        self.note_words.set_text(words)
        self.note.setVisible(bool(words))

    def clear(self, title: str = "Compare", words: str = "Nothing to compare.") -> None:
        """Show that there are no two things to compare."""
        self.head.title.set_text(title)
        self.head.note.set_text(words)
        self.left.set_code("")
        self.right.set_code("")
        self.left_words.set_text("")
        self.right_words.set_text("")
        self.table.setRowCount(0)
        self.say("")


def changes_in_words(changes: Sequence[Any]) -> str:
    """Return `3 changed, 1 added` for the changes of `pointer_diff`."""
    words = []
    for kind in ("changed", "added", "removed"):
        number = sum(1 for change in changes if change.kind == kind)
        if number:
            words.append(f"{number} {kind}")
    return ", ".join(words) or counted(0, "change")
