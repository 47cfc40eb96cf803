"""One filled string: its text at once, and the records of its placeholders when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from workbench.engine.diagnostics import Diagnostic, Fix
from workbench.engine.templates.program import Program, Token
from workbench.engine.templates.records import PlaceholderUse
from workbench.engine.templates.resolving import Problem, Resolution
from workbench.engine.templates.settings import FillSettings
from workbench.engine.templates.spans import DELIMITERS, Span
from workbench.engine.templates.values import type_name
from workbench.engine.text import LineIndex

Node = Callable[[], str]
"""Gives the path of a string in its graph; only asked for records."""


class Filled:
    """One filled string. Records and diagnostics are made when they are first asked for."""

    __slots__ = (
        "_is_key",
        "_node",
        "_order",
        "_pieces",
        "_records",
        "_resolutions",
        "_settings",
        "_values",
        "program",
        "text",
    )

    def __init__(
        self,
        text: str,
        program: Program,
        settings: FillSettings,
        node: Node,
        pieces: list[str],
        spans: tuple[Span, ...] | None = None,
        resolutions: dict[int, Resolution] | None = None,
        values: list[Any] | None = None,
        is_key: bool = False,
    ) -> None:
        self.text = text
        self.program = program
        self._settings = settings
        self._node = node
        self._pieces = pieces
        self._order = spans  # the placeholders whose values stand in `pieces`, when lines were dropped
        self._resolutions = resolutions
        self._values = values
        self._is_key = is_key
        self._records: tuple[PlaceholderUse, ...] | None = None

    @property
    def has_unresolved(self) -> bool:
        """Whether a placeholder of this string has no value."""
        return self._resolutions is not None and any(r.unresolved for r in self._resolutions.values())

    @property
    def has_ambiguous(self) -> bool:
        """Whether a placeholder has several matches where the options allow one."""
        return self._resolutions is not None and any(
            r.problem is not None and r.problem.code == "too_many_matches" for r in self._resolutions.values()
        )

    @property
    def node(self) -> str:
        """The path of this string in its graph."""
        return self._node()

    def unresolved_flags(self) -> list[bool]:
        """Return for each placeholder whether it has no value."""
        if self._resolutions is None:
            return [False] * len(self.program.tokens)
        return [self._resolutions[index].unresolved for index in range(len(self.program.tokens))]

    @property
    def uses(self) -> tuple[PlaceholderUse, ...]:
        """One record per placeholder, from left to right."""
        if self._records is None:
            self._records = tuple(self._uses())
        return self._records

    @property
    def used_pointers(self) -> frozenset[str]:
        """The parameters that this string reads, as JSON Pointers; for a path with a wildcard, its beginning."""
        if self._resolutions is None:
            plan = self.program.plan
            return frozenset(plan.pointers) if plan is not None else frozenset()
        return frozenset(root for resolution in self._resolutions.values() for root in resolution.roots)

    def _resolution(self, index: int) -> Resolution:
        if self._resolutions is not None:
            return self._resolutions[index]
        plan = self.program.plan
        assert plan is not None
        assert self._values is not None
        slot = plan.slots[index]
        pointer = plan.pointers[slot]
        text = self._pieces[2 * index + 1]
        return Resolution(
            "resolved", text, 1, (pointer,), (pointer,), "parameter", type_name(self._values[slot])
        )

    def _uses(self) -> Iterator[PlaceholderUse]:
        node = self._node()
        lines = LineIndex(self.program.parsed.text)
        kept = None if self._order is None else {span.start for span in self._order}
        offset = len(self._pieces[0])
        place = 1
        for index, token in enumerate(self.program.tokens):
            resolution = self._resolution(index)
            span = token.span
            dropped = kept is not None and span.start not in kept
            text = "" if dropped else resolution.text
            yield PlaceholderUse(
                node,
                span.start,
                span.end,
                span.body,
                resolution.status,
                offset,
                offset + len(text),
                text,
                resolution.match_count,
                resolution.pointers[0] if resolution.pointers else None,
                self._diagnostic(token, resolution, node, dropped, lines),
                resolution.source,
                resolution.value_type,
                self._settings.escaper_name if resolution.status == "resolved" else "none",
                self._is_key,
                resolution.pointers,
            )
            if not dropped:
                offset += len(text) + len(self._pieces[place + 1])
                place += 2

    def _diagnostic(
        self, token: Token, resolution: Resolution, node: str, dropped: bool, lines: LineIndex
    ) -> Diagnostic | None:
        problem = resolution.problem
        if problem is None:
            return None
        severity = problem.severity or ("error" if self._settings.unresolved == "error" else "warning")
        start = token.span.start if problem.start is None else problem.start
        end = token.span.end if problem.end is None else problem.end
        line, column = lines.position(start)
        return Diagnostic(
            severity,
            problem.code,
            problem.message,
            start,
            end,
            line,
            column,
            hint=problem.hint,
            node=node or None,
            fixes=() if dropped else self._fixes(token, problem),
        )

    def _fixes(self, token: Token, problem: Problem) -> tuple[Fix, ...]:
        span = token.span
        opener, closer = DELIMITERS[self._settings.dialect]
        fixes = []
        if problem.better_body is not None:
            better = f"{opener}{problem.better_body}{closer}"
            fixes.append(Fix(f"Change to {better}", span.start, span.end, better))
        if self._settings.literal_escape and _may_be_text(problem):
            fixes.append(Fix("Make it literal text", span.start, span.start, "\\"))
        return tuple(fixes)


def _may_be_text(problem: Problem) -> bool:
    """Tell whether the token itself may be meant as text: not so when its path is fine and merely matches nothing."""
    return problem.code not in ("no_match", "line_dropped", "too_many_matches")
