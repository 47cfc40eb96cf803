"""The steps of an output guardrail in order: each validation, the reprompt after it, and the new response."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from workbench.gui.delegates.ink import color
from workbench.gui.models.checks_loop import LoopOutcome, LoopStep
from workbench.gui.models.figures import format_probability, joined
from workbench.gui.widgets.labels import StatusMark, TokenLabel

_SHOWN = 600


class StepCard(QWidget):
    """One step; a click on a validation shows its checks."""

    chosen = Signal()

    def __init__(
        self, status: str, headline: str, text: str, detail: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.mark = StatusMark(status, 16)
        self.headline = TokenLabel(headline, bold=True, wrap=True)
        self.text = TokenLabel(text[:_SHOWN] + ("…" if len(text) > _SHOWN else ""), wrap=True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.detail = TokenLabel(detail, "second", size="second", wrap=True)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.headline)
        for label in (self.text, self.detail):
            label.setVisible(bool(label.text()))
            words.addWidget(label)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(8)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        self.setAccessibleName(f"{headline}. {text[:200]}")

    def say(self, status: str, headline: str) -> None:
        """Change what the card says of its step."""
        self.mark.set_status(status)
        self.headline.set_text(headline)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.chosen.emit()
        super().mousePressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(color("line"))
        painter.drawLine(0, 0, self.width(), 0)


class GuardSteps(QWidget):
    """The cards of one run, the oldest first. `chosen` tells the number of a step whose checks shall be shown."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._waiting: StepCard | None = None
        self._most = 1
        self.cards: list[StepCard] = []

    def begin(self, most: int) -> None:
        """Take the cards of an older run away; `most` validations may follow."""
        for card in self.cards:
            self._layout.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards, self._waiting, self._most = [], None, max(1, most)

    def add(self, step: LoopStep, number: int) -> None:
        """Show a step as it happens."""
        self._end_waiting()
        if step.kind == "asked":
            if step.text:
                self._put(StepCard("info", "Reprompt", step.text), None)
            self._waiting = self._put(
                StepCard("queued", "Waiting for the response of the chat model…", ""), None
            )
            return
        result, validation = step.result, step.validation
        if result is None or validation is None:
            return
        head = f"Validation {validation.number} of at most {self._most}: {_verdict(step)}"
        self._put(StepCard(result.verdict, head, step.text, _checks(step)), number)

    def finish(self, outcome: LoopOutcome | None, failure: str = "") -> None:
        """Say how the run ended."""
        self._end_waiting()
        if failure:
            stopped = failure == "stopped by you"
            words = "Stopped." if stopped else "The run failed."
            self._put(StepCard("no_answer" if stopped else "error", words, "" if stopped else failure), None)
        elif outcome is not None and outcome.passed:
            self._put(StepCard("passed", "This response is delivered.", ""), None)
        elif outcome is not None:
            self._put(StepCard("rejected", "No response is delivered.", outcome.message), None)

    def headlines(self) -> list[str]:
        """Return the first lines of the cards, in order."""
        return [card.headline.text() for card in self.cards]

    def _end_waiting(self) -> None:
        if self._waiting is not None:
            self._layout.removeWidget(self._waiting)
            self.cards.remove(self._waiting)
            self._waiting.hide()
            self._waiting.deleteLater()
            self._waiting = None

    def _put(self, card: StepCard, number: int | None) -> StepCard:
        self._layout.addWidget(card)
        self.cards.append(card)
        if number is not None:
            card.setCursor(Qt.CursorShape.PointingHandCursor)
            card.setToolTip("Show the checks of this validation above")
            card.chosen.connect(lambda: self.chosen.emit(number))
        return card


def _verdict(step: LoopStep) -> str:
    result = step.result
    assert result is not None
    if result.passed:
        return "passed"
    if result.failed_checks:
        return f"rejected by {joined(list(result.failed_checks))}"
    return f"no sound answer from {joined(list(result.unanswered_checks))}"


def _checks(step: LoopStep) -> str:
    result = step.result
    assert result is not None
    if not result.checks:
        return "The response is blank, so no check was asked."
    parts = []
    for check in result.checks:
        if check.probability is None:
            parts.append(f"{check.name}: {check.status.replace('_', ' ')}")
            continue
        sign = "≥" if check.status == "rejected" else "<"
        number = format_probability(check.probability, check.threshold)
        parts.append(f"{check.name} {number} {sign} {check.threshold:.2f}")
    return ", ".join(parts)
