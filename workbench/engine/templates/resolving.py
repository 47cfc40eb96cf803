"""Finds out what stands for one placeholder, or why nothing does and what would help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.engine.diagnostics import Severity
from workbench.engine.json_path import JsonPathError
from workbench.engine.templates.paths import advise, format_path, pointer_of, quote_name
from workbench.engine.templates.program import Token
from workbench.engine.templates.records import Source, Status
from workbench.engine.templates.settings import FillSettings
from workbench.engine.templates.spans import DELIMITERS
from workbench.engine.templates.values import foreign_text, resolve_segments, type_name, value_text
from workbench.engine.text import nearest, shorten

_NAMES_TO_SEARCH = 6000
"""How many names are compared per rendering to find the ones that were probably meant: some 50 ms."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a placeholder, before it is known at which severity and in which node."""

    code: str
    message: str
    hint: str | None = None
    better_body: str | None = None
    severity: Severity | None = None  # by the mode when `None`
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of one placeholder. `text` is escaped already; `unresolved` stops a prompt in `error` mode."""

    status: Status
    text: str
    match_count: int = 0
    pointers: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    source: Source | None = None
    value_type: str | None = None
    problem: Problem | None = None
    unresolved: bool = False
    absent: bool = False  # there is no value, or it is null: an optional placeholder drops its lines


class Resolver:
    """Resolves placeholders against one set of parameters by one set of settings."""

    def __init__(self, settings: FillSettings, parameters: Any) -> None:
        self.settings = settings
        self.parameters = parameters
        self._escaper = settings.escaper
        self._names_left = _NAMES_TO_SEARCH

    def begin(self) -> None:
        """Start a new prompt or graph: the searches for near names are counted per rendering."""
        self._names_left = _NAMES_TO_SEARCH

    def resolve(self, token: Token) -> Resolution:
        """Return what became of the placeholder. Callables of a library user are asked anew each time."""
        foreign = self._foreign(token)
        if foreign is not None:
            return foreign
        if token.kind == "bare":
            return self._bare(token)
        if token.kind == "context":
            return self._unknown_context(token)
        return self._parameter(token)

    def _foreign(self, token: Token) -> Resolution | None:
        """Ask the resolver, the contexts, the replacer and the fields, in this order."""
        settings = self.settings
        if token.kind != "bare" and settings.dialect == "context":
            if settings.resolver is not None:
                value = settings.resolver(token.context, token.content)
                if value is not None:
                    return self._given(value, "context")
            texts = settings.contexts.get(token.context)
            if texts is not None and token.content in texts:
                return self._given(texts[token.content], "context")
        elif token.kind == "bare":
            if settings.replacer is not None:
                value = settings.replacer(token.span.body)
                if value is not None:
                    return self._given(value, "field")
            for body in (token.span.body, token.content):
                if body in settings.fields:
                    return self._given(settings.fields[body], "field")
        elif token.shadowed:
            name, _, key = token.content.partition(".")
            texts = settings.contexts.get(name) if settings.dialect == "double-braces" else None
            if texts is not None and key in texts:
                return self._given(texts[key], "context")
            if token.content in settings.fields:
                return self._given(settings.fields[token.content], "field")
        return None

    def _given(self, value: Any, source: Source) -> Resolution:
        text = self._escaped(foreign_text(value, self.settings.null_text))
        return Resolution("resolved", text, 1, source=source, value_type=type_name(value))

    def _escaped(self, text: str) -> str:
        if self._escaper is None:
            return text
        escaped = self._escaper(text)
        if not isinstance(escaped, str):
            raise TypeError(f"the escaper must return a text, not {type(escaped).__name__}")
        return escaped

    def _stuck(
        self, token: Token, problem: Problem, *, absent: bool = False, roots: tuple[str, ...] = ()
    ) -> Resolution:
        """Return the resolution of a placeholder without a value: kept, or empty when the mode says so."""
        empty = self.settings.unresolved == "empty"
        text = "" if empty else self._token_text(token)
        return Resolution(
            "empty" if empty else "kept", text, roots=roots, problem=problem, unresolved=True, absent=absent
        )

    def _token_text(self, token: Token) -> str:
        opener, closer = DELIMITERS[self.settings.dialect]
        return f"{opener}{token.span.body}{closer}"

    def _shown(self, token: Token) -> str:
        return shorten(self._token_text(token), 80)

    def _bare(self, token: Token) -> Resolution:
        settings = self.settings
        name = settings.context_name
        # A dot inside a quoted name may have been taken for the one behind the context.
        body = token.content if token.kind == "bare" else token.span.body.strip()
        if body.startswith(name + "["):
            better = f"{name}.{body[len(name) :]}"
            problem = Problem(
                "no_context",
                f"{self._shown(token)} is not a context placeholder: a dot must follow {name}",
                f"write [%{better}%]",
                better,
            )
            return self._bare_stays(token, problem)
        hint = f"a value of the parameters is written [%{name}.NAME%]"
        better_body = None
        if isinstance(self.parameters, Mapping) and body in self.parameters:
            path = format_path((body,))
            better_body = f"{name}.{path}"
            hint = f"did you mean [%{better_body}%]?"
        elif self._may_search(len(settings.fields)):
            near = nearest(body, settings.fields)
            if near is not None:
                better_body, hint = near, f"did you mean [%{near}%]?"
        message = f"{self._shown(token)} names no context, and nothing else gives it a value"
        return self._bare_stays(token, Problem("no_context", message, hint, better_body))

    def _bare_stays(self, token: Token, problem: Problem) -> Resolution:
        if self.settings.touches_bodies:
            return self._stuck(token, problem, absent=True)
        # Only context placeholders are ours: the token stays in every mode, and somebody else may fill it.
        return Resolution(
            "kept",
            self._token_text(token),
            problem=Problem(problem.code, problem.message, problem.hint, problem.better_body, "warning"),
        )

    def _unknown_context(self, token: Token) -> Resolution:
        settings = self.settings
        shown = self._shown(token)
        texts = settings.contexts.get(token.context)
        if texts is not None:
            near = nearest(token.content, texts) if self._may_search(len(texts)) else None
            better = f"{token.context}.{near}" if near is not None else None
            hint = f"did you mean [%{better}%]?" if better else f"the context {token.context} has no such key"
            message = f"{shown} is unresolved: the context {token.context} has no {token.content!r}"
            return self._stuck(token, Problem("unknown_key", message, hint, better), absent=True)
        if token.span.body.startswith(settings.context_name + "["):
            return self._bare(token)
        known = (settings.context_name, *settings.contexts)
        near = nearest(token.context, known) if self._may_search(len(known)) else None
        better = f"{near}.{token.content}" if near is not None else None
        hint = (
            f"did you mean [%{better}%]?"
            if better
            else f"parameters have the context {settings.context_name}"
        )
        message = f"{shown} is unresolved: there is no context {token.context!r}"
        return self._stuck(token, Problem("unknown_context", message, hint, better), absent=True)

    def _parameter(self, token: Token) -> Resolution:
        path = token.path
        assert path is not None
        if path.error is not None:
            return self._bad_path(token, path.error)
        if self.parameters is None:
            problem = Problem(
                "missing",
                f"{self._shown(token)} is unresolved: there are no parameters",
                "give parameters that hold the value",
            )
            return self._stuck(token, problem, absent=True, roots=(pointer_of(path.root),))
        if path.segments is not None:
            return self._plain(token, path.segments)
        assert path.compiled is not None
        try:
            matches = path.compiled.find(self.parameters)
        except JsonPathError as error:
            return self._bad_path(token, error)
        root = (pointer_of(path.root),)
        if path.definite:
            if len(matches) == 1:
                return self._value(token, matches[0].value, matches[0].pointer, root)
            problem = Problem(
                "missing",
                f"{self._shown(token)} is unresolved: the path matches nothing",
                "correct the path or add the parameter",
            )
            return self._stuck(token, problem, absent=True, roots=root)
        return self._several(token, [(m.value, m.pointer) for m in matches], root)

    def _plain(self, token: Token, segments: tuple[str | int, ...]) -> Resolution:
        found, value, steps = resolve_segments(self.parameters, segments)
        if found:
            pointer = pointer_of(steps)
            return self._value(token, value, pointer, (pointer,))
        search = isinstance(value, Mapping) and self._may_search(len(value))
        advice = advise(segments, value, steps, search=search)
        better = None
        if advice.better is not None:
            better = self._body_of(advice.better)
        message = f"{self._shown(token)} is unresolved: {advice.reason}"
        problem = Problem("missing", message, advice.hint, better)
        # What was wanted counts as used as far as it goes: the place where it was looked for.
        return self._stuck(token, problem, absent=True, roots=(pointer_of(segments),))

    def _body_of(self, segments: tuple[str | int, ...]) -> str | None:
        """Return the body of a placeholder for the value at `segments` in the dialect at hand."""
        settings = self.settings
        if settings.dialect == "braces":
            return str(segments[0]) if len(segments) == 1 else None
        path = format_path(segments)
        return f"{settings.context_name}.{path}" if settings.dialect == "context" else path

    def _may_search(self, names: int) -> bool:
        """Allow a bounded number of comparisons for near names, so that a broken prompt still shows at once."""
        if names > self._names_left:
            return False
        self._names_left -= names
        return True

    def _bad_path(self, token: Token, error: JsonPathError) -> Resolution:
        start = end = None
        if 0 <= error.start <= error.end <= len(token.content):
            start = token.content_start + error.start
            end = token.content_start + error.end
        hint, better = error.hint, None
        if isinstance(self.parameters, Mapping) and token.content in self.parameters:
            quoted = f"[{quote_name(token.content)}]"
            better = f"{token.context}.{quoted}" if self.settings.dialect == "context" else quoted
            hint = f"quote the name: {quoted}"
        kind = "is not supported" if error.unsupported else "is malformed"
        problem = Problem(
            "unsupported_path" if error.unsupported else "bad_path",
            f"{self._shown(token)} is unresolved: its path {kind}: {error.message}",
            hint,
            better,
            severity="error",
            start=start if start != end else None,
            end=end if start != end else None,
        )
        return self._stuck(token, problem)

    def _value(self, token: Token, value: Any, pointer: str, roots: tuple[str, ...]) -> Resolution:
        try:
            text = value_text(value, self.settings.null_text)
        except (TypeError, ValueError) as error:
            return self._not_json(token, error, roots)
        return Resolution(
            "resolved",
            self._escaped(text),
            1,
            (pointer,),
            roots,
            "parameter",
            type_name(value),
            absent=value is None,
        )

    def _not_json(self, token: Token, error: Exception, roots: tuple[str, ...]) -> Resolution:
        message = f"{self._shown(token)} is unresolved: {error}"
        return self._stuck(
            token, Problem("not_json", message, "give a value that JSON can hold"), roots=roots
        )

    def _several(self, token: Token, matches: list[tuple[Any, str]], roots: tuple[str, ...]) -> Resolution:
        settings = self.settings
        if not matches:
            problem = Problem(
                "no_match",
                f"{self._shown(token)} matches nothing, so nothing is put in",
                "check the path, or ignore this when the list may be empty",
                severity="warning",
            )
            return Resolution(
                "empty", self._escaped(""), 0, (), roots, "parameter", problem=problem, absent=True
            )
        if settings.many == "error" and len(matches) > 1:
            message = f"{self._shown(token)} matches {len(matches)} values, and the options allow one"
            problem = Problem("too_many_matches", message, "make the path name one value", severity="error")
            return self._stuck(token, problem, roots=roots)
        values = [value for value, _ in matches]
        try:
            text = self._several_text(values)
        except (TypeError, ValueError) as error:
            return self._not_json(token, error, roots)
        kind = type_name(values[0]) if len(values) == 1 or settings.many == "first" else "array"
        pointers = tuple(pointer for _, pointer in matches)
        return Resolution("resolved", self._escaped(text), len(values), pointers, roots, "parameter", kind)

    def _several_text(self, values: list[Any]) -> str:
        settings = self.settings
        if settings.many == "first" or (settings.many == "error" and len(values) == 1):
            return value_text(values[0], settings.null_text)
        if settings.many == "json" or any(isinstance(value, Mapping | list | tuple) for value in values):
            return value_text(values)
        return ", ".join(value_text(value, settings.null_text) for value in values)
