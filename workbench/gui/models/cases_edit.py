"""One undoable edit of the labelled cases, kept as what it changes: ten thousand steps must not keep ten thousand lists."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from workbench.engine.evaluation.cases import Case
from workbench.gui.models.cases_columns import edited

if TYPE_CHECKING:
    from workbench.engine.projects import Project


@dataclass(frozen=True, slots=True)
class CasesEdit:
    """What turns one list of cases into another.

    `old` and `new` are the cases at places that stay; at `start` the cases `gone` are replaced by `come`. An edit is one
    or the other.
    """

    old: Mapping[int, Case] = field(default_factory=dict)
    new: Mapping[int, Case] = field(default_factory=dict)
    start: int = 0
    gone: tuple[Case, ...] = ()
    come: tuple[Case, ...] = ()

    @classmethod
    def between(cls, before: Sequence[Case], after: Sequence[Case]) -> CasesEdit:
        """Return the edit from `before` to `after`; cases that are the same object did not change."""
        if len(before) == len(after):
            places = edited(before, after)
            return cls({k: before[k] for k in places}, {k: after[k] for k in places})
        shorter = min(len(before), len(after))
        start = sum(takewhile(bool, map(operator.is_, before, after)))
        tail = map(operator.is_, reversed(before), reversed(after))
        kept = min(shorter - start, sum(takewhile(bool, tail)))
        end, new_end = len(before) - kept, len(after) - kept
        return cls(start=start, gone=tuple(before[start:end]), come=tuple(after[start:new_end]))

    def do(self, project: Project) -> None:
        """Make the edit."""
        self._put(project, self.new, self.gone, self.come)

    def undo(self, project: Project) -> None:
        """Take the edit back."""
        self._put(project, self.old, self.come, self.gone)

    def _put(
        self,
        project: Project,
        placed: Mapping[int, Case],
        gone: tuple[Case, ...],
        come: tuple[Case, ...],
    ) -> None:
        cases = list(project.snapshot().cases)
        for place, case in placed.items():
            cases[place] = case
        cases[self.start : self.start + len(gone)] = come
        project.set_cases(cases)
