"""The syntax tree of a JSONPath, shared by the reader and the two evaluators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "And",
    "Call",
    "Compare",
    "Constant",
    "Exists",
    "Expression",
    "Filter",
    "Index",
    "JsonPathError",
    "JsonPathTimeoutError",
    "Name",
    "Not",
    "Operand",
    "Or",
    "Query",
    "RegexTest",
    "Segment",
    "Selector",
    "Slice",
    "Wildcard",
]


class JsonPathError(ValueError):
    """A path that cannot be read, or asks for what we refuse.

    `start` and `end` are half-open code-point offsets into the path, `hint` says what to write instead
    (`None` where nothing is known), and `unsupported` tells whether the path is meaningful elsewhere but
    not here, rather than wrong everywhere.
    """

    def __init__(
        self, message: str, start: int, end: int, hint: str | None = None, unsupported: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint
        self.unsupported = unsupported


class JsonPathTimeoutError(JsonPathError):
    """A regular expression of a filter used up the time that one search may take."""


@dataclass(frozen=True, slots=True)
class Name:
    """Selects the member of an object with this name, which holds no escapes any more."""

    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """Selects one element of an array; negative indexes count from the end."""

    index: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Selects elements of an array as `range(start, stop, step)`, each bound optional."""

    start: int | None
    stop: int | None
    step: int | None


@dataclass(frozen=True, slots=True)
class Wildcard:
    """Selects every member or element."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Selects the members or elements for which the expression holds."""

    expression: Expression


Selector = Name | Index | Slice | Wildcard | Filter


@dataclass(frozen=True, slots=True)
class Segment:
    """One step: its selectors apply to each node, or to each node and all that it holds (`..`)."""

    selectors: tuple[Selector, ...]
    descendant: bool = False

    @property
    def singular(self) -> bool:
        """Whether the step leads to one node at most."""
        return (
            not self.descendant and len(self.selectors) == 1 and isinstance(self.selectors[0], Name | Index)
        )


@dataclass(frozen=True, slots=True)
class Query:
    """A path from the root (`$`) or from the node that a filter looks at (`@`)."""

    absolute: bool
    segments: tuple[Segment, ...]

    @property
    def singular(self) -> bool:
        """Whether the path leads to one node at most."""
        return all(segment.singular for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Constant:
    """A string, number, boolean or null written in a filter."""

    value: Any


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the functions of RFC 9535."""

    name: Literal["length", "count", "match", "search", "value"]
    arguments: tuple[Operand, ...]
    start: int
    end: int


Operand = Constant | Query | Call


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison by the rules of RFC 9535, section 2.3.5.2.2."""

    left: Operand
    operator: Literal["==", "!=", "<", "<=", ">", ">="]
    right: Operand


@dataclass(frozen=True, slots=True)
class RegexTest:
    """`left =~ 'pattern'`: an extension that jsonpath-ng has, with a Python regular expression."""

    left: Operand
    pattern: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Exists:
    """Holds where the path leads to at least one node."""

    query: Query


@dataclass(frozen=True, slots=True)
class Not:
    """Holds where the other does not."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class And:
    """Holds where all do."""

    expressions: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Holds where one does."""

    expressions: tuple[Expression, ...]


Expression = Compare | RegexTest | Exists | Call | Not | And | Or
