"""Says what is wrong with tool definitions, so that a project's tools are judged before a model gets to see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.engine.diagnostics import Diagnostic, has_errors
from workbench.engine.json_text import parse_json
from workbench.engine.text import nearest, shorten
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.tools.simulation import check_answer, check_simulation


def check_tools(tools: Sequence[ToolDefinition]) -> list[Diagnostic]:
    """Return what is wrong with tool definitions: names, doubled names, schemas, simulations, compensations."""
    found: list[Diagnostic] = []
    seen: set[str] = set()
    for definition in tools:
        if definition.name in seen:
            found.append(Diagnostic("error", "tool", f"Two tools have the name {definition.name!r}."))
        seen.add(definition.name)
        found += check_tool(definition, [tool.name for tool in tools])
    return found


def check_tool(definition: ToolDefinition, names: Sequence[str]) -> list[Diagnostic]:
    """Return what is wrong with one tool among tools with these `names`.

    `node` of each diagnostic is the key that is wrong, as in `simulate.json`. A missing simulation is no problem here.
    """
    found = [*check_name(definition.name), *check_parameters(definition)]
    if definition.simulate is not None:
        found += check_simulation(definition)
    return [*found, *check_compensation(definition, names)]


def check_name(name: str) -> list[Diagnostic]:
    """Return what keeps providers from taking `name` for a tool."""
    if name and len(name) <= 64 and all(c.isascii() and (c.isalnum() or c in "_-") for c in name):
        return []
    hint = "Use 1 to 64 letters, digits, _ and -, as the providers demand."
    # A warning: some servers take more, and the name may still be being typed.
    return [
        Diagnostic("warning", "tool", f"{shorten(name)!r} is no name for a tool.", node="name", hint=hint)
    ]


def check_parameters(definition: ToolDefinition) -> list[Diagnostic]:
    """Return what is wrong with the JSON Schema of a tool's arguments."""
    from workbench.engine.schemas import check_schema_text

    name = definition.name
    problems = check_schema_text(definition.parameters)
    found = [d.at(message=f"Parameters of {name}: {d.message}", node="parameters") for d in problems]
    if has_errors(problems):
        return found
    schema = parse_json(definition.parameters).value
    if isinstance(schema, Mapping) and schema.get("type") == "object":
        return found
    hint = 'Begin with {"type": "object", "properties": …}.'
    message = f"The parameters of {name} do not describe an object."
    return [*found, Diagnostic("error", "tool", message, node="parameters", hint=hint)]


def check_compensation(definition: ToolDefinition, names: Sequence[str]) -> list[Diagnostic]:
    """Return what is wrong with how a tool is undone; `names` are the names of all tools."""
    how, name = definition.compensate, definition.name
    if how is None:
        return []
    if isinstance(how, Simulation):
        return check_answer(how, f"The compensation of {name!r}", node="compensate")
    if how == name:
        message, hint = (
            f"{shorten(name)!r} cannot undo itself.",
            "Name another tool, or write what undoing answers.",
        )
    elif how not in names:
        close = nearest(how, names)
        message = f"{shorten(name)!r} is undone by {shorten(how)!r}, but there is no such tool."
        hint = f"Did you mean {close!r}?" if close else f"The tools are: {', '.join(names)}."
    else:
        return []
    return [Diagnostic("error", "tool", message, node="compensate", hint=hint)]
