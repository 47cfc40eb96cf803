"""What differs between two values, by JSON Pointer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.translation import pointer_diff

CASES = [
    pytest.param({"a": 1}, {"a": 1.0}, [], id="equal numbers"),
    pytest.param({"a": 1}, {"a": True}, [("changed", "/a")], id="true is no number"),
    pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, [], id="order of members"),
    pytest.param({"a": 1}, {"b": 1}, [("removed", "/a"), ("added", "/b")], id="member"),
    pytest.param({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [("changed", "/a/b/1")], id="nested"),
    pytest.param([1, 2, 3], [1, 9, 2, 3], [("added", "/1")], id="an inserted item is one change"),
    pytest.param([1, 2, 3], [1, 3], [("removed", "/1")], id="a removed item is one change"),
    pytest.param({"a": None}, {}, [("removed", "/a")], id="a null that went"),
    pytest.param(1, "1", [("changed", "")], id="root"),
    pytest.param({"a": [1]}, {"a": {"0": 1}}, [("changed", "/a")], id="another type"),
    pytest.param({"a/b": 1}, {"a/b": 2}, [("changed", "/a~1b")], id="escaped"),
]


@pytest.mark.parametrize(("before", "after", "expected"), CASES)
def test_differences_are_named_by_pointer(before: Any, after: Any, expected: list[tuple[str, str]]) -> None:
    assert [(change.kind, change.pointer) for change in pointer_diff(before, after)] == expected


def test_a_change_holds_both_sides() -> None:
    (change,) = pointer_diff({"a": "x"}, {"a": "y"})
    assert change.to_json() == {"kind": "changed", "pointer": "/a", "before": "x", "after": "y"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=2), v, max_size=4),
)


@given(json_values, json_values)
def test_there_is_a_difference_exactly_when_the_values_differ(a: Any, b: Any) -> None:
    assert pointer_diff(a, a) == []
    same = repr(a) == repr(b)
    assert not same or pointer_diff(a, b) == []
    if pointer_diff(a, b) == []:
        assert a == b
