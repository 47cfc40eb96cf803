"""An attempt whose call failed keeps what the server said of it, and never a key."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from tests.engine.translation.scripted import S1, ScriptedModel
from workbench.engine.events import RunEvent
from workbench.engine.language_models import LanguageModel, LanguageModelError, model_from_environment
from workbench.engine.schemas import JsonSchema
from workbench.engine.translation import Failure, JsonTranslator, replay, translator_from_settings
from workbench.engine.translation.settings import TranslationSettings

KEY = "sk-very-secret-key"
ENV = {"OPENAI_API_KEY": KEY, "OPENAI_MODEL": "m"}


def answering(status: int, body: Any) -> LanguageModel:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json=body)

    return model_from_environment(ENV, transport=httpx.MockTransport(answer))


def failed(model: Any, events: list[RunEvent] | None = None) -> Failure:
    async def run() -> Failure:
        settings = TranslationSettings(attempt_repair=False)
        translator: JsonTranslator = translator_from_settings(settings, model, JsonSchema.from_value(S1))
        translator.on_event = None if events is None else events.append
        result = await translator.translate("one")
        assert isinstance(result, Failure)
        return result

    return asyncio.run(run())


def test_the_body_of_an_error_is_kept_without_the_key() -> None:
    events: list[RunEvent] = []
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    result = failed(answering(401, body), events)
    [attempt] = result.attempts
    assert attempt.failure is not None
    assert (attempt.failure["kind"], attempt.failure["status"]) == ("status", 401)
    assert "invalid_api_key" in attempt.failure["server_said"]
    assert KEY not in repr(events)
    assert KEY not in repr(result)
    assert replay(events).attempts == result.attempts


def test_a_long_error_page_is_cut() -> None:
    result = failed(answering(400, {"error": "x" * 50_000}))
    assert result.attempts[0].failure is not None
    assert len(result.attempts[0].failure["server_said"]) == 2000


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (LanguageModelError("timeout", "late"), {"kind": "timeout", "status": None, "server_said": None}),
        (RuntimeError("a model of one's own"), None),
    ],
)
def test_what_is_not_known_is_not_made_up(error: Exception, failure: Any) -> None:
    assert failed(ScriptedModel(error)).attempts[0].failure == failure
