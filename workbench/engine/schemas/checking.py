"""Checks a schema when it is written, so that its mistakes are never blamed on a value or a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from workbench.engine.diagnostics import Diagnostic, has_errors
from workbench.engine.json_text import JsonDocument, PointerError, join_pointer, parse_json, resolve_pointer
from workbench.engine.schemas.messages import diagnostics_of
from workbench.engine.schemas.patterns import PatternError, check_pattern
from workbench.engine.schemas.schema import place_in
from workbench.engine.schemas.structure import IN_PLACE, KEYWORDS, local_target, subschemas
from workbench.engine.schemas.validators import DRAFTS, draft_of, format_names, metaschema_validator
from workbench.engine.text import nearest, shorten

__all__ = ["check_document", "check_schema_text"]

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_Path = tuple[str | int, ...]


def check_schema_text(text: str, file: str | None = None) -> list[Diagnostic]:
    """Return what is wrong with, or worth knowing of, the JSON Schema in `text`; never raises on any text.

    Codes, besides those of `parse_json` and `schema` (a malformed keyword): the errors `not_a_schema`,
    `unknown_draft`, `dangling_ref`, `remote_ref`, `ref_cycle`, `bad_pattern`, and the warnings
    `unknown_format`, `unknown_keyword`.
    """
    return check_document(parse_json(text, file=file))


def check_document(document: JsonDocument) -> list[Diagnostic]:
    """Return the diagnostics of a schema that was read already."""
    found = list(document.diagnostics)
    if not document.ok:
        return found
    schema = document.value
    if not isinstance(schema, Mapping | bool):
        message = "A JSON Schema is an object, true or false."
        return [*found, Diagnostic("error", "not_a_schema", message, **place_in(document, ()))]
    draft = draft_of(schema)
    if draft is None and isinstance(schema, Mapping):
        return [*found, _unknown_draft(document, schema)]
    assert draft is not None  # true and false have the default draft
    try:
        metaschema = metaschema_validator(draft)
        for error in metaschema.iter_errors(schema):
            if error.validator == "format" and error.validator_value == "regex":
                continue  # told with its reason below
            for diagnostic in diagnostics_of(error, metaschema.schema, document, document.file):
                found.append(_about_schema(diagnostic))
        if not has_errors(found):
            found += _references(document, schema, draft)
            found += _patterns(document, schema)
            found += _doubts(document, schema, draft)
        if not has_errors(found):
            found += _cycles(document, schema)
    except RecursionError:
        message = "The schema is nested too deeply."
        found.append(Diagnostic("error", "too_deep", message, file=document.file))
    return found


def _about_schema(diagnostic: Diagnostic) -> Diagnostic:
    """Take the pointer into the drafts' own schema away, which no one can open."""
    return diagnostic.at(code="schema", schema_pointer=None)


def _unknown_draft(document: JsonDocument, schema: Mapping[str, Any]) -> Diagnostic:
    address = shorten(str(schema["$schema"]), 80)
    known = ", ".join(f"https://{name}" for name in DRAFTS)
    place = place_in(document, ("$schema",))
    return Diagnostic(
        "error", "unknown_draft", f"The draft {address} is not known.", hint=f"Known are {known}.", **place
    )


# ---------------------------------------------------------------------------------------------- References


def _references(document: JsonDocument, schema: Any, draft: str) -> Iterator[Diagnostic]:
    """Yield an error for each reference that leads nowhere or out of the document."""
    resolver = _resolver(schema, draft)
    for path, inner in subschemas(schema):
        if not isinstance(inner, Mapping):
            continue
        for keyword in _REFERENCES:
            reference = inner.get(keyword)
            if isinstance(reference, str):
                problem = _unresolved(resolver, schema, path, reference, draft)
                if problem is not None:
                    code, message, hint = problem
                    place = place_in(document, (*path, keyword))
                    yield Diagnostic("error", code, message, hint=hint, **place)


def _resolver(schema: Any, draft: str) -> Any:
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # ships no types

    resource = _specification(draft).create_resource(schema)
    base = resource.id() or ""
    return REGISTRY.with_resource(base, resource).crawl().resolver(base)


def _specification(draft: str) -> Any:
    from referencing import jsonschema

    names = {
        "Draft4Validator": "DRAFT4",
        "Draft6Validator": "DRAFT6",
        "Draft7Validator": "DRAFT7",
        "Draft201909Validator": "DRAFT201909",
        "Draft202012Validator": "DRAFT202012",
    }
    return getattr(jsonschema, names[draft])


def _unresolved(
    resolver: Any, schema: Any, path: _Path, reference: str, draft: str
) -> tuple[str, str, str | None] | None:
    """Return code, message and hint where a reference at `path` leads nowhere."""
    from referencing.exceptions import Unresolvable

    specification = _specification(draft)
    here = schema
    for token in path:  # an `$id` on the way changes what a reference is relative to
        here = here[token]
        if isinstance(here, Mapping) and any(isinstance(here.get(name), str) for name in ("$id", "id")):
            resolver = resolver.in_subresource(specification.create_resource(here))
    try:
        target = resolver.lookup(reference).contents
    except (Unresolvable, ValueError, LookupError, TypeError):
        return _why(schema, reference)
    if isinstance(target, Mapping | bool):
        return None
    return "dangling_ref", f"$ref {shorten(reference)!r} leads to something that is no schema.", None


def _why(schema: Any, reference: str) -> tuple[str, str, str | None]:
    if local_target(reference) is None and not reference.startswith("#"):
        return (
            "remote_ref",
            f"$ref {shorten(reference)!r} leads out of the document, where references are never followed.",
            "Put the schema under $defs and write #/$defs/name.",
        )
    names: list[str] = []
    if isinstance(schema, Mapping):
        names = [f"#/{home}/{name}" for home in ("$defs", "definitions") for name in schema.get(home, {})]
    found = nearest(reference, names)
    hint = f"Did you mean {found}?" if found else "Define it under $defs."
    return "dangling_ref", f"$ref {shorten(reference)!r} leads nowhere.", hint


def _cycles(document: JsonDocument, schema: Any) -> Iterator[Diagnostic]:
    """Yield an error for a schema that applies itself to the same value again, without end."""
    done: set[str] = set()
    for path, inner in subschemas(schema):
        if isinstance(inner, Mapping) and isinstance(inner.get("$ref"), str):
            cycle = _leads_to_itself(schema, join_pointer(*path), done)
            if cycle:
                message = (
                    f"$ref {shorten(inner['$ref'])!r} leads back to itself without a step into the value."
                )
                place = place_in(document, (*path, "$ref"))
                yield Diagnostic(
                    "error", "ref_cycle", message, hint="Refer from inside properties or items.", **place
                )
                return


def _leads_to_itself(root: Any, start: str, done: set[str]) -> bool:
    """Walk depth-first along references and keywords that stay at the value; `done` are pointers without a cycle."""
    active: set[str] = set()
    stack: list[tuple[str, bool]] = [(start, False)]
    while stack:
        pointer, leaving = stack.pop()
        if leaving:
            active.discard(pointer)
            done.add(pointer)
            continue
        if pointer in active:
            return True
        if pointer in done:
            continue
        active.add(pointer)
        stack.append((pointer, True))
        stack.extend((target, False) for target in _same_value(root, pointer))
    return False


def _same_value(root: Any, pointer: str) -> Iterator[str]:
    try:
        schema = resolve_pointer(root, pointer)
    except PointerError:
        return
    if not isinstance(schema, Mapping):
        return
    reference = schema.get("$ref")
    target = local_target(reference) if isinstance(reference, str) else None
    if target is not None:
        yield target
    for keyword in IN_PLACE:
        inner = schema.get(keyword)
        if isinstance(inner, list):
            yield from (f"{pointer}/{keyword}/{index}" for index in range(len(inner)))
        elif isinstance(inner, Mapping):
            yield f"{pointer}/{keyword}"


# ------------------------------------------------------------------------------------- Patterns and doubts


def _patterns(document: JsonDocument, schema: Any) -> Iterator[Diagnostic]:
    for path, inner in subschemas(schema):
        if not isinstance(inner, Mapping):
            continue
        places: list[tuple[_Path, Any]] = [((*path, "pattern"), inner.get("pattern"))]
        if isinstance(inner.get("patternProperties"), Mapping):
            places += [((*path, "patternProperties", name), name) for name in inner["patternProperties"]]
        for place, pattern in places:
            if isinstance(pattern, str):
                try:
                    check_pattern(pattern)
                except PatternError as error:
                    message = f"The pattern {shorten(pattern)} is not a regular expression: {error}."
                    yield Diagnostic("error", "bad_pattern", message, **place_in(document, place))


def _doubts(document: JsonDocument, schema: Any, draft: str) -> Iterator[Diagnostic]:
    """Yield warnings for what is allowed but does nothing: unknown formats and misspelt keywords."""
    formats = format_names(draft)
    for path, inner in subschemas(schema):
        if not isinstance(inner, Mapping):
            continue
        name = inner.get("format")
        if isinstance(name, str) and name not in formats:
            found = nearest(name, formats)
            hint = f"Did you mean {found}?" if found else None
            message = f"The format {shorten(name)} is not known and is not checked."
            yield Diagnostic(
                "warning", "unknown_format", message, hint=hint, **place_in(document, (*path, "format"))
            )
        for keyword in inner:
            if keyword not in KEYWORDS and not keyword.startswith(("x-", "$")):
                found = nearest(keyword, KEYWORDS, 0.75)
                if found is not None:
                    message = f"{shorten(keyword)} is no keyword of JSON Schema and does nothing."
                    place = place_in(document, (*path, keyword))
                    yield Diagnostic(
                        "warning", "unknown_keyword", message, hint=f"Did you mean {found}?", **place
                    )
