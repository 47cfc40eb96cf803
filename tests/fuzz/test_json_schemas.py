"""Random schemas and values: a schema is refused or works, and no value makes it raise."""

from __future__ import annotations

import json
import random
import time
from typing import Any

from workbench.engine.json_text import resolve_pointer
from workbench.engine.schemas import JsonSchema, SchemaError, check_schema_text, example, schema_to_typescript

SECONDS = 2.0
NAMES = ["a", "b", "kind", "é", "x/y"]
TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"]
SCALARS: list[Any] = [None, True, False, 0, 1, -2, 1.5, 19.99, "", "a", "abc", "2026-01-01", "é"]


def some_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(4 if depth < 3 else 2)
    if kind == 2:
        return [some_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 3:
        return {rng.choice(NAMES): some_value(rng, depth + 1) for _ in range(rng.randrange(4))}
    return rng.choice(SCALARS)


def some_schema(rng: random.Random, depth: int = 0) -> Any:
    if rng.random() < 0.05:
        return rng.choice([True, False])
    schema: dict[str, Any] = {}
    for _ in range(rng.randrange(1, 4)):
        keyword = rng.choice(list(MAKERS) if depth < 3 else SIMPLE)
        schema[keyword] = MAKERS[keyword](rng, depth)
    return schema


def _schemas(rng: random.Random, depth: int) -> list[Any]:
    return [some_schema(rng, depth + 1) for _ in range(rng.randrange(1, 4))]


def _members(rng: random.Random, depth: int) -> dict[str, Any]:
    return {rng.choice(NAMES): some_schema(rng, depth + 1) for _ in range(rng.randrange(4))}


MAKERS: dict[str, Any] = {
    "type": lambda rng, depth: rng.choice(TYPES),
    "enum": lambda rng, depth: rng.sample(SCALARS, 3),
    "const": lambda rng, depth: some_value(rng),
    "required": lambda rng, depth: rng.sample(NAMES, 2),
    "minimum": lambda rng, depth: rng.randrange(-2, 3),
    "multipleOf": lambda rng, depth: rng.choice([0.01, 2, 0.5]),
    "maxLength": lambda rng, depth: rng.randrange(4),
    "pattern": lambda rng, depth: rng.choice(["^a", "b$", r"^\w+$", "[^é]"]),
    "format": lambda rng, depth: rng.choice(["date", "email", "uri", "ipv4"]),
    "uniqueItems": lambda rng, depth: True,
    "minItems": lambda rng, depth: rng.randrange(3),
    "$ref": lambda rng, depth: rng.choice(
        ["#", "#/$defs/d", "#/properties/a", "#/nowhere", "http://127.0.0.1:1/"]
    ),
    "properties": _members,
    "patternProperties": lambda rng, depth: {"^[ab]": some_schema(rng, depth + 1)},
    "additionalProperties": lambda rng, depth: some_schema(rng, depth + 1),
    "unevaluatedProperties": lambda rng, depth: some_schema(rng, depth + 1),
    "propertyNames": lambda rng, depth: {"maxLength": 2},
    "items": lambda rng, depth: some_schema(rng, depth + 1),
    "prefixItems": _schemas,
    "contains": lambda rng, depth: some_schema(rng, depth + 1),
    "allOf": _schemas,
    "anyOf": _schemas,
    "oneOf": _schemas,
    "not": lambda rng, depth: some_schema(rng, depth + 1),
    "if": lambda rng, depth: some_schema(rng, depth + 1),
    "then": lambda rng, depth: some_schema(rng, depth + 1),
    "$defs": lambda rng, depth: {"d": some_schema(rng, depth + 1)},
    "dependentRequired": lambda rng, depth: {"a": ["b"]},
}
SIMPLE = list(MAKERS)[:12]


def test_random_schemas_are_refused_or_check_any_value() -> None:
    rng = random.Random(202012)
    until, rounds, sound = time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < until or rounds < 50:
        rounds += 1
        value = some_schema(rng)
        try:
            schema = JsonSchema.from_value(value)
        except SchemaError as error:
            assert error.diagnostics  # noqa: PT017  # any schema may be refused
            continue
        sound += 1
        assert schema_to_typescript(schema, "T").endswith("\n")
        example(schema)
        for _ in range(4):
            instance = some_value(rng)
            found = schema.check(instance)
            assert (not found) == schema.is_valid(instance), json.dumps(value)
            for item in found:
                assert item.message
                assert item.keyword
                resolve_pointer(instance, item.pointer or "")
                resolve_pointer(value, item.schema_pointer or "")
    assert sound > 20


def test_damaged_schema_texts_give_diagnostics() -> None:
    rng = random.Random(4)
    until = time.monotonic() + SECONDS / 2
    while time.monotonic() < until:
        text = json.dumps(some_schema(rng))
        at = rng.randrange(len(text) + 1)
        text = (
            text[:at]
            + rng.choice(["", "{", "}", '"', ",", "1", "null", "[]"])
            + text[at + rng.randrange(3) :]
        )
        for item in check_schema_text(text):
            assert item.message
            assert item.severity in ("error", "warning")
