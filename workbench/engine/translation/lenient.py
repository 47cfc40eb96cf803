"""Mends JSON that is almost right, each edit named, for callers who ask for it.

Off by default: mending can change what was meant. Only what has one reading is mended: trailing commas, other
quotes, Python's literals, comments, raw control characters and missing closers. A text that stops inside a
value is never completed.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass

from workbench.engine.diagnostics import Fix
from workbench.engine.text import shorten
from workbench.engine.translation.scanning import SCALAR, space_end

_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_WORD = re.compile(r"(?:True|False|None|undefined)(?![\w$])")
_NAME = re.compile(r"[A-Za-z_$][\w$-]*+(?=\s*+:)")
_CLOSING_QUOTES = {'"': '"', "'": "'", "“": '”"', "„": '“”"', "‘": "’'", "’": "’", "”": "”"}
_ESCAPES = 'bfnrt"\\/'


@dataclass(frozen=True, slots=True)
class Mended:
    """The strict JSON text that was made of `reply[start:end]`, and the edits, as spans of the reply."""

    text: str
    start: int
    end: int
    edits: tuple[Fix, ...]

    def offset(self, mended_offset: int) -> int:
        """Return the offset in the reply that belongs to an offset in the mended text."""
        delta, starts, deltas = self.start, [], []
        for edit in self.edits:
            starts.append(edit.start - delta + len(edit.replacement))
            delta += (edit.end - edit.start) - len(edit.replacement)
            deltas.append(delta)
        index = bisect_right(starts, mended_offset) - 1
        return min(self.end, mended_offset + (deltas[index] if index >= 0 else self.start))


class _CannotMendError(Exception):
    pass


def mend_json(text: str, start: int = 0) -> Mended | None:
    """Return strict JSON for the almost-JSON object or array at `start`, or `None` where it has no one reading.

    Linear in the length of the text.
    """
    mender = _Mender(text, start)
    try:
        end = mender.run()
    except _CannotMendError:
        return None
    pieces, position = [], start
    for edit in mender.edits:
        pieces += [text[position : edit.start], edit.replacement]
        position = edit.end
    pieces.append(text[position:end])
    return Mended("".join(pieces), start, end, tuple(mender.edits))


class _Mender:
    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.position = start
        self.stack: list[str] = []
        self.edits: list[Fix] = []
        self.comma: int | None = None  # the comma that the next closer would make a trailing one

    def edit(self, title: str, start: int, end: int, replacement: str) -> None:
        self.edits.append(Fix(title, start, end, replacement))

    def run(self) -> int:
        """Walk the value and return the offset behind it."""
        if not self.text.startswith(("{", "["), self.position):
            raise _CannotMendError
        expect = "value"
        while expect != "done":
            self.skip()
            character = self.text[self.position] if self.position < len(self.text) else ""
            if character and character in "}]" and expect in ("item", "first", "comma"):
                expect = self.close(character)
            elif expect == "comma":
                expect = self.after_value(character)
            elif expect in ("first", "item") and self.stack[-1] == "}":
                expect = self.key()
            else:
                expect = self.value(character)
        return self.position

    def skip(self) -> None:
        while True:
            self.position = space_end(self.text, self.position)
            comment = _COMMENT.match(self.text, self.position)
            if comment is None:
                return
            self.edit("Leave out the comment", comment.start(), comment.end(), "")
            self.position = comment.end()

    def after_value(self, character: str) -> str:
        if character == ",":
            self.comma = self.position
            self.position += 1
            return "item"
        if not character:
            closers = "".join(reversed(self.stack))
            self.edit(f"Close with {closers}", self.position, self.position, closers)
            self.stack.clear()
            return "done"
        raise _CannotMendError

    def close(self, character: str) -> str:
        if self.comma is not None:
            self.edit("Leave out the trailing comma", self.comma, self.comma + 1, "")
            # A comment between comma and closer was noted first.
            self.edits.sort(key=lambda fix: fix.start)
            self.comma = None
        while self.stack and self.stack[-1] != character:
            if character not in self.stack:
                raise _CannotMendError
            closer = self.stack.pop()
            self.edit(f"Close with {closer}", self.position, self.position, closer)
        self.stack.pop()
        self.position += 1
        return "comma" if self.stack else "done"

    def key(self) -> str:
        self.comma = None
        name = _NAME.match(self.text, self.position)
        if name is not None:
            self.edit(f"Quote {name[0]}", name.start(), name.end(), json.dumps(name[0], ensure_ascii=False))
            self.position = name.end()
        elif self.position < len(self.text) and self.text[self.position] in _CLOSING_QUOTES:
            self.string()
        else:
            raise _CannotMendError
        self.skip()
        if not self.text.startswith(":", self.position):
            raise _CannotMendError
        self.position += 1
        return "value"

    def value(self, character: str) -> str:
        self.comma = None
        if character and character in "{[":
            self.stack.append("}" if character == "{" else "]")
            self.position += 1
            return "first"
        word = _WORD.match(self.text, self.position)
        scalar = SCALAR.match(self.text, self.position)
        if scalar is not None:
            self.position = scalar.end()
        elif word is not None:
            self.edit(f"Write {_WORDS[word[0]]} for {word[0]}", word.start(), word.end(), _WORDS[word[0]])
            self.position = word.end()
        elif character and character in _CLOSING_QUOTES:
            self.string()
        else:
            raise _CannotMendError
        return "comma"

    def string(self) -> None:
        """Read a string in any quotes; what JSON would not accept of it becomes one edit."""
        start = self.position
        strict = SCALAR.match(self.text, start)
        if strict is not None:
            self.position = strict.end()
            return
        closing = _CLOSING_QUOTES[self.text[start]]
        written: list[str] = ['"']
        position = start + 1
        while True:
            if position >= len(self.text):
                raise _CannotMendError  # cut inside a string: what follows is unknown
            character = self.text[position]
            if character == "\\":
                piece, position = self.escape(position)
                written.append(piece)
            elif character in closing:
                break
            else:
                written.append(json.dumps(character, ensure_ascii=False)[1:-1])
                position += 1
        written.append('"')
        self.position = position + 1
        original, replacement = self.text[start : position + 1], "".join(written)
        if original != replacement:
            self.edit(f"Write the string {shorten(original, 40)} as JSON", start, position + 1, replacement)

    def escape(self, position: int) -> tuple[str, int]:
        following = self.text[position + 1 : position + 2]
        if following and following in _ESCAPES:
            return "\\" + following, position + 2
        if following == "u" and re.match(r"[0-9a-fA-F]{4}", self.text[position + 2 : position + 6]):
            return self.text[position : position + 6], position + 6
        if following and following in "'’‘“”\n":
            return json.dumps(following, ensure_ascii=False)[1:-1], position + 2
        return "\\\\", position + 1
