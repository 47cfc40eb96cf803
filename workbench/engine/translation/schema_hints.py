"""Says what would make a schema easier for a language model, which is another question than whether it is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import join_pointer
from workbench.engine.schemas import JsonSchema
from workbench.engine.schemas.structure import Path, resolve_local, subschemas
from workbench.engine.templates.counts import count_text
from workbench.engine.translation.settings import SCHEMA_STYLES
from workbench.engine.translation.structured import StrictLimits, strict_schema
from workbench.engine.translation.validator import schema_text

FLAT_LEVELS: Final = 3
"""Levels of objects and arrays in objects down to which a schema counts as flat."""

SHORT_ENUM: Final = 12
"""Values down to which an `enum` is short."""

_LISTED: Final = 6
_UNKNOWN: Final = ("unknown", "other", "none", "unclear", "unsupported", "misc", "undefined")


@dataclass(frozen=True, slots=True)
class SchemaAdvice:
    """What is worth knowing of a schema before a model gets it.

    `hints` are diagnostics of severity info. `sizes` are the estimated tokens of the schema in each style in
    which a prompt can show it; a style that the type's name does not suit is left out.
    """

    hints: tuple[Diagnostic, ...]
    sizes: Mapping[str, int]


def schema_advice(schema: JsonSchema, type_name: str) -> SchemaAdvice:
    """Return the hints for a schema and its size in every style."""
    return SchemaAdvice(tuple(schema_hints(schema)), schema_sizes(schema, type_name))


def schema_sizes(schema: JsonSchema, type_name: str) -> dict[str, int]:
    """Return the estimated tokens of a schema in every style that the type's name suits."""
    sizes: dict[str, int] = {}
    for style in SCHEMA_STYLES:
        try:
            sizes[style] = count_text(schema_text(schema, type_name, style)).tokens
        except ValueError:  # no name of a TypeScript type
            continue
    return sizes


def schema_hints(schema: JsonSchema, limits: StrictLimits | None = None) -> list[Diagnostic]:
    """Return diagnostics of severity info, each with its place in the schema's text.

    Codes: `deep_schema`, `open_value` and `free_names` (a type that says little), `no_description`,
    `long_enum`, `no_unknown_branch`, and `strict_mode` for each thing that strict structured output refuses
    by `limits`.
    """
    found = [
        *_depth(schema.value),
        *_open(schema.value),
        *_undescribed(schema.value),
        *_long_enums(schema.value),
        *_alternatives(schema.value),
        *_strict(schema.value, limits),
    ]
    return [hint.at(**schema.place(hint.pointer or "")) for hint in found]


def _hint(code: str, path: Path, message: str, hint: str) -> Diagnostic:
    return Diagnostic("info", code, message, pointer=join_pointer(*path), hint=hint)


def _depth(root: Any) -> Iterator[Diagnostic]:
    deepest: Path = ()
    most = 0
    for path, _ in subschemas(root):
        levels = sum(keyword == "properties" for keyword in _keywords(path))
        if levels > most:
            deepest, most = path, levels
    if most > FLAT_LEVELS:
        yield _hint(
            "deep_schema",
            deepest,
            f"Members lie up to {most} levels deep; models fill flat objects more surely.",
            f"Bring them up to {FLAT_LEVELS} levels, for example as address_city in place of address.city.",
        )


def _keywords(path: Path) -> Iterator[str | int]:
    """Yield the steps of a path that are no names of members or definitions."""
    is_name = False
    for step in path:
        if not is_name:
            yield step
        is_name = not is_name and step in ("properties", "$defs", "definitions", "patternProperties")


def _open(root: Any) -> Iterator[Diagnostic]:
    for path, schema in _members(root):
        if schema is True or schema == {}:
            yield _hint(
                "open_value",
                path,
                f"{path[-1]} may be anything.",
                "Say its type, so that models need not guess.",
            )
    for path, schema in subschemas(root):
        if not isinstance(schema, Mapping):
            continue
        free = isinstance(schema.get("additionalProperties"), Mapping) or schema.get("patternProperties")
        if free:
            keyword = "additionalProperties" if schema.get("additionalProperties") else "patternProperties"
            yield _hint(
                "free_names",
                (*path, keyword),
                "The names of members are free here, which models fill less surely.",
                "A list of objects with a name and a value says the same.",
            )


def _members(root: Any) -> Iterator[tuple[Path, Any]]:
    for path, schema in subschemas(root):
        if isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
            for name, member in schema["properties"].items():
                yield (*path, "properties", name), member


def _undescribed(root: Any) -> Iterator[Diagnostic]:
    members = list(_members(root))
    bare = [(path, member) for path, member in members if not _described(root, member)]
    if not bare:
        return
    names = ", ".join(str(path[-1]) for path, _ in bare[:_LISTED])
    more = f" and {len(bare) - _LISTED} more" if len(bare) > _LISTED else ""
    yield _hint(
        "no_description",
        bare[0][0],
        f"{len(bare)} of {len(members)} members have no description: {names}{more}.",
        'Write "description": "…" where the name alone leaves a question; it reaches the model as a comment.',
    )


def _described(root: Any, member: Any) -> bool:
    """Tell whether a member explains itself: by a comment, or since only one value is possible."""
    for schema in (member, resolve_local(root, member)):
        if isinstance(schema, Mapping) and (
            schema.get("description") or schema.get("title") or "const" in schema
        ):
            return True
    return not isinstance(member, Mapping)


def _long_enums(root: Any) -> Iterator[Diagnostic]:
    for path, schema in subschemas(root):
        values = schema.get("enum") if isinstance(schema, Mapping) else None
        if isinstance(values, list) and len(values) > SHORT_ENUM:
            yield _hint(
                "long_enum",
                (*path, "enum"),
                f"One of {len(values)} values must be met to the letter.",
                "A string with a description is filled more surely; check the value by a rule instead.",
            )


def _alternatives(root: Any) -> Iterator[Diagnostic]:
    for path, schema in subschemas(root):
        if not isinstance(schema, Mapping):
            continue
        for keyword in ("anyOf", "oneOf"):
            branches = [resolve_local(root, branch) for branch in schema.get(keyword, ())]
            objects = [branch for branch in branches if _is_object(branch)]
            if len(objects) > 1 and not any(_catches_all(branch) for branch in branches):
                yield _hint(
                    "no_unknown_branch",
                    (*path, keyword),
                    "A request that fits none of the alternatives has nowhere to go.",
                    'Add one for it, such as an object with "kind": {"const": "unknown"} and the text.',
                )


def _is_object(schema: Any) -> bool:
    return isinstance(schema, Mapping) and (schema.get("type") == "object" or "properties" in schema)


def _catches_all(branch: Any) -> bool:
    """Tell whether an alternative is for what fits no other: by its tag, or since it is a free text or null."""
    if not isinstance(branch, Mapping):
        return branch is True
    if branch.get("type") in ("string", "null"):
        return True
    properties = branch.get("properties")
    for member in properties.values() if isinstance(properties, Mapping) else ():
        if isinstance(member, Mapping):
            tags = [member["const"]] if "const" in member else member.get("enum", ())
            if any(isinstance(tag, str) and tag.lower() in _UNKNOWN for tag in tags):
                return True
    return False


def _strict(root: Any, limits: StrictLimits | None) -> Iterator[Diagnostic]:
    for diagnostic in strict_schema(root, limits).diagnostics:
        yield diagnostic.at(severity="info", pointer=diagnostic.pointer or "")
