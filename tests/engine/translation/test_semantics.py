"""The profile `compat` against the tables of what TypeChat does: each test is a row of the translator, the nulls, the validator."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.engine.translation.scripted import BAD, GOOD, S1, S2, S3, S4, S7, ScriptedModel, roles
from workbench.engine.language_models import Completion, LanguageModelError, Message
from workbench.engine.translation import (
    Failure,
    JsonSchemaValidator,
    JsonTranslator,
    Success,
    TranslationError,
    get_data,
    strip_nulls,
)


def compat(*script: Any, schema: Any = S1, **settings: Any) -> JsonTranslator:
    return JsonTranslator(
        ScriptedModel(*script), JsonSchemaValidator(schema, "Thing"), profile="compat", **settings
    )


def run(t: JsonTranslator, preamble: Any = None, request: str = "one please") -> Any:
    return asyncio.run(t.translate(request, preamble))


# -- the translator

DEFAULTS = [
    pytest.param("attempt_repair", True, id="A1.3"),
    pytest.param("strip_nulls", False, id="A1.1 strip nulls"),
    pytest.param("max_repairs", 1, id="A1.3 repairs"),
]


@pytest.mark.parametrize(("name", "value"), DEFAULTS)
def test_the_defaults_are_those_of_the_page(name: str, value: Any) -> None:
    assert getattr(compat(), name) == value


@pytest.mark.parametrize(
    "name",
    ["model", "validator", "attempt_repair", "strip_nulls", "create_request_prompt", "create_repair_prompt", "validate_instance"],
)  # fmt: skip
def test_A1_1_every_member_can_be_assigned(name: str) -> None:  # noqa: N802
    t = compat(GOOD)
    setattr(t, name, getattr(t, name))
    assert run(t).success


def test_A1_2_a_model_that_is_assigned_later_answers_from_then_on() -> None:  # noqa: N802
    t = compat(BAD, BAD)
    t.model = ScriptedModel(GOOD)
    assert run(t).data == {"a": 1}


@pytest.mark.parametrize(
    ("settings", "calls"),
    [
        pytest.param({}, 2, id="A1.3 default"),
        pytest.param({"attempt_repair": False}, 1, id="A1.3 off"),
        pytest.param({"max_repairs": 9}, 2, id="A1.3 never more than two"),
        pytest.param({"max_repairs": -3}, 1, id="A1.3 negative"),
    ],
)
def test_A1_3_there_are_two_calls_at_most(settings: Any, calls: int) -> None:  # noqa: N802
    t = compat(BAD, BAD, BAD, **settings)
    assert not run(t).success
    assert t.model.calls == calls


PREAMBLES: list[Any] = [
    pytest.param(None, [], id="A1.4 none"),
    pytest.param("Be brief.", [("user", "Be brief.")], id="A1.4 text"),
    pytest.param("", [("user", "")], id="A1.4 empty text"),
    pytest.param([{"role": "system", "content": "S"}, Message("assistant", "A")], [("system", "S"), ("assistant", "A")], id="A1.5 sections"),
    pytest.param([], [], id="A1.4 empty list"),
]  # fmt: skip


@pytest.mark.parametrize(("preamble", "front"), PREAMBLES)
def test_A1_4_the_preamble_goes_in_front(preamble: Any, front: Sequence[tuple[str, str]]) -> None:  # noqa: N802
    before = list(preamble) if isinstance(preamble, list) else preamble
    t = compat(GOOD)
    run(t, preamble)
    assert [(message.role, message.text()) for message in t.model.sent[0][:-1]] == list(front)
    assert t.model.sent[0][-1].role == "user"
    assert preamble == before


def test_A1_6_the_request_prompt_has_its_five_parts_in_order() -> None:  # noqa: N802
    t = compat(GOOD)
    run(t, request="two tables")
    text = t.model.sent[0][0].text()
    parts = [
        "Thing",
        "```",
        json.dumps(S1, indent=2),
        "```",
        '"""',
        "two tables",
        '"""',
        "indented with 2 spaces",
    ]
    at = -1
    for part in parts:
        at = text.find(part, at + 1)
        assert at >= 0, part
    assert text.endswith("\n")


def test_A1_7_a_request_prompt_may_be_parts() -> None:  # noqa: N802
    t = compat(GOOD)
    parts = [
        {"type": "text", "text": "what is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    ]
    t.create_request_prompt = lambda _request: parts
    assert run(t).success
    assert t.model.sent[0][0].content == tuple(parts)


def test_A1_8_the_request_prompt_is_built_once_and_the_repair_prompt_each_time() -> None:  # noqa: N802
    built: list[str] = []
    t = compat(BAD, BAD)
    t.create_request_prompt = lambda request: built.append(f"request {request}") or "R"
    t.create_repair_prompt = lambda error: built.append("repair") or f"Mend: {error}"
    run(t, request="x")
    assert built == ["request x", "repair"]
    assert t.model.sent[1][-1].text().startswith("Mend: ")


FAILURES = [
    pytest.param("only words", "only words", id="A1.10"),
    pytest.param('{"a": 1,}', "comma", id="A1.11"),
    pytest.param('so {"a": x} it is', "line 1", id="A1.11 in prose"),
]


@pytest.mark.parametrize(("reply", "word"), FAILURES)
def test_A1_10_what_is_no_json_ends_the_run(reply: str, word: str) -> None:  # noqa: N802
    t = compat(reply, GOOD)
    result = run(t)
    assert isinstance(result, Failure)
    assert word in result.message
    assert t.model.calls == 1


def test_A1_13_nulls_go_before_the_schema_and_the_instance_is_looked_at_last() -> None:  # noqa: N802
    seen: list[Any] = []
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    t = compat('{"a": null}', schema=schema, strip_nulls=True)
    t.validate_instance = lambda value: seen.append(value) or Success(value)
    assert run(t).data == {}
    assert seen == [{}]
    t = compat(BAD, BAD)
    t.validate_instance = lambda value: seen.append("asked") or Success(value)
    run(t)
    assert "asked" not in seen


def test_A1_14_the_instance_may_be_replaced_or_refused() -> None:  # noqa: N802
    t = compat(GOOD)
    t.validate_instance = lambda value: Success({**value, "checked": True})
    assert run(t).data == {"a": 1, "checked": True}
    t = compat(GOOD, '{"a": 2}')
    t.validate_instance = lambda value: Success(value) if value["a"] > 1 else Failure("a must be more than 1")
    assert run(t).data == {"a": 2}
    assert "a must be more than 1" in t.model.sent[1][-1].text()


def test_A1_16_the_failure_holds_the_last_message_and_the_last_json_unstripped() -> None:  # noqa: N802
    last = '{"a": "two", "n": null}'
    result = run(compat(f"First: {BAD}", f"Then: {last} bye", strip_nulls=True))
    assert result.message.endswith("\n" + last)
    assert "two" in result.message
    assert "one" not in result.message
    with pytest.raises(TranslationError, match="two"):
        get_data(result)


def test_A1_17_the_conversation_grows_by_the_whole_reply_and_the_repair() -> None:  # noqa: N802
    reply = f"Here:\n{BAD}\nEnjoy"
    t = compat(reply, GOOD)
    run(t, "Before.")
    first, second = t.model.sent
    assert second[:2] == first
    assert roles(second) == ["user", "user", "assistant", "user"]
    assert second[2].text() == reply


@pytest.mark.parametrize("script", [[LanguageModelError("status", "HTTP 500")], [BAD, LanguageModelError("status", "HTTP 500")]], ids=["A1.18 first", "A1.18 second"])  # fmt: skip
def test_A1_18_a_failure_of_the_model_comes_back_unchanged(script: list[Any]) -> None:  # noqa: N802
    result = run(compat(*script))
    assert (result.message, result.code) == ("HTTP 500", "model_error")


def test_A1_20_results_tell_success_and_give_data_or_raise() -> None:  # noqa: N802
    good, bad = run(compat(GOOD)), run(compat("words"))
    assert (good.success, good.data) == (True, {"a": 1})
    assert (bad.success, get_data(good)) == (False, {"a": 1})


@pytest.mark.parametrize(
    ("reply", "schema", "data"),
    [
        pytest.param('[{"a":1}]', S1, {"a": 1}, id="A1.21 the wrapper is lost"),
        pytest.param('[{"a":1}]', S3, None, id="A1.21 a root list cannot be"),
        pytest.param('[{"a":1},{"a":2}]', S3, None, id="A1.21 nor two in a list"),
        pytest.param("7", {"type": "integer"}, None, id="A1.21 nor a number"),
    ],
)
def test_A1_21_the_root_is_always_an_object(reply: str, schema: Any, data: Any) -> None:  # noqa: N802
    result = run(compat(reply, reply, schema=schema))
    assert (result.data if result.success else None) == data


def test_A1_22_refusals_and_lengths_are_not_looked_at() -> None:  # noqa: N802
    assert run(compat(Completion(GOOD, "length"))).success
    assert run(compat(Completion(GOOD, "stop", refusal="no"))).success


# -- nulls

NULLS = [
    pytest.param({"a": None, "b": 1}, {"b": 1}, id="A3.1"),
    pytest.param({"o": {"x": None}}, {"o": {}}, id="A3.2"),
    pytest.param({"l": [1, None, 2]}, {"l": [1, 2]}, id="A3.3"),
    pytest.param({"l": [None]}, {"l": []}, id="A3.4"),
    pytest.param({"l": [{"x": None}]}, {"l": [{}]}, id="A3.5"),
    pytest.param({"l": [[None, 1]]}, {"l": [[1]]}, id="A3.6"),
    # There, a hole stays in the inner list; here none does.
    pytest.param({"l": [None, [None, 1]]}, {"l": [[1]]}, id="A3.7"),
    pytest.param(
        {"l": [None, [None, [None, None]], {"x": [None]}]}, {"l": [[[]], {"x": []}]}, id="A3.7 deeper"
    ),
]


@pytest.mark.parametrize(("value", "stripped"), NULLS)
def test_nulls_are_taken_out_before_the_value_is_checked(value: Any, stripped: Any) -> None:
    assert strip_nulls(value, mode="all")[0] == stripped
    result = run(compat(json.dumps(value), schema={"type": "object"}, strip_nulls=True))
    assert result.data == stripped


def test_A3_8_a_member_that_is_required_and_may_be_null_goes_too() -> None:  # noqa: N802
    reply = '{"name":"x","nick":null,"status":null}'
    result = run(compat(reply, reply, schema=S4, strip_nulls=True))
    assert not result.success
    assert result.attempts[0].removed_nulls == ("/nick", "/status")
    assert [(each.pointer, each.expected) for each in result.attempts[0].diagnostics] == [("", ["status"])]


def test_A3_9_a_root_that_is_a_list_or_null_is_never_stripped() -> None:  # noqa: N802
    for reply in ("null", "[null]"):
        assert run(compat(reply, schema=S7, strip_nulls=True)).code == "no_json"


def test_A3_10_the_conversation_keeps_the_reply_as_it_came() -> None:  # noqa: N802
    reply = '{"a": "one", "n": null}'
    t = compat(reply, GOOD, strip_nulls=True)
    run(t)
    assert t.model.sent[1][1].text() == reply


# -- the validator

VALIDATION = [
    pytest.param(
        '{"a": 1, "b": 2}', S1, ["/b"], id="A5.2 further members are refused where the schema says so"
    ),
    pytest.param('{"log": "x", "b": 2}', S2, [], id="A5.2 and kept where it does not"),
    pytest.param('{"a": "1"}', S1, ["/a"], id="A5.5 no coercion of text"),
    pytest.param('{"a": true}', S1, ["/a"], id="A5.5 no coercion of booleans"),
    pytest.param('{"a": 1.0}', S1, [], id="A5.5 1.0 is an integer"),
]


@pytest.mark.parametrize(("reply", "schema", "pointers"), VALIDATION)
def test_the_schema_decides(reply: str, schema: Any, pointers: list[str]) -> None:
    result = run(compat(reply, reply, schema=schema))
    assert [each.pointer for each in result.attempts[0].diagnostics] == pointers
    if result.success:
        assert result.data == json.loads(reply)


def test_A5_4_a_long_list_of_missing_members_is_told_whole() -> None:  # noqa: N802
    names = [f"member{number}" for number in range(8)]
    t = compat("{}", "{}", schema={"type": "object", "required": names})
    run(t)
    assert all(name in t.model.sent[1][-1].text() for name in names)


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "strng"}, id="A5.6 keyword"),
        pytest.param({"$ref": "#/$defs/x"}, id="A5.6 reference"),
        pytest.param({"$schema": "http://json-schema.org/draft-03/schema#"}, id="A5.6 draft"),
    ],
)
def test_a_mistake_in_the_schema_is_never_blamed_on_the_model(schema: Any) -> None:
    with pytest.raises(ValueError):
        compat(GOOD, schema=schema)
