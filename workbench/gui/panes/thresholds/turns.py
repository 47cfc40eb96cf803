"""Lets long work on another thread go on only in the moments in which the window has nothing to do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TypeVar

TURN_SECONDS = 0.0015
"""How long the work goes on before it lets the window pass: what one frame can lose to it."""
PATIENCE_SECONDS = 0.25
"""A window that does not answer for this long (a dialog of the system holds it) is not waited for."""

_Item = TypeVar("_Item")


class WithdrawnError(Exception):
    """Nobody wants the result of the work any more."""


class Turns:
    """Pace of one piece of work. `post` calls a function on the window's thread, as `Jobs.post` does.

    Python runs one thread at a time, and painting goes in and out of Python thousands of times a frame: each time it
    would wait for a thread that computes. So the work asks the window before each turn, and the window answers
    when it has drawn what there was to draw.
    """

    def __init__(self, post: Callable[[Callable[[], None]], None]) -> None:
        self._post = post
        self._granted = threading.Event()
        self._withdrawn = False
        self._until = 0.0

    def withdraw(self) -> None:
        """End the work at its next turn; may be called from any thread."""
        self._withdrawn = True
        self._granted.set()

    def give_way(self) -> None:
        """Wait for the window where this turn is over; called by the work, as often as it likes.

        Raises:
            WithdrawnError: where the result is not wanted any more.
        """
        if self._withdrawn:
            raise WithdrawnError
        if time.perf_counter() < self._until:
            return
        self._granted.clear()
        self._post(self._granted.set)
        self._granted.wait(PATIENCE_SECONDS)
        if self._withdrawn:
            raise WithdrawnError
        self._until = time.perf_counter() + TURN_SECONDS

    def paced(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """Give the items on, and way between them; what they are read from is closed when the work ends early."""
        try:
            for item in items:
                self.give_way()
                yield item
        finally:
            if isinstance(items, Generator):
                items.close()
