"""Cuts a template into literal text, placeholders and escaped tokens, in each of the three dialects.

One contract for all: the spans of a `ParsedTemplate` tile the text without gap or overlap, any text gives a
result, and the work grows linearly with the text. What a placeholder means is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from workbench.engine.diagnostics import Diagnostic, Fix
from workbench.engine.templates.cache import BoundedCache
from workbench.engine.templates.options import Dialect, TemplateOptions
from workbench.engine.text import LineIndex, nearest

SpanKind = Literal["literal", "placeholder", "escaped"]

DELIMITERS: dict[Dialect, tuple[str, str]] = {
    "context": ("[%", "%]"),
    "braces": ("{", "}"),
    "double-braces": ("{{", "}}"),
}
"""The opening and closing marks of each dialect."""


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of a template: half-open code-point offsets, and what the piece stands for.

    `body` of a placeholder is the text between its marks, exactly as typed. `body` of an escaped span is the
    text that it puts out: halved backslashes, and the token when it was made literal. A literal span puts
    out its own text and has an empty `body`.
    """

    kind: SpanKind
    start: int
    end: int
    body: str = ""


@dataclass(frozen=True, slots=True)
class ParsedTemplate:
    """A template as spans, with the diagnostics that need no parameters.

    `names` are the names that count as placeholders in the `braces` dialect, empty in the others.
    """

    text: str
    dialect: Dialect
    spans: tuple[Span, ...]
    diagnostics: tuple[Diagnostic, ...]
    names: frozenset[str] = field(default=frozenset())

    @property
    def placeholders(self) -> tuple[Span, ...]:
        """The spans that are placeholders, from left to right."""
        return tuple(span for span in self.spans if span.kind == "placeholder")

    def contents(self) -> list[str]:
        """Return literal texts and placeholder bodies in turn, beginning and ending with a literal text."""
        contents: list[str] = []
        literal: list[str] = []  # joined at once, since a text that grows bit by bit is copied each time
        for span in self.spans:
            if span.kind == "placeholder":
                contents += ("".join(literal), span.body)
                literal.clear()
            else:
                literal.append(self.text[span.start : span.end] if span.kind == "literal" else span.body)
        return [*contents, "".join(literal)]


_NAMES_TO_SEARCH = 6000
"""How many names are compared per template to find those that unknown words were meant to be: some 50 ms."""

_cache: BoundedCache[ParsedTemplate] = BoundedCache(entries=4096, weight=20_000_000)


def can_be_context(name: str) -> bool:
    """Tell whether a placeholder can carry `name` as its context name."""
    return bool(name.strip()) and name == name.lstrip() and not any(m in name for m in (".", "[%", "%]"))


def declared_name(name: str, dialect: Dialect) -> str:
    """Return a name of `required` or `optional` without the marks of the dialect, should it carry them."""
    opener, closer = DELIMITERS[dialect]
    if name.startswith(opener) and name.endswith(closer) and len(name) > len(opener) + len(closer):
        return name[len(opener) : -len(closer)]
    return name


def declared_names(options: TemplateOptions) -> frozenset[str]:
    """Return every name that the options declare: required, optional, and the fields with a text."""
    names = {declared_name(name, options.dialect) for name in (*options.required, *options.optional)}
    return frozenset(names.union(options.fields)) - {""}


def parse_template(
    text: str, options: TemplateOptions | None = None, *, names: Iterable[str] = ()
) -> ParsedTemplate:
    """Cut `text` into spans. Total: any text gives a result.

    `names` are further names of placeholders for the `braces` dialect (the top-level names of the
    parameters); the other dialects recognise a placeholder by its marks alone. Results are cached.
    """
    options = options or TemplateOptions()
    known = declared_names(options).union(names) - {""} if options.dialect == "braces" else frozenset()
    return parse_dialect(text, options.dialect, options.literal_escape, known)


def parse_dialect(text: str, dialect: Dialect, literal_escape: bool, names: frozenset[str]) -> ParsedTemplate:
    """Cut `text` into spans by the few settings that matter for it; `names` only counts in `braces`."""
    key = (text, dialect, literal_escape, names)
    parsed = _cache.get(key)
    if parsed is None:
        parsed = _parse(text, dialect, literal_escape, names)
        _cache.put(key, parsed, len(text) + 200 * len(parsed.spans))
    return parsed


_Tokens = Iterator[tuple[int, int]]
_Remarks = list[Callable[[LineIndex], Diagnostic]]


def _parse(text: str, dialect: Dialect, literal_escape: bool, names: frozenset[str]) -> ParsedTemplate:
    remarks: _Remarks = []
    if dialect == "braces":
        tokens = _single_brace_tokens(text, names, remarks)
    else:
        tokens = _paired_tokens(text, dialect)
    spans = tuple(_tile(text, tokens, dialect, literal_escape, remarks))
    if dialect == "double-braces":
        _remark_on_tags(text, spans, remarks)
    lines = LineIndex(text)
    return ParsedTemplate(text, dialect, spans, tuple(remark(lines) for remark in remarks), names)


def _tile(
    text: str, tokens: _Tokens, dialect: Dialect, literal_escape: bool, remarks: _Remarks
) -> Iterator[Span]:
    opener, closer = (len(mark) for mark in DELIMITERS[dialect])
    done = 0
    for start, end in tokens:
        body = text[start + opener : end - closer]
        if _says_nothing(body, dialect):
            remarks.append(_empty_placeholder(start, end))
            continue  # stays part of the literal text around it
        slashes = start
        if literal_escape:
            while slashes > done and text[slashes - 1] == "\\":
                slashes -= 1
        if slashes > done:
            yield Span("literal", done, slashes)
        run = start - slashes
        if run % 2:
            yield Span("escaped", slashes, end, "\\" * (run // 2) + text[start:end])
        else:
            if run:
                yield Span("escaped", slashes, start, "\\" * (run // 2))
            yield Span("placeholder", start, end, body)
        done = end
    if done < len(text):
        yield Span("literal", done, len(text))


def _says_nothing(body: str, dialect: Dialect) -> bool:
    """Tell whether a token names nothing: no body, or in `context` an empty context name or content."""
    stripped = body.strip()
    if not stripped:
        return True
    return dialect == "context" and (stripped[0] == "." or stripped.find(".") == len(stripped) - 1)


# In `double-braces` an opening mark may overlap the one before: the innermost pair of braces wins.
_INSIDE: dict[Dialect, re.Pattern[str]] = {
    "context": re.compile(r"%\]|\[%|[\[\]'\"]"),
    "double-braces": re.compile(r"\}\}|\{(?=\{)|[\[\]'\"]"),
}
_QUOTED_REST = {
    "'": re.compile(r"[^'\\\r\n]*+(?:\\[^\r\n][^'\\\r\n]*+)*+'"),
    '"': re.compile(r'[^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+"'),
}
_FOLLOWS_QUOTED = re.compile(r"\s*+(?:[\],)&|=!<>]|%\]|\}\})")


def _paired_tokens(text: str, dialect: Dialect) -> _Tokens:
    """Yield (start, end) of the complete tokens of a dialect with an opening and a closing mark.

    An opening mark inside a token restarts the scan there. A quoted name in brackets hides both marks; when
    its quote does not close on its line, in a place where a name can end, it hides nothing.
    """
    opener, closer = DELIMITERS[dialect]
    inside = _INSIDE[dialect].search
    overlap = 1 if dialect == "double-braces" else 0
    # Up to these places a quote was sought in vain, so that no text is searched twice.
    barren = {"'": -1, '"': -1}
    start = text.find(opener)
    while start >= 0:
        position = start + len(opener) - overlap
        depth = 0
        restart = -1
        while restart < 0:
            found = inside(text, position)
            if found is None:
                return
            mark = found.group()
            position = found.end()
            if mark == closer:
                yield start, position
                break
            if mark == "[":
                depth += 1
            elif mark == "]":
                depth = max(0, depth - 1)
            elif mark not in barren:
                restart = found.start()
            elif depth and position > barren[mark]:
                position = _after_quoted(text, position, mark, barren)
        start = restart if restart >= 0 else text.find(opener, position)


def _after_quoted(text: str, position: int, quote: str, barren: dict[str, int]) -> int:
    """Return the end of the quoted name that begins at `position`, or `position` when it does not close."""
    end = _QUOTED_REST[quote].match(text, position)
    if end is None:
        ends = (text.find("\n", position), text.find("\r", position))
        barren[quote] = min((place for place in ends if place >= 0), default=len(text))
        return position
    if _FOLLOWS_QUOTED.match(text, end.end()) is None:
        barren[quote] = end.end() - 1
        return position
    return end.end()


_WORD = re.compile(r"\{([^\S\r\n]*+[^\W\d]\w*+[^\S\r\n]*+)\}")


def _single_brace_tokens(text: str, names: frozenset[str], remarks: _Remarks) -> _Tokens:
    """Yield (start, end) of `{name}` for every known name, the longest at a place; note unknown words.

    Only declared names and parameters are placeholders, so the braces of JSON and of code stay text.
    """
    lengths = {len(name) for name in names}
    odd = _odd_names(names)
    near = _NearNames(names)
    close = -1
    start = text.find("{")
    while start >= 0:
        if close <= start:
            close = text.find("}", start + 1)
            if close < 0:
                return
        long = odd.match(text, start) if odd is not None else None
        end = long.end() if long is not None else -1
        length = close - start - 1
        if end < 0 and length in lengths and text[start + 1 : close] in names:
            end = close + 1
        if end < 0:
            word = _WORD.match(text, start)
            if word is not None:
                remarks.append(_unknown_word(word, near))
            start = text.find("{", start + 1)
            continue
        if start > 0 and text[start - 1] == "{" and text.startswith("}", end):
            remarks.append(_doubled_braces(start - 1, end + 1, text[start:end]))
        yield start, end
        start = text.find("{", end)


def _odd_names(names: frozenset[str]) -> re.Pattern[str] | None:
    """Return a pattern for the names that hold a closing brace themselves, the longest first."""
    odd = sorted((name for name in names if "}" in name), key=len, reverse=True)
    return re.compile("|".join(re.escape("{" + name + "}") for name in odd)) if odd else None


def _remark(
    severity: Literal["error", "warning", "info"],
    code: str,
    message: str,
    place: tuple[int, int],
    hint: str,
    *fixes: Fix,
) -> Callable[[LineIndex], Diagnostic]:
    """Return the diagnostic as a function of the line index, which is only built when there is a remark."""

    def diagnostic(lines: LineIndex) -> Diagnostic:
        line, column = lines.position(place[0])
        return Diagnostic(severity, code, message, *place, line, column, hint=hint, fixes=fixes)

    return diagnostic


def _empty_placeholder(start: int, end: int) -> Callable[[LineIndex], Diagnostic]:
    return _remark(
        "warning",
        "empty_placeholder",
        "this placeholder names nothing, so it stays as text",
        (start, end),
        "write the name of a value between the marks, or remove them",
    )


class _NearNames:
    """Finds the name that a word was probably meant to be, and compares only so many names per template."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._left = _NAMES_TO_SEARCH
        self._known: dict[str, str | None] = {}
        self._folded: dict[str, str] | None = None

    def of(self, word: str) -> str | None:
        """Return the name that is `word`, or differs only in case, or, while the budget lasts, resembles it."""
        if word in self._names:
            return word
        if word not in self._known:
            if self._folded is None:
                self._folded = {name.casefold(): name for name in sorted(self._names)}
            found = self._folded.get(word.casefold())
            if found is None and self._left > 0:
                self._left -= len(self._names)
                found = nearest(word, self._names)
            self._known[word] = found
        return self._known[word]


def _unknown_word(word: re.Match[str], names: _NearNames) -> Callable[[LineIndex], Diagnostic]:
    body, place = word.group(1), word.span()
    name = body.strip()
    near = names.of(name)
    if near is None:
        hint = f"add a parameter or declare a placeholder named {name}, or leave it when it is meant as text"
        return _remark("warning", "unknown_placeholder", f"{{{body}}} is no placeholder", place, hint)
    reason = "blanks count" if near == name else "case counts" if near.casefold() == name.casefold() else ""
    code, reason = "unknown_placeholder", ""
    if near == name:
        code, reason = "blanks_in_placeholder", " (blanks count)"
    elif near.casefold() == name.casefold():
        code, reason = "wrong_case", " (case counts)"
    hint = f"did you mean {{{near}}}?{reason}"
    fix = Fix(f"Change to {{{near}}}", *place, f"{{{near}}}")
    return _remark("warning", code, f"{{{body}}} is no placeholder", place, hint, fix)


def _doubled_braces(start: int, end: int, token: str) -> Callable[[LineIndex], Diagnostic]:
    return _remark(
        "warning",
        "doubled_braces",
        f"the outer braces around {token} stay in the text",
        (start, end),
        f"one pair of braces is enough here: {token}",
        Fix(f"Change to {token}", start, end, token),
    )


def _remark_on_tags(text: str, spans: Iterable[Span], remarks: _Remarks) -> None:
    """Note the first statement tag of another template language; here it is text."""
    for span in spans:
        if span.kind != "literal":
            continue
        for tag in ("{%", "{#"):
            start = text.find(tag, span.start, span.end)
            if start >= 0:
                remarks.append(
                    _remark(
                        "info",
                        "foreign_tag",
                        f"{tag} is text here: this dialect has no statements and no comments",
                        (start, start + len(tag)),
                        "remove it unless the model is meant to read it",
                    )
                )
                return
