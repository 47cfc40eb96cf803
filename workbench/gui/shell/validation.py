"""Checks parameters and schemas of a snapshot; slow for large texts, so it only ever runs as a job."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.projects.snapshot import ProjectSnapshot


@lru_cache(maxsize=8)
def _alone(text: str, file: str) -> tuple[Any | None, tuple[Diagnostic, ...]]:
    return _compiled(text, file, None)


def _compiled(text: str, file: str, files: Any) -> tuple[Any | None, tuple[Diagnostic, ...]]:
    """Return a schema, or what is wrong with it; one that refers to files is read anew, for they may change."""
    from workbench.engine.schemas import JsonSchema, SchemaError
    from workbench.engine.schemas.files import refers_to_files

    if files is not None and not refers_to_files(text):
        return _alone(text, file)
    try:
        return JsonSchema.parse(text, file=file, files=files), ()
    except SchemaError as error:
        return None, tuple(error.diagnostics)


def validate(snapshot: ProjectSnapshot, parameter_set: str | None) -> list[Diagnostic]:
    """Return what is wrong with both schemas and with the chosen parameter set under its schema."""
    from workbench.engine.json_text import parse_json
    from workbench.engine.schemas import schema_files

    files = schema_files(snapshot)
    found: list[Diagnostic] = []
    if snapshot.output_schema is not None:
        found += _compiled(snapshot.output_schema.text, "output.schema.json", files)[1]
    if snapshot.parameters_schema is not None:
        schema, problems = _compiled(snapshot.parameters_schema.text, "parameters.schema.json", files)
        found += problems
        if schema is not None and parameter_set in snapshot.parameter_sets:
            file = f"parameters/{parameter_set}.json"
            document = parse_json(snapshot.parameter_sets[parameter_set].text, file=file)
            if document.ok:
                found += schema.check(document.value, document=document, file=file, limit=200)
    return found
