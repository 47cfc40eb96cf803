"""Finds where each key and value of a TOML text stands, so that an edit can touch just that place.

tomlkit reads the values and judges whether a text is TOML; it keeps no positions. This scanner walks a
text that tomlkit has accepted and records the span of everything in it, in one linear pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Path = tuple[str | int, ...]
Span = tuple[int, int]

_BLANKS = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""[^"\\]*+(?:(?:\\[\s\S]|"{1,2}(?!"))[^"\\]*+)*+"{3,5}'
    r"|'''[^']*+(?:'{1,2}(?!')[^']*+)*+'{3,5}"
    r'|"(?!"")[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
    r"|'(?!'')[^'\n]*+'"
)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_SIMPLE = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b", '"': '"', "\\": "\\"}

MAX_DEPTH = 200


class ScanError(ValueError):
    """The text is no TOML at `offset`."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Statement:
    """One `key = value`, `[table]` or `[[row]]` with the lines it takes.

    `path` leads to what it defines, `header` to the table under whose header it stands (for a header: its
    own path). `start` is the beginning of its first line, `end` lies behind its last line end.
    """

    kind: Literal["pair", "table", "row"]
    path: Path
    header: Path
    start: int
    end: int
    key: Span
    value: Span | None = None


@dataclass(slots=True)
class TomlMap:
    """The places of a TOML text: all statements in order, and the spans of keys and values by path."""

    statements: list[Statement] = field(default_factory=list)
    keys: dict[Path, Span] = field(default_factory=dict)
    values: dict[Path, Span] = field(default_factory=dict)
    rows: dict[Path, int] = field(default_factory=dict)

    def headers(self) -> Iterator[Statement]:
        """Yield the `[table]` and `[[row]]` statements in order."""
        return (statement for statement in self.statements if statement.kind != "pair")

    def place(self, path: Path, *, of_key: bool = False) -> Span | None:
        """Return the span that best shows `path`: its value or key, else that of the nearest parent."""
        while path:
            first, second = (self.keys, self.values) if of_key else (self.values, self.keys)
            span = first.get(path) or second.get(path)
            if span is not None:
                return span
            path = path[:-1]
        return None


def scan(text: str) -> TomlMap:
    """Return the places of everything in `text`.

    Raises:
        ScanError: where the text is no TOML in a way that the scanner notices.
    """
    return _Scanner(text).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.map = TomlMap()

    def run(self) -> TomlMap:
        table: Path = ()
        while True:
            self.at = _match_end(_GAP, self.text, self.at)
            if self.at >= len(self.text):
                return self.map
            start = self.text.rfind("\n", 0, self.at) + 1
            table = self._header(start) if self.text[self.at] == "[" else self._pair(start, table)

    def _header(self, start: int) -> Path:
        is_row = self.text.startswith("[[", self.at)
        opened = self.at
        self.at += 2 if is_row else 1
        names = self._dotted_key()
        closing = "]]" if is_row else "]"
        if not self.text.startswith(closing, self.at):
            raise ScanError("a table header is not closed", opened)
        self.at += len(closing)
        span = (opened, self.at)
        path: Path = ()
        for position, (name, _) in enumerate(names):
            path = (*path, name)
            is_last = position == len(names) - 1
            if is_last and is_row:
                self.map.rows[path] = self.map.rows.get(path, 0) + 1
            self.map.keys.setdefault(path, span)
            if path in self.map.rows:
                path = (*path, self.map.rows[path] - 1)
        self.map.keys[path] = span
        end = self._end_of_line()
        self.map.statements.append(Statement("row" if is_row else "table", path, path, start, end, span))
        return path

    def _pair(self, start: int, table: Path) -> Path:
        path, key, value = self._key_and_value(table, 0)
        end = self._end_of_line()
        self.map.statements.append(Statement("pair", path, table, start, end, key, value))
        return table

    def _key_and_value(self, table: Path, depth: int) -> tuple[Path, Span, Span]:
        key_start = self.at
        names = self._dotted_key()
        key = (key_start, names[-1][1][1])
        path = table
        for name, span in names:
            path = (*path, name)
            self.map.keys.setdefault(path, span)
        if not self.text.startswith("=", self.at):
            raise ScanError("`=` is missing after a key", self.at)
        self.at = _match_end(_BLANKS, self.text, self.at + 1)
        value_start = self.at
        self._value(path, depth)
        value = (value_start, self.at)
        self.map.values[path] = value
        return path, key, value

    def _value(self, path: Path, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise ScanError("values are nested too deeply", self.at)
        character = self.text[self.at : self.at + 1]
        if character == "[":
            self._array(path, depth)
        elif character == "{":
            self._inline_table(path, depth)
        elif character in ('"', "'"):
            found = _STRING.match(self.text, self.at)
            if found is None:
                raise ScanError("a string is not closed", self.at)
            self.at = found.end()
        else:
            scalar = _SCALAR.match(self.text, self.at)
            if scalar is None:
                raise ScanError("a value is missing", self.at)
            self.at += len(scalar.group().rstrip(" \t"))

    def _array(self, path: Path, depth: int) -> None:
        opened = self.at
        self.at += 1
        index = 0
        while True:
            self.at = _match_end(_GAP, self.text, self.at)
            character = self.text[self.at : self.at + 1]
            if character == "]":
                self.at += 1
                return
            if not character:
                raise ScanError("an array is not closed", opened)
            if character == ",":
                self.at += 1
                continue
            start = self.at
            self._value((*path, index), depth + 1)
            self.map.values[(*path, index)] = (start, self.at)
            index += 1

    def _inline_table(self, path: Path, depth: int) -> None:
        opened = self.at
        self.at += 1
        while True:
            self.at = _match_end(_GAP, self.text, self.at)
            character = self.text[self.at : self.at + 1]
            if character == "}":
                self.at += 1
                return
            if not character:
                raise ScanError("an inline table is not closed", opened)
            if character == ",":
                self.at += 1
                continue
            self._key_and_value(path, depth + 1)

    def _dotted_key(self) -> list[tuple[str, Span]]:
        names = []
        while True:
            self.at = _match_end(_BLANKS, self.text, self.at)
            found = _BARE_KEY.match(self.text, self.at) or _STRING.match(self.text, self.at)
            if found is None:
                raise ScanError("a key is missing", self.at)
            self.at = found.end()
            names.append((decode_key(found.group()), found.span()))
            self.at = _match_end(_BLANKS, self.text, self.at)
            if not self.text.startswith(".", self.at):
                return names
            self.at += 1

    def _end_of_line(self) -> int:
        found = _REST_OF_LINE.match(self.text, self.at)
        if found is None:
            raise ScanError("a line goes on after its value", self.at)
        self.at = found.end()
        return self.at


def decode_key(token: str) -> str:
    """Return the name that a bare or quoted key token stands for."""
    if token.startswith("'"):
        return token[1:-1]
    if token.startswith('"'):
        return _ESCAPE.sub(_decode_escape, token[1:-1])
    return token


def _decode_escape(found: re.Match[str]) -> str:
    digits = found.group(1) or found.group(2) or found.group(3)
    if digits:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else found.group()
    return _SIMPLE.get(found.group(4), found.group())


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
