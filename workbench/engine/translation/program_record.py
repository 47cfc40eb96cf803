"""Folds the events of a program's evaluation into its steps, live and in a replay alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.engine.events import RunEvent
from workbench.engine.json_text import dumps
from workbench.engine.text import shorten


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """One step of a program: `number` counts from 0, as `@ref` does.

    `calls` are the calls that it made, nested ones first: `name`, `arguments`, `is_error`, `text`, `elapsed_ms`.
    `value` is what the step gave; `done` is False while it runs and where it failed.
    """

    number: int
    calls: tuple[Mapping[str, Any], ...] = ()
    value: Any = None
    done: bool = False

    def lines(self) -> list[str]:
        """Return a line for each call, `step 0: name(arguments) = text`, without the arguments' names."""
        return [
            f"step {self.number}: {call['name']}({', '.join(shorten(dumps(a), 60) for a in call['arguments'])})"
            f" {'failed:' if call['is_error'] else '='} {shorten(call['text'], 120)}"
            for call in self.calls
        ]


@dataclass(frozen=True, slots=True)
class ProgramRecord:
    """The evaluation of a program: its steps, and its value where `outcome` is `ok`.

    `outcome` is `running`, `ok` or `tool_error`; then `message` says which step failed, and why.
    """

    steps: tuple[ProgramStep, ...] = ()
    outcome: str = "running"
    value: Any = None
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        steps = [
            {"number": step.number, "calls": [dict(call) for call in step.calls], "value": step.value}
            for step in self.steps
        ]
        return {"outcome": self.outcome, "value": self.value, "message": self.message, "steps": steps}


def replay_program(events: Iterable[RunEvent]) -> ProgramRecord | None:
    """Return the evaluation that the events of a run tell of, `None` where no program was evaluated."""
    steps: dict[int, ProgramStep] = {}
    ended: dict[str, Any] = {}
    begun = False
    for event in events:
        data = event.data
        if event.kind == "program_call":
            number = int(data["step"])
            before = steps.get(number, ProgramStep(number))
            call = {key: data[key] for key in ("name", "arguments", "is_error", "text", "elapsed_ms")}
            steps[number] = ProgramStep(number, (*before.calls, call))
        elif event.kind == "program_step":
            number = int(data["step"])
            calls = steps[number].calls if number in steps else ()
            steps[number] = ProgramStep(number, calls, data.get("value"), True)
        elif event.kind == "program_result":
            ended = {key: data[key] for key in ("outcome", "value", "message")}
        begun = begun or event.kind.startswith("program_")
    return ProgramRecord(tuple(steps.values()), **ended) if begun else None
