"""Replies and values whose place or wrapping is odd: strings in fences, broken JSON behind prose, named patterns."""

from __future__ import annotations

import json

import pytest

from tests.engine.translation.scripted import FENCE, S1, S7
from workbench.engine.translation import extract_json, strip_nulls


def test_json_inside_a_string_in_a_fence_is_unwrapped() -> None:
    reply = f"Here:\n{FENCE}json\n{json.dumps(json.dumps({'a': 1}))}\n{FENCE}"
    found = extract_json(reply, schema=S1)
    assert (found.outcome, found.value, found.source) == ("ok", {"a": 1}, "string")


def test_a_plain_string_in_a_fence_is_still_no_json() -> None:
    assert extract_json(f'{FENCE}\n"hello {{you}}"\n{FENCE}', schema=S1).outcome == "no_json"


@pytest.mark.parametrize("profile", ["smart", "compat"])
def test_a_message_about_an_open_bracket_names_its_place_in_the_reply(profile: str) -> None:
    found = extract_json('One.\nSure: {"l": {"b": 1}', schema=S7, profile=profile)
    problem = found.diagnostics[0]
    assert (problem.line, problem.column) == (2, 7)
    assert "line 2, column 7" in problem.message


def test_a_block_of_json_wins_over_a_later_block_of_code_and_the_warning_says_so() -> None:
    reply = f'{FENCE}json\n{{"a": 1}}\n{FENCE}\n{FENCE}python\nx = {{"a": 5}}\n{FENCE}'
    found = extract_json(reply, schema=S1)
    assert found.value == {"a": 1}
    assert "marked as JSON" in found.diagnostics[0].message


def test_a_null_is_stripped_where_a_pattern_of_names_forbids_it() -> None:
    schema = {"patternProperties": {"^x_": {"type": "string"}, "^y_": {}}}
    assert strip_nulls({"x_a": None, "y_a": None}, mode="schema", schema=schema) == (
        {"y_a": None},
        ("/x_a",),
    )


def test_a_pattern_goes_before_the_rule_for_additional_members() -> None:
    schema = {
        "patternProperties": {"^x_": {"type": ["string", "null"]}},
        "additionalProperties": {"type": "string"},
    }
    assert strip_nulls({"x_a": None, "b": None}, mode="schema", schema=schema)[1] == ("/b",)


def test_a_null_behind_the_listed_items_of_an_older_draft_is_stripped() -> None:
    schema = {"properties": {"l": {"items": [{"type": "null"}], "additionalItems": {"type": "string"}}}}
    assert strip_nulls({"l": [None, None, "a"]}, mode="schema", schema=schema)[1] == ("/l/1",)
