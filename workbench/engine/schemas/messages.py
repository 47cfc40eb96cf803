"""Turns the errors of jsonschema into diagnostics that say what is wrong, where, and what was meant."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_path.evaluator import same_json
from workbench.engine.json_text import JsonDocument, dumps, join_pointer
from workbench.engine.schemas.structure import locate, resolve_local
from workbench.engine.text import nearest, shorten

__all__ = ["FORMAT_SAMPLES", "diagnostics_of", "excerpt_of"]

_EXCERPT: Final = 80
_LISTED: Final = 20
"""Allowed values that a message names; `expected` holds them all."""


def diagnostics_of(
    error: Any, root: Any, document: JsonDocument | None, file: str | None
) -> Iterator[Diagnostic]:
    """Yield the diagnostics of one error of jsonschema.

    `root` is the whole schema. An error of alternatives (`anyOf`, `oneOf`) gives the errors of the
    alternative that was meant, where a constant member or the type tells which one that is.
    """
    for finding in _meant(error, root):
        if isinstance(finding, _Tag):
            yield finding.diagnostic(root, document, file)
        else:
            yield _diagnostic(finding, root, document, file)


def excerpt_of(value: Any, limit: int = _EXCERPT) -> str:
    """Return the beginning of `value` as JSON, at most `limit` characters, in time that `limit` bounds."""
    parts: list[str] = []
    length = 0
    encoder = json.JSONEncoder(ensure_ascii=False, default=str)
    source = [encoder.encode(value[: limit + 1])] if isinstance(value, str) else encoder.iterencode(value)
    for part in source:
        parts.append(part)
        length += len(part)
        if length > limit:
            break
    return shorten("".join(parts), limit)


# -------------------------------------------------------------------------------------------- Alternatives


class _Tag:
    """An object whose constant member, which tells the alternative, is missing or unknown."""

    def __init__(self, error: Any, name: str, values: list[Any]) -> None:
        self.error = error
        self.name = name
        self.values = values

    def diagnostic(self, root: Any, document: JsonDocument | None, file: str | None) -> Diagnostic:
        instance = self.error.instance
        here = list(self.error.absolute_path)
        schema_pointer = locate(root, list(self.error.absolute_schema_path), self.error.validator_value)
        allowed = _listed(self.values)
        if self.name in instance:
            value = instance[self.name]
            pointer = join_pointer(*here, self.name)
            message = f"{pointer} is {excerpt_of(value, 40)}; {allowed} tells the alternative that is meant."
            hint = _near(value, self.values)
            excerpt = excerpt_of(value)
        else:
            pointer = join_pointer(*here)
            message = f"{_subject(here)} lacks {dumps(self.name)}, which tells the alternative that is meant."
            hint = f"Add it with {allowed}."
            excerpt = excerpt_of(instance)
        return _placed(
            message,
            hint,
            pointer,
            document,
            file,
            keyword=str(self.error.validator),
            schema_pointer=schema_pointer,
            expected=self.values,
            excerpt=excerpt,
        )


def _meant(error: Any, root: Any) -> Iterator[Any]:
    """Yield the error itself, or the errors of the one alternative that the value is meant for."""
    if error.validator not in ("anyOf", "oneOf") or not error.context:
        yield error
        return
    branches = _branches(error)
    tag = _tag(error, root)
    if isinstance(tag, _Tag):
        yield tag
        return
    candidates = [index for index in branches if tag is None or index in tag]
    fitting = [index for index in candidates if not _wrong_type(branches[index])]
    if len(fitting) == 1:
        candidates = fitting
    if len(candidates) != 1:
        yield error
        return
    for inner in branches[candidates[0]]:
        yield from _meant(inner, root)


def _branches(error: Any) -> dict[int, list[Any]]:
    """Return the errors of each alternative; one that is plainly false is left out, for no value is meant for it."""
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        if inner.relative_schema_path:
            branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    return branches


def _wrong_type(errors: Iterable[Any]) -> bool:
    """Tell whether the alternative fails already by the type of the whole value."""
    return any(inner.validator == "type" and not inner.relative_path for inner in errors)


def _tag(error: Any, root: Any) -> _Tag | list[int] | None:
    """Find the alternatives that the value names by a constant member; `None` where there is no such member."""
    if not isinstance(error.instance, Mapping):
        return None
    constants = [_constants(root, branch) for branch in error.validator_value]
    objects = [index for index, found in enumerate(constants) if found is not None]
    tables = [found for found in constants if found]
    if len(tables) < 2 or len(tables) != len(objects):
        return None
    shared = [name for name in tables[0] if all(name in table for table in tables)]
    for name in shared:
        values = [value for table in tables for value in table[name]]
        if name not in error.instance:
            return _Tag(error, name, values)
        chosen = [
            index
            for index, table in enumerate(constants)
            if table and any(same_json(error.instance[name], value) for value in table[name])
        ]
        return chosen or _Tag(error, name, values)
    return None


def _constants(root: Any, branch: Any) -> dict[str, list[Any]] | None:
    """Return the members with constant values by name; `None` where the alternative is no object."""
    branch = resolve_local(root, branch)
    if not isinstance(branch, Mapping) or branch.get("type", "object") != "object":
        return None
    found: dict[str, list[Any]] = {}
    for name, member in branch.get("properties", {}).items():
        member = resolve_local(root, member)
        if isinstance(member, Mapping) and "const" in member:
            found[name] = [member["const"]]
        elif isinstance(member, Mapping) and isinstance(member.get("enum"), list):
            found[name] = list(member["enum"])
    return found


# ------------------------------------------------------------------------------------------------ Messages


def _diagnostic(error: Any, root: Any, document: JsonDocument | None, file: str | None) -> Diagnostic:
    path = list(error.absolute_path)
    schema_path = list(error.absolute_schema_path)
    keyword = str(error.validator) if error.validator is not None else "false"
    subject = _subject(path)
    if "propertyNames" in schema_path and isinstance(error.instance, str):
        subject = f"A name in {join_pointer(*path) or 'the value'}"
    describe = _DESCRIPTIONS.get(keyword)
    message, hint = describe(error, subject) if describe else (f"{subject} is not valid: {keyword}.", None)
    if keyword in ("anyOf", "oneOf"):
        hint = _closest(error, root) or hint
    return _placed(
        message,
        hint,
        join_pointer(*path),
        document,
        file,
        keyword=keyword,
        schema_pointer=locate(root, schema_path, error.validator_value),
        expected=_missing(error) if keyword == "required" else error.validator_value,
        excerpt=excerpt_of(error.instance),
    )


def _placed(
    message: str,
    hint: str | None,
    pointer: str,
    document: JsonDocument | None,
    file: str | None,
    **fields: Any,
) -> Diagnostic:
    """Build the diagnostic; its place is the value in the document, or the nearest that holds it."""
    start = end = line = column = None
    if document is not None:
        span = document.span(pointer)
        if span is not None and fields["keyword"] in _NAMED:
            span = document.key_span(pointer) or span
        if span is not None:
            start, end = span
            line, column = document.lines.position(start)
        file = file or document.file
    return Diagnostic("error", "schema", message, start, end, line, column, pointer, hint, file, **fields)


_NAMED: Final = frozenset({"additionalProperties", "unevaluatedProperties", "false"})
"""Keywords that complain of a member as such, so that its name is the place."""


def _subject(path: Sequence[str | int]) -> str:
    return join_pointer(*path) or "The value"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if value is None:
        return "null"
    return "a string" if isinstance(value, str) else "an array" if isinstance(value, list) else "an object"


def _article(name: str) -> str:
    return name if name == "null" else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _listed(values: Sequence[Any]) -> str:
    shown = [excerpt_of(value, 40) for value in values[:_LISTED]]
    if len(values) > _LISTED:
        return f"{', '.join(shown)} or one of {len(values) - _LISTED} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}" if shown else "nothing"


def _near(value: Any, options: Iterable[Any]) -> str | None:
    """Return a hint that names the option which was most likely meant."""
    if isinstance(value, str):
        found = nearest(value, [option for option in options if isinstance(option, str)])
        return f"Did you mean {dumps(found)}?" if found is not None else None
    return None


_Text = tuple[str, str | None]


def _missing(error: Any) -> list[str]:
    return [name for name in error.validator_value if name not in error.instance]


def _about_type(error: Any, subject: str) -> _Text:
    names = [error.validator_value] if isinstance(error.validator_value, str) else list(error.validator_value)
    expected = " or ".join(_article(name) for name in names)
    shown = (
        ""
        if isinstance(error.instance, dict | list) or error.instance is None
        else f" ({excerpt_of(error.instance, 40)})"
    )
    hint = None
    if isinstance(error.instance, str) and {"number", "integer", "boolean", "null"} & set(names):
        hint = "Write it without quotes." if _bare(error.instance, names) else None
    return f"{subject} is {_kind(error.instance)}{shown}; {expected} is expected.", hint


def _bare(text: str, names: Sequence[str]) -> bool:
    """Tell whether the string holds the JSON of one of the expected types."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, int | float):
        return "number" in names or ("integer" in names and float(value).is_integer())
    return value is None and "null" in names


def _about_enum(error: Any, subject: str) -> _Text:
    values = error.validator_value
    return f"{subject} is {excerpt_of(error.instance, 40)}; {_listed(values)} is expected.", _near(
        error.instance, values
    )


def _about_const(error: Any, subject: str) -> _Text:
    value = error.validator_value
    return f"{subject} is {excerpt_of(error.instance, 40)}; {excerpt_of(value, 40)} is expected.", _near(
        error.instance, [value]
    )


def _all_of(quoted: list[str]) -> str:
    """Return names as `"a"`, or `"a", "b" and "c"`."""
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _about_required(error: Any, subject: str) -> _Text:
    names = _missing(error)
    quoted = [dumps(name) for name in names]
    listed = _all_of(quoted)
    extra = [name for name in error.instance if name not in error.schema.get("properties", {})]
    found = nearest(names[0], extra) if len(names) == 1 else None
    hint = f"Did you mean it by {dumps(found)}?" if found else f"Add {'it' if len(names) == 1 else 'them'}."
    return f"{subject} lacks the required {'member' if len(names) == 1 else 'members'} {listed}.", hint


def _about_extra(error: Any, subject: str) -> _Text:
    name = error.absolute_path[-1] if error.absolute_path else ""
    known = list(error.schema.get("properties", {})) if isinstance(error.schema, Mapping) else []
    found = nearest(str(name), known)
    return f"{subject} is not allowed here.", f"Did you mean {dumps(found)}?" if found else "Remove it."


def _about_false(error: Any, subject: str) -> _Text:
    return f"{subject} is not allowed here.", "Remove it."


def _about_bound(words: str) -> Callable[[Any, str], _Text]:
    def describe(error: Any, subject: str) -> _Text:
        bound = excerpt_of(error.validator_value, 40)
        exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}.get(
            str(error.validator), ""
        )
        said = words
        if isinstance(error.schema, Mapping) and error.schema.get(exclusive) is True:  # draft 4
            said = "more than" if error.validator == "minimum" else "less than"
        return f"{subject} is {excerpt_of(error.instance, 40)}; {said} {bound} is expected.", None

    return describe


def _about_size(least: bool, unit: str) -> Callable[[Any, str], _Text]:
    def describe(error: Any, subject: str) -> _Text:
        size, bound = len(error.instance), error.validator_value
        plural = "" if size == 1 else "s"
        limit = "at least" if least else "at most"
        return (
            f"{subject} has {size} {unit}{plural}; {limit} {bound} {'is' if bound == 1 else 'are'} expected.",
            None,
        )

    return describe


def _about_pattern(error: Any, subject: str) -> _Text:
    return (
        f"{subject} is {excerpt_of(error.instance, 40)}, which does not match the pattern {error.validator_value}",
        None,
    )


def _about_format(error: Any, subject: str) -> _Text:
    name = error.validator_value
    sample = FORMAT_SAMPLES.get(str(name))
    hint = f"Such as {dumps(sample)}." if sample else None
    return f"{subject} is {excerpt_of(error.instance, 40)}, which is not of the format {name}.", hint


def _about_unique(error: Any, subject: str) -> _Text:
    return f"{subject} holds equal elements: {error.message}.", "Remove one of them."


def _about_items(error: Any, subject: str) -> _Text:
    return f"{subject} has {len(error.instance)} elements, which is more than are allowed.", None


def _about_alternatives(error: Any, subject: str) -> _Text:
    if error.validator == "oneOf" and not error.context:
        return (
            f"{subject} fits more than one of the {len(error.validator_value)} alternatives; exactly one is expected.",
            None,
        )
    return f"{subject} fits none of the {len(error.validator_value)} alternatives.", None


def _about_not(error: Any, subject: str) -> _Text:
    return f"{subject} is what the schema excludes ({excerpt_of(error.validator_value, 60)}).", None


def _about_contains(error: Any, subject: str) -> _Text:
    limit, keyword = (
        ("at most", "maxContains") if error.validator == "maxContains" else ("at least", "minContains")
    )
    bound = error.schema.get(keyword, 1)
    elements = "element that fits" if bound == 1 else "elements that fit"
    return f"{subject} must hold {limit} {bound} {elements} {excerpt_of(error.schema['contains'], 60)}.", None


def _about_dependent(error: Any, subject: str) -> _Text:
    name = error.message
    needed = error.validator_value[name]
    missing = [
        other for other in ([needed] if isinstance(needed, str) else needed) if other not in error.instance
    ]
    quoted = [excerpt_of(other, 40) for other in missing]
    has = f"{subject} has {excerpt_of(name, 40)} but lacks {_all_of(quoted)}"
    one = len(quoted) == 1
    return f"{has}, which {'goes' if one else 'go'} with it.", f"Add {'it' if one else 'them'}."


_DESCRIPTIONS: Final[dict[str, Callable[[Any, str], _Text]]] = {
    "type": _about_type,
    "enum": _about_enum,
    "const": _about_const,
    "required": _about_required,
    "additionalProperties": _about_extra,
    "unevaluatedProperties": _about_extra,
    "false": _about_false,
    "minimum": _about_bound("at least"),
    "maximum": _about_bound("at most"),
    "exclusiveMinimum": _about_bound("more than"),
    "exclusiveMaximum": _about_bound("less than"),
    "multipleOf": _about_bound("a multiple of"),
    "minLength": _about_size(True, "character"),
    "maxLength": _about_size(False, "character"),
    "minItems": _about_size(True, "element"),
    "maxItems": _about_size(False, "element"),
    "additionalItems": _about_items,
    "items": _about_items,
    "unevaluatedItems": _about_items,
    "minProperties": _about_size(True, "member"),
    "maxProperties": _about_size(False, "member"),
    "pattern": _about_pattern,
    "format": _about_format,
    "uniqueItems": _about_unique,
    "anyOf": _about_alternatives,
    "oneOf": _about_alternatives,
    "not": _about_not,
    "contains": _about_contains,
    "minContains": _about_contains,
    "maxContains": _about_contains,
    "dependentRequired": _about_dependent,
    "dependencies": _about_dependent,
}

FORMAT_SAMPLES: Final = {
    "date": "2026-03-31",
    "date-time": "2026-03-31T18:30:00Z",
    "time": "18:30:00Z",
    "duration": "P3DT4H",
    "email": "ann@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/a",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "json-pointer": "/a/0",
}
"""A valid text for each common format, in hints and in examples."""


def _closest(error: Any, root: Any) -> str | None:
    """Say what keeps the value from the alternative that it is nearest to."""
    branches = _branches(error)
    if not branches:
        return None
    index, errors = min(branches.items(), key=lambda item: (_wrong_type(item[1]), len(item[1]), item[0]))
    first = next(iter(_meant(errors[0], root)))
    if isinstance(first, _Tag):
        message = first.diagnostic(root, None, None).message
    else:
        message = _diagnostic(first, root, None, None).message
    return shorten(f"Nearest is alternative {index + 1}, but: {message}", 300)
