"""Recognises which dialect a server speaks from what it sent, since its address does not tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NAMES = {
    "openai": "OpenAI's decisions",
    "system-one": "System One",
    "sglang": "SGLang's decisions",
    "chat-logprobs": "chat completions",
}


def dialect_of_reply(value: Any) -> str | None:
    """Return the provider whose form a reply has, `None` where it has none of them."""
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("result"), Mapping) and "answers" in value["result"]:
        value = value["result"]
    answers = value.get("answers")
    if isinstance(answers, list):
        return "openai"
    if isinstance(answers, Mapping):
        # A list: a type may be of any JSON kind, also of one that no set can hold.
        kinds = [answer.get("type") for answer in answers.values() if isinstance(answer, Mapping)]
        if value.get("object") == "decisions" or "yes_no" in kinds:
            return "sglang"
        if "noul" in kinds or any("noul" in a for a in answers.values() if isinstance(a, Mapping)):
            return "system-one"
    if "choices" in value:
        return "chat-logprobs"
    return None


def hint_for_reply(value: Any, dialect: str) -> str | None:
    """Return what to change when a reply has the form of another dialect than `dialect`."""
    found = dialect_of_reply(value)
    if found is None or found == dialect:
        return None
    return f'the server speaks {_NAMES[found]}: set provider = "{found}"'


def hint_for_refusal(status: int | None, message: str | None, dialect: str) -> str | None:
    """Return what to change, as far as a server's error message tells, or the status alone."""
    text = (message or "").lower()
    if "decisions model" in text and dialect == "chat-logprobs":
        return 'this model answers decisions only: set provider = "openai" (or "system-one")'
    if status in (400, 422):
        # Each server names the fields that it misses; those give its dialect away.
        words = set(re.findall(r"\w+", text))
        if dialect != "system-one" and words & {"state", "noul"}:
            return 'the server seems to speak System One: set provider = "system-one"'
        if dialect != "openai" and ("predicate" in words or {"instructions", "input"} <= words):
            return 'the server seems to speak OpenAI\'s decisions: set provider = "openai"'
        if dialect != "sglang" and "yes_no" in words:
            return 'the server seems to speak SGLang\'s decisions: set provider = "sglang"'
        if "logprobs" in text:
            return "this model gives no token probabilities; choose another model or a decision server"
    hints = {
        401: "check the secret of this model",
        402: "the account has no credit left",
        403: "check the secret of this model",
        404: "check base_url and model; the base address or the full endpoint are both accepted",
        405: "check base_url; the server has no such endpoint",
        413: "the text is too long for this server",
    }
    return hints.get(status or 0)
