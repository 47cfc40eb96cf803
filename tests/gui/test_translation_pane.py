"""The translation pane: attempts while they happen, what the repair changed, and honest labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.gui.benches import (
    FIRST_REPLY,
    MENDED,
    REQUEST,
    SECOND_REPLY,
    WAIT_MS,
    ScriptedModel,
    sample_session,
    use_model,
)
from workbench.engine.projects import Project
from workbench.engine.translation import replay
from workbench.gui.models.attempts import OUTCOME
from workbench.gui.models.inputs import inputs_channel
from workbench.gui.panes.schemas import SchemaPane
from workbench.gui.panes.translation import TranslationPane
from workbench.gui.shell.session import Session

session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> TranslationPane:
    pane = TranslationPane(session)
    qtbot.addWidget(pane)
    pane.resize(1000, 520)
    pane.show()
    qtbot.waitUntil(lambda: pane.request_text() == REQUEST, timeout=WAIT_MS)
    return pane


@pytest.fixture
def translated(qtbot: QtBot, session: Session, pane: TranslationPane) -> TranslationPane:
    """The pane after the recorded translation, whose first reply breaks the schema."""
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        pane.translate()
    return pane


def outcomes(pane: TranslationPane) -> list[str]:
    """Return the second column of the attempts."""
    return [str(pane.model.index(row, 1).data()) for row in range(pane.model.rowCount())]


def test_requests_that_the_recordings_answer_are_offered_from_the_start(pane: TranslationPane) -> None:
    assert pane.request_text() == REQUEST
    assert pane.saved.count() == 2
    assert pane.translate_button.isEnabled()


def test_a_repaired_translation_shows_both_attempts_and_says_that_no_model_ran(
    translated: TranslationPane,
) -> None:
    assert outcomes(translated) == ["invalid, 3 errors", "valid"]
    assert translated.banner.headline() == "Valid after 1 repair."
    assert "no model ran" in translated.banner.detail().lower()
    assert "not that the values are right" in translated.banner.detail()
    assert "recorded" in str(translated.model.index(0, 0).data())
    assert translated.reply.recorded.isVisible()
    assert translated.record().value == MENDED  # type: ignore[union-attr]


def test_the_chosen_json_is_marked_in_the_raw_reply(translated: TranslationPane) -> None:
    translated.attempts.selectRow(0)
    code = translated.reply.code
    assert code.code() == FIRST_REPLY
    start, end = code.span() or (0, 0)
    assert json.loads(FIRST_REPLY[start:end])["category"] == "damage"
    assert f"characters {start}–{end} of {len(FIRST_REPLY)}" in translated.reply.place.text()
    assert "fenced block" in translated.reply.how.text()


def test_choosing_a_diagnostic_jumps_to_its_place_in_the_reply(
    qtbot: QtBot, translated: TranslationPane
) -> None:
    translated.attempts.selectRow(0)
    translated.tabs.setCurrentWidget(translated.diagnostics)
    pointers = [translated.diagnostics.model.index(row, 0).data() for row in range(3)]
    assert pointers == ["/category", "/urgency", "/order_number"]
    translated.diagnostics.table.selectRow(1)
    assert translated.tabs.currentWidget() is translated.reply
    start, end = translated.reply.code.found() or (0, 0)
    assert FIRST_REPLY[start:end] == '"urgent"'
    assert '["low","normal","high"]' in translated.diagnostics.expected_words.text().replace(" ", "")


def test_a_diagnostic_leads_to_the_rule_of_the_schema(
    qtbot: QtBot, session: Session, translated: TranslationPane
) -> None:
    schema = SchemaPane(session, "output")
    qtbot.addWidget(schema)
    translated.attempts.selectRow(0)
    translated.tabs.setCurrentWidget(translated.diagnostics)
    assert not translated.diagnostics.rule_button.isVisible()
    translated.diagnostics.table.selectRow(1)
    translated.tabs.setCurrentWidget(translated.diagnostics)
    assert translated.diagnostics.rule_button.isVisible()
    with qtbot.waitSignal(session.reveal, timeout=WAIT_MS) as revealed:
        qtbot.mouseClick(translated.diagnostics.rule_button, Qt.MouseButton.LeftButton)
    assert revealed.args[0].area == "output_schema"  # type: ignore[index]
    assert revealed.args[0].pointer == "/properties/urgency/enum"  # type: ignore[index]
    marked = schema.editor.textCursor().selectedText().replace("\u2029", "\n")
    assert json.loads(marked) == ["low", "normal", "high"]


def test_a_rule_that_is_no_longer_in_the_schema_is_said(
    qtbot: QtBot, session: Session, translated: TranslationPane
) -> None:
    translated.attempts.selectRow(0)
    translated.diagnostics.table.selectRow(1)
    session.edit("schemas", lambda project: project.set_output_schema('{"type": "object"}'))
    translated.tabs.setCurrentWidget(translated.diagnostics)
    with qtbot.waitSignal(session.status, timeout=WAIT_MS) as said:
        qtbot.mouseClick(translated.diagnostics.rule_button, Qt.MouseButton.LeftButton)
    assert "no rule at /properties/urgency/enum" in said.args[0]  # type: ignore[index]


def test_what_the_repair_changed_is_listed_by_pointer_and_shown_by_text(translated: TranslationPane) -> None:
    table = translated.changes.table
    rows = {table.item(row, 1).text(): table.item(row, 0).text() for row in range(table.rowCount())}
    assert rows == {
        "/category": "± changed",
        "/urgency": "± changed",
        "/order_number": "± changed",
        "/wanted_by": "+ added",
    }
    assert "3 changed, 1 added" in translated.changes.head.note.text()
    assert '"damage"' in translated.changes.left.code()
    assert '"defect"' in translated.changes.right.code()
    assert "Read what the repair changed" in translated.changes.note_words.text()


def test_the_conversation_of_an_attempt_is_what_was_sent_and_what_came_back(
    translated: TranslationPane,
) -> None:
    turns = translated.conversation.turns()
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant"]
    assert turns[0].caption == "request prompt"
    assert turns[1].caption == "reply 1"
    assert turns[1].text == FIRST_REPLY
    assert "/urgency" in turns[2].text
    assert "repair" in turns[2].caption
    assert turns[3].text == SECOND_REPLY
    assert turns[3].current
    translated.attempts.selectRow(0)
    assert [turn.role for turn in translated.conversation.turns()] == ["user", "assistant"]


def test_the_value_is_shown_as_text_and_as_a_tree(translated: TranslationPane) -> None:
    assert json.loads(translated.value.text.code()) == MENDED
    index = translated.value.model.index_of("/order_number")
    assert index.siblingAtColumn(1).data() == "FH-20418"
    assert index.siblingAtColumn(2).data() == "string"


def test_a_reply_can_be_read_while_it_arrives_and_what_is_shown_is_the_fold_of_the_run_s_events(
    qtbot: QtBot, session: Session, pane: TranslationPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([SECOND_REPLY], hold=True)
    use_model(monkeypatch, model)
    events = []
    session.run_progress.connect(lambda _kind, event: events.append(event))
    pane.translate()
    half = SECOND_REPLY[: len(SECOND_REPLY) // 2]
    qtbot.waitUntil(lambda: pane.reply.code.code() == half, timeout=WAIT_MS)
    assert pane.banner.kind() == "running"
    assert pane.stop_button.isEnabled()
    assert not pane.translate_button.isEnabled()
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        model.release()
    assert pane.reply.code.code() == SECOND_REPLY
    assert pane.banner.headline() == "Valid at the first reply."
    assert replay(events).attempts == pane.record().attempts  # type: ignore[union-attr]


def test_stop_ends_the_call_of_the_model_and_keeps_what_had_arrived(
    qtbot: QtBot, session: Session, pane: TranslationPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([SECOND_REPLY], hold=True)
    use_model(monkeypatch, model)
    pane.translate()
    qtbot.waitUntil(lambda: bool(pane.reply.code.code()), timeout=WAIT_MS)
    qtbot.mouseClick(pane.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: model.cancelled, timeout=WAIT_MS)
    assert pane.banner.headline() == "Stopped by you."
    assert pane.model.index(0, OUTCOME).data() == "stopped by you"
    assert SECOND_REPLY.startswith(pane.reply.code.code())
    assert pane.translate_button.isEnabled()


def test_a_translation_that_fails_says_what_is_wrong_with_the_last_reply(
    qtbot: QtBot, session: Session, pane: TranslationPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel([FIRST_REPLY]))
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        pane.translate()
    assert pane.banner.headline() == "Not translated: invalid."
    assert "/category" in pane.banner.detail()
    assert "2 more errors" in pane.banner.detail()


def test_a_reply_without_json_is_shown_as_such(
    qtbot: QtBot, session: Session, pane: TranslationPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel(["I cannot do that."]))
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        pane.translate()
    assert set(outcomes(pane)) == {"no JSON"}
    assert not pane.reply.chip.isVisible()
    assert pane.value.text.code() == ""


def test_a_request_that_nobody_recorded_fails_with_the_model_s_own_words(
    qtbot: QtBot, session: Session, pane: TranslationPane
) -> None:
    pane.set_request("Something that was never recorded, with a line of its own.")
    with qtbot.waitSignals([session.run_started, session.history_changed], timeout=WAIT_MS):
        pane.translate()
    assert pane.banner.kind() == "error"
    assert outcomes(pane) == ["model error"]
    assert pane.translate_button.isEnabled()


def test_a_blank_request_is_not_sent(session: Session, pane: TranslationPane) -> None:
    pane.set_request("   ")
    assert not pane.translate_button.isEnabled()
    pane.translate()
    assert "translate" not in session.running()


def test_earlier_requests_can_be_taken_again(qtbot: QtBot, translated: TranslationPane) -> None:
    translated.set_request("another")
    translated.saved.activated.emit(1)
    assert translated.request_text() == REQUEST


def test_the_inputs_of_a_stored_run_come_back_into_the_field(session: Session, pane: TranslationPane) -> None:
    inputs_channel(session).opened.emit("translate", {"request": "from the history"})
    assert pane.request_text() == "from the history"


def test_a_result_does_not_stay_beside_inputs_that_it_did_not_come_from(
    session: Session, translated: TranslationPane
) -> None:
    inputs_channel(session).opened.emit("translate", {"request": "from the history"})
    assert translated.record() is None
    assert translated.model.rowCount() == 0
    assert translated.value.text.code() == ""
    assert translated.banner.headline() == "Not run yet with these inputs."


def test_a_result_is_marked_as_soon_as_the_request_is_another_one(translated: TranslationPane) -> None:
    translated.set_request(f"{REQUEST} Please hurry.")
    assert translated.banner.kind() == "stale"
    assert translated.banner.headline() == "An earlier request."
    translated.set_request(REQUEST)
    assert translated.banner.headline() == "Valid after 1 repair."


def test_what_a_repair_changed_is_said_in_one_plain_sentence(translated: TranslationPane) -> None:
    detail = translated.banner.detail()
    assert detail.startswith('The repair changed category from "damage" to "defect", changed urgency')
    assert "and 1 more." in detail
    assert translated.changes.mode.current() == "pointer"


def test_a_line_below_the_request_says_what_would_be_sent(
    qtbot: QtBot, session: Session, pane: TranslationPane
) -> None:
    words = pane.sent.words
    qtbot.waitUntil(lambda: words.text().startswith("Sends about "), timeout=WAIT_MS)
    before = words.text()
    assert REQUEST in words.toolTip()
    pane.set_request(f"{REQUEST} Please hurry.")
    qtbot.waitUntil(lambda: "Please hurry." in words.toolTip(), timeout=WAIT_MS)
    assert words.text() != before
    session.edit("translation", lambda p: p.set_preamble("template"))
    filled = "2 messages before it filled from “default”"
    qtbot.waitUntil(lambda: filled in words.text(), timeout=WAIT_MS)
    assert "Maren Oswald" in words.toolTip()
    pane.sent.link.click()
    assert pane.tabs.currentWidget() is pane.prompts
    pane.set_request("")
    qtbot.waitUntil(lambda: "while the request is empty" in words.text(), timeout=WAIT_MS)


def test_a_narrow_pane_shows_the_json_while_it_arrives(
    qtbot: QtBot, pane: TranslationPane, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane.resize(500, 320)
    model = ScriptedModel([SECOND_REPLY], hold=True)
    use_model(monkeypatch, model)
    assert pane.tabs.currentWidget() is pane.left
    pane.translate()
    qtbot.waitUntil(lambda: pane.value.text.code() != "", timeout=WAIT_MS)
    assert pane.tabs.currentWidget() is pane.value
    assert set(json.loads(pane.value.text.code())) < set(MENDED), "a part of the members, not all"
    assert pane.banner.headline() == "Reply 1 is arriving."
    assert '"category"' in pane.banner.detail()
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        model.release()
    assert json.loads(pane.value.text.code()) == MENDED


def test_stop_has_a_word_and_says_what_it_does(pane: TranslationPane) -> None:
    assert pane.stop_button.text() == "Stop"
    assert pane.stop_button.sizeHint().width() <= pane.stop_button.width()
    assert "close its connection" in pane.stop_button.toolTip()


def test_settings_are_written_into_the_project_and_can_be_undone(
    session: Session, pane: TranslationPane
) -> None:
    form = pane.settings_form
    before = session.snapshot().translation
    assert form.type_name.text() == before.type_name == "Ticket"
    form.max_repairs.setValue(3)
    form.mode.setCurrentIndex(form.mode.findData("json"))
    form.request_prompt.set_text("Make {type_name}: {request} by {schema}")
    form.request_prompt.left.emit()
    settings = session.snapshot().translation
    assert (settings.max_repairs, settings.mode) == (3, "json")
    assert settings.request_prompt == "Make {type_name}: {request} by {schema}"
    for _ in range(3):
        session.undo_stack.undo()
    assert session.snapshot().translation == before
    assert form.max_repairs.value() == before.max_repairs
    assert form.request_prompt.text() == ""


def test_a_type_without_a_name_is_refused(session: Session, pane: TranslationPane) -> None:
    pane.settings_form.type_name.setText("  ")
    pane.settings_form.type_name.editingFinished.emit()
    assert session.snapshot().translation.type_name == "Ticket"


def test_a_narrow_pane_puts_the_request_into_the_first_tab_and_takes_it_out_again(
    qtbot: QtBot, pane: TranslationPane
) -> None:
    pane.resize(500, 320)
    assert pane.tabs.tabText(0) == "Request"
    assert pane.tabs.widget(0) is pane.left
    pane.resize(1000, 520)
    assert pane.tabs.tabText(0) == "Reply"
    assert pane.splitter.indexOf(pane.left) == 0
    assert pane.request.isVisible()


def test_the_model_is_named_with_what_to_expect_of_it(qtbot: QtBot, pane: TranslationPane) -> None:
    qtbot.waitUntil(lambda: "only recorded requests" in pane.model_words.text(), timeout=WAIT_MS)


def test_a_project_without_an_output_schema_cannot_translate(session: Session, pane: TranslationPane) -> None:
    session.edit("schemas", lambda project: project.set_output_schema(None))
    assert not pane.translate_button.isEnabled()
    assert "no output schema" in pane.translate_button.toolTip()


def test_a_typed_request_outlives_a_reload_and_a_save_elsewhere(
    session: Session, pane: TranslationPane, tmp_path: Path
) -> None:
    pane.set_request("A table for nine")
    session.reload()
    assert pane.request_text() == "A table for nine"
    session.save_as(tmp_path / "elsewhere")
    assert pane.request_text() == "A table for nine"


def test_a_typed_request_does_not_go_to_another_project(
    session: Session, pane: TranslationPane, tmp_path: Path
) -> None:
    pane.set_request("A table for nine")
    session.adopt(Project.new(tmp_path / "other", "Other"))
    assert pane.request_text() == ""
    session.adopt(None)
    assert pane.request_text() == ""


def test_a_low_and_narrow_pane_cuts_neither_the_attempts_nor_the_outcome(
    qtbot: QtBot, translated: TranslationPane
) -> None:
    translated.resize(590, 330)
    translated.tabs.setCurrentWidget(translated.left)
    qtbot.wait(50)
    banner = translated.banner
    assert banner.height() >= banner.heightForWidth(banner.width())
    assert translated.attempts.viewport().height() >= 2 * translated.attempts.rowHeight(0)
    bar = translated.left.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert banner.visibleRegion().boundingRect() == banner.rect()


def test_a_narrow_pane_turns_back_to_the_request_when_there_is_no_reply_to_show(
    qtbot: QtBot, session: Session, pane: TranslationPane
) -> None:
    pane.resize(500, 600)
    pane.set_request("Nobody wrote an answer to this.")
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        pane.translate_button.click()
    assert pane.banner.kind() == "error"
    assert pane.tabs.currentWidget() is pane.left
