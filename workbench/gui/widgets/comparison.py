"""Compares two attempts or runs in every respect: reply, value by pointer, prompt, schema, and what they took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from workbench.gui.delegates.ink import color, mono
from workbench.gui.widgets.diff_view import DiffView, changes_in_words
from workbench.gui.widgets.tables import dress_table

RESPECTS = {"text": "Text", "pointer": "By pointer", "prompt": "Prompt", "schema": "Schema", "facts": "Usage"}


@dataclass(frozen=True, slots=True)
class Compared:
    """One of two things that are compared.

    `title` names it (`Attempt 1`), `word` is its outcome, `text` what came (the JSON of a reply, the checked
    text), `value` its JSON value, `prompt` all that was sent, `schema` the text of its JSON Schema, `facts` the
    rows of figures: name and words. `key` tells two of them apart: run and attempt.
    """

    key: tuple[int, int | None]
    title: str
    word: str
    text: str
    value: Any
    prompt: str = ""
    schema: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    has_value: bool = True


class ComparisonView(DiffView):
    """A `DiffView` that can also compare prompts, schemas and figures."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, RESPECTS)
        self.before: Compared | None = None
        self.after: Compared | None = None
        self.facts = self._build_facts()
        self._stack.addWidget(self.facts)
        self.mode.chosen.connect(self._show_respect)

    def _build_facts(self) -> QTableWidget:
        table = QTableWidget(0, 3)
        dress_table(table, 24)
        table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        table.setAccessibleName("Figures of both")
        return table

    def compare(self, before: Compared, after: Compared) -> None:
        """Show how `after` differs from `before`."""
        from workbench.engine.translation import pointer_diff

        self.before, self.after = before, after
        # What the note of the head would say stands below; beside five choices there is no room for it.
        self.head.note.hide()
        self.head.title.set_text(f"{before.title} and {after.title[0].lower()}{after.title[1:]}")
        both = before.has_value and after.has_value
        changes = pointer_diff(before.value, after.value) if both else None
        self.show_pointers(changes or [])
        self._show_facts()
        self._show_respect(self.mode.current())
        self.say(_difference_words(before, after, changes))

    def clear(self, title: str = "Compare", words: str = "Nothing to compare.") -> None:
        """Show that there are no two things to compare."""
        self.before = self.after = None
        self.facts.setRowCount(0)
        self.head.note.show()
        super().clear(title, words)

    def _show_respect(self, respect: str) -> None:
        before, after = self.before, self.after
        if respect in ("pointer", "facts"):
            self._stack.setCurrentWidget(self.table if respect == "pointer" else self.facts)
            return
        self._stack.setCurrentIndex(0)
        if before is None or after is None:
            return
        old, new = {
            "text": (before.text, after.text),
            "prompt": (before.prompt, after.prompt),
            "schema": (before.schema, after.schema),
        }[respect]
        same = ", the same" if old == new else ""
        titles = (f"{each.title.lower()}, {each.word}{same}" for each in (before, after))
        self.show_texts(old, new, *titles, _language(respect, old, new))

    def _show_facts(self) -> None:
        before, after = self.before, self.after
        assert before is not None
        assert after is not None
        self.facts.setHorizontalHeaderLabels(["", before.title, after.title])
        old, new = dict(before.facts), dict(after.facts)
        names = list(dict.fromkeys([*old, *new]))
        self.facts.setRowCount(len(names))
        for row, name in enumerate(names):
            cells = (name, old.get(name, ""), new.get(name, ""))
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                item.setToolTip(text)
                if column:
                    item.setFont(mono())
                if column == 2 and cells[1] != cells[2]:
                    item.setForeground(color("accent"))
                self.facts.setItem(row, column, item)


def _language(respect: str, old: str, new: str) -> str:
    """Return in which language two texts are coloured; the text of a check or of a conversation is none."""
    if respect == "prompt":
        return ""
    given = [text.lstrip()[:1] for text in (old, new) if text.strip()]
    return "json" if respect == "schema" or all(first in "{[" for first in given) else ""


def _difference_words(before: Compared, after: Compared, changes: Sequence[Any] | None) -> str:
    """Return in a line what differs: outcome, value, prompt, schema and tokens, and what that does not prove.

    `changes` are those of the values, `None` where one of the two has none.
    """
    words = [before.word if before.word == after.word else f"{before.word} → {after.word}"]
    if changes is not None:
        words.append(f"value: {changes_in_words(changes)}" if changes else "the same value")
    else:
        missing = before if not before.has_value else after
        words.append(f"{missing.title[0].lower()}{missing.title[1:]} has no value yet")
    for name, old, new in (("prompt", before.prompt, after.prompt), ("schema", before.schema, after.schema)):
        if old != new:
            words.append(f"another {name}")
    old_tokens, new_tokens = _tokens(before), _tokens(after)
    if old_tokens and new_tokens and old_tokens != new_tokens:
        words.append(f"{old_tokens} → {new_tokens} tokens")
    line = f"{words[0][0].upper()}{', '.join(words)[1:]}."
    if changes is not None and "valid" in (before.word, after.word):
        line += " Valid means that the schema holds, not that the values are right."
    return line


def _tokens(compared: Compared) -> str:
    facts = dict(compared.facts)
    numbers = [facts.get(name, "unknown") for name in ("Input tokens", "Output tokens")]
    return "" if "unknown" in numbers else " + ".join(numbers)
