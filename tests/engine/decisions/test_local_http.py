"""Real servers for the other dialects: llama.cpp's for token probabilities, and a stub of ours for decisions.

No stand-alone server of `/v1/decisions` was found, so that one is ours and proves only what our own reading of
OpenAI's documentation says.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.engine.decisions.support import reply_of, run
from workbench.engine.decisions import open_decision_model, probe_decision_model
from workbench.engine.decisions.gguf import small_model
from workbench.engine.guardrails import DecisionModelInputGuardrail, GuardrailResult
from workbench.engine.model_settings import ModelSettings

LLAMA = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel, params.warmup = 2048, 1, False
params.hostnames, params.port = ["127.0.0.1"], int(sys.argv[2])
server = xllamacpp.Server(params)
print("ready", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def llama() -> Iterator[str]:
    if (
        importlib.util.find_spec("xllamacpp") is None
    ):  # looked up only: workers import it, and tests watch that
        pytest.skip("xllamacpp is not installed")
    weights = small_model()
    if weights is None:
        pytest.skip("the weights of the small model are not installed")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", LLAMA, str(weights), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        assert process.stdout.readline().strip() == "ready"
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)
        process.stdout.close()


async def check(settings: ModelSettings) -> GuardrailResult:
    model = open_decision_model(settings)
    try:
        builder = DecisionModelInputGuardrail.builder().decision_model(model)
        builder.check("a", "Is the text about cooking?").check("b", "Is the text about money?")
        return await builder.build().validate("Fry the onions in butter for ten minutes.")
    finally:
        await model.aclose()


@pytest.mark.local_model
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_llama_cpp_s_server_gives_probabilities_with_bounds_and_mass() -> None:
    with llama() as url:
        options = {"timeout": 120.0, "budget": 200.0, "min_mass": 0.0, "max_retries": 0}
        settings = ModelSettings("local", "chat-logprobs", url, "smollm2", options=options)
        result = run(check(settings))
        report = run(probe_decision_model(settings))
    assert len(result.exchanges) == 2
    for c in result.checks:
        assert c.status in ("passed", "rejected")
        assert c.probability is not None
        assert c.lower is not None
        assert c.upper is not None
        assert c.mass is not None
        assert 0 <= c.lower <= c.probability <= c.upper <= 1
        assert 0 <= c.mass <= 1
    assert report.looks_like == "chat-logprobs"
    assert report.ok


def test_a_stub_of_ours_for_decisions_answers_over_a_real_connection() -> None:
    seen: list[Any] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().split("content-length:")[1].split("\r\n")[0])
        seen.append((head.split("\r\n")[0], json.loads(await reader.readexactly(length))))
        body = json.dumps(reply_of("openai", {"a": 0.9, "b": 0.1})).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n")
        writer.write(b"content-length: %d\r\n\r\n%b" % (len(body), body))
        await writer.drain()
        writer.close()

    async def go() -> GuardrailResult:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            return await check(ModelSettings("d", "openai", url, "gpt-6-luna"))
        finally:
            server.close()

    result = run(go())
    assert seen[0][0] == "POST /v1/decisions HTTP/1.1"
    assert len(seen) == 1
    assert result.failed_checks == ("a",)
    assert result.exchange is not None
    assert result.exchange.elapsed_ms > 0


def test_an_overloaded_server_is_asked_again_when_it_says() -> None:
    calls: list[float] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        await reader.readexactly(int(head.lower().split("content-length:")[1].split("\r\n")[0]))
        calls.append(time.perf_counter())
        body = json.dumps(reply_of("system-one", {"a": 0.1, "b": 0.1})).encode()
        line = (
            b"HTTP/1.1 200 OK\r\n" if len(calls) > 1 else b"HTTP/1.1 529 Overloaded\r\nRetry-After: 0.2\r\n"
        )
        writer.write(line + b"connection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        await writer.drain()
        writer.close()

    async def go() -> GuardrailResult:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            return await check(ModelSettings("d", "system-one", url, "m"))
        finally:
            server.close()

    assert run(go()).passed
    assert len(calls) == 2
    assert calls[1] - calls[0] >= 0.2
