"""Converts a JSON Schema into the form that strict structured output accepts, and undoes what that adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import join_pointer
from workbench.engine.translation.nulls import strip_nulls
from workbench.engine.translation.schema_roots import allowed_types

WRAPPER = "value"
"""The property in which a root that is no object travels."""

UNSUPPORTED = (
    "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties",
    "unevaluatedProperties", "propertyNames", "contains", "oneOf", "dependencies", "minProperties",
    "maxProperties", "unevaluatedItems", "minContains", "maxContains", "uniqueItems", "prefixItems",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StrictLimits:
    """Limits of a provider's strict mode; they are published and have moved, so they are data.

    `depth` counts nested objects of the schema as it is sent, the wrapper included. `characters` is what all names
    of properties and definitions and all texts among the values of `enum` and `const` have together;
    `enum_characters` holds for the texts of one `enum` that has more than `long_enum` values.
    """

    depth: int = 10
    properties: int = 5000
    enum_values: int = 1000
    characters: int = 120_000
    long_enum: int = 250
    enum_characters: int = 15_000


STRICT_LIMITS: Final[Mapping[str, StrictLimits]] = MappingProxyType(
    {
        "current": StrictLimits(),
        "first": StrictLimits(5, 100, 500, 15_000, 250, 7_500),
    }
)
"""What strict mode takes now, and what it took when it was new, which servers that imitate it may still hold to."""


@dataclass(frozen=True, slots=True)
class StrictSchema:
    """A schema as strict mode wants it. `wrapped` tells that the root travels inside an object; `usable` is
    false where `diagnostics` name something that strict mode refuses, and the schema should go unconverted."""

    schema: Any
    wrapped: bool
    diagnostics: tuple[Diagnostic, ...]

    @property
    def usable(self) -> bool:
        """Whether strict mode can take the schema."""
        return not any(diagnostic.severity == "error" for diagnostic in self.diagnostics)


def strict_schema(schema: Any, limits: StrictLimits | None = None) -> StrictSchema:
    """Return `schema` with every property required (optional ones nullable) and no further properties.

    A root that is not an object is put into an object with the one property `value`. Diagnostics name each
    keyword and limit that strict mode refuses, with a pointer into the schema.
    """
    limits = limits or StrictLimits()
    wrapped = not isinstance(schema, dict) or allowed_types(schema) != {"object"} or "anyOf" in schema
    converter = _Converter()
    converted = converter.convert(schema, (), schema)
    if wrapped:
        definitions = {}
        if isinstance(converted, dict):
            definitions = {k: converted.pop(k) for k in ("$defs", "definitions") if k in converted}
        converted = {
            "type": "object",
            "properties": {WRAPPER: converted},
            "required": [WRAPPER],
            "additionalProperties": False,
            **definitions,
        }
    if isinstance(converted, dict):
        converted.pop("$schema", None)
    problems = [*converter.problems, *_limit_problems(converted, limits)]
    return StrictSchema(converted, wrapped, tuple(problems))


def undo_strict(value: Any, schema: Any, *, wrapped: bool) -> tuple[Any, tuple[str, ...]]:
    """Return the value as the original schema means it, and the pointers of the nulls that were taken back.

    A null goes only where the property is optional in `schema` and its own schema does not allow null: there the
    conversion had added it.
    """
    if wrapped and isinstance(value, dict) and value.keys() == {WRAPPER}:
        value = value[WRAPPER]
    return strip_nulls(value, mode="schema", schema=schema, arrays=False)


_SAYS_TYPE = ("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties")


class _Converter:
    def __init__(self) -> None:
        self.problems: list[Diagnostic] = []

    def refuse(self, path: tuple[str | int, ...], what: str, hint: str) -> None:
        self.problems.append(Diagnostic("error", "strict_mode", what, pointer=join_pointer(*path), hint=hint))

    def convert(self, schema: Any, path: tuple[str | int, ...], root: Any) -> Any:
        if not isinstance(schema, Mapping):
            if schema is not False:
                self.refuse(path, "Strict mode needs a schema for every value.", "Say which type is meant.")
            return schema
        made = dict(schema)
        made.pop("default", None)  # every member is required, so no default can count
        if not set(schema) & set(_SAYS_TYPE):
            self.refuse(path, "Strict mode needs a type for every value.", "Say which type is meant.")
        for keyword in UNSUPPORTED:
            if keyword in schema:
                self.refuse(
                    (*path, keyword), f"Strict mode does not take {keyword}.", "Leave it to validation."
                )
        for keyword in ("$defs", "definitions"):
            if isinstance(schema.get(keyword), Mapping):
                made[keyword] = {
                    name: self.convert(sub, (*path, keyword, name), root)
                    for name, sub in schema[keyword].items()
                }
        if isinstance(schema.get("anyOf"), list):
            made["anyOf"] = [
                self.convert(sub, (*path, "anyOf", i), root) for i, sub in enumerate(schema["anyOf"])
            ]
        if isinstance(schema.get("items"), Mapping):
            made["items"] = self.convert(schema["items"], (*path, "items"), root)
        if "properties" in schema or "object" in _types(schema):
            self.convert_object(made, schema, path, root)
        return made

    def convert_object(
        self, made: dict[str, Any], schema: Mapping[str, Any], path: tuple[str | int, ...], root: Any
    ) -> None:
        extra = schema.get("additionalProperties")
        if isinstance(extra, Mapping):
            self.refuse(
                (*path, "additionalProperties"),
                "Strict mode takes no free property names.",
                "Use an array of name and value.",
            )
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        required = schema.get("required")
        required = required if isinstance(required, list) else []
        made.setdefault("type", "object")
        made["properties"] = {}
        for name, sub in properties.items():
            converted = self.convert(sub, (*path, "properties", name), root)
            if name not in required and "null" not in allowed_types(sub, root):
                converted = _nullable(converted)
            made["properties"][name] = converted
        made["required"] = list(properties)
        made["additionalProperties"] = False


def _types(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    named = schema.get("type")
    return tuple(named) if isinstance(named, list) else (named,)


def _nullable(schema: Any) -> Any:
    if not isinstance(schema, dict) or "$ref" in schema or "anyOf" in schema or "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    if "const" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    made = {**schema, "type": [*_types(schema), "null"]}
    if isinstance(schema.get("enum"), list):
        made["enum"] = [*schema["enum"], None]
    return made


def _limit_problems(schema: Any, limits: StrictLimits) -> list[Diagnostic]:
    depth = properties = values = characters = longest = 0
    pending: list[tuple[Any, int]] = [(schema, 0)]
    while pending:
        node, level = pending.pop()
        if not isinstance(node, Mapping):
            continue
        own = node.get("properties")
        level += 1 if isinstance(own, Mapping) else 0
        depth = max(depth, level)
        if isinstance(own, Mapping):
            properties += len(own)
            characters += sum(map(len, own))
            pending += [(sub, level) for sub in own.values()]
        enum = node["enum"] if isinstance(node.get("enum"), list) else []
        texts = [value for value in [*enum, node.get("const")] if isinstance(value, str)]
        values += len(enum)
        characters += sum(map(len, texts))
        longest = max(longest, sum(map(len, texts)) if len(enum) > limits.long_enum else 0)
        pending += [(sub, level) for sub in node.get("anyOf", ()) if isinstance(node.get("anyOf"), list)]
        pending.append((node.get("items"), level))
        for keyword in ("$defs", "definitions"):
            if isinstance(node.get(keyword), Mapping):
                characters += sum(map(len, node[keyword]))
                pending += [(sub, 0) for sub in node[keyword].values()]
    counted = (
        ("levels of objects", depth, limits.depth),
        ("properties", properties, limits.properties),
        ("enum values", values, limits.enum_values),
        ("characters of names and values", characters, limits.characters),
        (f"characters in an enum of over {limits.long_enum} values", longest, limits.enum_characters),
    )
    return [
        Diagnostic(
            "error", "strict_mode", f"Strict mode takes at most {limit} {what}, the schema has {count}."
        )
        for what, count, limit in counted
        if count > limit
    ]
