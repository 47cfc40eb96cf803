"""What the history keeps and what it lets go: retention, old files, attempts of runs that never ended."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from workbench.engine.events import RunEvent
from workbench.engine.history import AttemptSummary, HistoryStore
from workbench.engine.history.attempts import attempts_of


def made(
    store: HistoryStore, title: str, *, outcome: str = "ok", text: str = "", parent: int | None = None
) -> int:
    run_id = store.start_run(
        "translate", title, {"request": text}, parent=None if parent is None else (parent, 1)
    )
    store.append(run_id, RunEvent("reply", 0.1, {"attempt": 1, "text": text}))
    store.finish_run(run_id, outcome)
    return run_id


def ids(store: HistoryStore) -> list[int]:
    return [run.id for run in store.runs()]


def age(path: Path, run_id: int, days: float) -> None:
    """Make a run look as if it had begun `days` ago."""
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE runs SET started_at = ? WHERE id = ?", (time.time() - days * 86400, run_id)
        )
    connection.close()


def test_only_runs_that_are_old_and_that_nobody_marked_are_deleted_by_age(
    store: HistoryStore, path: Path
) -> None:
    old, starred, named, noted, young = (made(store, f"run {k}") for k in range(5))
    store.star(starred)
    store.rename(named, "the good one")
    store.annotate(noted, "see the ticket")
    for run_id in (old, starred, named, noted):
        age(path, run_id, 40)
    assert store.prune(max_age_days=30) == 1
    assert ids(store) == [young, noted, named, starred]


def test_the_newest_runs_are_kept_by_number(store: HistoryStore) -> None:
    runs = [made(store, f"run {k}") for k in range(6)]
    assert store.prune(max_runs=2) == 4
    assert ids(store) == [runs[5], runs[4]]


def test_the_oldest_runs_go_until_the_rest_fits_and_the_file_becomes_smaller(store: HistoryStore) -> None:
    runs = [made(store, f"run {k}", text=f"{k} " * 40_000) for k in range(20)]
    before = store.size()
    deleted = store.prune(max_bytes=before // 3)
    assert 0 < deleted < 20
    assert ids(store) == list(reversed(runs[deleted:]))
    assert store.size() < before // 2
    assert store.quick_check() == []


def test_what_is_kept_by_a_star_does_not_make_pruning_go_on_for_ever(store: HistoryStore) -> None:
    run_id = made(store, "kept", text="x" * 200_000)
    store.star(run_id)
    assert store.prune(max_bytes=1) == 0
    assert ids(store) == [run_id]


def test_a_run_that_is_under_way_is_never_pruned(store: HistoryStore, path: Path) -> None:
    run_id = store.start_run("translate", "now", {})
    age(path, run_id, 400)
    assert store.prune(max_age_days=1, max_bytes=1) == 0


def test_branches_of_a_deleted_run_stay_and_stand_alone(store: HistoryStore) -> None:
    parent = made(store, "parent")
    branch = made(store, "branch", parent=parent)
    assert store.run(branch).summary.parent_run == parent
    store.delete(parent)
    assert store.run(branch).summary.parent_run is None


def test_runs_are_listed_by_several_outcomes_and_counted_the_same(store: HistoryStore) -> None:
    for outcome in ("ok", "invalid", "budget", "ok"):
        made(store, outcome, outcome=outcome)
    found = store.runs(outcome=("invalid", "budget"))
    assert [run.outcome for run in found] == ["budget", "invalid"]
    assert store.count(outcome=("invalid", "budget")) == 2
    assert store.count(outcome="ok", search="ok") == 2
    assert store.count() == 4


def test_summaries_are_found_by_their_ids_and_unknown_ones_are_passed_over(store: HistoryStore) -> None:
    first, second = made(store, "a"), made(store, "b")
    assert [run.id for run in store.summaries([first, 99, second])] == [second, first]
    assert store.summaries([]) == []


def test_a_file_of_the_first_format_is_brought_up_to_date_with_all_its_runs(path: Path) -> None:
    with HistoryStore.open(path) as store:
        run_id = made(store, "kept", text="needle")
    with sqlite3.connect(path) as connection:
        connection.execute("DROP INDEX runs_by_parent")
        connection.execute("DROP INDEX runs_starred")
        connection.execute("ALTER TABLE runs DROP COLUMN cost_amount")
        connection.execute("ALTER TABLE runs DROP COLUMN cost_currency")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with HistoryStore.open(path) as store:
        assert [run.id for run in store.runs(search="needle")] == [run_id]
        assert store.notice is None
    with sqlite3.connect(path) as connection:
        names = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")
        }
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    assert {"runs_by_parent", "runs_starred"} <= names
    assert version == 3


def test_the_attempts_of_a_stopped_run_are_read_out_of_its_events(store: HistoryStore) -> None:
    run_id = store.start_run("translate", "stopped", {})
    for kind, data in (
        ("sent", {"attempt": 1}),
        ("reply", {"attempt": 1, "elapsed_ms": 12.5, "usage": {"input_tokens": 7, "output_tokens": None}}),
        ("validated", {"attempt": 1, "outcome": "invalid"}),
        ("sent", {"attempt": 2}),
    ):
        store.append(run_id, RunEvent(kind, 0.0, data))
    store.finish_run(run_id, "cancelled", "stopped")
    assert store.run(run_id).summary.attempts == (
        AttemptSummary(1, "invalid", 12.5, 7, None),
        AttemptSummary(2, "cancelled"),
    )


def test_attempts_that_were_summed_up_are_left_as_they_are(store: HistoryStore) -> None:
    run_id = store.start_run("translate", "done", {})
    store.append(run_id, RunEvent("validated", 0.0, {"attempt": 1, "outcome": "invalid"}))
    store.set_attempts(run_id, [AttemptSummary(1, "ok", 3.0)])
    store.finish_run(run_id, "ok")
    assert store.run(run_id).summary.attempts == (AttemptSummary(1, "ok", 3.0),)


@pytest.mark.parametrize("data", [{}, {"attempt": "1"}, {"attempt": True}, {"attempt": None}])
def test_events_of_another_shape_give_no_attempt(data: dict[str, object]) -> None:
    assert attempts_of([RunEvent("validated", 0.0, data)]) == []


def test_a_damaged_page_is_found_by_the_check_while_runs_are_still_stored(path: Path) -> None:
    with HistoryStore.open(path) as store:
        for k in range(200):
            made(store, f"run {k}", text=f"text {k} " * 200)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\x7f" * 8192)
    with HistoryStore.open(path) as store:
        assert store.quick_check()
        assert made(store, "after")


def test_the_size_is_what_retention_can_free_and_not_what_the_log_holds(
    store: HistoryStore, path: Path
) -> None:
    runs = [made(store, f"run {k}", text=f"{k} " * 40_000) for k in range(10)]
    full = store.size()
    log = path.with_name(path.name + "-wal").stat().st_size
    assert log > 0
    assert store.size_on_disk() == path.stat().st_size + log
    for run_id in runs[:9]:
        store.delete(run_id)
    # The room is free for new runs at once, though the file has not become smaller yet.
    assert store.size() < full // 2
    assert store.prune(max_bytes=full // 2) == 0
    assert ids(store) == [runs[9]]


def test_retention_gives_the_room_back_to_the_disk(store: HistoryStore) -> None:
    for k in range(20):
        made(store, f"run {k}", text=f"{k} " * 40_000)
    before = store.size_on_disk()
    store.prune(max_runs=2)
    assert store.size_on_disk() < before // 4


def test_a_history_in_memory_takes_no_disk() -> None:
    with HistoryStore.in_memory() as store:
        made(store, "run")
        assert (store.size(), store.size_on_disk()) == (0, 0)
