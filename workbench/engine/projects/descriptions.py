"""What placeholders mean, in words: the descriptions in the schema of the parameters, read and written there."""

from __future__ import annotations

from typing import Any

from workbench.engine.diagnostics import Fix
from workbench.engine.json_text import JsonDocument, dumps, edits, escape_pointer, resolve_pointer


def schema_place(schema: Any, tokens: list[str]) -> str | None:
    """Return the JSON Pointer to the subschema that describes the value at `tokens`, `None` where there is none.

    `properties`, `items` and references within the schema are followed.
    """
    place = _followed(schema, "")
    for token in tokens:
        place = _followed(schema, _member_place(schema, place, token))
    return place if place is not None and isinstance(resolve_pointer(schema, place), dict) else None


def _member_place(schema: Any, owner: str | None, token: str) -> str | None:
    """Return where the subschema at `owner` describes the member or item `token`, `None` where it does not."""
    here = None if owner is None else resolve_pointer(schema, owner)
    if not isinstance(here, dict):
        return None
    properties = here.get("properties")
    if isinstance(properties, dict) and token in properties:
        return f"{owner}/properties/{escape_pointer(token)}"
    return f"{owner}/items" if token.isdigit() and isinstance(here.get("items"), dict) else None


def _followed(schema: Any, place: str | None) -> str | None:
    """Follow references from `place`; `None` where one leads out, in circles or to nothing."""
    for _ in range(16):
        here = None if place is None else resolve_pointer(schema, place)
        reference = here.get("$ref") if isinstance(here, dict) else None
        if reference is None:
            return place
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        place = reference[1:]
        try:
            resolve_pointer(schema, place)
        except LookupError:
            return None
    return None


def description_at(schema: Any, tokens: list[str]) -> str:
    """Return the description of the value at `tokens`, empty where the schema has none.

    A description beside a reference goes before that of what it leads to.
    """
    own = _own_place(schema, tokens)
    for place in (own, schema_place(schema, tokens)):
        here = None if place is None else resolve_pointer(schema, place)
        if isinstance(here, dict) and isinstance(here.get("description"), str):
            return str(here["description"])
    return ""


def _own_place(schema: Any, tokens: list[str]) -> str | None:
    """Return where the value at `tokens` is described in its owner, before any reference there is followed."""
    return _member_place(schema, schema_place(schema, tokens[:-1]), tokens[-1]) if tokens else ""


def describe(document: JsonDocument, tokens: list[str], text: str) -> Fix | None:
    """Return the edit of a schema's text that gives the value at `tokens` the description `text`.

    An empty text takes the description away. A property that the schema does not know yet is added with
    nothing but its description. `None` where nothing has to change, or where the schema describes no object
    that could have the property.
    """
    schema = document.value
    place = _own_place(schema, tokens)
    if place is not None:
        return _described_at(document, place, text)
    above = schema_place(schema, tokens[:-1])
    if above is None:
        return None
    properties = resolve_pointer(schema, above).get("properties")
    if not text:
        return None
    member = f"{dumps(tokens[-1])}: {dumps({'description': text})}"
    if isinstance(properties, dict):
        return edits.append(document, f"{above}/properties", member)
    return edits.append(document, above, f'"properties": {{{member}}}') if properties is None else None


def _described_at(document: JsonDocument, place: str, text: str) -> Fix | None:
    here = resolve_pointer(document.value, place)
    if not isinstance(here, dict):
        # `true` says nothing about a value, and a description says no more than that.
        return edits.change(document, place, dumps({"description": text})) if here is True and text else None
    if not text:
        return edits.remove(document, f"{place}/description")
    if "description" in here:
        return edits.change(document, f"{place}/description", dumps(text))
    return edits.append(document, place, f'"description": {dumps(text)}')
