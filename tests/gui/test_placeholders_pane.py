"""The placeholders pane: need and description, texts, prompt classes in their languages, credentials by name."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog, QLabel, QLineEdit

from workbench.engine.model_settings import ModelSettings
from workbench.engine.prompts import prompt_variants
from workbench.engine.secrets import Secrets
from workbench.gui.main_window import MainWindow
from workbench.gui.panes.placeholders import PlaceholdersPane
from workbench.gui.panes.placeholders.credentials import credentials_of

VALUE = "sk-a-secret-value-12345"


@pytest.fixture
def pane(open_window: MainWindow, settled) -> PlaceholdersPane:
    made = open_window.docks.show_pane("placeholders")
    settled(open_window.session)
    assert isinstance(made, PlaceholdersPane)
    return made


def _bodies(pane: PlaceholdersPane) -> list[str]:
    return [row.body for row in pane.uses.model.rows]


def _schema(window: MainWindow) -> dict:
    return json.loads(window.session.snapshot().parameters_schema.text)


# -- placeholders -------------------------------------------------------------------------------------------


def test_every_placeholder_has_a_row_with_its_value(open_window: MainWindow, pane, settled) -> None:
    assert _bodies(pane) == ["param.company.name", "param.name", "param.age"]
    assert [row.value for row in pane.uses.model.rows] == ["Fernhill", "Ann", "41"]
    open_window.template.cards[0].editor.replace_text("[%param.name%] [%param.nobody%]\n")
    settled(open_window.session)
    rows = {row.body: row for row in pane.uses.model.rows}
    assert (rows["param.name"].count, rows["param.nobody"].status) == (2, "kept")
    assert pane.sections.heads[0].text().endswith("3, 1 without a value")


def test_need_is_declared_and_undone_and_a_required_one_that_is_absent_is_listed(
    open_window: MainWindow, pane, settled
) -> None:
    session = open_window.session
    pane.uses.choose("param.age")
    pane.uses.need.setCurrentIndex(pane.uses.need.findData("required"))
    pane.uses.need.activated.emit(1)
    settled(session)
    assert session.snapshot().template.required == ("age",)
    assert pane.uses.chosen().need == "required"
    open_window.template.cards[1].editor.replace_text("Hello [%param.name%].\n")
    settled(session)
    assert (_bodies(pane)[-1], pane.uses.model.rows[-1].status) == ("age", "absent")
    assert any(d.code == "required_absent" for d in session.diagnostics())
    pane.uses.declare("age", "optional")
    settled(session)
    assert (session.snapshot().template.required, session.snapshot().template.optional) == ((), ("age",))
    for _ in range(2):
        session.undo_stack.undo()
    assert (session.snapshot().template.required, session.snapshot().template.optional) == ((), ())


@pytest.mark.parametrize(
    ("dialect", "text", "body", "name"),
    [
        ("context", "[%param.name%]", "param.name", "name"),
        ("double-braces", "{{ name }}", " name ", "name"),
        ("braces", "{name}", "name", "name"),
    ],
)
def test_need_is_known_in_every_dialect(
    open_window: MainWindow, pane, settled, dialect, text, body, name
) -> None:
    session = open_window.session
    session.edit("template", lambda p: p.set_template_option("dialect", dialect))
    open_window.template.cards[1].editor.replace_text(text)
    settled(session)
    pane.uses.declare(body, "required")
    settled(session)
    assert session.snapshot().template.required == (name,)
    assert {row.body: row.need for row in pane.uses.model.rows}[body] == "required"
    assert not any(d.code == "required_absent" for d in session.diagnostics())


def test_a_description_is_kept_in_the_schema_and_touches_nothing_else(
    open_window: MainWindow, pane, settled
) -> None:
    before = open_window.session.snapshot().parameters_schema.text
    pane.uses.choose("param.company.name")
    pane.uses.description.setText("Who sells")
    pane.uses.description.editingFinished.emit()
    settled(open_window.session)
    assert _schema(open_window)["properties"]["company"]["properties"]["name"]["description"] == "Who sells"
    assert pane.uses.chosen().description == "Who sells"
    assert '"Who sells"' in open_window.data.parameters_schema.editor.raw_text()
    open_window.session.undo_stack.undo()
    assert open_window.session.snapshot().parameters_schema.text == before


def test_a_description_written_in_the_schema_shows_in_the_pane(
    open_window: MainWindow, pane, settled
) -> None:
    editor = open_window.data.parameters_schema.editor
    editor.replace_text(
        editor.raw_text().replace('"name": {"type": "string"},\n', '"name": {"description": "Whose"},\n')
    )
    settled(open_window.session)
    assert {row.body: row.description for row in pane.uses.model.rows}["param.name"] == "Whose"


def test_without_a_schema_describing_makes_one(open_window: MainWindow, pane, settled) -> None:
    session = open_window.session
    session.edit("schemas", lambda p: p.set_parameters_schema(None))
    settled(session)
    pane.uses.describe("param.age", "In years")
    settled(session)
    schema = _schema(open_window)
    assert schema["properties"]["age"] == {"type": "integer", "description": "In years"}
    session.undo_stack.undo()
    assert session.snapshot().parameters_schema is None


def test_a_text_of_a_context_has_no_description(open_window: MainWindow, pane, settled) -> None:
    session = open_window.session
    session.edit("template", lambda p: p.set_template_option("contexts", {"sys": {"day": "Monday"}}))
    open_window.template.cards[1].editor.replace_text("[%sys.day%]")
    settled(session)
    pane.uses.choose("sys.day")
    assert not pane.uses.description.isEnabled()
    pane.uses.choose("param.company.name")
    assert pane.uses.description.isEnabled()


def test_a_row_leads_to_each_place_of_its_placeholder_and_to_the_parameter(
    open_window: MainWindow, pane, settled
) -> None:
    open_window.template.cards[0].editor.replace_text("For [%param.name%]\n")
    settled(open_window.session)
    pane.uses.go(_bodies(pane).index("param.name"))
    assert open_window.template.cards[0].editor.selection() == (4, 18)
    pane.uses.where.click()
    assert open_window.template.cards[1].editor.selection() == (6, 20)
    pane.uses.source.click()
    editor = open_window.data.parameters.editor()
    start, end = editor.selection()
    assert editor.raw_text()[start:end] == '"Ann"'


def test_the_caret_chooses_the_row(open_window: MainWindow, pane) -> None:
    editor = open_window.template.cards[1].editor
    editor.setFocus()
    editor.go_to(editor.raw_text().index("param.age"))
    assert pane.uses.chosen().body == "param.age"


def test_hidden_it_costs_nothing(open_window: MainWindow, pane, settled, monkeypatch) -> None:
    open_window.docks.docks["placeholders"].hide()
    monkeypatch.setattr("workbench.gui.panes.placeholders.uses.rows_of", lambda *_: pytest.fail("asked"))
    open_window.template.cards[0].editor.replace_text("For [%param.name%]\n")
    settled(open_window.session)


# -- contexts and fields --------------------------------------------------------------------------------------


def test_contexts_and_fields_are_edited_in_place(open_window: MainWindow, pane, settled) -> None:
    session, texts = open_window.session, pane.texts
    pane.sections.open(1)
    texts.add_button.click()
    for column, text in enumerate(("sys", "day", "Monday")):
        texts.table.item(0, column).setText(text)
    texts.add_button.click()
    texts.table.item(1, 1).setText("mail")
    texts.table.item(1, 2).setText("a@b")
    settled(session)
    options = session.snapshot().template
    assert ({k: dict(v) for k, v in options.contexts.items()}, dict(options.fields)) == (
        {"sys": {"day": "Monday"}},
        {"mail": "a@b"},
    )
    open_window.template.cards[1].editor.replace_text("[%sys.day%] [%mail%]")
    settled(session)
    assert session.rendering().messages[1].text == "Monday a@b"
    texts.table.setCurrentCell(0, 0)
    texts.remove_button.click()
    settled(session)
    assert dict(session.snapshot().template.contexts) == {}


def test_a_context_is_typed_below_a_field_without_a_cell_of_it_being_overwritten(
    open_window: MainWindow, pane, settled
) -> None:
    session, texts = open_window.session, pane.texts
    pane.sections.open(1)

    def type_row(*cells: str) -> None:
        texts.add_button.click()
        for number, text in enumerate(cells):
            QTest.keyClicks(QApplication.focusWidget(), text)
            end = Qt.Key.Key_Return if number + 1 == len(cells) else Qt.Key.Key_Tab
            QTest.keyClick(QApplication.focusWidget(), end)
            settled(session)

    type_row("", "mail", "a@b")
    type_row("sys", "day", "Monday")
    options = session.snapshot().template
    assert {k: dict(v) for k, v in options.contexts.items()} == {"sys": {"day": "Monday"}}
    assert dict(options.fields) == {"mail": "a@b"}
    assert texts.table.item(1, 2).text() == "Monday"


# -- prompt classes -------------------------------------------------------------------------------------------


def _choose(section, component: str, language: str) -> None:
    section.classes.setCurrentIndex(section.classes.findData(component))
    section.classes.activated.emit(0)
    section.languages.setCurrentIndex(section.languages.findData(language))
    section.languages.activated.emit(0)


def test_a_prompt_class_can_be_chosen_in_every_language(open_window: MainWindow, pane) -> None:
    pane.sections.open(2)
    section = pane.prompt_class
    titles = [section.classes.itemText(i) for i in range(section.classes.count())]
    assert "Answer from passages" in titles
    assert len(titles) == len({v.component for v in prompt_variants()})
    _choose(section, "QueryExpansionPrompt", "de")
    assert section.template.raw_text().startswith("Formuliere die Frage auf [%param.n_queries%]")
    assert "How many wordings to give." in section.names.text()
    languages = [section.languages.itemData(i) for i in range(section.languages.count())]
    assert languages == ["en", "es", "pt", "de"]


def test_its_template_becomes_a_message_with_parameters_and_needs(
    open_window: MainWindow, pane, settled
) -> None:
    session, section = open_window.session, pane.prompt_class
    before = session.snapshot()
    pane.sections.open(2)
    _choose(section, "RAGGenerationPrompt", "en")
    section.insert_button.click()
    settled(session)
    snapshot = session.snapshot()
    assert "[%param.chunks%]" in snapshot.messages[2].content
    assert (snapshot.template.required, snapshot.template.optional) == (("input", "chunks"), ("queries",))
    parameters = json.loads(snapshot.parameter_sets["default"].text)
    assert (parameters["input"], parameters["queries"]) == ("", None)
    assert "passages as one text" in _schema(open_window)["properties"]["chunks"]["description"]
    assert session.rendering().unresolved == ()
    assert "Searches that found them" not in session.rendering().messages[2].text
    session.undo_stack.undo()
    settled(session)
    assert session.snapshot() == before


def test_the_language_of_a_message_is_switched_until_it_was_changed(
    open_window: MainWindow, pane, settled
) -> None:
    session, section = open_window.session, pane.prompt_class
    pane.sections.open(2)
    _choose(section, "RAGGenerationPrompt", "en")
    assert not section.switch_button.isEnabled()
    section.insert()
    settled(session)
    assert "holds “Answer from passages” in English" in section.holds.text()
    _choose(section, "RAGGenerationPrompt", "pt")
    assert section.switch_button.isEnabled()
    section.switch_button.click()
    settled(session)
    assert session.snapshot().messages[2].content.startswith("Responda à pergunta")
    assert "Português" in section.holds.text()
    editor = open_window.template.cards[2].editor
    editor.edit_span(0, 0, "Oi! ")
    settled(session)
    _choose(section, "RAGGenerationPrompt", "es")
    assert not section.switch_button.isEnabled()
    assert section.held() is None


def test_the_caret_tells_which_message_is_meant(open_window: MainWindow, pane, settled) -> None:
    section = pane.prompt_class
    pane.sections.open(2)
    _choose(section, "QueryRewritingPrompt", "es")
    section.insert()
    settled(open_window.session)
    open_window.template.cards[0].editor.setFocus()
    assert section.held() is None
    _choose(section, "RAGGenerationPrompt", "en")
    open_window.template.cards[2].editor.setFocus()
    assert section.classes.currentData() == "QueryRewritingPrompt"
    assert section.held().language == "es"


# -- credentials ----------------------------------------------------------------------------------------------


class Keyring:
    """A keyring in memory, which remembers what was asked of it."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.values.get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        self.values[username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.values[username]


@pytest.fixture
def credentials(open_window: MainWindow, pane, settled):
    keyring = Keyring()
    open_window.session._secrets = Secrets(
        {"PROMPT_WORKBENCH_SECRET_HUGGINGFACE": "hf-from-outside"}, keyring
    )
    open_window.session.edit(
        "models",
        lambda p: p.set_model(
            ModelSettings("chat", "openai", "https://models.example.test/v1", "m", "example")
        ),
    )
    pane.sections.open(3)
    settled(open_window.session)
    section = pane.credentials
    section.keyring = keyring
    return section


def _words(section) -> dict[str, str]:
    from workbench.gui.panes.placeholders.credentials import CREDENTIAL

    rows = [section.list.item(i) for i in range(section.list.count())]
    return {row.data(CREDENTIAL).name: row.text().split("\n")[1] for row in rows}


def test_credentials_are_listed_by_name_with_where_their_value_is(credentials) -> None:
    assert _words(credentials) == {
        "huggingface": "from the environment",
        "openai": "no value",
        "anthropic": "no value",
        "example": "no value",
    }


def test_a_value_is_set_and_forgotten_and_never_shown(
    credentials, open_window: MainWindow, settled, monkeypatch
) -> None:
    asked: list[object] = []

    def ask(_parent, _title, words, echo, *_rest):
        asked.append((words, echo))
        return VALUE, True

    monkeypatch.setattr(QInputDialog, "getText", ask)
    credentials.choose("openai")
    assert not credentials.forget_button.isEnabled()
    credentials.set_button.click()
    settled(open_window.session)
    assert asked[0][1] == QLineEdit.EchoMode.Password
    assert "https://api.openai.com" in asked[0][0]
    assert credentials.keyring.values == {"openai": VALUE}
    assert _words(credentials)["openai"] == "in the keyring"
    assert open_window.session.secrets.accepted("openai") == ("https://api.openai.com",)
    shown = [label.text() for label in open_window.findChildren(QLabel)]
    shown += [str(credentials.list.item(i).data(role)) for i in range(4) for role in (0, 3, 5)]
    assert not any(VALUE in text or "hf-from-outside" in text for text in shown)
    credentials.choose("openai")
    credentials.forget_button.click()
    settled(open_window.session)
    assert credentials.keyring.values == {}
    assert _words(credentials)["openai"] == "no value"


def test_a_secret_of_a_model_is_bound_to_the_models_server(
    credentials, open_window: MainWindow, settled
) -> None:
    credentials.choose("example")
    assert "chat" in credentials.words.text()
    credentials.remember(VALUE)
    settled(open_window.session)
    assert open_window.session.secrets.accepted("example") == ("https://models.example.test",)


def test_a_value_from_the_environment_cannot_be_forgotten_here(credentials) -> None:
    credentials.choose("huggingface")
    assert not credentials.forget_button.isEnabled()
    assert "environment variable" in credentials.words.text()


def test_without_a_keyring_the_value_is_kept_for_this_run(open_window: MainWindow, pane, settled) -> None:
    said: list[str] = []
    open_window.session.status.connect(said.append)
    pane.sections.open(3)
    settled(open_window.session)
    pane.credentials.choose("anthropic")
    pane.credentials.remember("two words")
    assert "blank" in said[-1]
    pane.credentials.remember(VALUE)
    settled(open_window.session)
    assert _words(pane.credentials)["anthropic"] == "in memory"
    assert VALUE not in " ".join(said)


def test_credentials_of_models_and_of_the_registry_are_one_list(open_window: MainWindow) -> None:
    session = open_window.session
    session.edit("models", lambda p: p.set_model(ModelSettings("chat", "openai", None, "m", "openai")))
    found = {each.name: each for each in credentials_of(session.snapshot())}
    assert found["openai"].users == ("chat",)
    assert len(found) == 3


def test_sections_open_one_at_a_time_and_by_keyboard(open_window: MainWindow, pane, qtbot) -> None:
    heads = pane.sections.heads
    heads[0].setFocus()
    qtbot.keyClick(heads[0], Qt.Key.Key_Down)
    assert heads[1].hasFocus()
    qtbot.keyClick(heads[1], Qt.Key.Key_Space)
    assert [body.isVisible() for body in pane.sections.bodies] == [False, True, False, False]
    assert [head.accessibleDescription() for head in heads] == ["closed", "open", "closed", "closed"]
