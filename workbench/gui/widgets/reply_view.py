"""A raw reply with the chosen JSON marked in it, and how it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.models.attempts import found_words
from workbench.gui.models.figures import counted
from workbench.gui.widgets.code_view import CodeView, Mark
from workbench.gui.widgets.labels import Chip, Strip, TokenLabel

if TYPE_CHECKING:
    from workbench.engine.translation import Attempt


class ReplyView(QWidget):
    """Shows the reply of one attempt; `go_to` jumps to the place of a diagnostic."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.strip = Strip(32)
        self.chip = Chip("chosen JSON")
        self.recorded = Chip("recorded", "queued")
        self.place = TokenLabel("", size="second")
        self.how = TokenLabel("", "second", size="second", elide=True)
        for widget in (self.recorded, self.chip, self.place):
            self.strip.row.addWidget(widget)
        self.strip.row.addWidget(self.how, 1)
        self.code = CodeView()
        self.code.setAccessibleName("Raw reply")
        self.code.set_wrapped(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.strip)
        layout.addWidget(self.code, 1)
        self.show_attempt(None)

    def show_attempt(self, attempt: Attempt | None) -> None:
        """Show an attempt's reply, `None` for nothing."""
        self.strip.show()
        span = attempt.span if attempt is not None else None
        self.chip.setVisible(span is not None)
        self.recorded.setVisible(attempt is not None and attempt.recorded)
        if attempt is None or not attempt.reply:
            self.place.set_text("")
            self.how.set_text(_without_reply(attempt))
            self.code.set_code("")
            self.code.mark_span(None)
            self.code.set_marks([])
            return
        length = len(attempt.reply)
        if span is None:
            self.place.set_text(counted(length, "character"))
            arriving = attempt.elapsed_ms is None and not attempt.edited
            state = "arriving…" if arriving else "not searched for JSON yet"
            self.how.set_text(state if attempt.outcome == "running" else "no JSON chosen")
        else:
            self.place.set_text(f"characters {span[0]}–{span[1]} of {length}")
            self.how.set_text(found_words(attempt))
        self.how.setToolTip("\n".join(attempt.notes))
        self.code.set_code(attempt.reply, "json" if span is not None else "", region=span)
        self.code.mark_span(span)
        marks = (_mark(each, attempt.reply) for each in attempt.diagnostics)
        self.code.set_marks([mark for mark in marks if mark is not None])

    def show_text(self, words: str, text: str, language: str = "") -> None:
        """Show a text that is no reply, with what is said of it above; nothing is kept free for no words."""
        self.show_attempt(None)
        self.how.set_text(words)
        self.strip.setVisible(bool(words))
        self.code.set_code(text, language)

    def go_to(self, diagnostic: Diagnostic) -> bool:
        """Show the place of a diagnostic in the reply; False when it has none."""
        if diagnostic.start is None:
            return False
        self.code.go_to(diagnostic.start, diagnostic.end)
        return True


def _without_reply(attempt: Attempt | None) -> str:
    if attempt is None:
        return "No reply yet."
    if attempt.refusal:
        return f"The model refused: {attempt.refusal}"
    return attempt.message or (
        "waiting for the model…" if attempt.outcome == "running" else "The reply is empty."
    )


def _mark(diagnostic: Diagnostic, reply: str) -> Mark | None:
    if diagnostic.start is None:
        return None
    status = {"error": "error_mark", "warning": "error", "info": "info"}[diagnostic.severity]
    end = diagnostic.end if diagnostic.end is not None else diagnostic.start + 1
    # A whole object is marked at its first line only: underlining all of it would hide the rest.
    newline = reply.find("\n", diagnostic.start, end)
    if newline >= 0:
        end = max(newline, diagnostic.start + 1)
    return Mark(diagnostic.start, end, status, diagnostic.message)
