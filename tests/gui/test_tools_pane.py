"""The tools pane: what a simulated tool answers is shown as the model would see it."""

from __future__ import annotations

import json

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, sample_session
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.gui.panes.tools import ToolsPane
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session

PARAMETERS = json.dumps(
    {"type": "object", "required": ["order"], "properties": {"order": {"type": "string", "minLength": 3}}}
)
TOOLS = (
    ToolDefinition("lookup", "Finds an order.", PARAMETERS, Simulation(json='{"state": "sent"}')),
    ToolDefinition("broken", "Always fails.", PARAMETERS, Simulation(error="the warehouse is closed")),
    ToolDefinition("silent", "Has no simulation.", PARAMETERS, None),
)


session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> ToolsPane:
    session.edit("tools", lambda project: project.set_tools(TOOLS))
    pane = ToolsPane(session)
    qtbot.addWidget(pane)
    pane.show()
    return pane


def run(qtbot: QtBot, pane: ToolsPane, arguments: str | None = None) -> None:
    """Run the chosen tool and wait for its answer."""
    if arguments is not None:
        pane.arguments.set_text(arguments)
    pane.run_button.click()
    qtbot.waitUntil(lambda: pane.run_button.isEnabled(), timeout=WAIT_MS)


def test_tools_are_listed_with_an_example_of_their_arguments(pane: ToolsPane) -> None:
    assert [pane.list.item(row).text() for row in range(pane.list.count())] == ["lookup", "broken", "silent"]
    assert pane.description.text() == "Finds an order."
    assert len(json.loads(pane.arguments.text())["order"]) >= 3


def test_a_result_is_shown_as_the_model_would_see_it(qtbot: QtBot, pane: ToolsPane) -> None:
    run(qtbot, pane)
    assert json.loads(pane.result.code()) == {"state": "sent"}
    assert pane.mark.status() == "passed"


def test_contents_are_shown_with_their_images_in_words(
    qtbot: QtBot, session: Session, pane: ToolsPane
) -> None:
    contents = (
        {"type": "text", "text": "See the picture."},
        {"type": "image", "url": "https://example.org/a.png"},
        {"type": "image", "data": "QUJD", "mime_type": "image/jpeg"},
    )
    tool = ToolDefinition("picture", "Shows it.", PARAMETERS, Simulation(contents=contents))
    session.edit("tools", lambda project: project.set_tools((tool,)))
    run(qtbot, pane)
    lines = pane.result.code().splitlines()
    assert lines[:2] == ["See the picture.", "[image: https://example.org/a.png]"]
    assert lines[2].startswith("[image: image/jpeg, 4 characters of data, ")


def test_an_error_goes_back_to_the_model_as_text(qtbot: QtBot, pane: ToolsPane) -> None:
    pane.list.setCurrentRow(1)
    run(qtbot, pane)
    assert "the warehouse is closed" in pane.result.code()
    assert pane.mark.status() == "error_mark"


@pytest.mark.parametrize("arguments", ['{"order": 7, "x"', '{"order": "ab"}', "[]"])
def test_bad_arguments_are_refused_before_the_tool_runs(
    qtbot: QtBot, pane: ToolsPane, arguments: str
) -> None:
    run(qtbot, pane, arguments)
    assert pane.mark.status() == "error_mark"
    assert "sent" not in pane.result.code()
    assert pane.result.code()


def test_a_tool_without_a_simulation_cannot_be_run(pane: ToolsPane) -> None:
    pane.list.setCurrentRow(2)
    assert not pane.run_button.isEnabled()
    assert "no simulated answer" in pane.outcome.text()


def test_going_to_a_tool_chooses_it(session: Session, pane: ToolsPane) -> None:
    session.go_to(Place("tools", "broken"))
    assert pane.current() == TOOLS[1]
