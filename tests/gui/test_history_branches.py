"""Going on from a stored run: branches, running again, comparing, exporting, and what the list shows of it."""

from __future__ import annotations

import json
import socket
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.gui.benches import (
    BROKEN,
    FIRST_REPLY,
    MENDED,
    REQUEST,
    SCHEMA,
    SECOND_REPLY,
    WAIT_MS,
    ScriptedModel,
    sample_session,
    use_model,
)
from workbench.engine.history import HistoryStore
from workbench.engine.text import shorten
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.translation import replay
from workbench.engine.workflows import history_path
from workbench.gui.dialogs.branch import PAUSE_MS, BranchDialog
from workbench.gui.panes.history import HistoryPane
from workbench.gui.shell.session import Session
from workbench.gui.widgets.comparison import RESPECTS

session = sample_session


@pytest.fixture
def pane(qtbot: QtBot, session: Session) -> HistoryPane:
    """The pane after one translation with a repair: run 1."""
    with qtbot.waitSignal(session.run_finished, timeout=WAIT_MS):
        session.translate(REQUEST)
    pane = HistoryPane(session)
    qtbot.addWidget(pane)
    pane.resize(1440, 800)
    pane.show()
    return pane


def finish(qtbot: QtBot, session: Session, start: Any) -> None:
    """Call `start` and wait for the end of the run that it begins."""
    with qtbot.waitSignals([session.run_finished, session.history_changed], timeout=WAIT_MS):
        start()


def rows(pane: HistoryPane) -> list[tuple[str, str]]:
    """Return number and words of every row, top to bottom; branches are indented."""
    found = []
    for node in pane.list.model.nodes():
        depth, above = 0, node.parent
        while above is not None:
            depth, above = depth + 1, above.parent
        index = pane.list.model.createIndex(node.row, 1, node)
        number = pane.list.model.createIndex(node.row, 0, node).data()
        found.append(("  " * depth + str(number), str(index.data()).strip()))
    return found


def test_a_branch_goes_on_from_an_attempt_and_stands_below_its_run(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    pane.select(1, 1)
    assert pane.controls.branch.isEnabled()
    finish(qtbot, session, lambda: pane.branch_from(1, 1))
    assert rows(pane) == [
        ("1", "Ticket: " + shorten(REQUEST, 48)),
        ("  ", "Attempt 1"),
        ("  ", "Attempt 2"),
        ("  2", "From attempt 1"),
        ("    ", "Attempt 1"),
        ("    ", "Attempt 2"),
    ]
    assert pane.selected() == (2, None)
    record = pane.record()
    assert record is not None
    assert record.value == MENDED
    assert [attempt.outcome for attempt in record.attempts] == ["invalid", "ok"]


def test_the_number_of_a_branch_of_a_branch_has_room(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    finish(qtbot, session, lambda: pane.branch_from(1, 1))
    finish(qtbot, session, lambda: pane.branch_from(2, 1))
    tree, model = pane.list.tree, pane.list.model
    tree.expandAll()
    assert model.depth() == 2
    assert tree.visualRect(model.index_of(3)).width() >= tree.fontMetrics().horizontalAdvance("000")


def test_an_edited_repair_prompt_is_what_the_model_gets(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([SECOND_REPLY])
    use_model(monkeypatch, model)
    finish(qtbot, session, lambda: pane.branch_from(1, 1, repair_prompt="Mend the category alone."))
    assert [message.text() for message in model.asked[0][-2:]] == [FIRST_REPLY, "Mend the category alone."]


def test_an_edited_reply_that_is_valid_needs_no_model(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([])
    use_model(monkeypatch, model)
    finish(qtbot, session, lambda: pane.branch_from(1, 1, reply=SECOND_REPLY))
    assert model.asked == []
    assert session.history.run(2).summary.outcome == "ok"  # type: ignore[union-attr]
    assert ("Reply", "edited by hand") in pane.view.details.rows()


def test_a_branch_is_judged_by_today_s_schema(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(monkeypatch, ScriptedModel(["never asked"]))
    loose = {**SCHEMA, "properties": {key: {"type": "string"} for key in BROKEN}}
    session.edit("schemas", lambda project: project.set_output_schema(json.dumps(loose)))
    finish(qtbot, session, lambda: pane.branch_from(1, 1))
    assert session.history.run(2).summary.outcome == "ok"  # type: ignore[union-attr]
    pane.view.compare.mode.choose("schema")
    assert "enum" in pane.view.compare.left.code()
    assert "enum" not in pane.view.compare.right.code()


class TestTheDialog:
    @pytest.fixture
    def dialog(self, qtbot: QtBot, session: Session, pane: HistoryPane) -> BranchDialog:
        run = session.history.run(1)  # type: ignore[union-attr]
        dialog = BranchDialog(session, run, replay(run.events).attempts[0])
        qtbot.addWidget(dialog)
        dialog.show()
        qtbot.waitUntil(lambda: dialog.preview is not None, timeout=WAIT_MS)
        return dialog

    def test_it_shows_the_repair_prompt_that_would_be_sent_and_changes_nothing(
        self, dialog: BranchDialog
    ) -> None:
        assert "/urgency" in dialog.prompt.text()
        assert dialog.verdict.kind() == "rejected"
        assert dialog.diagnostics.model.rowCount() == 3
        assert dialog.changes() == {
            "reply": None,
            "repair_prompt": None,
            "schema_text": None,
            "model_name": None,
        }

    def test_the_repair_prompt_follows_the_reply_until_somebody_edits_it(
        self, qtbot: QtBot, dialog: BranchDialog
    ) -> None:
        dialog.reply.set_text(FIRST_REPLY.replace('"urgent"', '"high"'))
        qtbot.waitUntil(lambda: "/urgency" not in dialog.prompt.text(), timeout=WAIT_MS)
        assert "/category" in dialog.prompt.text()
        dialog.prompt.set_text("Mend it.")
        dialog.reply.set_text(FIRST_REPLY)
        qtbot.waitUntil(lambda: dialog.diagnostics.model.rowCount() == 3, timeout=WAIT_MS)
        assert dialog.prompt.text() == "Mend it."
        assert dialog.changes()["repair_prompt"] == "Mend it."
        dialog.again.click()
        assert "/urgency" in dialog.prompt.text()
        assert dialog.changes()["repair_prompt"] is None

    def test_a_reply_that_holds_says_that_no_model_is_asked(self, qtbot: QtBot, dialog: BranchDialog) -> None:
        dialog.reply.set_text(SECOND_REPLY)
        qtbot.waitUntil(lambda: dialog.verdict.kind() == "passed", timeout=WAIT_MS)
        assert dialog.start.isEnabled()
        assert dialog.changes()["reply"] == SECOND_REPLY

    @pytest.mark.parametrize("edited", ["reply", "schema"])
    def test_an_edit_takes_back_the_verdict_at_once_and_nothing_can_begin_before_the_next(
        self, qtbot: QtBot, dialog: BranchDialog, edited: str
    ) -> None:
        dialog.reply.set_text(SECOND_REPLY)
        qtbot.waitUntil(lambda: dialog.verdict.kind() == "passed", timeout=WAIT_MS)
        assert dialog.start.isEnabled()
        if edited == "reply":
            dialog.reply.set_text(FIRST_REPLY)
        else:
            dialog.schema.editor.replace_text('{"type": "array"}')
        assert (dialog.verdict.kind(), dialog.verdict.headline()) == ("running", "Checking…")
        assert not dialog.start.isEnabled()
        dialog.prompt.set_text("Mend it.")
        assert not dialog.start.isEnabled()
        qtbot.waitUntil(lambda: dialog.verdict.kind() == "rejected", timeout=WAIT_MS)
        assert dialog.start.isEnabled()
        # What the new verdict shows is no edit: it stays.
        qtbot.wait(2 * PAUSE_MS)
        assert dialog.verdict.kind() == "rejected"

    def test_an_edited_schema_judges_the_reply_and_stays_out_of_the_project(
        self, qtbot: QtBot, session: Session, pane: HistoryPane, dialog: BranchDialog
    ) -> None:
        before = session.snapshot().output_schema
        loose = {"type": "object", "properties": {"urgency": {"enum": ["low", "high"]}}}
        dialog.schema.editor.replace_text(json.dumps(loose))
        qtbot.waitUntil(lambda: dialog.diagnostics.model.rowCount() == 1, timeout=WAIT_MS)
        assert dialog.schema.head.note.text() == "edited here"
        assert "/category" not in dialog.prompt.text()
        finish(qtbot, session, lambda: pane.branch_from(1, 1, **dialog.changes()))
        branch = session.history.run(2)  # type: ignore[union-attr]
        assert json.loads(branch.inputs["schema"]) == loose
        assert branch.summary.parent_run == 1
        assert session.snapshot().output_schema == before
        assert not session.dirty

    def test_a_broken_schema_is_marked_where_it_is_broken_while_it_is_typed(
        self, qtbot: QtBot, session: Session, dialog: BranchDialog
    ) -> None:
        dialog.schema.editor.replace_text('{\n  "type": "objekt"\n}')
        qtbot.waitUntil(lambda: dialog.verdict.kind() == "error", timeout=WAIT_MS)
        assert dialog.verdict.headline() == "The schema cannot be used."
        assert dialog.schema.problems.model.rowCount() == 1
        assert dialog.schema.problems.model.diagnostic(0).line == 2
        assert not dialog.start.isEnabled()
        dialog.schema.take_today.click()
        qtbot.waitUntil(dialog.start.isEnabled, timeout=WAIT_MS)
        assert dialog.schema.problems.model.rowCount() == 0
        assert dialog.changes()["schema_text"] is None

    def test_the_schema_of_the_run_can_be_taken_back(
        self, qtbot: QtBot, session: Session, pane: HistoryPane
    ) -> None:
        session.edit("schemas", lambda project: project.set_output_schema('{"type": "object"}'))
        run = session.history.run(1)  # type: ignore[union-attr]
        dialog = BranchDialog(session, run, replay(run.events).attempts[0])
        qtbot.addWidget(dialog)
        qtbot.waitUntil(lambda: dialog.verdict.kind() == "passed", timeout=WAIT_MS)
        dialog.schema.take_stored.click()
        qtbot.waitUntil(lambda: dialog.diagnostics.model.rowCount() == 3, timeout=WAIT_MS)
        assert dialog.changes()["schema_text"] == run.inputs["schema"]

    def test_another_model_can_answer(self, dialog: BranchDialog) -> None:
        names = [dialog.model.itemData(k) for k in range(dialog.model.count())]
        assert names[0] is None
        assert len(names) > 1
        dialog.model.setCurrentIndex(1)
        assert dialog.changes()["model_name"] == names[1]


def test_the_model_that_was_picked_repairs_whatever_repair_model_the_project_has(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_model(settings: Any, **_options: Any) -> ScriptedModel:
        opened.append(settings.name)
        return ScriptedModel([SECOND_REPLY])

    package = "workbench.engine.language_models"
    monkeypatch.setattr(f"{package}.open_language_model", open_model)
    monkeypatch.setattr(f"{package}.language_model_available", lambda *_args: None)
    session.edit("translation", lambda project: project.set_translation("repair_model", "local"))
    finish(qtbot, session, lambda: pane.branch_from(1, 1, model_name="recorded"))
    assert opened == ["recorded"]
    finish(qtbot, session, lambda: pane.branch_from(1, 1))
    assert opened == ["recorded", "recorded", "local"]


def test_a_request_runs_again_with_today_s_prompt_and_shows_what_changed(
    qtbot: QtBot, session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {**MENDED, "urgency": "low"}
    model = ScriptedModel([json.dumps(other)])
    use_model(monkeypatch, model)
    session.edit(
        "translation", lambda project: project.set_translation("request_prompt", "As {type_name}: {request}")
    )
    pane.select(1)
    finish(qtbot, session, pane.run_again)
    assert model.asked[0][-1].text() == f"As Ticket: {REQUEST}"
    assert rows(pane)[3] == ("  2", "Run again")
    assert pane.selected() == (2, None)
    assert pane.view.compare.head.title.text() == "Run 1, attempt 2 and attempt 1"
    pointers = [
        pane.view.compare.table.item(row, 1).text() for row in range(pane.view.compare.table.rowCount())
    ]
    assert pointers == ["/urgency"]
    pane.view.compare.mode.choose("prompt")
    assert "As Ticket" in pane.view.compare.right.code()
    assert "As Ticket" not in pane.view.compare.left.code()


def test_two_attempts_are_compared_in_every_respect(pane: HistoryPane) -> None:
    pane.select(1, 1)
    assert set(RESPECTS) == {"text", "pointer", "prompt", "schema", "facts"}
    pane.view.compare.mode.choose("facts")
    table = pane.view.compare.facts
    facts = {
        table.item(r, 0).text(): (table.item(r, 1).text(), table.item(r, 2).text())
        for r in range(table.rowCount())
    }
    assert facts["Outcome"] == ("invalid", "valid")
    assert facts["Input tokens"] == ("403", "618")
    assert facts["Time"] == ("1.84 s", "1.21 s")
    pane.view.compare.mode.choose("prompt")
    assert "repair" not in pane.view.compare.left.code()
    assert FIRST_REPLY.splitlines()[0] in pane.view.compare.right.code()


def test_whatever_is_chosen_next_can_be_compared_with_one_that_was_marked(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    finish(qtbot, session, lambda: session.translate(REQUEST))
    pane.select(1, 1)
    pane.toggle_base()
    pane.select(2, 2)
    assert pane.view.compare.head.title.text() == "Run 1, attempt 1 and attempt 2"
    pane.select(1, 2)
    assert pane.view.compare.head.title.text() == "Attempt 1 and attempt 2"
    pane.select(1, 1)
    pane.toggle_base()
    pane.select(2, 2)
    assert pane.view.compare.head.title.text() == "Attempt 1 and attempt 2"
    assert pane.view.compare.before.key == (2, 1)  # type: ignore[union-attr]


def test_details_name_candidates_and_lead_into_the_reply(qtbot: QtBot, pane: HistoryPane) -> None:
    pane.select(1, 1)
    details = dict(pane.view.details.rows())
    assert details["Model"] == "written by hand"
    assert details["Input tokens"] == "403"
    assert "fenced block" in details["Candidate 1"]
    pane.view.tabs.setCurrentWidget(pane.view.details)
    row = [name for name, _words in pane.view.details.rows()].index("Candidate 1")
    pane.view.details.table.itemActivated.emit(pane.view.details.table.item(row, 0))
    assert pane.view.tabs.currentWidget() is pane.view.reply
    start, end = pane.view.reply.code.found() or (0, 0)
    assert json.loads(FIRST_REPLY[start:end]) == BROKEN


def test_runs_are_filtered_by_groups_of_outcomes(qtbot: QtBot, session: Session, pane: HistoryPane) -> None:
    history = session.history
    assert history is not None
    for outcome in ("cancelled", "model_error", "invalid"):
        history.finish_run(history.start_run("translate", outcome, {}), outcome)
    pane.refresh()
    shown = {}
    for group in ("good", "bad", "error", "stopped"):
        pane.list.set_outcome(group)
        shown[group] = [index.data() for index in pane.list.model.run_indexes()]
    assert shown == {"good": ["1"], "bad": ["4"], "error": ["3"], "stopped": ["2"]}
    assert pane.list.foot_words.text().startswith("1 of 4 runs")
    pane.list.set_outcome(None)
    assert pane.list.foot_words.text().startswith("4 runs")


def test_older_runs_are_listed_on_demand(
    session: Session, pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.gui.panes.history.runs_list.PAGE", 2)
    history = session.history
    assert history is not None
    for k in range(4):
        history.finish_run(history.start_run("evaluate", f"run {k}", {}), "done")
    pane.list.set_kind("evaluate")
    assert pane.list.model.rowCount() == 2
    pane.list.more.click()
    assert pane.list.model.rowCount() == 4
    assert not pane.list.more.isVisible()


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_a_run_is_exported(pane: HistoryPane, tmp_path: Path, form: str) -> None:
    pane.select(1)
    target = tmp_path / f"run.{form}"
    pane.marks.export(form, target)
    text = target.read_text(encoding="utf-8")
    if form == "json":
        assert json.loads(text)["inputs"]["request"] == REQUEST
        assert json.loads(text)["events"][0]["kind"] == "started"
    else:
        assert text.startswith("# Run 1: ")
        assert "A tent pole broke" in text


def test_a_run_that_cannot_be_exported_is_said(
    qtbot: QtBot, session: Session, pane: HistoryPane, tmp_path: Path
) -> None:
    pane.select(1)
    with qtbot.waitSignal(session.status) as said:
        pane.marks.export("json", tmp_path / "nowhere" / "run.json")
    assert "was not written" in said.args[0]


def test_the_menu_offers_only_what_the_run_can_do(pane: HistoryPane) -> None:
    pane.select(1, 1)
    words = [words for words, _icon, _slot in pane.menu_items() if words]
    assert words[0] == "Repair again from here…"
    assert {"Run again with today's prompt", "Export as JSON…", "Delete"} <= set(words)
    pane.marks.delete()
    assert [words for words, _icon, _slot in pane.menu_items()] == ["Run requests of a file…"]


def test_a_tool_conversation_is_shown_with_what_was_not_sent(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    root = session.snapshot().root
    assert root is not None
    question = "Where is order FH-20418 now?"
    calls = [{"id": "a", "name": "lookup", "arguments": '{"order": "FH-20418"}'}]
    lines = [
        {
            "kind": "chat",
            "request": question,
            "reply": "",
            "finish_reason": "tool_calls",
            "tool_calls": calls,
        },
        {"kind": "chat", "request": question, "reply": "It was sent."},
    ]
    (root / "recordings" / "tools.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    tool = ToolDefinition(
        "lookup",
        "Finds an order.",
        '{"type": "object"}',
        Simulation(text="It was sent.", result='{"row": 17}'),
    )
    session.edit("tools", lambda project: project.set_tools((tool,)))
    finish(qtbot, session, lambda: session.run_tools(question, with_prompt=False))
    qtbot.waitUntil(lambda: pane.selected() == (2, None))
    captions = [turn.caption for turn in pane.view.conversation.turns()]
    assert any("sent to the model" in caption and "not" not in caption for caption in captions)
    kept = next(turn for turn in pane.view.conversation.turns() if "not sent to the model" in turn.caption)
    assert json.loads(kept.text) == {"result": {"row": 17}}
    assert pane.view.reply.code.code() == "It was sent."
    pane.replay.go_to(0)
    assert [turn.text for turn in pane.view.conversation.turns()] == [question]


def test_a_project_that_cannot_be_written_says_that_it_keeps_no_history(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    root = session.snapshot().root
    assert root is not None
    session.adopt(None)
    folder = history_path(root).parent
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    folder.write_text("a file where the folder belongs", encoding="utf-8")
    session.open(root)
    assert session.history is None
    assert pane.list.notice.isVisible()
    assert pane.list.notice.headline() == "This project keeps no history."
    assert pane.list.notice.detail()


def test_opening_a_project_prunes_by_the_settings_and_checks_the_file(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    root = session.snapshot().root
    assert root is not None
    session.adopt(None)
    with HistoryStore.open(history_path(root)) as history:
        for k in range(3):
            history.finish_run(history.start_run("check", f"run {k}", {}), "passed")
        history.star(1)
    session.settings.set("history.runs", 1)
    session.open(root)
    qtbot.waitUntil(
        lambda: [index.data() for index in pane.list.model.run_indexes()] == ["4", "★ 1"], timeout=WAIT_MS
    )
    assert not pane.list.notice.isVisible()


def test_a_damaged_history_is_noticed_after_opening(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    root = session.snapshot().root
    assert root is not None
    session.adopt(None)
    path = history_path(root)
    with HistoryStore.open(path) as history:
        for k in range(60):
            history.finish_run(history.start_run("check", f"run {k}", {"text": f"word{k} " * 500}), "passed")
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\x7f" * 16_384)
    session.open(root)
    qtbot.waitUntil(lambda: pane.list.notice.isVisible(), timeout=WAIT_MS)
    assert "damaged" in pane.list.notice.detail()


def test_a_torn_run_is_marked_interrupted_with_the_attempts_it_had(
    qtbot: QtBot, session: Session, pane: HistoryPane
) -> None:
    history = session.history
    assert history is not None
    events = history.run(1).events
    torn = history.start_run("translate", "torn", {"request": REQUEST})
    for event in events[:-3]:
        history.append(torn, event)
    root = session.snapshot().root
    assert root is not None
    session.adopt(None)
    with sqlite3.connect(history_path(root)) as connection:
        # The owner that wrote it is a process that is no more.
        connection.execute(
            "UPDATE runs SET owner = ? WHERE id = ?", (f"{socket.gethostname()}:999999999:gone", torn)
        )
    connection.close()
    session.open(root)
    qtbot.waitUntil(lambda: pane.list.model.index_of(torn).isValid(), timeout=WAIT_MS)
    summary = session.history.run(torn).summary  # type: ignore[union-attr]
    assert summary.outcome == "interrupted"
    assert [(a.number, a.outcome) for a in summary.attempts] == [(1, "invalid"), (2, "interrupted")]
    pane.select(torn, 1)
    assert pane.view.reply.code.code() == FIRST_REPLY
