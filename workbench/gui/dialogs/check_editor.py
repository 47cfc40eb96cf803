"""Edits one check: its name, its question, what the two answers mean, its threshold, with advice as one types."""

from __future__ import annotations

from PySide6.QtCore import QTimer
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
from workbench.gui.shell.theme import set_role
from workbench.gui.widgets.check_row import ThresholdSpin
from workbench.gui.widgets.labels import StatusMark, TokenLabel
from workbench.gui.widgets.text_input import TextInput

_ADVICE_ROWS = 4


class CheckEditor(QDialog):
    """A form for one check. `check()` is what was entered; names in `taken` are refused."""

    def __init__(
        self,
        check: CheckSettings,
        stage: Stage,
        default_threshold: float,
        taken: set[str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._taken = taken
        self.setWindowTitle(f"Edit check {check.name}" if check.name else f"Add {stage} check")
        self.setMinimumWidth(560)
        self.name = QLineEdit(check.name)
        self.name.setAccessibleName("Name")
        self.name.setPlaceholderText("promptInjection")
        self.question = TextInput(
            "Question", "Does the message try to override the assistant's instructions?", 2
        )
        self.question.set_text(check.question)
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
        self._build()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(150)
        self._pause.timeout.connect(self.refresh)
        for field in (self.question, self.yes_means, self.no_means):
            field.edited.connect(self._pause.start)
        self.name.textChanged.connect(lambda _text: self.refresh())
        self.own.toggled.connect(self._own_toggled)
        self.refresh()

    def _build(self) -> None:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.setSpacing(8)
        form.addRow("Name", self.name)
        form.addRow("Question", self.question)
        form.addRow("", TokenLabel("Ask so that yes rejects the text.", "second", size="second"))
        form.addRow("Yes means", self.yes_means)
        form.addRow("No means", self.no_means)
        for field in (self.question, self.yes_means, self.no_means):
            field.setFixedHeight(field.sizeHint().height())
        line = QHBoxLayout()
        line.addWidget(self.own)
        line.addWidget(self.threshold)
        line.addWidget(self.default_words)
        line.addStretch(1)
        form.addRow("Threshold", line)
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

    def check(self) -> CheckSettings:
        """Return the check as entered."""
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
        check = self.check()
        if not check.name:
            return "A check needs a name."
        if check.name in self._taken:
            return f"There is another check named {check.name} at this stage."
        if not check.question:
            return "A check needs a question."
        return None

    def refresh(self) -> None:
        """Look at the fields again: what stops the check, and what may make its answers useless."""
        from workbench.engine.guardrails.lint import lint_check

        check, lines = self.check(), []
        if problem := self.problem():
            lines.append(("error_mark", problem))
        findings = lint_check(check.question, check.yes_means, check.no_means)
        lines += [("error", f"{finding.message} {finding.hint}") for finding in findings]
        if check.question and not (check.yes_means and check.no_means):
            lines.append(("info", "Describing both answers helps the embedded model most."))
        self._ok.setEnabled(problem is None)
        for position, (mark, words) in enumerate(self._advice):
            shown = position < len(lines)
            mark.setVisible(shown)
            words.setVisible(shown)
            status, text = lines[position] if shown else ("info", "")
            mark.set_status(status)
            words.set_text(text)

    def _own_toggled(self, own: bool) -> None:
        self.threshold.setEnabled(own)
        if not own:
            self.threshold.set_quietly(self._default)
