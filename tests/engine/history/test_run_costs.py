"""What a run cost is kept beside it, and read out of the events of runs that an earlier version stored."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.events import RunEvent
from workbench.engine.history import HistoryError, HistoryStore, run_to_json, run_to_markdown
from workbench.engine.prices import Cost


def reply(amount: float | None, currency: str = "USD", **data: Any) -> RunEvent:
    cost = None if amount is None else {"amount": amount, "currency": currency}
    return RunEvent("reply", 0.1, {"text": "x", "elapsed_ms": 5.0, "cost": cost, **data})


FAILED = RunEvent("failed", 0.2, {"outcome": "model_error", "message": "gone", "elapsed_ms": 3.0})
SENT = RunEvent("sent", 0.1, {"messages": []})
STOPPED = RunEvent("failed", 0.2, {"outcome": "budget", "message": "used up"})


def stored(store: HistoryStore, kind: str, *events: RunEvent) -> int:
    run_id = store.start_run(kind, f"a {kind}", {"request": "needle"})
    for event in events:
        store.append(run_id, event)
    store.finish_run(run_id, "ok", "first attempt")
    return run_id


@pytest.mark.parametrize(
    ("kind", "events", "expected"),
    [
        pytest.param("translate", [reply(0.002), reply(0.003)], Cost(0.005), id="all calls"),
        pytest.param("tool", [reply(0.002, "EUR")], Cost(0.002, "EUR"), id="tools"),
        pytest.param("translate", [reply(0.002), reply(None)], None, id="one is unknown"),
        pytest.param("translate", [reply(0.002), reply(0.1, "EUR")], None, id="two currencies"),
        pytest.param("translate", [reply(None, edited=True), reply(0.002)], Cost(0.002), id="edited reply"),
        pytest.param(
            "translate",
            [SENT, reply(None, elapsed_ms=None), SENT, reply(0.002)],
            Cost(0.002),
            id="reply that a branch took over",
        ),
        pytest.param("translate", [SENT, reply(0.002), SENT], None, id="an answer that never came"),
        pytest.param(
            "tool",
            [SENT, reply(0.002), SENT, RunEvent("finished", 0.2, {"outcome": "model_error"})],
            None,
            id="a round trip that failed",
        ),
        pytest.param("translate", [reply(0.002), FAILED], None, id="a call that failed"),
        pytest.param("translate", [reply(0.002), STOPPED], Cost(0.002), id="no call was made"),
        pytest.param("translate", [reply(0.0)], Cost(0.0), id="free is not unknown"),
        pytest.param("translate", [], None, id="no call"),
        pytest.param("check", [reply(0.002)], None, id="checks have no price"),
    ],
)
def test_a_run_costs_what_its_calls_cost(kind: str, events: list[RunEvent], expected: Cost | None) -> None:
    store = HistoryStore.in_memory()
    run_id = stored(store, kind, *events)
    assert store.runs()[0].cost == expected
    assert store.run(run_id).summary.cost == expected
    assert store.summaries([run_id])[0].cost == expected


def test_a_cost_is_in_what_leaves_the_program() -> None:
    store = HistoryStore.in_memory()
    run = store.run(stored(store, "tool", reply(0.002)))
    assert run_to_json(run)["cost"] == {"amount": 0.002, "currency": "USD"}
    assert "- cost: 0.0020 USD" in run_to_markdown(run)


def as_format_2(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Make a file one of the second format, and return all rows of its tables."""
    with sqlite3.connect(path) as connection:
        for column in ("cost_amount", "cost_currency"):
            connection.execute(f"ALTER TABLE runs DROP COLUMN {column}")
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    return rows_of(path)


def rows_of(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of all tables, without the columns that came with the third format."""
    connection = sqlite3.connect(path)
    names = [
        row[1] for row in connection.execute("PRAGMA table_info(runs)") if not row[1].startswith("cost_")
    ]
    found = {"runs": connection.execute(f"SELECT {', '.join(names)} FROM runs ORDER BY id").fetchall()}
    for table in ("events", "attempts", "run_text"):
        found[table] = sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
    connection.close()
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A history of three runs: with a cost, without one, and with an event that is damaged."""
    path = tmp_path / ".workbench" / "history.sqlite"
    with HistoryStore.open(path) as store:
        stored(store, "translate", reply(0.002, attempt=1), reply(0.003, attempt=2))
        store.star(stored(store, "check", RunEvent("check_result", 0.5, {"verdict": "passed"})))
        stored(store, "tool", reply(0.004))
        store._connection.execute("UPDATE events SET data = '{' WHERE run_id = 3")
    return path


def test_a_file_of_the_second_format_gets_the_costs_and_loses_nothing(path: Path) -> None:
    before = as_format_2(path)
    assert [len(rows) for rows in before.values()] == [3, 4, 2, 3]
    with HistoryStore.open(path) as store:
        assert store.notice is None
        assert [each.cost for each in store.runs()] == [None, None, Cost(0.005)]
        assert len(store.runs(search="needle")) == 3
    assert rows_of(path) == before
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    connection.close()


def test_an_older_file_that_may_not_be_written_is_read_as_it_is(path: Path) -> None:
    as_format_2(path)
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    with HistoryStore.read(path) as store:
        assert [each.cost for each in store.runs()] == [None, None, Cost(0.005)]
        with pytest.raises(HistoryError, match="readonly"):
            store.delete(1)
    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before
