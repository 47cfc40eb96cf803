"""The form of one tool: what the model is told of it, and what it answers while it is simulated."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import dumps, parse_json
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.gui.editor import CodeEditor, PygmentsHighlighter
from workbench.gui.shell.theme import set_icon, set_role
from workbench.gui.widgets.labels import TokenLabel
from workbench.gui.widgets.text_input import TextInput

KINDS = {
    "none": "nothing: it cannot run here",
    "text": "a text",
    "json": "JSON",
    "contents": "contents (text, images)",
    "error": "an error",
}
_HINTS = {
    "none": "",
    "text": "The parcel left the warehouse yesterday.",
    "json": '{"state": "sent"}',
    "contents": '[{"type": "text", "text": "See the picture."}, {"type": "image", "url": "https://example.org/a.png"}]',
    "error": "The warehouse is closed.",
}
PAUSE_MS = 400


class ToolForm(QScrollArea):
    """`changed` carries the tool as it was edited; what cannot be written yet (a name that is taken) is said instead."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tool: ToolDefinition | None = None
        self._taken: set[str] = set()
        self._loading = False
        self.setWidgetResizable(True)
        self._build()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.commit)
        self.name.editingFinished.connect(self.commit)
        for field in (self.description, self.answer):
            field.left.connect(self.commit)
            field.edited.connect(self._soon)
        self.parameters.edited.connect(self._soon)
        self.kind.activated.connect(lambda _index: self._kind_chosen())
        self.delay.valueChanged.connect(lambda _value: self.commit())
        self.example_button.clicked.connect(self._write_example)

    def _build(self) -> None:
        self.name = QLineEdit()
        self.name.setPlaceholderText("lookup_order")
        self.description = TextInput("Description", "Finds an order by its number.", 2)
        self.description.setMaximumHeight(self.description.sizeHint().height())
        self.parameters = CodeEditor(name="JSON Schema of the arguments")
        self.parameters.indent_unit = "  "
        self.parameters.setMinimumHeight(120)
        set_role(self.parameters, "framed")
        PygmentsHighlighter(self.parameters.document(), "json")
        self.kind = QComboBox()
        self.kind.setAccessibleName("What the tool answers")
        for key, words in KINDS.items():
            self.kind.addItem(words, key)
        self.delay = QSpinBox()
        self.delay.setRange(0, 600_000)
        self.delay.setSuffix(" ms")
        self.delay.setAccessibleName("Time until the answer")
        self.delay.setKeyboardTracking(False)
        self.example_button = QPushButton("Example")
        set_icon(self.example_button, "bulb")
        self.example_button.setToolTip("Put in an answer of this kind")
        line = QHBoxLayout()
        line.addWidget(self.kind, 1)
        line.addWidget(TokenLabel("after", "second"))
        line.addWidget(self.delay)
        line.addWidget(self.example_button)
        self.answer = TextInput("Simulated answer", "", 4)
        self.problem = TokenLabel("", "rejected", wrap=True)
        answer = QVBoxLayout()
        answer.addLayout(line)
        answer.addWidget(self.answer)
        body = QWidget()
        form = QFormLayout(body)
        form.setContentsMargins(12, 12, 12, 12)
        form.setSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("Name", self.name)
        form.addRow("Description", self.description)
        form.addRow("Arguments", self.parameters)
        form.addRow("It answers", answer)
        form.addRow("", self.problem)
        self.setWidget(body)

    def show_tool(self, tool: ToolDefinition | None, taken: set[str]) -> None:
        """Show a tool; fields that say the same already keep their carets. Names in `taken` are refused."""
        same = tool is not None and tool == self._tool
        self._tool, self._taken = tool, taken
        self.setEnabled(tool is not None)
        if tool is None or same:
            return
        self._pause.stop()
        self._loading = True
        try:
            if self.name.text() != tool.name:
                self.name.setText(tool.name)
            self.description.set_text(tool.description)
            if self.parameters.raw_text() != tool.parameters:
                self.parameters.set_text(tool.parameters)
            self._show_simulation(tool.simulate)
        finally:
            self._loading = False
        self._check(self._edited())

    def _show_simulation(self, simulation: Simulation | None) -> None:
        kind, text = "none", ""
        if simulation is not None:
            for key in ("text", "json", "contents", "error"):
                value = getattr(simulation, key)
                if value is not None:
                    kind, text = key, value if isinstance(value, str) else dumps(list(value), indent=2)
        if self.kind.currentData() != kind or self._simulation() != simulation:
            self.kind.setCurrentIndex(self.kind.findData(kind))
            self.answer.set_text(text)
            self.delay.setValue(simulation.delay_ms if simulation is not None else 0)
        self._fit_answer()

    def _fit_answer(self) -> None:
        kind = self.kind.currentData()
        self.answer.setVisible(kind != "none")
        self.answer.setPlaceholderText(_HINTS[kind])
        self.delay.setEnabled(kind != "none")
        self.example_button.setEnabled(kind != "none")

    def _kind_chosen(self) -> None:
        self._fit_answer()
        self.commit()

    def _write_example(self) -> None:
        self.answer.set_text(_HINTS[self.kind.currentData()])
        self.commit()

    def _soon(self) -> None:
        if not self._loading:
            self._pause.start()

    def commit(self) -> None:
        """Say what was edited, if it can be written."""
        self._pause.stop()
        if self._loading or self._tool is None:
            return
        tool = self._edited()
        if self._check(tool) and tool is not None and tool != self._tool:
            self._tool = tool
            self.changed.emit(tool)

    def _edited(self) -> ToolDefinition | None:
        """Return the tool as the fields say it, `None` where the contents are no list of JSON."""
        if self._tool is None:
            return None
        if self.kind.currentData() == "contents" and self._contents() is None:
            return None
        return replace(
            self._tool,
            name=self.name.text().strip(),
            description=self.description.text(),
            parameters=self.parameters.raw_text(),
            simulate=self._simulation(),
        )

    def _simulation(self) -> Simulation | None:
        kind, text, delay = self.kind.currentData(), self.answer.text(), self.delay.value()
        if kind == "none":
            return None
        if kind == "contents":
            return Simulation(contents=self._contents(), delay_ms=delay)
        return Simulation(**{kind: text}, delay_ms=delay)

    def _contents(self) -> tuple[object, ...] | None:
        document = parse_json(self.answer.text() or "[]")
        return tuple(document.value) if document.ok and isinstance(document.value, list) else None

    def _check(self, tool: ToolDefinition | None) -> bool:
        """Show what is wrong with the fields; return whether they can be written."""
        from workbench.engine.schemas import check_schema_text
        from workbench.engine.tools import check_simulation

        found: list[Diagnostic] = check_schema_text(self.parameters.raw_text())
        self.parameters.set_diagnostics(found)
        words = [f"Arguments: {each.message}" for each in found if each.severity == "error"]
        name = self.name.text().strip()
        writable = tool is not None
        if not name:
            writable, words = False, ["A tool needs a name.", *words]
        elif name in self._taken:
            writable, words = False, [f"There is a tool {name} already.", *words]
        if tool is None:
            words.append("Contents are a JSON list of text and image parts.")
        elif tool.simulate is not None:
            words += [each.message for each in check_simulation(tool)]
        self.problem.set_text("\n".join(words))
        self.problem.setVisible(bool(words))
        return writable
