"""The threshold lab: runs the checks on labelled cases and shows what each threshold would do with them."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDoubleSpinBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSplitter,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings, Stage
from workbench.gui.delegates.probability import ProbabilityDelegate
from workbench.gui.delegates.words import MonoDelegate, StatusDelegate, TextDelegate
from workbench.gui.models.cases import (
    CELLS,
    ID,
    LABEL,
    NOTE,
    OUTCOME,
    PROBABILITY,
    TEXT,
    TIME,
    CaseTableModel,
)
from workbench.gui.models.figures import counted, format_left, format_threshold
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session, model_title
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.check_row import ThresholdSpin
from workbench.gui.widgets.confusion import ConfusionMatrix
from workbench.gui.widgets.labels import (
    Ground,
    LinkButton,
    SectionHead,
    SegmentedControl,
    StatusMark,
    Strip,
    TokenLabel,
    column,
)

if TYPE_CHECKING:
    from workbench.engine.evaluation import Progress, ResultRow
    from workbench.engine.evaluation.cases import Case
    from workbench.engine.projects.snapshot import ProjectSnapshot

BINS = 20
FEW_CASES = 30
ROUGH_BELOW = "Below 30, every figure is a rough guess. Label more before you trust a threshold."
_FLUSH_MS = 120

Answers = dict[tuple[str, str], "ResultRow"]


@dataclass(frozen=True, slots=True)
class Scores:
    """The labelled answers to one check: probabilities and labels of equal length, and what could not be scored."""

    p: list[float]
    y: list[bool]
    refused: int = 0
    errors: int = 0

    @property
    def positives(self) -> int:
        """Number of cases labelled yes."""
        return sum(self.y)


def scores_of(cases: Sequence[Case], answers: Answers, check: str) -> Scores:
    """Collect the labelled answers to `check`; what was refused or failed is counted, never a number."""
    p, y, refused, errors = [], [], 0, 0
    for case in cases:
        answer, label = answers.get((case.id, check)), case.labels.get(check)
        if answer is None:
            continue
        if answer.probability is None:
            refused += answer.status == "refused"
            errors += answer.status != "refused"
        elif label is not None:
            p.append(answer.probability)
            y.append(label)
    return Scores(p, y, refused, errors)


class ThresholdsPane(QWidget):
    """Checks, pictures, confusion matrix, suggestions and cases of one stage."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._stage: Stage = "input"
        self._cases: list[Case] = []
        self._guardrail = GuardrailSettings()
        self._answers: Answers = {}
        self._stale = 0
        self._check: str | None = None
        self._plots_ready = False
        self._run: Any = None
        self._fresh: list[ResultRow] = []
        self._latest: Progress | None = None
        self._flush = QTimer(self)
        self._flush.setSingleShot(True)
        self._flush.setInterval(_FLUSH_MS)
        self._flush.timeout.connect(self._take_fresh)
        self._build()
        self._connect()

    # Building

    def _build(self) -> None:
        self.table_model = CaseTableModel(self)
        top = QSplitter(Qt.Orientation.Horizontal)
        top.addWidget(self._build_checks())
        top.addWidget(self._build_middle())
        top.addWidget(self._build_right())
        top.setSizes([250, 780, 400])
        top.setStretchFactor(1, 1)
        body = QSplitter(Qt.Orientation.Vertical)
        body.addWidget(top)
        body.addWidget(self._build_cases())
        body.setSizes([510, 240])
        for splitter in (top, body):
            splitter.setHandleWidth(1)
            splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._build_progress())
        layout.addWidget(body, 1)

    def _build_progress(self) -> QWidget:
        strip = Strip(40, "window")
        self.stage_switch = SegmentedControl({"input": "Input", "output": "Output"})
        self.progress_mark = StatusMark("idle", 16)
        self.progress_words = TokenLabel("", bold=True)
        self.progress_counts = TokenLabel("", "second", elide=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Cases done")
        self.percent = TokenLabel("", monospace=True)
        self.time_left = TokenLabel("", "second")
        self.run_button = QPushButton("Run on all cases")
        set_icon(self.run_button, "play")
        self.stop_button = QPushButton("Stop")
        set_icon(self.stop_button, "stop")
        for widget in (self.stage_switch, self.progress_mark, self.progress_words):
            strip.row.addWidget(widget)
        strip.row.addWidget(self.progress_counts, 2)
        strip.row.addWidget(self.bar, 3)
        for widget in (self.percent, self.time_left, self.run_button, self.stop_button):
            strip.row.addWidget(widget)
        return strip

    def _build_checks(self) -> QWidget:
        self.checks = QTableWidget(0, 3)
        self.checks.setHorizontalHeaderLabels(["Check", "t", "AUC"])
        _plain_table(self.checks, "Checks", 42)
        for column_ in (1, 2):
            self.checks.setItemDelegateForColumn(column_, MonoDelegate(self.checks, padding=8))
        self.checks.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.checks.setColumnWidth(1, 52)
        self.checks.setColumnWidth(2, 52)
        self.union = TokenLabel("", "second", size="second", wrap=True)
        self.warning = TokenLabel("", "warning", size="second", wrap=True)
        notes = Ground()
        layout = QVBoxLayout(notes)
        layout.setContentsMargins(12, 10, 12, 10)
        layout.setSpacing(8)
        layout.addWidget(TokenLabel("All together", bold=True))
        layout.addWidget(self.union)
        layout.addWidget(self.warning)
        layout.addStretch(1)
        self.check_head = SectionHead("Checks")
        box = column(self.check_head, self.checks)
        box_layout = box.layout()
        assert box_layout is not None
        box_layout.addWidget(notes)
        box.setMinimumWidth(210)
        return box

    def _build_middle(self) -> QWidget:
        self.spin = ThresholdSpin()
        self.spin.setAccessibleName("Threshold of the chosen check")
        self.histogram_head = SectionHead("Probabilities by label")
        self.histogram_head.add(TokenLabel("Threshold", "second", size="second"))
        self.histogram_head.add(self.spin)
        self._histogram_box = column(self.histogram_head)
        self.curve_tabs = QTabWidget()
        self.curve_tabs.setDocumentMode(True)
        self.reliability_head = SectionHead("Reliability")
        self._reliability_box = column(self.reliability_head)
        below = QSplitter(Qt.Orientation.Horizontal)
        below.addWidget(self.curve_tabs)
        below.addWidget(self._reliability_box)
        below.setSizes([400, 380])
        middle = QSplitter(Qt.Orientation.Vertical)
        middle.addWidget(self._histogram_box)
        middle.addWidget(below)
        middle.setSizes([240, 260])
        for splitter in (below, middle):
            splitter.setHandleWidth(1)
            splitter.setChildrenCollapsible(False)
        return middle

    def _build_right(self) -> QWidget:
        self.matrix_head = SectionHead("At threshold")
        self.matrix = ConfusionMatrix()
        self.suggestions_head = SectionHead("Suggestions")
        self.suggestions = [
            SuggestionRow("recall", "Recall at least", 0.95, 0.01, 1.0),
            SuggestionRow("cost", "A miss costs", 2.0, 0.1, 1000.0, "false alarms"),
            SuggestionRow("conformal_recall", "Miss at most", 0.05, 0.001, 0.5, "of new yes"),
        ]
        box = Ground()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.matrix_head, self.matrix, self.suggestions_head, *self.suggestions):
            layout.addWidget(widget)
        layout.addStretch(1)
        box.setMinimumWidth(300)
        return box

    def _build_cases(self) -> QWidget:
        self.case_head = SectionHead("Cases")
        self.filter_link = LinkButton("")
        self.filter_link.setToolTip("Show all cases again")
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search cases")
        self.search.setAccessibleName("Search cases")
        self.search.setClearButtonEnabled(True)
        self.search.setMaximumWidth(220)
        picture = QAction(self.search)
        set_icon(picture, "search", "second")
        self.search.addAction(picture, QLineEdit.ActionPosition.LeadingPosition)
        self.case_head.add(self.filter_link)
        self.case_head.add(self.search)
        self.table = QTableView()
        self.table.setModel(self.table_model)
        _plain_table(self.table, "Labelled cases", 24)
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(ID, Qt.SortOrder.AscendingOrder)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        for column_, width in ((ID, 92), (LABEL, 70), (PROBABILITY, 150), (OUTCOME, 140), (NOTE, 190), (TIME, 80)):
            self.table.setColumnWidth(column_, width)
        self.table.setItemDelegateForColumn(ID, MonoDelegate(self.table, second=True))
        self.table.setItemDelegateForColumn(PROBABILITY, ProbabilityDelegate(self.table))
        self.table.setItemDelegateForColumn(OUTCOME, StatusDelegate(int(CaseTableModel.StatusRole), self.table))
        self.table.setItemDelegateForColumn(TIME, MonoDelegate(self.table, second=True))
        return column(self.case_head, self.table)

    def _connect(self) -> None:
        session = self._session
        session.project_changed.connect(self._on_project)
        session.edited.connect(self._on_edited)
        session.models_changed.connect(self._show_progress)
        session.run_failed.connect(self._on_stopped)
        session.reveal.connect(self._on_reveal)
        self.stage_switch.chosen.connect(self.show_stage)
        self.run_button.clicked.connect(self.run_cases)
        self.stop_button.clicked.connect(lambda: session.stop("evaluate"))
        self.checks.currentCellChanged.connect(lambda row, *_: self._check_chosen(row))
        self.spin.valueChanged.connect(self.apply_threshold)
        self.matrix.chosen.connect(self._cell_chosen)
        self.search.textChanged.connect(lambda _text: self._filter())
        self.filter_link.clicked.connect(self.clear_filter)
        for row in self.suggestions:
            row.changed.connect(self._suggest)
            row.applied.connect(self.apply_threshold)
        self._suggest_pause = QTimer(self)
        self._suggest_pause.setSingleShot(True)
        self._suggest_pause.setInterval(250)
        self._suggest_pause.timeout.connect(self._ask_suggestions)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._plots_ready:
            self._make_plots()
            self._on_project()

    def _make_plots(self) -> None:
        """Make the pictures when the pane is first seen; their library costs a quarter of a second to import."""
        from workbench.gui.widgets.plots import CurvesPlot, HistogramPlot, ReliabilityPlot

        self.histogram = HistogramPlot()
        self.histogram.moved.connect(self.preview_threshold)
        self.histogram.chosen.connect(self.apply_threshold)
        self.curves = CurvesPlot("threshold", line=True)
        self.roc = CurvesPlot("false-positive rate")
        self.precision_recall = CurvesPlot("recall")
        self.reliability = ReliabilityPlot()
        self._histogram_box.layout().addWidget(self.histogram, 1)  # type: ignore[union-attr]
        self._reliability_box.layout().addWidget(self.reliability, 1)  # type: ignore[union-attr]
        for plot, title in (
            (self.curves, "Against threshold"),
            (self.roc, "ROC"),
            (self.precision_recall, "Precision and recall"),
        ):
            self.curve_tabs.addTab(plot, title)
        self._plots_ready = True

    # The project

    def _on_project(self) -> None:
        self._answers, self._stale, self._check = {}, 0, None
        self.matrix.choose(None)
        if not self._plots_ready:
            return
        self._read_snapshot()
        self._load_results()
        self._show_all()

    def _read_snapshot(self) -> None:
        snapshot = self._session.snapshot()
        self._guardrail = snapshot.guardrail(self._stage)
        self._cases = [case for case in snapshot.cases if case.stage == self._stage]
        for stage in ("input", "output"):
            number = sum(case.stage == stage for case in snapshot.cases)
            self.stage_switch.set_text(stage, f"{stage.title()} {number}")
        names = [check.name for check in self._guardrail.checks]
        if self._check not in names:
            self._check = names[0] if names else None
        self.setEnabled(self._session.project is not None)

    def _on_edited(self, area: str) -> None:
        if not self._plots_ready or area not in ("guardrails", "cases"):
            return
        before = self._guardrail
        self._read_snapshot()
        if area == "cases" or _wording(before) != _wording(self._guardrail):
            self._load_results()
        self._show_all()

    def show_stage(self, stage: Stage | str) -> None:
        """Show the cases and checks of a stage."""
        self._stage = "output" if stage == "output" else "input"
        self.stage_switch.choose(self._stage)
        self._on_project()

    def _on_reveal(self, place: Place) -> None:
        if place.area == "cases" and place.name:
            for row in range(self.table_model.rowCount()):
                if self.table_model.case(row).id == place.name:
                    self.table.selectRow(row)
                    self.table.scrollTo(self.table_model.index(row, 0))

    def results_path(self) -> Path | None:
        """Return where answers are kept, so that a stopped run goes on and nothing is asked twice."""
        root = self._session.snapshot().root
        return root / ".workbench" / f"results-{self._stage}.jsonl" if root is not None else None

    def _load_results(self) -> None:
        path = self.results_path()
        if path is None or not path.exists():
            self._answers, self._stale = {}, 0
            return
        from workbench.engine.evaluation.rows import ResultsFile, usable

        stored = ResultsFile(path).read()
        self._answers, self._stale = {}, 0
        for case in self._cases:
            for check in self._guardrail.checks:
                row = stored.get((case.id, check.name))
                if usable(row, case, check, None):
                    self._answers[case.id, check.name] = row  # type: ignore[assignment]
                elif row is not None and row.settled:
                    self._stale += 1

    # Running

    def run_cases(self) -> None:
        """Run all checks on all cases of the stage as a job of kind `evaluate`; answers that are still good are kept."""
        if not self._cases or not self._guardrail.checks or "evaluate" in self._session.running():
            return
        snapshot, stage, cases, path = self._session.snapshot(), self._stage, list(self._cases), self.results_path()
        settings, history, secrets = self._session.decision_settings(), self._session.history, self._session.secrets
        post = self._session.jobs.post
        self._fresh, self._latest = [], None

        async def run() -> int:
            return await _evaluate(
                snapshot, stage, cases, settings, path, history, secrets,
                lambda rows, progress: post(self._arrived, rows, progress),
            )  # fmt: skip

        self._session.begin_run("evaluate")
        self._session.jobs.run_async(run, self._run_done, self._run_failed, key="evaluate")
        self._show_progress()

    def _arrived(self, rows: list[ResultRow], progress: Progress | None) -> None:
        self._fresh += rows
        if progress is not None:
            self._latest = progress
        if not self._flush.isActive():
            self._flush.start()

    def _take_fresh(self) -> None:
        for row in self._fresh:
            self._answers[row.case, row.check] = row
        if self._fresh:
            self._fresh = []
            self.table_model.answers_arrived()
            self._show_check()
        self._show_progress()

    def _run_done(self, count: int) -> None:
        self._flush.stop()
        self._take_fresh()
        self._session.end_run("evaluate", count)
        self._session.history_changed.emit()
        self._load_results()
        self._show_all()

    def _run_failed(self, error: BaseException) -> None:
        self._flush.stop()
        self._take_fresh()
        self._session.end_run("evaluate", failure=str(error))
        self._session.history_changed.emit()

    def _on_stopped(self, kind: str, message: str) -> None:
        if kind == "evaluate":
            self._take_fresh()
            self._show_progress(message)

    def _show_progress(self, failure: str = "") -> None:
        running = "evaluate" in self._session.running()
        checks, cases = len(self._guardrail.checks), len(self._cases)
        for widget in (self.bar, self.percent, self.time_left):
            widget.setVisible(running)
        self.run_button.setEnabled(not running and bool(checks and cases))
        self.stop_button.setEnabled(running)
        progress = self._latest
        if running:
            self.progress_mark.set_status("queued")
            self.progress_words.set_text(f"Running {counted(checks, 'check')} on {counted(cases, 'case')}")
            done, total = (progress.done, progress.total or cases) if progress is not None else (0, cases)
            self.progress_counts.set_text(f"{done} done" + (f", {progress.failed} failed" if progress and progress.failed else ""))
            self.bar.setRange(0, total)
            self.bar.setValue(done)
            self.percent.set_text(f"{round(100 * done / total) if total else 0} %")
            left = progress.remaining_s if progress is not None else None
            self.time_left.set_text(f"about {format_left(left)} left" if left is not None else "")
            return
        self._show_rest(failure, checks, cases)

    def _show_rest(self, failure: str, checks: int, cases: int) -> None:
        answered = len({case for case, _check in self._answers})
        self.progress_counts.set_text("")
        if failure:
            self.progress_mark.set_status("no_answer" if failure == "stopped by you" else "error")
            self.progress_words.set_text("Stopped" if failure == "stopped by you" else "The run failed")
            detail = f"{answered} of {counted(cases, 'case')} answered; running again goes on from there"
            self.progress_counts.set_text(detail if failure == "stopped by you" else failure)
        elif not cases or not checks:
            self.progress_mark.set_status("idle")
            self.progress_words.set_text(f"No labelled {self._stage} cases" if checks else f"No {self._stage} checks")
        elif not answered:
            self.progress_mark.set_status("idle")
            self.progress_words.set_text(f"{counted(cases, 'case')}, not run yet")
            if self._stale:
                self.progress_counts.set_text(f"{counted(self._stale, 'stored answer')} belong to an older wording or text")
        else:
            versions = sorted({row.model for row in self._answers.values() if row.model})
            self.progress_mark.set_status("stale" if self._stale or answered < cases else "passed")
            self.progress_words.set_text(f"{answered} of {counted(cases, 'case')} answered")
            parts = [f"by {', '.join(versions)}" if versions else model_title(self._session.decision_settings())]
            if self._stale:
                parts.append(f"{counted(self._stale, 'answer')} out of date")
            parts.append("moving a threshold asks no model")
            self.progress_counts.set_text(", ".join(parts))

    # What is shown

    def check(self) -> CheckSettings | None:
        """Return the chosen check."""
        return next((check for check in self._guardrail.checks if check.name == self._check), None)

    def threshold(self) -> float:
        """Return the threshold of the chosen check."""
        check = self.check()
        return self._guardrail.threshold_of(check) if check is not None else self._guardrail.threshold

    def choose_check(self, name: str) -> None:
        """Choose a check."""
        for row, check in enumerate(self._guardrail.checks):
            if check.name == name:
                self.checks.setCurrentCell(row, 0)

    def _show_all(self) -> None:
        self._show_checks()
        self._show_cases()
        self._show_check()
        self._show_progress()

    def _show_checks(self) -> None:
        from workbench.engine.evaluation.metrics import auc

        blocked = self.checks.blockSignals(True)
        checks = self._guardrail.checks
        self.checks.setRowCount(len(checks))
        few = []
        for row, check in enumerate(checks):
            scores = scores_of(self._cases, self._answers, check.name)
            yes = sum(1 for case in self._cases if case.labels.get(check.name) is True)
            if yes < FEW_CASES:
                few.append((check.name, yes))
            area = auc(scores.p, scores.y)
            own = "own" if check.threshold is not None else "default"
            words = f"{check.name}\n{yes} yes, threshold {own}"
            for column_, text in enumerate(
                (words, format_threshold(self._guardrail.threshold_of(check)), "–" if area is None else f"{area:.2f}")
            ):
                item = QTableWidgetItem(text)
                if column_:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                else:
                    item.setToolTip(check.question)
                self.checks.setItem(row, column_, item)
            if check.name == self._check:
                self.checks.setCurrentCell(row, 0)
        self.checks.blockSignals(blocked)
        chosen = [yes for name, yes in few if name == self._check]
        self.warning.set_text(
            f"{self._check} has {counted(chosen[0], 'yes case')}. {ROUGH_BELOW}" if chosen and self._cases else ""
        )
        self._show_union()

    def _show_union(self) -> None:
        """Say what all checks do together: any failed check rejects, so false alarms add up."""
        checks = self._guardrail.checks
        good = bad = blocked = caught = 0
        for case in self._cases:
            answers = [self._answers.get((case.id, check.name)) for check in checks]
            if not case.labels or any(answer is None for answer in answers):
                continue
            flagged = any(
                answer is not None
                and (answer.probability is None or answer.probability >= self._guardrail.threshold_of(check))
                for answer, check in zip(answers, checks, strict=True)
            )
            if any(case.labels.values()):
                bad, caught = bad + 1, caught + flagged
            else:
                good, blocked = good + 1, blocked + flagged
        if not good and not bad:
            self.union.set_text("Any failed check rejects, so false alarms add up.")
            return
        parts = ["Any failed check rejects, so false alarms add up."]
        if good:
            parts.append(f"Good messages blocked: {blocked / good:.1%}.")
        if bad:
            parts.append(f"Bad messages caught: {caught / bad:.1%}.")
        self.union.set_text(" ".join(parts))

    def _check_chosen(self, row: int) -> None:
        if 0 <= row < len(self._guardrail.checks):
            self._check = self._guardrail.checks[row].name
            self.matrix.choose(None)
            self._show_checks()
            self._show_cases()
            self._show_check()

    def _show_cases(self) -> None:
        self.table_model.set_cases(self._cases, self._answers, self._check or "", self.threshold())
        self._filter()

    def _show_check(self) -> None:
        from workbench.engine.evaluation import metrics

        check = self._check or ""
        scores = scores_of(self._cases, self._answers, check)
        self.histogram_head.title.set_text(f"Probabilities by label: {check}" if check else "Probabilities by label")
        left = f"{scores.positives} yes hatched upwards, {len(scores.y) - scores.positives} no filled downwards"
        lost = [f"{scores.refused} refused" if scores.refused else "", f"{scores.errors} without answer" if scores.errors else ""]
        self.histogram_head.note.set_text(", ".join(part for part in (left, *lost) if part) if scores.p else "")
        self.histogram.set_histogram(metrics.histogram(scores.p, scores.y, BINS) if scores.p else None)
        self._show_curves(scores)
        self.reliability.set_bins(metrics.reliability(scores.p, scores.y) if scores.p else [])
        error, brier = metrics.ece(scores.p, scores.y), metrics.brier(scores.p, scores.y)
        self.reliability_head.note.set_text(
            f"ECE {error:.3f}, 10 bins   Brier {brier:.3f}" if error is not None and brier is not None else ""
        )
        self._show_threshold(self.threshold(), scores)
        self._suggest()

    def _show_curves(self, scores: Scores) -> None:
        from workbench.engine.evaluation import metrics

        one_class = "" if not scores.p else "All labels are the same: there is no such curve."
        why = one_class or "No labelled answers yet."
        if scores.p:
            curve = metrics.threshold_curve(scores.p, scores.y)
            x = [float(t) for t in curve.thresholds]
            style = Qt.PenStyle
            self.curves.set_curves(
                [
                    ("precision", x, [float(v) for v in curve.precision], "accent", style.SolidLine, True),
                    ("recall", x, [float(v) for v in curve.recall], "passed", style.DashLine, True),
                    ("FPR", x, [float(v) for v in curve.fpr], "rejected", style.DotLine, True),
                ]
            )
        else:
            self.curves.set_curves([], why)
        roc = metrics.roc_points(scores.p, scores.y) if scores.p else None
        pr = metrics.pr_points(scores.p, scores.y) if scores.p else None
        solid, dash = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine
        area, average = metrics.auc(scores.p, scores.y), metrics.average_precision(scores.p, scores.y)
        if roc is None:
            self.roc.set_curves([], why)
        else:
            self.roc.set_curves(
                [
                    (f"ROC, AUC {area:.3f}", [float(v) for v in roc[0]], [float(v) for v in roc[1]], "accent", solid, False),
                    ("chance", [0.0, 1.0], [0.0, 1.0], "second", dash, False),
                ]
            )
        if pr is None:
            self.precision_recall.set_curves([], why)
        else:
            rate = scores.positives / len(scores.y)
            self.precision_recall.set_curves(
                [
                    (f"AP {average:.3f}", [float(v) for v in pr[0]], [float(v) for v in pr[1]], "accent", solid, False),
                    ("base rate", [0.0, 1.0], [rate, rate], "second", dash, False),
                ]
            )

    def _show_threshold(self, threshold: float, scores: Scores | None = None) -> None:
        from workbench.engine.evaluation.metrics import confusion

        if scores is None:
            scores = scores_of(self._cases, self._answers, self._check or "")
        self.spin.set_quietly(threshold)
        self.histogram.set_threshold(threshold)
        self.curves.set_threshold(threshold)
        counts = confusion(scores.p, scores.y, threshold)
        self.matrix.show_counts(counts.tp, counts.fn, counts.fp, counts.tn)
        self.matrix_head.title.set_text(f"At threshold {format_threshold(threshold)}")
        f1, precision = counts.f1, counts.precision
        words = [f"precision {precision:.2f}" if precision is not None else "precision undefined"]
        if f1 is not None:
            words.append(f"F1 {f1:.2f}")
        self.matrix_head.note.set_text(", ".join(words) if scores.p else "")
        self.table_model.set_threshold(threshold)
        self._show_case_count()

    def preview_threshold(self, threshold: float) -> None:
        """Show what a threshold would do while it is dragged; the project is not touched."""
        self._show_threshold(threshold)

    def apply_threshold(self, threshold: float) -> None:
        """Write a threshold for the chosen check into the project; undoable."""
        if self._check is not None and self._session.project is not None:
            self._session.set_threshold(self._stage, self._check, threshold)
            self._show_threshold(self.threshold())

    def _cell_chosen(self, cell: str) -> None:
        self._filter()

    def clear_filter(self) -> None:
        """Show all cases again."""
        self.matrix.choose(None)
        self.search.clear()
        self._filter()

    def _filter(self) -> None:
        self.table_model.set_filter(self.matrix.current(), self.search.text())
        cell = self.matrix.current()
        self.filter_link.setText(f"{CELLS[cell]}  ×" if cell else "")
        self.filter_link.setAccessibleName(f"Remove the filter {CELLS[cell]}" if cell else "")
        self.filter_link.setVisible(cell is not None)
        self.filter_link.updateGeometry()
        self._show_case_count()

    def _show_case_count(self) -> None:
        shown, total = self.table_model.rowCount(), self.table_model.total()
        words = f"{shown} of {total}" if shown != total else str(total)
        self.case_head.title.set_text(f"Cases  {words}")

    # Suggestions

    def _suggest(self) -> None:
        if not self._suggest_pause.isActive():
            self._suggest_pause.start()

    def _ask_suggestions(self) -> None:
        """Work out the suggestions as a job; their figures come from a bootstrap and take a moment."""
        if not self._plots_ready or self._session.project is None:
            return
        scores = scores_of(self._cases, self._answers, self._check or "")
        scored, total = len(scores.p), len(self._cases)
        self.suggestions_head.note.set_text(f"from {scored} of {total} cases")
        wishes = [(row.kind, row.target()) for row in self.suggestions]
        self._session.jobs.run_pool(
            _suggest_all, scores, wishes,
            on_done=self._suggested,
            on_error=lambda error: self._session.status.emit(f"Suggestions: {error}"),
            key="suggest",
        )  # fmt: skip

    def _suggested(self, found: list[Any]) -> None:
        for row, suggestion in zip(self.suggestions, found, strict=True):
            row.show_suggestion(suggestion)


class SuggestionRow(QWidget):
    """One rule for choosing a threshold: its target, what it gives, and what that is worth on cases it did not see."""

    changed = Signal()
    applied = Signal(float)

    def __init__(
        self, kind: str, words: str, target: float, low: float, high: float, after: str = "",
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.kind = kind
        self._threshold: float | None = None
        self.spin = QDoubleSpinBox()
        self.spin.setRange(low, high)
        self.spin.setDecimals(2 if high <= 1 else 1)
        self.spin.setSingleStep(0.01 if high <= 1 else 0.5)
        self.spin.setValue(target)
        self.spin.setKeyboardTracking(False)
        self.spin.setAccessibleName(words)
        self.spin.setFixedWidth(66)
        self.result = TokenLabel("–", monospace=True, size="section", align=Qt.AlignmentFlag.AlignRight)
        self.result.setFixedWidth(52)
        self.button = QPushButton("Apply")
        self.button.setAccessibleName(f"Apply: {words}")
        self.button.setEnabled(False)
        self.figures = TokenLabel("", "second", size="second", elide=True)
        line = QHBoxLayout()
        line.setSpacing(6)
        line.addWidget(TokenLabel(words, bold=True))
        line.addWidget(self.spin)
        if after:
            line.addWidget(TokenLabel(after, bold=True, elide=True), 1)
        else:
            line.addStretch(1)
        line.addWidget(self.result)
        line.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(4)
        layout.addLayout(line)
        layout.addWidget(self.figures)
        self.spin.valueChanged.connect(lambda _value: self.changed.emit())
        self.button.clicked.connect(self._apply)

    def target(self) -> float:
        """Return the target asked for."""
        return float(self.spin.value())

    def _apply(self) -> None:
        if self._threshold is not None:
            self.applied.emit(self._threshold)

    def show_suggestion(self, suggestion: Any) -> None:
        """Show a suggestion of the engine, or why there is none."""
        # A stored threshold has at most four decimals; rounding down keeps the promise of the rule.
        exact = suggestion.threshold
        self._threshold = None if exact is None else math.floor(exact * 10_000) / 10_000
        self.result.set_text("–" if exact is None else format_threshold(math.floor(exact * 100) / 100))
        if exact is not None:
            self.result.setToolTip(f"{exact!r}")
        self.button.setEnabled(exact is not None)
        outside = suggestion.out_of_bag
        if exact is None or outside is None:
            self.figures.set_text(suggestion.reason)
        else:
            parts = []
            for name, value in (("precision", outside.precision), ("recall", outside.recall)):
                if value is not None:
                    parts.append(f"{name} {value:.2f}")
            if outside.fpr is not None:
                parts.append(f"FPR {outside.fpr:.1%}")
            self.figures.set_text(", ".join(parts) + " on cases left out" if parts else suggestion.reason)
        tip = "\n".join(part for part in (suggestion.reason, suggestion.warning) if part)
        self.figures.setToolTip(tip)


def _suggest_all(scores: Scores, wishes: list[tuple[str, float]]) -> list[Any]:
    from workbench.engine.evaluation import suggest

    return [suggest(scores.p, scores.y, kind, target) for kind, target in wishes]  # type: ignore[arg-type]


async def _evaluate(
    snapshot: ProjectSnapshot,
    stage: Stage,
    cases: list[Case],
    settings: Any,
    path: Path | None,
    history: Any,
    secrets: Any,
    arrived: Any,
) -> int:
    """Run the checks over the cases and store the run; `arrived` gets the rows and the progress as they come."""
    from workbench.engine.decisions import open_decision_model
    from workbench.engine.evaluation import EvaluationRun
    from workbench.engine.events import RunEvent

    guardrail = snapshot.guardrail(stage)
    model = open_decision_model(settings, root=snapshot.root, secrets=secrets)
    begun, count, outcome, words = time.perf_counter(), 0, "done", ""
    title = f"Evaluate {stage}, {counted(len(cases), 'case')}"
    inputs = {"stage": stage, "cases": len(cases), "checks": [check.name for check in guardrail.checks]}
    run_id = history.start_run("evaluate", title, inputs, model=model.name) if history is not None else None
    try:
        run = EvaluationRun(
            cases, guardrail, model, stage=stage, results=path, on_progress=lambda progress: arrived([], progress)
        )
        async for row in run.rows():
            count += 1
            arrived([row], None)
        words = f"{counted(count, 'answer')} to {counted(len(cases), 'case')}"
        return count
    except BaseException as error:
        outcome, words = ("cancelled", f"stopped after {counted(count, 'answer')}")
        if isinstance(error, Exception):
            outcome, words = "error", str(error)
        raise
    finally:
        if run_id is not None:
            history.append(run_id, RunEvent("evaluated", time.perf_counter() - begun, {"answers": count, "words": words}))
            history.finish_run(run_id, outcome, words)
        await model.aclose()


def _plain_table(table: QTableView, name: str, row_height: int) -> None:
    table.setAccessibleName(name)
    table.setItemDelegate(TextDelegate(table))
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(row_height)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def _wording(settings: GuardrailSettings) -> list[tuple[str | None, ...]]:
    """Return what the answers depend on; thresholds are not part of it."""
    return [(check.name, check.question, check.yes_means, check.no_means) for check in settings.checks]

