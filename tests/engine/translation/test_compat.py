"""The profile `compat` does what TypeChat does, also where that is less than could be done."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.engine.translation.scripted import (
    BAD,
    FENCE,
    GOOD,
    NUMBER,
    S1,
    S2,
    S3,
    S5,
    S7,
    S8,
    ScriptedModel,
    roles,
)
from workbench.engine.language_models import Completion
from workbench.engine.translation import JsonSchemaValidator, JsonTranslator, extract_json

TABLE = [
    pytest.param('{"a": 1}', S1, "ok", {"a": 1}, id="T01"),
    pytest.param('Sure!\n{"a": 1}\nHope it helps', S1, "ok", {"a": 1}, id="T02"),
    pytest.param(f'{FENCE}json\n{{"a": 1}}\n{FENCE}', S1, "ok", {"a": 1}, id="T03"),
    pytest.param(f'{FENCE}\n{{"a": 1}}\n{FENCE}\nNote: {{braces}}', S1, "syntax", None, id="T04"),
    pytest.param('Using the set {x, y}, answer {"a": 1}', S1, "syntax", None, id="T05"),
    pytest.param('{"a": 1} and {curly} braces', S1, "syntax", None, id="T06"),
    pytest.param('{"log": "unexpected } at 4"}', S2, "ok", {"log": "unexpected } at 4"}, id="T07"),
    pytest.param('[{"a": 1}]', S1, "ok", {"a": 1}, id="T09"),
    pytest.param('[{"a": 1}]', S3, "invalid", {"a": 1}, id="T10"),
    pytest.param('[{"a": 1}, {"a": 2}]', S3, "syntax", None, id="T11"),
    pytest.param('{"a": 1}\n{"a": 2}', S1, "syntax", None, id="T12"),
    pytest.param('<think>maybe {"a": 0}</think>{"a": 1}', S1, "syntax", None, id="T14"),
    pytest.param('{"log":"<think>literal</think>"}', S2, "ok", {"log": "<think>literal</think>"}, id="T16"),
    pytest.param(
        f'{{"log": "run {FENCE}bun test{FENCE} first"}}',
        S2,
        "ok",
        {"log": f"run {FENCE}bun test{FENCE} first"},
        id="T17",
    ),
    pytest.param(f'````\n{{"log":"use {FENCE}"}}\n````', S2, "ok", {"log": f"use {FENCE}"}, id="T19"),
    pytest.param(f'{FENCE}\nstep 1\n{FENCE}\n{FENCE}json\n{{"a":1}}\n{FENCE}', S1, "ok", {"a": 1}, id="T20"),
    pytest.param(f'{json.dumps(S1)}\n{{"a": 1}}', S1, "syntax", None, id="T21"),
    pytest.param(json.dumps(S1), S1, "invalid", S1, id="T22"),
    pytest.param('See [1] and [2]. {"a": 1}', S1, "ok", {"a": 1}, id="T23"),
    pytest.param('{{"a": 1}}', S1, "syntax", None, id="T25"),
    pytest.param('\ufeff{"a": 1}', S1, "ok", {"a": 1}, id="T27"),
    pytest.param('{"a": 1,}', S1, "syntax", None, id="T28"),
    pytest.param("{'a': 1}", S1, "syntax", None, id="T29"),
    pytest.param('{"a": True}', S1, "syntax", None, id="T30"),
    pytest.param('{"a": 1 /* n */}', S1, "syntax", None, id="T32"),
    pytest.param('{"a": NaN}', S1, "syntax", None, id="T33"),
    pytest.param('{"a": 1e999}', NUMBER, "invalid", {"a": None}, id="T34"),
    pytest.param('{"a": 1, "a": 2}', S1, "ok", {"a": 2}, id="T35"),
    pytest.param('{"a": 12345678901234567890}', S1, "ok", {"a": 12345678901234567168}, id="T36"),
    pytest.param('{"log": "x\ny"}', S2, "syntax", None, id="T37"),
    pytest.param('{"log": "\\ud83d\\ude00"}', S2, "ok", {"log": "😀"}, id="T39"),
    # There, 1500 levels are read slowly; here they are refused as in every profile.
    pytest.param('{"l": ' + "[" * 1500 + "]" * 1500 + "}", S7, "syntax", None, id="T40"),
    pytest.param(
        '{"l": ' + "[" * 500 + "]" * 500 + "}", S7, "ok", {"l": json.loads("[" * 500 + "]" * 500)}, id="deep"
    ),
    pytest.param('{"a": [1, 2', S7, "no_json", None, id="T42"),
    pytest.param("} then {", S1, "no_json", None, id="T44"),
    pytest.param("", S1, "no_json", None, id="T45"),
    pytest.param("I cannot help with that.", S1, "no_json", None, id="T46"),
    pytest.param("I cannot help", S1, "no_json", None, id="T47"),
    pytest.param("{}", S8, "ok", {}, id="T48"),
    pytest.param("42", {"type": "integer"}, "no_json", None, id="T50"),
    pytest.param("word " * 1_000_000 + '{"a":1}', S1, "ok", {"a": 1}, id="T51"),
    pytest.param('{"a": 1}}', S1, "syntax", None, id="one brace too many"),
    pytest.param('{"log": "\\ud83d"}', S2, "ok", {"log": "\ud83d"}, id="half a surrogate pair"),
    pytest.param('{"a":"1"}', S1, "invalid", {"a": "1"}, id="T57"),
    pytest.param('{"a":1.0}', S1, "ok", {"a": 1}, id="T58"),
    pytest.param('{"a":true}', S1, "invalid", {"a": True}, id="T59"),
    pytest.param('{"b":1}', S1, "invalid", {"b": 1}, id="T60"),
    pytest.param('{"sentiment": "Positive"}', S5, "invalid", {"sentiment": "Positive"}, id="T62"),
]
CALLS = {"ok": 1, "syntax": 1, "no_json": 1, "invalid": 2}
"""How often the model is asked: only what is JSON and does not fit is repaired, and that once."""


@pytest.mark.parametrize(("reply", "schema", "outcome", "value"), TABLE)
def test_the_slice_from_first_to_last_brace_is_read(
    reply: str, schema: Any, outcome: str, value: Any
) -> None:
    found = extract_json(reply, schema=schema, profile="compat")
    assert (found.outcome, found.value) == (outcome, value)


@pytest.mark.parametrize(("reply", "schema", "outcome", "value"), TABLE)
def test_only_json_that_does_not_fit_is_repaired(reply: str, schema: Any, outcome: str, value: Any) -> None:
    model = ScriptedModel(reply, reply)
    result = asyncio.run(JsonTranslator(model, JsonSchemaValidator(schema), profile="compat").translate("x"))
    assert model.calls == CALLS[outcome]
    assert result.success == (outcome == "ok")
    assert [attempt.outcome for attempt in result.attempts] == [outcome] * model.calls


def compat(*script: Any, **settings: Any) -> JsonTranslator:
    return JsonTranslator(ScriptedModel(*script), JsonSchemaValidator(S1), profile="compat", **settings)


def run(t: JsonTranslator) -> Any:
    return asyncio.run(t.translate("x"))


@pytest.mark.parametrize("reply", ["no JSON here", '{"a": 1,}', ""], ids=["no JSON", "syntax", "empty"])
def test_what_is_no_json_is_not_repaired(reply: str) -> None:
    t = compat(reply, GOOD)
    assert not run(t).success
    assert t.model.calls == 1


def test_the_failure_holds_the_whole_reply_when_there_is_no_json() -> None:
    assert "only words" in run(compat("only words")).message


def test_there_is_one_repair_at_most_and_the_history_is_whole() -> None:
    t = compat(BAD, BAD, GOOD, max_repairs=5)
    result = run(t)
    assert t.model.calls == 2
    assert roles(t.model.sent[1]) == ["user", "assistant", "user"]
    assert result.message.endswith(BAD)


def test_refusal_and_length_are_not_looked_at() -> None:
    assert run(compat(Completion(GOOD, "length"))).success
    assert run(compat(Completion(GOOD, "stop", refusal="no"))).success
