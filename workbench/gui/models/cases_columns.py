"""Labelled cases and what the checks said of them, one set of arrays per check, so that ten thousand cost little."""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings, Stage
from workbench.gui.models.figures_check import CheckFigures

if TYPE_CHECKING:
    from workbench.engine.evaluation import ResultRow

NO_LABEL, NO, YES = -1, 0, 1
NOT_ASKED, NUMBER, REFUSED, NO_ANSWER, ERROR = range(5)
_STATE_OF_STATUS = {
    "passed": NUMBER,
    "rejected": NUMBER,
    "refused": REFUSED,
    "no_answer": NO_ANSWER,
    "error": ERROR,
}
_CODES = {None: NO_LABEL, False: NO, True: YES}
STATUS_OF_STATE = ("", "", "refused", "no_answer", "error")

REWORDED_WORDS = "the text or the wording changed since"

Judge = Callable[["ResultRow", Case, CheckSettings], str | None]


def label_code(label: bool | None) -> int:
    """Return a label as the number that the arrays hold."""
    return _CODES[label]


class CheckColumn:
    """Labels and answers of one check, one entry per case.

    `kind` is that of the check: what asks no model has 0 or 1 for `p`. `label` is -1 for none; `p` is NaN where there is no number; `state` tells what came instead. `stale` is 0 for
    an answer to the present question, else a number whose reason `reasons` names. Stale answers are shown but
    take no part in any figure.
    """

    def __init__(self, size: int, kind: str = "model") -> None:
        self.kind = kind
        self.label = np.full(size, NO_LABEL, dtype=np.int8)
        self.p = np.full(size, np.nan)
        self.state = np.zeros(size, dtype=np.int8)
        self.stale = np.zeros(size, dtype=np.int8)
        self.elapsed = np.full(size, np.nan, dtype=np.float32)
        self.version = np.full(size, -1, dtype=np.int16)
        self.versions: list[str] = []
        self.reasons: list[str] = [""]
        self.details: dict[int, str] = {}
        self._figures: CheckFigures | None = None

    def changed(self) -> None:
        """Forget the figures; they are worked out anew when they are next asked for."""
        self._figures = None

    def put(self, position: int, row: ResultRow, reason: str | None) -> None:
        """Take the answer to one case; `reason` says why it is stale, `None` for a current one."""
        self.state[position] = _STATE_OF_STATUS[row.status]
        self.p[position] = np.nan if row.probability is None else row.probability
        self.elapsed[position] = row.elapsed_ms
        self.stale[position] = _index(self.reasons, reason or "")
        self.version[position] = -1 if row.model is None else _index(self.versions, row.model)
        if row.detail and row.probability is None:
            self.details[position] = row.detail
        else:
            self.details.pop(position, None)
        self._figures = None

    def copy_answer(self, position: int, other: CheckColumn, old: int, reason: str | None) -> None:
        """Take over the answer that `other` has at `old`, which becomes stale where a `reason` is given."""
        self.state[position], self.p[position] = other.state[old], other.p[old]
        self.elapsed[position] = other.elapsed[old]
        words = reason or other.reasons[other.stale[old]]
        self.stale[position] = _index(self.reasons, words)
        version = other.version[old]
        self.version[position] = -1 if version < 0 else _index(self.versions, other.versions[version])
        if old in other.details:
            self.details[position] = other.details[old]
        self._figures = None

    def reason(self, position: int) -> str:
        """Return why the answer to a case is stale, an empty text where it is not."""
        return self.reasons[self.stale[position]]

    def model(self, position: int) -> str | None:
        """Return the version that answered, `None` where none is known."""
        number = self.version[position]
        return None if number < 0 else self.versions[number]

    @property
    def current(self) -> Any:
        """Mask of the cases that have an answer, of any kind, to the present question."""
        return (self.state != NOT_ASKED) & (self.stale == 0)

    def current_versions(self) -> list[str]:
        """Return the versions behind the current answers."""
        numbers = np.unique(self.version[self.current])
        return [self.versions[k] for k in numbers.tolist() if k >= 0]

    def figures(self) -> CheckFigures:
        """Return the figures over the labelled current answers."""
        if self._figures is None:
            current = self.current
            numbered = current & (self.state == NUMBER)
            labelled = self.label != NO_LABEL
            scored = numbered & labelled
            self._figures = CheckFigures(
                self.p[scored],
                self.label[scored] == YES,
                refused=int((current & (self.state == REFUSED)).sum()),
                errors=int((current & (self.state > REFUSED)).sum()),
                stale=int(((self.state != NOT_ASKED) & (self.stale != 0)).sum()),
                unlabelled=int((~labelled).sum()),
            )
        return self._figures

    def flagged(self, threshold: float) -> Any:
        """Mask of the cases that this check rejects; what has no number, refused or broken, never passes."""
        current = self.current
        with np.errstate(invalid="ignore"):
            return current & ((self.state != NUMBER) | (self.p >= threshold))


def _index(names: list[str], name: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        names.append(name)
        return len(names) - 1


@dataclass(frozen=True, slots=True)
class Union:
    """What all checks do together: of `good` cases (labelled, never yes) and `bad` ones, how many are rejected."""

    good: int
    blocked: int
    bad: int
    caught: int


class CaseColumns:
    """The cases of one stage with a `CheckColumn` per check.

    `places` gives for each case its index in the project's list of all cases, where an edit must go.
    """

    def __init__(
        self, cases: Sequence[Case], checks: Sequence[CheckSettings], places: Sequence[int] | None = None
    ) -> None:
        self.cases = list(cases)
        self.checks = tuple(checks)
        self.places = list(range(len(self.cases))) if places is None else list(places)
        self._all: tuple[Case, ...] | None = None
        # A list for each id would be ten thousand objects for the garbage collector to visit, again and again.
        self._first: dict[str, int] = {}
        self._repeated: dict[str, list[int]] = {}
        for position, case in enumerate(self.cases):
            first = self._first.setdefault(case.id, position)
            if first != position:
                self._repeated.setdefault(case.id, [first]).append(position)
        self.columns = {check.name: CheckColumn(len(self.cases), check.kind) for check in checks}
        for name, column in self.columns.items():
            found = (case.labels.get(name) for case in self.cases)
            column.label = np.fromiter(map(_CODES.__getitem__, found), np.int8, len(self.cases))

    def __len__(self) -> int:
        return len(self.cases)

    def column(self, check: str) -> CheckColumn | None:
        """Return the column of a check."""
        return self.columns.get(check)

    def positions(self, case_id: str) -> Sequence[int]:
        """Return where the cases with an id stand; ids may repeat."""
        first = self._first.get(case_id)
        return () if first is None else self._repeated.get(case_id) or (first,)

    def take(self, rows: Iterable[ResultRow], judge: Judge) -> None:
        """Take stored answers; `judge` says of each why it is stale, or `None`."""
        by_name = {check.name: check for check in self.checks}
        for row in rows:
            check = by_name.get(row.check)
            if check is None:
                continue
            for position in self.positions(row.case):
                column = self.columns[row.check]
                reason = judge(row, self.cases[position], check)
                # Of cases with one id, an answer to another's text must not hide the right one.
                if reason is None or column.state[position] == NOT_ASKED or column.stale[position]:
                    column.put(position, row, reason)

    def arrived(self, rows: Iterable[ResultRow], asked: Mapping[str, Case], reworded: frozenset[str]) -> None:
        """Take the answers of a run under way, begun with the cases `asked`; `reworded` checks changed since."""
        for row in rows:
            column, case = self.columns.get(row.check), asked.get(row.case)
            if column is None or case is None:
                continue
            for position in self.positions(row.case):
                mine = self.cases[position]
                same = mine is case or (mine.text, mine.user_message) == (case.text, case.user_message)
                stale = None if same and row.check not in reworded else REWORDED_WORDS
                column.put(position, row, stale)

    def replaced(self, cases: Sequence[Case], places: Sequence[int]) -> CaseColumns:
        """Return columns for edited `cases`, with the answers to texts that did not change.

        An answer to a text that was edited stays to be seen, marked as stale.
        """
        places = list(places)
        if places == self.places and all(a.id == b.id for a, b in zip(self.cases, cases, strict=True)):
            for position in edited(self.cases, cases):
                self._patch(position, cases[position])
            return self
        fresh = CaseColumns(cases, self.checks, places)
        unused = {identifier: list(self.positions(identifier)) for identifier in self._first}
        for position, case in enumerate(fresh.cases):
            mine = unused.get(case.id)
            if not mine:
                continue
            old = next((k for k in mine if _same_text(self.cases[k], case)), mine[0])
            mine.remove(old)
            reason = None if _same_text(self.cases[old], case) else REWORDED_WORDS
            for name, column in fresh.columns.items():
                if self.columns[name].state[old] != NOT_ASKED:
                    column.copy_answer(position, self.columns[name], old, reason)
        return fresh

    def following(self, all_cases: tuple[Case, ...], stage: Stage) -> CaseColumns:
        """Return columns for the cases that a project has now; see `replaced`. Few edits cost little."""
        before, self._all = self._all, all_cases
        if before is not None and len(before) == len(all_cases):
            places = edited(before, all_cases)
            if all(_same_place(before[k], all_cases[k]) for k in places):
                for k in places:
                    position = bisect_left(self.places, k)
                    if position < len(self.places) and self.places[position] == k:
                        self._patch(position, all_cases[k])
                return self
        places = [k for k, case in enumerate(all_cases) if case.stage == stage]
        found = self.replaced([all_cases[k] for k in places], places)
        found._all = all_cases
        return found

    def _patch(self, position: int, new: Case) -> None:
        old = self.cases[position]
        self.cases[position] = new
        if old == new:
            return
        reworded = not _same_text(old, new)
        for name, column in self.columns.items():
            label = label_code(new.labels.get(name))
            if reworded and column.state[position] != NOT_ASKED:
                column.stale[position] = _index(column.reasons, REWORDED_WORDS)
            elif column.label[position] == label:
                continue
            column.label[position] = label
            column.changed()

    def answered(self) -> int:
        """Return how many cases have a current answer to at least one check."""
        if not self.columns:
            return 0
        return int(np.any([column.current for column in self.columns.values()], axis=0).sum())

    def complete(self) -> int:
        """Return how many cases have a current answer, failed calls apart, to every check."""
        if not self.columns:
            return 0
        done = [column.current & (column.state != ERROR) for column in self.columns.values()]
        return int(np.all(done, axis=0).sum())

    def count(self, state: int) -> int:
        """Return how many current answers are of a state, over all checks."""
        return sum(int((c.current & (c.state == state)).sum()) for c in self.columns.values())

    def stale(self) -> int:
        """Return how many answers are stale, over all checks."""
        return sum(int(((c.state != NOT_ASKED) & (c.stale != 0)).sum()) for c in self.columns.values())

    def stale_reasons(self) -> list[str]:
        """Return why answers are stale, each reason once."""
        found: dict[str, None] = {}
        for column in self.columns.values():
            mask = (column.state != NOT_ASKED) & (column.stale != 0)
            for number in np.unique(column.stale[mask]).tolist():
                found[column.reasons[number]] = None
        return list(found)

    def versions(self) -> list[str]:
        """Return the model versions behind the current answers."""
        return sorted({version for column in self.columns.values() for version in column.current_versions()})

    def union(self, settings: GuardrailSettings, instead: Mapping[str, float] | None = None) -> Union:
        """Return what all checks do together; `instead` gives thresholds that are still being tried, by check."""
        if not self.columns:
            return Union(0, 0, 0, 0)
        labels = np.stack([column.label for column in self.columns.values()])
        answered = np.all([column.current for column in self.columns.values()], axis=0)
        bad = (labels == YES).any(axis=0) & answered
        good = (labels == NO).any(axis=0) & ~(labels == YES).any(axis=0) & answered
        flagged = np.zeros(len(self.cases), dtype=np.bool_)
        for check in self.checks:
            threshold = settings.threshold_of(check)
            threshold = instead.get(check.name, threshold) if instead is not None else threshold
            flagged |= self.columns[check.name].flagged(threshold)
        return Union(int(good.sum()), int((good & flagged).sum()), int(bad.sum()), int((bad & flagged).sum()))


def edited(before: Sequence[Case], after: Sequence[Case]) -> list[int]:
    """Return where two sequences of the same length hold another case; unchanged ones are the same objects."""
    same = np.fromiter(map(operator.is_, before, after), np.bool_, len(before))
    return np.flatnonzero(~same).tolist()


def _same_place(a: Case, b: Case) -> bool:
    return (a.id, a.stage) == (b.id, b.stage)


def _same_text(a: Case, b: Case) -> bool:
    return a is b or (a.text, a.user_message) == (b.text, b.user_message)
