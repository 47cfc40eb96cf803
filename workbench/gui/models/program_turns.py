"""A run that writes a program and evaluates it, as turns made from its events, live and in a replay alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine.json_text import dumps
from workbench.gui.models.attempts import lanes_of
from workbench.gui.models.figures import counted, format_duration
from workbench.gui.models.runs import status_of, word_of
from workbench.gui.models.turns import last_current
from workbench.gui.widgets.conversation import Turn
from workbench.gui.widgets.timeline import Lane, Step

if TYPE_CHECKING:
    from workbench.engine.events import RunEvent
    from workbench.engine.translation import Attempt, ProgramRecord, TranslationRecord
    from workbench.engine.translation.record import Step as RecordStep


def turns_of_program(events: Sequence[RunEvent]) -> list[Turn]:
    """Return each attempt at a program, what was wrong with it, the calls of each step, and the value."""
    from workbench.engine.workflows import replay_translation

    record = replay_translation(events)
    turns: list[Turn] = []
    for attempt in record.attempts:
        turns += _attempt(attempt)
    program = program_of(record)
    return with_evaluation(turns, program) if program is not None else last_current(turns)


def program_of(record: TranslationRecord) -> ProgramRecord | None:
    """Return the evaluation that a record of a translation holds, `None` where no program was evaluated (yet)."""
    from workbench.engine.workflows.program_runs import ProgramRunRecord

    return record.program if isinstance(record, ProgramRunRecord) else None


def is_program_step(step: RecordStep) -> bool:
    """Tell whether a step of a record belongs to the evaluation of a program."""
    from workbench.engine.workflows.program_runs import ProgramStepTaken

    return isinstance(step, ProgramStepTaken)


def with_evaluation(turns: Sequence[Turn], program: ProgramRecord) -> list[Turn]:
    """Return `turns` and the steps of a program after them; the last one is the current turn."""
    return last_current([*turns, *_evaluation(program)])


def run_lanes(record: TranslationRecord) -> list[Lane]:
    """Return a lane for each attempt of a translation, and one for the program where one was evaluated."""
    from workbench.engine.workflows.program_runs import ProgramRunRecord

    if not isinstance(record, ProgramRunRecord):
        return lanes_of(record)
    program = record.program
    steps = tuple(Step(step.label, step.at, step.status) for step in record.program_steps())
    status = "queued" if program.outcome == "running" else status_of(program.outcome)
    done = counted(sum(step.done for step in program.steps), "step")
    lane = Lane("Program", program_words(program), status, done, steps)
    return [*lanes_of(replace(record, steps=record.attempt_steps())), lane]


def program_words(program: ProgramRecord) -> str:
    """Return how the evaluation of a program went."""
    return "ran" if program.outcome == "ok" else word_of(program.outcome)


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
