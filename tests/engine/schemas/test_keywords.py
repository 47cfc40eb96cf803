"""Keywords that validators often get wrong hold in every draft that has them, and the meant alternative is diagnosed."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.engine.json_text import parse_json
from workbench.engine.schemas import JsonSchema, example

D4 = "http://json-schema.org/draft-04/schema#"
D6 = "http://json-schema.org/draft-06/schema#"
D7 = "http://json-schema.org/draft-07/schema#"
D19 = "https://json-schema.org/draft/2019-09/schema"
D20 = "https://json-schema.org/draft/2020-12/schema"
ALL = [D4, D6, D7, D19, D20]


def drafts(
    addresses: list[str], name: str, schema: dict[str, Any], good: list[Any], bad: list[Any]
) -> list[Any]:
    names = {D4: "4", D6: "6", D7: "7", D19: "2019-09", D20: "2020-12"}
    return [
        pytest.param({"$schema": address, **schema}, good, bad, id=f"{name}-{names[address]}")
        for address in addresses
    ]


ROWS = [
    *drafts(ALL, "multiple-of-cents", {"multipleOf": 0.01}, [19.99, 0.07, 1.1, 0, -4.35, 1e10], [0.001, 19.999]),
    *drafts(ALL, "multiple-of-tenths", {"multipleOf": 0.1}, [0.3, 0.7, 1e15], [0.35]),
    *drafts(ALL, "multiple-of-tiny", {"multipleOf": 1e-8}, [12391239123, 1e-7], [1.5e-8]),
    *drafts(ALL, "multiple-of-large", {"multipleOf": 3}, [9007199254740993, 3 * 10**40], [9007199254740994, 10**40]),
    *drafts(ALL, "pattern-digits", {"pattern": r"^\d+$"}, ["12"], ["١٢", "12\n", ""]),
    *drafts(ALL, "pattern-is-a-search", {"pattern": "b"}, ["abc", 5], ["ac"]),
    *drafts(ALL, "length-in-characters", {"maxLength": 1}, ["😀", "é"], ["ab"]),
    *drafts(ALL, "format-date-time", {"format": "date-time"}, ["2026-03-31T18:30:00Z", 5], ["2026-03-31", "x"]),
    *drafts(ALL, "format-email", {"format": "email"}, ["a@b.org"], ["a.b.org"]),
    *drafts([D7, D19, D20], "format-date", {"format": "date"}, ["2024-02-29"], ["2023-02-29", "29.2.2024"]),
    *drafts([D19, D20], "format-uuid", {"format": "uuid"}, ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567"]),
    *drafts([D4], "exclusive-flag", {"minimum": 1, "exclusiveMinimum": True}, [1.1], [1]),
    *drafts([D6, D7, D19, D20], "exclusive-number", {"exclusiveMinimum": 1}, [1.1], [1]),
    *drafts([D6, D7, D19, D20], "one-is-an-integer", {"type": "integer"}, [1.0, 1], [1.5, True, "1"]),
    *drafts([D4], "one-point-zero-is-none", {"type": "integer"}, [1], [1.0, True]),
    *drafts([D6, D7, D19, D20], "const-tells-types-apart", {"const": 1}, [1, 1.0], [True, "1"]),
    *drafts(ALL, "enum-tells-types-apart", {"enum": [0, [False]]}, [0, 0.0, [False]], [False, [0]]),
    *drafts([D4, D6, D7], "siblings-of-a-reference-do-not-count", {"definitions": {"s": {"type": "string"}}, "properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}}}, [{"a": "long"}], [{"a": 1}]),
    *drafts([D19, D20], "siblings-of-a-reference-count", {"$defs": {"s": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/s", "maxLength": 1}}}, [{"a": "l"}], [{"a": "long"}]),
    *drafts([D4, D6, D7, D19], "items-by-place", {"items": [{"type": "string"}], "additionalItems": False}, [["a"], []], [["a", 1], [1]]),
    *drafts([D20], "prefix-items", {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, [["a", 1], []], [["a", "b"]]),
    *drafts([D6, D7, D19, D20], "contains", {"contains": {"const": 5}}, [[1, 5]], [[1], []]),
    *drafts([D19, D20], "contains-so-many", {"contains": {"const": 5}, "minContains": 2, "maxContains": 3}, [[5, 5], [5, 5, 5, 1]], [[5], [5, 5, 5, 5]]),
    *drafts([D7, D19, D20], "if-then-else", {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"minimum": 5}}, ["ab", 5], ["a", 4]),
    *drafts([D4, D6, D7], "dependencies", {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}, [{"a": 1, "b": 1}, {"c": 1, "d": 1}], [{"a": 1}, {"c": 1}]),
    *drafts([D19, D20], "dependent", {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}}, [{"a": 1, "b": 1}, {}], [{"a": 1}, {"c": 1}]),
    *drafts([D6, D7, D19, D20], "names", {"propertyNames": {"maxLength": 2}}, [{"ab": 1}], [{"abc": 1}]),
    *drafts([D19, D20], "unevaluated-over-all-of", {"allOf": [{"properties": {"a": {}}}], "properties": {"b": {}}, "unevaluatedProperties": False}, [{"a": 1, "b": 2}], [{"c": 1}]),
    *drafts([D19, D20], "unevaluated-only-what-holds", {"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}], "unevaluatedProperties": False}, [{"a": "x"}, {"b": 1}], [{"b": 1, "a": 1}]),
    *drafts([D19, D20], "unevaluated-not-by-not", {"not": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "unevaluatedProperties": False}, [{}], [{"a": 2}]),
    *drafts([D19, D20], "unevaluated-by-dependent", {"dependentSchemas": {"a": {"properties": {"b": {}}}}, "properties": {"a": {}}, "unevaluatedProperties": False}, [{"a": 1, "b": 1}], [{"b": 1}]),
    *drafts([D19, D20], "unevaluated-by-if", {"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"properties": {"a": {}}}, "else": {"properties": {"b": {}}}, "unevaluatedProperties": False}, [{"k": 1, "a": 1}, {"b": 1}], [{"k": 1, "b": 1}, {"a": 1}]),
    *drafts([D19, D20], "unevaluated-by-pattern", {"patternProperties": {"^x": {}}, "unevaluatedProperties": False}, [{"x1": 1}], [{"y": 1}]),
    *drafts([D19, D20], "unevaluated-nested", {"properties": {"o": {"$ref": "#/$defs/open", "properties": {"b": {}}, "unevaluatedProperties": False}}, "$defs": {"open": {"properties": {"a": {}}}}}, [{"o": {"a": 1, "b": 1}}], [{"o": {"c": 1}}]),
    *drafts([D20], "unevaluated-items", {"prefixItems": [{}], "contains": {"const": 7}, "unevaluatedItems": False}, [[1, 7], [7]], [[1, 2, 7], [1], []]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "good", "bad"), ROWS)
def test_a_keyword_means_what_its_draft_says(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    checked = JsonSchema.from_value(schema)
    assert [value for value in good if not checked.is_valid(value)] == []
    assert [value for value in bad if checked.is_valid(value)] == []
    for value in bad:
        assert all(item.message and item.keyword for item in checked.check(value))


@pytest.mark.parametrize("schema", [row.values[0] for row in ROWS], ids=[row.id for row in ROWS])
def test_its_example_is_valid(schema: dict[str, Any]) -> None:
    checked = JsonSchema.from_value(schema)
    assert checked.check(example(checked)) == []


def kind(name: Any, **members: Any) -> dict[str, Any]:
    tag = {"enum": name} if isinstance(name, list) else {"const": name}
    return {"type": "object", "properties": {"kind": tag, **members}, "required": ["kind", *members]}


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
MEANT = [
    pytest.param({"anyOf": [kind("a", x=TEXT), kind("b", x=NUMBER)]}, '{"kind": "b", "x": "1"}', [("/x", "/anyOf/1/properties/x/type")], id="constant"),
    pytest.param({"oneOf": [kind(["a", "c"], x=TEXT), kind("b", x=NUMBER)]}, '{"kind": "c", "x": 1}', [("/x", "/oneOf/0/properties/x/type")], id="one of several constants"),
    pytest.param({"anyOf": [kind(1, x=TEXT), kind(2, x=NUMBER)]}, '{"kind": 2.0, "x": ""}', [("/x", "/anyOf/1/properties/x/type")], id="number"),
    pytest.param({"anyOf": [kind(True, x=TEXT), kind(1, y=TEXT)]}, '{"kind": true}', [("", "/anyOf/0/required")], id="true is not one"),
    pytest.param({"items": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}, "$defs": {"a": kind("a", x=TEXT), "b": kind("b", y=TEXT)}}, '[{"kind": "a", "x": ""}, {"kind": "b", "y": 1}]', [("/1/y", "/$defs/b/properties/y/type")], id="behind references"),
    pytest.param({"anyOf": [kind("a", inner={"anyOf": [kind("x", n=NUMBER), kind("y", n=TEXT)]}), kind("b")]}, '{"kind": "a", "inner": {"kind": "y", "n": 1}}', [("/inner/n", "/anyOf/0/properties/inner/anyOf/1/properties/n/type")], id="alternatives in alternatives"),
    pytest.param({"anyOf": [{"type": "array", "items": NUMBER}, TEXT]}, '[1, "2"]', [("/1", "/anyOf/0/items/type")], id="type of the value"),
    pytest.param({"anyOf": [{"type": "null"}, kind("a", x=TEXT)]}, '{"kind": "a", "x": 1}', [("/x", "/anyOf/1/properties/x/type")], id="null or an object"),
    pytest.param({"oneOf": [kind("a", x=TEXT), False]}, '{"kind": "a", "x": 1}', [("/x", "/oneOf/0/properties/x/type")], id="an alternative that never is"),
    pytest.param({"anyOf": [kind("a"), kind("b")]}, '{"kind": "c"}', [("/kind", "/anyOf")], id="an unknown constant"),
    pytest.param({"anyOf": [kind("a"), kind("b")]}, "{}", [("", "/anyOf")], id="no constant"),
    pytest.param({"anyOf": [kind("a"), kind("b")]}, '"a"', [("", "/anyOf")], id="no object"),
    pytest.param({"oneOf": [kind("a"), {"type": "object"}]}, '{"kind": "a"}', [("", "/oneOf")], id="two at once"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "text", "expected"), MEANT)
def test_the_alternative_that_was_meant_is_diagnosed(
    schema: Any, text: str, expected: list[tuple[str, str]]
) -> None:
    document = parse_json(text)
    found = JsonSchema.from_value(schema).check(document.value, document=document)
    assert [(item.pointer, item.schema_pointer) for item in found] == expected
