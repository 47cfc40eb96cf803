"""Streams as odd servers send them: whole calls, missing ends, cut lines, output that came before the end."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from tests.engine.language_models.helpers import HELLO, Play, complete, opened, sse, using
from tests.engine.loopback import Received, Server, serve
from workbench.engine.language_models import (
    Completion,
    LanguageModelError,
    Message,
    ToolCall,
    Usage,
    http_model,
    open_language_model,
)
from workbench.engine.model_settings import ModelSettings


def chunk(
    content: str | None = None, finish: str | None = None, index: int = 0, **delta: Any
) -> dict[str, Any]:
    said = delta if content is None else {"content": content, **delta}
    return {"model": "m", "choices": [{"index": index, "delta": said, "finish_reason": finish}]}


def call(call_id: str, name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"id": call_id, "function": {"name": name, "arguments": arguments}, **more}


def streamed(answer: bytes, provider: str = "openai") -> Completion:
    return complete(opened(Play(answer), provider), on_delta=lambda _: None)


def refused(answer: Any, provider: str = "openai", **options: Any) -> LanguageModelError:
    with pytest.raises(LanguageModelError) as caught:
        complete(opened(Play(answer), provider), **options)
    return caught.value


TWO_CALLS = (ToolCall("a", "f", '{"x":1}'), ToolCall("b", "g", '{"y":2}'))


@pytest.mark.parametrize(
    "more", [pytest.param({}, id="no index"), pytest.param({"index": 0}, id="all with the index 0")]
)
def test_whole_calls_that_share_an_index_stay_two(more: dict[str, Any]) -> None:
    pieces = [call("a", "f", '{"x":1}', **more), call("b", "g", '{"y":2}', **more)]
    done = streamed(sse(*(chunk(tool_calls=[piece]) for piece in pieces), chunk(finish="tool_calls")))
    assert done.tool_calls == TWO_CALLS


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"id": ""}, id="an empty id"),
        pytest.param({"id": "", "index": 0}, id="an empty id and the index 0"),
    ],
)
def test_whole_calls_that_nothing_tells_apart_stay_two(more: dict[str, Any], together: bool) -> None:
    pieces = [
        {"function": {"name": "f", "arguments": '{"x":1}'}, **more},
        {"function": {"name": "f", "arguments": '{"y":2}'}, **more},
    ]
    chunks = [pieces] if together else [[piece] for piece in pieces]
    done = streamed(sse(*(chunk(tool_calls=each) for each in chunks), chunk(finish="tool_calls")))
    assert done.tool_calls == (ToolCall("call_0", "f", '{"x":1}'), ToolCall("call_1", "f", '{"y":2}'))


def test_calls_without_arguments_side_by_side_stay_two() -> None:
    pieces = [{"function": {"name": name, "arguments": ""}} for name in ("f", "g")]
    done = streamed(sse(chunk(tool_calls=pieces), chunk(finish="tool_calls")))
    assert [each.name for each in done.tool_calls] == ["f", "g"]


def test_a_name_that_is_repeated_begins_no_call_in_the_middle_of_arguments() -> None:
    texts = ["", '{"a":', "{}", ',"b":', '"}', '{"', "}", ""]
    pieces = [{"index": 0, "function": {"name": "f", "arguments": text}} for text in texts]
    done = streamed(sse(*(chunk(tool_calls=[piece]) for piece in pieces), chunk(finish="tool_calls")))
    assert [each.arguments for each in done.tool_calls] == ["".join(texts)]


def test_calls_that_grow_side_by_side_stay_two_though_their_names_are_repeated() -> None:
    halves = [('{"x"', '{"y"'), (":1}", ":2}")]
    chunks = [
        [{"index": at, "function": {"name": "fg"[at], "arguments": text}} for at, text in enumerate(texts)]
        for texts in halves
    ]
    done = streamed(sse(*(chunk(tool_calls=each) for each in chunks), chunk(finish="tool_calls")))
    assert [(each.name, each.arguments) for each in done.tool_calls] == [("f", '{"x":1}'), ("g", '{"y":2}')]


def test_pieces_of_two_calls_may_come_in_turns_and_repeat_what_is_known() -> None:
    pieces = [
        call("a", "f", "", index=0),
        call("b", "g", '{"y"', index=1),
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x":1}'}},
        {"index": 1, "id": "other", "function": {"arguments": ":2}"}},
    ]
    done = streamed(sse(*(chunk(tool_calls=[piece]) for piece in pieces), chunk(finish="tool_calls")))
    assert [(c.name, c.arguments) for c in done.tool_calls] == [("f", '{"x":1}'), ("g", '{"y":2}')]


def test_arguments_that_are_an_object_are_not_lost() -> None:
    whole = {"choices": [{"message": {"content": None, "tool_calls": [call("a", "f", {"x": 1})]}}]}
    live = sse(chunk(tool_calls=[call("a", "f", {"x": 1})]), chunk(finish="tool_calls"))
    for done in (complete(opened(Play(whole))), streamed(live)):
        assert json.loads(done.tool_calls[0].arguments) == {"x": 1}


def test_of_several_answers_the_first_counts() -> None:
    assert streamed(sse(chunk("A"), chunk("Z", index=1), chunk("B", "stop"))).text == "AB"


@pytest.mark.parametrize("size", [1, 2, 3, 4000])
def test_a_mark_of_byte_order_does_not_swallow_the_first_event(size: int) -> None:
    data = b"\xef\xbb\xbf" + sse(chunk("A"), chunk("B", "stop"))
    assert asyncio.run(served(data, "text/event-stream", size)).text == "AB"


async def served(
    data: bytes, kind: str, size: int = 4000, hold: float = 0.0, provider: str = "openai"
) -> Completion:
    async def answer(request: Received, writer: asyncio.StreamWriter, server: Server, reader: Any) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode())
        for start in range(0, len(data), size):
            writer.write(data[start : start + size])
            await writer.drain()
        if hold:
            await asyncio.wait_for(reader.read(), hold)  # ends when the client hangs up

    async with serve(answer) as server:
        model = open_language_model(ModelSettings("t", provider, server.url, "m", options={"max_retries": 0}))
        try:
            return await model.complete(HELLO, on_delta=lambda _: None)
        finally:
            await model.aclose()


@pytest.mark.parametrize(
    ("provider", "kind", "data"),
    [
        ("openai", "text/event-stream", sse(chunk("A")) + b'data: {"choi'),
        ("openai", "text/event-stream", b'data: {"choi'),
        ("ollama", "application/x-ndjson", b'{"message": {"content": "A"}}\n{"mess'),
    ],
)
def test_a_line_that_the_connection_cut_is_an_answer_that_broke_off(
    provider: str, kind: str, data: bytes
) -> None:
    with pytest.raises(LanguageModelError) as caught:
        asyncio.run(served(data, kind, provider=provider))
    assert caught.value.kind == "broken_off"


RESPONSE = {
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "AB"}]}],
}
MESSAGE: list[Any] = [
    {"type": "message_start", "message": {"model": "c", "usage": {"input_tokens": 5, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "AB"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]


@pytest.mark.parametrize(
    ("provider", "data"),
    [
        ("openai", sse(chunk("AB", "stop"))),
        ("openai-responses", sse({"type": "response.completed", "response": RESPONSE})),
        ("anthropic", sse(*MESSAGE)),
        ("ollama", b'{"message": {"content": "AB"}, "done": true, "done_reason": "stop"}\n'),
    ],
)
def test_a_complete_answer_does_not_wait_for_a_server_that_never_hangs_up(
    provider: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_model, "AFTER_THE_END", 0.2)
    began = time.monotonic()
    done = asyncio.run(served(data, "text/event-stream", hold=20, provider=provider))
    assert (done.text, done.finish_reason) == ("AB", "stop")
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [{"type": "response.completed", "response": {**RESPONSE, "output": []}}], id="empty output"
        ),
        pytest.param([{"type": "response.completed", "response": {"status": "completed"}}], id="no output"),
        pytest.param([b"[DONE]"], id="no last event"),
    ],
)
def test_a_response_without_output_of_its_own_is_what_was_streamed(events: list[Any]) -> None:
    pieces = [{"type": "response.output_text.delta", "delta": text} for text in ("A", "B")]
    assert streamed(sse(*pieces, *events), "openai-responses").text == "AB"


def test_a_response_without_output_of_its_own_keeps_its_calls() -> None:
    item = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    done = streamed(
        sse(
            {"type": "response.output_item.done", "item": item},
            {"type": "response.completed", "response": {"status": "completed", "output": []}},
        ),
        "openai-responses",
    )
    assert (done.tool_calls, done.finish_reason) == ((ToolCall("a", "f", "{}"),), "tool_calls")


def test_a_stream_of_responses_that_said_nothing_is_no_answer() -> None:
    assert refused(sse(b"[DONE]"), "openai-responses", on_delta=lambda _: None).kind == "bad_shape"


def test_counts_at_the_end_of_a_message_replace_those_at_its_start() -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 0, "output_tokens": 0}}}
    end = {**MESSAGE[3], "usage": {"input_tokens": 9, "output_tokens": 7}}
    assert streamed(sse(start, *MESSAGE[1:3], end, MESSAGE[4]), "anthropic").usage == Usage(9, 7)


def test_the_count_at_the_start_of_a_message_is_not_that_of_the_answer() -> None:
    end = {key: value for key, value in MESSAGE[3].items() if key != "usage"}
    assert streamed(sse(*MESSAGE[:3], end, MESSAGE[4]), "anthropic").usage == Usage(5, None)


def test_a_call_and_a_text_that_a_block_gives_whole_are_not_lost() -> None:
    tool = {"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}}
    text = {"type": "text", "text": "so: "}
    blocks = [
        {"type": "content_block_start", "index": i, "content_block": b} for i, b in enumerate((text, tool))
    ]
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    done = streamed(sse(MESSAGE[0], *blocks, end, MESSAGE[4]), "anthropic")
    assert done.text == "so: "
    assert json.loads(done.tool_calls[0].arguments) == {"x": 1}


@pytest.mark.parametrize(
    ("provider", "answer", "live"),
    [
        ("openai", sse(chunk(tool_calls=5)), True),
        ("openai", sse(chunk(tool_calls=[{"index": 0, "function": "f"}])), True),
        ("openai-responses", {"status": "completed", "output": [{"type": "message", "content": 5}]}, False),
        ("anthropic", sse({**MESSAGE[1], "index": []}), True),
        ("ollama", {"message": {"content": "", "tool_calls": 5}, "done": True}, False),
    ],
)
def test_members_of_the_wrong_kind_are_no_completion(provider: str, answer: Any, live: bool) -> None:
    options = {"on_delta": lambda _: None} if live else {}
    assert refused(answer, provider, **options).kind == "bad_shape"


def test_an_error_in_the_words_of_vllm_is_a_failure_of_the_server() -> None:
    error = refused(sse(chunk("A"), {"object": "error", "message": "out of memory"}), on_delta=lambda _: None)
    assert (error.kind, error.server_message) == ("status", "out of memory")


def test_calls_at_the_same_time_all_learn_that_no_temperature_is_taken() -> None:
    async def answer(request: Received, writer: asyncio.StreamWriter, server: Server, reader: Any) -> None:
        await asyncio.sleep(0.1)  # so that all are under way before the first is refused
        said: Any = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}
        status = 200
        if "temperature" in request.json:
            status, said = 400, {"error": {"message": "Unsupported parameter: 'temperature'."}}
        data = json.dumps(said).encode()
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data
        )

    async def run() -> list[Completion]:
        async with serve(answer) as server:
            model = open_language_model(ModelSettings("t", "openai", server.url, "m"))
            try:
                return await asyncio.gather(*(model.complete(HELLO) for _ in range(3)))
            finally:
                await model.aclose()

    assert [done.text for done in asyncio.run(run())] == ["ok"] * 3


def test_a_temperature_that_the_project_puts_into_the_body_is_refused_once() -> None:
    import httpx

    no = httpx.Response(400, json={"error": {"message": "Unsupported parameter: 'temperature'."}})
    play = Play(no)
    with pytest.raises(LanguageModelError):
        complete(opened(play, body={"temperature": 1}))
    assert len(play.requests) <= 2


def test_a_limit_that_is_too_large_is_not_taken_for_one_that_is_unknown() -> None:
    import httpx

    said = "max_tokens is too large: 99999. This model supports at most 4096 completion tokens."
    play = Play(httpx.Response(400, json={"error": {"message": said}}))
    with pytest.raises(LanguageModelError):
        complete(opened(play), max_tokens=99999)
    assert [body.get("max_tokens") for body in play.bodies] == [99999]


def test_ollama_is_told_which_tool_gave_a_result() -> None:
    play = Play({"message": {"content": "ok"}, "done": True})
    talk = [
        *HELLO,
        Message("assistant", "", tool_calls=(ToolCall("1", "f", "{}"), ToolCall("2", "g", "{}"))),
        Message("tool", "F", tool_call_id="1"),
        Message("tool", "G", tool_call_id="2"),
    ]
    complete(opened(play, "ollama"), talk)
    assert [m.get("tool_name") for m in play.bodies[0]["messages"]] == [None, None, "f", "g"]


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("https://h.example/anthropic", "https://h.example/anthropic/v1/messages"),
        ("https://h.example/anthropic/v1", "https://h.example/anthropic/v1/messages"),
        ("https://h.example", "https://h.example/v1/messages"),
        ("https://h.example/own/messages", "https://h.example/own/messages"),
        ("https://h.example/v1/chat/completions?a=1", "https://h.example/v1/messages?a=1"),
    ],
)
def test_the_base_of_an_anthropic_server_needs_no_version(base: str, address: str) -> None:
    play = Play({"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"})
    complete(opened(play, "anthropic", base))
    assert str(play.requests[0].url) == address


def test_a_list_of_models_under_its_other_name_is_found_beside_an_empty_one() -> None:
    ok = {"choices": [{"message": {"content": '{"ok": true}'}, "finish_reason": "stop"}]}
    play = Play({"data": None, "models": [{"name": "q"}]}, ok)
    assert using(opened(play), lambda model: model.probe()).models == ("q",)
