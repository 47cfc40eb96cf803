"""Runs many requests one after the other with today's prompt, and shows which results changed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QPushButton,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.delegates.words import MonoDelegate, StatusDelegate
from workbench.gui.models.figures import counted, format_left
from workbench.gui.models.request_batch import (
    CHANGE,
    NUMBER,
    REQUEST,
    RESULT,
    TIME,
    TOKENS,
    BatchModel,
    change_words,
    last_run_of,
    stored_requests,
    tokens_words,
)
from workbench.gui.panes.history.compared import compared_outcomes
from workbench.gui.shell.places import Place
from workbench.gui.shell.scale import fit, px, resize_window
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon, set_role
from workbench.gui.widgets.comparison import ComparisonView
from workbench.gui.widgets.labels import TokenLabel
from workbench.gui.widgets.tables import dress_table

if TYPE_CHECKING:
    from workbench.engine.history import Run

KIND = "batch"
_CHOOSE = "Choose a request that ran before."


class RequestBatchDialog(QDialog):
    """Requests from a file (one a line) or from the history, their progress, and how each result differs from the last."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._began = 0.0
        self._finished = 0
        self._asking = -1
        self._gone = False
        self.setWindowTitle("Run requests")
        resize_window(self, 1000, 720)
        self._build()
        session.run_failed.connect(self._on_failed)
        session.project_changed.connect(self.close)
        self._show_state("Choose a file with one request a line; # starts a comment line.")

    def _build(self) -> None:
        self.open_button = QPushButton("Open file…")
        set_icon(self.open_button, "open")
        self.history_button = QPushButton("Take those of the history")
        set_icon(self.history_button, "history")
        self.run_button = QPushButton("Run all")
        set_role(self.run_button, "main")
        set_icon(self.run_button, "play", "on_accent")
        self.stop_button = QPushButton("Stop")
        set_icon(self.stop_button, "stop")
        self.open_button.clicked.connect(lambda: self.open_file())
        self.history_button.clicked.connect(self.take_from_history)
        self.run_button.clicked.connect(self.run)
        self.stop_button.clicked.connect(lambda: self._session.stop(KIND))
        row = QHBoxLayout()
        for button in (self.open_button, self.history_button):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.stop_button)
        row.addWidget(self.run_button)
        self.model = BatchModel(self)
        self.table = QTableView()
        self.table.setModel(self.model)
        self._dress_table()
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        fit(self.progress, height=6)
        self.state = TokenLabel("", "second", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 12)
        layout.setSpacing(10)
        self.compare = ComparisonView()
        self.compare.clear("Compare", _CHOOSE)
        body = QSplitter(Qt.Orientation.Vertical)
        body.setChildrenCollapsible(False)
        body.addWidget(self.table)
        body.addWidget(self.compare)
        body.setSizes([300, 240])
        layout.addLayout(row)
        layout.addWidget(body, 1)
        layout.addWidget(self.progress)
        layout.addWidget(self.state)

    def _dress_table(self) -> None:
        table = self.table
        table.setAccessibleName("Requests")
        dress_table(table, 26)
        table.setTabKeyNavigation(False)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.horizontalHeader().setSectionResizeMode(REQUEST, QHeaderView.ResizeMode.Stretch)
        for column, width in ((NUMBER, 44), (RESULT, 150), (CHANGE, 270), (TOKENS, 96), (TIME, 80)):
            table.setColumnWidth(column, px(width))
        table.setItemDelegateForColumn(RESULT, StatusDelegate(int(BatchModel.StatusRole), table))
        for column in (TOKENS, TIME):
            table.setItemDelegateForColumn(column, MonoDelegate(table, second=True))
        table.selectionModel().currentRowChanged.connect(
            lambda index, _before: self._compare_row(index.row())
        )
        table.activated.connect(lambda index: self._show_run(index.row()))
        table.doubleClicked.connect(lambda index: self._show_run(index.row()))

    # Requests

    def open_file(self, path: Path | None = None) -> None:
        """Read requests from a file; asks for it when none is given."""
        from workbench.engine.text import TextFile
        from workbench.engine.translation import read_requests

        if path is None:
            name, _filter = QFileDialog.getOpenFileName(self, "Requests, one a line")
            if not name:
                return
            path = Path(name)
        try:
            requests = read_requests(TextFile.decode(path.read_bytes()).text)
        except (OSError, UnicodeDecodeError) as error:
            self._show_state(f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}")
            return
        self._take(requests, f"{path.name} holds {counted(len(requests), 'request')}.")

    def take_from_history(self) -> None:
        """Take every request that was stored in the history, each once."""
        history = self._session.history
        target = self._session.snapshot().translation.target
        requests = stored_requests(history, target) if history is not None else []
        self._take(requests, f"The history holds {counted(len(requests), 'request')}.")

    def _take(self, requests: list[str], words: str) -> None:
        self.model.set_requests(requests)
        self.progress.setRange(0, max(1, len(requests)))
        self.progress.setValue(0)
        self._show_state(words)

    # Running

    def running(self) -> bool:
        """Tell whether the requests are being run."""
        return KIND in self._session.running()

    def run(self) -> None:
        """Run every request, one after the other."""
        requests = [row.request for row in self.model.rows]
        if not requests or self.running():
            return
        self._take(requests, "")
        self._began, self._finished, self._asking = time.monotonic(), 0, -1
        session = self._session
        snapshot, parameter_set, name = session.snapshot(), session.parameter_set, session.chat_model_name
        history = session.history if session.records else None
        secrets, post = session.secrets, session.jobs.post

        async def work() -> None:
            from workbench.engine.workflows import translate_project

            for row, request in enumerate(requests):
                self._asking = row
                before = last_run_of(history, request) if history is not None else None
                tell(self._row_started, row, before.summary.id if before is not None else None)
                began = time.monotonic()
                try:
                    result = await translate_project(
                        snapshot,
                        request,
                        model_name=name,
                        parameter_set=parameter_set,
                        history=history,
                        secrets=secrets,
                        parent=before.summary.id if before is not None else None,
                    )
                except Exception as error:  # one request that cannot be sent must not take the others with it
                    tell(self._row_failed, row, session.scrub(str(error)))
                    continue
                made = history.runs(kind="translate", limit=1) if history is not None else []
                # What the store could not take in is not the newest run it has.
                stored = bool(made) and (history is not None and history.problem is None)
                after = history.run(made[0].id) if history is not None and stored else None
                tell(self._row_done, row, result, before, after, time.monotonic() - began)

        def tell(show: Callable[..., None], *values: Any) -> None:
            post(self._tell, show, *values)

        session.begin_run(KIND)
        self._show_state("")
        session.jobs.run_async(work, lambda _none: self._ended(), self._broke, key=KIND)

    def _tell(self, show: Callable[..., None], *values: Any) -> None:
        """Show what a run had to say, unless the window was closed meanwhile."""
        if not self._gone:
            show(*values)

    def _row_started(self, row: int, before: int | None) -> None:
        if not self.running():
            return  # it was stopped before this was heard
        self.model.update_row(row, outcome="running", before=before)
        self.table.scrollTo(self.model.index(row, 0))

    def _row_done(self, row: int, result: Any, before: Run | None, after: Run | None, seconds: float) -> None:
        from workbench.engine.translation import Failure

        failed = isinstance(result, Failure)
        words, changed = change_words(before, after)
        self.model.update_row(
            row,
            outcome=result.code if failed else "ok",
            repairs=max(0, len(result.attempts) - 1),
            change=words,
            changed=changed,
            tokens=tokens_words(after),
            elapsed_ms=seconds * 1000,
            run_id=after.summary.id if after is not None else None,
            message=result.message if failed else "",
        )
        if row == self.table.currentIndex().row():
            self._compare_row(row)
        self._step()

    def _row_failed(self, row: int, message: str) -> None:
        self.model.update_row(row, outcome="error", message=message, change=message)
        self._step()

    def _step(self) -> None:
        self._finished += 1
        self.progress.setValue(self._finished)
        self._show_state("")

    def _ended(self) -> None:
        self._session.end_run(KIND, self.model.rows)
        self._session.history_changed.emit()
        self._show_state("")

    def _broke(self, error: BaseException) -> None:
        self._session.end_run(KIND, failure=str(error))

    def _on_failed(self, kind: str, message: str) -> None:
        if kind == KIND and not self._gone:
            # The request under way, which may have been stopped before the table had heard of it.
            asking = self.model.rows[self._asking] if 0 <= self._asking < len(self.model.rows) else None
            if asking is not None and asking.outcome in ("", "running"):
                self.model.update_row(self._asking, outcome="cancelled")
            self._show_state(message[0].upper() + message[1:] + ".")

    # What is shown

    def summary(self) -> str:
        """Return how many were valid at once, repaired and failed, and how many changed."""
        ended = [
            row for row in self.model.rows if row.outcome and row.outcome not in ("running", "cancelled")
        ]
        first = sum(1 for row in ended if row.outcome == "ok" and not row.repairs)
        repaired = sum(1 for row in ended if row.outcome == "ok" and row.repairs)
        changed = sum(1 for row in ended if row.changed)
        words = f"{len(ended)} of {len(self.model.rows)}: {first} valid at first, {repaired} repaired, "
        return f"{words}{len(ended) - first - repaired} failed; {changed} differ from the last run"

    def _show_state(self, words: str) -> None:
        running = self.running()
        if running or self._finished:
            parts = [words, self.summary() + "."]
            if running and self._finished:
                per = (time.monotonic() - self._began) / self._finished
                parts.append(f"About {format_left(per * (len(self.model.rows) - self._finished))}.")
            words = " ".join(part for part in parts if part)
        self.state.set_text(words)
        for button in (self.open_button, self.history_button):
            button.setEnabled(not running)
        ready = self._session.project is not None and self._session.snapshot().output_schema is not None
        self.run_button.setEnabled(ready and not running and bool(self.model.rows))
        self.stop_button.setEnabled(running)

    def _compare_row(self, row: int) -> None:
        """Show in every respect how the run of a row differs from the last one of its request."""
        from workbench.engine.history import HistoryError

        history = self._session.history
        each = self.model.rows[row] if 0 <= row < len(self.model.rows) else None
        if history is None or each is None or each.run_id is None or each.before is None:
            words = each.change if each is not None and each.change else _CHOOSE
            self.compare.clear("Compare", words)
            return
        try:
            pair = compared_outcomes(history.run(each.before), history.run(each.run_id))
        except (KeyError, HistoryError) as error:
            self.compare.clear("Compare", str(error.args[0]))
            return
        if pair is None:
            self.compare.clear("Compare", "One of the two runs has no attempt.")
        else:
            self.compare.compare(*pair)

    def _show_run(self, row: int) -> None:
        run_id = self.model.rows[row].run_id
        if run_id is not None:
            self._session.go_to(Place("history", str(run_id)))

    def closeEvent(self, event: QCloseEvent) -> None:
        self._leave()
        super().closeEvent(event)

    def done(self, result: int) -> None:
        self._leave()
        super().done(result)

    def _leave(self) -> None:
        if not self._gone:
            self._gone = True
            if self.running():
                self._session.stop(KIND)
