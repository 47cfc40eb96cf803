"""The form of one tool: what the model is told of it, what it answers while it is simulated, and what undoes it."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLineEdit, QScrollArea, QWidget

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.tools.definitions import ToolDefinition
from workbench.gui.editor import CodeEditor, PygmentsHighlighter
from workbench.gui.panes.tools.answer import NOTHING, AnswerEditor
from workbench.gui.shell.scale import fit
from workbench.gui.shell.theme import set_role
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.labels import TokenLabel
from workbench.gui.widgets.text_input import TextInput

PAUSE_MS = 400
_UNDO = "tool "
"""Before a tool's name, so that no tool can have the key of a kind of answer."""


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
        self._pause = one_shot(self, self.commit, PAUSE_MS)
        self.name.editingFinished.connect(self.commit)
        for field in (self.description, self.reply, self.undo):
            field.left.connect(self.commit)
            field.edited.connect(self._soon)
        for answer in (self.reply, self.undo):
            answer.changed.connect(self.commit)
        self.parameters.edited.connect(self._soon)
        self.returns.toggled.connect(lambda _on: self.commit())

    def _build(self) -> None:
        self.name = QLineEdit()
        self.name.setPlaceholderText("lookup_order")
        self.description = TextInput("Description", "Finds an order by its number.", 2)
        self.description.setMaximumHeight(self.description.sizeHint().height())
        self.parameters = CodeEditor(name="JSON Schema of the arguments")
        self.parameters.indent_unit = "  "
        fit(self.parameters, min_height=120)
        set_role(self.parameters, "framed")
        PygmentsHighlighter(self.parameters.document(), "json")
        self.reply = AnswerEditor("What the tool answers", {NOTHING: "nothing: it cannot run here"})
        self.kind, self.answer, self.delay = self.reply.kind, self.reply.answer, self.reply.delay
        self.returns = QCheckBox("The conversation ends with its result")
        self.returns.setToolTip("The model is not asked again, unless a call of the same turn failed")
        self.undo = AnswerEditor(
            "What undoes the tool", {NOTHING: "nothing: it stays done"}, "a call that answers with "
        )
        self.undo.setToolTip("When another call fails, calls that succeeded are undone, the last one first")
        self.problem = TokenLabel("", "rejected", wrap=True)
        body = QWidget()
        form = QFormLayout(body)
        form.setContentsMargins(12, 12, 12, 12)
        form.setSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("Name", self.name)
        form.addRow("Description", self.description)
        form.addRow("Arguments", self.parameters)
        form.addRow("It answers", self.reply)
        form.addRow("Then", self.returns)
        form.addRow("Undone by", self.undo)
        form.addRow("", self.problem)
        self.setWidget(body)

    def show_tool(self, tool: ToolDefinition | None, taken: set[str]) -> None:
        """Show a tool; fields that say the same already keep their carets. Names in `taken` are refused."""
        same = tool is not None and tool == self._tool
        self._tool, self._taken = tool, taken
        self.setEnabled(tool is not None)
        self._offer_tools()
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
            self.reply.show_answer(tool.simulate)
            self.returns.setChecked(tool.return_immediately)
            self.undo.show_answer(
                tool.compensate if not isinstance(tool.compensate, str) else _UNDO + tool.compensate
            )
        finally:
            self._loading = False
        self._check(self._edited())

    def _offer_tools(self) -> None:
        """Offer the other tools as those that undo this one; a name that is written stays, even if no tool has it."""
        names = sorted(self._taken)
        written = self._tool.compensate if self._tool is not None else None
        if isinstance(written, str) and written not in names:
            names.append(written)
        loading, self._loading = self._loading, True
        self.undo.set_choices(
            {NOTHING: "nothing: it stays done", **{_UNDO + name: f"the tool {name}" for name in names}}
        )
        self._loading = loading

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
        if self.reply.broken_contents() or self.undo.broken_contents():
            return None
        undo = self.undo.choice()
        return replace(
            self._tool,
            name=self.name.text().strip(),
            description=self.description.text(),
            parameters=self.parameters.raw_text(),
            simulate=self.reply.simulation(),
            return_immediately=self.returns.isChecked(),
            compensate=undo.removeprefix(_UNDO) if undo and undo != NOTHING else self.undo.simulation(),
        )

    def _check(self, tool: ToolDefinition | None) -> bool:
        """Show what is wrong with the fields; return whether they can be written."""
        from workbench.engine.schemas import check_schema_text
        from workbench.engine.tools import check_compensation, check_simulation

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
        else:
            found = check_simulation(tool) if tool.simulate is not None else []
            found += check_compensation(tool, [*self._taken, tool.name])
            words += [each.message for each in found]
        self.problem.set_text("\n".join(words))
        self.problem.setVisible(bool(words))
        return writable
