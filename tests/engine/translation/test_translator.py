"""Attempts and conversation of the translator, driven by scripted models."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from tests.engine.translation.scripted import BAD, GOOD, S1, S2, S3, S4, ScriptedModel, roles, used
from workbench.engine.events import RunEvent
from workbench.engine.language_models import Completion, LanguageModelError, Message, ToolCall, Usage
from workbench.engine.schemas import SchemaError
from workbench.engine.translation import (
    Failure,
    JsonSchemaValidator,
    JsonTranslator,
    Success,
    TranslationError,
    get_data,
    pointer_diff,
    replay,
)


def translator(*script: Any, schema: Any = S1, **settings: Any) -> JsonTranslator:
    """Return a translator over a script."""
    return JsonTranslator(ScriptedModel(*script), JsonSchemaValidator(schema, "Thing"), **settings)


def run(t: JsonTranslator, request: str = "one please", preamble: Any = None, **more: Any) -> Any:
    """Translate and return the result."""
    return asyncio.run(t.translate(request, preamble, **more))


def test_a_good_reply_takes_one_call_T75() -> None:  # noqa: N802
    t = translator(GOOD)
    result = run(t)
    assert result == Success({"a": 1})
    assert [roles(sent) for sent in t.model.sent] == [["user"]]
    (attempt,) = result.attempts
    assert (attempt.number, attempt.outcome, attempt.reply, attempt.value) == (1, "ok", GOOD, {"a": 1})


def test_a_bad_reply_is_repaired_in_the_same_conversation_T76() -> None:  # noqa: N802
    prose = f"Here you are:\n{BAD}\nEnjoy!"
    t = translator(prose, GOOD)
    result = run(t)
    assert get_data(result) == {"a": 1}
    first, second = t.model.sent
    assert roles(second) == ["user", "assistant", "user"]
    assert second[0] == first[0]
    assert second[1].content == prose
    assert "/a" in second[2].text()
    assert [a.outcome for a in result.attempts] == ["invalid", "ok"]
    assert result.attempts[1].messages == tuple(second)


def test_two_bad_replies_fail_with_the_last_diagnostics_T77() -> None:  # noqa: N802
    result = run(translator(BAD, '{"b": 1}'))
    assert isinstance(result, Failure)
    assert result.code == "invalid"
    assert "'b'" in result.message or '"b"' in result.message
    assert '{"b": 1}' in result.message
    assert len(result.attempts) == 2
    assert result.attempts[0].diagnostics[0].pointer == "/a"
    with pytest.raises(TranslationError) as raised:
        get_data(result)
    assert str(raised.value) == result.message


def test_without_repair_there_is_one_call_T78() -> None:  # noqa: N802
    t = translator(BAD, GOOD, attempt_repair=False)
    result = run(t)
    assert (t.model.calls, result.success) == (1, False)
    assert BAD in result.message
    assert "/a" in result.message


@pytest.mark.parametrize(("profile", "calls", "outcome"), [("smart", 2, "ok"), ("compat", 1, "no_json")])
def test_prose_alone_is_repaired_T79(profile: Any, calls: int, outcome: str) -> None:  # noqa: N802
    t = translator("Let me think about it.", GOOD, profile=profile)
    result = run(t)
    assert t.model.calls == calls
    assert result.attempts[-1].outcome == outcome


@pytest.mark.parametrize(("history", "messages"), [("last", 3), ("all", 7)])
def test_the_history_is_bounded_unless_all_is_kept_T80(history: Any, messages: int) -> None:  # noqa: N802
    t = translator(BAD, BAD, BAD, GOOD, max_repairs=3, history=history)
    assert run(t).success
    assert t.model.calls == 4
    assert len(t.model.sent[3]) == messages


def test_preambles_go_in_front_and_stay_as_they_are_T81() -> None:  # noqa: N802
    t = translator(GOOD)
    run(t, preamble="Be brief.")
    assert next((m.role, m.content) for m in t.model.sent[0]) == ("user", "Be brief.")
    sections = [{"role": "system", "content": "S"}, Message("assistant", "A")]
    before = list(sections)
    t = translator(BAD, GOOD)
    run(t, preamble=sections)
    assert roles(t.model.sent[1]) == ["system", "assistant", "user", "assistant", "user"]
    assert sections == before


@pytest.mark.parametrize(("profile", "count"), [("smart", 1), ("strict", 1), ("compat", 2)])
def test_an_empty_preamble_is_no_message_except_in_compat(profile: Any, count: int) -> None:
    t = translator(GOOD, profile=profile)
    run(t, preamble="")
    assert len(t.model.sent[0]) == count


def test_what_a_plain_model_fails_with_comes_back_unchanged_T83() -> None:  # noqa: N802
    class Plain:
        async def complete(self, prompt: Any) -> Any:
            return Failure("REST API error 500: out of order")

    result = run(JsonTranslator(Plain(), JsonSchemaValidator(S1)))
    assert (result.message, result.code) == ("REST API error 500: out of order", "model_error")
    assert [a.outcome for a in result.attempts] == ["model_error"]


def test_a_plain_model_that_succeeds_with_a_text_will_do() -> None:
    class Plain:
        async def complete(self, prompt: Any) -> Any:
            assert prompt[-1].role == "user"
            return Success(GOOD)

    assert run(JsonTranslator(Plain(), JsonSchemaValidator(S1))).data == {"a": 1}


def test_a_model_that_fails_later_leaves_the_first_attempt_T84() -> None:  # noqa: N802
    result = run(translator(BAD, LanguageModelError("status", "HTTP 503", hint="Try later.")))
    assert (result.code, result.message) == ("model_error", "HTTP 503")
    assert [a.outcome for a in result.attempts] == ["invalid", "model_error"]
    assert result.attempts[0].diagnostics[0].pointer == "/a"


def test_assignments_reach_the_next_run_and_not_this_one_T85() -> None:  # noqa: N802
    other = ScriptedModel('{"a": 2}', BAD, GOOD)
    t = translator(BAD, GOOD)

    def meddle(event: RunEvent) -> None:
        if event.kind == "sent":
            t.attempt_repair = False
            t.model = other

    t.on_event = meddle
    assert run(t).data == {"a": 1}
    assert run(t).data == {"a": 2}
    assert not run(t).success  # the repair is off now


def test_a_cut_reply_is_asked_for_again_with_more_room_T87() -> None:  # noqa: N802
    t = translator(Completion('{"a": [1, 2', "length"), GOOD)
    t.max_tokens, t.token_ramp = 50, 2
    result = run(t)
    assert result.success
    assert [a.outcome for a in result.attempts] == ["truncated", "ok"]
    assert [o["max_tokens"] for o in t.model.options] == [50, 100]
    assert t.model.sent[0] == t.model.sent[1]


def test_a_cut_reply_is_not_repaired_by_default_T42() -> None:  # noqa: N802
    t = translator(Completion('{"a": [1, 2', "length"), GOOD)
    result = run(t)
    assert (t.model.calls, result.code) == (1, "truncated")
    assert result.attempts[0].partial == {"a": [1]}


def test_a_refusal_is_not_repaired_T46() -> None:  # noqa: N802
    t = translator(Completion("I cannot help with that.", "stop", refusal="against the rules"), GOOD)
    result = run(t)
    assert (t.model.calls, result.code) == (1, "refused")
    assert "against the rules" in result.message


def test_an_empty_reply_is_repaired_without_an_empty_turn_T45() -> None:  # noqa: N802
    t = translator("", GOOD)
    assert run(t).success
    assert roles(t.model.sent[1]) == ["user", "user"]


@pytest.mark.parametrize("kind", ["asyncio", "threading"])
def test_cancel_ends_the_run_at_once_and_keeps_the_attempts_T88(kind: str) -> None:  # noqa: N802
    import threading

    async def scene() -> tuple[Any, float]:
        t = translator(BAD, 30.0, GOOD)
        cancel: Any = asyncio.Event() if kind == "asyncio" else threading.Event()
        task = asyncio.ensure_future(t.translate("x", cancel=cancel))
        await asyncio.sleep(0.1)
        began = time.monotonic()
        cancel.set()
        return await task, time.monotonic() - began

    result, seconds = asyncio.run(scene())
    assert seconds < 10  # of the 30 s that the model would have taken
    assert result.code == "cancelled"
    assert [a.outcome for a in result.attempts] == ["invalid", "cancelled"]


def test_cancelling_the_task_is_told_in_the_events_T88() -> None:  # noqa: N802
    events: list[RunEvent] = []

    async def scene() -> None:
        t = translator(BAD, 30.0, GOOD, on_event=events.append)
        task = asyncio.ensure_future(t.translate("x"))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())
    record = replay(events)
    assert record.outcome == "cancelled"
    assert [a.outcome for a in record.attempts] == ["invalid", "cancelled"]


def test_usage_is_summed_and_kept_per_attempt_T89() -> None:  # noqa: N802
    result = run(translator(used(BAD, 10, 5), used(GOOD, 20, 7)))
    assert result.record.usage == Usage(30, 12)
    assert [a.usage for a in result.attempts] == [Usage(10, 5), Usage(20, 7)]
    result = run(translator(BAD, used(GOOD, 20, 7)))
    assert result.record.usage == Usage(None, None)
    assert result.attempts[0].usage is None
    assert run(translator(GOOD)).record.usage is None


def test_what_the_repair_changed_is_told_by_pointer_T91() -> None:  # noqa: N802
    result = run(translator(BAD, GOOD))
    (change,) = result.record.changes(1, 2)
    assert (change.kind, change.pointer, change.before, change.after) == ("changed", "/a", "one", 1)
    assert pointer_diff(result.attempts[0].value, result.attempts[1].value) == [change]


def test_runs_at_the_same_time_share_nothing_T92() -> None:  # noqa: N802
    class Echo:
        async def complete(self, messages: Any) -> str:
            await asyncio.sleep(0.01)
            if len(messages) == 1:
                return BAD
            return '{"a": 1}' if "first" in messages[0].text() else '{"a": 2}'

    async def scene() -> list[Any]:
        t = JsonTranslator(Echo(), JsonSchemaValidator(S1))
        return await asyncio.gather(t.translate("first"), t.translate("second"))

    first, second = asyncio.run(scene())
    assert (first.data, second.data) == ({"a": 1}, {"a": 2})
    assert "second" not in first.attempts[1].messages[0].text()


# --- validation and hooks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strip", "outcome", "removed"),
    [
        pytest.param(False, "invalid", (), id="T52"),
        pytest.param(True, "invalid", ("/nick", "/status"), id="T53"),
        pytest.param("schema", "ok", ("/nick",), id="T54"),
    ],
)
def test_nulls_are_stripped_as_asked(strip: Any, outcome: str, removed: tuple[str, ...]) -> None:
    reply = '{"name":"x","nick":null,"status":null}'
    result = run(translator(reply, schema=S4, strip_nulls=strip, attempt_repair=False))
    (attempt,) = result.attempts
    assert (attempt.outcome, attempt.removed_nulls) == (outcome, removed)
    if strip is False:
        assert [d.pointer for d in attempt.diagnostics] == ["/nick"]
    if strip is True:
        assert [d.keyword for d in attempt.diagnostics] == ["required"]


def test_nulls_may_stay_where_the_value_is_valid_with_them() -> None:
    t = translator('{"name":"x","status":null}', schema=S4, strip_nulls=True)
    t.try_unstripped_first = True
    assert run(t).data == {"name": "x", "status": None}


def test_the_repair_conversation_keeps_the_reply_with_its_nulls() -> None:
    reply = '{"name":"x","status":null}'
    t = translator(reply, '{"name":"x","status":"y"}', schema=S4, strip_nulls=True)
    assert run(t).success
    assert t.model.sent[1][1].content == reply


def test_a_wrong_schema_never_reaches_the_model_T68() -> None:  # noqa: N802
    for schema in ({"type": "strin"}, {"$ref": "#/$defs/nothing"}, '{"type": '):
        with pytest.raises(SchemaError):
            JsonSchemaValidator(schema)


def test_a_rejected_instance_is_repaired_with_its_message_T72() -> None:  # noqa: N802
    t = translator(GOOD, '{"a": 2}')
    t.validate_instance = lambda value: Success(value) if value["a"] > 1 else Failure("a must exceed one")
    result = run(t)
    assert [a.outcome for a in result.attempts] == ["instance_rejected", "ok"]
    assert "a must exceed one" in t.model.sent[1][2].text()


def test_a_replaced_instance_is_the_result_T73() -> None:  # noqa: N802
    t = translator(GOOD)

    async def replace_it(value: Any) -> Success[Any]:
        return Success({**value, "b": 2})

    t.validate_instance = replace_it
    result = run(t)
    assert result.data == {"a": 1, "b": 2}
    assert result.record.value == {"a": 1, "b": 2}
    assert result.attempts[0].value == {"a": 1}


def raises(*_: Any) -> Any:
    raise RuntimeError("a bug of the caller")


@pytest.mark.parametrize(
    ("hook", "calls"),
    [
        pytest.param("validate_instance", 1, id="T74"),
        pytest.param("create_request_prompt", 0, id="request prompt"),
        pytest.param("create_repair_prompt", 1, id="repair prompt"),
    ],
)
def test_a_hook_that_raises_ends_the_run_and_keeps_the_attempts(hook: str, calls: int) -> None:
    t = translator(BAD if hook == "create_repair_prompt" else GOOD, GOOD)
    setattr(t, hook, raises)
    result = run(t)
    assert result.code == "hook_error"
    assert hook in result.message
    assert "a bug of the caller" in result.message
    assert t.model.calls == calls
    assert result.attempts[-1].outcome == "hook_error"


def test_a_validator_that_raises_is_a_hook_error() -> None:
    class Validator:
        type_name = "Thing"

        def schema_text(self) -> str:
            return "a thing"

        def validate(self, value: Any) -> Any:
            raise RuntimeError("broken validator")

    result = run(JsonTranslator(ScriptedModel(GOOD), Validator()))
    assert result.code == "hook_error"


def test_a_validator_of_ones_own_may_replace_the_value() -> None:
    class Validator:
        type_name = "Thing"

        def schema_text(self) -> str:
            return "a thing"

        def validate(self, value: Any) -> Any:
            return Success(value["a"]) if value.get("a") else Failure("a is missing")

    t = JsonTranslator(ScriptedModel("{}", GOOD), Validator())
    result = run(t)
    assert result.data == 1
    assert "a is missing" in t.model.sent[1][2].text()
    assert "a thing" in t.model.sent[0][0].text()


def test_events_that_raise_do_not_break_the_run() -> None:
    assert run(translator(GOOD, on_event=raises)).success


def test_asynchronous_listeners_have_heard_everything_when_the_run_ends() -> None:
    heard: list[str] = []

    async def listen(event: RunEvent) -> None:
        await asyncio.sleep(0.01)
        heard.append(event.kind)

    run(translator(GOOD, on_event=listen))
    assert heard[0] == "started"
    assert heard[-1] == "finished"


def test_builders_may_look_at_the_context() -> None:
    t = translator(BAD, GOOD)
    t.create_request_prompt = lambda request, context: f"{context.type_name}/{context.attempt}: {request}"
    t.create_repair_prompt = lambda error, context: f"{context.attempt} {context.outcome} {context.json_text}"
    run(t)
    assert t.model.sent[0][0].content == "Thing/1: one please"
    assert t.model.sent[1][2].content == f"2 invalid {BAD}"


def test_a_request_prompt_may_consist_of_parts() -> None:
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    t = translator(GOOD)
    t.create_request_prompt = lambda request: parts
    result = run(t)
    assert t.model.sent[0][0].content == tuple(parts)
    assert result.attempts[0].messages[0].content == tuple(parts)


# --- limits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "calls"),
    [
        pytest.param({"calls": 2}, 2, id="calls"),
        pytest.param({"tokens": 40}, 3, id="tokens"),
    ],
)
def test_a_budget_ends_the_run_before_the_next_call(budget: dict[str, float], calls: int) -> None:
    t = translator(*[used(BAD, 10, 5)] * 9, max_repairs=8, budget=budget)
    result = run(t)
    assert (t.model.calls, result.code) == (calls, "budget")
    assert all(a.outcome == "invalid" for a in result.attempts)


def test_the_time_of_the_budget_covers_the_call_that_runs() -> None:
    t = translator(30.0, GOOD, budget={"seconds": 0.1})
    began = time.monotonic()
    result = run(t)
    assert (result.code, result.attempts[0].outcome) == ("budget", "budget")
    assert time.monotonic() - began < 15  # of the 30 s that the model would have taken


def test_a_run_without_progress_ends_when_asked_to() -> None:
    t = translator(BAD, BAD, GOOD, max_repairs=5)
    t.stop_without_progress = True
    result = run(t)
    assert (t.model.calls, result.code) == (2, "no_progress")


def test_a_reply_that_runs_into_white_space_is_stopped_D14() -> None:  # noqa: N802
    class Endless:
        name = "endless"

        async def complete(self, messages: Any, *, on_delta: Any = None) -> Completion:
            on_delta('{"a": ')
            while True:
                on_delta(" " * 500)
                await asyncio.sleep(0)

    result = run(JsonTranslator(Endless(), JsonSchemaValidator(S1), on_event=lambda event: None))
    assert result.code == "truncated"


# --- modes --------------------------------------------------------------------------------------------------


def test_the_json_mode_asks_for_an_object() -> None:
    t = translator(GOOD, mode="json")
    run(t)
    assert t.model.options[0]["response_format"] == {"type": "json_object"}


def test_the_schema_mode_sends_a_strict_schema_and_takes_back_its_nulls() -> None:
    t = translator('{"name": "x", "nick": null, "status": null}', schema=S4, mode="schema")
    result = run(t)
    sent = t.model.options[0]["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["required"] == ["name", "nick", "status"]
    assert sent["schema"]["properties"]["nick"]["type"] == ["string", "null"]
    assert result.data == {"name": "x", "status": None}
    assert result.attempts[0].removed_nulls == ("/nick",)


@pytest.mark.parametrize("reply", ['{"value": [{"a": 1}]}', '[{"a": 1}]'])
def test_a_root_array_travels_in_an_object_and_comes_back(reply: str) -> None:
    t = translator(reply, schema=S3, mode="schema")
    assert run(t).data == [{"a": 1}]
    schema = t.model.options[0]["response_format"]["json_schema"]["schema"]
    assert (schema["type"], list(schema["properties"])) == ("object", ["value"])


def test_a_schema_that_strict_mode_refuses_goes_as_it_is() -> None:
    schema = {"type": "object", "patternProperties": {"^x": {"type": "string"}}}
    t = translator("{}", schema=schema, mode="schema")
    assert run(t).success
    sent = t.model.options[0]["response_format"]["json_schema"]
    assert (sent["strict"], sent["schema"]) == (False, schema)


def test_the_tool_mode_reads_the_arguments_of_the_call() -> None:
    call = ToolCall("1", "Thing", GOOD)
    t = translator(Completion("", "tool_calls", tool_calls=(call,)), mode="tool")
    result = run(t)
    assert result.data == {"a": 1}
    assert t.model.options[0]["tools"][0]["function"]["name"] == "Thing"
    assert result.attempts[0].tool_calls == (call,)


@pytest.mark.parametrize(
    ("name", "value"), [("profile", "wild"), ("mode", "guess"), ("history", "some"), ("strip_nulls", "few")]
)
def test_a_setting_that_cannot_be_is_refused(name: str, value: str) -> None:
    t = translator(GOOD)
    setattr(t, name, value)
    with pytest.raises(ValueError, match=name):
        run(t)


def test_the_schema_may_go_into_a_system_message() -> None:
    t = translator(GOOD)
    t.schema_in_system = True
    run(t, preamble="P")
    assert roles(t.model.sent[0]) == ["system", "user", "user"]
    assert "Thing" in t.model.sent[0][0].text()
    assert "one please" not in t.model.sent[0][0].text()


def test_repairs_may_go_to_another_model() -> None:
    other = ScriptedModel(GOOD)
    t = translator(BAD, repair_model=other)
    assert run(t).success
    assert (t.model.calls, other.calls) == (1, 1)


# --- going on from an attempt -------------------------------------------------------------------------------


def test_a_run_can_go_on_from_an_edited_reply() -> None:
    first = run(translator(BAD, BAD))
    t = translator(GOOD)
    result = asyncio.run(t.continue_from(first.attempts[0], reply='{"a": "two"}', repair_prompt="Mend it."))
    assert result.data == {"a": 1}
    assert [m.content for m in t.model.sent[0][1:]] == ['{"a": "two"}', "Mend it."]
    assert [a.edited for a in result.attempts] == [True, False]


def test_a_run_can_go_on_with_todays_schema_and_no_call() -> None:
    first = run(translator('{"log": "x"}', BAD))
    t = translator(schema=S2)
    assert asyncio.run(t.continue_from(first.attempts[0])).data == {"log": "x"}
    assert t.model.calls == 0
