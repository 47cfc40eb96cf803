"""The history pane: every run kept, replayed step by step by the code that showed it live, and compared."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from tests.gui.benches import (
    FIRST_REPLY,
    MENDED,
    REQUEST,
    SECOND_REPLY,
    WAIT_MS,
    run_checks,
    sample_session,
)
from workbench.engine.evaluation import ResultRow, evaluate_rows, evaluated_data
from workbench.engine.events import RunEvent
from workbench.engine.guardrails import CheckResult, CheckSettings, GuardrailResult, GuardrailSettings
from workbench.engine.projects import Project
from workbench.engine.translation import replay
from workbench.gui.models.figures import format_size
from workbench.gui.models.guard_turns import check_words
from workbench.gui.models.inputs import inputs_channel
from workbench.gui.models.runs import TIME
from workbench.gui.panes.history import HistoryPane
from workbench.gui.panes.history.replay import SPEEDS
from workbench.gui.shell.session import Session
from workbench.gui.widgets.conversation import FOLLOW_MS
from workbench.gui.widgets.diff_view import align

pytestmark = pytest.mark.usefixtures("embedded_model")
session = sample_session


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
    return [str(pane.list.model.index(row, name).data()) for row in range(pane.list.model.rowCount())]


def test_runs_are_listed_newest_first_with_attempts_below_them(pane: HistoryPane) -> None:
    assert column(pane, 0) == ["2", "1"]
    assert column(pane, 2)[0] == "valid, 1 repair"
    attempts = pane.list.model.index(0, 0)
    assert pane.list.model.rowCount(attempts) == 2
    assert pane.list.model.index(0, 2, attempts).data() == "invalid"
    assert pane.list.model.index(1, 2, attempts).data() == "valid"
    assert "2 runs" in pane.list.foot_words.text()


def test_a_project_read_again_still_shows_the_chosen_run(session: Session, pane: HistoryPane) -> None:
    pane.select(2, 1)
    session.reload()
    assert pane.selected() == (2, 1)
    assert pane.attempt().number == 1  # type: ignore[union-attr]
    pane.select(1)
    session.reload()
    assert pane.replay.run is not None
    assert pane.replay.run.summary.id == 1


def test_another_project_begins_with_its_newest_run(
    session: Session, pane: HistoryPane, tmp_path: Path
) -> None:
    assert session.project is not None
    assert session.project.root is not None
    shutil.copytree(session.project.root, tmp_path / "copy")
    pane.select(1)
    session.open(tmp_path / "copy")
    assert pane.selected() == (2, None)
    assert pane.replay.run is not None
    assert pane.replay.run.summary.id == 2


def test_the_newest_run_is_shown_at_its_last_step(pane: HistoryPane) -> None:
    assert pane.selected() == (2, None)
    assert pane.replay.step == pane.replay.count() - 1
    assert pane.record().value == MENDED  # type: ignore[union-attr]
    assert "nothing is sent" in pane.controls.offline_words.text()


def test_every_step_shows_the_fold_of_the_events_so_far(session: Session, pane: HistoryPane) -> None:
    events = session.history.run(2).events  # type: ignore[union-attr]
    labels = [step.label for step in replay(events).steps]
    assert pane.replay.count() == len(labels)
    for number, label in enumerate(labels):
        pane.replay.go_to(number)
        record = pane.record()
        assert record is not None
        assert [step.label for step in record.steps] == labels[: number + 1]
        assert record.steps[-1].label == label
        assert pane.controls.step_words.text() == f"Step {number + 1} of {len(labels)}"
    assert pane.record().attempts == replay(events).attempts  # type: ignore[union-attr]


def test_replay_buttons_step_and_stop_at_both_ends(qtbot: QtBot, pane: HistoryPane) -> None:
    qtbot.mouseClick(pane.controls.buttons["first"], Qt.MouseButton.LeftButton)
    assert pane.replay.step == 0
    assert not pane.controls.buttons["back"].isEnabled()
    qtbot.mouseClick(pane.controls.buttons["forward"], Qt.MouseButton.LeftButton)
    assert pane.replay.step == 1
    qtbot.mouseClick(pane.controls.buttons["back"], Qt.MouseButton.LeftButton)
    assert pane.replay.step == 0
    qtbot.mouseClick(pane.controls.buttons["last"], Qt.MouseButton.LeftButton)
    assert pane.replay.step == pane.replay.count() - 1
    assert not pane.controls.buttons["forward"].isEnabled()


def test_each_step_of_a_replay_has_its_turn_in_view(qtbot: QtBot, pane: HistoryPane) -> None:
    view = pane.view.conversation
    view.setFixedHeight(240)
    qtbot.mouseClick(pane.controls.buttons["first"], Qt.MouseButton.LeftButton)
    while pane.controls.buttons["forward"].isEnabled():
        qtbot.mouseClick(pane.controls.buttons["forward"], Qt.MouseButton.LeftButton)
        qtbot.wait(FOLLOW_MS)
        card = next(each for each in view._cards if each.turn.current)
        top = card.mapTo(view.viewport(), card.rect().topLeft()).y()
        low = top + card.height()
        height = view.viewport().height()
        assert top == 0 if card.height() > height else 0 <= top < low <= height


def test_a_project_without_runs_shows_nothing_of_the_one_before_at_any_height(
    qtbot: QtBot, session: Session, pane: HistoryPane, tmp_path: Path
) -> None:
    assert pane.view.conversation.isVisible()
    Project.new(tmp_path / "empty", "Empty")
    session.open(tmp_path / "empty")
    for height in (300, 800):
        pane.resize(1400, height)
        qtbot.waitUntil(lambda height=height: pane.height() == height, timeout=WAIT_MS)
        assert not pane.view.conversation.isVisible()
        assert pane.view.empty.isVisible()


def test_a_replay_needs_no_model_and_no_network(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise AssertionError("a replay opened a model")

    monkeypatch.setattr("workbench.engine.language_models.open_language_model", refuse)
    monkeypatch.setattr("workbench.engine.http.HttpClient.post_json", refuse)
    pane.replay.go_to(0)
    pane.replay.play_or_pause()
    assert pane.replay.playing()
    qtbot.waitUntil(lambda: pane.replay.step >= 2, timeout=WAIT_MS)
    pane.replay.play_or_pause()
    assert not pane.replay.playing()


def test_choosing_an_attempt_goes_to_its_last_step(pane: HistoryPane) -> None:
    pane.select(2, 1)
    record = pane.record()
    assert record is not None
    assert len(record.attempts) == 1
    assert record.attempts[0].outcome == "invalid"
    assert pane.view.reply.code.code() == FIRST_REPLY
    assert pane.view.diagnostics.model.rowCount() == 3
    assert pane.view.diagnostics.head.title.text() == "Diagnostics of attempt 1"


def test_the_timeline_can_be_clicked_and_walked_with_the_keyboard(qtbot: QtBot, pane: HistoryPane) -> None:
    assert [lane.title for lane in pane.view.timeline.lanes()] == ["Attempt 1", "Attempt 2"]
    pane.view.timeline.step_chosen.emit(3)
    assert pane.replay.step == 3
    qtbot.keyClick(pane.view.timeline, Qt.Key.Key_Right)
    assert pane.replay.step == 4
    qtbot.keyClick(pane.view.timeline, Qt.Key.Key_Home)
    assert pane.replay.step == 0


def test_attempts_are_compared_by_text_and_by_pointer(pane: HistoryPane) -> None:
    pane.select(2, 1)
    assert pane.view.compare.head.title.text() == "Attempt 1 and attempt 2"
    pointers = {
        pane.view.compare.table.item(row, 1).text() for row in range(pane.view.compare.table.rowCount())
    }
    assert pointers == {"/category", "/urgency", "/order_number", "/wanted_by"}
    assert '"damage"' in pane.view.compare.left.code()
    assert '"defect"' in pane.view.compare.right.code()


def test_an_attempt_can_be_compared_with_one_of_another_run(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        session.translate(REQUEST)
    qtbot.waitUntil(lambda: column(pane, 0)[0] == "3")
    pane.select(3, 2)
    pane.compare_with(2, 1)
    assert pane.view.compare.head.title.text() == "Run 2, attempt 1 and attempt 2"
    assert "+ 1 added" not in pane.view.compare.head.note.text()
    assert "3 changed, 1 added" in pane.view.compare.head.note.text()


@pytest.mark.parametrize(
    ("respect", "old", "new", "language"),
    [
        ("text", '{"a": 1}', " [2]", "json"),
        ("text", '{"a": 1}', "", "json"),
        ("text", "null and true are words", "true", ""),
        ("text", '{"a": 1}', "no JSON", ""),
        ("prompt", "{}", "{}", ""),
        ("schema", "{}", "true", "json"),
    ],
)
def test_only_json_is_coloured_as_json_in_a_comparison(
    respect: str, old: str, new: str, language: str
) -> None:
    from workbench.gui.widgets.comparison import _language

    assert _language(respect, old, new) == language


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
    assert pane.view.conversation.turns()[0].text == "Where is my parcel?"
    names = [
        pane.view.checks.results.index(row, 0).data() for row in range(pane.view.checks.results.rowCount())
    ]
    assert names == [check.name for check in session.snapshot().input_guardrail.checks]
    assert not pane.view.compare.isVisible()
    pane.replay.go_to(0)
    assert pane.view.checks.results.rowCount() == 0


def test_runs_are_found_by_the_words_in_their_texts_and_by_kind(qtbot: QtBot, pane: HistoryPane) -> None:
    pane.list.search.setText("tent pole")
    qtbot.waitUntil(lambda: column(pane, 0) == ["2"])
    pane.list.search.setText("nowhere to be found")
    qtbot.waitUntil(lambda: column(pane, 0) == [])
    pane.list.search.clear()
    qtbot.waitUntil(lambda: len(column(pane, 0)) == 2)
    pane.list.set_kind("check")
    assert column(pane, 0) == ["1"]


def test_runs_can_be_starred_renamed_annotated_and_deleted(session: Session, pane: HistoryPane) -> None:
    pane.select(2)
    pane.marks.star(True)
    assert column(pane, 0)[0] == "★ 2"
    pane.marks.rename("the broken pole")
    assert column(pane, 1)[0] == "the broken pole"
    pane.marks.annotate("keep this one")
    pane.list.set_starred_only(True)
    assert column(pane, 0) == ["★ 2"]
    pane.list.set_starred_only(False)
    summary = session.history.run(2).summary  # type: ignore[union-attr]
    assert (summary.starred, summary.name, summary.note) == (True, "the broken pole", "keep this one")
    pane.select(2)
    pane.marks.delete()
    assert column(pane, 0) == ["1"]
    # Its neighbour is shown; with that gone too, nothing is.
    assert pane.replay.run.summary.id == 1  # type: ignore[union-attr]
    pane.marks.delete()
    assert pane.record() is None
    assert pane.view.empty.text().startswith("No runs yet.")


def test_a_run_can_be_opened_with_its_inputs(qtbot: QtBot, session: Session, pane: HistoryPane) -> None:
    pane.select(2)
    opened = []
    inputs_channel(session).opened.connect(lambda kind, inputs: opened.append((kind, inputs["request"])))
    with qtbot.waitSignal(session.reveal) as reveal:
        pane.controls.open.click()
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
    titles = [pane.view.tabs.tabText(k) for k in range(pane.view.tabs.count())]
    assert {"Messages", "Diagnostics", "Compare"} <= set(titles)
    assert pane.height() == 260
    pane.resize(1400, 800)
    tabs = pane.view.tabs
    titles = [tabs.tabText(k) for k in range(tabs.count()) if tabs.isTabVisible(k)]
    assert titles == ["Raw reply", "JSON", "Details", "Request", "Settings"]
    assert pane.view.conversation.isVisible()
    assert pane.view.conversation.turns()[-1].text == SECOND_REPLY


def test_runs_of_an_earlier_session_are_there_again(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    root = session.snapshot().root
    assert root is not None
    session.adopt(None)
    assert column(pane, 0) == []
    session.open(root)
    qtbot.waitUntil(lambda: column(pane, 0) == ["2", "1"])


def test_nothing_is_offered_and_no_history_is_denied_before_the_first_run(
    qtbot: QtBot, session: Session
) -> None:
    pane = HistoryPane(session)
    qtbot.addWidget(pane)
    pane.resize(1400, 800)
    pane.show()
    assert pane.view.empty.text().startswith("No runs yet.")
    assert not pane.list.notice.isVisible()
    assert not pane.controls.offline_words.isVisible()
    for button in (
        pane.controls.branch,
        pane.controls.open,
        pane.controls.compare,
        *pane.controls.buttons.values(),
    ):
        assert not button.isEnabled()
    assert pane.abilities() == frozenset()


def test_a_project_that_is_only_looked_at_does_not_say_that_it_keeps_no_history(
    qtbot: QtBot, session: Session
) -> None:
    root = session.snapshot().root
    assert root is not None
    session.adopt(None)
    shutil.rmtree(root / ".workbench")
    session.records = False
    session.open(root)
    assert session.history is None
    pane = HistoryPane(session)
    qtbot.addWidget(pane)
    pane.show()
    assert pane.view.empty.text().startswith("No runs yet.")
    assert not pane.list.notice.isVisible()


@pytest.mark.parametrize("width", [480, 520, 640, 800, 1000, 1200, 1400])
def test_words_of_the_controls_are_shortened_and_never_cut(pane: HistoryPane, width: int) -> None:
    pane.resize(width, 600)
    controls = pane.controls
    words = controls.offline_words
    assert words.isHidden() or words.width() >= words.sizeHint().width()
    assert words.text() in ("Offline replay, nothing is sent", "Offline")
    assert controls.step_words.width() >= controls.step_words.sizeHint().width()
    for button in (controls.branch, controls.open, controls.compare):
        assert button.isHidden() or button.width() >= button.sizeHint().width()
        assert button.accessibleName()
    assert controls.more.geometry().right() <= controls.width()


def test_column_heads_of_the_list_are_whole(pane: HistoryPane) -> None:
    for width in (236, 300, 392, 520):
        pane.list.tree.resize(width, 400)
        header = pane.list.tree.header()
        for column in range(header.count()):
            if not header.isSectionHidden(column):
                assert header.sectionSize(column) >= header.sectionSizeHint(column)


def test_the_list_keeps_its_width_when_the_pane_grows_until_somebody_moves_the_border(
    pane: HistoryPane,
) -> None:
    pane.resize(500, 600)
    assert pane.list.width() < 300
    pane.resize(1400, 800)
    assert pane.list.width() == 392
    pane.splitter.moveSplitter(320, 1)
    pane.resize(1300, 800)
    assert pane.list.width() == 320


def test_a_run_plays_at_the_speed_that_was_chosen(pane: HistoryPane) -> None:
    pane.select(2)
    replay = pane.replay
    replay.go_to(0)
    paces = {}
    for speed in SPEEDS:
        pane.controls.set_speed(speed)
        paces[speed] = replay.pause_ms()
    assert paces[0.25] == 4 * paces[1.0] == 8 * paces[2.0]
    assert paces[16.0] < paces[4.0] < paces[1.0]
    events = replay.run.events  # type: ignore[union-attr]
    assert paces[0.0] == max(30, round((events[2].at - events[1].at) * 1000))
    assert pane.controls.speed.text() == "true"


def test_a_comparison_says_nothing_of_a_value_that_is_not_there_yet(pane: HistoryPane) -> None:
    pane.select(2)
    pane.view.compare.mode.choose("pointer")
    said = {}
    for step in range(pane.replay.count()):
        pane.replay.go_to(step)
        said[pane.record().steps[-1].label, pane.attempt().number] = (  # type: ignore[union-attr]
            pane.view.compare.note_words.text(),
            pane.view.compare.table.rowCount(),
        )
    words, rows = said["sent", 2]
    assert "attempt 2 has no value yet" in words
    assert "changed" not in words
    assert rows == 0
    words, rows = said["valid", 2]
    assert words.startswith("Invalid → valid, value: 3 changed, 1 added")
    assert rows == 4


def guard_events() -> list[RunEvent]:
    """Return the events of a response that was rejected, written anew and passed."""
    check = {"name": "promise", "question": "Is money promised?", "probability": 0.9, "threshold": 0.5}
    rejected = {"stage": "output", "checks": [{**check, "status": "rejected"}], "message": "rejected"}
    passed = {"stage": "output", "checks": [{**check, "probability": 0.1, "status": "passed"}], "message": ""}
    rows: list[tuple[str, dict[str, Any]]] = [
        ("check_request", {"stage": "output", "text": "money back", "checks": [check], "most": 2}),
        ("validation", {"number": 1, "text": "money back", "reprompt": "Again.", "results": [rejected]}),
        ("response_asked", {"reprompt": "Again.", "messages": [{"role": "user", "content": "Again."}]}),
        ("response", {"text": "no promise", "model": "m-1", "elapsed_ms": 700.0}),
        ("validation", {"number": 2, "text": "no promise", "reprompt": None, "results": [passed]}),
        ("check_result", passed),
        ("finished", {"outcome": "passed", "response": "no promise", "message": ""}),
    ]
    return [RunEvent(kind, number / 10, data) for number, (kind, data) in enumerate(rows)]


def test_a_run_that_was_shown_while_it_ran_is_read_again_when_it_has_ended(
    session: Session, pane: HistoryPane
) -> None:
    history, (first, *rest) = session.history, guard_events()
    assert history is not None
    run_id = history.start_run("check", "Guard a response, 1 check", {"stage": "output", "text": "back"})
    history.append(run_id, first)
    session.history_changed.emit()
    pane.select(run_id)
    early = pane.replay.count()
    for event in rest:
        history.append(run_id, event)
    history.finish_run(run_id, "passed", "passed after 2 validations")
    session.history_changed.emit()
    assert pane.replay.count() > early
    assert pane.replay.step == pane.replay.count() - 1
    assert pane.view.timeline.lanes()[-1].word == "passed"
    # What is read step by step stays where it is when other runs come.
    pane.replay.go_to(0)
    session.history_changed.emit()
    assert pane.replay.step == 0


def test_a_guarded_response_steps_through_validations_reprompts_and_responses(
    session: Session, pane: HistoryPane
) -> None:
    history = session.history
    assert history is not None
    run_id = history.start_run(
        "check", "Guard a response, 1 check", {"stage": "output", "text": "money back"}
    )
    for event in guard_events():
        history.append(run_id, event)
    history.finish_run(run_id, "passed", "passed after 2 validations")
    pane.refresh()
    pane.select(run_id)
    lanes = pane.view.timeline.lanes()
    assert [(lane.title, lane.word) for lane in lanes] == [
        ("Validation 1", "rejected"),
        ("Validation 2", "passed"),
    ]
    shown = []
    for step in range(pane.replay.count()):
        pane.replay.go_to(step)
        last = pane.view.conversation.turns()[-1]
        table = pane.view.checks.results
        outcome = str(table.index(0, 2).data()).split(",")[0] if table.rowCount() else ""
        shown.append((last.text, last.caption.split(",")[0], pane.view.checks_head.title.text(), outcome))
    assert shown == [
        ("money back", "checked text", "Checks", ""),
        (
            "promise: 0.90 ≥ 0.50, rejected",
            "validation 1 of at most 2: rejected",
            "Checks of validation 1",
            "rejected",
        ),
        ("Again.", "reprompt", "Checks of validation 1", "rejected"),
        ("no promise", "response 2", "Checks of validation 1", "rejected"),
        (
            "promise: 0.10 < 0.50, passed",
            "validation 2 of at most 2: passed",
            "Checks of validation 2",
            "passed",
        ),
        ("This response is delivered.", "delivered", "Checks of validation 2", "passed"),
    ]
    pane.replay.go_to(0)
    assert len(pane.view.conversation.turns()) == 1


def test_a_check_run_again_stands_below_the_first_and_is_compared_with_it(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    pane.select(1)
    run_checks(qtbot, session, pane.run_again)
    qtbot.waitUntil(lambda: pane.selected() == (3, None), timeout=WAIT_MS)
    assert session.history.run(3).summary.parent_run == 1  # type: ignore[union-attr]
    assert pane.view.compare.isVisible()
    assert pane.view.compare.head.title.text() == "Run 1 and run 3"
    assert (
        "the same value" in pane.view.compare.note_words.text()
        or "changed" in pane.view.compare.note_words.text()
    )


def test_the_list_tells_what_the_runs_take_and_what_the_disk_holds(
    session: Session, pane: HistoryPane
) -> None:
    history = session.history
    assert history is not None
    pane.refresh()
    assert format_size(history.size()) in pane.list.foot_words.text()
    assert format_size(history.size_on_disk()) in pane.list.foot_words.toolTip()


def test_a_check_that_asks_no_model_tells_its_outcome_and_what_it_found_instead_of_a_probability() -> None:
    rule = CheckResult("noLinks", "", 1.0, 0.5, "rejected", "found at character 3", kind="pattern")
    asked = CheckResult("rude", "Is it rude?", 0.25, 0.5, "passed")
    lost = CheckResult("spam", "Is it spam?", None, 0.5, "no_answer", "no token for yes or no")
    assert check_words(GuardrailResult("input", (rule, asked, lost), "")).splitlines() == [
        "noLinks: rejected by pattern, found at character 3",
        "rude: 0.25 < 0.50, passed",
        "spam: no answer, no token for yes or no",
    ]
    assert check_words(None) == "The result was not stored."


@pytest.mark.parametrize("height", [800, 320])
def test_an_evaluation_shows_the_figures_it_ended_with(
    qtbot: QtBot, session: Session, pane: HistoryPane, height: int
) -> None:
    rows = [
        ResultRow(f"c{k}", "a", p, "passed", label, 0.5, "m@1", 1.0)
        for k, (p, label) in enumerate([(0.9, True), (0.4, True), (0.6, False), (0.1, False), (0.2, False)])
    ]
    report = evaluate_rows(rows, GuardrailSettings(0.5, (CheckSettings("a", "A?"),)), suggestions=False)
    assert session.history is not None
    run_id = session.history.start_run("evaluate", "Evaluate input, 5 cases", {}, model="m")
    data = evaluated_data(report, cases=5, answers=5, words="5 answers to 5 cases")
    session.history.append(run_id, RunEvent("evaluated", 1.0, data))
    session.history.finish_run(run_id, "done", "5 answers to 5 cases")
    pane.resize(1100, height)
    pane.show()
    pane.open_run(run_id)
    table = pane.view.evaluation
    qtbot.waitUntil(lambda: table.rowCount() == 1)
    assert table.isVisible()
    shown = {
        table.horizontalHeaderItem(k).text(): table.item(0, k).text() for k in range(table.columnCount())
    }
    assert shown == {
        "Check": "a", "N": "5", "Yes": "2", "t": "0.5", "Recall": "0.500", "FPR": "0.333",
        "AUC": "0.833", "Precision": "0.500", "F1": "0.500",
    }  # fmt: skip


def test_a_history_without_runs_tells_no_size(qtbot: QtBot, pane: HistoryPane, session: Session) -> None:
    assert session.history is not None
    for summary in session.history.runs():
        session.history.delete(summary.id)
    session.history_changed.emit()
    qtbot.waitUntil(lambda: pane.list.foot_words.text() == "no runs yet", timeout=WAIT_MS)


def test_a_pane_that_becomes_high_gives_the_list_no_more_than_it_wants(
    pane: HistoryPane, qtbot: QtBot
) -> None:
    pane.resize(1100, 260)
    qtbot.waitUntil(lambda: pane.view.compact is True)
    qtbot.waitUntil(lambda: pane.list.width() > pane.list.wanted_width())
    pane.resize(1440, 760)
    qtbot.waitUntil(lambda: pane.list.width() == pane.list.wanted_width())


def test_a_time_of_many_seconds_is_whole(pane: HistoryPane) -> None:
    pane.list.tree.resize(392, 400)
    hint = pane.list.tree.itemDelegateForColumn(TIME).sizeHint
    option = QStyleOptionViewItem()
    option.initFrom(pane.list.tree)
    words = QStandardItemModel(1, 1)
    words.setItem(0, 0, QStandardItem("16.04 s"))
    assert pane.list.tree.columnWidth(TIME) >= hint(option, words.index(0, 0)).width()
