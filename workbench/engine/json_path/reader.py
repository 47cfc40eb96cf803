"""Reads a JSONPath by the grammar of RFC 9535, so that every other text is refused with its place and a hint.

jsonpath-ng's grammar accepts much that has another meaning elsewhere, or none; it never sees a text that
this reader did not understand. Two liberties are taken, because users write them: the leading `$` may be
missing, and a name after a dot may hold hyphens. One extension is read: `=~` in filters.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NoReturn, cast

from workbench.engine.json_path.tree import (
    And,
    Call,
    Compare,
    Constant,
    Exists,
    Expression,
    Filter,
    Index,
    JsonPathError,
    Name,
    Not,
    Operand,
    Or,
    Query,
    RegexTest,
    Segment,
    Selector,
    Slice,
    Wildcard,
)
from workbench.engine.patterns import compile_pattern
from workbench.engine.text import nearest, shorten

__all__ = ["read_path"]

_MAX_NESTING: Final = 40
"""Parentheses and filters inside filters; more is no path that a person wrote."""

_MAX_INTEGER: Final = 2**53 - 1
"""RFC 9535 keeps indexes within the integers that every implementation can hold."""

_SPACE = re.compile(r"[ \t\n\r]*")
_NAME = re.compile("[A-Za-z_\u0080-\ud7ff\ue000-\U0010ffff][A-Za-z0-9_\u0080-\ud7ff\ue000-\U0010ffff-]*")
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_INTEGER_LIKE = re.compile(r"[+-]?[ ]*[0-9][0-9.]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_FUNCTION = re.compile(r"([a-z][a-z_0-9]*)\(")
_WORD = re.compile(r"\w[\w$-]*")
_OPERATOR = re.compile(r"==|!=|<=|>=|=~|<|>")
_RUNS: Final = {
    '"': re.compile('[^"\\\\\x00-\x1f\ud800-\udfff]*'),
    "'": re.compile("[^'\\\\\x00-\x1f\ud800-\udfff]*"),
}
_HEX4 = re.compile(r"[0-9A-Fa-f]{4}")
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "/": "/", "\\": "\\"}
_LITERALS: Final = {"true": True, "false": False, "null": None}
_SIGNATURES: Final[dict[str, tuple[str, ...]]] = {
    "length": ("value",),
    "count": ("nodes",),
    "value": ("nodes",),
    "match": ("value", "value"),
    "search": ("value", "value"),
}
_LOGICAL_FUNCTIONS: Final = frozenset({"match", "search"})


def read_path(path: str) -> Query:
    """Return the syntax tree of `path`.

    Raises:
        JsonPathError: where the path is no JSONPath, or uses what we refuse.
    """
    return _Reader(path).whole()


class _Reader:
    """A recursive-descent reader with one character of position; nesting is bounded."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.nesting = 0

    # -- helpers

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def take(self, token: str) -> bool:
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def fail(
        self,
        message: str,
        start: int | None = None,
        end: int | None = None,
        hint: str | None = None,
        unsupported: bool = False,
    ) -> NoReturn:
        start = self.at if start is None else start
        start = min(start, len(self.text))
        end = min(start + 1 if end is None else max(start, end), len(self.text))
        raise JsonPathError(message, start, end, hint, unsupported)

    def nest(self) -> None:
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            self.fail(f"The filter is nested more than {_MAX_NESTING} levels deep.", hint="Make it simpler.")

    # -- paths

    def whole(self) -> Query:
        if not self.text.strip(" \t\r\n"):
            self.fail(
                "The path is empty.",
                0,
                len(self.text),
                "Write a name, such as user.name, or $ for everything.",
            )
        if self.text[0] in " \t\r\n":
            self.fail("A blank stands before the path.", 0, 1, "Remove the blank.")
        first: tuple[Segment, ...] = ()
        if not self.take("$"):
            first = self.rootless()
        segments = first + self.segments()
        if self.at < len(self.text):
            self.leftover()
        return Query(True, segments)

    def rootless(self) -> tuple[Segment, ...]:
        """Read the first step of a path without `$`."""
        character = self.peek()
        if character in ("[", "`") or self.peek(2) == "..":
            return ()
        if character == ".":
            self.fail("The path begins with a dot.", hint="Write the name without the dot, or $ before it.")
        if character == "@":
            word = re.compile(r"@[^\s.\[\]'\"]*").match(self.text)
            name = shorten(word.group(), 40) if word else "@"
            hint = (
                "Write $, or nothing."
                if name == "@"
                else f"Put a name that begins with @ into quotes: ['{name}']."
            )
            self.fail("@ has a meaning only inside a filter.", hint=hint)
        return (Segment((self.dotted(),)),)

    def segments(self) -> tuple[Segment, ...]:
        found: list[Segment] = []
        while True:
            before = self.at
            self.space()
            if self.take(".."):
                found.append(Segment(self.bracketed() if self.peek() == "[" else (self.dotted(),), True))
            elif self.take("."):
                found.append(Segment((self.dotted(),)))
            elif self.peek() == "[":
                found.append(Segment(self.bracketed()))
            else:
                # Blanks after the last step belong to what follows.
                self.at = before
                return tuple(found)

    def dotted(self) -> Selector:
        """Read what may follow a dot: a name or `*`."""
        if self.take("*"):
            return Wildcard()
        match = _NAME.match(self.text, self.at)
        if match is None:
            self.no_name()
        self.at = match.end()
        return Name(match.group())

    def no_name(self) -> NoReturn:
        character = self.peek()
        if not character:
            self.fail(
                "A name is missing after the last dot.",
                max(0, self.at - 1),
                self.at,
                "Write a name, or remove the dot.",
            )
        if character in " \t\r\n":
            self.fail("A blank stands where a name is due.", hint="Remove the blank.")
        if character == "`":
            self.backtick()
        if character in "\"'":
            self.fail("A quoted name needs brackets.", hint="Write ['name'] without the dot.")
        digits = re.compile(r"[0-9]+").match(self.text, self.at)
        if digits is not None:
            number = digits.group()
            self.fail(
                "A name after a dot cannot begin with a digit.",
                self.at,
                digits.end(),
                f"Write [{int(number) if len(number) < 17 else 0}] for an element, or ['{shorten(number, 20)}'] for a member.",
            )
        word = re.compile(r"[^\s.\[\]]+").match(self.text, self.at)
        end = word.end() if word else self.at + 1
        name = shorten(self.text[self.at : end], 40)
        self.fail(
            f"{name!r} is not a name that may stand after a dot.",
            self.at,
            end,
            f"Put it into brackets and quotes: ['{name}']."
            if "'" not in name
            else "Put it into brackets and quotes.",
        )

    def bracketed(self) -> tuple[Selector, ...]:
        opened = self.at
        self.at += 1
        selectors: list[Selector] = []
        while True:
            self.space()
            selectors.append(self.selector(opened))
            self.space()
            if self.take("]"):
                return tuple(selectors)
            if not self.take(","):
                self.no_bracket(opened)

    def no_bracket(self, opened: int) -> NoReturn:
        if self.at >= len(self.text):
            self.fail("The bracket is never closed.", opened, len(self.text), "Add ].")
        self.word_operator()
        character = self.peek()
        if character in "+*/-|&":
            self.operator_refused(character)
        self.fail(
            f"A comma or ] is due, not {character!r}.",
            hint="Separate selectors by a comma, and close with ].",
        )

    def selector(self, opened: int) -> Selector:
        character = self.peek()
        if not character:
            self.fail(
                "The bracket is never closed.",
                opened,
                len(self.text),
                "Write an index, a quoted name or *, and then ].",
            )
        if character in "\"'":
            return Name(self.string())
        if self.take("*"):
            return Wildcard()
        if self.take("?"):
            return self.filter()
        if character in "-+:" or (character.isascii() and character.isdigit()):
            return self.index_or_slice()
        self.no_selector(character)

    def no_selector(self, character: str) -> NoReturn:
        if character == "]":
            self.fail(
                "The bracket is empty.", self.at - 1, self.at + 1, "Write an index, a quoted name or *."
            )
        if character == ",":
            self.fail("A comma stands where an index or a name is due.", hint="Remove the comma.")
        if character == "(":
            self.fail(
                "Scripts in brackets are not supported.",
                hint="Write a filter, such as [?(@.price > 1)].",
                unsupported=True,
            )
        if character in "/\\":
            self.fail(
                "Sorting by [/…] or [\\…] is not supported.", hint="Sort the data itself.", unsupported=True
            )
        if character == "`":
            self.backtick()
        if character in "@$":
            self.fail(
                f"{character} in brackets has a meaning only in a filter.",
                hint="Write ? before it for a filter.",
            )
        word = _WORD.match(self.text, self.at)
        if word is not None:
            name = shorten(word.group(), 40)
            self.fail(f"The name {name} has no quotes.", word.start(), word.end(), f"Write ['{name}'].")
        self.fail(f"An index, a quoted name, * or a filter is due, not {character!r}.")

    def index_or_slice(self) -> Selector:
        start = self.integer()
        self.space()
        if self.peek() != ":":
            assert start is not None  # only a colon leaves the number out
            return Index(start)
        self.at += 1
        self.space()
        stop = self.integer()
        self.space()
        step: int | None = None
        if self.take(":"):
            self.space()
            step = self.integer()
        return Slice(start, stop, step)

    def integer(self) -> int | None:
        """Read an integer, or nothing where a slice leaves it out."""
        if self.peek() in (":", "]", ","):
            return None
        match = _INTEGER.match(self.text, self.at)
        like = _INTEGER_LIKE.match(self.text, self.at)
        if match is None or (like is not None and like.end() != match.end()):
            end = like.end() if like else self.at + 1
            self.fail(
                f"{shorten(self.text[self.at : end], 30)!r} is not an index.",
                self.at,
                end,
                "Write a whole number without a plus sign, leading zeros or blanks.",
            )
        digits = match.group()
        if len(digits) > 17 or abs(int(digits)) > _MAX_INTEGER:
            self.fail("The index is too large.", self.at, match.end(), f"The largest is {_MAX_INTEGER}.")
        self.at = match.end()
        return int(digits)

    def string(self) -> str:
        """Read a quoted string with the escapes of JSON, plus `\\'` in single quotes."""
        opened = self.at
        quote = self.peek()
        runs = _RUNS[quote]
        self.at += 1
        parts: list[str] = []
        while True:
            run = runs.match(self.text, self.at)
            if run is not None:
                parts.append(run.group())
                self.at = run.end()
            character = self.peek()
            if character == quote:
                self.at += 1
                return "".join(parts)
            if not character:
                self.fail("The quote is never closed.", opened, len(self.text), f"Add {quote}.")
            if character != "\\":
                code = ord(character)
                self.fail(f"A quoted text cannot hold U+{code:04X} as it is.", hint=f"Write \\u{code:04x}.")
            parts.append(self.escape(quote))

    def escape(self, quote: str) -> str:
        start = self.at
        letter = self.text[start + 1 : start + 2]
        self.at += 2
        if letter == quote:
            return quote
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter != "u":
            self.fail(
                f"\\{letter} is not an escape.", start, start + 2, "Double the backslash to mean a backslash."
            )
        code = self.hex4(start)
        if 0xD800 <= code < 0xDC00 and self.take("\\u"):
            low = self.hex4(start)
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00)
        if 0xD800 <= code < 0xE000:
            self.fail(
                "The escape is half of a surrogate pair.", start, self.at, "Write the character itself."
            )
        return chr(code)

    def hex4(self, start: int) -> int:
        match = _HEX4.match(self.text, self.at)
        if match is None:
            self.fail("\\u needs four hexadecimal digits.", start, start + 2, "Write \\u00e9 for é.")
        self.at = match.end()
        return int(match.group(), 16)

    # -- filters

    def filter(self) -> Filter:
        self.nest()
        self.space()
        expression = self.disjunction()
        self.nesting -= 1
        return Filter(expression)

    def disjunction(self) -> Expression:
        parts = [self.conjunction()]
        while self.joined("||"):
            parts.append(self.conjunction())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def conjunction(self) -> Expression:
        parts = [self.basic()]
        while self.joined("&&"):
            parts.append(self.basic())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def joined(self, token: str) -> bool:
        before = self.at
        self.space()
        if self.take(token):
            self.space()
            return True
        if self.peek() == token[0] and self.peek(2) not in ("&&", "||"):
            self.fail(
                f"{token[0]} is not an operator of filters here.", hint=f"Write {token}.", unsupported=True
            )
        self.at = before
        return False

    def basic(self) -> Expression:
        start = self.at
        if self.take("!"):
            self.space()
            return Not(self.negated())
        if self.peek() == "(":
            return self.parenthesised()
        left = self.operand()
        end = self.at
        self.space()
        operator = _OPERATOR.match(self.text, self.at)
        if operator is None:
            return self.test(left, start, end)
        return self.comparison(left, start, end, operator)

    def negated(self) -> Expression:
        if self.peek() == "(":
            return self.parenthesised()
        start = self.at
        operand = self.operand()
        return self.test(operand, start, self.at)

    def parenthesised(self) -> Expression:
        opened = self.at
        self.nest()
        self.at += 1
        self.space()
        expression = self.disjunction()
        self.space()
        if not self.take(")"):
            if self.at >= len(self.text):
                self.fail("The parenthesis is never closed.", opened, len(self.text), "Add ).")
            self.unexpected_in_filter()
        self.nesting -= 1
        return expression

    def test(self, operand: Operand, start: int, end: int) -> Expression:
        """Take an operand that stands alone as a test."""
        self.space()
        character = self.peek()
        if character and character not in ")],&|":
            self.unexpected_in_filter()
        if isinstance(operand, Query):
            self.at = end
            return Exists(operand)
        if isinstance(operand, Call) and operand.name in _LOGICAL_FUNCTIONS:
            self.at = end
            return operand
        what = f"{operand.name}()" if isinstance(operand, Call) else "A constant"
        self.fail(f"{what} alone is not a test.", start, end, "Compare it with something, such as == 1.")

    def comparison(self, left: Operand, start: int, end: int, match: re.Match[str]) -> Expression:
        operator = match.group()
        self.value_typed(left, start, end)
        self.at = match.end()
        self.space()
        start = self.at
        if operator == "=~":
            return self.regex_test(left)
        right = self.operand()
        self.value_typed(right, start, self.at)
        return Compare(left, cast('Literal["==", "!=", "<", "<=", ">", ">="]', operator), right)

    def regex_test(self, left: Operand) -> Expression:
        start = self.at
        if self.peek() not in ("'", '"'):
            self.fail("=~ needs a pattern in quotes.", hint="Write =~ '^a.*'.")
        pattern = self.string()
        import regex

        try:
            compile_pattern(pattern)
        except regex.error as error:
            self.fail(f"The pattern is not a regular expression: {error}.", start, self.at)
        return RegexTest(left, pattern, start, self.at)

    def value_typed(self, operand: Operand, start: int, end: int) -> None:
        """Refuse what gives no single value, by the typing rules of RFC 9535, section 2.4.3."""
        if isinstance(operand, Query) and not operand.singular:
            self.fail(
                "A path that can lead to several values cannot be compared.",
                start,
                end,
                "Write a path of names and indexes, or count() or value() round it.",
            )
        if isinstance(operand, Call) and operand.name in _LOGICAL_FUNCTIONS:
            self.fail(
                f"The result of {operand.name}() cannot be compared.",
                start,
                end,
                f"Write {operand.name}(…) alone.",
            )

    def operand(self) -> Operand:
        character = self.peek()
        if character in ("@", "$") and character:
            self.at += 1
            return Query(character == "$", self.segments())
        if character in ("'", '"') and character:
            return Constant(self.string())
        call = _FUNCTION.match(self.text, self.at)
        if call is not None:
            return self.call(call)
        for word, value in _LITERALS.items():
            if self.text.startswith(word, self.at):
                following = _NAME.match(self.text, self.at)
                if following is not None and following.end() == self.at + len(word):
                    self.at += len(word)
                    return Constant(value)
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            return self.number(number)
        self.no_operand(character)

    def number(self, match: re.Match[str]) -> Constant:
        following = self.text[match.end() : match.end() + 1]
        if following and following in "+-*/" and match.group()[-1].isdigit():
            self.at = match.end()
            self.operator_refused(following)
        if following and (following.isalnum() or following in "_."):
            end = match.end() + 1
            self.fail(
                f"{shorten(self.text[self.at : end], 30)!r} is not a number.",
                self.at,
                end,
                "Write it as JSON does.",
            )
        self.at = match.end()
        fraction, exponent = match.groups()
        if fraction is None and exponent is None:
            if len(match.group()) > 4000:
                self.fail("The number is too long.", match.start(), match.end())
            return Constant(int(match.group()))
        number = float(match.group())
        if number in (float("inf"), float("-inf")):
            self.fail("The number is too large.", match.start(), match.end())
        return Constant(number)

    def no_operand(self, character: str) -> NoReturn:
        if not character:
            self.fail(
                "The filter ends too early.",
                max(0, self.at - 1),
                self.at,
                "Write a test, such as @.price > 1.",
            )
        if character == "`":
            self.backtick()
        word = _WORD.match(self.text, self.at)
        if word is not None and not word.group()[0].isdigit():
            name = shorten(word.group(), 40)
            lower = name.lower()
            hint = (
                f"Write {lower}."
                if lower in _LITERALS
                else f"Write @.{name} for a member, or '{name}' for a text."
            )
            self.fail(f"{name} has no meaning in a filter.", word.start(), word.end(), hint)
        self.fail(f"A path, a text, a number or a function is due, not {character!r}.")

    def call(self, match: re.Match[str]) -> Call:
        start, name = self.at, match.group(1)
        if name not in _SIGNATURES:
            near = nearest(name, _SIGNATURES)
            self.fail(
                f"There is no function {shorten(name, 40)}().",
                start,
                match.end() - 1,
                f"Did you mean {near}()?" if near else f"The functions are {', '.join(_SIGNATURES)}.",
                unsupported=near is None,
            )
        self.nest()
        self.at = match.end()
        arguments: list[Operand] = []
        kinds = _SIGNATURES[name]
        self.space()
        while not self.take(")"):
            if arguments and not self.take(","):
                self.unexpected_in_filter()
            self.space()
            begin = self.at
            arguments.append(self.operand())
            if len(arguments) <= len(kinds):
                self.argument(arguments[-1], kinds[len(arguments) - 1], begin)
            self.space()
        if len(arguments) != len(kinds):
            self.fail(f"{name}() takes {len(kinds)} arguments, not {len(arguments)}.", start, self.at)
        self.nesting -= 1
        return Call(
            cast('Literal["length", "count", "match", "search", "value"]', name),
            tuple(arguments),
            start,
            self.at,
        )

    def argument(self, operand: Operand, kind: str, start: int) -> None:
        if kind == "value":
            self.value_typed(operand, start, self.at)
        elif not isinstance(operand, Query):
            self.fail(
                "The function takes a path, not a value.", start, self.at, "Write a path, such as @.items[*]."
            )

    # -- refusals

    def unexpected_in_filter(self) -> NoReturn:
        character = self.peek()
        if not character:
            self.fail("The filter ends too early.", max(0, self.at - 1), self.at, "Close it with ].")
        self.word_operator()
        if character == "=":
            self.fail("= is not a comparison.", hint="Write ==.")
        if character in "+*/-":
            self.operator_refused(character)
        if character == "`":
            self.backtick()
        self.fail(f"{character!r} cannot stand here in a filter.", hint="Join tests with && or ||.")

    def backtick(self) -> NoReturn:
        end = self.text.find("`", self.at + 1)
        end = len(self.text) if end < 0 else end + 1
        name = shorten(self.text[self.at : end], 40)
        self.fail(f"Operators in backquotes ({name}) are not supported.", self.at, end, unsupported=True)

    def operator_refused(self, character: str) -> NoReturn:
        if character == "|":
            what, hint = "Uniting paths with |", "Select several names with ['a', 'b']."
        elif character == "&":
            what, hint = "Intersecting paths with &", "In a filter, write && between two tests."
        else:
            what, hint = f"Arithmetic ({character})", "Compute the value before it becomes a parameter."
        name = re.compile(r"[^\s.\[\]\"'$]*\Z").search(self.text[: self.at])
        rest = re.compile(r"[^\s.\[\]\"'$]+").match(self.text, self.at)
        whole_name = name is not None and name.group() and rest is not None and len(rest.group()) > 1
        if name is not None and rest is not None and whole_name and not self.nesting:
            hint = f"Put a name that holds {character} into quotes: ['{shorten(name.group() + rest.group(), 40)}']."
        self.fail(f"{what} is not supported.", hint=hint, unsupported=True)

    def word_operator(self) -> None:
        """Refuse the words that other languages have for `&&` and `||`."""
        word = _WORD.match(self.text, self.at)
        if word is not None and word.group().lower() in ("and", "or"):
            symbol = "&&" if word.group().lower() == "and" else "||"
            self.fail(
                f"{word.group()} is not an operator here.", word.start(), word.end(), f"Write {symbol}."
            )

    def leftover(self) -> NoReturn:
        """Refuse what follows after a complete path."""
        start = self.at
        self.space()
        character = self.peek()
        if not character:
            self.fail("A blank stands after the path.", start, len(self.text), "Remove the blank.")
        word = _WORD.match(self.text, self.at)
        if word is not None and word.group() in ("where", "wherenot"):
            self.fail(
                f"The operator {word.group()} is not supported.",
                word.start(),
                word.end(),
                "Write a filter: [?(@.name)].",
                unsupported=True,
            )
        if character in "+-*/|&":
            self.operator_refused(character)
        if character == "`":
            self.backtick()
        if character in "^~":
            self.fail(f"{character} (parent or name of a node) is not supported.", unsupported=True)
        end = min(len(self.text), self.at + 1)
        self.fail(
            f"{shorten(self.text[self.at :], 30)!r} cannot follow here.",
            self.at,
            end,
            "Put a name with special characters into brackets and quotes: ['a/b'].",
        )
