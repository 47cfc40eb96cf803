"""The strict form of a schema, what it cannot express, and the way back."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from tests.engine.translation.scripted import S3, S4
from workbench.engine.translation import StrictLimits, strict_schema, undo_strict

NESTED = {
    "type": "object",
    "properties": {
        "who": {"$ref": "#/$defs/person"},
        "kind": {"enum": ["a", "b"]},
        "fixed": {"const": 1},
        "list": {"type": "array", "items": {"$ref": "#/$defs/person"}},
    },
    "required": ["who"],
    "$defs": {
        "person": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
    },
}


@pytest.mark.parametrize("schema", [S4, NESTED, S3], ids=["flat", "nested", "array"])
def test_every_object_is_closed_and_requires_all_its_properties(schema: Any) -> None:
    strict = strict_schema(schema)
    assert strict.usable
    jsonschema.Draft202012Validator.check_schema(strict.schema)
    pending = [strict.schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "properties" in node and isinstance(node["properties"], dict):
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
            pending += node.values()
        elif isinstance(node, list):
            pending += node


VALUES = [
    ({"who": {"name": "A"}}, {"who": {"name": "A", "age": None}, "kind": None, "fixed": None, "list": None}),
    (
        {"who": {}, "kind": "a", "fixed": 1, "list": [{"age": 1}]},
        {"who": {"name": None, "age": None}, "kind": "a", "fixed": 1, "list": [{"name": None, "age": 1}]},
    ),
]


@pytest.mark.parametrize(("plain", "strict_value"), VALUES)
def test_what_strict_mode_allows_comes_back_as_the_schema_means_it(plain: Any, strict_value: Any) -> None:
    strict = strict_schema(NESTED)
    jsonschema.validate(strict_value, strict.schema)
    assert undo_strict(strict_value, NESTED, wrapped=strict.wrapped)[0] == plain


def test_a_null_that_the_schema_allows_stays() -> None:
    value = {"name": "x", "nick": None, "status": None}
    assert undo_strict(value, S4, wrapped=False) == ({"name": "x", "status": None}, ("/nick",))


REFUSED = [
    ({"allOf": [{}]}, "/allOf"),
    ({"properties": {"x": {"not": {}}}}, "/properties/x/not"),
    ({"patternProperties": {}}, "/patternProperties"),
    (
        {"properties": {"x": {"type": "object", "additionalProperties": {"type": "string"}}}},
        "/properties/x/addi",
    ),
    ({"properties": {"x": True}}, "/properties/x"),
]


@pytest.mark.parametrize(("more", "pointer"), REFUSED)
def test_what_strict_mode_refuses_is_named_with_its_place(more: Any, pointer: str) -> None:
    strict = strict_schema({"type": "object", **more})
    assert not strict.usable
    assert any((d.pointer or "").startswith(pointer) for d in strict.diagnostics)


def nest(levels: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


def test_depth_counts_after_wrapping_D24() -> None:  # noqa: N802
    limits = StrictLimits(depth=5)
    assert strict_schema(nest(5), limits).usable
    assert not strict_schema(nest(6), limits).usable
    assert strict_schema({"type": "array", "items": nest(4)}, limits).usable
    assert not strict_schema({"type": "array", "items": nest(5)}, limits).usable


def test_properties_and_enum_values_are_counted() -> None:
    limits = StrictLimits(properties=1, enum_values=2)
    schema = {"type": "object", "properties": {"a": {"enum": [1, 2, 3]}, "b": {"type": "string"}}}
    messages = " ".join(d.message for d in strict_schema(schema, limits).diagnostics)
    assert "properties" in messages
    assert "enum values" in messages
