"""JSON Schema: checked when it is typed, with diagnostics that lead to the place, and never from the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.lazy import lazy_names

if TYPE_CHECKING:
    from workbench.engine.schemas.bundling import bundled_text, referenced_files
    from workbench.engine.schemas.checking import check_schema_text
    from workbench.engine.schemas.examples import example
    from workbench.engine.schemas.files import FolderFiles, SchemaFileError, SchemaFiles, schema_files
    from workbench.engine.schemas.outline import schema_to_outline
    from workbench.engine.schemas.python_types import schema_from_type
    from workbench.engine.schemas.python_typescript import python_type_to_typescript
    from workbench.engine.schemas.schema import JsonSchema, SchemaError
    from workbench.engine.schemas.typescript import schema_to_typescript

__all__ = [
    "FolderFiles",
    "JsonSchema",
    "SchemaError",
    "SchemaFileError",
    "SchemaFiles",
    "bundled_text",
    "check_schema_text",
    "example",
    "python_type_to_typescript",
    "referenced_files",
    "schema_files",
    "schema_from_type",
    "schema_to_outline",
    "schema_to_typescript",
]

_MODULES = (
    "schema",
    "bundling",
    "checking",
    "examples",
    "files",
    "outline",
    "python_types",
    "python_typescript",
    "typescript",
)

__getattr__, __dir__ = lazy_names(__name__, _MODULES, __all__)
