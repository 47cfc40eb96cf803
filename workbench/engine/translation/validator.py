"""Puts a schema behind the small interface that the translator needs of a validator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from workbench.engine.diagnostics import Diagnostic, has_errors
from workbench.engine.json_text import JsonDocument
from workbench.engine.translation.results import Failure, Result, Success
from workbench.engine.translation.settings import SCHEMA_STYLES, SchemaStyle
from workbench.engine.translation.wording import list_diagnostics

if TYPE_CHECKING:
    from workbench.engine.schemas import JsonSchema


@runtime_checkable
class Validator(Protocol):
    """What the translator asks of a validator; `type_name` and `schema_text` go into the prompts."""

    @property
    def type_name(self) -> str:
        """The name by which the prompts speak of the type."""
        ...

    def schema_text(self) -> str:
        """Return the schema as the model is to read it."""
        ...

    def validate(self, value: Any) -> Result:
        """Return a success with the value (or another one that replaces it), or a failure."""
        ...


class JsonSchemaValidator:
    """Validates against a JSON Schema. The schema is checked here, so a wrong one never reaches a model.

    `schema` is a `JsonSchema`, a JSON-like value or JSON text. `type_name` is how prompts name the type. `show`
    says in which form the prompt shows the schema: `json`, or the shorter `typescript` and `outline`.

    Raises:
        SchemaError: the schema is not valid JSON, holds a wrong keyword or a `$ref` that leads nowhere.
        ValueError: `show` is none of these, or `type_name` is no name of a TypeScript type and one is needed.
    """

    def __init__(
        self,
        schema: JsonSchema | dict[str, Any] | str | bool,
        type_name: str = "Response",
        *,
        show: SchemaStyle = "json",
    ) -> None:
        from workbench.engine.schemas import JsonSchema

        if show not in SCHEMA_STYLES:
            raise ValueError(f"show must be one of {', '.join(SCHEMA_STYLES)}, not {show!r}.")

        if isinstance(schema, JsonSchema):
            self.schema = schema
        elif isinstance(schema, str):
            self.schema = JsonSchema.parse(schema)
        else:
            self.schema = JsonSchema.from_value(schema)
        self.type_name = type_name
        self.show: SchemaStyle = show
        self._declarations: str | None = None
        if show != "json":
            self.schema_text()

    @classmethod
    def from_type(
        cls, python_type: Any, type_name: str | None = None, *, show: SchemaStyle = "json"
    ) -> JsonSchemaValidator:
        """Return a validator for a Python type or a pydantic model; `type_name` is the type's own where none is given.

        With `typescript` the prompt shows what `python_type_to_typescript` makes of the type itself (of a pydantic
        model, what its schema gives).

        Raises:
            TypeError: the type has no JSON Schema.
            ValueError: the type has no TypeScript form and one is asked for; all reasons are named.
        """
        from workbench.engine.schemas import python_type_to_typescript, schema_from_type

        schema = schema_from_type(python_type)
        name = type_name or getattr(python_type, "__name__", None) or "Response"
        validator = cls(schema, name, show=show)
        if show == "typescript" and not hasattr(python_type, "model_json_schema"):
            validator._declarations = python_type_to_typescript(python_type, name)
        return validator

    def schema_text(self) -> str:
        """Return the schema as the prompt shows it."""
        if self._declarations is None:
            self._declarations = schema_text(self.schema, self.type_name, self.show)
        return self._declarations

    def check(self, value: Any, document: JsonDocument | None = None) -> list[Diagnostic]:
        """Return what is wrong with `value`; `document` gives the places in its text."""
        return self.schema.check(value, document=document)

    def validate(self, value: Any, document: JsonDocument | None = None) -> Success[Any] | Failure:
        """Return a success with the same value, or a failure whose diagnostics name every place."""
        diagnostics = tuple(self.check(value, document))
        if not has_errors(diagnostics):
            return Success(value, diagnostics=diagnostics)
        return Failure(list_diagnostics(diagnostics), "invalid", diagnostics)


def schema_text(schema: JsonSchema, type_name: str, style: SchemaStyle) -> str:
    """Return a schema as a prompt shows it in one of the styles.

    Raises:
        ValueError: `type_name` is no name of a TypeScript type, for `typescript`.
    """
    if style == "typescript":
        from workbench.engine.schemas import schema_to_typescript

        return schema_to_typescript(schema, type_name)
    if style == "outline":
        from workbench.engine.schemas import schema_to_outline

        return schema_to_outline(schema, type_name)
    return schema.text
