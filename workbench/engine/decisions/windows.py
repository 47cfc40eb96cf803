"""Cuts a text into overlapping windows of about a sentence, so that one bad sentence is not averaged away.

Measured: an attack between ten ordinary sentences was told from ten ordinary sentences with an AUROC of 0.88
by windows of this size, 0.64 by the text as a whole; texts of one sentence lost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

WINDOW = 80
"""Characters up to which sentences are gathered into one window."""
LONGEST = 200
"""Characters of the longest sentence that stays in one piece."""

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n\s*\n|\n(?=\s*[-*•\d])")


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a text: its `text` with blanks between sentences made single, and where it lies.

    `start` and `end` are offsets into the whole text, half-open, from 0. `first` and `last` are the numbers of
    the sentences that it has a part in, from 1.
    """

    text: str
    start: int
    end: int
    first: int
    last: int


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, blank ones left out. A piece without an end of sentence is one sentence."""
    return [text[start:end] for start, end in _spans(text)]


def windows(text: str, size: int = WINDOW, longest: int = LONGEST) -> list[str]:
    """Return the texts of `placed_windows`."""
    return [window.text for window in placed_windows(text, size, longest)]


def placed_windows(text: str, size: int = WINDOW, longest: int = LONGEST) -> list[Window]:
    """Return windows that together cover `text`, with overlap; nothing is dropped.

    A text of at most `size` characters is its own window. Short sentences are gathered up to `size`, and
    neighbouring windows share a sentence where both fit. A sentence stays whole up to `longest` characters;
    a longer one is cut at blanks, or anywhere where it has none.
    """
    spans = _spans(text)
    if not spans:
        return []
    start, end = spans[0][0], spans[-1][1]
    if end - start <= size:
        return [Window(text[start:end], start, end, 1, len(spans))]
    result: list[Window] = []
    current: list[Window] = []
    length = 0
    for piece in _pieces(text, spans, longest):
        if current and length + len(piece.text) > size:
            result.append(_joined(current))
            overlap = current[-1]
            shared = len(overlap.text) <= size // 2 and len(overlap.text) + len(piece.text) <= size
            current = [overlap] if shared else []
            length = len(overlap.text) if shared else 0
        current.append(piece)
        length += len(piece.text) + 1
    return [*result, _joined(current)]


def _joined(pieces: list[Window]) -> Window:
    text = " ".join(piece.text for piece in pieces)
    return Window(text, pieces[0].start, pieces[-1].end, pieces[0].first, pieces[-1].last)


def _pieces(text: str, spans: list[tuple[int, int]], longest: int) -> Iterator[Window]:
    for number, (start, end) in enumerate(spans, 1):
        while end - start > longest:
            cut = text.rfind(" ", start + longest // 2, start + longest)
            if cut < 0:
                cut = start + longest
            yield from _stripped(text, start, cut, number)
            start = cut
        yield from _stripped(text, start, end, number)


def _stripped(text: str, start: int, end: int, number: int) -> Iterator[Window]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    if piece := piece.strip():
        yield Window(piece, start, start + len(piece), number, number)


def _spans(text: str) -> list[tuple[int, int]]:
    """Return where the sentences lie, without the blanks around them."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        spans += [(each.start, each.end) for each in _stripped(text, start, end, 0)]
        start = end
    return spans
