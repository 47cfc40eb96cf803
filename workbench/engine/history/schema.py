"""The tables of the history file, and the steps that bring an older file up to date."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable

from workbench.engine.events import RunEvent
from workbench.engine.history.costs import PRICED_KINDS, cost_of

VERSION = 3

_TABLES = """
CREATE TABLE runs (
    id             INTEGER PRIMARY KEY,
    kind           TEXT NOT NULL,
    title          TEXT NOT NULL,
    outcome        TEXT NOT NULL,
    summary        TEXT NOT NULL DEFAULT '',
    started_at     REAL NOT NULL,
    finished_at    REAL,
    model          TEXT NOT NULL DEFAULT '',
    name           TEXT NOT NULL DEFAULT '',
    note           TEXT NOT NULL DEFAULT '',
    starred        INTEGER NOT NULL DEFAULT 0,
    live_key       TEXT,
    parent_run     INTEGER REFERENCES runs(id) ON DELETE SET NULL,
    parent_attempt INTEGER,
    owner          TEXT NOT NULL,
    inputs         TEXT NOT NULL,
    cost_amount    REAL,
    cost_currency  TEXT
);
CREATE INDEX runs_by_kind ON runs(kind, id);
CREATE INDEX runs_by_live_key ON runs(live_key) WHERE live_key IS NOT NULL;
CREATE INDEX runs_by_parent ON runs(parent_run) WHERE parent_run IS NOT NULL;
CREATE INDEX runs_starred ON runs(id) WHERE starred;
CREATE INDEX runs_unfinished ON runs(id) WHERE finished_at IS NULL;
CREATE TABLE events (
    run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    seq    INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    at     REAL NOT NULL,
    data   TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;
CREATE TABLE attempts (
    run_id        INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    number        INTEGER NOT NULL,
    outcome       TEXT NOT NULL,
    elapsed_ms    REAL,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    PRIMARY KEY (run_id, number)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE run_text USING fts5(text, tokenize = "unicode61 remove_diacritics 2");
"""

_INDEXES_OF_2 = (
    # Without it, deleting a run looks through all runs for its branches.
    "CREATE INDEX IF NOT EXISTS runs_by_parent ON runs(parent_run) WHERE parent_run IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS runs_starred ON runs(id) WHERE starred",
)


def _to_2(connection: sqlite3.Connection) -> None:
    """Index what lists are filtered by."""
    for statement in _INDEXES_OF_2:
        connection.execute(statement)


def _to_3(connection: sqlite3.Connection) -> None:
    """Keep what each run cost beside it; for runs that are there already it is read out of their events."""
    connection.execute("ALTER TABLE runs ADD COLUMN cost_amount REAL")
    connection.execute("ALTER TABLE runs ADD COLUMN cost_currency TEXT")
    marks = ", ".join("?" * len(PRICED_KINDS))
    runs = connection.execute(
        f"SELECT id, kind FROM runs WHERE outcome <> 'running' AND kind IN ({marks})", sorted(PRICED_KINDS)
    ).fetchall()
    for run_id, kind in runs:
        # A damaged event must not keep the whole history from being opened: that run's cost stays unknown.
        with contextlib.suppress(ValueError, TypeError, AttributeError):
            write_cost(connection, run_id, kind)


def write_cost(connection: sqlite3.Connection, run_id: int, kind: str) -> None:
    """Store what the events of a run say of its cost; nothing where they do not tell it.

    Raises:
        ValueError: where an event is damaged.
    """
    rows = connection.execute(
        # Of what was sent only counts that it was: conversations are long.
        "SELECT kind, at, CASE kind WHEN 'sent' THEN '{}' ELSE data END FROM events"
        " WHERE run_id = ? AND kind IN ('sent', 'reply', 'failed') ORDER BY seq",
        (run_id,),
    )
    cost = cost_of(kind, (RunEvent(name, at, json.loads(data)) for name, at, data in rows))
    if cost is not None:
        connection.execute(
            "UPDATE runs SET cost_amount = ?, cost_currency = ? WHERE id = ?",
            (cost.amount, cost.currency, run_id),
        )


# One function per version that a file may still have; each brings the file to the next one.
_MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _to_2, 2: _to_3}


def refuse_newer(version: int) -> None:
    """Raise `ValueError` where a file of this format was written by a newer version of the program."""
    if version > VERSION:
        raise ValueError(
            f"the history was written by a newer version (format {version}, this program reads {VERSION})"
        )


def prepare(connection: sqlite3.Connection) -> None:
    """Create the tables in a new file, or migrate an older one, in one transaction.

    Raises:
        ValueError: where the file was written by a newer version of the program.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    refuse_newer(version)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have prepared the file while this one waited for the lock.
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            for statement in _TABLES.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
        else:
            for step in range(version, VERSION):
                _MIGRATIONS[step](connection)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
