"""A form over a JSON text: one field per value, made from the schema, edits only the value's own span."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.shell.theme import set_icon, set_role, small_font

if TYPE_CHECKING:
    from workbench.engine.json_text import JsonDocument

Edit = Callable[[int, int, str], None]
MOST_FIELDS = 400
DEEPEST = 8


@dataclass(frozen=True)
class FieldPlan:
    """One row of the form: what it edits and how."""

    pointer: str
    name: str
    kind: str  # text, long, number, boolean, choice, json, group, list
    depth: int
    required: bool
    present: bool
    description: str = ""
    choices: tuple[Any, ...] = ()


def plan_form(value: Any, schema: Any) -> list[FieldPlan]:
    """Return the rows of a form for `value`, in the order of the schema and then of the value."""
    rows: list[FieldPlan] = []
    _plan(rows, "", "", value, schema if isinstance(schema, dict) else {}, schema, 0, True, True)
    return rows[1:] if rows and rows[0].pointer == "" and rows[0].kind == "group" else rows


_ABSENT = object()


def _plan(
    rows: list[FieldPlan], pointer: str, name: str, value: Any, schema: dict[str, Any], root: Any,
    depth: int, required: bool, present: bool,
) -> None:  # fmt: skip
    if len(rows) >= MOST_FIELDS:
        return
    schema = _resolved(schema, root)
    kind, choices = _kind(value, schema)
    description = schema.get("description") if isinstance(schema.get("description"), str) else ""
    rows.append(FieldPlan(pointer, name, kind, depth, required, present, description or "", choices))
    if depth >= DEEPEST or (not present and depth > 3):
        return
    if kind == "group":
        members = value if isinstance(value, dict) else {}
        properties = schema.get("properties") if isinstance(schema.get("properties"), dict) else {}
        wanted = schema.get("required") if isinstance(schema.get("required"), list) else []
        for key in dict.fromkeys([*properties, *members]):
            inner = properties.get(key)
            _plan(
                rows, f"{pointer}/{_escape(key)}", key, members.get(key, _ABSENT),
                inner if isinstance(inner, dict) else {}, root, depth + 1, key in wanted, key in members,
            )  # fmt: skip
    elif kind == "list" and isinstance(value, list):
        items = schema.get("items")
        for i, item in enumerate(value):
            inner = items if isinstance(items, dict) else {}
            _plan(rows, f"{pointer}/{i}", str(i + 1), item, inner, root, depth + 1, False, True)


def _resolved(schema: dict[str, Any], root: Any) -> dict[str, Any]:
    from workbench.engine.json_text import resolve_pointer

    for _ in range(8):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return schema
        try:
            target = resolve_pointer(root, reference[1:])
        except (KeyError, IndexError, ValueError, TypeError, LookupError):
            return schema
        if not isinstance(target, dict):
            return schema
        schema = target
    return schema


def _kind(value: Any, schema: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices and (value is _ABSENT or not isinstance(value, dict | list)):
        return "choice", tuple(choices)
    declared = schema.get("type")
    if isinstance(declared, list):
        declared = next((t for t in declared if t != "null"), None)
    if isinstance(value, dict) or (value is _ABSENT and declared == "object"):
        return "group", ()
    if isinstance(value, list) or (value is _ABSENT and declared == "array"):
        return "list", ()
    if isinstance(value, bool) or (value is _ABSENT and declared == "boolean"):
        return "boolean", ()
    if isinstance(value, int | float) or (value is _ABSENT and declared in ("integer", "number")):
        return "number", ()
    if isinstance(value, str):
        return ("long" if "\n" in value or len(value) > 70 else "text"), ()
    return ("text" if declared == "string" else "json"), ()


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


class ParameterForm(QScrollArea):
    """The form. `edit(start, end, replacement)` changes the JSON text; the form is filled again after that."""

    def __init__(self, edit: Edit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edit = edit
        self._document: JsonDocument | None = None
        self._schema: Any = None
        self._rows: list[FieldPlan] = []
        self.fields: dict[str, QWidget] = {}
        self._problems: dict[str, QLabel] = {}
        self._filling = False
        self.setWidgetResizable(True)
        self.setWidget(QWidget())

    def fill(self, document: JsonDocument, schema: Any) -> None:
        """Show the values of `document`; the fields are made anew only when their rows changed."""
        self._document, self._schema = document, schema
        if not document.ok:
            self._rows = []
            self._message("The JSON text has an error; the form comes back when it is mended.")
            return
        rows = plan_form(document.value, schema)
        self._filling = True
        try:
            if [(r.pointer, r.kind, r.present) for r in rows] != [
                (r.pointer, r.kind, r.present) for r in self._rows
            ]:
                self._rows = rows
                self._build(rows)
            self._fill_values(rows)
        finally:
            self._filling = False

    def set_diagnostics(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Show problems below the fields they belong to."""
        words: dict[str, str] = {}
        for each in diagnostics:
            if each.pointer is not None:
                words.setdefault(each.pointer, each.message)
        for pointer, label in self._problems.items():
            text = words.get(pointer, "")
            label.setText(text)
            label.setVisible(bool(text))
            field = self.fields.get(pointer)
            if field is not None and field.property("state") != ("error" if text else ""):
                field.setProperty("state", "error" if text else "")
                field.style().unpolish(field)
                field.style().polish(field)

    def _message(self, text: str) -> None:
        label = QLabel(text)
        label.setContentsMargins(16, 16, 16, 16)
        label.setAlignment(Qt.AlignmentFlag.AlignTop)
        label.setWordWrap(True)
        set_role(label, "second")
        self.fields, self._problems = {}, {}
        self.setWidget(label)

    def _build(self, rows: list[FieldPlan]) -> None:
        page = QWidget()
        set_role(page, "base")
        grid = QGridLayout(page)
        grid.setContentsMargins(16, 12, 16, 16)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        self.fields, self._problems = {}, {}
        for line, row in enumerate(rows):
            name = QLabel(row.name + (" *" if row.required else ""))
            name.setContentsMargins(max(0, row.depth - 1) * 16, 4, 0, 0)
            name.setToolTip(row.description or row.pointer)
            if row.kind in ("group", "list"):
                set_role(name, "title")
            elif not row.present:
                set_role(name, "second")
            grid.addWidget(name, line, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(self._cell(row, name), line, 1)
        grid.setRowStretch(len(rows), 1)
        if not rows:
            hint = QLabel(
                "Nothing to fill in. Add members in the JSON view, or give the parameters a schema."
            )
            set_role(hint, "second")
            grid.addWidget(hint, 0, 0, 1, 2)
        self.setWidget(page)

    def _cell(self, row: FieldPlan, name: QLabel) -> QWidget:
        cell = QWidget()
        column = QVBoxLayout(cell)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        line = QHBoxLayout()
        line.setSpacing(4)
        column.addLayout(line)
        if not row.present:
            line.addWidget(self._button("Add", f"Add {row.name}", lambda: self._add(row)))
            line.addStretch(1)
        else:
            field = self._field(row)
            if field is not None:
                field.setAccessibleName(row.pointer.lstrip("/").replace("/", " "))
                field.setToolTip(row.description)
                name.setBuddy(field)
                self.fields[row.pointer] = field
                line.addWidget(field, 1)
            elif row.kind == "list":
                line.addWidget(
                    self._button("Add item", f"Add an item to {row.name}", lambda: self._append(row))
                )
                line.addStretch(1)
            if not row.required:
                remove = QToolButton()
                set_icon(remove, "close", "second")
                remove.setToolTip(f"Remove {row.name}")
                remove.setAccessibleName(f"Remove {row.name}")
                remove.clicked.connect(lambda: self._remove(row))
                line.addWidget(remove, 0, Qt.AlignmentFlag.AlignTop)
        problem = QLabel()
        problem.setFont(small_font())
        problem.setWordWrap(True)
        set_role(problem, "error")
        problem.hide()
        self._problems[row.pointer] = problem
        column.addWidget(problem)
        return cell

    def _button(self, text: str, name: str, slot: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        set_role(button, "link")
        button.setAccessibleName(name)
        button.clicked.connect(lambda _checked=False: slot())
        return button

    def _field(self, row: FieldPlan) -> QWidget | None:
        pointer = row.pointer
        if row.kind == "boolean":
            box = QCheckBox()
            box.toggled.connect(lambda on: self._put(pointer, on))
            return box
        if row.kind == "choice":
            combo = QComboBox()
            for choice in row.choices:
                combo.addItem(choice if isinstance(choice, str) else _dumps(choice), choice)
            combo.activated.connect(lambda index: self._put(pointer, combo.itemData(index)))
            return combo
        if row.kind == "long":
            area = QPlainTextEdit()
            area.setTabChangesFocus(True)
            area.setFixedHeight(84)
            area.textChanged.connect(
                lambda: self._put(pointer, area.document().toRawText().replace("\u2029", "\n"))
            )
            return area
        if row.kind in ("text", "number", "json"):
            line = QLineEdit()
            if row.kind == "text":
                line.textEdited.connect(lambda text: self._put(pointer, text))
            else:
                line.editingFinished.connect(lambda: self._put_json(pointer, line, row.kind))
            return line
        return None

    def _fill_values(self, rows: list[FieldPlan]) -> None:
        from workbench.engine.json_text import resolve_pointer

        assert self._document is not None
        for row in rows:
            field = self.fields.get(row.pointer)
            if field is None:
                continue
            value = resolve_pointer(self._document.value, row.pointer)
            if isinstance(field, QCheckBox):
                field.setChecked(bool(value))
            elif isinstance(field, QComboBox):
                index = next((i for i in range(field.count()) if _same(field.itemData(i), value)), -1)
                if index < 0:
                    field.setPlaceholderText(value if isinstance(value, str) else _dumps(value))
                field.setCurrentIndex(index)
            elif isinstance(field, QPlainTextEdit):
                if field.document().toRawText().replace("\u2029", "\n") != value:
                    field.setPlainText(value)
            elif isinstance(field, QLineEdit):
                text = value if row.kind == "text" else self._source(row.pointer)
                if field.text() != text:
                    field.setText(text)

    def _source(self, pointer: str) -> str:
        """Return the value's own spelling in the text."""
        assert self._document is not None
        span = self._document.span(pointer)
        return "" if span is None else self._document.text[span[0] : span[1]]

    # -- edits ------------------------------------------------------------------------------------------

    def _put(self, pointer: str, value: Any) -> None:
        self._put_text(pointer, _dumps(value))

    def _put_text(self, pointer: str, text: str) -> None:
        if self._filling or self._document is None:
            return
        span = self._document.span(pointer)
        if span is not None and self._document.text[span[0] : span[1]] != text:
            self._edit(*span, text)

    def _put_json(self, pointer: str, field: QLineEdit, kind: str) -> None:
        from workbench.engine.json_text import parse_json

        document = parse_json(field.text())
        good = document.ok and (
            kind == "json"
            or (isinstance(document.value, int | float) and not isinstance(document.value, bool))
        )
        label = self._problems.get(pointer)
        if good:
            self._put_text(pointer, field.text().strip())
        elif label is not None and not self._filling:
            label.setText("not a number" if kind == "number" else "not JSON; a text needs its quotes")
            label.show()

    def _add(self, row: FieldPlan) -> None:
        """Put a member that the schema knows into its object."""
        assert self._document is not None
        parent = row.pointer.rpartition("/")[0]
        self._insert(parent, f"{_dumps(row.name)}: {_dumps(self._example(row))}", "{}")

    def _append(self, row: FieldPlan) -> None:
        from workbench.engine.json_text import resolve_pointer

        assert self._document is not None
        items = resolve_pointer(self._document.value, row.pointer)
        pattern = items[-1] if items else ""
        empty: Any = pattern if not isinstance(pattern, str) else ""
        self._insert(row.pointer, _dumps(empty), "[]")

    def _insert(self, pointer: str, text: str, brackets: str) -> None:
        assert self._document is not None
        span = self._document.span(pointer)
        if span is None:
            return
        source = self._document.text[span[0] : span[1]]
        inner = source[1:-1]
        body = inner.rstrip()
        comma = "," if body.strip() else ""
        if "\n" in inner:
            last = body.rpartition("\n")[2]
            indent = last[: len(last) - len(last.lstrip(" \t"))] if body.strip() else "  "
            tail = inner[len(body) :] or "\n"
            addition = f"{comma}\n{indent}{text}"
        else:
            tail = inner[len(body) :]
            addition = f"{comma} {text}" if comma else f"{text}"
        at = span[0] + 1 + len(body)
        self._edit(at, at + len(inner) - len(body), addition + tail)

    def _remove(self, row: FieldPlan) -> None:
        """Take a member or an item out, with the comma that belongs to it."""
        assert self._document is not None
        text = self._document.text
        span = self._document.span(row.pointer)
        if span is None:
            return
        key = self._document.key_span(row.pointer)
        start, end = (key[0] if key is not None else span[0]), span[1]
        after = end
        while after < len(text) and text[after] in " \t\r\n":
            after += 1
        if after < len(text) and text[after] == ",":
            end = after + 1
            while end < len(text) and text[end] in " \t\r\n":
                end += 1
        else:
            before = start
            while before > 0 and text[before - 1] in " \t\r\n":
                before -= 1
            if before > 0 and text[before - 1] == ",":
                start = before - 1
        self._edit(start, end, "")

    def _example(self, row: FieldPlan) -> Any:
        return {
            "text": "",
            "long": "",
            "number": 0,
            "boolean": False,
            "group": {},
            "list": [],
            "json": None,
        }.get(row.kind, row.choices[0] if row.choices else None)


def _dumps(value: Any) -> str:
    from workbench.engine.json_text import dumps

    return dumps(value)


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b
