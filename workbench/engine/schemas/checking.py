"""Checks a schema when it is written, so that its mistakes are never blamed on a value or a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from workbench.engine.diagnostics import Diagnostic, has_errors
from workbench.engine.json_text import JsonDocument, PointerError, join_pointer, parse_json, resolve_pointer
from workbench.engine.schemas.bundling import Bundle, bundle_schema
from workbench.engine.schemas.files import SchemaFiles
from workbench.engine.schemas.messages import diagnostics_of
from workbench.engine.schemas.patterns import PatternError, check_pattern
from workbench.engine.schemas.structure import (
    IN_PLACE,
    KEYWORDS,
    Path,
    definition_pointers,
    local_target,
    place_in,
    subschemas,
)
from workbench.engine.schemas.validators import (
    DRAFTS,
    draft_of,
    format_names,
    lookup_in,
    metaschema_validator,
    resolver_of,
)
from workbench.engine.text import nearest, shorten

__all__ = ["check_bundle", "check_schema_text"]

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def check_schema_text(
    text: str, file: str | None = None, files: SchemaFiles | None = None
) -> list[Diagnostic]:
    """Return what is wrong with, or worth knowing of, the JSON Schema in `text`; never raises on any text.

    `file` is the schema's path in the project, `files` are those that it may refer to by a relative `$ref`;
    what is wrong in one of them names that file. Codes, besides those of `parse_json` and `schema` (a malformed
    keyword): the errors `not_a_schema`, `unknown_draft`, `dangling_ref`, `remote_ref`, `outside_ref`,
    `missing_file`, `broken_file`, `mixed_drafts`, `nested_id`, `dynamic_ref`, `too_many_parts`, `ref_cycle`,
    `bad_pattern`, and the warnings `unknown_format`, `unknown_keyword`.
    """
    return check_bundle(parse_json(text, file=file), files)[1]


def check_bundle(document: JsonDocument, files: SchemaFiles | None = None) -> tuple[Bundle, list[Diagnostic]]:
    """Return a schema that was read already in one document with the files it refers to, and its diagnostics."""
    found = list(document.diagnostics)
    bundle = Bundle(document, document.value)
    if not document.ok:
        return bundle, found
    schema = document.value
    if not isinstance(schema, Mapping | bool):
        message = "A JSON Schema is an object, true or false."
        return bundle, [*found, Diagnostic("error", "not_a_schema", message, **bundle.place(()))]
    draft = draft_of(schema)
    if draft is None and isinstance(schema, Mapping):
        return bundle, [*found, _unknown_draft(bundle, schema)]
    assert draft is not None  # true and false have the default draft
    try:
        bundle = bundle_schema(document, files)
        found += bundle.problems
        found += _problems(bundle, draft)
    except RecursionError:
        message = "The schema is nested too deeply."
        found.append(Diagnostic("error", "too_deep", message, file=document.file))
    return bundle, found


def _problems(bundle: Bundle, draft: str) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    schema = bundle.value
    metaschema = metaschema_validator(draft)
    document = bundle.document if bundle.is_whole else None
    for error in metaschema.iter_errors(schema):
        if error.validator == "format" and error.validator_value == "regex":
            continue  # told with its reason below
        for diagnostic in diagnostics_of(error, metaschema.schema, document, bundle.document.file):
            if document is None:
                diagnostic = _at_its_origin(bundle, diagnostic)
            diagnostic = _about_schema(diagnostic)
            if diagnostic not in found:  # a draft of several vocabularies says the same for each of them
                found.append(diagnostic)
    if not has_errors([*found, *bundle.problems]):
        found += _references(bundle, draft)
        found += _patterns(bundle)
        found += _doubts(bundle, draft)
    if not has_errors([*found, *bundle.problems]):
        found += _cycles(bundle)
    return found


def _at_its_origin(bundle: Bundle, diagnostic: Diagnostic) -> Diagnostic:
    """Put a diagnostic of a bundle into the file that it is about, in its place and in its words."""
    pointer = diagnostic.pointer or ""
    document, inner = bundle.origin(pointer)
    message = diagnostic.message
    if document is not bundle.document and pointer:
        message = message.replace(pointer, f"{document.file}#{inner}" if inner else str(document.file), 1)
    return diagnostic.at(message=message, **place_in(document, inner))


def _about_schema(diagnostic: Diagnostic) -> Diagnostic:
    """Take the pointer into the drafts' own schema away, which no one can open."""
    return diagnostic.at(code="schema", schema_pointer=None)


def _unknown_draft(bundle: Bundle, schema: Mapping[str, Any]) -> Diagnostic:
    address = shorten(str(schema["$schema"]), 80)
    known = ", ".join(f"https://{name}" for name in DRAFTS)
    place = bundle.place(("$schema",))
    return Diagnostic(
        "error", "unknown_draft", f"The draft {address} is not known.", hint=f"Known are {known}.", **place
    )


# ---------------------------------------------------------------------------------------------- References


def _references(bundle: Bundle, draft: str) -> Iterator[Diagnostic]:
    """Yield an error for each reference that leads nowhere or out of the document."""
    schema = bundle.value
    resolver = resolver_of(schema, draft)
    for path, inner in subschemas(schema):
        if not isinstance(inner, Mapping):
            continue
        for keyword in _REFERENCES:
            reference = inner.get(keyword)
            if isinstance(reference, str):
                problem = _unresolved(resolver, schema, path, reference, draft)
                if problem is not None:
                    code, message, hint = problem
                    place = bundle.place((*path, keyword))
                    yield Diagnostic("error", code, message, hint=hint, **place)


def _unresolved(
    resolver: Any, schema: Any, path: Path, reference: str, draft: str
) -> tuple[str, str, str | None] | None:
    """Return code, message and hint where a reference at `path` leads nowhere."""
    try:
        target = lookup_in(resolver, schema, path, reference, draft)
    except LookupError:
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
    found = nearest(reference, definition_pointers(schema))
    hint = f"Did you mean {found}?" if found else "Define it under $defs."
    return "dangling_ref", f"$ref {shorten(reference)!r} leads nowhere.", hint


def _cycles(bundle: Bundle) -> Iterator[Diagnostic]:
    """Yield an error for a schema that applies itself to the same value again, without end."""
    schema = bundle.value
    done: set[str] = set()
    for path, inner in subschemas(schema):
        if isinstance(inner, Mapping) and isinstance(inner.get("$ref"), str):
            start = join_pointer(*path)
            cycle = _leads_to_itself(schema, start, done)
            if cycle:
                yield _cycle(bundle, start if bundle.is_whole else _first_reference(schema, cycle), cycle)
                return


def _cycle(bundle: Bundle, pointer: str, cycle: Sequence[str]) -> Diagnostic:
    """Return the error for a reference on, or into, a cycle, with the files that it goes through."""
    document, inner = bundle.origin(pointer)
    reference = resolve_pointer(document.value, inner)["$ref"]
    files = list(dict.fromkeys(bundle.origin(each)[0].file or "the schema" for each in cycle))
    way = f" ({' → '.join([*files, files[0]])})" if len(files) > 1 else ""
    message = f"$ref {shorten(reference)!r} leads back to itself without a step into the value{way}."
    place = place_in(document, f"{inner}/$ref")
    return Diagnostic("error", "ref_cycle", message, hint="Refer from inside properties or items.", **place)


def _first_reference(schema: Any, cycle: Sequence[str]) -> str:
    """Return the first pointer of a cycle at which a reference stands; a cycle has at least one."""
    return next(each for each in cycle if "$ref" in resolve_pointer(schema, each))


def _leads_to_itself(root: Any, start: str, done: set[str]) -> list[str]:
    """Walk depth-first along references and keywords that stay at the value; return the pointers of a cycle.

    `done` are pointers without a cycle; those that were walked in vain are added.
    """
    active: dict[str, None] = {}
    stack: list[tuple[str, bool]] = [(start, False)]
    while stack:
        pointer, leaving = stack.pop()
        if leaving:
            del active[pointer]
            done.add(pointer)
            continue
        if pointer in active:
            way = list(active)
            return way[way.index(pointer) :]
        if pointer in done:
            continue
        active[pointer] = None
        stack.append((pointer, True))
        stack.extend((target, False) for target in _same_value(root, pointer))
    return []


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


def _patterns(bundle: Bundle) -> Iterator[Diagnostic]:
    for path, inner in subschemas(bundle.value):
        if not isinstance(inner, Mapping):
            continue
        places: list[tuple[Path, Any]] = [((*path, "pattern"), inner.get("pattern"))]
        if isinstance(inner.get("patternProperties"), Mapping):
            places += [((*path, "patternProperties", name), name) for name in inner["patternProperties"]]
        for place, pattern in places:
            if isinstance(pattern, str):
                try:
                    check_pattern(pattern)
                except PatternError as error:
                    message = f"The pattern {shorten(pattern)} is not a regular expression: {error}."
                    yield Diagnostic("error", "bad_pattern", message, **bundle.place(place))


def _doubts(bundle: Bundle, draft: str) -> Iterator[Diagnostic]:
    """Yield warnings for what is allowed but does nothing: unknown formats and misspelt keywords."""
    formats = format_names(draft)
    for path, inner in subschemas(bundle.value):
        if not isinstance(inner, Mapping):
            continue
        name = inner.get("format")
        if isinstance(name, str) and name not in formats:
            found = nearest(name, formats)
            hint = f"Did you mean {found}?" if found else None
            message = f"The format {shorten(name)} is not known and is not checked."
            yield Diagnostic(
                "warning", "unknown_format", message, hint=hint, **bundle.place((*path, "format"))
            )
        for keyword in inner:
            if keyword not in KEYWORDS and not keyword.startswith(("x-", "$")):
                found = nearest(keyword, KEYWORDS, 0.75)
                if found is not None:
                    message = f"{shorten(keyword)} is no keyword of JSON Schema and does nothing."
                    place = bundle.place((*path, keyword))
                    yield Diagnostic(
                        "warning", "unknown_keyword", message, hint=f"Did you mean {found}?", **place
                    )
