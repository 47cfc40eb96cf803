"""An example of a schema is valid by the schema."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.engine.schemas import JsonSchema, example

SCHEMAS: list[tuple[str, Any]] = [
    ("anything", {}),
    ("integer", {"type": "integer"}),
    ("bounds", {"type": "number", "exclusiveMinimum": 0.5, "maximum": 0.6}),
    ("integer-bounds", {"type": "integer", "minimum": 3.2, "maximum": 4}),
    ("negative", {"type": "number", "maximum": -10}),
    ("multiple", {"type": "number", "multipleOf": 0.25, "exclusiveMinimum": 1}),
    ("draft-4-bound", {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 1, "exclusiveMinimum": True}),
    ("length", {"type": "string", "minLength": 30, "maxLength": 31}),
    ("short", {"type": "string", "maxLength": 2}),
    ("pattern", {"type": "string", "pattern": r"^[A-Z]{2}-\d{4}(x|y)?$"}),
    ("pattern-alternatives", {"pattern": "^(yes|no)$"}),
    ("pattern-with-length", {"pattern": "^[a-z]+$", "minLength": 12}),
    ("enum", {"enum": [3, 4]}),
    ("const-null", {"const": None}),
    ("nullable", {"type": ["null", "string"]}),
    ("array", {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True}),
    ("unique-enum", {"items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": True}),
    ("tuple", {"prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": False}),
    ("contains", {"type": "array", "contains": {"const": 5}}),
    ("object", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a", "b"]}),
    ("min-members", {"type": "object", "minProperties": 2, "additionalProperties": {"type": "number"}}),
    ("one-of", {"oneOf": [{"type": "integer"}, {"type": "string"}]}),
    ("one-of-overlapping", {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}, "type": "object"}),
    ("all-of", {"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {"type": "null"}}, "required": ["b"]}]}),
    ("reference", {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"x": {"$ref": "#/$defs/b"}}}, "b": {"const": 1}}}),
    ("recursive-list", {"type": "object", "properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}, "required": ["v"]}),
    ("recursive-tree", {"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"c": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "required": ["c"]}}}),
    ("recursive-choice", {"$defs": {"e": {"anyOf": [{"type": "object", "properties": {"l": {"$ref": "#/$defs/e"}}, "required": ["l"]}, {"type": "integer"}]}}, "$ref": "#/$defs/e"}),
    ("true", True),
]  # fmt: skip


@pytest.mark.parametrize("schema", [row[1] for row in SCHEMAS], ids=[row[0] for row in SCHEMAS])
def test_an_example_is_valid(schema: Any) -> None:
    checked = JsonSchema.from_value(schema)
    assert checked.check(example(checked)) == []


@pytest.mark.parametrize(
    "name",
    [
        "date",
        "date-time",
        "time",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uuid",
        "json-pointer",
    ],
)
def test_an_example_of_a_format_is_valid(name: str) -> None:
    schema = JsonSchema.from_value({"type": "string", "format": name})
    assert schema.check(example(schema)) == []


def test_what_the_author_gave_is_preferred_and_optional_members_are_shown() -> None:
    schema = JsonSchema.from_value(
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "examples": ["Oslo"]},
                "n": {"type": "integer", "default": 7},
                "o": {"type": "boolean"},
            },
            "required": ["city"],
        }
    )
    assert example(schema) == {"city": "Oslo", "n": 7, "o": True}


def test_a_schema_that_contradicts_itself_still_gives_a_value() -> None:
    schema = JsonSchema.from_value({"type": "integer", "minimum": 5, "maximum": 4})
    assert schema.check(example(schema)) != []
    assert example(JsonSchema.from_value(False)) is None
