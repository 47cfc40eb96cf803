"""Shown when the program made an error: what happened, that the work is safe, and a report to copy."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.shell.scale import resize_window
from workbench.gui.shell.theme import mono_font, set_role, strong_font


class CrashDialog(QDialog):
    """`report` is the scrubbed text; `saved` says what was kept of the work."""

    QUIT = 2

    def __init__(self, summary: str, report: str, saved: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Prompt Workbench made an error")
        head = QLabel("Something in the program went wrong.")
        head.setFont(strong_font(15))
        words = QLabel(f"{summary}\n{saved}")
        words.setWordWrap(True)
        self.text = QPlainTextEdit(report)
        self.text.setReadOnly(True)
        self.text.setFont(mono_font(11))
        self.text.setAccessibleName("Report")
        note = QLabel(
            "The report holds versions and the last messages of the program; known secrets are taken out. Nothing is sent by itself."
        )
        note.setWordWrap(True)
        set_role(note, "second")
        copy = QPushButton("Copy report")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(report))
        leave = QPushButton("Quit")
        leave.clicked.connect(lambda: self.done(self.QUIT))
        go_on = QPushButton("Go on working")
        set_role(go_on, "main")
        go_on.clicked.connect(self.accept)
        go_on.setDefault(True)
        row = QHBoxLayout()
        row.addWidget(copy)
        row.addStretch(1)
        row.addWidget(leave)
        row.addWidget(go_on)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 16)
        layout.setSpacing(12)
        for widget in (head, words, self.text, note):
            layout.addWidget(widget)
        layout.addLayout(row)
        resize_window(self, 680, 480)
