"""`check` against decision servers that rave, dawdle or lie: nothing passes, it ends in time, the address is named."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Outcome, Run
from tests.engine.loopback import Answer, Received, Server, answers, endless, reply, serve

PROVIDERS = ("system-one", "sglang", "chat-logprobs")
KEY = "sk-loopback-0123456789"
LIMIT = 1
"""Seconds that the project grants a call to a server that never ends; others get `BOUND`, for a busy computer."""
BOUND = 40.0
"""Seconds that a command may take in a test: far more than it needs, far less than a server that never ends."""

LOGPROBS = [{"token": "no", "logprob": -0.01, "top_logprobs": [{"token": "no", "logprob": -0.01}]}]
GOOD: dict[str, dict[str, Any]] = {
    "system-one": {"answers": {"bad": {"type": "noul", "noul": 0.01}}, "model": "m"},
    "sglang": {
        "answers": {"bad": {"type": "yes_no", "probabilities": {"yes": 0.01, "no": 0.99}, "mass": 1.0}},
        "model": "m",
    },
    "chat-logprobs": {
        "choices": [
            {"finish_reason": "stop", "message": {"content": "no"}, "logprobs": {"content": LOGPROBS}}
        ],
        "model": "m",
    },
}
"""An answer of each provider that lets the text pass, so that what fails fails for the way it was sent."""


class Background:
    """A loopback server in a thread of its own, for commands that run their own event loop."""

    def __init__(self, answer: Answer) -> None:
        self.state = Server()
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, args=(answer,), daemon=True)
        self._thread.start()
        assert self._ready.wait(30)

    def _run(self, answer: Answer) -> None:
        async def run() -> None:
            async with serve(answer) as self.state:
                self._ready.set()
                await self._stop.wait()
            rest = asyncio.all_tasks() - {asyncio.current_task()}
            for task in rest:
                task.cancel()
            await asyncio.gather(*rest, return_exceptions=True)

        self._loop.run_until_complete(run())
        self._loop.close()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        assert not self._thread.is_alive()


Start = Callable[[Answer], Server]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts a server; all are stopped in the end."""
    running: list[Background] = []

    def begin(answer: Answer) -> Server:
        running.append(Background(answer))
        return running[-1].state

    yield begin
    for server in running:
        server.close()


Check = Callable[..., Outcome]


@pytest.fixture
def check(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Return a function that lets a server judge one text with one check, and takes the time."""
    monkeypatch.setenv("PROMPT_WORKBENCH_SECRET_LOOPBACK", KEY)

    def call(provider: str, server: Server, limit: float = BOUND, retries: int = 0) -> Outcome:
        folder = tmp_path / "project"
        folder.mkdir()
        (folder / "workbench.toml").write_text(
            'format = 1\nname = "Small"\n'
            '[[guardrails.input.checks]]\nname = "bad"\nquestion = "Is it bad?"\nthreshold = 0.5\n'
            f'[models.decision]\nprovider = "{provider}"\nbase_url = "{server.url}"\nmodel = "m"\n'
            f'secret = "loopback"\ntimeout = {limit}\nbudget = {limit}\nmax_retries = {retries}\n'
        )
        began = time.monotonic()
        outcome = run("check", folder, "--text", "a text", "--accept-origin", server.url, "--json")
        assert time.monotonic() - began < BOUND + limit
        return outcome

    return call


def torn(data: bytes) -> Answer:
    """Answer with the first half of `data` and reset the connection."""

    async def answer(
        request: Received, writer: asyncio.StreamWriter, server: Server, reader: asyncio.StreamReader
    ) -> None:
        writer.write(data[: len(data) // 2])
        await writer.drain()
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return answer


TOO_LONG = f"was not done after {LIMIT} s"
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
PAGE = b"<!doctype html><title>It works</title><p>Welcome"


def not_utf8(good: dict[str, Any]) -> bytes:
    return json.dumps({**good, "model": "modèle"}, ensure_ascii=False).encode("latin-1")


HOSTILE: dict[str, tuple[Callable[[dict[str, Any]], Answer], str]] = {
    "never-ending body": (lambda good: endless(CHUNKED, b"4\r\n    \r\n", 0.02), TOO_LONG),
    "one byte at a time": (
        lambda good: endless(JSON_HEAD + b"Content-Length: 9999\r\n\r\n", b" ", 0.3),
        TOO_LONG,
    ),
    "never-ending head": (lambda good: endless(JSON_HEAD, b"X", 0.02), TOO_LONG),
    "silence": (lambda good: endless(b"", b"", 0.05), TOO_LONG),
    "huge headers": (
        lambda good: answers(reply(good, headers=f"X-Long: {'x' * 300_000}\r\n")),
        "ended the connection before the answer was complete",
    ),
    "gzip bomb": (
        lambda good: answers(reply(gzip.compress(b" " * 40_000_000), headers="Content-Encoding: gzip\r\n")),
        "more than 33,554,432 bytes",
    ),
    "packed twice": (
        lambda good: answers(
            reply(
                gzip.compress(gzip.compress(json.dumps(good).encode())),
                headers="Content-Encoding: gzip, gzip\r\n",
            )
        ),
        "a body that cannot be decoded",
    ),
    "not UTF-8": (lambda good: answers(reply(not_utf8(good))), "the reply is not UTF-8, byte "),
    "204": (lambda good: answers(b"HTTP/1.1 204 No Content\r\n\r\n"), "status 204, but with an empty body"),
    "a page": (
        lambda good: answers(reply(PAGE, headers="Content-Type: text/html\r\n")),
        "with an HTML page titled “It works”, not JSON",
    ),
    "prose": (
        lambda good: answers(reply(b"yes, it is fine", headers="Content-Type: text/plain\r\n")),
        "its body is not valid JSON",
    ),
    "reset": (
        lambda good: torn(reply(good)),
        "ended the connection before the answer was complete",
    ),
    "cut": (
        lambda good: answers(reply(good).replace(b"Content-Length: ", b"Content-Length: 9")),
        "ended the connection before the answer was complete",
    ),
    "twice the answers": (
        lambda good: answers(reply(json.dumps(good).encode() * 2)),
        "its body is not valid JSON",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_nothing_passes_and_the_address_is_named(
    check: Check, start: Start, provider: str, case: str
) -> None:
    make, words = HOSTILE[case]
    server = start(make(GOOD[provider]))
    endless = words == TOO_LONG
    outcome = check(provider, server, LIMIT, 3) if endless else check(provider, server)
    assert outcome.status not in (0, 1), outcome.text  # neither passed nor rejected: the model failed
    assert endless or len(server.requests) == 1
    said = outcome.text + outcome.err
    assert server.url in said
    assert words in said
    assert KEY not in said
    assert "Traceback" not in said


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_gets_neither_the_key_nor_the_text(
    check: Check, start: Start, provider: str, status: int
) -> None:
    other = start(answers(reply(GOOD[provider])))
    server = start(answers(reply(b"", status, f"Location: {other.url}/v1/elsewhere\r\n")))
    outcome = check(provider, server)
    assert outcome.status not in (0, 1)
    assert other.requests == []
    assert [received.headers.get("authorization") for received in server.requests] == [f"Bearer {KEY}"]
    said = outcome.text + outcome.err
    assert f"a redirect to {other.url}/v1/elsewhere, which is not followed" in said
    assert server.url in said


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_same_answer_sent_properly_passes(check: Check, start: Start, provider: str) -> None:
    body = gzip.compress(json.dumps(GOOD[provider]).encode())
    # Even byte by byte, packed, and of a content type that is not JSON's: what counts is the answer.
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"".join(b"1\r\n" + bytes([byte]) + b"\r\n" for byte in body)
    server = start(answers(head + chunks + b"0\r\n\r\n"))
    outcome = check(provider, server)
    assert outcome.status == 0, outcome.err + outcome.text
    assert outcome.json["verdict"] == "passed"


@pytest.mark.parametrize(
    "said",
    [{"error": {"message": f"no such key: {KEY}"}}, {"choices": [{"delta": {"content": {KEY: 1}}}]}],
    ids=["failure", "odd shape"],
)
def test_a_key_that_a_streamed_answer_repeats_is_not_shown(
    run: Run, booking: Path, start: Start, monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]
) -> None:
    body = f"data: {json.dumps(said)}\n\n".encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
    server = start(answers(head.encode() + body))
    monkeypatch.setenv("PROMPT_WORKBENCH_SECRET_LOOP", KEY)
    with (booking / "workbench.toml").open("a", encoding="utf-8") as file:
        file.write(
            f'\n[models.loop]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url}/v1"\n'
            'secret = "loop"\nmax_retries = 0\n'
        )
    outcome = run(
        "translate", booking, "--request", "a table", "--model", "loop", "--accept-origin", server.url
    )
    assert outcome.status in (1, 3)
    assert [received.headers.get("authorization") for received in server.requests][:1] == [f"Bearer {KEY}"]
    assert server.url in outcome.text + outcome.err
    assert KEY not in outcome.text + outcome.err
