"""Servers that lie, dawdle or rave are told off in one line that names them, in bounded time."""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib
from typing import Any

import pytest

from tests.engine.loopback import Answer, Received, Server, answers, endless, reply, serve
from workbench.engine.decisions import DecisionError, DecisionRequest, YesNoQuestion, open_decision_model
from workbench.engine.http import HttpClient, HttpError, HttpReply
from workbench.engine.language_models import LanguageModelError, Message, open_language_model
from workbench.engine.model_settings import ModelSettings

EVENT_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
QUICK = {"max_retries": 0, "timeout": 0.5, "total_budget": 0.5, "budget": 0.5}


def dripping(piece: bytes, head: bytes = EVENT_STREAM) -> Answer:
    """Answer with `head` and then `piece` for ever, a little at a time."""
    return endless(head, piece, 0.02)


def chat_failure(
    answer: Answer, provider: str = "openai", *, streamed: bool = True, **options: Any
) -> tuple[LanguageModelError, str]:
    on_delta = (lambda _: None) if streamed else None

    async def run() -> tuple[LanguageModelError, str]:
        async with serve(answer) as server:
            settings = ModelSettings("chat", provider, server.url, "m", options={**QUICK, **options})
            model = open_language_model(settings)
            try:
                with pytest.raises(LanguageModelError) as caught:
                    await model.complete([Message("user", "hi")], on_delta=on_delta)
            finally:
                await model.aclose()
            return caught.value, server.url

    return asyncio.run(run())


def decision_failure(
    answer: Answer, provider: str = "system-one", **options: Any
) -> tuple[DecisionError, str]:
    async def run() -> tuple[DecisionError, str]:
        async with serve(answer) as server:
            settings = ModelSettings("d", provider, server.url, "m", options={**QUICK, **options})
            model = open_decision_model(settings)
            try:
                with pytest.raises(DecisionError) as caught:
                    await model.decide(DecisionRequest("text", {"a": YesNoQuestion("Is it?")}))
            finally:
                await model.aclose()
            return caught.value, server.url

    return asyncio.run(run())


@pytest.mark.parametrize(
    "piece",
    [b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n', b": still here\n\n", b" "],
    ids=["text", "comments", "blanks"],
)
@pytest.mark.parametrize("provider", ["openai", "openai-responses", "ollama"])
def test_a_stream_that_never_ends_is_stopped_in_the_end(provider: str, piece: bytes) -> None:
    began = time.monotonic()
    error, url = chat_failure(dripping(piece), provider)
    assert time.monotonic() - began < 20
    assert url in str(error)


def test_the_limit_of_a_stream_is_named() -> None:
    error, _ = chat_failure(dripping(b": still here\n\n"))
    assert error.kind == "timeout"
    assert "was still answering after 0.5 s and was stopped" in error.message


def test_a_body_that_comes_in_drops_has_the_time_of_one_attempt() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    error, url = decision_failure(dripping(b" ", head))
    assert error.kind == "timeout"
    assert url in str(error)


PAGE = b"<!doctype html><title>It works</title><p>Welcome"


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "ollama"])
def test_a_page_in_place_of_a_stream_is_called_a_page(provider: str) -> None:
    error, url = chat_failure(answers(reply(PAGE, headers="Content-Type: text/html\r\n")), provider)
    assert url in error.message
    assert "an HTML page titled “It works”" in error.message


def test_a_stream_that_breaks_off_is_quoted() -> None:
    error, _ = chat_failure(answers(EVENT_STREAM + b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'))
    assert error.kind == "broken_off"
    assert 'It said: {"choices"' in error.message


@pytest.mark.parametrize(
    "body", [None, [], 1, "text", {}, {"answers": None}, {"answers": [1, None], "choices": 5}], ids=str
)
@pytest.mark.parametrize("provider", ["openai", "system-one", "sglang", "chat-logprobs"])
def test_json_that_is_no_decision_is_quoted_with_its_address(provider: str, body: Any) -> None:
    async def run() -> tuple[str, str]:
        async with serve(answers(reply(body))) as server:
            model = open_decision_model(ModelSettings("d", provider, server.url, "m", options=QUICK))
            try:
                response = await model.decide(DecisionRequest("text", {"a": YesNoQuestion("Is it?")}))
            except DecisionError as error:
                return str(error), server.url
            finally:
                await model.aclose()
            assert not hasattr(response.answers["a"], "probability")  # never a number out of nothing
            return f"{server.url}. It said: ", server.url

    message, url = asyncio.run(run())
    assert url in message
    assert "It said: " in message
    assert "\n" not in message


SAID = {"error": {"message": "bad \x1b[31mred\x1b[0m thing\nin two lines\u202e"}}


@pytest.mark.parametrize("ask", [chat_failure, decision_failure], ids=["chat", "decision"])
def test_what_a_server_says_is_one_line_that_cannot_steer_a_terminal(ask: Any) -> None:
    error, _ = ask(answers(reply(SAID, 400)))
    assert str(error).endswith("status 400: bad \\x1b[31mred\\x1b[0m thing in two lines\\u202e")


@pytest.mark.parametrize("ask", [chat_failure, decision_failure], ids=["chat", "decision"])
def test_a_redirect_is_named_and_not_followed(ask: Any) -> None:
    location = "Location: https://elsewhere.example/v1?key=abc\r\n"
    error, _ = ask(answers(reply(b"", 307, location)))
    assert "a redirect to https://elsewhere.example/v1?key=***, which is not followed" in str(error)


def test_the_limit_of_a_stream_counts_however_busily_lines_come() -> None:
    seen = []

    async def run() -> None:
        async with serve(dripping(b"line\n")) as server:
            http = HttpClient(stream_limit=0.3, attempt_timeout=5)
            try:
                async with http.stream_lines(server.url, {}) as stream:
                    async for line in stream:
                        seen.append(line)
            finally:
                await http.aclose()

    with pytest.raises(HttpError, match=r"still answering after 0\.3 s"):
        asyncio.run(run())
    assert len(seen) > 2


JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
PATIENT = {"max_retries": 50, "timeout": 60, "total_budget": 0.6, "budget": 0.6}


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("head", [JSON_HEAD, b""], ids=["body", "head"])
def test_the_budget_bounds_a_call_however_slowly_bytes_come(head: bytes, streamed: bool) -> None:
    piece = b" " if head else b"H"
    began = time.monotonic()
    error, url = chat_failure(dripping(piece, head), streamed=streamed, **PATIENT)
    assert time.monotonic() - began < 20  # one attempt alone may take 60 s
    assert error.kind == "timeout"
    assert f"{url}/v1/chat/completions was " in error.message
    assert "0.6 s" in error.message


@pytest.mark.parametrize("provider", ["openai", "system-one", "sglang", "chat-logprobs"])
def test_the_budget_bounds_a_decision_too(provider: str) -> None:
    began = time.monotonic()
    error, url = decision_failure(dripping(b" ", JSON_HEAD), provider, **PATIENT)
    assert time.monotonic() - began < 20
    assert error.kind == "timeout"
    assert url in str(error)
    assert "was not done after 0.6 s" in str(error)


def test_the_time_of_a_stream_counts_from_its_first_request() -> None:
    async def late(
        request: Received, writer: asyncio.StreamWriter, server: Server, reader: asyncio.StreamReader
    ) -> None:
        if len(server.requests) == 1:
            await asyncio.sleep(0.4)
            writer.write(reply({"error": "busy"}, 503, "retry-after-ms: 1\r\n"))
        else:
            await dripping(b": still here\n\n")(request, writer, server, reader)

    options = {"max_retries": 3, "timeout": 60, "total_budget": 2}
    moments: list[float] = []

    async def run() -> None:
        async with serve(late) as server:
            model = open_language_model(ModelSettings("chat", "openai", server.url, "m", options=options))
            try:
                moments.append(time.monotonic())
                with pytest.raises(LanguageModelError, match="still answering after 2 s"):
                    await model.complete([Message("user", "hi")], on_delta=lambda _: None)
            finally:
                moments.append(time.monotonic())
                await model.aclose()
                assert len(server.requests) == 2

    asyncio.run(run())
    assert moments[1] - moments[0] < 20


CAFE = '{"choices": [{"message": {"content": "Café"}}]}'.encode("latin-1")
CAFE_LINE = b': hello\n\ndata: {"choices":[{"delta":{"content":"Caf\xe9"}}]}\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize(
    ("answer", "streamed", "byte"),
    [
        (reply(CAFE), False, CAFE.index(0xE9)),
        (reply(CAFE, headers="Content-Type: application/json\r\n"), True, CAFE.index(0xE9)),
        (EVENT_STREAM + CAFE_LINE, True, CAFE_LINE.index(0xE9)),
    ],
    ids=["whole", "not-streamed", "streamed"],
)
def test_a_reply_that_is_not_utf_8_is_no_completion(answer: bytes, streamed: bool, byte: int) -> None:
    error, url = chat_failure(answers(answer), streamed=streamed)
    assert error.kind == "bad_shape"
    assert url in error.message
    assert f"the reply is not UTF-8, byte {byte} (0xE9)" in error.message


@pytest.mark.parametrize("provider", ["openai", "system-one", "sglang", "chat-logprobs"])
def test_a_decision_that_is_not_utf_8_is_none(provider: str) -> None:
    body = '{"answers": {"a": {"type": "noul", "noul": 0.1}}, "model": "é"}'.encode("latin-1")
    error, url = decision_failure(answers(reply(body)), provider)
    assert error.kind == "body"
    assert f"{url}/v1/" in str(error)
    assert f"the reply is not UTF-8, byte {body.index(0xE9)} (0xE9)" in str(error)


def got(answer: bytes, **options: Any) -> HttpReply:
    async def run() -> HttpReply:
        async with serve(answers(answer)) as server:
            http = HttpClient(max_retries=0, **options)
            try:
                return await http.post_json(server.url, {})
            finally:
                await http.aclose()

    return asyncio.run(run())


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("X-GZip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
    ],
    ids=["gzip", "x-gzip", "deflate", "deflate-without-head"],
)
def test_a_packed_answer_is_unpacked(encoding: str, pack: Any) -> None:
    body = b'{"ok": "' + b"x" * 3_000_000 + b'"}'
    found = got(reply(pack(body), headers=f"Content-Encoding: {encoding}\r\n"))
    assert found.text.encode() == body


@pytest.mark.parametrize(
    ("encoding", "body", "words"),
    [
        ("gzip", gzip.compress(b" " * 40_000_000), "more than 1,000,000 bytes"),
        ("gzip, gzip", gzip.compress(gzip.compress(b" " * 40_000_000)), "packed as 'gzip, gzip'"),
        ("br", b"\x0b\x02\x80{}\x03", "packed as 'br'"),
        ("gzip", gzip.compress(b'{"ok": true}')[:-9], "its gzip ends too early"),
        ("gzip", b'{"ok": true}', "it is no gzip"),
        ("gzip", b"", "an empty body"),
    ],
    ids=["bomb", "bomb-in-a-bomb", "not-asked-for", "cut", "not-packed", "empty"],
)
def test_a_packed_answer_cannot_fill_the_memory(encoding: str, body: bytes, words: str) -> None:
    with pytest.raises(HttpError) as caught:
        got(reply(body, headers=f"Content-Encoding: {encoding}\r\n"), body_cap=1_000_000)
    assert words in str(caught.value)
    assert caught.value.url in str(caught.value)
