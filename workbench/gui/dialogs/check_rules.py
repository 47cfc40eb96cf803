"""The forms for the checks that ask no model: a pattern, a length, languages, and a line to try them on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.shell.scale import fit
from workbench.gui.widgets.labels import StatusMark, TokenLabel
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.guardrails import CheckResult, TextCheck

_COLUMNS = 4
_LABEL_WIDTH = 72


class RuleForm(QWidget):
    """The fields of one kind of rule; `rule` makes the rule of them, or says in a `ValueError` why it cannot."""

    edited = Signal()

    def rule(self) -> TextCheck:
        """Return the rule as entered.

        Raises:
            ValueError: where the fields do not make one.
        """
        raise NotImplementedError

    def show_values(self, values: Mapping[str, Any]) -> None:
        """Show the keys of a project's row; what is of another type than it should be is left empty."""
        raise NotImplementedError


class PatternForm(RuleForm):
    """A regular expression, and whether it or its absence rejects."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pattern = TextInput("Pattern", r"\b\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}\b", 2)
        fit(self.pattern, max_height=54)
        self.must_match = QCheckBox("Reject a text in which it is not found")
        self.ignore_case = QCheckBox("Upper and lower case are the same")
        self.ignore_case.setChecked(True)
        form = _form(self)
        form.addRow(row_label("Pattern"), self.pattern)
        form.addRow(
            row_label(""),
            TokenLabel(
                "A regular expression; a text in which it is found is rejected.", "second", size="second"
            ),
        )
        form.addRow(row_label(""), self.must_match)
        form.addRow(row_label(""), self.ignore_case)
        self.pattern.edited.connect(self.edited)
        self.must_match.toggled.connect(lambda _on: self.edited.emit())
        self.ignore_case.toggled.connect(lambda _on: self.edited.emit())

    def rule(self) -> TextCheck:
        from workbench.engine.guardrails import PatternCheck

        if not self.pattern.text():
            raise ValueError("A pattern is needed.")
        return PatternCheck(self.pattern.text(), self.must_match.isChecked(), self.ignore_case.isChecked())

    def show_values(self, values: Mapping[str, Any]) -> None:
        self.pattern.set_text(_text(values.get("pattern")))
        self.must_match.setChecked(values.get("must_match") is True)
        self.ignore_case.setChecked(values.get("ignore_case") is not False)


class LengthForm(RuleForm):
    """The most and the fewest characters; an empty field is no limit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.most, self.least = QLineEdit(), QLineEdit()
        form = _form(self)
        for words, name, field in (
            ("At most", "Most characters", self.most),
            ("At least", "Fewest characters", self.least),
        ):
            field.setAccessibleName(name)
            field.setPlaceholderText("no limit")
            fit(field, width=110)
            field.textChanged.connect(lambda _text: self.edited.emit())
            row = QHBoxLayout()
            row.addWidget(field)
            row.addWidget(TokenLabel("characters", "second"))
            row.addStretch(1)
            form.addRow(row_label(words, field), row)
        form.addRow(
            row_label(""),
            TokenLabel("A blank text passes before any check sees it.", "second", size="second"),
        )

    def rule(self) -> TextCheck:
        from workbench.engine.guardrails import LengthCheck

        return LengthCheck(_limit(self.most), _limit(self.least))

    def show_values(self, values: Mapping[str, Any]) -> None:
        for key, field in (("max_length", self.most), ("min_length", self.least)):
            value = values.get(key)
            field.setText(str(value) if isinstance(value, int) and not isinstance(value, bool) else "")


class LanguageForm(RuleForm):
    """The languages that pass; any other that can be told rejects."""

    def __init__(self, parent: QWidget | None = None) -> None:
        from workbench.engine.guardrails import LANGUAGES

        super().__init__(parent)
        self.boxes: dict[str, QCheckBox] = {}
        self._order: list[str] = []
        grid = QGridLayout()
        grid.setVerticalSpacing(4)
        for place, (code, name) in enumerate(sorted(LANGUAGES.items(), key=lambda item: item[1])):
            box = self.boxes[code] = QCheckBox(f"{name} ({code})")
            box.toggled.connect(lambda _on: self.edited.emit())
            grid.addWidget(box, place // _COLUMNS, place % _COLUMNS)
        form = _form(self)
        form.addRow(row_label("Allowed"), grid)
        words = "A text that is clearly in another language is rejected; one that does not tell passes."
        form.addRow(row_label(""), TokenLabel(words, "second", size="second"))

    def rule(self) -> TextCheck:
        from workbench.engine.guardrails import LanguageCheck

        codes = tuple(code for code, box in self.boxes.items() if box.isChecked())
        if not codes:
            raise ValueError("At least one language must be allowed.")
        return LanguageCheck(self._in_first_order(codes))

    def show_values(self, values: Mapping[str, Any]) -> None:
        found = values.get("languages")
        self._order = [code for code in found if isinstance(code, str)] if isinstance(found, list) else []
        for code, box in self.boxes.items():
            box.setChecked(code in self._order)

    def _in_first_order(self, codes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the codes in the order in which the project had them, so that an edit moves none."""
        return tuple(
            sorted(codes, key=lambda c: self._order.index(c) if c in self._order else len(self._order))
        )


class TryLine(QWidget):
    """A text to try a rule on, and what the rule says of it as one types."""

    edited = Signal()

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = TextInput("Text to try", "Type a text to try the check on", 2)
        fit(self.text, max_height=54)
        self.text.set_text(text)
        self.mark, self.words = StatusMark("idle", 14), TokenLabel("", wrap=True)
        line = QHBoxLayout()
        line.addWidget(self.mark)
        line.addWidget(self.words, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.text)
        layout.addLayout(line)
        self.text.edited.connect(self.edited)

    def show_outcome(self, result: CheckResult | None) -> None:
        """Show what the rule says; `None` where there is no rule or no text."""
        self.mark.set_status(result.status if result is not None else "idle")
        words = "Nothing tried yet."
        if result is not None:
            words = f"{result.status.replace('_', ' ')}: {result.detail}"
        self.words.set_text(words)


def row_label(words: str, buddy: QWidget | None = None) -> TokenLabel:
    """Return the label of a row; all have one width, so that the fields of nested forms stand in one line."""
    label = TokenLabel(words)
    fit(label, width=_LABEL_WIDTH)
    if buddy is not None:
        label.setBuddy(buddy)
    return label


def _form(owner: QWidget) -> QFormLayout:
    form = QFormLayout(owner)
    form.setContentsMargins(0, 0, 0, 0)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
    form.setSpacing(8)
    return form


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _limit(field: QLineEdit) -> int | None:
    text = field.text().strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise ValueError(f"“{text}” is no number of characters.")
    return int(text)
