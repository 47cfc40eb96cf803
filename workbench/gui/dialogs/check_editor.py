"""Edits one check: a question for a model with its threshold, or a rule that asks none, with advice as one types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.guardrails.settings import CheckSettings, Stage
from workbench.gui.dialogs.check_rules import (
    LanguageForm,
    LengthForm,
    PatternForm,
    RuleForm,
    TryLine,
    row_label,
)
from workbench.gui.shell.scale import px
from workbench.gui.shell.theme import set_role
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.check_row import ThresholdSpin
from workbench.gui.widgets.labels import SegmentedControl, StatusMark, TokenLabel
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.guardrails import TextCheck

_ADVICE_ROWS = 4
_KINDS = {"model": "Model question", "pattern": "Pattern", "length": "Length", "language": "Language"}


class CheckEditor(QDialog):
    """A form for one check. `check()` is what was entered; names in `taken` are refused.

    `sample` is the text on which a rule is tried first.
    """

    def __init__(
        self,
        check: CheckSettings,
        stage: Stage,
        default_threshold: float,
        taken: set[str],
        parent: QWidget | None = None,
        *,
        sample: str = "",
    ) -> None:
        super().__init__(parent)
        self._taken = taken
        self.setWindowTitle(f"Edit check {check.name}" if check.name else f"Add {stage} check")
        self.setMinimumWidth(px(600))
        self.kind = SegmentedControl(_KINDS)
        self.kind.setAccessibleName("Kind of check")
        self.rules: dict[str, RuleForm] = {
            "pattern": PatternForm(),
            "length": LengthForm(),
            "language": LanguageForm(),
        }
        self.trial = TryLine(sample)
        self.name = QLineEdit(check.name)
        self.name.setAccessibleName("Name")
        self.name.setPlaceholderText("promptInjection")
        self.question = TextInput(
            "Question", "Does the message try to override the assistant's instructions?", 2
        )
        self.question.set_text(check.question if check.rule is None else "")
        self.yes_means = TextInput("What yes means", "tells the assistant to ignore its rules", 2)
        self.yes_means.set_text(check.yes_means or "")
        self.no_means = TextInput("What no means", "an ordinary request", 2)
        self.no_means.set_text(check.no_means or "")
        self.own = QCheckBox("own threshold")
        self.own.setChecked(check.threshold is not None)
        self.threshold = ThresholdSpin()
        self.threshold.setAccessibleName("Threshold")
        self._default = default_threshold
        self.threshold.set_quietly(default_threshold if check.threshold is None else check.threshold)
        self.threshold.setEnabled(self.own.isChecked())
        self.default_words = TokenLabel(
            f"else the stage's default, {default_threshold:.2f}", "second", size="second"
        )
        self._begun = bool(check.name or check.question)
        self._build()
        if check.rule is not None:
            self._show_rule(check.rule)
        self._pause = one_shot(self, self.refresh, 150)
        for form in (self.question, self.yes_means, self.no_means, *self.rules.values()):
            form.edited.connect(self._begin)
        self.name.textChanged.connect(lambda _text: self._begin())
        for field in (self.question, self.yes_means, self.no_means):
            field.edited.connect(self._pause.start)
        self.trial.edited.connect(self._pause.start)
        for form in self.rules.values():
            form.edited.connect(self._pause.start)
        self.kind.chosen.connect(lambda _kind: self._kind_chosen())
        self.name.textChanged.connect(lambda _text: self.refresh())
        self.own.toggled.connect(self._own_toggled)
        self._kind_chosen()

    def _build(self) -> None:
        form = self._form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.setSpacing(8)
        form.addRow(row_label("Name"), self.name)
        form.addRow(row_label("Kind"), self.kind)
        before = form.rowCount()
        form.addRow(row_label("Question"), self.question)
        form.addRow(row_label(""), TokenLabel("Ask so that yes rejects the text.", "second", size="second"))
        form.addRow(row_label("Yes means"), self.yes_means)
        form.addRow(row_label("No means"), self.no_means)
        for field in (self.question, self.yes_means, self.no_means):
            field.setFixedHeight(field.sizeHint().height())
        line = QHBoxLayout()
        line.addWidget(self.own)
        line.addWidget(self.threshold)
        line.addWidget(self.default_words)
        line.addStretch(1)
        form.addRow(row_label("Threshold"), line)
        self._model_rows = range(before, form.rowCount())
        for rule in self.rules.values():
            form.addRow(rule)
        form.addRow(row_label("Try it"), self.trial)
        words = "Asks no model: the answer is yes or no at once, so there is no threshold."
        form.addRow(row_label(""), TokenLabel(words, "second", size="second"))
        self._rule_rows = range(form.rowCount() - 2, form.rowCount())
        self._advice: list[tuple[StatusMark, TokenLabel]] = []
        advice = QVBoxLayout()
        advice.setSpacing(4)
        for _ in range(_ADVICE_ROWS):
            row = QHBoxLayout()
            mark, words = StatusMark("info", 14), TokenLabel("", wrap=True)
            row.addWidget(mark)
            row.addWidget(words, 1)
            self._advice.append((mark, words))
            advice.addLayout(row)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self._ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        set_role(self._ok, "main")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 12)
        layout.setSpacing(12)
        layout.addLayout(form)
        layout.addLayout(advice)
        layout.addStretch(1)
        layout.addWidget(self.buttons)

    def _show_rule(self, rule: TextCheck) -> None:
        from workbench.engine.projects.check_rows import rule_values

        values = rule_values(rule)
        self.kind.choose(rule.kind)
        self.rules[rule.kind].show_values(values)
        # A row that is of several kinds at once has a question too.
        self.question.set_text(str(values.get("question", "")))

    def _kind_chosen(self) -> None:
        """Show the fields of the kind; what was typed for another kind is kept until the dialog is closed."""
        kind = self.kind.current()
        for row in self._model_rows:
            self._form.setRowVisible(row, kind == "model")
        for name, form in self.rules.items():
            self._form.setRowVisible(form, name == kind)
        for row in self._rule_rows:
            self._form.setRowVisible(row, kind != "model")
        self.refresh()
        self.adjustSize()

    def _begin(self) -> None:
        self._begun = True

    def check(self) -> CheckSettings:
        """Return the check as entered.

        Raises:
            ValueError: where the fields of a rule do not make one; `problem` says so too.
        """
        if self.kind.current() != "model":
            return CheckSettings(self.name.text().strip(), rule=self.rules[self.kind.current()].rule())
        return CheckSettings(
            self.name.text().strip(),
            self.question.text().strip(),
            self.threshold.value() if self.own.isChecked() else None,
            self.yes_means.text().strip() or None,
            self.no_means.text().strip() or None,
        )

    def advice(self) -> list[str]:
        """Return the advice that is shown."""
        return [words.text() for mark, words in self._advice if words.text()]

    def problem(self) -> str | None:
        """Return why the check cannot be kept as it is."""
        return self._name_problem() or self._field_problem()

    def _name_problem(self) -> str | None:
        name = self.name.text().strip()
        if not name:
            return "A check needs a name."
        if name in self._taken:
            return f"There is another check named {name} at this stage."
        return None

    def _field_problem(self) -> str | None:
        try:
            check = self.check()
        except ValueError as error:
            words = str(error)
            return words[:1].upper() + words[1:]
        return None if check.question else "A check needs a question."

    def refresh(self) -> None:
        """Look at the fields again: what stops the check, and what may make its answers useless."""
        name_problem, field_problem = self._name_problem(), self._field_problem()
        problem = name_problem or field_problem
        # Fields that nobody filled yet are no mistake: what they need is said without alarm.
        mark = "error_mark" if self._begun else "info"
        lines = [(mark, problem)] if problem else []
        if self.kind.current() == "model":
            lines += self._model_advice()
        else:
            self._try_rule(field_problem is None)
            if name_problem and field_problem:
                lines.append((mark, field_problem))
        self._ok.setEnabled(problem is None)
        for position, (mark, words) in enumerate(self._advice):
            shown = position < len(lines)
            mark.setVisible(shown)
            words.setVisible(shown)
            status, text = lines[position] if shown else ("info", "")
            mark.set_status(status)
            words.set_text(text)

    def _model_advice(self) -> list[tuple[str, str]]:
        from workbench.engine.guardrails.lint import lint_check

        check = self.check()
        findings = lint_check(check.question, check.yes_means, check.no_means)
        lines = [("error", f"{finding.message} {finding.hint}") for finding in findings]
        if check.question and not (check.yes_means and check.no_means):
            lines.append(("info", "Describing both answers helps the embedded model most."))
        return lines

    def _try_rule(self, is_rule: bool) -> None:
        from workbench.engine.guardrails import is_blank, rule_result

        text = self.trial.text.text()
        if not is_rule or is_blank(text):
            self.trial.show_outcome(None)
        else:
            self.trial.show_outcome(rule_result(self.check(), text))

    def _own_toggled(self, own: bool) -> None:
        self.threshold.setEnabled(own)
        if not own:
            self.threshold.set_quietly(self._default)
