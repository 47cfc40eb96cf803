"""Reads the arguments that a model wrote for a tool, says what is wrong with them, and what was put right."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
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

    A blank text is an empty object. With `lenient`, almost-JSON is mended where it has one reading; strings are
    never touched by that. With `coerce`, a property's value is converted as LangChain4j does where the schema
    leaves no doubt: a text from any scalar, a number from a numeric text, an integer only without a
    fraction, an enumeration's value from another case; a declared default is filled in only where the
    property is absent. Any text gives a result.

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
    from workbench.engine.translation.lenient import mend_json

    if not text.strip():
        return {}, (), ()
    document = parse_json(text)
    if document.ok:
        value = document.value
        if isinstance(value, str) and lenient:
            inner = parse_json(value)  # the object was written as a JSON string
            value = inner.value if inner.ok and isinstance(inner.value, dict) else value
        return value, document.diagnostics, ()
    if lenient:
        start = len(text) - len(text.lstrip())
        mended = mend_json(text, start)
        if mended is not None and not text[mended.end :].strip():
            again = parse_json(mended.text)
            if again.ok:
                return again.value, (), mended.edits
    return None, document.diagnostics, ()


def _coerced(arguments: dict[str, Any], schema: Any) -> tuple[dict[str, Any], list[str]]:
    value = dict(arguments)
    notes: list[str] = []
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, wanted in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(wanted, Mapping):
            continue
        pointer = join_pointer(name)
        if name not in value:
            if "default" in wanted:
                value[name] = wanted["default"]
                notes.append(f"{pointer} was absent and has its default {_shown(wanted['default'])}.")
            continue
        converted = _converted(value[name], wanted)
        if converted is not _AS_IT_IS:
            notes.append(f"{pointer} was {_shown(value[name])} and was read as {_shown(converted)}.")
            value[name] = converted
    return value, notes


_AS_IT_IS: Any = object()


def _converted(value: Any, wanted: Mapping[str, Any]) -> Any:
    """Return the value that was meant, or `_AS_IT_IS` where it fits already or there is doubt."""
    choices = wanted.get("enum")
    if isinstance(choices, list):
        return _choice(value, choices)
    kind = wanted.get("type")
    if kind == "string" and isinstance(value, (bool, int, float)):
        return dumps(value)
    if kind == "number" and isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number = float(value)
        return number if math.isfinite(number) else _AS_IT_IS
    if kind == "integer":
        return _integer(value)
    return _AS_IT_IS


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
