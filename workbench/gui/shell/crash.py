"""Catches what nobody caught: keeps the work, remembers the last messages, shows an honest report."""

from __future__ import annotations

import logging
import platform
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from types import TracebackType

from PySide6 import __version__ as pyside_version
from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler, qVersion

from workbench import __version__

RING = 200
_LOG = logging.getLogger("workbench")
# Qt's own chatter that says nothing about the program.
_QUIET = ("propagateSizeHints()", "This plugin does not support")


class LogRing(logging.Handler):
    """Keeps the last log records in memory, for the crash report only."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: deque[str] = deque(maxlen=RING)

    def emit(self, record: logging.LogRecord) -> None:
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        self.lines.append(f"{clock} {record.levelname} {record.name}: {record.getMessage()}")


class CrashGuard:
    """Installs the hooks; `keep` saves the work and says what it saved, `show` presents the report."""

    def __init__(
        self, keep: Callable[[], str], show: Callable[[str, str, str], None], scrub: Callable[[str], str]
    ) -> None:
        self.ring = LogRing()
        self._keep, self._show, self._scrub = keep, show, scrub
        self._showing = False
        self._before = (sys.excepthook, threading.excepthook)
        logging.getLogger().addHandler(self.ring)
        sys.excepthook = self.handle
        threading.excepthook = self._handle_thread
        self._qt_before = qInstallMessageHandler(self._qt_message)

    def remove(self) -> None:
        """Put the hooks back as they were."""
        sys.excepthook, threading.excepthook = self._before
        logging.getLogger().removeHandler(self.ring)
        qInstallMessageHandler(self._qt_before)

    def handle(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Report one error that nobody caught."""
        if issubclass(kind, KeyboardInterrupt):
            self._before[0](kind, error, trace)
            return
        text = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(self._scrub(text))
        if self._showing:  # an error while the report is open must not open another
            return
        self._showing = True
        try:
            try:
                saved = self._keep()
            except Exception as failure:  # the report must come even when the copy fails
                saved = f"Your work could not be copied aside ({failure}); save it now."
            summary = f"{kind.__name__}: {str(error)[:300]}"
            self._show(self._scrub(summary), self._scrub(self.report(text)), saved)
        finally:
            self._showing = False

    def report(self, trace: str) -> str:
        """Return the text of the report, secrets not yet taken out."""
        head = (
            f"Prompt Workbench {__version__}\nPython {platform.python_version()}, PySide6 {pyside_version}, Qt {qVersion()}\n"
            f"{platform.platform()}\n"
        )
        return f"{head}\n{trace}\nLast messages:\n" + "\n".join(self.ring.lines)

    def _handle_thread(self, arguments: threading.ExceptHookArgs) -> None:
        _LOG.error("error in thread %s: %s", arguments.thread, arguments.exc_value)
        self._before[1](arguments)

    def _qt_message(self, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        if any(quiet in message for quiet in _QUIET):
            return
        level = {
            QtMsgType.QtDebugMsg: logging.DEBUG,
            QtMsgType.QtInfoMsg: logging.INFO,
            QtMsgType.QtWarningMsg: logging.WARNING,
        }.get(kind, logging.ERROR)
        logging.getLogger("qt").log(level, "%s", message)
