"""The history keeps what happened, finds it again, and survives what happens to files."""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path

import pytest

from workbench.engine.events import RunEvent
from workbench.engine.history import AttemptSummary, HistoryError, HistoryStore, run_to_json, run_to_markdown


def finished(store: HistoryStore, title: str, *, kind: str = "check", text: str = "", **options: str) -> int:
    run_id = store.start_run(kind, title, {"text": text}, **options)
    store.append(run_id, RunEvent("check_result", 0.5, {"verdict": "passed", "text": text}))
    store.finish_run(run_id, "passed", "passed")
    return run_id


def test_a_run_comes_back_with_its_inputs_and_events_in_order(store: HistoryStore) -> None:
    run_id = store.start_run("translate", "Translate to Ticket", {"request": "größer 🙂"}, model="m")
    events = [
        RunEvent("prompt", 0.0, {"messages": [{"role": "user"}]}),
        RunEvent("reply", 1.25, {"text": "\ud800"}),
    ]
    for event in events:
        store.append(run_id, event)
    store.set_attempts(run_id, [AttemptSummary(1, "ok", 12.5, 10, None)])
    store.finish_run(run_id, "ok", "first attempt", model="m-1")

    run = store.run(run_id)

    assert list(run.events) == events
    assert run.inputs == {"request": "größer 🙂"}
    assert run.summary.model == "m-1"
    assert run.summary.attempts == (AttemptSummary(1, "ok", 12.5, 10, None),)
    assert run.summary.elapsed_ms is not None
    assert run.summary.elapsed_ms >= 0


def test_runs_are_listed_newest_first_and_page_by_page(store: HistoryStore) -> None:
    ids = [finished(store, f"run {n}") for n in range(5)]
    assert [r.id for r in store.runs(limit=2)] == [ids[4], ids[3]]
    assert [r.id for r in store.runs(limit=2, offset=4)] == [ids[0]]


def test_search_finds_words_of_inputs_events_and_notes_and_gives_no_character_a_meaning(
    store: HistoryStore,
) -> None:
    first = finished(store, "one", text="the helmet arrived cracked")
    second = finished(store, "two", text='NEAR("x" OR */order/id')
    store.annotate(second, "look at this later")
    assert [r.id for r in store.runs(search="crack")] == [first]
    assert [r.id for r in store.runs(search='"x" OR order/id')] == [second]
    assert [r.id for r in store.runs(search="later")] == [second]
    assert store.runs(search="HELMET crack zzz") == []
    assert store.runs(search="***") == []


def test_runs_can_be_filtered_named_starred_and_deleted(store: HistoryStore) -> None:
    check, other = finished(store, "a"), finished(store, "b", kind="translate")
    store.rename(check, "the good one")
    store.star(check)
    assert [r.id for r in store.runs(kind="translate")] == [other]
    assert [(r.id, r.name) for r in store.runs(starred=True)] == [(check, "the good one")]
    store.delete(check)
    assert [r.id for r in store.runs()] == [other]
    assert store.runs(search="good") == []
    with pytest.raises(KeyError, match=f"no run {check}"):
        store.run(check)


def test_of_live_runs_with_one_key_only_the_last_is_kept_unless_somebody_marked_it(
    store: HistoryStore,
) -> None:
    finished(store, "typed 1", live_key="check:input")
    kept = finished(store, "typed 2", live_key="check:input")
    store.star(kept)
    asked = finished(store, "asked for")
    last = finished(store, "typed 3", live_key="check:input")
    assert [r.id for r in store.runs()] == [last, asked, kept]


def test_secrets_are_scrubbed_from_titles_inputs_events_and_keys_before_they_are_written(path: Path) -> None:
    with HistoryStore.open(path, scrub=lambda text: text.replace("hunter2", "[secret]")) as store:
        run_id = store.start_run("check", "with hunter2", {"a hunter2": ["hunter2"]})
        store.append(run_id, RunEvent("reply", 0, {"text": 'a "hunter2" \\ b'}))
        store.finish_run(run_id, "error", "said hunter2")
    for file in path.parent.iterdir():
        assert b"hunter2" not in file.read_bytes()


def test_a_branch_names_its_parent_and_outlives_it(store: HistoryStore) -> None:
    parent = finished(store, "parent")
    child = store.start_run("translate", "child", {}, parent=(parent, 2))
    assert (store.run(child).summary.parent_run, store.run(child).summary.parent_attempt) == (parent, 2)
    store.delete(parent)
    assert store.run(child).summary.parent_run is None


def test_pruning_keeps_what_somebody_marked_and_what_still_runs(store: HistoryStore) -> None:
    ids = [finished(store, f"run {n}") for n in range(6)]
    store.star(ids[0])
    store.rename(ids[1], "named")
    running = store.start_run("check", "running", {})
    assert store.prune(max_runs=2) == 3
    assert [r.id for r in store.runs()] == [running, ids[5], ids[1], ids[0]]


def test_the_folder_ignores_itself_in_git(store: HistoryStore, path: Path) -> None:
    assert (path.parent / ".gitignore").read_text() == "*\n"


def test_a_file_that_is_no_database_is_kept_aside_and_named(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this was a database once" * 100)
    with HistoryStore.open(path) as store:
        assert store.runs() == []
        assert store.notice is not None
        aside = [p for p in path.parent.iterdir() if "damaged" in p.name]
        assert len(aside) == 1
        assert aside[0].name in store.notice
        assert aside[0].read_bytes().startswith(b"this was a database once")


def test_a_file_of_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    HistoryStore.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(HistoryError, match="newer version"):
        HistoryStore.open(path)
    assert path.exists()


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HistoryError, match="file"):
        HistoryStore.open(tmp_path / "file" / "history.sqlite")


def test_threads_may_write_at_the_same_time(store: HistoryStore) -> None:
    def write(number: int) -> None:
        for step in range(20):
            run_id = store.start_run("check", f"{number}-{step}", {})
            store.append(run_id, RunEvent("a", 0, {}))
            store.append(run_id, RunEvent("b", 1, {}))
            store.finish_run(run_id, "passed")

    threads = [threading.Thread(target=write, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count() == 120
    assert all(run.events == 2 for run in store.runs())
    assert store.quick_check() == []


def test_a_run_of_a_living_process_is_not_marked_by_another(path: Path, store: HistoryStore) -> None:
    run_id = store.start_run("check", "still at it", {})
    with HistoryStore.open(path) as other:
        assert other.run(run_id).summary.outcome == "running"


def test_exports_hold_the_whole_run(store: HistoryStore) -> None:
    run_id = finished(store, "exported", text="with ``` a fence")
    document = json.loads(json.dumps(run_to_json(store.run(run_id))))
    assert document["format"] == 1
    assert document["events"][0]["data"]["text"] == "with ``` a fence"
    markdown = run_to_markdown(store.run(run_id))
    assert "````json" in markdown
    assert "with ``` a fence" in markdown


def test_finishing_a_run_that_is_not_there_says_so(tmp_path: Path) -> None:
    with HistoryStore.open(tmp_path / "history.db") as store, pytest.raises(KeyError, match="no run 99"):
        store.finish_run(99, "ok", "")


def test_a_run_with_half_a_surrogate_pair_can_be_written_as_markdown(tmp_path: Path) -> None:
    with HistoryStore.open(tmp_path / "history.db") as store:
        run_id = store.start_run("translate", "odd", {"request": "a\ud800b"})
        assert "a\\ud800b" in run_to_markdown(store.run(run_id)).encode("utf-8").decode("utf-8")
