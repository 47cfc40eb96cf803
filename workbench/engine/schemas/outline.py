"""Shows a JSON Schema as an indented outline, the form that people and small models read with least effort."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engine.json_text import dumps
from workbench.engine.schemas.declarations import Declarations, declared_types, facts_of
from workbench.engine.schemas.schema import JsonSchema

__all__ = ["schema_to_outline"]

_LEGEND = "A ? marks a member that may be left out."

_Lines = tuple[str, list[str]]
"""What stands on the line of a value, and the lines below it."""


def schema_to_outline(schema: JsonSchema, type_name: str) -> str:
    """Return an outline of `schema`: one member a line, indented by what holds it.

    Each line names the member, its type, in parentheses what bounds it, and behind a dash what its description
    says. Schemas that are referred to follow under names of their own; the root is called `type_name`.
    """
    return _Outline(Declarations(schema.value, type_name)).whole()


class _Outline:
    """Writes the parts that the root needs, each once."""

    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations
        self.optional = False

    def whole(self) -> str:
        parts: list[str] = []
        while self.declarations.pending:
            name, schema = self.declarations.next()
            parts.append("\n".join(self.line(name, schema)))
        legend = [_LEGEND] if self.optional else []
        return "\n\n".join([*parts, *legend]) + "\n"

    def line(self, name: str, schema: Any) -> list[str]:
        """Return the line of a named value and those below it."""
        head, below = self.value(schema)
        return [f"{name}: {head}{_remarks(schema)}", *_indented(below)]

    def value(self, schema: Any) -> _Lines:
        if not isinstance(schema, Mapping):
            return ("nothing" if schema is False else "any value"), []
        parts: list[_Lines] = []
        if isinstance(schema.get("$ref"), str):
            parts.append((self.declarations.named(schema["$ref"]) or "any value", []))
        if "const" in schema:
            parts.append((dumps(schema["const"]), []))
        elif isinstance(schema.get("enum"), list):
            parts.append((_either([dumps(value) for value in schema["enum"]]), []))
        else:
            types = declared_types(schema)
            parts += [_choice("one of", [self.one_type(name, schema) for name in types])] if types else []
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                parts.append(_choice("one of", [self.value(branch) for branch in schema[keyword]]))
        parts += [self.value(branch) for branch in schema.get("allOf", ())]
        if not parts:
            return "any value", []
        return parts[0] if len(parts) == 1 else _choice("all of", parts)

    def one_type(self, name: str, schema: Mapping[str, Any]) -> _Lines:
        if name == "object":
            return self.object(schema)
        return self.array(schema) if name == "array" else (name, [])

    def object(self, schema: Mapping[str, Any]) -> _Lines:
        required = set(schema.get("required", ()))
        members = schema.get("properties", {})
        below: list[str] = []
        for name, member in members.items():
            optional = name not in required
            self.optional |= optional
            below += self.line(f"{_name(name)}{'?' if optional else ''}", member)
        below += [f"{_name(name)}: any value" for name in schema.get("required", ()) if name not in members]
        for pattern, member in (schema.get("patternProperties") or {}).items():
            below += self.line(f"names like {pattern}", member)
        rest = schema.get("additionalProperties", True)
        if isinstance(rest, Mapping):
            below += self.line("any other name" if below else "any name", rest)
        return ("object" if rest is not False else "object, no other members"), below

    def array(self, schema: Mapping[str, Any]) -> _Lines:
        items = schema.get("items", True)
        first = schema.get("prefixItems", items if isinstance(items, list) else None)
        if not isinstance(first, list):
            head, below = self.value(items)
            return f"list of {head}{_remarks(items)}", below
        rest = schema.get("additionalItems", True) if isinstance(items, list) else items
        lines: list[str] = []
        for number, item in enumerate(first, 1):
            lines += self.line(f"element {number}", item)
        if rest is not False:
            lines += self.line("further elements", rest)
        return "list", lines


def _choice(word: str, parts: list[_Lines]) -> _Lines:
    """Return alternatives on one line where they are short, else one below the other."""
    if len(parts) == 1:
        return parts[0]
    if not any(below for _, below in parts):
        heads = list(dict.fromkeys(head for head, _ in parts))
        return (_either(heads) if word == "one of" else " and ".join(heads)), []
    lines: list[str] = []
    for head, below in parts:
        lines += [f"- {head}", *_indented(below)]
    return word, lines


def _either(words: list[str]) -> str:
    return " or ".join(words) or "nothing"


def _remarks(schema: Any) -> str:
    """Return what bounds a value in parentheses, and its description behind a dash."""
    if not isinstance(schema, Mapping):
        return ""
    facts = ", ".join(facts_of(schema))
    text = " ".join(str(schema.get("description") or schema.get("title") or "").split())
    return (f" ({facts})" if facts else "") + (f" - {text}" if text else "")


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _name(name: str) -> str:
    """Return a member's name, in quotes where it could be taken for more than a name."""
    return name if name and not set(name) & set(':?"\n -()') else dumps(name)
