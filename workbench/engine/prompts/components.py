"""What every registered component has: a schema of its settings, their validation, and credentials by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import split_pointer

if TYPE_CHECKING:
    from workbench.engine.prompts.credentials import BaseCredential


class ValidationError(ValueError):
    """The settings of a component break its schema. `path` leads to the first field that does.

    `diagnostics` are all problems; `message` describes the first without its place.
    """

    def __init__(self, diagnostics: list[Diagnostic], component: str) -> None:
        first = diagnostics[0]
        self.diagnostics = tuple(diagnostics)
        self.message = first.message
        self.path = tuple(split_pointer(first.pointer or ""))
        place = ".".join(self.path) or "the settings"
        more = f" (and {len(diagnostics) - 1} more)" if len(diagnostics) > 1 else ""
        super().__init__(f"{component}: {place}: {first.message}{more}")


@dataclass(frozen=True, slots=True)
class SchemaField:
    """One setting of a component.

    `titles` and `descriptions` are by language, English (`en`) always among them. `json_type` is a type of
    JSON Schema. With `component`, the value names a registered component of that type instead:
    `{"component": NAME, "params": {…}}`.
    """

    name: str
    titles: Mapping[str, str]
    descriptions: Mapping[str, str]
    json_type: str = "string"
    required: bool = True
    component: str | None = None

    def schema(self, language: str) -> dict[str, Any]:
        """Return the JSON Schema of the value, with title and description in `language` or else in English."""
        schema: dict[str, Any] = {
            "title": self.titles.get(language, self.titles["en"]),
            "description": self.descriptions.get(language, self.descriptions["en"]),
        }
        if self.component is None:
            return {"type": self.json_type, **schema}
        return {
            "type": "object",
            **schema,
            "properties": {"component": {"type": "string"}, "params": {"type": "object"}},
            "required": ["component"],
            "x-component-type": self.component,
        }


class ConfigObject:
    """A component that is made from settings. `TYPE` groups components; `SCHEMA` lists the settings."""

    TYPE: ClassVar[str] = "Component"
    SCHEMA: ClassVar[tuple[SchemaField, ...]] = ()

    @classmethod
    def get_schema(cls, language: str = "en") -> dict[str, Any]:
        """Return the JSON Schema of the component's settings, with a title and a description per field."""
        doc = (cls.__doc__ or "").strip()
        return {
            "type": "object",
            "title": cls.__name__,
            "description": doc.split("\n", 1)[0],
            "properties": {field.name: field.schema(language) for field in cls.SCHEMA},
            "required": [field.name for field in cls.SCHEMA if field.required],
        }

    def validate_and_transform(self, raw_data: Mapping[str, Any]) -> dict[str, Any]:
        """Check settings against the schema and return them as a new dict, with named components made.

        Raises:
            ValidationError: when they break the schema, or name a component of another type.
            UnknownComponentError: when they name a component that is not registered.
        """
        from workbench.engine.schemas import JsonSchema

        diagnostics = JsonSchema.from_value(self.get_schema()).check(raw_data)
        if diagnostics:
            raise ValidationError(diagnostics, type(self).__name__)
        data = dict(raw_data)
        for field in self.SCHEMA:
            if field.component is not None and field.name in data:
                data[field.name] = self._component(field, data[field.name])
        return data

    def _component(self, field: SchemaField, value: Mapping[str, Any]) -> ConfigObject:
        from workbench.engine.prompts.registry import registry

        kind = registry[value["component"]]
        if field.component != kind.TYPE:
            message = f"{kind.__name__} is a {kind.TYPE}, and a {field.component} is needed"
            problem = Diagnostic("error", "component_type", message, pointer=f"/{field.name}/component")
            raise ValidationError([problem], type(self).__name__)
        params = value.get("params", {})
        blank = kind.__new__(
            kind
        )  # the schema belongs to the class; nothing is constructed from bad settings
        return kind(**blank.validate_and_transform(params))

    def get_credential(self, name: str) -> BaseCredential:
        """Return a new instance of the registered credential `name`, such as `HuggingFaceCredential`.

        Raises:
            UnknownComponentError: a `KeyError` that lists the known names.
        """
        from workbench.engine.prompts.credentials import BaseCredential
        from workbench.engine.prompts.registry import UnknownComponentError, registry

        known = registry.names(BaseCredential.TYPE)
        kind = registry[name] if name in known else None
        name = name if isinstance(name, str) else repr(name)
        if kind is None or not issubclass(kind, BaseCredential):
            raise UnknownComponentError(name, known, "credential")
        return kind()
