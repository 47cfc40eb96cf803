"""What the parts of the threshold lab share: stage, check, answers, threshold, filter and the run under way."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.suggestions import TARGETS
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings, Stage
from workbench.gui.models.cases_columns import NUMBER, CaseColumns
from workbench.gui.models.cases_filter import EVERYTHING, CaseFilter
from workbench.gui.models.checks_origin import origin_now, stale_threshold
from workbench.gui.models.figures_check import CheckFigures
from workbench.gui.panes.thresholds.batch import (
    Batch,
    Loaded,
    Outcome,
    evaluate,
    stage_columns,
)
from workbench.gui.panes.thresholds.lab_cases import CaseEdits
from workbench.gui.panes.thresholds.lab_reading import StoredAnswers, wording
from workbench.gui.panes.thresholds.slices import Slices
from workbench.gui.shell.session import Session
from workbench.gui.shell.timers import one_shot

if TYPE_CHECKING:
    from workbench.engine.decisions import ModelInfo
    from workbench.engine.evaluation import Progress, ResultRow

_FLUSH_MS = 120
_LATEST_MS = 1000
_KIND = "evaluate"


class Lab(CaseEdits, StoredAnswers, QObject):
    """The state behind the lab's widgets; none of them knows another.

    `columns_changed` tells that cases, labels or answers are others; `check_changed` that another check is shown;
    `threshold_moved` every place of the threshold, also while it is dragged; `filter_changed` which cases are
    wanted; `progress_changed` how the run is doing; `note_changed` what is to be known of models and fits.
    """

    columns_changed = Signal()
    check_changed = Signal()
    threshold_moved = Signal(float)
    filter_changed = Signal()
    progress_changed = Signal()
    note_changed = Signal()
    miss_cost_changed = Signal(float)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.slices = Slices(self)
        self.stage: Stage = "input"
        self.guardrail = GuardrailSettings()
        self.columns = CaseColumns((), ())
        self.check_name = ""
        self.filter = EVERYTHING
        self.band: float | None = None
        """The lower end of the chosen check's review band, the one that is tried while it is dragged."""
        self.miss_cost = TARGETS["cost"]
        """What a miss costs, in false alarms."""
        self.progress: Progress | None = None
        self.failure = ""
        self.loaded: Loaded | None = None
        self.begun = 0.0
        self._preview: float | None = None
        self._awake = False
        self._fresh: list[ResultRow] = []
        self._asked: dict[str, Case] = {}
        self._asked_settings = GuardrailSettings()
        self._asked_stage: Stage = "input"
        self._flush = one_shot(self, self.take_fresh, _FLUSH_MS)
        session.project_changed.connect(self._on_project)
        session.edited.connect(self._on_edited)
        session.models_changed.connect(self._on_models)
        session.run_failed.connect(self._on_run_failed)

    # The project

    def wake(self) -> None:
        """Begin to follow the project; before that (nobody looks) nothing is read."""
        if not self._awake:
            self._awake = True
            self._on_project()

    def _on_project(self) -> None:
        self.failure, self.progress = "", None
        if self._awake:
            self._open()

    def show_stage(self, stage: Stage | str) -> None:
        """Show the cases and checks of a stage."""
        self.stage = "output" if stage == "output" else "input"
        self.failure = ""
        if not self.running():
            self.progress = None
        if self._awake:
            self._open()

    def _open(self) -> None:
        snapshot = self.session.snapshot()
        self.guardrail = snapshot.guardrail(self.stage)
        self.columns = stage_columns(snapshot, self.stage)
        self.filter, self._preview, self.loaded = EVERYTHING, None, None
        names = [check.name for check in self.guardrail.checks]
        if self.check_name not in names:
            self.check_name = names[0] if names else ""
        self._read_band()
        self.check_changed.emit()
        self.columns_changed.emit()
        self.filter_changed.emit()
        self.progress_changed.emit()
        self.note_changed.emit()
        self.reload()

    def _on_edited(self, area: str) -> None:
        if not self._awake:
            return
        if area == "cases":
            self._cases_edited()
        elif area == "guardrails":
            self._guardrails_edited()
        elif area == "models":
            self.reload()

    def _cases_edited(self) -> None:
        self.columns = self.columns.following(self.session.snapshot().cases, self.stage)
        self.columns_changed.emit()
        self.progress_changed.emit()
        self._look_at_fits()

    def _guardrails_edited(self) -> None:
        before, self.guardrail = self.guardrail, self.session.snapshot().guardrail(self.stage)
        names = [check.name for check in self.guardrail.checks]
        if self.check_name not in names:
            self.check_name = names[0] if names else ""
        self._preview = None
        self._read_band()
        reworded = wording(before.checks) != wording(self.guardrail.checks)
        if reworded:
            snapshot = self.session.snapshot()
            self.columns = stage_columns(snapshot, self.stage)
            self.columns_changed.emit()
            self.reload()
            self.check_changed.emit()
        self._show_threshold_soon()
        self.note_changed.emit()

    def _show_threshold_soon(self) -> None:
        """Show the stored threshold in a turn of its own: writing it took one already."""
        self.slices.later("threshold", lambda: self.threshold_moved.emit(self.threshold()))

    def _on_models(self) -> None:
        if self._awake and not self.running():
            self.reload()

    # The check and its threshold

    def check(self) -> CheckSettings | None:
        """Return the chosen check."""
        return next((check for check in self.guardrail.checks if check.name == self.check_name), None)

    def choose_check(self, name: str) -> None:
        """Show another check."""
        if name != self.check_name and any(check.name == name for check in self.guardrail.checks):
            self.check_name, self.filter, self._preview = name, EVERYTHING, None
            self._read_band()
            self.check_changed.emit()
            self.filter_changed.emit()

    def figures(self, check: str | None = None) -> CheckFigures:
        """Return the figures of a check, of the chosen one when none is named."""
        column = self.columns.column(self.check_name if check is None else check)
        return column.figures() if column is not None else CheckFigures((), ())

    def threshold(self) -> float:
        """Return the threshold of the chosen check, the one that is tried while it is dragged."""
        if self._preview is not None:
            return self._preview
        return self.stored_threshold()

    def stored_threshold(self) -> float:
        """Return the threshold of the chosen check in the project."""
        check = self.check()
        return self.guardrail.threshold_of(check) if check is not None else self.guardrail.threshold

    def preview(self, threshold: float) -> None:
        """Show what a threshold would do; the project is not touched and no model asked."""
        self._preview = None if self.rule_words() else threshold
        self.threshold_moved.emit(self.threshold())

    def rule_words(self) -> str:
        """Return why no threshold can be chosen for the chosen check, an empty text where one can."""
        check = self.check()
        if check is None or check.rule is None:
            return ""
        return f"{check.name} asks no model: its answer is 0 or 1, so there is no threshold to choose or suggest."

    def apply(self, threshold: float, *, chosen_here: bool = False) -> None:
        """Write a threshold for the chosen check into the project, undoable.

        With `chosen_here` the project also notes on which model version, question and day it was chosen.
        """
        check = self.check()
        self._preview = None
        if check is None or self.session.project is None:
            return
        if words := self.rule_words():
            self.session.status.emit(words)
            self.threshold_moved.emit(self.threshold())
            return
        column = self.columns.column(check.name)
        versions = column.current_versions() if column is not None else []
        origin = origin_now(versions[0] if versions else self.version(), check) if chosen_here else None
        self.session.set_threshold(self.stage, check.name, threshold, origin)
        self._show_threshold_soon()

    def version(self) -> str | None:
        """Return the model version that answers, `None` where it is not known."""
        return self.loaded.version if self.loaded is not None else None

    def info(self) -> ModelInfo | None:
        """Return what the model says of itself."""
        return self.loaded.info if self.loaded is not None else None

    def stale_threshold(self, check: CheckSettings) -> str | None:
        """Return why the threshold of a check is stale, `None` where it is not."""
        project, info = self.session.project, self.info()
        if project is None:
            return None
        origin = project.threshold_origin(self.stage, check.name)
        return stale_threshold(origin, check, self.version(), moving=info is not None and info.moving)

    def preview_band(self, low: float | None) -> None:
        """Show what a review band from `low` to the threshold would leave to a person; the project is not touched."""
        self.band = low
        self.threshold_moved.emit(self.threshold())

    def set_band(self, low: float | None) -> None:
        """Write the lower end of the chosen check's review band into the project, undoable; `None` for no band."""
        project, check, stage = self.session.project, self.check(), self.stage
        if project is None or check is None or check.rule is not None:
            return
        before, name = project.review_from(stage, check.name), check.name
        if low == before:
            self._read_band()
            self._show_threshold_soon()
            return
        self.session.apply(
            "guardrails",
            f"Review band of {name}",
            lambda project: project.set_review(stage, name, low),
            lambda project: project.set_review(stage, name, before),
            merge=f"review/{stage}/{name}",
        )

    def _read_band(self) -> None:
        """Take the band of the chosen check from the project."""
        project = self.session.project
        stored = project.review_from(self.stage, self.check_name) if project is not None else None
        check = self.check()
        self.band = stored if check is not None and check.rule is None else None

    def set_miss_cost(self, cost: float) -> None:
        """Say what a miss costs, in false alarms, for the cost curve and the suggestion alike."""
        if cost != self.miss_cost:
            self.miss_cost = cost
            self.miss_cost_changed.emit(cost)

    # Filters

    def set_filter(self, wanted: CaseFilter) -> None:
        """Show only some of the cases."""
        if wanted != self.filter:
            self.filter = wanted
            self.filter_changed.emit()

    # Running

    def running(self) -> bool:
        """Tell whether a run over the cases is under way."""
        return _KIND in self.session.running()

    def runs_over(self, stage: Stage) -> bool:
        """Tell whether a run over the cases of a stage is under way."""
        return self.running() and stage == self._asked_stage

    def run(self, concurrency: int = 4, rate: float | None = None) -> None:
        """Run all checks on all cases of the stage; answers that are still good are kept, not asked again."""
        session = self.session
        if not len(self.columns) or not self.guardrail.checks or self.running() or session.project is None:
            return
        snapshot, cases = session.snapshot(), list(self.columns.cases)
        history = session.history if session.records else None
        batch = Batch(
            snapshot,
            self.stage,
            cases,
            session.decision_settings(),
            session.secrets,
            history,
            concurrency,
            rate,
            self._version_to_ask(),
        )
        self._asked = {case.id: case for case in cases}
        self._asked_settings, self._asked_stage = self.guardrail, self.stage
        self._fresh, self.progress, self.failure, self.begun = [], None, "", time.monotonic()
        post, project = session.jobs.post, session.project
        self.drop_read()
        session.begin_run(_KIND)
        session.jobs.run_async(
            lambda: evaluate(batch, lambda rows, progress: post(self._arrived, project, rows, progress)),
            self._run_done,
            self._run_broke,
            key=_KIND,
        )
        self.progress_changed.emit()

    def _version_to_ask(self) -> str | None:
        """Return the version whose answers stay, where the model is an alias and only answers tell its version."""
        info = self.info()
        if info is None or info.version is not None:
            return None
        versions = {v for column in self.columns.columns.values() for v in column.current_versions()}
        return versions.pop() if len(versions) == 1 else None

    def stop(self) -> None:
        """Stop the run; what was answered is kept, and the next run goes on from there."""
        self.session.stop(_KIND)

    def _arrived(self, project: object, rows: list[ResultRow], progress: Progress | None) -> None:
        if project is not self.session.project:
            return  # another one was opened before this was heard; its cases may have the same names
        self._fresh += rows
        if progress is not None:
            self.progress = progress
            self.progress_changed.emit()
        if not self._flush.isActive():
            self._flush.start()

    def take_fresh(self) -> None:
        """Show the answers that arrived since the last look."""
        begun = time.perf_counter()
        fresh, self._fresh = self._fresh, []
        if fresh and self.stage == self._asked_stage:
            before = {check.name: check for check in self._asked_settings.checks}
            reworded = frozenset(
                check.name
                for check in self.guardrail.checks
                if check.wording != before.get(check.name, check).wording
            )
            self.columns.arrived(fresh, self._asked, reworded)
            self.columns_changed.emit()
        self.progress_changed.emit()
        # With very many cases a look costs more, and the window must have time for other things.
        cost = (time.perf_counter() - begun) * 1000
        self._flush.setInterval(int(min(_LATEST_MS, max(_FLUSH_MS, 4 * cost))))

    def _run_done(self, outcome: Outcome) -> None:
        self._flush.stop()
        self.take_fresh()
        self.session.end_run(_KIND, outcome)
        self.session.history_changed.emit()
        self.progress_changed.emit()
        self.reload()

    def _run_broke(self, error: BaseException) -> None:
        self._flush.stop()
        self.take_fresh()
        self.session.end_run(_KIND, failure=self.session.scrub(str(error) or type(error).__name__))
        self.session.history_changed.emit()

    def _on_run_failed(self, kind: str, message: str) -> None:
        if kind == _KIND:
            self.take_fresh()
            self.failure = message
            self.progress_changed.emit()
            self.reload()

    def case_probability(self, position: int) -> float | None:
        """Return the probability of a case for the chosen check, `None` where there is no number."""
        column = self.columns.column(self.check_name)
        if column is None or column.state[position] != NUMBER or column.stale[position]:
            return None
        return float(column.p[position])
