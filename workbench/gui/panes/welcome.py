"""The first page: begin, open, go on with a recent project, or try a sample; and what works on this computer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.model_settings import ModelSettings
from workbench.gui.models.figures import counted, format_when
from workbench.gui.shell.scale import fit, px
from workbench.gui.shell.session import Session
from workbench.gui.widgets.cards import ActionCard, FactRow, Frame, ProjectRow, SampleCard
from workbench.gui.widgets.labels import LinkButton, TokenLabel

_ICONS = {"support-triage": "shield", "answer-from-documents": "schema", "table-booking": "braces"}


@dataclass(frozen=True, slots=True)
class SampleFacts:
    """What a sample holds, read from the sample itself."""

    name: str
    title: str
    description: str
    shows: str
    translates: bool


def sample_facts() -> list[SampleFacts]:
    """Return the shipped samples with what each one shows."""
    from workbench.engine.projects import Project, ProjectError, list_samples
    from workbench.engine.resources import resource

    found = []
    for info in list_samples():
        parts, translates = [], False
        try:
            snapshot = Project.load(resource("samples", info.name)).snapshot()
        except (ProjectError, FileNotFoundError):
            snapshot = None
        if snapshot is not None:
            translates = snapshot.output_schema is not None
            inputs, outputs = len(snapshot.input_guardrail.checks), len(snapshot.output_guardrail.checks)
            if inputs:
                parts.append(counted(inputs, "input check"))
            if outputs:
                parts.append(counted(outputs, "output check"))
            if translates:
                parts.append("translation")
            if snapshot.cases:
                parts.append(counted(len(snapshot.cases), "labelled case"))
        found.append(SampleFacts(info.name, info.title, info.description, ", ".join(parts), translates))
    return found


def what_works_here() -> dict[str, str | None]:
    """Return, for `embedded` and `local`, `None` when it works, else the reason why not."""
    from workbench.engine.decisions import decision_model_available
    from workbench.engine.language_models import language_model_available

    return {
        "embedded": decision_model_available(ModelSettings("embedded", "embedded"), None),
        "local": language_model_available(ModelSettings("local", "local"), None),
    }


class WelcomePage(QScrollArea):
    """What there is to do before a project is open. It opens nothing itself: it tells what was asked for."""

    new_requested = Signal()
    open_requested = Signal()
    project_requested = Signal(str)
    sample_requested = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._asked = False
        self.samples: list[SampleCard] = []
        self.recent_rows: list[ProjectRow] = []
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        body = QWidget()
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, body)
        self._columns.setContentsMargins(48, 40, 48, 40)
        self._columns.setSpacing(48)
        self._columns.addStretch(1)
        self._columns.addWidget(self._build_left(), 45)
        self._columns.addWidget(self._build_right(), 75)
        self._columns.addStretch(1)
        self.setWidget(body)
        self.refresh_recent()
        session.settings.changed.connect(self._on_setting)

    def _build_left(self) -> QWidget:
        box = QWidget()
        box.setMaximumWidth(px(470))
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(TokenLabel("Prompt Workbench", size="title", bold=True))
        words = "Write prompts, guard them, and see every attempt. Projects are plain folders on your disk."
        layout.addWidget(TokenLabel(words, "second", wrap=True))
        layout.addSpacing(12)
        self.new_card = ActionCard(
            "plus", "New project…", "a system and a user message, one parameter set", "Ctrl+N"
        )
        self.open_card = ActionCard("open", "Open folder…", "a folder with a workbench.toml", "Ctrl+O")
        self.new_card.clicked.connect(lambda: self.new_requested.emit())
        self.open_card.clicked.connect(lambda: self.open_requested.emit())
        layout.addWidget(self.new_card)
        layout.addWidget(self.open_card)
        layout.addSpacing(20)
        head = QHBoxLayout()
        head.addWidget(TokenLabel("Recent projects", size="section", bold=True), 1)
        self.clear_link = LinkButton("Clear list")
        self.clear_link.clicked.connect(lambda: self._session.settings.forget_recent())
        head.addWidget(self.clear_link)
        layout.addLayout(head)
        self._recent_frame = Frame()
        self._recent_layout = QVBoxLayout(self._recent_frame)
        self._recent_layout.setContentsMargins(1, 1, 1, 1)
        self._recent_layout.setSpacing(0)
        self._no_recent = TokenLabel("Nothing was opened yet.", "second")
        self._no_recent.setContentsMargins(12, 10, 12, 10)
        fit(self._no_recent, height=40)
        self._recent_layout.addWidget(self._no_recent)
        layout.addWidget(self._recent_frame)
        layout.addSpacing(12)
        self.show_box = QCheckBox("Show this page at start")
        self.show_box.setChecked(bool(self._session.settings.get("welcome.show")))
        self.show_box.toggled.connect(lambda on: self._session.settings.set("welcome.show", on))
        layout.addWidget(self.show_box)
        layout.addStretch(1)
        return box

    def _build_right(self) -> QWidget:
        box = QWidget()
        box.setMaximumWidth(px(780))
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        head = QHBoxLayout()
        head.addWidget(TokenLabel("Samples", size="section", bold=True), 1)
        head.addWidget(TokenLabel("Opened as a copy, so nothing here can be spoilt", "second", size="second"))
        layout.addLayout(head)
        layout.addSpacing(4)
        self._sample_grid = QGridLayout()
        self._sample_grid.setSpacing(16)
        self._sample_grid.setColumnStretch(0, 1)
        self._sample_grid.setColumnStretch(1, 1)
        layout.addLayout(self._sample_grid)
        layout.addSpacing(16)
        layout.addWidget(TokenLabel("On this computer", size="section", bold=True))
        layout.addSpacing(4)
        frame = Frame()
        facts = QVBoxLayout(frame)
        facts.setContentsMargins(1, 1, 1, 1)
        facts.setSpacing(0)
        self.embedded_fact = FactRow("Embedded MiniLM", "looking…")
        self.chat_fact = FactRow("Chat model", "looking…")
        facts.addWidget(self.embedded_fact)
        facts.addWidget(self.chat_fact)
        layout.addWidget(frame)
        layout.addStretch(1)
        return box

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Put the two columns, and the samples, below each other where there is no room beside each other."""
        wide = self.viewport().width() >= px(1000)
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if self._columns.direction() != direction:
            self._columns.setDirection(direction)
        across = 2 if self.viewport().width() >= px(700) else 1
        for position, card in enumerate(self.samples):
            self._sample_grid.addWidget(card, position // across, position % across)
        self._sample_grid.setColumnStretch(1, across - 1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._asked:
            # Samples and models are looked at only when somebody sees the page.
            self._asked = True
            self._session.jobs.run_pool(
                lambda: (sample_facts(), what_works_here()),
                on_done=self._show_found,
                on_error=self._show_failure,
                key="welcome",
            )

    def _show_found(self, found: tuple[list[SampleFacts], dict[str, str | None]]) -> None:
        facts, works = found
        for fact in facts:
            card = SampleCard(fact.name, _ICONS.get(fact.name, "file"), fact.title, fact.description)
            card.shows.set_text(f"Shows: {fact.shows}" if fact.shows else "")
            card.open_asked.connect(self.sample_requested)
            if works["embedded"] is not None:
                card.set_needs("error", "checks need a decision model")
            elif fact.translates and works["local"] is not None:
                card.set_needs("passed", "recorded, offline")
            else:
                card.set_needs("passed", "works offline")
            self.samples.append(card)
        self._arrange()
        self._show_works(works)

    def _show_works(self, works: dict[str, str | None]) -> None:
        reason = works["embedded"]
        if reason is None:
            self.embedded_fact.say("passed", "ready for checks, no network, English first")
        else:
            self.embedded_fact.say("error", reason)
        reason = works["local"]
        if reason is None:
            self.chat_fact.say("passed", "SmolLM2 on this computer, demo quality, no network")
        else:
            self.chat_fact.say("no_answer", "none set up; translation samples replay recorded replies")
            self.chat_fact.words.setToolTip(reason)

    def _show_failure(self, error: BaseException) -> None:
        self.embedded_fact.say("error", str(error))
        self.chat_fact.say("error", str(error))

    def _on_setting(self, key: str) -> None:
        if key == "recent":
            self.refresh_recent()
        elif key == "welcome.show":
            self.show_box.setChecked(bool(self._session.settings.get("welcome.show")))

    def refresh_recent(self) -> None:
        """Read the list of recent projects again and look which folders are still there."""
        for row in self.recent_rows:
            self._recent_layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.recent_rows = [self._recent_row(each) for each in self._session.settings.recent()[:8]]
        for row in self.recent_rows:
            self._recent_layout.addWidget(row)
        self._no_recent.setVisible(not self.recent_rows)
        self.clear_link.setEnabled(bool(self.recent_rows))

    def _recent_row(self, each: dict[str, Any]) -> ProjectRow:
        path = Path(each["path"])
        missing = not (path / "workbench.toml").exists()
        opened = each.get("opened")
        when = (
            format_when(datetime.fromtimestamp(opened), datetime.now())
            if isinstance(opened, int | float)
            else ""
        )
        row = ProjectRow(str(each.get("name") or path.name), _home_short(path), when, missing)
        row.clicked.connect(lambda: self._open_recent(str(path), missing))
        row.forget_asked.connect(lambda: self._session.settings.forget_recent(str(path)))
        return row

    def _open_recent(self, path: str, missing: bool) -> None:
        if missing and not (Path(path) / "workbench.toml").exists():
            self._session.status.emit(f"There is no project in {path} any more.")
            return
        self.project_requested.emit(path)


def _home_short(path: Path) -> str:
    try:
        return f"~/{path.relative_to(Path.home())}"
    except ValueError:
        return str(path)
