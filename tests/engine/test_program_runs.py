"""A stored program run is shown step by step, by one fold, and runs again as what it was: a value or a program."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.engine.tools.test_project_programs import FAIL, FIND, TELL, call
from tests.engine.translation.scripted import ScriptedModel
from workbench.engine.history import HistoryStore
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.text import TextFile
from workbench.engine.translation import TranslationRecord, replay
from workbench.engine.translation.settings import TranslationSettings
from workbench.engine.workflows import (
    as_program,
    branch_translation,
    compare_runs,
    replay_events,
    replay_run,
    run_again,
    step_cuts,
    target_of,
    translate_project,
)
from workbench.engine.workflows.program_runs import ProgramRunRecord

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
GOOD = [call("find", "A7"), call("tell", {"@ref": 0})]
BAD = [call("find", "A7"), call("fail")]


class OpenedModel(ScriptedModel):
    """A scripted model that is opened and closed by what it is run with."""

    async def aclose(self) -> None:
        """Nothing to release."""


def project(**settings: Any) -> ProjectSnapshot:
    return ProjectSnapshot(
        "shop",
        tools=(FIND, TELL, FAIL),
        output_schema=TextFile(SCHEMA),
        translation=TranslationSettings(**settings),
    )


def program(steps: list[dict[str, Any]]) -> str:
    return json.dumps({"@steps": steps})


def store_run(history: HistoryStore, snapshot: ProjectSnapshot, *replies: str) -> None:
    model: Any = ScriptedModel(*replies)
    asyncio.run(translate_project(snapshot, "Where is A7?", model=model, history=history))


@pytest.fixture
def history() -> HistoryStore:
    """A history of two programs, made once for a project of values: one ran, one failed; and of one value."""
    history = HistoryStore.in_memory()
    store_run(history, as_program(project()), program([call("remove")]), program(GOOD))
    store_run(history, as_program(project()), program(BAD))
    store_run(history, project(), '{"a": 1}')
    return history


def test_the_steps_of_a_program_follow_those_of_its_attempts(history: HistoryStore) -> None:
    record = replay_run(history, 1)
    assert isinstance(record, ProgramRunRecord)
    assert [step.label for step in record.program_steps()] == [
        "begins",
        "step 0: find",
        "0 done",
        "step 1: tell",
        "1 done",
        "value",
    ]
    assert record.steps == (*record.attempt_steps(), *record.program_steps())
    assert {step.attempt for step in record.program_steps()} == {2}
    assert [attempt.outcome for attempt in record.attempts] == ["invalid", "ok"]
    assert (record.outcome, record.program.value) == ("ok", "told")


def test_each_step_shows_what_was_known_by_then(history: HistoryStore) -> None:
    events = history.run(1).events
    cuts = step_cuts("translate", events)
    assert len(cuts) == len(replay_events("translate", events).steps)
    known = []
    for step in range(len(cuts)):
        record = replay_run(history, 1, step=step + 1)
        assert record.steps == replay_events("translate", events).steps[: step + 1]
        if isinstance(record, ProgramRunRecord):
            known.append((record.program.outcome, sum(each.done for each in record.program.steps)))
    assert known == [
        ("running", 0),
        ("running", 0),
        ("running", 1),
        ("running", 1),
        ("running", 2),
        ("ok", 2),
    ]


def test_a_program_that_failed_is_no_good_run(history: HistoryStore) -> None:
    record = replay_run(history, 2)
    assert isinstance(record, ProgramRunRecord)
    assert record.outcome == history.run(2).summary.outcome == "tool_error"
    assert record.message == "step 1, fail: closed"
    assert [step.status for step in record.program_steps()][-2:] == ["error", "error"]


def test_a_translation_to_a_value_replays_as_before(history: HistoryStore) -> None:
    record = replay_run(history, 3)
    assert type(record) is TranslationRecord
    assert record == replay(history.run(3).events)


def test_programs_are_compared_by_what_they_gave(history: HistoryStore) -> None:
    found = compare_runs(history.run(1), history.run(2))
    assert found.outcomes == ("ok", "tool_error")
    changes = {change.pointer: (change.before, change.after) for change in found.changes or ()}
    assert changes["/value"] == ("told", None)
    assert any(pointer.startswith("/program/@steps/1") for pointer in changes)
    assert compare_runs(history.run(1), history.run(1)).same


@pytest.mark.parametrize(
    ("run_id", "target", "reply", "outcome"),
    [
        pytest.param(1, "value", program(GOOD), "ok", id="program in a project of values"),
        pytest.param(1, "program", program(GOOD), "ok", id="program in a project of programs"),
        pytest.param(2, "value", program(BAD), "tool_error", id="program that failed"),
        pytest.param(3, "value", '{"a": 1}', "ok", id="value in a project of values"),
        pytest.param(3, "program", '{"a": 1}', "ok", id="value in a project of programs"),
    ],
)
def test_a_request_becomes_again_what_it_became_then(
    history: HistoryStore, monkeypatch: pytest.MonkeyPatch, run_id: int, target: Any, reply: str, outcome: str
) -> None:
    model = OpenedModel(reply)
    monkeypatch.setattr(
        "workbench.engine.workflows.translating.open_chat_model", lambda *_args, **_options: model
    )
    made = asyncio.run(run_again(project(target=target), history, run_id))
    run = history.run(made)
    assert (run.summary.outcome, run.summary.parent_run) == (outcome, run_id)
    assert target_of(run) == target_of(history.run(run_id))
    assert ("interface API" in model.sent[0][0].text()) == (run_id < 3)
    assert compare_runs(history.run(run_id), run).same


def test_a_run_that_did_not_store_its_target_is_known_by_its_events_or_its_title(
    history: HistoryStore,
) -> None:
    for run_id, expected in ((1, "program"), (3, "value")):
        run = history.run(run_id)
        without = replace(run, inputs={key: v for key, v in run.inputs.items() if key != "target"})
        assert target_of(without) == expected
        # So were the runs called that had no target yet.
        title = "Translate to a program" if expected == "program" else run.summary.title
        summary = replace(run.summary, title=title)
        assert target_of(replace(without, summary=summary, events=())) == expected


def test_a_branch_of_a_one_off_program_is_a_program_too(history: HistoryStore) -> None:
    model: Any = ScriptedModel(program(GOOD))
    asyncio.run(branch_translation(project(), history, 1, 1, model=model))
    run = history.run(4)
    assert (run.summary.outcome, run.summary.parent_run, run.summary.parent_attempt) == ("ok", 1, 1)
    assert isinstance(replay_run(history, 4), ProgramRunRecord)
