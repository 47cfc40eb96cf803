"""Reads labelled cases from a CSV file whose columns somebody else named."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import Stage
from workbench.engine.text import nearest, shorten

_YES = frozenset(
    {"1", "1.0", "true", "yes", "y", "t", "x", "reject", "rejected", "positive", "ja", "oui", "si", "sí"}
)
_NO = frozenset({"0", "0.0", "false", "no", "n", "f", "pass", "passed", "ok", "negative", "nein", "non"})
_UNSET = frozenset({"", "-", "?", "n/a", "na", "null", "none"})
_TEXT_NAMES = ("text", "message", "prompt", "input", "content", "response", "body", "query")


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Which column holds what. `labels` maps a check's name to its column; `text` is required."""

    text: str
    labels: Mapping[str, str] = field(default_factory=dict)
    id: str | None = None
    note: str | None = None
    user_message: str | None = None
    stage: Stage = "input"


def csv_header(text: str) -> list[str]:
    """Return the column names in the first row; none for an empty file, or where that row cannot be read."""
    return _header(_rows(text))


def guess_mapping(header: Sequence[str], checks: Iterable[str]) -> ColumnMapping | None:
    """Return the likeliest mapping for a header, `None` where no column looks like the text.

    A column named like a check (or nearly so) is its label; a lone column `label` belongs to a lone check.
    """
    by_folded = {name.casefold(): name for name in header}
    text = next((by_folded[name] for name in _TEXT_NAMES if name in by_folded), None)
    if text is None:
        return None
    names = list(checks)
    labels: dict[str, str] = {}
    for check in names:
        match = by_folded.get(check.casefold()) or nearest(check, header, cutoff=0.8)
        if match is not None and match != text:
            labels[check] = match
    if not labels and len(names) == 1 and "label" in by_folded:
        labels[names[0]] = by_folded["label"]
    return ColumnMapping(
        text, labels, by_folded.get("id"), by_folded.get("note"), by_folded.get("user_message")
    )


def read_csv_cases(
    text: str, mapping: ColumnMapping, *, taken_ids: Iterable[str] = (), file: str | None = None
) -> tuple[list[Case], list[Diagnostic]]:
    """Return the cases of a CSV text, and what could not be read, with its line.

    The first row names the columns; comma, semicolon and tab are recognised as separators. A label is yes
    (`1`, `true`, `yes`, `reject` …), no, or empty for "not labelled"; any other word is a diagnostic and
    leaves the case without that label. Rows without text are passed over. Ids that are missing or taken are
    made anew, so that no case replaces another.
    """
    reader = _rows(text)
    header = _header(reader)
    columns = {name: i for i, name in enumerate(header)}
    wanted = [mapping.text, *mapping.labels.values(), mapping.id, mapping.note, mapping.user_message]
    for name in wanted:
        if name is not None and name not in columns:
            known = ", ".join(header) or "none"
            message = f"the file has no column '{name}' (it has: {known})"
            return [], [Diagnostic("error", "csv_column", message, line=1, column=1, file=file)]
    taken = dict.fromkeys(taken_ids, 1)
    cases: list[Case] = []
    diagnostics: list[Diagnostic] = []
    while True:
        begins = reader.line + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            message = f"the row that begins here cannot be read: {error}"
            diagnostics.append(Diagnostic("error", "csv_syntax", message, line=begins, file=file))
            break
        if row is None:
            break

        def cell(name: str | None, row: list[str] = row) -> str:
            index = columns[name] if name is not None else len(row)
            return row[index] if index < len(row) else ""

        if not cell(mapping.text).strip():
            continue
        line = reader.line
        labels: dict[str, bool] = {}
        for check, column in mapping.labels.items():
            label = _label(cell(column))
            if isinstance(label, bool):
                labels[check] = label
            elif label is not None:
                message = f"'{shorten(label, 30)}' in column {column} is neither yes nor no"
                diagnostics.append(Diagnostic("warning", "csv_label", message, line=line, file=file))
        identifier = _free(cell(mapping.id).strip() or f"case-{len(cases) + 1}", taken)
        user_message = cell(mapping.user_message) or None
        cases.append(
            Case(identifier, cell(mapping.text), labels, cell(mapping.note), mapping.stage, user_message)
        )
    return cases, diagnostics


class _rows:  # noqa: N801 - used like the function csv.reader
    """Iterates over the rows of a CSV text and knows the line on which the last one ended."""

    def __init__(self, text: str) -> None:
        text = text.removeprefix("\ufeff")
        first = text.split("\n", 1)[0]
        delimiter = max(",;\t", key=first.count)
        self._reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)

    def __iter__(self) -> _rows:
        return self

    def __next__(self) -> list[str]:
        # Blank lines are no rows.
        while not (row := next(self._reader)):
            pass
        return row

    @property
    def line(self) -> int:
        return self._reader.line_num


def _header(reader: _rows) -> list[str]:
    try:
        return [name.strip() for name in next(reader, [])]
    except csv.Error:
        return []


def _label(text: str) -> bool | str | None:
    """Return the label, `None` for none, or the text itself where it is neither."""
    word = text.strip().casefold()
    if word in _UNSET:
        return None
    if word in _YES:
        return True
    return False if word in _NO else text.strip()


def _free(identifier: str, taken: dict[str, int]) -> str:
    """Return the id, or one made from it; `taken` counts how often each was wanted, so that none is tried twice."""
    name, number = identifier, taken.get(identifier, 1)
    while name in taken:
        number += 1
        name = f"{identifier}-{number}"
    taken[identifier] = number
    taken[name] = taken.get(name, 1)
    return name
