"""The form of the `[translation]` settings: repairs, prompts, what is sent before, rules, budget."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QSpinBox,
    QWidget,
)

from workbench.gui.panes.translation.budget_fields import BudgetFields
from workbench.gui.panes.translation.preamble import PreambleEditor
from workbench.gui.panes.translation.rules import RulesEditor
from workbench.gui.shell.session import Session
from workbench.gui.widgets.labels import TokenLabel
from workbench.gui.widgets.schema_hints import STYLE_NAMES
from workbench.gui.widgets.text_input import TextInput

_FLAGS = {
    "stop_without_progress": "stop when a repair changed nothing",
    "lenient": "mend almost-JSON (each edit is listed)",
    "schema_in_system": "put the schema into a system message",
    "try_unstripped_first": "keep nulls where the value is valid with them",
}


class TranslationForm(QScrollArea):
    """The `[translation]` settings of the project; every change is undoable."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._loading = False
        self.setWidgetResizable(True)
        body = QWidget()
        form = QFormLayout(body)
        form.setContentsMargins(12, 12, 12, 12)
        form.setSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        self.type_name = QLineEdit()
        self.type_name.editingFinished.connect(lambda: self._put("type_name", self.type_name.text().strip()))
        form.addRow("Type name", self.type_name)
        line = QHBoxLayout()
        self.attempt_repair = QCheckBox("repair, at most")
        self.max_repairs = QSpinBox()
        self.max_repairs.setRange(0, 20)
        self.max_repairs.setAccessibleName("Repairs at most")
        line.addWidget(self.attempt_repair)
        line.addWidget(self.max_repairs)
        line.addWidget(TokenLabel("times after the first attempt", "second", size="second"), 1)
        form.addRow("Repairs", line)
        self.attempt_repair.toggled.connect(lambda on: self._put("attempt_repair", on))
        self.max_repairs.valueChanged.connect(lambda value: self._put("max_repairs", value))
        self.strip_nulls = self._choice(
            form, "Strip nulls", "strip_nulls",
            {"off": "off", "all": "every null", "schema": "where the schema forbids them"},
        )  # fmt: skip
        self.schema_style = self._choice(form, "Show the schema as", "schema_style", dict(STYLE_NAMES))
        self.schema_style.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.schema_style.setToolTip(
            "How the prompts show the schema, with about how many tokens it takes there"
        )
        self.mode = self._choice(
            form, "Ask for", "mode",
            {"prompt": "JSON by the prompt alone", "json": "JSON mode", "schema": "JSON held to the schema", "tool": "a tool call"},
        )  # fmt: skip
        self.profile = self._choice(
            form, "Find JSON", "profile",
            {"smart": "smart", "compat": "as TypeChat does", "strict": "strict: two candidates are a fault"},
        )  # fmt: skip
        self.history = self._choice(
            form, "Repair sees", "history", {"last": "the last reply", "all": "all replies so far"}
        )
        self.repair_model = QComboBox()
        self.repair_model.setAccessibleName("Model that answers repairs")
        self.repair_model.currentIndexChanged.connect(
            lambda _index: self._put("repair_model", self.repair_model.currentData())
        )
        form.addRow("Repair asks", self.repair_model)
        self.request_prompt = self._prompt(
            form, "Request prompt", "request_prompt", "{type_name}, {schema}, {request}"
        )
        self.repair_prompt = self._prompt(
            form, "Repair prompt", "repair_prompt", "{error}, {type_name}, {schema}"
        )
        self.preamble = PreambleEditor()
        self.preamble.changed.connect(lambda: self._put("preamble", self.preamble.value()))
        form.addRow("Sent before", self.preamble)
        self.rules = RulesEditor()
        self.rules.changed.connect(lambda: self._put("rules", self.rules.value()))
        form.addRow("Rules", self.rules)
        self.flags = self._build_flags(form)
        self.budget_fields = BudgetFields()
        self.budget_fields.changed.connect(self._put_budget)
        self.budget = self.budget_fields.spins
        form.addRow("Limits", self.budget_fields)
        self.setWidget(body)
        session.edited.connect(lambda area: self._look_at_sizes() if area == "schemas" else None)

    def _build_flags(self, form: QFormLayout) -> dict[str, QCheckBox]:
        flags = {}
        for number, (key, words) in enumerate(_FLAGS.items()):
            box = flags[key] = QCheckBox(words)
            box.toggled.connect(lambda on, key=key: self._put(key, on))
            form.addRow("Also" if not number else "", box)
        return flags

    def _put_budget(self) -> None:
        if not self._loading:
            self._put("budget", self.budget_fields.value(self._session.snapshot().translation.budget))

    def _choice(self, form: QFormLayout, label: str, key: str, choices: dict[str, str]) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(label)
        for value, words in choices.items():
            box.addItem(words, value)
        box.currentIndexChanged.connect(lambda _index: self._put(key, box.currentData()))
        form.addRow(label, box)
        return box

    def _prompt(self, form: QFormLayout, label: str, key: str, tokens: str) -> TextInput:
        field = TextInput(label, f"Empty takes the built-in prompt. Filled in: {tokens}", 4)
        field.left.connect(lambda: self._put(key, field.text() or None))
        form.addRow(label, field)
        return field

    def reload(self) -> None:
        """Show the project's settings."""
        settings = self._session.snapshot().translation
        self._loading = True
        try:
            if self.type_name.text() != settings.type_name:
                self.type_name.setText(settings.type_name)
            self.attempt_repair.setChecked(settings.attempt_repair)
            self.max_repairs.setValue(settings.max_repairs)
            self.max_repairs.setEnabled(settings.attempt_repair)
            for box, value in (
                (self.strip_nulls, settings.strip_nulls),
                (self.schema_style, settings.schema_style),
                (self.mode, settings.mode),
                (self.profile, settings.profile),
                (self.history, settings.history),
            ):
                box.setCurrentIndex(max(0, box.findData(value)))
            self.request_prompt.set_text(settings.request_prompt or "")
            self.repair_prompt.set_text(settings.repair_prompt or "")
            self.preamble.show_value(settings.preamble)
            self.rules.show_value(settings.rules)
            for key, flag in self.flags.items():
                flag.setChecked(getattr(settings, key))
            self.budget_fields.show_value(settings.budget)
            self._show_repair_models(settings.repair_model)
        finally:
            self._loading = False
        self._look_at_sizes()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look_at_sizes()

    def _look_at_sizes(self) -> None:
        """Find out, as a job, how long the schema is in each style; only while somebody looks."""
        snapshot = self._session.snapshot()
        if not self.isVisible() or self._session.project is None:
            return

        def work() -> Mapping[str, int]:
            from workbench.engine.translation import schema_sizes
            from workbench.engine.workflows import WorkflowError, output_schema

            try:
                return schema_sizes(output_schema(snapshot), snapshot.translation.type_name)
            except WorkflowError:
                return {}

        self._session.jobs.run_pool(work, on_done=self._show_sizes, key="schema-sizes")

    def _show_sizes(self, sizes: Mapping[str, int]) -> None:
        for row in range(self.schema_style.count()):
            style = self.schema_style.itemData(row)
            size = f", about {sizes[style]} tokens" if style in sizes else ""
            self.schema_style.setItemText(row, STYLE_NAMES[style] + size)

    def _show_repair_models(self, chosen: str | None) -> None:
        names = list(dict.fromkeys([*self._session.chat_models(), *([chosen] if chosen else [])]))
        self.repair_model.clear()
        self.repair_model.addItem("the same model", None)
        for name in names:
            self.repair_model.addItem(name, name)
        self.repair_model.setCurrentIndex(max(0, self.repair_model.findData(chosen)))

    def _put(self, key: str, value: object) -> None:
        settings = self._session.snapshot().translation
        before = getattr(settings, key)
        if self._loading or self._session.project is None or before == value or not _sound(key, value):
            return
        # A setting that the file did not state is taken out again by undo, so that the file is as it was.
        stated = before if self._session.project.states("translation", key) else None
        self._session.apply(
            "translation",
            f"Translation: {key.replace('_', ' ')}",
            lambda project: project.set_translation(key, value or None if key == "budget" else value),
            lambda project: project.set_translation(key, stated),
            merge=f"translation/{key}",
        )


def _sound(key: str, value: object) -> bool:
    """A type without a name cannot be asked for; everything else that the form gives is sound."""
    return key != "type_name" or bool(value)
