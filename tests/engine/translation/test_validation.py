"""What is said of JSON that does not fit: the cases of validation and diagnostics, and the text of a repair."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.engine.translation.scripted import S1, S5, S6, ScriptedModel
from workbench.engine.diagnostics import Diagnostic
from workbench.engine.schemas import JsonSchema
from workbench.engine.translation import (
    Failure,
    JsonSchemaValidator,
    JsonTranslator,
    Success,
    extract_json,
)
from workbench.engine.translation.wording import MAX_CHARACTERS, list_diagnostics

REQUIRED = {"type": "object", "required": list("abcdefgh"), "properties": {}}
PRICE = {"type": "object", "properties": {"price": {"type": "number", "multipleOf": 0.01}}}

CASES = [
    pytest.param('{"a":"1"}', S1, [("/a", "type")], id="T57"),
    pytest.param('{"a":1.0}', S1, [], id="T58"),
    pytest.param('{"a":true}', S1, [("/a", "type")], id="T59"),
    pytest.param('{"b":1}', S1, [("", "required"), ("/b", "additionalProperties")], id="T60"),
    pytest.param('{"price":19.99}', PRICE, [], id="T69"),
    pytest.param('{"price":19.999}', PRICE, [("/price", "multipleOf")], id="T69-off"),
    pytest.param('"nope"', {"type": "string", "format": "date"}, [("", "format")], id="T71"),
]


@pytest.mark.parametrize(("reply", "schema", "expected"), CASES)
def test_each_error_names_place_and_keyword(reply: str, schema: Any, expected: list[tuple[str, str]]) -> None:
    found = extract_json(reply, schema=schema)
    assert [(d.pointer, d.keyword) for d in found.diagnostics if d.severity == "error"] == expected
    assert all(d.schema_pointer is not None for d in found.diagnostics)


def test_formats_can_be_left_unchecked_with_a_note_T71() -> None:  # noqa: N802
    schema = JsonSchema.from_value({"type": "string", "format": "date"}, assert_formats=False)
    found = extract_json('"nope"', schema=schema)
    assert found.outcome == "ok"
    assert [d.severity for d in found.diagnostics] == ["info"]


def repair_text(reply: str, schema: Any) -> str:
    """Return the repair prompt that follows a reply."""
    model = ScriptedModel(reply, reply)
    asyncio.run(JsonTranslator(model, JsonSchemaValidator(schema, "Thing")).translate("x"))
    return model.sent[1][2].text()


def test_every_missing_property_is_named_T61_D1() -> None:  # noqa: N802
    text = repair_text("{}", REQUIRED)
    assert all(f'"{name}"' in text for name in "abcdefgh")
    many = {"type": "object", "required": [f"property_number_{i}" for i in range(100)]}
    text = repair_text("{}", many)
    assert all(f"property_number_{i}" in text for i in range(100))


def test_an_enumeration_lists_its_values_and_the_near_match_T62() -> None:  # noqa: N802
    text = repair_text('{"sentiment":"Positive"}', S5)
    assert all(word in text for word in ("negative", "neutral", "positive"))
    assert 'mean "positive"' in text


def test_the_alternative_that_was_meant_is_diagnosed() -> None:
    text = repair_text('{"actions":[{"kind":"add"}]}', S6)
    assert "/actions/0" in text
    assert '"day"' in text
    assert '"text"' not in text


def test_the_repair_prompt_does_not_repeat_a_large_object_T66_D9() -> None:  # noqa: N802
    big = {"l": ["word " * 10] * 400, **{f"k{i}": i for i in range(6)}}
    schema = {"type": "object", "properties": {"l": {"type": "array"}}, "additionalProperties": False}
    text = repair_text(json.dumps(big), schema)
    assert text.count("word word word") <= 1
    assert len(text) < 3000
    assert all(f"k{i}" in text for i in range(6))


def test_many_errors_are_counted_and_not_all_listed_T67() -> None:  # noqa: N802
    schema = {"type": "array", "items": {"type": "integer"}}
    text = repair_text(json.dumps(["x"] * 300), schema)
    assert "/0" in text
    assert "and 280 more" in text
    assert len(text) < MAX_CHARACTERS


def test_long_messages_are_cut() -> None:
    long = [Diagnostic("error", "x", "word " * 1000, pointer=f"/{i}") for i in range(50)]
    text = list_diagnostics(long)
    assert len(text) < MAX_CHARACTERS + 1000
    assert "more" in text.splitlines()[-1]


def test_a_syntax_error_is_told_with_line_and_column() -> None:
    assert "line 2, column 9" in repair_text('Well:\n{"a": 1,}', S1)


def test_an_echo_is_told_as_such_T22() -> None:  # noqa: N802
    assert "schema" in repair_text(json.dumps(S1), S1).splitlines()[0]


def test_warnings_are_not_asked_to_be_repaired() -> None:
    assert list_diagnostics([Diagnostic("warning", "duplicate_key", "twice")]) == ""


@pytest.mark.parametrize(
    "schema", [S1, json.dumps(S1), JsonSchema.from_value(S1)], ids=["value", "text", "schema"]
)
def test_a_validator_takes_a_schema_in_any_form(schema: Any) -> None:
    validator = JsonSchemaValidator(schema, "Thing")
    assert validator.validate({"a": 1}) == Success({"a": 1})
    failure = validator.validate({"a": "x"})
    assert isinstance(failure, Failure)
    assert failure.diagnostics[0].pointer == "/a"
    assert "/a" in failure.message


def test_the_schema_is_shown_as_json_schema_or_as_typescript() -> None:
    text = json.dumps(S1)
    assert JsonSchemaValidator(text).schema_text() == text
    shown = JsonSchemaValidator(text, "Thing", show="typescript").schema_text()
    assert "Thing" in shown
    assert "a: number" in shown
