"""Turns a request into the JSON of the output schema and shows every attempt while it happens."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QPushButton,
    QScrollArea,
    QSplitter,
    QTableView,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.delegates.words import MonoDelegate, StatusDelegate
from workbench.gui.jobs import STOPPED
from workbench.gui.models.attempts import (
    NUMBER,
    OUTCOME,
    TIME,
    TOKENS,
    AttemptTableModel,
    figures,
    outcome_words,
    turns_of,
)
from workbench.gui.models.expectations import describe_chat
from workbench.gui.models.inputs import inputs_channel
from workbench.gui.models.model_title import model_title
from workbench.gui.models.runs import word_of
from workbench.gui.models.shown_project import ShownProject
from workbench.gui.panes.translation.form import TranslationForm
from workbench.gui.panes.translation.prompts import PromptsView
from workbench.gui.panes.translation.requests import known_requests
from workbench.gui.panes.translation.sent import SentLine
from workbench.gui.panes.translation.words import (
    VALID_IS_NOT_RIGHT,
    arriving_words,
    outcome_banner,
)
from workbench.gui.shell.places import Place
from workbench.gui.shell.rule_places import show_rule
from workbench.gui.shell.scale import fit, px
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.conversation import ConversationView
from workbench.gui.widgets.diagnostic_list import DiagnosticList
from workbench.gui.widgets.diff_view import DiffView, changes_in_words
from workbench.gui.widgets.json_view import JsonView
from workbench.gui.widgets.labels import Banner, Strip, TokenLabel
from workbench.gui.widgets.reply_view import ReplyView
from workbench.gui.widgets.scrolled import scrolled
from workbench.gui.widgets.tables import dress_table
from workbench.gui.widgets.text_input import TextInput

if TYPE_CHECKING:
    from workbench.engine.events import RunEvent
    from workbench.engine.translation import Attempt, TranslationRecord
    from workbench.engine.translation.record import TranslationFold

NARROW_BELOW = 780
LEFT_WIDTH = 390
REFRESH_MS = 60
MAX_REQUESTS = 30
ROWS_SHOWN = 2


class _RequestPage(QWidget):
    """The request with its attempts and its outcome, as low as its parts allow; lower than that it scrolls."""

    def heightForWidth(self, width: int) -> int:
        return int(self.layout().minimumHeightForWidth(width))


class TranslationPane(QWidget):
    """Request at the left, what came of it at the right. The record shown is folded from the run's events."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._fold: TranslationFold | None = None
        self._record: TranslationRecord | None = None
        self._follow = True
        self._turned = False
        self._asked = ""
        self._said: tuple[str, str, str] | None = None
        self._requests: list[str] = []
        self._shown = ShownProject()
        self._refresh = one_shot(self, self._show_live, REFRESH_MS)
        self._build()
        self._connect()
        self._reload()

    # Building

    def _build(self) -> None:
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        self._narrow = False
        self.left = self._build_left()
        self.splitter.addWidget(self.left)
        self.splitter.addWidget(self._build_tabs())
        self.splitter.setStretchFactor(0, 2)
        self.splitter.setStretchFactor(1, 3)
        self.splitter.setSizes([px(LEFT_WIDTH), px(560)])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        layout.addWidget(self.splitter)

    def minimumSizeHint(self) -> QSize:
        return QSize(px(340), px(270))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(self.width() < px(NARROW_BELOW))

    def _arrange(self, narrow: bool) -> None:
        """Put the request beside the tabs, or, where there is little width, into the first tab."""
        if narrow == self._narrow:
            return
        self._narrow = narrow
        # Beside the tabs it needs its room; as a tab it has the whole width.
        self.left.setMinimumWidth(0 if narrow else px(LEFT_WIDTH))
        if narrow:
            self.tabs.insertTab(0, self.left, "Request")
            self.tabs.setCurrentIndex(0)
        else:
            self.tabs.removeTab(self.tabs.indexOf(self.left))
            self.splitter.insertWidget(0, self.left)
            self.left.show()
            self.splitter.setSizes([px(LEFT_WIDTH), max(px(LEFT_WIDTH), self.width() - px(LEFT_WIDTH))])

    def _build_left(self) -> QScrollArea:
        box = _RequestPage()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        strip = Strip(36, "window")
        strip.row.addWidget(TokenLabel("Request", bold=True))
        self.saved = QComboBox()
        self.saved.setAccessibleName("Earlier requests")
        self.saved.setToolTip("Take an earlier request again")
        self.saved.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.saved.setMinimumContentsLength(4)
        strip.row.addWidget(self.saved, 1)
        self.translate_button = QPushButton("Translate")
        set_icon(self.translate_button, "translate")
        self.translate_button.setToolTip("Turn the request into JSON (Ctrl+Return)")
        self.stop_button = QToolButton()
        set_icon(self.stop_button, "stop")
        self.stop_button.setText("Stop")
        self.stop_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.stop_button.setToolTip("Stop the translation and close its connection (Esc)")
        self.stop_button.setAccessibleName("Stop")
        self.batch_button = QToolButton()
        set_icon(self.batch_button, "list")
        self.batch_button.setToolTip("Run the requests of a file, or those of the history again")
        self.batch_button.setAccessibleName("Run many requests")
        strip.row.addWidget(self.translate_button)
        strip.row.addWidget(self.stop_button)
        strip.row.addWidget(self.batch_button)
        self.request = TextInput(
            "Request", "What shall become JSON? For example: a table for two on 3 May", 5
        )
        holder = QWidget()
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(12, 8, 12, 8)
        inner.addWidget(self.request)
        self.sent = SentLine(self._session)
        inner.addWidget(self.sent)
        self.attempts = QTableView()
        self.model = AttemptTableModel(self)
        self.attempts.setModel(self.model)
        self._dress_attempts()
        self.banner = Banner()
        self.foot = Strip(28, "window")
        self.model_words = TokenLabel("", "second", size="second", sentences=True)
        self.foot.row.addWidget(self.model_words, 1)
        layout.addWidget(strip)
        layout.addWidget(holder, 2)
        layout.addWidget(self.attempts, 2)
        layout.addWidget(self.banner)
        layout.addWidget(self.foot)
        place = scrolled(box)
        place.setMinimumWidth(px(LEFT_WIDTH))
        return place

    def _dress_attempts(self) -> None:
        table = self.attempts
        table.setAccessibleName("Attempts")
        dress_table(table, 26)
        fit(table, min_height=26 * (ROWS_SHOWN + 1))
        table.setTabKeyNavigation(False)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(OUTCOME, QHeaderView.ResizeMode.Stretch)
        for column, width in ((NUMBER, 92), (TIME, 74), (TOKENS, 98)):
            table.setColumnWidth(column, px(width))
        role = int(AttemptTableModel.StatusRole)
        table.setItemDelegateForColumn(OUTCOME, StatusDelegate(role, table))
        for column in (TIME, TOKENS):
            table.setItemDelegateForColumn(column, MonoDelegate(table, second=True))

    def _build_tabs(self) -> QWidget:
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.reply = ReplyView()
        self.value = JsonView()
        self.conversation = ConversationView()
        self.diagnostics = DiagnosticList(to_schema=True)
        self.changes = DiffView()
        self.changes.mode.choose("pointer")
        self.prompts = PromptsView(self._session)
        self.settings_form = TranslationForm(self._session)
        for widget, title in (
            (self.reply, "Reply"),
            (self.value, "JSON"),
            (self.conversation, "Messages"),
            (self.diagnostics, "Diagnostics"),
            (self.changes, "Repair"),
            (self.prompts, "Prompts"),
            (self.settings_form, "Settings"),
        ):
            self.tabs.addTab(widget, title)
        return self.tabs

    def _connect(self) -> None:
        session = self._session
        session.project_changed.connect(self._reload)
        session.models_changed.connect(self._show_model)
        session.edited.connect(self._on_edited)
        session.run_started.connect(self._on_started)
        session.run_progress.connect(self._on_progress)
        session.run_finished.connect(self._on_finished)
        session.run_failed.connect(self._on_failed)
        session.reveal.connect(self._on_reveal)
        inputs_channel(session).opened.connect(self._on_inputs)
        self.translate_button.clicked.connect(self.translate)
        self.stop_button.clicked.connect(lambda: session.stop("translate"))
        self.batch_button.clicked.connect(self.run_batch)
        self.request.edited.connect(self._show_buttons)
        self.request.edited.connect(self._tell_prompts)
        self.request.edited.connect(self._show_age)
        self.sent.asked.connect(self._show_prompt)
        self.saved.activated.connect(self._take_saved)
        self.attempts.selectionModel().currentRowChanged.connect(self._row_changed)
        self.attempts.activated.connect(lambda _index: self.tabs.setCurrentWidget(self.reply))
        self.diagnostics.chosen.connect(self._go_to)
        self.diagnostics.rule_asked.connect(lambda found: show_rule(session, found))
        shortcut = QShortcut(QKeySequence("Ctrl+Return"), self.request)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(self.translate)

    # Requests

    def request_text(self) -> str:
        """Return the request as typed."""
        return self.request.text()

    def set_request(self, text: str) -> None:
        """Put a request into the field."""
        self.request.set_text(text)

    def translate(self) -> None:
        """Translate the request in the field."""
        text = self.request.text()
        if text.strip() and "translate" not in self._session.running():
            self._remember(text)
            self._session.translate(text)

    def run_batch(self) -> None:
        """Open the window in which many requests are run."""
        from workbench.gui.dialogs.request_batch import RequestBatchDialog

        dialog = RequestBatchDialog(self._session, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()

    def _show_prompt(self) -> None:
        self.prompts.mode.choose("request")
        self.tabs.setCurrentWidget(self.prompts)

    def _tell_prompts(self) -> None:
        self.sent.show_for(self.request.text())
        self.prompts.show_for(self.request.text(), self.current_attempt())

    def _remember(self, text: str) -> None:
        if text in self._requests:
            self._requests.remove(text)
        self._requests.insert(0, text)
        del self._requests[MAX_REQUESTS:]
        self._fill_saved()

    def _fill_saved(self) -> None:
        self.saved.clear()
        self.saved.addItem("earlier" if self._requests else "none yet")
        for text in self._requests:
            first = " ".join(text.split())
            self.saved.addItem(first if len(first) <= 60 else first[:59] + "…")
            self.saved.setItemData(self.saved.count() - 1, text, Qt.ItemDataRole.ToolTipRole)
        self.saved.setEnabled(bool(self._requests))

    def _take_saved(self, row: int) -> None:
        if row > 0:
            self.request.set_text(self._requests[row - 1])
        self.saved.setCurrentIndex(0)

    def _load_requests(self) -> None:
        """Collect requests of stored runs and of the project's recordings; a recorded model answers only those."""
        snapshot = self._session.snapshot()
        self._session.jobs.run_pool(
            known_requests,
            self._session.history,
            snapshot.root,
            snapshot.translation.target,
            on_done=self._requests_found,
            on_error=lambda error: self._session.status.emit(f"Earlier requests: {error}"),
            key="requests",
        )

    def _requests_found(self, found: list[str]) -> None:
        self._requests = list(dict.fromkeys([*self._requests, *found]))[:MAX_REQUESTS]
        self._fill_saved()
        if not self.request.text() and self._requests:
            self.request.set_text(self._requests[0])

    # The session

    def _reload(self) -> None:
        has_project = self._session.project is not None
        self.setEnabled(has_project)
        self._fold, self._record, self._said = None, None, None
        if self._shown.becomes(self._session.project):
            self._requests = []
            self.request.set_text("")
            self.request.document().clearUndoRedoStacks()
        self._fill_saved()
        if has_project:
            self._load_requests()
        self.settings_form.reload()
        self._show_record()
        self._show_buttons()
        self._show_model()

    def _on_edited(self, area: str) -> None:
        if area == "translation":
            self.settings_form.reload()
        elif area in ("models", "schemas"):
            self._show_model()
            self._show_buttons()

    def _show_buttons(self) -> None:
        running = "translate" in self._session.running()
        ready = self._session.project is not None and self._session.snapshot().output_schema is not None
        self.translate_button.setEnabled(ready and not running and bool(self.request.text().strip()))
        self.translate_button.setToolTip(
            "Turn the request into JSON (Ctrl+Return)" if ready else "The project has no output schema."
        )
        self.stop_button.setEnabled(running)

    def _show_model(self) -> None:
        if self._session.project is None:
            self.model_words.set_text("")
            return
        try:
            settings = self._session.chat_settings()
        except Exception as error:  # a model that the project does not have: say so and go on
            self._say_model(str(error))
            return
        if settings is None:
            self._say_model(
                "No chat model. Set one up under Models, or use the recorded replies of a sample."
            )
            return
        self._say_model(model_title(settings))
        describe_chat(self._session, settings, self._say_model)

    def _say_model(self, words: str) -> None:
        self.model_words.set_text(words)
        self.model_words.setToolTip(words)

    # A run

    def _on_started(self, kind: str) -> None:
        if kind != "translate":
            return
        from workbench.engine.translation.record import TranslationFold

        self._fold, self._follow = TranslationFold(), True
        self._asked, self._said = self.request.text(), None
        self._record = self._fold.record()
        self._turned = self.tabs.currentWidget() is self.left
        if self.tabs.currentWidget() in (self.left, self.prompts, self.settings_form):
            # There, nothing would be seen of the reply while it arrives.
            self.tabs.setCurrentWidget(self.value)
        self.banner.show_words("running", "Asking the model…", "Stop closes the connection.")
        self._show_record()
        self._show_buttons()

    def _on_progress(self, kind: str, event: RunEvent) -> None:
        if kind == "translate" and self._fold is not None:
            self._fold.apply(event)
            if not self._refresh.isActive():
                self._refresh.start()

    def _show_live(self) -> None:
        if self._fold is not None:
            began = time.perf_counter()
            self._record = self._fold.record()
            self._show_record()
            # A long reply is read less often, so that showing it never takes the window's whole time.
            spent = (time.perf_counter() - began) * 1000
            self._refresh.setInterval(int(max(REFRESH_MS, min(1000, 4 * spent))))

    def _on_finished(self, kind: str, result: Any) -> None:
        if kind != "translate":
            return
        self._refresh.stop()
        # What is shown stays the fold of the run's own events, which is also what a replay shows.
        record = self._fold.record() if self._fold is not None else result.record
        self._record = result.record if result.record is not None else record
        self._fold = None
        self._show_record()
        self._show_buttons()
        self._show_outcome()
        self._turn_back()

    def _on_failed(self, kind: str, message: str) -> None:
        if kind != "translate":
            return
        self._refresh.stop()
        stopped = message == STOPPED
        if self._fold is not None:
            self._record = self._fold.record().ended("cancelled" if stopped else "model_error")
        self._fold = None
        self._show_record()
        self._show_buttons()
        self._said = (
            ("none", "Stopped by you.", "") if stopped else ("error", "The translation failed.", message)
        )
        self._show_age()
        self._turn_back()

    def _turn_back(self) -> None:
        """Where the reply was turned to for the run and there is none, turn back to the words that say why."""
        attempt = self.current_attempt()
        turned, self._turned = self._turned, False
        if turned and self.tabs.currentWidget() is self.value and not (attempt and attempt.has_value):
            self.tabs.setCurrentWidget(self.left)

    def _show_outcome(self) -> None:
        record = self._record
        if record is None:
            return
        self._said = outcome_banner(record)
        self._show_age()

    def _show_age(self) -> None:
        """Say what came of the run, or that the request in the field is another one by now."""
        if self._said is None or "translate" in self._session.running():
            return
        if self.request.text() == self._asked:
            self.banner.show_words(*self._said)
        else:
            headline = self._said[1]
            self.banner.show_words("stale", "An earlier request.", f"What is shown came of it: {headline}")

    # What is shown

    def record(self) -> TranslationRecord | None:
        """Return the record that is shown."""
        return self._record

    def current_attempt(self) -> Attempt | None:
        """Return the attempt that is shown."""
        row = self.attempts.currentIndex().row()
        if row < 0 or row >= self.model.rowCount():
            return None
        return self.model.attempt(row)

    def _show_record(self) -> None:
        attempts = self._record.attempts if self._record is not None else ()
        before = self.model.rowCount()
        self.model.set_attempts(attempts)
        if self._record is None:
            self.banner.show_words("none", "Nothing translated yet.", "")
        if (
            attempts
            and (self._follow or self.attempts.currentIndex().row() < 0)
            and (len(attempts) != before or self.attempts.currentIndex().row() < 0)
        ):
            self.attempts.selectionModel().currentRowChanged.disconnect(self._row_changed)
            self.attempts.selectRow(len(attempts) - 1)
            self.attempts.selectionModel().currentRowChanged.connect(self._row_changed)
        self._show_attempt()

    def _row_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        self._follow = current.row() == self.model.rowCount() - 1
        self._show_attempt()

    def _show_attempt(self) -> None:
        attempt = self.current_attempt()
        self.reply.show_attempt(attempt)
        self.conversation.set_turns(turns_of(attempt))
        self.diagnostics.show_diagnostics(
            attempt.diagnostics if attempt is not None else (),
            f"Diagnostics of attempt {attempt.number}" if attempt is not None else "Diagnostics",
        )
        errors = sum(1 for each in attempt.diagnostics if each.severity == "error") if attempt else 0
        index = self.tabs.indexOf(self.diagnostics)
        self.tabs.setTabText(index, f"Diagnostics {errors}" if errors else "Diagnostics")
        self._show_value(attempt)
        self._show_changes(attempt)
        self._tell_prompts()

    def _show_value(self, attempt: Attempt | None) -> None:
        if attempt is None:
            self.value.show_nothing("No value yet.")
        elif attempt.has_value:
            stripped = (
                f", stripped null at {', '.join(attempt.removed_nulls)}" if attempt.removed_nulls else ""
            )
            recorded = "recorded, " if attempt.recorded else ""
            self.value.show_value(attempt.value, f"{recorded}{outcome_words(attempt)}{stripped}")
        elif attempt.outcome == "running":
            self._show_arriving(attempt)
        elif attempt.partial is not None:
            self.value.show_value(attempt.partial, "cut off; only what arrived")
        else:
            self.value.show_nothing(f"No value: {outcome_words(attempt)}.")

    def _show_arriving(self, attempt: Attempt) -> None:
        """Show what of the JSON has arrived so far."""
        from workbench.engine.translation.partial import preview_reply

        found = preview_reply(attempt.reply) if attempt.reply else None
        if attempt.reply and self._fold is not None:
            headline = f"Reply {attempt.number} is arriving."
            self.banner.show_words("running", headline, arriving_words(attempt, found and found[0]))
        if found is None:
            self.value.show_nothing(
                "The reply is arriving; no JSON yet." if attempt.reply else "Waiting for the model."
            )
        else:
            self.value.show_value(
                found[0], "complete, being checked" if found[1] else "arriving; only what is there so far"
            )

    def _show_changes(self, attempt: Attempt | None) -> None:
        record = self._record
        index = self.tabs.indexOf(self.changes)
        if record is None or attempt is None or attempt.number < 2:
            self.changes.clear("Repair", "The first attempt repairs nothing.")
            self.tabs.setTabText(index, "Repair")
            return
        previous = next((a for a in record.attempts if a.number == attempt.number - 1), None)
        if previous is None:
            return
        before = previous.json_text or previous.reply
        after = attempt.json_text or attempt.reply
        self.changes.head.title.set_text(f"Attempt {previous.number} and attempt {attempt.number}")
        self.changes.show_texts(
            before,
            after,
            f"attempt {previous.number}, {word_of(previous.outcome)}",
            f"attempt {attempt.number}, {word_of(attempt.outcome)}",
        )
        changes = record.changes(previous.number, attempt.number)
        self.changes.show_pointers(changes)
        self.changes.say(f"{VALID_IS_NOT_RIGHT} Read what the repair changed: {changes_in_words(changes)}.")
        self.tabs.setTabText(index, f"Repair {len(changes)}" if changes else "Repair")

    def _go_to(self, diagnostic: Diagnostic) -> None:
        if self.reply.go_to(diagnostic):
            self.tabs.setCurrentWidget(self.reply)

    def _on_inputs(self, kind: str, inputs: Any) -> None:
        if kind != "translate":
            return
        self.request.set_text(str(inputs.get("request", "")))
        if "translate" not in self._session.running():
            # What an earlier run gave does not belong to these inputs.
            self._record = self._said = None
            self._show_record()
            self.banner.show_words("none", "Not run yet with these inputs.", "Translate runs them.")
        if self._narrow:
            self.tabs.setCurrentWidget(self.left)
        self.request.setFocus()

    def _on_reveal(self, place: Place) -> None:
        if place.area == "translation" and place.name == "settings":
            self.tabs.setCurrentWidget(self.settings_form)

    def figures(self) -> str:
        """Return time and tokens of the attempt shown."""
        attempt = self.current_attempt()
        return figures(attempt) if attempt is not None else ""
