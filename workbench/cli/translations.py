"""Writes a translation for people and for programs: each attempt, what was wrong with it, and the steps of a program."""

from __future__ import annotations

from typing import Any

from workbench.cli.errors import BAD_VERDICT, GOOD, MODEL_FAILED
from workbench.engine.json_text import dumps
from workbench.engine.outcomes import word_of
from workbench.engine.translation import (
    Attempt,
    PointerChange,
    ProgramRecord,
    TranslationRecord,
    pointer_diff,
)
from workbench.engine.workflows.program_runs import ProgramRunRecord


def _program_of(record: TranslationRecord) -> ProgramRecord | None:
    """Return the evaluation of the program that a request became, `None` where it became none."""
    return record.program if isinstance(record, ProgramRunRecord) else None


def exit_status(record: TranslationRecord) -> int:
    """Return the exit status for an outcome."""
    if record.outcome == "ok":
        program = _program_of(record)
        return GOOD if program is None or program.outcome == "ok" else BAD_VERDICT
    return MODEL_FAILED if record.outcome == "model_error" else BAD_VERDICT


def record_to_json(record: TranslationRecord) -> dict[str, Any]:
    """Return the stable JSON form of a translation; `program` only where one was evaluated."""
    document = {
        "format": 1,
        "outcome": record.outcome,
        "value": record.value,
        "message": record.message,
        "attempts": [attempt.to_json() for attempt in record.attempts],
        "cost": None if record.cost is None else record.cost.to_json(),
    }
    if (program := _program_of(record)) is not None:
        document["program"] = program.to_json()
    return document


def record_text(record: TranslationRecord) -> str:
    """Return a translation for people: each attempt, what was wrong with it, and what the repair changed."""
    lines: list[str] = []
    before: Attempt | None = None
    for attempt in record.attempts:
        lines.append(_headline(attempt))
        lines += [f"    {line}" for line in attempt.reply.splitlines()] or ["    (no reply)"]
        lines += [f"  {d.severity}: {d.message}" for d in attempt.diagnostics]
        lines += [f"  note: {note}" for note in attempt.notes]
        lines += [f"  mended: {edit.title}" for edit in attempt.edits]
        if attempt.removed_nulls:
            lines.append(f"  removed, since null: {', '.join(attempt.removed_nulls)}")
        if before is not None and attempt.value is not None:
            lines += _changes(before, attempt)
        before = attempt
        lines.append("")
    if record.cost is not None and len(record.attempts) > 1:
        lines += [f"cost of all attempts: {record.cost.words()}", ""]
    if (program := _program_of(record)) is not None:
        lines += _program_lines(program)
    elif record.outcome == "ok":
        lines += ["value:", dumps(record.value, indent=2)]
        if len(record.attempts) > 1:
            lines.append(
                "Valid means that the schema holds, not that the values are right. Read what the repair changed."
            )
    elif record.outcome == "running":
        lines.append("no value yet")
    else:
        told = {d.message for attempt in record.attempts[-1:] for d in attempt.diagnostics}
        reason = "see the error above" if record.message in told else record.message
        lines.append(f"no value ({word_of(record.outcome)}): {reason}")
    return "\n".join(lines) + "\n"


def short_text(record: TranslationRecord) -> str:
    """Return the value of a translation in one line, or its outcome where there is none."""
    if (program := _program_of(record)) is not None:
        return (
            dumps(program.value)
            if program.outcome == "ok"
            else f"{word_of(program.outcome)}: {program.message}"
        )
    return dumps(record.value) if record.outcome == "ok" else word_of(record.outcome)


def _program_lines(program: ProgramRecord) -> list[str]:
    lines = [line for step in program.steps for line in step.lines()]
    if program.outcome == "ok":
        return [*lines, "value:", dumps(program.value, indent=2)]
    return [*lines, f"no value ({word_of(program.outcome)}): {program.message}"]


def _headline(attempt: Attempt) -> str:
    facts = [f"{attempt.elapsed_ms:.0f} ms"] if attempt.elapsed_ms is not None else []
    if attempt.usage is not None and attempt.usage.input_tokens is not None:
        facts.append(f"{attempt.usage.input_tokens} + {attempt.usage.output_tokens} tokens")
    if attempt.cost is not None:
        facts.append(attempt.cost.words())
    if attempt.model:
        facts.append(attempt.model)
    if attempt.recorded:
        facts.append("recorded")
    outcome = "ok" if attempt.outcome == "ok" else word_of(attempt.outcome)
    if not facts:
        # Of an attempt that has not ended nobody can say that yet.
        waiting = {"running": "no answer yet", "interrupted": "no answer"}
        facts = [waiting.get(attempt.outcome, "nobody was asked")]
    return f"attempt {attempt.number}: {outcome} ({', '.join(facts)})"


def _changes(before: Attempt, after: Attempt) -> list[str]:
    if before.value is None:
        return []
    changes = pointer_diff(before.value, after.value)
    lines = ["  changed by the repair:"] if changes else ["  the repair changed no value"]
    return lines + [f"    {change_line(change)}" for change in changes]


def change_line(change: PointerChange) -> str:
    """Return what changed at one place, with the value before and after."""
    old = "" if change.kind == "added" else dumps(change.before)
    new = "" if change.kind == "removed" else dumps(change.after)
    arrow = " -> " if old and new else ""
    return f"{change.kind} {change.pointer or '(root)'}: {old}{arrow}{new}"
