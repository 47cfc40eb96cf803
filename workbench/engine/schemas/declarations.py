"""Names the parts of a schema that are referred to, so that a text can declare each of them once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from workbench.engine.json_text import PointerError, resolve_pointer, split_pointer
from workbench.engine.schemas.structure import local_target

__all__ = ["IDENTIFIER", "Declarations", "check_type_name", "declared_types", "fact_text", "facts_of"]

IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")

_FACTS: Final = (
    "format", "pattern", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "default",
)  # fmt: skip
"""Keywords that a type expression has no place for; they are told beside it."""


class Declarations:
    """The parts of one schema that have a name; `pending` are the pointers of those not written yet."""

    def __init__(self, root: Any, type_name: str) -> None:
        self.root = root
        self.names: dict[str, str] = {"": type_name}
        self.pending: list[str] = [""]

    def next(self) -> tuple[str, Any]:
        """Take the next part that is to be written: its name and its schema."""
        pointer = self.pending.pop(0)
        return self.names[pointer], resolve_pointer(self.root, pointer)

    def named(self, reference: str) -> str | None:
        """Return the name of what a `$ref` leads to, `None` where it leads nowhere in the schema."""
        pointer = local_target(reference)
        if pointer is None:
            return None
        try:
            resolve_pointer(self.root, pointer)
        except PointerError:
            return None
        if pointer not in self.names:
            self.names[pointer] = self._fresh_name(split_pointer(pointer)[-1])
            self.pending.append(pointer)
        return self.names[pointer]

    def _fresh_name(self, wanted: str) -> str:
        words = [word for word in re.split(r"[^A-Za-z0-9]+", wanted) if word]
        base = "".join(word[0].upper() + word[1:] for word in words) or "Type"
        base = base if not base[0].isdigit() else f"Type{base}"
        name, count = base, 2
        while name in self.names.values():
            name, count = f"{base}{count}", count + 1
        return name


def check_type_name(type_name: str) -> None:
    """Refuse a name that a type of TypeScript cannot have.

    Raises:
        ValueError: where `type_name` is no identifier.
    """
    if not IDENTIFIER.match(type_name):
        raise ValueError(
            f"{type_name!r} is no name of a TypeScript type: letters, digits, _ and $, no digit first"
        )


def declared_types(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a schema names or, without a name, those its keywords are about; nothing where none are."""
    names = schema.get("type")
    if names is not None:
        return [names] if isinstance(names, str) else list(names)
    if "properties" in schema or "additionalProperties" in schema:
        return ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else []


def facts_of(schema: Any) -> list[str]:
    """Return what a type expression cannot say of a schema, such as `minimum 1`."""
    return [f"{fact} {fact_text(schema[fact])}" for fact in _FACTS if fact in schema]


def fact_text(value: Any) -> str:
    """Return a keyword's value on one line."""
    from workbench.engine.json_text import dumps

    return " ".join(value.splitlines()) if isinstance(value, str) else dumps(value)
