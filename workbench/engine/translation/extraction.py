"""Finds the JSON in a model's reply, because replies also hold prose, reasoning, fences, drafts and echoes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.engine.diagnostics import Diagnostic, Fix, has_errors
from workbench.engine.json_text import JsonDocument, dumps, parse_json
from workbench.engine.text import LineIndex
from workbench.engine.translation.json_values import json_equal, json_type
from workbench.engine.translation.lenient import Mended, mend_json
from workbench.engine.translation.partial import partial_json
from workbench.engine.translation.scanning import Found, Scan, refuse_constant, scalar_type, scan_reply
from workbench.engine.translation.schema_roots import ALL_TYPES, allowed_types
from workbench.engine.translation.settings import Profile

if TYPE_CHECKING:
    from workbench.engine.schemas import JsonSchema

MAX_CANDIDATES = 64
"""How many complete candidates are validated, counted from the end of the reply."""

_VISIBLE = re.compile(r"[^\r\n]")
_WHOLE_STARTS = frozenset('{["-0123456789tfn')
_OTHER_LANGUAGES_RANK = 1
_JSON_TAGS = frozenset({None, "", "json", "jsonc", "json5", "jsonl", "application/json"})


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says of a candidate: the value after it was prepared (nulls stripped, wrapping undone),
    the pointers of what was removed, and what is wrong with it."""

    value: Any
    diagnostics: tuple[Diagnostic, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not has_errors(self.diagnostics)

    @property
    def errors(self) -> int:
        """How many things are wrong; each missing property counts."""
        return sum(
            len(d.expected) if d.keyword == "required" and isinstance(d.expected, (list, tuple)) else 1
            for d in self.diagnostics
            if d.severity == "error"
        )


Judge = Callable[[Any, JsonDocument | None], Judgement]
"""Judges a parsed value; the document, when there is one, gives spans in the candidate's own text."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One piece of JSON in a reply, as a list of candidates shows it.

    `status` is `chosen`, `valid`, `invalid`, `echo`, `type` (a root type that the schema does not allow) or
    `broken`; `errors` counts what the schema found wrong, `None` where it was not asked.
    """

    start: int
    end: int
    source: str
    status: str
    errors: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the candidate as a JSON object."""
        return {
            "start": self.start,
            "end": self.end,
            "source": self.source,
            "status": self.status,
            "errors": self.errors,
        }


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found in a reply.

    `outcome` is `ok`, `no_json`, `empty`, `syntax`, `invalid` (the JSON does not fit the schema),
    `schema_echo` or `ambiguous` (only in the strict profile). `span` is the half-open span of the chosen JSON
    in `reply`, `source` where it stood: `whole`, `fence`, `text`, `outer` (first to last brace) or `string` (JSON
    inside a JSON string). `notes` say in words what had to be done. `edits` are the local edits of the lenient
    reading, as spans of the reply. `partial` is the preview of a reply that broke off. Diagnostics have
    spans in the reply.
    """

    reply: str
    outcome: str
    value: Any = None
    span: tuple[int, int] | None = None
    source: str | None = None
    notes: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    edits: tuple[Fix, ...] = ()
    removed: tuple[str, ...] = ()
    partial: Any = None
    judgement: Judgement | None = field(default=None, compare=False)

    @property
    def ok(self) -> bool:
        """Whether a value was found and nothing is wrong with it."""
        return self.outcome == "ok"

    @property
    def json_text(self) -> str | None:
        """The chosen JSON as it stands in the reply."""
        return None if self.span is None else self.reply[self.span[0] : self.span[1]]

    @property
    def prologue(self) -> str:
        """The text before the chosen JSON."""
        return "" if self.span is None else self.reply[: self.span[0]]

    @property
    def epilogue(self) -> str:
        """The text behind the chosen JSON."""
        return "" if self.span is None else self.reply[self.span[1] :]


def extract_json(
    text: str,
    *,
    schema: JsonSchema | dict[str, Any] | str | bool | None = None,
    profile: Profile = "smart",
    lenient: bool = False,
) -> Extraction:
    """Return the JSON in a reply, with where it stood and what is wrong with it. Any text gives a result.

    `schema` decides between candidates and finds what does not fit; without one every JSON value will do.
    `profile` is `smart`, `strict` (an ambiguous reply and a repeated name are errors) or `compat` (from the
    first `{` to the last `}`, the rule of TypeChat). `lenient` mends almost-JSON and lists each edit. Time is
    linear in the length of the text.

    Raises:
        SchemaError: the schema itself is wrong.
    """
    compiled = _compiled(schema)
    root = None if compiled is None else compiled.value
    return extract_judged(text, root, _schema_judge(compiled), profile, lenient)


def extract_judged(
    text: str, root: Any, judge: Judge, profile: Profile = "smart", lenient: bool = False
) -> Extraction:
    """Do what `extract_json` does, with any judge; `root` is the schema value that decides about root types."""
    if profile == "compat":
        return _extract_outer(text, judge)
    return _Extractor(text, root, judge, profile, lenient).run()


def _compiled(schema: Any) -> JsonSchema | None:
    if schema is None:
        return None
    from workbench.engine.schemas import JsonSchema

    if isinstance(schema, JsonSchema):
        return schema
    return JsonSchema.parse(schema) if isinstance(schema, str) else JsonSchema.from_value(schema)


def _schema_judge(schema: JsonSchema | None) -> Judge:
    def judge(value: Any, document: JsonDocument | None) -> Judgement:
        if schema is None:
            return Judgement(value)
        return Judgement(value, tuple(schema.check(value, document=document)))

    return judge


@dataclass(slots=True)
class _Read:
    """A candidate that was read and judged; `key` is its place in the order of preference."""

    found: Found
    value: Any
    warnings: tuple[Diagnostic, ...]
    judgement: Judgement
    notes: list[str]
    mended: Mended | None = None

    @property
    def rank(self) -> int:
        return 0 if self.found.tag in _JSON_TAGS else _OTHER_LANGUAGES_RANK


class _Extractor:
    """One reply under the rules of the smart and the strict profile."""

    def __init__(self, text: str, schema: Any, judge: Judge, profile: Profile, lenient: bool) -> None:
        self.text = text
        self.schema = schema
        self.judge = judge
        self.strict = profile == "strict"
        self.lenient = lenient
        self.types = ALL_TYPES if schema is None else allowed_types(schema)
        self.notes: list[str] = []
        self.listed: list[Candidate] = []
        self.start = len(text) - len(text.lstrip("\ufeff \t\r\n\f\v"))
        self.end = max(self.start, len(text.rstrip()))

    # --- the steps ---------------------------------------------------------------------------------------

    def run(self) -> Extraction:
        if self.start >= self.end:
            problem = Diagnostic("error", "empty", "The reply is empty.", hint="Reply with the JSON.")
            return self.result("empty", diagnostics=(problem,))
        whole = self.read_whole(self.start, self.end)
        if whole is not None:
            return self.choose([whole], [])
        scan = scan_reply(
            self.text,
            self.start,
            self.end,
            self.types - {"object", "array"},
            "array" not in self.types,
        )
        if scan.dropped:
            self.notes.append("Reasoning between tags was left out.")
            begin, end = self.trimmed(scan.begin, self.end)
            answer = self.read_whole(begin, end) if begin < end else None
            if answer is not None:
                return self.choose([answer], [])
        kept = [f for f in scan.found if scalar_type(self.text, f.start) in self.types]
        others = [f for f in scan.found if scalar_type(self.text, f.start) not in self.types]
        return self.decide(scan, self.read_all(kept), others)

    def decide(self, scan: Scan, reads: list[_Read], others: list[Found]) -> Extraction:
        broken = scan.broken
        unread = next((read for read in reads if read.judgement is _UNREADABLE), None)
        good = [read for read in reads if read.judgement is not _UNREADABLE]
        fenced = [read for read in good if read.found.source == "fence" and read.judgement.holds]
        if broken is not None and fenced:
            self.notes.append("JSON that breaks off behind the fenced block was not used.")
            self.listed.append(Candidate(broken, self.end, "text", "broken"))
        elif broken is not None:
            return self.syntax(broken)
        if good:
            return self.choose(good, others)
        if unread is not None:
            return self.syntax(unread.found.start, unread.found.end)
        return self.nothing(scan, others)

    def nothing(self, scan: Scan, others: list[Found]) -> Extraction:
        """No candidate has a root that the schema allows."""
        begin = self.trimmed(scan.begin, self.end)[0]
        if self.listed and any(candidate.status == "echo" for candidate in self.listed):
            return self.echo()
        meant = [f for f in others if f.start == begin or f.source == "fence" or self.holds_object(f)]
        if meant:
            return self.choose([self.read(meant[-1])], [f for f in others if f is not meant[-1]])
        for start in (begin, scan.opened):
            if start is not None and start < self.end and self.text[start] in "{[":
                return self.syntax(start)
        self.listed += [self.candidate(f, "type") for f in others[-MAX_CANDIDATES:]]
        problem = Diagnostic(
            "error",
            "no_json",
            "The reply holds no JSON.",
            hint="Reply with the JSON alone, without an explanation.",
        )
        return self.result("no_json", diagnostics=(problem,))

    def choose(self, reads: list[_Read], others: Sequence[Found]) -> Extraction:
        reads = self.without_echoes(reads)
        if not reads:
            return self.echo()
        valid = [read for read in reads if read.judgement.holds]
        best = min((read.rank for read in valid), default=0)
        preferred = [read for read in valid if read.rank == best]
        chosen = preferred[-1] if preferred else min(reversed(reads), key=lambda read: read.judgement.errors)
        self.listed += [
            self.candidate(
                read.found,
                "chosen" if read is chosen else "valid" if read.judgement.holds else "invalid",
                read.judgement.errors,
            )
            for read in reads
        ]
        self.listed += [self.candidate(f, "type") for f in others[-MAX_CANDIDATES:]]
        distinct = any(not json_equal(read.value, chosen.value) for read in valid)
        return self.chosen(chosen, distinct)

    # --- reading -----------------------------------------------------------------------------------------

    def read_whole(self, start: int, end: int) -> _Read | None:
        """Read a span that is one JSON value and nothing else; `None` where it is not."""
        if self.text[start] not in _WHOLE_STARTS:
            return None
        document = parse_json(self.text[start:end])
        if not document.ok:
            return None
        return self.judged(Found(start, end, "whole"), document)

    def read_all(self, found: list[Found]) -> list[_Read]:
        if len(found) > MAX_CANDIDATES:
            self.notes.append(
                f"Only the last {MAX_CANDIDATES} of {len(found)} pieces of JSON were looked at."
            )
        return [self.read(item) for item in found[-MAX_CANDIDATES:]]

    def read(self, found: Found) -> _Read:
        document = parse_json(self.text[found.start : found.end])
        if not document.ok:
            return _Read(found, None, (), _UNREADABLE, [])
        return self.judged(found, document)

    def judged(self, found: Found, document: JsonDocument) -> _Read:
        value: Any = document.value
        notes: list[str] = []
        inner: JsonDocument | None = document
        if isinstance(value, str) and "string" not in self.types:
            unwrapped = parse_json(value)
            if unwrapped.ok and json_type(unwrapped.value) in self.types:
                notes.append("The JSON stood inside a JSON string and was unwrapped.")
                found = replace(found, source="string")
                value, inner = unwrapped.value, None
        if self.in_braces(found):
            notes.append("The JSON stood between doubled braces, as in a template.")
        judgement = self.judge(value, inner)
        judgement = replace(judgement, diagnostics=self.placed(judgement.diagnostics, found.start, inner))
        return _Read(found, value, self.placed(document.diagnostics, found.start, document), judgement, notes)

    def in_braces(self, found: Found) -> bool:
        text = self.text
        return (
            text[found.start] == "{"
            and text[max(0, found.start - 1) : found.start] == "{"
            and text[found.end : found.end + 1] == "}"
        )

    def placed(
        self, diagnostics: Sequence[Diagnostic], start: int, document: JsonDocument | None
    ) -> tuple[Diagnostic, ...]:
        """Move diagnostics from the candidate's own text into the reply."""
        if document is None:
            return tuple(replace(d, start=None, end=None, line=None, column=None) for d in diagnostics)
        return tuple(
            _moved(diagnostic, self.lines, lambda offset: offset + start) for diagnostic in diagnostics
        )

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)

    # --- results -----------------------------------------------------------------------------------------

    def without_echoes(self, reads: list[_Read]) -> list[_Read]:
        if not isinstance(self.schema, dict) or not self.schema:
            return reads
        kept = []
        for read in reads:
            if json_equal(read.value, self.schema):
                self.listed.append(self.candidate(read.found, "echo"))
                self.notes.append("The schema itself stood in the reply and was left out.")
            else:
                kept.append(read)
        return kept

    def echo(self) -> Extraction:
        problem = Diagnostic(
            "error",
            "schema_echo",
            "The reply repeats the schema instead of giving a value that fits it.",
            hint="Reply with a value, not with the schema.",
        )
        return self.result("schema_echo", diagnostics=(problem,))

    def chosen(self, read: _Read, distinct: bool) -> Extraction:
        warnings = list(read.warnings)
        outcome = "ok" if read.judgement.holds else "invalid"
        if self.strict and warnings:
            warnings = [replace(warning, severity="error") for warning in warnings]
            outcome = "invalid"
        if distinct:
            warnings.append(
                Diagnostic(
                    "error" if self.strict else "warning",
                    "ambiguous",
                    f"The reply holds several different values that fit; {self.taken(read)} was taken.",
                    start=read.found.start,
                    end=read.found.end,
                    hint="Reply with one JSON value only.",
                )
            )
            outcome = "ambiguous" if self.strict and outcome == "ok" else outcome
        return self.result(
            outcome,
            value=read.judgement.value,
            span=(read.found.start, read.found.end),
            source=read.found.source,
            notes=(*self.notes, *read.notes),
            diagnostics=(*read.judgement.diagnostics, *warnings),
            removed=read.judgement.removed,
            judgement=read.judgement,
            edits=() if read.mended is None else read.mended.edits,
        )

    def taken(self, read: _Read) -> str:
        later = [c for c in self.listed if c.status == "valid" and c.start > read.found.start]
        return "the last one" if not later else "the last one that is marked as JSON"

    def syntax(self, start: int, end: int | None = None) -> Extraction:
        """Report what breaks the JSON that begins at `start`, or mend it where that was asked for."""
        if self.lenient and end is None:
            mended = self.mended(start)
            if mended is not None:
                return self.choose([mended], [])
        stop = self.end if end is None else end
        diagnostics = _parsed_in_place(self.text, start, stop)
        preview = partial_json(self.text, start)
        self.listed.append(Candidate(start, stop, "text", "broken"))
        return self.result(
            "syntax",
            span=(start, stop),
            source="text",
            diagnostics=diagnostics,
            partial=None if preview is None else preview[0],
        )

    def mended(self, start: int) -> _Read | None:
        mended = mend_json(self.text, start)
        document = None if mended is None else parse_json(mended.text)
        if mended is None or document is None or not document.ok:
            return None
        judgement = self.judge(document.value, document)

        def placed(diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
            return tuple(_moved(diagnostic, self.lines, mended.offset) for diagnostic in diagnostics)

        judgement = replace(judgement, diagnostics=placed(judgement.diagnostics))
        note = f"The JSON was mended with {len(mended.edits)} local edit{'s' * (len(mended.edits) != 1)}."
        found = Found(start, mended.end, "text")
        return _Read(found, document.value, placed(document.diagnostics), judgement, [note], mended)

    def result(self, outcome: str, **fields: Any) -> Extraction:
        fields.setdefault("notes", tuple(self.notes))
        return Extraction(self.text, outcome, candidates=tuple(self.listed), **fields)

    def candidate(self, found: Found, status: str, errors: int | None = None) -> Candidate:
        return Candidate(found.start, found.end, found.source, status, errors)

    def holds_object(self, found: Found) -> bool:
        return "{" in self.text[found.start : min(found.end, found.start + 10_000)]

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        while start < end and self.text[start].isspace():
            start += 1
        return start, end


_UNREADABLE = Judgement(None)


def _moved(diagnostic: Diagnostic, lines: LineIndex, offset: Callable[[int], int]) -> Diagnostic:
    if diagnostic.start is None:
        return diagnostic
    start = offset(diagnostic.start)
    # The end is that of the last character, so that text left out behind it does not count.
    end = start if diagnostic.end is None else max(start, offset(diagnostic.end - 1) + 1)
    line, column = lines.position(start)
    fixes = tuple(replace(fix, start=offset(fix.start), end=offset(fix.end)) for fix in diagnostic.fixes)
    return replace(diagnostic, start=start, end=end, line=line, column=column, fixes=fixes)


def _extract_outer(text: str, judge: Judge) -> Extraction:
    """The rule of TypeChat: from the first `{` to the last `}`, read as ECMAScript reads JSON."""
    start, last = text.find("{"), text.rfind("}")
    if not 0 <= start < last:
        problem = Diagnostic("error", "no_json", f"The reply is not JSON:\n{text}")
        return Extraction(text, "no_json", diagnostics=(problem,))
    end = last + 1
    try:
        value = json.loads(
            text[start:end], parse_constant=refuse_constant, parse_float=_finite_or_none, parse_int=_as_double
        )
    except (ValueError, RecursionError):
        problem = _outer_problem(text, start, end)
        candidates = (Candidate(start, end, "outer", "broken"),)
        return Extraction(
            text, "syntax", span=(start, end), source="outer", diagnostics=(problem,), candidates=candidates
        )
    judgement = judge(value, None)
    chosen = Candidate(start, end, "outer", "chosen", judgement.errors)
    return Extraction(
        text,
        "ok" if judgement.holds else "invalid",
        value=judgement.value,
        span=(start, end),
        source="outer",
        diagnostics=judgement.diagnostics,
        removed=judgement.removed,
        candidates=(chosen,),
        judgement=judgement,
    )


def _parsed_in_place(text: str, start: int, end: int) -> tuple[Diagnostic, ...]:
    """Return what is wrong with the JSON of a span, with the lines and columns of the whole reply.

    Blanks stand for the text in front, because some messages name the place of an opening bracket in words.
    """
    return parse_json(_VISIBLE.sub(" ", text[:start]) + text[start:end]).diagnostics


def _outer_problem(text: str, start: int, end: int) -> Diagnostic:
    for diagnostic in _parsed_in_place(text, start, end):
        if diagnostic.severity == "error":
            return diagnostic
    return Diagnostic(
        "error", "syntax", "The JSON is too deep or holds a number that cannot be read.", start=start
    )


def _finite_or_none(digits: str) -> float | None:
    """A number beyond a double is Infinity there, which is written again as null before it is checked."""
    number = float(digits)
    return number if abs(number) != float("inf") else None


def _as_double(digits: str) -> int | None:
    """Integers are doubles there: beyond 2**53 they lose precision, beyond a double they are null."""
    try:
        number = float(digits)
    except (OverflowError, ValueError):
        return None
    if abs(number) == float("inf"):
        return None
    return int(number) if abs(number) > 2**53 else int(digits)


def canonical(value: Any) -> str:
    """Return one text for equal JSON values, to tell whether a reply brought anything new."""
    try:
        return dumps(_sorted(value))
    except (ValueError, TypeError, RecursionError):
        return repr(value)


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
