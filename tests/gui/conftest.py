"""What every test of the window stands on: an offscreen application, a project, and guards against leaks."""

from __future__ import annotations

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ.pop("PROMPT_WORKBENCH_CONFIG", None)

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from workbench.engine.projects import copy_sample
from workbench.engine.secrets import Secrets
from workbench.gui.application import make_application
from workbench.gui.main_window import MainWindow
from workbench.gui.shell.session import Session
from workbench.gui.shell.settings import AppSettings
from workbench.gui.shell.theme import apply_theme

TOML = '''\
format = 1
name = "Greeting"

[template]
dialect = "context"

# the first message
[[template.messages]]
role = "system"
content = """
You greet for [%param.company.name%].
"""

[[template.messages]]
role = "user"
content = """
Hello [%param.name%], you are [%param.age%].
"""

[guardrails.input]
threshold = 0.5

[[guardrails.input.checks]]
name = "rude"
question = "Is the message rude?"

[translation]
type_name = "Card"
'''
DEFAULT = '{\n  "company": {"name": "Fernhill"},\n  "name": "Ann",\n  "age": 41\n}\n'
OTHER = '{\n  "company": {"name": "Hillfern"},\n  "name": "Bob",\n  "age": 7\n}\n'
SCHEMA = """\
{
  "type": "object",
  "properties": {
    "company": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    "name": {"type": "string"},
    "age": {"type": "integer", "minimum": 0},
    "tier": {"enum": ["basic", "pro"]},
    "vip": {"type": "boolean"}
  },
  "required": ["company", "name"]
}
"""
OUTPUT = '{"type": "object", "properties": {"greeting": {"type": "string"}}, "required": ["greeting"]}\n'
# The engine keeps one worker process per model for the whole program; these threads serve its pipes.
SHARED = "worker-"
# What the offscreen platform says of itself.
QUIET = ("This plugin does not support", "propagateSizeHints")


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@pytest.fixture(scope="session")
def qapp() -> QApplication:
    app = make_application()
    app.setCursorFlashTime(0)
    app.setQuitOnLastWindowClosed(False)
    apply_theme(app, "light")
    return app


@pytest.fixture(autouse=True)
def no_leaks(qapp: QApplication, qtlog: object) -> Iterator[None]:
    """Fail a test that leaves a thread or a window behind, or makes Qt warn."""
    threads = set(threading.enumerate())
    windows = set(map(id, QApplication.topLevelWidgets()))
    yield
    deadline = time.monotonic() + 5
    left = [t for t in threading.enumerate() if t not in threads and not t.name.startswith(SHARED)]
    while left and time.monotonic() < deadline:
        for thread in left:
            thread.join(0.05)
        left = [t for t in left if t.is_alive()]
    assert not left, f"the test left threads running: {left}"
    drop_widgets()
    extra = [w for w in QApplication.topLevelWidgets() if id(w) not in windows and w.isVisible()]
    assert not extra, f"the test left windows open: {extra}"
    warnings = [
        r.message for r in qtlog.records if r.type.name != "QtDebugMsg" and "QtInfo" not in r.type.name
    ]
    warnings = [m for m in warnings if m and not any(quiet in m for quiet in QUIET)]
    assert not warnings, f"Qt warned: {warnings}"


def drop_widgets() -> None:
    """Let Qt delete what was asked to be deleted."""
    for _ in range(3):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QCoreApplication.processEvents()
    gc.collect()


@pytest.fixture(scope="module")
def embedded_model() -> Iterator[None]:
    """The worker process of the embedded model, warm, which all tests of a file share; it ends with them."""
    from workbench.engine.decisions import DecisionRequest, YesNoQuestion, open_decision_model
    from workbench.engine.model_settings import ModelSettings
    from workbench.engine.workers import close_shared_workers

    async def ask() -> None:
        model = open_decision_model(ModelSettings("embedded", "embedded"))
        await model.decide(DecisionRequest("Hello", {"greeting": YesNoQuestion("Is it a greeting?")}))
        await model.aclose()

    asyncio.run(ask())
    yield
    close_shared_workers()


@pytest.fixture
def settings(tmp_path: Path) -> AppSettings:
    return AppSettings(tmp_path / "config")


@pytest.fixture
def project_folder(tmp_path: Path) -> Path:
    """A small project of two messages, two sets and both schemas."""
    folder = tmp_path / "greeting"
    (folder / "parameters").mkdir(parents=True)
    (folder / "workbench.toml").write_text(TOML, encoding="utf-8")
    (folder / "parameters" / "default.json").write_text(DEFAULT, encoding="utf-8")
    (folder / "parameters" / "other.json").write_text(OTHER, encoding="utf-8")
    (folder / "parameters.schema.json").write_text(SCHEMA, encoding="utf-8")
    (folder / "output.schema.json").write_text(OUTPUT, encoding="utf-8")
    return folder


@pytest.fixture
def session(qapp: QApplication, settings: AppSettings) -> Iterator[Session]:
    # No test reads the keyring of the person who runs it.
    made = Session(settings, secrets=Secrets(os.environ))
    made.settings.set("checks.live", False)
    yield made
    made.close()
    made.deleteLater()
    drop_widgets()


@pytest.fixture
def open_session(session: Session, project_folder: Path, settled: Callable[[Session], None]) -> Session:
    """A session with the small project open and rendered."""
    session.open(project_folder)
    settled(session)
    return session


@pytest.fixture
def settled(qtbot: object) -> Callable[[Session], None]:
    """Wait until a session has no job left and everything it has to say was said."""

    def wait(session: Session) -> None:
        qtbot.waitUntil(lambda: not session.jobs.busy() and not session._timer.isActive(), timeout=20_000)
        QCoreApplication.processEvents()

    return wait


@pytest.fixture
def window(session: Session, qtbot: object) -> Iterator[MainWindow]:
    """The main window, shown, without a project."""
    made = MainWindow(session)
    made.resize(1440, 900)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.hide()
    made.edits.close()
    session.close()
    made.deleteLater()
    drop_widgets()


@pytest.fixture
def open_window(window: MainWindow, project_folder: Path, settled: Callable[[Session], None]) -> MainWindow:
    """The main window with the small project open and rendered."""
    assert window.files.open_folder(project_folder, ask=False)
    settled(window.session)
    window.activateWindow()
    return window


@pytest.fixture
def triage(window: MainWindow, tmp_path: Path, settled: Callable[[Session], None]) -> MainWindow:
    """The main window with the sample *Support triage* open and rendered."""
    copy_sample("support-triage", tmp_path / "triage")
    assert window.files.open_folder(tmp_path / "triage", ask=False)
    settled(window.session)
    return window
