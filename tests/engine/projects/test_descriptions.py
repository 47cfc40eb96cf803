"""Descriptions of parameters in their schema."""

from __future__ import annotations

import json

import pytest

from workbench.engine.json_text import parse_json
from workbench.engine.projects.descriptions import describe, description_at, schema_place

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Who is greeted"},
        "orders": {"type": "array", "items": {"$ref": "#/$defs/order"}},
        "any": True,
        "first": {"$ref": "#/$defs/order", "description": "The first order"},
    },
    "required": ["name"],
    "$defs": {"order": {"description": "One order", "properties": {"item": {"type": "string"}}}},
}


@pytest.mark.parametrize(
    ("tokens", "place"),
    [
        ([], ""),
        (["name"], "/properties/name"),
        (["orders", "3", "item"], "/$defs/order/properties/item"),
        (["nobody"], None),
        (["name", "x"], None),
    ],
)
def test_the_schema_of_a_value_is_found_through_references(tokens: list[str], place: str | None) -> None:
    assert schema_place(SCHEMA, tokens) == place


@pytest.mark.parametrize(
    "schema", [True, {"$ref": "#/nowhere"}, {"$ref": "#"}, {"properties": 3}, {"$ref": "#/a~2"}]
)
def test_an_odd_schema_describes_nothing(schema: object) -> None:
    assert schema_place(parse_json(json.dumps(schema)).value, ["a"]) is None


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["name"], "Who is greeted"),
        (["orders", "0"], "One order"),
        (["first"], "The first order"),
        (["orders"], ""),
        (["nobody"], ""),
        ([], ""),
    ],
)
def test_a_description_is_found(tokens: list[str], text: str) -> None:
    assert description_at(SCHEMA, tokens) == text


@pytest.mark.parametrize(
    "tokens",
    [["name"], ["orders"], ["orders", "0"], ["orders", "1", "item"], ["any"], ["first"], ["new"], []],
    ids=lambda tokens: "/".join(tokens) or "root",
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_description_is_written_and_taken_away(tokens: list[str], indent: int | None) -> None:
    text = json.dumps(SCHEMA, indent=indent)
    fix = describe(parse_json(text), tokens, 'A "new" one')
    assert fix is not None
    changed = text[: fix.start] + fix.replacement + text[fix.end :]
    assert description_at(json.loads(changed), tokens) == 'A "new" one'
    again = describe(parse_json(changed), tokens, 'A "new" one')
    assert again is None
    gone = describe(parse_json(changed), tokens, "")
    assert gone is not None
    without = changed[: gone.start] + gone.replacement + changed[gone.end :]
    assert 'A "new" one' not in json.loads(without).get("description", "")
    assert "new" not in description_at(json.loads(without), tokens)


@pytest.mark.parametrize(
    ("schema", "tokens"),
    [(True, ["a"]), ({"properties": 5}, ["a"]), ({"$ref": "https://x.test"}, ["a"]), ({}, ["a", "b"])],
)
def test_where_nothing_can_be_described_nothing_changes(schema: object, tokens: list[str]) -> None:
    assert describe(parse_json(json.dumps(schema)), tokens, "text") is None


def test_properties_are_added_where_there_are_none() -> None:
    text = '{"type": "object"}'
    fix = describe(parse_json(text), ["a"], "An a")
    changed = text[: fix.start] + fix.replacement + text[fix.end :]
    assert json.loads(changed) == {"type": "object", "properties": {"a": {"description": "An a"}}}
