"""A form over a JSON text: one field per value, made from the schema, edits only the value's own span."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Diagnostic, Fix
from workbench.engine.json_text import edits as json_edits
from workbench.gui.shell.scale import fit
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
    kind: str  # text, long, number, boolean, choice, fixed, json, group, list
    depth: int
    required: bool
    present: bool
    description: str = ""
    choices: tuple[Any, ...] = ()
    schema: Any = None


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
    title = schema.get("title") if isinstance(schema.get("title"), str) else ""
    words = ": ".join(part for part in (title, description) if part)
    rows.append(FieldPlan(pointer, name, kind, depth, required, present, words, choices, schema))
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
    choices = _choices(schema)
    if choices and (value is _ABSENT or not isinstance(value, dict | list)):
        return ("fixed" if len(choices) == 1 else "choice"), choices
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


def _choices(schema: dict[str, Any]) -> tuple[Any, ...]:
    """Return the values that a schema allows by name: `const`, `enum`, or alternatives that are constants."""
    if "const" in schema:
        return (schema["const"],)
    if isinstance(schema.get("enum"), list):
        return tuple(schema["enum"])
    for keyword in ("oneOf", "anyOf"):
        branches = schema.get(keyword)
        if (
            isinstance(branches, list)
            and branches
            and all(isinstance(b, dict) and "const" in b for b in branches)
        ):
            return tuple(branch["const"] for branch in branches)
    return ()


def example_of(schema: Any, root: Any, kind: str = "json") -> Any:
    """Return a value to begin with: what the schema gives as an example, else an empty value of the kind."""
    if isinstance(schema, dict) and schema:
        from workbench.engine.schemas import JsonSchema, SchemaError, example

        shared = {
            key: root[key] for key in ("$defs", "definitions") if isinstance(root, dict) and key in root
        }
        try:
            return example(JsonSchema.from_value({**shared, **schema}))
        except (SchemaError, RecursionError):
            pass
    empty: dict[str, Any] = {"text": "", "long": "", "number": 0, "boolean": False, "group": {}, "list": []}
    return empty.get(kind)


def _open_ended(schema: Any) -> bool:
    """Tell whether an object may have members that its schema does not name."""
    return not isinstance(schema, dict) or schema.get("additionalProperties") is not False


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
        self.whole: QLabel | None = None
        self._filling = False
        self._focus_next: str | None = None
        self.setWidgetResizable(True)
        self.setWidget(QWidget())

    def fill(self, document: JsonDocument, schema: Any) -> None:
        """Show the values of `document`; the fields are made anew only when their rows changed."""
        self._document, self._schema = document, schema
        if not document.ok:
            self._rows = []
            self._message("The JSON text has an error; the form comes back when it is mended.")
            return
        rows = [self._kept_kind(row) for row in plan_form(document.value, schema)]
        self._filling = True
        try:
            if [(r.pointer, r.kind, r.present) for r in rows] != [
                (r.pointer, r.kind, r.present) for r in self._rows
            ]:
                self._rows = rows
                focused = next((pointer for pointer, field in self.fields.items() if field.hasFocus()), None)
                self._build(rows)
                field = self.fields.get(self._focus_next or focused or "")
                if field is not None:
                    field.setFocus()
                self._focus_next = None
            self._fill_values(rows)
        finally:
            self._filling = False

    def _kept_kind(self, row: FieldPlan) -> FieldPlan:
        """Leave a field that somebody types into as it is, though its text became long or short."""
        field = self.fields.get(row.pointer)
        texts = ("text", "long")
        if field is None or not field.hasFocus() or row.kind not in texts:
            return row
        before = next((old.kind for old in self._rows if old.pointer == row.pointer), row.kind)
        return replace(row, kind=before) if before in texts else row

    def set_diagnostics(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Show problems below the fields they belong to."""
        words: dict[str, str] = {}
        for each in diagnostics:
            if each.pointer is None:
                continue
            # A problem of a value that has no field of its own shows at the nearest one above it.
            pointer = each.pointer
            while pointer and pointer not in self._problems:
                pointer = pointer.rpartition("/")[0]
            words[pointer] = f"{words[pointer]}\n{each.message}" if pointer in words else each.message
        if self.whole is not None:
            self.whole.setText(words.get("", "") if "" not in self._problems else "")
            self.whole.setVisible(bool(self.whole.text()))
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
        self.fields, self._problems, self.whole = {}, {}, None
        self.setWidget(label)

    def _build(self, rows: list[FieldPlan]) -> None:
        page = QWidget()
        set_role(page, "base")
        column = QVBoxLayout(page)
        column.setContentsMargins(16, 12, 16, 16)
        self.whole = QLabel()
        self.whole.setWordWrap(True)
        self.whole.setFont(small_font())
        set_role(self.whole, "error")
        self.whole.hide()
        column.addWidget(self.whole)
        grid = QGridLayout()
        column.addLayout(grid, 1)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        self.fields, self._problems = {}, {}
        for line, row in enumerate(rows):
            name = QLabel(row.name + (" *" if row.required else ""))
            name.setContentsMargins(max(0, row.depth - 1) * 16, 4, 0, 0)
            need = "required" if row.required else ""
            name.setToolTip("\n".join(part for part in (row.description or row.pointer, need) if part))
            if row.kind in ("group", "list"):
                set_role(name, "title")
            elif not row.present:
                set_role(name, "second")
            grid.addWidget(name, line, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(self._cell(row, name), line, 1)
        if isinstance(self._document and self._document.value, dict) and _open_ended(self._schema):
            grid.addWidget(
                self._button("Add member…", "Add a member", lambda: self._ask_member("")), len(rows) + 1, 0
            )
        grid.setRowStretch(len(rows) + 2, 1)
        if not rows:
            hint = QLabel(
                "Nothing to fill in. Add members in the JSON view, or give the parameters a schema."
            )
            set_role(hint, "second")
            grid.addWidget(hint, 0, 0, 1, 2)
        bar = self.verticalScrollBar()
        at = bar.value()
        self.setWidget(page)
        # The range is known when the page was laid out.
        QTimer.singleShot(0, bar, lambda: bar.setValue(at))

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
            if row.required:
                missing = QLabel("required, not there")
                missing.setFont(small_font())
                set_role(missing, "error")
                line.addWidget(missing)
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
            elif row.kind == "group":
                if _open_ended(row.schema):
                    name_it = lambda: self._ask_member(row.pointer)  # noqa: E731
                    line.addWidget(self._button("Add member…", f"Add a member to {row.name}", name_it))
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
            fit(area, height=84)
            area.textChanged.connect(
                lambda: self._put(pointer, area.document().toRawText().replace("\u2029", "\n"))
            )
            return area
        if row.kind in ("text", "number", "json", "fixed"):
            line = QLineEdit()
            if row.kind == "text":
                line.setPlaceholderText(row.description)
                line.textEdited.connect(lambda text: self._put(pointer, text))
            else:
                line.textEdited.connect(lambda _text: self._put_json(pointer, line, row.kind, final=False))
                line.editingFinished.connect(lambda: self._put_json(pointer, line, row.kind, final=True))
            if row.kind == "fixed":
                line.setToolTip("The schema allows only this value")
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
                # A number that is being typed may not be one yet.
                typing = row.kind != "text" and field.hasFocus() and field.isModified()
                if field.text() != text and not typing:
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

    def _put_json(self, pointer: str, field: QLineEdit, kind: str, *, final: bool) -> None:
        """Take what was typed where it is a value of the kind; when the typing is over, say where it is not."""
        from workbench.engine.json_text import parse_json

        document = parse_json(field.text())
        is_number = isinstance(document.value, int | float) and not isinstance(document.value, bool)
        good = document.ok and (kind != "number" or is_number)
        label = self._problems.get(pointer)
        if good:
            if final:
                field.setModified(False)
            self._put_text(pointer, field.text().strip())
        elif final and label is not None and not self._filling:
            label.setText("not a number" if kind == "number" else "not JSON; a text needs its quotes")
            label.show()

    def _apply(self, fix: Fix | None) -> None:
        if fix is not None:
            self._edit(fix.start, fix.end, fix.replacement)

    def _add(self, row: FieldPlan) -> None:
        """Put a member that the schema knows into its object."""
        assert self._document is not None
        value = row.choices[0] if row.choices else example_of(row.schema, self._schema, row.kind)
        parent = row.pointer.rpartition("/")[0]
        self._focus_next = row.pointer
        self._apply(json_edits.append(self._document, parent, f"{_dumps(row.name)}: {_dumps(value)}"))

    def _ask_member(self, pointer: str) -> None:
        name, done = QInputDialog.getText(self, "Add member", "Name of the member:")
        if done and name:
            self.add_member(pointer, name)

    def add_member(self, pointer: str, name: str) -> None:
        """Add a member with an empty text to the object at `pointer`, unless it has one of that name."""
        from workbench.engine.json_text import resolve_pointer

        assert self._document is not None
        if name not in resolve_pointer(self._document.value, pointer):
            self._apply(json_edits.append(self._document, pointer, f'{_dumps(name)}: ""'))

    def _append(self, row: FieldPlan) -> None:
        """Add an item: an example of the schema of items, else an empty value like the last one."""
        from workbench.engine.json_text import resolve_pointer

        assert self._document is not None
        items = resolve_pointer(self._document.value, row.pointer)
        schema = row.schema.get("items") if isinstance(row.schema, dict) else None
        if isinstance(schema, dict) and schema:
            new = example_of(_resolved(schema, self._schema), self._schema)
        else:
            new = _emptied(items[-1]) if items else ""
        self._focus_next = f"{row.pointer}/{len(items)}"
        self._apply(json_edits.append(self._document, row.pointer, _dumps(new)))

    def _remove(self, row: FieldPlan) -> None:
        """Take a member or an item out, with the comma that belongs to it."""
        assert self._document is not None
        self._apply(json_edits.remove(self._document, row.pointer))


def _emptied(value: Any) -> Any:
    """Return a value of the same members with empty texts, zeros and empty lists."""
    if isinstance(value, dict):
        return {key: _emptied(item) for key, item in value.items()}
    if isinstance(value, list):
        return []
    if isinstance(value, str):
        return ""
    return False if isinstance(value, bool) else 0 if isinstance(value, int | float) else None


def _dumps(value: Any) -> str:
    from workbench.engine.json_text import dumps

    return dumps(value)


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b
