"""The preview of JSON that has not arrived completely."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.translation.scripted import FENCE
from workbench.engine.translation import partial_json, preview_reply

CASES = [
    ("{", {}, False), ('{"a', {}, False), ('{"a"', {}, False), ('{"a":', {}, False), ('{"a": 1', {}, False),
    ('{"a": 1,', {"a": 1}, False), ('{"a": "x', {"a": "x"}, False), ('{"a": "x\\', {"a": "x"}, False),
    ('{"a": "x\\u00', {"a": "x"}, False), ('{"a": [1, 2', {"a": [1]}, False), ('{"a": [1, 2]', {"a": [1, 2]}, False),
    ('{"a": tr', {}, False), ('{"a": {"b": [{"c": "d', {"a": {"b": [{"c": "d"}]}}, False), ('{"a": 1}', {"a": 1}, True),
    ('["}]", "{', ["}]", "{"], False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "complete"), CASES)
def test_what_has_arrived_is_shown(text: str, value: Any, complete: bool) -> None:
    assert partial_json(text) == (value, complete)


def test_nothing_yet_is_nothing() -> None:
    assert partial_json("") is None
    assert partial_json("no") is None
    assert preview_reply("Sure, here") is None


@pytest.mark.parametrize(
    "before",
    ["", "Sure: ", f"{FENCE}json\n", '<think>draft {"x": 0}</think>\n'],
    ids=["alone", "prose", "fence", "reasoning"],
)
def test_the_preview_passes_over_what_stands_before_the_json(before: str) -> None:
    assert preview_reply(before + '{"a": [1, 2') == ({"a": [1]}, False)
    assert preview_reply(before + '{"a": [1, 2]}') == ({"a": [1, 2]}, True)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=4), v, max_size=4),
    max_leaves=10,
)


def fits(part: Any, whole: Any) -> bool:
    """Tell whether `part` can grow into `whole`."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(k in whole and fits(v, whole[k]) for k, v in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) <= len(whole) and all(map(fits, part, whole))
    if isinstance(part, str):
        return isinstance(whole, str) and whole.encode("utf-16-le", "surrogatepass").startswith(
            part.encode("utf-16-le", "surrogatepass")
        )
    return bool(part == whole)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(max_size=4), json_values, max_size=4), st.data())
def test_every_prefix_can_grow_into_the_whole(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    length = data.draw(st.integers(1, len(text)))
    shown = partial_json(text[:length])
    assert shown is not None
    assert fits(shown[0], value)
    assert shown[1] == (length == len(text))
