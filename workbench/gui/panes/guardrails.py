"""Shows the checks of both stages with their probabilities, lets thresholds be moved, and runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.engine.guardrails.settings import CheckSettings, Stage
from workbench.engine.model_settings import ModelSettings
from workbench.gui.jobs import STOPPED
from workbench.gui.models.checks import CheckListModel
from workbench.gui.models.checks_origin import origin_words, stale_threshold
from workbench.gui.models.expectations import describe_decisions
from workbench.gui.models.figures import format_duration
from workbench.gui.models.inputs import inputs_channel
from workbench.gui.models.model_title import model_title
from workbench.gui.models.shown_project import ShownProject
from workbench.gui.models.strongest import StrongestParts
from workbench.gui.panes.guard_loop import GuardLoop
from workbench.gui.shell.places import Place, message_title
from workbench.gui.shell.scale import fit
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import on_theme_changed, set_icon
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.check_row import CheckHead, CheckRowWidget, ThresholdSpin
from workbench.gui.widgets.labels import (
    Banner,
    Ground,
    Lendable,
    LinkButton,
    SegmentedControl,
    Strip,
    TokenLabel,
)
from workbench.gui.widgets.text_input import TextInput
from workbench.gui.widgets.text_marks import mark_part

LIVE_PAUSE_MS = 450
RENDERED, TYPED, MESSAGE = "rendered", "typed", "message"


class GuardrailsPane(QWidget):
    """Input and output checks: one list model per stage, one row widget per check."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._models: dict[Stage, CheckListModel] = {
            "input": CheckListModel(self),
            "output": CheckListModel(self),
        }
        self._stage: Stage = "input"
        self._asking: Stage | None = None
        self._running: Stage | None = None
        self._rows: list[CheckRowWidget] = []
        self._strongest = StrongestParts()
        self._asked_text: str | None = None
        self._selected = -1
        self._shown = ShownProject()
        self._shown.becomes(session.project)
        self._described: tuple[ModelSettings, str] | None = None
        self._info: Any = None
        self._live = one_shot(self, self._run_live, LIVE_PAUSE_MS)
        self._build()
        self._connect()
        self._reload()

    # Building

    def _build(self) -> None:
        self.controls = self._build_controls()
        # A dock takes these into its title; without one they stay at the top of the pane.
        self.dock_title_widgets = (self.controls,)
        self.source = self._build_source()
        self.texts = self._build_texts()
        self._list = Ground()
        self._list_layout = QVBoxLayout(self._list)
        self._list_layout.setContentsMargins(0, 0, 0, 0)
        self._list_layout.setSpacing(0)
        self._empty = TokenLabel("", "second", wrap=True)
        self._empty.setContentsMargins(12, 8, 12, 8)
        self._list_layout.addWidget(self._empty)
        self.loop = GuardLoop(self._session)
        self._list_layout.addWidget(self.loop.steps)
        self._list_layout.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        # The keyboard goes to the rows, which scroll with it.
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self._list)
        self.banner = Banner()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        head = CheckHead()
        for widget in (Lendable(self.controls), self.source, self.texts, self.loop, head):
            layout.addWidget(widget)
        bar = self._scroll.verticalScrollBar()
        bar.rangeChanged.connect(lambda _low, high: head.leave_room(bar.sizeHint().width() if high else 0))
        layout.addWidget(self._scroll, 1)
        layout.addWidget(self.banner)
        layout.addWidget(self._build_foot())
        self._build_actions()

    def _build_controls(self) -> QWidget:
        strip = QWidget()
        row = QHBoxLayout(strip)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.stage_switch = SegmentedControl({"input": "Input", "output": "Output"})
        self.stage_switch.setAccessibleName("Stage")
        self.default_spin = ThresholdSpin()
        self.default_spin.setAccessibleName("Default threshold of the stage")
        self.default_spin.setToolTip("The threshold of every check that has none of its own")
        self.add_button = QToolButton()
        set_icon(self.add_button, "plus")
        self.add_button.setToolTip("Add a check")
        self.add_button.setAccessibleName("Add a check")
        row.addWidget(self.stage_switch)
        row.addWidget(self.add_button)
        row.addStretch(1)
        row.addWidget(TokenLabel("Default threshold", "second", size="second"))
        row.addWidget(self.default_spin)
        return strip

    def _build_source(self) -> QWidget:
        strip = Strip(30, "window")
        self.source_box = QComboBox()
        self.source_box.setAccessibleName("Text to check")
        self.source_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.source_box.setMinimumContentsLength(14)
        self.live_box = QCheckBox("while typing")
        self.live_box.setToolTip("Run on a pause of typing; only with a model on this computer")
        self.run_button = QPushButton("Run")
        set_icon(self.run_button, "play")
        strip.row.addWidget(TokenLabel("Check", "second", size="second"))
        strip.row.addWidget(self.source_box)
        strip.row.addWidget(self.live_box)
        strip.row.addStretch(1)
        strip.row.addWidget(self.run_button)
        return strip

    def _build_texts(self) -> QWidget:
        box = QWidget()
        layout = QHBoxLayout(box)
        layout.setContentsMargins(12, 6, 12, 6)
        layout.setSpacing(8)
        self.typed = TextInput("Text to check", "Type or paste a user message")
        self.user_message = TextInput("User message", "User message before the response (may be empty)", 3)
        self.response = TextInput("Response to check", "Response of the assistant", 3)
        for field in (self.typed, self.user_message, self.response):
            fit(field, max_height=96)
            layout.addWidget(field)
        return box

    def _build_foot(self) -> QWidget:
        foot = Strip(24, "window")
        self.model_words = TokenLabel("", "second", size="second", elide=True)
        self.exchange_link = LinkButton("Request and reply")
        self.exchange_link.setToolTip(
            "What was sent to the model and what it answered; secrets are taken out"
        )
        self.exchange_link.setEnabled(False)
        self.compare_link = LinkButton("Compare…")
        self.compare_link.setToolTip("Two models, or two wordings of a check, side by side")
        foot.row.addWidget(self.model_words, 1)
        foot.row.addWidget(self.compare_link)
        foot.row.addWidget(self.exchange_link)
        return foot

    def _build_actions(self) -> None:
        self.actions_by_id: dict[str, QAction] = {}
        for name, words, shortcut, slot in (
            ("edit", "Edit check…", "F4", self.edit_check),
            ("duplicate", "Duplicate", "Ctrl+D", self.duplicate_check),
            ("remove", "Remove", "Shift+Delete", self.remove_check),
            ("up", "Move up", "Alt+Up", lambda: self.move_check(-1)),
            ("down", "Move down", "Alt+Down", lambda: self.move_check(1)),
            ("inherit", "Use the default threshold", "", self.inherit_threshold),
            ("compare", "Compare wordings…", "", self.compare),
        ):
            action = QAction(words, self)
            if shortcut:
                action.setShortcut(QKeySequence(shortcut))
                action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(lambda _checked=False, slot=slot: slot())
            self.addAction(action)
            self.actions_by_id[name] = action

    def _connect(self) -> None:
        session = self._session
        session.project_changed.connect(self._on_project)
        session.edited.connect(self._on_edited)
        session.rendered.connect(lambda _rendering: self._text_changed())
        session.models_changed.connect(self._show_model)
        session.run_started.connect(self._on_started)
        session.run_finished.connect(self._on_finished)
        session.run_failed.connect(self._on_failed)
        session.results_changed.connect(self._on_result)
        session.reveal.connect(self._on_reveal)
        inputs_channel(session).opened.connect(self._on_inputs)
        on_theme_changed(self, self._show_strongest)
        self.stage_switch.chosen.connect(self.show_stage)
        self.default_spin.valueChanged.connect(self._default_chosen)
        self.add_button.clicked.connect(lambda: self.add_check())
        self.run_button.clicked.connect(lambda: self.run())
        self.source_box.currentIndexChanged.connect(lambda _index: self._source_changed())
        self.live_box.toggled.connect(self._live_toggled)
        self.exchange_link.clicked.connect(self.show_exchange)
        self.compare_link.clicked.connect(lambda: self.compare())
        self.loop.response_wanted.connect(self.guard)
        self.loop.shown.connect(self._on_loop_result)
        for field in (self.typed, self.user_message, self.response):
            field.edited.connect(self._text_changed)
        for model in self._models.values():
            model.dataChanged.connect(lambda *_: self._refresh_rows())
            model.modelReset.connect(self._rebuild_rows)
            model.verdict_changed.connect(self._show_verdict)

    def heightForWidth(self, width: int) -> int:
        # In a low dock the list of checks becomes lower first: the verdict below it stays in sight.
        return int(self.layout().minimumHeightForWidth(width))

    # What is shown

    @property
    def stage(self) -> Stage:
        """The stage that is shown."""
        return self._stage

    def model(self, stage: Stage | None = None) -> CheckListModel:
        """Return the list model of a stage, of the one shown when none is given."""
        return self._models[stage or self._stage]

    def rows(self) -> list[CheckRowWidget]:
        """Return the row widgets in order."""
        return list(self._rows)

    def show_stage(self, stage: Stage | str) -> None:
        """Show the checks of a stage."""
        self._stage = "output" if stage == "output" else "input"
        self.stage_switch.choose(self._stage)
        self._selected = -1
        self._fill_sources()
        self._rebuild_rows()
        self._show_settings()
        self._show_verdict()
        self._show_model()

    def _on_project(self) -> None:
        for stage in ("input", "output"):
            # Answers of another project must not stay beside a check of the same name.
            self._models[stage].reset()
        self.loop.clear()
        self._forget_texts()
        self._reload()

    def _forget_texts(self) -> None:
        """Take away the texts of a project that was left; one that was read or saved anew keeps them."""
        if not self._shown.becomes(self._session.project):
            return
        self.set_source(RENDERED)
        for field in (self.typed, self.user_message, self.response):
            field.set_text("")
            field.document().clearUndoRedoStacks()

    def _reload(self) -> None:
        snapshot = self._session.snapshot()
        for stage in ("input", "output"):
            self._models[stage].set_settings(snapshot.guardrail(stage))
            self.stage_switch.set_text(stage, f"{stage.title()} {len(snapshot.guardrail(stage).checks)}")
        self.setEnabled(self._session.project is not None)
        blocked = self.live_box.blockSignals(True)
        self.live_box.setChecked(bool(self._session.settings.get("checks.live")))
        self.live_box.blockSignals(blocked)
        self._fill_sources()
        self._rebuild_rows()
        self._show_settings()
        self._show_verdict()
        self._show_model()

    def _on_edited(self, area: str) -> None:
        if area == "guardrails":
            snapshot = self._session.snapshot()
            for stage in ("input", "output"):
                settings = snapshot.guardrail(stage)
                self._models[stage].set_settings(settings)
                self.stage_switch.set_text(stage, f"{stage.title()} {len(settings.checks)}")
            self._show_settings()
            if any(row.state in ("stale", "idle") for row in self.model().rows()):
                self._live_soon()
        elif area in ("template", "models"):
            self._fill_sources()
            self._show_model()

    def _show_settings(self) -> None:
        settings = self.model().settings
        self.default_spin.set_quietly(settings.threshold)
        output = self._stage == "output"
        self.user_message.setVisible(output)
        self.response.setVisible(output)
        self.loop.setVisible(output)
        self.loop.steps.setVisible(output and bool(self.loop.steps.cards))
        self.loop.refresh()
        self._show_origins()
        self._show_texts()

    def _show_origins(self) -> None:
        """Say of every own threshold whether it still belongs to the model and the question it was chosen on."""
        project = self._session.project
        if project is None:
            return
        for stage, model in self._models.items():
            result = model.result
            version = result.model_version if result is not None else None
            version = version or (self._info.version if self._info is not None else None)
            moving = self._info is not None and self._info.moving
            found = {}
            for check in model.settings.checks:
                if check.rule is not None:
                    continue
                origin = project.threshold_origin(stage, check.name)
                if origin is not None:
                    stale = stale_threshold(origin, check, version, moving=moving)
                    found[check.name] = (origin_words(origin), stale or "")
            model.set_origins(found)

    def _show_texts(self) -> None:
        output = self._stage == "output"
        self.typed.setVisible(not output and self.source_key()[0] == TYPED)
        self.texts.setVisible(output or self.source_key()[0] == TYPED)

    def _fill_sources(self) -> None:
        wanted = self.source_key()
        box = self.source_box
        blocked = box.blockSignals(True)
        box.clear()
        if self._stage == "output":
            box.addItem("response below", (TYPED, ""))
        else:
            snapshot = self._session.snapshot()
            box.addItem("rendered prompt", (RENDERED, ""))
            for index, message in enumerate(snapshot.messages):
                title = message_title(snapshot, index)
                box.addItem(f"{title} message", (MESSAGE, str(index)))
                box.setItemData(
                    box.count() - 1,
                    f"only message {index + 1} ({message.role}), filled",
                    Qt.ItemDataRole.ToolTipRole,
                )
            box.addItem("typed text", (TYPED, ""))
        position = next((k for k in range(box.count()) if tuple(box.itemData(k)) == wanted), 0)
        box.setCurrentIndex(position)
        box.blockSignals(blocked)
        self._show_texts()

    def source_key(self) -> tuple[str, str]:
        """Return what is checked: (`rendered` | `message` | `typed`, index of the message)."""
        data = self.source_box.currentData()
        return (str(data[0]), str(data[1])) if data else (RENDERED, "")

    def set_source(self, kind: str, name: str = "") -> None:
        """Choose what is checked."""
        for position in range(self.source_box.count()):
            if tuple(self.source_box.itemData(position)) == (kind, name):
                self.source_box.setCurrentIndex(position)
                return

    def _source_changed(self) -> None:
        self._show_texts()
        self._text_changed()

    def _rebuild_rows(self) -> None:
        rows = self.model().rows()
        while len(self._rows) > len(rows):
            widget = self._rows.pop()
            self._list_layout.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        while len(self._rows) < len(rows):
            self._add_row_widget()
            self._put_after_rows(self.compare_link, self.exchange_link)
        if self._selected >= len(rows):
            self._selected = len(rows) - 1
        self._empty.setVisible(not rows)
        self._empty.set_text(
            f"No {self._stage} checks yet. A check is a yes/no question about the text, where yes rejects it,"
            " or a pattern, a length or languages."
        )
        self._show_run_button()
        self._refresh_rows()

    def _put_after_rows(self, *below: QWidget) -> None:
        """Let Tab reach what stands below the rows after them, though the rows are made later."""
        before: QWidget = self._rows[-1].spin
        for widget in below:
            self.setTabOrder(before, widget)
            before = widget

    def _show_run_button(self) -> None:
        checks = bool(self.model().rows())
        self.run_button.setEnabled(checks and self._running is None)
        self.run_button.setToolTip(
            "Run all checks of this stage on this text"
            if checks
            else "There is no check to run at this stage"
        )

    def _add_row_widget(self) -> None:
        position = len(self._rows)
        widget = CheckRowWidget()
        self._list_layout.insertWidget(position, widget)
        self._rows.append(widget)
        widget.moved.connect(lambda value: self.model().preview_threshold(position, value))
        widget.chosen.connect(lambda value: self._threshold_chosen(position, value))
        widget.inherited.connect(lambda: self._threshold_chosen(position, None))
        widget.dropped.connect(lambda: self.model().set_settings(self.model().settings))
        widget.edit_asked.connect(lambda: self.edit_check(position))
        widget.menu_asked.connect(self._show_menu)
        widget.selected.connect(lambda: self.select(position))

    def _refresh_rows(self) -> None:
        rows = self.model().rows()
        if len(rows) != len(self._rows):
            return
        for position, (widget, row) in enumerate(zip(self._rows, rows, strict=True)):
            widget.show_row(row)
            widget.set_selected(position == self._selected)
        self._show_strongest()

    def select(self, position: int) -> None:
        """Take the row at `position` as the one that edit, duplicate and remove act on; the part of the text that
        decided it is marked, where the text is shown here and the model judged it in parts."""
        self._selected = position
        for k, widget in enumerate(self._rows):
            widget.set_selected(k == position)
        self._show_strongest(scroll=True)

    def _show_strongest(self, *, scroll: bool = False) -> None:
        """Mark the part of the text that decided the selected check, and name it in the tips of all rows."""
        result, stage = self.model().result, self._stage
        rows = self.model().rows()
        for widget, row in zip(self._rows, rows, strict=False):
            words = self._strongest.words(stage, result, row.check.name) if row.current else ""
            widget.set_strongest(words)
        shown = self.response if stage == "output" else self.typed
        span = None
        if 0 <= self._selected < len(rows) and rows[self._selected].current:
            name = rows[self._selected].check.name
            span = self._strongest.span(stage, result, name, shown.text())
        for field in (self.typed, self.response):
            mark_part(field, span if field is shown else None, show=scroll)

    def _show_verdict(self) -> None:
        verdict = self.model().verdict()
        self.banner.show_words(verdict.kind, verdict.headline, verdict.detail)

    def _show_model(self) -> None:
        result = self.model().result
        if self._session.project is None:
            self.model_words.set_text("")
            return
        try:
            settings = self._session.decision_settings()
        except Exception as error:  # a model that the project does not have: say so and go on
            self._say_model(str(error))
            return
        asks = self.model().settings.asks_model
        self.live_box.setEnabled(settings.provider == "embedded" or not asks)
        self.compare_link.setEnabled(asks)
        self.exchange_link.setEnabled(result is not None)
        if self._described is None or self._described[0] != settings:
            self._described = (settings, model_title(settings))
            describe_decisions(self._session, settings, lambda words: self._on_described(settings, words))
            self._learn(settings)
        took = f"{format_duration(result.elapsed_ms)}, " if result is not None else ""
        recorded = "recorded, " if result is not None and result.recorded else ""
        if not asks and self.model().rows():
            self._say_model(f"{took}no model is asked")
            return
        # What to expect of the model takes two sentences, which are told where there is room for them.
        self._say_model(f"{recorded}{took}{model_title(settings)}", self._described[1])

    def _learn(self, settings: ModelSettings) -> None:
        """Ask the model which version it is, without sending anything: thresholds belong to a version."""
        root, secrets = self._session.snapshot().root, self._session.secrets
        self._info = None

        async def describe() -> Any:
            from workbench.engine.decisions import open_decision_model

            model = open_decision_model(settings, root=root, secrets=secrets)
            try:
                return await model.describe()
            finally:
                await model.aclose()

        self._session.jobs.run_async(
            describe, self._learned, lambda _error: self._learned(None), key="decision-version"
        )

    def _learned(self, info: Any) -> None:
        self._info = info
        self._show_origins()

    def _on_described(self, settings: ModelSettings, words: str) -> None:
        self._described = (settings, words)
        self._show_model()

    def _say_model(self, words: str, more: str = "") -> None:
        self.model_words.set_text(words)
        self.model_words.setToolTip(f"{words}\n{more}" if more and more not in words else words)
        self.model_words.setAccessibleDescription(more)

    # Running

    def run(self, *, record: bool = True) -> None:
        """Run all checks of the stage shown on the text chosen."""
        if self._session.project is None or not self.model().rows():
            return
        self._live.stop()
        # The signal of the start does not name the stage; it is emitted within these calls.
        self._asking = self._stage
        self._asked_text = self._text_of_places()
        try:
            self._ask_session(record)
        finally:
            self._asking = None

    def _ask_session(self, record: bool) -> None:
        if self._stage == "output":
            self._session.run_checks("output", self.response.text(), self.user_message.text() or None, record)
            return
        kind, name = self.source_key()
        text: str | None = None
        if kind == TYPED:
            text = self.typed.text()
        elif kind == MESSAGE:
            text = self._message_text(int(name))
            if text is None:
                self._session.status.emit("That message could not be filled; see the problems list.")
                return
        self._session.run_checks("input", text, None, record)

    def _message_text(self, index: int) -> str | None:
        rendering = self._session.rendering()
        prompt = rendering.prompt if rendering is not None else None
        if prompt is None or index >= len(prompt.messages):
            return None
        return str(prompt.messages[index].text)

    def _live_toggled(self, checked: bool) -> None:
        self._session.settings.set("checks.live", checked)
        if checked:
            self._live_soon()

    def _live_soon(self) -> None:
        if self.is_live():
            self._live.start()

    def is_live(self) -> bool:
        """Tell whether the checks run by themselves on a pause of typing."""
        if not self.live_box.isChecked() or self._session.project is None or not self.model().rows():
            return False
        return (
            not self.model().settings.asks_model or self._session.decision_settings().provider == "embedded"
        )

    def _run_live(self) -> None:
        if not self.is_live() or not self.isVisible():
            return
        if self._stage == "output" and not self.response.text().strip():
            return
        if "check" in self._session.running():
            # The run under way was asked for by hand or by an earlier pause; come back when it is over.
            self._live.start()
            return
        self.run(record=False)

    def _text_changed(self) -> None:
        sender_is_render = self.source_key()[0] != TYPED
        revision = self._session.result_revision(self._stage)
        if revision is not None and (not sender_is_render or revision != self._session.revision):
            words = f"from revision {revision}" if sender_is_render else "from another text"
            self.model().set_stale(words)
        self._live_soon()

    def _on_started(self, kind: str) -> None:
        if kind != "check":
            return
        if self._running is not None:
            # A newer run takes the place of the older one, which then ends without a word.
            self._models[self._running].clear_queue()
        # The toolbar asks for the input stage without asking this pane.
        self._running = self._asking or "input"
        if self._asking is None:
            self._asked_text = None
        self._models[self._running].set_queued()
        self._show_run_button()

    def _on_result(self, stage: str) -> None:
        chosen: Stage = "output" if stage == "output" else "input"
        if self._running is None:
            # A threshold was moved: the same answers, judged anew.
            self._models[chosen].set_settings(self._session.snapshot().guardrail(chosen))
        self._show_verdict()
        self._show_model()

    def _on_finished(self, kind: str, result: Any) -> None:
        if kind != "check":
            return
        self._running = None
        self._show_run_button()
        stage: Stage = result.stage
        self._strongest.judged(stage, self._asked_text)
        self._models[stage].set_result(result)
        self._show_origins()
        revision = self._session.result_revision(stage)
        if self.source_key()[0] != TYPED and revision != self._session.revision:
            # The text went on while the model was thinking.
            self._models[stage].set_stale(f"from revision {revision}")
        self._show_model()

    def _on_failed(self, kind: str, message: str) -> None:
        if kind != "check":
            return
        stage, self._running = self._running or "input", None
        self._show_run_button()
        if message == STOPPED:
            self._models[stage].clear_queue()
        else:
            self._models[stage].set_failed(message, self._session.found)

    def guard(self) -> None:
        """Run the output guardrail with its reprompts on the response, as an application would."""
        self.loop.run(self.response.text(), self.user_message.text() or None)

    def _on_loop_result(self, result: Any) -> None:
        self._strongest.judged("output", self.loop.text_of(result))
        self._models["output"].set_result(result)
        self._show_origins()
        self._show_model()

    # Thresholds and checks

    def _threshold_chosen(self, position: int, value: float | None) -> None:
        check = self.model().row(position).check
        if check.rule is not None:
            return
        self._session.set_threshold(self._stage, check.name, value)
        # Where nothing changed (back to the old value), the dragged mark must still go home.
        self.model().set_settings(self._session.snapshot().guardrail(self._stage))

    def _default_chosen(self, value: float) -> None:
        self._session.set_threshold(self._stage, None, value)

    def inherit_threshold(self) -> None:
        """Let the selected check take the default threshold again."""
        if self._selected >= 0:
            self._threshold_chosen(self._selected, None)

    def _current(self, position: int | None) -> int:
        return self._selected if position is None else position

    def edit_check(self, position: int | None = None) -> None:
        """Open the editor on a check."""
        position = self._current(position)
        if not 0 <= position < len(self._rows):
            return
        before = self.model().row(position).check
        after = self._ask(before, taken={row.check.name for row in self.model().rows()} - {before.name})
        if after is not None and after != before:
            stage = self._stage
            self._apply(
                f"Edit check {before.name}",
                lambda project: project.set_check(stage, position, after),
                lambda project: project.set_check(stage, position, before),
            )

    def add_check(self) -> None:
        """Open the editor on a new check and put it at the end."""
        after = self._ask(CheckSettings("", ""), taken={row.check.name for row in self.model().rows()})
        if after is not None:
            self._insert(len(self._rows), after, "Add check")

    def duplicate_check(self) -> None:
        """Put a copy of the selected check below it."""
        if self._selected < 0:
            return
        original = self.model().row(self._selected).check
        taken = {row.check.name for row in self.model().rows()}
        number = 2
        while f"{original.name}{number}" in taken:
            number += 1
        copy = replace(original, name=f"{original.name}{number}")
        self._insert(self._selected + 1, copy, f"Duplicate {original.name}")

    def _insert(self, position: int, check: CheckSettings, words: str) -> None:
        stage = self._stage
        self._apply(
            words,
            lambda project: project.add_check(stage, check, position),
            lambda project: project.remove_check(stage, position),
        )
        self.select(position)

    def remove_check(self) -> None:
        """Remove the selected check; undo brings it back."""
        position = self._selected
        if not 0 <= position < len(self._rows):
            return
        stage, check = self._stage, self.model().row(position).check
        self._apply(
            f"Remove {check.name}",
            lambda project: project.remove_check(stage, position),
            lambda project: project.add_check(stage, check, position),
        )

    def move_check(self, by: int) -> None:
        """Move the selected check up or down."""
        start, end, stage = self._selected, self._selected + by, self._stage
        if start < 0 or not 0 <= end < len(self._rows):
            return
        self._apply(
            "Move check",
            lambda project: project.move_check(stage, start, end),
            lambda project: project.move_check(stage, end, start),
        )
        self.select(end)

    def _apply(self, words: str, do: Callable[[Any], object], undo: Callable[[Any], object]) -> None:
        self._session.apply("guardrails", words, do, undo)

    def _ask(self, check: CheckSettings, taken: set[str]) -> CheckSettings | None:
        from workbench.gui.dialogs.check_editor import CheckEditor

        threshold = self.model().settings.threshold
        dialog = CheckEditor(check, self._stage, threshold, taken, self, sample=self._text_shown())
        accepted = dialog.exec()
        result = dialog.check() if accepted else None
        dialog.deleteLater()
        return result

    def _show_menu(self, place: QPoint) -> None:
        row = self.model().row(self._selected) if 0 <= self._selected < len(self._rows) else None
        for name in ("inherit", "compare"):
            self.actions_by_id[name].setEnabled(row is not None and row.kind == "model")
        menu = QMenu(self)
        menu.addActions([self.actions_by_id[name] for name in ("edit", "duplicate", "remove")])
        menu.addSeparator()
        menu.addActions([self.actions_by_id[name] for name in ("up", "down", "inherit", "compare")])
        menu.exec(place)
        menu.deleteLater()

    def compare(self) -> None:
        """Compare two models, or two wordings of the selected check, on the text that is checked here."""
        from workbench.gui.dialogs.compare import CompareDialog

        rows = self.model().rows()
        if not self.model().settings.asks_model:
            return
        selected = 0 <= self._selected < len(rows) and rows[self._selected].kind == "model"
        name = rows[self._selected].check.name if selected else None
        dialog = CompareDialog(self._session, self._stage, name, self)
        dialog.text.set_text(self._text_shown())
        if selected:
            dialog.mode.choose("wordings")
        dialog.exec()
        dialog.deleteLater()

    def _text_shown(self) -> str:
        if self._stage == "output":
            return self.response.text()
        kind, name = self.source_key()
        if kind == TYPED:
            return self.typed.text()
        if kind == MESSAGE:
            return self._message_text(int(name)) or ""
        rendering = self._session.rendering()
        return rendering.text() if rendering is not None else ""

    def _text_of_places(self) -> str:
        """Return the text that the places in a result are about: of the prompt, the messages alone."""
        rendering = self._session.rendering()
        if self._stage == "output" or self.source_key()[0] in (TYPED, MESSAGE) or rendering is None:
            return self._text_shown()
        checked = rendering.checked()
        return checked if isinstance(checked, str) else checked.plain

    def show_exchange(self) -> None:
        """Show what was sent to the model and what it answered."""
        from workbench.gui.dialogs.exchange import ExchangeDialog

        result = self.model().result
        if result is not None:
            dialog = ExchangeDialog(result, self)
            dialog.exec()
            dialog.deleteLater()

    def _on_inputs(self, kind: str, inputs: Any) -> None:
        if kind != "check":
            return
        self.show_stage(str(inputs.get("stage", "input")))
        if self._stage == "output":
            self.user_message.set_text(str(inputs.get("user_message") or ""))
            self.response.set_text(str(inputs.get("text", "")))
        else:
            self.set_source(TYPED)
            self.typed.set_text(str(inputs.get("text", "")))

    def _on_reveal(self, place: Place) -> None:
        if place.area != "guardrails":
            return
        stage, _, name = place.name.partition("/")
        self.show_stage(stage or "input")
        for position, row in enumerate(self.model().rows()):
            if row.check.name == name:
                self.select(position)
                self._rows[position].setFocus()
                self._scroll.ensureWidgetVisible(self._rows[position])
