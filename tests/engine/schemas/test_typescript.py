"""A schema can be shown as TypeScript text."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.engine.schemas import JsonSchema, schema_to_typescript

TYPES = [
    ("string", {"type": "string"}, "string"),
    ("integer", {"type": "integer"}, "number"),
    ("several-types", {"type": ["null", "string"]}, "string | null"),
    ("enum", {"enum": ["a", 1, None]}, '"a" | 1 | null'),
    ("const-object", {"const": {"a": [1]}}, '{ "a": [1] }'),
    ("array", {"type": "array", "items": {"type": "number"}}, "number[]"),
    ("array-of-union", {"items": {"enum": ["a", "b"]}}, 'Array<"a" | "b">'),
    ("tuple", {"prefixItems": [{"type": "string"}, {"type": "number"}], "items": False}, "[string, number]"),
    ("open-tuple", {"prefixItems": [{"type": "string"}], "items": {"type": "number"}}, "[string, ...number[]]"),
    ("map", {"additionalProperties": {"type": "number"}}, "Record<string, number>"),
    ("any-object", {"type": "object"}, "Record<string, any>"),
    ("empty-object", {"type": "object", "additionalProperties": False}, "{}"),
    ("alternatives", {"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]}, "string | any[]"),
    ("all-of", {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "$defs": {"a": {"type": "object"}, "b": {"type": "object"}}}, "A & B"),
    ("anything", {}, "any"),
    ("nothing", False, "never"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), [row[1:] for row in TYPES], ids=[row[0] for row in TYPES])
def test_a_schema_becomes_a_type(schema: Any, expected: str) -> None:
    text = schema_to_typescript(JsonSchema.from_value(schema), "T")
    assert next(line for line in text.splitlines() if line[:2] != "//") == f"export type T = {expected};"


def test_an_object_becomes_an_interface_with_comments_and_named_parts() -> None:
    schema = JsonSchema.from_value(
        {
            "type": "object",
            "description": "A booking\nof one table.",
            "properties": {
                "guests": {"type": "integer", "minimum": 1, "description": "How many"},
                "when": {"type": "string", "format": "date-time"},
                "x y": {"$ref": "#/$defs/table-kind"},
                "again": {"$ref": "#"},
                "inner": {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
            },
            "required": ["guests"],
            "$defs": {"table-kind": {"enum": ["bar", "garden"], "description": "Where"}},
        }
    )
    assert schema_to_typescript(schema, "Booking") == (
        "// A booking\n"
        "// of one table.\n"
        "export interface Booking {\n"
        "    // How many\n"
        "    // integer, minimum 1\n"
        "    guests: number;\n"
        "    // format date-time\n"
        "    when?: string;\n"
        '    "x y"?: TableKind;\n'
        "    again?: Booking;\n"
        "    inner?: {\n"
        "        a: boolean;\n"
        "    };\n"
        "}\n"
        "\n"
        "// Where\n"
        'export type TableKind = "bar" | "garden";\n'
    )


def test_parts_with_one_name_get_different_types() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/definitions/x"}},
        "$defs": {"x": {}},
        "definitions": {"x": {"type": "null"}},
    }
    text = schema_to_typescript(JsonSchema.from_value(schema), "X")
    assert "a?: X2;" in text
    assert "b?: X3;" in text
    assert "export type X3 = null;" in text


def test_it_is_much_shorter_than_the_schema() -> None:
    schema = JsonSchema.from_value(
        {
            "type": "object",
            "properties": {f"name{i}": {"type": "string"} for i in range(20)},
            "required": [f"name{i}" for i in range(20)],
        }
    )
    assert len(schema_to_typescript(schema, "T")) * 2 < len(schema.text)


@pytest.mark.parametrize("name", ["", "a b", "1a", "a-b"])
def test_a_name_that_typescript_lacks_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="TypeScript"):
        schema_to_typescript(JsonSchema.from_value({}), name)
