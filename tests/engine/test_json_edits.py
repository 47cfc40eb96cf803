"""Edits of a JSON text by pointer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.json_text import dumps, edits, parse_json


def _apply(text: str, fix) -> str:
    return text if fix is None else text[: fix.start] + fix.replacement + text[fix.end :]


@pytest.mark.parametrize(
    ("text", "pointer", "expected"),
    [
        ('{"a": 1}', "", '{"a": 1, "n": 0}'),
        ('{\n    "a": 1\n}', "", '{\n    "a": 1,\n    "n": 0\n}'),
        ('{"a": {}}', "/a", '{"a": {\n  "n": 0\n}}'),
        ('{\n  "a": {}\n}', "/a", '{\n  "a": {\n    "n": 0\n  }\n}'),
        ("{ }", "", '{\n  "n": 0\n}'),
        ("{}", "/nowhere", "{}"),
    ],
    ids=["on one line", "on its own line", "first", "first, deeper", "blank inside", "no such place"],
)
def test_a_member_is_added_in_the_style_of_the_others(text: str, pointer: str, expected: str) -> None:
    assert _apply(text, edits.append(parse_json(text), pointer, '"n": 0')) == expected


@pytest.mark.parametrize(
    ("text", "pointer", "expected"),
    [
        ('{"a": 1, "b": 2}', "/a", '{"b": 2}'),
        ('{"a": 1, "b": 2}', "/b", '{"a": 1}'),
        ('{\n  "a": 1\n}', "/a", "{}"),
        ("[\n  1,\n  2,\n  3\n]", "/1", "[\n  1,\n  3\n]"),
        ("[1]", "", "[1]"),
        ("[1]", "/4", "[1]"),
    ],
    ids=["first", "last", "only", "middle", "the root stays", "no such place"],
)
def test_a_value_is_removed_with_its_comma(text: str, pointer: str, expected: str) -> None:
    assert _apply(text, edits.remove(parse_json(text), pointer)) == expected


def test_an_item_is_copied_behind_itself_and_a_member_under_another_name() -> None:
    text = '{\n  "l": [1, {"x": 2}]\n}'
    assert json.loads(_apply(text, edits.duplicate(parse_json(text), "/l/1"))) == {
        "l": [1, {"x": 2}, {"x": 2}]
    }
    copied = _apply(text, edits.duplicate(parse_json(text), "/l", "m"))
    assert copied == '{\n  "l": [1, {"x": 2}],\n  "m": [1, {"x": 2}]\n}'


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from([None, 1, 4]), st.data())
def test_edits_change_what_they_name_and_nothing_else(value, indent, data) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    document = parse_json(text)
    pointer = data.draw(st.sampled_from(sorted(document.pointers())))
    owner, _, _token = pointer.rpartition("/")
    changed = json.loads(_apply(text, edits.change(document, pointer, '"new"')))
    if not pointer:
        assert changed == "new"
        return
    for made in (edits.remove(document, pointer), edits.duplicate(document, pointer, "some name")):
        after = json.loads(_apply(text, made))
        before = parse_json(text).value
        outer = _at(after, owner), _at(before, owner)
        assert abs(len(outer[0]) - len(outer[1])) == 1
    item = '"some name": 5' if isinstance(_at(value, owner), dict) else "5"
    grown = json.loads(_apply(text, edits.append(document, owner, item)))
    assert dumps(_at(grown, owner)) == dumps(
        {**_at(value, owner), "some name": 5}
        if isinstance(_at(value, owner), dict)
        else [*_at(value, owner), 5]
    )


def _at(value, pointer: str):
    from workbench.engine.json_text import resolve_pointer

    return resolve_pointer(value, pointer)
