"""A history file that is damaged, linked away, locked or full never costs more than itself."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from workbench.engine.events import RunEvent
from workbench.engine.history import HistoryError, HistoryStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".workbench" / "history.sqlite"


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
