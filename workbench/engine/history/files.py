"""The history file itself: where it may lie, how it is opened, and what SQLite's complaints mean to a person."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

from workbench.engine.history import schema

_FOLDER = ".workbench"
_LOG_LIMIT = 4_000_000
_ADVICE = {
    "disk is full": "free some room on the disk, or let the settings keep fewer runs",
    "locked": "another program is writing to it; try again, or close that program",
    "readonly": "the file or its folder may not be written",
    "disk I/O error": "look whether the disk is still there",
    "FOREIGN KEY": "the run was deleted meanwhile",
    "malformed": "the file is damaged; move it away, and a new one is begun",
}


class HistoryError(Exception):
    """The history file cannot be opened or read; the message names the file and the reason."""


class Access:
    """Lets one thread at a time at the connection, and says which file it was that SQLite complains of."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._lock.release()
        if isinstance(error, sqlite3.Error):
            raise HistoryError(f"{self._path or 'the history'}: {error}{_advice(error)}") from error


def _advice(error: sqlite3.Error) -> str:
    """Return what a person can do about what SQLite complains of."""
    words = str(error)
    found = next((advice for part, advice in _ADVICE.items() if part in words), "")
    return f"; {found}" if found else ""


def refuse_links(path: Path) -> None:
    """Raise where a link in somebody's project would lead what is written to another place."""
    links = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]
    if path.parent.name == _FOLDER:
        links += [path.parent, path.parent / ".gitignore"]
    for link in links:
        if link.is_symlink():
            raise ValueError(f"{link.name} is a link, and no run is written through one; remove it")


def make_folder(folder: Path) -> None:
    """Make the folder of the history, with a note that keeps it out of version control."""
    if not folder.exists():
        folder.mkdir(parents=True)
    ignore = folder / ".gitignore"
    if folder.name == _FOLDER and (not ignore.exists() or not ignore.stat().st_size):
        ignore.write_text("*\n", encoding="utf-8")


def connect(path: Path | None) -> sqlite3.Connection:
    """Open the file at `path`, or one in memory for `None`, and bring its tables up to date."""
    connection = sqlite3.connect(
        ":memory:" if path is None else path, timeout=10, isolation_level=None, check_same_thread=False
    )
    try:
        # A file system without shared memory (a network disk) answers with another mode, and keeps working.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        # A log that once grew large is cut back at the next checkpoint.
        connection.execute(f"PRAGMA journal_size_limit = {_LOG_LIMIT}")
        connection.execute("PRAGMA foreign_keys = ON")
        schema.prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open the file at `path` without writing anything, beside it neither."""
    # Beside a file that another process left in the middle of writing lies what it wrote last; without such a
    # rest SQLite may take the file as it is, and then it needs no files of its own in the folder.
    rest = path.with_name(path.name + "-wal")
    settled = not rest.exists() or not rest.stat().st_size
    mode = "mode=ro&immutable=1" if settled else "mode=ro"
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        schema.refuse_newer(version)
        if version < 1:
            raise ValueError("this is no history: no run was ever stored in this file")
        return connection if version == schema.VERSION else _brought_up_to_date(connection)
    except BaseException:
        connection.close()
        raise


def _brought_up_to_date(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy in memory of an older file that may not be written, in the format of today."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        connection.backup(copy)
        schema.prepare(copy)
        copy.execute("PRAGMA query_only = ON")  # what is written to a copy would be lost without a word
    except BaseException:
        copy.close()
        raise
    connection.close()
    return copy
