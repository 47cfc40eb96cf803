"""Tells what people wrote in a prompt of several messages from the lines that name the roles, which only a model needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt of several messages as one text, in two forms.

    `sent` is what a model gets: each message follows a line `--- role ---`. `plain` holds the messages alone, each
    beginning a line of its own, as the preview shows them: patterns, lengths and positions are about this one.
    `messages` are pairs of role and text.
    """

    messages: tuple[tuple[str, str], ...]

    @property
    def sent(self) -> str:
        """The text with the lines that name the roles."""
        return "".join(f"{_head(role)}{_line(text)}" for role, text in self.messages)

    @property
    def plain(self) -> str:
        """The texts of the messages alone; only between two of them a missing line end is added."""
        texts = [text for _role, text in self.messages]
        return "".join([*map(_line, texts[:-1]), *texts[-1:]])

    def plain_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a part of `sent` lies in `plain`, half-open; `None` where it holds role lines and no more."""
        parts: list[tuple[int, int]] = []
        sent_at = plain_at = 0
        for role, text in self.messages:
            sent_at += len(_head(role))
            first, last = max(start, sent_at), min(end, sent_at + len(text))
            if first < last:
                parts.append((plain_at + first - sent_at, plain_at + last - sent_at))
            sent_at += len(_line(text))
            plain_at += len(_line(text))
        return (parts[0][0], parts[-1][1]) if parts else None

    def to_json(self) -> list[dict[str, str]]:
        """Return a list of `{"role", "text"}`."""
        return [{"role": role, "text": text} for role, text in self.messages]

    @classmethod
    def of(cls, messages: Iterable[tuple[str, str]]) -> str | PromptText:
        """Return the one text that `messages` are; of one message its text, above which no role is named."""
        found = tuple(messages)
        if not found:
            return ""
        return found[0][1] if len(found) == 1 else cls(found)

    @classmethod
    def from_inputs(cls, inputs: Mapping[str, Any]) -> str | PromptText:
        """Return what a stored run of checks was started with."""
        stored = inputs.get("messages")
        if isinstance(stored, Sequence) and stored and all(isinstance(each, Mapping) for each in stored):
            return cls(tuple((str(each.get("role", "")), str(each.get("text", ""))) for each in stored))
        return str(inputs.get("text") or "")


def _head(role: str) -> str:
    return f"--- {role} ---\n"


def _line(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
