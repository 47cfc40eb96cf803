"""JSONPath over parameters: what a path means by RFC 9535, or a clear refusal, and never a wrong answer.

Plain paths (names and indexes) are walked by our own few lines. Everything else is answered by jsonpath-ng
where it agrees with the RFC, and by our own evaluator where it does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from workbench.engine.json_path.evaluator import Node, Trail, evaluate
from workbench.engine.json_path.ng import NgPath, canonical_text, is_ordinary
from workbench.engine.json_path.reader import read_path
from workbench.engine.json_path.tree import (
    Filter,
    Index,
    JsonPathError,
    JsonPathTimeoutError,
    Name,
    Query,
    Segment,
)
from workbench.engine.json_text import join_pointer

__all__ = [
    "CompiledPath",
    "JsonPathError",
    "JsonPathTimeoutError",
    "Match",
    "compile_path",
    "plain_segments",
]

_CACHED_PATHS: Final = 1024
_LONGEST_CACHED: Final = 4096


class Match:
    """A value that a path leads to, and the JSON Pointer of its place, which is made when it is asked for."""

    __slots__ = ("_trail", "value")

    def __init__(self, value: Any, trail: Trail) -> None:
        self.value = value
        self._trail = trail

    @property
    def pointer(self) -> str:
        """JSON Pointer of the value, with indexes counted from the start."""
        tokens: list[str | int] = []
        trail = self._trail
        while trail is not None:
            trail, token = trail
            tokens.append(token)
        return join_pointer(*reversed(tokens))

    def __repr__(self) -> str:
        return f"Match({self.value!r}, {self.pointer!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Match):
            return NotImplemented
        return bool(self.value == other.value) and self.pointer == other.pointer

    __hash__ = None  # type: ignore[assignment]  # values are mutable


class CompiledPath:
    """A path that was read and can search any number of values, from any thread.

    `path` is the text. `definite` tells whether it leads to one value at most (only names and indexes).
    `segments` are the names and indexes of a definite path, else `None`.
    """

    __slots__ = ("_checks_value", "_ng", "_prefix", "_rest", "definite", "path", "segments")

    def __init__(self, path: str, query: Query) -> None:
        self.path = path
        plain = _plain(query.segments)
        self.definite = len(plain) == len(query.segments)
        self.segments: tuple[str | int, ...] | None = plain if self.definite else None
        # `$` in a filter means the whole value, so a path that holds one is never split.
        canonical = canonical_text(query.segments[len(plain) :]) if not self.definite else None
        self._prefix = plain if canonical is not None else ()
        self._rest = Query(True, query.segments[len(self._prefix) :])
        self._ng = NgPath(canonical) if canonical is not None else None
        self._checks_value = any(
            segment.descendant or isinstance(segment.selectors[0], Filter) for segment in self._rest.segments
        )

    def __repr__(self) -> str:
        return f"CompiledPath({self.path!r})"

    def find(self, value: Any) -> list[Match]:
        """Return the matches in `value` in the order of RFC 9535; nothing that matches is an empty list.

        Mappings are objects; lists and tuples are arrays. A value that contains itself is entered once.

        Raises:
            JsonPathTimeoutError: where the regular expressions of a filter take longer than 100 ms.
        """
        if self.segments is not None:
            return _walk(value, self.segments)
        start = _walk(value, self._prefix)
        if not start:
            return []
        here, trail = start[0].value, start[0]._trail
        nodes: list[Node] | None = None
        if self._ng is not None and (not self._checks_value or is_ordinary(here)):
            nodes = self._ng.find(here, trail)
        if nodes is None:
            nodes = evaluate(self._rest, here, trail)
        return [Match(found, steps) for found, steps in nodes]


def _plain(segments: tuple[Segment, ...]) -> tuple[str | int, ...]:
    """Return the names and indexes with which the path begins."""
    plain: list[str | int] = []
    for segment in segments:
        if not segment.singular:
            break
        selector = segment.selectors[0]
        if isinstance(selector, Name):
            plain.append(selector.name)
        elif isinstance(selector, Index):
            plain.append(selector.index)
    return tuple(plain)


def _walk(value: Any, segments: tuple[str | int, ...]) -> list[Match]:
    trail: Trail = None
    for segment in segments:
        if isinstance(segment, str):
            if not isinstance(value, Mapping) or segment not in value:
                return []
            value = value[segment]
        else:
            if not isinstance(value, list | tuple) or not -len(value) <= segment < len(value):
                return []
            if segment < 0:
                segment += len(value)
            value = value[segment]
        trail = (trail, segment)
    return [Match(value, trail)]


def compile_path(path: str) -> CompiledPath:
    """Read a JSONPath; the leading `$` may be left out.

    Read paths are kept (the latest 1,024 of them), so calling this again is cheap from any thread.

    Raises:
        JsonPathError: with the place in `path`, a hint, and whether the path asks for what we refuse
            (arithmetic, backquote operators, `where`, `|`, `&`, sorting, unknown functions).
    """
    return _compile_cached(path) if len(path) <= _LONGEST_CACHED else CompiledPath(path, read_path(path))


@lru_cache(maxsize=_CACHED_PATHS)
def _compile_cached(path: str) -> CompiledPath:
    return CompiledPath(path, read_path(path))


def plain_segments(path: str) -> tuple[str | int, ...] | None:
    """Return the names and indexes of a definite path, or `None` where the path is another or malformed."""
    try:
        return compile_path(path).segments
    except JsonPathError:
        return None
