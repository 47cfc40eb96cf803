"""Reads the arguments that a model wrote for a tool, says what is wrong with them, and what was put right."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.engine.diagnostics import Diagnostic, Fix, has_errors
from workbench.engine.json_text import dumps, join_pointer, parse_json

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class ToolArguments:
    """Arguments as they are given to the tool: `value` is a new object.

    `edits` are the local edits of almost-JSON (spans of the model's text), `notes` what was converted or filled in.
    With an error among `diagnostics` the arguments must not be used.
    """

    value: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    edits: tuple[Fix, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the tool may be called with them."""
        return not has_errors(self.diagnostics)


def read_arguments(
    text: str, schema: Any, *, lenient: bool = True, coerce: bool = True, validate: bool = True
) -> ToolArguments:
    """Return the arguments that `text` holds, checked against `schema` (a JSON Schema, as a value).

    A blank text is an empty object. With `lenient`, almost-JSON is mended where it has one reading, and an object
    that was written as a string (in one pair of quotes too many) is taken out of it; other strings are
    never touched by that. With `coerce`, values are converted as LangChain4j does where the schema
    leaves no doubt, at every depth of objects and arrays: a text from anything but null, a number from a numeric
    text, an integer only without a fraction, an enumeration's value from another case; a declared default
    is filled in only where the property is absent. Any text gives a result.

    Raises:
        SchemaError: the schema is wrong.
    """
    parsed, diagnostics, edits = _parsed(text, lenient)
    if has_errors(diagnostics):
        return ToolArguments({}, diagnostics, (), edits)
    if not isinstance(parsed, dict):
        problem = Diagnostic(
            "error", "arguments", f"The arguments must be a JSON object, not {_shown(parsed)}.", pointer=""
        )
        return ToolArguments({}, (problem,), (), edits)
    value, notes = _coerced(parsed, schema) if coerce else (dict(parsed), [])
    if validate:
        from workbench.engine.schemas import JsonSchema

        diagnostics = (*diagnostics, *JsonSchema.from_value(schema).check(value))
    return ToolArguments(value, diagnostics, tuple(notes), edits)


def _parsed(text: str, lenient: bool) -> tuple[Any, tuple[Diagnostic, ...], tuple[Fix, ...]]:
    if not text.strip():
        return {}, (), ()
    document = parse_json(text)
    if not lenient:
        return document.value, document.diagnostics, ()
    if document.ok:
        if isinstance(document.value, str):
            inner = _mended(document.value)
            if inner is not None and isinstance(inner[0], dict):
                # Its edits have their places in the inner text, not in the model's.
                return inner[0], (), ()
        return document.value, document.diagnostics, ()
    bare = text.strip()
    mended = _mended(text)
    if mended is None and len(bare) > 2 and bare[0] == bare[-1] and bare[0] in "\"'":
        unquoted = _mended(bare[1:-1])  # quotes around an object whose own quotes nobody escaped
        if unquoted is not None and isinstance(unquoted[0], dict):
            start = text.index(bare)
            end = start + len(bare)
            edits = (
                Fix("outer quotes removed", start, start + 1, ""),
                *(replace(fix, start=fix.start + start + 1, end=fix.end + start + 1) for fix in unquoted[1]),
                Fix("outer quotes removed", end - 1, end, ""),
            )
            return unquoted[0], (), edits
    if mended is not None:
        return mended[0], (), mended[1]
    return None, document.diagnostics, ()


def _mended(text: str) -> tuple[Any, tuple[Fix, ...]] | None:
    """Return the value of JSON or almost-JSON with its edits, `None` where there is no one reading."""
    from workbench.engine.translation.lenient import mend_json

    plain = parse_json(text)
    if plain.ok:
        return plain.value, ()
    mended = mend_json(text, len(text) - len(text.lstrip()))
    if mended is None or text[mended.end :].strip():
        return None
    again = parse_json(mended.text)
    return (again.value, mended.edits) if again.ok else None


def _coerced(arguments: dict[str, Any], schema: Any) -> tuple[dict[str, Any], list[str]]:
    """Return converted arguments, and a note for each change with the JSON Pointer of its place."""
    notes: list[str] = []
    return _coerced_object(arguments, schema, (), notes), notes


def _coerced_object(
    members: dict[str, Any], schema: Any, path: tuple[str | int, ...], notes: list[str]
) -> dict[str, Any]:
    value = dict(members)
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, wanted in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(wanted, Mapping):
            continue
        here = (*path, name)
        if name in value:
            value[name] = _coerced_value(value[name], wanted, here, notes)
        elif "default" in wanted:
            value[name] = wanted["default"]
            notes.append(f"{join_pointer(*here)} was absent and has its default {_shown(wanted['default'])}.")
    return value


def _coerced_value(
    value: Any, wanted: Mapping[str, Any], path: tuple[str | int, ...], notes: list[str]
) -> Any:
    converted = _converted(value, wanted)
    if converted is not _AS_IT_IS:
        notes.append(f"{join_pointer(*path)} was {_shown(value)} and was read as {_shown(converted)}.")
        return converted
    if len(path) >= MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return _coerced_object(value, wanted, path, notes)
    items = wanted.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        return [_coerced_value(item, items, (*path, index), notes) for index, item in enumerate(value)]
    return value


_AS_IT_IS: Any = object()
MAX_DEPTH = 64
"""Levels of objects and arrays in which values are converted; deeper ones stay as the model wrote them."""


def _converted(value: Any, wanted: Mapping[str, Any]) -> Any:
    """Return the value that was meant, or `_AS_IT_IS` where it fits already or there is doubt."""
    choices = wanted.get("enum")
    if isinstance(choices, list):
        return _choice(value, choices)
    kind = _one_type(wanted.get("type"))
    if kind == "string" and value is not None and not isinstance(value, str):
        return dumps(value)
    if kind == "number" and isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number = float(value)
        return number if math.isfinite(number) else _AS_IT_IS
    if kind == "integer":
        return _integer(value)
    return _AS_IT_IS


def _one_type(kind: Any) -> Any:
    """Return the one type besides null that a schema allows, `None` where there are several."""
    if not isinstance(kind, list):
        return kind
    others = [each for each in kind if each != "null"]
    return others[0] if len(others) == 1 else None


def _integer(value: Any) -> Any:
    if isinstance(value, (bool, int)):
        return _AS_IT_IS
    if isinstance(value, str) and re.fullmatch(r"-?(?:0|[1-9][0-9]{0,300})", value.strip()):
        return int(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return _AS_IT_IS


def _choice(value: Any, choices: list[Any]) -> Any:
    """An exact value stays; else the one value that differs only in case."""
    if not isinstance(value, str) or value in choices:
        return _AS_IT_IS
    folded = [choice for choice in choices if isinstance(choice, str) and choice.upper() == value.upper()]
    return folded[0] if len(folded) == 1 else _AS_IT_IS


def _shown(value: Any) -> str:
    from workbench.engine.text import shorten

    try:
        return shorten(dumps(value), 60)
    except (ValueError, TypeError):
        return shorten(repr(value), 60)
