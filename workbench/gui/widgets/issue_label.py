"""A small mark with words beside it, such as a triangle and "1 missing"; empty, it takes no room."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from workbench.gui.shell.theme import icon_pixmap, on_theme_changed, set_role

_ICONS = {"rejected": "warning", "warning": "warning", "second": "info", "passed": "passed"}


class IssueLabel(QWidget):
    """An icon and a word in one colour; shape, word and colour say the same."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._token, self._icon_name = "second", "info"
        self.icon = QLabel()
        self.words = QLabel()
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(4)
        row.addWidget(self.icon)
        row.addWidget(self.words)
        set_role(self, "plain")
        on_theme_changed(self, self._paint_icon)
        self.hide()

    def set_issue(self, token: str, text: str, icon_name: str | None = None) -> None:
        """Show `text` in the colour `token` (`rejected`, `warning`, `second`, `passed`); no text hides it."""
        self.setVisible(bool(text))
        if self.words.text() == text and self._token == token:
            return
        self._token, self._icon_name = token, icon_name or _ICONS[token]
        self.words.setText(text)
        set_role(self.words, {"rejected": "error"}.get(token, token))
        self.setAccessibleName(text)
        self._paint_icon()

    def _paint_icon(self) -> None:
        self.icon.setPixmap(icon_pixmap(self._icon_name, self._token, 14))
