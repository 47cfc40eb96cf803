"""Stored runs as text and as JSON: what was sent and what came, step by step, without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.commands.check import check_table, probability_figure
from workbench.cli.output import table
from workbench.cli.translations import change_line, record_text, record_to_json
from workbench.engine.json_text import dumps
from workbench.engine.translation import TranslationRecord
from workbench.engine.workflows import GuardRecord, PlainRecord, ToolRecord
from workbench.engine.workflows.program_runs import ProgramRunRecord

if TYPE_CHECKING:
    from workbench.engine.guardrails import CheckResult
    from workbench.engine.workflows import GuardStep, RunDifference, ToolEntry
    from workbench.engine.workflows.replaying import PlainStep

Record = TranslationRecord | GuardRecord | ToolRecord | PlainRecord


def replay_json(record: Record) -> dict[str, Any]:
    """Return a record in its stable JSON form: that of the live command, for other runs with every step."""
    if isinstance(record, ProgramRunRecord):
        steps = [{"at": each.at, "attempt": each.attempt, "label": each.label} for each in record.steps]
        return {**record_to_json(record), "steps": steps}
    if isinstance(record, TranslationRecord):
        return record_to_json(record)
    if isinstance(record, GuardRecord):
        if not record.looped and record.result is not None:
            return record.result.to_json()
        last = {"stage": record.stage, "verdict": None}
        data = record.result.to_json() if record.result is not None else last
        ended = {"outcome": record.outcome, "response": record.response, "message": record.message or None}
        return {"format": 1, **data, **ended, "steps": [_guard_step(each) for each in record.steps]}
    if isinstance(record, ToolRecord):
        steps = [{"at": each.at, "round_trip": each.round_trip, "label": each.label} for each in record.steps]
        return {
            "format": 1,
            "outcome": record.outcome,
            "text": record.text,
            "message": record.message,
            "executions": [dict(each) for each in record.executions],
            "steps": steps,
        }
    plain = [
        {"at": each.at, "label": each.label, "words": each.words, "checks": [dict(c) for c in each.figures]}
        for each in record.steps
    ]
    return {"format": 1, "steps": plain}


def _guard_step(step: GuardStep) -> dict[str, Any]:
    data: dict[str, Any] = {
        "at": step.at,
        "validation": step.validation,
        "label": step.label,
        "text": step.text,
    }
    if step.result is not None:
        data["failed"] = list(step.result.failed_checks)
    return data


def replay_text(record: Record) -> str:
    """Return a record for people: what was sent and what came, in order."""
    if isinstance(record, TranslationRecord):
        return record_text(record)
    if isinstance(record, GuardRecord):
        return _guard_text(record)
    if isinstance(record, ToolRecord):
        return _tool_text(record)
    return "".join(_plain_text(each) for each in record.steps)


def _plain_text(step: PlainStep) -> str:
    """Return an event in a line, and below it the figures that an evaluation ended with."""
    from workbench.engine.evaluation.run_record import HEADS, figure_rows

    line = f"+{step.at:.3f} s  {step.label}: {step.words}\n"
    rows = [list(HEADS), *figure_rows(step.figures)]
    return line + (table(rows, right=frozenset(range(1, len(HEADS)))) if step.figures else "")


def _guard_text(record: GuardRecord) -> str:
    if not record.looped and record.result is not None:
        return check_table(record.result)
    lines = []
    for step in record.steps:
        number = f"validation {step.validation}, " if record.looped else ""
        lines.append(f"+{step.at:.3f} s  {number}{step.label}")
        lines += [f"    {line}" for line in step.text.splitlines()]
        if step.result is not None:
            lines += [f"  {line}" for line in check_table(step.result).splitlines()]
    return "\n".join(lines) + "\n" if lines else "nothing was stored of this run\n"


def _tool_text(record: ToolRecord) -> str:
    lines = []
    for entry in record.entries:
        lines.append(_entry_head(entry))
        lines += [f"    {line}" for line in _entry_body(entry).splitlines()]
    lines.append(f"outcome: {record.outcome}")
    return "\n".join(lines) + "\n"


def _entry_head(entry: ToolEntry) -> str:
    if entry.kind == "result":
        kind = "error" if entry.is_error else "result"
        took = "" if entry.elapsed_ms is None else f" after {entry.elapsed_ms:.0f} ms"
        return f"{kind} of {entry.name}{took}, sent to the model"
    if entry.kind == "kept":
        return f"{', '.join(entry.kept)} of {entry.name}, not sent to the model"
    if entry.kind == "rolled_back":
        return f"{entry.name} was rolled back; the model is told this instead"
    if entry.kind == "returned":
        return "a tool's result ended the conversation"
    if entry.kind == "reply":
        facts = "" if entry.elapsed_ms is None else f" ({entry.elapsed_ms:.0f} ms)"
        return f"{entry.role}: {'asks for tools' if entry.calls else 'answer'}{facts}"
    return f"{entry.role}: {entry.kind}"


def _entry_body(entry: ToolEntry) -> str:
    lines = [entry.text] if entry.text else []
    lines += [f"{call['name']}({call['arguments']})" for call in entry.calls]
    lines += [str(part["text"]) if part.get("type") == "text" else dumps(dict(part)) for part in entry.parts]
    if entry.kept:
        lines.append(dumps(dict(entry.kept), indent=2))
    if entry.refusal:
        lines.append(f"refused: {entry.refusal}")
    return "\n".join(lines)


def difference_text(found: RunDifference, names: tuple[str, str] | None = None) -> str:
    """Return how two runs differ, for people: outcome, value, prompt, schema, tokens. `names` says what they are.

    Of runs of checks it is the verdict, and what each check said.
    """
    import difflib

    first, second = names or (f"run {found.before}", f"run {found.after}")
    lines = [f"{first} and {second}: {'the same' if found.same else 'different'}"]
    checked = found.kind == "check"
    lines += _checks_lines(found) if checked else _run_lines(found)
    for name, (old, new) in (
        ("questions" if checked else "prompt", found.prompts),
        ("schema", found.schemas),
    ):
        if old == new:
            continue
        lines.append(f"  {name}:")
        diff = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
        lines += [f"    {line}" for line in list(diff)[2:]]
    return "\n".join(lines) + "\n"


def _run_lines(found: RunDifference) -> list[str]:
    lines = [f"  outcome: {_pair(*found.outcomes)}"]
    lines.append(f"  attempts: {_pair(*map(str, found.attempts))}")
    lines.append(f"  tokens: {_pair(*map(_tokens, found.tokens))}")
    if found.changes is None:
        lines.append("  value: one of them has none")
    elif not found.changes:
        lines.append("  value: the same")
    return lines + [f"  {change_line(change)}" for change in found.changes or ()]


def _checks_lines(found: RunDifference) -> list[str]:
    """Return the verdict and each check; validations and tokens only where there were some to speak of."""
    lines = [f"  verdict: {_pair(*found.outcomes)}"]
    for name, before, after in found.checks:
        lines.append(f"  {name}: {_pair(_check_words(before), _check_words(after))}")
    if max(found.attempts) > 1:
        lines.append(f"  validations: {_pair(*map(str, found.attempts))}")
    if any(None not in tokens and tokens != (0, 0) for tokens in found.tokens):
        lines.append(f"  tokens: {_pair(*map(_tokens, found.tokens))}")
    # What the checks said stands above; this is the response that a loop delivered.
    responses = [change for change in found.changes or () if change.pointer == "/response"]
    return lines + [f"  {change_line(change)}" for change in responses]


def _check_words(check: CheckResult | None) -> str:
    """Return what a check said: its outcome, and its probability at its threshold, or why."""
    if check is None:
        return "no answer"
    words = check.status.replace("_", " ")
    if check.kind == "model" and check.probability is not None:
        words += f", p {probability_figure(check.probability, check.threshold)} at {check.threshold:.2f}"
    return words + (f" ({check.detail})" if check.detail else "")


def _pair(before: str, after: str) -> str:
    return before if before == after else f"{before} -> {after}"


def _tokens(tokens: tuple[int | None, int | None]) -> str:
    if None in tokens:
        return "unknown"
    return f"{tokens[0]} + {tokens[1]}"
