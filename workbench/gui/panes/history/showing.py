"""Fills the parts of the history with a run as it stood at the step that is shown, one function a kind of run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from workbench.engine.json_text import dumps
from workbench.engine.tools.kept import kept_back
from workbench.gui.models.attempts import figures, turns_of
from workbench.gui.models.figures import counted, format_duration
from workbench.gui.models.guard_turns import guard_lanes, guard_turns
from workbench.gui.models.program_turns import program_of, program_words, run_lanes, with_evaluation
from workbench.gui.models.runs import run_word, status_of, word_of
from workbench.gui.models.tool_turns import NOT_SENT, turns_of_record
from workbench.gui.panes.history.compared import exchange_rows
from workbench.gui.panes.history.run_view import RunView
from workbench.gui.widgets.conversation import Turn
from workbench.gui.widgets.timeline import Lane, Step

if TYPE_CHECKING:
    from workbench.engine.history import Run
    from workbench.engine.translation import Attempt, ProgramRecord, TranslationRecord
    from workbench.engine.workflows import GuardRecord, PlainRecord, ToolRecord

Rows = list[tuple[str, str, None]]


def show_translation(
    view: RunView, run: Run, whole: TranslationRecord, now: TranslationRecord, step: int
) -> Attempt | None:
    """Show a translation, the steps of its program too, and return the attempt that the step belongs to."""
    view.show_lanes(run_lanes(whole), step)
    number = now.steps[-1].attempt if now.steps else None
    attempt = next((each for each in now.attempts if each.number == number), None)
    program = program_of(now)
    turns = turns_of(attempt)
    view.conversation.set_turns(with_evaluation(turns, program) if program is not None else turns)
    sent = len(attempt.messages) if attempt is not None else 0
    words = f"attempt {number} was sent {counted(sent, 'message')}" if sent else ""
    view.conversation_head.note.set_text(words)
    view.reply.show_attempt(attempt)
    if attempt is None:
        view.diagnostics.show_diagnostics((), "Diagnostics")
    else:
        view.diagnostics.show_diagnostics(attempt.diagnostics, f"Diagnostics of attempt {number}")
    view.details.show_attempt(attempt)
    if program is not None:
        _show_program(view, program)
    elif attempt is not None and attempt.has_value:
        view.value.show_value(attempt.value, figures(attempt))
    else:
        view.value.show_nothing("No value at this step.")
    view.request.set_code(now.request or str(run.inputs.get("request", "")))
    return attempt


def _show_program(view: RunView, program: ProgramRecord) -> None:
    """Show what a program gave, and what each of its calls took and got."""
    if program.outcome == "ok":
        view.value.show_value(program.value, "the value of the program's last step")
    elif program.outcome == "running":
        view.value.show_value(program.to_json()["steps"], "the steps of the program so far")
    else:
        view.value.show_nothing(f"No value: {program.message}")
    rows: Rows = [("Program", program_words(program), None)]
    for step in program.steps:
        for call in step.calls:
            name = f"Step {step.number}, {call['name']}"
            rows.append((name, dumps(list(call["arguments"])), None))
            rows.append((f"{name}, {'error' if call['is_error'] else 'result'}", str(call["text"]), None))
            rows.append((f"{name}, took", format_duration(call["elapsed_ms"]), None))
    view.details.show_rows(rows)


def show_check(view: RunView, run: Run, whole: GuardRecord, now: GuardRecord, step: int) -> None:
    """Show a run of checks, with each validation, reprompt and new response of an output guardrail."""
    result = now.result
    view.show_lanes(guard_lanes(run, whole), step)
    view.conversation.set_turns(guard_turns(run, now, looped=whole.looped))
    answered = result.model_version or result.model_name if result is not None else None
    view.conversation_head.note.set_text(answered or "")
    validations = now.validations()
    looped = whole.looped and validations
    view.checks_head.title.set_text(
        f"Checks of validation {validations[-1].validation}" if looped else "Checks"
    )
    view.checks.results.set_result(result)
    view.reply.show_text(
        now.message or (result.message if result is not None else run.summary.summary),
        dumps(result.to_json(), indent=2) if result is not None else "",
        "json",
    )
    if result is not None:
        view.value.show_value(result.to_json(), word_of(result.verdict))
    else:
        view.value.show_nothing("No answer at this step.")
    texts = [each.text for each in now.steps if each.kind in ("request", "response", "validated")]
    view.request.set_code(texts[-1] if texts else str(run.inputs.get("text", "")))
    view.details.show_rows(exchange_rows(result))


def show_tools(view: RunView, run: Run, whole: ToolRecord, now: ToolRecord, step: int) -> None:
    """Show a conversation with tools, with what the model never saw."""
    steps = tuple(Step(each.label, each.at, each.status) for each in whole.steps)
    took = format_duration(run.summary.elapsed_ms)
    view.show_lanes(
        [Lane(run.summary.title, run_word(run.summary), status_of(run.summary.outcome), took, steps)], step
    )
    view.conversation.set_turns(turns_of_record(now))
    view.conversation_head.note.set_text(run.summary.model)
    view.diagnostics.show_diagnostics([], "Diagnostics")
    view.reply.show_text(now.message or run.summary.summary, now.text)
    if now.executions:
        executions = [dict(each) for each in now.executions]
        view.value.show_value(executions, "every tool call: what was sent to the model, and what was not")
    else:
        view.value.show_nothing("No tool call at this step.")
    view.request.set_code(str(run.inputs.get("request", "")))
    view.details.show_rows(list(_tool_rows(now)))
    view.compare.clear("Compare", "Choose another tool run to compare with.")


def _tool_rows(record: ToolRecord) -> Iterator[tuple[str, str, None]]:
    yield "Outcome", ", ".join(part for part in (word_of(record.outcome), record.message) if part), None
    yield "Model", record.model or "not told", None
    for name, number in (("Input tokens", record.input_tokens), ("Output tokens", record.output_tokens)):
        yield name, "unknown" if number is None else str(number), None
    yield "Messages sent last", str(len(record.messages)), None
    for number, each in enumerate(record.executions, 1):
        name = f"Call {number}, {each.get('name', '')}"
        yield name, str(each.get("arguments_text", "")), None
        yield f"{name}, took", format_duration(each.get("elapsed_ms")), None
        yield f"{name}, sent", dumps((each.get("sent") or {}).get("contents")), None
        kept = kept_back(each)
        if kept:
            yield f"{name}, {NOT_SENT}", dumps(kept), None
        for note in each.get("notes") or ():
            yield f"{name}, note", str(note), None


def show_other(view: RunView, run: Run, whole: PlainRecord, now: PlainRecord, step: int) -> None:
    """Show a run, such as an evaluation, of which there is only what happened when."""
    summary = run.summary
    steps = tuple(Step(each.label, each.at) for each in whole.steps)
    word = word_of(summary.outcome)
    took = format_duration(summary.elapsed_ms)
    view.show_lanes([Lane(summary.title, word, status_of(summary.outcome), took, steps)], step)
    turns = [Turn("run", each.words or each.label, each.label) for each in now.steps]
    view.conversation.set_turns(turns or [Turn("run", summary.summary or summary.title, word)])
    view.conversation_head.note.set_text(summary.model)
    view.diagnostics.show_diagnostics([])
    view.evaluation.show_figures(now.steps[-1].figures if now.steps else ())
    last: Any = run.events[min(step, len(run.events) - 1)].data if run.events else None
    view.reply.show_text(summary.summary, dumps(last, indent=2) if last is not None else "", "json")
    view.value.show_nothing("")
    view.details.show_attempt(None)
    view.request.set_code("")
    view.compare.clear()
