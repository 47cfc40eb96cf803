"""Labelled cases in the lab: labelled with one key, edited in place, added, deleted, filtered, and all of it undoable."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, sample_session
from workbench.engine.evaluation.rows import ResultRow, ResultsFile, asked_hash
from workbench.gui.models.cases import LABEL, NOTE, OUTCOME, TEXT
from workbench.gui.models.cases_filter import FILTERS
from workbench.gui.panes.thresholds import ThresholdsPane
from workbench.gui.panes.thresholds.batch import results_path
from workbench.gui.panes.thresholds.case_table import CaseTable
from workbench.gui.shell.session import Session
from workbench.gui.widgets.text_input import TextInput

session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> ThresholdsPane:
    few = session.snapshot().cases[:12]
    session.edit("cases", lambda project: project.set_cases(few))
    pane = ThresholdsPane(session)
    qtbot.addWidget(pane)
    pane.resize(1400, 800)
    pane.show()
    qtbot.waitUntil(lambda: not session.jobs.busy(), timeout=WAIT_MS)
    return pane


def label_of(session: Session, pane: ThresholdsPane, place: int) -> bool | None:
    """Return the label of a case for the chosen check, in the project."""
    return session.snapshot().cases[place].labels.get(pane.lab.check_name)


def press(table: CaseTable, key: Qt.Key) -> None:
    """Press a key in the table."""
    table.view.setFocus()
    QTest.keyClick(table.view, key)


@pytest.mark.parametrize(
    ("key", "label"), [(Qt.Key.Key_Y, True), (Qt.Key.Key_N, False), (Qt.Key.Key_U, None)]
)
def test_one_key_labels_the_case_for_the_chosen_check_and_goes_on_to_the_next(
    session: Session, pane: ThresholdsPane, key: Qt.Key, label: bool | None
) -> None:
    other = pane.lab.guardrail.checks[1].name
    before = session.snapshot().cases[3].labels.get(other)
    pane.case_table.view.selectRow(3)
    press(pane.case_table, key)
    assert label_of(session, pane, 3) is label
    assert session.snapshot().cases[3].labels.get(other) is before
    assert pane.case_table.view.currentIndex().row() == 4
    assert pane.case_table.model.index(3, LABEL).data() == {True: "+ yes", False: "– no", None: ""}[label]


def test_a_key_labels_all_selected_cases_as_one_step_of_undo(session: Session, pane: ThresholdsPane) -> None:
    before = session.snapshot().cases
    pane.case_table.view.selectAll()
    press(pane.case_table, Qt.Key.Key_Y)
    assert all(case.labels[pane.lab.check_name] for case in session.snapshot().cases)
    session.undo_stack.undo()
    assert session.snapshot().cases == before
    session.undo_stack.redo()
    assert all(case.labels[pane.lab.check_name] for case in session.snapshot().cases)


def test_a_text_is_edited_in_place_with_its_line_breaks(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    view = pane.case_table.view
    view.setCurrentIndex(pane.case_table.model.index(2, TEXT))
    press(pane.case_table, Qt.Key.Key_F2)
    editor = view.findChild(TextInput)
    assert editor is not None
    assert editor.text() == session.snapshot().cases[2].text
    editor.set_text("first line")
    editor.moveCursor(editor.textCursor().MoveOperation.End)
    QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(editor, "second line, y and n are letters here")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.snapshot().cases[2].text.startswith("first line\nsecond line"))
    assert session.snapshot().cases[2].text == "first line\nsecond line, y and n are letters here"


def test_a_note_and_a_label_are_edited_in_place(qtbot: QtBot, session: Session, pane: ThresholdsPane) -> None:
    model = pane.case_table.model
    model.setData(model.index(1, NOTE), "from the spring survey")
    qtbot.waitUntil(lambda: session.snapshot().cases[1].note == "from the spring survey")
    view = pane.case_table.view
    view.edit(model.index(1, LABEL))
    box = view.findChild(QComboBox)
    assert box is not None
    box.setCurrentIndex(0)
    box.activated.emit(0)
    qtbot.waitUntil(lambda: label_of(session, pane, 1) is True)


def test_cases_are_added_and_deleted_and_come_back(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    before = session.snapshot().cases
    pane.case_table.add_button.click()
    added = session.snapshot().cases[-1]
    assert len(session.snapshot().cases) == len(before) + 1
    assert added.id not in {case.id for case in before}
    editor = pane.case_table.view.findChild(TextInput)
    assert editor is not None
    QTest.keyClicks(editor, "A new message")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.snapshot().cases[-1].text == "A new message")
    pane.case_table.view.selectRow(0)
    press(pane.case_table, Qt.Key.Key_Delete)
    assert before[0].id not in {case.id for case in session.snapshot().cases}
    for _ in range(3):
        session.undo_stack.undo()
    assert session.snapshot().cases == before


def test_edited_cases_are_saved_and_untouched_rows_keep_their_bytes(
    session: Session, pane: ThresholdsPane
) -> None:
    session.save()
    path = session.snapshot().root / "cases.jsonl"  # type: ignore[operator]
    before = path.read_bytes().splitlines()
    pane.case_table.view.selectRow(4)
    press(pane.case_table, Qt.Key.Key_Y)
    session.save()
    after = path.read_bytes().splitlines()
    assert [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [4]


def stored(session: Session, pane: ThresholdsPane) -> None:
    """Write an answer of every kind for the first cases of the chosen check."""
    check = pane.lab.check()
    assert check is not None
    path = results_path(session.snapshot().root, "input")
    assert path is not None
    version = pane.lab.version()
    kinds = [
        ("rejected", 0.9),
        ("passed", 0.1),
        ("refused", None),
        ("no_answer", None),
        ("error", None),
        ("passed", 0.4),
    ]
    rows = []
    for case, (status, p) in zip(pane.lab.columns.cases, kinds, strict=False):
        rows.append(
            ResultRow(
                case.id,
                check.name,
                p,
                status,
                None,
                0.5,
                version if p else None,
                3.0,
                asked_hash(case, check),
                "why",
            )  # type: ignore[arg-type]
        )
    rows[5] = ResultRow(rows[5].case, check.name, 0.4, "passed", None, 0.5, version, 3.0, "another text")
    file = ResultsFile(path)
    file.append(rows)
    file.close()


def test_chips_count_and_filter_refused_failed_stale_and_unlabelled_cases(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    stored(session, pane)
    pane.lab.reload()
    qtbot.waitUntil(lambda: pane.lab.columns.answered() == 5, timeout=WAIT_MS)
    chips, model = pane.case_table.chips, pane.case_table.model
    qtbot.waitUntil(lambda: chips.chips["refused"].count() == 1, timeout=WAIT_MS)
    assert chips.chips["failed"].count() == 2
    assert chips.chips["stale"].count() == 1
    assert chips.chips["unanswered"].count() == 6
    for key in FILTERS:
        if chips.chips[key].count():
            chips.chips[key].click()
            assert model.rowCount() == chips.chips[key].count(), key
            chips.chips[key].click()
            assert model.rowCount() == 12
    outcomes = [model.index(row, OUTCOME).data() for row in range(6)]
    assert outcomes[2:] == ["refused", "no answer", "error", "out of date"]
    assert len(pane.lab.figures()) + pane.lab.figures().unlabelled >= 2
    assert pane.lab.figures().refused == 1
    assert pane.lab.figures().errors == 2


def test_an_edited_text_makes_its_answers_stale_and_a_label_does_not(
    qtbot: QtBot, session: Session, pane: ThresholdsPane
) -> None:
    stored(session, pane)
    pane.lab.reload()
    qtbot.waitUntil(lambda: pane.lab.columns.answered() == 5, timeout=WAIT_MS)
    pane.lab.label([0], True)
    assert pane.case_table.model.index(0, OUTCOME).data() == "caught"
    pane.lab.edit_cell(0, TEXT, "another text")
    assert pane.case_table.model.index(0, OUTCOME).data() == "out of date"
    session.undo_stack.undo()
    pane.lab.reload()
    qtbot.waitUntil(lambda: pane.case_table.model.index(0, OUTCOME).data() == "caught", timeout=WAIT_MS)


def test_a_case_that_leaves_the_filter_hands_on_to_the_one_that_takes_its_place(
    session: Session, pane: ThresholdsPane
) -> None:
    name = pane.lab.check_name
    pane.lab.label(range(12), None)
    pane.case_table.chips.show_counts({"unlabelled": 12})
    pane.case_table.chips.chips["unlabelled"].click()
    pane.case_table.view.selectRow(0)
    for _ in range(12):
        press(pane.case_table, Qt.Key.Key_N)
    assert [case.labels.get(name) for case in session.snapshot().cases] == [False] * 12
    assert pane.case_table.model.rowCount() == 0


def test_a_place_elsewhere_reveals_its_case(session: Session, pane: ThresholdsPane) -> None:
    from workbench.gui.shell.places import Place

    wanted = session.snapshot().cases[7]
    pane.case_table.search.setText("zzz")
    session.go_to(Place("cases", wanted.id))
    assert pane.case_table.selected_positions() == [7]
