"""Writes a conversation with tools for people and for programs: each call, what the model got, and what was kept back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.errors import BAD_VERDICT, GOOD, MODEL_FAILED
from workbench.engine.json_text import dumps
from workbench.engine.outcomes import word_of
from workbench.engine.text import shorten

if TYPE_CHECKING:
    from workbench.engine.tools import ToolExecution, ToolRun


def tools_status(run: ToolRun) -> int:
    """Return the exit status for an outcome: a call that gave an error which the model was told is no failure."""
    if run.outcome == "ok":
        return GOOD
    return MODEL_FAILED if run.outcome == "model_error" else BAD_VERDICT


def tools_to_json(run: ToolRun) -> dict[str, Any]:
    """Return the stable JSON form of a conversation with tools."""
    from workbench.engine.translation.record import usage_to_json

    return {
        "format": 1,
        "outcome": run.outcome,
        "text": run.text,
        "message": run.message,
        "immediate": run.immediate,
        "round_trips": run.round_trips,
        "usage": None if run.usage is None else usage_to_json(run.usage),
        "cost": None if run.cost is None else run.cost.to_json(),
        "calls": [execution.to_json() for execution in run.executions],
    }


def tools_text(run: ToolRun) -> str:
    """Return a conversation with tools for people."""
    lines: list[str] = []
    for number, execution in enumerate(run.executions, 1):
        lines += _call_lines(number, execution)
    if run.outcome == "ok":
        who = "answer:" if run.executions else "answer, without calling a tool:"
        if run.immediate:
            who = "the tool's result, without the model:"
        lines += [who, run.text]
    else:
        lines.append(f"no answer ({word_of(run.outcome)}): {run.message}")
    return "\n".join(lines) + "\n"


def _call_lines(number: int, execution: ToolExecution) -> list[str]:
    from workbench.engine.tools import contents_text, kept_back

    told = execution.to_json()
    word = "rolled back" if execution.rolled_back else "error" if execution.has_failed else "result"
    lines = [f"call {number}: {execution.call.name}({execution.call.arguments.strip()})"]
    lines += [f"  {word}: {line}" for line in contents_text(execution.result).splitlines() or [""]]
    lines += [
        f"  not sent to the model: {key} {shorten(dumps(value), 200)}"
        for key, value in kept_back(told).items()
    ]
    lines += [f"  note: {note}" for note in told["notes"]]
    return lines
