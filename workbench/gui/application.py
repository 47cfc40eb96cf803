"""Starts the Qt application and opens the window."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from workbench import __version__
from workbench.gui.main_window import MainWindow
from workbench.gui.shell.crash import CrashGuard
from workbench.gui.shell.memory import forget_sources, spare_long_lived
from workbench.gui.shell.scale import set_interface_size
from workbench.gui.shell.session import Session
from workbench.gui.shell.settings import AppSettings
from workbench.gui.shell.theme import application_icon, apply_theme, set_mono_size


def make_application(argv: Sequence[str] = ()) -> QApplication:
    """Return the application object, made if there is none yet, with its names and icon."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        QApplication.setApplicationName("prompt-workbench")
        QApplication.setApplicationDisplayName("Prompt Workbench")
        QApplication.setApplicationVersion(__version__)
        QApplication.setDesktopFileName("prompt-workbench")
        app = QApplication(["prompt-workbench", *argv])
    app.setWindowIcon(application_icon())
    return app


SETTLED_MS = 1500
"""How long after the start the window has made what it keeps."""


def main(project: Path | None = None, argv: Sequence[str] = (), *, ask_recovery: bool = True) -> int:
    """Open the window, on `project` or on the last one, and return the exit status when it is closed.

    Without `ask_recovery`, unsaved work of an earlier start is set aside instead of being asked about.
    """
    forget_sources()
    app = make_application(argv)
    settings = AppSettings()
    set_mono_size(settings.get("editor.size"))
    set_interface_size(settings.get("interface.size"))
    apply_theme(app, settings.get("theme"))
    app.styleHints().colorSchemeChanged.connect(lambda _scheme: apply_theme(app, settings.get("theme")))
    session = Session(settings)
    window = MainWindow(session)
    window.files.asks_about_recovery = window.files.asks_about_recovery and ask_recovery
    guard = CrashGuard(lambda: keep_work(session), lambda *texts: show_crash(window, *texts), session.scrub)
    try:
        window.show()
        QTimer.singleShot(0, lambda: open_first(window, project))
        QTimer.singleShot(SETTLED_MS, spare_long_lived)
        return app.exec()
    finally:
        guard.remove()
        session.close()


def open_first(window: MainWindow, project: Path | None) -> None:
    """Open what the command line names, else the last project, else leave the welcome page."""
    settings = window.session.settings
    if project is not None:
        window.files.open_folder(project)
        window.restore_work()
        return
    last = settings.state.get("last_project")
    if not isinstance(last, str) and not settings.get("welcome.show"):
        recent = settings.recent()
        last = recent[0]["path"] if recent else None
    if settings.get("session.restore") and isinstance(last, str) and Path(last).is_dir():
        window.files.open_folder(Path(last))
        window.restore_work()


def keep_work(session: Session) -> str:
    """Copy unsaved work aside after an error and say what was kept."""
    if session.project is None or not session.dirty:
        return "Nothing was unsaved."
    session.flush()
    path = session.project.write_recovery(session.settings.folder)
    return f"Your unsaved work was copied to {path}." if path is not None else "Save your work now."


def show_crash(window: MainWindow, summary: str, report: str, saved: str) -> None:
    """Show the report; quit where the user wants that."""
    from workbench.gui.dialogs.crash_report import CrashDialog

    dialog = CrashDialog(summary, report, saved, window)
    if dialog.exec() == CrashDialog.QUIT:
        QApplication.exit(1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
