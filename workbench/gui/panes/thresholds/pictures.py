"""The pictures of the lab: histogram, curves, reliability, and the overview of all checks."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QHeaderView,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.delegates.words import MonoDelegate
from workbench.gui.models.cases_filter import EVERYTHING, CaseFilter
from workbench.gui.models.figures import format_threshold
from workbench.gui.models.figures_check import DEFINITIONS, CheckFigures, thinned
from workbench.gui.panes.thresholds.check_list import plain_table
from workbench.gui.panes.thresholds.lab import Lab
from workbench.gui.widgets.check_row import ThresholdSpin
from workbench.gui.widgets.labels import SectionHead, Strip, TokenLabel, column

_OVERVIEW = ("Check", "Cases", "Base rate", "AUC", "ECE", "Recall at t", "FPR at t", "Refused", "Errors")


class Pictures(QSplitter):
    """The pictures; made when the pane is first seen, since their library takes a quarter of a second to import."""

    def __init__(self, lab: Lab, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        from workbench.gui.widgets.plot_histogram import HistogramPlot
        from workbench.gui.widgets.plot_reliability import ReliabilityPlot
        from workbench.gui.widgets.plots import CurvesPlot

        self._lab = lab
        self._shown: CheckFigures | None = None
        self._drawn: list[QWidget] = []
        self.histogram = HistogramPlot()
        self.curves = CurvesPlot("threshold", over_threshold=True)
        self.roc = CurvesPlot("false-positive rate", "recall")
        self.precision_recall = CurvesPlot("recall", "precision")
        self.cost = CurvesPlot("threshold", "cost in false alarms", over_threshold=True)
        self.band_curve = CurvesPlot("share decided without a person", "right among the decided")
        self.reliability = ReliabilityPlot()
        self.overview = _overview_table()
        self._build()
        self._connect()

    # Building

    def _build(self) -> None:
        self.spin = ThresholdSpin()
        self.spin.setAccessibleName("Threshold of the chosen check")
        self.band_box = QCheckBox("review band")
        self.band_box.setToolTip(
            "A second threshold: below it a text passes, from the threshold on it is rejected,\n"
            "between the two a person decides. Kept in the project; the guardrail itself has one threshold."
        )
        self.band_spin = ThresholdSpin()
        self.band_spin.setAccessibleName("Lower end of the review band")
        self.band_spin.setVisible(False)
        self.histogram_head = SectionHead("Probabilities by label")
        for widget in (
            TokenLabel("Threshold", "second", size="second"),
            self.spin,
            self.band_box,
            self.band_spin,
        ):
            self.histogram_head.add(widget)
        self.tabs = _NamedTabs({self.precision_recall: ("PR", "Precision–recall")})
        self.tabs.setDocumentMode(True)
        for picture, title in (
            (self.curves, "Threshold"),
            (self.roc, "ROC"),
            (self.precision_recall, "PR"),
            (self._cost_tab(), "Cost"),
            (self.band_curve, "Band"),
            (self.overview, "All checks"),
        ):
            self.tabs.addTab(picture, title)
        for place, tip in (
            (0, "Precision, recall, false-positive rate and F1 against the threshold"),
            (1, "Recall against the false-positive rate"),
            (2, "Precision against recall"),
            (4, "What review bands around the threshold decide alone, and how often rightly"),
        ):
            self.tabs.setTabToolTip(place, tip)
        self.tabs.tabBar().setUsesScrollButtons(True)
        self.equal_mass = QCheckBox("equal counts")
        self.equal_mass.setToolTip("Bins that hold about equally many cases, instead of bins of equal width")
        self.reliability_head = SectionHead("Reliability")
        self.reliability_head.add(self.equal_mass)
        self.reliability_head.note.show_whole_parts()
        below = QSplitter(Qt.Orientation.Horizontal)
        below.addWidget(self.tabs)
        below.addWidget(column(self.reliability_head, self.reliability))
        below.setSizes([470, 310])
        self.addWidget(column(self.histogram_head, self.histogram))
        self.addWidget(below)
        self.setSizes([240, 260])
        for splitter in (self, below):
            splitter.setHandleWidth(1)
            splitter.setChildrenCollapsible(False)

    def _cost_tab(self) -> QWidget:
        strip = Strip(30)
        self.miss_cost = QDoubleSpinBox()
        self.miss_cost.setRange(0.1, 1000.0)
        self.miss_cost.setDecimals(1)
        self.miss_cost.setValue(self._lab.miss_cost)
        self.miss_cost.setKeyboardTracking(False)
        self.miss_cost.setAccessibleName("Cost of a miss in false alarms")
        self.cost_words = TokenLabel("", "second", size="second", elide=True)
        strip.row.addWidget(TokenLabel("A miss costs", "second", size="second"))
        strip.row.addWidget(self.miss_cost)
        strip.row.addWidget(TokenLabel("false alarms", "second", size="second"))
        strip.row.addWidget(self.cost_words, 1)
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(strip)
        layout.addWidget(self.cost, 1)
        self._cost_box = box
        return box

    def _connect(self) -> None:
        lab = self._lab
        lab.columns_changed.connect(self.refresh)
        lab.check_changed.connect(self.refresh)
        lab.threshold_moved.connect(self._show_threshold)
        self.histogram.moved.connect(lab.preview)
        self.histogram.chosen.connect(lab.apply)
        self.histogram.band_moved.connect(lab.preview_band)
        self.histogram.band_chosen.connect(lab.set_band)
        self.histogram.bin_chosen.connect(self._bin_chosen)
        self.reliability.bin_chosen.connect(lambda low, high: self._bin_chosen(low, high, None))
        self.spin.valueChanged.connect(lab.apply)
        self.band_box.toggled.connect(self._band_toggled)
        self.band_spin.valueChanged.connect(lab.set_band)
        self.curves.clicked.connect(lambda x, _y: self._threshold_clicked(x))
        self.cost.clicked.connect(lambda x, _y: self._threshold_clicked(x))
        self.roc.clicked.connect(lambda x, y: self._point_clicked("roc", x, y))
        self.precision_recall.clicked.connect(lambda x, y: self._point_clicked("pr", x, y))
        self.miss_cost.valueChanged.connect(lab.set_miss_cost)
        lab.miss_cost_changed.connect(self._miss_cost_changed)
        self.equal_mass.toggled.connect(lambda _checked: self._show_reliability())
        self.tabs.currentChanged.connect(lambda _index: self._show_threshold(lab.threshold()))
        self.overview.cellDoubleClicked.connect(
            lambda row, _column: lab.choose_check(self.overview.item(row, 0).text())
        )

    def _miss_cost_changed(self, cost: float) -> None:
        blocked = self.miss_cost.blockSignals(True)
        self.miss_cost.setValue(cost)
        self.miss_cost.blockSignals(blocked)
        self._drawn = [each for each in self._drawn if each is not self._cost_box]
        self._show_tab()

    # What a click means

    def _bin_chosen(self, low: float, high: float, label: bool | None) -> None:
        words = {True: "labelled yes, ", False: "labelled no, ", None: ""}[label] + f"{low:.2f} to {high:.2f}"
        wanted = CaseFilter("", low, high, label, words)
        self._lab.set_filter(EVERYTHING if wanted == self._lab.filter else wanted)

    def _threshold_clicked(self, x: float) -> None:
        if 0 <= x <= 1 and len(self._lab.figures()):
            self._lab.apply(round(x, 2))

    def _point_clicked(self, kind: str, x: float, y: float) -> None:
        """Take the threshold of the point of the curve that is nearest to a click."""
        import numpy as np

        curve = self._lab.figures().curve
        if curve is None:
            return
        across, up = (curve.fpr, curve.recall) if kind == "roc" else (curve.recall, curve.precision)
        distance = np.hypot(across - x, up - y)
        if np.isfinite(distance).any() and np.nanmin(distance) < 0.1:
            exact = float(curve.thresholds[int(np.nanargmin(distance))])
            # Rounded down, so that the point itself is still rejected.
            self._lab.apply(np.floor(exact * 10_000) / 10_000)

    def _band_toggled(self, shown: bool) -> None:
        self._lab.set_band(round(self._lab.threshold() / 2, 2) if shown else None)

    # What is shown

    def _why_empty(self) -> str:
        lab, found = self._lab, self._lab.figures()
        if not lab.check_name:
            return "No checks at this stage. The pane Guardrails adds one."
        if not len(lab.columns):
            return "No labelled cases yet."
        if lab.loading and lab.has_stored and not lab.columns.answered():
            return "The stored answers are being read."
        if found.stale and not lab.columns.answered():
            return "The stored answers are out of date. Run the checks again."
        if not lab.columns.answered():
            return "Run the checks on the cases to see their probabilities."
        return "No case is labelled for this check." if found.unlabelled else "No answer has a number."

    def refresh(self) -> None:
        """Draw what depends on the answers; the same figures are not drawn again."""
        found, check = self._lab.figures(), self._lab.check_name
        self.histogram_head.title.set_text(
            f"Probabilities by label: {check}" if check else "Probabilities by label"
        )
        if found is not self._shown:
            self._shown = found
            lost = [
                f"{found.refused} refused" if found.refused else "",
                f"{found.errors} without answer" if found.errors else "",
                f"{found.stale} out of date" if found.stale else "",
            ]
            self.histogram_head.note.set_text(", ".join(part for part in lost if part))
            self._drawn = []
            slices = self._lab.slices
            slices.later("histogram", self._show_histogram)
            slices.later("reliability", self._show_reliability)
            slices.later("tab", self._show_tab)
        self._place_threshold(self._lab.threshold())

    def _show_histogram(self) -> None:
        found = self._lab.figures()
        self.histogram.set_histogram(found.histogram, self._why_empty(), found.oddity)

    def _show_tab(self) -> None:
        """Show the picture of the tab that is seen, at the present threshold."""
        lab = self._lab
        threshold = lab.threshold()
        self._draw_shown()
        shown = self.tabs.currentWidget()
        if shown is self.overview:
            self._show_overview()
        elif shown is self.band_curve:
            self._show_band_curve(lab.figures(), threshold, self._band(threshold))
        else:
            self._show_points(lab.figures(), threshold)

    def _band(self, threshold: float) -> float | None:
        return None if self._lab.band is None else min(self._lab.band, threshold)

    def _draw_shown(self) -> None:
        """Draw the picture of the tab that is seen, once for the present figures; the others wait until they are."""
        shown = self.tabs.currentWidget()
        if shown in self._drawn:
            return
        self._drawn.append(shown)
        found = self._lab.figures()
        if shown is self.curves:
            self._show_curves(found)
        elif shown is self.roc:
            self._show_roc(found)
        elif shown is self.precision_recall:
            self._show_precision_recall(found)
        elif shown is self._cost_box:
            self._show_cost()

    def _show_curves(self, found: CheckFigures) -> None:
        from workbench.gui.widgets.plots import Line

        style, curve = Qt.PenStyle, found.curve
        if curve is None:
            self.curves.set_curves([], self._why_empty())
            return
        x = curve.thresholds
        self.curves.set_curves(
            [
                Line("precision", x, curve.precision, "accent", style.SolidLine, True),
                Line("recall", x, curve.recall, "passed", style.DashLine, True),
                Line("FPR", x, curve.fpr, "rejected", style.DotLine, True),
                Line("F1", x, curve.f1, "second", style.DashDotLine, True),
            ],
            note=found.oddity,
        )

    def _why_no_curve(self, found: CheckFigures) -> str:
        return "All labels are the same: there is no such curve." if len(found) else self._why_empty()

    def _show_roc(self, found: CheckFigures) -> None:
        from workbench.gui.widgets.plots import Line

        if found.roc is None:
            self.roc.set_curves([], self._why_no_curve(found))
            return
        chance = Line("chance", [0, 1], [0, 1], "second", Qt.PenStyle.DashLine)
        self.roc.set_curves([Line(f"AUC {found.auc or 0:.3f}", *found.roc), chance], note=found.oddity)

    def _show_precision_recall(self, found: CheckFigures) -> None:
        from workbench.gui.widgets.plots import Line

        if found.precision_recall is None:
            self.precision_recall.set_curves([], self._why_no_curve(found))
            return
        rate = found.base_rate or 0.0
        base = Line(f"base rate {rate:.2f}", [0, 1], [rate, rate], "second", Qt.PenStyle.DashLine)
        # Steps, as in the average precision: a precision holds back to the recall before it.
        name = f"AP {found.average_precision or 0:.3f}"
        curves = [Line(name, *found.precision_recall, steps=True), base]
        self.precision_recall.set_curves(curves, note=found.oddity)

    def _show_cost(self) -> None:
        from workbench.gui.widgets.plots import Line

        found, ratio = self._lab.figures(), self.miss_cost.value()
        curve = found.cost(ratio)
        if curve is None:
            self.cost.set_curves([], self._why_empty())
            self.cost_words.set_text("")
            return
        keep = thinned(curve.thresholds)
        low, high = curve.best
        lines = [
            Line("cost", curve.thresholds[keep], curve.cost[keep], steps=True),
            Line("least", [low, high], [curve.least, curve.least], "passed", Qt.PenStyle.DashLine),
        ]
        self.cost.set_curves(lines, "", float(curve.cost.max()), found.oddity)
        self.cost_words.set_text(f"least {curve.least:g} at {low:.2f}–{high:.2f}; ideal {curve.ideal:.2f}")
        self.cost_words.setToolTip(
            f"On these cases the least cost is {curve.least:g}, at thresholds from {low:.4f} to {high:.4f}.\n"
            f"Ideal: {curve.ideal:.4f} would be best if the probabilities were calibrated."
        )

    def _show_reliability(self) -> None:
        found = self._lab.figures()
        bins = found.reliability(self.equal_mass.isChecked())
        self.reliability.set_bins(bins, self._why_empty(), found.oddity)
        error, brier = found.ece, found.brier
        if self._lab.rule_words():
            error = brier = None
        self.reliability_head.note.set_text(
            "" if error is None or brier is None else f"ECE {error:.3f}, 10 bins"
        )
        self.reliability_head.note.setToolTip(f"{DEFINITIONS['ECE']}\n{DEFINITIONS['Brier']}")

    def _show_threshold(self, threshold: float) -> None:
        """Move what moves with the threshold; runs once a frame while it is dragged."""
        self._place_threshold(threshold)
        if not self._lab.slices.waiting("tab"):
            self._show_tab()

    def _place_threshold(self, threshold: float) -> None:
        words = self._lab.rule_words()
        self.spin.setEnabled(not words)
        self.spin.setToolTip(words)
        self.spin.set_quietly(threshold)
        self.histogram.set_threshold(threshold)
        band = self._band(threshold)
        self.histogram.set_band(band)
        shown = band is not None
        if shown != self.band_box.isChecked():
            blocked = self.band_box.blockSignals(True)
            self.band_box.setChecked(shown)
            self.band_box.blockSignals(blocked)
        if shown == self.band_spin.isHidden():
            self.band_spin.setVisible(shown)
        if band is not None:
            self.band_spin.set_quietly(band)

    def _show_points(self, found: CheckFigures, threshold: float) -> None:
        counts = found.confusion(threshold)
        nan = float("nan")
        precision, recall, fpr = (
            nan if v is None else v for v in (counts.precision, counts.recall, counts.fpr)
        )
        shown = self.tabs.currentWidget()
        if shown is self.curves:
            points = [
                (threshold, precision, "accent"),
                (threshold, recall, "passed"),
                (threshold, fpr, "rejected"),
            ]
            self.curves.set_threshold(threshold, points)
        elif shown is self.roc:
            self.roc.set_threshold(threshold, [(fpr, recall, "accent")])
        elif shown is self.precision_recall:
            self.precision_recall.set_threshold(threshold, [(recall, precision, "accent")])
        else:
            cost = found.cost_at(threshold, self.miss_cost.value())
            self.cost.set_threshold(threshold, [(threshold, cost, "accent")])

    def _show_band_curve(self, found: CheckFigures, threshold: float, band: float | None) -> None:
        from workbench.gui.widgets.plots import Line

        x, y = found.band_curve(threshold)
        lines = [Line("bands around the threshold", x, y)] if x else []
        self.band_curve.set_curves(lines, self._why_empty(), note=found.oddity)
        now = found.coverage(threshold if band is None else band, threshold)
        points = (
            [(now.coverage, now.accuracy, "accent")]
            if now.coverage is not None and now.accuracy is not None
            else []
        )
        self.band_curve.set_threshold(threshold, points)

    def _show_overview(self) -> None:
        lab = self._lab
        self.overview.setRowCount(len(lab.guardrail.checks))
        for row in range(len(lab.guardrail.checks)):
            self._fill_overview(row)

    def _fill_overview(self, row: int) -> None:
        lab = self._lab
        check = lab.guardrail.checks[row]
        found = lab.figures(check.name)
        threshold = lab.threshold() if check.name == lab.check_name else lab.guardrail.threshold_of(check)
        counts = found.confusion(threshold)
        numbers = (found.base_rate, found.auc, found.ece, counts.recall, counts.fpr)
        words = [check.name, str(len(found)), *("–" if v is None else f"{v:.2f}" for v in numbers)]
        words += [str(found.refused), str(found.errors)]
        for place, text in enumerate(words):
            item = self.overview.item(row, place)
            if item is None:
                item = QTableWidgetItem()
                self.overview.setItem(row, place, item)
            if item.text() != text:
                item.setText(text)
        tip = [
            f"threshold {format_threshold(threshold)}",
            found.oddity or ("" if len(found) else "no labelled answers"),
        ]
        self.overview.item(row, 0).setToolTip("\n".join(part for part in tip if part))


class _NamedTabs(QTabWidget):
    """Tabs of which some have a short and a long title: the long one where there is room for all of them."""

    def __init__(self, titles: dict[QWidget, tuple[str, str]]) -> None:
        super().__init__()
        self._titles = titles

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        bar = self.tabBar()
        for page, (short, long) in self._titles.items():
            place = self.indexOf(page)
            if place < 0:
                continue
            self.setTabText(place, long)
            if bar.sizeHint().width() > event.size().width():
                self.setTabText(place, short)


def _overview_table() -> QTableWidget:
    table = QTableWidget(0, len(_OVERVIEW))
    table.setHorizontalHeaderLabels(list(_OVERVIEW))
    plain_table(table, "All checks", 26)
    header = table.horizontalHeader()
    for place, name in enumerate(_OVERVIEW):
        # Names are whole at any width: the table can be scrolled, a name cut short cannot be told from another.
        header.setSectionResizeMode(place, QHeaderView.ResizeMode.ResizeToContents)
        if place:
            table.setItemDelegateForColumn(place, MonoDelegate(table))
        known = name.removesuffix(" at t").replace("Base rate", "base rate").replace("Recall", "recall")
        table.horizontalHeaderItem(place).setToolTip(DEFINITIONS.get(known, ""))
    return table
