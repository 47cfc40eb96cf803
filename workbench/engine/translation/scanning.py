"""Finds the places of a model's reply where JSON stands, in one pass over the text and without reading values.

A reply may hold prose, reasoning between tags, fenced blocks and JSON, in any order. The scan walks from the
left and looks at three things only: reasoning tags, fence lines, and opening brackets. What it finds are spans;
`extraction` reads and judges them. Every character is looked at a bounded number of times, so a reply of any
shape takes time in proportion to its length.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import NoReturn

from workbench.engine.json_text import DEFAULT_DEPTH

_WS = r"[ \t\r\n]*+"
STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![0-9.eE+A-Za-z_-])"
_LITERAL = r"(?:true|false|null)(?![A-Za-z0-9_])"
SCALAR = re.compile(f"{STRING}|{_NUMBER}|{_LITERAL}")
SPACE = re.compile(_WS)
_JSON_IN_STRING = re.compile(r'"(?:[ \t]|\\[nrt])*+[\[{]')
_KEY = re.compile(f"{STRING}{_WS}:")

_EVENT = re.compile(
    r"(?P<bracket>[\[{])"
    r"|<(?P<close>/?)think(?:ing)?(?:\s[^<>]*+)?>"
    r"|^[ ]{0,3}(?P<fence>`{3,}+|~{3,}+)(?P<info>[^`\n]*+)$",
    re.IGNORECASE | re.MULTILINE,
)
_TAG = re.compile(r"<(/?)think(?:ing)?(?:\s[^<>]*+)?>", re.IGNORECASE)
_CLOSING_TAG = re.compile(r"</think(?:ing)?(?:\s[^<>]*+)?>", re.IGNORECASE)
_STRING_OR_TAG = re.compile(
    r'"(?:[^"\\]|\\.)*+"|<(/?)think(?:ing)?(?:\s[^<>]*+)?>', re.IGNORECASE | re.DOTALL
)

# A run of opening brackets before the first thing that could be a value is read in one step.
_RUN = re.compile(rf"(?:[\[{{]{_WS})++")
# A dictionary in another notation: an object that was meant as the answer, not prose in braces.
_QUOTED_KEY = re.compile(r"['‘’“”](?:[^'‘’“”\\\n]|\\.)*+['‘’“”]\s*:")
# These count only where the answer itself begins with the bracket.
_MEANT_OBJECT = re.compile(r"(?:[A-Za-z_$][\w$-]*+|[0-9]++)\s*+:|//|/\*|,")
_MEANT_ARRAY = re.compile(r"['‘’“”,]|//|/\*|(?:True|False|None|NaN|-?Infinity|undefined)\b")


def space_end(text: str, position: int, limit: int | None = None) -> int:
    """Return the first offset from `position` on that is not white space of JSON."""
    match = SPACE.match(text, position, len(text) if limit is None else limit)
    return position if match is None else match.end()


@dataclass(frozen=True, slots=True)
class Found:
    """A complete piece of JSON in the reply: its half-open span, where it stood, and the fence's language."""

    start: int
    end: int
    source: str
    tag: str | None = None


@dataclass(slots=True)
class Scan:
    """What one pass over a reply found.

    `begin` is the offset at which the answer begins, behind reasoning that was dropped. `broken` is the offset
    of a bracket after which JSON began and then broke: the root that was meant. `dropped` are the spans of
    reasoning sections. `opened` is the first offset of a fenced block's content that begins with a bracket.
    """

    begin: int
    found: list[Found] = field(default_factory=list)
    broken: int | None = None
    dropped: list[tuple[int, int]] = field(default_factory=list)
    opened: int | None = None


@dataclass(frozen=True, slots=True)
class ValueEnd:
    """Where a value ends, or where it breaks; `nested` tells whether it holds another array or object."""

    end: int
    complete: bool
    nested: bool


def scan_reply(text: str, start: int, end: int, scalar_types: frozenset[str], skip_arrays: bool) -> Scan:
    """Return what `text[start:end]` holds.

    `scalar_types` are the JSON types of scalars that may be the whole answer in a fenced block. With
    `skip_arrays` a broken array of plain scalars, such as `[1 above]`, is prose and not a broken answer.
    """
    return _Scanner(text, start, end, scalar_types, skip_arrays).run()


def scalar_type(text: str, start: int) -> str:
    """Return the JSON type of the value that begins at `start`, from its first character."""
    first = text[start]
    return {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}.get(
        first, "number"
    )


class _Scanner:
    def __init__(
        self, text: str, start: int, end: int, scalar_types: frozenset[str], skip_arrays: bool
    ) -> None:
        self.text = text
        self.end = end
        self.scan = Scan(begin=start)
        self.scalar_types = scalar_types
        self.skip_arrays = skip_arrays
        self.fence: tuple[str, int, str] | None = (
            None  # its characters, the first offset of its content, its tag
        )
        self.no_closing_tag = False

    def run(self) -> Scan:
        position: int | None = self.scan.begin
        while position is not None:
            match = _EVENT.search(self.text, position, self.end)
            if match is None:
                break
            if match["bracket"]:
                position = self._bracket(match.start())
            elif match["fence"]:
                position = self._fence(match["fence"], match["info"], match.end())
            elif match["close"]:
                position = self._drop_before(match.end())
            else:
                position = self._reasoning(match.start(), match.end())
        return self.scan

    # --- reasoning ---------------------------------------------------------------------------------------

    def _drop_before(self, end: int) -> int:
        """Everything before a closing tag that nothing opened was reasoning."""
        self.scan.dropped.append((self.scan.begin, end))
        self.scan.begin = end
        self.scan.found.clear()
        self.scan.opened = None
        self.fence = None
        return end

    def _reasoning(self, start: int, end: int) -> int | None:
        closing = None if self.no_closing_tag else _CLOSING_TAG.search(self.text, end, self.end)
        if closing is not None:
            self.scan.dropped.append((start, closing.end()))
            if not self.text[self.scan.begin : start].strip():
                self.scan.begin = closing.end()
            return closing.end()
        self.no_closing_tag = True
        if self.text[self.scan.begin : start].strip():
            return end  # a tag in running text that nothing closes is text
        self.scan.dropped.append((start, self.end))
        self.scan.begin = self.end
        return None

    # --- fences ------------------------------------------------------------------------------------------

    def _fence(self, marks: str, info: str, line_end: int) -> int:
        if self.fence is not None and self._closes(marks) and not info.strip():
            self.fence = None
            return line_end
        content = space_end(self.text, line_end, self.end)
        words = info.split()
        self.fence = (marks, content, words[0].lower() if words else "")
        scalar = SCALAR.match(self.text, content, self.end)
        if content < self.end and self.text[content] in "{[":
            self.scan.opened = content if self.scan.opened is None else self.scan.opened
        elif scalar and self._may_answer(content) and self._in_fence(scalar.end()):
            self.scan.found.append(Found(content, scalar.end(), "fence", self.fence[2]))
            return scalar.end()
        return line_end

    def _may_answer(self, content: int) -> bool:
        """Tell whether a scalar alone may be the answer: by its type, or as a string that holds JSON."""
        kind = scalar_type(self.text, content)
        return kind in self.scalar_types or _JSON_IN_STRING.match(self.text, content, self.end) is not None

    def _closes(self, marks: str) -> bool:
        assert self.fence is not None
        return marks[0] == self.fence[0][0] and len(marks) >= len(self.fence[0])

    def _in_fence(self, end: int) -> bool:
        """Tell whether what ends at `end` is followed by the marks that close the open fence."""
        assert self.fence is not None
        after = space_end(self.text, end, self.end)
        return self.text.startswith(self.fence[0], after)

    # --- brackets ----------------------------------------------------------------------------------------

    def _bracket(self, first: int) -> int | None:
        inside = _RUN.match(self.text, first, self.end).end()  # type: ignore[union-attr]
        last = max(self.text.rfind("{", first, inside), self.text.rfind("[", first, inside))
        # No value begins behind a `{` but in another bracket, so the braces before the last bracket are prose.
        brace = self.text.rfind("{", first, last)
        start = first if brace < 0 else space_end(self.text, brace + 1, self.end)
        is_object = self.text[last] == "{"
        if not self._begins_value(first, inside, is_object):
            return inside
        ending = self._value_end(start, nested=is_object)
        if ending.complete:
            self._add(start, ending.end)
            return ending.end
        if self.text[start] == "[" and self.skip_arrays and not ending.nested:
            return max(ending.end, inside)
        return self._broken_root(start)

    def _begins_value(self, start: int, inside: int, is_object: bool) -> bool:
        """Tell whether JSON begins behind the brackets at `start`; if not, they are prose."""
        if inside >= self.end:
            return False
        first = self.text[inside]
        leads = start == self._answer_start()
        if is_object:
            if first in '"}' or _QUOTED_KEY.match(self.text, inside, self.end):
                return True
            return leads and _MEANT_OBJECT.match(self.text, inside, self.end) is not None
        if first in '"]' or SCALAR.match(self.text, inside, self.end):
            return True
        return leads and _MEANT_ARRAY.match(self.text, inside, self.end) is not None

    def _answer_start(self) -> int:
        """Return the offset of the answer's first character: of the open fence's content, or of the reply."""
        if self.fence is not None:
            return self.fence[1]
        return space_end(self.text, self.scan.begin, self.end)

    def _value_end(self, start: int, nested: bool) -> ValueEnd:
        if nested:
            # A failure here ends the scan, so the decoder's own cost of reporting it is paid once.
            fast = _decoded_end(self.text, start)
            if fast is not None and fast <= self.end:
                return ValueEnd(fast, True, True)
        return find_value_end(self.text, start, self.end)

    def _add(self, start: int, end: int) -> None:
        tag = None if self.fence is None else self.fence[2]
        fenced = self.fence is not None and start == self.fence[1] and self._in_fence(end)
        self.scan.found.append(Found(start, end, "fence" if fenced else "text", tag))

    def _broken_root(self, start: int) -> int | None:
        """JSON began and broke: the answer, unless a closing tag says that it was still reasoning."""
        depth, behind = 0, None
        for match in _STRING_OR_TAG.finditer(self.text, start, self.end):
            if match[0][0] == '"':
                continue
            if not match[1]:
                depth += 1
            elif depth:
                depth -= 1
            else:
                behind = match.end()
        if behind is not None:
            return self._drop_before(behind)
        self.scan.broken = start
        return None


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)


def _decoded_end(text: str, start: int) -> int | None:
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def find_value_end(text: str, start: int, limit: int | None = None) -> ValueEnd:
    """Return where the strict JSON value at `start` ends, or where it breaks.

    No value is built and nothing recurses. What is nested deeper than the reader of JSON goes is broken.
    """
    end = len(text) if limit is None else limit
    stack: list[str] = []
    nested = False
    position = start
    expect = "value"
    while True:
        position = space_end(text, position, end)
        character = text[position] if position < end else ""
        if expect in ("end or key", "end or value") and character and character == stack[-1]:
            position, expect = position + 1, _closed(stack)
        elif expect in ("key", "end or key"):
            key = _KEY.match(text, position, end)
            if key is None:
                return ValueEnd(position, False, nested)
            position, expect = key.end(), "value"
        elif expect in ("value", "end or value"):
            if character and character in "{[":
                nested = nested or bool(stack)
                stack.append("}" if character == "{" else "]")
                if len(stack) > DEFAULT_DEPTH:
                    return ValueEnd(position, False, nested)  # deeper than any reader goes
                position, expect = position + 1, "end or key" if character == "{" else "end or value"
            else:
                scalar = SCALAR.match(text, position, end)
                if scalar is None:
                    return ValueEnd(position, False, nested)
                position, expect = scalar.end(), "comma" if stack else "done"
        elif character == ",":
            position, expect = position + 1, "key" if stack[-1] == "}" else "value"
        elif character and character == stack[-1]:
            position, expect = position + 1, _closed(stack)
        else:
            return ValueEnd(position, False, nested)
        if expect == "done":
            return ValueEnd(position, True, nested)


def _closed(stack: list[str]) -> str:
    stack.pop()
    return "comma" if stack else "done"
