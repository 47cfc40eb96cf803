"""The SQLite store of runs: appended to while a run goes on, so that a crash loses nothing that happened."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.engine.events import RunEvent
from workbench.engine.history.attempts import attempts_of
from workbench.engine.history.files import (
    Access,
    HistoryError,
    connect,
    connect_to_read,
    make_folder,
    refuse_links,
)
from workbench.engine.history.owners import owner_lives, owner_of_this_process
from workbench.engine.history.queries import COLUMNS, conditions, summary_of
from workbench.engine.history.records import INTERRUPTED, RUNNING, AttemptSummary, Run, RunSummary
from workbench.engine.history.schema import write_cost
from workbench.engine.history.texts import map_strings, strings_of

_SEARCH_TEXT_LIMIT = 200_000


class HistoryStore:
    """Runs and their events, in one file.

    All methods may be called from any thread, and raise `HistoryError` where the file cannot be read or
    written. Texts are scrubbed of secrets before they are written. `notice` says what was done to a damaged
    file, `problem` why the last run could not be stored whole.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path | None, scrub: Callable[[str], str] | None
    ) -> None:
        self.path = path
        self.notice: str | None = None
        self.problem: str | None = None
        self._connection = connection
        self._scrub = scrub
        self._lock = Access(path)
        self._sequences: dict[int, int] = {}

    @classmethod
    def open(cls, path: str | Path, *, scrub: Callable[[str], str] | None = None) -> HistoryStore:
        """Open the history file at `path`, creating it and its folder where they are missing.

        A file that is no SQLite database is moved aside (its new name is in `notice`) and a new one begun.
        Runs that a dead process left unfinished are marked `interrupted`.

        Raises:
            HistoryError: where the folder cannot be written, the file comes from a newer version, or a link
                leads away from here.
        """
        path = Path(path)
        notice = None
        try:
            refuse_links(path)
            make_folder(path.parent)
            try:
                store = cls._opened(path, scrub)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                aside = path.with_name(f"{path.name}.damaged-{int(time.time())}")
                path.replace(aside)
                for suffix in ("-wal", "-shm"):
                    path.with_name(path.name + suffix).unlink(missing_ok=True)
                notice = f"{path} is not a readable history; it was kept as {aside.name} and a new one begun"
                store = cls._opened(path, scrub)
        except (OSError, sqlite3.Error, ValueError) as error:
            raise HistoryError(f"{path}: {error}") from error
        store.notice = notice
        return store

    @classmethod
    def _opened(cls, path: Path, scrub: Callable[[str], str] | None) -> HistoryStore:
        """Open the file and read it once; what SQLite says of it is raised as it is."""
        store = cls(connect(path), path, scrub)
        try:
            store._mark_interrupted()
        except HistoryError as error:
            store.close()
            raise error.__cause__ or error from None
        return store

    @classmethod
    def read(cls, path: Path) -> HistoryStore:
        """Open the history file at `path` to look at it, for a folder that cannot be written.

        Raises:
            HistoryError: where it cannot be read, or is of another version.
        """
        try:
            refuse_links(path)
            return cls(connect_to_read(path), path, None)
        except (OSError, sqlite3.Error, ValueError) as error:
            raise HistoryError(f"{path}: {error}") from error

    @classmethod
    def in_memory(cls, *, scrub: Callable[[str], str] | None = None) -> HistoryStore:
        """Return a store that lasts as long as the process, for projects that cannot be written."""
        return cls(connect(None), None, scrub)

    def start_run(
        self,
        kind: str,
        title: str,
        inputs: Mapping[str, Any],
        *,
        model: str = "",
        live_key: str | None = None,
        parent: tuple[int, int | None] | None = None,
    ) -> int:
        """Begin a run and return its id.

        `inputs` is JSON-like and holds what is needed to run again. Of the runs with one `live_key` only the
        last is kept, unless somebody starred, named or annotated an earlier one. `parent` is the run and the
        attempt number that this one was branched from.
        """
        parent_run, parent_attempt = parent if parent is not None else (None, None)
        with self._lock:
            if live_key is not None:
                self._delete_where(
                    "live_key = ? AND finished_at IS NOT NULL AND NOT starred AND name = '' AND note = ''",
                    (live_key,),
                )
            cursor = self._connection.execute(
                "INSERT INTO runs (kind, title, outcome, started_at, model, live_key, parent_run,"
                " parent_attempt, owner, inputs) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    kind,
                    self._clean(title),
                    RUNNING,
                    time.time(),
                    model,
                    live_key,
                    parent_run,
                    parent_attempt,
                    owner_of_this_process(),
                    self._dump(inputs),
                ),
            )
            run_id = cursor.lastrowid
            assert run_id is not None
            self._sequences[run_id] = 0
            return run_id

    def append(self, run_id: int, event: RunEvent) -> None:
        """Store the next event of a run; it is on disk when the call returns."""
        with self._lock:
            seq = self._sequences.get(run_id)
            if seq is None:
                (seq,) = self._connection.execute(
                    "SELECT coalesce(max(seq) + 1, 0) FROM events WHERE run_id = ?", (run_id,)
                ).fetchone()
            self._connection.execute(
                "INSERT INTO events (run_id, seq, kind, at, data) VALUES (?, ?, ?, ?, ?)",
                (run_id, seq, event.kind, event.at, self._dump(event.data)),
            )
            self._sequences[run_id] = seq + 1

    def set_attempts(self, run_id: int, attempts: Iterable[AttemptSummary]) -> None:
        """Store the summaries of the attempts that have finished so far, replacing earlier ones."""
        rows = [
            (run_id, a.number, a.outcome, a.elapsed_ms, a.input_tokens, a.output_tokens) for a in attempts
        ]
        with self._lock, self._transaction():
            self._connection.executemany("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?)", rows)

    def finish_run(self, run_id: int, outcome: str, summary: str = "", *, model: str | None = None) -> None:
        """Mark a run as finished and make its texts searchable.

        Attempts that nobody summed up, as where a run was stopped, are read out of its events.
        """
        with self._lock:
            with self._transaction():
                changed = self._connection.execute(
                    "UPDATE runs SET outcome = ?, summary = ?, finished_at = ?, model = coalesce(?, model)"
                    " WHERE id = ?",
                    (outcome, self._clean(summary), time.time(), model, run_id),
                )
                if not changed.rowcount:
                    raise KeyError(f"there is no run {run_id} in this history")
                self._sum_up(run_id, outcome)
                self._index(run_id)
            self._sequences.pop(run_id, None)

    def runs(
        self,
        *,
        search: str | None = None,
        kind: str | None = None,
        outcome: str | Collection[str] | None = None,
        starred: bool = False,
        limit: int = 200,
        offset: int = 0,
    ) -> list[RunSummary]:
        """Return runs, newest first; each word of `search` must occur (as a prefix) in the run's texts.

        `outcome` is one outcome, or several of which one must be the run's.
        """
        where, values = conditions(search, kind, outcome, starred)
        with self._lock:
            rows = self._connection.execute(
                f"SELECT {COLUMNS} FROM runs{where} ORDER BY id DESC LIMIT ? OFFSET ?",
                (*values, limit, offset),
            ).fetchall()
            attempts = self._attempts([row[0] for row in rows])
        return [summary_of(row, attempts.get(row[0], ())) for row in rows]

    def summaries(self, run_ids: Iterable[int]) -> list[RunSummary]:
        """Return the runs of these ids that there are, newest first."""
        wanted = sorted(set(run_ids), reverse=True)
        rows = []
        with self._lock:
            for start in range(0, len(wanted), 500):
                part = wanted[start : start + 500]
                marks = ", ".join("?" * len(part))
                rows += self._connection.execute(
                    f"SELECT {COLUMNS} FROM runs WHERE id IN ({marks}) ORDER BY id DESC", part
                ).fetchall()
            attempts = self._attempts([row[0] for row in rows])
        return [summary_of(row, attempts.get(row[0], ())) for row in rows]

    def run(self, run_id: int) -> Run:
        """Return one run with its inputs and events.

        Raises:
            KeyError: where there is no such run.
        """
        with self._lock:
            row = self._connection.execute(
                f"SELECT {COLUMNS}, inputs FROM runs WHERE id = ?", (_key(run_id),)
            ).fetchone()
            if row is None:
                raise KeyError(f"there is no run {run_id} in this history")
            events = self._connection.execute(
                "SELECT kind, at, data FROM events WHERE run_id = ? ORDER BY seq", (run_id,)
            ).fetchall()
            attempts = self._attempts([run_id]).get(run_id, ())
        try:
            return Run(
                summary_of(row[:-1], attempts),
                _object(row[-1]),
                tuple(RunEvent(kind, at, _object(data)) for kind, at, data in events),
            )
        except (ValueError, TypeError) as error:
            raise HistoryError(f"{self.path}: run {run_id} is damaged: {error}") from error

    def count(
        self,
        *,
        search: str | None = None,
        kind: str | None = None,
        outcome: str | Collection[str] | None = None,
        starred: bool = False,
    ) -> int:
        """Return the number of runs, or of those that `runs` would list."""
        where, values = conditions(search, kind, outcome, starred)
        with self._lock:
            row = self._connection.execute(f"SELECT count(*) FROM runs{where}", values).fetchone()
        return int(row[0])

    def size(self) -> int:
        """Return how many bytes the runs take, which is what `prune(max_bytes=…)` measures; 0 in memory.

        Room that deleted runs left in the file is not counted, nor are pages that wait in the log (`-wal`) to
        replace older ones; `size_on_disk` counts both.
        """
        if self.path is None:
            return 0
        with self._lock:
            return self._used()

    def size_on_disk(self) -> int:
        """Return the size of the history file and its log (`-wal`) in bytes, 0 in memory."""
        if self.path is None:
            return 0
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def delete(self, run_id: int) -> None:
        """Delete a run; runs that were branched from it stay."""
        with self._lock:
            self._delete_where("id = ?", (_key(run_id),))

    def rename(self, run_id: int, name: str) -> None:
        """Give a run a name of the user's own; an empty name takes it away."""
        self._set(run_id, "name", self._clean(name))

    def annotate(self, run_id: int, note: str) -> None:
        """Set the user's note on a run."""
        self._set(run_id, "note", self._clean(note))

    def star(self, run_id: int, starred: bool = True) -> None:
        """Star a run, which also keeps it from `prune`."""
        self._set(run_id, "starred", int(starred))

    def prune(
        self,
        *,
        max_age_days: float | None = None,
        max_runs: int | None = None,
        max_bytes: int | None = None,
    ) -> int:
        """Delete runs that are older than `max_age_days`, beyond the newest `max_runs`, or the oldest ones as
        long as the texts of all runs take more than `max_bytes`; return how many.

        Runs that somebody starred, named or annotated, and runs that have not ended, are kept. Where much was
        deleted the file is made smaller.
        """
        kept = f"AND NOT starred AND name = '' AND note = '' AND outcome <> '{RUNNING}'"
        deleted = 0
        with self._lock:
            if max_age_days is not None:
                limit = time.time() - max_age_days * 86400
                deleted += self._delete_where(f"started_at < ? {kept}", (limit,))
            if max_runs is not None:
                newest = "id NOT IN (SELECT id FROM runs ORDER BY id DESC LIMIT ?)"
                deleted += self._delete_where(f"{newest} {kept}", (max_runs,))
            while max_bytes is not None and self._used() > max_bytes:
                oldest = f"id IN (SELECT id FROM runs WHERE 1 {kept} ORDER BY id LIMIT ?)"
                # A sixteenth at a time: what a run takes is known only once it is gone.
                gone = self._delete_where(oldest, (max(1, self.count() // 16),))
                if not gone:
                    break
                deleted += gone
            if deleted:
                self._shrink()
        return deleted

    def _used(self) -> int:
        return (self._pragma("page_count") - self._pragma("freelist_count")) * self._pragma("page_size")

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def _shrink(self) -> None:
        """Give free pages back where they are a quarter of the file; another process may forbid it."""
        if self._pragma("freelist_count") * 4 > self._pragma("page_count"):
            with contextlib.suppress(sqlite3.OperationalError):
                self._connection.execute("VACUUM")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def quick_check(self) -> list[str]:
        """Return what SQLite finds wrong with the file; nothing for a sound one.

        May take a while on a large file. It reads through a connection of its own, so that runs can be stored
        and listed meanwhile.
        """
        if self.path is None:
            with self._lock:
                rows = self._connection.execute("PRAGMA quick_check").fetchall()
        else:
            with Access(self.path):
                connection = sqlite3.connect(self.path, timeout=10)
                try:
                    rows = connection.execute("PRAGMA quick_check").fetchall()
                except sqlite3.DatabaseError as error:
                    rows = [(str(error),)]
                finally:
                    connection.close()
        return [] if rows == [("ok",)] else [str(row[0]) for row in rows]

    def close(self) -> None:
        """Close the file; a closed store may be closed again."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> HistoryStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _set(self, run_id: int, column: str, value: object) -> None:
        with self._lock:
            cursor = self._connection.execute(
                f"UPDATE runs SET {column} = ? WHERE id = ?", (value, _key(run_id))
            )
            if not cursor.rowcount:
                raise KeyError(f"there is no run {run_id} in this history")
            self._index(run_id)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Let all that is written inside come to the disk together or not at all; inside another one, with that."""
        inside_another = self._connection.in_transaction
        if inside_another:
            yield
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # on a full disk SQLite has taken it back already
                self._connection.execute("ROLLBACK")
            raise

    def _delete_where(self, condition: str, values: tuple[Any, ...]) -> int:
        rows = self._connection.execute(f"SELECT id FROM runs WHERE {condition}", values).fetchall()
        if not rows:
            return 0
        with self._transaction():
            self._connection.executemany("DELETE FROM run_text WHERE rowid = ?", rows)
            self._connection.executemany("DELETE FROM runs WHERE id = ?", rows)
        return len(rows)

    def _sum_up(self, run_id: int, outcome: str) -> None:
        """Store what the run cost, and the attempts of a translation that were not stored yet, as its events tell."""
        (kind,) = self._connection.execute("SELECT kind FROM runs WHERE id = ?", (run_id,)).fetchone() or (
            "",
        )
        write_cost(self._connection, run_id, kind)
        if kind != "translate":
            return
        stored = {each.number for each in self._attempts([run_id]).get(run_id, ())}
        rows = self._connection.execute(
            "SELECT kind, at, data FROM events WHERE run_id = ? ORDER BY seq", (run_id,)
        )
        events = (RunEvent(kind, at, json.loads(data)) for kind, at, data in rows)
        told = attempts_of(events, outcome)
        self.set_attempts(run_id, [each for each in told if each.number not in stored])

    def _mark_interrupted(self) -> None:
        with self._lock:
            unfinished = self._connection.execute(
                "SELECT id, owner FROM runs WHERE finished_at IS NULL AND outcome = ?", (RUNNING,)
            ).fetchall()
            for run_id, owner in unfinished:
                if owner_lives(owner):
                    continue
                with self._transaction():
                    self._connection.execute(
                        "UPDATE runs SET outcome = ? WHERE id = ?", (INTERRUPTED, run_id)
                    )
                    self._sum_up(run_id, INTERRUPTED)
                    self._index(run_id)

    def _attempts(self, run_ids: list[int]) -> dict[int, tuple[AttemptSummary, ...]]:
        found: dict[int, list[AttemptSummary]] = {}
        for start in range(0, len(run_ids), 500):
            part = run_ids[start : start + 500]
            marks = ", ".join("?" * len(part))
            for run_id, *row in self._connection.execute(
                f"SELECT * FROM attempts WHERE run_id IN ({marks}) ORDER BY run_id, number", part
            ):
                found.setdefault(run_id, []).append(AttemptSummary(*row))
        return {run_id: tuple(attempts) for run_id, attempts in found.items()}

    def _index(self, run_id: int) -> None:
        title, name, note, summary, model, inputs = self._connection.execute(
            "SELECT title, name, note, summary, model, inputs FROM runs WHERE id = ?", (run_id,)
        ).fetchone()
        parts = [title, name, note, summary, model, *strings_of(json.loads(inputs))]
        size = sum(map(len, parts))
        for (data,) in self._connection.execute(
            "SELECT data FROM events WHERE run_id = ? ORDER BY seq", (run_id,)
        ):
            for text in strings_of(json.loads(data)):
                parts.append(text)
                size += len(text)
            if size > _SEARCH_TEXT_LIMIT:
                break
        self._connection.execute("DELETE FROM run_text WHERE rowid = ?", (run_id,))
        text = "\n".join(dict.fromkeys(parts))[:_SEARCH_TEXT_LIMIT]
        self._connection.execute("INSERT INTO run_text (rowid, text) VALUES (?, ?)", (run_id, text))

    def _clean(self, text: str) -> str:
        scrubbed = self._scrub(text) if self._scrub is not None else text
        # SQLite stores UTF-8, which has no lone surrogates; JSON escapes them by itself.
        return scrubbed.encode("utf-8", "replace").decode("utf-8")

    def _dump(self, value: Any) -> str:
        if self._scrub is not None:
            value = map_strings(value, self._scrub)
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _key(run_id: int) -> int:
    """Return the number of a run as SQLite can look it up; no run has a number that is too large for it."""
    return run_id if abs(run_id) < 2**63 else -1


def _object(text: str | bytes) -> dict[str, Any]:
    """Return the JSON object that was stored.

    Raises:
        ValueError: where it is no JSON, or no object.
    """
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"an object is expected, not {type(value).__name__}")
    return value
