"""Parameter sets as text and as a form over the same text; the schemas."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPushButton

from workbench.gui.main_window import MainWindow
from workbench.gui.panes.parameter_form import plan_form
from workbench.gui.panes.parameters import set_name_problem
from workbench.gui.panes.schemas import infer_schema


def _text(window: MainWindow) -> str:
    session = window.session
    return session.snapshot().parameter_sets[session.parameter_set].text


def _value(window: MainWindow) -> object:
    return json.loads(_text(window))


@pytest.fixture
def form(open_window: MainWindow, settled):
    open_window.data.parameters.show_view("form")
    settled(open_window.session)
    return open_window.data.parameters.form


def test_sets_are_added_duplicated_renamed_and_deleted_with_undo(open_window: MainWindow, settled) -> None:
    pane, session = open_window.data.parameters, open_window.session
    pane.add_set("third", '{"name": "Cy"}')
    assert session.parameter_set == "third"
    pane.rename_set("third", "fourth")
    assert session.parameter_set == "fourth"
    assert set(session.snapshot().parameter_sets) == {"default", "other", "fourth"}
    pane.delete_set()
    assert session.parameter_set == "default"
    session.undo_stack.undo()
    assert session.snapshot().parameter_sets["fourth"].text == '{"name": "Cy"}'
    for _ in range(2):
        session.undo_stack.undo()
    settled(session)
    assert set(session.snapshot().parameter_sets) == {"default", "other"}
    assert session.parameter_set in ("default", "other")


def test_the_last_set_is_chosen_again_when_its_deletion_is_undone(open_window: MainWindow, settled) -> None:
    pane, session = open_window.data.parameters, open_window.session
    pane.delete_set()
    pane.delete_set()
    assert session.parameter_set is None
    session.undo_stack.undo()
    settled(session)
    assert session.parameter_set == "other"
    assert pane.editor() is not None


def test_each_set_keeps_its_own_undo_stack(open_window: MainWindow, qtbot, settled) -> None:
    pane, session = open_window.data.parameters, open_window.session
    first = pane.editor()
    first.setFocus()
    qtbot.keyClicks(first, " ")
    session.set_parameter_set("other")
    settled(session)
    assert pane.editor() is not first
    session.set_parameter_set("default")
    assert pane.editor() is first
    assert first.document().isUndoAvailable()


@pytest.mark.parametrize(
    "name", ["", ".hidden", "a/b", "a\\b", "nul\0", "DEFAULT", "default", "x" * 201, " a"]
)
def test_a_name_that_is_no_file_name_is_refused(name: str) -> None:
    assert set_name_problem(name, {"default": 1}) is not None


@pytest.mark.parametrize("name", ["a", "late-parcel", "über", "a.b", "x" * 200])
def test_other_names_are_fine(name: str) -> None:
    assert set_name_problem(name, {"default": 1}) is None


def test_broken_json_is_shown_at_its_line_and_the_window_goes_on(open_window: MainWindow, settled) -> None:
    editor = open_window.data.parameters.editor()
    editor.replace_text('{\n  "name": "Ann",\n  "age": \n}\n')
    settled(open_window.session)
    errors = [d for d in editor.diagnostics() if d.severity == "error"]
    assert errors
    assert errors[0].line in (3, 4)
    assert open_window.data.issue.words.text() == "1 error"
    preview = open_window.docks.pane("preview")
    assert preview.banner.words.text() == "The parameters cannot be read."
    editor.replace_text('{"name": "Zoe", "age": 3, "company": {"name": "C"}}')
    settled(open_window.session)
    assert not preview.banner.isVisible()
    assert "Hello Zoe" in preview.text.raw_text()


def test_a_schema_error_is_underlined_with_the_value_it_concerns(open_window: MainWindow, settled) -> None:
    editor = open_window.data.parameters.editor()
    editor.replace_text(editor.raw_text().replace("41", '"old"'))
    settled(open_window.session)
    errors = [d for d in editor.diagnostics() if d.severity == "error"]
    assert [editor.raw_text()[d.start : d.end] for d in errors] == ['"old"']
    assert "/age" in editor.hover_text(errors[0].start)


def test_the_form_has_a_field_for_every_value_by_its_type(form) -> None:
    kinds = {pointer: type(field).__name__ for pointer, field in form.fields.items()}
    assert kinds == {"/company/name": "QLineEdit", "/name": "QLineEdit", "/age": "QLineEdit"}
    names = [b.accessibleName() for b in form.findChildren(QPushButton)]
    assert names == ["Add a member to company", "Add tier", "Add vip", "Add a member"]


def test_a_field_changes_only_its_own_span(form, open_window: MainWindow, qtbot, settled) -> None:
    before = _text(open_window)
    field = form.fields["/name"]
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, 'Q"x')
    settled(open_window.session)
    assert _text(open_window) == before.replace('"Ann"', '"Q\\"x"')
    assert open_window.session.rendering().messages[1].text.startswith('Hello Q"x')


def test_typing_goes_on_while_a_long_prompt_is_filled_in_the_background(
    form, open_window: MainWindow, qtbot, settled
) -> None:
    session = open_window.session
    field = form.fields["/name"]
    field.setFocus()
    field.selectAll()
    for key in 'Q"xyz':
        session._cost = 1.0  # as after a slow rendering: the next one is a job
        qtbot.keyClicks(field, key)
    form.fields["/company/name"].setText("")
    qtbot.keyClicks(form.fields["/company/name"], "Ü")
    assert field.text() == 'Q"xyz'
    settled(session)
    assert field.text() == 'Q"xyz'
    assert (_value(open_window)["name"], _value(open_window)["company"]["name"]) == ('Q"xyz', "Ü")


def test_a_number_is_kept_as_it_was_typed_and_nonsense_is_refused(form, open_window, qtbot, settled) -> None:
    field = form.fields["/age"]
    assert isinstance(field, QLineEdit)
    field.setText("12345678901234567890")
    field.editingFinished.emit()
    settled(open_window.session)
    assert '"age": 12345678901234567890' in _text(open_window)
    field = form.fields["/age"]
    field.setText("forty")
    field.editingFinished.emit()
    assert '"age": 12345678901234567890' in _text(open_window)
    assert form._problems["/age"].text() == "not a number"


def test_missing_members_can_be_added_and_removed(form, open_window: MainWindow, qtbot, settled) -> None:
    add = {b.accessibleName(): b for b in form.findChildren(QPushButton)}
    qtbot.mouseClick(add["Add tier"], Qt.MouseButton.LeftButton)
    settled(open_window.session)
    assert _value(open_window)["tier"] == "basic"
    tier = form.fields["/tier"]
    assert isinstance(tier, QComboBox)
    tier.setCurrentIndex(1)
    tier.activated.emit(1)
    settled(open_window.session)
    assert _value(open_window)["tier"] == "pro"
    add = {b.accessibleName(): b for b in form.findChildren(QPushButton)}
    qtbot.mouseClick(add["Add vip"], Qt.MouseButton.LeftButton)
    settled(open_window.session)
    vip = form.fields["/vip"]
    assert isinstance(vip, QCheckBox)
    vip.setChecked(True)
    settled(open_window.session)
    assert _value(open_window)["vip"] is True
    form._remove(next(row for row in form._rows if row.pointer == "/tier"))
    settled(open_window.session)
    assert "tier" not in _value(open_window)
    assert _value(open_window)["vip"] is True


def test_form_edits_are_undone_in_the_text(form, open_window: MainWindow, settled) -> None:
    before = _text(open_window)
    form._put("/name", "Zed")
    settled(open_window.session)
    open_window.data.parameters.editor().undo()
    settled(open_window.session)
    assert _text(open_window) == before
    assert form.fields["/name"].text() == "Ann"


@pytest.mark.parametrize(
    ("value", "schema", "rows"),
    [
        ({}, {}, []),
        (5, {}, [("", "number")]),
        ({"a": [1, "x"]}, {}, [("/a", "list"), ("/a/0", "number"), ("/a/1", "text")]),
        ({"a": None}, {}, [("/a", "json")]),
        ({"a/b": "x\ny"}, {}, [("/a~1b", "long")]),
        (
            {},
            {"properties": {"b": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "boolean"}}},
            [("/b", "boolean")],
        ),
        ({}, {"properties": {"b": {"$ref": "#/properties/b"}}}, [("/b", "json")]),
        ({}, {"properties": 5}, []),
        ({"a": 1}, True, [("/a", "number")]),
    ],
    ids=["empty", "scalar", "list", "null", "escaped", "ref", "ref to itself", "odd schema", "true schema"],
)
def test_any_value_and_any_schema_give_a_plan(value, schema, rows) -> None:
    assert [(row.pointer, row.kind) for row in plan_form(value, schema)] == rows


def test_a_schema_that_is_none_is_said_at_its_line(open_window: MainWindow, settled) -> None:
    editor = open_window.data.output_schema.editor
    editor.replace_text('{\n  "type": "objekt"\n}')
    settled(open_window.session)
    errors = [d for d in editor.diagnostics() if d.severity == "error"]
    assert errors
    assert errors[0].line == 2


@pytest.mark.parametrize("value", [{"a": [{"b": 1}], "c": 1.5, "d": None, "e": True}, [], "x", 0])
def test_an_inferred_schema_accepts_what_it_was_made_from(value) -> None:
    from workbench.engine.schemas import JsonSchema

    assert JsonSchema.from_value(infer_schema(value)).check(value) == []


RICH = {
    "type": "object",
    "required": ["kind", "lines"],
    "properties": {
        "kind": {"const": "order"},
        "size": {"oneOf": [{"const": "s", "title": "small"}, {"const": "l"}]},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "note": {"type": "string", "default": "none", "description": "For the packer"},
    },
    "additionalProperties": False,
    "$defs": {
        "line": {
            "type": "object",
            "required": ["item", "count"],
            "properties": {"item": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
        }
    },
}


@pytest.fixture
def rich(form, open_window: MainWindow, settled):
    session = open_window.session
    session.edit("schemas", lambda p: p.set_parameters_schema(json.dumps(RICH)))
    session.edit("parameters", lambda p: p.set_parameter_set("default", '{"lines": []}\n'))
    settled(session)
    return form


def _press(form, name: str, open_window: MainWindow, settled) -> None:
    next(b for b in form.findChildren(QPushButton) if b.accessibleName() == name).click()
    settled(open_window.session)


def test_items_and_members_begin_with_what_their_schema_allows(
    rich, open_window: MainWindow, settled
) -> None:
    for name in ("Add kind", "Add an item to lines", "Add size", "Add note"):
        _press(rich, name, open_window, settled)
    value = _value(open_window)
    assert (value["kind"], value["size"], value["note"]) == ("order", "s", "none")
    assert set(value["lines"][0]) == {"item", "count"}
    assert value["lines"][0]["count"] >= 1
    assert rich.fields["/lines/0/count"].text() == str(value["lines"][0]["count"])
    assert "Add a member" not in [b.accessibleName() for b in rich.findChildren(QPushButton)]
    errors = [d for d in open_window.session.diagnostics() if d.keyword]
    assert errors == []


def test_required_members_are_marked_and_missed(rich, open_window: MainWindow, settled) -> None:
    from PySide6.QtWidgets import QLabel

    labels = [label.text() for label in rich.findChildren(QLabel)]
    assert {"kind *", "lines *", "size", "note"} <= set(labels)
    assert labels.count("required, not there") == 1
    assert "kind" in rich.whole.text()
    _press(rich, "Add kind", open_window, settled)
    assert rich.whole.text() == ""


def test_an_error_shows_at_the_field_it_concerns(rich, open_window: MainWindow, qtbot, settled) -> None:
    _press(rich, "Add an item to lines", open_window, settled)
    count = rich.fields["/lines/0/count"]
    count.setFocus()
    count.selectAll()
    qtbot.keyClicks(count, "0")
    settled(open_window.session)
    assert _value(open_window)["lines"][0]["count"] == 0
    assert rich._problems["/lines/0/count"].isVisible()
    assert count.property("state") == "error"
    qtbot.keyClick(count, Qt.Key.Key_Backspace)
    qtbot.keyClicks(count, "12")
    settled(open_window.session)
    assert _value(open_window)["lines"][0]["count"] == 12
    assert not rich._problems["/lines/0/count"].isVisible()


def test_a_text_that_becomes_long_keeps_the_keyboard(form, open_window: MainWindow, qtbot, settled) -> None:
    field = form.fields["/name"]
    field.setFocus()
    qtbot.keyClicks(field, "x" * 80)
    settled(open_window.session)
    assert form.fields["/name"] is field
    assert field.hasFocus()
    assert _value(open_window)["name"].endswith("x" * 80)


def test_text_and_form_edit_the_same_data(form, open_window: MainWindow, settled) -> None:
    editor = open_window.data.parameters.editor()
    editor.replace_text('{"company": {"name": "C", "extra": [1, {"deep": true}]}, "name": "Z"}')
    settled(open_window.session)
    assert {"/company/extra/0", "/company/extra/1/deep", "/name"} <= set(form.fields)
    assert form.fields["/company/extra/1/deep"].isChecked()
    form.add_member("/company/extra/1", "more")
    settled(open_window.session)
    assert editor.raw_text().endswith('[1, {"deep": true, "more": ""}]}, "name": "Z"}')
    form.fields["/company/extra/1/deep"].setChecked(False)
    settled(open_window.session)
    assert '"deep": false' in editor.raw_text()
