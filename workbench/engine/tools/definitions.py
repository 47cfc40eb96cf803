"""What a project says of its tools, and what a simulated tool answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Simulation:
    """The `[tools.simulate]` table: exactly one of `text`, `json`, `contents` and `error` is set.

    `json` is JSON text, `contents` a list of `{"type": "text" | "image", …}` tables. `delay_ms` is the time
    in milliseconds after which the tool answers. `result` (JSON text) and `attributes` (JSON text of an object)
    are the raw result and the attributes, which no model gets to see.
    """

    text: str | None = None
    json: str | None = None
    contents: tuple[Any, ...] | None = None
    error: str | None = None
    delay_ms: int = 0
    result: str | None = None
    attributes: str | None = None


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One `[[tools]]` table; `parameters` is the text of a JSON Schema.

    With `return_immediately` the conversation ends with the tool's result. `compensate` says how a call
    that succeeded is undone when another one fails: the name of the tool that undoes it, or a simulation.
    """

    name: str
    description: str = ""
    parameters: str = '{"type": "object"}'
    simulate: Simulation | None = None
    return_immediately: bool = False
    compensate: str | Simulation | None = None
