"""The one place where the engine's text and the text of a Qt document are turned into each other.

A Qt document counts UTF-16 units, has one kind of line end, and swallows some characters. The engine's text
keeps them all. Characters that a document would swallow travel as stand-ins that do not occur in the text.
"""

from __future__ import annotations

import bisect
import re
from functools import cached_property

from PySide6.QtGui import QTextDocument

from workbench.engine.text import LineIndex, newline_style

# A document turns each of these into a line end, and a lone surrogate or a leading BOM is dropped on the way
# into Qt.
_SWALLOWED = re.compile("[\r\u2029\ufdd0\ufdd1\ufeff\ufffe\ud800-\udfff]")
_SHOWN_AS = {"\r": "\u240d", "\n": "\u240a"}
_PRIVATE = range(0xE000, 0xF8FF)


class EditorText:
    """How one text looks in an editor: its newline style and the stand-ins it needs.

    `display` is what the document holds, with LF for every line end. `newline` is what LF means on the way
    back. A line end of another style shows as a character. With `like`, the newline style and the stand-ins
    of another text are kept, so that an undo stack that holds both stays right.
    """

    def __init__(self, raw: str, like: EditorText | None = None) -> None:
        self.raw = raw
        self.newline = _uniform_newline(raw) if like is None else like.newline
        self._stand_ins: dict[str, str] = {} if like is None else dict(like._stand_ins)
        self._avoid = raw if like is None else raw + like.display
        body = raw
        if self.newline != "\n":
            if (_LONE_LF if self.newline == "\r\n" else _ANY_LF).search(body):
                stand_in = self._stand_ins.setdefault("\n", self._free("\n"))
                body = (_LONE_LF if self.newline == "\r\n" else _ANY_LF).sub(stand_in, body)
            body = body.replace(self.newline, "\n")
        for character in sorted(set(_SWALLOWED.findall(body))):
            if character not in self._stand_ins:
                self._stand_ins[character] = self._free(character)
        table = {ord(k): v for k, v in self._stand_ins.items() if k != "\n"}
        self.display = body.translate(table) if table else body

    def _free(self, character: str) -> str:
        taken = set(self._stand_ins.values())
        wish = _SHOWN_AS.get(character)
        if wish is not None and wish not in self._avoid and wish not in taken:
            return wish
        return next(c for c in map(chr, _PRIVATE) if c not in self._avoid and c not in taken)

    def restore(self, display: str) -> str:
        """Return the engine's text of what the document holds now (LF line ends)."""
        if self.newline != "\n":
            display = display.replace("\n", self.newline)
        for character, stand_in in self._stand_ins.items():
            if stand_in in display:
                display = display.replace(stand_in, character)
        return display

    def after_edit(self, display: str) -> EditorText:
        """Return the text that `display` stands for now, with the same newline style and stand-ins."""
        return EditorText(self.restore(display), like=self)

    @cached_property
    def _display_index(self) -> LineIndex:
        return LineIndex(self.display)

    @cached_property
    def _pairs(self) -> tuple[list[int], list[int]]:
        """Offsets of the line ends that are two characters here and one there: in the text, in the display."""
        if self.newline != "\r\n":
            return [], []
        starts = [match.start() for match in _PAIR.finditer(self.raw)]
        return starts, [start - i for i, start in enumerate(starts)]

    def to_position(self, offset: int) -> int:
        """Return the document position (UTF-16 units) of a code-point `offset` into the engine's text."""
        offset = max(0, min(offset, len(self.raw)))
        return self._display_index.to_utf16(offset - bisect.bisect_right(self._pairs[0], offset - 1))

    def to_offset(self, position: int) -> int:
        """Return the code-point offset into the engine's text of a document `position`."""
        offset = self._display_index.from_utf16(position)
        return offset + bisect.bisect_left(self._pairs[1], offset)


_LONE_LF = re.compile("(?<!\r)\n")
_ANY_LF = re.compile("\n")
_PAIR = re.compile("\r\n")


def _uniform_newline(raw: str) -> str:
    """Return the line end of `raw` where all are the same, else LF."""
    style = newline_style(raw)
    if style == "\r\n":
        return style if raw.count("\r\n") == raw.count("\n") == raw.count("\r") else "\n"
    if style == "\r":
        return style if "\n" not in raw else "\n"
    return style


def document_text(document: QTextDocument) -> str:
    """Return what `document` holds with LF line ends, no-break spaces and U+2028 as they are."""
    return document.toRawText().replace("\u2029", "\n")


def utf16_length(text: str) -> int:
    """Return the number of UTF-16 units of `text`."""
    return len(text) if text.isascii() else len(text) + sum(c > "\uffff" for c in text)
