"""Editors inside the table of cases: texts of several lines, and labels."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QStyleOptionViewItem, QWidget

from workbench.gui.delegates.words import TextDelegate
from workbench.gui.widgets.text_input import TextInput

_LABELS: tuple[tuple[str, bool | None], ...] = (("+ yes", True), ("– no", False), ("no label", None))
_EDITOR_HEIGHT = 92


class LongTextDelegate(TextDelegate):
    """Edits a text in a field of a few lines laid over the rows below; Enter takes it, Shift+Enter breaks a line."""

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        return TextInput("Text of the case", lines=4, parent=parent)

    def setEditorData(self, editor: QWidget, index: QModelIndex | QPersistentModelIndex) -> None:
        assert isinstance(editor, TextInput)
        if not editor.document().isModified():
            editor.set_text(str(index.data(Qt.ItemDataRole.EditRole) or ""))
            editor.selectAll()
            editor.document().setModified(False)

    def setModelData(
        self, editor: QWidget, model: QAbstractItemModel, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        assert isinstance(editor, TextInput)
        model.setData(index, editor.text())

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        rect = QRect(option.rect)
        room = editor.parentWidget().height()
        height = min(_EDITOR_HEIGHT, room)
        top = max(0, min(rect.top(), room - height))
        editor.setGeometry(QRect(rect.left(), top, rect.width(), height))

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.commitData.emit(editor)
                self.closeEditor.emit(editor)
                return True
            if enter and isinstance(editor, TextInput):
                # By itself Shift+Enter would put in a line separator, which is no line break to anybody else.
                editor.insertPlainText("\n")
                return True
        return bool(super().eventFilter(editor, event))


class LabelDelegate(TextDelegate):
    """Edits a label by a choice of yes, no and none."""

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        box = QComboBox(parent)
        box.setAccessibleName("Label")
        for words, label in _LABELS:
            box.addItem(words, label)
        box.activated.connect(lambda _index: self._taken(box))
        return box

    def _taken(self, box: QComboBox) -> None:
        self.commitData.emit(box)
        self.closeEditor.emit(box)

    def setEditorData(self, editor: QWidget, index: QModelIndex | QPersistentModelIndex) -> None:
        assert isinstance(editor, QComboBox)
        label = index.data(Qt.ItemDataRole.EditRole)
        editor.setCurrentIndex(next(k for k, (_, value) in enumerate(_LABELS) if value is label))

    def setModelData(
        self, editor: QWidget, model: QAbstractItemModel, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        assert isinstance(editor, QComboBox)
        model.setData(index, editor.currentData())
