"""A schema can be shown as an outline."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.engine.schemas import JsonSchema, schema_to_outline, schema_to_typescript

LINES: list[tuple[str, Any, list[str]]] = [
    ("string", {"type": "string"}, ["T: string"]),
    ("bounds", {"type": "integer", "minimum": 1, "maximum": 9}, ["T: integer (minimum 1, maximum 9)"]),
    ("format-and-description", {"type": "string", "format": "date", "description": "The\nday"}, ["T: string (format date) - The day"]),
    ("several-types", {"type": ["string", "null"]}, ["T: string or null"]),
    ("enum", {"enum": ["a", 1, None]}, ['T: "a" or 1 or null']),
    ("const", {"const": {"a": [1]}}, ['T: {"a": [1]}']),
    ("object", {"type": "object", "properties": {"a": {"type": "string"}, "b c": {}}, "required": ["a"]}, ["T: object", "  a: string", '  "b c"?: any value']),
    ("closed-object", {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"], "additionalProperties": False}, ["T: object, no other members", "  a: null"]),
    ("required-without-schema", {"type": "object", "required": ["x"]}, ["T: object", "  x: any value"]),
    ("map", {"additionalProperties": {"type": "number"}}, ["T: object", "  any name: number"]),
    ("map-beside-members", {"properties": {"a": True}, "required": ["a"], "additionalProperties": {"type": "number"}}, ["T: object", "  a: any value", "  any other name: number"]),
    ("name-pattern", {"type": "object", "patternProperties": {"^x-": {"type": "string"}}}, ["T: object", "  names like ^x-: string"]),
    ("list", {"type": "array", "items": {"type": "string", "minLength": 2}, "minItems": 1}, ["T: list of string (minLength 2) (minItems 1)"]),
    ("list-of-objects", {"items": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}, ["T: list of object", "  a: integer"]),
    ("tuple", {"prefixItems": [{"type": "string"}, {"const": 1}], "items": False}, ["T: list", "  element 1: string", "  element 2: 1"]),
    ("draft-7-tuple", {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "additionalItems": {"type": "null"}}, ["T: list", "  element 1: string", "  further elements: null"]),
    ("short-alternatives", {"anyOf": [{"type": "string"}, {"type": "string"}, {"const": 2}]}, ["T: string or 2"]),
    ("long-alternatives", {"oneOf": [{"properties": {"k": {"const": "a"}}, "required": ["k"]}, {"type": "null"}]}, ["T: one of", "  - object", '    k: "a"', "  - null"]),
    ("all-of", {"allOf": [{"type": "string"}, {"enum": ["a"]}]}, ['T: string and "a"']),
    ("anything", {}, ["T: any value"]),
    ("nothing", False, ["T: nothing"]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), [row[1:] for row in LINES], ids=[row[0] for row in LINES])
def test_a_schema_becomes_lines(schema: Any, expected: list[str]) -> None:
    shown = schema_to_outline(JsonSchema.from_value(schema), "T").splitlines()
    assert [line for line in shown if line and not line.startswith("A ?")] == expected


def test_parts_follow_under_their_names_and_optional_members_are_explained() -> None:
    schema = JsonSchema.from_value(
        {
            "type": "object",
            "properties": {"kind": {"$ref": "#/$defs/table-kind"}, "again": {"$ref": "#"}},
            "required": ["kind"],
            "$defs": {"table-kind": {"enum": ["bar"], "description": "Where"}},
        }
    )
    assert schema_to_outline(schema, "Booking") == (
        "Booking: object\n  kind: TableKind\n  again?: Booking\n\n"
        'TableKind: "bar" - Where\n\nA ? marks a member that may be left out.\n'
    )


def test_every_type_name_will_do_and_recursion_ends() -> None:
    schema = JsonSchema.from_value({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"})
    assert schema_to_outline(schema, "my type") == "my type: A\n\nA: list of A\n"


@pytest.mark.parametrize("schema", [row[1] for row in LINES], ids=[row[0] for row in LINES])
def test_what_has_an_outline_has_declarations_too(schema: Any) -> None:
    assert "T" in schema_to_typescript(JsonSchema.from_value(schema), "T")
