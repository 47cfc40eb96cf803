"""The strip that says that a prompt cannot be sent, and leads to the reason."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from workbench.gui.shell.theme import icon_pixmap, on_theme_changed, set_role
from workbench.gui.widgets.labels import TokenLabel


class Banner(QWidget):
    """The strip that says that a prompt cannot be sent, and why."""

    def __init__(self) -> None:
        super().__init__()
        set_role(self, "verdict-rejected")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._icon = QLabel()
        self.words, self.more = QLabel(), TokenLabel("", elide=True)
        self.words.setStyleSheet("font-weight: 600;")
        self.link = QPushButton()
        set_role(self.link, "link")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 8, 0)
        row.setSpacing(8)
        row.addWidget(self._icon)
        row.addWidget(self.words)
        row.addWidget(self.more, 1)
        row.addWidget(self.link)
        on_theme_changed(self, self._recolor)
        self._recolor()
        self.hide()

    def say(self, words: str, more: str, link: str) -> None:
        """Show the strip."""
        self.words.setText(words)
        self.more.set_text(more)
        self.link.setText(link)
        self.setAccessibleName(f"{words} {more}")
        self.show()

    def _recolor(self) -> None:
        self._icon.setPixmap(icon_pixmap("warning", "rejected", 14))
