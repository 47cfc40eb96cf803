"""Compares two models, or two wordings of one check, side by side: on one text, and on all labelled cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QStackedWidget,
    QTableWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.evaluation.version_drift import earlier_path
from workbench.engine.guardrails.settings import CheckSettings, Stage
from workbench.gui.delegates.words import MonoDelegate, TextDelegate
from workbench.gui.models.cases import LABEL_WORDS
from workbench.gui.models.checks_sides import Comparison, Side, ask_both, compare, run_side, stored_sides
from workbench.gui.models.figures import counted, format_probability, format_threshold
from workbench.gui.models.figures_check import DEFINITIONS
from workbench.gui.models.model_title import model_title
from workbench.gui.panes.thresholds.batch import last_version, results_path
from workbench.gui.shell.scale import fit, resize_window
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon, set_role
from workbench.gui.widgets.labels import SegmentedControl, StatusMark, TokenLabel
from workbench.gui.widgets.tables import fill_row
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.evaluation import Progress
    from workbench.engine.guardrails import CheckResult, GuardrailResult
    from workbench.gui.models.cases_columns import CaseColumns

_KIND = "compare"
_LOWER_IS_BETTER = ("FPR", "ECE", "Brier", "log loss")


class CompareDialog(QDialog):
    """Left is what the project has, right is what it could have."""

    def __init__(
        self, session: Session, stage: Stage, check: str | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._stage = session, stage
        self._guardrail = session.snapshot().guardrail(stage)
        self._columns: list[CaseColumns] = []
        self.comparison: Comparison | None = None
        self._gone = False
        self.setWindowTitle(f"Compare {stage} checks")
        resize_window(self, 940, 680)
        self.mode = SegmentedControl(
            {"models": "Two models", "wordings": "Two wordings", "earlier": "An earlier version"}
        )
        self.results = results_path(session.snapshot().root, stage)
        self.earlier = earlier_path(self.results) if self.results is not None else None
        self.check_box = QComboBox()
        self.check_box.setAccessibleName("Check")
        # A check that asks no model says the same whatever the model, and has no wording.
        self.check_box.addItems([each.name for each in self._guardrail.checks if each.rule is None])
        self.model_boxes = [self._model_box("First model"), self._model_box("Second model")]
        self.question = TextInput("Question of the second wording", lines=2)
        self.yes_means = TextInput("What yes means in the second wording", "what yes means", 2)
        self.no_means = TextInput("What no means in the second wording", "what no means", 2)
        self.present = TokenLabel("", wrap=True)
        self.text = TextInput("Text to ask both", "Text to ask both", 3)
        fit(self.text, max_height=74)
        self.mark = StatusMark("idle", 16)
        self.words = TokenLabel("", bold=True, elide=True)
        self._build()
        if check is not None:
            self.check_box.setCurrentText(check)
        self._connect()
        self._show_mode()
        self._take_wording()

    # Building

    def _model_box(self, name: str) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(name)
        models = self._session.snapshot().models
        names = self._session.decision_models()
        if "embedded" not in [m.provider for m in models.values()]:
            names.append("embedded")
        titles = {each: model_title(models[each]) if each in models else "Embedded MiniLM" for each in names}
        for each, title in titles.items():
            shared = list(titles.values()).count(title) > 1
            box.addItem(f"{title} ({each})" if shared else title, each)
        return box

    def _build(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.mode)
        head.addStretch(1)
        head.addWidget(TokenLabel("Check", "second"))
        head.addWidget(self.check_box)
        self.sides = QStackedWidget()
        self.sides.addWidget(self._models_form())
        self.sides.addWidget(self._wordings_form())
        self.sides.addWidget(self._earlier_form())
        self.text_button = QPushButton("Ask both on this text")
        self.cases_button = QPushButton("Ask both on all cases")
        self.stop_button = QPushButton("Stop")
        for button, picture in (
            (self.text_button, "play"),
            (self.cases_button, "play"),
            (self.stop_button, "stop"),
        ):
            set_icon(button, picture)
        actions = QHBoxLayout()
        actions.addWidget(self.mark)
        actions.addWidget(self.words, 1)
        for button in (self.text_button, self.cases_button, self.stop_button):
            actions.addWidget(button)
        self.text_table = _table(
            "Answers to the text", ("Check", "Left", "Outcome", "Right", "Outcome", "Change")
        )
        self.figure_table = _table("Figures", ("Figure", "Left", "Right", "Change"))
        self.flip_table = _table("Cases whose outcome changes", ("Case", "Text", "Label", "Left", "Right"))
        self.drift_words = TokenLabel("", "second", wrap=True)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.text_table, "On this text")
        self.tabs.addTab(self._cases_tab(), "On all cases")
        self.use_button = QPushButton("Use the right wording")
        self.use_button.setToolTip("Write the second wording into the project; undo takes it back")
        set_role(self.use_button, "main")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.buttons.addButton(self.use_button, QDialogButtonBox.ButtonRole.ActionRole)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 12)
        layout.setSpacing(10)
        layout.addLayout(head)
        layout.addWidget(self.sides)
        layout.addWidget(self.text)
        layout.addLayout(actions)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.buttons)

    def _models_form(self) -> QWidget:
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        for name, model_box in zip(("Left", "Right"), self.model_boxes, strict=True):
            row.addWidget(TokenLabel(name, bold=True))
            row.addWidget(model_box, 1)
        return box

    def _wordings_form(self) -> QWidget:
        box = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.addWidget(TokenLabel("Left: the present wording", bold=True), 0, 0)
        grid.addWidget(TokenLabel("Right: the other wording", bold=True), 0, 1)
        grid.addWidget(self.present, 1, 0, 3, 1, Qt.AlignmentFlag.AlignTop)
        for row, field in enumerate((self.question, self.yes_means, self.no_means), 1):
            fit(field, height=48)
            grid.addWidget(field, row, 1)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        return box

    def _earlier_form(self) -> QWidget:
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        self.earlier_words = TokenLabel("", wrap=True)
        self.earlier_button = QPushButton("Choose answers…")
        self.earlier_button.setToolTip("A file of results that an earlier version of the model gave")
        self.earlier_button.clicked.connect(self._choose_earlier)
        row.addWidget(self.earlier_words, 1)
        row.addWidget(self.earlier_button)
        return box

    def _choose_earlier(self) -> None:
        folder = str(self.results.parent) if self.results is not None else ""
        path, _filter = QFileDialog.getOpenFileName(
            self, "Answers of an earlier version", folder, "Results (*.jsonl);;All files (*)"
        )
        if path:
            self.set_earlier(Path(path))

    def set_earlier(self, path: Path) -> None:
        """Take the answers of an earlier version from another file of results."""
        self.earlier = path
        self._show_earlier()
        self._forget()

    def _show_earlier(self) -> None:
        """Say whose answers are compared, and where they come from when there are none yet."""
        path = self.earlier
        if path is not None and path.exists():
            version = last_version(path) or "an earlier version"
            self.earlier_words.set_text(f"Left: {version}, from {path.name}. Right: the answers of now.")
        else:
            self.earlier_words.set_text(
                "When another version of the model answers, the answers of the one before are kept; there are"
                " none yet. A file of results can be chosen instead."
            )

    def _cases_tab(self) -> QWidget:
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 6, 0, 0)
        layout.addWidget(self.drift_words)
        row = QHBoxLayout()
        row.addWidget(self.figure_table, 2)
        row.addWidget(self.flip_table, 3)
        layout.addLayout(row, 1)
        return box

    def _connect(self) -> None:
        self.mode.chosen.connect(lambda _key: self._show_mode())
        self.check_box.currentTextChanged.connect(lambda _name: self._check_changed())
        self.text_button.clicked.connect(self.ask_text)
        self.cases_button.clicked.connect(self.ask_cases)
        self.stop_button.clicked.connect(self.stop)
        self.use_button.clicked.connect(self.use_wording)
        self.buttons.rejected.connect(self.reject)
        for box in self.model_boxes:
            box.currentIndexChanged.connect(lambda _index: self._forget())
        for field in (self.question, self.yes_means, self.no_means):
            field.edited.connect(self._forget)

    # What is compared

    def _show_mode(self) -> None:
        mode = self.mode.current()
        wordings, earlier = mode == "wordings", mode == "earlier"
        self.sides.setCurrentIndex(("models", "wordings", "earlier").index(mode))
        for widget in (self.text, self.text_button):
            widget.setVisible(not earlier)
        self.tabs.setTabVisible(0, not earlier)
        self.cases_button.setText("Compare the answers" if earlier else "Ask both on all cases")
        self._show_earlier()
        self.sides.setMaximumHeight(self.sides.currentWidget().sizeHint().height() + 8)
        self.use_button.setVisible(wordings)
        if mode == "models" and self.model_boxes[1].count() > 1:
            self.model_boxes[1].setCurrentIndex(1)
        self._forget()

    def check(self) -> CheckSettings | None:
        """Return the chosen check as the project has it."""
        name = self.check_box.currentText()
        return next((each for each in self._guardrail.checks if each.name == name), None)

    def _check_changed(self) -> None:
        self._take_wording()
        if self.mode.current() != "wordings" and self._columns:
            self._show_comparison()
        else:
            self._forget()

    def _take_wording(self) -> None:
        check = self.check()
        if check is None:
            return
        parts = [check.question]
        parts += [f"yes: {check.yes_means}"] if check.yes_means else []
        parts += [f"no: {check.no_means}"] if check.no_means else []
        self.present.set_text("\n".join(parts))
        self.question.set_text(check.question)
        self.yes_means.set_text(check.yes_means or "")
        self.no_means.set_text(check.no_means or "")

    def other_wording(self) -> CheckSettings | None:
        """Return the chosen check in the wording on the right."""
        check = self.check()
        if check is None:
            return None
        return replace(
            check,
            question=self.question.text().strip(),
            yes_means=self.yes_means.text().strip() or None,
            no_means=self.no_means.text().strip() or None,
        )

    def both_sides(self) -> list[Side] | None:
        """Return the two sides, or `None` after saying what is missing."""
        if self.mode.current() == "models":
            snapshot = self._session.snapshot()
            from workbench.engine.workflows import decision_settings

            settings = [decision_settings(snapshot, box.currentData()) for box in self.model_boxes]
            return [Side(model_title(each), each, self._guardrail) for each in settings]
        check, other = self.check(), self.other_wording()
        if check is None or other is None or not other.question:
            self._say("error_mark", "The other wording needs a question.")
            return None
        settings = self._session.decision_settings()
        return [
            Side(title, settings, replace(self._guardrail, checks=(each,)))
            for title, each in (("present wording", check), ("other wording", other))
        ]

    def _forget(self) -> None:
        """Figures of something else must not stay beside what is chosen now."""
        self._columns, self.comparison = [], None
        for table in (self.text_table, self.figure_table, self.flip_table):
            table.setRowCount(0)
        self.drift_words.set_text("")
        self._busy(False)
        cases = sum(1 for case in self._session.snapshot().cases if case.stage == self._stage)
        other = self.other_wording()
        self.use_button.setEnabled(other is not None and bool(other.question) and other != self.check())
        begin = "Nothing is asked" if self.mode.current() == "earlier" else "Not asked yet"
        end = f"there are {counted(cases, 'case')}."
        if self.mode.current() == "models" and len({box.currentData() for box in self.model_boxes}) == 1:
            end = "both sides are the same model." + (
                " Another one can be set up under Models…" if self.model_boxes[0].count() == 1 else ""
            )
        self._say("idle", f"{begin}; {end}")

    # Asking

    def _busy(self, busy: bool) -> None:
        for button in (self.text_button, self.cases_button):
            button.setEnabled(not busy)
        self.stop_button.setEnabled(busy)

    def stop(self) -> None:
        """Stop asking; what was answered about the cases is kept."""
        self._session.jobs.cancel(_KIND)
        self._busy(False)
        self._say("no_answer", "Stopped; asking again goes on from there.")

    def done(self, result: int) -> None:
        """Close, with or without the other wording; what is under way is stopped."""
        self._gone = True
        self._session.jobs.cancel(_KIND)
        super().done(result)

    def ask_text(self) -> None:
        """Ask both sides about the text."""
        sides, text = self.both_sides(), self.text.text()
        if sides is None:
            return
        if not text.strip():
            self._say("error_mark", "There is no text to ask about.")
            return
        snapshot, stage, secrets = self._session.snapshot(), self._stage, self._session.secrets
        self._busy(True)
        self._say("queued", "Asking both…")
        self._session.jobs.run_async(
            lambda: ask_both(sides, snapshot, stage, text, None, secrets),
            self._show_answers,
            self._failed,
            key=_KIND,
        )

    def ask_cases(self) -> None:
        """Ask both sides about all labelled cases of the stage; what was asked before is not asked again."""
        if self.mode.current() == "earlier":
            self.compare_stored()
            return
        sides = self.both_sides()
        if sides is None:
            return
        snapshot, stage, secrets = self._session.snapshot(), self._stage, self._session.secrets
        cases = [case for case in snapshot.cases if case.stage == stage]
        if not cases:
            self._say("error_mark", "There are no labelled cases at this stage.")
            return
        post = self._session.jobs.post

        async def run() -> list[CaseColumns]:
            found = []
            for side in sides:
                title = side.title
                found.append(
                    await run_side(
                        side, snapshot, stage, cases, secrets,
                        lambda progress, title=title: post(self._progress, title, progress),
                    )
                )  # fmt: skip
            return found

        self._busy(True)
        self._say("queued", "Asking both…")
        self._session.jobs.run_async(run, self._take_columns, self._failed, key=_KIND)

    def compare_stored(self) -> None:
        """Compare the stored answers of an earlier version with those of now; nothing is asked."""
        earlier, now = self.earlier, self.results
        if earlier is None or now is None:
            self._say("error_mark", "A project that was never saved has no stored answers.")
            return
        self._busy(True)
        self._say("queued", "Reading the answers…")
        self._session.jobs.run_pool(
            stored_sides, self._session.snapshot(), self._stage, earlier, now,
            on_done=self._take_columns, on_error=self._failed, key=_KIND,
        )  # fmt: skip

    def _progress(self, title: str, progress: Progress) -> None:
        if not self._gone and self.stop_button.isEnabled():
            self._say("queued", f"{title}: {progress.done} of {progress.total}")

    def _failed(self, error: BaseException) -> None:
        self._busy(False)
        self._say("error", self._session.scrub(str(error)))

    # Showing

    def _say(self, status: str, words: str) -> None:
        self.mark.set_status(status)
        self.words.set_text(words)
        self.words.setToolTip(words)

    def _show_answers(self, results: list[GuardrailResult | Exception]) -> None:
        self._busy(False)
        broken = [str(each) for each in results if isinstance(each, Exception)]
        self._say("error" if broken else "passed", "; ".join(broken) if broken else "Both answered.")
        names = [self.check_box.currentText()]
        if self.mode.current() == "models":
            names = [each.name for each in self._guardrail.checks]
        self.text_table.setRowCount(len(names))
        for row, name in enumerate(names):
            answers = [_answer(each, name) for each in results]
            words = [name]
            for answer in answers:
                words += [_number(answer), answer.status.replace("_", " ") if answer is not None else "error"]
            p = [answer.probability if _is_judged(answer) else None for answer in answers]
            words.append(f"{p[1] - p[0]:+.2f}" if p[0] is not None and p[1] is not None else "–")
            fill_row(self.text_table, row, words)
        self.tabs.setCurrentIndex(0)

    def _take_columns(self, columns: list[CaseColumns]) -> None:
        self._busy(False)
        self._columns = columns
        self.tabs.setCurrentIndex(1)
        self._show_comparison()

    def _show_comparison(self) -> None:
        check = self.check()
        if check is None or len(self._columns) != 2:
            return
        threshold = self._guardrail.threshold_of(check)
        found = self.comparison = compare(check.name, threshold, *self._columns)
        flips = len(found.flips)
        told = (
            "no outcome differs" if not flips else f"{counted(flips, 'outcome')} differ{'s' * (flips == 1)}"
        )
        self._say("passed", f"{check.name} at {format_threshold(threshold)}: {told}")
        rows = found.rows()
        self.figure_table.setRowCount(len(rows))
        for row, (name, first, second) in enumerate(rows):
            fill_row(
                self.figure_table, row, [name, _figure(first), _figure(second), _change(name, first, second)]
            )
            self.figure_table.item(row, 0).setToolTip(DEFINITIONS.get(name, ""))
        self.flip_table.setRowCount(len(found.flips))
        for row, flip in enumerate(found.flips):
            fill_row(
                self.flip_table,
                row,
                [
                    flip.case.id,
                    " ".join(flip.case.text[:200].split()),
                    LABEL_WORDS[flip.label],
                    format_probability(flip.first, threshold),
                    format_probability(flip.second, threshold),
                ],
            )
            self.flip_table.item(row, 1).setToolTip(flip.case.text)
        self._show_drift(found)

    def _show_drift(self, found: Comparison) -> None:
        common = len(found.first)
        parts = [f"{counted(common, 'labelled case')} answered by both"]
        if found.uncommon:
            parts.append(f"{found.uncommon} without a number on a side")
        if found.drift is not None:
            parts.append(
                f"mean shift {found.drift.mean_shift:+.3f}, PSI {found.drift.psi:.2f}, KS {found.drift.ks:.2f}"
            )
        self.drift_words.set_text("; ".join(parts) + ".")
        self.drift_words.setToolTip(
            "PSI: population stability index over ten bins; above 0.25 the distribution has clearly moved.\n"
            "KS: largest distance between the two distributions, 0 to 1."
        )

    def use_wording(self) -> None:
        """Write the wording on the right into the project; undoable."""
        check, other, stage = self.check(), self.other_wording(), self._stage
        if check is None or other is None or not other.question or other == check:
            return
        place = self._guardrail.checks.index(check)
        self._session.apply(
            "guardrails",
            f"Wording of {check.name}",
            lambda project: project.set_check(stage, place, other),
            lambda project: project.set_check(stage, place, check),
        )
        self.accept()


def _table(name: str, heads: tuple[str, ...]) -> QTableWidget:
    table = QTableWidget(0, len(heads))
    table.setHorizontalHeaderLabels(list(heads))
    table.setAccessibleName(name)
    table.setItemDelegate(TextDelegate(table))
    table.setShowGrid(False)
    table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.verticalHeader().hide()
    header = table.horizontalHeader()
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    wide = 1 if "Text" in heads else 0
    for place, head in enumerate(heads):
        header.setSectionResizeMode(
            place,
            QHeaderView.ResizeMode.Stretch if place == wide else QHeaderView.ResizeMode.ResizeToContents,
        )
        if head in ("Left", "Right", "Change"):
            table.setItemDelegateForColumn(place, MonoDelegate(table))
    return table


def _answer(result: GuardrailResult | Exception, name: str) -> CheckResult | None:
    if isinstance(result, Exception):
        return None
    return next((check for check in result.checks if check.name == name), None)


def _is_judged(answer: CheckResult | None) -> bool:
    """Tell whether there is a model's answer: the 0 or 1 of a rule is no number to compare."""
    return answer is not None and answer.kind == "model"


def _number(answer: CheckResult | None) -> str:
    if answer is not None and answer.kind != "model":
        return answer.kind
    if answer is None or answer.probability is None:
        return "–"
    return format_probability(answer.probability, answer.threshold)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _change(name: str, first: float | None, second: float | None) -> str:
    """Return the change, with a word on whether it is for the better."""
    if first is None or second is None or abs(second - first) < 0.0005:
        return "" if first is None or second is None else "same"
    better = (second < first) == (name in _LOWER_IS_BETTER)
    return f"{second - first:+.3f} {'better' if better else 'worse'}"
