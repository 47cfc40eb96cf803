"""The window as a whole: layouts, actions, problems, tree, files, and what comes back after a restart."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QRect, Qt, QTimer
from PySide6.QtGui import QFont, QFontMetrics, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QMessageBox, QTabBar

from workbench.gui.application import keep_work, open_first
from workbench.gui.dialogs import questions
from workbench.gui.dialogs.new_project import NewProjectDialog, folder_name
from workbench.gui.dialogs.settings_dialog import SettingsDialog
from workbench.gui.dialogs.shortcuts import ShortcutsDialog
from workbench.gui.main_window import MainWindow
from workbench.gui.panes.problems import PLACE_ROLE
from workbench.gui.panes.project_tree import name_place
from workbench.gui.shell.crash import CrashGuard
from workbench.gui.shell.file_actions import FileActions
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session
from workbench.gui.shell.settings import AppSettings
from workbench.gui.shell.theme import apply_theme, interface_font, theme


def _open_docks(window: MainWindow) -> set[str]:
    return {
        name
        for name, dock in window.docks.docks.items()
        if dock.isVisible() or dock.toggleViewAction().isChecked()
    }


# -- layouts --------------------------------------------------------------------------------------------


def test_the_first_window_is_the_welcome_page_with_nothing_to_run(window: MainWindow) -> None:
    assert window.center.currentWidget() is window._welcome
    assert not window.actions_by_id["run.checks"].isEnabled()
    assert not window.actions_by_id["file.save"].isEnabled()
    assert window.actions_by_id["file.open"].isEnabled()
    assert window.toolbar.run_button.property("role") != "main"


def test_compose_has_the_panes_of_the_main_loop(open_window: MainWindow) -> None:
    assert _open_docks(open_window) == {
        "project",
        "preview",
        "guardrails",
        "translation",
        "problems",
        "history",
    }
    assert open_window.centralWidget().isVisible()
    assert open_window.toolbar.run_button.property("role") == "main"


def test_each_layout_remembers_what_was_closed_in_it(open_window: MainWindow) -> None:
    open_window.docks.docks["problems"].close()
    open_window.show_layout("History")
    assert _open_docks(open_window) == {"history"}
    assert not open_window.centralWidget().isVisible()
    open_window.layout_tabs.setCurrentIndex(0)
    assert "problems" not in _open_docks(open_window)
    open_window.docks.reset()
    assert "problems" in _open_docks(open_window)


def test_panes_are_made_when_they_are_first_seen(open_window: MainWindow) -> None:
    assert open_window.docks.docks["thresholds"].pane is None
    assert open_window.docks.docks["preview"].pane is not None


def test_the_keyboard_walks_through_the_panes(open_window: MainWindow) -> None:
    open_window.template.cards[0].editor.setFocus()
    seen = set()
    for _ in range(7):
        open_window.step_pane(1)
        focus = QApplication.focusWidget()
        assert focus is not None
        seen.add(next((n for n, d in open_window.docks.docks.items() if d.isAncestorOf(focus)), "center"))
    assert {"center", "project", "preview", "guardrails", "history"} <= seen


# -- actions ------------------------------------------------------------------------------------------------


def test_every_action_does_something(window: MainWindow) -> None:
    for action_id in window.actions_by_id.ids():
        action = window.actions_by_id[action_id]
        assert action.receivers("2triggered(bool)") > 0, action_id


def test_the_palette_lists_actions_panes_messages_and_sets(open_window: MainWindow) -> None:
    palette = open_window.show_palette()
    try:
        texts = palette.visible_texts()
        for text in ("Run checks", "Show Preview", "system", "other", "Export"):
            assert text in texts
        palette.needle.setText("oth")
        assert palette.visible_texts()[0] == "other"
        palette._run(palette.view.currentIndex())
    finally:
        palette.close()
    assert open_window.session.parameter_set == "other"


def test_a_changed_shortcut_works_and_comes_back(open_window: MainWindow, qtbot) -> None:
    dialog = ShortcutsDialog(open_window.actions_by_id, open_window.session.settings, open_window)
    qtbot.addWidget(dialog)
    row = open_window.actions_by_id.ids().index("view.history")
    dialog.table.setCurrentCell(row, 0)
    dialog.recorder.setKeySequence(QKeySequence("Ctrl+O"))
    dialog.assign.click()
    assert "Open" in dialog.problem.text()
    dialog.recorder.setKeySequence(QKeySequence("Ctrl+Alt+H"))
    dialog.assign.click()
    assert open_window.actions_by_id.shortcut("view.history") == "Ctrl+Alt+H"
    assert AppSettings(open_window.session.settings.folder).shortcuts() == {"view.history": "Ctrl+Alt+H"}
    dialog.default.click()
    assert open_window.session.settings.shortcuts() == {}


def test_every_button_and_field_has_a_name_for_a_screen_reader(open_window: MainWindow) -> None:
    nameless = [
        f"{type(w).__name__} in {type(w.parentWidget()).__name__}"
        for w in open_window.findChildren(QAbstractButton)
        if w.isVisible()
        and not (w.text() or w.accessibleName() or w.toolTip())
        and not isinstance(w.parentWidget(), QTabBar | QLineEdit)  # Qt's own parts
    ]
    nameless += [
        type(w).__name__
        for w in open_window.findChildren(QComboBox)
        if w.isVisible() and not w.accessibleName()
    ]
    nameless += [
        type(w).__name__
        for w in open_window.findChildren(QLineEdit)
        if w.isVisible() and not (w.accessibleName() or w.placeholderText()) and not isinstance(w.parentWidget(), QComboBox)
        and "spinbox" not in w.objectName()
    ]  # fmt: skip
    assert nameless == []


def test_settings_hold_at_once(open_window: MainWindow, qtbot, qapp) -> None:
    dialog = SettingsDialog(open_window.session.settings, open_window)
    qtbot.addWidget(dialog)
    try:
        dialog.fields["theme"].setCurrentText("dark")
        assert theme().name == "dark"
        dialog.fields["editor.size"].setValue(16)
        assert open_window.template.cards[0].editor.font().pixelSize() == 16
        dialog.fields["editor.line_numbers"].setChecked(False)
        assert not open_window.template.cards[0].editor.gutter.isVisible()
    finally:
        open_window.session.settings.set("editor.size", 12)
        apply_theme(qapp, "light")


# -- problems and tree ------------------------------------------------------------------------------------------


def test_problems_lead_to_their_places(open_window: MainWindow, settled) -> None:
    open_window.template.cards[1].editor.replace_text("Hello [%param.nam%] and [%param.agee%]")
    settled(open_window.session)
    pane = open_window.docks.pane("problems")
    rows = [pane.model.diagnostic(row) for row in range(pane.model.rowCount())]
    assert len([d for d in rows if d.node == "/1/content"]) >= 2
    seen = []
    for _ in range(len(rows)):
        open_window.actions_by_id["window.next-problem"].trigger()
        seen.append(pane.view.currentIndex().row())
    assert sorted(seen) == list(range(len(rows)))
    open_window.actions_by_id["window.next-problem"].trigger()
    assert pane.view.currentIndex().row() == seen[0]


def test_every_problem_can_be_reached_however_many_there_are(open_window: MainWindow, settled) -> None:
    open_window.template.cards[1].editor.replace_text("".join(f"[%param.no{i}%]\n" for i in range(1200)))
    settled(open_window.session)
    problems = open_window.docks.pane("problems")
    missing = [
        r for r in range(problems.model.rowCount()) if "param.no" in problems.model.diagnostic(r).message
    ]
    assert len(missing) == 1200
    problems.go(missing[-1])
    editor = open_window.template.cards[1].editor
    start, end = editor.selection()
    assert editor.raw_text()[start:end] in problems.model.diagnostic(missing[-1]).message
    assert problems.view.currentIndex().row() == missing[-1]
    assert problems.view.viewport().rect().intersects(problems.view.visualRect(problems.view.currentIndex()))


def test_a_pane_of_the_menu_opens_in_front_and_the_tools_get_room(open_window: MainWindow, qtbot) -> None:
    docks = open_window.docks.docks
    before = docks["history"].height()
    assert before < 300
    docks["tools"].toggleViewAction().trigger()
    qtbot.waitUntil(lambda: docks["tools"].height() > 300)
    assert not docks["tools"].visibleRegion().isEmpty(), "in front of the history"
    assert docks["history"].visibleRegion().isEmpty()


def test_alt_enter_mends_the_problem_that_is_selected_in_the_list(
    open_window: MainWindow, settled, qtbot
) -> None:
    open_window.template.cards[1].editor.replace_text("Hello [%param.nam%] and [%param.agee%]")
    settled(open_window.session)
    problems = open_window.docks.show_pane("problems")
    rows = range(problems.model.rowCount())
    row = next(r for r in rows if "agee" in problems.model.diagnostic(r).message)
    problems.view.setCurrentIndex(problems.model.index(row))
    problems.view.setFocus()
    titles = [title for title, _ in open_window.edits.fixes_of(problems.chosen())]
    assert any("param.age" in title for title in titles)
    assert any(title.startswith("Add “agee”") for title in titles), "as at the caret"
    opened = []

    def choose() -> None:
        menu = QApplication.activePopupWidget()
        opened.extend(action.text() for action in menu.actions())
        next(a for a in menu.actions() if "param.age" in a.text()).trigger()
        menu.close()

    QTimer.singleShot(200, choose)
    qtbot.keyClick(problems.view, Qt.Key.Key_Return, Qt.KeyboardModifier.AltModifier)
    assert opened == titles
    settled(open_window.session)
    assert open_window.template.cards[1].editor.raw_text() == "Hello [%param.nam%] and [%param.age%]"


def test_a_problem_without_a_fix_says_so(open_window: MainWindow, settled) -> None:
    open_window.session.edit("parameters", lambda p: p.set_parameter_set("default", '{"name": ["a", "b"]}'))
    open_window.template.cards[0].editor.replace_text("[%param.name[*]%]")
    open_window.template.cards[1].editor.replace_text("none")
    settled(open_window.session)
    problems = open_window.docks.show_pane("problems")
    row = next(
        r for r in range(problems.model.rowCount()) if "matches 2" in problems.model.diagnostic(r).message
    )
    problems.view.setCurrentIndex(problems.model.index(row))
    problems.view.setFocus()
    open_window.actions_by_id["edit.fix"].trigger()
    assert open_window.status_line.message.text() == "There is no quick fix for this problem."


def test_the_list_without_problems_shows_one_line_and_no_keys(open_window: MainWindow, settled) -> None:
    problems = open_window.docks.show_pane("problems")
    open_window.template.cards[1].editor.replace_text("Hello [%param.nam%]")
    settled(open_window.session)
    assert problems.keys.isVisible()
    assert problems.keys.height() < 40
    open_window.template.cards[1].editor.replace_text("Hello [%param.name%] [%param.age%]")
    settled(open_window.session)
    assert problems.empty.isVisible()
    assert not problems.keys.isVisible()


PROBLEMS = [
    ("missing", "[%param.nobody%]", "param.nobody%] is unresolved", "user, line 1"),
    ("list", "[%param.list%]", "is a list and is put in as JSON", "user"),
    ("object", "[%param.company%]", "is an object and is put in as JSON", "user"),
    ("joined", "[%param.list[*]%]", "matches 2 values, which are put in as one text", "user"),
    ("empty match", "[%param.none[*]%]", "matches nothing, so nothing is put in", "user, line 1"),
    ("null", "[%param.null%]", "is null and is put in as nothing", "user"),
    ("unused", "x", "/name is not used by any template", "default, line 3"),
    ("schema", "x", "", "default, line 4"),
    ("broken path", "[%param.a[?(%]", "its path is malformed", "user, line 1"),
]


@pytest.mark.parametrize(("text", "words", "place"), [p[1:] for p in PROBLEMS], ids=[p[0] for p in PROBLEMS])
def test_each_kind_of_problem_is_listed_at_its_place(
    open_window: MainWindow, settled, text: str, words: str, place: str
) -> None:
    value = '{\n "company": {"name": "F"},\n "name": "Ann",\n "age": "old",\n "list": [1, 2], "none": [], "null": null\n}'
    open_window.session.edit("parameters", lambda p: p.set_parameter_set("default", value))
    open_window.template.cards[1].editor.replace_text(text)
    settled(open_window.session)
    problems = open_window.docks.pane("problems")
    rows = [problems.model.index(row) for row in range(problems.model.rowCount())]
    found = [row for row in rows if words in row.data() and row.data(PLACE_ROLE) == place]
    if words == "":
        found = [row for row in found if problems.model.diagnostic(row.row()).keyword == "type"]
    assert len(found) == 1
    problems.go(found[0].row())
    editor = (
        open_window.data.parameters.editor() if "default" in place else open_window.template.cards[1].editor
    )
    assert editor.hasFocus()


def test_rows_of_problems_that_stay_are_not_touched(open_window: MainWindow, settled) -> None:
    pane = open_window.docks.pane("problems")
    open_window.template.cards[1].editor.replace_text("[%param.a%] [%param.b%] [%param.c%]")
    settled(open_window.session)
    resets: list[int] = []
    pane.model.modelReset.connect(lambda: resets.append(1))
    before = pane.model.rowCount()
    open_window.template.cards[1].editor.replace_text("[%param.a%] [%param.b%] [%param.name%]")
    settled(open_window.session)
    assert pane.model.rowCount() < before
    assert not resets


def test_the_tree_shows_the_project_and_leads_to_its_parts(open_window: MainWindow) -> None:
    tree = open_window.docks.pane("project")
    keys = [node.key for node in tree._nodes]
    for key in (
        "project",
        "message/0",
        "message/1",
        "set/default",
        "set/other",
        "schema/output_schema",
        "guardrails/input",
    ):
        assert key in keys
    item = next(i for i in tree._items() if i.text() == "other")
    tree._open(item.index())
    assert open_window.session.parameter_set == "other"
    assert open_window.data.tabs.tabText(0) == "Parameters: other"


def test_the_tree_keeps_closed_branches_closed_when_it_changes(open_window: MainWindow) -> None:
    tree = open_window.docks.pane("project")
    branch = next(i for i in tree._items() if i.text() == "Parameter sets")
    tree.view.setExpanded(branch.index(), False)
    open_window.data.parameters.add_set("third")
    branch = next(i for i in tree._items() if i.text() == "Parameter sets")
    assert not tree.view.isExpanded(branch.index())
    assert branch.rowCount() == 3


@pytest.mark.parametrize("layout", ["Compose", "History"])
def test_a_place_in_a_hidden_schema_is_scrolled_to_and_gets_the_keyboard(
    open_window: MainWindow, layout: str, settled
) -> None:
    session, editor = open_window.session, open_window.data.output_schema.editor
    long = "{\n" + "\n" * 200 + '"type": "object"}\n'
    session.edit("schemas", lambda project: project.set_output_schema(long))
    settled(session)
    open_window.show_layout(layout)
    start = long.index('"object"')
    session.go_to(Place("output_schema", "", start, start + 8))
    settled(session)
    assert editor.isVisible()
    assert editor.textCursor().selectedText() == '"object"'
    assert editor.viewport().rect().contains(editor.cursorRect())
    assert open_window.focusWidget() is editor


def test_the_status_bar_says_what_is_so(open_window: MainWindow, settled) -> None:
    bar = open_window.status_line
    assert bar.saved.text().startswith("Saved")
    assert bar.dialect.text() == "[% … %]"
    assert bar.encoding.text() == "UTF-8, LF"
    editor = open_window.template.cards[1].editor
    editor.setFocus()
    editor.go_to(3)
    assert bar.caret.text() == "user, line 1, column 4"
    editor.replace_text("[%param.x%]")
    settled(open_window.session)
    assert bar.saved.text().startswith("Not saved")
    assert "problem" in bar.problems.text()


# -- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda f: None, "folder"),
        (lambda f: (f / "workbench.toml").write_text("format = 99\nname = 'x'"), "format"),
        (lambda f: (f / "workbench.toml").write_bytes(b"\xff\xfe"), "UTF-8"),
        (lambda f: (f / "workbench.toml").write_text("format = ["), "workbench.toml"),
    ],
    ids=["no project", "newer format", "not utf-8", "not toml"],
)
def test_a_folder_that_cannot_be_opened_gives_one_clear_message(
    open_window: MainWindow, tmp_path: Path, make, said: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    make(folder)
    messages: list[str] = []
    open_window.session.status.connect(messages.append)
    assert not open_window.files.open_folder(folder, ask=False)
    assert len(messages) == 1
    assert said in messages[0]
    assert "\n" not in messages[0]
    assert open_window.session.project.name == "Greeting"


def test_a_wrong_type_in_the_project_file_is_a_problem_at_its_line(
    open_window: MainWindow, project_folder: Path, settled
) -> None:
    file = project_folder / "workbench.toml"
    file.write_text(
        file.read_text("utf-8").replace("threshold = 0.5", 'threshold = "high"'), encoding="utf-8"
    )
    open_window.files.reload(ask=False)
    settled(open_window.session)
    found = [d for d in open_window.session.diagnostics() if d.file == "workbench.toml"]
    assert [(d.severity, d.line) for d in found] == [("error", 21)]
    assert open_window.template.cards[1].editor.isEnabled()


def test_unsaved_work_is_asked_about_before_it_is_left(
    open_window: MainWindow, monkeypatch, project_folder
) -> None:
    open_window.template.cards[1].editor.replace_text("mine\n")
    answers = iter(["cancel", "save"])
    monkeypatch.setattr(questions, "ask_unsaved", lambda *_: next(answers))
    assert not open_window.files.close_project()
    assert open_window.session.project is not None
    assert open_window.files.close_project()
    assert "mine" in (project_folder / "workbench.toml").read_text("utf-8")
    assert open_window.center.currentWidget() is open_window._welcome


def test_a_changed_file_is_asked_about_before_it_is_overwritten(
    open_window: MainWindow, monkeypatch, project_folder: Path
) -> None:
    file = project_folder / "workbench.toml"
    open_window.template.cards[1].editor.replace_text("mine\n")
    file.write_text(file.read_text("utf-8") + "# theirs\n", encoding="utf-8")
    asked: list[str] = []
    monkeypatch.setattr(
        questions, "ask_changed_on_disk", lambda _p, paths: asked.append(paths[0].name) or "cancel"
    )
    assert not open_window.files.save()
    assert asked == ["workbench.toml"]
    assert "# theirs" in file.read_text("utf-8")
    monkeypatch.setattr(questions, "ask_changed_on_disk", lambda *_: "overwrite")
    assert open_window.files.save()
    assert "# theirs" not in file.read_text("utf-8")


def test_the_window_says_when_another_program_changed_the_files(
    open_window: MainWindow, project_folder: Path
) -> None:
    file = project_folder / "parameters" / "default.json"
    file.write_text('{"name": "Zoe", "age": 1, "company": {"name": "C"}}', encoding="utf-8")
    open_window._look_at_disk()
    assert open_window.notice.isVisible()
    assert "default.json" in open_window.notice.words.text()
    open_window.notice.reload.click()
    assert not open_window.notice.isVisible()
    assert open_window.session.rendering().messages[1].text == "Hello Zoe, you are 1.\n"


def test_a_recovery_copy_is_offered_and_brought_back(
    open_window: MainWindow, monkeypatch, project_folder: Path, settled
) -> None:
    open_window.template.cards[1].editor.replace_text("precious [%param.name%]\n")
    open_window.session.write_recovery()
    open_window.session.adopt(None)
    asked: list[str] = []
    monkeypatch.setattr(questions, "ask_recovery", lambda _p, name, *_: asked.append(name) or True)
    assert open_window.files.open_folder(project_folder)
    settled(open_window.session)
    assert asked == ["Greeting"]
    assert open_window.template.cards[1].editor.raw_text() == "precious [%param.name%]\n"
    assert open_window.session.dirty


def test_a_new_project_opens_and_renders(window: MainWindow, tmp_path: Path, settled) -> None:
    assert window.files.create("My first", tmp_path / "new")
    settled(window.session)
    assert window.session.project.name == "My first"
    assert window.session.rendering().messages[0].text
    assert window.session.rendering().unresolved == ()
    assert window.session.settings.recent()[0]["name"] == "My first"


def test_the_new_project_dialog_proposes_a_folder_and_refuses_a_full_one(qtbot, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "x").write_text("x")
    dialog = NewProjectDialog(None, tmp_path)
    qtbot.addWidget(dialog)
    assert not dialog.create_button.isEnabled()
    dialog.name.setText("Über Uns 2")
    assert dialog.chosen() == ("Über Uns 2", tmp_path / "über-uns-2")
    assert dialog.create_button.isEnabled()
    dialog.name.setText("taken")
    assert not dialog.create_button.isEnabled()
    assert "not empty" in dialog.problem.text()


@pytest.mark.parametrize(("name", "folder"), [("A b/c..", "a-b-c"), ("///", ""), ("x" * 99, "x" * 60)])
def test_a_folder_name_is_made_of_words(name: str, folder: str) -> None:
    assert folder_name(name) == folder


@pytest.mark.parametrize(
    ("button", "answer"), [("Save", "save"), ("Do not save", "drop"), ("Cancel", "cancel")]
)
def test_the_question_about_unsaved_work_gives_the_answer_of_its_button(
    window, qtbot, button, answer
) -> None:
    def click() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        next(b for b in box.buttons() if b.text().replace("&", "") == button).click()

    QTimer.singleShot(100, click)
    assert questions.ask_unsaved(window, "P") == answer


ASKED = [
    ("unsaved", lambda w: questions.ask_unsaved(w, "P"), "cancel"),
    ("changed", lambda w: questions.ask_changed_on_disk(w, [Path("a.toml")]), "cancel"),
    ("recovery", lambda w: questions.ask_recovery(w, "P", 0.0, ["workbench.toml"]), True),
    ("origin", lambda w: questions.ask_origin(w, "KEY", [], "https://a.test"), False),
    ("replace", lambda w: questions.ask_replace(w, "Export", "1 file would be replaced."), False),
    ("error", lambda w: questions.show_error(w, "Save", "Not saved."), None),
    ("about", lambda w: questions.show_about(w, "Prompt Workbench 1", "Words."), None),
]


@pytest.mark.parametrize(("ask", "escaped"), [row[1:] for row in ASKED], ids=[row[0] for row in ASKED])
@pytest.mark.parametrize("name", ["light", "dark"])
def test_a_question_has_a_picture_of_the_theme_and_escape_harms_nothing(
    window, qapp, name, ask, escaped
) -> None:
    seen = {}

    def look() -> None:
        box = QApplication.activeModalWidget()
        seen["stock"] = box.icon()
        seen["picture"] = box.iconPixmap()
        seen["buttons"] = [button.icon().isNull() for button in box.buttons()]
        QTest.keyClick(box, Qt.Key.Key_Escape)

    apply_theme(qapp, name)
    try:
        QTimer.singleShot(50, look)
        assert ask(window) == escaped
    finally:
        apply_theme(qapp, "light")
    assert seen["stock"] == QMessageBox.Icon.NoIcon
    assert seen["picture"].width() >= 32
    assert all(seen["buttons"]), "no button carries a picture of Qt's own"


def test_a_start_that_nobody_watches_keeps_a_recovery_copy_and_asks_nothing(
    window: MainWindow, project_folder: Path, settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.engine.projects import Project

    monkeypatch.setattr(questions, "ask_recovery", lambda *_: pytest.fail("it asked"))
    project = Project.load(project_folder)
    project.set_name("Not saved yet")
    copy = project.write_recovery()
    content = copy.read_bytes()
    window.files.asks_about_recovery = False
    assert window.files.open_folder(project_folder)
    settled(window.session)
    assert window.session.project.name == "Greeting"
    (kept,) = (project_folder / ".workbench").glob("recovery-*.json")
    assert kept.read_bytes() == content
    assert str(kept) in window.status_line.message.text()
    window.session.edit("name", lambda p: p.set_name("Typed since"))
    window.session.write_recovery()
    assert kept.read_bytes() == content, "later copies do not write over it"


def test_the_environment_may_turn_the_recovery_question_off(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value, asks in (("1", False), ("0", True), ("", True)):
        monkeypatch.setenv("PROMPT_WORKBENCH_NO_RECOVERY_QUESTION", value)
        assert FileActions(None, session).asks_about_recovery is asks


# -- restart -------------------------------------------------------------------------------------------------------


def test_project_set_caret_and_layout_come_back(open_window: MainWindow, qtbot, settled) -> None:
    session = open_window.session
    session.set_parameter_set("other")
    editor = open_window.template.cards[1].editor
    editor.setFocus()
    editor.go_to(12)
    open_window.docks.docks["problems"].close()
    open_window.show_layout("History")
    open_window.save_state()
    settings = AppSettings(session.settings.folder)
    again = Session(settings)
    window = MainWindow(again)
    try:
        window.show()
        open_first(window, None)
        settled(again)
        assert again.project.name == "Greeting"
        assert again.parameter_set == "other"
        assert window.docks.layout == "History"
        assert window.template.cards[1].editor.caret() == 12
        window.show_layout("Compose")
        assert "problems" not in _open_docks(window)
    finally:
        window.hide()
        window.edits.close()
        again.close()
        window.deleteLater()


def test_garbage_in_the_state_does_not_stop_the_window(qapp, tmp_path: Path, project_folder: Path) -> None:
    settings = AppSettings(tmp_path / "c")
    settings.state.update(
        window={
            "geometry": "§",
            "docks": {"layout": 5, "states": {"Compose": "??", "x": 1}},
            "center": ["a"],
        },
        places={
            str(project_folder): {
                "set": 5,
                "template": {"carets": ["x", 99999], "current": 70, "scroll": "a"},
            }
        },
        last_project=str(project_folder),
    )
    session = Session(settings)
    window = MainWindow(session)
    try:
        open_first(window, None)
        assert session.project is not None
    finally:
        window.edits.close()
        session.close()
        window.deleteLater()


def test_closing_the_window_ends_every_thread(open_window: MainWindow, qtbot) -> None:
    open_window.close()
    qtbot.waitUntil(lambda: not open_window.session.jobs.busy())
    assert open_window.session.project is None
    assert open_window.session.settings.state["last_project"]


# -- crash -----------------------------------------------------------------------------------------------------------


def test_an_error_in_the_program_keeps_the_work_and_shows_a_scrubbed_report(
    open_window: MainWindow, capsys, qtlog
) -> None:
    shown: list[tuple[str, str, str]] = []
    open_window.template.cards[1].editor.replace_text("precious\n")
    guard = CrashGuard(
        lambda: keep_work(open_window.session),
        lambda *texts: shown.append(texts),
        lambda text: text.replace("hunter2", "***"),
    )
    try:
        try:
            raise ValueError("the key is hunter2")
        except ValueError as error:
            guard.handle(ValueError, error, error.__traceback__)
    finally:
        guard.remove()
    summary, report, saved = shown[0]
    assert "hunter2" not in summary + report + capsys.readouterr().err
    assert "ValueError" in report
    assert "PySide6" in report
    assert "recovery" in saved
    assert Path(saved.split("copied to ")[1].rstrip(".")).exists()


def test_an_error_while_the_report_is_open_does_not_open_another(capsys) -> None:
    calls: list[int] = []

    def show(*_texts: str) -> None:
        calls.append(1)
        guard.handle(ValueError, ValueError("again"), None)

    guard = CrashGuard(lambda: "", show, lambda text: text)
    try:
        guard.handle(ValueError, ValueError("first"), None)
    finally:
        guard.remove()
    assert calls == [1]


# -- speed -----------------------------------------------------------------------------------------------------------


def test_a_key_in_a_long_template_does_not_wait_for_the_rendering(
    open_window: MainWindow, qtbot, settled
) -> None:
    editor = open_window.template.cards[1].editor
    editor.replace_text("".join(f"line {i}: [%param.name%] and some more words\n" for i in range(2000)))
    settled(open_window.session)
    open_window.session._cost = 1.0  # the last rendering was dear, so the next one waits
    editor.setFocus()
    times = []
    for _ in range(30):
        begun = time.perf_counter()
        qtbot.keyClick(editor, Qt.Key.Key_X)
        times.append(time.perf_counter() - begun)
    assert sorted(times)[15] < 0.05
    settled(open_window.session)
    assert "x" * 30 in open_window.session.rendering().messages[1].text


def test_a_theme_change_reaches_every_editor(open_window: MainWindow, qapp) -> None:
    editor = open_window.template.cards[0].editor
    try:
        apply_theme(qapp, "dark")
        QApplication.sendPostedEvents(None, QEvent.Type.StyleChange)
        assert editor.palette().base().color().name() == theme().hex("base").lower()
        assert editor.font().family() == editor.document().defaultFont().family()
    finally:
        apply_theme(qapp, "light")


@pytest.mark.parametrize("width", [1440, 1200, 1000])
def test_the_toolbar_keeps_every_control_in_a_narrow_window(
    open_window: MainWindow, qtbot, width: int
) -> None:
    open_window.resize(width, 640)
    bar = open_window.toolbar
    qtbot.waitUntil(lambda: bar.width() == open_window.width() and bar.palette_button.isVisible())
    for control in (bar.run_button, bar.parameters, bar.decisions, bar.chat, bar.palette_button):
        right = control.mapTo(bar, control.rect().topRight()).x()
        assert control.isVisible()
        assert right <= bar.width()


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_main_button_draws_its_icon_in_the_colour_for_its_ground(
    open_window: MainWindow, qapp, name: str
) -> None:
    def ink(icon) -> set[str]:
        picture = icon.pixmap(16, 16).toImage()
        pixels = [picture.pixelColor(x, y) for x in range(picture.width()) for y in range(picture.height())]
        return {pixel.name() for pixel in pixels if pixel.alpha() == 255}

    try:
        apply_theme(qapp, name)
        bar, action = open_window.toolbar, open_window.actions_by_id["run.checks"]
        action.setEnabled(False)
        action.setEnabled(True)
        assert theme().hex("on_accent").lower() in ink(bar.run_button.icon())
        assert theme().hex("text").lower() in ink(action.icon())
        bar.set_main(False)
        assert theme().hex("text").lower() in ink(bar.run_button.icon())
    finally:
        apply_theme(qapp, "light")


def test_the_tree_gives_a_name_without_a_number_beside_it_the_whole_row(qapp: QApplication) -> None:
    row = QRect(18, 0, 199, 24)
    bold = QFontMetrics(interface_font(weight=QFont.Weight.DemiBold))
    assert name_place(row, 0).width() >= bold.horizontalAdvance("Answer from documents")
    assert name_place(row, 0).right() <= row.right()
    assert name_place(row, 20).right() < row.right() - 20


def test_thresholds_opened_in_compose_are_a_tab_beside_the_guardrails(open_window: MainWindow) -> None:
    docks = open_window.docks.docks
    before = docks["problems"].height()
    docks["thresholds"].toggleViewAction().trigger()
    assert docks["guardrails"] in open_window.tabifiedDockWidgets(docks["thresholds"])
    QApplication.processEvents()
    assert docks["thresholds"].height() > 300
    assert docks["problems"].height() >= before - 40
