"""Puts the window together: menus, toolbar, docks, status bar, and what each action does."""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from workbench import __version__
from workbench.gui.dialogs import questions
from workbench.gui.panes.data_tabs import DataTabs
from workbench.gui.panes.template import TemplatePane
from workbench.gui.shell.actions import MENUS, ActionSet
from workbench.gui.shell.docks import LAYOUTS, DockManager, LayoutTabs
from workbench.gui.shell.edit_actions import EditActions
from workbench.gui.shell.file_actions import FileActions
from workbench.gui.shell.history_actions import HistoryActions, HistoryNotice
from workbench.gui.shell.memory import forget_sources
from workbench.gui.shell.palette import CommandPalette, PaletteEntry
from workbench.gui.shell.pane_list import PANES
from workbench.gui.shell.places import Place, message_title
from workbench.gui.shell.scale import fit, scale, set_interface_size, wanted_scale
from workbench.gui.shell.session import Session
from workbench.gui.shell.status_bar import WorkbenchStatusBar
from workbench.gui.shell.theme import application_icon, apply_theme, mono_size, set_mono_size, set_role
from workbench.gui.shell.timers import one_shot
from workbench.gui.shell.toolbar import WorkbenchToolBar

OPENED_AFTER_MS = 1_000


class MainWindow(QMainWindow):
    """The one main window. Panes know the session; only this class knows the panes."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._restored = False
        self._arrange_soon = one_shot(self, lambda: self.docks.reset())
        self._look_soon = one_shot(self, self._look_at_disk)
        # Opening a project imports what checks and renders it, a part of that in jobs.
        self._forget_later = one_shot(self, forget_sources, OPENED_AFTER_MS)
        self.setWindowTitle("Prompt Workbench")
        self.setWindowIcon(application_icon())
        self.setObjectName("main-window")
        self.resize(1440, 900)
        self.setMinimumSize(QSize(720, 480))
        self.actions_by_id = ActionSet(self)
        # Before the panes hear of a place: what is hidden can neither scroll to it nor take the keyboard.
        session.reveal.connect(self._on_reveal)
        self.template = TemplatePane(session)
        self.data = DataTabs(session)
        self._build_center()
        self.docks = DockManager(self, session, PANES)
        self.files = FileActions(self, session)
        self.history = HistoryActions(self, session, self.docks)
        self.edits = EditActions(self, session, self.template, self.data)
        self._build_menus()
        self.toolbar = WorkbenchToolBar(session, self.actions_by_id)
        self.addToolBar(self.toolbar)
        self.status_line = WorkbenchStatusBar(session)
        self.setStatusBar(self.status_line)
        self.history_notice = HistoryNotice(self.status_line, session, self.history.pane)
        self._connect_actions()
        self._connect_session()
        for action_id, shortcut in session.settings.shortcuts().items():
            if action_id in self.actions_by_id:
                self.actions_by_id.set_shortcut(action_id, shortcut)
        self._restore_geometry()
        forget_sources()
        self._project_changed()

    # -- building ---------------------------------------------------------------------------------------

    def _build_center(self) -> None:
        self.center_splitter = QSplitter(Qt.Orientation.Vertical)
        self.center_splitter.setChildrenCollapsible(False)
        self.center_splitter.setHandleWidth(1)
        self.center_splitter.addWidget(self.template)
        self.center_splitter.addWidget(self.data)
        self.center_splitter.setSizes([300, 280])
        self.notice = _DiskNotice()
        self.notice.reload.clicked.connect(lambda: (self.notice.hide(), self.files.reload(ask=False)))
        self.notice.keep.clicked.connect(self.notice.hide)
        editor_page = QWidget()
        column = QVBoxLayout(editor_page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.notice)
        column.addWidget(self.center_splitter, 1)
        self.center = QStackedWidget()
        self.center.addWidget(editor_page)
        self.setCentralWidget(self.center)
        self._welcome: QWidget | None = None

    def _build_menus(self) -> None:
        menus: dict[str, QMenu] = {}
        groups: dict[str, int] = {}
        for title in MENUS:
            # Each title has a first letter of its own, which opens it together with Alt.
            menus[title] = self.menuBar().addMenu(f"&{title}")
        for action_id, spec in self.actions_by_id.specs.items():
            action = self.actions_by_id[action_id]
            self.addAction(action)
            if not spec.menu:
                continue
            menu = menus[spec.menu]
            if groups.get(spec.menu, spec.group) != spec.group:
                menu.addSeparator()
            groups[spec.menu] = spec.group
            menu.addAction(action)
        self.recent_menu = QMenu("Open recent", self)
        self.recent_menu.aboutToShow.connect(self._fill_recent)
        menus["File"].insertMenu(self.actions_by_id["file.welcome"], self.recent_menu)
        panes = menus["Window"].addMenu("Panes")
        for dock in self.docks.docks.values():
            panes.addAction(dock.toggleViewAction())
        self.layout_tabs = LayoutTabs()
        corner = QWidget(self.menuBar())
        row = QHBoxLayout(corner)
        row.setContentsMargins(0, 0, 8, 0)
        row.addWidget(self.layout_tabs)
        self.menuBar().setCornerWidget(corner, Qt.Corner.TopRightCorner)
        self.layout_tabs.currentChanged.connect(lambda index: self.show_layout(LAYOUTS[index]))

    def _connect_actions(self) -> None:
        files, edits, session = self.files, self.edits, self.session
        parameters = self.data.parameters
        slots: dict[str, Any] = {
            "file.new": files.ask_new,
            "file.open": files.ask_open,
            "file.welcome": self.show_welcome,
            "file.save": files.save,
            "file.save-as": files.ask_save_as,
            "file.reload": files.reload,
            "file.export": self.export,
            "file.close": files.close_project,
            "file.quit": self.close,
            "edit.undo": edits.undo,
            "edit.redo": edits.redo,
            "edit.cut": edits.clipboard("cut"),
            "edit.copy": edits.clipboard("copy"),
            "edit.paste": edits.clipboard("paste"),
            "edit.select-all": edits.clipboard("selectAll"),
            "edit.find": partial(edits.find, False),
            "edit.replace": partial(edits.find, True),
            "edit.find-next": partial(edits.find_step, 1),
            "edit.find-previous": partial(edits.find_step, -1),
            "edit.complete": edits.complete,
            "edit.fix": edits.quick_fix,
            "edit.extract": edits.extract,
            "edit.rename-parameter": edits.rename_parameter,
            "edit.settings": self.show_settings,
            "view.compose": partial(self.show_layout, "Compose"),
            "view.thresholds": partial(self.show_layout, "Thresholds"),
            "view.history": partial(self.show_layout, "History"),
            "view.reset-layout": self.docks.reset,
            "view.light": partial(session.settings.set, "theme", "light"),
            "view.dark": partial(session.settings.set, "theme", "dark"),
            "view.high-contrast": partial(session.settings.set, "theme", "high-contrast"),
            "view.system-theme": partial(session.settings.set, "theme", "system"),
            "view.larger": partial(self.zoom, 1),
            "view.smaller": partial(self.zoom, -1),
            "view.interface-larger": partial(self.zoom_interface, 10),
            "view.interface-smaller": partial(self.zoom_interface, -10),
            "view.wrap": self._toggle_wrap,
            "project.add-message": lambda: (self.show_layout("Compose"), self.template.add_message()),
            "project.use-graph": lambda: (self.show_layout("Compose"), self.template.use_graph()),
            "project.new-parameter-set": parameters.ask_new,
            "project.duplicate-parameter-set": parameters.ask_duplicate,
            "project.rename-parameter-set": parameters.ask_rename,
            "project.delete-parameter-set": parameters.delete_set,
            "project.compare-previews": lambda: self.docks.show_pane("preview").toggle_compare(),
            "project.rename": files.rename,
            "project.add-check": lambda: self.docks.show_pane("guardrails").add_check(),
            "project.models": self.show_models,
            "run.checks": partial(session.run_checks, "input"),
            "run.checks-output": self._run_output_checks,
            "run.translate": self._translate,
            "run.stop": session.stop,
            **self.history.slots(),
            "window.palette": self.show_palette,
            "window.next-pane": partial(self.step_pane, 1),
            "window.previous-pane": partial(self.step_pane, -1),
            "window.next-problem": lambda: self.docks.pane("problems").step(1),
            "window.previous-problem": lambda: self.docks.pane("problems").step(-1),
            "help.shortcuts": self.show_shortcuts,
            "help.about": self.show_about,
        }
        for action_id, slot in slots.items():
            self.actions_by_id.connect(action_id, slot)
        self.actions_by_id["view.wrap"].setChecked(session.settings.get("editor.wrap"))

    def _connect_session(self) -> None:
        session = self.session
        session.project_changed.connect(self._project_changed)
        session.dirty_changed.connect(lambda _dirty: self._name_window())
        session.edited.connect(lambda area: self._name_window() if area == "name" else None)
        for signal in (session.run_started, session.run_finished, session.run_failed):
            signal.connect(lambda *_: self._update_enabled())
        self.history.changed.connect(self._update_enabled)
        session.settings.changed.connect(self._setting_changed)
        session.secret_asked.connect(self._ask_origin)
        self.status_line.problems.clicked.connect(lambda: self.docks.show_pane("problems"))
        self.toolbar.models_asked.connect(self.show_models)
        self.docks.layout_changed.connect(self._layout_changed)
        for dock in self.docks.docks.values():
            dock.built.connect(partial(self._pane_built, dock.spec.id))

    def _pane_built(self, pane_id: str, pane: Any) -> None:
        if pane_id == "preview":
            pane.counted.connect(self.status_line.show_counts)
            rendering = self.session.rendering()
            if rendering is not None:
                pane.show_rendering(rendering)
        elif pane_id == "project":
            pane.asked.connect(lambda action_id: self.actions_by_id[action_id].trigger())

    # -- project ----------------------------------------------------------------------------------------

    def _project_changed(self) -> None:
        has_project = self.session.project is not None
        self.notice.hide()
        self._name_window()
        self._update_enabled()
        self._forget_later.start()
        if has_project:
            self.center.setCurrentIndex(0)
            self.docks.show_layout(self.docks.layout)
        else:
            self.show_welcome()
        self.layout_tabs.setEnabled(has_project)

    def _name_window(self) -> None:
        project = self.session.project
        if project is None:
            self.setWindowTitle("Prompt Workbench")
        else:
            self.setWindowTitle(f"{project.name}[*] – Prompt Workbench")
            self.setWindowModified(self.session.dirty)

    def _update_enabled(self) -> None:
        running = bool(self.session.running())
        has_project = self.session.project is not None
        self.actions_by_id.update_enabled(
            project=has_project, running=running, history=self.history.abilities()
        )
        self.toolbar.set_main(has_project)

    def show_welcome(self) -> None:
        """Show the welcome page over the whole window; an open project stays open."""
        if self._welcome is None:
            from workbench.gui.panes.welcome import WelcomePage

            page = WelcomePage(self.session)
            page.new_requested.connect(self.files.ask_new)
            page.open_requested.connect(self.files.ask_open)
            page.project_requested.connect(lambda path: self.files.open_folder(Path(path)))
            page.sample_requested.connect(self.files.open_sample)
            self._welcome = page
            self.center.addWidget(page)
        self.docks.hide_all()
        self.center.setCurrentWidget(self._welcome)
        _focus_inside(self._welcome)

    def _fill_recent(self) -> None:
        self.recent_menu.clear()
        for row in self.session.settings.recent():
            path = Path(row["path"])
            action = self.recent_menu.addAction(f"{row.get('name') or path.name}    {path}")
            action.setEnabled(path.is_dir())
            action.triggered.connect(lambda _checked=False, path=path: self.files.open_folder(path))
        if self.recent_menu.isEmpty():
            self.recent_menu.addAction("Nothing was opened yet").setEnabled(False)

    # -- layouts ----------------------------------------------------------------------------------------

    def show_layout(self, name: str) -> None:
        """Show one of the three layouts."""
        if self.session.project is None:
            return
        self.center.setCurrentIndex(0)
        self.docks.show_layout(name)

    def _layout_changed(self, name: str) -> None:
        self.layout_tabs.blockSignals(True)
        self.layout_tabs.setCurrentIndex(LAYOUTS.index(name))
        self.layout_tabs.blockSignals(False)

    def _on_reveal(self, place: Place) -> None:
        if place.area in ("message", "graph", "parameters", "parameters_schema", "output_schema"):
            self.show_layout("Compose")

    def step_pane(self, direction: int) -> None:
        """Give the keyboard to the next (1) or the previous (-1) pane."""
        stops: list[QWidget] = [self.template, self.data] if self.center.isVisible() else []
        for dock in self.docks.docks.values():
            if dock.isVisible() and dock.pane is not None and not dock.visibleRegion().isEmpty():
                stops.append(dock.pane)
        if not stops:
            return
        focus = QApplication.focusWidget()
        here = next((i for i, stop in enumerate(stops) if focus is not None and stop.isAncestorOf(focus)), -1)
        for step in range(1, len(stops) + 1):
            # A pane in which nothing takes the keyboard, such as an empty list, is passed over.
            if _focus_inside(stops[(here + direction * step) % len(stops)]):
                return

    # -- actions ----------------------------------------------------------------------------------------

    def export(self) -> None:
        """Open the export dialog."""
        from workbench.gui.dialogs.export import ExportDialog

        dialog = ExportDialog(self.session, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def show_models(self) -> None:
        """Open the dialog of the project's models."""
        from workbench.gui.dialogs.model_settings import ModelSettingsDialog

        dialog = ModelSettingsDialog(self.session, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def show_settings(self) -> None:
        """Open the settings."""
        from workbench.gui.dialogs.settings_dialog import SettingsDialog

        self._open(SettingsDialog(self.session.settings, self))

    def show_shortcuts(self) -> None:
        """Open the page of shortcuts."""
        from workbench.gui.dialogs.shortcuts import ShortcutsDialog

        self._open(ShortcutsDialog(self.actions_by_id, self.session.settings, self))

    def show_about(self) -> None:
        """Say what this is."""
        questions.show_about(
            self,
            f"Prompt Workbench {__version__}",
            "Edit prompts, test guardrails and repair translations, on one desktop. No account, no server.",
        )

    def _open(self, dialog: QDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def show_palette(self) -> CommandPalette:
        """Open the command palette."""
        palette = CommandPalette(self._palette_entries(), self)
        palette.open_over(self)
        return palette

    def _palette_entries(self) -> list[PaletteEntry]:
        entries = []
        for action_id, spec in self.actions_by_id.specs.items():
            if action_id == "window.palette":
                continue
            action = self.actions_by_id[action_id]
            entries.append(
                PaletteEntry(
                    spec.text.rstrip("…"), spec.menu, action.trigger, self.actions_by_id.shortcut(action_id),
                    spec.icon, action.isEnabled(),
                )
            )  # fmt: skip
        for dock in self.docks.docks.values():
            show = partial(self.docks.show_pane, dock.spec.id)
            entries.append(
                PaletteEntry(
                    f"Show {dock.spec.title}", "Pane", show, enabled=self.session.project is not None
                )
            )
        snapshot = self.session.snapshot()
        for index in range(len(snapshot.messages)):
            go = partial(self.session.go_to, Place("message", str(index)))
            entries.append(PaletteEntry(message_title(snapshot, index), "Message", go, icon="message"))
        for name in snapshot.parameter_sets:
            choose = partial(self.session.set_parameter_set, name)
            entries.append(PaletteEntry(name, "Parameter set", choose, icon="braces"))
        return entries

    def _run_output_checks(self) -> None:
        pane = self.docks.show_pane("guardrails")
        pane.stage_switch.choose("output")
        pane.run()

    def _translate(self) -> None:
        self.docks.show_pane("translation").translate()

    def _toggle_wrap(self) -> None:
        self.session.settings.set("editor.wrap", self.actions_by_id["view.wrap"].isChecked())

    def zoom(self, step: int) -> None:
        """Make the text of the editors larger (1) or smaller (-1)."""
        size = max(8, min(32, int(self.session.settings.get("editor.size")) + step))
        self.session.settings.set("editor.size", size)

    def zoom_interface(self, step: int) -> None:
        """Make the whole window larger or smaller by `step` percent."""
        size = max(80, min(200, int(self.session.settings.get("interface.size")) + step))
        self.session.settings.set("interface.size", size)
        self.session.status.emit(f"Interface size {size} %")

    def _setting_changed(self, key: str) -> None:
        if key == "interface.size":
            set_interface_size(self.session.settings.get(key))
        if key in ("theme", "interface.size"):
            apply_theme(QApplication.instance(), self.session.settings.get("theme"))
        elif key == "editor.size" and mono_size() != self.session.settings.get(key):
            set_mono_size(self.session.settings.get(key))
        elif key == "editor.wrap":
            self.actions_by_id["view.wrap"].setChecked(self.session.settings.get(key))

    def _ask_origin(self, asked: Any, retry: Any) -> None:
        if questions.ask_origin(self, asked.name, asked.accepted, asked.wanted):
            self.session.secrets.accept(asked.name, asked.wanted)
            retry()

    # -- window state -----------------------------------------------------------------------------------

    def _restore_geometry(self) -> None:
        state = self.session.settings.state.get("window")
        if not isinstance(state, dict):
            return
        geometry = state.get("geometry")
        if isinstance(geometry, str):
            try:
                self.restoreGeometry(QByteArray(base64.b64decode(geometry, validate=True)))
            except ValueError:
                return
        self.docks.restore(state.get("docks"))
        sizes = state.get("center")
        if isinstance(sizes, list) and len(sizes) == 2 and all(isinstance(size, int) for size in sizes):
            self.center_splitter.setSizes(sizes)

    def restore_work(self) -> None:
        """Put the parameter set, the carets and the scroll positions of the open project back."""
        project = self.session.project
        places = self.session.settings.state.get("places")
        if project is None or not isinstance(places, dict):
            return
        place = places.get(str(project.root))
        if isinstance(place, dict):
            if isinstance(place.get("set"), str):
                self.session.set_parameter_set(place["set"])
            if isinstance(place.get("template"), dict):
                self.template.restore(place["template"])

    def save_state(self) -> None:
        """Remember geometry, docks, the open project, carets and scroll positions."""
        state = self.session.settings.state
        state["window"] = {
            "geometry": base64.b64encode(bytes(self.saveGeometry().data())).decode("ascii"),
            "docks": self.docks.state(),
            "center": self.center_splitter.sizes(),
        }
        project = self.session.project
        state["last_project"] = (
            str(project.root) if project is not None and project.root is not None else None
        )
        if project is not None and project.root is not None:
            places = state.get("places")
            places = places if isinstance(places, dict) else {}
            places[str(project.root)] = {"set": self.session.parameter_set, "template": self.template.state()}
            state["places"] = dict(list(places.items())[-50:])
        self.session.settings.save_state()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._restored:
            self._restored = True
            # The first arrangement was made before the window had its size.
            if self.session.project is not None and self.docks.layout not in self.docks._states:
                self._arrange_soon.start()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self._look_soon.start()
            # The system's text size may have changed while another program had the keyboard.
            if wanted_scale() != scale():
                apply_theme(QApplication.instance(), self.session.settings.get("theme"))

    def _look_at_disk(self) -> None:
        """Say so when another program changed the project's files."""
        project = self.session.project
        if project is None or project.root is None:
            return
        changed = project.changed_on_disk()
        if changed:
            self.notice.say(", ".join(path.name for path in changed[:4]), self.session.dirty)
        else:
            self.notice.hide()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.files.leave():
            event.ignore()
            return
        self.save_state()
        self.edits.close()
        self.session.close()
        event.accept()


class _DiskNotice(QWidget):
    """The strip that says that files changed on disk."""

    def __init__(self) -> None:
        super().__init__()
        set_role(self, "verdict-rejected")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        fit(self, height=36)
        self.words = QLabel()
        self.words.setMinimumWidth(10)
        self.reload, self.keep = QPushButton("Reload"), QPushButton("Keep mine")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 8, 0)
        row.addWidget(self.words, 1)
        row.addWidget(self.reload)
        row.addWidget(self.keep)
        self.hide()

    def say(self, names: str, dirty: bool) -> None:
        """Name the files; say what reloading costs."""
        cost = " Reloading drops what you changed here." if dirty else ""
        self.words.setText(f"Another program changed {names}.{cost}")
        self.setAccessibleName(self.words.text())
        self.show()


def _focus_inside(pane: QWidget) -> bool:
    """Give the keyboard to the first widget of a pane that takes it; False when none does."""
    for child in pane.findChildren(QWidget):
        if child.isVisible() and child.isEnabled() and child.focusPolicy() & Qt.FocusPolicy.TabFocus:
            child.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return True
    return False
