"""A model of a provider that serves both kinds is tested as what the person says, and at first as what it is used as."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, sample_session
from tests.http_server import JsonHandler, serving
from workbench.engine.model_settings import ModelSettings
from workbench.gui.dialogs.model_settings import ModelSettingsDialog
from workbench.gui.shell.session import Session

session = sample_session


@pytest.fixture
def dialog(qtbot: QtBot, session: Session) -> ModelSettingsDialog:
    made = ModelSettingsDialog(session)
    qtbot.addWidget(made)
    made.show()
    return made


def choose(dialog: ModelSettingsDialog, provider: str) -> None:
    dialog.provider.setCurrentIndex(dialog.provider.findData(provider))


@pytest.mark.parametrize(
    ("name", "provider", "offered", "decides"),
    [
        ("other", "openai", True, False),
        ("other", "gguf", True, False),
        ("other", "recorded", True, False),
        ("decision-2", "openai", True, True),
        ("decision-2", "gguf", True, True),
        ("other", "anthropic", False, False),
        ("decision-2", "anthropic", False, False),
        ("other", "embedded", False, True),
        ("other", "system-one", False, True),
        ("decision-2", "chat-logprobs", False, True),
    ],
)
def test_there_is_a_choice_only_where_the_provider_serves_both(
    dialog: ModelSettingsDialog, name: str, provider: str, offered: bool, decides: bool
) -> None:
    dialog.add(name)
    choose(dialog, provider)
    assert dialog.tested_as.isVisible() == offered
    assert dialog.tested_as.decides() == decides


def test_a_model_that_answers_the_checks_is_tested_as_a_decision_model(
    qtbot: QtBot, session: Session
) -> None:
    session.edit("models", lambda project: project.set_model(ModelSettings("judge", "openai", model="gpt-x")))
    session.edit(
        "models", lambda project: project.set_model(ModelSettings("writer", "openai", model="gpt-x"))
    )
    session.decision_model_name = "judge"
    dialog = ModelSettingsDialog(session, chosen="judge")
    qtbot.addWidget(dialog)
    assert dialog.tested_as.decides()
    dialog.add("writer")
    assert not dialog.tested_as.decides()


def test_without_a_check_that_asks_a_model_none_is_used_for_decisions(qtbot: QtBot, session: Session) -> None:
    session.edit("models", lambda project: project.set_model(ModelSettings("judge", "openai", model="gpt-x")))
    session.decision_model_name = "judge"
    for stage in ("input", "output"):
        for _ in session.snapshot().guardrail(stage).checks:
            session.edit("guardrails", lambda project, stage=stage: project.remove_check(stage, 0))
    dialog = ModelSettingsDialog(session, chosen="judge")
    qtbot.addWidget(dialog)
    assert not dialog.tested_as.decides()


def test_the_choice_stays_while_the_fields_are_filled_in_and_not_for_another_model(
    dialog: ModelSettingsDialog,
) -> None:
    dialog.add("first")
    dialog.tested_as.setCurrentIndex(dialog.tested_as.findData(True))
    choose(dialog, "gguf")
    dialog.base_url.setText("http://127.0.0.1:1")
    assert dialog.tested_as.decides()
    dialog.add("second")
    assert not dialog.tested_as.decides()


class Both(JsonHandler):
    """A server with decisions and chat; it notes what it was asked."""

    asked: list[str]

    def do_GET(self) -> None:
        self.answer(404, {})

    def do_POST(self) -> None:
        body = self.read_json()
        self.asked.append(self.path)
        if self.path.endswith("/decisions"):
            answers = [
                {"type": "predicate", "name": each["name"], "probability": 0.9} for each in body["questions"]
            ]
            self.answer(200, {"model": "both-1", "answers": answers})
        else:
            message = {"role": "assistant", "content": "{}"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self.answer(200, {"model": "both-1", "choices": [choice]})


@pytest.mark.parametrize(("decides", "ending"), [(True, "/decisions"), (False, "/chat/completions")])
def test_the_server_is_asked_for_the_kind_that_was_chosen(
    qtbot: QtBot, dialog: ModelSettingsDialog, decides: bool, ending: str
) -> None:
    asked: list[str] = []
    handler = type("Noting", (Both,), {"asked": asked})
    with serving(handler) as address:
        dialog.add("other")
        dialog.base_url.setText(f"{address}/v1")
        dialog.model.setText("both-1")
        dialog.tested_as.setCurrentIndex(dialog.tested_as.findData(decides))
        dialog.test()
        qtbot.waitUntil(dialog.test_button.isEnabled, timeout=WAIT_MS)
        words = dialog.test_words.text()
    assert "answered" in words
    assert asked
    assert all(path.endswith(ending) for path in asked)
    dialog.tested_as.activated.emit(0)
    assert dialog.test_words.text() == ""
