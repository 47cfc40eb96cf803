"""Writes texts that match a pattern, so that an example of a schema can hold one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from workbench.engine.schemas.patterns import PatternError, PatternTimeoutError, search

__all__ = ["matching_texts"]


def matching_texts(pattern: str, least: int) -> Iterator[str]:
    """Yield texts that match a pattern of literals, classes, groups and repetitions."""
    for repeats in (1, max(1, least), 3):
        try:
            text = _PatternReader(pattern, repeats).alternatives()
            if search(pattern, text):
                yield text
        except (PatternError, PatternTimeoutError, _UnreadableError, RecursionError):
            continue


class _UnreadableError(Exception):
    """The pattern has a part for which no text is made."""


_ATOMS: Final[dict[str, str]] = {
    "d": "1",
    "w": "a",
    "s": " ",
    "D": "a",
    "W": "-",
    "S": "a",
    "n": "\n",
    "t": "\t",
}
_REPEAT = re.compile(r"\{(\d+)(?:(,)(\d*))?\}\??|([*+?])\??")
_GROUP_START = re.compile(r"\((?:\?:|\?<[A-Za-z_$][\w$]*>)?(?!\?)")
_CANDIDATES: Final = "aA1 -_.bB2zZ9/:,@#é"


class _PatternReader:
    """Reads a pattern from left to right and writes a text for it."""

    def __init__(self, pattern: str, repeats: int) -> None:
        self.pattern = pattern
        self.repeats = repeats
        self.at = 0

    def alternatives(self) -> str:
        """Return a text for the first of the alternatives up to a closing parenthesis or the end."""
        text = self.sequence()
        while self.at < len(self.pattern) and self.pattern[self.at] == "|":
            self.at += 1
            self.sequence()
        return text

    def sequence(self) -> str:
        out: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            atom = self.atom()
            out.append(atom * self.count())
        return "".join(out)

    def count(self) -> int:
        match = _REPEAT.match(self.pattern, self.at)
        if match is None:
            return 1
        self.at = match.end()
        low, comma, high, symbol = match.groups()
        if symbol is not None:
            return 1 if symbol == "?" else self.repeats
        least = int(low)
        if comma is None:
            return least
        return max(least, min(int(high), self.repeats)) if high else max(least, self.repeats)

    def atom(self) -> str:
        character = self.pattern[self.at]
        if character == "(":
            return self.group()
        if character == "[":
            return self.character_class()
        if character == "\\":
            return self.escape()
        self.at += 1
        return "" if character in "^$" else "a" if character == "." else character

    def group(self) -> str:
        match = _GROUP_START.match(self.pattern, self.at)
        if match is None:
            raise _UnreadableError
        self.at = match.end()
        text = self.alternatives()
        self.at += 1
        return text

    def escape(self) -> str:
        letter = self.pattern[self.at + 1 : self.at + 2]
        self.at += 2
        if letter in _ATOMS:
            return _ATOMS[letter]
        if letter in ("b", "B"):
            return ""
        if not letter or letter.isalnum():
            raise _UnreadableError
        return letter

    def character_class(self) -> str:
        start = self.at
        match = re.compile(r"\[\^?(?:\\.|[^\]\\])*\]", re.DOTALL).match(self.pattern, start)
        if match is None:
            raise _UnreadableError
        self.at = match.end()
        inside = re.sub(r"\\.", "", match.group()[1:-1])
        fits: Callable[[str], bool] = lambda text: search(f"^{match.group()}$", text)  # noqa: E731  # a name for one test
        for candidate in _CANDIDATES + inside.lstrip("^"):
            if fits(candidate):
                return candidate
        raise _UnreadableError
