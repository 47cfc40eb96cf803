"""The models dialog fills in common servers, takes files, limits and prices, and says what a server was seen to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialogButtonBox, QLineEdit
from pytestqt.qtbot import QtBot

from tests.engine.decisions.servers import running
from tests.gui.benches import WAIT_MS, sample_session
from workbench.engine.language_models import Probe, presets
from workbench.engine.secrets import Secrets
from workbench.gui.dialogs.model_settings import ModelSettingsDialog
from workbench.gui.dialogs.model_trial import seen
from workbench.gui.main_window import MainWindow
from workbench.gui.shell.session import Session

session = sample_session


@pytest.fixture
def dialog(qtbot: QtBot, session: Session) -> ModelSettingsDialog:
    """Return the dialog with a new model that has no address yet."""
    made = ModelSettingsDialog(session)
    qtbot.addWidget(made)
    made.show()
    made.add("other")
    return made


def fill_in(dialog: ModelSettingsDialog, title: str) -> None:
    row = dialog.preset.findText(title)
    assert row > 0
    dialog.preset.setCurrentIndex(row)
    dialog.preset.activated.emit(row)


def assert_refused(
    dialog: ModelSettingsDialog, fields: Mapping[str, QLineEdit], field: str, text: str
) -> None:
    """Type what a field cannot take: it is said, stays out of the model, and cannot be saved until it is gone."""
    save = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
    fields[field].setText(text)
    assert "must be" in dialog.test_words.text()
    assert not save.isEnabled()
    made = dialog.current()
    assert made is not None
    assert field not in made.options
    fields[field].clear()
    assert save.isEnabled()


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.id)
def test_every_common_server_can_be_filled_in(dialog: ModelSettingsDialog, preset: object) -> None:
    fill_in(dialog, preset.title)  # type: ignore[attr-defined]
    made = dialog.current()
    assert made is not None
    assert (made.provider, made.base_url) == (preset.provider, preset.base_url)  # type: ignore[attr-defined]
    assert preset.help in dialog.hint.text()  # type: ignore[attr-defined]


def test_the_decision_model_is_offered_no_chat_servers(qtbot: QtBot, session: Session) -> None:
    dialog = ModelSettingsDialog(session, chosen="decision")
    qtbot.addWidget(dialog)
    assert not dialog.preset.isEnabled()
    assert not dialog.prices.isEnabled()


def test_prices_go_into_the_project_and_out_again(dialog: ModelSettingsDialog, session: Session) -> None:
    fill_in(dialog, "OpenAI")
    dialog.prices.fields["input_price"].setText("0,4")
    dialog.prices.fields["output_price"].setText("2")
    dialog.prices.fields["currency"].setText("EUR")
    dialog.accept()
    assert dict(session.snapshot().models["other"].options) == {
        "input_price": 0.4, "output_price": 2, "currency": "EUR",
    }  # fmt: skip
    again = ModelSettingsDialog(session, chosen="other")
    assert again.prices.fields["input_price"].text() == "0.4"
    for field in again.prices.fields.values():
        field.clear()
    again.accept()
    assert dict(session.snapshot().models["other"].options) == {}


@pytest.mark.parametrize(
    ("field", "text"), [("input_price", "much"), ("output_price", "-1"), ("currency", "euro")]
)
def test_what_is_no_price_is_said_and_cannot_be_saved(
    dialog: ModelSettingsDialog, field: str, text: str
) -> None:
    assert_refused(dialog, dialog.prices.fields, field, text)


def test_a_file_of_this_computer_is_chosen_and_kept_with_its_context(
    dialog: ModelSettingsDialog, session: Session, tmp_path: Path
) -> None:
    fill_in(dialog, "A GGUF file on this computer")
    assert dialog.options.file.isVisible()
    dialog.options.take_file(tmp_path / "elsewhere" / "small.gguf")
    dialog.options.fields["n_ctx"].setText("2048")
    dialog.accept()
    made = session.snapshot().models["other"]
    assert dict(made.options) == {"path": str(tmp_path / "elsewhere" / "small.gguf"), "n_ctx": 2048}
    assert (made.provider, made.base_url) == ("gguf", None)


def test_a_file_of_the_project_is_named_from_its_folder(
    dialog: ModelSettingsDialog, session: Session
) -> None:
    root = session.snapshot().root
    assert root is not None
    fill_in(dialog, "A GGUF file on this computer")
    dialog.options.take_file(root / "models" / "small.gguf")
    made = dialog.current()
    assert made is not None
    assert made.options["path"] == "models/small.gguf"


def test_limits_go_into_the_project_and_out_again_and_other_options_stay(
    dialog: ModelSettingsDialog, session: Session
) -> None:
    fill_in(dialog, "vLLM")
    for key, text in {"timeout": "2,5", "max_retries": "0", "temperature": "false", "seed": "7"}.items():
        dialog.options.fields[key].setText(text)
    dialog.accept()
    wanted = {"timeout": 2.5, "max_retries": 0, "temperature": False, "seed": 7}
    made = session.snapshot().models["other"]
    assert dict(made.options) == wanted
    session.edit(
        "models",
        lambda project: project.set_model(replace(made, options={**wanted, "headers": {"X-Team": "a"}})),
    )
    again = ModelSettingsDialog(session, chosen="other")
    assert again.options.fields["temperature"].text() == "false"
    again.options.fields["timeout"].clear()
    again.options.fields["temperature"].clear()
    again.accept()
    left = {"max_retries": 0, "seed": 7, "headers": {"X-Team": "a"}}
    assert dict(session.snapshot().models["other"].options) == left


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("timeout", "0"),
        ("max_retries", "1.5"),
        ("max_tokens", "many"),
        ("temperature", "3"),
        ("timeout", "nan"),
    ],
)
def test_a_limit_that_cannot_be_is_said_and_cannot_be_saved(
    dialog: ModelSettingsDialog, field: str, text: str
) -> None:
    assert_refused(dialog, dialog.options.fields, field, text)


@pytest.mark.parametrize(
    ("name", "provider", "shown"),
    [
        ("other", "anthropic", {"timeout", "max_retries", "max_tokens", "temperature"}),
        ("other", "ollama", {"timeout", "max_retries", "max_tokens", "temperature", "seed", "num_ctx"}),
        ("other", "local", {"timeout", "max_tokens", "temperature", "seed", "n_ctx"}),
        ("other", "recorded", set()),
        ("decision-2", "openai", {"timeout", "max_retries"}),
        ("decision-2", "embedded", {"timeout"}),
    ],
)
def test_only_what_means_something_for_the_model_is_asked(
    dialog: ModelSettingsDialog, name: str, provider: str, shown: set[str]
) -> None:
    dialog.add(name)
    dialog.provider.setCurrentIndex(dialog.provider.findData(provider))
    assert {key for key, field in dialog.options.fields.items() if field.isVisible()} == shown
    assert dialog.options.file.isVisible() == (provider == "recorded")


def test_a_test_says_what_the_server_does_and_offers_its_models(
    qtbot: QtBot, dialog: ModelSettingsDialog
) -> None:
    with running("llmock", "serve") as url:
        fill_in(dialog, "vLLM")
        dialog.base_url.setText(url + "/v1")
        dialog.model.setText("mock")
        dialog.test()
        qtbot.waitUntil(lambda: "answered" in dialog.test_words.text(), timeout=WAIT_MS)
    assert "It streams, obeys a JSON Schema and counts its tokens." in dialog.test_words.text()
    assert "The server offers" in dialog.test_words.text()
    completer = dialog.model.completer()
    assert completer is not None
    assert completer.model().rowCount() > 1
    dialog.add("third")
    assert dialog.model.completer() is None


@pytest.mark.parametrize(
    ("probe", "words"),
    [
        (Probe(True, ""), []),
        (Probe(True, "", streaming=True), ["It streams."]),
        (
            Probe(True, "", json_schema=False, usage=True),
            ["It does not obey a JSON Schema (use the mode “prompt”) and counts its tokens."],
        ),
    ],
)
def test_only_what_was_tried_is_said(probe: Probe, words: list[str]) -> None:
    assert seen(probe) == words


def test_the_model_of_the_environment_can_be_chosen_where_there_is_one(
    open_window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offered() -> dict[str, str]:
        chat = open_window.toolbar.chat
        open_window.toolbar.refresh()
        return {chat.itemData(row): chat.itemText(row) for row in range(chat.count())}

    monkeypatch.setattr(open_window.session, "_secrets", Secrets({}))
    assert "environment" not in offered()
    monkeypatch.setattr(
        open_window.session, "_secrets", Secrets({"OPENAI_API_KEY": "k", "OPENAI_MODEL": "gpt-x"})
    )
    assert offered()["environment"] == "Environment: gpt-x, openai"
