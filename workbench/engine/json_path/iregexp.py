"""Translates I-Regexp (RFC 9485), the patterns of `match` and `search`, so that they mean what they say.

The grammar of RFC 9485 is small; what lies outside it is no pattern and matches nothing. `.` stops at both
line ends, and `$` means the end of the text, not also the place before a last newline as in Python. Anchors
stay anchors, as in the mapping that the RFC gives for ECMAScript.
"""

from __future__ import annotations

import re

__all__ = ["translate"]

_QUANTIFIER = re.compile(r"[*+?]|\{[0-9]+(?:,[0-9]*)?\}")
_PROPERTY = re.compile(r"\\[pP]\{(?:L[ulmto]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfno]?)\}")
_SINGLE_ESCAPE = re.compile(r"\\[()*+\-.?\[\\\]^nrt{|}]")
_MAX_DEPTH = 50


def translate(pattern: str) -> str | None:
    """Return the pattern for the `regex` package, or `None` where the text is no I-Regexp."""
    out: list[str] = []
    at, depth, after_atom = 0, 0, False
    while at < len(pattern):
        character = pattern[at]
        quantifier = _QUANTIFIER.match(pattern, at)
        if quantifier is not None:
            if not after_atom:
                return None
            out.append(quantifier.group())
            at, after_atom = quantifier.end(), False
            continue
        if character == "(":
            depth += 1
            out.append("(?:")
        elif character == ")":
            depth -= 1
            out.append(")")
        elif character in "|^":
            out.append(character)
        elif character == "$":
            out.append(r"\Z")
        else:
            piece = _atom(pattern, at)
            if piece is None:
                return None
            out.append(piece[0])
            at, after_atom = piece[1], True
            continue
        if not 0 <= depth <= _MAX_DEPTH:
            return None
        after_atom = character == ")"
        at += 1
    return "".join(out) if depth == 0 else None


def _atom(pattern: str, at: int) -> tuple[str, int] | None:
    character = pattern[at]
    if character == ".":
        return r"[^\n\r]", at + 1
    if character == "[":
        return _character_class(pattern, at)
    if character == "\\":
        return _escape(pattern, at)
    if character in "]{}":
        return None
    return re.escape(character), at + 1


def _escape(pattern: str, at: int) -> tuple[str, int] | None:
    match = _PROPERTY.match(pattern, at) or _SINGLE_ESCAPE.match(pattern, at)
    return (match.group(), match.end()) if match else None


def _character_class(pattern: str, at: int) -> tuple[str, int] | None:
    at += 1
    out = ["["]
    if pattern.startswith("^", at):
        out.append("^")
        at += 1
    first = True
    while at < len(pattern):
        character = pattern[at]
        if character == "]":
            return None if first else ("".join([*out, "]"]), at + 1)
        if character == "[":
            return None
        if character == "\\":
            piece = _escape(pattern, at)
            if piece is None:
                return None
            out.append(piece[0])
            at = piece[1]
        elif character == "-" and not first and pattern[at + 1 : at + 2] not in ("]", ""):
            out.append("-")
            at += 1
        else:
            out.append(re.escape(character))
            at += 1
        first = False
    return None
