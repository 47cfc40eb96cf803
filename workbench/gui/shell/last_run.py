"""Says of the last run, in one line of plain words, what it was, when, how it ended, how long it took, and on what."""

from __future__ import annotations

import time
from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

from workbench.engine.outcomes import word_of
from workbench.engine.text import shorten
from workbench.gui.jobs import STOPPED
from workbench.gui.models.figures import counted, format_duration

_DID = {
    "check": "checked",
    "guard": "guarded",
    "translate": "translated",
    "program": "program run",
    "evaluate": "evaluated",
    "tools": "tools run",
    "tool": "tools run",
    "batch": "requests run",
}
_DOING = {
    "check": "checking…",
    "guard": "guarding…",
    "translate": "translating…",
    "program": "writing a program…",
    "evaluate": "evaluating…",
    "tools": "running tools…",
}
# What the result of these is a collection of.
_COUNTED = {"evaluate": "case", "batch": "request"}
MOST_NAMES = 2


@dataclass(frozen=True)
class LastRun:
    """A run that is over: `outcome` in words, `status` (`passed`, `rejected`, `warning`, `second`) for its colour."""

    kind: str
    outcome: str
    status: str = "second"
    elapsed_ms: float | None = None
    model: str = ""
    at: float = 0.0

    def words(self) -> str:
        """Return `checked at 14:02: rejected by promptInjection, 41 ms, Embedded MiniLM`."""
        did = _DID.get(self.kind, self.kind)
        when = f" at {time.strftime('%H:%M', time.localtime(self.at))}" if self.at else ""
        spent = "" if self.elapsed_ms is None else format_duration(self.elapsed_ms)
        parts = [part for part in (shorten(self.outcome, 60), spent, self.model) if part]
        return f"{did}{when}: {', '.join(parts)}" if parts else f"{did}{when}"


def doing_words(kind: str) -> str:
    """Return what is said while a run of `kind` goes on."""
    return _DOING.get(kind, f"{kind}…")


def finished_run(kind: str, result: Any, model: str, elapsed_ms: float | None, at: float) -> LastRun:
    """Return the words of a run that gave `result`; `elapsed_ms` is taken where the result does not say its own."""
    own = getattr(result, "elapsed_ms", None)
    spent = own if isinstance(own, int | float) else elapsed_ms
    outcome, status = _outcome(kind, result)
    return LastRun(kind, outcome, status, spent, model, at)


def failed_run(kind: str, message: str, model: str, at: float) -> LastRun:
    """Return the words of a run that gave no result."""
    if message == STOPPED:
        return LastRun(kind, message, "second", None, "", at)
    return LastRun(
        kind,
        f"failed, {message.splitlines()[0] if message else 'no reason given'}",
        "warning",
        None,
        model,
        at,
    )


def _outcome(kind: str, result: Any) -> tuple[str, str]:
    if kind in _COUNTED and isinstance(result, Sized):
        return counted(len(result), _COUNTED[kind]), "passed"
    validations = getattr(result, "validations", None)
    if validations is not None:
        return _loop(result, len(validations))
    verdict = getattr(result, "verdict", None)
    if isinstance(verdict, str):
        return _verdict(verdict, result)
    record = getattr(result, "record", None)
    attempts = getattr(record, "attempts", None)
    if kind in ("translate", "program") and attempts is not None:
        return _translation(record, "not translated" if kind == "translate" else "no program")
    outcome = getattr(result, "outcome", None)
    if isinstance(outcome, str):
        # The history calls a conversation with tools that went well answered, too.
        done = outcome in ("ok", "passed", "answered")
        return "answered" if outcome == "ok" else word_of(outcome), "passed" if done else "second"
    return (result, "second") if isinstance(result, str) else ("done", "second")


def _loop(result: Any, validations: int) -> tuple[str, str]:
    asked = max(0, validations - 1)
    after = f" after {counted(asked, 'reprompt')}" if asked else ""
    return (f"passed{after}", "passed") if result.passed else (f"rejected{after}", "rejected")


def _verdict(verdict: str, result: Any) -> tuple[str, str]:
    names = list(getattr(result, "failed_checks", ()) or getattr(result, "unanswered_checks", ()))
    if verdict == "passed":
        return "passed", "passed"
    said = ", ".join(names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        said += f" and {len(names) - MOST_NAMES} more"
    if verdict == "rejected":
        return f"rejected by {said}" if said else "rejected", "rejected"
    return f"no verdict, {said} gave no answer" if said else "no verdict", "warning"


def _translation(record: Any, failed: str) -> tuple[str, str]:
    repairs = max(0, len(record.attempts) - 1)
    if record.outcome == "ok":
        return (
            f"valid after {counted(repairs, 'repair')}" if repairs else "valid at the first reply"
        ), "passed"
    return f"{failed}, {word_of(record.outcome)}", "rejected"
