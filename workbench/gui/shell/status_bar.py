"""The line at the bottom: saved or not, problems, tokens, the last run, the caret, the dialect."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QStatusBar, QWidget

from workbench import __version__
from workbench.gui.models.figures import counted
from workbench.gui.models.model_title import model_title
from workbench.gui.shell.last_run import LastRun, doing_words, failed_run, finished_run
from workbench.gui.shell.scale import fit
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import icon_pixmap, on_theme_changed, set_role, small_font

_MARKS = {"context": "[% … %]", "braces": "{ … }", "double-braces": "{{ … }}"}
_NEWLINES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
MESSAGE_MS = 6_000


class StatusItem(QWidget):
    """An icon and words; it can be clicked when `clicked` is connected."""

    clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look: tuple[str, str] | None = None
        self.rule: QWidget | None = None
        self._icon, self.words = QLabel(), QLabel()
        self.words.setFont(small_font())
        set_role(self.words, "second")
        set_role(self, "plain")
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 8, 0)
        row.setSpacing(6)
        row.addWidget(self._icon)
        row.addWidget(self.words)
        on_theme_changed(self, self._recolor)

    def say(self, text: str, icon_name: str = "", token: str = "second") -> None:
        """Show words, with an icon before them; no words hide the item."""
        self.setVisible(bool(text))
        if self.rule is not None:
            self.rule.setVisible(bool(text))
        self.words.setText(text)
        self.setAccessibleName(text)
        self._look = (icon_name, token) if icon_name else None
        self._recolor()

    def text(self) -> str:
        """Return the words."""
        return self.words.text()

    def _recolor(self) -> None:
        self._icon.setVisible(self._look is not None)
        if self._look is not None:
            self._icon.setPixmap(icon_pixmap(*self._look, 14))

    def mouseReleaseEvent(self, event: Any) -> None:
        self.clicked.emit()


class WorkbenchStatusBar(QStatusBar):
    """Says what the session knows, in half a dozen words each."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._begun: dict[str, float] = {}
        self.setSizeGripEnabled(False)
        self.saved, self.problems, self.tokens, self.run = (StatusItem() for _ in range(4))
        self.message = StatusItem()
        for item in (self.saved, self.problems, self.tokens, self.run):
            self.addWidget(item)
            item.rule = _rule()
            self.addWidget(item.rule)
        self.addWidget(self.message, 1)
        self.caret, self.dialect, self.encoding = (StatusItem() for _ in range(3))
        for item in (self.caret, self.dialect, self.encoding):
            self.addPermanentWidget(item)
        self._clear = QTimer(self)
        self._clear.setSingleShot(True)
        self._clear.timeout.connect(lambda: self.message.say(""))
        session.project_changed.connect(self.refresh)
        session.dirty_changed.connect(lambda _dirty: self._say_saved())
        session.diagnostics_changed.connect(self._say_problems)
        session.rendered.connect(lambda _rendering: self._say_saved())
        session.edited.connect(lambda area: self._say_dialect() if area == "template" else None)
        session.parameter_set_changed.connect(lambda _name: self._say_dialect())
        session.caret_words.connect(self.caret.say)
        session.run_started.connect(self._run_started)
        session.run_finished.connect(self._run_finished)
        session.run_failed.connect(self._run_failed)
        session.status.connect(self.say)
        self.refresh()

    def refresh(self) -> None:
        """Show everything anew, for another project."""
        self.caret.say("")
        self.run.say("")
        self.tokens.say("")
        self._say_saved()
        self._say_problems()
        self._say_dialect()

    def say(self, text: str) -> None:
        """Show a message for some seconds."""
        self.message.say(text, "info")
        self._clear.start(MESSAGE_MS)

    def show_counts(self, counts: Any) -> None:
        """Show the estimated number of tokens of the prompt."""
        self.tokens.say(f"about {counted(counts.tokens, 'token')}")

    def _say_saved(self) -> None:
        project = self._session.project
        if project is None:
            self.saved.say("No project open")
        elif self._session.dirty:
            self.saved.say(f"Not saved, revision {project.revision}", "edit", "second")
        else:
            self.saved.say(f"Saved, revision {project.revision}", "passed", "passed")

    def _say_problems(self) -> None:
        if self._session.project is None:
            self.problems.say("")
            return
        found = self._session.diagnostics()
        if not found:
            self.problems.say("no problems", "passed", "passed")
            return
        words = "1 problem" if len(found) == 1 else f"{len(found)} problems"
        worst = found[0].severity
        icon_name, token = {"error": ("warning", "rejected"), "warning": ("warning", "warning")}.get(
            worst, ("info", "second")
        )
        self.problems.say(words, icon_name, token)

    def _say_dialect(self) -> None:
        if self._session.project is None:
            self.dialect.say("")
            self.encoding.say(f"version {__version__}")
            return
        snapshot = self._session.snapshot()
        self.dialect.say(_MARKS[snapshot.template.dialect])
        file = snapshot.parameter_sets.get(self._session.parameter_set or "")
        newline = _NEWLINES[file.newline] if file is not None else "LF"
        self.encoding.say(f"UTF-8{' with BOM' if file is not None and file.bom else ''}, {newline}")

    def _run_started(self, kind: str) -> None:
        self._begun[kind] = time.monotonic()
        self.run.say(doing_words(kind), "clock")
        self.run.setToolTip("")

    def _run_finished(self, kind: str, result: Any) -> None:
        begun = self._begun.pop(kind, None)
        elapsed = None if begun is None else (time.monotonic() - begun) * 1000
        asked = getattr(result, "model_name", "")
        # Checks on a pattern, a length or languages ask nobody.
        model = "no model" if asked is None and kind == "check" else self._model_title(kind, asked or "")
        self.show_run(finished_run(kind, result, model, elapsed, time.time()))

    def _run_failed(self, kind: str, message: str) -> None:
        self._begun.pop(kind, None)
        self.show_run(failed_run(kind, message, self._model_title(kind, ""), time.time()), message)

    def show_run(self, run: LastRun, tip: str = "") -> None:
        """Say what was run last; it stays until another run begins."""
        icon_name = {"passed": "passed", "rejected": "rejected", "warning": "warning"}.get(
            run.status, "clock"
        )
        words = run.words()
        self.run.say(words, icon_name, run.status)
        self.run.setToolTip(tip or words)

    def _model_title(self, kind: str, fallback: str) -> str:
        session = self._session
        try:
            chat = kind in ("translate", "program", "tools", "batch")
            settings = session.chat_settings() if chat else session.decision_settings()
            return model_title(settings) if settings is not None else fallback
        except Exception:  # the model was taken out of the project meanwhile
            return fallback


def _rule() -> QFrame:
    rule = QFrame()
    rule.setFrameShape(QFrame.Shape.VLine)
    fit(rule, height=14)
    rule.setObjectName("status-rule")
    return rule
