"""What changed since an earlier version of a model answered: the same cases and wording, before and now."""

from __future__ import annotations

import heapq
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.engine.evaluation import metrics
from workbench.engine.evaluation.rows import ResultRow
from workbench.engine.evaluation.stored_rows import StoredRows
from workbench.engine.guardrails.settings import GuardrailSettings

MOST_FLIPS = 100
"""Cases that are named of those whose outcome changed, those that moved farthest; all are counted."""


def earlier_path(results: Path) -> Path:
    """Return where the rows are kept that another version of the same model answered, when they are asked again."""
    return results.with_name(f"{results.stem}.earlier{results.suffix}")


@dataclass(frozen=True, slots=True)
class FlippedCase:
    """A case on the other side of the threshold than before; `label` is `None` where it has none."""

    case: str
    label: bool | None
    before: float
    after: float

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `evaluate --against FILE --json`."""
        return {"case": self.case, "label": self.label, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class CheckDrift:
    """How one check moved over the `cases` that have a number on both sides.

    `flipped` counts the outcomes that changed at `threshold`, `flips` names those that moved farthest. `psi` is the
    population stability index over ten bins of equal width, `ks` the largest distance of the two distributions;
    both and `mean_shift` (now minus before) are `None` without common cases. `lost` had a number before and have
    none now, `gained` the other way round; `reworded` were asked in other words, or about another text.
    """

    check: str
    threshold: float
    models: tuple[str, ...]
    cases: int
    flipped: int
    flips: tuple[FlippedCase, ...]
    mean_shift: float | None
    psi: float | None
    ks: float | None
    lost: int
    gained: int
    reworded: int

    def to_json(self) -> dict[str, Any]:
        """Return the shape of `evaluate --against FILE --json` for a check."""
        return {
            "threshold": self.threshold,
            "models": list(self.models),
            "cases": self.cases,
            "flipped": self.flipped,
            "flips": [flip.to_json() for flip in self.flips],
            "mean_shift": self.mean_shift,
            "psi": self.psi,
            "ks": self.ks,
            "lost": self.lost,
            "gained": self.gained,
            "reworded": self.reworded,
        }


class _Pairs:
    """The two numbers of every common case of one check, and the farthest of its flips."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.before, self.after = array("d"), array("d")
        self.models: dict[str, None] = {}
        self.lost = self.gained = self.reworded = 0
        self._farthest: list[tuple[float, int, FlippedCase]] = []

    def add(self, old: ResultRow, new: ResultRow) -> None:
        if old.model is not None:
            self.models[old.model] = None
        if old.probability is None or new.probability is None:
            self.lost += old.probability is not None
            self.gained += new.probability is not None
            return
        self.before.append(old.probability)
        self.after.append(new.probability)
        if (old.probability >= self.threshold) == (new.probability >= self.threshold):
            return
        flip = FlippedCase(new.case, new.label, old.probability, new.probability)
        # Of two that moved as far, the one that came first stays.
        entry = (abs(new.probability - old.probability), -len(self.before), flip)
        if len(self._farthest) < MOST_FLIPS:
            heapq.heappush(self._farthest, entry)
        else:
            heapq.heappushpop(self._farthest, entry)

    def drift(self, check: str) -> CheckDrift:
        found = metrics.drift(self.before, self.after, self.threshold)
        return CheckDrift(
            check,
            self.threshold,
            tuple(self.models),
            len(self.before),
            len(found.flips) if found is not None else 0,
            tuple(flip for *_, flip in sorted(self._farthest, reverse=True)),
            found.mean_shift if found is not None else None,
            found.psi if found is not None else None,
            found.ks if found is not None else None,
            self.lost,
            self.gained,
            self.reworded,
        )


class DriftAgainst:
    """Compares rows, one by one as they come, with those of an earlier results file at the present thresholds.

    Only rows of the same text and wording are compared; checks that ask no model are left out. Holds 16 bytes a
    row, and of the earlier file the places of its cases (see `StoredRows`).
    """

    def __init__(self, path: Path, settings: GuardrailSettings) -> None:
        self.path = path
        self._stored = StoredRows(path)
        self._pairs = {
            check.name: _Pairs(settings.threshold_of(check))
            for check in settings.checks
            if check.rule is None
        }

    def open(self) -> None:
        """Read where the earlier rows lie.

        Raises:
            OSError: where the file cannot be read.
        """
        with self.path.open("rb"):
            pass  # a file that is not there holds no rows for a run, but here it is a wrong name
        self._stored.scan()

    @property
    def problems(self) -> list[str]:
        """The first lines of the earlier file that could not be read."""
        return self._stored.problems

    def add(self, row: ResultRow) -> None:
        """Take one row of now."""
        pairs = self._pairs.get(row.check)
        if pairs is None:
            return
        mine = [old for _place, old in self._stored.of_case(row.case) if old.check == row.check]
        same = next((old for old in reversed(mine) if old.asked == row.asked and old.settled), None)
        if same is not None:
            pairs.add(same, row)
        elif mine:
            pairs.reworded += any(old.asked != row.asked for old in mine)

    def report(self) -> dict[str, CheckDrift]:
        """Return the drift by check, as far as rows were added."""
        return {name: pairs.drift(name) for name, pairs in self._pairs.items()}

    def close(self) -> None:
        """Close the earlier file."""
        self._stored.close()
