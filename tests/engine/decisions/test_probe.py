"""The test of a connection says what answered, in which dialect, and what to change."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.engine.decisions.support import NAMES_OF_QUESTIONS, Canned, reply_of, run
from workbench.engine.decisions import ProbeReport, probe_decision_model
from workbench.engine.model_settings import ModelSettings


def probe(provider: str, server: Canned, model: str = "m-1") -> ProbeReport:
    settings = ModelSettings("decision", provider, "http://decisions.test", model)
    return run(probe_decision_model(settings, transport=server.transport))


def speaking(dialect: str) -> Canned:
    """A server of one dialect that turns other bodies away, as real ones do."""

    def answer(request: httpx.Request) -> httpx.Response:
        body: dict[str, Any] = json.loads(request.content)
        questions = body.get("questions")
        first = questions[0] if isinstance(questions, list) and questions else {}
        found = (
            "system-one"
            if isinstance(questions, dict)
            else "sglang"
            if "id" in first
            else "openai"
            if questions
            else "chat-logprobs"
        )
        if found != dialect:
            return httpx.Response(422, json={"error": {"message": "the body is not valid"}})
        return httpx.Response(200, json=reply_of(dialect, dict.fromkeys(NAMES_OF_QUESTIONS, 0.5)))

    return Canned(answer)


@pytest.mark.parametrize("dialect", ["openai", "system-one", "sglang"])
def test_a_server_that_answers_is_named_with_its_version(dialect: str) -> None:
    report = probe(dialect, speaking(dialect))
    assert report.ok
    assert report.looks_like == dialect
    assert report.model_version == "m-1.2"
    assert report.missing == ()
    assert report.elapsed_ms > 0


@pytest.mark.parametrize(
    ("configured", "spoken"), [("openai", "system-one"), ("system-one", "sglang"), ("sglang", "openai")]
)
def test_a_server_of_another_dialect_is_recognised(configured: str, spoken: str) -> None:
    report = probe(configured, speaking(spoken))
    assert not report.ok
    assert report.looks_like == spoken
    assert report.hint == f'the server speaks another dialect: set provider = "{spoken}"'


def test_what_a_server_does_not_tell_is_listed() -> None:
    reply = reply_of("system-one", dict.fromkeys(NAMES_OF_QUESTIONS, 0.5))
    del reply["usage"]
    assert probe("system-one", Canned(reply)).missing == ("token counts",)


def test_an_alias_is_pointed_out() -> None:
    reply = reply_of("system-one", dict.fromkeys(NAMES_OF_QUESTIONS, 0.5)) | {"model": "jev-latest"}
    assert "jev-latest is an alias" in probe("system-one", Canned(reply)).notes[0]


def test_bad_credentials_are_not_tried_in_other_dialects() -> None:
    server = Canned(httpx.Response(401, json={"error": {"message": "bad key"}}))
    report = probe("openai", server)
    assert len(server.requests) == 1
    assert report.hint == "check the secret of this model"


def test_a_server_that_is_not_there_is_said() -> None:
    report = probe("openai", Canned(httpx.ConnectError("refused")))
    assert not report.ok
    assert "cannot be reached" in (report.problem or "")


def test_a_chat_model_without_token_probabilities_is_found_out() -> None:
    report = probe("chat-logprobs", Canned({"choices": [{"message": {"content": "yes"}, "logprobs": None}]}))
    assert not report.ok
    assert "no token probabilities" in (report.problem or "")


def test_token_probabilities_that_temperature_0_made_certain_are_pointed_out() -> None:
    top = [{"token": "Yes", "logprob": 0.0}, {"token": "No", "logprob": -9999.0}]
    content = [{"token": "Yes", "logprob": 0.0, "top_logprobs": top}]
    report = probe("chat-logprobs", Canned({"choices": [{"message": {}, "logprobs": {"content": content}}]}))
    assert any("certainties only" in note for note in report.notes)


def test_settings_that_cannot_work_are_reported_without_a_call() -> None:
    report = run(probe_decision_model(ModelSettings("d", "openai")))
    assert not report.ok
    assert "has no model" in (report.problem or "")
