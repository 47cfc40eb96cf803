"""Regular expressions as JSON Schema means them (ECMA-262), matched in bounded time.

Python's `re` reads `\\d`, `\\w`, `$` and `.` otherwise and cannot be stopped; patterns are written anew for
the `regex` package, whose searches have a time limit.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final

from workbench.engine.patterns import compile_pattern

__all__ = [
    "PATTERN_SECONDS",
    "PatternError",
    "PatternTimeoutError",
    "check_pattern",
    "pattern_budget",
    "search",
]

PATTERN_SECONDS: Final = 1.0
"""Seconds that all patterns of one validation may take together."""

_WORD: Final = "A-Za-z0-9_"
_SPACES: Final = r"\t\n\x0b\x0c\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_CLASSES: Final = {
    "d": "0-9", "w": _WORD, "s": _SPACES,
}  # fmt: skip
_CONTROLS: Final = {"f": r"\x0c", "n": r"\n", "r": r"\r", "t": r"\t", "v": r"\x0b", "0": r"\x00"}
_BOUNDARY: Final = f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
_NO_BOUNDARY: Final = f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))"
_HEX = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\u\{([0-9a-fA-F]{1,6})\}")
_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_PROPERTY = re.compile(r"\\[pP]\{[A-Za-z_]+(?:=[A-Za-z_0-9]+)?\}")
_GROUP = re.compile(r"\((?:\?(?::|=|!|<=|<!|<[A-Za-z_$][\w$]*>))?")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})")
_BACKREFERENCE = re.compile(r"\\([1-9]\d*)|\\k<([A-Za-z_$][\w$]*)>")


class PatternError(ValueError):
    """A pattern is not a regular expression of ECMA-262; `offset` is the place in it."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class PatternTimeoutError(TimeoutError):
    """Patterns took longer than `PATTERN_SECONDS`; `pattern` is the one that was running."""

    def __init__(self, pattern: str) -> None:
        super().__init__(f"the pattern {pattern!r} took too long and was stopped")
        self.pattern = pattern


class _Budget:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


_budget: ContextVar[_Budget | None] = ContextVar("pattern_budget", default=None)


@contextmanager
def pattern_budget(seconds: float = PATTERN_SECONDS) -> Iterator[None]:
    """Within the block, all searches of this thread or task share `seconds`."""
    token = _budget.set(_Budget(seconds))
    try:
        yield
    finally:
        _budget.reset(token)


def search(pattern: str, text: str) -> bool:
    """Tell whether `pattern` matches anywhere in `text`.

    Raises:
        PatternError: where the pattern is malformed.
        PatternTimeoutError: where the time is used up.
    """
    budget = _budget.get() or _Budget(PATTERN_SECONDS)
    compiled = check_pattern(pattern)
    started = time.perf_counter()
    try:
        if budget.seconds <= 0:
            raise TimeoutError
        return compiled.search(text, timeout=budget.seconds) is not None
    except TimeoutError:
        raise PatternTimeoutError(pattern) from None
    finally:
        budget.seconds -= time.perf_counter() - started


@lru_cache(maxsize=512)
def check_pattern(pattern: str) -> Any:
    """Return the compiled pattern.

    Raises:
        PatternError: where the pattern is malformed.
    """
    import regex

    try:
        return compile_pattern(_Translator(pattern).whole(), regex.VERSION0)
    except regex.error as error:
        raise PatternError(error.msg, min(error.pos or 0, len(pattern))) from None


class _Translator:
    """Writes an ECMA-262 pattern (with the `u` flag, as JSON Schema advises) for the `regex` package."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def whole(self) -> str:
        out: list[str] = []
        quantifiable = False
        while self.at < len(self.pattern):
            quantifier = _QUANTIFIER.match(self.pattern, self.at)
            if quantifier is not None:
                if not quantifiable:
                    raise PatternError(f"nothing is repeated by {quantifier.group()}", self.at)
                self.at = quantifier.end()
                lazy = self.pattern.startswith("?", self.at)
                self.at += lazy
                out.append(quantifier.group() + "?" * lazy)
                quantifiable = False
                continue
            piece, quantifiable = self.piece()
            out.append(piece)
        return "".join(out)

    def piece(self) -> tuple[str, bool]:
        """Return one piece and whether it may be repeated."""
        character = self.pattern[self.at]
        if character == "(":
            return self.group(), False
        if character == "[":
            return self.character_class(), True
        if character == "\\":
            return self.escape()
        self.at += 1
        if character == "$":
            return r"\Z", False
        if character in "^|":
            return character, False
        if character == ".":
            return r"[^\n\r\u2028\u2029]", True
        return (")" if character == ")" else re.escape(character)), True

    def group(self) -> str:
        match = _GROUP.match(self.pattern, self.at)
        if match is None or (match.group() == "(" and self.pattern.startswith("(?", self.at)):
            raise PatternError("JSON Schema has no groups of this kind", self.at)
        self.at = match.end()
        text = match.group()
        named = text.startswith("(?<") and text.endswith(">")
        return f"(?P<{_group_name(text[3:-1])}>" if named else text

    def escape(self) -> tuple[str, bool]:
        start = self.at
        reference = _BACKREFERENCE.match(self.pattern, start)
        if reference is not None:
            self.at = reference.end()
            number, name = reference.groups()
            return (f"(?:\\{number})" if number else f"(?P={_group_name(name)})"), True
        letter = self.pattern[start + 1 : start + 2]
        if letter in ("b", "B") and letter:
            self.at += 2
            return (_BOUNDARY if letter == "b" else _NO_BOUNDARY), False
        if letter in tuple("dwsDWS"):
            self.at += 2
            negation = "^" if letter.isupper() else ""
            return f"[{negation}{_CLASSES[letter.lower()]}]", True
        return self.single(), True

    def single(self) -> str:
        """Read an escape that means one character or a property, in or outside a class."""
        start = self.at
        pair = _PAIR.match(self.pattern, start)
        if pair is not None:
            self.at = pair.end()
            high, low = (int(half, 16) for half in pair.groups())
            return f"\\U{0x10000 + ((high - 0xD800) << 10) + low - 0xDC00:08x}"
        code = _HEX.match(self.pattern, start)
        if code is not None:
            self.at = code.end()
            value = int(next(digits for digits in code.groups() if digits), 16)
            if value > 0x10FFFF:
                raise PatternError("there is no such character", start)
            return f"\\U{value:08x}"
        known = _PROPERTY.match(self.pattern, start)
        if known is not None:
            self.at = known.end()
            return known.group()
        letter = self.pattern[start + 1 : start + 2]
        self.at += 2
        if letter in _CONTROLS and letter:
            return _CONTROLS[letter]
        if letter == "c" and re.match(r"[A-Za-z]", self.pattern[start + 2 : start + 3]):
            self.at += 1
            return f"\\x{ord(self.pattern[start + 2]) % 32:02x}"
        if not letter or letter.isalnum() or letter == "_":
            raise PatternError(f"\\{letter} is not an escape of ECMA-262", start)
        return re.escape(letter)

    def character_class(self) -> str:
        start = self.at
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        out: list[str] = []
        while True:
            if self.at >= len(self.pattern):
                raise PatternError("the bracket is never closed", start)
            character = self.pattern[self.at]
            if character == "]":
                self.at += 1
                break
            out.append(self.class_piece(character))
        if not out:  # `[]` matches nothing, `[^]` anything
            return r"[\s\S]" if negated else "(?!)"
        return f"[{'^' * negated}{''.join(out)}]"

    def class_piece(self, character: str) -> str:
        if character != "\\":
            self.at += 1
            return character if character == "-" else re.escape(character)
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter in ("d", "w", "s") and letter:
            self.at += 2
            return _CLASSES[letter]
        if letter in ("D", "W", "S") and letter:
            self.at += 2
            return {"D": r"\x00-/:-\U0010ffff", "W": _NOT_WORD, "S": _NOT_SPACE}[letter]
        if letter == "b":
            self.at += 2
            return r"\x08"
        return self.single()


def _group_name(name: str) -> str:
    return name.replace("$", "_dollar_")


def _complement(*spans: tuple[int, int]) -> str:
    """Return the class of all characters outside the ascending spans."""
    parts: list[str] = []
    first = 0
    for low, high in (*spans, (0x110000, 0x110000)):
        if low > first:
            parts.append(f"\\U{first:08x}-\\U{low - 1:08x}")
        first = high + 1
    return "".join(parts)


_NOT_WORD: Final = _complement((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_NOT_SPACE: Final = _complement(
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
