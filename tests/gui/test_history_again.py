"""Program runs in the history: step by step; and every kind of run again, below its first and compared with it."""

from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, ScriptedModel, sample_session, use_model
from tests.gui.test_history_branches import finish, rows
from tests.gui.test_tools_program import TOOLS, program
from workbench.engine.events import RunEvent
from workbench.engine.guardrails import LengthCheck
from workbench.engine.guardrails.settings import CheckSettings
from workbench.engine.prices import Cost
from workbench.gui.models.runs import COST
from workbench.gui.panes.history import HistoryPane
from workbench.gui.shell.session import Session

GOOD = program(("find", "A7"), ("find", "B8"))
BAD = program(("find", "A7"), ("close", "A7"))
LONG = "A response that is longer than the length that the project's only check lets pass."


session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> HistoryPane:
    session.edit("tools", lambda project: project.set_tools(TOOLS))
    pane = HistoryPane(session)
    qtbot.addWidget(pane)
    pane.resize(1440, 800)
    pane.show()
    return pane


def run_program(qtbot: QtBot, session: Session, monkeypatch: pytest.MonkeyPatch, *replies: str) -> None:
    use_model(monkeypatch, ScriptedModel(replies))
    finish(qtbot, session, lambda: session.run_program("Where is A7?"))


def test_a_program_is_shown_step_by_step_after_its_attempts(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_program(qtbot, session, monkeypatch, program(("nothing", "A7")), GOOD)
    pane.select(1)
    lanes = pane.view.timeline.lanes()
    assert [(lane.title, lane.word) for lane in lanes] == [
        ("Attempt 1", "invalid"), ("Attempt 2", "valid"), ("Program", "ran"),
    ]  # fmt: skip
    assert sum(len(lane.steps) for lane in lanes) == pane.replay.count()
    shown = []
    for step in range(pane.replay.count() - len(lanes[2].steps), pane.replay.count()):
        pane.replay.go_to(step)
        assert pane.view.timeline.accessibleDescription().startswith(f"step {step + 1} of")
        last = pane.view.conversation.turns()[-1]
        shown.append((last.text, pane.view.value.note.text()))
    assert shown[1] == ('step 0: find("A7") = {"id": "A7"}', "the steps of the program so far")
    assert shown[3][0] == 'step 1: find("B8") = {"id": "A7"}'
    assert shown[-1] == ('{\n  "id": "A7"\n}', "the value of the program's last step")
    assert ("Step 1, find", '["B8"]') in pane.view.details.rows()


def test_a_long_line_is_scrolled_to_the_step_that_is_shown(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_program(qtbot, session, monkeypatch, program(("nothing", "A7")), GOOD)
    pane.resize(900, 800)
    pane.select(1)
    for step in (pane.replay.count() - 1, 0):
        pane.replay.go_to(step)

        def in_view() -> bool:
            place = pane.view.timeline.place_of_current()
            shown = pane.view.timeline.visibleRegion().boundingRect()
            return place is not None and shown.left() <= place[0] and place[1] <= shown.right() + 1

        qtbot.waitUntil(in_view, timeout=WAIT_MS)
    assert pane.view.timeline.width() > pane.view.width()


def test_an_attempt_at_a_program_is_shown_without_the_program_s_steps(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_program(qtbot, session, monkeypatch, BAD)
    pane.select(1)
    assert pane.view.timeline.lanes()[-1].word == "tool error"
    assert pane.view.conversation.turns()[-1].text == "step 1, close: already closed"
    pane.go_to_attempt(1)
    assert pane.view.conversation.turns()[-1].text == BAD
    assert pane.replay.step == len(pane.view.timeline.lanes()[0].steps) - 1


@pytest.mark.parametrize("always", [False, True], ids=["project of values", "project of programs"])
def test_a_one_off_program_runs_again_as_a_program(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch, always: bool
) -> None:
    run_program(qtbot, session, monkeypatch, GOOD)
    pane.select(1)
    if always:
        session.edit("translation", lambda project: project.set_translation("target", "program"))
    use_model(monkeypatch, ScriptedModel([BAD]))
    finish(qtbot, session, pane.run_again)
    assert [row for row in rows(pane) if "ttempt" not in row[1]] == [
        ("1", "Program: Where is A7?"),
        ("  2", "Run again"),
    ]
    assert pane.selected() == (2, None)
    assert pane.view.timeline.lanes()[-1].title == "Program"
    assert session.history.run(2).summary.outcome == "tool_error"  # type: ignore[union-attr]


def test_a_value_runs_again_as_a_value_where_all_requests_became_programs_since(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    from tests.gui.benches import MENDED, REQUEST

    finish(qtbot, session, lambda: session.translate(REQUEST))
    pane.select(1)
    session.edit("translation", lambda project: project.set_translation("target", "program"))
    finish(qtbot, session, pane.run_again)
    record: Any = pane.record()
    assert (record.outcome, record.value) == ("ok", MENDED)


def test_a_run_of_tools_runs_again_below_the_first_and_is_compared_with_it(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel(["It is on its way."]))
    finish(qtbot, session, lambda: session.run_tools("Where is it?", with_prompt=False))
    pane.select(1)
    use_model(monkeypatch, ScriptedModel(["It has arrived."]))
    finish(qtbot, session, pane.run_again)
    assert rows(pane) == [("1", "Tools find, close"), ("  2", "Run again")]
    assert pane.selected() == (2, None)
    assert pane.view.compare.isVisible()
    assert pane.view.compare.head.title.text() == "Run 1 and run 2"
    assert pane.comparing.base is None
    assert session.history.run(2).inputs["with_prompt"] is False  # type: ignore[union-attr]


def guard_by_length(session: Session) -> None:
    """Leave one output check, which asks no model."""
    check = CheckSettings("brief", "", rule=LengthCheck(most=40))
    while session.snapshot().output_guardrail.checks:
        session.edit("guardrails", lambda project: project.remove_check("output", 0))
    session.edit("guardrails", lambda project: project.add_check("output", check))


def test_a_guarded_response_runs_again_with_what_it_was_started_with(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.gui.models.checks_loop import start_loop

    guard_by_length(session)
    use_model(monkeypatch, ScriptedModel(["Short."]))
    finish(qtbot, session, lambda: start_loop(session, LONG, "What now?"))
    pane.select(1)
    assert "again" in pane.abilities()
    model = ScriptedModel(["Shorter still."])
    use_model(monkeypatch, model)
    finish(qtbot, session, pane.run_again)
    assert [depth for depth, _words in rows(pane)] == ["1", "  2"]
    assert pane.selected() == (2, None)
    assert model.asked[0][-2].content == "What now?"
    run = session.history.run(2)  # type: ignore[union-attr]
    assert (run.inputs["text"], run.summary.outcome) == (LONG, "passed")
    record: Any = pane.record()
    assert record.response == "Shorter still."
    assert pane.view.compare.head.title.text() == "Run 1 and run 2"


def test_a_guard_run_of_the_history_leaves_the_cards_of_the_guardrails_pane_alone(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.gui.panes.guardrails import GuardrailsPane

    guard_by_length(session)
    checks = GuardrailsPane(session)
    qtbot.addWidget(checks)
    checks.show_stage("output")
    use_model(monkeypatch, ScriptedModel(["Short."]))
    checks.response.set_text(LONG)
    finish(qtbot, session, checks.guard)
    cards = checks.loop.steps.headlines()
    pane.select(1)
    use_model(monkeypatch, ScriptedModel([LONG]))
    finish(qtbot, session, pane.run_again)
    assert session.history.run(2).summary.outcome == "rejected"  # type: ignore[union-attr]
    assert checks.loop.steps.headlines() == cards
    assert checks.loop.run_button.isEnabled()


def test_the_list_has_a_column_for_costs_once_one_is_known(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    history = session.history
    assert history is not None
    assert pane.list.tree.isColumnHidden(COST)
    narrow = pane.list.width()
    for amount in (0.0042, None):
        run_id = history.start_run("tool", "Tools", {"request": "x"})
        cost = None if amount is None else {"amount": amount, "currency": "EUR"}
        history.append(run_id, RunEvent("reply", 0.1, {"text": "x", "tool_calls": [], "cost": cost}))
        history.finish_run(run_id, "ok")
    pane.refresh()
    assert [each.cost for each in history.runs()] == [None, Cost(0.0042, "EUR")]
    qtbot.waitUntil(lambda: not pane.list.tree.isColumnHidden(COST), timeout=WAIT_MS)
    model = pane.list.model
    cells = [str(model.index(row, COST).data()) for row in range(model.rowCount())]
    assert cells == ["", "0.0042 EUR"]
    assert pane.list.width() > narrow
    assert "cost 0.0042 EUR" in str(model.index(1, 0).data(3))
