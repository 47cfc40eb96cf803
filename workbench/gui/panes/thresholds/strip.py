"""The strip above the lab: which stage, how the run is doing, and how fast it may go."""

from __future__ import annotations

import time

from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFormLayout,
    QMenu,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from workbench.gui.jobs import STOPPED
from workbench.gui.models.cases_columns import ERROR, NO_ANSWER, REFUSED
from workbench.gui.models.figures import counted, format_left, grouped, joined
from workbench.gui.models.model_title import model_title
from workbench.gui.panes.thresholds.lab import Lab
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.labels import SegmentedControl, StatusMark, Strip, TokenLabel


class RunStrip(Strip):
    """Stage, progress and the buttons of the run."""

    def __init__(self, lab: Lab, parent: QWidget | None = None) -> None:
        super().__init__(40, "window", parent)
        self._lab = lab
        self.stage_switch = SegmentedControl({"input": "Input", "output": "Output"})
        self.mark = StatusMark("idle", 16)
        self.words = TokenLabel("", bold=True)
        self.counts = TokenLabel("", "second", elide=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Cases done")
        self.percent = TokenLabel("", monospace=True)
        self.time_left = TokenLabel("", "second")
        self.speed = TokenLabel("", "second")
        self.limits = SpeedButton()
        self.run_button = QPushButton("Run on all cases")
        set_icon(self.run_button, "play")
        self.run_button.setToolTip(
            "Asks only what has no current answer; a stopped run goes on where it ended"
        )
        self.stop_button = QPushButton("Stop")
        set_icon(self.stop_button, "stop")
        for widget in (self.stage_switch, self.mark, self.words):
            self.row.addWidget(widget)
        self.row.addWidget(self.counts, 2)
        self.row.addWidget(self.bar, 3)
        for widget in (
            self.percent, self.time_left, self.speed, self.limits, self.run_button, self.stop_button
        ):  # fmt: skip
            self.row.addWidget(widget)
        self.stage_switch.chosen.connect(lab.show_stage)
        self.run_button.clicked.connect(self.run)
        self.stop_button.clicked.connect(lab.stop)
        lab.progress_changed.connect(lambda: lab.slices.later("strip", self.refresh))

    def run(self) -> None:
        """Run the checks on all cases, as fast as the limits allow."""
        self._lab.run(self.limits.concurrency.value(), self.limits.rate.value() or None)

    def refresh(self) -> None:
        """Say how things stand."""
        lab = self._lab
        here = len(lab.columns)
        elsewhere = max(0, len(lab.session.snapshot().cases) - here)
        for stage in ("input", "output"):
            number = here if stage == lab.stage else elsewhere
            self.stage_switch.set_text(stage, f"{stage.title()} {grouped(number)}")
        self.stage_switch.choose(lab.stage)
        running = lab.running()
        for widget in (self.bar, self.percent, self.time_left, self.speed):
            widget.setVisible(running)
        self.run_button.setVisible(not running)
        self.stop_button.setVisible(running)
        self.limits.setEnabled(not running)
        problem = lab.loaded.problem if lab.loaded is not None else ""
        self.run_button.setEnabled(bool(len(lab.columns) and lab.guardrail.checks) and not problem)
        if running:
            self._show_running()
        else:
            self._show_rest(problem)

    def _show_running(self) -> None:
        lab, progress = self._lab, self._lab.progress
        total = len(lab.columns)
        done = 0
        if progress is not None:
            done, total = progress.done, progress.total or total
        self.mark.set_status("queued")
        self.words.set_text(
            f"Running {counted(len(lab.guardrail.checks), 'check')} on {counted(total, 'case')}"
        )
        parts = [f"{grouped(done)} done"]
        if progress is not None and progress.kept:
            parts.append(f"{grouped(progress.kept)} kept from before")
        parts += self._odd_answers()
        self.counts.set_text(", ".join(parts))
        self.bar.setRange(0, max(1, total))
        self.bar.setValue(done)
        self.percent.set_text(f"{round(100 * done / total) if total else 0} %")
        left = progress.remaining_s if progress is not None else None
        self.time_left.set_text(f"about {format_left(left)} left" if left is not None else "")
        elapsed = time.monotonic() - lab.begun
        asked = progress.asked if progress is not None else 0
        self.speed.set_text(f"{asked / elapsed:.1f} cases a second" if asked and elapsed > 0.5 else "")

    def _odd_answers(self) -> list[str]:
        """Return how many answers are refused or failed; they are kept and counted, never dropped."""
        columns = self._lab.columns
        refused, silent = columns.count(REFUSED), columns.count(NO_ANSWER)
        errors = columns.count(ERROR)
        parts = []
        if refused:
            parts.append(f"{grouped(refused)} refused")
        if silent:
            parts.append(f"{grouped(silent)} without answer")
        if errors:
            parts.append(counted(errors, "error"))
        return parts

    def _show_rest(self, problem: str) -> None:
        lab = self._lab
        columns, total = lab.columns, len(lab.columns)
        answered, stale = columns.answered(), columns.stale()
        if lab.failure and lab.failure != STOPPED:
            self._say("error", "The run failed", lab.failure)
        elif problem:
            self._say("error", "The decision model cannot be used", problem)
        elif not total or not lab.guardrail.checks:
            missing = "cases" if lab.guardrail.checks else "checks"
            hint = (
                "add some below, or import them from a CSV file"
                if missing == "cases"
                else "add one in the pane Guardrails; then label cases here and run it on them"
            )
            self._say("idle", f"No {lab.stage} {missing}", hint)
        elif lab.failure == STOPPED:
            complete = columns.complete()
            rest = (
                f"{grouped(complete)} of {counted(total, 'case')} answered; running again goes on from there"
            )
            self._say("no_answer", "Stopped", rest)
        elif lab.loading and not answered and not stale:
            reading = counted(lab.reading, "answer") if lab.reading else "stored answers"
            self._say("queued", f"Reading {reading}…", f"of {counted(total, 'case')}")
        elif not answered:
            words = [part for part in (self._large_words(), self._stale_words(stale)) if part]
            self._say("idle", f"{counted(total, 'case')}, not run yet", "; ".join(words))
        else:
            self._show_answered(answered, stale, total)

    def _large_words(self) -> str:
        project = self._lab.session.project
        return "" if project is None or project.large_cases is None else project.large_cases.words()

    def _show_answered(self, answered: int, stale: int, total: int) -> None:
        columns = self._lab.columns
        versions = columns.versions()
        complete = columns.complete()
        parts = [f"by {joined(versions)}" if versions else model_title(self._lab.session.decision_settings())]
        parts += self._odd_answers()
        if stale:
            parts.append(self._stale_words(stale))
        parts.append(self._large_words() or "moving a threshold asks no model")
        whole = not stale and complete == total
        head = f"{grouped(answered)} of {counted(total, 'case')} answered"
        self._say("passed" if whole else "stale", head, ", ".join(parts))

    def _stale_words(self, stale: int) -> str:
        if not stale:
            return ""
        reasons = joined(self._lab.columns.stale_reasons())
        return f"{counted(stale, 'answer')} out of date ({reasons})"

    def _say(self, status: str, words: str, counts: str) -> None:
        self.mark.set_status(status)
        self.words.set_text(words)
        self.counts.set_text(counts)
        self.counts.setToolTip(counts)


class SpeedButton(QToolButton):
    """How many calls may be under way, and how many a second: a small form behind a button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.concurrency = QSpinBox()
        self.concurrency.setRange(1, 64)
        self.concurrency.setValue(4)
        self.concurrency.setAccessibleName("Calls at the same time")
        self.rate = QDoubleSpinBox()
        self.rate.setRange(0.0, 1000.0)
        self.rate.setDecimals(1)
        self.rate.setSpecialValueText("no limit")
        self.rate.setAccessibleName("Calls a second")
        self.rate.setToolTip("0 sets no limit")
        form = QWidget()
        layout = QFormLayout(form)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.addRow("Calls at the same time", self.concurrency)
        layout.addRow("Calls a second, at most", self.rate)
        menu = QMenu(self)
        action = QWidgetAction(menu)
        action.setDefaultWidget(form)
        menu.addAction(action)
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        set_icon(self, "sliders")
        self.setAccessibleName("How fast the run may ask")
        self.setToolTip("How fast the run may ask: calls at the same time and calls a second")
