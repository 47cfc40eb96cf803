"""The toolbar: the few actions of every day, the three choices, and the way to all others."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QToolBar, QToolButton, QWidget

from workbench.gui.models.model_title import model_title
from workbench.gui.shell.actions import ActionSet
from workbench.gui.shell.scale import fit, on_scale, px
from workbench.gui.shell.session import Session
from workbench.gui.shell.theme import icon, icon_pixmap, on_theme_changed, set_role, small_font
from workbench.gui.shell.timers import one_shot

DEFAULT = ""


class WorkbenchToolBar(QToolBar):
    """Open, Save | Run checks, Translate, Stop | Parameters, Decisions, Chat | Export… Actions."""

    models_asked = Signal()

    def __init__(self, session: Session, actions: ActionSet, parent: QWidget | None = None) -> None:
        super().__init__("Toolbar", parent)
        self._session = session
        self._filling = False
        self._choices: list[tuple[QLabel, QComboBox, int]] = []
        self._buttons: list[QToolButton] = []
        self.setObjectName("toolbar")
        self.setMovable(False)
        fit(self, height=44)
        bar = weakref.ref(self)
        on_scale(self, lambda _factor: (found := bar()) and found.setIconSize(QSize(px(16), px(16))))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        for action_id in ("file.open", "file.save"):
            self._add(actions, action_id)
        self.addSeparator()
        self.run_button = self._add(actions, "run.checks")
        self._main = False
        # A change of the action gives the button the action's icon again.
        actions["run.checks"].changed.connect(self._ink_main)
        for action_id in ("run.translate", "run.stop"):
            self._add(actions, action_id)
        self.addSeparator()
        self.parameters = self._combo("Parameters", "Parameter set that fills the prompt", 128)
        self.decisions = self._combo("Decisions", "Model that answers the checks", 148)
        self.chat = self._combo("Chat", "Model that writes text", 148)
        self.addSeparator()
        self._add(actions, "file.export")
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        set_role(spacer, "plain")
        self.addWidget(spacer)
        self.palette_button = PaletteButton(actions)
        self.addWidget(self.palette_button)
        self._fit_soon = one_shot(self, lambda: self._fit(self.width()))
        self._connect()
        self.refresh()
        on_theme_changed(self, self._fit_soon.start)

    def _add(self, actions: ActionSet, action_id: str) -> QToolButton:
        action = actions[action_id]
        action.setIconText(action.text().rstrip("…") if action_id == "file.open" else action.text())
        self.addAction(action)
        button = self.widgetForAction(action)
        assert isinstance(button, QToolButton)
        button.setAccessibleName(action.text())
        fit(button, min_height=28)
        # Qt leaves the buttons of a toolbar out of the order of Tab.
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._buttons.append(button)
        return button

    def _combo(self, title: str, tip: str, width: int) -> QComboBox:
        holder = QWidget()
        set_role(holder, "plain")
        row = QHBoxLayout(holder)
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(6)
        label = QLabel(title)
        label.setFont(small_font())
        set_role(label, "second")
        combo = QComboBox()
        combo.setAccessibleName(title)
        combo.setToolTip(tip)
        combo.setFixedWidth(px(width))
        fit(combo, height=28)
        combo.view().setTextElideMode(Qt.TextElideMode.ElideRight)
        label.setBuddy(combo)
        self._choices.append((label, combo, width))
        row.addWidget(label)
        row.addWidget(combo)
        self.addWidget(holder)
        return combo

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit(event.size().width())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Before it is shown the style sheet has not spoken, and what Qt reckons is too small.
        self._fit_soon.start()

    def _fit(self, width: int) -> None:
        """Give room back in a narrow window, in this order, until the rest has its room.

        The words of the palette go, then those of the buttons that a picture explains, then the labels of the
        combos, and at last a part of the combos.
        """
        style = Qt.ToolButtonStyle
        whole = [button for button in self._buttons if button is not self.run_button]
        self.palette_button.set_compact(False)
        for button in whole:
            button.setToolButtonStyle(style.ToolButtonTextBesideIcon)
        for label, combo, full in self._choices:
            label.show()
            combo.setFixedWidth(px(full))
        steps: list[Callable[[], object]] = [partial(self.palette_button.set_compact, True)]
        steps += [partial(button.setToolButtonStyle, style.ToolButtonIconOnly) for button in reversed(whole)]
        steps += [label.hide for label, _combo, _full in self._choices]
        steps += [partial(combo.setFixedWidth, px(full - 52)) for _label, combo, full in self._choices]
        for step in steps:
            if self._needed() <= width:
                return
            step()

    def _needed(self) -> int:
        """Return the width that everything needs as it is now."""
        for _label, combo, _full in self._choices:
            combo.parentWidget().layout().invalidate()
        self.layout().invalidate()
        return self.layout().sizeHint().width()

    def _connect(self) -> None:
        session = self._session
        session.project_changed.connect(self.refresh)
        session.edited.connect(
            lambda area: self.refresh() if area in ("parameters", "models", "schemas") else None
        )
        session.parameter_set_changed.connect(lambda _name: self.refresh())
        session.models_changed.connect(self.refresh)
        self.parameters.activated.connect(lambda _i: session.set_parameter_set(self.parameters.currentText()))
        self.decisions.activated.connect(lambda _i: self._chosen(self.decisions))
        self.chat.activated.connect(lambda _i: self._chosen(self.chat))

    def refresh(self) -> None:
        """Show the sets and models of the project."""
        session = self._session
        snapshot = session.snapshot()
        open_project = session.project is not None
        self._fill(self.parameters, [(name, name) for name in snapshot.parameter_sets], session.parameter_set)
        if not open_project:
            self.parameters.setPlaceholderText("No project")
        elif not snapshot.parameter_sets:
            self.parameters.setPlaceholderText("No set")
        self.parameters.setEnabled(bool(snapshot.parameter_sets))
        decision_names = session.decision_models()
        decisions = [(n, model_title(snapshot.models[n])) for n in decision_names]
        if not any(snapshot.models[n].provider == "embedded" for n in decision_names):
            decisions.append(("embedded", "Embedded MiniLM"))
        chosen = session.decision_model_name
        if chosen is None:
            chosen = "decision" if "decision" in decision_names else "embedded"
        self._fill(self.decisions, [*decisions, *([("…", "Models…")] if open_project else [])], chosen)
        chats = [(name, model_title(snapshot.models[name])) for name in session.chat_models()]
        if "local" not in snapshot.models and not any(
            snapshot.models[n].provider == "local" for n, _ in chats
        ):
            chats.append(("local", "Local model"))
        if open_project and (described := session.environment_settings()) is not None:
            chats.append(("environment", f"Environment: {model_title(described)}"))
        automatic = (DEFAULT, self._automatic_chat() if open_project else "No chat model")
        self._fill(
            self.chat,
            [automatic, *chats, *([("…", "Models…")] if open_project else [])],
            session.chat_model_name or DEFAULT,
        )
        self.chat.setEnabled(open_project)

    def _automatic_chat(self) -> str:
        try:
            return f"Auto: {model_title(self._session.chat_settings())}"
        except Exception:  # a project whose model tables are wrong still opens; the problems list names them
            return "No chat model"

    def _fill(self, combo: QComboBox, rows: list[tuple[str, str]], chosen: str | None) -> None:
        self._filling = True
        try:
            now = [(combo.itemData(i), combo.itemText(i)) for i in range(combo.count())]
            if now != rows:
                combo.clear()
                for value, text in rows:
                    combo.addItem(text, value)
            combo.setCurrentIndex(combo.findData(chosen) if chosen is not None else -1)
            combo.setToolTip(combo.currentText() or combo.placeholderText())
        finally:
            self._filling = False

    def _chosen(self, combo: QComboBox) -> None:
        value = combo.currentData()
        if value == "…":
            self.refresh()
            self.models_asked.emit()
        elif combo is self.decisions:
            self._session.set_decision_model(value)
        else:
            self._session.set_chat_model(value or None)

    def set_main(self, enabled: bool) -> None:
        """Fill the main button with the accent only while it can be used."""
        self._main = enabled
        set_role(self.run_button, "main" if enabled else "")
        self._ink_main()
        self._fit_soon.start()

    def _ink_main(self) -> None:
        """Draw the main button's icon in a colour for its ground; the same action has the text's colour in the menu."""
        self.run_button.setIcon(icon("run-checks", "on_accent" if self._main else "text"))


class PaletteButton(QWidget):
    """Looks like a search field and opens the command palette."""

    FULL, COMPACT = 176, 32

    def __init__(self, actions: ActionSet) -> None:
        super().__init__()
        self._action = actions["window.palette"]
        fit(self, width=self.FULL, height=28)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Actions: find any action by name")
        self.setToolTip(self._action.toolTip())
        self.setObjectName("palette-button")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 4, 0)
        row.setSpacing(8)
        self._glass = QLabel()
        self._words = words = QLabel("Actions")
        set_role(words, "second")
        self.key = QLabel(actions.shortcut("window.palette"))
        self.key.setFont(small_font())
        fit(self.key, height=20)
        set_role(self.key, "key")
        row.addWidget(self._glass)
        row.addWidget(words, 1)
        row.addWidget(self.key)
        on_theme_changed(self, self._recolor)
        self._recolor()

    def set_compact(self, compact: bool) -> None:
        """Show only the glass, or the words and the shortcut too."""
        self._words.setVisible(not compact)
        self.key.setVisible(not compact)
        self.setFixedWidth(px(self.COMPACT if compact else self.FULL))

    def _recolor(self) -> None:
        self._glass.setPixmap(icon_pixmap("search", "second", 14))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.rect().contains(event.position().toPoint()):
            self._action.trigger()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Enter):
            self._action.trigger()
        else:
            super().keyPressEvent(event)
