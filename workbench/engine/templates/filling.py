"""Fills strings in a single pass: reads values, turns them into text, escapes each once, drops lines, joins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.engine.templates.filled import Filled, Node
from workbench.engine.templates.lines import dropped_ranges, line_bounds, touched_lines
from workbench.engine.templates.program import Program, Token, program_store
from workbench.engine.templates.resolving import Problem, Resolution, Resolver
from workbench.engine.templates.settings import FillSettings
from workbench.engine.templates.spans import DELIMITERS, Span
from workbench.engine.templates.values import Place, copy_json
from workbench.engine.text import shorten


class Filler:
    """Fills strings from one set of parameters by one set of settings."""

    def __init__(self, settings: FillSettings, parameters: Any, names: frozenset[str] | None = None) -> None:
        self.settings = settings
        self.expansion: dict[str, Filled] = {}
        self._opener = DELIMITERS[settings.dialect][0]
        self._escaper = settings.escaper
        self._distinct = settings.resolver is None and settings.replacer is None
        if names is None:
            names = placeholder_names(settings, parameters)
        self._program = program_store(settings, names).program
        self.parameters = parameters
        if settings.expand_parameters:
            self.parameters = self._expanded(parameters, names)
        self._resolver = Resolver(settings, self.parameters)

    def begin(self) -> None:
        """Start a new prompt or graph."""
        self._resolver.begin()

    def fill(self, text: str, node: Node, is_key: bool = False) -> Filled | None:
        """Fill `text`; `None` when it holds no opening mark at all and so stays as it is."""
        if self._opener not in text:
            return None
        program = self._program(text)
        settings = self.settings
        if program.plan is not None:
            read = program.plan.read(self.parameters, settings.null_text, self._escaper, program.has_optional)
            if read is not None:
                values, texts = read
                pieces = list(program.pieces)
                spread = program.plan.spread
                pieces[1::2] = texts if spread is None else spread(texts)
                return Filled("".join(pieces), program, settings, node, pieces, values=values, is_key=is_key)
        return self._fill_slowly(program, node, is_key)

    def _expanded(self, parameters: Any, names: frozenset[str]) -> Any:
        """Return the parameters with each string filled once from the original ones, without escaping."""
        # Required and optional concern the template, and a value that lacks something is kept as it is.
        plain = replace(
            self.settings,
            escaper=None,
            escaper_name="none",
            expand_parameters=False,
            optional=frozenset(),
            required=(),
            unresolved="empty" if self.settings.unresolved == "empty" else "keep",
        )
        inner = Filler(plain, parameters, names)

        def change(text: str, place: Place) -> str:
            filled = inner.fill(text, place)
            if filled is None:
                return text
            pointer = place()
            filled._node = lambda: pointer
            self.expansion[pointer] = filled
            return filled.text

        return copy_json(parameters, change)

    def _fill_slowly(self, program: Program, node: Node, is_key: bool) -> Filled:
        known: dict[str, Resolution] = {}
        resolutions: dict[int, Resolution] = {}
        for index, token in enumerate(program.tokens):
            body = token.span.body
            resolution = known.get(body) if self._distinct else None
            if resolution is None:
                resolution = known[body] = self._resolver.resolve(token)
            elif resolution.problem is not None and resolution.problem.start is not None:
                resolution = self._resolver.resolve(token)  # its problem names a place of its own
            resolutions[index] = resolution
        if program.has_optional:
            dropped = self._dropped(program, resolutions)
            if dropped:
                return self._fill_without_lines(program, node, is_key, resolutions, dropped)
        pieces = list(program.pieces)
        pieces[1::2] = [resolution.text for resolution in resolutions.values()]
        text = "".join(pieces)
        if text == program.parsed.text:
            text = program.parsed.text
        return Filled(text, program, self.settings, node, pieces, resolutions=resolutions, is_key=is_key)

    def _dropped(self, program: Program, resolutions: dict[int, Resolution]) -> list[tuple[int, int]]:
        """Return the ranges that absent optional values take away, and note required ones that stand in the way."""
        settings = self.settings
        absent = [i for i, token in enumerate(program.tokens) if token.optional and resolutions[i].absent]
        if not absent:
            return []
        text = program.parsed.text
        bounds = line_bounds(text)
        needed: dict[int, Span] = {}
        for token in program.tokens:
            if is_required(token, settings):
                for line in touched_lines(bounds, token.span.start, token.span.end):
                    needed.setdefault(line, token.span)
        cuts: list[tuple[int, int]] = []
        for index in absent:
            span = program.tokens[index].span
            lines = touched_lines(bounds, span.start, span.end)
            lost = next((needed[line] for line in lines if line in needed), None)
            if lost is None:
                cuts.append((span.start, span.end))
            else:
                resolutions[index] = _held_back(text[span.start : span.end], span, lost)
        return dropped_ranges(text, cuts, collapse_blank_lines=settings.collapse_blank_lines)

    def _fill_without_lines(
        self,
        program: Program,
        node: Node,
        is_key: bool,
        resolutions: dict[int, Resolution],
        cuts: list[tuple[int, int]],
    ) -> Filled:
        pieces: list[str] = []
        literal: list[str] = []
        kept: list[Span] = []
        index = 0
        text = program.parsed.text
        cut = iter([*cuts, (len(text) + 1, len(text) + 1)])
        low, high = next(cut)
        for span in program.parsed.spans:
            while high <= span.start:
                low, high = next(cut)
            if span.kind == "placeholder":
                if low <= span.start < high:
                    resolutions[index] = _left_out(resolutions[index], span)
                else:
                    kept.append(span)
                    pieces += ("".join(literal), resolutions[index].text)
                    literal.clear()
                index += 1
            elif span.kind == "escaped":
                if not low <= span.start < high:
                    literal.append(span.body)
            else:
                at = span.start
                while at < span.end:
                    if high <= at:
                        low, high = next(cut)
                        continue
                    if low > at:
                        literal.append(text[at : min(low, span.end)])
                    at = max(min(high, span.end), at) if low < span.end else span.end
        pieces.append("".join(literal))
        return Filled(
            "".join(pieces), program, self.settings, node, pieces, tuple(kept), resolutions, is_key=is_key
        )


def _held_back(token: str, span: Span, lost: Span) -> Resolution:
    """Return what is said of an optional placeholder whose line holds a required one, and so is not dropped."""
    first, second = shorten(span.body, 40), shorten(lost.body, 40)
    problem = Problem(
        "required_on_dropped_line",
        f"{first} has no value, but its line also holds {second}, which is required",
        "put the two on lines of their own",
        severity="error",
    )
    return Resolution("kept", token, problem=problem, unresolved=True)


def _left_out(resolution: Resolution, span: Span) -> Resolution:
    """Return what is said of a placeholder on a line that was dropped; a malformed path is still an error."""
    name = shorten(span.body, 60)
    why = (
        "has no value, so its line is left out" if resolution.absent else "stands on a line that is left out"
    )
    problem = resolution.problem
    if problem is None or problem.severity != "error":
        problem = Problem("line_dropped", f"{name} {why}", severity="info")
    return replace(resolution, status="empty", text="", problem=problem, unresolved=False)


def placeholder_names(settings: FillSettings, parameters: Any) -> frozenset[str]:
    """Return what counts as a placeholder in the `braces` dialect: declared names and top-level parameters."""
    if settings.dialect != "braces":
        return frozenset()
    names = {*settings.required, *settings.optional, *settings.fields}
    if isinstance(parameters, Mapping):
        names.update(key for key in parameters if isinstance(key, str))
    names.discard("")
    return frozenset(names)


def declared_as(token: Token, settings: FillSettings) -> set[str]:
    """Return the names under which `required` may mean this placeholder: its body, or its path alone."""
    if settings.dialect == "braces":
        return {token.span.body}
    names = {token.span.body.strip()}
    return names | {token.content} if token.kind == "path" else names


def is_required(token: Token, settings: FillSettings) -> bool:
    """Tell whether the options require this placeholder."""
    return bool(settings.required) and not declared_as(token, settings).isdisjoint(settings.required)
