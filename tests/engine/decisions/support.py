"""What the tests of decision models share: canned servers, and short ways to ask."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import httpx

from workbench.engine.decisions import (
    DecisionModel,
    DecisionRequest,
    DecisionResponse,
    YesNoQuestion,
    ask,
    open_decision_model,
)
from workbench.engine.model_settings import ModelSettings

T = TypeVar("T")
DATA = Path(__file__).resolve().parents[2] / "data" / "decisions"

QUESTIONS = {
    "a": YesNoQuestion("Is the text rude?"),
    "b": YesNoQuestion("Does the text ask for a refund?", "wants money back", "asks for something else"),
}
REQUEST = DecisionRequest("Where is my parcel?", QUESTIONS)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


class Canned:
    """A server that plays replies in turn (the last one again and again) and keeps what it was sent."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.requests: list[httpx.Request] = []
        self.transport = httpx.MockTransport(self._handle)

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, httpx.Response):
            return reply
        if isinstance(reply, str):
            return httpx.Response(200, text=reply, headers={"content-type": "application/json"})
        if callable(reply):
            return reply(request)
        return httpx.Response(200, json=reply)

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


def model_for(
    provider: str,
    server: Canned | None = None,
    *,
    base_url: str | None = "http://decisions.test",
    **options: Any,
) -> DecisionModel:
    secrets = options.pop("secrets", None)
    secret = options.pop("secret", None)
    model = options.pop("model", "m-1")
    settings = ModelSettings("decision", provider, base_url, model, secret, {"max_retries": 0, **options})
    transport = server.transport if server is not None else None
    return open_decision_model(settings, secrets=secrets, transport=transport)


def decide(provider: str, reply: Any, request: DecisionRequest = REQUEST, **options: Any) -> DecisionResponse:
    """Ask a model of `provider` whose server answers with `reply`."""
    server = reply if isinstance(reply, Canned) else Canned(reply)

    async def go() -> DecisionResponse:
        model = model_for(provider, server, **options)
        try:
            return await ask(model, request)
        finally:
            await model.aclose()

    return run(go())


def reply_of(provider: str, answers: dict[str, Any]) -> dict[str, Any]:
    """Return a reply in a dialect; `answers` maps names to whatever stands in the place of the probability."""
    if provider == "openai":
        rows = [{"type": "predicate", "name": name, "probability": p} for name, p in answers.items()]
        return {"model": "m-1.2", "answers": rows, "usage": {"input_tokens": 7, "output_tokens": 0}}
    if provider == "system-one":
        made = {name: {"type": "noul", "noul": p} for name, p in answers.items()}
        return {"model": "m-1.2", "answers": made, "usage": {"input_tokens": 7, "output_tokens": 0}}
    made = {}
    for name, p in answers.items():
        number = isinstance(p, (int, float)) and not isinstance(p, bool)
        made[name] = {
            "type": "yes_no",
            "probabilities": {"yes": p, "no": 1 - p if number else 0.5},
            "label_mass": 0.9,
        }
    return {
        "object": "decisions",
        "model": "m-1.2",
        "answers": made,
        "usage": {"prompt_tokens": 7, "completion_tokens": 0},
    }


ONE_CALL = ("openai", "system-one", "sglang")


NAMES_OF_QUESTIONS = ("kettle", "number")
"""The names in the trial request of the connection test."""
