"""The message editors."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor

from workbench.gui.main_window import MainWindow
from workbench.gui.panes.template import share_height
from workbench.gui.shell.places import Place


def _texts(window: MainWindow) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in window.session.snapshot().messages]


def test_every_message_has_an_editor_with_its_exact_text(open_window: MainWindow) -> None:
    cards = open_window.template.cards
    assert [(card.role, card.editor.raw_text()) for card in cards] == _texts(open_window)
    assert [card.values.text() for card in cards] == ["1 value", "2 values"]
    cards[0].set_counts(0, 0)
    assert cards[0].values.text() == ""


def test_typing_reaches_the_project_and_the_preview(open_window: MainWindow, qtbot, settled) -> None:
    editor = open_window.template.cards[1].editor
    editor.setFocus()
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClicks(editor, "Oh! ")
    settled(open_window.session)
    assert _texts(open_window)[1][1].startswith("Oh! Hello [%param.name%]")
    assert "Oh! Hello Ann, you are 41." in open_window.docks.pane("preview").text.raw_text()


def test_a_placeholder_without_a_value_is_marked_in_editor_header_and_tree(
    open_window: MainWindow, settled
) -> None:
    card = open_window.template.cards[1]
    card.editor.replace_text("Hello [%param.nam%]")
    settled(open_window.session)
    assert card.missing.words.text() == "1 missing"
    assert [(t.start, t.end) for t in card.editor._tints] == [(6, 19)]
    assert card.editor.diagnostics_at(8)
    tree = open_window.docks.pane("project")
    assert next(n for n in tree._nodes if n.key == "message/1").errors == 1


def test_the_undo_stack_survives_saving_running_and_switching_panes(
    open_window: MainWindow, qtbot, settled
) -> None:
    editor = open_window.template.cards[1].editor
    before = editor.raw_text()
    editor.setFocus()
    qtbot.keyClicks(editor, "x")
    settled(open_window.session)
    assert open_window.files.save()
    open_window.show_layout("History")
    open_window.show_layout("Compose")
    open_window.session.set_parameter_set("other")
    settled(open_window.session)
    editor.setFocus()
    open_window.actions_by_id["edit.undo"].trigger()
    settled(open_window.session)
    assert editor.raw_text() == before
    assert _texts(open_window)[1][1] == before
    assert open_window.session.dirty


def test_messages_are_added_moved_and_removed_with_undo(open_window: MainWindow, settled) -> None:
    pane, session = open_window.template, open_window.session
    before = _texts(open_window)
    pane.add_message("assistant", "Well.\n")
    assert _texts(open_window) == [*before, ("assistant", "Well.\n")]
    pane.move_message(2, -1)
    assert _texts(open_window) == [before[0], ("assistant", "Well.\n"), before[1]]
    assert [card.role for card in pane.cards] == ["system", "assistant", "user"]
    pane.remove_message(0)
    assert [card.role for card in pane.cards] == ["assistant", "user"]
    for _ in range(3):
        session.undo_stack.undo()
    settled(session)
    assert _texts(open_window) == before
    assert [(card.role, card.editor.raw_text()) for card in pane.cards] == before


def test_a_moved_message_keeps_its_editor_and_its_typing(open_window: MainWindow, qtbot, settled) -> None:
    pane = open_window.template
    editor = pane.cards[1].editor
    editor.setFocus()
    qtbot.keyClicks(editor, "zz")
    pane.move_message(1, -1)
    settled(open_window.session)
    assert pane.cards[0].editor is editor
    assert "zz" in _texts(open_window)[0][1]
    assert editor.document().isUndoAvailable()


def test_a_role_can_be_changed(open_window: MainWindow) -> None:
    open_window.template.set_message_role(1, "assistant")
    assert _texts(open_window)[1][0] == "assistant"
    assert open_window.template.cards[1].role_button.text() == "assistant"


def test_two_messages_of_one_role_are_told_apart(open_window: MainWindow) -> None:
    open_window.template.add_message("user", "again")
    assert [card.role_button.text() for card in open_window.template.cards] == ["system", "user 1", "user 2"]


def test_completion_offers_paths_with_types_and_closes_the_placeholder(
    open_window: MainWindow, qtbot, settled
) -> None:
    editor = open_window.template.cards[1].editor
    editor.replace_text("")
    settled(open_window.session)
    editor.setFocus()
    qtbot.keyClicks(editor, "[%param.com")
    popup = editor._completer
    assert popup is not None
    assert popup.isVisible()
    rows = [popup.model().index(r, 0).data() for r in range(popup.model().rowCount())]
    assert "param.company.name" in rows
    while popup.currentIndex().data() != "param.company.name":
        qtbot.keyClick(editor, Qt.Key.Key_Down)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.raw_text() == "[%param.company.name%]"
    assert not popup.isVisible()


def test_the_caret_frames_placeholder_value_and_parameter(open_window: MainWindow, settled) -> None:
    editor = open_window.template.cards[1].editor
    editor.setFocus()
    editor.go_to(10)
    settled(open_window.session)
    preview = open_window.docks.pane("preview").text
    parameters = open_window.data.parameters.editor()
    outlined = [e.raw_text()[a:b] for e in (editor, preview, parameters) for a, b in e._outlines]
    assert outlined == ["[%param.name%]", "Ann", '"Ann"']


def test_going_to_a_place_selects_it(open_window: MainWindow) -> None:
    open_window.show_layout("History")
    open_window.session.go_to(Place("message", "0", 4, 9))
    editor = open_window.template.cards[0].editor
    assert open_window.docks.layout == "Compose"
    assert editor.selection() == (4, 9)


def test_extracting_a_selection_makes_a_parameter(open_window: MainWindow, settled) -> None:
    editor = open_window.template.cards[1].editor
    editor.setFocus()
    editor.go_to(0, 5)
    open_window.edits.extract("greeting")
    settled(open_window.session)
    assert editor.raw_text().startswith("[%param.greeting%] [%param.name%]")
    rendering = open_window.session.rendering()
    assert rendering.parameters.value["greeting"] == "Hello"
    assert rendering.messages[1].text == "Hello Ann, you are 41.\n"


def test_renaming_a_parameter_changes_every_message_and_the_json(open_window: MainWindow, settled) -> None:
    open_window.template.cards[0].editor.replace_text("For [%param.name%] at [%param.company.name%]")
    settled(open_window.session)
    editor = open_window.template.cards[1].editor
    editor.setFocus()
    editor.go_to(10)
    open_window.edits.rename_parameter("first_name")
    settled(open_window.session)
    assert editor.raw_text().startswith("Hello [%param.first_name%], you are [%param.age%]")
    assert (
        open_window.template.cards[0].editor.raw_text()
        == "For [%param.first_name%] at [%param.company.name%]"
    )
    assert '"first_name": "Ann"' in open_window.data.parameters.editor().raw_text()
    assert open_window.session.rendering().unresolved == ()


def test_a_quick_fix_mends_a_misspelt_name(open_window: MainWindow, settled) -> None:
    editor = open_window.template.cards[1].editor
    editor.replace_text("Hi [%param.Name%]")
    settled(open_window.session)
    editor.setFocus()
    editor.go_to(8)
    fixes = [fix for d in editor.diagnostics_at(8) for fix in d.fixes]
    assert fixes
    open_window.session.request_fix(Place("message", "1"), fixes[0])
    settled(open_window.session)
    assert open_window.session.rendering().messages[1].text == "Hi Ann"


def test_a_quick_fix_never_meets_a_text_that_has_changed_since(
    open_window: MainWindow, settled, qtbot
) -> None:
    editor = open_window.template.cards[1].editor
    editor.replace_text("Hi [%param.Name%]")
    settled(open_window.session)
    fixes = [fix for d in editor.diagnostics_at(8) for fix in d.fixes]
    open_window.session._cost = 1.0  # as after a slow rendering: the next one waits
    editor.replace_text("Well, hi [%param.Name%]")
    said = []
    open_window.session.status.connect(said.append)
    open_window.session.request_fix(Place("message", "1"), fixes[0])
    assert editor.raw_text() == "Well, hi [%param.Name%]"
    assert "changed" in said[0]
    settled(open_window.session)
    again = [fix for d in editor.diagnostics_at(14) for fix in d.fixes]
    open_window.session.request_fix(Place("message", "1"), again[0])
    settled(open_window.session)
    assert open_window.session.rendering().messages[1].text == "Well, hi Ann"


def test_an_object_graph_can_replace_the_messages_and_back(open_window: MainWindow, settled) -> None:
    pane = open_window.template
    pane.graph.create_button.click()
    pane.graph_editor.replace_text('{"a": ["[%param.name%]"]}')
    settled(open_window.session)
    assert open_window.session.rendering().graph.value == {"a": ["Ann"]}
    pane.graph.remove_button.click()
    settled(open_window.session)
    assert open_window.session.rendering().messages[1].text.startswith("Hello Ann")


@pytest.mark.parametrize(
    ("room", "wanted", "heights"),
    [
        (400, [100, 100], [100, 300]),
        (300, [500, 100], [200, 100]),
        (300, [500, 500], [150, 150]),
        (100, [500, 500], [80, 80]),
        (600, [50], [600]),
    ],
    ids=["fits", "long one gives", "both give", "scrolls", "alone"],
)
def test_messages_share_the_height_of_the_pane(room: int, wanted: list[int], heights: list[int]) -> None:
    assert share_height(room, wanted, [80] * len(wanted)) == heights


@pytest.mark.parametrize("target", ["double-braces", "braces"])
def test_the_dialect_changes_without_changing_what_is_sent(open_window: MainWindow, settled, target) -> None:
    open_window.template.cards[0].editor.replace_text("For [%param.age%] and {literal} {{braces}}\n")
    settled(open_window.session)
    before = [m.text for m in open_window.session.rendering().messages]
    open_window.docks.pane("options").set_dialect(target)
    settled(open_window.session)
    assert open_window.session.snapshot().template.dialect == target
    assert [m.text for m in open_window.session.rendering().messages] == before
    open_window.session.undo_stack.undo()
    settled(open_window.session)
    assert open_window.session.snapshot().template.dialect == "context"
    assert open_window.template.cards[1].editor.raw_text().startswith("Hello [%param.name%]")


COMPLETIONS = [
    ("context", "", "[%par", "param.company", "[%param.company%]"),
    ("context", "", "[%param.company.n", "param.company.name", "[%param.company.name%]"),
    ("context", "", "[%sy", "sys.day", "[%sys.day%]"),
    ("context", "", "[%mai", "mail", "[%mail%]"),
    ("context", "", "[%param.['a", "param.['a.b']", "[%param.['a.b']%]"),
    ("context", "", "[%param.l", "param.list[*].x", "[%param.list[*].x%]"),
    ("double-braces", "", "{{comp", "company.name", "{{company.name}}"),
    ("double-braces", "", "{{ ['a", "['a.b']", "{{['a.b']}}"),
    ("braces", "", "{na", "name", "{name}"),
]


@pytest.mark.parametrize(
    ("dialect", "before", "typed", "chosen", "result"),
    COMPLETIONS,
    ids=[f"{c[0]} {c[2]}" for c in COMPLETIONS],
)
def test_completion_offers_contexts_paths_and_quoted_names_in_every_dialect(
    open_window: MainWindow, qtbot, settled, dialect, before, typed, chosen, result
) -> None:
    session = open_window.session
    value = '{"company": {"name": "Fernhill"}, "name": "Ann", "a.b": "dot", "list": [{"x": 1}]}'
    session.edit("parameters", lambda p: p.set_parameter_set("default", value))
    for key, option in (
        ("dialect", dialect),
        ("contexts", {"sys": {"day": "Monday"}}),
        ("fields", {"mail": "a@b"}),
    ):
        session.edit("template", lambda p, key=key, option=option: p.set_template_option(key, option))
    editor = open_window.template.cards[1].editor
    editor.replace_text(before)
    settled(session)
    editor.setFocus()
    qtbot.keyClicks(editor, typed)
    popup = editor._completer
    assert popup is not None
    assert popup.isVisible()
    rows = {popup.model().index(r, 0).data(): r for r in range(popup.model().rowCount())}
    assert chosen in rows
    index = popup.model().index(rows[chosen], 0)
    assert index.data(Qt.ItemDataRole.UserRole + 1) in ("object", "string", "text", "integer", "array")
    assert index.data(Qt.ItemDataRole.UserRole + 2) != ""
    popup.setCurrentIndex(index)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.raw_text() == result
    settled(session)
    assert [use.status for use in session.rendering().messages[1].placeholders] == ["resolved"]


FIXES = [
    ("near name", "[%param.nam%]", "Change to [%param.name%]", "Ann"),
    ("case", "[%param.Name%]", "Change to [%param.name%]", "Ann"),
    ("context in capitals", "[%PARAM.name%]", "Change to [%param.name%]", "Ann"),
    ("name without context", "[%name%]", "Change to [%param.name%]", "Ann"),
    ("dot after the context", "[%param['a.b']%]", "Change to [%param.['a.b']%]", "dot"),
    ("name with a dot", "[%param.a.b%]", "Change to [%param.['a.b']%]", "dot"),
    ("literal", "[%param.nowhere%]", "Make it literal text", "[%param.nowhere%]"),
    ("add the parameter", "[%param.company.motto%]", "Add “motto” to default", ""),
]


@pytest.mark.parametrize(("text", "title", "filled"), [f[1:] for f in FIXES], ids=[f[0] for f in FIXES])
def test_quick_fixes_mend_what_they_say(open_window: MainWindow, settled, text, title, filled) -> None:
    session = open_window.session
    value = '{"company": {"name": "Fernhill"}, "name": "Ann", "a.b": "dot"}'
    session.edit("parameters", lambda p: p.set_parameter_set("default", value))
    editor = open_window.template.cards[1].editor
    editor.replace_text(text)
    settled(session)
    editor.setFocus()
    editor.go_to(3)
    fixes = dict(open_window.edits.fixes_at_caret(editor))
    assert title in fixes
    fixes[title]()
    settled(session)
    assert session.rendering().messages[1].text == filled
    assert session.rendering().unresolved == ()


def test_a_rename_reaches_every_set_the_schema_and_the_declarations_and_is_one_step(
    open_window: MainWindow, qtbot, settled
) -> None:
    session = open_window.session
    session.edit("template", lambda p: p.set_template_option("required", ["name"]))
    before = session.snapshot()
    editor = open_window.template.cards[1].editor
    editor.setFocus()
    editor.go_to(10)
    open_window.edits.rename_parameter("who")
    settled(session)
    after = session.snapshot()
    assert '"who": "Ann"' in after.parameter_sets["default"].text
    assert '"who": "Bob"' in after.parameter_sets["other"].text
    assert '"who": {"type": "string"}' in after.parameters_schema.text
    assert '"required": ["company", "who"]' in after.parameters_schema.text
    assert after.template.required == ("who",)
    assert editor.raw_text() == after.messages[1].content
    assert not [d for d in session.diagnostics() if d.severity == "error"]
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    settled(session)
    assert session.snapshot() == before
    assert editor.raw_text() == before.messages[1].content
    assert open_window.data.parameters.editor().raw_text() == before.parameter_sets["default"].text
    open_window.actions_by_id["edit.redo"].trigger()
    settled(session)
    assert session.snapshot() == after


def test_typing_before_and_after_a_rename_is_undone_in_its_order(
    open_window: MainWindow, qtbot, settled
) -> None:
    session = open_window.session
    editor = open_window.template.cards[1].editor
    start = editor.raw_text()
    editor.setFocus()
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClicks(editor, "ab")
    typed = editor.raw_text()
    open_window.edits.rename_parameter("who", pointer="/name")
    settled(session)
    renamed = editor.raw_text()
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClicks(editor, "cd")
    texts = []
    for _ in range(3):
        open_window.actions_by_id["edit.undo"].trigger()
        settled(session)
        texts.append(editor.raw_text())
    assert texts == [renamed, typed, start]
    assert '"name": "Ann"' in session.snapshot().parameter_sets["default"].text
    for _ in range(3):
        open_window.actions_by_id["edit.redo"].trigger()
        settled(session)
    assert editor.raw_text() == "cd" + renamed
    assert '"who": "Ann"' in session.snapshot().parameter_sets["default"].text


def test_a_rename_onto_a_taken_name_is_refused(open_window: MainWindow, settled) -> None:
    said: list[str] = []
    open_window.session.status.connect(said.append)
    before = open_window.session.snapshot()
    open_window.edits.rename_parameter("age", pointer="/name")
    assert "already" in said[-1]
    assert open_window.session.snapshot() == before


def test_an_extraction_is_one_step(open_window: MainWindow, settled) -> None:
    session = open_window.session
    before = session.snapshot()
    editor = open_window.template.cards[1].editor
    editor.setFocus()
    editor.go_to(0, 5)
    open_window.edits.extract("greeting")
    settled(session)
    open_window.actions_by_id["edit.undo"].trigger()
    settled(session)
    assert session.snapshot() == before
    assert editor.raw_text() == before.messages[1].content
