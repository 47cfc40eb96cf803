"""Says why a text is no JSON at the place where reading stopped, and what its writer most likely meant."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.diagnostics import Fix
from workbench.engine.text import shorten

if TYPE_CHECKING:
    from workbench.engine.json_text.scanner import Frame, Scanner

__all__ = ["explain", "explain_comment", "explain_invisible", "shown", "stands_unseen"]

_WORD = re.compile(r"[^\W\d][\w$-]*|\$[\w$-]*")
_NUMBER_LIKE = re.compile(r"[+-]?[.\w+-]*[\w.]|[+-]")
_WORDS: Final = {"true": "true", "false": "false", "null": "null", "none": "null", "undefined": "null"}
_TYPOGRAPHIC_QUOTES: Final = "“”„‟‘’‚‛«»‹›″′＂＇「」『』"

_Problem = tuple[Any, ...]
"""Arguments of `Scanner._report` after the code: message, start, end, hint and fixes."""


def explain(scanner: Scanner, position: int, wanted: str) -> _Problem:
    """Say why the character at `position` cannot stand there, and what the writer most likely meant."""
    text = scanner.text
    character = text[position]
    if text.startswith(("//", "/*", "#"), position):
        return explain_comment(text, position)
    if stands_unseen(text, position):
        return explain_invisible(text, position)
    if character in "'`" or character in _TYPOGRAPHIC_QUOTES:
        return _explain_quotes(text, position)
    frame = scanner.stack[-1] if scanner.stack else None
    if character in "}]" and frame is not None:
        return _explain_closer(scanner, frame, position, wanted)
    if wanted == "comma":
        return _explain_missing_comma(scanner, position)
    if wanted == "colon":
        hint = "Write a colon." if character in "=;" else "Names and values are separated by a colon."
        fix = (Fix("Write a colon", position, position + 1, ":"),) if character in "=;" else ()
        return (
            f"A colon must follow the name, not {scanner.excerpt(position)}.",
            position,
            position + 1,
            hint,
            *fix,
        )
    if character == ",":
        return "A comma stands where a value is due.", position, position + 1, "Remove one of the two commas."
    return _explain_word(text, position, wanted, scanner)


def shown(text: str) -> str:
    """Return `text` with every character that a reader could not see, such as U+00A0, as an escape."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def stands_unseen(text: str, position: int) -> bool:
    """Tell whether the character at `position` is a blank or a sign without width that JSON does not know."""
    return unicodedata.category(text[position]) in ("Zs", "Zl", "Zp", "Cf", "Cc")


def explain_invisible(text: str, position: int) -> _Problem:
    """Name the characters from `position` that nobody can see, such as a no-break space out of a web page."""
    end = position + 1
    while end < len(text) and text[end] not in " \t\r\n" and stands_unseen(text, end):
        end += 1
    character = text[position]
    name = unicodedata.name(character, "").lower()
    what = f"U+{ord(character):04X}" + (f" ({name})" if name else "")
    return (
        f"{what} stands here unseen; between values JSON takes only spaces, tabs and line ends.",
        position,
        end,
        "Remove it, or write a space.",
        Fix("Write a space", position, end, " "),
    )


def explain_comment(text: str, position: int) -> _Problem:
    if text.startswith("/*", position):
        end = text.find("*/", position + 2)
        end = len(text) if end < 0 else end + 2
    else:
        line_end = re.compile(r"[\r\n]|\Z").search(text, position)
        end = line_end.start() if line_end else len(text)
    fix = Fix("Remove the comment", position, end, "")
    return "JSON has no comments.", position, end, "Remove the comment.", fix


def _explain_quotes(text: str, position: int) -> _Problem:
    character = text[position]
    kind = "Single quotes" if character == "'" else "Backquotes" if character == "`" else "Typographic quotes"
    closers = "'" if character == "'" else "`" if character == "`" else _TYPOGRAPHIC_QUOTES
    end = position + 1
    while end < len(text) and text[end] not in closers and text[end] not in '\r\n"':
        end += 2 if text[end] == "\\" else 1
    fixes: tuple[Fix, ...] = ()
    if end < len(text) and text[end] in closers:
        inside = text[position + 1 : end].replace("\\'", "'")
        fixes = (Fix("Use straight double quotes", position, end + 1, f'"{inside}"'),)
    message = f'{kind} ({character}) do not make a string in JSON; straight double quotes (") do.'
    return message, position, position + 1, "Use straight double quotes.", *fixes


def _explain_closer(scanner: Scanner, frame: Frame, position: int, wanted: str) -> _Problem:
    text, character = scanner.text, scanner.text[position]
    expected = "}" if isinstance(frame.items, dict) else "]"
    start = scanner.places.start(frame.node)
    if character != expected:
        opened = "object" if expected == "}" else "array"
        message = f"{character} cannot close the {opened} that begins at {scanner.place_of(start)}."
        return message, position, position + 1, f"Close it with {expected}."
    if frame.after_comma or (wanted == "value" and text[:position].rstrip(" \t\r\n").endswith(",")):
        comma = text.rindex(",", 0, position)
        fix = Fix("Remove the comma", comma, comma + 1, "")
        return (
            f"A comma stands before {character}, and nothing follows it.",
            position,
            position + 1,
            "Remove the comma.",
            fix,
        )
    return (
        f"A {wanted} is due before {character}.",
        position,
        position + 1,
        f"Write a {wanted}, or remove the name.",
    )


def _explain_missing_comma(scanner: Scanner, position: int) -> _Problem:
    text, character = scanner.text, scanner.text[position]
    before = len(text[:position].rstrip(" \t\r\n"))
    excerpt = scanner.excerpt(position)
    if character in ";：；，、":
        fix = Fix("Write a comma", position, position + 1, ",")
        return f"A comma must follow the value, not {excerpt}.", position, position + 1, "Write a comma.", fix
    message = f"A comma or a closing bracket must follow the value, not {excerpt}."
    fixes = (Fix("Insert a comma", before, before, ","),) if character in '"{[' or character.isalnum() else ()
    return message, position, position + 1, "Insert a comma between two values.", *fixes


def _explain_word(text: str, position: int, wanted: str, scanner: Scanner) -> _Problem:
    match = _WORD.match(text, position)
    if match is not None:
        word, end = match.group(), match.end()
        meant = _WORDS.get(word.lower())
        if meant is not None and wanted == "value":
            language = "Python" if word in ("True", "False", "None") else "JSON"
            what = f"{word} is Python" if language == "Python" else f"{word} is not a value of JSON"
            return (
                f"{what}; JSON writes {meant}.",
                position,
                end,
                f"Write {meant}.",
                Fix(f"Write {meant}", position, end, meant),
            )
        subject = "name" if wanted == "name" else "text"
        fix = Fix("Put it into double quotes", position, end, f'"{word}"')
        return (
            f"The {subject} {shorten(shown(word), 40)} has no quotes.",
            position,
            end,
            "Put it into double quotes.",
            fix,
        )
    number = _NUMBER_LIKE.match(text, position)
    if number is not None and wanted == "value" and number.group()[0] in "+-.0123456789":
        return (
            f"{shorten(number.group(), 40)} is not a number of JSON.",
            position,
            number.end(),
            _number_hint(number.group()),
        )
    article = "A name in double quotes" if wanted == "name" else f"A {wanted}"
    return f"{article} is due, not {scanner.excerpt(position)}.", position, position + 1, None


def _number_hint(text: str) -> str:
    digits = text.lstrip("+-")
    if text.startswith("+"):
        return "Leave out the plus sign."
    if digits[:2].lower() in ("0x", "0b", "0o"):
        return "Write the number in decimal digits."
    if digits[:1] == "0" and digits[1:2].isdigit():
        return "Leave out the leading zeros, or put the digits into double quotes."
    if "_" in digits:
        return "Leave out the underscores."
    if digits.startswith(".") or digits.endswith(".") or ".e" in digits.lower():
        return "Digits must stand on both sides of the decimal point."
    return (
        "Write digits, a fraction after a point and an exponent after e, or put the text into double quotes."
    )
