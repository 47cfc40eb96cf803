"""Responses, Anthropic and Ollama: the same questions and answers in other words."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.engine.language_models.helpers import HELLO, Play, complete, opened, sse, using
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

TOOL = ToolDefinition("weather", "Tells the weather.", '{"type": "object"}')
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
CONVERSATION = [
    Message("system", "be brief"),
    Message("user", ({"type": "text", "text": "look"}, IMAGE)),
    Message("assistant", "", (ToolCall("c0", "weather", '{"city": "Oslo"}'),)),
    Message("tool", "rain", tool_call_id="c0"),
]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


def failure(play: Play, provider: str, **options: Any) -> LanguageModelError:
    with pytest.raises(LanguageModelError) as caught:
        complete(opened(play, provider), **options)
    return caught.value


# ---- Responses ----


def response(*output: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"model": "m-2026", "status": status, "output": list(output), **more}


def text_item(*texts: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text} for text in texts],
    }


def test_responses_sends_input_items_and_stores_nothing() -> None:
    play = Play(response(text_item("ok")))
    complete(
        opened(play, "openai-responses"),
        CONVERSATION,
        tools=[TOOL],
        max_tokens=9,
        response_format=json_schema_format("T", SCHEMA),
    )
    assert str(play.requests[0].url) == "https://models.example/v1/responses"
    body = play.bodies[0]
    assert body["store"] is False
    assert body["max_output_tokens"] == 9
    assert body["text"]["format"] == {"type": "json_schema", "name": "T", "schema": SCHEMA, "strict": True}
    assert body["input"][1]["content"][1] == {
        "type": "input_image",
        "image_url": "data:image/png;base64,QUJD",
    }
    assert body["input"][2] == {
        "type": "function_call",
        "call_id": "c0",
        "name": "weather",
        "arguments": '{"city": "Oslo"}',
    }
    assert body["input"][3] == {"type": "function_call_output", "call_id": "c0", "output": "rain"}
    assert body["tools"][0]["name"] == "weather"


def test_responses_joins_every_text_part_of_every_message() -> None:
    usage = {"input_tokens": 3, "output_tokens": 4}
    done = complete(
        opened(
            Play(response({"type": "reasoning"}, text_item("a", "b"), text_item("c"), usage=usage)),
            "openai-responses",
        )
    )
    assert (done.text, done.usage, done.finish_reason) == ("abc", Usage(3, 4), "stop")


@pytest.mark.parametrize(
    ("answer", "finish", "refusal"),
    [
        (
            response(text_item("x"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "length",
            None,
        ),
        (response({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}), "refusal", "No."),
        (
            response({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}),
            "tool_calls",
            None,
        ),
    ],
    ids=["cut", "refused", "call"],
)
def test_responses_tells_how_an_answer_ended(answer: Any, finish: str, refusal: str | None) -> None:
    done = complete(opened(Play(answer), "openai-responses"))
    assert (done.finish_reason, done.refusal) == (finish, refusal)


@pytest.mark.parametrize(
    "answer", [{}, {"output": "x"}, response(), response(text_item()), response("x")], ids=str
)
def test_responses_of_another_shape_are_an_error(answer: Any) -> None:
    assert failure(Play(answer), "openai-responses").kind == "bad_shape"


def test_responses_that_failed_say_why() -> None:
    assert (
        "boom"
        in failure(Play(response(status="failed", error={"message": "boom"})), "openai-responses").message
    )


def test_responses_stream() -> None:
    play = Play(
        sse(
            {"type": "response.created", "response": {}},
            {"type": "response.output_text.delta", "delta": "he"},
            {"type": "response.output_text.delta", "delta": "y"},
            {
                "type": "response.completed",
                "response": response(text_item("hey"), usage={"input_tokens": 1, "output_tokens": 2}),
            },
        )
    )
    pieces: list[str] = []
    done = complete(opened(play, "openai-responses"), on_delta=pieces.append)
    assert (pieces, done.text, done.usage) == (["he", "y"], "hey", Usage(1, 2))
    assert (
        failure(
            Play(sse({"type": "response.output_text.delta", "delta": "he"})),
            "openai-responses",
            on_delta=pieces.append,
        ).kind
        == "broken_off"
    )
    assert (
        "full"
        in failure(
            Play(sse({"type": "error", "message": "full"})), "openai-responses", on_delta=pieces.append
        ).message
    )


def test_an_address_that_ends_in_responses_chooses_that_dialect() -> None:
    play = Play(response(text_item("ok")))
    assert complete(opened(play, "openai", "https://models.example/v1/responses")).text == "ok"
    assert str(play.requests[0].url) == "https://models.example/v1/responses"


# ---- Anthropic ----


def message(*content: Any, stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    return {"type": "message", "model": "claude-x", "content": list(content), "stop_reason": stop, **more}


def words(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_anthropic_sends_its_own_headers_and_blocks() -> None:
    secrets = Secrets({"ANTHROPIC_API_KEY": "sk-ant-1"})
    play = Play(message(words("ok")))
    model = open_language_model(
        ModelSettings("chat", "anthropic", None, "claude-x"),
        secrets=secrets,
        transport=httpx.MockTransport(play),
    )
    complete(model, CONVERSATION, tools=[TOOL])
    request, body = play.requests[0], play.bodies[0]
    assert str(request.url) == "https://api.anthropic.com/v1/messages"
    assert request.headers["x-api-key"] == "sk-ant-1"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request.headers
    assert body["system"] == [{"type": "text", "text": "be brief"}]
    assert body["max_tokens"] == 4096
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][0]["content"][1]["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": "QUJD",
    }
    assert body["messages"][1]["content"] == [
        {"type": "tool_use", "id": "c0", "name": "weather", "input": {"city": "Oslo"}}
    ]
    assert body["messages"][2]["content"] == [{"type": "tool_result", "tool_use_id": "c0", "content": "rain"}]
    assert body["tools"] == [
        {"name": "weather", "description": "Tells the weather.", "input_schema": {"type": "object"}}
    ]


def test_anthropic_gives_json_by_a_schema_as_the_text_of_the_answer() -> None:
    play = Play(message({"type": "tool_use", "id": "t", "name": "T", "input": {"a": 1.0}}, stop="tool_use"))
    done = complete(opened(play, "anthropic"), response_format=json_schema_format("T", SCHEMA))
    assert play.bodies[0]["tool_choice"] == {"type": "tool", "name": "T"}
    assert (json.loads(done.text), done.tool_calls, done.finish_reason) == ({"a": 1.0}, (), "stop")


@pytest.mark.parametrize(
    ("answer", "finish", "refusal"),
    [
        (message(words("half"), stop="max_tokens"), "length", None),
        (message(words("No."), stop="refusal"), "refusal", "No."),
        (message(stop="refusal"), "refusal", "The model refused to answer."),
        (
            message({"type": "tool_use", "id": "t", "name": "f", "input": {}}, stop="tool_use"),
            "tool_calls",
            None,
        ),
    ],
    ids=["cut", "refused", "refused-silently", "call"],
)
def test_anthropic_tells_how_an_answer_ended(answer: Any, finish: str, refusal: str | None) -> None:
    done = complete(opened(Play(answer), "anthropic"))
    assert (done.finish_reason, done.refusal) == (finish, refusal)


@pytest.mark.parametrize("answer", [{}, {"content": "x"}, {"content": ["x"]}, {"content": []}, []], ids=str)
def test_anthropic_answers_of_another_shape_are_an_error(answer: Any) -> None:
    assert failure(Play(answer), "anthropic").kind == "bad_shape"


def anthropic_stream(*middle: Any, stop: str = "end_turn") -> bytes:
    return sse(
        {
            "type": "message_start",
            "message": {"model": "claude-x", "usage": {"input_tokens": 9, "output_tokens": 1}},
        },
        {"type": "ping"},
        *middle,
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    )


def test_anthropic_streams() -> None:
    pieces: list[str] = []
    middle = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "he"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "y"}},
    ]
    done = complete(opened(Play(anthropic_stream(*middle)), "anthropic"), on_delta=pieces.append)
    assert (pieces, done.text, done.usage, done.model) == (["he", "y"], "hey", Usage(9, 5), "claude-x")


def test_anthropic_streams_json_by_a_schema_as_text() -> None:
    pieces: list[str] = []
    middle = [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "t", "name": "T"},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"a"'},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": ": 1}"},
        },
    ]
    play = Play(anthropic_stream(*middle, stop="tool_use"))
    done = complete(
        opened(play, "anthropic"), on_delta=pieces.append, response_format=json_schema_format("T", SCHEMA)
    )
    assert (pieces, done.text, done.finish_reason, done.tool_calls) == (
        ['{"a"', ": 1}"],
        '{"a": 1}',
        "stop",
        (),
    )


def test_an_anthropic_stream_that_fails_says_why() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert "Overloaded" in failure(Play(sse(error)), "anthropic", on_delta=lambda _: None).message


# ---- Ollama ----


def ollama(content: Any = "hi", done: bool = True, reason: str = "stop", **more: Any) -> dict[str, Any]:
    return {
        "model": "llama3.2:1b",
        "message": {"role": "assistant", "content": content, **more},
        "done": done,
        "done_reason": reason,
    }


@pytest.mark.parametrize(
    "base_url",
    [
        "http://localhost:11434",
        "http://localhost:11434/v1",
        "http://localhost:11434/api/chat",
        "http://localhost:11434/v1/chat/completions",
        None,
    ],
)
def test_ollama_is_reached_from_any_of_its_addresses(base_url: str | None) -> None:
    play = Play(ollama())
    complete(opened(play, "ollama", base_url))
    assert str(play.requests[0].url) == "http://localhost:11434/api/chat"


def test_ollama_takes_schema_context_size_limit_and_images() -> None:
    play = Play(ollama())
    model = opened(play, "ollama", num_ctx=8192, think=False, seed=1)
    complete(model, CONVERSATION, max_tokens=9, response_format=json_schema_format("T", SCHEMA))
    body = play.bodies[0]
    assert body["options"] == {"temperature": 0.0, "seed": 1, "num_predict": 9, "num_ctx": 8192}
    assert (body["format"], body["think"], body["stream"]) == (SCHEMA, False, False)
    assert body["messages"][1] == {"role": "user", "content": "look", "images": ["QUJD"]}
    assert body["messages"][2]["tool_calls"] == [
        {"function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    ]


def test_ollama_answers_are_understood() -> None:
    answer = {**ollama(thinking="hm"), "prompt_eval_count": 7, "eval_count": 3}
    done = complete(opened(Play(answer), "ollama"))
    assert (done.text, done.usage, done.model, done.finish_reason) == (
        "hi",
        Usage(7, 3),
        "llama3.2:1b",
        "stop",
    )
    assert complete(opened(Play(ollama(reason="length")), "ollama")).truncated
    assert complete(opened(Play(ollama()), "ollama")).usage == Usage(None, None)
    called = ollama("", tool_calls=[{"function": {"name": "f", "arguments": {"a": 1}}}])
    done = complete(opened(Play(called), "ollama"))
    assert (done.tool_calls, done.finish_reason) == ((ToolCall("call_0", "f", '{"a": 1}'),), "tool_calls")


def test_a_text_in_ollamas_last_line_is_given_as_a_piece_too() -> None:
    line = json.dumps({"message": {"role": "assistant", "content": "Hi"}, "done": True}).encode() + b"\n"
    pieces: list[str] = []
    done = complete(opened(Play(line), "ollama"), on_delta=pieces.append)
    assert (pieces, done.text) == (["Hi"], "Hi")


def test_ollama_streams_lines() -> None:
    lines = [ollama("he", False), ollama("y", False), {**ollama(""), "prompt_eval_count": 7, "eval_count": 2}]
    raw = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n"
    pieces: list[str] = []
    play = Play(httpx.Response(200, headers={"content-type": "application/x-ndjson"}, content=raw))
    done = complete(opened(play, "ollama"), on_delta=pieces.append)
    assert (pieces, done.text, done.usage) == (["he", "y", ""][:2], "hey", Usage(7, 2))
    cut = Play(httpx.Response(200, headers={"content-type": "application/x-ndjson"}, content=raw[:60]))
    assert failure(cut, "ollama", on_delta=pieces.append).kind in ("broken_off", "bad_shape")


@pytest.mark.parametrize("answer", [{}, [], {"message": None}, {"message": {"content": []}}], ids=str)
def test_ollama_answers_of_another_shape_are_an_error(answer: Any) -> None:
    assert failure(Play(answer), "ollama").kind == "bad_shape"


def test_an_unknown_model_of_ollama_is_told_in_its_words() -> None:
    error = failure(Play(httpx.Response(404, json={"error": "model 'm' not found"})), "ollama")
    assert error.server_message == "model 'm' not found"
    assert error.hint is not None


def test_the_models_of_ollama_are_listed_by_a_probe() -> None:
    play = Play({"models": [{"name": "llama3.2:1b"}]}, ollama('{"ok": true}'))
    probe = using(opened(play, "ollama"), lambda model: model.probe())
    assert (probe.models, probe.json_schema) == (("llama3.2:1b",), True)
    assert str(play.requests[0].url).endswith("/api/tags")


@pytest.mark.parametrize("provider", ["openai-responses", "anthropic"])
def test_a_temperature_that_a_model_does_not_take_is_left_out(provider: str) -> None:
    good = response(text_item("ok")) if provider == "openai-responses" else message(words("ok"))
    play = Play(httpx.Response(400, json={"error": {"message": "temperature is not supported"}}), good)
    assert complete(opened(play, provider), HELLO).text == "ok"
    assert ["temperature" in body for body in play.bodies] == [True, False]
