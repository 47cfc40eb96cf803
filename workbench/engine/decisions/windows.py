"""Cuts a text into overlapping windows of about a sentence, so that one bad sentence is not averaged away.

Measured: an attack between ten ordinary sentences was told from ten ordinary sentences with an AUROC of 0.88
by windows of this size, 0.64 by the text as a whole; texts of one sentence lost nothing.
"""

from __future__ import annotations

import re

WINDOW = 80
"""Characters up to which sentences are gathered into one window."""
LONGEST = 200
"""Characters of the longest sentence that stays in one piece."""

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n\s*\n|\n(?=\s*[-*•\d])")


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, blank ones left out. A piece without an end of sentence is one sentence."""
    pieces: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        pieces.append(text[start : match.end()])
        start = match.end()
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def windows(text: str, size: int = WINDOW, longest: int = LONGEST) -> list[str]:
    """Return texts that together cover `text`, with overlap; nothing is dropped.

    A text of at most `size` characters is its own window. Short sentences are gathered up to `size`, and
    neighbouring windows share a sentence where both fit. A sentence stays whole up to `longest` characters;
    a longer one is cut at blanks, or anywhere where it has none.
    """
    text = text.strip()
    if len(text) <= size:
        return [text] if text else []
    result: list[str] = []
    current: list[str] = []
    length = 0
    for piece in (part for sentence in sentences(text) for part in _cut(sentence, longest)):
        if current and length + len(piece) > size:
            result.append(" ".join(current))
            overlap = current[-1]
            current = [overlap] if len(overlap) <= size // 2 and len(overlap) + len(piece) <= size else []
            length = len(overlap) if current else 0
        current.append(piece)
        length += len(piece) + 1
    if current:
        result.append(" ".join(current))
    return result


def _cut(sentence: str, longest: int) -> list[str]:
    pieces: list[str] = []
    start = 0
    while len(sentence) - start > longest:
        end = sentence.rfind(" ", start + longest // 2, start + longest)
        if end < 0:
            end = start + longest
        pieces.append(sentence[start:end].strip())
        start = end
    pieces.append(sentence[start:].strip())
    return [piece for piece in pieces if piece]
