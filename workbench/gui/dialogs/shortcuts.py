"""Shows every action with its shortcut, and lets each be changed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.shell.actions import ActionSet
from workbench.gui.shell.scale import resize_window
from workbench.gui.shell.settings import AppSettings
from workbench.gui.shell.theme import set_role


class ShortcutsDialog(QDialog):
    """A table of actions; the shortcut of the chosen one is recorded below it."""

    def __init__(self, actions: ActionSet, settings: AppSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Shortcuts")
        self._actions, self._settings = actions, settings
        self.needle = QLineEdit()
        self.needle.setPlaceholderText("Find an action or a shortcut")
        self.needle.setAccessibleName("Find")
        self.table = QTableWidget(0, 3)
        self.table.setHorizontalHeaderLabels(("Menu", "Action", "Shortcut"))
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setTabKeyNavigation(False)
        self.table.setAccessibleName("Shortcuts")
        self.table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        self.recorder = QKeySequenceEdit()
        self.recorder.setMaximumSequenceLength(1)
        self.recorder.setAccessibleName("New shortcut")
        self.assign = QPushButton("Assign")
        self.default = QPushButton("Default")
        self.none = QPushButton("None")
        self.problem = QLabel()
        self.problem.setWordWrap(True)
        set_role(self.problem, "error")
        row = QHBoxLayout()
        row.addWidget(QLabel("Press the new shortcut"))
        row.addWidget(self.recorder, 1)
        for button in (self.assign, self.none, self.default):
            row.addWidget(button)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        for widget in (self.needle, self.table):
            layout.addWidget(widget)
        layout.addLayout(row)
        layout.addWidget(self.problem)
        layout.addWidget(buttons)
        self.needle.textChanged.connect(self._filter)
        self.assign.clicked.connect(lambda: self._put(self.recorder.keySequence().toString(_PORTABLE)))
        self.none.clicked.connect(lambda: self._put(""))
        self.default.clicked.connect(self._reset)
        self._fill()
        resize_window(self, 640, 560)

    def _fill(self) -> None:
        ids = self._actions.ids()
        self.table.setRowCount(len(ids))
        for row, action_id in enumerate(ids):
            spec = self._actions.specs[action_id]
            texts = (spec.menu, spec.text.rstrip("…"), self._actions.shortcut(action_id))
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setData(Qt.ItemDataRole.UserRole, action_id)
                self.table.setItem(row, column, item)

    def _chosen(self) -> str | None:
        row = self.table.currentRow()
        return self.table.item(row, 0).data(Qt.ItemDataRole.UserRole) if row >= 0 else None

    def _put(self, shortcut: str) -> None:
        action_id = self._chosen()
        if action_id is None:
            self.problem.setText("Choose an action first.")
            return
        other = self._actions.conflict(action_id, shortcut)
        if other is not None:
            self.problem.setText(
                f"{shortcut} belongs to “{self._actions.specs[other].text.rstrip('…')}” already."
            )
            return
        self.problem.setText("")
        self._actions.set_shortcut(action_id, shortcut)
        default = self._actions.specs[action_id].shortcut
        self._settings.set_shortcut(action_id, None if shortcut == default else shortcut)
        self.table.item(self.table.currentRow(), 2).setText(self._actions.shortcut(action_id))

    def _reset(self) -> None:
        action_id = self._chosen()
        if action_id is not None:
            self._put(self._actions.specs[action_id].shortcut)

    def _filter(self, needle: str) -> None:
        folded = needle.casefold()
        for row in range(self.table.rowCount()):
            text = " ".join(self.table.item(row, column).text() for column in range(3)).casefold()
            self.table.setRowHidden(row, folded not in text)


_PORTABLE = QKeySequence.SequenceFormat.PortableText
