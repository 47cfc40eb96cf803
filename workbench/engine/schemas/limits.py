"""Ends a validation whose references multiply, so that a small schema cannot keep the program busy for hours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

__all__ = [
    "REFERENCES",
    "REFERENCES_PER_VALUE",
    "TooManyReferencesError",
    "count_reference",
    "reference_budget",
]

REFERENCES: Final = 10_000
"""References that one validation may follow whatever its value is."""

REFERENCES_PER_VALUE: Final = 50
"""References more for each value inside the value; a union of as many alternatives is long already."""


class TooManyReferencesError(RuntimeError):
    """A validation followed more references than its value explains; `limit` is how many it may."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit:,} references had to be followed")
        self.limit = limit


class _Budget:
    """Counts the references of one validation. The value is only measured when it seems to matter."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.followed = 0
        self.limit = REFERENCES
        self.measured = False

    def count(self) -> None:
        self.followed += 1
        if self.followed <= self.limit:
            return
        if not self.measured:
            self.measured = True
            self.limit += REFERENCES_PER_VALUE * _values(self.value)
        if self.followed > self.limit:
            raise TooManyReferencesError(self.limit)


_budget: ContextVar[_Budget | None] = ContextVar("reference_budget", default=None)


@contextmanager
def reference_budget(value: Any) -> Iterator[None]:
    """Within the block, validating `value` follows a number of references that its size explains, and no more."""
    token = _budget.set(_Budget(value))
    try:
        yield
    finally:
        _budget.reset(token)


def count_reference() -> None:
    """Count one reference that is about to be followed; without a budget nothing is counted.

    Raises:
        TooManyReferencesError: where the budget is used up.
    """
    budget = _budget.get()
    if budget is not None:
        budget.count()


def _values(value: Any) -> int:
    """Return how many values there are in a JSON value, itself included."""
    count = 0
    pending = [value]
    while pending:
        here = pending.pop()
        count += 1
        if isinstance(here, dict):
            pending.extend(here.values())
        elif isinstance(here, list):
            pending.extend(here)
    return count
