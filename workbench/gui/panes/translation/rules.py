"""Edits the data-only rules that a translated value must fulfil besides its schema."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.json_text import dumps, parse_json
from workbench.engine.translation.settings import Rule
from workbench.gui.delegates.ink import mono
from workbench.gui.shell.scale import fit_rows, px
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.labels import TokenLabel

PATH, OP, VALUE, MESSAGE = range(4)
_HEADS = ["JSONPath", "must be", "Value (JSON)", "What the repair prompt says"]
NEW = Rule("$", "exists", True, "")


class RulesEditor(QWidget):
    """A table of rules; `changed` is emitted only while every rule is sound."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loading = False
        self.table = QTableWidget(0, 4)
        self.table.setHorizontalHeaderLabels(_HEADS)
        self.table.setAccessibleName("Rules")
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        fit_rows(self.table, 28)
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(MESSAGE, QHeaderView.ResizeMode.Stretch)
        for column, width in ((PATH, 120), (OP, 96), (VALUE, 110)):
            self.table.setColumnWidth(column, px(width))
        self.problem = TokenLabel("", "rejected", wrap=True)
        self.add_button = QPushButton("Add rule")
        set_icon(self.add_button, "plus")
        self.remove_button = QPushButton("Remove rule")
        set_icon(self.remove_button, "trash")
        row = QHBoxLayout()
        row.addWidget(self.add_button)
        row.addWidget(self.remove_button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.table)
        layout.addWidget(self.problem)
        layout.addLayout(row)
        self.table.cellChanged.connect(lambda _row, _column: self._edited())
        self.table.itemSelectionChanged.connect(self._fit)
        self.add_button.clicked.connect(lambda: self.add_rule())
        self.remove_button.clicked.connect(self.remove_rule)
        self._fit()

    def value(self) -> tuple[Rule, ...]:
        """Return the rules as they stand in the table."""
        return tuple(self._rule(row) for row in range(self.table.rowCount()))

    def show_value(self, rules: tuple[Rule, ...]) -> None:
        """Show `rules`; equal ones leave the table alone."""
        if self.problems() == [] and rules == self.value():
            return
        self._loading = True
        try:
            self.table.setRowCount(0)
            for rule in rules:
                self._append(rule)
        finally:
            self._loading = False
        self._fit()

    def problems(self) -> list[str]:
        """Return what is wrong with the rules in the table."""
        from workbench.engine.translation import check_rules

        found = []
        for row in range(self.table.rowCount()):
            text = self._text(row, VALUE)
            document = parse_json(text) if text else None
            if document is not None and not document.ok:
                found.append(f"Rule {row + 1}: the value is no JSON; write a text with quotation marks.")
        return found or [each.message for each in check_rules(self.value())]

    def add_rule(self, rule: Rule = NEW) -> None:
        """Add a rule at the end."""
        self._loading = True
        self._append(rule)
        self._loading = False
        self._edited()
        self.table.setCurrentCell(self.table.rowCount() - 1, PATH)

    def remove_rule(self) -> None:
        """Take the chosen rule away."""
        row = self.table.currentRow()
        if row >= 0:
            self._loading = True
            self.table.removeRow(row)
            self._loading = False
            self._edited()

    def _append(self, rule: Rule) -> None:
        from workbench.engine.translation.rules import OPERATORS

        row = self.table.rowCount()
        self.table.insertRow(row)
        value = "" if rule.value is None else dumps(rule.value)
        for column, text in ((PATH, rule.path), (VALUE, value), (MESSAGE, rule.message)):
            item = QTableWidgetItem(text)
            if column != MESSAGE:
                item.setFont(mono())
            self.table.setItem(row, column, item)
        operators = QComboBox()
        operators.setAccessibleName(f"Operator of rule {row + 1}")
        operators.addItems(list(OPERATORS))
        operators.setCurrentText(rule.op)
        operators.activated.connect(lambda _index: self._edited())
        self.table.setCellWidget(row, OP, operators)

    def _text(self, row: int, column: int) -> str:
        item = self.table.item(row, column)
        return item.text().strip() if item is not None else ""

    def _rule(self, row: int) -> Rule:
        text = self._text(row, VALUE)
        document = parse_json(text) if text else None
        value = document.value if document is not None and document.ok else None
        operators = self.table.cellWidget(row, OP)
        assert isinstance(operators, QComboBox)
        return Rule(self._text(row, PATH), operators.currentText(), value, self._text(row, MESSAGE))

    def _edited(self) -> None:
        if self._loading:
            return
        self._fit()
        if not self.problems():
            self.changed.emit()

    def _fit(self) -> None:
        if self._loading:
            return  # a row is half made
        problems = self.problems()
        self.problem.set_text(problems[0] if problems else "")
        self.problem.setVisible(bool(problems))
        rows = self.table.rowCount()
        self.table.setVisible(rows > 0)
        self.table.setFixedHeight(min(8, rows) * 28 + self.table.horizontalHeader().sizeHint().height() + 4)
        self.remove_button.setVisible(rows > 0)
        self.remove_button.setEnabled(self.table.currentRow() >= 0)
