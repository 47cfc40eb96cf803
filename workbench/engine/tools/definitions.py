"""What a project says of its tools, and what a simulated tool answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Simulation:
    """The `[tools.simulate]` table: exactly one of `text`, `json`, `contents` and `error` is set.

    `json` is JSON text, `contents` a list of `{"type": "text" | "image", …}` tables. `delay_ms` is the time
    in milliseconds after which the tool answers.
    """

    text: str | None = None
    json: str | None = None
    contents: tuple[Any, ...] | None = None
    error: str | None = None
    delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One `[[tools]]` table; `parameters` is the text of a JSON Schema."""

    name: str
    description: str = ""
    parameters: str = '{"type": "object"}'
    simulate: Simulation | None = None
