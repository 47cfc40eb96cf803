"""Sections under one another of which one is open, for panes that are narrow and have much to show."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from workbench.gui.shell.theme import set_icon, set_role


class _Head(QPushButton):
    """The title of a section; the arrow keys walk from one to the next."""

    stepped = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.stepped.emit(step)


class Accordion(QWidget):
    """Titled sections; opening one closes the one before."""

    opened = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._titles: list[str] = []
        self.heads: list[_Head] = []
        self.bodies: list[QWidget] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    def add(self, title: str, body: QWidget) -> None:
        """Add a section at the end; the first one is open."""
        index = len(self.bodies)
        head = _Head(title)
        set_role(head, "section")
        head.setCheckable(True)
        head.clicked.connect(partial(self.open, index))
        head.stepped.connect(lambda step: self.heads[(index + step) % len(self.heads)].setFocus())
        self._titles.append(title)
        self.heads.append(head)
        self.bodies.append(body)
        self._column.addWidget(head)
        self._column.addWidget(body, 1)
        self.open(0)

    def open(self, index: int, _checked: bool = False) -> None:
        """Open a section."""
        for at, (head, body) in enumerate(zip(self.heads, self.bodies, strict=True)):
            is_open = at == index
            head.setChecked(is_open)
            head.setAccessibleDescription("open" if is_open else "closed")
            set_icon(head, "chevron-down" if is_open else "chevron-right", "second")
            body.setVisible(is_open)
        self.opened.emit(index)

    def current(self) -> int:
        """Return the index of the open section."""
        return next((at for at, head in enumerate(self.heads) if head.isChecked()), 0)

    def set_count(self, index: int, count: str) -> None:
        """Show a short figure behind the title of a section."""
        title = self._titles[index]
        self.heads[index].setText(f"{title}   {count}" if count else title)
