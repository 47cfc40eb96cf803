"""Decision models whose answers a test decides, and that keep what they were asked."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from workbench.engine.decisions import DecisionModel, DecisionRequest, DecisionResponse, YesNoAnswer

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


class Scripted(DecisionModel):
    """Answers each call with the next of `replies` (the last one again and again).

    A reply maps names to probabilities or answers, or is an exception or a whole response.
    """

    name = "scripted"

    def __init__(self, *replies: Any) -> None:
        self.replies = replies
        self.requests: list[DecisionRequest] = []

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, BaseException):
            raise reply
        if not isinstance(reply, Mapping):
            return reply
        answers = {n: YesNoAnswer(a) if isinstance(a, (int, float)) else a for n, a in reply.items()}
        return DecisionResponse(answers, "scripted-1")
