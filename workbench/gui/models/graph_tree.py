"""The object graph as a tree that can be edited: names of members and single values, in place."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from workbench.gui.models.json_tree import NAME, VALUE, JsonTreeModel

_CONTAINERS = ("object", "array")


class GraphTreeModel(JsonTreeModel):
    """The JSON tree of a graph. An edit is only asked for; what comes of it arrives as another value."""

    name_asked = Signal(str, str)
    """Pointer of a member, and its new name."""
    value_asked = Signal(str, str, bool)
    """Pointer of a value, the new text, and whether it is the text of a string rather than JSON."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.filled: dict[str, str] = {}
        """What becomes of each string with placeholders, by pointer."""

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        flags = super().flags(index)
        if not index.isValid():
            return flags
        kind, pointer = index.data(self.KindRole), index.data(self.PointerRole)
        parent = index.parent()
        is_member = parent.isValid() and parent.data(self.KindRole) == "object"
        editable = (index.column() == VALUE and kind not in _CONTAINERS) or (
            index.column() == NAME and is_member and pointer != ""
        )
        return flags | Qt.ItemFlag.ItemIsEditable if editable else flags

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.EditRole:
            return super().data(index, Qt.ItemDataRole.DisplayRole)
        if role == Qt.ItemDataRole.ToolTipRole and index.isValid() and index.column() == VALUE:
            filled = self.filled.get(index.data(self.PointerRole))
            if filled is not None:
                return f"Filled: {filled}"
        shown = super().data(index, role)
        if role == Qt.ItemDataRole.DisplayRole and isinstance(shown, str):
            return shown.replace("\n", " ⏎ ")
        return shown

    def setData(
        self, index: QModelIndex | QPersistentModelIndex, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        if role != Qt.ItemDataRole.EditRole or not index.isValid():
            return False
        if value == self.data(index, Qt.ItemDataRole.EditRole):
            return False
        pointer = index.data(self.PointerRole)
        if index.column() == NAME:
            self.name_asked.emit(pointer, value)
        else:
            self.value_asked.emit(pointer, value, index.data(self.KindRole) == "string")
        return False
