"""Imports labelled cases from a CSV file: which column holds what, what that gives, and what could not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QScrollArea,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import Stage
from workbench.gui.delegates.words import TextDelegate
from workbench.gui.jobs import Jobs
from workbench.gui.models.cases import LABEL_WORDS
from workbench.gui.models.figures import counted, grouped
from workbench.gui.models.words import plain
from workbench.gui.shell.scale import resize_window
from workbench.gui.shell.theme import set_role
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.labels import SegmentedControl, StatusMark, TokenLabel
from workbench.gui.widgets.tables import fill_row

PREVIEW_ROWS = 50
_NONE = "(none)"
_PROBLEMS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Found:
    """What a file gives under a mapping."""

    cases: tuple[Case, ...]
    problems: tuple[Diagnostic, ...]


def decoded(data: bytes) -> tuple[str, str]:
    """Return the text of a CSV file and a word on its encoding where that was a guess."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace"), ""
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), "The file is not UTF-8; it was read as Windows-1252."


class CsvImportDialog(QDialog):
    """A mapping of columns with a preview. `cases()` is what was found when the dialog was accepted.

    `checks` names the checks of each stage, `taken` the ids that the project uses. The file is read and parsed off
    this thread.
    """

    def __init__(
        self,
        path: Path,
        jobs: Jobs,
        stage: Stage,
        checks: Mapping[str, Sequence[str]],
        taken: Sequence[str],
        parent: QWidget | None = None,
        *,
        known_texts: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(parent)
        self._path, self._jobs, self._checks, self._taken = path, jobs, checks, list(taken)
        self._known = known_texts
        self._text, self._header, self._note = "", [], ""
        self._found = Found((), ())
        self._read_yet = False
        self.setWindowTitle(f"Import cases from {path.name}")
        resize_window(self, 900, 620)
        self.stage = SegmentedControl({"input": "Input", "output": "Output"})
        self.boxes: dict[str, QComboBox] = {}
        self.label_boxes: dict[str, QComboBox] = {}
        self.skip_known = QCheckBox("Leave out texts that the project has already")
        self.skip_known.setChecked(True)
        self.preview = QTableWidget(0, 0)
        self.mark = StatusMark("queued", 16)
        self.words = TokenLabel("Reading the file…", bold=True)
        self.problems = TokenLabel("", "warning", size="second", wrap=True)
        self._build()
        self.stage.choose(stage)
        self.stage.chosen.connect(lambda _key: self._build_labels())
        self.skip_known.toggled.connect(lambda _checked: self._show())
        self._pause = one_shot(self, self._parse, 80)
        self._read()

    def _build(self) -> None:
        self._form = QFormLayout()
        self._form.setSpacing(8)
        self._form.addRow("Stage", self.stage)
        for key, words in (
            ("text", "Text"),
            ("id", "Id"),
            ("note", "Note"),
            ("user_message", "User message"),
        ):
            self.boxes[key] = self._box(words)
            self._form.addRow(words, self.boxes[key])
        self._labels = QFormLayout()
        self._labels.setSpacing(8)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 8, 0)
        column.addLayout(self._form)
        column.addWidget(TokenLabel("Labels: the column of each check", bold=True))
        column.addLayout(self._labels)
        column.addWidget(
            TokenLabel(
                "Yes (1, true, yes, reject …) means: must be rejected. Empty means: not labelled.",
                "second", size="second", wrap=True,
            )
        )  # fmt: skip
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(left)
        scroll.setMinimumWidth(330)
        self.preview.setItemDelegate(TextDelegate(self.preview))
        self.preview.setAccessibleName("Preview of the cases")
        self.preview.setShowGrid(False)
        self.preview.verticalHeader().hide()
        self.preview.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        middle = QHBoxLayout()
        middle.addWidget(scroll, 2)
        middle.addWidget(self.preview, 5)
        line = QHBoxLayout()
        line.addWidget(self.mark)
        line.addWidget(self.words, 1)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self._ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self._ok.setText("Import")
        self._ok.setEnabled(False)
        set_role(self._ok, "main")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 12)
        layout.setSpacing(10)
        layout.addLayout(middle, 1)
        layout.addWidget(self.skip_known)
        layout.addLayout(line)
        layout.addWidget(self.problems)
        layout.addWidget(self.buttons)

    def _box(self, name: str) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(14)
        box.activated.connect(lambda _index: self._pause.start())
        return box

    # Reading

    def _read(self) -> None:
        def work() -> tuple[str, list[str], str]:
            from workbench.engine.evaluation import csv_header

            text, note = decoded(self._path.read_bytes())
            return text, csv_header(text), note

        self._jobs.run_pool(work, on_done=self._take_file, on_error=self._fail, key="csv-read")

    def _take_file(self, result: tuple[str, list[str], str]) -> None:
        self._text, self._header, self._note = result
        self._read_yet = True
        for key, box in self.boxes.items():
            box.clear()
            for name in ([] if key == "text" else [_NONE]) + self._header:
                box.addItem(name)
        self._build_labels()

    def _build_labels(self) -> None:
        """Make a box per check of the stage, set to the likeliest columns."""
        while self._labels.rowCount():
            self._labels.removeRow(0)
        self.label_boxes = {}
        names = list(self._checks.get(self.stage.current(), ()))
        for name in names:
            box = self._box(f"Label of {name}")
            box.addItems([_NONE, *self._header])
            self._labels.addRow(name, box)
            self.label_boxes[name] = box
        self._guess(names)
        self._parse()

    def _guess(self, names: list[str]) -> None:
        from workbench.engine.evaluation import guess_mapping

        guess = guess_mapping(self._header, names)
        if guess is None:
            return
        self.boxes["text"].setCurrentText(guess.text)
        for key, column in (("id", guess.id), ("note", guess.note), ("user_message", guess.user_message)):
            self.boxes[key].setCurrentText(column or _NONE)
        for name, column in guess.labels.items():
            self.label_boxes[name].setCurrentText(column)

    def choose(self, key: str, column: str | None) -> None:
        """Choose the column of `text`, `id`, `note`, `user_message` or of a check's label; `None` for no column."""
        box = self.boxes.get(key) or self.label_boxes[key]
        box.setCurrentText(column or _NONE)
        self._parse()

    def _parse(self) -> None:
        from workbench.engine.evaluation import ColumnMapping, read_csv_cases

        def chosen(box: QComboBox) -> str | None:
            return None if box.currentText() in ("", _NONE) else box.currentText()

        text_column = chosen(self.boxes["text"])
        if not self._read_yet:
            return
        if text_column is None:
            self._say("error_mark", "The file has no columns.")
            return
        labels = {name: column for name, box in self.label_boxes.items() if (column := chosen(box))}
        stage: Stage = "output" if self.stage.current() == "output" else "input"
        mapping = ColumnMapping(
            text_column, labels, chosen(self.boxes["id"]), chosen(self.boxes["note"]),
            chosen(self.boxes["user_message"]), stage,
        )  # fmt: skip
        text, taken, name = self._text, self._taken, self._path.name

        def work() -> Found:
            cases, problems = read_csv_cases(text, mapping, taken_ids=taken, file=name)
            return Found(tuple(cases), tuple(problems))

        self._jobs.run_pool(work, on_done=self._take_found, on_error=self._fail, key="csv-parse")

    def _take_found(self, found: Found) -> None:
        self._found = found
        self._show()

    def _fail(self, error: BaseException) -> None:
        self._found = Found((), ())
        self._show()
        self._say("error_mark", f"{self._path.name} cannot be read: {error}")

    # Showing

    def cases(self) -> list[Case]:
        """Return the cases to import."""
        if not self.skip_known.isChecked():
            return list(self._found.cases)
        return [case for case in self._found.cases if case.text not in self._known]

    def diagnostics(self) -> list[Diagnostic]:
        """Return what could not be read."""
        return list(self._found.problems)

    def _show(self) -> None:
        cases, labels = self.cases(), list(self.label_boxes)
        self._fill_preview(cases[:PREVIEW_ROWS], labels)
        left_out = len(self._found.cases) - len(cases)
        labelled = sum(1 for case in cases if case.labels)
        parts = [f"{counted(len(cases), 'case')}, {grouped(labelled)} with a label"]
        if left_out:
            parts.append(f"{grouped(left_out)} left out, the project has their text")
        if len(cases) > PREVIEW_ROWS:
            parts.append(f"the first {PREVIEW_ROWS} are shown")
        if cases and not labelled:
            parts.append("choose the column of a check to take labels in")
        self._say(("passed" if labelled else "idle") if cases else "error_mark", "; ".join(parts))
        self._ok.setEnabled(bool(cases))
        problems = [self._note] if self._note else []
        problems += [_problem(found) for found in self._found.problems[:_PROBLEMS_SHOWN]]
        if (more := len(self._found.problems) - _PROBLEMS_SHOWN) > 0:
            problems.append(f"and {counted(more, 'more problem')}")
        self.problems.set_text("\n".join(problems))
        self.problems.setVisible(bool(problems))

    def _fill_preview(self, cases: list[Case], labels: list[str]) -> None:
        output = self.stage.current() == "output"
        heads = ["Case", "Text", *(["User message"] if output else []), *labels, "Note"]
        self.preview.setColumnCount(len(heads))
        self.preview.setHorizontalHeaderLabels(heads)
        self.preview.setRowCount(len(cases))
        for row, case in enumerate(cases):
            words = [case.id, " ".join(case.text[:300].split())]
            if output:
                words.append(" ".join((case.user_message or "")[:300].split()))
            words += [LABEL_WORDS[case.labels.get(name)] for name in labels]
            fill_row(self.preview, row, [*words, case.note])
        header = self.preview.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for place in (1, 2) if output else (1,):
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
            header.resizeSection(place, 280)

    def done(self, result: int) -> None:
        """Close, and wait for no file that is still being read."""
        self._pause.stop()
        for key in ("csv-read", "csv-parse"):
            self._jobs.cancel(key)
        super().done(result)

    def _say(self, status: str, words: str) -> None:
        self.mark.set_status(status)
        self.words.set_text(words)


def _problem(found: Diagnostic) -> str:
    words = plain(found.message)
    return f"line {found.line}: {words}" if found.line else words
