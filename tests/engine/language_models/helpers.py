"""Opens models over a transport that plays answers and keeps requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx

from workbench.engine.language_models import Completion, LanguageModel, Message, open_language_model
from workbench.engine.model_settings import ModelSettings

T = TypeVar("T")
BASE = "https://models.example/v1"
HELLO = [Message("user", "hello")]


class Play:
    """A transport that plays JSON values, bytes or responses in order, and the last one ever after."""

    def __init__(self, *answers: Any) -> None:
        self.answers = answers
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, httpx.Response):
            return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)
        if isinstance(answer, bytes):
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=answer)
        return httpx.Response(200, json=answer)

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


def opened(
    play: Play, provider: str = "openai", base_url: str | None = BASE, model: str | None = "m", **options: Any
) -> LanguageModel:
    settings = ModelSettings("chat", provider, base_url, model, options={"max_retries": 0, **options})
    return open_language_model(settings, transport=httpx.MockTransport(play))


def using(model: LanguageModel, work: Callable[[LanguageModel], Awaitable[T]]) -> T:
    async def run() -> T:
        try:
            return await work(model)
        finally:
            await model.aclose()

    return asyncio.run(run())


def complete(model: LanguageModel, messages: list[Message] | None = None, **options: Any) -> Completion:
    return using(model, lambda m: m.complete(messages or HELLO, **options))


def sse(*events: Any) -> bytes:
    return b"".join(
        b"data: " + (e if isinstance(e, bytes) else json.dumps(e).encode()) + b"\n\n" for e in events
    )
