"""The dialogs around checks and models: advice while one types, and secrets that stay out of the project."""

from __future__ import annotations

import threading

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, sample_session
from tests.http_server import JsonHandler, serving
from workbench.engine.guardrails.settings import CheckSettings
from workbench.engine.secrets import Secrets
from workbench.gui.dialogs.check_editor import CheckEditor
from workbench.gui.dialogs.model_settings import ModelSettingsDialog
from workbench.gui.shell.session import Session

pytestmark = pytest.mark.usefixtures("embedded_model")
session = sample_session


def editor(qtbot: QtBot, check: CheckSettings, taken: set[str] | None = None) -> CheckEditor:
    """Return the check editor, shown."""
    dialog = CheckEditor(check, "input", 0.5, taken or set())
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def test_what_was_entered_is_the_check(qtbot: QtBot) -> None:
    before = CheckSettings("a", "Is it rude?", 0.3, "an insult", "polite words")
    dialog = editor(qtbot, before)
    assert dialog.check() == before
    dialog.own.setChecked(False)
    dialog.no_means.set_text("  ")
    assert dialog.check() == CheckSettings("a", "Is it rude?", None, "an insult", None)


@pytest.mark.parametrize(
    ("name", "question", "problem"),
    [
        ("", "Is it rude?", "needs a name"),
        ("taken", "Is it rude?", "another check named taken"),
        ("fine", "   ", "needs a question"),
    ],
)
def test_a_check_that_cannot_be_kept_says_why_and_cannot_be_accepted(
    qtbot: QtBot, name: str, question: str, problem: str
) -> None:
    dialog = editor(qtbot, CheckSettings(name, question), {"taken"})
    assert problem in dialog.advice()[0]
    assert not dialog._ok.isEnabled()
    dialog.name.setText("other")
    dialog.question.set_text("Is it rude?")
    dialog.refresh()
    assert dialog._ok.isEnabled()


def test_an_empty_check_says_what_it_needs_without_alarm_until_something_is_typed(qtbot: QtBot) -> None:
    dialog = editor(qtbot, CheckSettings("", ""))
    mark, words = dialog._advice[0]
    assert (mark.status(), words.text()) == ("info", "A check needs a name.")
    assert not dialog._ok.isEnabled()
    dialog.name.setText("a")
    dialog.name.setText("")
    assert (mark.status(), words.text()) == ("error_mark", "A check needs a name.")


def test_advice_on_the_question_comes_while_one_types(qtbot: QtBot) -> None:
    dialog = editor(qtbot, CheckSettings("polite", "Is it rude?", None, "rude", "polite"))
    assert dialog.advice() == []
    dialog.question.set_text("Is the message polite?")
    qtbot.waitUntil(lambda: any("rejects on 'yes'" in words for words in dialog.advice()))
    assert dialog._ok.isEnabled()


def test_models_are_added_changed_and_removed_only_when_saved(qtbot: QtBot, session: Session) -> None:
    before = dict(session.snapshot().models)
    dialog = ModelSettingsDialog(session)
    qtbot.addWidget(dialog)
    dialog.add("chat2")
    dialog.provider.setCurrentIndex(dialog.provider.findData("openai"))
    dialog.base_url.setText("http://localhost:11434/v1")
    dialog.model.setText("qwen3:8b")
    dialog.secret.setText("openai")
    dialog.list.setCurrentRow(list(before).index("recorded"))
    dialog.remove_current()
    assert dict(session.snapshot().models) == before
    dialog.accept()
    models = session.snapshot().models
    assert "recorded" not in models
    made = models["chat2"]
    assert (made.provider, made.base_url, made.model, made.secret) == (
        "openai", "http://localhost:11434/v1", "qwen3:8b", "openai",
    )  # fmt: skip
    assert models["decision"] == before["decision"]


def test_the_value_of_a_secret_is_bound_to_its_address_and_never_reaches_the_project(
    qtbot: QtBot, session: Session
) -> None:
    session._secrets = Secrets({})
    dialog = ModelSettingsDialog(session)
    qtbot.addWidget(dialog)
    dialog.add("chat2")
    dialog.provider.setCurrentIndex(dialog.provider.findData("openai"))
    dialog.secret.setText("mine")
    dialog.base_url.setText("https://models.example.test/v1")
    assert "no value is known" in dialog.secret_words.text()
    dialog.remember_value("sk-very-secret")
    assert "memory" in dialog.secret_words.text()
    assert session.secrets.is_accepted("mine", "https://models.example.test")
    assert not session.secrets.is_accepted("mine", "https://elsewhere.example.test")
    dialog.accept()
    session.save()
    root = session.snapshot().root
    assert root is not None
    assert "sk-very-secret" not in (root / "workbench.toml").read_text(encoding="utf-8")


def test_a_test_of_the_connection_says_what_answered_and_what_to_expect(
    qtbot: QtBot, session: Session
) -> None:
    dialog = ModelSettingsDialog(session, chosen="decision")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.test()
    qtbot.waitUntil(lambda: "answered" in dialog.test_words.text(), timeout=WAIT_MS)
    assert "English first" in dialog.test_words.text()
    dialog.provider.setCurrentIndex(dialog.provider.findData("system-one"))
    dialog.test()
    assert "needs an address" in dialog.test_words.text()


def test_a_server_that_is_down_is_said_with_its_address(qtbot: QtBot, session: Session) -> None:
    dialog = ModelSettingsDialog(session, chosen="decision")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.provider.setCurrentIndex(dialog.provider.findData("openai"))
    dialog.base_url.setText("http://127.0.0.1:9/v1")
    dialog.model.setText("any")
    dialog.test()
    qtbot.waitUntil(lambda: "127.0.0.1:9" in dialog.test_words.text(), timeout=WAIT_MS)
    assert dialog.test_button.isEnabled()


@pytest.mark.parametrize("speaks", [True, False])
def test_a_test_of_the_connection_names_the_dialect_and_what_is_missing(
    qtbot: QtBot, session: Session, speaks: bool
) -> None:
    """The server is ours: it speaks System One, and does not count tokens."""

    class Server(JsonHandler):
        def do_POST(self) -> None:
            questions = self.read_json().get("questions")
            known = self.path.endswith("systemone")
            answers = {name: {"type": "noul", "noul": 0.9} for name in questions} if known else {}
            self.answer(200 if known else 404, {"model": "jev-latest", "answers": answers})

    with serving(Server) as address:
        dialog = ModelSettingsDialog(session, chosen="decision")
        qtbot.addWidget(dialog)
        dialog.show()
        provider = "system-one" if speaks else "sglang"
        dialog.provider.setCurrentIndex(dialog.provider.findData(provider))
        dialog.base_url.setText(address)
        dialog.model.setText("jev-latest")
        dialog.test()
        qtbot.waitUntil(dialog.test_button.isEnabled, timeout=WAIT_MS)
        words = dialog.test_words.text()
    if speaks:
        assert "jev-latest answered in" in words
        assert "does not tell token counts" in words
        assert "jev-latest is an alias" in words
    else:
        assert 'the server speaks another dialect: set provider = "system-one"' in words


def test_what_a_model_answered_to_a_test_is_not_said_of_the_model_chosen_meanwhile(
    qtbot: QtBot, session: Session
) -> None:
    """The server is ours: it answers when it is let."""
    let, asked = threading.Event(), threading.Event()

    class Server(JsonHandler):
        def do_POST(self) -> None:
            questions = self.read_json()["questions"]
            asked.set()
            let.wait(WAIT_MS / 1000)
            answers = {name: {"type": "noul", "noul": 0.9} for name in questions}
            self.answer(200, {"model": "slow-1", "answers": answers})

    with serving(Server) as address:
        dialog = ModelSettingsDialog(session, chosen="decision")
        qtbot.addWidget(dialog)
        dialog.show()
        dialog.provider.setCurrentIndex(dialog.provider.findData("system-one"))
        dialog.base_url.setText(address)
        dialog.model.setText("slow-1")
        dialog.activateWindow()
        dialog.test_button.setFocus()
        dialog.test()
        qtbot.waitUntil(asked.is_set, timeout=WAIT_MS)
        dialog.list.setCurrentRow(dialog.list.currentRow() + 1)
        let.set()
        qtbot.waitUntil(lambda: not session.jobs.busy(), timeout=WAIT_MS)
        assert dialog.test_words.text() == ""
        assert dialog.test_button.isEnabled()
        dialog.list.setCurrentRow(dialog.list.currentRow() - 1)
        dialog.test_button.setFocus()
        qtbot.waitUntil(dialog.test_button.hasFocus, timeout=WAIT_MS)
        dialog.test()
        qtbot.waitUntil(lambda: "slow-1 answered" in dialog.test_words.text(), timeout=WAIT_MS)
        assert dialog.test_button.hasFocus()
