"""A small schema whose references multiply ends with an error instead of never."""

from __future__ import annotations

import time
from typing import Any

import pytest

from workbench.engine.schemas import JsonSchema, example
from workbench.engine.schemas.limits import REFERENCES, REFERENCES_PER_VALUE
from workbench.engine.translation.nulls import strip_nulls
from workbench.engine.translation.schema_roots import allowed_types

LEVELS = 30


def pairs(keyword: str, last: Any) -> dict[str, Any]:
    """Return a schema in which each of 30 definitions refers to the next one twice: a thousand million ways."""
    definitions = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(LEVELS)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{LEVELS}": last}}


@pytest.fixture(autouse=True)
def _quick() -> Any:
    started = time.process_time()
    yield
    assert time.process_time() - started < 30


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("value", [{}, 3])
def test_a_check_whose_references_multiply_is_stopped_and_says_so(keyword: str, value: Any) -> None:
    schema = JsonSchema.from_value(pairs(keyword, {"type": "object"}))
    valid_at_once = keyword == "anyOf" and value == {}
    found = schema.check(value, file="parameters/default.json")
    if valid_at_once:  # the first of the alternatives holds at each level
        assert found == []
    else:
        assert [one.code for one in found] == ["too_many_references"]
        assert (found[0].severity, found[0].file) == ("error", "parameters/default.json")
    assert schema.is_valid(value) is valid_at_once


def test_members_that_nobody_spoke_of_are_looked_for_within_the_same_limit() -> None:
    schema = pairs("allOf", {"type": "object"}) | {"unevaluatedProperties": False}
    assert [one.code for one in JsonSchema.from_value(schema).check({"a": 1})] == ["too_many_references"]


def test_a_long_value_may_follow_as_many_references_as_it_has_items() -> None:
    schema = {"type": "array", "items": {"$ref": "#/$defs/item"}, "$defs": {"item": {"type": "integer"}}}
    value: list[Any] = list(range(REFERENCES + 10))
    assert JsonSchema.from_value(schema).check(value) == []
    assert [one.pointer for one in JsonSchema.from_value(schema).check([*value, "x"])] == [f"/{len(value)}"]
    assert REFERENCES_PER_VALUE > 1


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_the_types_of_a_schema_whose_references_multiply_are_found(keyword: str) -> None:
    schema = pairs(keyword, {"type": ["object", "null"]})
    assert JsonSchema.from_value(schema).root_types == {"object", "null"}
    assert allowed_types(schema) == {"object", "null"}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_nulls_are_stripped_by_a_schema_whose_references_multiply(keyword: str) -> None:
    schema = pairs(keyword, {"type": "object", "properties": {"a": {"type": "string"}}})
    assert strip_nulls({"a": None, "b": None}, mode="schema", schema=schema) == ({"b": None}, ("/a",))


def test_an_example_of_a_schema_whose_references_multiply_ends() -> None:
    node = {
        f"d{n}": {
            "type": "object",
            "required": ["a", "b"],
            "properties": {name: {"$ref": f"#/$defs/d{n + 1}"} for name in "ab"},
        }
        for n in range(LEVELS)
    }
    schema = {"$ref": "#/$defs/d0", "$defs": {**node, f"d{LEVELS}": {"type": "string"}}}
    assert set(example(JsonSchema.from_value(schema))) == {"a", "b"}
