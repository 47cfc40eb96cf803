"""The welcome page: what can be begun, what was open before, and what works on this computer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, make_project
from workbench.engine.projects import Project, list_samples
from workbench.gui.panes import welcome
from workbench.gui.panes.welcome import WelcomePage
from workbench.gui.shell.session import Session


@pytest.fixture
def page(qtbot: QtBot, session: Session) -> WelcomePage:
    page = WelcomePage(session)
    qtbot.addWidget(page)
    page.resize(1440, 800)
    page.show()
    qtbot.waitUntil(lambda: len(page.samples) > 0, timeout=WAIT_MS)
    return page


def test_every_sample_has_a_card_that_says_what_it_shows(page: WelcomePage) -> None:
    assert [card.name for card in page.samples] == [info.name for info in list_samples()]
    triage = next(card for card in page.samples if card.name == "support-triage")
    assert "5 input checks" in triage.shows.text()
    assert "2 output checks" in triage.shows.text()
    assert "translation" in triage.shows.text()


def test_the_buttons_tell_what_was_asked_for(qtbot: QtBot, page: WelcomePage) -> None:
    with qtbot.waitSignal(page.new_requested):
        qtbot.mouseClick(page.new_card, Qt.MouseButton.LeftButton)
    page.open_card.setFocus()
    with qtbot.waitSignal(page.open_requested):
        qtbot.keyClick(page.open_card, Qt.Key.Key_Space)
    with qtbot.waitSignal(page.sample_requested) as sample:
        page.samples[0].button.click()
    assert sample.args == [page.samples[0].name]


def test_recent_projects_are_listed_and_a_folder_that_is_gone_says_so(
    qtbot: QtBot, session: Session, page: WelcomePage, tmp_path: Path
) -> None:
    there = make_project(tmp_path)
    session.settings.add_recent(tmp_path / "gone", "Club newsletter", time.time() - 86_400)
    session.settings.add_recent(there, "Support triage", time.time())
    assert [row.text() for row in page.recent_rows] == ["Support triage", "Club newsletter"]
    assert [row.missing() for row in page.recent_rows] == [False, True]
    with qtbot.waitSignal(page.project_requested) as opened:
        page.recent_rows[0].click()
    assert opened.args == [str(there)]
    with qtbot.assertNotEmitted(page.project_requested), qtbot.waitSignal(session.status) as status:
        page.recent_rows[1].click()
    assert "gone" in status.args[0]


def test_the_list_can_be_cleared_and_one_project_taken_off(
    session: Session, page: WelcomePage, tmp_path: Path
) -> None:
    for name in ("one", "two", "three"):
        session.settings.add_recent(tmp_path / name, name, time.time())
    page.recent_rows[1].forget_asked.emit()
    assert [row.text() for row in page.recent_rows] == ["three", "one"]
    page.clear_link.click()
    assert page.recent_rows == []
    assert not page.clear_link.isEnabled()


def test_what_works_on_this_computer_is_what_the_engine_says(page: WelcomePage) -> None:
    works = welcome.what_works_here()
    assert page.embedded_fact.mark.status() == ("passed" if works["embedded"] is None else "error")
    assert page.chat_fact.mark.status() == ("passed" if works["local"] is None else "no_answer")


def test_without_models_the_page_says_what_is_missing(
    qtbot: QtBot, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = {"embedded": "the model's file has another hash", "local": "xllamacpp is not installed"}
    monkeypatch.setattr(welcome, "what_works_here", lambda: missing)
    page = WelcomePage(session)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(lambda: len(page.samples) > 0, timeout=WAIT_MS)
    assert page.embedded_fact.words.text() == "the model's file has another hash"
    assert "recorded replies" in page.chat_fact.words.text()
    assert {card.mark.status() for card in page.samples} == {"error"}


def test_whether_the_page_comes_at_start_is_a_setting(session: Session, page: WelcomePage) -> None:
    page.show_box.setChecked(False)
    assert session.settings.get("welcome.show") is False
    session.settings.set("welcome.show", True)
    assert page.show_box.isChecked()


def test_the_card_of_a_new_project_promises_what_the_project_has(page: WelcomePage) -> None:
    snapshot = Project.new(None, "Fresh").snapshot()
    assert [message.role for message in snapshot.messages] == ["system", "user"]
    assert len(snapshot.parameter_sets) == 1
    assert page.new_card.accessibleDescription() == "a system and a user message, one parameter set"
