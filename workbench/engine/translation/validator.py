"""Puts a schema behind the small interface that the translator needs of a validator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from workbench.engine.diagnostics import Diagnostic, has_errors
from workbench.engine.json_text import JsonDocument
from workbench.engine.translation.results import Failure, Result, Success
from workbench.engine.translation.wording import list_diagnostics

if TYPE_CHECKING:
    from workbench.engine.schemas import JsonSchema

Show = Literal["json-schema", "typescript"]


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
    says in which form the prompt shows the schema: `json-schema` or `typescript`, which is shorter.

    Raises:
        SchemaError: the schema is not valid JSON, holds a wrong keyword or a `$ref` that leads nowhere.
    """

    def __init__(
        self,
        schema: JsonSchema | dict[str, Any] | str | bool,
        type_name: str = "Response",
        *,
        show: Show = "json-schema",
    ) -> None:
        from workbench.engine.schemas import JsonSchema

        if isinstance(schema, JsonSchema):
            self.schema = schema
        elif isinstance(schema, str):
            self.schema = JsonSchema.parse(schema)
        else:
            self.schema = JsonSchema.from_value(schema)
        self.type_name = type_name
        self.show: Show = show

    def schema_text(self) -> str:
        """Return the schema as the prompt shows it."""
        if self.show == "typescript":
            from workbench.engine.schemas import schema_to_typescript

            return schema_to_typescript(self.schema, self.type_name)
        return self.schema.text

    def check(self, value: Any, document: JsonDocument | None = None) -> list[Diagnostic]:
        """Return what is wrong with `value`; `document` gives the places in its text."""
        return self.schema.check(value, document=document)

    def validate(self, value: Any, document: JsonDocument | None = None) -> Success[Any] | Failure:
        """Return a success with the same value, or a failure whose diagnostics name every place."""
        diagnostics = tuple(self.check(value, document))
        if not has_errors(diagnostics):
            return Success(value, diagnostics=diagnostics)
        return Failure(list_diagnostics(diagnostics), "invalid", diagnostics)
