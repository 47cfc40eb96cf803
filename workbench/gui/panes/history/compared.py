"""Puts attempts and checks of stored runs into the form in which two of them are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.engine.json_text import dumps, parse_json
from workbench.gui.models.attempts import cost_words
from workbench.gui.models.figures import counted, format_duration
from workbench.gui.models.program_turns import program_words
from workbench.gui.models.runs import run_word, word_of
from workbench.gui.models.tool_turns import turns_of_record
from workbench.gui.widgets.comparison import Compared

if TYPE_CHECKING:
    from workbench.engine.guardrails import GuardrailResult
    from workbench.engine.history import Run
    from workbench.engine.translation import Attempt


def compared_attempt(run: Run, attempt: Attempt, *, name_run: bool, request_only: bool = False) -> Compared:
    """Return an attempt of a run for a comparison; `name_run` puts the number of the run into its title.

    With `request_only` the prompt is that of the request, without the repairs before the attempt.
    """
    title = f"Attempt {attempt.number}"
    if name_run:
        title = f"Run {run.summary.id}, attempt {attempt.number}"
    return Compared(
        key=(run.summary.id, attempt.number),
        title=title,
        word=word_of(attempt.outcome),
        text=attempt.json_text or attempt.reply,
        value=attempt.value,
        has_value=attempt.has_value,
        prompt=_conversation(attempt, request_only=request_only),
        schema=_schema(run),
        facts=tuple(_facts(run, attempt)),
    )


def _conversation(attempt: Attempt, *, request_only: bool) -> str:
    messages = attempt.messages[: attempt.base_count] if request_only else attempt.messages
    return "\n".join(f"--- {message.role} ---\n{message.shown_text()}" for message in messages)


def _schema(run: Run) -> str:
    text = str(run.inputs.get("schema") or "")
    document = parse_json(text)
    # Both sides in one form, so that only what the schemas say differs.
    return dumps(document.value, indent=2) if document.ok else text


def _facts(run: Run, attempt: Attempt) -> Iterable[tuple[str, str]]:
    usage = attempt.usage
    errors = sum(1 for each in attempt.diagnostics if each.severity == "error")
    yield "Outcome", word_of(attempt.outcome)
    yield "Errors", str(errors)
    yield "Model", attempt.model or "not told"
    yield "Time", format_duration(attempt.elapsed_ms) if attempt.elapsed_ms is not None else "no call"
    for name, number in (
        ("Input tokens", usage.input_tokens if usage else None),
        ("Output tokens", usage.output_tokens if usage else None),
    ):
        yield name, str(number) if number is not None else "unknown"
    yield "Cost", cost_words(attempt)
    yield "Reply", counted(len(attempt.reply), "character")
    yield "Local edits", str(len(attempt.edits))
    yield "Nulls taken out", str(len(attempt.removed_nulls))
    yield from _program_facts(run)
    yield "Type", str(run.inputs.get("type_name") or "")
    yield "Parameter set", str(run.inputs.get("parameter_set") or "none")


def _program_facts(run: Run) -> Iterable[tuple[str, str]]:
    """Yield what the program of the run gave, where one was evaluated."""
    from workbench.engine.translation import replay_program

    program = replay_program(run.events)
    if program is not None:
        yield "Program", program_words(program)
        yield "Program gave", dumps(program.value) if program.outcome == "ok" else program.message


def compared_check(run: Run) -> Compared:
    """Return a check run for a comparison: the last checked text, and the answers by pointer."""
    from workbench.engine.workflows import replay_guard

    inputs, record = run.inputs, replay_guard(run.events)
    result, validations = record.result, record.validations()
    word = word_of(result.verdict if result is not None else run.summary.outcome)
    value = None
    facts: list[tuple[str, str]] = [("Verdict", word)]
    if result is not None:
        # By name: a check that was moved is not a check that changed.
        value = {check["name"]: check for check in result.to_json().get("checks", ())}
        facts += [
            ("Model", result.model_version or result.model_name or ""),
            ("Time", format_duration(result.elapsed_ms)),
        ]
        facts += [(check.name, _probability(check)) for check in result.checks]
    if record.looped:
        facts.append(("Validations", str(len(validations))))
    return Compared(
        key=(run.summary.id, None),
        title=f"Run {run.summary.id}",
        word=word,
        text=validations[-1].text if validations else str(inputs.get("text", "")),
        value=value,
        has_value=value is not None,
        prompt="\n".join(_check_line(check) for check in inputs.get("checks", ())),
        facts=tuple(facts),
    )


def _check_line(check: Mapping[str, Any]) -> str:
    return f"{check.get('name', '')}: {check.get('question') or dumps(dict(check))}"


def compared_tools(run: Run) -> Compared:
    """Return a tool run for a comparison: the answer, and every call by pointer."""
    from workbench.engine.workflows import replay_tools

    record = replay_tools(run.events)
    word = run_word(run.summary)
    calls = [
        {
            "name": each.get("name"),
            "arguments": each.get("arguments"),
            "sent": (each.get("sent") or {}).get("contents"),
        }
        for each in record.executions
    ]
    tokens = (("Input tokens", record.input_tokens), ("Output tokens", record.output_tokens))
    return Compared(
        key=(run.summary.id, None),
        title=f"Run {run.summary.id}",
        word=word,
        text=record.text,
        value=calls,
        prompt="\n".join(f"--- {turn.role} ---\n{turn.text}" for turn in turns_of_record(record)),
        facts=(
            ("Outcome", word),
            ("Model", run.summary.model or "not told"),
            ("Time", format_duration(run.summary.elapsed_ms)),
            *((name, "unknown" if number is None else str(number)) for name, number in tokens),
            ("Tool calls", str(len(calls))),
        ),
    )


def compared_outcomes(before: Run, after: Run) -> tuple[Compared, Compared] | None:
    """Return the ends of two translations for a comparison, `None` where one of them has no attempt."""
    from workbench.engine.translation import replay

    sides = []
    for run in (before, after):
        attempts = replay(run.events).attempts
        if not attempts:
            return None
        sides.append(compared_attempt(run, attempts[-1], name_run=True, request_only=True))
    return sides[0], sides[1]


def compared_run(run: Run) -> Compared | None:
    """Return a run without attempts for a comparison, `None` where its kind cannot be compared."""
    if run.summary.kind == "check":
        return compared_check(run)
    return compared_tools(run) if run.summary.kind == "tool" else None


def _probability(check: Any) -> str:
    if check.kind != "model":
        return ", ".join(part for part in (word_of(check.status), check.detail) if part)
    probability = "no probability" if check.probability is None else f"{check.probability:.4f}"
    return f"{probability}, {word_of(check.status)}"


def exchange_rows(result: GuardrailResult | None) -> list[tuple[str, str, None]]:
    """Return what is known of a guardrail run besides its checks."""
    if result is None:
        return []
    usage = result.usage
    rows = [
        ("Model", " ".join(part for part in (result.model_name, result.model_version) if part) or "not told"),
        ("Time", format_duration(result.elapsed_ms)),
        (
            "Input tokens",
            "unknown" if usage is None or usage.input_tokens is None else str(usage.input_tokens),
        ),
        (
            "Output tokens",
            "unknown" if usage is None or usage.output_tokens is None else str(usage.output_tokens),
        ),
    ]
    for number, exchange in enumerate(result.exchanges, 1):
        rows += [
            (
                f"Call {number}",
                f"{exchange.url} answered {exchange.status}, {counted(exchange.attempts, 'attempt')}",
            ),
            (f"Call {number}, sent", exchange.request),
            (f"Call {number}, reply", exchange.reply),
        ]
    rows += [("Note", note) for note in result.notes]
    return [(name, words, None) for name, words in rows]
