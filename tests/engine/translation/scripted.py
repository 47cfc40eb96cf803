"""A model that plays a script, and the schemas that the cases share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from workbench.engine.language_models import Completion, Message, Usage

S1 = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
S2 = {"type": "object", "properties": {"log": {"type": "string"}}, "required": ["log"]}
S3 = {"type": "array", "items": S1}
S4 = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "nick": {"type": "string"},
        "status": {"type": ["string", "null"]},
    },
    "required": ["name", "status"],
}
S5 = {
    "type": "object",
    "properties": {"sentiment": {"enum": ["negative", "neutral", "positive"]}},
    "required": ["sentiment"],
}
S6 = {
    "type": "object",
    "properties": {
        "actions": {
            "type": "array",
            "items": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "add"}, "day": {"type": "string"}},
                        "required": ["kind", "day"],
                    },
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "unknown"}, "text": {"type": "string"}},
                        "required": ["kind", "text"],
                    },
                ]
            },
        }
    },
    "required": ["actions"],
}
S7 = {"type": "object", "properties": {"l": True}}
S8 = {"type": "object", "properties": {"a": {"type": "integer"}, "o": {"type": "object"}}}
NUMBER = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
INTEGER = {"type": "integer"}

FENCE = "```"
GOOD = '{"a": 1}'
BAD = '{"a": "one"}'


class ScriptedModel:
    """Answers with the entries of a script in their order and keeps every conversation that it was sent.

    An entry is a text, a `Completion`, an exception to raise, or a number of seconds to sleep before the next.
    """

    name = "scripted"
    provider = "scripted"

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.sent: list[list[Message]] = []
        self.options: list[dict[str, Any]] = []

    @property
    def calls(self) -> int:
        return len(self.sent)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        response_format: Any = None,
        max_tokens: int | None = None,
        tools: Any = None,
        on_delta: Any = None,
    ) -> Completion:
        self.sent.append(list(messages))
        self.options.append({"response_format": response_format, "max_tokens": max_tokens, "tools": tools})
        entry = self.script.pop(0)
        while isinstance(entry, (int, float)):
            await asyncio.sleep(entry)
            entry = self.script.pop(0)
        if isinstance(entry, BaseException):
            raise entry
        completion = entry if isinstance(entry, Completion) else Completion(entry, "stop")
        if on_delta is not None:
            half = len(completion.text) // 2
            for piece in (completion.text[:half], completion.text[half:]):
                on_delta(piece)
        return completion


def used(text: str, input_tokens: int | None, output_tokens: int | None) -> Completion:
    """Return a completion with a usage."""
    return Completion(text, "stop", usage=Usage(input_tokens, output_tokens))


def roles(messages: Sequence[Message]) -> list[str]:
    """Return the roles of a conversation."""
    return [message.role for message in messages]
