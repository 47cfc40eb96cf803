"""Where each value stands in the text that it was read from."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from functools import cached_property

from workbench.engine.json_text.pointers import PointerError, escape_pointer, join_pointer, split_pointer

__all__ = ["Places"]


class Places:
    """Positions of all values, one node a value, in the order in which they begin; node 0 is the root."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int, int, int, int, str | int]] = []
        """Start, start with the member's name, end of that name (-1 without one), parent, name or index."""
        self.end: list[int] = []

    def start(self, node: int) -> int:
        return self.nodes[node][0]

    def span(self, pointer: str) -> tuple[int, int] | None:
        node = self._node(pointer)
        return None if node is None else (self.nodes[node][0], self.end[node])

    def key_span(self, pointer: str) -> tuple[int, int] | None:
        node = self._node(pointer)
        if node is None or self.nodes[node][2] < 0:
            return None
        return self.nodes[node][1], self.nodes[node][2]

    @cached_property
    def _children(self) -> dict[tuple[int, str], int]:
        # Of members with one name the last wins, as in the value.
        return {(node[3], str(node[4])): index for index, node in enumerate(self.nodes)}

    @cached_property
    def _outer_starts(self) -> list[int]:
        return [node[1] for node in self.nodes]

    def _node(self, pointer: str) -> int | None:
        try:
            tokens = split_pointer(pointer)
        except PointerError:
            return None
        node: int | None = 0 if self.nodes else None
        for token in tokens:
            if node is None:
                break
            node = self._children.get((node, token))
        return node

    def _pointer(self, node: int) -> str:
        tokens: list[str | int] = []
        while node > 0:
            tokens.append(self.nodes[node][4])
            node = self.nodes[node][3]
        return join_pointer(*reversed(tokens))

    def pointer_at(self, offset: int) -> str | None:
        node = bisect.bisect_right(self._outer_starts, offset) - 1
        while node >= 0 and self.end[node] < offset:
            node = self.nodes[node][3]
        return self._pointer(node) if node >= 0 else None

    def pointers(self) -> Iterator[str]:
        known: list[str] = []  # the pointer of each node; parents come before their children
        for node in self.nodes:
            known.append("" if node[3] < 0 else f"{known[node[3]]}/{escape_pointer(node[4])}")
            yield known[-1]
