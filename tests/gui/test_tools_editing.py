"""Tools are written in the pane, undone, and used by the chat model with every call shown."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, ScriptedModel, make_project, sample_session, saved_toml, use_model
from workbench.engine.language_models import Completion, Message, ToolCall, Usage
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.gui.panes.tools import ToolsPane
from workbench.gui.shell.session import Session
from workbench.gui.widgets.conversation import FOLLOW_MS

LOOKUP = ToolDefinition(
    "lookup", "Finds an order.", '{"type": "object"}', Simulation(json='{"state": "sent"}')
)
WITH_RAW = replace(LOOKUP, simulate=Simulation(json='{"state": "sent"}', result='{"row": 17}'))


session = sample_session


@pytest.fixture(autouse=True)
def no_tools(session: Session) -> None:
    """Each test writes the tools that it needs."""
    assert session.project is not None
    session.project.set_tools(())


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> ToolsPane:
    pane = ToolsPane(session)
    qtbot.addWidget(pane)
    pane.resize(900, 600)
    pane.show()
    return pane


def tools(session: Session) -> tuple[ToolDefinition, ...]:
    return session.snapshot().tools


def test_a_tool_is_added_described_and_saved(session: Session, pane: ToolsPane) -> None:
    before = saved_toml(session)
    pane.add_button.click()
    pane.form.name.setText("lookup")
    pane.form.name.editingFinished.emit()
    pane.form.description.set_text("Finds an order.")
    pane.form.parameters.set_text('{"type": "object", "required": ["order"]}')
    pane.form.commit()
    assert [item.name for item in tools(session)] == ["lookup"]
    assert tools(session)[0].description == "Finds an order."
    assert "required" in tools(session)[0].parameters
    assert "[[tools]]" in saved_toml(session)
    while session.undo_stack.canUndo():
        session.undo_stack.undo()
    assert tools(session) == ()
    assert saved_toml(session) == before


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        pytest.param("text", "sent yesterday", Simulation(text="sent yesterday", delay_ms=20), id="text"),
        pytest.param("json", '{"a": 1}', Simulation(json='{"a": 1}', delay_ms=20), id="json"),
        pytest.param("error", "closed", Simulation(error="closed", delay_ms=20), id="error"),
        pytest.param(
            "contents",
            '[{"type": "text", "text": "x"}]',
            Simulation(contents=({"type": "text", "text": "x"},), delay_ms=20),
            id="contents",
        ),
    ],
)
def test_what_a_tool_answers_is_written_into_the_project(
    session: Session, pane: ToolsPane, kind: str, text: str, expected: Simulation
) -> None:
    pane.add_tool(LOOKUP)
    form = pane.form
    form.kind.setCurrentIndex(form.kind.findData(kind))
    form.answer.set_text(text)
    form.delay.setValue(20)
    form.commit()
    assert tools(session)[0].simulate == expected
    assert form.problem.text() == ""


def test_a_tool_can_be_left_without_an_answer(session: Session, pane: ToolsPane) -> None:
    pane.add_tool(LOOKUP)
    pane.form.kind.setCurrentIndex(0)
    pane.form.kind.activated.emit(0)
    assert tools(session)[0].simulate is None
    assert not pane.run_button.isEnabled()


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        pytest.param("json", '{"a": ', "JSON", id="broken json"),
        pytest.param("contents", "[]", "empty", id="no contents"),
        pytest.param("contents", '{"type": "text"}', "list", id="contents that are no list"),
        pytest.param("contents", '[{"type": "sound"}]', "image", id="unknown content"),
    ],
)
def test_an_answer_that_cannot_be_given_is_said(pane: ToolsPane, kind: str, text: str, words: str) -> None:
    pane.add_tool(LOOKUP)
    pane.form.kind.setCurrentIndex(pane.form.kind.findData(kind))
    pane.form.answer.set_text(text)
    pane.form.commit()
    assert words in pane.form.problem.text()
    assert pane.form.problem.isVisibleTo(pane.form)


def test_a_schema_that_is_none_is_marked_in_the_editor(pane: ToolsPane) -> None:
    pane.add_tool(LOOKUP)
    pane.form.parameters.set_text('{"type": "objekt"}')
    pane.form.commit()
    assert "Arguments:" in pane.form.problem.text()
    assert "objekt" in pane.form.problem.text()


@pytest.mark.parametrize(("name", "words"), [("", "needs a name"), ("lookup", "already")])
def test_a_name_that_is_missing_or_taken_is_not_written(
    session: Session, pane: ToolsPane, name: str, words: str
) -> None:
    pane.add_tool(LOOKUP)
    pane.duplicate_button.click()
    assert [tool.name for tool in tools(session)] == ["lookup", "lookup_1"]
    pane.form.name.setText(name)
    pane.form.name.editingFinished.emit()
    assert words in pane.form.problem.text()
    assert [tool.name for tool in tools(session)] == ["lookup", "lookup_1"]


def test_removing_a_tool_can_be_undone(session: Session, pane: ToolsPane) -> None:
    pane.add_tool(LOOKUP)
    pane.remove_button.click()
    assert tools(session) == ()
    session.undo_stack.undo()
    assert tools(session) == (LOOKUP,)
    assert pane.current() == LOOKUP


def test_a_try_shows_apart_what_the_model_does_not_get(qtbot: QtBot, pane: ToolsPane) -> None:
    pane.add_tool(WITH_RAW)
    pane.tabs.setCurrentIndex(0)
    pane.run_button.click()
    qtbot.waitUntil(lambda: pane.mark.status() == "passed", timeout=WAIT_MS)
    assert json.loads(pane.kept.code()) == {"result": {"row": 17}}
    assert pane.kept_box.isVisible()


@pytest.mark.parametrize(
    "answer", [Simulation(json='{"state": "sent"}'), Simulation(text="It was sent.")], ids=["json", "text"]
)
def test_a_try_without_a_raw_result_repeats_nothing_as_not_sent(
    qtbot: QtBot, pane: ToolsPane, answer: Simulation
) -> None:
    pane.add_tool(replace(LOOKUP, simulate=answer))
    pane.tabs.setCurrentIndex(0)
    pane.run_button.click()
    qtbot.waitUntil(lambda: pane.mark.status() == "passed", timeout=WAIT_MS)
    assert "sent" in pane.result.code()
    assert not pane.kept_box.isVisible()


class Caller(ScriptedModel):
    """Calls `lookup` and then a tool that there is not, then answers."""

    async def complete(self, messages: Sequence[Message], **options: Any) -> Completion:
        if len(self.asked) < 2:
            name = ("lookup", "nowhere")[len(self.asked)]
            self.asked.append(list(messages))
            return Completion("", "tool_calls", usage=Usage(5, 1), tool_calls=(ToolCall(name, name, "{}"),))
        return await super().complete(messages, **options)


@pytest.fixture
def talking(session: Session, pane: ToolsPane) -> ToolsPane:
    pane.add_tool(WITH_RAW)
    pane.tabs.setCurrentWidget(pane.talk)
    pane.talk.message.set_text("Where is it?")
    return pane


def test_the_model_answers_with_the_tools_and_every_call_is_shown(
    qtbot: QtBot, session: Session, talking: ToolsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Caller(["", "", "It was sent."])
    use_model(monkeypatch, model)
    talking.talk.with_prompt.setChecked(False)
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        talking.talk.run_button.click()
    turns = talking.talk.conversation.turns()
    assert [turn.role for turn in turns] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert turns[-1].text == "It was sent."
    assert [turn.role for turn in turns if "not sent to the model" in turn.caption] == ["tool"]
    assert "nowhere" in turns[5].text
    assert turns[5].caption == "error of nowhere, sent to the model"
    assert talking.talk.banner.headline() == "Answered."
    assert "2 tool calls" in talking.talk.banner.detail()
    assert "1 call gave an error" in talking.talk.banner.detail()
    assert session.history.run(1).summary.kind == "tool"  # type: ignore[union-attr]


def test_what_a_run_still_says_after_another_project_was_opened_is_not_told(
    qtbot: QtBot, session: Session, talking: ToolsPane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, told = ScriptedModel(["It was sent."], hold=True), []
    use_model(monkeypatch, model)
    session.run_progress.connect(lambda _kind, event: told.append(event.kind))
    second = make_project(tmp_path / "second")
    talking.talk.run_button.click()
    until = time.monotonic() + WAIT_MS / 1000
    while not model.asked and time.monotonic() < until:  # the window hears nothing of it yet
        time.sleep(0.005)
    assert model.asked
    session.open(second)
    qtbot.waitUntil(lambda: model.cancelled and not session.jobs.busy(), timeout=WAIT_MS)
    assert told == []
    assert talking.talk.conversation.turns() == []


def test_the_answer_is_in_view_once_the_conversation_is_over(
    qtbot: QtBot, session: Session, talking: ToolsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, Caller(["", "", "It was sent.\n" * 4]))
    talking.resize(700, 420)
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        talking.talk.run_button.click()
    bar = talking.talk.conversation.verticalScrollBar()
    qtbot.waitUntil(lambda: 0 < bar.maximum() == bar.value(), timeout=WAIT_MS)
    qtbot.wait(FOLLOW_MS)
    assert 0 < bar.maximum() == bar.value()


def test_the_project_s_prompt_goes_first_unless_it_is_left_out(
    qtbot: QtBot, session: Session, talking: ToolsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(["Hello."])
    use_model(monkeypatch, model)
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        talking.talk.run()
    assert len(model.asked[0]) == len(session.snapshot().messages) + 1
    assert model.asked[0][-1].text() == "Where is it?"


def test_stop_ends_the_call_of_the_model(
    qtbot: QtBot, session: Session, talking: ToolsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(["Half an answer that goes on"], hold=True)
    use_model(monkeypatch, model)
    talking.talk.run()
    turns = talking.talk.conversation.turns
    qtbot.waitUntil(lambda: any("Half" in turn.text for turn in turns()), timeout=WAIT_MS)
    assert turns()[-1].caption == "arriving"
    talking.talk.stop_button.click()
    qtbot.waitUntil(lambda: model.cancelled, timeout=WAIT_MS)
    assert talking.talk.banner.headline() == "Stopped by you."


def test_a_project_without_tools_has_nothing_to_run(session: Session, pane: ToolsPane) -> None:
    pane.talk.message.set_text("Hello")
    assert not pane.talk.run_button.isEnabled()
    assert not pane.form.isEnabled()


# --- immediate return, compensation, what is kept back ------------------------------------------------------


def choose(box: Any, key: str) -> None:
    """Choose an entry as a user does."""
    index = box.findData(key)
    assert index >= 0, [box.itemData(k) for k in range(box.count())]
    box.setCurrentIndex(index)
    box.activated.emit(index)


def test_a_tool_is_told_to_end_the_conversation_and_what_undoes_it(session: Session, pane: ToolsPane) -> None:
    pane.add_tool(LOOKUP)
    pane.add_tool(ToolDefinition("cancel", simulate=Simulation(text="cancelled")))
    pane.list.setCurrentRow(0)
    pane.form.returns.click()
    choose(pane.form.undo.kind, "tool cancel")
    pane.form.reply.attributes.set_text('{"trace": "t-1"}')
    pane.form.commit()
    first = tools(session)[0]
    assert (first.return_immediately, first.compensate) == (True, "cancel")
    assert first.simulate == Simulation(json='{"state": "sent"}', attributes='{"trace": "t-1"}')
    written = saved_toml(session)
    assert "return_immediately = true" in written
    assert 'compensate = "cancel"' in written
    session.undo_stack.undo()
    assert not tools(session)[0].return_immediately


def test_what_undoing_answers_is_written_with_the_tool(session: Session, pane: ToolsPane) -> None:
    pane.add_tool(LOOKUP)
    choose(pane.form.undo.kind, "error")
    pane.form.undo.answer.set_text("too late")
    pane.form.commit()
    assert tools(session)[0].compensate == Simulation(error="too late")
    choose(pane.form.undo.kind, "none")
    assert tools(session)[0].compensate is None


def test_a_renamed_tool_goes_on_undoing_and_a_removed_one_is_missed(
    session: Session, pane: ToolsPane
) -> None:
    pane.add_tool(replace(LOOKUP, compensate="cancel"))
    pane.add_tool(ToolDefinition("cancel", simulate=Simulation(text="cancelled")))
    pane.form.name.setText("take_back")
    pane.form.name.editingFinished.emit()
    assert [(tool.name, tool.compensate) for tool in tools(session)] == [
        ("lookup", "take_back"),
        ("take_back", None),
    ]
    pane.remove_button.click()
    assert "no such tool" in pane.form.problem.text()
    assert pane.form.undo.choice() == "tool take_back"


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [("attributes", "[1]", "no JSON object"), ("result", "{", "broken JSON")],
)
def test_what_is_kept_back_must_be_json(pane: ToolsPane, field: str, text: str, words: str) -> None:
    pane.add_tool(LOOKUP)
    getattr(pane.form.reply, field).set_text(text)
    pane.form.commit()
    assert words in pane.form.problem.text()


def test_the_conversation_shows_what_was_rolled_back(
    qtbot: QtBot, session: Session, talking: ToolsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.edit("tools", lambda p: p.set_tools([replace(LOOKUP, compensate=Simulation(text="forgotten"))]))
    use_model(monkeypatch, Caller(["", "", "Sorry."]))
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        talking.talk.run()
    (told,) = [turn for turn in talking.talk.conversation.turns() if "rolled back" in turn.caption]
    assert "it was undone: forgotten" in told.text
    assert "1 call rolled back" in talking.talk.banner.detail()
    assert "1 call gave an error" in talking.talk.banner.detail()
    assert "1 rolled back" in session.history.run(1).summary.summary  # type: ignore[union-attr]


def test_a_tool_that_ends_the_conversation_has_the_last_word(
    qtbot: QtBot, session: Session, talking: ToolsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.edit("tools", lambda p: p.set_tools([replace(LOOKUP, return_immediately=True)]))
    model = Caller(["", "", "never asked"])
    use_model(monkeypatch, model)
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        talking.talk.run()
    assert len(model.asked) == 1
    assert talking.talk.banner.headline() == "Answered with the tool's result."
    assert talking.talk.conversation.turns()[-1].text == '{"state": "sent"}'


def test_an_answer_without_a_call_does_not_look_like_success_of_the_tools(
    qtbot: QtBot, session: Session, talking: ToolsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel(["Hello."]))
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        talking.talk.run()
    banner = talking.talk.banner
    assert (banner.kind(), banner.headline()) == ("none", "Answered without calling a tool.")
    assert "tool call" not in banner.detail()


def test_a_second_message_of_the_user_is_said_before_it_is_sent(session: Session, talking: ToolsPane) -> None:
    talk = talking.talk
    assert session.snapshot().messages[-1].role == "user"
    assert talk.with_prompt.text().endswith("two user messages")
    assert "as a second one" in talk.with_prompt.toolTip()
    talk.message.set_text("")
    talk._show_buttons()
    assert "two user" not in talk.with_prompt.text()
    talk.message.set_text("Where is it?")
    session.edit(
        "template", lambda project: project.set_message_role(len(project.snapshot().messages) - 1, "system")
    )
    assert not talk.sends_two_messages()
    assert "two user" not in talk.with_prompt.text()


def test_a_typed_message_outlives_a_reload_but_not_another_project(
    session: Session, talking: ToolsPane, tmp_path: Path
) -> None:
    session.save()
    session.reload()
    assert talking.talk.message.text() == "Where is it?"
    session.save_as(tmp_path / "elsewhere")
    assert talking.talk.message.text() == "Where is it?"
    session.adopt(None)
    assert talking.talk.message.text() == ""
