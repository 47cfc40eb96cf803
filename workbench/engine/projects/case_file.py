"""Holds `cases.jsonl` so that a row that was not edited keeps its bytes, an edit costs one row, and texts lie once."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.evaluation.cases import Case
from workbench.engine.projects.case_lines import CaseLine, LabelSets, double_id, read_line, write_case
from workbench.engine.text import grouped, newline_style

LARGE_BYTES = 32 * 2**20
"""A file of cases longer than this is not held: its first cases are shown, and `evaluate` streams the rest."""
HEAD_BYTES = 4 * 2**20
"""How much of such a file is read to be shown."""


@dataclass(frozen=True, slots=True)
class LargeCases:
    """A file of cases that is too long to be held: its size in bytes, and how many of its cases are shown."""

    size: int
    shown: int

    def words(self) -> str:
        """Return what a person must know of it."""
        return (
            f"cases.jsonl has {grouped(round(self.size / 2**20))} MB: its first {grouped(self.shown)} cases are shown and"
            " cannot be edited here"
        )


@dataclass(slots=True, eq=False)
class _Row:
    """A line that is moved while the file is put together anew."""

    raw: str
    case: Case | None
    extra: Mapping[str, Any]


class CaseFile:
    """The labelled cases of a project and the text of their file, one line a row.

    The text is held once, as it was read; a row is found in it by the place where it ends. Only rows that were
    edited have a text of their own.
    """

    def __init__(self, text: str = "", file: str = "cases.jsonl") -> None:
        self.file = file
        self.newline = newline_style(text)
        self._shared = LabelSets()
        self._begin(text)
        for row, line in enumerate(self._lines(text)):
            self._add(row, line, read_line(line, row + 1, file, self._shared))
        self._fresh()

    def _begin(self, text: str) -> None:
        """Forget all rows; `text` is what the rows will be places in."""
        self._base = text
        self._ends = array("Q")
        self._rows: list[Case | None] = []
        self._own: dict[int, str] = {}
        self._extra: dict[int, Mapping[str, Any]] = {}
        self._found: dict[int, tuple[Diagnostic, ...]] = {}
        self._seen: dict[str, int] = {}

    def _fresh(self) -> None:
        """Forget what was worked out from the rows."""
        self._text: str | None = None if self._own else self._base
        self._cases: tuple[Case, ...] | None = None
        self._diagnostics: list[Diagnostic] | None = None

    @staticmethod
    def _lines(text: str) -> Iterator[str]:
        start = 0
        while start < len(text):
            end = text.find("\n", start) + 1 or len(text)
            yield text[start:end]
            start = end

    def _add(self, row: int, line: str, found: CaseLine) -> None:
        self._ends.append((self._ends[-1] if self._ends else 0) + len(line))
        self._rows.append(found.case)
        if found.extra:
            self._extra[row] = found.extra
        notes = found.diagnostics
        if found.case is not None:
            first = self._seen.setdefault(found.case.id, row + 1)
            if first != row + 1:
                notes = (*notes, double_id(line, row + 1, self.file, found.case, first))
        if notes:
            self._found[row] = notes

    # What it says

    @property
    def text(self) -> str:
        """The text of the whole file."""
        if self._text is None:
            self._text = "".join(self._pieces())
        return self._text

    def _pieces(self) -> Iterator[str]:
        """Give the text in as few pieces as the edited rows leave."""
        done = 0
        for row in sorted(self._own):
            yield self._base[done : self._start(row)]
            yield self._own[row]
            done = self._ends[row]
        yield self._base[done:]

    def _start(self, row: int) -> int:
        return self._ends[row - 1] if row else 0

    def _raw(self, row: int) -> str:
        own = self._own.get(row)
        return self._base[self._start(row) : self._ends[row]] if own is None else own

    @property
    def cases(self) -> tuple[Case, ...]:
        """The rows that could be read, in order."""
        if self._cases is None:
            self._cases = tuple(case for case in self._rows if case is not None)
        return self._cases

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What is wrong with the rows, at their present places."""
        if self._diagnostics is None:
            edited = sorted(self._own)
            moved = [0]
            for row in edited:
                moved.append(moved[-1] + len(self._own[row]) - (self._ends[row] - self._start(row)))
            self._diagnostics = [
                _shifted(each, self._start(row) + moved[bisect_left(edited, row)])
                for row, found in sorted(self._found.items())
                for each in found
            ]
        return self._diagnostics

    # Edits

    def replace(self, cases: Sequence[Case]) -> None:
        """Make `cases` the cases of the file.

        Rows that stay equal keep their text, edited rows keep keys that are not ours, and lines that could
        not be read stay behind the row that they followed.
        """
        before = self.cases
        if len(cases) == len(before):
            changed = [k for k, (old, new) in enumerate(zip(before, cases, strict=True)) if old is not new]
            if all(before[k].id == cases[k].id for k in changed):
                self._edit({k: cases[k] for k in changed})
                return
        self._rebuild(cases)

    def _edit(self, changed: Mapping[int, Case]) -> None:
        """Rewrite the rows of some cases, which keep their ids; nothing else is touched."""
        rows = range(len(self._rows))
        if len(self.cases) != len(self._rows):
            rows = [row for row, case in enumerate(self._rows) if case is not None]  # type: ignore[assignment]
        for place, case in changed.items():
            row = rows[place]
            if case != self._rows[row]:
                ending = "" if not self._raw(row).endswith("\n") else self.newline
                self._own[row] = write_case(case, self._extra.get(row)) + ending
                self._reread(row)
            self._rows[row] = case
        self._fresh()

    def _reread(self, row: int) -> None:
        """Look at an edited row again where something was wrong with it."""
        if (before := self._found.pop(row, None)) is None:
            return
        found = read_line(self._own[row], row + 1, self.file)
        doubled = [each for each in before if each.code == "double_id"]
        if notes := (*found.diagnostics, *doubled):
            self._found[row] = notes

    def _rebuild(self, cases: Sequence[Case]) -> None:
        by_id: dict[str, list[_Row]] = {}
        followers: dict[int, list[_Row]] = {}
        rows, last = [], None
        for number, known in enumerate(self._rows):
            row = _Row(self._raw(number), known, self._extra.get(number, {}))
            if known is not None:
                by_id.setdefault(known.id, []).append(row)
                last = row
            elif last is None:
                rows.append(row)
            else:
                followers.setdefault(id(last), []).append(row)
        for case in cases:
            old = _taken(by_id.get(case.id, []), case)
            rows.append(self._rewritten(case, old))
            if old is not None:
                rows.extend(followers.pop(id(old), ()))
        for orphans in followers.values():
            rows.extend(orphans)
        self._take(rows)

    def _rewritten(self, case: Case, old: _Row | None) -> _Row:
        if old is not None and old.case == case:
            # The case that was given: whoever compares by identity finds it again.
            return _Row(old.raw, case, old.extra)
        extra = old.extra if old is not None else {}
        return _Row(write_case(case, extra) + self.newline, case, extra)

    def _take(self, rows: list[_Row]) -> None:
        """Make `rows` the rows of the file; lines moved, so that what is wrong is looked up anew."""
        for each in rows[:-1]:
            if not each.raw.endswith("\n"):
                each.raw += self.newline
        careful = bool(self._found)
        self._begin("".join(each.raw for each in rows))
        for number, each in enumerate(rows):
            found = CaseLine(each.case, each.extra)
            if careful:
                found = found._replace(diagnostics=read_line(each.raw, number + 1, self.file).diagnostics)
            self._add(number, each.raw, found)
        self._fresh()


def _taken(same_id: list[_Row], case: Case) -> _Row | None:
    """Take the row of a case out of those with its id; one that says exactly the same is preferred to the first."""
    old = next((row for row in same_id if row.case is case), None) or next(
        (row for row in same_id if row.case == case), same_id[0] if same_id else None
    )
    if old is not None:
        same_id.remove(old)
    return old


def _shifted(found: Diagnostic, by: int) -> Diagnostic:
    start = None if found.start is None else found.start + by
    return found.at(start=start, end=None if found.end is None else found.end + by)
