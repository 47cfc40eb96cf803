"""The one record in which every part of the engine says what is wrong, and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

Severity = Literal["error", "warning", "info"]

_RANK: dict[str, int] = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Fix:
    """One change of text that would settle a diagnostic.

    `start` and `end` are half-open code-point offsets into the text that the diagnostic speaks of;
    `replacement` is the text to put there; `title` says in a few words what the change does.
    """

    title: str
    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something that is wrong, or worth knowing, at a place.

    `start` and `end` are half-open code-point offsets from 0 into the text concerned; `line` and `column`
    count from 1, in code points. `pointer` is a JSON Pointer into the value concerned. `node` names the
    part of a prompt (a JSON Pointer into its graph, such as `/0/content`). `file` is a path relative to
    the project. What is not known is `None`. `keyword`, `schema_pointer`, `expected` and `excerpt` come
    with diagnostics of a JSON Schema. `message` alone names the thing concerned; `hint` says what to do.
    """

    severity: Severity
    code: str
    message: str
    start: int | None = None
    end: int | None = None
    line: int | None = None
    column: int | None = None
    pointer: str | None = None
    hint: str | None = None
    file: str | None = None
    node: str | None = None
    keyword: str | None = None
    schema_pointer: str | None = None
    expected: Any = None
    excerpt: str | None = None
    fixes: tuple[Fix, ...] = ()

    def at(self, file: str | None = None, **changes: Any) -> Diagnostic:
        """Return a copy that names `file` (kept when `None`) and any other field given by name."""
        if file is not None:
            changes["file"] = file
        return replace(self, **changes)

    def place(self) -> str:
        """Return the place in one word for messages: `file:line:column`, as far as it is known."""
        parts = [self.file or ""]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(part for part in parts if part)

    def one_line(self) -> str:
        """Return `place: message`, the form in which the command line prints a diagnostic."""
        place = self.place()
        return f"{place}: {self.message}" if place else self.message

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form (see the README of the command line)."""
        data: dict[str, Any] = {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "line": self.line,
            "column": self.column,
            "start": self.start,
            "end": self.end,
            "pointer": self.pointer,
            "hint": self.hint,
            "file": self.file,
        }
        if self.node is not None:
            data["node"] = self.node
        if self.keyword is not None:
            data["keyword"] = self.keyword
            data["schema_pointer"] = self.schema_pointer
            data["expected"] = self.expected
            data["excerpt"] = self.excerpt
        return data


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Tell whether any of `diagnostics` is an error."""
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return `diagnostics` in the order in which people read them: errors first, then by file and place."""
    return sorted(
        diagnostics,
        key=lambda d: (_RANK[d.severity], d.file or "", d.node or "", d.start if d.start is not None else -1),
    )
