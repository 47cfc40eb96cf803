"""Checks parameters and schemas of a snapshot; slow for large texts, so it only ever runs as a job."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.projects.snapshot import ProjectSnapshot


@lru_cache(maxsize=8)
def _compiled(text: str, file: str) -> tuple[Any | None, tuple[Diagnostic, ...]]:
    from workbench.engine.schemas import JsonSchema, SchemaError

    try:
        return JsonSchema.parse(text, file=file), ()
    except SchemaError as error:
        return None, tuple(error.diagnostics)


def validate(snapshot: ProjectSnapshot, parameter_set: str | None) -> list[Diagnostic]:
    """Return what is wrong with both schemas and with the chosen parameter set under its schema."""
    from workbench.engine.json_text import parse_json

    found: list[Diagnostic] = []
    if snapshot.output_schema is not None:
        found += _compiled(snapshot.output_schema.text, "output.schema.json")[1]
    if snapshot.parameters_schema is not None:
        schema, problems = _compiled(snapshot.parameters_schema.text, "parameters.schema.json")
        found += problems
        if schema is not None and parameter_set in snapshot.parameter_sets:
            file = f"parameters/{parameter_set}.json"
            document = parse_json(snapshot.parameter_sets[parameter_set].text, file=file)
            if document.ok:
                found += schema.check(document.value, document=document, file=file, limit=200)
    return found
