"""A stored run shows exactly what the live run showed, without a model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.engine.translation.scripted import BAD, FENCE, GOOD, S1, ScriptedModel, used
from workbench.engine.events import RunEvent
from workbench.engine.language_models import Completion, LanguageModelError
from workbench.engine.translation import (
    Failure,
    JsonSchemaValidator,
    JsonTranslator,
    Success,
    TranslationRecord,
    replay,
)

SCRIPTS = {
    "ok": [GOOD],
    "repaired": [used(f"Sure:\n{FENCE}json\n{BAD}\n{FENCE}", 10, 5), used(GOOD, 20, 7)],
    "prose": ["no idea", GOOD],
    "broken": ['{"a": 1,}', '{"a": 1e999}'],
    "echo": [json.dumps(S1), GOOD],
    "big": ['{"a": 12345678901234567890}'],
    "float": ['{"a": 1.0}'],
    "emoji": ['{"b": "😀\\ud800"}', "{'a': 1}"],
    "model error": [BAD, LanguageModelError("status", "HTTP 500", hint="Later.")],
    "cut": [Completion('{"a": [1, 2', "length")],
    "refused": [Completion("", "stop", refusal="no")],
    "duplicate": ['{"a": 1, "a": 2}'],
}


def live(script: list[Any], **settings: Any) -> tuple[list[RunEvent], Success[Any] | Failure]:
    """Run a script and return its events and its result."""
    events: list[RunEvent] = []
    t = JsonTranslator(ScriptedModel(*script), JsonSchemaValidator(S1), on_event=events.append, **settings)
    t.validate_instance = lambda value: Failure("too large") if value["a"] > 10**9 else Success(value)
    return events, asyncio.run(t.translate("a request"))


def attempts_text(record: TranslationRecord) -> str:
    return json.dumps([attempt.to_json() for attempt in record.attempts])


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_replay_is_the_run_byte_for_byte_T90(script: list[Any], lenient: bool) -> None:  # noqa: N802
    events, result = live(script, profile="smart")
    stored = [RunEvent.from_json(json.loads(json.dumps(event.to_json()))) for event in events]
    # Pieces of a streamed reply are shown live and need not be stored.
    for kept in (stored, [event for event in stored if event.kind != "delta"]):
        record = replay(kept)
        assert record == result.record
        assert record.attempts == result.attempts
        assert attempts_text(record) == json.dumps([attempt.to_json() for attempt in result.attempts])
    assert record.outcome == ("ok" if result.success else result.code)


def test_every_prefix_of_a_run_can_be_shown() -> None:
    events, result = live(SCRIPTS["repaired"])
    shown = [replay(events[:n]) for n in range(len(events) + 1)]
    assert shown[0].outcome == "running"
    assert shown[-1] == result.record
    labels = [step.label for step in shown[-1].steps]
    assert labels == [
        "prompt", "sent", "reply", "JSON found", "1 error", "repair asked", "sent", "reply", "JSON found", "valid",
    ]  # fmt: skip
    assert [len(record.steps) for record in shown] == sorted(len(record.steps) for record in shown)


def test_a_streamed_reply_can_be_seen_while_it_comes() -> None:
    events, _ = live([GOOD])
    at = next(i for i, event in enumerate(events) if event.kind == "delta")
    partial = replay(events[: at + 1])
    assert GOOD.startswith(partial.attempts[0].reply)
    assert partial.attempts[0].outcome == "running"


def test_events_hold_json_values_only() -> None:
    events, _ = live(SCRIPTS["repaired"])
    for event in events:
        assert json.loads(json.dumps(event.data)) == event.data


def test_what_a_listener_does_to_the_result_does_not_reach_the_record() -> None:
    events, result = live([GOOD])
    assert isinstance(result, Success)
    result.data["a"] = 99
    assert replay(events).value == {"a": 1}
    assert result.record is not None
    assert result.record.value == {"a": 1}


def test_events_of_other_kinds_are_passed_over() -> None:
    events, result = live([GOOD])
    noise = RunEvent("check_result", 0.0, {"attempt": "x"})
    assert replay([noise, *events, noise]) == result.record


@pytest.mark.parametrize(
    "value", [{}, {"kind": "x"}, {"kind": "x", "at": True}, {"kind": "x", "at": 1, "data": []}]
)
def test_what_is_no_event_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        RunEvent.from_json(value)


def test_the_json_form_of_an_attempt_has_the_documented_members() -> None:
    _, result = live(SCRIPTS["repaired"])
    assert list(result.attempts[0].to_json()) == [
        "number", "messages", "reply", "finish_reason", "outcome", "value", "diagnostics", "notes",
        "removed_nulls", "usage", "elapsed_ms", "cost", "failure",
    ]  # fmt: skip
