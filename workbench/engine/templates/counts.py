"""Counts characters and words of a text, and estimates its tokens without knowing the model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextCounts:
    """Sizes of a text. `tokens` is an estimate, usually within a fifth of what common tokenizers count."""

    characters: int = 0
    words: int = 0
    tokens: int = 0

    def __add__(self, other: TextCounts) -> TextCounts:
        return TextCounts(
            self.characters + other.characters, self.words + other.words, self.tokens + other.tokens
        )


# What byte-pair tokenizers cut a text into, roughly: words with the blank before them, short runs of digits,
# runs of marks, line breaks. Scripts without spaces take about a token per character.
_PIECE = re.compile(
    r"(?P<ascii>[A-Za-z]+)"
    r"|(?P<digits>[0-9]+)"
    r"|(?P<dense>[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)"
    r"|(?P<letters>[^\W\d_\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)"
    r"|(?P<lines>[\r\n]+)"
    r"|(?P<blanks>[^\S\r\n]{2,})"
    r"|(?P<blank>[^\S\r\n])"
    r"|(?P<astral>[\U00010000-\U0001ffff])"
    r"|(?P<marks>[^\w\s\U00010000-\U0001ffff]+|[\w])"
)
# How many characters of each kind share a token.
_SHARE = {"ascii": 7, "digits": 3, "letters": 3, "lines": 8, "blanks": 16, "marks": 2}


def count_text(text: str) -> TextCounts:
    """Return the code points, the words (runs without white space) and the estimated tokens of `text`."""
    tokens = 0
    for match in _PIECE.finditer(text):
        kind = match.lastgroup
        length = match.end() - match.start()
        if kind == "blank":
            continue  # belongs to the word after it
        if kind == "dense":
            tokens += length
        elif kind == "astral":
            tokens += 2
        else:
            share = _SHARE[kind or "marks"]
            tokens += -(-length // share)
    return TextCounts(len(text), len(text.split()), tokens)


def count_texts(texts: Iterable[str]) -> TextCounts:
    """Return the sum of the counts of several texts, such as the messages of a prompt."""
    return sum((count_text(text) for text in texts), TextCounts())
