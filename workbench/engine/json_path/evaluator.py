"""Our own evaluator: all of RFC 9535, for the paths that jsonpath-ng cannot answer or answers otherwise."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from workbench.engine.json_path.iregexp import translate
from workbench.engine.json_path.tree import (
    And,
    Call,
    Compare,
    Constant,
    Exists,
    Expression,
    Filter,
    Index,
    JsonPathTimeoutError,
    Name,
    Not,
    Operand,
    Or,
    Query,
    RegexTest,
    Segment,
    Selector,
    Slice,
)
from workbench.engine.patterns import compile_pattern

__all__ = ["REGEX_SECONDS", "Node", "Trail", "evaluate", "same_json"]

REGEX_SECONDS: Final = 0.1
"""Seconds that the regular expressions of one search may take together."""

Trail = tuple[Any, str | int] | None
"""How a node was reached: the trail of its parent and its name or index; `None` for the root."""

Node = tuple[Any, Trail]

_NOTHING: Final = object()
"""The absence of a value, which is equal only to itself."""


def evaluate(query: Query, value: Any, above: Trail = None) -> list[Node]:
    """Return the nodes that `query` selects in `value`, in the order of RFC 9535.

    `above` is the trail of `value` itself. Mappings are objects; lists and tuples are arrays. A value that contains itself is entered once.

    Raises:
        JsonPathTimeoutError: where the regular expressions of filters take longer than `REGEX_SECONDS`.
    """
    return _Search(value).select(query.segments, [(value, above)])


def _children(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, list | tuple):
        return enumerate(value)
    return ()


class _Search:
    """One search: the root that `$` means in filters, and the time left for regular expressions."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.seconds = REGEX_SECONDS

    # -- nodes

    def select(self, segments: tuple[Segment, ...], nodes: list[Node]) -> list[Node]:
        for segment in segments:
            found: list[Node] = []
            for node in nodes:
                reached = _descend(node) if segment.descendant else (node,)
                for here in reached:
                    for selector in segment.selectors:
                        found.extend(self.apply(selector, here))
            nodes = found
        return nodes

    def apply(self, selector: Selector, node: Node) -> Iterable[Node]:
        value, trail = node
        if isinstance(selector, Name):
            if isinstance(value, Mapping) and selector.name in value:
                return ((value[selector.name], (trail, selector.name)),)
            return ()
        if isinstance(selector, Index):
            return _element(selector.index, value, trail)
        if isinstance(selector, Slice):
            return _slice(selector, value, trail)
        if isinstance(selector, Filter):
            test = selector.expression
            return [(child, (trail, key)) for key, child in _children(value) if self.holds(test, child)]
        return [(child, (trail, key)) for key, child in _children(value)]

    # -- tests

    def holds(self, expression: Expression, node: Any) -> bool:
        if isinstance(expression, Compare):
            left, right = self.value(expression.left, node), self.value(expression.right, node)
            return _compare(expression.operator, left, right)
        if isinstance(expression, Exists):
            return bool(self.nodes(expression.query, node))
        if isinstance(expression, And):
            return all(self.holds(part, node) for part in expression.expressions)
        if isinstance(expression, Or):
            return any(self.holds(part, node) for part in expression.expressions)
        if isinstance(expression, Not):
            return not self.holds(expression.expression, node)
        if isinstance(expression, RegexTest):
            text = self.value(expression.left, node)
            return self.searched(expression.pattern, text, expression, whole=False)
        return self.matched(expression, node)

    def nodes(self, query: Query, node: Any) -> list[Node]:
        return self.select(query.segments, [(self.root if query.absolute else node, None)])

    def value(self, operand: Operand, node: Any) -> Any:
        if isinstance(operand, Constant):
            return operand.value
        if isinstance(operand, Query):
            found = self.nodes(operand, node)
            return found[0][0] if found else _NOTHING
        return self.called(operand, node)

    def called(self, call: Call, node: Any) -> Any:
        argument = call.arguments[0]
        if call.name == "length":
            value = self.value(argument, node)
            return len(value) if isinstance(value, str | list | tuple | Mapping) else _NOTHING
        assert isinstance(argument, Query)  # the reader saw to it
        found = self.nodes(argument, node)
        if call.name == "count":
            return len(found)
        return found[0][0] if len(found) == 1 else _NOTHING

    # -- regular expressions

    def matched(self, call: Call, node: Any) -> bool:
        text, pattern = (self.value(argument, node) for argument in call.arguments)
        if not isinstance(text, str) or not isinstance(pattern, str):
            return False
        translated = _translated(pattern)
        return translated is not None and self.searched(translated, text, call, whole=call.name == "match")

    def searched(self, pattern: str, text: Any, place: Call | RegexTest, *, whole: bool) -> bool:
        if not isinstance(text, str):
            return False
        import regex

        compiled = _compiled(pattern)
        if compiled is None:
            return False
        started = time.perf_counter()
        try:
            if self.seconds <= 0:
                raise TimeoutError
            search = compiled.fullmatch if whole else compiled.search
            return search(text, timeout=self.seconds, concurrent=False) is not None
        except (TimeoutError, regex.error):
            raise JsonPathTimeoutError(
                f"The pattern took longer than {REGEX_SECONDS * 1000:.0f} ms and was stopped.",
                place.start,
                place.end,
                "Write a pattern without nested repetition, such as a+ in place of (a+)+.",
            ) from None
        finally:
            self.seconds -= time.perf_counter() - started


@lru_cache(maxsize=256)
def _translated(pattern: str) -> str | None:
    return translate(pattern)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    import regex

    try:
        return compile_pattern(pattern)
    except regex.error:
        return None


def _element(index: int, value: Any, trail: Trail) -> Iterable[Node]:
    if isinstance(value, list | tuple) and -len(value) <= index < len(value):
        return ((value[index], (trail, index if index >= 0 else index + len(value))),)
    return ()


def _slice(selector: Slice, value: Any, trail: Trail) -> Iterable[Node]:
    if not isinstance(value, list | tuple) or selector.step == 0:
        return ()
    chosen = range(len(value))[selector.start : selector.stop : selector.step]
    return [(value[index], (trail, index)) for index in chosen]


def _descend(node: Node) -> Iterator[Node]:
    """Yield the node and all below it, parents first, without recursion; a cycle is left where it closes."""
    stack: list[Node | int] = [node]
    ancestors: set[int] = set()
    while stack:
        entry = stack.pop()
        if isinstance(entry, int):
            ancestors.discard(entry)
            continue
        value, trail = entry
        if not isinstance(value, Mapping | list | tuple):
            yield entry
            continue
        identity = id(value)
        if identity in ancestors:
            continue
        yield entry
        ancestors.add(identity)
        stack.append(identity)
        children: list[Node] = [(child, (trail, key)) for key, child in _children(value)]
        stack.extend(reversed(children))


def _compare(operator: str, left: Any, right: Any) -> bool:
    if operator == "==":
        return same_json(left, right)
    if operator == "!=":
        return not same_json(left, right)
    if operator in ("<", ">"):
        return _less(left, right) if operator == "<" else _less(right, left)
    smaller = _less(left, right) if operator == "<=" else _less(right, left)
    return smaller or same_json(left, right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _less(left: Any, right: Any) -> bool:
    if (_is_number(left) and _is_number(right)) or (isinstance(left, str) and isinstance(right, str)):
        return bool(left < right)
    return False


def same_json(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are equal: `1` equals `1.0` but not `true`; order of members is nothing."""
    pairs = [(left, right)]
    seen: set[tuple[int, int]] = set()
    while pairs:
        left, right = pairs.pop()
        if left is right:
            continue
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            if left.keys() != right.keys():
                return False
            children = [(left[key], right[key]) for key in left]
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
            if len(left) != len(right):
                return False
            children = list(zip(left, right, strict=True))
        else:
            if not _same_scalar(left, right):
                return False
            continue
        if (id(left), id(right)) not in seen:  # a value may contain itself
            seen.add((id(left), id(right)))
            pairs.extend(children)
    return True


def _same_scalar(left: Any, right: Any) -> bool:
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    return isinstance(left, str) and isinstance(right, str) and left == right
