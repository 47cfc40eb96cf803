"""Importing labelled cases from a CSV file: columns are mapped, shown beforehand, and nothing is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import WAIT_MS, sample_session
from tests.gui.conftest import drop_widgets
from workbench.gui.dialogs.csv_import import CsvImportDialog
from workbench.gui.panes.thresholds import ThresholdsPane
from workbench.gui.shell.session import Session

CHECKS = {"input": ["rude", "offTopic"], "output": ["promises"]}


session = sample_session


def opened(
    qtbot: QtBot, session: Session, path: Path, data: bytes, known: frozenset[str] = frozenset()
) -> CsvImportDialog:
    """Return the dialog on a file of these bytes, when it has read it."""
    path.write_bytes(data)
    dialog = CsvImportDialog(path, session.jobs, "input", CHECKS, ["m1"], known_texts=known)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: not session.jobs.busy(), timeout=WAIT_MS)
    return dialog


def settle(qtbot: QtBot, session: Session) -> None:
    """Wait until the file was parsed anew."""
    qtbot.waitUntil(lambda: not session.jobs.busy(), timeout=WAIT_MS)


GOOD = b'id,message,rude,off topic,note\nm1,Hello,no,,kind\nm2,You fool,yes,0,\n,"Two\nlines",maybe,1,odd\n'


def test_likely_columns_are_guessed_and_the_cases_shown_before_the_import(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    dialog = opened(qtbot, session, tmp_path / "cases.csv", GOOD)
    assert dialog.boxes["text"].currentText() == "message"
    assert dialog.label_boxes["rude"].currentText() == "rude"
    assert dialog.label_boxes["offTopic"].currentText() == "off topic"
    assert [case.text for case in dialog.cases()] == ["Hello", "You fool", "Two\nlines"]
    assert dialog.cases()[1].labels == {"rude": True, "offTopic": False}
    assert dialog.preview.rowCount() == 3
    assert dialog.preview.item(1, 2).text() == "+ yes"


def test_an_id_that_is_taken_is_made_anew_and_a_word_that_is_no_label_is_named_with_its_line(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    dialog = opened(qtbot, session, tmp_path / "cases.csv", GOOD)
    assert len({"m1", *(case.id for case in dialog.cases())}) == 4
    assert "line" in dialog.problems.text()
    assert "'maybe'" in dialog.problems.text()
    assert "rude" not in dialog.cases()[2].labels


def test_another_mapping_gives_other_cases(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    dialog = opened(qtbot, session, tmp_path / "cases.csv", GOOD)
    dialog.choose("text", "note")
    settle(qtbot, session)
    assert [case.text for case in dialog.cases()] == ["kind", "odd"]
    dialog.choose("rude", None)
    settle(qtbot, session)
    assert all("rude" not in case.labels for case in dialog.cases())


def test_the_output_stage_has_its_own_checks_and_a_user_message(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    data = b"text;user_message;promises\nYou get 40 euros;Refund?;x\n"
    dialog = opened(qtbot, session, tmp_path / "cases.csv", data)
    dialog.stage.choose("output")
    settle(qtbot, session)
    assert list(dialog.label_boxes) == ["promises"]
    [case] = dialog.cases()
    assert (case.stage, case.user_message, case.labels) == ("output", "Refund?", {"promises": True})


def test_texts_that_the_project_has_are_left_out_unless_wanted(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    dialog = opened(qtbot, session, tmp_path / "cases.csv", GOOD, frozenset({"Hello"}))
    assert len(dialog.cases()) == 2
    assert "1 left out" in dialog.words.text()
    dialog.skip_known.setChecked(False)
    assert len(dialog.cases()) == 3


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("text\nGrüße\n".encode("utf-8-sig"), "Grüße"),
        ("text\nGrüße\n".encode("cp1252"), "Grüße"),
        ("text\nGrüße\n".encode("utf-16"), "Grüße"),
        (b"text\ttags\r\nHello, you\t\r\n", "Hello, you"),
    ],
    ids=["utf-8 with mark", "windows-1252", "utf-16", "tabs"],
)
def test_encodings_and_separators_are_recognised(
    qtbot: QtBot, session: Session, tmp_path: Path, data: bytes, text: str
) -> None:
    dialog = opened(qtbot, session, tmp_path / "cases.csv", data)
    assert [case.text for case in dialog.cases()] == [text]


@pytest.mark.parametrize("data", [b"", b"\x00\x01\x02", b'a,b\n"open'], ids=["empty", "binary", "unclosed"])
def test_a_file_that_holds_no_cases_cannot_be_imported_and_says_why(
    qtbot: QtBot, session: Session, tmp_path: Path, data: bytes
) -> None:
    dialog = opened(qtbot, session, tmp_path / "cases.csv", data)
    assert dialog.cases() == []
    assert not dialog._ok.isEnabled()
    assert dialog.mark.status() == "error_mark"


def test_a_file_that_cannot_be_read_says_so(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    dialog = CsvImportDialog(tmp_path / "gone.csv", session.jobs, "input", CHECKS, [])
    qtbot.addWidget(dialog)
    settle(qtbot, session)
    assert "gone.csv cannot be read" in dialog.words.text()


def test_a_dialog_that_is_closed_while_it_reads_hears_no_more_of_the_file(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    (tmp_path / "cases.csv").write_bytes(GOOD)
    dialog = CsvImportDialog(tmp_path / "cases.csv", session.jobs, "input", CHECKS, [])
    assert session.jobs.busy("csv-read")
    # An error in a slot, as of a deleted table, fails the test.
    dialog.reject()
    dialog.deleteLater()
    drop_widgets()
    settle(qtbot, session)
    assert not session.jobs.busy("csv-parse")


def test_the_lab_takes_the_cases_in_as_one_step_of_undo(
    qtbot: QtBot, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane = ThresholdsPane(session)
    qtbot.addWidget(pane)
    pane.show()
    settle(qtbot, session)
    before = session.snapshot().cases
    path = tmp_path / "more.csv"
    path.write_text("text,promptInjection\nFirst new,1\nSecond new,0\n", "utf-8")

    def accept(dialog: CsvImportDialog) -> int:
        settle(qtbot, session)
        return 1

    monkeypatch.setattr(CsvImportDialog, "exec", accept)
    pane.open_import(str(path))
    added = session.snapshot().cases[len(before) :]
    assert [(case.text, case.labels) for case in added] == [
        ("First new", {"promptInjection": True}),
        ("Second new", {"promptInjection": False}),
    ]
    session.undo_stack.undo()
    assert session.snapshot().cases == before


def test_an_import_without_labels_is_no_success_and_says_where_they_are_taken_from(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    dialog = opened(qtbot, session, tmp_path / "cases.csv", b"text;remark\nHello there;a\nGood day;b\n")
    assert [case.text for case in dialog.cases()] == ["Hello there", "Good day"]
    assert dialog._ok.isEnabled()
    assert dialog.mark.status() == "idle"
    assert "choose the column of a check" in dialog.words.text()
