"""The object graph: text with placeholders, the tree beside it, and the preview of a graph."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from workbench.gui.delegates.ink import mono
from workbench.gui.main_window import MainWindow
from workbench.gui.models.graph_tree import GraphTreeModel
from workbench.gui.models.json_tree import NAME, VALUE
from workbench.gui.shell.places import Place

GRAPH = (
    '{\n  "model": "small",\n  "messages": [\n'
    '    {"role": "user", "content": "Hi\\t\\"[%param.name%]\\"\\n[%param.nam%]"}\n'
    '  ],\n  "n": 3\n}\n'
)


@pytest.fixture
def graph(open_window: MainWindow, settled):
    pane = open_window.template.graph
    open_window.template.tabs.setCurrentIndex(1)
    pane.create_button.click()
    pane.editor.replace_text(GRAPH)
    settled(open_window.session)
    return pane


def test_a_new_graph_begins_with_the_messages(open_window: MainWindow, settled) -> None:
    open_window.template.graph.create_button.click()
    settled(open_window.session)
    snapshot = open_window.session.snapshot()
    assert json.loads(snapshot.graph.text) == {
        "messages": [{"role": m.role, "content": m.content} for m in snapshot.messages]
    }
    sent = open_window.session.rendering().graph.value
    assert sent["messages"][1]["content"] == "Hello Ann, you are 41.\n"
    assert open_window.template.unused_note.isVisibleTo(open_window.template)
    open_window.session.undo_stack.undo()
    assert open_window.session.snapshot().graph is None
    assert not open_window.template.unused_note.isVisibleTo(open_window.template)


def test_the_menu_makes_and_shows_a_graph(open_window: MainWindow, settled) -> None:
    open_window.actions_by_id["project.use-graph"].trigger()
    settled(open_window.session)
    assert open_window.template.tabs.currentIndex() == 1
    assert open_window.template.graph.editor.hasFocus()
    text = open_window.session.snapshot().graph.text
    open_window.template.tabs.setCurrentIndex(0)
    open_window.actions_by_id["project.use-graph"].trigger()
    assert open_window.session.snapshot().graph.text == text
    assert open_window.template.tabs.currentIndex() == 1


def test_the_tree_gives_way_where_there_is_no_room(graph, open_window: MainWindow, settled) -> None:
    graph.resize(400, 300)
    assert graph.tree.isHidden()
    graph.tree_button.click()
    assert not graph.tree.isHidden()
    assert graph.model.rowCount() == 1


def test_a_graph_is_saved_beside_the_project_and_goes_with_it(
    graph, open_window: MainWindow, settled
) -> None:
    root = open_window.session.project.root
    assert open_window.files.save()
    assert (root / "graph.json").read_text("utf-8") == GRAPH
    graph.remove_button.click()
    settled(open_window.session)
    assert open_window.files.save()
    assert not (root / "graph.json").exists()


def test_a_missing_value_is_marked_at_its_place_behind_the_escapes(graph) -> None:
    text = graph.editor.raw_text()
    assert [text[t.start : t.end] for t in graph.editor._tints] == ["[%param.nam%]"]
    marked = [text[d.start : d.end] for d in graph.editor.diagnostics()]
    assert marked == ["[%param.nam%]"]
    assert graph.editor.diagnostics()[0].line == 4
    assert graph.missing.words.text() == "1 missing"
    assert graph.values.text() == "2 values"


def test_a_quick_fix_mends_the_string_and_leaves_json(graph, open_window: MainWindow, settled) -> None:
    start = graph.editor.raw_text().index("[%param.nam%]")
    graph.editor.setFocus()
    graph.editor.go_to(start + 3)
    titles = [title for title, _ in open_window.edits.fixes_at_caret(graph.editor)]
    assert titles == ["Change to [%param.name%]", "Add “nam” to default", "Make it literal text"]
    open_window.edits.fixes_at_caret(graph.editor)[2][1]()
    settled(open_window.session)
    assert json.loads(graph.editor.raw_text())["messages"][0]["content"].endswith("\\[%param.nam%]")
    assert open_window.session.rendering().graph.value["messages"][0]["content"].endswith("[%param.nam%]")


def test_completion_works_in_a_string_and_escapes_what_it_puts_in(
    graph, open_window: MainWindow, qtbot, settled
) -> None:
    session = open_window.session
    session.edit("parameters", lambda p: p.set_parameter_set("default", '{"say \\"hi\\"": "yes"}'))
    graph.editor.replace_text('{"a": ""}')
    settled(session)
    graph.editor.setFocus()
    graph.editor.go_to(7)
    qtbot.keyClicks(graph.editor, "[%param.")
    popup = graph.editor._completer
    assert popup is not None
    assert popup.isVisible()
    qtbot.keyClick(graph.editor, Qt.Key.Key_Return)
    settled(session)
    assert json.loads(graph.editor.raw_text())["a"].startswith("[%param.[")
    assert session.rendering().graph.value == {"a": "yes"}


def test_placeholders_are_tinted_in_strings_only(graph, open_window: MainWindow, settled) -> None:
    graph.editor.replace_text('{\n "a": "x [%param.name%] \\\\[%param.name%] \\\\\\\\[%param.name%]"\n}')
    settled(open_window.session)
    block = graph.editor.document().findBlockByNumber(1)
    from workbench.gui.shell.theme import theme

    tinted = [
        block.text()[f.start : f.start + f.length]
        for f in block.layout().formats()
        if f.format.background().color() == theme().color("value_tint")
    ]
    assert tinted == ["[%param.name%]", "[%param.name%]"]


def test_the_tree_shows_the_graph_and_leads_to_its_text(graph, open_window: MainWindow) -> None:
    model = graph.model
    content = model.index_of("/messages/0/content")
    assert content.siblingAtColumn(VALUE).data().startswith('Hi\t"[%param.name%]"')
    assert "Filled: Hi" in content.siblingAtColumn(VALUE).data(Qt.ItemDataRole.ToolTipRole)
    graph.tree.setCurrentIndex(model.index_of("/n"))
    assert graph.editor.caret() == graph.editor.raw_text().index("3\n")
    graph.editor.setFocus()
    graph.editor.go_to(graph.editor.raw_text().index("small"))
    assert graph.tree.currentIndex().data(GraphTreeModel.PointerRole) == "/model"


def test_values_and_names_are_edited_in_the_tree(graph, open_window: MainWindow, settled) -> None:
    model = graph.model
    model.setData(model.index_of("/model").siblingAtColumn(VALUE), 'a "big" one')
    settled(open_window.session)
    model.setData(model.index_of("/n").siblingAtColumn(VALUE), "[1, 2]")
    settled(open_window.session)
    model.setData(model.index_of("/model").siblingAtColumn(NAME), "name of it")
    settled(open_window.session)
    value = json.loads(graph.editor.raw_text())
    assert (value["name of it"], value["n"]) == ('a "big" one', [1, 2])
    said: list[str] = []
    open_window.session.status.connect(said.append)
    model.setData(model.index_of("/n/0").siblingAtColumn(VALUE), "one")
    model.setData(model.index_of("/n").siblingAtColumn(NAME), "messages")
    assert len(said) == 2
    assert json.loads(graph.editor.raw_text()) == value
    graph.editor.undo()
    assert "name of it" not in graph.editor.raw_text()


def test_members_and_items_are_added_copied_and_removed(graph, open_window: MainWindow, settled) -> None:
    for act in (
        lambda: graph.add("", "new"),
        lambda: graph.add("/messages"),
        lambda: graph.duplicate("/messages/0"),
        lambda: graph.duplicate("/n"),
        lambda: graph.remove("/model"),
        lambda: graph.remove("/messages/2"),
    ):
        act()
        settled(open_window.session)
    value = json.loads(graph.editor.raw_text())
    assert list(value) == ["messages", "n", "n_copy", "new"]
    assert value["messages"][0] == value["messages"][1]
    assert len(value["messages"]) == 2
    actions = [action.text() for action in graph.menu_of("/messages").actions()]
    assert actions == ["Add item", "Duplicate", "Remove"]


def test_closed_branches_stay_closed_while_somebody_types(graph, open_window: MainWindow, settled) -> None:
    graph.tree.collapse(graph.model.index_of("/messages"))
    graph.editor.replace_text(GRAPH.replace("small", "large"))
    settled(open_window.session)
    assert not graph.tree.isExpanded(graph.model.index_of("/messages"))
    assert graph.tree.isExpanded(graph.model.index_of(""))
    assert graph.model.index_of("/model").siblingAtColumn(VALUE).data() == "large"


def test_the_preview_shows_the_filled_graph_tinted_and_leads_back(graph, open_window: MainWindow) -> None:
    preview = open_window.docks.pane("preview")
    text = preview.json.raw_text()
    assert json.loads(text)["messages"][0]["content"] == 'Hi\t"Ann"\n[%param.nam%]'
    assert [(text[t.start : t.end], t.ground) for t in preview.json._tints] == [
        ("Ann", "value_tint"),
        ("[%param.nam%]", "missing"),
    ]
    assert "/name" in preview.json.hover_text(text.index("Ann"))
    assert preview.banner.words.text() == "1 value is missing."
    open_window.template.tabs.setCurrentIndex(0)
    preview.json.clicked.emit(text.index("Ann"))
    assert open_window.template.tabs.currentIndex() == 1
    start, end = graph.editor.selection()
    assert graph.editor.raw_text()[start:end] == "[%param.name%]"
    preview.banner.link.click()
    start, end = graph.editor.selection()
    assert graph.editor.raw_text()[start:end] == "[%param.nam%]"


def test_the_caret_frames_value_and_parameter_of_a_graph(graph, open_window: MainWindow) -> None:
    graph.editor.setFocus()
    graph.editor.go_to(graph.editor.raw_text().index("param.name"))
    preview, parameters = open_window.docks.pane("preview").json, open_window.data.parameters.editor()
    outlined = [e.raw_text()[a:b] for e in (graph.editor, preview, parameters) for a, b in e._outlines]
    assert outlined == ["[%param.name%]", "Ann", '"Ann"']
    parameters.setFocus()
    parameters.go_to(parameters.raw_text().index("Ann"))
    assert [graph.editor.raw_text()[a:b] for a, b in graph.editor._outlines] == ["[%param.name%]"]


def test_names_are_filled_and_tinted_when_the_options_say_so(graph, open_window: MainWindow, settled) -> None:
    session = open_window.session
    session.edit("template", lambda p: p.set_template_option("replace_keys", True))
    graph.editor.replace_text('{"[%param.name%]": {"x": "[%param.age%]"}}')
    settled(session)
    preview = open_window.docks.pane("preview")
    text = preview.json.raw_text()
    assert json.loads(text) == {"Ann": {"x": "41"}}
    assert [text[t.start : t.end] for t in preview.json._tints] == ["Ann", "41"]
    graph.editor.replace_text('{"[%param.name%]": 1, "Ann": 2}')
    settled(session)
    assert any(d.code == "key_collision" for d in session.diagnostics())


def test_a_broken_graph_is_said_and_nothing_is_sent(graph, open_window: MainWindow, settled) -> None:
    graph.editor.replace_text('{\n  "a": \n}')
    settled(open_window.session)
    preview = open_window.docks.pane("preview")
    assert preview.banner.words.text() == "The object graph cannot be read."
    assert preview.json.raw_text() == ""
    assert preview.foot.text() == "0 characters · 0 words · about 0 tokens"
    assert not graph.tree.isEnabled()
    assert next(d.line for d in graph.editor.diagnostics() if d.severity == "error") in (2, 3)
    preview.banner.link.click()
    assert graph.editor.textCursor().blockNumber() in (1, 2)


def test_a_problem_of_the_graph_leads_to_its_line(graph, open_window: MainWindow) -> None:
    problems = open_window.docks.pane("problems")
    row = next(r for r in range(problems.model.rowCount()) if "nam%]" in problems.model.diagnostic(r).message)
    assert problems.model._place_words(problems.model.diagnostic(row)) == "graph, line 4"
    graph.editor.moveCursor(QTextCursor.MoveOperation.Start)
    problems.go(row)
    start, end = graph.editor.selection()
    assert graph.editor.raw_text()[start:end] == "[%param.nam%]"


def test_two_sets_of_a_graph_are_compared(graph, open_window: MainWindow, settled) -> None:
    open_window.actions_by_id["project.compare-previews"].trigger()
    settled(open_window.session)
    preview = open_window.docks.pane("preview")
    assert preview.second_json.isVisible()
    assert "Bob" in preview.second_json.raw_text()
    assert preview.difference.text() == "1 value differs"


@pytest.mark.parametrize("target", ["double-braces", "braces"])
def test_the_dialect_of_a_graph_changes_with_the_others(
    graph, open_window: MainWindow, settled, target
) -> None:
    graph.editor.replace_text(GRAPH.replace("[%param.nam%]", ""))
    open_window.template.cards[0].editor.replace_text("You greet.\n")
    settled(open_window.session)
    before = open_window.session.rendering().graph.value
    open_window.docks.show_pane("options").set_dialect(target)
    settled(open_window.session)
    assert open_window.session.snapshot().template.dialect == target
    assert open_window.session.rendering().graph.value == before
    assert "[%" not in graph.editor.raw_text()


def test_going_to_a_node_without_a_span_selects_its_value(graph, open_window: MainWindow) -> None:
    open_window.session.go_to(Place("graph", pointer="/model"))
    start, end = graph.editor.selection()
    assert graph.editor.raw_text()[start:end] == '"small"'


def test_a_selection_in_a_graph_becomes_a_parameter(graph, open_window: MainWindow, settled) -> None:
    start = graph.editor.raw_text().index("small")
    graph.editor.setFocus()
    graph.editor.go_to(start, start + 5)
    open_window.edits.extract("size")
    settled(open_window.session)
    assert json.loads(graph.editor.raw_text())["model"] == "[%param.size%]"
    assert open_window.session.rendering().graph.value["model"] == "small"


def test_undo_in_the_tree_takes_back_the_last_edit_of_the_graph(
    graph, open_window: MainWindow, settled
) -> None:
    session, actions = open_window.session, open_window.actions_by_id
    graph.tree_button.setChecked(True)
    graph.tree.setFocus()
    graph.remove("/n")
    settled(session)
    actions["edit.undo"].trigger()
    settled(session)
    assert session.snapshot().graph.text == GRAPH
    actions["edit.redo"].trigger()
    settled(session)
    assert "n" not in json.loads(session.snapshot().graph.text)


def test_a_graph_that_was_taken_back_returns_with_what_was_typed_since(
    graph, open_window: MainWindow, settled
) -> None:
    session = open_window.session
    session.undo_stack.undo()
    settled(session)
    assert session.snapshot().graph is None
    session.undo_stack.redo()
    settled(session)
    assert session.snapshot().graph.text == graph.editor.raw_text() == GRAPH


def test_names_deep_in_the_tree_stay_readable_in_a_narrow_window(
    graph, open_window: MainWindow, settled
) -> None:
    open_window.resize(1280, 800)
    graph.tree_button.setChecked(True)
    settled(open_window.session)
    graph.tree.resize(170, 300)
    QApplication.processEvents()
    index = graph.model.index_of("/messages/0/role")
    width = graph.tree.visualRect(index).width()
    assert width >= QFontMetrics(mono()).horizontalAdvance("role")


def test_names_and_values_of_the_tree_are_edited_by_keyboard(graph, open_window: MainWindow, settled) -> None:
    session = open_window.session

    def press(key: Qt.Key) -> None:
        QTest.keyClick(QApplication.focusWidget(), key)
        settled(session)

    graph.editor.replace_text('{"n": 3, "list": ["a"]}')
    settled(session)
    graph.tree_button.setChecked(True)
    graph.tree.setFocus()
    graph.tree.setCurrentIndex(graph.model.index_of("/n"))
    press(Qt.Key.Key_F2)
    QTest.keyClicks(QApplication.focusWidget(), "m")
    press(Qt.Key.Key_Return)
    assert graph.tree.hasFocus()
    graph.tree.setCurrentIndex(graph.model.index_of("/list/0"))
    press(Qt.Key.Key_F2)
    QTest.keyClicks(QApplication.focusWidget(), "b")
    press(Qt.Key.Key_Return)
    assert json.loads(session.snapshot().graph.text) == {"m": 3, "list": ["b"]}
    open_window.actions_by_id["edit.undo"].trigger()
    settled(session)
    assert json.loads(session.snapshot().graph.text) == {"m": 3, "list": ["a"]}
