"""Where something is, in words that every pane understands: the target of each "go to"."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.projects.snapshot import ProjectSnapshot

GRAPH_FILE = "graph.json"


@dataclass(frozen=True)
class Place:
    """A span in a part of the project.

    `area` is one of `message` (`name` is its index), `graph`, `parameters` (`name` is the set),
    `parameters_schema`, `output_schema`, `guardrails` (`name` is `input`, `output`, or `stage/check`),
    `translation`, `template_options`, `models`, `tools`, `cases` and `history`. `start` and `end` are
    half-open code-point offsets into its text; `None` is the part as a whole. `pointer` is a JSON Pointer.
    """

    area: str
    name: str = ""
    start: int | None = None
    end: int | None = None
    pointer: str | None = None


def place_of(diagnostic: Diagnostic, snapshot: ProjectSnapshot, parameter_set: str | None) -> Place | None:
    """Return where a diagnostic can be seen and mended, or `None` where the window has no such place."""
    span = (diagnostic.start, diagnostic.end)
    file = diagnostic.file or ""
    if file.startswith("parameters/") and file.endswith(".json"):
        return Place("parameters", file[len("parameters/") : -len(".json")], *span, diagnostic.pointer)
    if file == "parameters.schema.json":
        return Place("parameters_schema", "", *span, diagnostic.pointer)
    if file == "output.schema.json":
        return Place("output_schema", "", *span, diagnostic.pointer)
    if file == "cases.jsonl":
        return Place("cases", "", *span)
    if file == GRAPH_FILE:
        return Place("graph", "", *span, diagnostic.node)
    if diagnostic.node is not None:
        index = diagnostic.node.lstrip("/").split("/")[0]
        if index.isdigit() and int(index) < len(snapshot.messages):
            return Place("message", index, *span)
    if not file and diagnostic.pointer is not None and parameter_set is not None:
        return Place("parameters", parameter_set, *span, diagnostic.pointer)
    return None


def place_words(diagnostic: Diagnostic, snapshot: ProjectSnapshot, parameter_set: str | None) -> str:
    """Return the place of a diagnostic as people say it: `user, line 3`."""
    place = place_of(diagnostic, snapshot, parameter_set)
    if place is None:
        words = diagnostic.file or "project"
    elif place.area == "message":
        words = message_title(snapshot, int(place.name))
    elif place.area == "parameters":
        words = place.name
    else:
        words = place.area.replace("_", " ")
    return f"{words}, line {diagnostic.line}" if diagnostic.line is not None else words


def message_title(snapshot: ProjectSnapshot, index: int) -> str:
    """Return the role of a message, with a number where several have the same role."""
    roles = [message.role for message in snapshot.messages]
    if index >= len(roles):
        return f"message {index + 1}"
    same = [i for i, role in enumerate(roles) if role == roles[index]]
    return roles[index] if len(same) == 1 else f"{roles[index]} {same.index(index) + 1}"
