"""The output schema shows an example of what it accepts, and follows what is typed."""

from __future__ import annotations

import json

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import SCHEMA, WAIT_MS, sample_session
from workbench.engine.schemas import JsonSchema
from workbench.gui.panes.schemas import SchemaPane
from workbench.gui.shell.session import Session

session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> SchemaPane:
    pane = SchemaPane(session, "output")
    qtbot.addWidget(pane)
    pane.resize(600, 500)
    pane.show()
    return pane


def test_the_example_is_accepted_by_the_schema_and_follows_it(
    qtbot: QtBot, session: Session, pane: SchemaPane
) -> None:
    assert not pane.example.code.isVisible()
    pane.example.toggle.click()
    value = json.loads(pane.example.code.code())
    assert JsonSchema.from_value(SCHEMA).check(value) == []
    assert pane.example.words.text() == "Accepted by the schema."
    session.edit(
        "schemas",
        lambda project: project.set_output_schema('{"type": "array", "items": {"const": 7}, "minItems": 2}'),
    )
    qtbot.waitUntil(lambda: json.loads(pane.example.code.code() or "0") == [7, 7], timeout=WAIT_MS)


@pytest.mark.parametrize(
    ("form", "word"),
    [("json", '"additionalProperties"'), ("typescript", "export interface"), ("outline", "A ? marks")],
)
def test_the_schema_is_shown_as_a_prompt_shows_it_in_each_style(
    qtbot: QtBot, session: Session, pane: SchemaPane, form: str, word: str
) -> None:
    pane.example.toggle.click()
    pane.example.form.setCurrentIndex(pane.example.form.findData(form))
    assert word in pane.example.code.code()
    assert "tokens" in pane.example.words.text()
    session.edit("translation", lambda project: project.set_translation("type_name", "Claim"))
    if form != "json":
        qtbot.waitUntil(lambda: "Claim" in pane.example.code.code(), timeout=WAIT_MS)
    session.edit("translation", lambda project: project.set_translation("type_name", "my claim"))
    if form == "typescript":
        qtbot.waitUntil(lambda: "no name of a TypeScript type" in pane.example.words.text(), timeout=WAIT_MS)
        assert pane.example.code.code() == ""


def test_a_schema_that_is_none_has_no_example_and_says_why(
    qtbot: QtBot, session: Session, pane: SchemaPane
) -> None:
    pane.example.toggle.click()
    session.edit("schemas", lambda project: project.set_output_schema('{"type": "objekt"}'))
    qtbot.waitUntil(lambda: pane.example.code.code() == "", timeout=WAIT_MS)
    assert "objekt" in pane.example.words.text()


def test_the_schema_of_the_parameters_needs_none(qtbot: QtBot, session: Session) -> None:
    pane = SchemaPane(session, "parameters")
    qtbot.addWidget(pane)
    pane.show()
    assert not pane.example.isVisible()
