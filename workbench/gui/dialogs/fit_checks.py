"""*Fit on my cases*: fits the embedded model's checks on the project's labelled cases, shows what it is worth, and undoes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.delegates.words import MonoDelegate, TextDelegate
from workbench.gui.models.figures import counted, joined
from workbench.gui.models.fit_step import FitStep, fit_path
from workbench.gui.shell.scale import resize_window
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_role
from workbench.gui.widgets.labels import StatusMark, TokenLabel
from workbench.gui.widgets.tables import fill_row

if TYPE_CHECKING:
    from workbench.engine.decisions.embedded import FitFigures
    from workbench.engine.decisions.fitted import FittedChecks, StaleFit

_HEADS = ("Check", "Yes", "No", "AUC before", "AUC after", "Right before", "Right after", "")
_STAGES = ("input", "output")


class FitDialog(QDialog):
    """Fits on the labelled cases of both stages. The figures after the fit are cross-validated: each text is judged by
    a fit without it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._closed = False
        self.setWindowTitle("Fit on my cases")
        resize_window(self, 860, 440)
        self.mark = StatusMark("idle", 16)
        self.words = TokenLabel("", bold=True)
        self.detail = TokenLabel("", "second", wrap=True)
        self.table = QTableWidget(0, len(_HEADS))
        self.fit_button = QPushButton("Fit now")
        set_role(self.fit_button, "main")
        self.unfit_button = QPushButton("Take the fit away")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._build()
        self.fit_button.clicked.connect(self.fit)
        self.unfit_button.clicked.connect(self.unfit)
        self.buttons.rejected.connect(self.reject)
        self.look()

    def _build(self) -> None:
        self.table.setHorizontalHeaderLabels(list(_HEADS))
        self.table.setAccessibleName("Checks and what a fit is worth")
        self.table.setItemDelegate(TextDelegate(self.table))
        self.table.setShowGrid(False)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for place in range(len(_HEADS)):
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.ResizeToContents)
            if 0 < place < len(_HEADS) - 1:
                self.table.setItemDelegateForColumn(place, MonoDelegate(self.table))
        header.setSectionResizeMode(len(_HEADS) - 1, QHeaderView.ResizeMode.Stretch)
        about = TokenLabel(
            "The embedded model learns from the texts that you labelled, at both stages: a few of each label make a check "
            "much better. The weights are written to the project as data; nothing leaves this computer. The figures after "
            "the fit are cross-validated: each text is judged by a fit that did not see it. Right: at a threshold of 0.50.",
            "second",
            wrap=True,
        )
        line = QHBoxLayout()
        line.addWidget(self.mark)
        line.addWidget(self.words, 1)
        for button in (self.fit_button, self.unfit_button):
            self.buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 12)
        layout.setSpacing(10)
        layout.addWidget(about)
        layout.addWidget(self.table, 1)
        layout.addLayout(line)
        layout.addWidget(self.detail)
        layout.addWidget(self.buttons)

    def done(self, result: int) -> None:
        """Close. A fit that is under way goes on, and its end is told in the status bar."""
        self._closed = True
        self._session.jobs.cancel("fit-look")
        super().done(result)

    def path(self) -> Path | None:
        """Return where the weights are kept, `None` for a project that was never saved."""
        return fit_path(self._session)

    def look(self) -> None:
        """Say how things stand: fitted or not, stale or not."""
        session, path = self._session, self.path()
        settings = session.decision_settings()
        if settings.provider != "embedded" or path is None:
            self._busy(True)
            reason = "Save the project first." if path is None else "Only the embedded model can be fitted."
            self._say("error", reason, "")
            return
        snapshot = session.snapshot()
        cases = session.project.every_case() if session.project is not None else ()

        def work() -> tuple[FittedChecks | None, list[StaleFit]]:
            from workbench.engine.decisions.fitted import FittedChecks
            from workbench.engine.evaluation import stale_checks

            fitted = FittedChecks.load(path)
            guardrails = {stage: snapshot.guardrail(stage) for stage in _STAGES}  # type: ignore[arg-type]
            root = snapshot.root
            if fitted is None or root is None:
                return None, []
            return fitted, stale_checks(settings, guardrails, cases, root=root)  # type: ignore[arg-type]

        session.jobs.run_pool(work, on_done=self._looked, on_error=self._look_failed, key="fit-look")

    def _looked(self, found: tuple[FittedChecks | None, list[StaleFit]]) -> None:
        fitted, stale = found
        self._busy(False)
        self.unfit_button.setEnabled(fitted is not None)
        if fitted is None:
            self._say("idle", "Not fitted: every check is judged by its wording alone.", "")
            return
        names = counted(len(fitted.checks), "check")
        if stale:
            reasons = "; ".join(f"{each.check}: {each.reason}" for each in stale)
            self._say("stale", "The fit is out of date. Fit again, or take it away.", reasons)
        else:
            self._say("passed", f"Fitted: {names}.", joined(list(fitted.checks)))
        if not self.table.rowCount():
            self._show_stored(fitted)

    def _look_failed(self, error: BaseException) -> None:
        self._busy(False)
        self.unfit_button.setEnabled(True)
        self._say("error", "The stored fit cannot be read.", str(error))

    # Fitting

    def fit(self) -> None:
        """Fit all checks on the labelled cases and write the weights."""
        session = self._session
        snapshot, settings, path = session.snapshot(), session.decision_settings(), self.path()
        root, project = snapshot.root, session.project
        if root is None or path is None or project is None:
            return
        cases = project.every_case()

        async def run() -> tuple[list[FitFigures], bytes | None, bytes | None]:
            from workbench.engine.decisions.fitted import read_fit
            from workbench.engine.evaluation import fit_on_cases

            guardrails = {stage: snapshot.guardrail(stage) for stage in _STAGES}  # type: ignore[arg-type]
            before = read_fit(path)
            figures = await fit_on_cases(settings, guardrails, cases, root=root)  # type: ignore[arg-type]
            return figures, before, read_fit(path)

        self._busy(True)
        self._say("queued", "Fitting…", "")
        session.jobs.run_async(run, lambda done: self._fitted(path, *done), self._fit_failed, key="fit")

    def _fitted(
        self, path: Path, figures: list[FitFigures], before: bytes | None, after: bytes | None
    ) -> None:
        session = self._session
        # Closed, the dialog may be deleted, and another project may be open.
        if path == fit_path(session):
            session.undo_stack.push(FitStep(session, "Fit on my cases", path, before, after))
        if self._closed:
            session.status.emit("The fit on the labelled cases is done.")
            return
        self.show_figures(figures)
        self.look()

    def _fit_failed(self, error: BaseException) -> None:
        if self._closed:
            self._session.status.emit(f"The fit failed: {error}")
            return
        self._busy(False)
        self._say("error", "The fit failed.", str(error))

    def unfit(self) -> None:
        """Remove the weights: the checks are judged by their wording alone again. Undo brings them back."""
        from workbench.engine.decisions.fitted import read_fit, restore_fit

        path = self.path()
        if path is None:
            return
        try:
            before = read_fit(path)
            restore_fit(path, None)
        except OSError as error:
            self._say("error", "The fit cannot be removed.", str(error))
            return
        self.table.setRowCount(0)
        self._session.undo_stack.push(FitStep(self._session, "Take the fit away", path, before, None))
        self.look()

    def _busy(self, busy: bool) -> None:
        self.fit_button.setEnabled(not busy)
        self.unfit_button.setEnabled(not busy)

    # Showing

    def show_figures(self, figures: Sequence[FitFigures]) -> None:
        """Show what a fit is worth, per check."""
        self.table.setRowCount(len(figures))
        for row, each in enumerate(figures):
            numbers = [each.before.get("auc"), each.after.get("auc")]
            numbers += [each.before.get("accuracy"), each.after.get("accuracy")]
            few = "few cases: rough" if min(each.positives, each.negatives) < 10 else ""
            note = f"not fitted: {each.skipped}" if each.skipped else few
            words = [each.check, str(each.positives), str(each.negatives), *map(_figure, numbers), note]
            fill_row(self.table, row, words)

    def _show_stored(self, fitted: FittedChecks) -> None:
        self.table.setRowCount(len(fitted.checks))
        for row, (name, check) in enumerate(fitted.checks.items()):
            after = [_figure(check.figures.get("auc")), _figure(check.figures.get("accuracy"))]
            words = [name, str(check.positives), str(check.negatives), "", after[0], "", after[1], ""]
            fill_row(self.table, row, words)

    def _say(self, status: str, words: str, detail: str) -> None:
        self.mark.set_status(status)
        self.words.set_text(words)
        self.detail.set_text(detail)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
