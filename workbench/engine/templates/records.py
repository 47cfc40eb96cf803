"""What is known about every placeholder after a template was filled, beside the filled text itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.text import shorten

Status = Literal["resolved", "kept", "empty"]
Source = Literal["parameter", "context", "field"]


@dataclass(frozen=True, slots=True)
class PlaceholderUse:
    """One placeholder of one string, and what became of it.

    `node` is a JSON-Pointer-like path to the string in the object graph (empty for a single text); `is_key`
    says that the string is the key of that member rather than its value. `start` and `end` are half-open
    code-point offsets of the whole token in the template, `output_start` and `output_end` those of what
    stands for it in the filled string. `body` is the text between the marks, as typed.

    `status` is `resolved`, `kept` (the token stays as it is) or `empty` (nothing matched, or its line was
    dropped). `text` is what was put in, after escaping; the token itself when it was kept. `match_count`
    counts the values found. `pointer` is the JSON Pointer of the (first) value in the parameters, `pointers`
    of all values. `value_type` is the JSON type of the value before it became text. `escaper` is the name of
    the escaper that was applied. `diagnostic` says what is wrong, `None` where nothing is.
    """

    node: str
    start: int
    end: int
    body: str
    status: Status
    output_start: int
    output_end: int
    text: str
    match_count: int = 0
    pointer: str | None = None
    diagnostic: Diagnostic | None = None
    source: Source | None = None
    value_type: str | None = None
    escaper: str = "none"
    is_key: bool = False
    pointers: tuple[str, ...] = ()


class UnresolvedPlaceholderError(ValueError):
    """A placeholder could not be filled, and the options ask for an error.

    `placeholders` are all records, `unresolved` those that could not be filled. The message names the first
    of these with its offset and node.
    """

    def __init__(self, placeholders: Sequence[PlaceholderUse], unresolved: Sequence[PlaceholderUse]) -> None:
        self.placeholders = tuple(placeholders)
        self.unresolved = tuple(unresolved)
        super().__init__(_unresolved_message(self.unresolved))


def _unresolved_message(unresolved: tuple[PlaceholderUse, ...]) -> str:
    if not unresolved:
        return "a placeholder is unresolved"
    first = unresolved[0]
    place = f"offset {first.start}" + (f" of node {first.node}" if first.node else "")
    reason = first.diagnostic.message if first.diagnostic is not None else f"{first.body} is unresolved"
    hint = f"; {first.diagnostic.hint}" if first.diagnostic is not None and first.diagnostic.hint else ""
    more = f" ({len(unresolved)} placeholders are unresolved)" if len(unresolved) > 1 else ""
    return f"{reason} (at {place}){hint}{more}"


def type_surprises(uses: Iterable[PlaceholderUse]) -> list[Diagnostic]:
    """Return a note for every placeholder whose value is put in otherwise than one might expect.

    A list or an object becomes JSON text, several matches are put together, null becomes empty text.
    """
    notes: list[Diagnostic] = []
    for use in uses:
        if use.status != "resolved" or use.source != "parameter":
            continue
        note = _surprise(use)
        if note is not None:
            code, message = note
            notes.append(
                Diagnostic(
                    "info", code, message, use.start, use.end, pointer=use.pointer, node=use.node or None
                )
            )
    return notes


def _surprise(use: PlaceholderUse) -> tuple[str, str] | None:
    body = shorten(use.body, 60)
    if use.match_count > 1:
        return "many_matches", f"{body} matches {use.match_count} values, which are put in as one text"
    if use.value_type == "object":
        return "object_as_json", f"{body} is an object and is put in as JSON"
    if use.value_type == "array":
        return "array_as_json", f"{body} is a list and is put in as JSON"
    if use.value_type == "null":
        shown = f"as {use.text!r}" if use.text else "as nothing"
        return "null_as_text", f"{body} is null and is put in {shown}"
    return None
