"""Offsets, lines, columns and the bytes of a text file, so that one text has one truth.

The engine counts code points. Qt counts UTF-16 units, people count lines and columns, files have a byte
order mark and a newline style. All conversions between these are here and nowhere else.
"""

from __future__ import annotations

import bisect
import codecs
import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

_LINE_END = re.compile(r"\r\n?|\n")


class LineIndex:
    """Converts between code-point offsets, 1-based lines and columns, and UTF-16 offsets of one text.

    A line ends at LF, CR LF or a lone CR, and nowhere else: VT, FF, NEL and U+2028 are characters of a line.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @cached_property
    def _astral(self) -> list[int]:
        """Offsets of the characters that take two UTF-16 units."""
        if self.text.isascii():
            return []
        return [i for i, character in enumerate(self.text) if character > "\uffff"]

    @property
    def line_count(self) -> int:
        """Number of lines; a text without a newline has one."""
        return len(self._starts)

    def line_start(self, line: int) -> int:
        """Return the offset at which `line` (from 1) begins; lines out of range are clamped."""
        return self._starts[max(1, min(line, len(self._starts))) - 1]

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column), both from 1, of a code-point `offset`, which is clamped to the text."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the code-point offset of a 1-based `line` and `column`, clamped to the text."""
        return max(0, min(self.line_start(line) + column - 1, len(self.text)))

    def to_utf16(self, offset: int) -> int:
        """Return the number of UTF-16 units before the code-point `offset`."""
        return offset + bisect.bisect_left(self._astral, offset)

    def from_utf16(self, units: int) -> int:
        """Return the code-point offset that lies `units` UTF-16 units into the text.

        Units in the middle of a surrogate pair give the offset of the pair's character.
        """
        low, high = 0, len(self.text)
        while low < high:
            middle = (low + high + 1) // 2
            if self.to_utf16(middle) <= units:
                low = middle
            else:
                high = middle - 1
        return low


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text and the two things about its file that are not text: byte order mark and newline style.

    `text` holds the characters exactly as they were decoded, line ends included. `newline` is the style in
    which new lines are written (`"\\n"`, `"\\r\\n"` or `"\\r"`): the first that occurs, LF where none does.
    """

    text: str
    bom: bool = False
    newline: str = "\n"

    @classmethod
    def decode(cls, data: bytes) -> TextFile:
        """Decode UTF-8 `data`.

        Raises:
            UnicodeDecodeError: where the bytes are not UTF-8; its `start` is the offset of the bad byte.
        """
        bom = data.startswith(codecs.BOM_UTF8)
        text = data[len(codecs.BOM_UTF8) if bom else 0 :].decode("utf-8")
        return cls(text, bom, newline_style(text))

    def encode(self) -> bytes:
        """Return the bytes of the file.

        Raises:
            UnicodeEncodeError: where the text holds a lone surrogate, which UTF-8 cannot carry.
        """
        return (codecs.BOM_UTF8 if self.bom else b"") + self.text.encode("utf-8")

    def with_text(self, text: str) -> TextFile:
        """Return a copy with another text and the same byte order mark and newline style."""
        return TextFile(text, self.bom, self.newline)


def newline_style(text: str) -> str:
    """Return the first line end that occurs in `text`, or LF."""
    lf = text.find("\n")
    cr = text.find("\r", 0, lf if lf >= 0 else len(text))
    if cr < 0:
        return "\n"
    return "\r\n" if cr + 1 == lf else "\r"


def nearest(word: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the candidate that a person most likely meant by `word`, or `None`.

    A candidate that differs only in case wins over any other.
    """
    options = [candidate for candidate in candidates if candidate != word]
    folded = word.casefold()
    for option in options:
        if option.casefold() == folded:
            return option
    found = difflib.get_close_matches(word, options, n=1, cutoff=cutoff)
    return found[0] if found else None


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str, *, keep: str = "") -> str:
    """Return `text` with the characters that steer a terminal or a line's direction as escapes, such as `\\x1b`.

    For messages that quote strangers: a server, a file, a name. Characters of `keep` stay as they are.
    """
    return _CONTROL.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)


def one_line(text: str) -> str:
    """Return `text` in one line: white space as single blanks, other control characters as escapes."""
    return visible(" ".join(text.split()))


def _escaped(character: str) -> str:
    return ascii(character)[1:-1]


def grouped(number: int) -> str:
    """Return a whole number with a narrow no-break space between groups of three digits, as prices have it."""
    return f"{number:,}".replace(",", "\u202f")


def shorten(text: str, limit: int = 80) -> str:
    """Return `text` cut to at most `limit` characters, with an ellipsis where something was left out."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def bad_byte(error: UnicodeDecodeError) -> tuple[int, str]:
    """Return the line (from 1) of a byte that is not UTF-8, and in words what it is."""
    line = error.object.count(b"\n", 0, error.start) + 1
    return line, f"the byte 0x{error.object[error.start]:02x} is not UTF-8"
