"""The strip above a stored run: step through it, play it, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Signal
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSizePolicy, QToolButton, QWidget

from workbench.gui.panes.history.replay import SPEEDS, Replay
from workbench.gui.shell.scale import px
from workbench.gui.shell.theme import set_icon
from workbench.gui.widgets.labels import StatusMark, Strip, TokenLabel

BRANCH, OPEN, COMPARE = "Repair again from here", "Open with its inputs", "Compare with…"
OFFLINE, OFFLINE_SHORT = "Offline replay, nothing is sent", "Offline"
_HEIGHT = 42
_STAGES = (
    "button words",
    "offline sentence",
    "offline words",
    "speed",
    "ends",
    "buttons",
    "offline mark",
    "step sentence",
)


class ReplayControls(Strip):
    """Drives a `Replay`; the buttons at the right only tell that they were pressed."""

    branch_asked = Signal()
    open_asked = Signal()
    compare_asked = Signal(QPoint)
    more_asked = Signal(QPoint)

    def __init__(self, replay: Replay, parent: QWidget | None = None) -> None:
        super().__init__(_HEIGHT, "window", parent)
        self._replay = replay
        self.row.setSpacing(4)
        # What has no room is shortened; the strip must not keep the pane wide.
        self.row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)
        self._build_steps()
        self._build_words()
        self._build_doing()
        replay.moved.connect(self.refresh)
        replay.playing_changed.connect(self._show_playing)
        self.refresh()

    def _build_steps(self) -> None:
        replay = self._replay
        self.buttons: dict[str, QToolButton] = {}
        for name, words, slot in (
            ("first", "First step", lambda: replay.go_to(0)),
            ("back", "One step back", lambda: replay.go_to(replay.step - 1)),
            ("play", "", replay.play_or_pause),
            ("forward", "One step forward", lambda: replay.go_to(replay.step + 1)),
            ("last", "Last step", lambda: replay.go_to(replay.count() - 1)),
        ):
            button = QToolButton()
            set_icon(button, name)
            button.setToolTip(words)
            button.setAccessibleName(words)
            button.clicked.connect(lambda _checked=False, slot=slot: slot())
            self.row.addWidget(button)
            self.buttons[name] = button
        self.speed = QToolButton()
        self.speed.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.speed.setMenu(self._build_speeds())
        self.row.addWidget(self.speed)
        self._show_speed()
        self._show_playing(False)

    def _build_speeds(self) -> QMenu:
        menu = QMenu(self)
        group = QActionGroup(menu)
        for factor, words in SPEEDS.items():
            action = QAction(f"{_factor(factor)}, {words}" if factor else words.capitalize(), menu)
            action.setCheckable(True)
            action.setChecked(factor == self._replay.speed)
            action.setData(factor)
            group.addAction(action)
            menu.addAction(action)
        group.triggered.connect(lambda action: self.set_speed(action.data()))
        return menu

    def set_speed(self, factor: float) -> None:
        """Play at this speed, one of `SPEEDS`."""
        self._replay.set_speed(factor)
        for action in self.speed.menu().actions():
            action.setChecked(action.data() == factor)
        self._show_speed()

    def _show_speed(self) -> None:
        factor = self._replay.speed
        self.speed.setText(_factor(factor) if factor else "true")
        words = f"Speed of the replay: {SPEEDS[factor]}"
        self.speed.setToolTip(words)
        self.speed.setAccessibleName(words)

    def _build_words(self) -> None:
        self.step_words = TokenLabel("", bold=True)
        self.offline_mark = StatusMark("passed", 14)
        self.offline_mark.setToolTip(OFFLINE)
        self.offline_words = TokenLabel(OFFLINE, "passed", size="second")
        self.offline_words.setToolTip(OFFLINE)
        self.row.addSpacing(8)
        self.row.addWidget(self.step_words)
        self.row.addSpacing(8)
        self.row.addWidget(self.offline_mark)
        self.row.addWidget(self.offline_words)
        self.row.addStretch(1)

    def _build_doing(self) -> None:
        self.branch, self.open, self.compare = QPushButton(BRANCH), QPushButton(OPEN), QPushButton(COMPARE)
        for button, picture, tip in (
            (
                self.branch,
                "branch",
                "Edit the repair prompt, reply, schema or model of this attempt, and go on",
            ),
            (self.open, "open", "Put the run's request or text back into its pane"),
            (self.compare, "compare", "Compare what is shown with another attempt or run"),
        ):
            set_icon(button, picture)
            button.setToolTip(tip)
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            self.row.addWidget(button)
        self.more = QToolButton()
        set_icon(self.more, "more")
        self.more.setToolTip("What else can be done with the run")
        self.more.setAccessibleName("More for this run")
        self.row.addWidget(self.more)
        self.branch.clicked.connect(self.branch_asked)
        self.open.clicked.connect(self.open_asked)
        self.compare.clicked.connect(lambda: self.compare_asked.emit(_below(self.compare)))
        self.more.clicked.connect(lambda: self.more_asked.emit(_below(self.more)))

    # What is shown

    def refresh(self) -> None:
        """Show where the replay stands."""
        count, step = self._replay.count(), self._replay.step
        for name in ("first", "back"):
            self.buttons[name].setEnabled(step > 0)
        for name in ("forward", "last"):
            self.buttons[name].setEnabled(0 <= step < count - 1)
        self.buttons["play"].setEnabled(count > 1)
        self.speed.setEnabled(count > 1)
        self.fit(self.width())

    def _show_playing(self, playing: bool) -> None:
        button = self.buttons["play"]
        set_icon(button, "pause" if playing else "play")
        words = "Pause" if playing else "Play the run step by step"
        button.setToolTip(words)
        button.setAccessibleName(words)

    def fit(self, width: int) -> None:
        """Leave out what has no room in `width` pixels, the least missed first: all of it is in the menu or a tip too."""
        for stage in range(len(_STAGES) + 1):
            self._leave_out(frozenset(_STAGES[:stage]))
            self.row.invalidate()
            if self.row.sizeHint().width() <= width:
                break
        self.row.activate()

    def _leave_out(self, out: frozenset[str]) -> None:
        step, count = self._replay.step + 1, self._replay.count()
        there = count > 0
        words = f"{step}/{count}" if "step sentence" in out else f"Step {step} of {count}"
        self.step_words.set_text(words if there else "")
        for button, words in ((self.branch, BRANCH), (self.open, OPEN), (self.compare, COMPARE)):
            button.setText("" if "button words" in out else words)
            button.setAccessibleName(words)
            button.setVisible("buttons" not in out)
        self.offline_words.set_text(OFFLINE_SHORT if "offline sentence" in out else OFFLINE)
        self.offline_words.setVisible(there and "offline words" not in out)
        self.offline_mark.setVisible(there and "offline mark" not in out)
        self.speed.setVisible("speed" not in out)
        for name in ("first", "last"):
            self.buttons[name].setVisible("ends" not in out)

    def minimumSizeHint(self) -> QSize:
        return QSize(px(240), px(_HEIGHT))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit(event.size().width())


def _factor(factor: float) -> str:
    return {0.25: "¼×", 0.5: "½×"}.get(factor, f"{factor:g}×")


def _below(widget: QWidget) -> QPoint:
    return widget.mapToGlobal(QPoint(0, widget.height()))
