"""Where schemas stand inside a schema, and what a reference inside the document leads to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from workbench.engine.json_text import (
    JsonDocument,
    PointerError,
    join_pointer,
    resolve_pointer,
    split_pointer,
)

__all__ = [
    "KEYWORDS",
    "Path",
    "definition_pointers",
    "local_target",
    "locate",
    "place_in",
    "possible_types",
    "resolve_local",
    "subschemas",
]

Path = tuple[str | int, ...]
"""The way to a place inside a schema: names of members and positions in arrays."""

_ONE: Final = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
        "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
_LISTS: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_MAPS: Final = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)

KEYWORDS: Final = (
    _ONE
    | _LISTS
    | _MAPS
    | {
        "$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef",
        "$ref", "$schema", "$vocabulary", "const", "contentEncoding", "contentMediaType", "default",
        "dependentRequired", "deprecated", "description", "enum", "examples", "exclusiveMaximum",
        "exclusiveMinimum", "format", "id", "maxContains", "maximum", "maxItems", "maxLength",
        "maxProperties", "minContains", "minimum", "minItems", "minLength", "minProperties", "multipleOf",
        "pattern", "readOnly", "required", "title", "type", "uniqueItems", "writeOnly",
    }
)  # fmt: skip
"""Every keyword of drafts 4 to 2020-12 that has a meaning."""

IN_PLACE: Final = ("allOf", "anyOf", "else", "if", "not", "oneOf", "then")
"""Keywords whose schemas look at the same value as the schema that holds them."""

ALL_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def subschemas(
    schema: Any, pointer: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield (path, schema) of a schema and of every schema inside it, without following references."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [(pointer, schema)]
    while stack:
        path, here = stack.pop()
        yield path, here
        if isinstance(here, Mapping):
            stack.extend(reversed(list(_children(path, here))))


def _children(
    path: tuple[str | int, ...], schema: Mapping[str, Any]
) -> Iterable[tuple[tuple[str | int, ...], Any]]:
    for keyword, value in schema.items():
        if keyword in _MAPS and isinstance(value, Mapping):
            for name, child in value.items():
                if isinstance(child, Mapping | bool):
                    yield (*path, keyword, name), child
        elif keyword in _LISTS and isinstance(value, list):
            for index, child in enumerate(value):
                yield (*path, keyword, index), child
        elif keyword in _ONE and isinstance(value, Mapping | bool):
            yield (*path, keyword), value


def place_in(document: JsonDocument, pointer: str) -> dict[str, Any]:
    """Return the fields of a diagnostic that say where `pointer` is in a document."""
    span = document.span(pointer)
    if span is None:
        return {"pointer": pointer, "file": document.file}
    line, column = document.lines.position(span[0])
    return {
        "pointer": pointer,
        "start": span[0],
        "end": span[1],
        "line": line,
        "column": column,
        "file": document.file,
    }


def local_target(reference: str) -> str | None:
    """Return the JSON Pointer of a reference such as `#/$defs/a`, or `None` for any other reference."""
    if reference == "#" or reference.startswith("#/"):
        return unquote(reference[1:])
    return None


def definition_pointers(root: Any) -> list[str]:
    """Return references to what a schema defines by name, such as `#/$defs/a`, also where its draft is another."""
    homes = [(home, root.get(home)) for home in ("$defs", "definitions")] if isinstance(root, Mapping) else []
    return [f"#/{home}/{name}" for home, inner in homes if isinstance(inner, Mapping) for name in inner]


def resolve_local(root: Any, schema: Any) -> Any:
    """Follow `$ref`s by pointer from `schema` within `root`; return where they end, or the schema itself."""
    for _ in range(100):
        if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
            return schema
        pointer = local_target(schema["$ref"])
        if pointer is None:
            return schema
        try:
            schema = resolve_pointer(root, pointer)
        except PointerError:
            return schema
    return schema


def locate(root: Any, path: Sequence[str | int], value: Any = None) -> str:
    """Return the JSON Pointer of the keyword that a validator reached by `path`.

    The path skips references, so they are crossed here wherever that leads on; among several ways the one
    that ends at `value`, the keyword's own, is taken. Where there is no way, the path itself is returned.
    """
    ways = list(_ways(root, root, (), tuple(path), 0))
    for pointer, end in ways:
        if end is value:
            return pointer
    return ways[0][0] if ways else join_pointer(*path)


def _ways(
    root: Any, here: Any, walked: tuple[str | int, ...], rest: tuple[str | int, ...], crossed: int
) -> Iterator[tuple[str, Any]]:
    """Yield (pointer, what stands there) of every way to walk `rest` from `here`."""
    if not rest:
        yield join_pointer(*walked), here
        return
    try:
        below = here[rest[0]]
    except (KeyError, IndexError, TypeError):
        pass
    else:
        yield from _ways(root, below, (*walked, rest[0]), rest[1:], 0)
    if isinstance(here, Mapping) and isinstance(here.get("$ref"), str) and crossed < 20:
        target = local_target(here["$ref"])
        try:
            there = resolve_pointer(root, target) if target is not None else None
        except PointerError:
            return
        if target is not None:
            yield from _ways(root, there, tuple(split_pointer(target)), rest, crossed + 1)


def possible_types(root: Any, schema: Any) -> frozenset[str]:
    """Return the JSON types that values of `schema` can have, as far as its keywords say at once.

    `number` always comes with `integer`. The set may be too large, never too small.
    """
    return _possible_types(root, schema, 0, {})


def _possible_types(root: Any, schema: Any, depth: int, known: dict[int, frozenset[str]]) -> frozenset[str]:
    """Return the same; `known` holds what was found, by the identity of the schemas of `root`.

    Without it, schemas that refer to each other in pairs would be walked in every way there is.
    """
    schema = resolve_local(root, schema)
    found = known.get(id(schema))
    if found is None:
        found = known[id(schema)] = _types_said(root, schema, depth, known)
    return found


def _types_said(root: Any, schema: Any, depth: int, known: dict[int, frozenset[str]]) -> frozenset[str]:
    if schema is False:
        return frozenset()
    if not isinstance(schema, Mapping) or depth > 100:
        return ALL_TYPES
    types = ALL_TYPES
    declared = schema.get("type")
    if declared is not None:
        names = {declared} if isinstance(declared, str) else set(declared)
        types = frozenset(names | ({"integer"} if "number" in names else set()))
    if "const" in schema:
        types &= _types_of([schema["const"]])
    if isinstance(schema.get("enum"), list):
        types &= _types_of(schema["enum"])
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            branches = (_possible_types(root, branch, depth + 1, known) for branch in schema[keyword])
            types &= frozenset().union(*branches)
    for branch in schema.get("allOf", ()):
        types &= _possible_types(root, branch, depth + 1, known)
    return types


def _types_of(values: Iterable[Any]) -> frozenset[str]:
    found: set[str] = set()
    for value in values:
        if isinstance(value, bool):
            found.add("boolean")
        elif isinstance(value, int | float):
            found |= {"number", "integer"} if float(value).is_integer() else {"number"}
        elif value is None:
            found.add("null")
        else:
            found.add(
                "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
            )
    return frozenset(found)
