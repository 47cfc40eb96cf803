"""The steps of an output guardrail in order: each validation, the reprompt after it, and the new response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from workbench.gui.delegates.ink import color
from workbench.gui.jobs import STOPPED
from workbench.gui.models.figures import format_probability, joined
from workbench.gui.widgets.labels import StatusMark, TokenLabel

if TYPE_CHECKING:
    from workbench.engine.guardrails import GuardrailResult
    from workbench.engine.workflows import GuardRecord, GuardStep

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

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.chosen.emit()
        super().mousePressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(color("line"))
        painter.drawLine(0, 0, self.width(), 0)


class GuardSteps(QWidget):
    """The cards of one record, the oldest first. `chosen` tells the result whose checks shall be shown."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._made: list[_Made] = []
        self.cards: list[StepCard] = []

    def clear(self) -> None:
        """Take all cards away."""
        self._show([])

    def show_record(self, record: GuardRecord, *, running: bool = False, failure: str = "") -> None:
        """Show what a record tells; `running` adds what is waited for, `failure` why the run ended without an end."""
        made = [card for step in record.steps for card in _cards_of(step, record)]
        if failure and not any(step.kind == "ended" for step in record.steps):
            # The window knows that a run was stopped before the run itself can tell.
            made = [card for card in made if card.kind != "failed"]
            made.append(_failed(failure, stopped=failure == STOPPED))
        elif running and record.steps:
            made += _waited_for(record.steps[-1])
        self._show(made)

    def headlines(self) -> list[str]:
        """Return the first lines of the cards, in order."""
        return [card.headline.text() for card in self.cards]

    def _show(self, made: list[_Made]) -> None:
        """Show these cards; those at the front that stay the same keep their widgets."""
        same = 0
        while same < min(len(made), len(self._made)) and made[same] == self._made[same]:
            same += 1
        for card in self.cards[same:]:
            self._layout.removeWidget(card)
            card.hide()
            card.deleteLater()
        del self.cards[same:]
        self._made = made
        for each in made[same:]:
            self._put(each)

    def _put(self, made: _Made) -> None:
        card = StepCard(made.status, made.headline, made.text, made.detail)
        self._layout.addWidget(card)
        self.cards.append(card)
        if made.result is not None:
            result = made.result
            card.setCursor(Qt.CursorShape.PointingHandCursor)
            card.setToolTip("Show the checks of this validation above")
            card.chosen.connect(lambda: self.chosen.emit(result))


@dataclass(frozen=True, slots=True)
class _Made:
    """What a card shows, so that a card that stays the same need not be made again."""

    kind: str
    status: str
    headline: str
    text: str = ""
    detail: str = ""
    result: GuardrailResult | None = None


def _cards_of(step: GuardStep, record: GuardRecord) -> list[_Made]:
    if step.kind == "asked":
        return [_Made("asked", "info", "Reprompt", step.text)] if step.text else []
    if step.kind == "validated":
        head = f"Validation {step.validation} of at most {record.most}: {_verdict(step.result)}"
        status = step.result.verdict if step.result is not None else "error"
        return [_Made("validated", status, head, step.text, _checks(step.result), step.result)]
    if step.kind == "failed":
        return [_failed(step.text, stopped=step.status == "cancelled")]
    if step.kind == "ended" and step.status == "passed":
        return [_Made("ended", "passed", "This response is delivered.")]
    if step.kind == "ended":
        return [_Made("ended", "rejected", "No response is delivered.", step.text)]
    return []


def _waited_for(last: GuardStep) -> list[_Made]:
    if last.kind == "asked":
        return [_Made("waiting", "queued", "Waiting for the response of the chat model…")]
    if last.kind == "response":
        return [_Made("waiting", "queued", "New response, being validated…", last.text)]
    return [_Made("waiting", "queued", "Being validated…", last.text)] if last.kind == "request" else []


def _failed(words: str, *, stopped: bool) -> _Made:
    if stopped:
        return _Made("failed", "no_answer", "Stopped.")
    return _Made("failed", "error", "The run failed.", words)


def _verdict(result: GuardrailResult | None) -> str:
    if result is None:
        return "the result was not stored"
    if result.passed:
        return "passed"
    if result.failed_checks:
        return f"rejected by {joined(list(result.failed_checks))}"
    return f"no sound answer from {joined(list(result.unanswered_checks))}"


def _checks(result: GuardrailResult | None) -> str:
    if result is None:
        return ""
    if not result.checks:
        return "The response is blank, so no check was asked."
    parts = []
    for check in result.checks:
        if check.probability is None:
            parts.append(f"{check.name}: {check.status.replace('_', ' ')}")
            continue
        if check.kind != "model":
            parts.append(f"{check.name}: {check.status}, {check.detail}")
            continue
        sign = "≥" if check.status == "rejected" else "<"
        number = format_probability(check.probability, check.threshold)
        parts.append(f"{check.name} {number} {sign} {check.threshold:.2f}")
    return ", ".join(parts)
