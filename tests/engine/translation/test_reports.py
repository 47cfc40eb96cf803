"""Failures that users of other systems reported in public: each shown to be absent here."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.engine.translation.scripted import BAD, FENCE, GOOD, S1, S2, S3, ScriptedModel, used
from workbench.engine.language_models import Completion, Usage
from workbench.engine.translation import JsonSchemaValidator, JsonTranslator, extract_json

ANY = {"type": "object"}


def run(schema: Any, *script: Any, **settings: Any) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(*script)
    t = JsonTranslator(model, JsonSchemaValidator(schema, "Thing"), **settings)
    return asyncio.run(t.translate("x")), model


def test_the_conversation_of_every_attempt_can_be_read_D2() -> None:  # noqa: N802
    result, _ = run(S1, BAD, GOOD)
    assert [m.role for m in result.attempts[1].messages] == ["user", "assistant", "user"]
    assert result.attempts[1].messages[1].content == BAD
    assert result.attempts[1].prompt == result.attempts[1].messages[2].content


def test_a_cut_reply_does_not_make_the_prompt_grow_D4() -> None:  # noqa: N802
    cut = Completion('{"a": ' + "1" * 4000, "length")
    model = ScriptedModel(cut, cut, GOOD)
    t = JsonTranslator(model, JsonSchemaValidator(S1), max_repairs=3)
    t.token_ramp = 4
    assert asyncio.run(t.translate("x")).success
    assert model.sent[0] == model.sent[1] == model.sent[2]


@pytest.mark.parametrize(
    ("reply", "schema", "value"),
    [
        pytest.param(
            f'{{"name": "a {FENCE} b", "log": "x"}}', S2, {"name": f"a {FENCE} b", "log": "x"}, id="fence"
        ),
        pytest.param('[{"a": 1}, {"a": 2}]', S3, [{"a": 1}, {"a": 2}], id="array"),
        pytest.param('see [1] {"a": 1}', S1, {"a": 1}, id="prose"),
    ],
)
def test_fences_in_strings_arrays_and_brackets_in_prose_D5(reply: str, schema: Any, value: Any) -> None:  # noqa: N802
    assert extract_json(reply, schema=schema).value == value


def test_backticks_in_a_value_are_no_fence_D6() -> None:  # noqa: N802
    assert extract_json('{"code":"use `print`"}', schema=ANY).value == {"code": "use `print`"}


def test_a_good_optional_object_is_never_replaced_D7() -> None:  # noqa: N802
    schema = {
        "type": "object",
        "properties": {"o": {"type": ["object", "null"], "properties": {"x": {"type": "string"}}}},
    }
    for lenient in (False, True):
        assert extract_json('{"o": {}}', schema=schema, lenient=lenient).value == {"o": {}}


def test_valid_json_is_never_reshaped_D8() -> None:  # noqa: N802
    value = {"code": "def f():\n    return {'a': [1,]}  # {\"b\"", "code ": 1}
    text = json.dumps(value)
    found = extract_json(text, schema=ANY, lenient=True)
    assert (found.value, found.edits) == (value, ())


def test_json_is_found_outside_a_fence_and_never_its_inside_D10() -> None:  # noqa: N802
    assert extract_json('{"a":1}', schema=S1).ok
    assert extract_json('{"a":{"b":1}}', schema=ANY).value == {"a": {"b": 1}}
    assert extract_json('{"a":{"b":1}', schema=ANY).outcome == "syntax"


def test_a_brace_in_a_string_does_not_end_the_json_D11() -> None:  # noqa: N802
    reply = 'Sure: {"log":"char \'}\' at 42"}'
    assert extract_json(reply, schema=S2).value == {"log": "char '}' at 42"}


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('<think>{"a": 0}</think>{"a": 1}', {"a": 1}),
        ('{"a": 1, "log": "<think>no</think>"}', {"a": 1, "log": "<think>no</think>"}),
    ],
)
def test_drafts_are_dropped_and_tags_in_strings_stay_D13(reply: str, value: Any) -> None:  # noqa: N802
    assert extract_json(reply, schema=ANY).value == value


def test_what_a_constrained_engine_gives_is_validated_all_the_same_D14() -> None:  # noqa: N802
    result, _ = run(S1, "{}", GOOD, mode="schema")
    assert [a.outcome for a in result.attempts] == ["invalid", "ok"]


def test_a_refusal_without_text_is_a_refusal_D17() -> None:  # noqa: N802
    result, model = run(S1, Completion("", "stop", refusal="I will not."), GOOD)
    assert (result.code, model.calls) == ("refused", 1)


def test_an_echoed_schema_is_left_out_or_named_D18() -> None:  # noqa: N802
    echo = json.dumps(S1)
    assert extract_json(f'{echo}\n{{"a": 1}}', schema=S1).value == {"a": 1}
    assert extract_json(echo, schema=S1).outcome == "schema_echo"


@pytest.mark.parametrize(
    "reply", ['{"score": NaN}', 'Here: {"score": NaN} ok', f'{FENCE}json\n{{"score": NaN}}\n{FENCE}']
)
def test_every_path_refuses_what_is_no_number_D19(reply: str) -> None:  # noqa: N802
    found = extract_json(reply, schema=ANY)
    assert found.outcome == "syntax"
    assert "non_finite" in {d.code for d in found.diagnostics}


def test_two_different_verdicts_are_reported_D19() -> None:  # noqa: N802
    found = extract_json('{"ok": true} {"ok": false}', schema=ANY)
    assert "ambiguous" in {d.code for d in found.diagnostics}


def test_tokens_of_all_calls_are_counted_D20() -> None:  # noqa: N802
    result, _ = run(S1, *[used(BAD, 10, 1)] * 3, used(GOOD, 10, 1), max_repairs=3)
    assert result.record.usage == Usage(40, 4)


def test_the_default_repair_prompt_works_from_end_to_end_D21() -> None:  # noqa: N802
    result, model = run(S1, BAD, GOOD)
    assert result.success
    assert "Thing" in model.sent[1][2].text()


def test_one_missing_brace_is_named_and_can_be_mended_D22() -> None:  # noqa: N802
    assert "unclosed" in {d.code for d in extract_json('{"k":"v"', schema=ANY).diagnostics}
    assert extract_json('{"k":"v"', schema=ANY, lenient=True).edits[0].replacement == "}"


def test_an_array_of_one_object_is_not_unwrapped_in_secret() -> None:
    found = extract_json('[{"a": 1}]', schema=S1)
    assert found.outcome == "invalid"
    assert found.value == [{"a": 1}]
