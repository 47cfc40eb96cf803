"""Everything can be done by keyboard, and every control says its name to a screen reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QKeySequence
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QMenu,
    QScrollArea,
    QScrollBar,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from workbench.gui.dialogs.export import ExportDialog
from workbench.gui.dialogs.model_settings import ModelSettingsDialog
from workbench.gui.dialogs.new_project import NewProjectDialog
from workbench.gui.dialogs.settings_dialog import SettingsDialog
from workbench.gui.dialogs.shortcuts import ShortcutsDialog
from workbench.gui.main_window import MainWindow
from workbench.gui.shell.actions import MENUS

LAYOUTS = ("Compose", "Thresholds", "History")


def _stops(top: QWidget) -> Iterator[QWidget]:
    """Yield the visible widgets that take the keyboard, but for the inner parts of one control."""
    for widget in top.findChildren(QWidget):
        if not widget.isVisible() or not widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            continue
        if isinstance(widget.parentWidget(), QComboBox | QAbstractSpinBox | QTabBar) or widget.focusProxy():
            continue
        if isinstance(widget, QScrollArea | QScrollBar):
            continue
        yield widget


def _name(widget: QWidget) -> str:
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name).strip() if found is not None else ""


def _nameless(top: QWidget) -> list[str]:
    found = []
    for widget in _stops(top):
        # A placeholder is no name: it is gone as soon as something is typed.
        name = widget.accessibleName() if isinstance(widget, QLineEdit) else _name(widget)
        if not (name or _name(widget) or isinstance(widget, QTabBar)):
            found.append(f"{type(widget).__name__} {widget.objectName()} in {_holders(widget)}")
    return found


def _holders(widget: QWidget) -> str:
    names, each = [], widget.parentWidget()
    while each is not None and len(names) < 4:
        if type(each).__name__ != "QWidget":
            names.append(type(each).__name__)
        each = each.parentWidget()
    return " < ".join(names)


def test_every_control_of_every_pane_has_a_name(triage: MainWindow, settled) -> None:
    nameless: dict[str, list[str]] = {}
    for layout in LAYOUTS:
        triage.show_layout(layout)
        settled(triage.session)
        nameless[layout] = _nameless(triage)
    triage.show_layout("Compose")
    for pane in triage.docks.docks:
        triage.docks.show_pane(pane)
        settled(triage.session)
        nameless[pane] = _nameless(triage.docks.docks[pane])
    triage.template.use_graph()
    settled(triage.session)
    nameless["graph"] = _nameless(triage.template)
    for index in range(triage.data.tabs.count()):
        triage.data.tabs.setCurrentIndex(index)
        nameless[f"data {index}"] = _nameless(triage.data)
    triage.data.tabs.setCurrentIndex(0)
    triage.data.parameters.show_view("form")
    nameless["form"] = _nameless(triage.data)
    assert not any(nameless.values()), {where: found for where, found in nameless.items() if found}


def test_every_control_of_the_welcome_page_has_a_name(window: MainWindow, settled) -> None:
    settled(window.session)
    assert not _nameless(window)


DIALOGS = {
    "settings": lambda w: SettingsDialog(w.session.settings, w),
    "shortcuts": lambda w: ShortcutsDialog(w.actions_by_id, w.session.settings, w),
    "models": lambda w: ModelSettingsDialog(w.session, w),
    "export": lambda w: ExportDialog(w.session, w),
    "new project": lambda w: NewProjectDialog(w, Path.home()),
    "palette": lambda w: w.show_palette(),
}


@pytest.mark.parametrize("make", DIALOGS.values(), ids=DIALOGS)
def test_every_control_of_a_dialog_has_a_name_and_tab_reaches_it(
    triage: MainWindow, qtbot: QtBot, settled, make
) -> None:
    dialog = make(triage)
    dialog.show()
    settled(triage.session)
    try:
        assert not _nameless(dialog)
        wanted = [each for each in _stops(dialog) if each.isEnabled()]
        reached = _chain(dialog)
        assert {id(each) for each in wanted} <= {id(each) for each in reached}
    finally:
        dialog.close()
        dialog.deleteLater()


def _chain(top: QWidget) -> list[QWidget]:
    """Return the widgets in the order in which Tab goes through them."""
    found, each = [], top.nextInFocusChain()
    while each is not top and len(found) < 5_000:
        found.append(each)
        each = each.nextInFocusChain()
    return found


def test_tab_goes_down_and_to_the_right_in_what_is_read_so(triage: MainWindow, settled) -> None:
    """In the toolbar and in dialogs of one column the next stop is never above the one before."""
    order = [
        each for each in _chain(triage) if triage.toolbar.isAncestorOf(each) and each in set(_stops(triage))
    ]
    places = [each.mapTo(triage, QPoint(0, 0)).x() for each in order]
    assert len(places) >= 8
    assert places == sorted(places)
    dialog = SettingsDialog(triage.session.settings, triage)
    dialog.show()
    try:
        stops = set(map(id, _stops(dialog)))
        heights = [each.mapTo(dialog, QPoint(0, 0)).y() for each in _chain(dialog) if id(each) in stops]
        assert heights == sorted(heights)
    finally:
        dialog.close()
        dialog.deleteLater()


def test_tab_goes_from_the_run_button_through_the_checks_to_what_is_below_them(
    triage: MainWindow, settled
) -> None:
    pane = triage.docks.show_pane("guardrails")
    settled(triage.session)
    order, widget = [], pane.run_button
    while widget is not pane.exchange_link:
        order.append(widget)
        widget = widget.nextInFocusChain()
        assert widget is not pane.run_button, "Tab does not reach what is below the checks"
    spins = [row.spin for row in pane.rows()]
    assert [each for each in order if each in (*spins, pane.compare_link)] == [*spins, pane.compare_link]


def test_every_action_is_in_a_menu_or_the_palette_and_says_what_it_does(triage: MainWindow) -> None:
    palette = {entry.text for entry in triage._palette_entries()}
    menus: dict[str, QMenu] = {action.text(): action.menu() for action in triage.menuBar().actions()}
    assert tuple(title.replace("&", "") for title in menus) == MENUS
    listed = {id(action) for menu in menus.values() for action in menu.actions()}
    for action_id, spec in triage.actions_by_id.specs.items():
        action = triage.actions_by_id[action_id]
        assert action.toolTip(), action_id
        if action_id != "window.palette":
            assert spec.text.rstrip("…") in palette, action_id
        if spec.menu:
            assert id(action) in listed, action_id


def test_every_menu_opens_by_a_letter_of_its_own(window: MainWindow) -> None:
    keys = [QKeySequence.mnemonic(action.text()).toString() for action in window.menuBar().actions()]
    assert all(keys)
    assert len(set(keys)) == len(keys)


def test_no_two_actions_have_one_shortcut(window: MainWindow) -> None:
    actions = window.actions_by_id
    taken = [actions.shortcut(each) for each in actions.ids() if actions.shortcut(each)]
    assert len(taken) == len(set(taken))


def test_the_shortcut_page_lists_every_action(window: MainWindow) -> None:
    dialog = ShortcutsDialog(window.actions_by_id, window.session.settings, window)
    try:
        model = dialog.findChild(QAbstractScrollArea).model()
        texts = [
            str(model.index(row, c).data())
            for row in range(model.rowCount())
            for c in range(model.columnCount())
        ]
        children = [
            str(model.index(sub, 0, model.index(row, 0)).data())
            for row in range(model.rowCount())
            for sub in range(model.rowCount(model.index(row, 0)))
        ]
        for spec in window.actions_by_id.specs.values():
            assert any(spec.text.rstrip("…") in text for text in [*texts, *children]), spec.id
    finally:
        dialog.deleteLater()
