"""What stripping nulls removes in each mode, and that it tells what it removed."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.translation.scripted import S4
from workbench.engine.translation import strip_nulls

ALL = [
    pytest.param({"a": None, "b": 1}, {"b": 1}, ["/a"], id="member"),
    pytest.param({"o": {"x": None}}, {"o": {}}, ["/o/x"], id="empty objects stay"),
    pytest.param({"l": [1, None, 2]}, {"l": [1, 2]}, ["/l/1"], id="item"),
    pytest.param({"l": [None]}, {"l": []}, ["/l/0"], id="empty arrays stay"),
    pytest.param({"l": [{"x": None}]}, {"l": [{}]}, ["/l/0/x"], id="object in an array"),
    pytest.param({"l": [[None, 1]]}, {"l": [[1]]}, ["/l/0/0"], id="array in an array"),
    pytest.param({"l": [None, [None, 1]]}, {"l": [[1]]}, ["/l/0", "/l/1/0"], id="T55"),
    pytest.param([None, 1], [1], ["/0"], id="root array"),
    pytest.param(None, None, [], id="root null stays"),
    pytest.param({"a/b": {"~": None}}, {"a/b": {}}, ["/a~1b/~0"], id="escaped pointers"),
]


@pytest.mark.parametrize(("value", "expected", "removed"), ALL)
def test_all_removes_every_null_and_leaves_no_hole(value: Any, expected: Any, removed: list[str]) -> None:
    before = copy.deepcopy(value)
    assert strip_nulls(value) == (expected, tuple(removed))
    assert value == before


def test_off_changes_nothing_and_booleans_name_modes() -> None:
    value = {"a": None}
    assert strip_nulls(value, mode=False) == (value, ())
    assert strip_nulls(value, mode="off") == (value, ())
    assert strip_nulls(value, mode=True) == ({}, ("/a",))


OBJECT = {"type": "object"}
SCHEMA = [
    pytest.param({"name": "x", "nick": None, "status": None}, S4, ["/nick"], id="T54 D12"),
    pytest.param({"x": None}, OBJECT, [], id="nothing is said of the property"),
    pytest.param({"x": None}, {"properties": {"x": {"type": ["string", "null"]}}}, [], id="null is allowed"),
    pytest.param({"x": None}, {"properties": {"x": {"enum": ["a", None]}}}, [], id="null is in the enum"),
    pytest.param({"x": None}, {"properties": {"x": {"enum": ["a"]}}}, ["/x"], id="null is not in the enum"),
    pytest.param(
        {"x": None}, {"properties": {"x": {"type": "string"}}, "required": ["x"]}, [], id="required"
    ),
    pytest.param({"x": None}, {"additionalProperties": {"type": "string"}}, ["/x"], id="free property"),
    pytest.param(
        {"l": [1, None]}, {"properties": {"l": {"items": {"type": "integer"}}}}, ["/l/1"], id="items"
    ),
    pytest.param({"l": [1, None]}, {"properties": {"l": {"items": {}}}}, [], id="items may be null"),
    pytest.param(
        {"a": {"b": None}},
        {
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"properties": {"b": {"type": "integer"}}}},
        },
        ["/a/b"],
        id="through a reference",
    ),
    pytest.param(
        [{"k": 1, "d": None}],
        {"items": {"anyOf": [{"properties": {"d": {"type": "string"}}}, {"properties": {"e": True}}]}},
        ["/0/d"],
        id="through a branch",
    ),
]


@pytest.mark.parametrize(("value", "schema", "removed"), SCHEMA)
def test_schema_removes_only_what_the_schema_wants_gone(value: Any, schema: Any, removed: list[str]) -> None:
    assert strip_nulls(value, mode="schema", schema=schema)[1] == tuple(removed)


def test_a_wrong_mode_and_a_missing_schema_are_refused() -> None:
    with pytest.raises(ValueError, match="off"):
        strip_nulls({}, mode="some")
    with pytest.raises(ValueError, match="schema"):
        strip_nulls({}, mode="schema")


def test_depth_does_not_matter() -> None:
    value: Any = None
    for _ in range(20_000):
        value = {"x": value}
    _, removed = strip_nulls(value)
    assert removed == ("/x" * 20_000,)


json_values = st.recursive(
    st.none() | st.integers(),
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=2), v, max_size=4),
)


def holds_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(item is None or holds_null(item) for item in value.values())
    return isinstance(value, list) and any(item is None or holds_null(item) for item in value)


@given(json_values)
def test_nothing_is_left_and_a_second_pass_removes_nothing(value: Any) -> None:
    stripped, removed = strip_nulls(value)
    assert not holds_null(stripped)
    assert strip_nulls(stripped) == (stripped, ())
    assert bool(removed) == holds_null(value)
