"""The menus and the palette reach what the history can do, and a run that could not be kept is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from tests.gui.benches import (
    MENDED,
    REQUEST,
    WAIT_MS,
    ScriptedModel,
    open_sample,
    use_model,
)
from workbench.gui.dialogs.branch import BranchDialog
from workbench.gui.dialogs.request_batch import RequestBatchDialog
from workbench.gui.main_window import MainWindow
from workbench.gui.panes.history import HistoryPane

ALL = (
    "again",
    "branch",
    "compare",
    "open",
    "export-json",
    "export-markdown",
    "star",
    "rename",
    "note",
    "delete",
)


@pytest.fixture
def window(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> MainWindow:
    """The main window on the sample that the tests of the panes stand on."""
    open_sample(qtbot, window.session, tmp_path)
    return window


def enabled(window: MainWindow) -> set[str]:
    """Return the actions of the history that can be triggered."""
    return {name for name in ALL if window.actions_by_id[f"history.{name}"].isEnabled()}


def translate(qtbot: QtBot, window: MainWindow, *replies: str) -> None:
    with qtbot.waitSignals([window.session.run_finished, window.session.history_changed], timeout=WAIT_MS):
        window.session.translate(REQUEST)


def history(window: MainWindow) -> HistoryPane:
    pane = window.docks.pane("history")
    assert isinstance(pane, HistoryPane)
    return pane


def test_actions_follow_the_run_that_the_history_shows(qtbot: QtBot, window: MainWindow) -> None:
    assert enabled(window) == set()
    assert window.actions_by_id["history.batch"].isEnabled()
    translate(qtbot, window)
    qtbot.waitUntil(lambda: enabled(window) == set(ALL), timeout=WAIT_MS)
    store = window.session.history
    assert store is not None
    store.finish_run(store.start_run("evaluate", "Evaluate", {}), "done")
    window.session.history_changed.emit()
    window.history.pane().select(2)
    assert enabled(window) == {"export-json", "export-markdown", "star", "rename", "note", "delete"}
    window.history.pane().select(1)
    assert enabled(window) == set(ALL)
    window.files.close_project()
    assert enabled(window) == set()
    assert not window.actions_by_id["history.batch"].isEnabled()


def test_the_palette_names_them(qtbot: QtBot, window: MainWindow) -> None:
    translate(qtbot, window)
    entries = {entry.text: entry.enabled for entry in window._palette_entries()}
    for words in ("Run again with today's prompt", "Repair again from this attempt", "Run requests of a file",
                  "Compare the run with", "Export the run as JSON", "Export the run as Markdown"):  # fmt: skip
        assert entries[words] is True


def test_run_again_shows_what_changed(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    translate(qtbot, window)
    pane = window.history.pane()
    use_model(monkeypatch, ScriptedModel([json.dumps({**MENDED, "urgency": "low"})]))
    with qtbot.waitSignal(window.session.run_finished, timeout=WAIT_MS):
        window.actions_by_id["history.again"].trigger()
    qtbot.waitUntil(lambda: pane.selected() == (2, None), timeout=WAIT_MS)
    note = pane.view.compare.note_words.text()
    assert note.startswith("Valid, value: 1 changed, 618 + 79 → 10 + 5 tokens.")


def test_branch_and_batch_open_their_dialogs(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    translate(qtbot, window)
    seen: list[str] = []

    def leave(dialog: BranchDialog) -> int:
        seen.append(dialog.windowTitle())
        return int(QDialog.DialogCode.Rejected)

    monkeypatch.setattr(BranchDialog, "exec", leave)
    window.actions_by_id["history.branch"].trigger()
    assert seen == ["Repair again from run 1, attempt 2"]
    window.actions_by_id["history.batch"].trigger()
    [batch] = window.findChildren(RequestBatchDialog)
    assert batch.isVisible()
    batch.close()


def test_marks_work_from_the_palette(qtbot: QtBot, window: MainWindow) -> None:
    translate(qtbot, window)
    window.actions_by_id["history.star"].trigger()
    store = window.session.history
    assert store is not None
    assert store.run(1).summary.starred
    window.actions_by_id["history.star"].trigger()
    assert not store.run(1).summary.starred
    window.actions_by_id["history.delete"].trigger()
    assert store.count() == 0
    assert enabled(window) == set()


def test_a_run_that_the_disk_could_not_take_is_said_once_until_one_is_stored_again(
    qtbot: QtBot, window: MainWindow
) -> None:
    session = window.session
    store = session.history
    assert store is not None
    said: list[str] = []
    session.status.connect(said.append)
    assert not window.history_notice.item.isVisible()
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    for _ in range(2):
        translate(qtbot, window)
    assert window.history_notice.item.text() == "Last run not kept"
    assert [words for words in said if "disk is full" in words] == [said[0]]
    assert "free some room" in window.history_notice.item.toolTip()
    qtbot.mouseClick(window.history_notice.item, Qt.MouseButton.LeftButton)
    notice = history(window).list.notice
    assert notice.isVisible()
    assert notice.headline() == "Not everything was stored."
    assert "free some room" in notice.detail()
    store._connection.execute("PRAGMA max_page_count = 1000000")
    translate(qtbot, window)
    qtbot.waitUntil(lambda: not window.history_notice.item.isVisible(), timeout=WAIT_MS)
    assert not notice.isVisible()
