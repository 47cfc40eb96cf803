"""A history file that is damaged, linked away, locked or full never costs more than itself."""

from __future__ import annotations

import os
import socket
import sqlite3
from pathlib import Path

import pytest

from workbench.engine.events import RunEvent
from workbench.engine.history import AttemptSummary, HistoryError, HistoryStore


def fill(path: Path) -> int:
    with HistoryStore.open(path) as store:
        for number in range(5):
            run = store.start_run("check", f"Run {number}", {"text": "x" * 4000})
            store.append(run, RunEvent("check_result", 0.1, {"verdict": "passed"}))
            store.finish_run(run, "passed")
    return run


def test_a_file_that_is_damaged_behind_its_first_page_is_moved_aside(path: Path) -> None:
    fill(path)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + os.urandom(len(data) - 4096))
    with HistoryStore.open(path) as store:
        assert store.runs() == []
        assert store.notice is not None
        assert "damaged" in store.notice
    assert [p for p in path.parent.iterdir() if "damaged" in p.name]


def test_damage_found_later_is_an_error_that_names_the_file(path: Path) -> None:
    run = fill(path)
    with HistoryStore.open(path) as store:
        store._connection.execute("DROP TABLE events")
        for use in (store.runs, lambda: store.run(run), lambda: store.append(run, RunEvent("x", 0, {}))):
            with pytest.raises(HistoryError, match=r"history\.sqlite: no such table"):
                use()


def test_a_stored_event_that_is_no_json_is_an_error_that_names_the_run(path: Path) -> None:
    run = fill(path)
    with HistoryStore.open(path) as store:
        store._connection.execute("UPDATE events SET data = '{' WHERE run_id = ?", (run,))
        with pytest.raises(HistoryError, match=f"run {run} is damaged"):
            store.run(run)


@pytest.mark.parametrize("link", ["history.sqlite", "history.sqlite-wal", ".gitignore", "."])
def test_nothing_is_written_through_a_link(path: Path, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    if link == ".":
        outside.mkdir()
        path.parent.symlink_to(outside)
    else:
        path.parent.mkdir()
        (path.parent / link).symlink_to(outside)
    with pytest.raises(HistoryError, match="is a link"):
        HistoryStore.open(path)
    assert not outside.exists() or list(outside.iterdir()) == []


def test_a_history_can_be_read_where_nothing_can_be_written(path: Path) -> None:
    run = fill(path)
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    with HistoryStore.read(path) as store:
        assert len(store.runs()) == 5
        assert store.run(run).summary.title == "Run 4"
        with pytest.raises(HistoryError, match="readonly"):
            store.delete(run)
    assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before


def test_reading_alone_makes_no_file_and_takes_no_other_version(path: Path) -> None:
    with pytest.raises(HistoryError):
        HistoryStore.read(path)
    assert not path.exists()
    fill(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(HistoryError, match="format 99"):
        HistoryStore.read(path)


def test_attempts_that_were_half_summed_up_when_the_process_died_are_read_out_of_the_events(
    path: Path,
) -> None:
    with HistoryStore.open(path) as store:
        run_id = store.start_run("translate", "torn", {})
        for number in (1, 2, 3):
            store.append(run_id, RunEvent("validated", 0.1, {"attempt": number, "outcome": "syntax"}))
        store.set_attempts(run_id, [AttemptSummary(1, "syntax", 5.0)])
        # The owner is a process that is no more.
        store._connection.execute("UPDATE runs SET owner = ?", (f"{socket.gethostname()}:999999999:gone",))
    with HistoryStore.open(path) as store:
        summary = store.run(run_id).summary
    assert summary.outcome == "interrupted"
    assert [(a.number, a.outcome, a.elapsed_ms) for a in summary.attempts] == [
        (1, "syntax", 5.0), (2, "syntax", None), (3, "syntax", None),
    ]  # fmt: skip


def test_a_full_disk_is_an_error_that_says_what_to_do_and_leaves_the_rest_readable(path: Path) -> None:
    run = fill(path)
    with HistoryStore.open(path) as store:
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")

        def fill_up() -> None:
            for _ in range(100):
                torn = store.start_run("check", "too much", {"text": "x" * 4000})
                store.finish_run(torn, "passed")

        with pytest.raises(HistoryError, match=r"disk is full; free some room"):
            fill_up()
        assert store.run(run).summary.title == "Run 4"
        assert store.quick_check() == []
        store._connection.execute("PRAGMA max_page_count = 1000000")
        store.finish_run(store.start_run("check", "after", {}), "passed")
        assert store.runs(limit=1)[0].outcome == "passed"


@pytest.mark.parametrize("data", ["[1]", "null", '"text"', "{", b"\xff\x00"])
def test_an_event_that_is_no_object_is_told_as_damage_of_its_run(path: Path, data: object) -> None:
    run = fill(path)
    with HistoryStore.open(path) as store:
        store._connection.execute("UPDATE events SET data = ? WHERE run_id = ?", (data, run))
        with pytest.raises(HistoryError, match=f"run {run} is damaged"):
            store.run(run)
        assert store.run(run - 1).summary.title == "Run 3"


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
def test_a_number_that_no_database_can_hold_is_no_run(path: Path, number: int) -> None:
    run = fill(path)
    with HistoryStore.open(path) as store:
        with pytest.raises(KeyError, match=f"no run {number}"):
            store.run(number)
        with pytest.raises(KeyError, match=f"no run {number}"):
            store.star(number)
        store.delete(number)
        assert store.runs()[0].id == run
