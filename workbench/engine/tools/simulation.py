"""Lets a project say what a tool answers, so that a prompt with tools runs without the tools' backends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import dumps, parse_json
from workbench.engine.text import shorten
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.tools.execution import Tool
from workbench.engine.tools.results import Content, ImageContent, TextContent, ToolExecutionResult

if TYPE_CHECKING:
    from workbench.engine.tools.execution import ToolExecution

ANSWERS = ("text", "json", "contents", "error")


class SimulatedToolError(Exception):
    """The error that a project lets a tool raise."""


def simulated_tool(definition: ToolDefinition, others: Sequence[ToolDefinition] = ()) -> Tool:
    """Return a tool that answers what its definition says, after the delay that it says.

    `text` is the text as it is; `json` becomes its compact text, with the value as the raw result; `contents`
    stay contents; `error` is raised, so the policies see it as any other failure. `others` are the definitions
    among which the tool that undoes it is found.

    Raises:
        ValueError: there is no simulation, or not exactly one kind of answer in it, or no tool that undoes it.
    """
    problems = check_simulation(definition)
    if problems:
        raise ValueError(problems[0].message)
    assert definition.simulate is not None
    answer = _answering(definition.simulate)
    return Tool(definition, answer, _undoing(definition, others))


def simulated_tools(definitions: Sequence[ToolDefinition]) -> list[Tool]:
    """Return the tools of a project.

    Raises:
        ValueError: one of them has no usable simulation.
    """
    return [simulated_tool(definition, definitions) for definition in definitions]


def _answering(simulation: Simulation) -> Callable[[dict[str, Any]], Any]:
    async def answer(arguments: dict[str, Any]) -> ToolExecutionResult:
        await asyncio.sleep(simulation.delay_ms / 1000)
        if simulation.error is not None:
            raise SimulatedToolError(simulation.error)
        return simulated_result(simulation)

    return answer


def _undoing(
    definition: ToolDefinition, others: Sequence[ToolDefinition]
) -> Callable[[ToolExecution], Any] | None:
    from workbench.engine.tools.compensation import undo_by

    how = definition.compensate
    if how is None:
        return None
    if isinstance(how, str):
        undoing = next((other for other in others if other.name == how), None)
        if undoing is None:
            raise ValueError(f"{definition.name!r} is undone by {how!r}, but there is no such tool.")
        return undo_by(simulated_tool(replace(undoing, compensate=None)))  # undoing is not undone in turn
    answer = _answering(how)
    return lambda execution: answer({})


def simulated_result(simulation: Simulation) -> ToolExecutionResult:
    """Return what a simulation that is no error answers.

    Raises:
        ValueError: the simulation is wrong (see `check_answer`).
    """
    builder = ToolExecutionResult.builder()
    if simulation.attributes is not None:
        builder.attributes(parse_json(simulation.attributes).value)
    if simulation.text is not None:
        builder.result(simulation.text).result_text(simulation.text)
    elif simulation.json is not None:
        value = parse_json(simulation.json).value
        builder.result(value).result_text(dumps(value))
    else:
        builder.result_contents([_content(item) for item in simulation.contents or ()])
    if simulation.result is not None:
        builder.result(parse_json(simulation.result).value)
    return builder.build()


def _content(item: Any) -> Content:
    if not isinstance(item, Mapping) or item.get("type") not in ("text", "image"):
        raise ValueError('A content is {"type": "text", "text"} or {"type": "image", "url" or "data"}.')
    if item["type"] == "text":
        if not isinstance(item.get("text"), str):
            raise ValueError("A text among the contents needs its text.")
        return TextContent(item["text"])
    return ImageContent(item.get("data"), item.get("mime_type", "image/png"), item.get("url"))


def check_simulation(definition: ToolDefinition) -> list[Diagnostic]:
    """Return what is wrong with the simulation of a tool."""
    name = definition.name
    if definition.simulate is None:
        message = f"The tool {shorten(name)!r} has no simulation, so it cannot run here."
        return [Diagnostic("error", "tool", message, node="simulate", hint="Add tools.simulate.")]
    return check_answer(definition.simulate, f"The simulation of {shorten(name)!r}", node="simulate")


def check_answer(simulation: Simulation, whose: str, *, node: str) -> list[Diagnostic]:
    """Return what is wrong with a simulated answer. `whose` begins each message, `node` is the key of its table."""

    def problem(key: str, message: str, hint: str | None = None) -> Diagnostic:
        return Diagnostic("error", "tool", message, node=f"{node}.{key}" if key else node, hint=hint)

    given = [key for key in ANSWERS if getattr(simulation, key) is not None]
    if len(given) != 1:
        what = f"has {' and '.join(given)}" if given else "says nothing"
        return [problem("", f"{whose} {what}.", "Set one of text, json, contents and error.")]
    found = []
    if simulation.delay_ms < 0:
        found.append(problem("delay_ms", f"{whose} has a negative delay.", "Give milliseconds from 0."))
    for key in ("json", "result", "attributes"):
        text = getattr(simulation, key)
        if text is None:
            continue
        document = parse_json(text)
        errors = [d for d in document.diagnostics if d.severity == "error"]
        found += [
            d.at(message=f"{whose}: {key} is broken JSON: {d.message}", node=f"{node}.{key}") for d in errors
        ]
        if key == "attributes" and not errors and not isinstance(document.value, dict):
            found.append(problem(key, f"{whose} has attributes that are no JSON object."))
    if simulation.error is not None:
        unused = [key for key in ("result", "attributes") if getattr(simulation, key) is not None]
        found += [problem(key, f"{whose} is an error, which has no {key}.") for key in unused]
    if simulation.contents is not None:
        found += [problem("contents", words) for words in _contents_problems(whose, simulation.contents)]
    return found


def _contents_problems(whose: str, contents: Sequence[Any]) -> list[str]:
    if not contents:
        return [f"{whose} has contents that are empty."]
    found = []
    for index, item in enumerate(contents):
        try:
            _content(item)
        except ValueError as error:
            found.append(f"{whose}, Content {index + 1}: {error}")
    return found
