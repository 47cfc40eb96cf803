"""The questions that must be asked before something could be lost or sent; one function each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from workbench.engine.text import shorten
from workbench.gui.shell.theme import application_icon, icon_pixmap

Unsaved = Literal["save", "drop", "cancel"]
Changed = Literal["overwrite", "reload", "cancel"]


# What a box is about, to its picture and the colour of it; the pictures of Qt know nothing of the theme.
_PICTURES = {"question": ("question", "accent"), "warning": ("warning", "warning")}
PICTURE_SIZE = 32


def _box(parent: QWidget, title: str, text: str, detail: str, kind: str) -> QMessageBox:
    box = QMessageBox(parent)
    box.setIconPixmap(icon_pixmap(*_PICTURES[kind], PICTURE_SIZE))
    box.setWindowTitle(title)
    box.setText(text)
    box.setInformativeText(detail)
    return box


def _ask(box: QMessageBox, buttons: Sequence[tuple[str, str]], default: str, escape: str) -> str:
    made: dict[QPushButton, str] = {}
    for answer, words in buttons:
        role = QMessageBox.ButtonRole.RejectRole if answer == escape else QMessageBox.ButtonRole.AcceptRole
        button = box.addButton(words, role)
        made[button] = answer
        if answer == default:
            box.setDefaultButton(button)
        if answer == escape:
            box.setEscapeButton(button)
    box.exec()
    clicked = box.clickedButton()
    return next((answer for button, answer in made.items() if button is clicked), escape)


def ask_unsaved(parent: QWidget, name: str) -> Unsaved:
    """Ask what shall become of unsaved work before the project `name` is left."""
    box = _box(
        parent,
        "Unsaved work",
        f"Save the changes in “{shorten(name, 60)}”?",
        "Without saving they are gone.",
        "question",
    )
    answer = _ask(box, (("save", "Save"), ("drop", "Do not save"), ("cancel", "Cancel")), "save", "cancel")
    return answer  # type: ignore[return-value]


def ask_changed_on_disk(parent: QWidget, paths: Sequence[Path]) -> Changed:
    """Ask whether files that another program changed shall be overwritten."""
    names = ", ".join(path.name for path in paths[:6]) + (" …" if len(paths) > 6 else "")
    box = _box(
        parent,
        "Changed on disk",
        f"Another program changed {names}.",
        "Saving now replaces what it wrote. Reloading drops what you changed here.",
        "warning",
    )
    buttons = (("overwrite", "Overwrite"), ("reload", "Reload from disk"), ("cancel", "Cancel"))
    return _ask(box, buttons, "cancel", "cancel")  # type: ignore[return-value]


def ask_recovery(parent: QWidget, name: str, written_at: float, files: Sequence[str]) -> bool:
    """Ask whether a recovery copy shall be brought back."""
    when = time.strftime("%d %B %Y, %H:%M", time.localtime(written_at))
    listed = ", ".join(files[:6]) or "workbench.toml"
    box = _box(
        parent,
        "Recovery copy",
        f"There is unsaved work in “{shorten(name, 60)}” from {when}.",
        f"It concerns {listed}. Bring it back? You can still undo by reloading from disk.",
        "question",
    )
    return (
        _ask(box, (("restore", "Bring it back"), ("drop", "Delete the copy")), "restore", "restore")
        == "restore"
    )


def ask_origin(parent: QWidget, name: str, accepted: Sequence[str], wanted: str) -> bool:
    """Ask whether the secret `name` may be sent to the origin `wanted`."""
    known = ", ".join(accepted) if accepted else "no server yet"
    box = _box(
        parent,
        "Send a secret?",
        f"The project wants to send the secret “{name}” to {wanted}.",
        f"So far it goes to {known}. Nothing was sent. Allow this only for a server that you know.",
        "warning",
    )
    return (
        _ask(box, (("allow", f"Allow for {wanted}"), ("refuse", "Do not send")), "refuse", "refuse")
        == "allow"
    )


def show_error(parent: QWidget, title: str, message: str, detail: str = "") -> None:
    """Say that something could not be done, and why."""
    box = _box(parent, title, message, detail, "warning")
    box.setStandardButtons(QMessageBox.StandardButton.Ok)
    box.exec()


def ask_replace(parent: QWidget, title: str, question: str, detail: str = "") -> bool:
    """Ask whether something that is there already shall be replaced."""
    box = _box(parent, title, question, detail, "question")
    return _ask(box, (("replace", "Replace"), ("cancel", "Cancel")), "cancel", "cancel") == "replace"


def show_about(parent: QWidget, name: str, words: str) -> None:
    """Say what the program is, beside its own picture."""
    box = QMessageBox(parent)
    box.setIconPixmap(application_icon().pixmap(64, 64))
    box.setWindowTitle(f"About {name.rsplit(' ', 1)[0]}")
    box.setText(name)
    box.setInformativeText(words)
    box.setStandardButtons(QMessageBox.StandardButton.Ok)
    box.exec()
