"""Answers what a JSON Schema allows at one place: which JSON types, and whether null is among them."""

from __future__ import annotations

from typing import Any

from workbench.engine.translation.json_values import json_type

ALL_TYPES = frozenset({"object", "array", "string", "number", "boolean", "null"})
_MAX_DEPTH = 100


def allowed_types(schema: Any, root: Any = None) -> frozenset[str]:
    """Return the JSON types that `schema` allows (`integer` counts as `number`).

    `root` is the whole schema, in which `$ref` with a pointer is followed. Where the schema does not decide,
    all types are allowed; keywords that need a value (`if`, `not`) are not looked at.
    """
    return _allowed(schema, schema if root is None else root, 0, {})


def _allowed(schema: Any, root: Any, depth: int, known: dict[int, frozenset[str]]) -> frozenset[str]:
    """Return the types; `known` has those of the schemas that were seen, by identity.

    Without it, schemas that refer to each other in pairs would be walked in every way there is.
    """
    found = known.get(id(schema))
    if found is None:
        found = known[id(schema)] = _types_said(schema, root, depth, known)
    return found


def _types_said(schema: Any, root: Any, depth: int, known: dict[int, frozenset[str]]) -> frozenset[str]:
    if schema is False:
        return frozenset()
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return ALL_TYPES
    allowed = ALL_TYPES
    named = schema.get("type")
    if isinstance(named, (str, list)):
        names = [named] if isinstance(named, str) else named
        allowed &= frozenset(
            "number" if name == "integer" else name for name in names if isinstance(name, str)
        )
    if "const" in schema:
        allowed &= {json_type(schema["const"])}
    if isinstance(schema.get("enum"), list):
        allowed &= frozenset(json_type(item) for item in schema["enum"])
    target = resolve_local(schema, root)
    if target is not None:
        allowed &= _allowed(target, root, depth + 1, known)
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list) and branches:
            allowed &= frozenset[str]().union(
                *(_allowed(branch, root, depth + 1, known) for branch in branches)
            )
    every = schema.get("allOf")
    for branch in every if isinstance(every, list) else ():
        allowed &= _allowed(branch, root, depth + 1, known)
    return allowed


def resolve_local(schema: Any, root: Any) -> Any:
    """Return what `$ref` in `schema` points to inside `root`; `None` where there is none or it leads nowhere."""
    from workbench.engine.json_text import PointerError, resolve_pointer

    reference = schema.get("$ref") if isinstance(schema, dict) else None
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    from urllib.parse import unquote

    try:
        return resolve_pointer(root, unquote(reference[1:]))
    except PointerError:
        return None
