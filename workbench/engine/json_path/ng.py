"""Hands a path to jsonpath-ng, where jsonpath-ng gives the answer of RFC 9535.

The path is written anew in the part of jsonpath-ng's syntax that has one meaning, so that its extensions
(arithmetic, backquote operators, `where`, bare words) can never be reached.
"""

from __future__ import annotations

import re
import threading
from typing import Any, Final

from workbench.engine.json_path.evaluator import Node, Trail
from workbench.engine.json_path.tree import (
    And,
    Compare,
    Constant,
    Exists,
    Expression,
    Filter,
    Index,
    Name,
    Not,
    Or,
    Query,
    Segment,
    Selector,
    Slice,
    Wildcard,
)

__all__ = ["NgPath", "canonical_text", "is_ordinary"]

_MAX_SEGMENTS: Final = 50
"""jsonpath-ng evaluates steps recursively; longer paths are ours."""

# Quotes and backslashes would need escapes, in which jsonpath-ng differs; `*` in quotes is a wildcard for it.
_UNSAFE_NAME = re.compile(r"['\"\\\x00-\x1f]|\A\*?\Z")
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_parsing = threading.Lock()


class _CannotError(Exception):
    """The path has a part that jsonpath-ng lacks or reads otherwise."""


def canonical_text(segments: tuple[Segment, ...]) -> str | None:
    """Return the path from `$` in jsonpath-ng's syntax, or `None` where it is not for jsonpath-ng."""
    if len(segments) > _MAX_SEGMENTS:
        return None
    try:
        return "$" + "".join(_segment(segment) for segment in segments)
    except _CannotError:
        return None


def _segment(segment: Segment) -> str:
    if len(segment.selectors) != 1:
        raise _CannotError
    selector = segment.selectors[0]
    if not segment.descendant:
        return f"[{_selector(selector)}]"
    if isinstance(selector, Name):
        return f"..{_name(selector)}"
    if isinstance(selector, Wildcard):
        return "..*"
    if isinstance(selector, Filter):
        return f"..[{_selector(selector)}]"
    raise _CannotError


def _selector(selector: Selector) -> str:
    if isinstance(selector, Name):
        return _name(selector)
    if isinstance(selector, Index):
        return str(selector.index)
    if isinstance(selector, Wildcard):
        return "*"
    if isinstance(selector, Slice):
        return _slice(selector)
    return f"?({_expression(selector.expression)})"


def _name(selector: Name) -> str:
    if _UNSAFE_NAME.search(selector.name):
        raise _CannotError
    return f"'{selector.name}'"


def _slice(selector: Slice) -> str:
    if selector.start is None and selector.stop is None:
        raise _CannotError  # `[:]` and `[::]` select members too
    bounds = ("" if bound is None else str(bound) for bound in (selector.start, selector.stop))
    step = "" if selector.step is None else f":{selector.step}"
    return ":".join(bounds) + step


def _expression(expression: Expression) -> str:
    if isinstance(expression, Compare):
        return _comparison(expression)
    if isinstance(expression, Exists):
        return _query(expression.query)
    if isinstance(expression, Not) and isinstance(expression.expression, Exists):
        return f"!{_query(expression.expression.query)}"
    if isinstance(expression, And):
        return " && ".join(f"({_expression(part)})" for part in expression.expressions)
    if isinstance(expression, Or):
        return " || ".join(f"({_expression(part)})" for part in expression.expressions)
    raise _CannotError


def _comparison(comparison: Compare) -> str:
    left, right = comparison.left, comparison.right
    if not isinstance(left, Query) or not isinstance(right, Constant):
        raise _CannotError
    return f"{_query(left)} {comparison.operator} {_constant(right.value)}"


def _constant(value: Any) -> str:
    if isinstance(value, str):
        return _name(Name(value))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    if not re.fullmatch(r"-?[0-9]{1,300}(\.[0-9]+)?", text):
        raise _CannotError
    return text


def _query(query: Query) -> str:
    """Write a path of names and indexes from the node that the filter looks at."""
    if query.absolute or not query.singular or not query.segments:
        raise _CannotError
    return "@" + "".join(_segment(segment) for segment in query.segments)


class NgPath:
    """A path that jsonpath-ng evaluates; compiled on first use."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled: Any = None

    def find(self, value: Any, above: Trail = None) -> list[Node] | None:
        """Return the nodes in `value`, which must be ordinary JSON (see `is_ordinary`).

        `above` is the trail of `value` itself. `None` says that this release of jsonpath-ng does not read
        the path.
        """
        if self._compiled is None:
            with _parsing:
                self._compiled = _parsed(self.text)
        if self._compiled is False:
            return None
        known: dict[int, Trail] = {}
        return [(datum.value, _trail(datum, above, known)) for datum in self._compiled.find(value)]


def _parsed(text: str) -> Any:
    """Return jsonpath-ng's compiled path, or False where it refuses the text."""
    from jsonpath_ng.exceptions import JSONPathError
    from jsonpath_ng.ext import parse

    try:
        return parse(text)
    except JSONPathError:
        return False


def _trail(datum: Any, above: Trail, known: dict[int, Trail]) -> Trail:
    """Return how a datum was reached; `known` remembers the trails of the data above, which many share."""
    steps: list[Any] = []
    while datum.context is not None and id(datum) not in known:
        steps.append(datum)
        datum = datum.context
    trail = known.get(id(datum), above)
    for step in reversed(steps):
        if hasattr(step.path, "fields"):
            trail = (trail, step.path.fields[0])
        else:
            index = step.path.indices[0]
            trail = (trail, index if index >= 0 else index + len(step.context.value))
        known[id(step)] = trail
    return trail


def is_ordinary(value: Any) -> bool:
    """Tell whether a value is made of plain dicts and lists and does not contain itself.

    jsonpath-ng never returns from a cycle, and its filters see no tuples and no other mappings.
    """
    stack: list[Any] = [value]
    ancestors: set[int] = set()
    while stack:
        entry = stack.pop()
        if type(entry) in _SCALARS:
            continue
        if type(entry) is _Leave:
            ancestors.discard(entry.identity)
        elif isinstance(entry, dict | list):
            if id(entry) in ancestors:
                return False
            ancestors.add(id(entry))
            stack.append(_Leave(id(entry)))
            stack.extend(entry.values() if isinstance(entry, dict) else entry)
        elif isinstance(entry, tuple) or hasattr(entry, "keys"):
            return False
    return True


class _Leave:
    """Marks on the stack of `is_ordinary` where a container ends."""

    __slots__ = ("identity",)

    def __init__(self, identity: int) -> None:
        self.identity = identity
