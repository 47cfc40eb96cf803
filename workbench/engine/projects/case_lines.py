"""One line of `cases.jsonl`: read fast where nothing is wrong with it, with care where something is, and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import Stage
from workbench.engine.json_text import JsonDocument, join_pointer, parse_json
from workbench.engine.text import LineIndex, nearest

_KEYS = ("id", "text", "labels", "note", "stage", "user_message")
_KNOWN = frozenset(_KEYS)
_NO_EXTRA: Mapping[str, Any] = {}


class CaseLine(NamedTuple):
    """What a line says: a case (`None` where there is none), keys that are not ours, and what is wrong.

    Offsets of the diagnostics count from the line's own beginning.
    """

    case: Case | None = None
    extra: Mapping[str, Any] = _NO_EXTRA
    diagnostics: tuple[Diagnostic, ...] = ()


_NOTHING = CaseLine()


class LabelSets:
    """Shares one mapping between all cases that are labelled alike: most cases of a file are."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, bool], ...], Mapping[str, bool]] = {}

    def shared(self, labels: Mapping[str, bool]) -> Mapping[str, bool]:
        """Return the mapping that stands for `labels`, in the same order."""
        return self._known.setdefault(tuple(labels.items()), labels)


def read_line(line: str, number: int, file: str, labels: LabelSets | None = None) -> CaseLine:
    """Return what one line of a file of cases says; a blank one says nothing.

    Ids that occur twice are the caller's to find. With `labels` equal label sets are shared.
    """
    body = line.rstrip("\r\n")
    case = _plain_case(body)
    if case is not None:
        return CaseLine(_sharing(case, labels))
    if not body.strip():
        return _NOTHING
    document = parse_json(body, file=file)
    reader = _RowReader(document, file, number)
    found = reader.syntax() if document.diagnostics else []
    case = reader.case() if document.ok else None
    extra: Mapping[str, Any] = _NO_EXTRA
    if case is not None and not _KNOWN.issuperset(document.value):
        extra = {key: value for key, value in document.value.items() if key not in _KNOWN}
    return CaseLine(case if case is None else _sharing(case, labels), extra, (*found, *reader.problems))


def _sharing(case: Case, labels: LabelSets | None) -> Case:
    if labels is None or (shared := labels.shared(case.labels)) is case.labels:
        return case
    return Case(case.id, case.text, shared, case.note, case.stage, case.user_message)


class _NotPlain(Exception):  # noqa: N818 - no error: the careful reader has its turn
    """The line needs the careful reader."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NotPlain
    return found


def _plain_case(body: str) -> Case | None:
    """Return the case of a line with which nothing at all is wrong, `None` where somebody must look closer."""
    if "\\u" in body:  # half a surrogate pair may be among the escapes
        return None
    try:
        row = json.loads(body, object_pairs_hook=_distinct)
    except (ValueError, RecursionError, _NotPlain):
        return None
    if not isinstance(row, dict) or not _KNOWN.issuperset(row):
        return None
    identifier, text, labels = row.get("id"), row.get("text"), row.get("labels", _NO_EXTRA)
    note, stage, user = row.get("note", ""), row.get("stage", "input"), row.get("user_message")
    if not (isinstance(identifier, str) and isinstance(text, str) and isinstance(note, str)):
        return None
    if not (user is None or isinstance(user, str)) or stage not in ("input", "output"):
        return None
    if not isinstance(labels, dict) and labels is not _NO_EXTRA:
        return None
    if not all(label is True or label is False for label in labels.values()):
        return None
    return Case(identifier, text, labels, note, stage, user)


class _RowReader:
    """Turns one parsed row into a case and says what is wrong with it, at its line."""

    def __init__(self, document: JsonDocument, file: str, line: int) -> None:
        self.document = document
        self.lines = LineIndex(document.text)
        self.file = file
        self.line = line
        self.problems: list[Diagnostic] = []

    def syntax(self) -> list[Diagnostic]:
        return [found.at(self.file, line=self.line) for found in self.document.diagnostics]

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
                    self.diagnostic("warning", "unknown_key", f"unknown key `{key}`", join_pointer(key), hint)
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
                self._error(f"the label of `{name}` must be true or false", join_pointer("labels", name))
        return labels

    def _text(self, row: Mapping[str, Any], key: str, *, needed: bool = False) -> str | None:
        value = row.get(key)
        if value is None:
            if needed:
                self._error(f"the row has no `{key}`", "")
            return None
        if not isinstance(value, str):
            self._error(f"`{key}` must be a text", join_pointer(key))
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
            start=span[0],
            end=span[1],
            line=self.line,
            column=column,
            pointer=pointer,
            hint=hint,
            file=self.file,
        )


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


def double_id(line: str, number: int, file: str, case: Case, first: int) -> Diagnostic:
    """Return the warning that the id of the case in this line is also that of line `first`."""
    reader = _RowReader(parse_json(line.rstrip("\r\n"), file=file), file, number)
    message = f"the id `{case.id}` is also used in line {first}"
    return reader.diagnostic("warning", "double_id", message, "/id")
