"""Reads and writes `cases.jsonl` so that a row that was not edited keeps its bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import Stage
from workbench.engine.json_text import JsonDocument, parse_json
from workbench.engine.text import LineIndex, nearest, newline_style

_KEYS = ("id", "text", "labels", "note", "stage", "user_message")


@dataclass(slots=True, eq=False)
class _Row:
    """One line of the file with its line end: a case, or what could not be read as one."""

    raw: str
    case: Case | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class CaseFile:
    """The labelled cases of a project and the text of their file."""

    def __init__(self, text: str = "", file: str = "cases.jsonl") -> None:
        self.file = file
        self.newline = newline_style(text)
        self.diagnostics: list[Diagnostic] = []
        self._rows: list[_Row] = []
        self._read(text)

    @property
    def text(self) -> str:
        """The text of the whole file."""
        return "".join(row.raw for row in self._rows)

    @property
    def cases(self) -> tuple[Case, ...]:
        """The rows that could be read, in order."""
        return tuple(row.case for row in self._rows if row.case is not None)

    def replace(self, cases: Sequence[Case]) -> None:
        """Make `cases` the cases of the file.

        Rows that stay equal keep their text, edited rows keep keys that are not ours, and lines that could
        not be read stay behind the row that they followed.
        """
        by_id: dict[str, list[_Row]] = {}
        followers: dict[int, list[_Row]] = {}
        leading: list[_Row] = []
        last: _Row | None = None
        for row in self._rows:
            if row.case is None:
                (leading if last is None else followers.setdefault(id(last), [])).append(row)
            else:
                by_id.setdefault(row.case.id, []).append(row)
                last = row
        rows = list(leading)
        for case in cases:
            same_id = by_id.get(case.id, [])
            # Ids may repeat: a row that says exactly the same is preferred to the first with the id.
            old = next((row for row in same_id if row.case == case), same_id[0] if same_id else None)
            if old is not None:
                same_id.remove(old)
            rows.append(_rewritten(case, old, self.newline))
            if old is not None:
                rows.extend(followers.pop(id(old), ()))
        for orphans in followers.values():
            rows.extend(orphans)
        for row in rows[:-1]:
            if not row.raw.endswith("\n"):
                row.raw += self.newline
        self._rows = rows
        if self.diagnostics:
            # Lines moved: the places are looked up anew.
            self.diagnostics = CaseFile(self.text, self.file).diagnostics

    def _read(self, text: str) -> None:
        seen: dict[str, int] = {}
        start = 0
        for number, raw in enumerate(text.split("\n"), 1):
            is_last = start + len(raw) == len(text)
            line = raw if is_last else raw + "\n"
            if line:
                self._rows.append(self._row(line, number, start, seen))
            start += len(raw) + 1

    def _row(self, line: str, number: int, offset: int, seen: dict[str, int]) -> _Row:
        body = line.rstrip("\r\n")
        if not body.strip():
            return _Row(line)
        document = parse_json(body, file=self.file)
        reader = _RowReader(document, self.file, number, offset)
        self.diagnostics.extend(reader.syntax())
        if not document.ok:
            return _Row(line)
        case = reader.case()
        self.diagnostics.extend(reader.problems)
        if case is None:
            return _Row(line)
        if case.id in seen:
            self.diagnostics.append(
                reader.diagnostic(
                    "warning", "double_id", f"the id `{case.id}` is also used in line {seen[case.id]}", "/id"
                )
            )
        seen.setdefault(case.id, number)
        return _Row(line, case, {k: v for k, v in document.value.items() if k not in _KEYS})


def read_case_line(line: str, number: int, file: str) -> tuple[Case | None, list[Diagnostic]]:
    """Return the case in one line of a file of cases, for files too long to be held; `None` where there is none.

    Offsets count from the line's own beginning. Ids that occur twice are the caller's to find.
    """
    body = line.rstrip("\r\n")
    if not body.strip():
        return None, []
    document = parse_json(body, file=file)
    reader = _RowReader(document, file, number, 0)
    found = reader.syntax() if document.diagnostics else []
    case = reader.case() if document.ok else None
    return case, found + reader.problems


class _RowReader:
    """Turns one parsed row into a case and says what is wrong with it, at its line."""

    def __init__(self, document: JsonDocument, file: str, line: int, offset: int) -> None:
        self.document = document
        self.lines = LineIndex(document.text)
        self.file = file
        self.line = line
        self.offset = offset
        self.problems: list[Diagnostic] = []

    def syntax(self) -> list[Diagnostic]:
        moved = []
        for found in self.document.diagnostics:
            start = None if found.start is None else found.start + self.offset
            end = None if found.end is None else found.end + self.offset
            moved.append(found.at(self.file, line=self.line, start=start, end=end))
        return moved

    def case(self) -> Case | None:
        row = self.document.value
        if not isinstance(row, dict):
            self._error("a row must be an object with id, text and labels", "")
            return None
        for key in row:
            if key not in _KEYS:
                guess = nearest(key, _KEYS)
                hint = f"did you mean `{guess}`?" if guess else "it is kept, but nothing reads it"
                self.problems.append(
                    self.diagnostic("warning", "unknown_key", f"unknown key `{key}`", _pointer(key), hint)
                )
        text = self._text(row, "text", needed=True)
        identifier = self._text(row, "id")
        stage = self._text(row, "stage") or "input"
        if stage not in ("input", "output"):
            self._error(f'`stage` must be "input" or "output", not "{stage}"', "/stage")
            return None
        labels = self._labels(row.get("labels", {}))
        note = self._text(row, "note")
        user_message = self._text(row, "user_message")
        if text is None or labels is None:
            return None
        if identifier is None:
            identifier = f"row-{self.line}"
            message = f"the row has no id; it is called `{identifier}`"
            self.problems.append(self.diagnostic("warning", "missing_key", message, "", 'add an "id"'))
        return Case(identifier, text, labels, note or "", cast(Stage, stage), user_message)

    def _labels(self, value: Any) -> dict[str, bool] | None:
        if not isinstance(value, dict):
            self._error("`labels` must be an object of true and false", "/labels")
            return None
        labels = {}
        for name, label in value.items():
            if isinstance(label, bool):
                labels[name] = label
            elif label is not None:
                self._error(f"the label of `{name}` must be true or false", f"/labels{_pointer(name)}")
        return labels

    def _text(self, row: Mapping[str, Any], key: str, *, needed: bool = False) -> str | None:
        value = row.get(key)
        if value is None:
            if needed:
                self._error(f"the row has no `{key}`", "")
            return None
        if not isinstance(value, str):
            self._error(f"`{key}` must be a text", _pointer(key))
            return None
        return value

    def _error(self, message: str, pointer: str) -> None:
        self.problems.append(self.diagnostic("error", "case", message, pointer))

    def diagnostic(
        self, severity: Any, code: str, message: str, pointer: str, hint: str | None = None
    ) -> Diagnostic:
        span = self.document.span(pointer) or (0, len(self.document.text))
        if code == "unknown_key":
            span = self.document.key_span(pointer) or span
        column = self.lines.position(span[0])[1]
        return Diagnostic(
            severity,
            code,
            message,
            start=span[0] + self.offset,
            end=span[1] + self.offset,
            line=self.line,
            column=column,
            pointer=pointer,
            hint=hint,
            file=self.file,
        )


def _rewritten(case: Case, old: _Row | None, newline: str) -> _Row:
    if old is not None and old.case == case:
        return old
    extra = dict(old.extra) if old is not None else {}
    return _Row(write_case(case, extra) + newline, case, extra)


def write_case(case: Case, extra: Mapping[str, Any] | None = None) -> str:
    """Return `case` as one line of JSON without a line end; keys that hold nothing are left out."""
    row: dict[str, Any] = {"id": case.id, "text": case.text, "labels": dict(case.labels)}
    if case.stage != "input":
        row["stage"] = case.stage
    if case.user_message is not None:
        row["user_message"] = case.user_message
    if case.note:
        row["note"] = case.note
    row.update(extra or {})
    text = json.dumps(row, ensure_ascii=False)
    # Half a surrogate pair cannot be written as UTF-8, but JSON can name it.
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def _pointer(key: str) -> str:
    return "/" + key.replace("~", "~0").replace("/", "~1")
