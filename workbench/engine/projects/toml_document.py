"""One TOML file that can be edited while everything that was not edited stays as it is, byte for byte.

The text is the truth. tomlkit reads its values and judges it; an edit replaces the span of one value, or
adds or removes whole lines, and the text that results is read by tomlkit again and compared with the values
that the edit was meant to give, so that an edit can never damage the file.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.projects.errors import ProjectError
from workbench.engine.projects.toml_scan import Path, ScanError, Span, Statement, TomlMap, scan
from workbench.engine.projects.toml_values import (
    has_lone_surrogate,
    storable,
    write_key,
    write_keys,
    write_value,
)
from workbench.engine.text import LineIndex, newline_style

_WHERE = re.compile(r" at line \d+ col \d+$")
_MISSING = object()
_PRINTABLE_BITS = 14_000
"""Python writes whole numbers of up to 4300 decimal digits, which is a little more than this."""
_LONG_NUMBER = re.compile(r"0x[0-9A-Fa-f_]{3000}|0o[0-7_]{4000}|0b[01_]{13000}")


def read_toml(text: str, file: str | None = None) -> dict[str, Any]:
    """Return the values of a TOML text as plain Python values; a raw CR LF inside a text reads as LF.

    Raises:
        ProjectError: where the text is no TOML, with line and column.
    """
    import tomlkit
    from tomlkit.exceptions import ParseError, TOMLKitError

    try:
        values = tomlkit.parse(text.replace("\r\n", "\n")).unwrap()
    except ParseError as error:
        raise ProjectError([_syntax_diagnostic(text, error.line, error.col, str(error), file)]) from None
    except (TOMLKitError, RecursionError, ValueError) as error:
        raise ProjectError([_syntax_diagnostic(text, 1, 0, str(error), file)]) from None
    long = _LONG_NUMBER.search(text)
    if long is not None and _holds_unprintable(values):
        line, column = LineIndex(text).position(long.start())
        raise ProjectError([_syntax_diagnostic(text, line, column - 1, "invalid number", file)])
    return values


def _holds_unprintable(value: Any) -> bool:
    """Tell whether there is a number that Python reads but refuses to write in decimal digits."""
    if isinstance(value, Mapping):
        return any(map(_holds_unprintable, value.values()))
    if isinstance(value, list):
        return any(map(_holds_unprintable, value))
    return isinstance(value, int) and value.bit_length() > _PRINTABLE_BITS


def _syntax_diagnostic(text: str, line: int, column: int, message: str, file: str | None) -> Diagnostic:
    """Place tomlkit's complaint; an unclosed string or array is shown where it was opened."""
    index = LineIndex(text)
    message = _WHERE.sub("", message).rstrip(".")
    offset = index.offset(line, column + 1)
    code, hint = "toml_syntax", "the file is TOML 1.0; nothing of it was changed"
    try:
        scanned = scan(text)
    except ScanError as error:
        offset = error.offset
        message = message if "nested" in message else str(error)
    else:
        if "already exists" in message:
            repeated, apart = _repeated(scanned), _apart(scanned)
            if repeated is not None:
                offset, code = repeated.key[0], "toml_duplicate_key"
            elif apart is not None:
                offset, code = apart.key[0], "toml_apart"
                message = "this table goes on after another one began, in a way that cannot be read"
                hint = "move it up to the other parts of the same table"
    position = index.position(offset)
    return Diagnostic(
        "error",
        code,
        f"not TOML: {message[:1].lower() if message[1:2].islower() else message[:1]}{message[1:]}",
        start=offset,
        end=min(offset + 1, len(text)),
        line=position[0],
        column=position[1],
        hint=hint,
        file=file,
    )


def _repeated(scanned: TomlMap) -> Statement | None:
    seen: set[Path] = set()
    for statement in scanned.statements:
        if statement.kind != "row" and statement.path in seen:
            return statement
        seen.add(statement.path)
    return None


def _apart(scanned: TomlMap) -> Statement | None:
    """Return the first header that goes back to a top table which another one had followed."""
    seen: list[str | int] = []
    for header in scanned.headers():
        name = header.path[0]
        if name in seen and seen[-1] != name:
            return header
        if name not in seen:
            seen.append(name)
    return None


class TomlDocument:
    """A TOML text, its values, and edits by path.

    A path is a tuple of names and row numbers, such as `("template", "messages", 0, "content")`. `values`
    must not be changed by callers. Texts with a lone surrogate are kept in `values` as they are; in `text`
    the surrogate is U+FFFD. A changed text is in `values` at once and is written into `text` when somebody
    asks for that, since a long one changes with every key.
    """

    def __init__(self, text: str, file: str | None = None) -> None:
        self.file = file
        self._text = text
        self.newline = newline_style(text)
        self.values: dict[str, Any] = read_toml(text, file)
        self._map: TomlMap | None = None
        self._lines: LineIndex | None = None
        # Texts that are in `values` only, with what the text says in their place.
        self._unwritten: dict[Path, tuple[str, str]] = {}

    @property
    def text(self) -> str:
        """The present text of the file."""
        if self._unwritten:
            self._write_texts()
        return self._text

    @property
    def lines(self) -> LineIndex:
        """Converts offsets of the present text to lines and columns."""
        text = self.text
        if self._lines is None:
            self._lines = LineIndex(text)
        return self._lines

    @property
    def map(self) -> TomlMap:
        """The places of everything in the present text."""
        text = self.text
        if self._map is None:
            self._map = scan(text)
        return self._map

    def _places(self) -> TomlMap:
        """Return the places in the text as it was last written; which paths there are holds now as well."""
        if self._map is None:
            self._map = scan(self._text)
        return self._map

    def _write_texts(self) -> None:
        """Write the texts that changed since the last time into the file's text."""
        spans = self._places().values
        edits = [
            (*spans[path], write_value(value, self._text[slice(*spans[path])], self.newline))
            for path, (written, value) in self._unwritten.items()
            if value != written
        ]
        self._unwritten = {}
        self._apply(edits, self.values, verify=False)

    def get(self, path: Path, default: Any = None) -> Any:
        """Return the value at `path`, or `default`."""
        value: Any = self.values
        for step in path:
            is_row = isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)
            if not is_row and not (isinstance(value, Mapping) and step in value):
                return default
            value = value[step]
        return value

    # Edits

    def set(self, path: Path, value: Any) -> bool:
        """Make `value` the value at `path`; return whether anything changed.

        Tables and lists of tables are changed key by key, so that what stays equal keeps its lines.

        Raises:
            ValueError: when TOML cannot express the value.
        """
        current = self.get(path, _MISSING)
        if _same(current, value):
            return False
        if isinstance(value, str) and isinstance(current, str) and path in self._places().values:
            self.values = _with_value(self.values, path, value)
            self._unwritten[path] = (self._unwritten.get(path, (current, ""))[0], value)
            return True
        if isinstance(value, Mapping) and isinstance(current, Mapping) and path not in self.map.values:
            for key in [key for key in current if key not in value]:
                self.remove((*path, key))
            for key, item in value.items():
                self.set((*path, key), item)
            return True
        if path in self.map.rows and _is_rows(value):
            self._set_rows(path, value)
            return True
        if self._can_become_blocks(path, value):
            self.remove(path)
            return self.set(path, value)
        expected = self._expected(path, value)
        span = self.map.values.get(path)
        if span is not None:
            token = write_value(value, self.text[span[0] : span[1]], self.newline)
            if not self._set_elements(path, value, expected):
                self._apply([(*span, token)], expected)
        elif current is not _MISSING:
            self.remove(path)
            self.set(path, value)
        elif _is_rows(value):
            self.insert_row(path, 0, value[0])
            if len(value) > 1:
                # The others go in as one piece of text, so that a long list is read back once.
                expected = self._expected(path, value)
                if path in self.map.values or self._inline_owner(path) is not None:
                    self._rewrite(self._inline_owner(path) or path, expected)
                else:
                    blocks = self.newline.join(self._row_text(path, row) for row in value[1:])
                    self._insert_block(self._blocks((*path, 0))[-1][1], blocks, expected)
        else:
            self._add(path, value, expected)
        return True

    def remove(self, path: Path) -> bool:
        """Remove whatever stands at `path`; return whether there was anything."""
        if self.get(path, _MISSING) is _MISSING:
            return False
        expected = copy.deepcopy(self.values)
        owner = self._inline_owner(path)
        if owner is not None:
            # The last row leaves an empty list: the value that holds it stays stated.
            del _parent(expected, path)[path[-1]]
            self._rewrite(owner, expected)
            return True
        _delete(expected, path)
        spans = [
            (statement.start, statement.end)
            for statement in self.map.statements
            if statement.kind == "pair"
            and _within(statement.path, path)
            and not _within(statement.header, path)
        ]
        spans += self._blocks(path)
        self._apply([(start, end, "") for start, end in spans], expected)
        return True

    def insert_row(self, path: Path, index: int, row: Mapping[str, Any]) -> None:
        """Put a table into the list of tables at `path` so that it becomes row `index` (0 to the length)."""
        rows = self.get(path, [])
        if not 0 <= index <= len(rows):
            raise IndexError(f"there is no row {index}; the list has {len(rows)}")
        expected = self._expected(path, [*rows[:index], dict(row), *rows[index:]])
        if path in self.map.values or self._inline_owner(path) is not None:
            self._insert_into_inline(path, rows, row, expected)
            return
        block = self._row_text(path, row)
        if index < len(rows):
            at = self._blocks((*path, index))[0][0]
        elif rows:
            at = self._blocks((*path, index - 1))[-1][1]
        else:
            at = self._place_for_table(path)
        try:
            self._insert_block(at, block, expected)
        except ProjectError:
            # Where TOML refuses a header below dotted keys, the list is written as one value.
            if rows:
                raise
            self._add_pair(path, [dict(row)], expected)

    def move_row(self, path: Path, old: int, new: int) -> None:
        """Move row `old` of the list of tables at `path` so that it becomes row `new`."""
        rows = list(self.get(path, []))
        if not (0 <= old < len(rows) and 0 <= new < len(rows)):
            raise IndexError(f"rows {old} and {new} are not both in a list of {len(rows)}")
        if old == new:
            return
        expected = copy.deepcopy(self.values)
        moved = _parent(expected, path)[path[-1]]
        moved.insert(new, moved.pop(old))
        if path not in self.map.rows:
            owner = path if path in self.map.values else self._inline_owner(path)
            if owner is not None:
                self._rewrite(owner, expected)
            return
        segments = self._blocks((*path, old))
        block = "".join(self._with_line_end(self.text[start:end]) for start, end in segments)
        at = self._blocks((*path, new))[0][0] if new < old else self._blocks((*path, new))[-1][1]
        if at < len(self.text) and not re.search(r"\n[ \t]*\r?\n\Z", block):
            block += self.newline
        edits = [(start, end, "") for start, end in segments]
        self._apply([*edits, (at, at, self._after_line_end(at) + block)], expected)

    def _set_elements(self, path: Path, value: Any, expected: dict[str, Any]) -> bool:
        """Change a list over several lines element by element, so that comments between them stay."""
        current, (start, end) = self.get(path), self.map.values[path]
        if not (isinstance(current, list) and isinstance(value, list) and current and value):
            return False
        if "\n" not in self.text[start:end]:
            return False
        spans = [self.map.values[(*path, index)] for index in range(len(current))]
        edits: list[tuple[int, int, str]] = []
        matcher = SequenceMatcher(None, [repr(x) for x in current], [repr(x) for x in value], autojunk=False)
        for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
            if kind == "equal":
                continue
            shared = min(old_end - old_start, new_end - new_start)
            for offset in range(shared):
                span = spans[old_start + offset]
                edits.append(
                    (*span, write_value(value[new_start + offset], self.text[slice(*span)], self.newline))
                )
            edits += [
                (*self._element_lines(spans[index]), "") for index in range(old_start + shared, old_end)
            ]
            added = [write_value(item) for item in value[new_start + shared : new_end]]
            if added:
                edits.append(self._new_elements(spans, old_start + shared, added))
        try:
            self._apply(edits, expected)
        except ProjectError:
            return False
        return True

    def _element_lines(self, span: Span) -> Span:
        """Return the span of an element with its comma, and its whole line where it stands alone there."""
        comma = re.compile(r"[ \t]*,?").match(self.text, span[1])
        end = comma.end() if comma else span[1]
        line = self.text.rfind("\n", 0, span[0]) + 1
        rest = re.compile(r"[ \t]*(?:#[^\n]*)?\r?\n").match(self.text, end)
        if rest and not self.text[line : span[0]].strip():
            return line, rest.end()
        return span[0], end

    def _new_elements(self, spans: Sequence[Span], index: int, tokens: Sequence[str]) -> tuple[int, int, str]:
        line = self.text.rfind("\n", 0, spans[0][0]) + 1
        indent = self.text[line : spans[0][0]] if not self.text[line : spans[0][0]].strip() else "  "
        if index < len(spans):
            at = spans[index][0]
            return at, at, "".join(f"{token},{self.newline}{indent}" for token in tokens)
        at = spans[-1][1]
        return at, at, "".join(f",{self.newline}{indent}{token}" for token in tokens)

    def _can_become_blocks(self, path: Path, value: Any) -> bool:
        """Tell whether a single value, such as `preamble = "template"`, should give way to rows."""
        is_pair = path in self.map.values and self._inline_owner(path) is None
        return is_pair and _is_rows(value) and not isinstance(self.get(path), list)

    def _set_rows(self, path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
        """Change a list of tables so that rows that stay equal, and their comments, are not touched."""
        if not rows:
            self.remove(path)
            return
        old = [repr(_canonical(row)) for row in self.get(path)]
        new = [repr(_canonical(row)) for row in rows]
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        for kind, old_start, old_end, new_start, new_end in reversed(matcher.get_opcodes()):
            if kind == "equal":
                continue
            shared = min(old_end - old_start, new_end - new_start)
            # Rows are added before others are removed: a list must not vanish in between.
            for offset in range(shared, new_end - new_start):
                self.insert_row(path, old_start + offset, rows[new_start + offset])
            for position in reversed(range(old_start + shared, old_end)):
                self.remove((*path, position))
            for offset in range(shared):
                self.set((*path, old_start + offset), rows[new_start + offset])

    # Adding

    def _add(self, path: Path, value: Any, expected: dict[str, Any]) -> None:
        owner = self._inline_owner(path)
        if owner is not None:
            self._rewrite(owner, expected)
            return
        if isinstance(value, Mapping) and self._may_be_header(path):
            self._insert_block(self._place_for_table(path), self._table_text(path, value), expected)
            return
        self._add_pair(path, value, expected)

    def _add_pair(self, path: Path, value: Any, expected: dict[str, Any]) -> None:
        parent, key = path[:-1], path[-1]
        anchor = self._anchor(parent)
        token = write_value(value, "", self.newline)
        if anchor is None:
            block = (
                f"[{write_keys(_names(parent))}]{self.newline}{write_key(str(key))} = {token}{self.newline}"
            )
            self._insert_block(self._place_for_table(parent), block, expected)
            return
        at, prefix, indent = anchor
        names = [*_names(prefix), str(key)]
        line = f"{indent}{write_keys(names)} = {token}{self.newline}"
        self._apply([(at, at, self._after_line_end(at) + line)], expected)

    def _anchor(self, table: Path) -> tuple[int, Path, str] | None:
        """Return where a key of `table` can be added, the path from the header there, and the indent."""
        headers = {statement.path: statement for statement in self.map.headers()}
        pairs = [s for s in self.map.statements if s.kind == "pair" and _within(s.path[:-1], table)]
        direct = [s for s in pairs if s.header == table]
        dotted = [s for s in pairs if len(s.header) < len(table)]
        if table in headers or not table:
            last = direct[-1] if direct else headers.get(table)
            if last is None:
                return 0, (), ""
            return last.end, (), self._indent(last)
        if dotted:
            last = dotted[-1]
            return last.end, table[len(last.header) :], self._indent(last)
        return None

    def _indent(self, statement: Statement) -> str:
        return "".join(takewhile(lambda c: c in " \t", self.text[statement.start : statement.end]))

    def _may_be_header(self, path: Path) -> bool:
        """A table is written under its own header unless its parents are written as dotted keys."""
        return all(isinstance(step, str) for step in path[-1:]) and not any(
            s.kind == "pair" and len(s.header) < len(path[:-1]) and _within(s.path[:-1], path[:-1])
            for s in self.map.statements
        )

    def _place_for_table(self, path: Path) -> int:
        """Return where a new header for `path` belongs: after the blocks of its nearest relative."""
        if any(isinstance(step, int) for step in path):
            row = max(position for position, step in enumerate(path) if isinstance(step, int)) + 1
            return self._blocks(path[:row])[-1][1]
        for length in range(len(path), 0, -1):
            blocks = self._blocks(path[:length])
            if blocks and length < len(path) + 1:
                return blocks[-1][1]
        order = list(TOP_ORDER)
        rank = order.index(path[0]) if path[0] in order else len(order)
        for statement in self.map.headers():
            name = statement.path[0]
            if (order.index(name) if name in order else len(order)) > rank:
                return self._block_start(statement)
        return len(self.text)

    def _table_text(
        self, path: Path, table: Mapping[str, Any], brackets: tuple[str, str] = ("[", "]")
    ) -> str:
        names = write_keys(_names(path))
        lines = [f"{brackets[0]}{names}{brackets[1]}"]
        below = []
        for key, value in table.items():
            if isinstance(value, Mapping):
                below.append(self._table_text((*path, key), value))
            elif _is_rows(value):
                below.extend(self._row_text((*path, key), row) for row in value)
            else:
                lines.append(f"{write_key(key)} = {write_value(value, '', self.newline)}")
        if len(lines) == 1 and below and brackets[0] == "[":
            return self.newline.join(below)
        return self.newline.join(lines) + self.newline + "".join(self.newline + block for block in below)

    def _row_text(self, path: Path, row: Mapping[str, Any]) -> str:
        return self._table_text(path, row, ("[[", "]]"))

    def _insert_into_inline(
        self, path: Path, rows: Sequence[Any], row: Mapping[str, Any], expected: dict[str, Any]
    ) -> None:
        owner = self._inline_owner(path)
        statement = next((s for s in self.map.statements if s.kind == "pair" and s.path == path), None)
        if owner is None and not rows and statement is not None and self._may_be_header(path):
            # An empty `checks = []` gives way to blocks, which people can read and comment.
            without = copy.deepcopy(self.values)
            _delete(without, path)
            self._apply([(statement.start, statement.end, "")], without)
            self._insert_block(self._place_for_table(path), self._row_text(path, row), expected)
            return
        self._rewrite(owner if owner is not None else path, expected)

    def _insert_block(self, at: int, block: str, expected: dict[str, Any]) -> None:
        """Insert whole lines, with a blank line before and after where there is other text."""
        before = self.text[:at]
        lead = self._after_line_end(at)
        if before.strip() and not re.search(r"(?:^|\n)[ \t]*\r?\n\Z", before):
            lead += self.newline
        trail = (
            self.newline if self.text[at:].strip() and not re.match(r"[ \t]*\r?\n", self.text[at:]) else ""
        )
        self._apply([(at, at, lead + block + trail)], expected)

    # Places

    def _inline_owner(self, path: Path) -> Path | None:
        """Return the nearest parent of `path` that is one value, such as an inline table, or `None`."""
        for length in range(len(path) - 1, 0, -1):
            if path[:length] in self.map.values:
                return path[:length]
        return None

    def _rewrite(self, owner: Path, expected: dict[str, Any]) -> None:
        """Write the inline value at `owner` anew from the values that are expected."""
        start, end = self.map.values[owner]
        value: Any = expected
        for step in owner:
            value = value[step]
        self._apply([(start, end, write_value(value, self.text[start:end], self.newline))], expected)

    def _blocks(self, path: Path) -> list[Span]:
        """Return the runs of lines that belong to headers at or below `path`, with the comments above them."""
        headers = list(self.map.headers())
        starts = [self._block_start(statement) for statement in headers] + [len(self.text)]
        spans: list[Span] = []
        for position, statement in enumerate(headers):
            if _within(statement.path, path):
                span = (starts[position], starts[position + 1])
                if spans and spans[-1][1] == span[0]:
                    span = (spans.pop()[0], span[1])
                spans.append(span)
        return spans

    def _block_start(self, header: Statement) -> int:
        """Return where the comment lines that stand directly above a header begin."""
        start = header.start
        while start > 0:
            line = self.text.rfind("\n", 0, start - 1) + 1
            if not self.text[line:start].lstrip(" \t").startswith("#"):
                break
            # A `#` line may be the last line of a multi-line text; that one belongs to its pair.
            if any(s.start <= line < s.end for s in self.map.statements):
                break
            start = line
        return start

    def _after_line_end(self, at: int) -> str:
        """Return the line end that is missing before `at`, if the line there was not finished."""
        return "" if at == 0 or self.text[at - 1] == "\n" else self.newline

    def _with_line_end(self, text: str) -> str:
        return text if not text or text.endswith("\n") else text + self.newline

    # Applying

    def _expected(self, path: Path, value: Any) -> dict[str, Any]:
        expected = copy.deepcopy(self.values)
        _parent(expected, path)[path[-1]] = copy.deepcopy(value)
        return expected

    def _apply(
        self, edits: Sequence[tuple[int, int, str]], expected: dict[str, Any], verify: bool = True
    ) -> None:
        text = self.text
        for start, end, replacement in sorted(edits, key=lambda edit: edit[:2], reverse=True):
            text = text[:start] + replacement + text[end:]
        if verify and not _same(read_toml(text, self.file), storable(expected)):
            raise ProjectError.of(
                "edit_refused",
                "this place of the file is written in a form that cannot be edited here without changing more",
                file=self.file,
                hint="edit the file in a text editor",
            )
        self._text, self.values = text, expected
        self._map = self._lines = None

    def lone_surrogates(self) -> list[Path]:
        """Return the paths of texts that the file cannot hold exactly."""
        found: list[Path] = []
        _collect_surrogates(self.values, (), found)
        return found


TOP_ORDER = ("template", "guardrails", "translation", "tools", "models")


def _within(path: Path, parent: Path) -> bool:
    return path[: len(parent)] == parent


def _names(path: Path) -> list[str]:
    return [step for step in path if isinstance(step, str)]


def _is_rows(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _parent(values: dict[str, Any], path: Path) -> Any:
    """Return the container that holds the last step of `path`; tables that are missing are made."""
    place: Any = values
    for step in path[:-1]:
        place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
    return place


def _with_value(values: Any, path: Path, value: Any) -> Any:
    """Return `values` with another value at `path`; only the containers on the way are copied."""
    if not path:
        return value
    changed = copy.copy(values)
    changed[path[0]] = _with_value(values[path[0]], path[1:], value)
    return changed


def _delete(values: dict[str, Any], path: Path) -> None:
    """Delete a value, and the list or implicit tables that it leaves empty only by not being there."""
    place = _parent(values, path)
    del place[path[-1]]
    if isinstance(place, list) and not place:
        _delete(values, path[:-1])


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return sorted((key, _canonical(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    return (type(value).__name__, value)


def _prune(value: Any) -> Any:
    """Return `value` without empty tables and lists, which a file may state or leave out."""
    if isinstance(value, Mapping):
        pruned = {key: _prune(item) for key, item in value.items()}
        return {key: item for key, item in pruned.items() if item not in ({}, [])}
    if isinstance(value, list | tuple):
        return [_prune(item) for item in value]
    return value


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, str) and isinstance(second, str):
        return first == second
    return repr(_canonical(_prune(first))) == repr(_canonical(_prune(second)))


def _collect_surrogates(value: Any, path: Path, found: list[Path]) -> None:
    if isinstance(value, str):
        if has_lone_surrogate(value):
            found.append(path)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _collect_surrogates(item, (*path, key), found)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _collect_surrogates(item, (*path, index), found)
