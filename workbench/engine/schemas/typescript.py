"""Shows a JSON Schema as TypeScript declarations, the short form in which language models read types best."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from workbench.engine.json_text import dumps
from workbench.engine.schemas.declarations import (
    IDENTIFIER,
    Declarations,
    check_type_name,
    declared_types,
    facts_of,
)
from workbench.engine.schemas.schema import JsonSchema

__all__ = ["array_of", "schema_to_typescript", "union_of"]

_PRIMITIVES: Final = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
}


def schema_to_typescript(schema: JsonSchema, type_name: str) -> str:
    """Return TypeScript declarations for `schema`; the one of the root is called `type_name`.

    Schemas that are referred to become declarations of their own, after the root. Titles, descriptions and
    what TypeScript cannot express (integers, bounds, formats, patterns, defaults) become comments.

    Raises:
        ValueError: where `type_name` is no identifier.
    """
    check_type_name(type_name)
    return _Writer(Declarations(schema.value, type_name)).whole()


class _Writer:
    """Writes the declarations that the root needs, each once."""

    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations

    def whole(self) -> str:
        written: list[str] = []
        while self.declarations.pending:
            written.append(self.declaration(*self.declarations.next()))
        return "\n\n".join(written) + "\n"

    def declaration(self, name: str, schema: Any) -> str:
        comment = "".join(f"// {line}\n" for line in _comment_lines(schema))
        if _is_plain_object(schema):
            return f"{comment}export interface {name} {self.members(schema, '')}"
        return f"{comment}export type {name} = {self.type(schema, '')};"

    # -- types

    def type(self, schema: Any, indent: str) -> str:
        """Return the type expression of a schema; `indent` is that of the line it stands on."""
        if not isinstance(schema, Mapping):
            return "never" if schema is False else "any"
        parts: list[str] = []
        if isinstance(schema.get("$ref"), str):
            parts.append(self.declarations.named(schema["$ref"]) or "unknown")
        if "const" in schema:
            parts.append(self.literal(schema["const"]))
        elif isinstance(schema.get("enum"), list):
            parts.append(union_of([self.literal(value) for value in schema["enum"]]))
        else:
            types = declared_types(schema)
            parts += [union_of([self.one_type(name, schema, indent) for name in types])] if types else []
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                parts.append(union_of([self.type(branch, indent) for branch in schema[keyword]]))
        parts += [self.type(branch, indent) for branch in schema.get("allOf", ())]
        return _intersection(parts) if parts else "any"

    def one_type(self, name: str, schema: Mapping[str, Any], indent: str) -> str:
        if name == "object":
            return self.object(schema, indent)
        if name == "array":
            return self.array(schema, indent)
        return _PRIMITIVES[name]

    def object(self, schema: Mapping[str, Any], indent: str) -> str:
        if schema.get("properties"):
            return self.members(schema, indent)
        rest = schema.get("additionalProperties", True)
        patterns = schema.get("patternProperties") or {}
        if rest is False and not patterns:
            return "{}"
        values = [self.type(inner, indent) for inner in patterns.values()]
        if not values or isinstance(rest, Mapping):
            values.append(self.type(rest, indent))
        return f"Record<string, {union_of(values)}>"

    def array(self, schema: Mapping[str, Any], indent: str) -> str:
        items = schema.get("items", True)
        first = schema.get("prefixItems", items if isinstance(items, list) else None)
        if isinstance(first, list):
            rest = schema.get("additionalItems", True) if isinstance(items, list) else items
            parts = [self.type(item, indent) for item in first]
            if rest is not False:
                parts.append(f"...{array_of(self.type(rest, indent))}")
            return f"[{', '.join(parts)}]"
        return array_of(self.type(items, indent))

    def members(self, schema: Mapping[str, Any], indent: str) -> str:
        """Return the braces of an object type with one member a line."""
        inner = indent + "    "
        required = set(schema.get("required", ()))
        lines: list[str] = []
        for name, member in schema.get("properties", {}).items():
            lines += [f"{inner}// {line}" for line in _comment_lines(member)]
            key = name if IDENTIFIER.match(name) else dumps(name)
            lines.append(f"{inner}{key}{'' if name in required else '?'}: {self.type(member, inner)};")
        rest = schema.get("additionalProperties")
        if isinstance(rest, Mapping):
            lines.append(f"{inner}[name: string]: {self.type(rest, inner)};")
        return "\n".join(["{", *lines, indent + "}"])

    def literal(self, value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(self.literal(item) for item in value)}]"
        if isinstance(value, dict):
            return (
                "{ "
                + "; ".join(f"{dumps(name)}: {self.literal(item)}" for name, item in value.items())
                + " }"
            )
        return dumps(value)


def _is_plain_object(schema: Any) -> bool:
    """Tell whether a schema is an object with members and nothing beside, so that it can be an interface."""
    if not isinstance(schema, Mapping) or not schema.get("properties"):
        return False
    others = {"$ref", "allOf", "anyOf", "const", "enum", "oneOf"} & set(schema)
    return schema.get("type", "object") == "object" and not others


def _comment_lines(schema: Any) -> list[str]:
    if not isinstance(schema, Mapping):
        return []
    text = schema.get("description") or schema.get("title") or ""
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    facts = ["integer"] if schema.get("type") == "integer" else []
    facts += facts_of(schema)
    return [*lines, ", ".join(facts)] if facts else lines


def union_of(types: list[str]) -> str:
    """Return a union of type expressions: each once, null last."""
    unique = list(dict.fromkeys(types))
    if len(unique) > 1 and "null" in unique:  # null reads best at the end
        unique = [*(name for name in unique if name != "null"), "null"]
    if "any" in unique:
        return "any"
    return " | ".join(unique) if unique else "never"


def _intersection(types: list[str]) -> str:
    unique = [name for name in dict.fromkeys(types) if name != "any"]
    if len(unique) == 1:
        return unique[0]
    return " & ".join(f"({name})" if " | " in name else name for name in unique) or "any"


def array_of(item: str) -> str:
    """Return the array of a type expression, with angle brackets where plain ones would bind wrongly."""
    return f"Array<{item}>" if re.search(r" [|&] |^\{|^\[", item) else f"{item}[]"
