"""What a journey stands on: a real application on the screen, windows as the program opens them, pictures of the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.engine.projects import copy_sample
from workbench.gui.application import make_application, open_first
from workbench.gui.main_window import MainWindow
from workbench.gui.shell.session import Session
from workbench.gui.shell.settings import AppSettings
from workbench.gui.shell.theme import apply_theme

WAIT_MS = 60_000
# Fewer colours than this in the picture of a screen mean that nothing was drawn on it.
FEWEST_COLOURS = 40

Opener = Callable[[Path | None], MainWindow]


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@pytest.fixture(scope="session")
def qapp() -> QApplication:
    app = make_application()
    assert app.platformName() == "xcb", "a journey needs a real screen"
    app.setCursorFlashTime(0)
    app.setQuitOnLastWindowClosed(False)
    return app


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A copy of *Support triage*, on a path with a space."""
    return copy_sample("support-triage", tmp_path / "my triage")


@pytest.fixture
def open_program(qapp: QApplication, qtbot: QtBot) -> Iterator[Opener]:
    """Start the program as its `main` does, on a folder or on what was open last; what was left open is closed."""
    opened: list[MainWindow] = []

    def start(folder: Path | None) -> MainWindow:
        settings = AppSettings()
        apply_theme(qapp, settings.get("theme"))
        window = MainWindow(Session(settings))
        opened.append(window)
        window.resize(1500, 950)
        window.show()
        qtbot.waitExposed(window)
        open_first(window, folder)
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow, timeout=WAIT_MS)
        return window

    yield start
    for window in opened:
        window.hide()
        window.edits.close()
        window.session.close()
        window.deleteLater()
    from workbench.engine.workers import close_shared_workers

    close_shared_workers()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def picture(qapp: QApplication, tmp_path: Path) -> Callable[[str], QImage]:
    """Take a picture of the whole screen into the test's folder; a blank screen fails the test."""
    taken: list[str] = []

    def take(name: str) -> QImage:
        qapp.processEvents()
        image = QGuiApplication.primaryScreen().grabWindow(0).toImage()
        taken.append(name)
        assert image.save(str(tmp_path / f"{len(taken):02}-{name}.png"))
        assert colours(image) >= FEWEST_COLOURS, f"the screen is blank at “{name}”"
        return image

    return take


def colours(image: QImage) -> int:
    """Return how many colours a picture has, looked at in every fourth pixel of every fourth line."""
    return len({image.pixel(x, y) for x in range(0, image.width(), 4) for y in range(0, image.height(), 4)})
