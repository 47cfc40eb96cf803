"""A model of a provider that has both kinds is what its project says, or its name, and the models dialog can say it."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, sample_session, saved_toml
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


def use(dialog: ModelSettingsDialog, use: str) -> None:
    dialog.use.setCurrentIndex(dialog.use.findData(use))
    dialog.use.activated.emit(dialog.use.currentIndex())


@pytest.mark.parametrize(
    ("name", "provider", "offered", "decides"),
    [
        ("other", "openai", True, False),
        ("other", "gguf", True, False),
        ("other", "recorded", True, False),
        ("decision-2", "openai", True, True),
        ("decision-2", "gguf", True, True),
        ("decision", "openai", False, True),
        ("chat", "openai", False, False),
        ("other", "anthropic", False, False),
        ("decision-2", "anthropic", False, False),
        ("other", "embedded", False, True),
        ("other", "system-one", False, True),
        ("decision-2", "chat-logprobs", False, True),
    ],
)
def test_there_is_a_choice_only_where_provider_and_name_leave_one(
    dialog: ModelSettingsDialog, name: str, provider: str, offered: bool, decides: bool
) -> None:
    dialog.add(name)
    choose(dialog, provider)
    assert dialog.use.isVisible() == offered
    assert dialog.use.decides() == decides
    settings = dialog.current()
    assert settings is not None
    assert (settings.decides, "use" in settings.options) == (decides, False)


def test_what_a_model_is_used_for_is_written_where_its_name_does_not_say_it(
    dialog: ModelSettingsDialog, session: Session
) -> None:
    for name, kind in (("judge", "decision"), ("decision-writer", "chat"), ("writer", "chat")):
        dialog.add(name)
        choose(dialog, "openai")
        use(dialog, kind)
    dialog.accept()
    assert {"judge"} <= set(session.decision_models())
    assert {"decision-writer", "writer"} <= set(session.chat_models())
    assert saved_toml(session).count('use = "') == 2
    again = ModelSettingsDialog(session, chosen="judge")
    assert again.use.decides()
    use(again, "chat")
    again.accept()
    assert "judge" in session.chat_models()
    assert saved_toml(session).count('use = "') == 1


def test_a_look_at_a_model_changes_nothing_of_it(qtbot: QtBot, session: Session) -> None:
    stated = [
        ModelSettings("writer", "openai", options={"use": "chat"}),
        ModelSettings("here", "embedded", options={"use": "chat"}),
        ModelSettings("odd", "openai", options={"use": 7}),
    ]
    for settings in stated:
        session.edit("models", lambda project, settings=settings: project.set_model(settings))
    before = saved_toml(session)
    dialog = ModelSettingsDialog(session)
    qtbot.addWidget(dialog)
    for row in range(dialog.list.count()):
        dialog.list.setCurrentRow(row)
    dialog.accept()
    assert saved_toml(session) == before


def test_the_form_offers_what_the_kind_has(dialog: ModelSettingsDialog) -> None:
    dialog.add("judge")
    assert dialog.options.fields["max_tokens"].isVisible()
    assert dialog.prices.isEnabled()
    use(dialog, "decision")
    assert not dialog.options.fields["max_tokens"].isVisible()
    assert not dialog.prices.isEnabled()
    assert not dialog.preset.isEnabled()


def test_the_choice_stays_while_the_fields_are_filled_in_and_not_for_another_model(
    dialog: ModelSettingsDialog,
) -> None:
    dialog.add("first")
    use(dialog, "decision")
    choose(dialog, "gguf")
    dialog.base_url.setText("http://127.0.0.1:1")
    assert dialog.use.decides()
    dialog.add("second")
    assert not dialog.use.decides()


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


@pytest.mark.parametrize(("kind", "ending"), [("decision", "/decisions"), ("chat", "/chat/completions")])
def test_the_server_is_asked_for_the_kind_that_was_chosen(
    qtbot: QtBot, dialog: ModelSettingsDialog, kind: str, ending: str
) -> None:
    asked: list[str] = []
    handler = type("Noting", (Both,), {"asked": asked})
    with serving(handler) as address:
        dialog.add("other")
        dialog.base_url.setText(f"{address}/v1")
        dialog.model.setText("both-1")
        use(dialog, kind)
        dialog.test()
        qtbot.waitUntil(dialog.test_button.isEnabled, timeout=WAIT_MS)
        words = dialog.test_words.text()
    assert "answered" in words
    assert asked
    assert all(path.endswith(ending) for path in asked)
    use(dialog, kind)
    assert dialog.test_words.text() == ""
