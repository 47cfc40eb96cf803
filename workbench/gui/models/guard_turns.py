"""A run of a guardrail as turns and as lanes of a timeline, made from its record, live and in a replay alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.gui.models.figures import format_duration, format_probability
from workbench.gui.models.runs import status_of, word_of
from workbench.gui.models.turns import last_current
from workbench.gui.widgets.conversation import Turn
from workbench.gui.widgets.timeline import Lane, Step

if TYPE_CHECKING:
    from workbench.engine.guardrails import GuardrailResult
    from workbench.engine.history import Run
    from workbench.engine.workflows import GuardRecord, GuardStep


def guard_turns(run: Run, record: GuardRecord, *, looped: bool) -> list[Turn]:
    """Return what was checked, asked and answered up to now; the last one is the current turn.

    With `looped` each validation has a turn of its own, since one table of checks cannot show them all.
    """
    turns: list[Turn] = []
    user_message = record.user_message or run.inputs.get("user_message")
    if user_message:
        turns.append(Turn("user", str(user_message), "user message"))
    stage = str(run.inputs.get("stage", record.stage))
    speaker = "assistant" if stage == "output" else "user"
    if not any(step.kind == "request" for step in record.steps):
        # A run of an earlier version did not store what it asked.
        turns += [Turn(speaker, text, "checked text") for text in [str(run.inputs.get("text") or "")] if text]
    for step in record.steps:
        turns += _turns_of(step, record, speaker, looped)
    return last_current(turns)


def _turns_of(step: GuardStep, record: GuardRecord, speaker: str, looped: bool) -> list[Turn]:
    if step.kind == "request":
        return [Turn(speaker, step.text, "checked text")] if step.text else []
    if step.kind == "asked" and step.text:
        return [Turn("user", step.text, "reprompt, sent to the chat model")]
    if step.kind == "asked":
        said = [(str(each.get("role", "")), str(each.get("content", ""))) for each in record.messages]
        return [Turn(role, text, "sent to the chat model") for role, text in said]
    if step.kind == "response":
        facts = [f"response {step.validation}", step.model, format_duration(step.elapsed_ms)]
        facts.append("recorded" if step.recorded else "")
        return [Turn("assistant", step.text, ", ".join(fact for fact in facts if fact))]
    if step.kind == "validated":
        caption = f"validation {step.validation} of at most {record.most}: {step.label}"
        return [Turn("checks", check_words(step.result), caption)] if looped else []
    if step.kind == "ended":
        words = step.text or "This response is delivered."
        return [Turn("run", words, step.label)]
    return [Turn("run", step.text, step.label)]


def check_words(result: GuardrailResult | None) -> str:
    """Return a line for each check: its probability beside its threshold, or why there is none."""
    if result is None:
        return "The result was not stored."
    if not result.checks:
        return "The text is blank, so no check was asked."
    lines = []
    for check in result.checks:
        word = check.status.replace("_", " ")
        if check.kind != "model":
            # A rule has no probability that would say more than its outcome.
            lines.append(f"{check.name}: {word} by {check.kind}{f', {check.detail}' if check.detail else ''}")
            continue
        if check.probability is None:
            lines.append(f"{check.name}: {word}{f', {check.detail}' if check.detail else ''}")
            continue
        sign = "≥" if check.probability >= check.threshold else "<"
        number = format_probability(check.probability, check.threshold)
        lines.append(f"{check.name}: {number} {sign} {check.threshold:.2f}, {word}")
    return "\n".join(lines)


def guard_lanes(run: Run, record: GuardRecord) -> list[Lane]:
    """Return a lane for each validation of a loop, or one for a run that validates once."""
    if not record.looped:
        outcome = record.outcome if record.result is not None else run.summary.outcome
        took = format_duration(record.result.elapsed_ms) if record.result is not None else ""
        title = f"Check {run.inputs.get('stage', record.stage)}"
        return [Lane(title, word_of(outcome), status_of(outcome), took, _steps(record.steps))]
    lanes = []
    for number in dict.fromkeys(step.validation for step in record.steps):
        steps = tuple(step for step in record.steps if step.validation == number)
        results = [step for step in steps if step.kind == "validated"]
        outcome = results[-1].status if results else run.summary.outcome
        result = results[-1].result if results else None
        took = format_duration(result.elapsed_ms) if result is not None else ""
        title = f"Validation {number}"
        lanes.append(Lane(title, word_of(outcome), status_of(outcome), took, _steps(steps)))
    return lanes


def _steps(steps: tuple[GuardStep, ...]) -> tuple[Step, ...]:
    return tuple(Step(step.label, step.at, status_of(step.status) if step.status else "") for step in steps)
