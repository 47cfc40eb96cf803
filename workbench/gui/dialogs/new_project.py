"""Asks for the name and the folder of a new project."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.shell.scale import resize_window
from workbench.gui.shell.theme import set_role


class NewProjectDialog(QDialog):
    """A name and a folder; the folder follows the name until it is typed."""

    def __init__(
        self, parent: QWidget | None, home: Path, name: str = "", title: str = "New project"
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._home = home
        self._folder_typed = False
        self.name = QLineEdit(name)
        self.name.setAccessibleName("Name")
        self.folder = QLineEdit()
        self.folder.setAccessibleName("Folder")
        browse = QPushButton("Browse…")
        browse.clicked.connect(self._browse)
        row = QHBoxLayout()
        row.addWidget(self.folder, 1)
        row.addWidget(browse)
        form = QFormLayout()
        form.addRow("Name", self.name)
        form.addRow("Folder", row)
        self.problem = QLabel()
        self.problem.setWordWrap(True)
        set_role(self.problem, "error")
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.create_button = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.create_button.setText("Create")
        set_role(self.create_button, "main")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 16)
        layout.setSpacing(12)
        layout.addLayout(form)
        layout.addWidget(self.problem)
        layout.addWidget(self.buttons)
        self.name.textChanged.connect(self._name_changed)
        self.folder.textEdited.connect(lambda _text: self._folder_edited())
        self.folder.textChanged.connect(lambda _text: self._judge())
        self._name_changed(name)
        resize_window(self, 520, 180)

    def chosen(self) -> tuple[str, Path]:
        """Return the name and the folder."""
        return self.name.text().strip(), Path(self.folder.text().strip()).expanduser()

    def _name_changed(self, name: str) -> None:
        if not self._folder_typed:
            self.folder.setText(str(self._home / (folder_name(name) or "prompt")))
        self._judge()

    def _folder_edited(self) -> None:
        self._folder_typed = True

    def _browse(self) -> None:
        found = QFileDialog.getExistingDirectory(self, "Folder of the project", str(self._home))
        if found:
            self._folder_typed = True
            self.folder.setText(found)

    def _judge(self) -> None:
        name, folder = self.chosen()
        problem = ""
        if name and folder.exists():
            if not folder.is_dir():
                problem = f"{folder} is a file."
            elif any(folder.iterdir()):
                problem = f"{folder} is not empty. Choose a new or an empty folder."
        self.problem.setText(problem)
        self.create_button.setEnabled(bool(name and self.folder.text().strip() and not problem))


def folder_name(name: str) -> str:
    """Return a folder's name made of a project's name: lower case, words joined by hyphens."""
    words = re.findall(r"\w+", name.casefold())
    return "-".join(words)[:60]
