"""Every kind of stored run replays step by step, and any part of its events gives what was known by then."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.events import RunEvent
from workbench.engine.history import HistoryStore
from workbench.engine.language_models import Completion, Message, ToolCall, Usage
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.workflows import (
    GuardRecord,
    PlainRecord,
    ToolRecord,
    WorkflowError,
    compare_runs,
    replay_events,
    replay_guard,
    replay_run,
    replay_tools,
    run_project_tools,
    step_cuts,
)


def check(status: str, probability: float | None = 0.9) -> dict[str, Any]:
    return {
        "stage": "output",
        "checks": [
            {
                "name": "bad",
                "question": "Is it bad?",
                "probability": probability,
                "threshold": 0.5,
                "status": status,
            }
        ],
        "message": "" if status == "passed" else "rejected",
    }


GUARD = [
    RunEvent("check_request", 0.0, {"stage": "output", "text": "first", "user_message": "hi", "checks": [], "most": 3}),
    RunEvent("validation", 0.1, {"number": 1, "text": "first", "reprompt": "Again.", "results": [check("rejected")]}),
    RunEvent("response_asked", 0.2, {"reprompt": "Again.", "messages": [{"role": "user", "content": "Again."}]}),
    RunEvent("response", 0.9, {"text": "second", "model": "m-1", "elapsed_ms": 700.0, "recorded": True}),
    RunEvent("validation", 1.0, {"number": 2, "text": "second", "reprompt": None, "results": [check("passed", 0.1)]}),
    RunEvent("check_result", 1.0, check("passed", 0.1)),
    RunEvent("finished", 1.0, {"outcome": "passed", "response": "second", "message": ""}),
]  # fmt: skip


def test_a_guarded_run_has_a_step_for_each_validation_reprompt_and_response() -> None:
    record = replay_guard(GUARD)
    assert [(step.kind, step.validation, step.text) for step in record.steps] == [
        ("request", 1, "first"),
        ("validated", 1, "first"),
        ("asked", 2, "Again."),
        ("response", 2, "second"),
        ("validated", 2, "second"),
        ("ended", 2, ""),
    ]
    assert [step.status for step in record.validations()] == ["rejected", "passed"]
    assert (record.outcome, record.response, record.most, record.user_message) == (
        "passed",
        "second",
        3,
        "hi",
    )
    assert record.looped
    # The result that is told once more at the end belongs to the last validation.
    assert step_cuts("check", GUARD) == [1, 2, 3, 4, 5, 7]


def test_a_guarded_run_cut_anywhere_shows_what_was_known_by_then() -> None:
    whole = replay_guard(GUARD)
    for number, cut in enumerate(step_cuts("check", GUARD), 1):
        record = replay_guard(GUARD[:cut])
        assert record.steps == whole.steps[:number]
    early = replay_guard(GUARD[:3])
    assert early.result is not None
    assert early.result.verdict == "rejected"
    assert early.outcome == "running"
    assert replay_guard(()) == GuardRecord()


def test_a_run_that_an_earlier_version_stored_replays_too() -> None:
    old = [
        RunEvent("validation", 0.1, {"number": 1, "text": "first", "reprompt": "Again.", "results": [check("rejected")]}),
        RunEvent("response_asked", 0.2, {"text": "Again."}),
        RunEvent("validation", 1.0, {"number": 2, "text": "second", "reprompt": None, "results": [check("passed", 0.1)]}),
        RunEvent("check_result", 1.0, check("passed", 0.1)),
    ]  # fmt: skip
    record = replay_guard(old)
    assert [(step.kind, step.validation) for step in record.steps] == [
        ("validated", 1),
        ("asked", 2),
        ("validated", 2),
    ]
    assert record.steps[1].text == "Again."
    assert record.outcome == "passed"


@pytest.mark.parametrize(
    "data",
    [{}, {"results": None}, {"results": [None]}, {"results": [{"checks": [{}]}]}, {"results": ["x"]}],
    ids=repr,
)
def test_a_damaged_validation_never_reads_as_passed(data: dict[str, Any]) -> None:
    record = replay_guard([RunEvent("validation", 0.0, data)])
    assert record.result is None
    assert [step.status for step in record.steps] == ["error"]
    assert record.outcome == "running"


def test_a_failed_check_run_says_why() -> None:
    record = replay_guard([GUARD[0], RunEvent("failed", 0.3, {"error": "DecisionError", "message": "503"})])
    assert (record.outcome, record.message, record.steps[-1].label) == ("error", "503", "failed")


class Scripted:
    """A chat model that calls the tool once and then answers."""

    name = "scripted"
    provider = "scripted"

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, messages: Sequence[Message], **options: Any) -> Completion:
        self.asked += 1
        if self.asked == 1:
            calls = (ToolCall("a", "lookup", '{"order": 7}'), ToolCall("b", "nothing", "{}"))
            return Completion("", "tool_calls", usage=Usage(10, 5), tool_calls=calls, elapsed_ms=3.0)
        if options.get("on_delta") is not None:
            options["on_delta"]("It is ")
        return Completion("It is on its way.", "stop", usage=Usage(20, None), elapsed_ms=2.0)


@pytest.fixture
def tool_run() -> tuple[list[RunEvent], Any]:
    """The live events of a conversation with tools, and the stored run."""
    tool = ToolDefinition(
        "lookup",
        "Finds an order.",
        '{"type": "object"}',
        Simulation(text="It was sent.", result='{"row": 17}'),
    )
    live: list[RunEvent] = []
    with HistoryStore.in_memory() as history:
        asyncio.run(
            run_project_tools(
                ProjectSnapshot("n", tools=(tool,)),
                "Where is it?",
                with_prompt=False,
                model=Scripted(),  # type: ignore[arg-type]
                history=history,
                on_event=live.append,
            )
        )
        [summary] = history.runs()
        return live, history.run(summary.id)


def test_a_tool_run_replays_as_it_was_shown_live(tool_run: tuple[list[RunEvent], Any]) -> None:
    live, stored = tool_run
    assert any(event.kind == "delta" for event in live)
    shown, again = replay_tools(live), replay_tools(stored.events)
    assert json.loads(json.dumps(shown.executions)) == list(again.executions)
    assert [entry.kind for entry in shown.entries] == [entry.kind for entry in again.entries]
    assert [entry.text for entry in shown.entries] == [entry.text for entry in again.entries]
    assert shown.steps == again.steps


def test_a_tool_run_steps_through_what_was_sent_and_what_came(tool_run: tuple[list[RunEvent], Any]) -> None:
    _live, stored = tool_run
    whole = replay_tools(stored.events)
    cuts = step_cuts("tool", stored.events)
    assert len(cuts) == len(whole.steps) >= 7
    for number, cut in enumerate(cuts[:-1], 1):
        record = replay_tools(stored.events[:cut])
        assert record.steps == whole.steps[:number]
        assert list(record.entries) == list(whole.entries[: len(record.entries)])
    kept = [entry for entry in whole.entries if entry.kind == "kept"]
    assert kept[0].kept == {"result": {"row": 17}}
    assert [entry.is_error for entry in whole.entries if entry.kind == "result"] == [False, True]
    assert (whole.outcome, whole.text) == ("ok", "It is on its way.")
    # One call did not tell its output tokens, so that their sum is unknown, which is not zero.
    assert (whole.input_tokens, whole.output_tokens) == (30, None)


def test_half_an_answer_is_shown_as_arriving_until_it_is_there() -> None:
    events = [RunEvent("delta", 0.1, {"text": "It "}), RunEvent("delta", 0.2, {"text": "is"})]
    [entry] = replay_tools(events).entries
    assert (entry.kind, entry.text) == ("arriving", "It is")
    [entry] = replay_tools([*events, RunEvent("reply", 0.3, {"text": "It is so."})]).entries
    assert (entry.kind, entry.text) == ("reply", "It is so.")


def test_an_evaluation_replays_as_plain_steps_and_each_kind_by_its_own_fold() -> None:
    record = replay_events("evaluate", [RunEvent("evaluated", 1.5, {"answers": 3, "words": "3 answers"})])
    assert isinstance(record, PlainRecord)
    assert [(step.label, step.words) for step in record.steps] == [("evaluated", "3 answers")]
    assert isinstance(replay_events("check", ()), GuardRecord)
    assert isinstance(replay_events("tool", ()), ToolRecord)


def test_runs_replay_at_a_step_that_they_have() -> None:
    with HistoryStore.in_memory() as history:
        run_id = history.start_run("check", "guard", {})
        for event in GUARD:
            history.append(run_id, event)
        history.finish_run(run_id, "passed")
        record = replay_run(history, run_id, step=2)
        assert isinstance(record, GuardRecord)
        assert len(record.steps) == 2
        for step in (0, 7):
            with pytest.raises(WorkflowError, match="has 6 steps"):
                replay_run(history, run_id, step=step)
        with pytest.raises(KeyError):
            replay_run(history, 99)


def test_checks_are_compared_by_name_and_other_kinds_not_at_all() -> None:
    with HistoryStore.in_memory() as history:
        for kind, outcome in (("check", "rejected"), ("check", "passed"), ("tool", "ok")):
            run_id = history.start_run(kind, kind, {"checks": []})
            history.append(
                run_id, RunEvent("check_result", 0.0, check(outcome, 0.9 if outcome == "rejected" else 0.1))
            )
            history.finish_run(run_id, outcome)
        before, after, tool = (history.run(number) for number in (1, 2, 3))
        found = compare_runs(before, after)
        assert found.outcomes == ("rejected", "passed")
        assert {change.pointer for change in found.changes or ()} == {"/bad/status", "/bad/probability"}
        assert not found.same
        assert compare_runs(before, before).same
        with pytest.raises(WorkflowError, match="cannot be compared"):
            compare_runs(before, tool)


ASKED = (
    RunEvent("started", 0.0, {"request": "x"}),
    RunEvent("sent", 0.1, {"attempt": 1, "messages": [{"role": "user", "content": "x"}], "base_count": 1}),
)


@pytest.mark.parametrize(
    ("kind", "events"),
    [("translate", ASKED), ("check", GUARD[:3]), ("tool", ASKED)],
    ids=["translation", "guarded response", "tools"],
)
def test_a_run_whose_process_died_replays_as_interrupted(
    kind: str, events: Sequence[RunEvent], tmp_path: Path
) -> None:
    with HistoryStore.open(tmp_path / "h.sqlite") as history:
        run_id = history.start_run(kind, "x", {})
        for event in events:
            history.append(run_id, event)
        before: Any = replay_run(history, run_id)
        assert before.outcome != "interrupted"
        history.finish_run(run_id, "interrupted")
        record: Any = replay_run(history, run_id)
        assert record.outcome == history.run(run_id).summary.outcome == "interrupted"
        assert "interrupted" in record.message
        step: Any = replay_run(history, run_id, step=1)
        assert step.outcome == "running"


def test_an_interrupted_call_may_have_cost_something() -> None:
    cost = {"amount": 0.01, "currency": "USD"}
    events = [
        *ASKED,
        RunEvent("reply", 0.2, {"attempt": 1, "text": "no", "elapsed_ms": 3.0, "cost": cost}),
        RunEvent("validated", 0.2, {"attempt": 1, "outcome": "no_json", "diagnostics": []}),
        RunEvent(
            "sent", 0.3, {"attempt": 2, "messages": [{"role": "user", "content": "y"}], "base_count": 1}
        ),
    ]
    with HistoryStore.in_memory() as history:
        run_id = history.start_run("translate", "x", {})
        for event in events:
            history.append(run_id, event)
        before: Any = replay_run(history, run_id)
        assert before.cost is not None
        history.finish_run(run_id, "interrupted")
        record: Any = replay_run(history, run_id)
        assert [attempt.outcome for attempt in record.attempts] == ["no_json", "interrupted"]
        assert record.cost is None
        assert history.run(run_id).summary.cost is None
