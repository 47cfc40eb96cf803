"""A run that writes a program and evaluates it, as turns made from its events, live and in a replay alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.engine.json_text import dumps
from workbench.gui.models.figures import format_duration
from workbench.gui.models.runs import word_of
from workbench.gui.widgets.conversation import Turn

if TYPE_CHECKING:
    from workbench.engine.events import RunEvent
    from workbench.engine.translation import Attempt, ProgramRecord


def turns_of_program(events: Sequence[RunEvent]) -> list[Turn]:
    """Return each attempt at a program, what was wrong with it, the calls of each step, and the value."""
    from workbench.engine.translation import replay, replay_program

    turns: list[Turn] = []
    for attempt in replay(events).attempts:
        turns += _attempt(attempt)
    program = replay_program(events)
    if program is not None:
        turns += _evaluation(program)
    if turns:
        last = turns[-1]
        turns[-1] = Turn(last.role, last.text, last.caption, current=True)
    return turns


def _attempt(attempt: Attempt) -> list[Turn]:
    turns = []
    if attempt.prompt:
        turns.append(Turn("user", attempt.prompt, "request" if attempt.number == 1 else "repair asked"))
    if attempt.reply:
        word = word_of(attempt.outcome) if attempt.outcome else "arriving"
        turns.append(Turn("assistant", attempt.reply, f"program {attempt.number}, {word}"))
    problems = "\n".join(each.message for each in attempt.diagnostics if each.severity == "error")
    if problems:
        turns.append(Turn("run", problems, "why it is not run"))
    return turns


def _evaluation(program: ProgramRecord) -> list[Turn]:
    turns = []
    for step in program.steps:
        took = sum(call["elapsed_ms"] or 0 for call in step.calls)
        caption = f"step {step.number}, {format_duration(took)}" if step.calls else f"step {step.number}"
        turns.append(Turn("tool", "\n".join(step.lines()), caption))
    if program.outcome == "ok":
        turns.append(Turn("run", dumps(program.value, indent=2), "value of the last step"))
    elif program.outcome != "running":
        turns.append(Turn("run", program.message, word_of(program.outcome)))
    return turns
