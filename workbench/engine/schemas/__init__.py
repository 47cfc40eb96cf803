"""JSON Schema: checked when it is typed, with diagnostics that lead to the place, and never from the network."""

from __future__ import annotations

from workbench.engine.schemas.checking import check_schema_text
from workbench.engine.schemas.examples import example
from workbench.engine.schemas.python_types import schema_from_type
from workbench.engine.schemas.schema import JsonSchema, SchemaError
from workbench.engine.schemas.typescript import schema_to_typescript

__all__ = [
    "JsonSchema",
    "SchemaError",
    "check_schema_text",
    "example",
    "schema_from_type",
    "schema_to_typescript",
]
