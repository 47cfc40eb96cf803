"""What the threshold does to the cases in numbers, and which other threshold the cases speak for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.evaluation.suggestions import TARGETS
from workbench.gui.models.cases_filter import CELLS, EVERYTHING, CaseFilter
from workbench.gui.models.figures import format_threshold
from workbench.gui.models.figures_check import DEFINITIONS, CheckFigures
from workbench.gui.panes.thresholds.batch import short_turns
from workbench.gui.panes.thresholds.lab import Lab
from workbench.gui.shell.scale import fit
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.confusion import ConfusionMatrix
from workbench.gui.widgets.figure_label import FigureLabel
from workbench.gui.widgets.labels import Ground, SectionHead, TokenLabel
from workbench.gui.widgets.number_grid import Number, NumberGrid

if TYPE_CHECKING:
    from workbench.engine.evaluation import OutOfBag, Suggestion
    from workbench.engine.evaluation.metrics import Confusion
    from workbench.engine.evaluation.suggestions import Kind

_PAUSE_MS = 250
_LATEST_SECONDS = 2.0
_EXACT_UP_TO = 300


class Verdicts(QWidget):
    """Confusion matrix, figures and suggestions for the chosen check."""

    def __init__(self, lab: Lab, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lab = lab
        self._asked: tuple[Any, ...] = ()
        self._changing_since = 0.0
        self.matrix_head = SectionHead("At threshold")
        self.at = FigureLabel("0.00000", bold=True)
        self.at.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        head = self.matrix_head.layout()
        assert isinstance(head, QHBoxLayout)
        head.insertWidget(1, self.at)
        self.matrix = ConfusionMatrix()
        self.rates = NumberGrid(4, intervals=True)
        self.quality = NumberGrid(4)
        self.band_words = TokenLabel("", "second", size="second", wrap=True)
        self.band_words.setContentsMargins(12, 0, 12, 8)
        self.suggestions_head = SectionHead("Suggestions")
        self.suggestions = [
            SuggestionRow("recall", "Catch at least", 0.01, 1.0, "of yes (recall)"),
            SuggestionRow("fpr", "Flag at most", 0.001, 0.99, "of no (FPR)"),
            SuggestionRow("cost", "A miss costs", 0.1, 1000.0, "false alarms"),
            SuggestionRow("conformal_recall", "Miss at most", 0.001, 0.5, "of new yes"),
            SuggestionRow("conformal_fpr", "Flag at most", 0.001, 0.5, "of new no"),
        ]
        self._build()
        self._pause = one_shot(self, self._ask, _PAUSE_MS)
        self.matrix.chosen.connect(self._cell_chosen)
        for row in self.suggestions:
            row.changed.connect(lambda row=row: self._target_changed(row))
            row.applied.connect(lambda threshold: lab.apply(threshold, chosen_here=True))
        lab.columns_changed.connect(self._refresh_soon)
        lab.check_changed.connect(self._check_changed)
        lab.threshold_moved.connect(self._threshold_moved)
        lab.filter_changed.connect(self._show_filter)
        lab.miss_cost_changed.connect(self._miss_cost_changed)

    def _build(self) -> None:
        ground = Ground()
        inner = QVBoxLayout(ground)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        for widget in (
            self.matrix, self.rates, self.quality, self.band_words, self.suggestions_head, *self.suggestions
        ):  # fmt: skip
            inner.addWidget(widget)
        inner.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidget(ground)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.matrix_head)
        layout.addWidget(scroll, 1)
        fit(self, min_width=310)

    # The matrix and the figures

    def refresh(self) -> None:
        """Show what depends on the answers."""
        found = self._lab.figures()
        definitions = DEFINITIONS
        bins = found.reliability()
        # The 0 or 1 of a check that asks no model is no estimate whose quality could be measured.
        estimate = not self._lab.rule_words()
        numbers = [
            Number("AUC", found.auc, definitions["AUC"]),
            Number("AP", found.average_precision, definitions["AP"]),
            Number("base rate", found.base_rate, definitions["base rate"]),
            Number("log loss", found.log_loss if estimate else None, definitions["log loss"]),
            Number(
                "ECE", found.ece if estimate else None, f"{definitions['ECE']} ({len(bins)} bins)", digits=3
            ),
            Number(
                "MCE", found.mce if estimate else None, f"{definitions['MCE']} ({len(bins)} bins)", digits=3
            ),
            Number("Brier", found.brier if estimate else None, definitions["Brier"], digits=3),
            Number("skill", found.skill if estimate else None, definitions["skill"]),
        ]
        self.quality.show_numbers(numbers)
        self._show_threshold(self._lab.threshold())
        self._soon()

    def _refresh_soon(self) -> None:
        self._lab.slices.later("figures", self.refresh)

    def _check_changed(self) -> None:
        self._refresh_soon()
        # Whoever walks through the checks is asked about the one where they stay.
        self._pause.start()

    def _threshold_moved(self, threshold: float) -> None:
        if not self._lab.slices.waiting("figures"):
            self._show_threshold(threshold)
        if self._pause.isActive():
            # Whoever drags needs the processor; the suggestions can wait until the hand rests.
            self._pause.start()

    def _show_threshold(self, threshold: float) -> None:
        lab, found = self._lab, self._lab.figures()
        counts = found.confusion(threshold)
        self.at.set_text(format_threshold(threshold))
        nothing = "not run yet" if not len(found) and not lab.columns.answered() else "no such label"
        self.matrix.show_counts(counts.tp, counts.fn, counts.fp, counts.tn, nothing)
        self.matrix_head.note.set_text(_note(found))
        self.rates.show_numbers(_rates(counts))
        self._show_band(found, threshold)

    def _show_band(self, found: CheckFigures, threshold: float) -> None:
        band = self._lab.band
        self.band_words.setVisible(band is not None)
        if band is None:
            return
        low = min(band, threshold)
        now = found.coverage(low, threshold)
        if now.coverage is None:
            self.band_words.set_text("Review band: no labelled answers yet.")
            return
        words = now.words()
        self.band_words.set_text(f"{words[0].upper()}{words[1:]}.")

    def _cell_chosen(self, cell: str) -> None:
        self._lab.set_filter(CaseFilter(cell, words=CELLS[cell]) if cell else EVERYTHING)

    def _show_filter(self) -> None:
        key = self._lab.filter.key
        self.matrix.choose(key if key in CELLS else None)

    # Suggestions

    def _target_changed(self, row: SuggestionRow) -> None:
        if row.kind == "cost":
            self._lab.set_miss_cost(row.target())
        self._soon()

    def _miss_cost_changed(self, cost: float) -> None:
        next(row for row in self.suggestions if row.kind == "cost").set_target(cost)
        self._soon()

    def _soon(self) -> None:
        """Ask when nothing has changed for a moment, and anyway after some time of changes."""
        now = time.monotonic()
        if not self._pause.isActive():
            self._changing_since = now
        if now - self._changing_since < _LATEST_SECONDS:
            self._pause.start()

    def _ask(self) -> None:
        """Work out the suggestions as a job; their figures come from a bootstrap and take a moment."""
        lab, found = self._lab, self._lab.figures()
        if lab.session.jobs.closed:
            return
        if lab.session.project is None or not lab.check_name:
            self._show_no_suggestions("", "", "no check is chosen")
            return
        if words := lab.rule_words():
            reason = "no threshold to suggest: its answer is 0 or 1"
            self._show_no_suggestions("asks no model", words, reason)
            return
        wishes = [(row.kind, row.target()) for row in self.suggestions]
        asked = (id(found), found, wishes)
        if self._asked and self._asked[1] is found and self._asked[2] == wishes:
            return
        self._asked = asked
        self.suggestions_head.note.setToolTip("")
        self.suggestions_head.note.set_text(f"on cases left out, from {len(found)} of {len(lab.columns)}")
        lab.session.jobs.run_pool(
            suggest_all, found, wishes, lambda: self._asked is asked,
            on_done=self._show_suggestions,
            on_error=lambda error: lab.session.status.emit(f"Suggestions: {error}"),
            key="suggest",
        )  # fmt: skip

    def _show_no_suggestions(self, note: str, tip: str, reason: str) -> None:
        from workbench.engine.evaluation import Suggestion

        self._asked = ()
        self.suggestions_head.note.set_text(note)
        self.suggestions_head.note.setToolTip(tip)
        for row in self.suggestions:
            row.show_suggestion(Suggestion(row.kind, row.target(), None, reason))

    def _show_suggestions(self, found: list[Suggestion]) -> None:
        if len(found) != len(self.suggestions):
            return
        for row, suggestion in zip(self.suggestions, found, strict=True):
            row.show_suggestion(suggestion)


def _note(found: CheckFigures) -> str:
    if not len(found):
        return ""
    parts = [f"{found.positives} yes, {found.negatives} no"]
    if found.unlabelled:
        parts.append(f"{found.unlabelled} unlabelled")
    return ", ".join(parts)


def _rates(counts: Confusion) -> list[Number]:
    # Of many cases both intervals are the same to two decimals, and the exact one takes too long while one drags.
    few = counts.tp + counts.fp + counts.tn + counts.fn <= _EXACT_UP_TO
    exact = counts.exact_intervals() if few else {}
    definitions = {name: DEFINITIONS[name] for name in ("precision", "recall", "FPR")}
    for name in definitions:
        if interval := exact.get(name.lower()):
            low, high = interval
            definitions[name] += f"\nExact 95 % interval (Clopper–Pearson): {low:.2f} to {high:.2f}"
    return [
        Number("precision", counts.precision, definitions["precision"], counts.precision_interval),
        Number("recall", counts.recall, definitions["recall"], counts.recall_interval),
        Number("FPR", counts.fpr, definitions["FPR"], counts.fpr_interval),
        Number("F1", counts.f1, DEFINITIONS["F1"]),
    ]


class SuggestionRow(QWidget):
    """One rule for choosing a threshold: its target, what it gives, and what that is worth on cases it did not see."""

    changed = Signal()
    applied = Signal(float)

    def __init__(
        self, kind: Kind, words: str, low: float, high: float, after: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.kind: Kind = kind
        self.threshold: float | None = None
        self.spin = QDoubleSpinBox()
        self.spin.setRange(low, high)
        self.spin.setDecimals(3 if low < 0.01 else 2 if high <= 1 else 1)
        self.spin.setSingleStep(0.01 if high <= 1 else 0.5)
        self.spin.setValue(TARGETS[kind])
        self.spin.setKeyboardTracking(False)
        self.spin.setAccessibleName(f"{words} … {after}")
        fit(self.spin, width=66)
        self.result = TokenLabel("–", monospace=True, size="section", align=Qt.AlignmentFlag.AlignRight)
        fit(self.result, width=48)
        self.button = QPushButton("Apply")
        self.button.setAccessibleName(f"Apply: {words} … {after}")
        self.button.setEnabled(False)
        self.figures = TokenLabel("", "second", size="second", wrap=True)
        line = QHBoxLayout()
        line.setSpacing(6)
        line.addWidget(TokenLabel(words, bold=True))
        line.addWidget(self.spin)
        line.addWidget(TokenLabel(after, bold=True, elide=True), 1)
        line.addWidget(self.result)
        below = QHBoxLayout()
        below.setSpacing(6)
        below.addWidget(self.figures, 1)
        below.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 6)
        layout.setSpacing(2)
        layout.addLayout(line)
        layout.addLayout(below)
        self.spin.valueChanged.connect(lambda _value: self.changed.emit())
        self.button.clicked.connect(self._apply)

    def target(self) -> float:
        """Return the target asked for."""
        return float(self.spin.value())

    def set_target(self, target: float) -> None:
        """Show another target, told by somebody else."""
        blocked = self.spin.blockSignals(True)
        self.spin.setValue(target)
        self.spin.blockSignals(blocked)

    def _apply(self) -> None:
        if self.threshold is not None:
            self.applied.emit(self.threshold)

    def show_suggestion(self, suggestion: Suggestion) -> None:
        """Show a suggestion of the engine, or why there is none."""
        exact = suggestion.threshold
        self.threshold = None if exact is None else kept_promise(self.kind, exact)
        self.result.set_text("–" if self.threshold is None else f"{self.threshold:.2f}")
        self.result.setToolTip("" if exact is None else f"applied as {self.threshold}, exactly {exact!r}")
        self.button.setEnabled(self.threshold is not None)
        outside = suggestion.out_of_bag
        shown = exact is not None and outside is not None
        self.figures.set_text(
            out_of_bag_words(outside) if shown and outside is not None else suggestion.reason
        )
        self.figures.setToolTip(_suggestion_tip(suggestion))


def kept_promise(kind: str, exact: float) -> float | None:
    """Return a threshold of at most four decimals that still does what the rule promises.

    Down keeps a promise about misses, up one about false alarms; `None` where no threshold up to 1 does.
    """
    if kind in ("fpr", "conformal_fpr"):
        rounded = math.ceil(exact * 10_000) / 10_000
        return rounded if rounded <= 1 else None
    return math.floor(exact * 10_000) / 10_000


def out_of_bag_words(outside: OutOfBag) -> str:
    """Return the figures on cases that were left out when the threshold was chosen, with their ranges."""
    parts = []
    for name, value, range_ in (
        ("precision", outside.precision, outside.precision_range),
        ("recall", outside.recall, outside.recall_range),
        ("FPR", outside.fpr, outside.fpr_range),
    ):
        if value is not None:
            spread = f" ({range_[0]:.2f}–{range_[1]:.2f})" if range_ is not None else ""
            parts.append(f"{name} {value:.2f}{spread}")
    return ", ".join(parts) if parts else "no figures on cases left out"


def _suggestion_tip(suggestion: Suggestion) -> str:
    parts = [suggestion.reason, *([suggestion.warning] if suggestion.warning else [])]
    outside = suggestion.out_of_bag
    if outside is not None:
        parts.append(
            f"The figures come from {outside.rounds} bootstrap rounds: in each the rule chose on some cases and was "
            "judged on the others. In brackets: 2.5th to 97.5th percentile."
        )
        if outside.threshold is not None:
            low, high = outside.threshold
            parts.append(f"The rounds chose thresholds from {low:.2f} to {high:.2f}.")
    if suggestion.stretch is not None:
        low, high = suggestion.stretch
        parts.append(f"From {low:.4f} to {high:.4f} all thresholds do equally well on these cases.")
    if suggestion.needed is not None:
        parts.append(f"Cases needed: {suggestion.needed}.")
    return "\n".join(parts)


def suggest_all(
    found: CheckFigures, wishes: list[tuple[str, float]], wanted: Callable[[], bool] = lambda: True
) -> list[Suggestion]:
    """Return the engine's suggestion for every wish (rule, target); fewer once nobody wants them any more."""
    from workbench.engine.evaluation import suggest

    rounds = bootstrap_rounds(len(found))
    with short_turns():
        return [
            suggest(found.p, found.y, kind, target, rounds=rounds)  # type: ignore[arg-type]
            for kind, target in wishes
            if wanted()
        ]


def bootstrap_rounds(cases: int) -> int:
    """Return how many rounds the figures of a suggestion take: with very many cases fewer tell as much."""
    from workbench.engine.evaluation.suggestions import ROUNDS

    return ROUNDS if cases <= 2_000 else max(40, 2_000 * ROUNDS // cases)
