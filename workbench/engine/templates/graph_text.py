"""Leads from the placeholders of an object graph to the JSON text in which people write the graph, and back.

A placeholder knows its string in the graph and its offsets in that string. In the text the string has quotes
and escapes, so that the same character stands somewhere else.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from workbench.engine.diagnostics import Diagnostic, Fix
from workbench.engine.json_text import JsonDocument, escape_pointer
from workbench.engine.templates.completion import Candidate, Completion, completion_at
from workbench.engine.templates.conversion import ConversionError, convert_template
from workbench.engine.templates.options import Dialect, TemplateOptions
from workbench.engine.templates.records import PlaceholderUse
from workbench.engine.templates.rename import Extraction, apply_fixes, extract_parameter, rename_in_template
from workbench.engine.text import LineIndex

_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class JsonString:
    """One string of a JSON text: what it says, and where each character of it stands.

    `start` and `end` are half-open code-point offsets into the JSON text, quotes included. `text` is the
    value. A string whose closing quote is missing ends where the range ends.
    """

    def __init__(self, source: str, start: int, end: int) -> None:
        self.start = start
        self.end = end
        closed = end - start >= 2 and source[end - 1] == '"'
        inner = source[start + 1 : end - 1 if closed else end]
        parts: list[str] = []
        # After each escape, the offsets at which the plain text goes on: in the value, in the JSON text.
        self._values: list[int] = [0]
        self._sources: list[int] = [start + 1]
        done = length = 0
        for match in _ESCAPE.finditer(inner):
            plain = inner[done : match.start()]
            said = _unescaped(match.group())
            length += len(plain) + len(said)
            parts += (plain, said)
            done = match.end()
            self._values.append(length)
            self._sources.append(start + 1 + done)
        parts.append(inner[done:])
        self.text = "".join(parts)

    def to_source(self, offset: int) -> int:
        """Return where the character at `offset` of the value begins in the JSON text."""
        offset = max(0, min(offset, len(self.text)))
        at = bisect.bisect_right(self._values, offset) - 1
        return self._sources[at] + offset - self._values[at]

    def to_value(self, offset: int) -> int:
        """Return the offset in the value of what stands at `offset` of the JSON text."""
        at = max(0, bisect.bisect_right(self._sources, offset) - 1)
        value = self._values[at] + max(0, offset - self._sources[at])
        limit = self._values[at + 1] if at + 1 < len(self._values) else len(self.text)
        # A place inside an escape is the place of its character.
        return min(value, max(self._values[at], limit - 1) if at + 1 < len(self._values) else limit)


def _unescaped(escape: str) -> str:
    if escape[1] != "u":
        return _SIMPLE.get(escape[1], escape[1])
    if len(escape) == 6:
        return chr(int(escape[2:], 16))
    high, low = int(escape[2:6], 16), int(escape[8:], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def json_inner(text: str) -> str:
    """Return `text` as it is written between the quotes of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


class GraphText:
    """The JSON text of an object graph, with the place of every string in it.

    `document` is the text as it was read. Nodes are JSON Pointers, as in `PlaceholderUse.node`.
    """

    def __init__(self, document: JsonDocument) -> None:
        self.document = document
        self._strings: dict[tuple[str, bool], JsonString | None] = {}

    def string(self, node: str, is_key: bool = False) -> JsonString | None:
        """Return the string at `node` (its member's name with `is_key`), `None` where there is none."""
        key = (node, is_key)
        if key not in self._strings:
            span = self.document.key_span(node) if is_key else self.document.span(node)
            text = self.document.text
            self._strings[key] = (
                JsonString(text, *span) if span is not None and text[span[0] : span[0] + 1] == '"' else None
            )
        return self._strings[key]

    def string_at(self, offset: int) -> tuple[str, JsonString, bool] | None:
        """Return node, string and whether it is a name, for the string that holds `offset` of the text."""
        node = self.document.pointer_at(offset)
        for is_key in (False, True):
            string = self.string(node, is_key) if node is not None else None
            if node is not None and string is not None and string.start < offset < string.end:
                return node, string, is_key
        return None

    def span_of(self, use: PlaceholderUse) -> tuple[int, int] | None:
        """Return the place of a placeholder in the text."""
        return self.span(use.node, use.start, use.end, use.is_key)

    def span(self, node: str, start: int, end: int, is_key: bool = False) -> tuple[int, int] | None:
        """Return where the characters `start` to `end` of the string at `node` stand in the text."""
        string = self.string(node, is_key)
        return None if string is None else (string.to_source(start), string.to_source(end))

    def located(
        self, diagnostics: Iterable[Diagnostic], uses: Iterable[PlaceholderUse] = (), file: str | None = None
    ) -> list[Diagnostic]:
        """Return `diagnostics` with offsets, lines, columns and fixes of the text instead of those of a string.

        `uses` tell which of them concern a name. What names no node, or none that is a string, stays as it is.
        """
        names = {id(use.diagnostic) for use in uses if use.is_key}
        return [self._located(each, id(each) in names, file) for each in diagnostics]

    def _located(self, diagnostic: Diagnostic, is_key: bool, file: str | None) -> Diagnostic:
        if diagnostic.node is None or diagnostic.start is None:
            return diagnostic
        string = self.string(diagnostic.node, is_key) or self.string(diagnostic.node, not is_key)
        if string is None:
            return diagnostic
        end = diagnostic.start if diagnostic.end is None else diagnostic.end
        start = string.to_source(diagnostic.start)
        line, column = self.document.lines.position(start)
        return replace(
            diagnostic,
            start=start,
            end=string.to_source(end),
            line=line,
            column=column,
            file=file or diagnostic.file,
            fixes=tuple(_moved(fix, string) for fix in diagnostic.fixes),
        )

    def strings(self, *, keys: bool = False) -> Iterator[tuple[str, JsonString, bool]]:
        """Yield node, string and whether it is a name, for every string value (and, with `keys`, every name)."""
        waiting: list[tuple[str, Any]] = [("", self.document.value)]
        while waiting:
            node, value = waiting.pop()
            if keys and (name := self.string(node, True)) is not None:
                yield node, name, True
            if isinstance(value, str):
                if (string := self.string(node)) is not None:
                    yield node, string, False
            elif isinstance(value, dict):
                waiting += [(f"{node}/{escape_pointer(k)}", v) for k, v in reversed(list(value.items()))]
            elif isinstance(value, list):
                waiting += [(f"{node}/{i}", v) for i, v in reversed(list(enumerate(value)))]


def _moved(fix: Fix, string: JsonString) -> Fix:
    start, end = string.to_source(fix.start), string.to_source(fix.end)
    return replace(fix, start=start, end=end, replacement=json_inner(fix.replacement))


def rename_in_graph(
    graph: GraphText,
    pointer: str,
    new_name: str,
    options: TemplateOptions | None = None,
    *,
    names: Iterable[str] = (),
) -> tuple[Fix, ...]:
    """Return the edits of the graph's text that follow when the parameter at `pointer` is called `new_name`.

    As `rename_in_template`, for every string of the graph; names of members count with `replace_keys`.
    """
    options = options or TemplateOptions()
    known = frozenset(names)
    fixes: list[Fix] = []
    for _node, string, _is_key in graph.strings(keys=options.replace_keys):
        found = rename_in_template(string.text, pointer, new_name, options, names=known)
        fixes += [_moved(fix, string) for fix in found]
    return tuple(sorted(fixes, key=lambda fix: fix.start))


def extract_in_graph(
    graph: GraphText,
    start: int,
    end: int,
    name: str,
    options: TemplateOptions | None = None,
    *,
    names: Collection[str] = (),
) -> Extraction:
    """Put a placeholder in the place of a part of one string of the graph; `start` and `end` are of the text.

    Raises:
        ValueError: when the range is not inside one string, and as `extract_parameter` does.
    """
    found = graph.string_at(start) or graph.string_at(start + 1)
    if found is None or not found[1].start < start <= end < found[1].end:
        raise ValueError("select text inside one string of the graph")
    _node, string, _is_key = found
    first, last = string.to_value(start), string.to_value(end)
    made = extract_parameter(string.text, first, last, name, options, names=names)
    source = graph.document.text
    whole = source[: string.start] + f'"{json_inner(made.text)}"' + source[string.end :]
    return replace(made, text=whole)


def convert_graph(
    graph: GraphText, options: TemplateOptions, target: Dialect, *, names: Collection[str] = ()
) -> str:
    """Return the graph's text with every string in the dialect `target`; strings that stay keep their spelling.

    Raises:
        ConversionError: naming every place of the text that the target cannot express.
    """
    problems: list[Diagnostic] = []
    fixes: list[Fix] = []
    for node, string, is_key in graph.strings(keys=options.replace_keys):
        try:
            converted = convert_template(string.text, options, target, names=names)
        except ConversionError as error:
            problems += [graph._located(d.at(node=node), is_key, None) for d in error.diagnostics]
            continue
        if converted != string.text:
            fixes.append(Fix("Convert", string.start, string.end, f'"{json_inner(converted)}"'))
    if problems:
        raise ConversionError(problems)
    return apply_fixes(graph.document.text, fixes)


def completion_in_graph(
    text: str, offset: int, parameters: Any, options: TemplateOptions | None = None
) -> Completion | None:
    """Return what may be put at `offset` of the graph's JSON text, which may be broken while somebody types.

    As `completion_at`; the candidates are spelt as they must stand between the quotes of the string.
    """
    string = _string_on_line(text, offset)
    if string is None:
        return None
    found = completion_at(string.text, string.to_value(offset), parameters, options)
    if found is None:
        return None
    candidates = tuple(Candidate(json_inner(c.text), c.type, c.sample) for c in found.candidates)
    start, end = string.to_source(found.start), string.to_source(found.end)
    return Completion(start, end, found.prefix, candidates, json_inner(found.closing))


_QUOTE = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*')


def _string_on_line(text: str, offset: int) -> JsonString | None:
    """Return the string around `offset`, found from its own line, since JSON strings hold no line end."""
    line = LineIndex(text)
    begin = line.line_start(line.position(offset)[0])
    stop = min(
        (at for at in (text.find("\n", offset), text.find("\r", offset)) if at >= 0), default=len(text)
    )
    at = text.find('"', begin, stop)
    while 0 <= at < offset:
        found = _QUOTE.match(text, at + 1, stop)
        assert found is not None
        end = found.end() + 1 if text[found.end() : found.end() + 1] == '"' else stop
        if offset < end or end == stop:
            return JsonString(text, at, end) if at < offset else None
        at = text.find('"', end, stop)
    return None
