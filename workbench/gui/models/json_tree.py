"""A JSON value as a tree, built branch by branch as a reader opens it, so that a large value costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from workbench.gui.models.roots import ROOT

NAME, VALUE, TYPE = range(3)
_HEADS = ("Name", "Value", "Type")


class _Node:
    __slots__ = ("_children", "name", "parent", "pointer", "row", "value")

    def __init__(self, name: str, value: Any, pointer: str, row: int, parent: _Node | None) -> None:
        self.name = name
        self.value = value
        self.pointer = pointer
        self.row = row
        self.parent = parent
        self._children: list[_Node] | None = None

    @property
    def children(self) -> list[_Node]:
        if self._children is None:
            self._children = [
                _Node(name, value, f"{self.pointer}/{_escaped(name)}", row, self)
                for row, (name, value) in enumerate(_members(self.value))
            ]
        return self._children


class JsonTreeModel(QAbstractItemModel):
    """Names, values and types of a JSON-like value."""

    PointerRole = Qt.ItemDataRole.UserRole + 1
    KindRole = Qt.ItemDataRole.UserRole + 2

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root: _Node | None = None

    def set_value(self, value: Any) -> None:
        """Show a value."""
        self.beginResetModel()
        self._root = _Node("(value)", value, "", 0, None)
        self.endResetModel()

    def clear(self) -> None:
        """Show nothing, which is not the same as showing null."""
        self.beginResetModel()
        self._root = None
        self.endResetModel()

    def index_of(self, pointer: str) -> QModelIndex:
        """Return the index of the value at a JSON Pointer, invalid when there is none."""
        node = self._root
        if node is None:
            return QModelIndex()
        for token in pointer.split("/")[1:]:
            node = next((child for child in node.children if _escaped(child.name) == token), None)
            if node is None:
                return QModelIndex()
        return self.createIndex(node.row, 0, node)

    def index(
        self,
        row: int,
        column: int,
        parent: QModelIndex | QPersistentModelIndex = ROOT,
    ) -> QModelIndex:
        if not parent.isValid():
            if self._root is None or row != 0:
                return QModelIndex()
            return self.createIndex(0, column, self._root)
        children = parent.internalPointer().children
        if 0 <= row < len(children):
            return self.createIndex(row, column, children[row])
        return QModelIndex()

    def parent(self, index: QModelIndex | QPersistentModelIndex = ROOT) -> QModelIndex:
        above = index.internalPointer().parent if index.isValid() else None
        return QModelIndex() if above is None else self.createIndex(above.row, 0, above)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        if not parent.isValid():
            return 0 if self._root is None else 1
        if parent.column() != 0:
            return 0
        value = parent.internalPointer().value
        return len(value) if isinstance(value, Mapping | list | tuple) else 0

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return len(_HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _HEADS[section]
        return None

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        node: _Node = index.internalPointer()
        if role == Qt.ItemDataRole.DisplayRole:
            if index.column() == NAME:
                return node.name
            return _shown(node.value) if index.column() == VALUE else kind_of(node.value)
        if role == self.PointerRole:
            return node.pointer
        if role == self.KindRole:
            return kind_of(node.value)
        if role == Qt.ItemDataRole.ToolTipRole:
            return node.pointer or "the whole value"
        return None


def kind_of(value: Any) -> str:
    """Return the JSON type of a Python value in JSON Schema's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, list | tuple):
        return "array"
    return "number"


def _members(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, list | tuple):
        return [(str(position), item) for position, item in enumerate(value)]
    return []


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ }" if not value else f"{{ {len(value)} }}"
    if isinstance(value, list | tuple):
        return "[ ]" if not value else f"[ {len(value)} ]"
    return value if isinstance(value, str) else repr(value)


def _escaped(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")
