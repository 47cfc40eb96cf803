"""Puts the parts of the threshold lab together; they talk through the `Lab`, not to each other."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QSplitter, QVBoxLayout, QWidget

from workbench.gui.panes.thresholds.batch import STAGES
from workbench.gui.panes.thresholds.case_table import CaseTable
from workbench.gui.panes.thresholds.check_list import CheckList
from workbench.gui.panes.thresholds.lab import Lab
from workbench.gui.panes.thresholds.strip import RunStrip
from workbench.gui.panes.thresholds.verdicts import Verdicts
from workbench.gui.shell.places import Place
from workbench.gui.shell.session import Session


class ThresholdsPane(QWidget):
    """Checks, pictures, confusion matrix, suggestions and cases of one stage."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.lab = Lab(session, self)
        self.strip = RunStrip(self.lab)
        self.check_list = CheckList(self.lab)
        self.verdicts = Verdicts(self.lab)
        self.case_table = CaseTable(self.lab)
        self._seen = False
        self._top = QSplitter(Qt.Orientation.Horizontal)
        self._top.addWidget(self.check_list)
        self._top.addWidget(self.verdicts)
        body = QSplitter(Qt.Orientation.Vertical)
        body.addWidget(self._top)
        body.addWidget(self.case_table)
        body.setSizes([540, 215])
        for splitter in (self._top, body):
            splitter.setHandleWidth(1)
            splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.strip)
        layout.addWidget(body, 1)
        session.project_changed.connect(self._on_project)
        session.reveal.connect(self._on_reveal)
        self.case_table.import_asked.connect(self.import_cases)
        self.check_list.fit_button.clicked.connect(self.fit)
        self.check_list.compare_button.clicked.connect(self.compare)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._seen:
            return
        self._seen = True
        # The library of the pictures takes a quarter of a second to import: not before somebody looks.
        from workbench.gui.panes.thresholds.pictures import Pictures

        self.pictures = Pictures(self.lab)
        self._top.insertWidget(1, self.pictures)
        self._top.setSizes([250, 760, 385])
        self._top.setStretchFactor(1, 1)
        self.case_table.selected.connect(self._mark_case)
        self._on_project()
        self.lab.wake()

    def _on_project(self) -> None:
        self.setEnabled(self._session.project is not None)

    def _mark_case(self, position: object) -> None:
        probability = self.lab.case_probability(position) if isinstance(position, int) else None
        self.pictures.histogram.set_mark(probability)

    def _on_reveal(self, place: Place) -> None:
        if place.area != "cases" or not place.name or not self._seen:
            return
        found = next((c for c in self._session.snapshot().cases if c.id == place.name), None)
        if found is not None and found.stage != self.lab.stage:
            self.lab.show_stage(found.stage)
        self.case_table.select_case(place.name)

    # What the user does

    def import_cases(self) -> None:
        """Ask for a CSV file and show what it would bring."""
        path, _filter = QFileDialog.getOpenFileName(
            self, "Import labelled cases", "", "CSV files (*.csv *.tsv *.txt);;All files (*)"
        )
        if path:
            self.open_import(path)

    def open_import(self, path: str) -> None:
        """Show the columns of a CSV file and take its cases into the project when they are wanted."""
        from workbench.gui.dialogs.csv_import import CsvImportDialog

        snapshot = self._session.snapshot()
        checks = {stage: [check.name for check in snapshot.guardrail(stage).checks] for stage in STAGES}
        dialog = CsvImportDialog(
            Path(path),
            self._session.jobs,
            self.lab.stage,
            checks,
            [case.id for case in snapshot.cases],
            self,
            known_texts=frozenset(case.text for case in snapshot.cases),
        )
        if dialog.exec() and dialog.cases():
            self.lab.add_cases(dialog.cases(), f"Import {Path(path).name}")
        dialog.deleteLater()

    def fit(self) -> None:
        """Fit the embedded model on the project's cases, or take a fit away."""
        from workbench.gui.dialogs.fit_checks import FitDialog

        dialog = FitDialog(self._session, self)
        dialog.exec()
        dialog.deleteLater()

    def compare(self) -> None:
        """Compare two models, or two wordings of the chosen check."""
        from workbench.gui.dialogs.compare import CompareDialog

        dialog = CompareDialog(self._session, self.lab.stage, self.lab.check_name or None, self)
        dialog.exec()
        dialog.deleteLater()
