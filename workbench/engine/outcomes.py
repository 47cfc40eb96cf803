"""Says the outcomes of runs and attempts in words, alike in the window and on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WORDS: Final[Mapping[str, str]] = {
    "ok": "valid",
    "instance_rejected": "rule broken",
    "no_json": "no JSON",
    "syntax": "broken JSON",
    "schema_echo": "schema echoed",
    "truncated": "cut off",
    "model_error": "model error",
    "hook_error": "hook error",
    "no_progress": "no progress",
    "cancelled": "stopped by you",
    "budget": "out of budget",
    "tool_error": "tool error",
    "limit": "too many round trips",
}


def word_of(outcome: str) -> str:
    """Return an outcome in words; one that nobody foresaw keeps its name, with spaces."""
    return _WORDS.get(outcome, outcome.replace("_", " "))
