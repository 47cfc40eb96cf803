"""Reads a JSON text: fast where nothing is wrong with it, with care where something is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text.places import Places
from workbench.engine.json_text.scanner import BOM, RAW_SURROGATE, Scanner
from workbench.engine.text import LineIndex

__all__ = ["DEFAULT_DEPTH", "JsonDocument", "parse_json", "parse_json_bytes"]

DEFAULT_DEPTH: Final = 512
"""Nesting levels of arrays and objects that the readers accept unless told otherwise."""

_ANY_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LONE_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a whole pair
    r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"  # half of one
    r"|\\.",  # any other escape, so that `\\ud800` is read as a backslash and text
    re.DOTALL,
)
_LONG_EXPONENT = re.compile(r"[eE]\+?[0-9]{3}")
_TWO_DIGITS = re.compile(r"(?=[0-9][0-9])")
_BRACKETS_ONLY: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NOT_BRACKETS: Final = bytes(i for i in range(256) if i not in b"[{]}")


class JsonDocument:
    """A JSON text that was read: its value, what is wrong with it, and where each part stands.

    `value` is the Python value (`None` where `ok` is False), `ok` tells whether the text is JSON and all of
    its numbers and strings can be held, `diagnostics` holds errors and warnings with offsets, lines, columns
    and pointers. Positions are half-open code-point offsets into `text`; the first question for one reads
    the text a second time. Where the text is broken, positions reach as far as the text could be read.
    """

    __slots__ = ("__dict__", "_max_depth", "diagnostics", "file", "ok", "text", "value")

    def __init__(
        self,
        text: str,
        value: Any,
        ok: bool,
        diagnostics: tuple[Diagnostic, ...] = (),
        *,
        file: str | None = None,
        max_depth: int = DEFAULT_DEPTH,
        places: Places | None = None,
    ) -> None:
        self.text = text
        self.value = value
        self.ok = ok
        self.diagnostics = diagnostics
        self.file = file
        self._max_depth = max_depth
        if places is not None:
            self.__dict__["_places"] = places

    def __repr__(self) -> str:
        state = "ok" if self.ok else "not ok"
        return f"<JsonDocument {state}, {len(self.text)} characters, {len(self.diagnostics)} diagnostics>"

    @cached_property
    def lines(self) -> LineIndex:
        """Converts offsets into `text` to lines and columns."""
        return LineIndex(self.text)

    @cached_property
    def _places(self) -> Places:
        scanner = Scanner(self.text, self._max_depth, self.file)
        scanner.run()
        return scanner.places

    def span(self, pointer: str) -> tuple[int, int] | None:
        """Return (start, end) of the value at `pointer`, or `None` where there is none."""
        return self._places.span(pointer)

    def key_span(self, pointer: str) -> tuple[int, int] | None:
        """Return (start, end) of the name of the member at `pointer`, with its quotes."""
        return self._places.key_span(pointer)

    def pointer_at(self, offset: int) -> str | None:
        """Return the pointer of the innermost value, or member by its name, that `offset` lies in or touches."""
        return self._places.pointer_at(offset)

    def pointers(self) -> Iterator[str]:
        """Yield the pointer of every value in the order of the text, the root first."""
        return self._places.pointers()


def parse_json(text: str, *, max_depth: int = DEFAULT_DEPTH, file: str | None = None) -> JsonDocument:
    """Read `text` as one JSON value by RFC 8259; never raises on any text.

    Integers of up to 4,300 digits are exact, other numbers are doubles. A leading byte order mark is
    skipped. Codes of the diagnostics: errors `syntax`, `unclosed`, `trailing_text`, `control_char`,
    `non_finite`, `number_overflow`, `lone_surrogate`, `too_deep` (more than `max_depth` levels); the warning
    `duplicate_key` (the last member wins). `file` is the name that diagnostics carry.
    """
    fast = _read_fast(text, max_depth)
    if fast is not None:
        return JsonDocument(text, fast[0], True, file=file, max_depth=max_depth)
    scanner = Scanner(text, max_depth, file)
    scanner.run()
    ok = not any(diagnostic.severity == "error" for diagnostic in scanner.diagnostics)
    return JsonDocument(
        text,
        scanner.value if ok else None,
        ok,
        tuple(scanner.diagnostics),
        file=file,
        max_depth=max_depth,
        places=scanner.places,
    )


def parse_json_bytes(data: bytes, *, max_depth: int = DEFAULT_DEPTH, file: str | None = None) -> JsonDocument:
    """Read UTF-8 `data` as `parse_json` reads text; a byte order mark is removed.

    Bytes that are not UTF-8 give one error of code `encoding` at the first of them; `text` then shows U+FFFD
    in their places.
    """
    body = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return _not_utf8(data, body, error.start, max_depth, file)
    if "\0" in text[:2]:  # no JSON text begins so, but every UTF-16 and UTF-32 file of ASCII does
        return _not_utf8(data, body, body.index(0), max_depth, file)
    return parse_json(text, max_depth=max_depth, file=file)


def _not_utf8(data: bytes, body: bytes, at: int, max_depth: int, file: str | None) -> JsonDocument:
    """Return the document for bytes that are not UTF-8 from byte `at` of `body` on."""
    text = body.decode("utf-8", "replace")
    offset = len(body[:at].decode("utf-8"))
    line, column = LineIndex(text).position(offset)
    diagnostic = Diagnostic(
        "error",
        "encoding",
        f"The byte 0x{body[at]:02X} at byte {at + len(data) - len(body)} is not UTF-8 text.",
        offset,
        min(offset + 1, len(text)),
        line,
        column,
        hint=f"JSON files are UTF-8; this one looks like {_other_encoding(data)}. Save it as UTF-8.",
        file=file,
    )
    return JsonDocument(text, None, False, (diagnostic,), file=file, max_depth=max_depth)


def _other_encoding(data: bytes) -> str:
    """Name the encoding that bytes which are not UTF-8 most likely have."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(data) > 1 and 0 in data[:2]):
        return "UTF-16 or UTF-32"
    return "Latin-1 or Windows-1252"


def _read_fast(text: str, max_depth: int) -> tuple[Any] | None:
    """Return the value in a tuple, or `None` where the text must be read with care."""
    if not text.isascii() and RAW_SURROGATE.search(text):
        return None
    if _ESCAPED_SURROGATE.search(text) and any(match.group(1) for match in _LONE_ESCAPE.finditer(text)):
        return None
    outside: str | None = None
    if text.count("[") + text.count("{") > max_depth:
        outside = _ANY_STRING.sub("", text)
        if _depth(outside) > max_depth:
            return None
    members = 0

    def count(made: dict[str, Any]) -> dict[str, Any]:
        nonlocal members
        members += len(made)
        return made

    decoder = json.JSONDecoder(
        object_hook=count,
        parse_constant=_refuse_constant,
        parse_float=_finite if _may_overflow(text) else None,
    )
    try:
        value = decoder.decode(text[1:] if text.startswith(BOM) else text)
    except (ValueError, RecursionError):
        return None
    # Every member has one colon outside strings; where the objects hold fewer, names were repeated.
    if text.count(":") != members:
        if outside is None:
            outside = _ANY_STRING.sub("", text)
        if outside.count(":") != members:
            return None
    return (value,)


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _may_overflow(text: str) -> bool:
    """Tell whether a number could leave the range of a double: by a long exponent or by 200 digits in a row.

    A row of 200 digits holds two of every hundredth character and all between them, so few places are looked at.
    """
    if _LONG_EXPONENT.search(text):
        return True
    return any(
        text[100 * pair.start() : 100 * pair.start() + 101].isdigit()
        for pair in _TWO_DIGITS.finditer(text[::100])
    )


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(digits)
    return number


def _depth(outside: str) -> int:
    """Return the greatest nesting of the brackets in a text without strings, without recursion."""
    steps = outside.encode("ascii", "replace").translate(_BRACKETS_ONLY, _NOT_BRACKETS)
    return max(accumulate(memoryview(steps).cast("b")), default=0)
