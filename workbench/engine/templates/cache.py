"""A small cache with a bound on the text it holds, shared by threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class BoundedCache(Generic[V]):
    """Keeps the values that were put in last, at most `entries` of them and at most `weight` in sum.

    A weight is about the number of characters that a value takes. Reading takes no lock: a dictionary
    look-up is atomic.
    """

    def __init__(self, entries: int, weight: int) -> None:
        self._entries = entries
        self._weight = weight
        self._held = 0
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """Return the value kept for `key`, or `None`."""
        found = self._values.get(key)
        return None if found is None else found[0]

    def put(self, key: Hashable, value: V, weight: int) -> None:
        """Keep `value`; what is heavier than the bound is not kept."""
        if weight > self._weight:
            return
        with self._lock:
            old = self._values.pop(key, None)
            if old is not None:
                self._held -= old[1]
            self._values[key] = (value, weight)
            self._held += weight
            while len(self._values) > self._entries or self._held > self._weight:
                _, (_, freed) = self._values.popitem(last=False)
                self._held -= freed
