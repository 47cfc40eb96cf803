"""A schema in the window: files that it refers to, hints for models, and their sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, sample_session
from workbench.gui.panes.parameters import ParametersPane
from workbench.gui.panes.schema_watch import FileWatch
from workbench.gui.panes.schemas import SchemaPane
from workbench.gui.shell.session import Session

PARTED = {"type": "object", "properties": {"who": {"$ref": "parts/person.json"}}, "required": ["who"]}


session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> SchemaPane:
    pane = SchemaPane(session, "output")
    qtbot.addWidget(pane)
    pane.resize(700, 600)
    pane.show()
    return pane


def root(session: Session) -> Path:
    found = session.snapshot().root
    assert found is not None
    return found


def write_part(session: Session, value: Any) -> Path:
    path = root(session) / "parts" / "person.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def put(session: Session, schema: Any) -> None:
    session.edit("schemas", lambda project: project.set_output_schema(json.dumps(schema)))


def problems(session: Session) -> set[tuple[str | None, str]]:
    return {(d.file, d.code) for d in session.diagnostics() if d.severity == "error"}


def test_a_part_that_is_made_changed_or_removed_is_checked_again(
    qtbot: QtBot, session: Session, pane: SchemaPane
) -> None:
    pane.example.toggle.click()
    put(session, PARTED)
    qtbot.waitUntil(lambda: problems(session) == {("output.schema.json", "missing_file")}, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: "no parts/person.json" in pane.example.words.text(), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: len(pane.watch.watched()) == 1, timeout=WAIT_MS)
    part = write_part(session, {"const": "Ann"})
    qtbot.waitUntil(lambda: problems(session) == set(), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: pane.example.code.code() == json.dumps({"who": "Ann"}, indent=2), timeout=WAIT_MS)
    write_part(session, '{"type": "strng"}')
    qtbot.waitUntil(lambda: problems(session) == {("parts/person.json", "schema")}, timeout=WAIT_MS)
    other = part.with_name("other.json")
    other.write_text('{"const": "Bo"}')
    other.replace(part)
    qtbot.waitUntil(lambda: problems(session) == set(), timeout=WAIT_MS)
    part.unlink()
    qtbot.waitUntil(lambda: problems(session) == {("output.schema.json", "missing_file")}, timeout=WAIT_MS)


def test_a_part_of_a_part_is_watched_too(qtbot: QtBot, session: Session, pane: SchemaPane) -> None:
    write_part(session, {"properties": {"name": {"$ref": "name.json"}}})
    name = root(session) / "parts" / "name.json"
    name.write_text("true")
    put(session, PARTED)
    qtbot.waitUntil(lambda: name in pane.watch.watched(), timeout=WAIT_MS)
    name.write_text('{"type": 1}')
    qtbot.waitUntil(lambda: problems(session) == {("parts/name.json", "schema")}, timeout=WAIT_MS)
    put(session, {"type": "object"})
    qtbot.waitUntil(lambda: pane.watch.watched() == (), timeout=WAIT_MS)


def test_the_forms_fields_come_from_parts_too(qtbot: QtBot, session: Session) -> None:
    write_part(session, {"enum": ["one", "two"]})
    session.edit(
        "schemas",
        lambda project: project.set_parameters_schema(
            '{"properties": {"choice": {"$ref": "parts/person.json"}}}'
        ),
    )
    session.edit("parameters", lambda project: project.set_parameter_set("default", '{"choice": "one"}'))
    session.parameter_set = "default"
    pane = ParametersPane(session)
    qtbot.addWidget(pane)
    pane.resize(700, 500)
    pane.show()
    session.render_now()
    pane.show_view("form")
    from PySide6.QtWidgets import QComboBox

    def choices() -> list[str]:
        return [box.itemText(row) for box in pane.form.findChildren(QComboBox) for row in range(box.count())]

    qtbot.waitUntil(lambda: any("two" in text for text in choices()), timeout=WAIT_MS)


def test_hints_say_what_a_model_would_find_hard_and_lead_there(
    qtbot: QtBot, session: Session, pane: SchemaPane
) -> None:
    put(session, {"type": "object", "properties": {"any": {}, "b": {"type": "string", "description": "B"}}})
    qtbot.waitUntil(lambda: len(pane.hints.hints()) >= 2, timeout=WAIT_MS)
    codes = [hint.code for hint in pane.hints.hints()]
    assert codes == ["open_value", "no_description", "strict_mode"]
    assert pane.hints.words.text().startswith("3 hints. About so many tokens in the prompt: JSON Schema ")
    assert not pane.hints.list.isVisible()
    pane.hints.toggle.click()
    assert pane.hints.list.isVisible()
    assert pane.hints.list.item(0).text().startswith("line 1: any may be anything.")
    pane.hints.list.itemClicked.emit(pane.hints.list.item(0))
    assert pane.editor.textCursor().selectedText() == "{}"
    pane.example.toggle.click()
    assert pane.example.code.isVisible()
    assert not pane.hints.list.isVisible(), "one of the two at a time"


def test_a_schema_that_is_none_has_no_hints(qtbot: QtBot, session: Session, pane: SchemaPane) -> None:
    qtbot.waitUntil(lambda: "tokens" in pane.hints.words.text(), timeout=WAIT_MS)
    put(session, {"type": "objekt"})
    qtbot.waitUntil(lambda: "no error" in pane.hints.words.text(), timeout=WAIT_MS)
    assert pane.hints.list.count() == 0


def test_a_watch_is_silent_about_other_files(qtbot: QtBot, tmp_path: Path) -> None:
    watch = FileWatch()
    told: list[bool] = []
    watch.changed.connect(lambda: told.append(True))
    watch.watch(tmp_path, ["a.json", "deep/er/b.json"])
    (tmp_path / "other.json").write_text("1")
    qtbot.wait(400)
    assert told == []
    (tmp_path / "a.json").write_text("1")
    qtbot.waitUntil(lambda: told == [True], timeout=WAIT_MS)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    qtbot.wait(400)
    (tmp_path / "deep" / "er" / "b.json").write_text("1")
    qtbot.waitUntil(lambda: told == [True, True], timeout=WAIT_MS)
    watch.watch(None, ())
    (tmp_path / "a.json").write_text("22")
    qtbot.wait(400)
    assert told == [True, True]
