"""What a project says of one model: which provider, where, and under which names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DECISION_PROVIDERS = ("embedded", "openai", "system-one", "sglang", "chat-logprobs", "gguf", "recorded")
CHAT_PROVIDERS = ("openai", "openai-responses", "anthropic", "ollama", "gguf", "local", "recorded")

USES = ("decision", "chat")
"""What the option `use` may say."""


def serves_both(provider: str) -> bool:
    """Tell whether a provider has decision models and chat models."""
    return provider in DECISION_PROVIDERS and provider in CHAT_PROVIDERS


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One `[models.NAME]` table.

    `secret` is the *name* of a secret, never its value. `options` holds the provider's further keys
    (`path`, `recording`, `timeout`, `max_retries`, `headers`, …) as plain JSON-like values, among them the prices
    of a chat model (`input_price` and `output_price` of a million tokens, `currency`).
    """

    name: str
    provider: str
    base_url: str | None = None
    model: str | None = None
    secret: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def decides(self) -> bool:
        """Whether the model answers checks; otherwise it is a chat model.

        Where its provider serves both, the option `use` says which it is, and without that its name: one that begins
        with `decision` answers checks. `decision` and `chat` are what their names say.
        """
        if not serves_both(self.provider):
            return self.provider not in CHAT_PROVIDERS
        use = self.options.get("use")
        if use in USES and self.name not in USES:
            return bool(use == "decision")
        return self.name.startswith("decision")
