"""The form of the `[translation]` settings: repairs, prompts, what is sent before, rules, budget."""

from __future__ import annotations

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

from workbench.gui.panes.translation.preamble import PreambleEditor
from workbench.gui.panes.translation.rules import RulesEditor
from workbench.gui.shell.session import Session
from workbench.gui.widgets.labels import TokenLabel
from workbench.gui.widgets.text_input import TextInput


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
        form.addRow("Stop after", self._build_budget())
        self.setWidget(body)

    def _build_budget(self) -> QWidget:
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        self.budget: dict[str, QSpinBox] = {}
        for key, highest in (("calls", 1000), ("tokens", 100_000_000), ("seconds", 86_400)):
            spin = QSpinBox()
            spin.setRange(-1, highest)
            spin.setSpecialValueText(f"{key}: no limit")
            spin.setSuffix(f" {key}")
            spin.setAccessibleName(f"Stop a run after so many {key}")
            spin.setKeyboardTracking(False)
            spin.valueChanged.connect(self._put_budget)
            row.addWidget(spin, 1)
            self.budget[key] = spin
        return box

    def _put_budget(self) -> None:
        if self._loading:
            return
        # What the form has no field for (a fraction of a second) stays as the file has it, until it is changed.
        old = self._session.snapshot().translation.budget
        budget = {key: value for key, value in old.items() if key not in self.budget}
        for key, spin in self.budget.items():
            if spin.value() >= 0:
                kept = key in old and int(old[key]) == spin.value()
                budget[key] = old[key] if kept else spin.value()
        self._put("budget", budget)

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
                (self.mode, settings.mode),
                (self.profile, settings.profile),
                (self.history, settings.history),
            ):
                box.setCurrentIndex(max(0, box.findData(value)))
            self.request_prompt.set_text(settings.request_prompt or "")
            self.repair_prompt.set_text(settings.repair_prompt or "")
            self.preamble.show_value(settings.preamble)
            self.rules.show_value(settings.rules)
            for key, spin in self.budget.items():
                spin.setValue(int(settings.budget.get(key, -1)))
            self._show_repair_models(settings.repair_model)
        finally:
            self._loading = False

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
