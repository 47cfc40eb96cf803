"""Strict JSON with positions, because users write JSON by hand and models write it almost right.

`json.loads` accepts what RFC 8259 refuses (NaN), hides what matters (repeated names, numbers that overflow,
half surrogate pairs) and knows no places. This reader uses it where it is safe, since nothing in Python is
faster, and reads again with a scanner of its own where something is wrong or a position is asked for.
"""

from __future__ import annotations

from workbench.engine.json_text.pointers import (
    PointerError,
    escape_pointer,
    join_pointer,
    resolve_pointer,
    split_pointer,
)
from workbench.engine.json_text.reading import DEFAULT_DEPTH, JsonDocument, parse_json, parse_json_bytes
from workbench.engine.json_text.writing import dumps

__all__ = [
    "DEFAULT_DEPTH",
    "JsonDocument",
    "PointerError",
    "dumps",
    "escape_pointer",
    "join_pointer",
    "parse_json",
    "parse_json_bytes",
    "resolve_pointer",
    "split_pointer",
]
