"""Takes a picture of the window on a project: the same bytes every time."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QMessageLogContext,
    Qt,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)

LONGEST_WAIT = 30.0


class ScreenshotError(Exception):
    """No picture could be taken; the text says why."""


def take(
    project_path: Path | None,
    out: Path,
    size: tuple[int, int] = (1440, 900),
    theme: str = "light",
    pane: str | None = None,
    *,
    run_checks: bool = True,
) -> Path:
    """Write a PNG of the window, opened on `project_path` (`None`: the welcome page), and return its path.

    `size` is in pixels. `pane` is a pane's id (`guardrails`, `translation`, …) for a picture of that pane
    alone, or a layout's name (`compose`, `thresholds`, `history`, `export`) for the window so arranged. With
    `run_checks` the input checks are run first when their model is on this computer; the time that they took is
    then the one thing in the picture that may differ from run to run. Neither the settings of the user nor
    the project are changed.

    Raises:
        ScreenshotError: where the project cannot be opened or the picture not be written.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    before = qInstallMessageHandler(_without_size_hints)
    try:
        with tempfile.TemporaryDirectory(prefix="workbench-screenshot-") as folder:
            return _take(project_path, Path(out), size, theme, pane, run_checks, Path(folder))
    finally:
        qInstallMessageHandler(before)


def _without_size_hints(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    """Print Qt's messages but for the one with which the offscreen platform greets every window."""
    if "propagateSizeHints" not in text:
        print(text, file=sys.stderr)


def _take(
    project_path: Path | None,
    out: Path,
    size: tuple[int, int],
    theme_name: str,
    pane: str | None,
    run_checks: bool,
    folder: Path,
) -> Path:
    from workbench.gui.application import make_application
    from workbench.gui.main_window import MainWindow
    from workbench.gui.shell.session import Session
    from workbench.gui.shell.settings import AppSettings
    from workbench.gui.shell.theme import apply_theme

    app = make_application()
    app.setCursorFlashTime(0)
    settings = AppSettings(folder)
    settings.set("theme", theme_name)
    settings.set("checks.live", False)
    settings.set("recovery.seconds", 0)
    apply_theme(app, theme_name)
    session = Session(settings)
    session.records = False
    window = MainWindow(session)
    try:
        window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen, app.platformName() != "offscreen")
        window.resize(*size)
        window.show()
        if project_path is not None:
            messages: list[str] = []
            session.status.connect(messages.append)
            if not window.files.open_folder(project_path, ask=False):
                raise ScreenshotError(messages[-1] if messages else f"{project_path} cannot be opened")
        target = _arrange(window, pane)
        _settle(lambda: not session.jobs.busy())
        if project_path is not None and run_checks:
            _run_checks(session)
        _settle(lambda: not session.jobs.busy() and not session.running())
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        out.parent.mkdir(parents=True, exist_ok=True)
        if not target.grab().save(str(out), "PNG"):
            raise ScreenshotError(f"{out} cannot be written")
        return out
    finally:
        session.stop()
        window.hide()
        window.edits.close()
        session.close()
        window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _arrange(window: object, pane: str | None) -> object:
    """Bring what was asked for to the front and return the widget to take a picture of."""
    from workbench.gui.shell.docks import LAYOUTS

    docks = window.docks  # type: ignore[attr-defined]
    layouts = {name.lower(): name for name in LAYOUTS}
    if pane is None:
        return window
    if pane.lower() in layouts:
        window.show_layout(layouts[pane.lower()])  # type: ignore[attr-defined]
        return window
    if pane in docks.docks:
        docks.show_pane(pane)
        return docks.docks[pane]
    if pane in ("template", "parameters"):
        return window.template if pane == "template" else window.data  # type: ignore[attr-defined]
    known = ", ".join([*layouts, "template", "parameters", *docks.docks])
    raise ScreenshotError(f"there is no pane {pane!r}; panes are {known}")


def _run_checks(session: object) -> None:
    from workbench.engine.decisions import decision_model_available

    settings = session.decision_settings()  # type: ignore[attr-defined]
    snapshot = session.snapshot()  # type: ignore[attr-defined]
    local = settings.provider in ("embedded", "recorded")
    if (
        local
        and snapshot.input_guardrail.checks
        and decision_model_available(settings, snapshot.root) is None
    ):
        session.run_checks("input", record=False)  # type: ignore[attr-defined]


def _settle(done: Callable[[], bool]) -> None:
    """Let the window work until `done` and nothing is left to paint."""
    app = QCoreApplication.instance()
    assert app is not None
    wake = QTimer()
    wake.start(5)
    deadline = time.monotonic() + LONGEST_WAIT
    quiet = 0
    while quiet < 20 and time.monotonic() < deadline:
        app.processEvents()
        quiet = quiet + 1 if done() else 0
        time.sleep(0.005)
    wake.stop()
