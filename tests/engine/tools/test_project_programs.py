"""With `target = "program"` a project's requests become programs over its tools, and are evaluated with them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.engine.translation.scripted import ScriptedModel
from workbench.engine.events import RunEvent
from workbench.engine.history import HistoryStore
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.translation import Failure, ProgramRecord, Success, replay_program
from workbench.engine.translation.settings import Rule, TranslationSettings
from workbench.engine.workflows import WorkflowError, as_program, preview_translation, translate_project

ORDER = json.dumps(
    {
        "type": "object",
        "properties": {"note": {"type": "string"}, "id": {"type": "string", "minLength": 2}},
        "required": ["id"],
    }
)
FIND = ToolDefinition("find", "Finds an order.", ORDER, Simulation(json='{"id": "A7", "paid": true}'))
TELL = ToolDefinition(
    "tell",
    "Tells a customer.",
    '{"type": "object", "properties": {"order": {"type": "object"}}, "required": ["order"]}',
    Simulation(text="told"),
)
FAIL = ToolDefinition("fail", "", '{"type": "object"}', Simulation(error="closed"))


def snapshot(*tools: ToolDefinition, **settings: Any) -> ProjectSnapshot:
    return ProjectSnapshot(
        "shop",
        tools=tools or (FIND, TELL, FAIL),
        translation=TranslationSettings(target="program", **settings),
    )


def call(name: str, *arguments: Any) -> dict[str, Any]:
    return {"@func": name, "@args": list(arguments)}


def translate(
    project: ProjectSnapshot, *programs: Any, **options: Any
) -> tuple[Success[Any] | Failure, ProgramRecord | None, ScriptedModel]:
    model: Any = ScriptedModel(*[json.dumps({"@steps": steps}) for steps in programs])
    events: list[RunEvent] = []
    result = asyncio.run(
        translate_project(project, "Where is A7?", model=model, on_event=events.append, **options)
    )
    for event in events:
        assert json.loads(json.dumps(event.data)) == event.data
    return result, replay_program(events), model


def test_a_request_becomes_a_program_whose_steps_are_run_with_the_simulated_tools() -> None:
    program = [call("find", "A7"), call("tell", {"@ref": 0})]
    result, record, model = translate(snapshot(), program)
    assert isinstance(result, Success)
    assert result.data == {"@steps": program}
    assert record is not None
    assert (record.outcome, record.value) == ("ok", "told")
    assert [step.value for step in record.steps] == [{"id": "A7", "paid": True}, "told"]
    assert record.steps[1].calls[0]["arguments"] == [{"id": "A7", "paid": True}]
    assert record.steps[0].lines() == ['step 0: find("A7") = {"id": "A7", "paid": true}']
    prompt = model.sent[0][0].text()
    assert "find(id: string, note?: string): any;" in prompt
    assert "Finds an order." in prompt
    assert "Where is A7?" in prompt


def test_what_is_not_among_the_tools_is_refused_and_repaired() -> None:
    result, record, model = translate(snapshot(), [call("remove", "A7")], [call("find", "A7")])
    assert isinstance(result, Success)
    assert [attempt.outcome for attempt in result.attempts] == ["invalid", "ok"]
    assert "remove" in model.sent[1][-1].text()
    assert record is not None
    assert len(record.steps) == 1


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        pytest.param([call("find", "A7"), call("fail")], "step 1, fail: closed", id="a tool's error"),
        pytest.param([call("tell", call("find", "A7")), call("find", {"@ref": 0}), call("tell", "x")], "", id="literal"),
        pytest.param([call("find", "A7"), call("find", {"@ref": 0})], "step 1, find: The arguments", id="value of a step"),
    ],
)  # fmt: skip
def test_a_step_that_fails_ends_the_run_with_its_number(steps: Any, words: str) -> None:
    result, record, _model = translate(snapshot(attempt_repair=False), steps)
    assert isinstance(result, Failure)
    if not words:  # refused before anything ran
        assert (result.code, record) == ("invalid", None)
        return
    assert result.code == "tool_error"
    assert result.message.startswith(words)
    assert record is not None
    assert (record.outcome, record.message) == ("tool_error", result.message)
    assert [step.done for step in record.steps] == [True, False]


def test_an_empty_program_has_no_value() -> None:
    result, record, _model = translate(snapshot(), [])
    assert isinstance(result, Success)
    assert record is not None
    assert (record.outcome, record.value, record.steps) == ("ok", None, ())


def test_the_steps_are_stored_and_come_out_of_a_replay() -> None:
    history = HistoryStore.in_memory()
    _result, record, _model = translate(snapshot(), [call("find", "A7"), call("fail")], history=history)
    stored = history.run(1)
    assert replay_program(stored.events) == record
    assert stored.summary.outcome == "tool_error"
    assert "find(id: string" in stored.inputs["schema"]
    history.close()


WRONG = [
    pytest.param(
        ProjectSnapshot("x", translation=TranslationSettings(target="program")), "no tools", id="none"
    ),
    pytest.param(snapshot(ToolDefinition("a-b")), "a-b", id="name"),
    pytest.param(snapshot(ToolDefinition("a", parameters='{"type": "objekt"}')), "objekt", id="schema"),
]


@pytest.mark.parametrize(("project", "words"), WRONG)
def test_what_cannot_become_a_program_is_said_before_a_model_is_asked(
    project: ProjectSnapshot, words: str
) -> None:
    with pytest.raises(WorkflowError, match=words):
        translate(project, [])


def test_what_is_for_values_of_a_schema_does_not_stand_in_the_way_of_a_program() -> None:
    rule = Rule("$.a", "exists", None, "a is missing")
    project = snapshot(mode="schema", strip_nulls="schema", rules=(rule,), request_prompt="Give {type_name}.")
    result, _record, model = translate(as_program(project), [call("find", "A7")])
    assert isinstance(result, Success)
    assert model.options[0]["response_format"] == {"type": "json_object"}
    assert "interface API" in model.sent[0][0].text()


def test_the_preview_shows_the_api() -> None:
    preview = asyncio.run(preview_translation(snapshot(), "Where is A7?"))
    assert "interface API" in preview.prompt


def test_a_tool_without_a_simulated_answer_fails_when_it_is_called_for() -> None:
    result, _record, _model = translate(snapshot(ToolDefinition("mute")), [call("mute")])
    assert isinstance(result, Failure)
    assert "no simulation" in result.message
