"""Writes values as TOML tokens in which every character of a text survives.

tomlkit's multi-line writer drops a first line end and escapes tabs, which would change a prompt or make its
diff unreadable; so the tokens are written here and read back by tomlkit.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_RAW = re.compile(r'[\x00-\x08\x0b-\x1f\x7f\\"]|\n')
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_QUOTES = re.compile(r'"{3,}|"+\Z')
_NAMED = {"\b": "\\b", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}

Value = Any


def has_lone_surrogate(text: str) -> bool:
    """Tell whether `text` holds half of a surrogate pair, which neither TOML nor UTF-8 can carry."""
    return _SURROGATE.search(text) is not None


def first_lone_surrogate(text: str) -> int | None:
    """Return the offset of the first lone surrogate in `text`, or `None`."""
    found = _SURROGATE.search(text)
    return found.start() if found else None


def storable(value: Value) -> Value:
    """Return `value` as a file can hold it: each lone surrogate is replaced by U+FFFD."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value


def write_key(name: str) -> str:
    """Return `name` as a key token: bare where TOML allows it, else quoted."""
    return name if _BARE_KEY.fullmatch(name) else _basic(storable(name))


def write_keys(names: Sequence[str]) -> str:
    """Return a dotted key."""
    return ".".join(write_key(name) for name in names)


def write_string(text: str, like: str = "", newline: str = "\n") -> str:
    """Return the token of `text` in the style of the token `like` where that style can hold the text.

    A text with a line end is written between triple quotes, its first line below them. `newline` is the
    line end of the file: it stands for LF inside the token; a CR that belongs to the text is escaped.
    """
    text = storable(text)
    if like.startswith("'''") and _fits_literal(text) and "'''" not in text and not text.endswith("'"):
        return _in_lines("'''", text, like, newline)
    if like.startswith('"""') or ("\n" in text and not (like.startswith('"') and "\\n" in like)):
        escaped = _QUOTES.sub(_escape_quotes, _CONTROL.sub(_escape, text.replace("\\", "\\\\")))
        return _in_lines('"""', escaped, like, newline)
    if like.startswith("'") and not like.startswith("'''") and _fits_literal(text) and "'" not in text:
        return f"'{text}'"
    return _basic(text)


def write_value(value: Value, like: str = "", newline: str = "\n") -> str:
    """Return the token of any value that TOML has; containers become inline arrays and tables.

    Raises:
        ValueError: for `None`, which TOML cannot express, and for objects that are no TOML value.
    """
    if isinstance(value, str):
        return write_string(value, like, newline)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{write_key(key)} = {_inline(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return _array(value, like, newline)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    raise ValueError(f"TOML has no value for {type(value).__name__}")


def _inline(value: Value) -> str:
    return _basic(storable(value)) if isinstance(value, str) else write_value(value)


def _array(items: Sequence[Value], like: str, newline: str) -> str:
    tokens = [_inline(item) for item in items]
    if "\n" in like and tokens:
        lines = newline.join(f"  {token}," for token in tokens)
        return f"[{newline}{lines}{newline}]"
    return f"[{', '.join(tokens)}]"


def _float(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def _fits_literal(text: str) -> bool:
    return _CONTROL.search(text) is None


def _in_lines(quotes: str, body: str, like: str, newline: str) -> str:
    begins_below = not like.startswith(quotes) or like[3:5].startswith(("\n", "\r\n"))
    if begins_below or body.startswith("\n"):
        body = "\n" + body
    return f"{quotes}{body.replace(chr(10), newline)}{quotes}"


def _basic(text: str) -> str:
    return f'"{_NOT_RAW.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    return _NAMED.get(character) or f"\\u{ord(character):04X}"


def _escape_quotes(found: re.Match[str]) -> str:
    """Escape every third quote of a run, and each quote that would touch the closing ones."""
    run = found.group()
    if found.end() == len(found.string):
        return '\\"' * len(run)
    return "".join('\\"' if index % 3 == 2 else '"' for index in range(len(run)))
