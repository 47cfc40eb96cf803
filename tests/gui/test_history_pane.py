"""The history pane: every run kept, replayed step by step by the code that showed it live, and compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.gui.benches import (
    FIRST_REPLY,
    MENDED,
    REQUEST,
    SECOND_REPLY,
    WAIT_MS,
    open_session,
    run_checks,
    warm_embedded_model,
)
from workbench.engine.translation import replay
from workbench.gui.models.inputs import inputs_channel
from workbench.gui.panes.history import HistoryPane
from workbench.gui.shell.session import Session
from workbench.gui.widgets.diff_view import align


@pytest.fixture(scope="module", autouse=True)
def embedded_model() -> Iterator[None]:
    yield from warm_embedded_model()


@pytest.fixture
def session(qtbot: QtBot, tmp_path: Path) -> Iterator[Session]:
    yield from open_session(qtbot, tmp_path)


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> HistoryPane:
    """The pane after one check run (1) and one translation with a repair (2)."""
    run_checks(qtbot, session, lambda: session.run_checks("input", "Where is my parcel?"))
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        session.translate(REQUEST)
    pane = HistoryPane(session)
    qtbot.addWidget(pane)
    pane.resize(1400, 800)
    pane.show()
    return pane


def column(pane: HistoryPane, name: int) -> list[str]:
    """Return a column of the list of runs."""
    return [str(pane.runs.index(row, name).data()) for row in range(pane.runs.rowCount())]


def test_runs_are_listed_newest_first_with_attempts_below_them(pane: HistoryPane) -> None:
    assert column(pane, 0) == ["2", "1"]
    assert column(pane, 2)[0] == "valid, 1 repair"
    attempts = pane.runs.index(0, 0)
    assert pane.runs.rowCount(attempts) == 2
    assert pane.runs.index(0, 2, attempts).data() == "invalid"
    assert pane.runs.index(1, 2, attempts).data() == "valid"
    assert "2 runs" in pane.foot_words.text()


def test_the_newest_run_is_shown_at_its_last_step(pane: HistoryPane) -> None:
    assert pane.selected() == (2, None)
    assert pane.step() == pane.step_count() - 1
    assert pane.record().value == MENDED  # type: ignore[union-attr]
    assert "nothing is sent" in pane.offline_words.text()


def test_every_step_shows_the_fold_of_the_events_so_far(session: Session, pane: HistoryPane) -> None:
    events = session.history.run(2).events  # type: ignore[union-attr]
    labels = [step.label for step in replay(events).steps]
    assert pane.step_count() == len(labels)
    for number, label in enumerate(labels):
        pane.go_to_step(number)
        record = pane.record()
        assert record is not None
        assert [step.label for step in record.steps] == labels[: number + 1]
        assert record.steps[-1].label == label
        assert pane.step_words.text() == f"Step {number + 1} of {len(labels)}"
    assert pane.record().attempts == replay(events).attempts  # type: ignore[union-attr]


def test_replay_buttons_step_and_stop_at_both_ends(qtbot: QtBot, pane: HistoryPane) -> None:
    qtbot.mouseClick(pane.buttons["first"], Qt.MouseButton.LeftButton)
    assert pane.step() == 0
    assert not pane.buttons["back"].isEnabled()
    qtbot.mouseClick(pane.buttons["forward"], Qt.MouseButton.LeftButton)
    assert pane.step() == 1
    qtbot.mouseClick(pane.buttons["back"], Qt.MouseButton.LeftButton)
    assert pane.step() == 0
    qtbot.mouseClick(pane.buttons["last"], Qt.MouseButton.LeftButton)
    assert pane.step() == pane.step_count() - 1
    assert not pane.buttons["forward"].isEnabled()


def test_a_replay_needs_no_model_and_no_network(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise AssertionError("a replay opened a model")

    monkeypatch.setattr("workbench.engine.language_models.open_language_model", refuse)
    monkeypatch.setattr("workbench.engine.http.HttpClient.post_json", refuse)
    pane.go_to_step(0)
    pane.play_or_pause()
    assert pane.playing()
    qtbot.waitUntil(lambda: pane.step() >= 2, timeout=WAIT_MS)
    pane.play_or_pause()
    assert not pane.playing()


def test_choosing_an_attempt_goes_to_its_last_step(pane: HistoryPane) -> None:
    pane.select(2, 1)
    record = pane.record()
    assert record is not None
    assert len(record.attempts) == 1
    assert record.attempts[0].outcome == "invalid"
    assert pane.reply.code.code() == FIRST_REPLY
    assert pane.diagnostics.model.rowCount() == 3
    assert pane.diagnostics.head.title.text() == "Diagnostics of attempt 1"


def test_the_timeline_can_be_clicked_and_walked_with_the_keyboard(qtbot: QtBot, pane: HistoryPane) -> None:
    assert [lane.title for lane in pane.timeline.lanes()] == ["Attempt 1", "Attempt 2"]
    pane.timeline.step_chosen.emit(3)
    assert pane.step() == 3
    qtbot.keyClick(pane.timeline, Qt.Key.Key_Right)
    assert pane.step() == 4
    qtbot.keyClick(pane.timeline, Qt.Key.Key_Home)
    assert pane.step() == 0


def test_attempts_are_compared_by_text_and_by_pointer(pane: HistoryPane) -> None:
    pane.select(2, 1)
    assert pane.compare.head.title.text() == "Attempt 1 and attempt 2"
    pointers = {pane.compare.table.item(row, 1).text() for row in range(pane.compare.table.rowCount())}
    assert pointers == {"/category", "/urgency", "/order_number", "/wanted_by"}
    assert '"damage"' in pane.compare.left.code()
    assert '"defect"' in pane.compare.right.code()


def test_an_attempt_can_be_compared_with_one_of_another_run(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        session.translate(REQUEST)
    qtbot.waitUntil(lambda: column(pane, 0)[0] == "3")
    pane.select(3, 2)
    pane.compare_with(2, 1)
    assert pane.compare.head.title.text() == "Run 2, attempt 1 and attempt 2"
    assert "+ 1 added" not in pane.compare.head.note.text()
    assert "3 changed, 1 added" in pane.compare.head.note.text()


def test_equal_lines_stay_at_the_same_height_in_a_text_comparison() -> None:
    left, right = align("{\n1\n2\n}", "{\n1\nnew\n2\nlast\n}")
    assert left.lines == ["{", "1", "", "2", "", "}"]
    assert right.lines == ["{", "1", "new", "2", "last", "}"]
    assert left.labels[-1].split() == ["4"]
    assert right.labels[2].split() == ["3", "+"]
    left, right = align("a = old;", "a = new;")
    (start, end, _token), *_ = left.spans
    assert left.text()[start:end] == "old"
    (start, end, _token), *_ = right.spans
    assert right.text()[start:end] == "new"


def test_a_check_run_shows_its_text_and_its_checks(session: Session, pane: HistoryPane) -> None:
    pane.select(1)
    assert pane.conversation.turns()[0].text == "Where is my parcel?"
    names = [pane.checks.results.index(row, 0).data() for row in range(pane.checks.results.rowCount())]
    assert names == [check.name for check in session.snapshot().input_guardrail.checks]
    assert not pane.compare.isVisible()
    pane.go_to_step(0)
    assert pane.checks.results.rowCount() == 0


def test_runs_are_found_by_the_words_in_their_texts_and_by_kind(qtbot: QtBot, pane: HistoryPane) -> None:
    pane.search.setText("tent pole")
    qtbot.waitUntil(lambda: column(pane, 0) == ["2"])
    pane.search.setText("nowhere to be found")
    qtbot.waitUntil(lambda: column(pane, 0) == [])
    pane.search.clear()
    qtbot.waitUntil(lambda: len(column(pane, 0)) == 2)
    pane.set_kind("check")
    assert column(pane, 0) == ["1"]


def test_runs_can_be_starred_renamed_annotated_and_deleted(session: Session, pane: HistoryPane) -> None:
    pane.select(2)
    pane.marks.star(True)
    assert column(pane, 0)[0] == "★ 2"
    pane.marks.rename("the broken pole")
    assert column(pane, 1)[0] == "the broken pole"
    pane.marks.annotate("keep this one")
    pane.set_starred_only(True)
    assert column(pane, 0) == ["★ 2"]
    pane.set_starred_only(False)
    summary = session.history.run(2).summary  # type: ignore[union-attr]
    assert (summary.starred, summary.name, summary.note) == (True, "the broken pole", "keep this one")
    pane.select(2)
    pane.marks.delete()
    assert column(pane, 0) == ["1"]
    assert pane.record() is None


def test_a_run_can_be_opened_with_its_inputs(qtbot: QtBot, session: Session, pane: HistoryPane) -> None:
    pane.select(2)
    opened = []
    inputs_channel(session).opened.connect(lambda kind, inputs: opened.append((kind, inputs["request"])))
    with qtbot.waitSignal(session.reveal) as reveal:
        pane.open_button.click()
    assert opened == [("translate", REQUEST)]
    assert reveal.args[0].area == "translation"


def test_a_new_run_appears_and_is_shown_to_whoever_looked_at_the_newest_one(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    run_checks(qtbot, session, lambda: session.run_checks("input", "Another text"))
    qtbot.waitUntil(lambda: column(pane, 0) == ["3", "2", "1"])
    assert pane.selected() == (3, None)
    pane.select(1)
    run_checks(qtbot, session, lambda: session.run_checks("input", "And one more"))
    qtbot.waitUntil(lambda: column(pane, 0)[0] == "4")
    assert pane.selected() == (1, None)


def test_a_low_pane_turns_its_parts_into_tabs_and_back(pane: HistoryPane) -> None:
    pane.select(2)
    pane.resize(900, 260)
    titles = [pane.tabs.tabText(k) for k in range(pane.tabs.count())]
    assert {"Messages", "Diagnostics", "Compare"} <= set(titles)
    assert pane.height() == 260
    pane.resize(1400, 800)
    titles = [pane.tabs.tabText(k) for k in range(pane.tabs.count())]
    assert titles == ["Raw reply", "JSON", "Details", "Request", "Settings"]
    assert pane.conversation.isVisible()
    assert pane.conversation.turns()[-1].text == SECOND_REPLY


def test_runs_of_an_earlier_session_are_there_again(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    root = session.snapshot().root
    assert root is not None
    session.adopt(None)
    assert column(pane, 0) == []
    session.open(root)
    qtbot.waitUntil(lambda: column(pane, 0) == ["2", "1"])
