"""Rewrites a template in another dialect without losing anything, or says where that cannot be done."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.templates.options import Dialect, TemplateOptions
from workbench.engine.templates.paths import format_path
from workbench.engine.templates.program import Token, read_token
from workbench.engine.templates.settings import settings_from_options
from workbench.engine.templates.spans import (
    DELIMITERS,
    declared_name,
    declared_names,
    parse_dialect,
    parse_template,
)
from workbench.engine.text import LineIndex, shorten


class ConversionError(ValueError):
    """A template cannot be written in the other dialect without loss; `diagnostics` name the places."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0]
        more = f" (and {len(self.diagnostics) - 1} more)" if len(self.diagnostics) > 1 else ""
        super().__init__(f"line {first.line}, column {first.column}: {first.message}{more}")


def convert_template(
    text: str, options: TemplateOptions, target: Dialect, *, names: Collection[str] = ()
) -> str:
    """Return `text` in the dialect `target`, with the same literal text and the same values.

    What converts also converts back: the way there and back gives `text` again, character by character.
    `names` are the top-level names of the parameters; they matter where `braces` is read or written. For the
    way back from `braces`, give the names that `placeholder_roots` returns as well.

    Raises:
        ConversionError: naming every place that the target cannot express.
    """
    if target == options.dialect:
        return text
    result = _convert(text, options, target, names)
    if result != text:
        known = {*names, *placeholder_roots(text, options, names=names)}
        try:
            back = _convert(result, converted_options(options, target), options.dialect, known)
        except ConversionError:
            back = ""
        if back != text:
            _refuse_difference(text, back)
    return result


def converted_options(options: TemplateOptions, target: Dialect) -> TemplateOptions:
    """Return `options` for the target dialect; required and optional names lose the marks of the old one."""
    return replace(
        options,
        dialect=target,
        required=tuple(declared_name(name, options.dialect) for name in options.required),
        optional=tuple(declared_name(name, options.dialect) for name in options.optional),
    )


def placeholder_roots(text: str, options: TemplateOptions, *, names: Collection[str] = ()) -> frozenset[str]:
    """Return the top-level names of the parameters that the placeholders of `text` read."""
    settings = settings_from_options(options)
    tokens = (read_token(span, settings) for span in parse_template(text, options, names=names).placeholders)
    roots = (token.path.root[:1] for token in tokens if token.path is not None)
    return frozenset(root[0] for root in roots if root and isinstance(root[0], str))


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a placeholder stands for, apart from any dialect. `before` and `after` are blanks at its marks."""

    kind: Literal["parameter", "context", "field"]
    content: str
    segments: tuple[str | int, ...] | None
    before: str
    after: str


class _Lossy(Exception):  # noqa: N818 - never leaves this module
    """The target cannot express one placeholder; the text says why."""


def _convert(text: str, options: TemplateOptions, target: Dialect, names: Collection[str]) -> str:
    parsed = parse_template(text, options, names=names)
    settings = settings_from_options(options)
    goal = converted_options(options, target)
    known: frozenset[str] = frozenset()
    if target == "braces":
        known = (
            declared_names(goal)
            .union(name for name in names if name)
            .union(placeholder_roots(text, options, names=names))
        )
    opener, closer = DELIMITERS[target]
    parts: list[str] = []
    run = ""
    problems: list[Diagnostic] = []
    lines = LineIndex(text)
    expected: list[str] = []
    for span in parsed.spans:
        if span.kind != "placeholder":
            run += text[span.start : span.end] if span.kind == "literal" else span.body
            continue
        try:
            body = _body(_meaning(read_token(span, settings), options), goal)
        except _Lossy as reason:
            problems.append(_problem(str(reason), span.start, span.end, lines))
            continue
        parts += (_literal(run, target, known, before_token=True), f"{opener}{body}{closer}")
        expected += (run, body)
        run = ""
    if problems:
        raise ConversionError(problems)
    parts.append(_literal(run, target, known, before_token=False))
    expected.append(run)
    result = "".join(parts)
    made = parse_dialect(result, target, options.literal_escape, known)
    if made.contents() != expected:
        _refuse_difference(text, "")
    return result


def _literal(run: str, target: Dialect, names: frozenset[str], *, before_token: bool) -> str:
    """Return literal text as the target writes it: a backslash before what would be a token there."""
    parts: list[str] = []
    done = 0
    for span in parse_dialect(run, target, False, names).placeholders:
        before = run[done : span.start]
        slashes = len(before) - len(before.rstrip("\\"))
        parts += (before, "\\" * (slashes + 1), run[span.start : span.end])
        done = span.end
    rest = run[done:]
    slashes = len(rest) - len(rest.rstrip("\\")) if before_token else 0
    return "".join(parts) + rest + "\\" * slashes


def _meaning(token: Token, options: TemplateOptions) -> _Meaning:
    body = token.span.body
    stripped = body.strip()
    before = body[: len(body) - len(body.lstrip())]
    after = body[len(before) + len(stripped) :]
    if options.dialect == "braces":
        if body in options.fields:
            return _Meaning("field", body, None, "", "")
        return _Meaning("parameter", format_path((body,)), (body,), "", "")
    if stripped in options.fields and (token.kind == "bare" or options.dialect == "double-braces"):
        return _Meaning("field", stripped, None, before, after)
    name, _, key = stripped.partition(".")
    if key in options.contexts.get(name, {}):
        return _Meaning("context", stripped, None, before, after)
    if token.path is None:
        raise _Lossy(
            f"{shorten(stripped, 60)} reads no parameter, so nothing stands for it in another dialect"
        )
    if options.dialect == "context" and key != token.content:
        raise _Lossy("the blanks after the dot would be lost")
    return _Meaning("parameter", token.content, token.path.segments, before, after)


def _body(meaning: _Meaning, goal: TemplateOptions) -> str:
    """Return the body of a placeholder of the target dialect, marks excluded."""
    content = meaning.content
    if goal.dialect == "braces":
        return _braces_body(meaning, goal)
    if goal.dialect == "context":
        if meaning.kind == "field" and "." in content:
            raise _Lossy(f"the field {shorten(content, 60)} holds a dot, which would read as a context")
        body = f"{goal.context_name}.{content}" if meaning.kind == "parameter" else content
        if meaning.kind == "parameter" and content in goal.contexts.get(goal.context_name, {}):
            raise _Lossy(f"the context {goal.context_name} would answer for {shorten(content, 60)}")
    else:
        name, _, key = content.partition(".")
        in_context = key in goal.contexts.get(name, {})
        if meaning.kind != "field" and content in goal.fields:
            raise _Lossy(f"the field {shorten(content, 60)} would answer instead")
        if meaning.kind != "context" and in_context:
            raise _Lossy(f"the context {name} would answer for {shorten(content, 60)}")
        body = content
    return meaning.before + body + meaning.after


def _braces_body(meaning: _Meaning, goal: TemplateOptions) -> str:
    if meaning.before or meaning.after:
        raise _Lossy("blanks inside the marks count in the braces dialect")
    if meaning.kind == "context":
        raise _Lossy(f"{shorten(meaning.content, 60)} is a context placeholder, which braces do not have")
    if meaning.kind == "field":
        return meaning.content
    segments = meaning.segments
    if segments is None or len(segments) != 1 or not isinstance(segments[0], str) or not segments[0]:
        raise _Lossy(f"{shorten(meaning.content, 60)} is a path; braces hold one top-level name")
    if format_path(segments) != meaning.content:
        raise _Lossy(f"the spelling {shorten(meaning.content, 60)} of this name would be lost")
    if segments[0] in goal.fields:
        raise _Lossy(f"the field {segments[0]} would answer instead")
    return segments[0]


def _problem(message: str, start: int, end: int, lines: LineIndex) -> Diagnostic:
    line, column = lines.position(start)
    return Diagnostic(
        "error",
        "not_convertible",
        message,
        start,
        end,
        line,
        column,
        hint="change this placeholder, or keep the dialect",
    )


def _refuse_difference(text: str, back: str) -> NoReturn:
    start = next(
        (i for i, (a, b) in enumerate(zip(text, back, strict=False)) if a != b), min(len(text), len(back))
    )
    start = min(start, max(0, len(text) - 1))
    message = "text here would read differently in the other dialect"
    raise ConversionError([_problem(message, start, len(text), LineIndex(text))])
