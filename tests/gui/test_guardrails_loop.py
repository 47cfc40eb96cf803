"""The output guardrail at work in the window: validation, reprompt, new response, in order, and never past its limit."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, ScriptedModel, sample_session, use_model
from workbench.engine.decisions.embedded import EmbeddedDecisionModel
from workbench.engine.decisions.errors import DecisionError
from workbench.engine.guardrails.results import CheckResult, GuardrailResult
from workbench.engine.language_models import language_model_available
from workbench.engine.projects.edits import ThresholdOrigin
from workbench.engine.workflows import LOCAL
from workbench.gui.models.checks_loop import LoopOutcome
from workbench.gui.panes.guardrails import GuardrailsPane
from workbench.gui.shell.session import Session

PROMISE = "You will get the full price back and a voucher of 40 euros, plus 15 percent off your next order."
HARMLESS = "A colleague will look at your parcel tomorrow and write to you."


pytestmark = pytest.mark.usefixtures("embedded_model")
session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> GuardrailsPane:
    pane = GuardrailsPane(session)
    qtbot.addWidget(pane)
    pane.resize(640, 760)
    pane.show()
    pane.show_stage("output")
    # One check whose outcome on these two texts is beyond doubt.
    session.edit("guardrails", lambda project: project.remove_check("output", 1))
    session.edit("guardrails", lambda project: project.set_threshold("output", "promisesMoney", 0.5))
    return pane


def guard(qtbot: QtBot, session: Session, pane: GuardrailsPane, response: str) -> LoopOutcome:
    """Press *Guard* on a response and return how it ended."""
    pane.response.set_text(response)
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS) as finished:
        pane.loop.run_button.click()
    assert finished.args[0] == "guard"
    return finished.args[1]  # type: ignore[no-any-return]


def test_each_validation_reprompt_and_new_response_is_shown_in_order(
    qtbot: QtBot, session: Session, pane: GuardrailsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([HARMLESS])
    use_model(monkeypatch, model)
    outcome = guard(qtbot, session, pane, PROMISE)
    assert outcome.passed
    assert outcome.response == HARMLESS
    assert pane.loop.steps.headlines() == [
        "Validation 1 of at most 2: rejected by promisesMoney",
        "Reprompt",
        "Validation 2 of at most 2: passed",
        "This response is delivered.",
    ]
    texts = [card.text.text() for card in pane.loop.steps.cards]
    assert texts[0] == PROMISE
    assert texts[1] == session.snapshot().output_guardrail.reprompt
    assert texts[2] == HARMLESS
    # The reprompt goes to the chat model as one more user message.
    assert model.asked[0][-1].role == "user"
    assert model.asked[0][-1].content == texts[1]
    assert pane.rows()[0].word.text() == "passed"


def test_a_card_brings_the_checks_of_its_validation_back(
    qtbot: QtBot, session: Session, pane: GuardrailsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel([HARMLESS]))
    guard(qtbot, session, pane, PROMISE)
    pane.loop.steps.cards[0].chosen.emit()
    assert pane.rows()[0].word.text() == "rejected"
    pane.loop.steps.cards[2].chosen.emit()
    assert pane.rows()[0].word.text() == "passed"


@pytest.mark.parametrize(("most", "validations", "asked"), [(0, 1, 0), (1, 1, 0), (2, 2, 1), (4, 4, 3)])
def test_max_retries_counts_validations_and_is_written_to_the_project(
    qtbot: QtBot, session: Session, pane: GuardrailsPane, monkeypatch: pytest.MonkeyPatch,
    most: int, validations: int, asked: int,
) -> None:  # fmt: skip
    model = ScriptedModel([PROMISE])
    use_model(monkeypatch, model)
    pane.loop.most.setValue(most)
    assert session.snapshot().output_guardrail.max_retries == most
    outcome = guard(qtbot, session, pane, PROMISE)
    assert not outcome.passed
    assert len(outcome.validations) == validations
    assert len(model.asked) == asked
    assert pane.loop.steps.headlines()[-1] == "No response is delivered."
    assert "maximum number of retries" in pane.loop.steps.cards[-1].text.text()


def test_without_a_reprompt_a_rejection_is_final(
    qtbot: QtBot, session: Session, pane: GuardrailsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([HARMLESS])
    use_model(monkeypatch, model)
    pane.loop.reprompt.setText("")
    pane.loop.reprompt.editingFinished.emit()
    assert session.snapshot().output_guardrail.reprompt is None
    outcome = guard(qtbot, session, pane, PROMISE)
    assert not outcome.passed
    assert model.asked == []
    session.undo_stack.undo()
    assert session.snapshot().output_guardrail.reprompt
    assert pane.loop.reprompt.text() == session.snapshot().output_guardrail.reprompt


def test_with_no_response_the_chat_model_is_asked_for_one_first(
    qtbot: QtBot, session: Session, pane: GuardrailsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([PROMISE, HARMLESS])
    use_model(monkeypatch, model)
    pane.user_message.set_text("Where is my money?")
    outcome = guard(qtbot, session, pane, "")
    assert outcome.passed
    assert [message.role for message in model.asked[0]] == ["system", "user"]
    assert model.asked[0][-1].content == "Where is my money?"
    assert [v.response for v in outcome.validations] == [PROMISE, HARMLESS]


def test_a_run_is_kept_in_the_history_with_every_response(
    qtbot: QtBot, session: Session, pane: GuardrailsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel([HARMLESS]))
    guard(qtbot, session, pane, PROMISE)
    [summary] = session.history.runs(kind="check")  # type: ignore[union-attr]
    run = session.history.run(summary.id)  # type: ignore[union-attr]
    assert [event.kind for event in run.events] == [
        "check_request",
        "validation",
        "response_asked",
        "response",
        "validation",
        "check_result",
        "finished",
    ]
    assert [e.data["text"] for e in run.events if e.kind == "validation"] == [PROMISE, HARMLESS]
    assert summary.outcome == "passed"


def test_stop_ends_the_wait_for_a_response(
    qtbot: QtBot, session: Session, pane: GuardrailsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([HARMLESS], hold=True)
    use_model(monkeypatch, model)
    pane.response.set_text(PROMISE)
    pane.loop.run_button.click()
    qtbot.waitUntil(lambda: bool(model.asked), timeout=WAIT_MS)
    session.stop()
    qtbot.waitUntil(lambda: model.cancelled, timeout=WAIT_MS)
    assert pane.loop.steps.headlines()[-1] == "Stopped."
    assert pane.loop.run_button.isEnabled()


def test_a_decision_model_that_fails_lets_nothing_pass(
    qtbot: QtBot, session: Session, pane: GuardrailsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_args: object) -> None:
        raise DecisionError("the server said 503", kind="status", status=503)

    monkeypatch.setattr(EmbeddedDecisionModel, "decide", fail)
    pane.response.set_text(HARMLESS)
    with qtbot.waitSignal(session.run_failed, timeout=WAIT_MS):
        pane.loop.run_button.click()
    assert pane.loop.steps.headlines()[-1] == "The run failed."
    assert "503" in pane.loop.steps.cards[-1].text.text()


@pytest.mark.skipif(
    language_model_available(LOCAL, None) is not None, reason="the extra `local` is not installed"
)
def test_a_real_chat_model_writes_the_responses(qtbot: QtBot, session: Session, pane: GuardrailsPane) -> None:
    session.set_chat_model("local")
    pane.user_message.set_text("Say hello.")
    pane.loop.most.setValue(1)
    pane.response.set_text("")
    with qtbot.waitSignal(session.run_finished, timeout=4 * WAIT_MS) as finished:
        pane.loop.run_button.click()
    [validation] = finished.args[1].validations
    assert validation.response
    assert pane.loop.steps.cards[0].text.text().startswith(validation.response[:100])


def test_bounds_and_mass_are_shown_and_an_uncertain_outcome_says_so(pane: GuardrailsPane) -> None:
    check = CheckResult("promisesMoney", "q", 0.55, 0.5, "rejected", None, 0.41, 0.66, 0.8)
    pane.model().set_result(GuardrailResult("output", (check,), "rejected"))
    row = pane.rows()[0]
    assert (row.bar.state().lower, row.bar.state().upper, row.bar.state().mass) == (0.41, 0.66, 0.8)
    assert row.remark.text() == "could be 0.41 to 0.66"
    assert "80.0%" in row.word.toolTip()
    pane.model().set_failed("gone")
    assert pane.rows()[0].bar.state().lower is None


def test_a_threshold_of_another_model_says_that_it_is_stale(
    qtbot: QtBot, session: Session, pane: GuardrailsPane
) -> None:
    qtbot.waitUntil(lambda: not session.jobs.busy(), timeout=WAIT_MS)
    origin = ThresholdOrigin("older@1", "", "2026-01-02")
    session.edit("guardrails", lambda p: p.set_threshold("output", "promisesMoney", 0.4, origin=origin))
    row = pane.rows()[0]
    assert row.origin.text() == "own, stale"
    assert "older@1" in row.origin.toolTip()
    session.set_threshold("output", "promisesMoney", 0.6)
    assert row.origin.text() == "own"


@pytest.mark.parametrize("key", ["max_retries", "threshold"])
def test_undo_takes_a_key_away_that_the_file_did_not_have(
    qtbot: QtBot, session: Session, pane: GuardrailsPane, key: str
) -> None:
    project = session.project
    assert project is not None
    stage = "output" if key == "max_retries" else "input"
    project.set_guardrail(stage, key, None)
    session.edit("guardrails", lambda _project: None)
    before = project.toml_text
    assert not project.states("guardrails", stage, key)
    if key == "max_retries":
        pane.loop.most.setValue(7)
    else:
        session.set_threshold("input", None, 0.9)
    assert project.states("guardrails", stage, key)
    session.undo_stack.undo()
    assert not project.states("guardrails", stage, key)
    assert project.toml_text == before
    session.undo_stack.redo()
    assert project.states("guardrails", stage, key)
