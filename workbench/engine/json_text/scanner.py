"""Reads a JSON text character by character, with the place of every value and of every mistake."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from workbench.engine.diagnostics import Diagnostic, Fix
from workbench.engine.json_text.explanations import (
    explain,
    explain_comment,
    explain_invisible,
    shown,
    stands_unseen,
)
from workbench.engine.json_text.places import Places
from workbench.engine.json_text.pointers import join_pointer
from workbench.engine.text import LineIndex, shorten

__all__ = ["BOM", "RAW_SURROGATE", "Frame", "Scanner"]

_MAX_DIGITS: Final = 4300
"""Digits of an integer that Python converts by default; longer ones cost quadratic time, so they are refused."""

_MAX_DIAGNOSTICS: Final = 100
BOM: Final = "\ufeff"

_BLANKS: Final = (" ", "\n", "\r", "\t")
_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN_STRING = re.compile(r'"([^"\\\x00-\x1f]*)"')
_STRING_RUN = re.compile(r'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NON_FINITE = re.compile(r"[+-]?(?:nan|inf(?:inity)?)(?![\w$])", re.IGNORECASE)
_LINE_END = re.compile(r"[\r\n]")
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
RAW_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPES: Final = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_CONTROL_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_LITERALS: Final[dict[str, tuple[str, Any]]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}


class _ScanEndError(Exception):
    """Ends the scan after a diagnostic that leaves no sensible place to go on."""


class Frame:
    """An array or object whose end was not read yet."""

    __slots__ = ("after_comma", "items", "key", "key_span", "node")

    def __init__(self, items: dict[str, Any] | list[Any], node: int) -> None:
        self.items = items
        self.node = node
        self.after_comma = False
        self.key = ""
        self.key_span: tuple[int, int] | None = None


class Scanner:
    """Reads a JSON text from left to right with a stack of its own, noting the place of every value.

    Errors of a single value (a number too large, half a surrogate pair, NaN) do not end the scan, so that
    all of them are reported; the first error of structure does.
    """

    def __init__(self, text: str, max_depth: int, file: str | None) -> None:
        self.text = text
        self.max_depth = max_depth
        self.file = file
        self.value: Any = None
        self.diagnostics: list[Diagnostic] = []
        self.places = Places()
        self._lines = LineIndex(text)
        self.stack: list[Frame] = []
        self._raw_surrogates = not text.isascii() and RAW_SURROGATE.search(text) is not None

    def run(self) -> None:
        """Read the whole text; the outcome stands in `value`, `diagnostics` and `places`."""
        try:
            position = self._value(self._skip(1 if self.text.startswith(BOM) else 0))
            stack = self.stack
            while stack:
                frame = stack[-1]
                position = self._skip(position)
                if isinstance(frame.items, dict):
                    position = self._object_step(frame, frame.items, position)
                else:
                    position = self._array_step(frame, position)
            position = self._skip(position)
            if position < len(self.text):
                self._trailing(position)
        except _ScanEndError:
            for frame in self.stack:
                self.places.end[frame.node] = len(self.text)

    # -- structure

    def _skip(self, position: int) -> int:
        if not self.text.startswith(_BLANKS, position):
            return position
        match = _SPACE.match(self.text, position)
        return match.end() if match else position

    def _object_step(self, frame: Frame, items: dict[str, Any], position: int) -> int:
        text = self.text
        character = text[position : position + 1]
        if character == "}" and not frame.after_comma:
            return self._close(frame, position)
        if frame.items and not frame.after_comma:
            return self._comma(frame, character, position)
        if character != '"':
            self._unexpected(position, "name")
        key, end = self._string(position)
        frame.key, frame.key_span = key, (position, end)
        frame.after_comma = False
        if key in items:
            self._duplicate(key, position, end)
        colon = self._skip(end)
        if text[colon : colon + 1] != ":":
            self._unexpected(colon, "colon")
        return self._value(self._skip(colon + 1))

    def _array_step(self, frame: Frame, position: int) -> int:
        character = self.text[position : position + 1]
        if character == "]" and not frame.after_comma:
            return self._close(frame, position)
        if frame.items and not frame.after_comma:
            return self._comma(frame, character, position)
        frame.after_comma = False
        return self._value(position)

    def _comma(self, frame: Frame, character: str, position: int) -> int:
        if character != ",":
            self._unexpected(position, "comma")
        frame.after_comma = True
        return position + 1

    def _close(self, frame: Frame, position: int) -> int:
        self.stack.pop()
        self.places.end[frame.node] = position + 1
        return position + 1

    def _value(self, position: int) -> int:
        """Read a value or the opening of one; return where the text goes on."""
        character = self.text[position : position + 1]
        if character == '"':
            text_value, end = self._string(position)
            self._put(text_value, position, end)
            return end
        if character in ("{", "["):
            return self._open(character, position)
        literal = _LITERALS.get(character)
        if literal is not None and self.text.startswith(literal[0], position):
            end = position + len(literal[0])
            if not self._continues_word(end):
                self._put(literal[1], position, end)
                return end
        match = _NUMBER.match(self.text, position)
        if match is not None and not self._continues_word(match.end()):
            self._put(self._number(match), position, match.end())
            return match.end()
        match = _NON_FINITE.match(self.text, position)
        if match is None:
            self._unexpected(position, "value")
        self._report(
            "non_finite",
            f"{match.group()} is not JSON: a number must be finite.",
            position,
            match.end(),
            "Write a number, or null where there is none.",
        )
        self._put(None, position, match.end())
        return match.end()

    def _continues_word(self, position: int) -> bool:
        following = self.text[position : position + 1]
        return bool(following) and (following.isalnum() or following in "_.+-$")

    def _open(self, character: str, position: int) -> int:
        if len(self.stack) >= self.max_depth:
            self._report(
                "too_deep",
                f"The JSON is nested more than {self.max_depth} levels deep.",
                position,
                position + 1,
                "Make the value flatter.",
            )
            raise _ScanEndError
        items: dict[str, Any] | list[Any] = {} if character == "{" else []
        node = self._put(items, position, position + 1)
        self.stack.append(Frame(items, node))
        return position + 1

    def _put(self, value: Any, start: int, end: int) -> int:
        """Hang a value into its container and note its place; return its node."""
        places = self.places
        if not self.stack:
            self.value = value
            places.nodes.append((start, start, -1, -1, ""))
        else:
            frame = self.stack[-1]
            items = frame.items
            if isinstance(items, dict):
                items[frame.key] = value
                outer, key_end = frame.key_span or (start, -1)
                places.nodes.append((start, outer, key_end, frame.node, frame.key))
            else:
                places.nodes.append((start, start, -1, frame.node, len(items)))
                items.append(value)
        places.end.append(end)
        return len(places.end) - 1

    # -- scalars

    def _number(self, match: re.Match[str]) -> int | float | None:
        whole, fraction, exponent = match.groups()
        if fraction is None and exponent is None:
            if len(whole) - whole.startswith("-") <= _MAX_DIGITS:
                try:
                    return int(whole)
                except ValueError:  # the process allows fewer digits than the default
                    pass
            what = f"An integer of {len(whole)} digits is too long"
        else:
            number = float(match.group())
            if number not in (float("inf"), float("-inf")):
                return number
            what = f"The number {shorten(match.group(), 40)} is too large for a double"
        self._report(
            "number_overflow", f"{what}.", match.start(), match.end(), "Write a smaller number, or a string."
        )
        return None

    def _string(self, position: int) -> tuple[str, int]:
        """Read the string whose opening quote is at `position`; return its value and its end."""
        match = _PLAIN_STRING.match(self.text, position)
        if match is not None and not self._raw_surrogates:
            return match.group(1), match.end()
        text = self.text
        parts: list[str] = []
        here = position + 1
        while True:
            run = _STRING_RUN.match(text, here)
            end = run.end() if run else here
            parts.append(self._checked_run(here, end))
            character = text[end : end + 1]
            if character == '"':
                return "".join(parts), end + 1
            if character == "\\":
                part, here = self._escape(end, position)
                parts.append(part)
                continue
            if not character:
                self._unclosed_string(position)
            self._control_character(character, end)

    def _checked_run(self, start: int, end: int) -> str:
        run = self.text[start:end]
        if self._raw_surrogates:
            for match in RAW_SURROGATE.finditer(run):
                self._lone(start + match.start(), start + match.end(), ord(match.group()))
        return run

    def _escape(self, position: int, string_start: int) -> tuple[str, int]:
        text = self.text
        letter = text[position + 1 : position + 2]
        if letter in _ESCAPES:
            return _ESCAPES[letter], position + 2
        if not letter:
            self._unclosed_string(string_start)
        if letter != "u":
            self._report(
                "syntax",
                f"\\{letter} is not an escape of JSON.",
                position,
                position + 2,
                "Double the backslash to mean a backslash.",
                Fix("Double the backslash", position, position + 1, "\\\\"),
            )
            raise _ScanEndError
        digits = _HEX4.match(text, position + 2)
        if digits is None:
            if position + 6 > len(text) and '"' not in text[position:]:
                self._unclosed_string(string_start)
            self._report(
                "syntax", "\\u needs four hexadecimal digits.", position, position + 2, "Write \\u00e9 for é."
            )
            raise _ScanEndError
        return self._code_point(int(digits.group(), 16), position)

    def _code_point(self, code: int, position: int) -> tuple[str, int]:
        """Return the character of the `\\uXXXX` at `position`, joined with the other half of its pair."""
        end = position + 6
        if 0xD800 <= code < 0xDC00 and self.text.startswith("\\u", end):
            low = _HEX4.match(self.text, end + 2)
            if low is not None and 0xDC00 <= int(low.group(), 16) < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + int(low.group(), 16) - 0xDC00), end + 6
        if 0xD800 <= code < 0xE000:
            self._lone(position, end, code)
            return "\ufffd", end
        return chr(code), end

    # -- diagnostics

    def _report(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        hint: str | None = None,
        *fixes: Fix,
        pointer: str | None = None,
    ) -> None:
        line, column = self._lines.position(start)
        self.diagnostics.append(
            Diagnostic(
                "warning" if code == "duplicate_key" else "error",
                code,
                message,
                start,
                end,
                line,
                column,
                pointer if pointer is not None else self._pointer() if code != "too_deep" else None,
                hint,
                self.file,
                fixes=fixes,
            )
        )
        if len(self.diagnostics) >= _MAX_DIAGNOSTICS and self.diagnostics[-1].severity == "error":
            raise _ScanEndError

    def _pointer(self, depth: int | None = None) -> str:
        """Return where reading stands; with `depth`, the pointer of the container at that depth of the stack."""
        tokens: list[str | int] = []
        for frame in self.stack[:depth]:
            if isinstance(frame.items, list):
                # The frame's open child stands in the list already; what the innermost reads does not.
                tokens.append(len(frame.items) - (frame is not self.stack[-1]))
            elif frame.key_span is not None and not (frame.after_comma and frame is self.stack[-1]):
                tokens.append(frame.key)
        return join_pointer(*tokens)

    def _duplicate(self, key: str, start: int, end: int) -> None:
        if len(self.diagnostics) >= _MAX_DIAGNOSTICS:
            return
        self._report(
            "duplicate_key",
            f"The name {shorten(shown(json.dumps(key, ensure_ascii=False)), 60)} occurs twice in one object; the last one counts.",
            start,
            end,
            "Remove or rename one of the two.",
        )

    def _lone(self, start: int, end: int, code: int) -> None:
        self._report(
            "lone_surrogate",
            f"U+{code:04X} is half of a surrogate pair and no character.",
            start,
            end,
            "Write the whole pair, or the character itself.",
            Fix("Put U+FFFD in its place", start, end, "\ufffd"),
        )

    def _control_character(self, character: str, position: int) -> NoReturn:
        escape = _CONTROL_ESCAPES.get(character, f"\\u{ord(character):04x}")
        name = {"\n": "a line break", "\r": "a line break", "\t": "a tab"}.get(
            character, "a control character"
        )
        self._report(
            "control_char",
            f"A string holds {name} (U+{ord(character):04X}) as it is.",
            position,
            position + 1,
            f"Write {escape}, or close the string before it.",
            Fix(f"Write {escape}", position, position + 1, escape),
        )
        raise _ScanEndError

    def _unclosed_string(self, start: int) -> NoReturn:
        self._report(
            "unclosed",
            f"The text ends inside the string that begins at {self.place_of(start)}.",
            start,
            len(self.text),
            'Close it with ".',
        )
        raise _ScanEndError

    def _trailing(self, position: int) -> None:
        if self.text.startswith(("//", "/*", "#"), position):
            self._report("trailing_text", *explain_comment(self.text, position))
            raise _ScanEndError
        if stands_unseen(self.text, position):
            self._report("trailing_text", *explain_invisible(self.text, position))
            raise _ScanEndError
        self._report(
            "trailing_text",
            f"{self.excerpt(position)} follows after the end of the JSON value.",
            position,
            len(self.text),
            "Keep one value; put several into an array.",
        )
        raise _ScanEndError

    def _unexpected(self, position: int, wanted: str) -> NoReturn:
        """Report what stands at `position` where a value, name, colon or comma was due, and end the scan."""
        if position >= len(self.text):
            self._ends_early(position, wanted)
        else:
            problem = explain(self, position, wanted)
            self._report("syntax", *problem)
        raise _ScanEndError

    def _ends_early(self, position: int, wanted: str) -> None:
        if not self.stack:
            self._report(
                "syntax", "The text is empty; a JSON value is due.", 0, position, "Write {} for no members."
            )
            return
        frame = self.stack[-1]
        start = self.places.start(frame.node)
        kind, closer = ("object", "}") if isinstance(frame.items, dict) else ("array", "]")
        place = self.place_of(start)
        self._report(
            "unclosed",
            f"The text ends before the {kind} that begins at {place} is closed.",
            start,
            start + 1,
            f"Close it with {closer}."
            if wanted == "comma"
            else f"A {wanted} is missing; then close with {closer}.",
            pointer=self._pointer(len(self.stack) - 1),
        )

    def place_of(self, offset: int) -> str:
        line, column = self._lines.position(offset)
        return f"line {line}, column {column}"

    def excerpt(self, position: int) -> str:
        """Return the rest of the line as a quoted text of about 30 characters, in which nothing is invisible."""
        line = _LINE_END.split(self.text[position : position + 31], maxsplit=1)[0]
        return shown(json.dumps(shorten(line, 30), ensure_ascii=False))
