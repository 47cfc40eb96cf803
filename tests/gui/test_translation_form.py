"""Everything of `[translation]` is edited in the window, seen before it is sent, and undone without a trace."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import (
    FIRST_REPLY,
    REQUEST,
    SECOND_REPLY,
    WAIT_MS,
    ScriptedModel,
    sample_session,
    saved_toml,
    use_model,
)
from workbench.engine.templates.options import MessageTemplate
from workbench.engine.translation.settings import Rule, TranslationSettings
from workbench.gui.panes.translation import TranslationPane
from workbench.gui.shell.session import Session

session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> TranslationPane:
    pane = TranslationPane(session)
    qtbot.addWidget(pane)
    pane.resize(1000, 600)
    pane.show()
    qtbot.waitUntil(lambda: pane.request_text() == REQUEST, timeout=WAIT_MS)
    # The sample has a rule of its own.
    session.edit("translation", lambda project: project.set_rules(()))
    return pane


def settings(session: Session) -> TranslationSettings:
    return session.snapshot().translation


def put_preamble(pane: TranslationPane) -> None:
    editor = pane.settings_form.preamble
    editor.choice.setCurrentIndex(editor.choice.findData("own"))
    editor.choice.activated.emit(editor.choice.currentIndex())
    editor.sections()[0].text.set_text("Today is 2 May 2027.")
    editor.sections()[0].text.left.emit()


def put_rule(pane: TranslationPane) -> None:
    pane.settings_form.rules.add_rule(Rule("$.summary", "length", {"max": 80}, "at most 80 characters"))


EDITS: list[tuple[str, Any, Any]] = [
    ("budget", lambda pane: pane.settings_form.budget["calls"].setValue(3), {"calls": 3}),
    ("budget", lambda pane: pane.settings_form.budget["cost"].setValue(0.05), {"cost": 0.05}),
    ("budget", lambda pane: pane.settings_form.budget["token_ramp"].setValue(1.5), {"token_ramp": 1.5}),
    ("budget", lambda pane: pane.settings_form.budget["max_tokens"].setValue(256), {"max_tokens": 256}),
    *((key, lambda pane, key=key: pane.settings_form.flags[key].setChecked(True), True)
      for key in ("stop_without_progress", "lenient", "schema_in_system", "try_unstripped_first")),
    ("history", lambda pane: pane.settings_form.history.setCurrentIndex(1), "all"),
    ("schema_style", lambda pane: pane.settings_form.schema_style.setCurrentIndex(1), "typescript"),
    ("repair_prompt", lambda pane: (pane.settings_form.repair_prompt.set_text("Mend: {error}"),
                                    pane.settings_form.repair_prompt.left.emit()), "Mend: {error}"),
    ("preamble", put_preamble, (MessageTemplate("system", "Today is 2 May 2027."),)),
    ("rules", put_rule, (Rule("$.summary", "length", {"max": 80}, "at most 80 characters"),)),
    ("repair_model", lambda pane: pane.settings_form.repair_model.setCurrentIndex(1), "chat"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "edit", "expected"), EDITS, ids=[key for key, _edit, _expected in EDITS])
def test_a_setting_that_the_file_did_not_state_is_taken_out_again_by_undo(
    session: Session, pane: TranslationPane, key: str, edit: Any, expected: Any
) -> None:
    session.edit("translation", lambda project: project.set_translation(key, None))
    before = saved_toml(session)
    pane.settings_form.reload()
    edit(pane)
    value = getattr(settings(session), key)
    assert (dict(value) if key == "budget" else value) == expected
    assert saved_toml(session) != before
    session.undo_stack.undo()
    assert saved_toml(session) == before
    session.undo_stack.redo()
    assert key in saved_toml(session)


def test_a_limit_is_taken_away_again_and_what_the_form_does_not_round_stays(
    session: Session, pane: TranslationPane
) -> None:
    session.edit(
        "translation", lambda project: project.set_translation("budget", {"calls": 4, "seconds": 2.5})
    )
    form = pane.settings_form
    assert form.budget["calls"].value() == 4
    assert form.budget["tokens"].text() == "tokens: no limit"
    form.budget["calls"].setValue(-1)
    assert dict(settings(session).budget) == {"seconds": 2.5}


def test_the_project_s_own_prompt_can_go_before_the_request(session: Session, pane: TranslationPane) -> None:
    editor = pane.settings_form.preamble
    for key, expected in (("template", "template"), ("none", ())):
        editor.choice.setCurrentIndex(editor.choice.findData(key))
        editor.choice.activated.emit(editor.choice.currentIndex())
        assert settings(session).preamble == expected


def test_messages_are_added_changed_and_removed(session: Session, pane: TranslationPane) -> None:
    put_preamble(pane)
    editor = pane.settings_form.preamble
    editor.add_section("user", "An example.")
    editor.sections()[0].role.setCurrentText("user")
    editor.sections()[0].role.activated.emit(1)
    assert settings(session).preamble == (
        MessageTemplate("user", "Today is 2 May 2027."), MessageTemplate("user", "An example."),
    )  # fmt: skip
    editor.remove_section(editor.sections()[0])
    assert settings(session).preamble == (MessageTemplate("user", "An example."),)


@pytest.mark.parametrize(
    ("column", "text", "words"),
    [
        pytest.param(0, "$.[", "JSONPath", id="path"),
        pytest.param(2, "{", "no JSON", id="value"),
    ],
)
def test_a_rule_that_is_wrong_is_said_and_not_written(
    session: Session, pane: TranslationPane, column: int, text: str, words: str
) -> None:
    put_rule(pane)
    rules = pane.settings_form.rules
    rules.table.item(0, column).setText(text)
    assert words in rules.problem.text()
    assert settings(session).rules == (Rule("$.summary", "length", {"max": 80}, "at most 80 characters"),)
    rules.table.item(0, column).setText("$.summary" if column == 0 else '{"max": 9}')
    assert rules.problem.text() == ""


def test_rules_are_changed_and_removed(session: Session, pane: TranslationPane) -> None:
    put_rule(pane)
    rules = pane.settings_form.rules
    rules.table.item(0, 3).setText("shorter, please")
    assert settings(session).rules[0].message == "shorter, please"
    rules.table.setCurrentCell(0, 0)
    rules.remove_button.click()
    assert settings(session).rules == ()


def test_each_style_of_the_schema_says_how_long_it_is(
    qtbot: QtBot, session: Session, pane: TranslationPane
) -> None:
    form = pane.settings_form
    pane.tabs.setCurrentWidget(form)

    def texts() -> list[str]:
        return [form.schema_style.itemText(row) for row in range(3)]

    def sizes() -> list[int]:
        return [int("".join(filter(str.isdigit, text)) or 0) for text in texts()]

    qtbot.waitUntil(lambda: all("tokens" in text for text in texts()), timeout=WAIT_MS)
    first = sizes()
    assert first[1] < first[0]
    session.edit("schemas", lambda project: project.set_output_schema('{"type": "integer"}'))
    qtbot.waitUntil(
        lambda: all(0 < now < before for now, before in zip(sizes(), first, strict=True)), timeout=WAIT_MS
    )
    session.edit("schemas", lambda project: project.set_output_schema('{"type": "objekt"}'))
    qtbot.waitUntil(lambda: texts() == ["JSON Schema", "TypeScript", "Outline"], timeout=WAIT_MS)


class TestThePrompts:
    @pytest.fixture
    def prompts(self, qtbot: QtBot, pane: TranslationPane) -> Any:
        pane.tabs.setCurrentWidget(pane.prompts)
        qtbot.waitUntil(lambda: bool(pane.prompts.conversation.turns()), timeout=WAIT_MS)
        return pane.prompts

    def last(self, prompts: Any) -> str:
        turns = prompts.conversation.turns()
        return turns[-1].text if turns else ""

    def test_the_request_prompt_follows_the_request_and_the_settings(
        self, qtbot: QtBot, session: Session, pane: TranslationPane, prompts: Any
    ) -> None:
        assert REQUEST in self.last(prompts)
        pane.request.set_text("Another request")
        qtbot.waitUntil(lambda: "Another request" in self.last(prompts), timeout=WAIT_MS)
        session.edit(
            "translation",
            lambda project: project.set_translation("request_prompt", "As {type_name}: {request}"),
        )
        qtbot.waitUntil(lambda: self.last(prompts) == "As Ticket: Another request", timeout=WAIT_MS)
        put_preamble(pane)
        qtbot.waitUntil(lambda: len(prompts.conversation.turns()) == 2, timeout=WAIT_MS)
        assert prompts.conversation.turns()[0].caption == "sent before"

    def test_the_repair_prompt_is_that_of_the_reply_on_show_else_of_an_empty_object(
        self, qtbot: QtBot, session: Session, pane: TranslationPane, prompts: Any
    ) -> None:
        prompts.mode.choose("repair")
        qtbot.waitUntil(
            lambda: "category" in self.last(prompts) and "{}" in prompts.note.text(), timeout=WAIT_MS
        )
        with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
            pane.translate()
        pane.tabs.setCurrentWidget(prompts)
        pane.attempts.selectRow(0)
        qtbot.waitUntil(lambda: "/urgency" in self.last(prompts), timeout=WAIT_MS)
        captions = [turn.caption for turn in prompts.conversation.turns()]
        assert captions == ["request prompt", "reply", "repair prompt"]
        assert prompts.conversation.turns()[1].text == FIRST_REPLY
        pane.attempts.selectRow(1)
        qtbot.waitUntil(lambda: not prompts.conversation.turns(), timeout=WAIT_MS)
        assert "no repair" in prompts.note.text()

    def test_what_cannot_be_sent_is_said(self, qtbot: QtBot, session: Session, prompts: Any) -> None:
        session.edit("schemas", lambda project: project.set_output_schema('{"type": '))
        qtbot.waitUntil(lambda: not prompts.conversation.turns(), timeout=WAIT_MS)
        assert "output.schema.json" in prompts.note.text()


def test_the_value_is_shown_while_it_arrives(
    qtbot: QtBot, session: Session, pane: TranslationPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([SECOND_REPLY], hold=True)
    use_model(monkeypatch, model)
    pane.translate()
    qtbot.waitUntil(
        lambda: "arriving" in pane.value.note.text() and bool(pane.value.text.code()), timeout=WAIT_MS
    )
    shown = json.loads(pane.value.text.code())
    whole = json.loads(SECOND_REPLY)
    assert shown != whole
    assert shown.items() <= whole.items() or len(shown) < len(whole)
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        model.release()
    assert json.loads(pane.value.text.code()) == whole
    assert "arriving" not in pane.value.note.text()
