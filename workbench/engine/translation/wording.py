"""Turns diagnostics into the few lines that a model, or a person, reads of a failed reply."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.text import shorten

MAX_LISTED = 20
"""Diagnostics that are listed one by one, not counting missing properties, which are always all named."""
MAX_LINE = 400
MAX_CHARACTERS = 6000


def list_diagnostics(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one line per error: its place, what is wrong, what to do.

    At most `MAX_LISTED` lines and `MAX_CHARACTERS` characters, then the number of the rest. Missing properties are
    all listed, since a model cannot add what it is not told of.
    """
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    required = [d for d in errors if d.keyword == "required"]
    others = [d for d in errors if d.keyword != "required"]
    kept = {id(d) for d in [*required, *others[:MAX_LISTED]]}
    lines: list[str] = []
    length = 0
    for diagnostic in errors:
        line = describe(diagnostic)
        if id(diagnostic) not in kept:
            continue
        if length + len(line) > MAX_CHARACTERS and diagnostic.keyword != "required" and lines:
            continue
        lines.append(line)
        length += len(line) + 1
    left = len(errors) - len(lines)
    if left > 0:
        lines.append(f"and {left} more")
    return "\n".join(lines)


def describe(diagnostic: Diagnostic) -> str:
    """Return one line for a diagnostic: its place where the message does not begin with it, message and hint."""
    limit = MAX_CHARACTERS if diagnostic.keyword == "required" else MAX_LINE
    text = shorten(" ".join(diagnostic.message.split()), limit)
    places = []
    if diagnostic.pointer and not text.startswith(diagnostic.pointer):
        places.append(diagnostic.pointer)
    if diagnostic.keyword is None and diagnostic.line is not None:
        places.append(f"line {diagnostic.line}, column {diagnostic.column}")
    if places:
        text = f"{', '.join(places)}: {text}"
    if diagnostic.hint:
        text = f"{text} ({shorten(' '.join(diagnostic.hint.split()), MAX_LINE)})"
    return text
