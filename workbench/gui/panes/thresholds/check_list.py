"""The checks of the stage with their thresholds, what all of them do together, and what to be wary of."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.evaluation.intervals import FEW
from workbench.engine.guardrails.settings import CheckSettings
from workbench.gui.delegates.words import MonoDelegate, TextDelegate
from workbench.gui.models.cases_columns import YES
from workbench.gui.models.checks_origin import origin_words
from workbench.gui.models.figures import counted, format_threshold, grouped
from workbench.gui.panes.thresholds.lab import Lab
from workbench.gui.shell.scale import fit, px
from workbench.gui.widgets.figure_label import FigureLabel
from workbench.gui.widgets.labels import Ground, SectionHead, TokenLabel

_ROUGH = "Below 30, every figure is a rough guess. Label more before you trust a threshold."


def plain_table(table: QTableView, name: str, row_height: int) -> None:
    """Give a table the look of the lab: no grid, whole rows, no row heads."""
    table.setAccessibleName(name)
    table.setItemDelegate(TextDelegate(table))
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    head = table.verticalHeader()
    head.hide()
    head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    head.setDefaultSectionSize(row_height)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class CheckList(QWidget):
    """The table of checks and the notes below it."""

    def __init__(self, lab: Lab, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lab = lab
        self.table = QTableWidget(0, 3)
        self.table.setHorizontalHeaderLabels(["Check", "t", "AUC"])
        plain_table(self.table, "Checks", 42)
        for column in (1, 2):
            self.table.setItemDelegateForColumn(column, MonoDelegate(self.table, padding=8))
            self.table.setColumnWidth(column, px(46))
            head = self.table.horizontalHeaderItem(column)
            head.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.table.horizontalHeaderItem(1).setToolTip("Threshold: rejected at or above it")
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.blocked = FigureLabel("100.0 %", monospace=True, align=Qt.AlignmentFlag.AlignRight)
        self.caught = FigureLabel("100.0 %", monospace=True, align=Qt.AlignmentFlag.AlignRight)
        self.warning = TokenLabel("", "warning", size="second", wrap=True)
        self.fit_words = TokenLabel("", "second", size="second", wrap=True)
        self.fit_button = QPushButton("Fit…")
        self.fit_button.setToolTip("Fit on my cases: fit the embedded model on the project's labelled cases")
        self.compare_button = QPushButton("Compare…")
        self.compare_button.setToolTip("Two models, two wordings of this check, or an earlier version")
        notes = Ground()
        layout = QVBoxLayout(notes)
        layout.setContentsMargins(12, 10, 12, 10)
        layout.setSpacing(6)
        layout.addWidget(TokenLabel("All together", bold=True))
        layout.addWidget(
            TokenLabel(
                "Any failed check rejects, so false alarms add up:", "second", size="second", wrap=True
            )
        )
        both = QGridLayout()
        both.setVerticalSpacing(2)
        for row, (words, figure) in enumerate(
            (("good messages blocked", self.blocked), ("bad messages caught", self.caught))
        ):
            both.addWidget(TokenLabel(words), row, 0)
            both.addWidget(figure, row, 1)
        layout.addLayout(both)
        for widget in (self.warning, self.fit_words):
            layout.addWidget(widget)
        buttons = QHBoxLayout()
        buttons.setSpacing(6)
        buttons.addWidget(self.fit_button)
        buttons.addWidget(self.compare_button)
        layout.addLayout(buttons)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(SectionHead("Checks"))
        outer.addWidget(self.table, 1)
        outer.addWidget(notes)
        fit(self, min_width=240)
        self.table.currentCellChanged.connect(lambda row, *_: self._row_chosen(row))
        for signal in (lab.columns_changed, lab.check_changed, lab.note_changed):
            signal.connect(self._refresh_soon)
        lab.threshold_moved.connect(self._threshold_moved)

    def _row_chosen(self, row: int) -> None:
        if 0 <= row < len(self._lab.guardrail.checks):
            self._lab.choose_check(self._lab.guardrail.checks[row].name)

    def _refresh_soon(self) -> None:
        self._lab.slices.later("checks", self.refresh)

    def refresh(self) -> None:
        """Show the checks anew."""
        lab = self._lab
        blocked = self.table.blockSignals(True)
        self.table.setRowCount(len(lab.guardrail.checks))
        for row, check in enumerate(lab.guardrail.checks):
            self._show_check(row, check)
            if check.name == lab.check_name:
                self.table.setCurrentCell(row, 0)
        self.table.blockSignals(blocked)
        self._show_union()
        self._show_warnings()
        self._show_fit()

    def _show_check(self, row: int, check: CheckSettings) -> None:
        lab = self._lab
        column = lab.columns.column(check.name)
        yes = int((column.label == YES).sum()) if column is not None else 0
        area = lab.figures(check.name).auc
        stale = lab.stale_threshold(check)
        own = "default" if check.threshold is None else "stale own" if stale else "own"
        threshold = lab.threshold() if check.name == lab.check_name else lab.guardrail.threshold_of(check)
        about = f"{own} t" if check.rule is None else check.kind
        words = (
            f"{check.name}\n{grouped(yes)} yes, {about}",
            format_threshold(threshold) if check.rule is None else "–",
            "–" if area is None else f"{area:.2f}",
        )
        for column_number, text in enumerate(words):
            item = self.table.item(row, column_number)
            if item is None:
                item = QTableWidgetItem()
                self.table.setItem(row, column_number, item)
                if column_number:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            if item.text() != text:
                item.setText(text)
        tip = [check.question]
        project = lab.session.project
        noted = project is not None and check.rule is None
        origin = project.threshold_origin(lab.stage, check.name) if noted and project is not None else None
        if check.rule is not None:
            tip.append(
                "It asks no model: its answer is 0 or 1, without a threshold, and there is nothing to fit."
            )
        if origin is not None:
            tip.append(f"The threshold was {origin_words(origin)}.")
        if stale:
            tip.append(f"It is stale: {stale}.")
        self.table.item(row, 0).setToolTip("\n".join(tip))

    def _threshold_moved(self, threshold: float) -> None:
        for row, check in enumerate(self._lab.guardrail.checks):
            item = self.table.item(row, 1) if check.rule is None else None
            if check.name == self._lab.check_name and item is not None:
                item.setText(format_threshold(threshold))
        self._show_union()

    def _show_union(self) -> None:
        """Say what all checks do together: any failed check rejects, so false alarms add up."""
        lab = self._lab
        both = lab.columns.union(lab.guardrail, {lab.check_name: lab.threshold()})
        self.blocked.set_text(f"{100 * both.blocked / both.good:.1f} %" if both.good else "–")
        self.caught.set_text(f"{100 * both.caught / both.bad:.1f} %" if both.bad else "–")
        self.blocked.setToolTip(f"{both.blocked} of {both.good} cases that no check is labelled to reject")
        self.caught.setToolTip(f"{both.caught} of {both.bad} cases that some check is labelled to reject")

    def _show_warnings(self) -> None:
        lab, check = self._lab, self._lab.check()
        parts = []
        info = lab.info()
        if info is not None and info.moving:
            answered = lab.version() or "the version that answered"
            parts.append(f"{info.name} is an alias that may move: thresholds belong to {answered}.")
        if check is not None and (stale := lab.stale_threshold(check)):
            parts.append(f"The threshold of {check.name} is stale: {stale}. Run the cases and choose again.")
        column = lab.columns.column(lab.check_name)
        yes = int((column.label == YES).sum()) if column is not None else FEW
        if check is not None and len(lab.columns) and yes < FEW:
            parts.append(f"{check.name} has {counted(yes, 'yes case')}. {_ROUGH}")
        if lab.loaded is not None and lab.loaded.broken_lines:
            count = counted(len(lab.loaded.broken_lines), "stored answer")
            parts.append(f"{count} could not be read and will be asked again: {lab.loaded.broken_lines[0]}")
        self.warning.set_text("\n".join(parts))
        self.warning.setVisible(bool(parts))

    def _show_fit(self) -> None:
        loaded = self._lab.loaded
        info = self._lab.info()
        embedded = info is not None and info.provider == "embedded"
        self.fit_button.setVisible(embedded)
        words = ""
        if loaded is not None and loaded.fitted:
            words = "Fitted on your cases; figures here are cross-validated."
            if loaded.stale_fits:
                name, reason = loaded.stale_fits[0]
                words = f"The fit is stale: {f'{name}: ' if name else ''}{reason}. Fit again."
        self.fit_words.set_text(words)
        self.fit_words.set_look(token="warning" if loaded is not None and loaded.stale_fits else "second")
        self.fit_words.setVisible(bool(words))
