"""Lets a project say what a tool answers, so that a prompt with tools runs without the tools' backends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import dumps, parse_json
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.tools.execution import Tool
from workbench.engine.tools.results import Content, ImageContent, TextContent, ToolExecutionResult


class SimulatedToolError(Exception):
    """The error that a project lets a tool raise."""


def simulated_tool(definition: ToolDefinition) -> Tool:
    """Return a tool that answers what its definition says, after the delay that it says.

    `text` is the text as it is; `json` becomes its compact text, with the value as the raw result; `contents`
    stay contents; `error` is raised, so the policies see it as any other failure.

    Raises:
        ValueError: there is no simulation, or not exactly one kind of answer in it.
    """
    problems = check_simulation(definition)
    if problems:
        raise ValueError(problems[0].message)
    simulation = definition.simulate
    assert simulation is not None

    async def answer(arguments: dict[str, Any]) -> ToolExecutionResult:
        await asyncio.sleep(simulation.delay_ms / 1000)
        if simulation.error is not None:
            raise SimulatedToolError(simulation.error)
        return _simulated_result(simulation)

    return Tool(definition, answer)


def simulated_tools(definitions: Sequence[ToolDefinition]) -> list[Tool]:
    """Return the tools of a project.

    Raises:
        ValueError: one of them has no usable simulation.
    """
    return [simulated_tool(definition) for definition in definitions]


def _simulated_result(simulation: Simulation) -> ToolExecutionResult:
    builder = ToolExecutionResult.builder()
    if simulation.text is not None:
        return builder.result(simulation.text).result_text(simulation.text).build()
    if simulation.json is not None:
        value = parse_json(simulation.json).value
        return builder.result(value).result_text(dumps(value)).build()
    return builder.result_contents([_content(item) for item in simulation.contents or ()]).build()


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
    simulation = definition.simulate
    name = definition.name
    if simulation is None:
        return [
            _problem(f"The tool {name!r} has no simulation, so it cannot run here.", "Add tools.simulate.")
        ]
    given = [key for key in ("text", "json", "contents", "error") if getattr(simulation, key) is not None]
    if len(given) != 1:
        what = f"has {' and '.join(given)}" if given else "says nothing"
        hint = "Set one of text, json, contents and error."
        return [_problem(f"The simulation of {name!r} {what}.", hint)]
    found = []
    if simulation.delay_ms < 0:
        found.append(_problem(f"The delay of {name!r} is negative.", "Give milliseconds from 0."))
    if simulation.json is not None:
        found += [
            d.at(message=f"The simulated JSON of {name!r}: {d.message}")
            for d in parse_json(simulation.json).diagnostics
            if d.severity == "error"
        ]
    if simulation.contents is not None:
        found += _contents_problems(name, simulation.contents)
    return found


def _contents_problems(name: str, contents: Sequence[Any]) -> list[Diagnostic]:
    if not contents:
        return [_problem(f"The simulated contents of {name!r} are empty.", "Add a text or an image.")]
    found = []
    for index, item in enumerate(contents):
        try:
            _content(item)
        except ValueError as error:
            found.append(_problem(f"Content {index + 1} of {name!r}: {error}", None))
    return found


def _problem(message: str, hint: str | None) -> Diagnostic:
    return Diagnostic("error", "tool", message, hint=hint)
