"""A chat server that no one here wrote, with faults on demand: each fault has a typed end, and none passes as an answer.

The server also judges its clients: whether they wait as long as they were told, retry only what a retry can mend,
and refuse a stream that ended early. Its verdict is asked for after every test.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from tests.engine.decisions.servers import running
from tests.engine.language_models.helpers import HELLO, complete, using
from workbench.engine.language_models import (
    Completion,
    LanguageModel,
    LanguageModelError,
    json_schema_format,
    open_language_model,
)
from workbench.engine.model_settings import ModelSettings
from workbench.engine.schemas import JsonSchema
from workbench.engine.translation import Failure, Success, translator_from_settings
from workbench.engine.translation.settings import TranslationSettings

DIALECTS = {"openai": "/v1", "openai-responses": "/v1", "anthropic": "/anthropic/v1"}
WORDS = "one two three four five six"
MOOD = {
    "type": "object",
    "properties": {"mood": {"enum": ["good", "bad"]}},
    "required": ["mood"],
    "additionalProperties": False,
}


class Mock:
    """The running server: its address, what it shall do next, and what it saw."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, trust_env=False, timeout=10)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        reply = self._http.request(method, f"/_llmock/{path}", json=body)
        reply.raise_for_status()
        return reply.json()

    def plan(self, *behaviours: Mapping[str, Any]) -> None:
        self.ask("POST", "scenario", {"behaviors": list(behaviours)})

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [row for row in self.ask("GET", "requests")["requests"] if row["method"] == "POST"]

    def model(self, provider: str = "openai", **options: Any) -> LanguageModel:
        settings = ModelSettings(
            "chat",
            provider,
            self.url + DIALECTS[provider],
            "mock-model",
            options={"max_retries": 0, "timeout": 5, **options},
        )
        return open_language_model(settings)

    def close(self) -> None:
        self._http.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Mock]:
    with running("llmock", "serve") as url:
        mock = Mock(url)
        yield mock
        mock.close()


@pytest.fixture
def mock(server: Mock) -> Iterator[Mock]:
    server.ask("POST", "reset")
    yield server
    # What a client does with a stream that ended early, the server guesses from whether it asked again. Here a
    # test says it.
    findings = server.ask("GET", "verdict")["findings"]
    assert [
        f for f in findings if f["severity"] == "error" and f["code"] != "truncated_stream_accepted"
    ] == []


def failure(model: LanguageModel, **options: Any) -> LanguageModelError:
    with pytest.raises(LanguageModelError) as caught:
        complete(model, **options)
    return caught.value


def streamed(model: LanguageModel) -> tuple[Completion | LanguageModelError, str]:
    """Return the answer or the error of a streamed call, and the text that came before."""
    pieces: list[str] = []
    try:
        return complete(model, on_delta=pieces.append), "".join(pieces)
    except LanguageModelError as error:
        return error, "".join(pieces)


# ---- answers ----


@pytest.mark.parametrize("provider", DIALECTS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_is_the_servers_text_with_its_usage(mock: Mock, provider: str, stream: bool) -> None:
    mock.plan({"type": "reply", "text": WORDS})
    pieces: list[str] = []
    done = complete(mock.model(provider), on_delta=pieces.append if stream else None)
    assert (done.text, done.finish_reason, done.model) == (WORDS, "stop", "mock-model")
    assert (done.usage.input_tokens or 0) > 0
    assert (done.usage.output_tokens or 0) > 0
    assert ("".join(pieces) == WORDS and len(pieces) > 2) if stream else not pieces


@pytest.mark.parametrize("provider", DIALECTS)
def test_a_cut_answer_is_told_from_a_whole_one(mock: Mock, provider: str) -> None:
    mock.plan({"type": "reply", "text": '{"mood": "go', "finish_reason": "length", "times": 2})
    model = mock.model(provider)
    assert complete(model).truncated
    done, _ = streamed(model)
    assert isinstance(done, Completion)
    assert done.truncated


def test_an_answer_by_a_schema_comes_from_the_schema_that_was_sent(mock: Mock) -> None:
    done = complete(mock.model(), response_format=json_schema_format("Mood", MOOD))
    assert JsonSchema.from_value(MOOD).check(json.loads(done.text)) == []


def test_a_probe_sees_schemas_streams_usage_and_models(mock: Mock) -> None:
    probe = using(mock.model(), lambda model: model.probe())
    assert (probe.ok, probe.streaming, probe.usage) == (True, True, True)
    assert probe.json_schema is True
    assert probe.models


# ---- failures with a status ----


@pytest.mark.parametrize("provider", DIALECTS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500, 503, 529])
def test_a_status_is_an_error_with_that_status_and_the_servers_words(
    mock: Mock, provider: str, status: int
) -> None:
    mock.plan({"type": "fail", "status": status, "message": "no luck today"})
    error = failure(mock.model(provider))
    assert (error.kind, error.status) == ("status", status)
    assert "no luck today" in (error.server_message or "")
    assert len(mock.requests) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_passes_is_asked_again_and_answered(mock: Mock, status: int, stream: bool) -> None:
    mock.plan({"type": "fail", "status": status, "retry_after": 0.02}, {"type": "reply", "text": WORDS})
    done = complete(mock.model(max_retries=1), on_delta=(lambda _: None) if stream else None)
    assert done.text == WORDS
    assert [row["status"] for row in mock.requests] == [status, 200]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_stays_is_asked_once(mock: Mock, status: int) -> None:
    mock.plan({"type": "fail", "status": status, "times": None})
    assert failure(mock.model(max_retries=3)).status == status
    assert len(mock.requests) == 1


def test_t93_D3_the_requests_are_the_first_one_and_its_retries(mock: Mock) -> None:  # noqa: N802
    mock.plan({"type": "fail", "status": 429, "retry_after": 0.05, "times": None})
    assert failure(mock.model(max_retries=3)).status == 429
    assert len(mock.requests) == 4


def test_t94_the_time_that_the_server_asks_for_is_waited(mock: Mock) -> None:
    mock.plan(
        {"type": "fail", "status": 429, "retry_after": 1.2, "times": 1}, {"type": "reply", "text": WORDS}
    )
    began = time.monotonic()
    assert complete(mock.model(max_retries=1)).text == WORDS
    assert time.monotonic() - began >= 1.2


def test_a_prompt_over_the_context_is_its_own_kind_of_error(mock: Mock) -> None:
    said = "This model's maximum context length is 8 tokens. However, your messages resulted in 9 tokens."
    mock.plan({"type": "fail", "status": 400, "code": "context_length_exceeded", "message": said})
    assert failure(mock.model()).kind == "context"


# ---- failures of the connection and of the stream ----


def test_D3_an_answer_that_does_not_come_is_a_timeout(mock: Mock) -> None:  # noqa: N802
    mock.plan({"type": "delay", "seconds": 1.5})
    assert failure(mock.model(timeout=0.3)).kind == "timeout"


def test_a_slow_first_piece_is_waited_for(mock: Mock) -> None:
    mock.plan({"type": "slow_first_token", "seconds": 0.6}, {"type": "reply", "text": WORDS})
    done, text = streamed(mock.model(timeout=3))
    assert isinstance(done, Completion)
    assert text == WORDS


@pytest.mark.parametrize("provider", DIALECTS)
@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize(
    ("fault", "kind"), [("disconnect", "broken_off"), ("truncate", "broken_off"), ("malformed", "bad_shape")]
)
def test_a_broken_stream_is_an_error_and_keeps_what_came(
    mock: Mock, provider: str, fault: str, kind: str, after: int
) -> None:
    mock.plan(
        {"type": "stream_fault", "kind": fault, "after_chunks": after}, {"type": "reply", "text": WORDS}
    )
    error, text = streamed(mock.model(provider))
    assert isinstance(error, LanguageModelError)
    if after == 0 and fault != "malformed":
        kind = "bad_shape" if fault == "truncate" else kind  # a stream of nothing is no completion at all
    assert error.kind == kind
    assert WORDS.startswith(text)
    assert text != WORDS
    assert mock.url in error.message


@pytest.mark.parametrize("provider", DIALECTS)
def test_a_stream_that_stalls_is_a_timeout(mock: Mock, provider: str) -> None:
    mock.plan(
        {"type": "stream_fault", "kind": "stall", "after_chunks": 3, "stall_seconds": 1.5},
        {"type": "reply", "text": WORDS},
    )
    error, text = streamed(mock.model(provider, timeout=0.3))
    assert isinstance(error, LanguageModelError)
    assert error.kind == "timeout"
    assert text != WORDS


def test_t88_a_stopped_stream_is_seen_by_the_server(mock: Mock) -> None:
    mock.plan(
        {"type": "stream_fault", "kind": "stall", "after_chunks": 3, "stall_seconds": 30},
        {"type": "reply", "text": WORDS},
    )

    async def stop(model: LanguageModel) -> None:
        arrived = asyncio.Event()
        task = asyncio.ensure_future(model.complete(HELLO, on_delta=lambda _: arrived.set()))
        await asyncio.wait_for(arrived.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    using(mock.model(timeout=60), stop)
    [seen] = mock.requests
    assert seen["completed"] is False
    assert (seen["stall_waited"] or 0) < 5  # none where the end was noticed before the stall began


# ---- the translator over the same server ----


def translate(mock: Mock, mode: str = "prompt", **options: Any) -> Success[Any] | Failure:
    """Translate one request; its events are listened to, so the reply is streamed as in the window."""
    settings = TranslationSettings(type_name="Mood", mode=mode)  # type: ignore[arg-type]
    heard: list[Any] = []

    async def run(model: LanguageModel) -> Success[Any] | Failure:
        schema = JsonSchema.from_value(MOOD)
        return await translator_from_settings(settings, model, schema, on_event=heard.append).translate(
            "fine"
        )

    result = using(mock.model(**options), run)
    assert heard[-1].kind == "finished"
    return result


def test_a_wrong_reply_is_repaired_over_the_wire(mock: Mock) -> None:
    mock.plan({"type": "reply", "text": '{"mood": "glad"}'}, {"type": "reply", "text": '{"mood": "good"}'})
    result = translate(mock)
    assert isinstance(result, Success)
    assert (result.data, len(result.attempts)) == ({"mood": "good"}, 2)
    first, second = (row["body"]["messages"] for row in mock.requests)
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert second[0] == first[0]
    assert second[1]["content"] == '{"mood": "glad"}'
    assert result.record is not None
    assert result.record.usage is not None
    assert (result.record.usage.output_tokens or 0) > 0


# Every fault that the server knows, with the outcome that a translation must have. No fault gives a value.
STREAM = [
    pytest.param(
        {"type": "stream_fault", "kind": kind, "after_chunks": after}, "model_error", id=f"{kind}-{after}"
    )
    for kind in ("disconnect", "truncate", "malformed")
    for after in (0, 1, 2)
]


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        *STREAM,
        pytest.param(
            {"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 1.0},
            "model_error",
            id="stall",
        ),
        pytest.param({"type": "delay", "seconds": 1.0}, "model_error", id="delay"),
        pytest.param({"type": "slow_first_token", "seconds": 1.0}, "model_error", id="slow first piece"),
        *(
            pytest.param({"type": "fail", "status": status}, "model_error", id=str(status))
            for status in (400, 401, 404, 429, 500, 529)
        ),
        pytest.param({"type": "reply", "text": "I would rather not."}, "no_json", id="prose"),
        pytest.param({"type": "reply", "text": ""}, "empty", id="nothing"),
        pytest.param(
            {"type": "reply", "text": '{"mood": "go', "finish_reason": "length"}, "truncated", id="cut"
        ),
        pytest.param(
            {"type": "reply", "text": '{"mood": "good"}', "finish_reason": "content_filter"},
            "refused",
            id="filtered",
        ),
    ],
)
def test_no_fault_becomes_a_value(mock: Mock, fault: dict[str, Any], outcome: str) -> None:
    mock.plan({**fault, "times": None}, *([] if fault["type"] == "reply" else [_good()]))
    result = translate(mock, timeout=0.4)
    assert isinstance(result, Failure)
    assert result.code == outcome
    assert result.message
    assert result.record is not None
    assert result.record.value is None


def _good() -> dict[str, Any]:
    return {"type": "reply", "text": '{"mood": "good"}', "times": None}


def test_a_tool_call_is_a_value_like_any_other(mock: Mock) -> None:
    mock.plan({"type": "reply", "tool_calls": [{"name": "Mood", "arguments": {"mood": "bad"}}]})
    result = translate(mock, mode="tool")
    assert isinstance(result, Success)
    assert result.data == {"mood": "bad"}


@pytest.mark.parametrize("fault", ["malformed_arguments", "unknown_tool"])
def test_a_broken_tool_call_is_repaired_or_refused_and_never_taken(mock: Mock, fault: str) -> None:
    mock.plan({"type": "tool_fault", "kind": fault, "times": None})
    result = translate(mock, mode="tool")
    assert isinstance(result, Failure)
    assert result.code == ("syntax" if fault == "malformed_arguments" else "empty")
    assert len(result.attempts) == 2


def test_what_the_server_said_of_a_failure_is_kept_with_the_attempt(mock: Mock) -> None:
    mock.plan({"type": "fail", "status": 503, "message": "come back on Monday"})
    result = translate(mock)
    assert isinstance(result, Failure)
    [attempt] = result.attempts
    assert attempt.failure is not None
    assert (attempt.failure["kind"], attempt.failure["status"]) == ("status", 503)
    assert "come back on Monday" in attempt.failure["server_said"]
    assert attempt.to_json()["failure"] == dict(attempt.failure)
