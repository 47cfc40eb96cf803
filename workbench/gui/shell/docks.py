"""The panes as docks of the one window, and the three layouts in which they are arranged."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QScrollArea,
    QTabBar,
    QToolButton,
    QWidget,
)

from workbench.gui.shell.memory import forget_sources
from workbench.gui.shell.scale import fit, px
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import set_icon, set_role, strong_font
from workbench.gui.shell.timers import one_shot
from workbench.gui.widgets.issue_label import IssueLabel

LAYOUTS = ("Compose", "Thresholds", "History")
STATE_VERSION = 1
TITLE_HEIGHT = 32
# What Qt takes for no limit.
WIDEST = 16_777_215
_MOST_HEIGHT = 0.45

_AREA = Qt.DockWidgetArea


@dataclass(frozen=True)
class PaneSpec:
    """One pane: its id and title, how it is made (on first sight), and in which layouts it is open.

    `places` are the areas of `Place` that lead to it. A pane's attribute `dock_title_widgets` lists widgets that
    belong into the dock's title. `height` is what it is given when it is opened into less, where the window has it.
    """

    id: str
    title: str
    factory: Callable[[Session], QWidget]
    area: Qt.DockWidgetArea
    layouts: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    tab: str = ""
    height: int = 0

    def tab_title(self) -> str:
        """Return what stands on the dock's tab: `tab`, a short name, where there is one."""
        return self.tab or self.title


class DockTitle(QWidget):
    """The title of a dock: its name, what the pane puts beside it, float and close."""

    def __init__(self, dock: QDockWidget, title: str) -> None:
        super().__init__(dock)
        self._dock = dock
        fit(self, height=TITLE_HEIGHT)
        set_role(self, "head")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(12, 0, 6, 0)
        self.row.setSpacing(8)
        self.name = QLabel(title)
        set_role(self.name, "title")
        self.row.addWidget(self.name)
        self.row.addStretch(1)
        self.float_button = self._button("float", f"Let {title} float or dock again")
        self.close_button = self._button("close", f"Close {title}")
        self.float_button.clicked.connect(lambda: dock.setFloating(not dock.isFloating()))
        self.close_button.clicked.connect(dock.close)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), px(TITLE_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        # A narrow dock may cut its title; it must not keep the dock wide.
        return QSize(120, px(TITLE_HEIGHT))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_words()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self.fit_words()
        return done

    def fit_words(self) -> None:
        """Leave words out of a narrow title, the name last, so that no control is cut."""
        items = (self.row.itemAt(index).widget() for index in range(self.row.count()))
        held = [each for each in items if each is not None and not each.isHidden()]
        words = [each for each in self.findChildren(QLabel) if each is not self.name and not each.isHidden()]
        words = [each for each in words if not isinstance(each.parentWidget(), IssueLabel)]
        over = sum(each.sizeHint().width() + self.row.spacing() for each in held) + 18 - self.width()
        # What was left out before is not among the hints of what holds it.
        over += sum(
            each.sizeHint().width() for each in words if each not in held and each.maximumWidth() == 0
        )
        for each in [*words, *([] if self.name.isHidden() else [self.name])]:
            left_out = over > 0
            each.setMaximumWidth(0 if left_out else WIDEST)
            over -= each.sizeHint().width() + self.row.spacing() if left_out else 0

    def _button(self, icon_name: str, tip: str) -> QToolButton:
        button = QToolButton()
        set_icon(button, icon_name, "second")
        fit(button, width=22, height=22)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        self.row.addWidget(button)
        return button

    def add(self, widget: QWidget, stretch: int = 0) -> None:
        """Put a widget of the pane before the two buttons."""
        self.row.insertWidget(self.row.indexOf(self.float_button), widget, stretch)


class PaneDock(QDockWidget):
    """A dock whose pane is made when it is first seen."""

    built = Signal(QWidget)

    def __init__(self, spec: PaneSpec, session: Session, parent: QMainWindow) -> None:
        super().__init__(spec.tab_title(), parent)
        self.spec = spec
        self.pane: QWidget | None = None
        self._session = session
        self.setObjectName(f"dock-{spec.id}")
        self.setAccessibleName(spec.title)
        self.title = DockTitle(self, spec.title)
        self.setTitleBarWidget(self.title)
        # The window's layout is the user's: a pane may not insist on its size. In a dock that is too small for
        # it, it scrolls, so that nothing in it is squeezed or cut.
        self._holder = QScrollArea()
        self._holder.setWidgetResizable(True)
        self._holder.setFrameShape(QScrollArea.Shape.NoFrame)
        self._holder.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._holder.setMinimumSize(160, 96)
        self.setWidget(self._holder)
        self.visibilityChanged.connect(self._seen)

    def _seen(self, seen: bool) -> None:
        if seen:
            self.build()
            self.refresh_title()

    def refresh_title(self) -> None:
        """Leave the name out of the title where a tab says it already."""
        window = self.parentWidget()
        if isinstance(window, QMainWindow):
            tabbed = any(other.isVisible() for other in window.tabifiedDockWidgets(self))
            self.title.name.setVisible(not tabbed or self.isFloating())

    def build(self) -> QWidget:
        """Make the pane, if it is not there yet, and return it."""
        if self.pane is None:
            self.pane = self.spec.factory(self._session)
            for widget in getattr(self.pane, "dock_title_widgets", ()):
                self.title.add(widget)
            self._holder.setWidget(self.pane)
            forget_sources()
            self.built.emit(self.pane)
        return self.pane


class DockManager(QObject):
    """Owns the docks and remembers one arrangement per layout."""

    layout_changed = Signal(str)

    def __init__(self, window: QMainWindow, session: Session, specs: tuple[PaneSpec, ...]) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self.docks = {spec.id: PaneDock(spec, session, window) for spec in specs}
        self.layout = LAYOUTS[0]
        self._states: dict[str, QByteArray] = {}
        self._shown = False
        self._fit_soon = one_shot(self, self._fit_compose)
        window.setDockNestingEnabled(True)
        window.setTabPosition(_AREA.AllDockWidgetAreas, _tab_north())
        window.setCorner(Qt.Corner.BottomRightCorner, _AREA.RightDockWidgetArea)
        window.setCorner(Qt.Corner.BottomLeftCorner, _AREA.BottomDockWidgetArea)
        window.setCorner(Qt.Corner.TopLeftCorner, _AREA.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.TopRightCorner, _AREA.RightDockWidgetArea)
        for dock in self.docks.values():
            window.addDockWidget(dock.spec.area, dock)
            dock.hide()
            # The menu item of a pane: Qt would open it behind the other tabs of its place.
            dock.toggleViewAction().triggered.connect(
                lambda shown, pane_id=dock.spec.id: self._toggled(pane_id, shown)
            )
        session.reveal.connect(self._on_reveal)

    def pane(self, pane_id: str) -> QWidget:
        """Return a pane, made if needed."""
        return self.docks[pane_id].build()

    def show_pane(self, pane_id: str) -> QWidget:
        """Open a pane's dock, bring it to the front and return the pane."""
        dock = self.docks[pane_id]
        opened = dock.isHidden()
        dock.show()
        dock.raise_()
        if opened:
            self._make_room(dock)
        return dock.build()

    def _toggled(self, pane_id: str, shown: bool) -> None:
        if shown:
            self.docks[pane_id].raise_()
            self._make_room(self.docks[pane_id])

    def _make_room(self, dock: PaneDock) -> None:
        """Make room for a pane that is of little use in a low dock; whoever makes it lower again keeps it so."""
        wanted = min(px(dock.spec.height), int(self._window.height() * _MOST_HEIGHT))
        if not dock.isFloating() and dock.height() < wanted:
            self._window.resizeDocks([dock], [wanted], Qt.Orientation.Vertical)

    def hide_all(self) -> None:
        """Hide every dock (welcome page)."""
        self._remember()
        self._shown = False
        self._window.centralWidget().show()
        for dock in self.docks.values():
            dock.hide()

    def show_layout(self, name: str, *, force: bool = False) -> None:
        """Arrange the docks as the layout `name` was left, or as it is by default."""
        if self._shown and name == self.layout and not force:
            return
        self._remember()
        self.layout = name
        self._window.centralWidget().setVisible(name == "Compose")
        state = self._states.get(name)
        if state is None or not self._window.restoreState(state, STATE_VERSION):
            self.arrange(name)
        self._shown = True
        self._window.centralWidget().setVisible(name == "Compose")
        self._refresh_titles()
        self.layout_changed.emit(name)

    def reset(self) -> None:
        """Arrange the present layout as it is by default."""
        self._states.pop(self.layout, None)
        self._shown = False
        self.show_layout(self.layout, force=True)

    def arrange(self, name: str) -> None:
        """Arrange the docks by default: which are open, beside which, and how large."""
        window = self._window
        for dock in self.docks.values():
            dock.setFloating(False)
            window.removeDockWidget(dock)
        inside = [dock for dock in self.docks.values() if name in dock.spec.layouts]
        for dock in inside:
            area = dock.spec.area if name == "Compose" else _AREA.RightDockWidgetArea
            window.addDockWidget(area, dock)
        if name == "Compose":
            self._arrange_compose()
        for dock in self.docks.values():
            if window.dockWidgetArea(dock) == _AREA.NoDockWidgetArea:
                window.addDockWidget(dock.spec.area, dock)
            dock.setVisible(dock in inside)
        for front in ("project", "guardrails", "history"):
            if front in self.docks and self.docks[front] in inside:
                self.docks[front].raise_()
        self._refresh_titles()
        # Sizes hold only after the window laid the docks out once.
        self._fit_soon.start()

    def _refresh_titles(self) -> None:
        for dock in self.docks.values():
            dock.refresh_title()

    def _arrange_compose(self) -> None:
        window, docks = self._window, self.docks
        vertical = Qt.Orientation.Vertical
        right = [docks[i] for i in ("preview", "guardrails", "problems") if i in docks]
        for above, below in itertools.pairwise(right):
            window.splitDockWidget(above, below, vertical)
        for first, others in (
            ("project", ("placeholders", "options")),
            ("guardrails", ("translation", "thresholds")),
            ("history", ("tools",)),
        ):
            for other in others:
                if first in docks and other in docks:
                    window.addDockWidget(docks[first].spec.area, docks[other])
                    window.tabifyDockWidget(docks[first], docks[other])

    def _fit_compose(self) -> None:
        """Give the open docks of the first layout their shares of the window."""
        window, docks = self._window, self.docks
        if self.layout != "Compose" or not self._shown:
            return
        width, height = window.width(), window.height() - 100
        window.resizeDocks(
            [docks["project"], docks["preview"]],
            [px(217), max(420, int(width * 0.424))],
            Qt.Orientation.Horizontal,
        )
        right = [(docks["preview"], 0.32), (docks["guardrails"], 0.49), (docks["problems"], 0.19)]
        shown = [(dock, share) for dock, share in right if dock.isVisible()]
        vertical = Qt.Orientation.Vertical
        window.resizeDocks([dock for dock, _ in shown], [int(height * share) for _, share in shown], vertical)
        window.resizeDocks([docks["history"]], [int(height * 0.26)], vertical)

    def _remember(self) -> None:
        if self._shown:
            self._states[self.layout] = self._window.saveState(STATE_VERSION)

    def _on_reveal(self, place: Any) -> None:
        for dock in self.docks.values():
            if place.area in dock.spec.places:
                new = dock.pane is None
                if not dock.isVisible() and dock.spec.layouts and self.layout not in dock.spec.layouts:
                    self.show_layout(dock.spec.layouts[0])
                self.show_pane(dock.spec.id)
                if new:  # it was not there to hear the call
                    self._session.reveal.emit(place)
                return

    # -- state --------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all arrangements as JSON values."""
        self._remember()
        return {
            "layout": self.layout,
            "states": {
                name: base64.b64encode(bytes(state.data())).decode("ascii")
                for name, state in self._states.items()
            },
        }

    def restore(self, state: Any) -> None:
        """Take arrangements that `state` returned; what cannot be read is left at its default."""
        if not isinstance(state, dict):
            return
        states = state.get("states")
        for name, text in states.items() if isinstance(states, dict) else ():
            if name in LAYOUTS and isinstance(text, str):
                try:
                    self._states[name] = QByteArray(base64.b64decode(text, validate=True))
                except ValueError:
                    continue
        if state.get("layout") in LAYOUTS:
            self.layout = state["layout"]


class LayoutTabs(QTabBar):
    """The tabs at the end of the menu bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "layouts")
        self.setAccessibleName("Layouts")
        self.setExpanding(False)
        self.setDrawBase(False)
        self.setUsesScrollButtons(False)
        for position, name in enumerate(LAYOUTS):
            self.addTab(name)
            keys = QKeySequence(f"Ctrl+{position + 1}").toString(QKeySequence.SequenceFormat.NativeText)
            self.setTabToolTip(position, f"{name} layout ({keys})")

    def tabSizeHint(self, index: int) -> QSize:
        # The chosen tab is bold; every tab has the room for it, so that none moves when another is chosen.
        width = QFontMetrics(strong_font()).horizontalAdvance(self.tabText(index))
        return QSize(width + px(26), super().tabSizeHint(index).height())


def _tab_north() -> Any:
    from PySide6.QtWidgets import QTabWidget

    return QTabWidget.TabPosition.North
