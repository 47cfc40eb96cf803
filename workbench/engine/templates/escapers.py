"""Turns an inserted value into text that is safe at its destination, one function per destination."""

from __future__ import annotations

import html as _html
import json as _json
import re as _re
import shlex as _shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType

Escaper = Callable[[str], str]

REPLACEMENT_CHARACTER = "\ufffd"
"""Stands for a character that the destination cannot hold in any spelling."""

_SURROGATE = _re.compile("[\ud800-\udfff]")
_NOT_XML = _re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_XML_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\r": "&#13;"}
_XML_SPECIAL_CHARACTER = _re.compile("[&<>\"'\r]")
_ASCII_PUNCTUATION = _re.compile(r"[!-/:-@\[-`{-~]")
_LITERAL_SPECIAL = _re.compile('[\x00-\x1f"\\\\\x7f\u2028\u2029\ud800-\udfff]')
_SHORT_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_JAVA_ESCAPES = _SHORT_ESCAPES | {"\b": "\\b", "\f": "\\f"}


def none(text: str) -> str:
    """Return `text` as it is."""
    return text


def json_string(text: str) -> str:
    """Return the inside of a JSON string literal in double quotes; half surrogate pairs become escapes."""
    inside = _json.dumps(text, ensure_ascii=False)[1:-1]
    if inside.isascii():
        return inside
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", inside)


def xml(text: str) -> str:
    """Return text for XML content and quoted attributes.

    What XML 1.0 cannot hold (most control characters, half surrogate pairs) becomes U+FFFD. Line feeds and
    tabs stay readable, so inside an attribute a parser reads them as spaces, as XML prescribes.
    """
    return _XML_SPECIAL_CHARACTER.sub(
        lambda match: _XML_SPECIAL[match.group()], _NOT_XML.sub(REPLACEMENT_CHARACTER, text)
    )


def html(text: str) -> str:
    """Return text for HTML content and quoted attributes; NUL and half surrogate pairs become U+FFFD."""
    escaped = _html.escape(text, quote=True).replace("\r", "&#13;").replace("\x00", REPLACEMENT_CHARACTER)
    return escaped if escaped.isascii() else _SURROGATE.sub(REPLACEMENT_CHARACTER, escaped)


def markdown(text: str) -> str:
    """Return text in which no ASCII punctuation has a meaning for CommonMark."""
    return _ASCII_PUNCTUATION.sub(r"\\\g<0>", text)


def regex(text: str) -> str:
    """Return a pattern that matches exactly `text` in Python's `re`, with `VERBOSE` too."""
    return _re.escape(text)


def shell(text: str) -> str:
    """Return one complete quoted word for a POSIX shell; NUL, which no word can hold, becomes U+FFFD."""
    return _shlex.quote(text.replace("\x00", REPLACEMENT_CHARACTER))


def python_literal(text: str) -> str:
    """Return the inside of a Python string literal in double quotes."""
    return _LITERAL_SPECIAL.sub(_python_escape, text)


def java_string(text: str) -> str:
    """Return the inside of a Java string literal in double quotes."""
    return _LITERAL_SPECIAL.sub(_java_escape, text)


def _python_escape(match: _re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    return _SHORT_ESCAPES.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _java_escape(match: _re.Match[str]) -> str:
    # Java reads \uXXXX before it looks for line ends and quotes; those have short escapes of their own.
    character = match.group()
    return _JAVA_ESCAPES.get(character) or f"\\u{ord(character):04x}"


ESCAPERS: Mapping[str, Escaper] = MappingProxyType(
    {
        "none": none,
        "json_string": json_string,
        "xml": xml,
        "html": html,
        "markdown": markdown,
        "regex": regex,
        "shell": shell,
        "python_literal": python_literal,
        "java_string": java_string,
    }
)
"""Every escaper by the name that projects and the command line use."""
