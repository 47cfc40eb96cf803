"""A request becomes a program over the tools, which is run and shown step by step."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, ScriptedModel, sample_session, use_model
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.gui.panes.tools import ToolsPane
from workbench.gui.panes.tools.program import ToolProgram
from workbench.gui.shell.session import Session

BY_ID = '{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}'
TOOLS = (
    ToolDefinition("find", "Finds an order.", BY_ID, Simulation(json='{"id": "A7"}')),
    ToolDefinition("close", "Closes an order.", BY_ID, Simulation(error="already closed")),
)


def program(*calls: tuple[str, Any]) -> str:
    return json.dumps({"@steps": [{"@func": name, "@args": [argument]} for name, argument in calls]})


session = sample_session


@pytest.fixture
def tab(qtbot: QtBot, session: Session) -> ToolProgram:
    session.edit("tools", lambda project: project.set_tools(TOOLS))
    pane = ToolsPane(session)
    qtbot.addWidget(pane)
    pane.resize(900, 600)
    pane.tabs.setCurrentWidget(pane.program)
    pane.show()
    pane.program.request.set_text("Where is A7?")
    return pane.program


def run(qtbot: QtBot, session: Session, tab: ToolProgram) -> None:
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        tab.run_button.click()


def test_the_program_its_steps_and_its_value_are_shown(
    qtbot: QtBot, session: Session, tab: ToolProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([program(("nothing", "A7")), program(("find", "A7"))])
    use_model(monkeypatch, model)
    run(qtbot, session, tab)
    turns = tab.steps.turns()
    assert [turn.role for turn in turns] == ["user", "assistant", "run", "user", "assistant", "tool", "run"]
    assert "There is no function" in turns[2].text
    assert turns[5].text == 'step 0: find("A7") = {"id": "A7"}'
    assert json.loads(turns[6].text) == {"id": "A7"}
    assert tab.banner.headline() == "The program ran."
    assert tab.banner.detail() == '1 step ran. Value: {"id": "A7"}'
    stored = session.history.run(1)  # type: ignore[union-attr]
    assert stored.summary.outcome == "ok"
    assert any(event.kind == "program_step" for event in stored.events)


def test_a_step_that_fails_is_named(
    qtbot: QtBot, session: Session, tab: ToolProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel([program(("find", "A7"), ("close", "A7"))]))
    run(qtbot, session, tab)
    assert tab.banner.headline() == "No value: tool error."
    assert "step 1, close: already closed" in tab.banner.detail()
    assert "failed: already closed" in tab.steps.turns()[-2].text


def test_a_program_that_is_not_run_says_why(
    qtbot: QtBot, session: Session, tab: ToolProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel([program(("nothing", "A7"))]))
    run(qtbot, session, tab)
    assert tab.banner.headline() == "No value: invalid."
    assert tab.banner.detail() == 'There is no function "nothing". Nothing was run.'


def test_the_project_can_make_programs_of_all_its_requests(session: Session, tab: ToolProgram) -> None:
    tab.always.click()
    assert session.snapshot().translation.target == "program"
    session.undo_stack.undo()
    assert session.snapshot().translation.target == "value"
    assert not tab.always.isChecked()


def test_a_run_of_the_translation_pane_is_shown_here_where_all_requests_become_programs(
    qtbot: QtBot, session: Session, tab: ToolProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel([program(("find", "A7"))]))
    tab.always.click()
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        session.translate("Where is A7?")
    assert tab.banner.headline() == "The program ran."
    assert tab.steps.turns()[-2].text == 'step 0: find("A7") = {"id": "A7"}'


def test_without_a_request_or_a_tool_there_is_nothing_to_run(session: Session, tab: ToolProgram) -> None:
    tab.request.set_text(" ")
    assert not tab.run_button.isEnabled()
    tab.request.set_text("x")
    assert tab.run_button.isEnabled()
    session.edit("tools", lambda project: project.set_tools(()))
    assert not tab.run_button.isEnabled()
