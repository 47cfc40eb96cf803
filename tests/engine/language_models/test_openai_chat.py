"""Chat completions: what is sent, what is understood, what is refused, what a server need not know."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx
import pytest

from tests.engine.language_models.helpers import BASE, HELLO, Play, complete, opened, sse, using
from tests.engine.loopback import Received, Server, serve
from workbench.engine.language_models import (
    LanguageModelError,
    Message,
    ToolCall,
    Usage,
    json_schema_format,
    open_language_model,
)
from workbench.engine.model_settings import ModelSettings
from workbench.engine.secrets import Secrets
from workbench.engine.tools.definitions import ToolDefinition


def chat(content: Any = "hi", finish: Any = "stop", usage: Any = None, **message: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "model": "m-2026",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
    }
    return answer if usage is None else {**answer, "usage": usage}


def failure(play: Play, **options: Any) -> LanguageModelError:
    with pytest.raises(LanguageModelError) as caught:
        complete(opened(play), **options)
    return caught.value


def test_a_plain_request_has_model_messages_and_temperature_zero() -> None:
    play = Play(chat())
    done = complete(opened(play), [Message("system", "be brief"), Message("user", "hello")])
    assert str(play.requests[0].url) == BASE + "/chat/completions"
    assert play.bodies == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}],
            "temperature": 0.0,
        }
    ]
    assert (done.text, done.finish_reason, done.model, done.recorded) == ("hi", "stop", "m-2026", False)
    assert "authorization" not in play.requests[0].headers


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://localhost:1234", "http://localhost:1234/v1/chat/completions"),
        ("http://localhost:1234/v1/", "http://localhost:1234/v1/chat/completions"),
        ("http://localhost:1234/v1/chat/completions", "http://localhost:1234/v1/chat/completions"),
        ("https://h.example/v1/models", "https://h.example/v1/chat/completions"),
        ("https://h.example/inference/v1", "https://h.example/inference/v1/chat/completions"),
        (None, "https://api.openai.com/v1/chat/completions"),
    ],
)
def test_base_and_full_addresses_lead_to_the_endpoint(base_url: str | None, url: str) -> None:
    play = Play(chat())
    complete(opened(play, base_url=base_url))
    assert str(play.requests[0].url) == url


def test_options_of_the_project_reach_the_request() -> None:
    play = Play(chat())
    options: dict[str, Any] = {
        "temperature": 0.7,
        "seed": 3,
        "max_tokens": 50,
        "headers": {"X-Team": "a"},
        "body": {"top_p": 0.9},
    }
    complete(opened(play, **options), response_format=json_schema_format("Booking", {"type": "object"}))
    body = play.bodies[0]
    assert (body["temperature"], body["seed"], body["max_tokens"], body["top_p"]) == (0.7, 3, 50, 0.9)
    assert body["response_format"]["json_schema"] == {
        "name": "Booking",
        "schema": {"type": "object"},
        "strict": True,
    }
    assert play.requests[0].headers["x-team"] == "a"


def test_a_temperature_can_be_left_out_and_a_call_can_set_its_own_limit() -> None:
    play = Play(chat())
    complete(opened(play, temperature=False, max_tokens=50), max_tokens=7)
    assert "temperature" not in play.bodies[0]
    assert play.bodies[0]["max_tokens"] == 7


def test_tools_their_calls_and_their_results_travel() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    play = Play(chat(None, "tool_calls", tool_calls=[call]))
    tool = ToolDefinition(
        "weather", "Tells the weather.", '{"type": "object", "properties": {"city": {"type": "string"}}}'
    )
    conversation = [
        Message("user", "Weather in Oslo?"),
        Message("assistant", "", (ToolCall("c0", "weather", '{"city": "Oslo"}'),)),
        Message("tool", "rain", tool_call_id="c0"),
    ]
    done = complete(opened(play), conversation, tools=[tool])
    assert done.tool_calls == (ToolCall("c1", "weather", '{"city": "Rome"}'),)
    assert (done.text, done.finish_reason) == ("", "tool_calls")
    body = play.bodies[0]
    assert body["tools"][0]["function"]["parameters"]["properties"] == {"city": {"type": "string"}}
    assert body["messages"][1]["tool_calls"][0]["function"] == {
        "name": "weather",
        "arguments": '{"city": "Oslo"}',
    }
    assert body["messages"][2] == {"role": "tool", "content": "rain", "tool_call_id": "c0"}


def test_t46_a_refusal_is_an_answer_and_not_an_error() -> None:
    done = complete(opened(Play(chat(None, "stop", refusal="I cannot help with that."))))
    assert (done.text, done.refusal) == ("", "I cannot help with that.")


def test_a_filtered_answer_is_a_refusal() -> None:
    done = complete(opened(Play(chat(None, "content_filter"))))
    assert done.finish_reason == "content_filter"
    assert done.refusal is not None


@pytest.mark.parametrize("content", ['{"a": [1, 2', None], ids=["text", "nothing"])
def test_t42_a_cut_answer_says_so(content: Any) -> None:
    done = complete(opened(Play(chat(content, "length"))))
    assert done.truncated
    assert done.text == (content or "")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5}, Usage(10, 5)),
        ({"prompt_tokens": 10}, Usage(10, None)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(0, 0)),
        (None, Usage(None, None)),
        ({"prompt_tokens": "10", "completion_tokens": True}, Usage(None, None)),
        ({"prompt_tokens": 10**30, "completion_tokens": -1}, Usage(None, None)),
        ([], Usage(None, None)),
    ],
    ids=str,
)
def test_t89_unknown_usage_is_not_zero(usage: Any, expected: Usage) -> None:
    assert complete(opened(Play(chat(usage=usage)))).usage == expected


def test_sums_of_usage_keep_what_is_unknown_unknown() -> None:
    assert Usage(10, 5) + Usage(20, 7) == Usage(30, 12)
    assert (Usage(10, 5) + Usage(None, 7)) == Usage(None, 12)
    assert Usage(1, None).total_tokens is None


@pytest.mark.parametrize(
    "answer",
    [
        {"choices": []},
        {"choices": [{"finish_reason": "stop", "message": None}]},
        chat(None),
        chat([{"type": "text", "text": "hi"}]),
        {"choices": "x"},
        [],
        "text",
        None,
        chat("x", tool_calls=[{"id": "1"}]),
    ],
    ids=[
        "no-choices",
        "message-null",
        "content-null",
        "content-list",
        "choices-text",
        "list",
        "text",
        "null",
        "nameless-call",
    ],
)
def test_t97_a_success_of_another_shape_is_one_request_and_an_error(answer: Any) -> None:
    play = Play(answer)
    with pytest.raises(LanguageModelError) as caught:
        complete(opened(play, max_retries=3))
    assert caught.value.kind == "bad_shape"
    assert BASE in caught.value.message
    assert len(play.requests) == 1


def test_an_error_in_the_dress_of_a_success_is_told() -> None:
    assert (
        "upstream is down" in failure(Play({"error": {"message": "upstream is down", "code": 502}})).message
    )


def test_t93_an_overloaded_server_is_asked_four_times() -> None:
    play = Play(httpx.Response(429, headers={"retry-after-ms": "1"}))
    settings = ModelSettings("chat", "openai", BASE, "m")
    with pytest.raises(LanguageModelError) as caught:
        complete(open_language_model(settings, transport=httpx.MockTransport(play)))
    assert (caught.value.kind, caught.value.status, len(play.requests)) == ("status", 429, 4)


def test_t96_a_wrong_key_is_asked_about_once_with_a_hint() -> None:
    play = Play(httpx.Response(401, json={"error": {"message": "Incorrect API key"}}))
    error = failure(play)
    assert len(play.requests) == 1
    assert (error.status, error.server_message) == (401, "Incorrect API key")
    assert error.hint is not None
    assert "secret" in error.hint


def test_the_chat_route_for_a_decision_model_has_a_hint() -> None:
    error = failure(Play(httpx.Response(400, json={"error": {"message": "jev-1 is a decisions model"}})))
    assert error.hint is not None
    assert "decision" in error.hint


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens.",
        "request (6031 tokens) exceeds the available context size",
        "prompt is too long: 300000 tokens",
    ],
)
def test_a_prompt_over_the_context_is_its_own_kind_of_error(said: str) -> None:
    assert failure(Play(httpx.Response(400, json={"error": {"message": said}}))).kind == "context"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html><title>Sign in</title></html>", "HTML page titled “Sign in”"),
        (b"", "empty body"),
        (b'{"choices": NaN}', "not valid JSON"),
    ],
)
def test_an_answer_that_is_no_json_names_the_address_and_what_it_is(body: bytes, words: str) -> None:
    error = failure(Play(httpx.Response(200, content=body)))
    assert error.kind == "bad_shape"
    assert words in error.message
    assert BASE in error.message


@pytest.mark.parametrize(
    ("said", "gone", "left"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'.",
            "max_tokens",
            "max_completion_tokens",
        ),
        (
            "Unsupported value: 'temperature' does not support 0.0 with this model.",
            "temperature",
            "max_tokens",
        ),
    ],
    ids=["limit", "temperature"],
)
def test_a_parameter_that_a_model_does_not_take_is_left_out_from_then_on(
    said: str, gone: str, left: str
) -> None:
    play = Play(httpx.Response(400, json={"error": {"message": said}}), chat())

    async def twice(model: Any) -> None:
        await model.complete(HELLO, max_tokens=9)
        await model.complete(HELLO, max_tokens=9)

    using(opened(play), twice)
    assert [gone in body for body in play.bodies] == [True, False, False]
    assert left in play.bodies[2]


def test_the_record_of_an_exchange_holds_request_and_reply_without_the_key() -> None:
    secrets = Secrets({})
    secrets.remember("k", "sk-very-secret", BASE)
    play = Play(chat("you said sk-very-secret"))
    settings = ModelSettings("chat", "openai", BASE, "m", secret="k")
    done = complete(open_language_model(settings, secrets=secrets, transport=httpx.MockTransport(play)))
    assert play.requests[0].headers["authorization"] == "Bearer sk-very-secret"
    assert done.exchange is not None
    assert done.exchange.request_body["model"] == "m"
    assert "sk-very-secret" not in str(done.exchange.to_json())


@pytest.mark.parametrize("streamed", [False, True])
def test_a_key_in_what_a_server_reports_within_an_answer_is_not_shown(streamed: bool) -> None:
    said = {"error": {"message": "no such key: sk-very-secret"}}
    secrets = Secrets({})
    secrets.remember("k", "sk-very-secret", BASE)
    settings = ModelSettings("chat", "openai", BASE, "m", secret="k", options={"max_retries": 0})
    play = Play(sse(said) if streamed else said)
    model = open_language_model(settings, secrets=secrets, transport=httpx.MockTransport(play))
    with pytest.raises(LanguageModelError) as caught:
        complete(model, on_delta=(lambda _: None) if streamed else None)
    error = caught.value
    assert "no such key: [secret k]" in error.message
    assert "sk-very-secret" not in f"{error.message} {error.server_message} {error.exchange}"


def test_azure_takes_its_key_in_its_own_header_and_no_model() -> None:
    base = "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"
    secrets = Secrets({})
    secrets.remember("az", "azure-key-1", base)
    play = Play(chat())
    settings = ModelSettings("chat", "openai", base, secret="az")
    complete(open_language_model(settings, secrets=secrets, transport=httpx.MockTransport(play)))
    assert str(play.requests[0].url) == base
    assert play.requests[0].headers["api-key"] == "azure-key-1"
    assert "authorization" not in play.requests[0].headers
    assert "model" not in play.bodies[0]


# ---- streams ----


def chunk(delta: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"model": "m-2026", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def test_a_stream_gives_pieces_and_the_same_completion() -> None:
    tail = {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}}
    play = Play(
        sse(
            chunk({"role": "assistant", "content": None}),
            chunk({"content": "he"}),
            chunk({"content": "y\u2028"}),
            chunk({}, "stop"),
            tail,
            b"[DONE]",
        )
    )
    pieces: list[str] = []
    done = complete(opened(play), on_delta=pieces.append)
    assert pieces == ["he", "y\u2028"]
    assert (done.text, done.finish_reason, done.usage, done.model) == (
        "hey\u2028",
        "stop",
        Usage(4, 2),
        "m-2026",
    )
    assert play.bodies[0]["stream"] is True
    assert play.bodies[0]["stream_options"] == {"include_usage": True}
    assert done.exchange is not None
    assert '"he"' in done.exchange.response_text


def test_comments_and_other_fields_of_a_stream_are_skipped() -> None:
    raw = (
        b": ping\n\nevent: x\r\ndata: "
        + sse(chunk({"content": "ok"}))[6:]
        + sse(chunk({}, "stop"), b"[DONE]")
    )
    assert complete(opened(Play(raw)), on_delta=lambda _: None).text == "ok"


def test_streamed_tool_calls_are_put_together_by_index() -> None:
    def part(index: int, **function: str) -> dict[str, Any]:
        return {"index": index, "id": f"c{index}" if "name" in function else None, "function": function}

    play = Play(
        sse(
            chunk({"tool_calls": [part(0, name="f", arguments="")]}),
            chunk({"tool_calls": [part(0, arguments='{"a"')]}),
            chunk({"tool_calls": [part(1, name="g", arguments="{}")]}),
            chunk({"tool_calls": [part(0, arguments=": 1}")]}),
            chunk({}, "tool_calls"),
            b"[DONE]",
        )
    )
    done = complete(opened(play), on_delta=lambda _: None)
    assert done.tool_calls == (ToolCall("c0", "f", '{"a": 1}'), ToolCall("c1", "g", "{}"))


def test_a_streamed_refusal_is_a_refusal() -> None:
    play = Play(sse(chunk({"refusal": "I "}), chunk({"refusal": "cannot."}), chunk({}, "stop"), b"[DONE]"))
    assert complete(opened(play), on_delta=lambda _: None).refusal == "I cannot."


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (sse(chunk({"content": "half"})), "broken_off"),
        (sse(b"{not json}"), "bad_shape"),
        (sse({"error": {"message": "overloaded"}}), "status"),
        (sse({"choices": 1}), "bad_shape"),
        (sse(chunk({"content": ["x"]})), "bad_shape"),
    ],
    ids=["cut", "no-json", "error", "no-choices", "no-text"],
)
def test_a_broken_stream_is_an_error(raw: bytes, kind: str) -> None:
    assert failure(Play(raw), on_delta=lambda _: None).kind == kind


def test_a_server_that_does_not_stream_is_understood() -> None:
    pieces: list[str] = []
    assert complete(opened(Play(chat("whole"))), on_delta=pieces.append).text == "whole"
    assert pieces == ["whole"]


def test_d14_a_stream_of_endless_blanks_is_cut() -> None:
    raw = sse(chunk({"content": "{"}), *(chunk({"content": "\n" * 50}) for _ in range(100)))
    done = complete(opened(Play(raw)), on_delta=lambda _: None)
    assert done.truncated
    assert len(done.text) < 1200


def test_t88_stopping_closes_the_connection_at_once() -> None:
    async def answer(
        request: Received, writer: asyncio.StreamWriter, server: Server, reader: asyncio.StreamReader
    ) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + sse(chunk({"content": "first"}))
        )
        await writer.drain()
        await reader.read()
        server.closed.set()

    async def run() -> None:
        async with serve(answer) as server:
            model = open_language_model(ModelSettings("chat", "openai", server.url + "/v1", "m"))
            arrived = asyncio.Event()
            task = asyncio.ensure_future(model.complete(HELLO, on_delta=lambda _: arrived.set()))
            await asyncio.wait_for(arrived.wait(), 20)
            began = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.monotonic() - began < 10  # the server would have kept silent for ever
            await asyncio.wait_for(server.closed.wait(), 20)
            await model.aclose()

    asyncio.run(run())


# ---- probing and describing ----


def test_a_probe_tells_what_was_seen() -> None:
    listed = {"data": [{"id": "m"}, {"id": "n"}]}
    stream = sse(chunk({"content": '{"ok"'}), chunk({"content": ": true}"}), chunk({}, "stop"), b"[DONE]")
    probe = using(opened(Play(listed, stream)), lambda model: model.probe())
    assert (probe.ok, probe.models, probe.json_schema, probe.streaming, probe.usage) == (
        True,
        ("m", "n"),
        True,
        True,
        False,
    )


def test_a_probe_of_a_server_without_schemas_tries_without() -> None:
    play = Play(httpx.Response(404), httpx.Response(400, json={"error": "response_format?"}), chat("Sure!"))
    probe = using(opened(play), lambda model: model.probe())
    assert (probe.ok, probe.models, probe.json_schema) == (True, None, False)
    assert "response_format" not in json.loads(play.requests[2].content)


def test_a_probe_of_a_server_that_is_down_tells_why() -> None:
    model = open_language_model(
        ModelSettings("chat", "openai", "http://127.0.0.1:9/v1", "m", options={"max_retries": 0})
    )
    probe = using(model, lambda m: m.probe())
    assert not probe.ok
    assert "127.0.0.1:9" in probe.message


def test_a_description_says_whether_what_is_asked_leaves_this_computer() -> None:
    here = using(opened(Play(chat()), base_url="http://localhost:1234/v1"), lambda m: m.describe())
    there = using(opened(Play(chat())), lambda m: m.describe())
    assert here.local
    assert not there.local
    assert BASE in there.one_line()
