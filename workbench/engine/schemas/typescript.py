"""Shows a JSON Schema as TypeScript declarations, the short form in which language models read types best."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from workbench.engine.json_text import PointerError, dumps, resolve_pointer, split_pointer
from workbench.engine.schemas.schema import JsonSchema
from workbench.engine.schemas.structure import local_target

__all__ = ["schema_to_typescript"]

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_PRIMITIVES: Final = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
}
_FACTS: Final = (
    "format", "pattern", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "default",
)  # fmt: skip
"""Keywords that TypeScript has no type for; they are told in a comment."""


def schema_to_typescript(schema: JsonSchema, type_name: str) -> str:
    """Return TypeScript declarations for `schema`; the one of the root is called `type_name`.

    Schemas that are referred to become declarations of their own, after the root. Titles, descriptions and
    what TypeScript cannot express (integers, bounds, formats, patterns, defaults) become comments.

    Raises:
        ValueError: where `type_name` is no identifier.
    """
    if not _IDENTIFIER.match(type_name):
        raise ValueError(
            f"{type_name!r} is no name of a TypeScript type: letters, digits, _ and $, no digit first"
        )
    return _Writer(schema.value, type_name).whole()


class _Writer:
    """Collects the declarations that the root needs, each once."""

    def __init__(self, root: Any, type_name: str) -> None:
        self.root = root
        self.names: dict[str, str] = {"": type_name}
        self.pending: list[str] = [""]

    def whole(self) -> str:
        written: list[str] = []
        while self.pending:
            pointer = self.pending.pop(0)
            written.append(self.declaration(self.names[pointer], resolve_pointer(self.root, pointer)))
        return "\n\n".join(written) + "\n"

    def declaration(self, name: str, schema: Any) -> str:
        comment = "".join(f"// {line}\n" for line in _comment_lines(schema))
        if _is_plain_object(schema):
            return f"{comment}export interface {name} {self.members(schema, '')}"
        return f"{comment}export type {name} = {self.type(schema, '')};"

    def named(self, reference: str) -> str:
        pointer = local_target(reference)
        if pointer is None:
            return "unknown"
        try:
            resolve_pointer(self.root, pointer)
        except PointerError:
            return "unknown"
        if pointer not in self.names:
            self.names[pointer] = self.fresh_name(split_pointer(pointer)[-1])
            self.pending.append(pointer)
        return self.names[pointer]

    def fresh_name(self, wanted: str) -> str:
        words = [word for word in re.split(r"[^A-Za-z0-9]+", wanted) if word]
        base = "".join(word[0].upper() + word[1:] for word in words) or "Type"
        base = base if not base[0].isdigit() else f"Type{base}"
        name, count = base, 2
        while name in self.names.values():
            name, count = f"{base}{count}", count + 1
        return name

    # -- types

    def type(self, schema: Any, indent: str) -> str:
        """Return the type expression of a schema; `indent` is that of the line it stands on."""
        if not isinstance(schema, Mapping):
            return "never" if schema is False else "any"
        parts: list[str] = []
        if isinstance(schema.get("$ref"), str):
            parts.append(self.named(schema["$ref"]))
        if "const" in schema:
            parts.append(self.literal(schema["const"]))
        elif isinstance(schema.get("enum"), list):
            parts.append(_union([self.literal(value) for value in schema["enum"]]))
        else:
            declared = self.declared(schema, indent)
            parts += [declared] if declared is not None else []
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                parts.append(_union([self.type(branch, indent) for branch in schema[keyword]]))
        parts += [self.type(branch, indent) for branch in schema.get("allOf", ())]
        return _intersection(parts) if parts else "any"

    def declared(self, schema: Mapping[str, Any], indent: str) -> str | None:
        names = schema.get("type")
        if names is None:
            if "properties" in schema or "additionalProperties" in schema:
                names = ["object"]
            elif "items" in schema or "prefixItems" in schema:
                names = ["array"]
            else:
                return None
        types = [names] if isinstance(names, str) else list(names)
        return _union([self.one_type(name, schema, indent) for name in types])

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
        return f"Record<string, {_union(values)}>"

    def array(self, schema: Mapping[str, Any], indent: str) -> str:
        items = schema.get("items", True)
        first = schema.get("prefixItems", items if isinstance(items, list) else None)
        if isinstance(first, list):
            rest = schema.get("additionalItems", True) if isinstance(items, list) else items
            parts = [self.type(item, indent) for item in first]
            if rest is not False:
                parts.append(f"...{_array_of(self.type(rest, indent))}")
            return f"[{', '.join(parts)}]"
        return _array_of(self.type(items, indent))

    def members(self, schema: Mapping[str, Any], indent: str) -> str:
        """Return the braces of an object type with one member a line."""
        inner = indent + "    "
        required = set(schema.get("required", ()))
        lines: list[str] = []
        for name, member in schema.get("properties", {}).items():
            lines += [f"{inner}// {line}" for line in _comment_lines(member)]
            key = name if _IDENTIFIER.match(name) else dumps(name)
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
    facts += [f"{fact} {_fact(schema[fact])}" for fact in _FACTS if fact in schema]
    return [*lines, ", ".join(facts)] if facts else lines


def _fact(value: Any) -> str:
    return " ".join(value.splitlines()) if isinstance(value, str) else dumps(value)


def _union(types: list[str]) -> str:
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


def _array_of(item: str) -> str:
    return f"Array<{item}>" if re.search(r" [|&] |^\{|^\[", item) else f"{item}[]"
