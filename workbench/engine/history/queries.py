"""How runs are selected: the columns of a summary, filters, and a search in which no character has a meaning."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from workbench.engine.history.records import AttemptSummary, RunSummary
from workbench.engine.prices import DEFAULT_CURRENCY, Cost

_FIELDS = (
    "id", "kind", "title", "outcome", "summary", "started_at", "finished_at", "model", "name", "note", "starred",
    "live", "parent_run", "parent_attempt", "events", "cost_amount", "cost_currency",
)  # fmt: skip
COLUMNS = (
    ", ".join(_FIELDS)
    .replace("live", "live_key IS NOT NULL")
    .replace(", events", ", (SELECT count(*) FROM events WHERE events.run_id = runs.id)")
)


def summary_of(row: tuple[Any, ...], attempts: tuple[AttemptSummary, ...]) -> RunSummary:
    """Return the summary in a row of `COLUMNS`."""
    fields = dict(zip(_FIELDS, row, strict=True))
    fields["starred"] = bool(fields["starred"])
    fields["live"] = bool(fields["live"])
    amount, currency = fields.pop("cost_amount"), fields.pop("cost_currency")
    fields["cost"] = None if amount is None else Cost(amount, currency or DEFAULT_CURRENCY)
    return RunSummary(**fields, attempts=attempts)


def conditions(
    search: str | None, kind: str | None, outcome: str | Collection[str] | None, starred: bool
) -> tuple[str, list[Any]]:
    """Return the WHERE clause of a list of runs, and its values."""
    found: list[str] = []
    values: list[Any] = []
    # Text from outside may hold half of a surrogate pair, which SQLite's UTF-8 cannot.
    search = search.encode("utf-8", "replace").decode("utf-8") if search else None
    if search and (query := _match_query(search)):
        found.append("id IN (SELECT rowid FROM run_text WHERE run_text MATCH ?)")
        values.append(query)
    elif search and search.strip():
        # Only punctuation: the full-text index holds words, so look at the titles.
        found.append("instr(title, ?) > 0")
        values.append(search.strip())
    if kind is not None:
        found.append("kind = ?")
        values.append(kind)
    if outcome is not None:
        outcomes = [outcome] if isinstance(outcome, str) else list(outcome)
        # The sign keeps SQLite on the order of ids, in which the newest rows are found at once.
        found.append(f"+outcome IN ({', '.join('?' * len(outcomes))})")
        values += outcomes
    if starred:
        found.append("starred")
    return (f" WHERE {' AND '.join(found)}" if found else ""), values


def _match_query(search: str) -> str:
    """Return an FTS5 query that asks for each word as a prefix and gives no character a meaning."""
    words = re.findall(r"\w+", search)
    return " ".join(f'"{word}"*' for word in words)
