"""No text in the window is cut at the sizes of common screens, and the size of the interface scales all of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from tests.gui.cut_texts import cut_texts
from workbench.gui.main_window import MainWindow
from workbench.gui.shell import scale as scaling
from workbench.gui.shell.scale import fit, px, scale, set_interface_size
from workbench.gui.shell.settings import AppSettings
from workbench.gui.shell.stylesheet import style_sheet
from workbench.gui.shell.theme import apply_theme, interface_font, load_theme, mono_font

PANES = ("translation", "placeholders", "options", "tools", "problems")
SIZES = [(1440, 900), (1280, 800)]


pytestmark = pytest.mark.usefixtures("embedded_model")


@pytest.fixture
def triage(triage: MainWindow, qtbot: QtBot, settled) -> MainWindow:
    """The window on the sample *Support triage*, with its checks run."""
    with qtbot.waitSignal(triage.session.run_finished, timeout=60_000):
        triage.session.run_checks("input")
    settled(triage.session)
    return triage


@pytest.fixture
def size(qapp: QApplication) -> Iterator[None]:
    """Put the size of the interface back."""
    yield
    set_interface_size(100)
    apply_theme(qapp, "light")


def _users_own(window: MainWindow) -> set[str]:
    """Return texts that the user wrote: they may be long, end in an ellipsis, and have a tip."""
    snapshot = window.session.snapshot()
    return {
        repr(check.question) for stage in ("input", "output") for check in snapshot.guardrail(stage).checks
    }


@pytest.mark.parametrize(("width", "height"), SIZES, ids=["1440x900", "1280x800"])
def test_no_text_in_the_window_is_cut(triage: MainWindow, settled, width: int, height: int) -> None:
    triage.resize(width, height)
    for layout in ("Compose", "Thresholds", "History"):
        triage.show_layout(layout)
        triage.docks.reset()
        settled(triage.session)
        _none_cut(triage, layout)
    triage.show_layout("Compose")
    for pane in PANES:
        triage.docks.show_pane(pane)
        settled(triage.session)
        _none_cut(triage, pane)


def _none_cut(window: MainWindow, where: str) -> None:
    for _ in range(5):  # what is hidden for want of room gives its room to others one layout later
        QCoreApplication.processEvents()
    own = _users_own(window)
    found = [each for each in cut_texts(window) if not any(text in each for text in own)]
    assert not found, f"in {where}:\n" + "\n".join(found)


def test_the_search_for_cut_texts_finds_what_is_cut(qtbot: QtBot) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    row = QHBoxLayout(box)
    label, button, wrapped, whole = (
        QLabel("a text of some length"),
        QPushButton("Press me"),
        QLabel(),
        QLabel("ok"),
    )
    wrapped.setText("several words that need several lines here")
    wrapped.setWordWrap(True)
    wrapped.setFixedSize(60, 16)
    label.setFixedWidth(40)
    button.setFixedWidth(30)
    for each in (label, button, wrapped, whole):
        row.addWidget(each)
    box.show()
    found = "\n".join(cut_texts(box))
    for text in ("a text of some length", "Press me", "several words"):
        assert text in found
    assert "'ok'" not in found


# -- the size of the interface -----------------------------------------------------------------------------------


def _menu_font(window: MainWindow) -> int:
    return window.menuBar().font().pixelSize()


@pytest.mark.parametrize("percent", [150, 200])
def test_the_setting_scales_fonts_rows_and_bars_at_once_and_back(
    open_window: MainWindow, settled, size: None, percent: int
) -> None:
    watched = {
        "menu": lambda: _menu_font(open_window),
        "editor": lambda: open_window.template.cards[0].editor.font().pixelSize(),
        "small": lambda: open_window.status_line.saved.words.font().pixelSize(),
        "toolbar": lambda: open_window.toolbar.height(),
        "dock title": lambda: open_window.docks.docks["preview"].title.height(),
        "problem row": lambda: open_window.docks.pane("problems").view.sizeHintForRow(0),
        "button": lambda: open_window.template.add_button.sizeHint().height(),
        "picture": lambda: open_window.toolbar.iconSize().width(),
    }
    open_window.template.cards[1].editor.replace_text("[%param.nobody%]")
    settled(open_window.session)
    before = {name: look() for name, look in watched.items()}
    open_window.session.settings.set("interface.size", percent)
    QCoreApplication.processEvents()
    factor = percent / 100
    grown = {name: look() / before[name] for name, look in watched.items()}
    for name, ratio in grown.items():
        assert factor * 0.88 <= ratio <= factor * 1.12, f"{name} grew by {ratio:.2f}"
    open_window.session.settings.set("interface.size", 100)
    QCoreApplication.processEvents()
    assert {name: look() for name, look in watched.items()} == before


def test_the_actions_of_the_menu_change_the_size_within_its_bounds(
    open_window: MainWindow, size: None
) -> None:
    settings = open_window.session.settings
    open_window.actions_by_id["view.interface-larger"].trigger()
    assert settings.get("interface.size") == 110
    assert _menu_font(open_window) == round(13 * 1.1)
    for _ in range(20):
        open_window.actions_by_id["view.interface-smaller"].trigger()
    assert settings.get("interface.size") == 80


def test_sizes_go_there_and_back_without_drift(open_window: MainWindow, size: None) -> None:
    fonts = [w for w in open_window.findChildren(QWidget) if w.font().pixelSize() > 0]
    before = [each.font().pixelSize() for each in fonts]
    for percent in (80, 110, 130, 170, 90, 200, 100):
        open_window.session.settings.set("interface.size", percent)
    assert [each.font().pixelSize() for each in fonts] == before


@pytest.mark.parametrize(("points", "at_least"), [(9, 1.0), (18, 1.8), (27, 2.7)])
def test_the_window_follows_the_text_size_of_the_system(
    qapp: QApplication, size: None, monkeypatch: pytest.MonkeyPatch, points: int, at_least: float
) -> None:
    def system_font(_kind: object) -> QFont:
        font = QFont("DejaVu Sans")
        font.setPointSize(points)
        return font

    monkeypatch.setattr(QFontDatabase, "systemFont", system_font)
    apply_theme(qapp, "light")
    assert scale() >= at_least
    assert interface_font().pixelSize() == round(13 * scale())
    assert mono_font().pixelSize() == round(12 * scale())
    if points > 10:
        assert interface_font().pixelSize() == round(points * 96 / 72), "the system's own size"
    monkeypatch.undo()
    apply_theme(qapp, "light")
    assert scale() == 1.0


def test_a_denser_screen_scales_too(qapp: QApplication, size: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Dense:
        def logicalDotsPerInchY(self) -> float:
            return qapp.primaryScreen().logicalDotsPerInchY() * 2

    dense = Dense()
    before = scaling.system_scale()
    monkeypatch.setattr(
        "workbench.gui.shell.scale.QGuiApplication",
        type("Screens", (), {"primaryScreen": staticmethod(lambda: dense)}),
    )
    assert scaling.system_scale() == pytest.approx(2 * before)


def test_a_fitted_widget_follows_and_a_dead_one_is_forgotten(
    qapp: QApplication, qtbot: QtBot, size: None
) -> None:
    kept, gone = QWidget(), QWidget()
    qtbot.addWidget(kept)
    fit(kept, height=30, width=50)
    fit(gone, height=30)
    del gone
    set_interface_size(200)
    apply_theme(qapp, "light")
    assert (kept.height(), kept.width()) == (60, 100)
    assert px(0.1) == 1


def test_lines_stay_thin_in_a_large_style_sheet() -> None:
    colors = load_theme("light").colors
    plain, large = style_sheet(colors), style_sheet(colors, 2.0)
    assert "padding: 4px 12px" in plain
    assert "padding: 8px 24px" in large
    assert large.count("border: 1px solid") == plain.count("border: 1px solid")
    assert style_sheet(colors, 1.0) == plain


def test_the_size_setting_has_bounds(tmp_path: Path) -> None:
    settings = AppSettings(tmp_path)
    assert settings.get("interface.size") == 100
    for value in (79, 201, "150", True):
        with pytest.raises(ValueError):
            settings.set("interface.size", value)
