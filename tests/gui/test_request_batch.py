"""Many requests are run one after the other, with progress, a Stop, and what changed against the last run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import MENDED, REQUEST, WAIT_MS, ScriptedModel, sample_session, use_model
from workbench.gui.dialogs.request_batch import KIND, RequestBatchDialog
from workbench.gui.models.request_batch import CHANGE, RESULT, TOKENS
from workbench.gui.shell.session import Session

VALID = json.dumps(MENDED)
OTHER = "The zipper is stuck, order FH-30000."


session = sample_session


@pytest.fixture
def dialog(qtbot: QtBot, session: Session) -> RequestBatchDialog:
    dialog = RequestBatchDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


@pytest.fixture
def requests(tmp_path: Path) -> Path:
    """A file of two requests, a comment and a blank line."""
    path = tmp_path / "requests.txt"
    path.write_text(f"\ufeff# requests of May\r\n{REQUEST}\r\n\r\n{OTHER}\r\n", encoding="utf-8")
    return path


@pytest.fixture
def held(
    qtbot: QtBot, dialog: RequestBatchDialog, requests: Path, monkeypatch: pytest.MonkeyPatch
) -> ScriptedModel:
    """The model of a batch that is under way: it was asked the first request, and keeps its reply back."""
    model = ScriptedModel([VALID], hold=True)
    use_model(monkeypatch, model)
    dialog.open_file(requests)
    dialog.run()
    qtbot.waitUntil(lambda: bool(model.asked), timeout=WAIT_MS)
    return model


def run(qtbot: QtBot, session: Session, dialog: RequestBatchDialog) -> None:
    with qtbot.waitSignal(
        session.run_finished, timeout=WAIT_MS, check_params_cb=lambda kind, _result: kind == KIND
    ):
        dialog.run()


def cells(dialog: RequestBatchDialog, column: int) -> list[str]:
    model = dialog.model
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def test_a_file_of_requests_is_read_one_a_line(dialog: RequestBatchDialog, requests: Path) -> None:
    assert not dialog.run_button.isEnabled()
    dialog.open_file(requests)
    assert [row.request for row in dialog.model.rows] == [REQUEST, OTHER]
    assert "2 requests" in dialog.state.text()
    assert dialog.run_button.isEnabled()


def test_a_file_that_is_no_text_is_said(dialog: RequestBatchDialog, tmp_path: Path) -> None:
    path = tmp_path / "picture.txt"
    path.write_bytes(b"\x80\x81\xfe\xff\x00")
    dialog.open_file(path)
    assert "cannot be read" in dialog.state.text()


def test_every_request_is_run_and_stored(
    qtbot: QtBot,
    session: Session,
    dialog: RequestBatchDialog,
    requests: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_model(monkeypatch, ScriptedModel([VALID, "no JSON here", "again none"]))
    dialog.open_file(requests)
    run(qtbot, session, dialog)
    assert cells(dialog, RESULT) == ["valid", "no JSON"]
    assert cells(dialog, CHANGE) == ["first run of this request", "first run of this request"]
    assert dialog.progress.value() == 2
    assert "1 valid at first, 0 repaired, 1 failed" in dialog.state.text()
    assert session.history.count(kind="translate") == 2  # type: ignore[union-attr]


def test_a_second_run_says_what_changed_and_stands_below_the_first(
    qtbot: QtBot,
    session: Session,
    dialog: RequestBatchDialog,
    requests: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed = json.dumps({**MENDED, "urgency": "low"})
    use_model(monkeypatch, ScriptedModel([VALID, VALID, VALID, changed]))
    dialog.open_file(requests)
    run(qtbot, session, dialog)
    dialog.take_from_history()
    dialog.model.set_requests([REQUEST, OTHER])
    run(qtbot, session, dialog)
    assert cells(dialog, CHANGE) == ["same value as run 1", "1 changed against run 2"]
    assert cells(dialog, TOKENS) == ["10 + 5", "10 + 5"]
    dialog.table.selectRow(1)
    assert dialog.compare.head.title.text() == "Run 2, attempt 1 and run 4, attempt 1"
    assert dialog.compare.table.item(0, 1).text() == "/urgency"
    assert "1 differ from the last run" in dialog.state.text()
    assert [row.run_id for row in dialog.model.rows] == [3, 4]
    assert session.history.run(4).summary.parent_run == 2  # type: ignore[union-attr]


def test_a_batch_with_another_prompt_says_so_and_shows_both(
    qtbot: QtBot, session: Session, dialog: RequestBatchDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel([VALID]))
    dialog.model.set_requests([REQUEST])
    run(qtbot, session, dialog)
    session.edit(
        "translation", lambda project: project.set_translation("request_prompt", "As {type_name}: {request}")
    )
    run(qtbot, session, dialog)
    assert cells(dialog, CHANGE) == ["same value as run 1, another prompt"]
    assert "0 differ from the last run" in dialog.state.text()
    dialog.table.selectRow(0)
    dialog.compare.mode.choose("prompt")
    assert "As Ticket" in dialog.compare.right.code()
    assert "As Ticket" not in dialog.compare.left.code()


def test_requests_of_the_history_are_taken_each_once(
    qtbot: QtBot, session: Session, dialog: RequestBatchDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel([VALID]))
    for request in (REQUEST, OTHER, REQUEST):
        with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
            session.translate(request)
    # What became a program is no request for a value.
    session.history.start_run("translate", "Program: x", {"request": "x", "target": "program"})  # type: ignore[union-attr]
    dialog.take_from_history()
    assert [row.request for row in dialog.model.rows] == [REQUEST, OTHER]


def test_stop_ends_the_call_and_keeps_what_was_done(
    qtbot: QtBot, dialog: RequestBatchDialog, held: ScriptedModel
) -> None:
    dialog.stop_button.click()
    qtbot.waitUntil(lambda: held.cancelled, timeout=WAIT_MS)
    assert cells(dialog, RESULT) == ["stopped by you", "waiting"]
    assert "Stopped by you." in dialog.state.text()
    assert dialog.run_button.isEnabled()


def test_a_request_that_cannot_be_sent_does_not_take_the_others_with_it(
    qtbot: QtBot, session: Session, dialog: RequestBatchDialog, requests: Path
) -> None:
    dialog.open_file(requests)  # the recordings answer only the first
    run(qtbot, session, dialog)
    assert cells(dialog, RESULT) == ["valid, 1 repair", "model error"]


def test_closing_the_window_stops_the_run(
    qtbot: QtBot, session: Session, dialog: RequestBatchDialog, held: ScriptedModel
) -> None:
    dialog.close()
    qtbot.waitUntil(lambda: held.cancelled, timeout=WAIT_MS)
    assert KIND not in session.running()
