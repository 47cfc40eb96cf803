"""A JSON value as a tree and as text, and a tree view that shows them well."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QHeaderView, QStackedWidget, QTreeView, QVBoxLayout, QWidget

from workbench.engine.json_text import dumps
from workbench.gui.delegates.words import MonoDelegate
from workbench.gui.models.json_tree import NAME, TYPE, VALUE, JsonTreeModel
from workbench.gui.shell.scale import px
from workbench.gui.widgets.code_view import CodeView
from workbench.gui.widgets.labels import SegmentedControl, Strip, TokenLabel

_OPEN_UP_TO = 200


class JsonView(QWidget):
    """A value, as text or as a tree, whichever was chosen last."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = JsonTreeModel(self)
        self.tree = QTreeView()
        self.tree.setModel(self.model)
        self.tree.setUniformRowHeights(True)
        self.tree.setAccessibleName("Value as a tree")
        self.tree.setItemDelegateForColumn(NAME, MonoDelegate(self.tree, padding=4))
        self.tree.setItemDelegateForColumn(VALUE, MonoDelegate(self.tree, padding=4))
        self.tree.setItemDelegateForColumn(TYPE, MonoDelegate(self.tree, second=True, padding=4))
        header = self.tree.header()
        header.setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Stretch)
        header.setStretchLastSection(False)
        self.tree.setColumnWidth(NAME, px(170))
        self.tree.setColumnWidth(TYPE, px(80))
        self.text = CodeView()
        self.mode = SegmentedControl({"text": "Text", "tree": "Tree"})
        self.note = TokenLabel("", "second", size="second", elide=True)
        strip = Strip(32)
        strip.row.addWidget(self.note, 1)
        strip.row.addWidget(self.mode)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.text)
        self._stack.addWidget(self.tree)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(strip)
        layout.addWidget(self._stack, 1)
        self.mode.chosen.connect(lambda key: self._stack.setCurrentIndex(0 if key == "text" else 1))

    def show_value(self, value: Any, note: str = "") -> None:
        """Show a value and a remark on it."""
        self.model.set_value(value)
        text = dumps(value, indent=2)
        self.text.set_code(text, "json")
        self.note.set_text(note)
        if text.count("\n") < _OPEN_UP_TO:
            self.tree.expandAll()
        else:
            self.tree.expandToDepth(0)

    def show_nothing(self, note: str) -> None:
        """Show that there is no value, and why."""
        self.model.clear()
        self.text.set_code("")
        self.note.set_text(note)
