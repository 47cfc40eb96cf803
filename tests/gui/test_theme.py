"""Colours keep their contrast, icons exist, and everything follows a change of theme."""

from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QAction, QColor, QFontMetrics
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.engine.resources import resource
from workbench.gui.shell.actions import ACTIONS
from workbench.gui.shell.theme import apply_theme, icon_pixmap, load_theme, set_icon, theme
from workbench.gui.widgets.labels import TokenLabel

NAMES = ("light", "dark", "high-contrast")
# (colour, its ground, the least contrast)
PAIRS = [
    ("text", "base", 7.0),
    ("text", "window", 7.0),
    ("text", "selection", 4.5),
    ("text", "head", 4.5),
    ("text", "current_line", 4.5),
    ("text", "match", 4.5),
    ("second", "window", 4.5),
    ("second", "base", 4.5),
    ("second", "alternate", 4.5),
    ("second", "head", 4.5),
    ("second", "selection", 4.5),
    ("disabled", "window", 4.5),
    ("disabled", "base", 4.5),
    ("accent", "base", 4.5),
    ("on_accent", "accent", 4.5),
    ("on_accent", "accent_hover", 4.5),
    ("value_text", "value_tint", 4.5),
    ("context_text", "context_tint", 4.5),
    ("field_text", "field_tint", 4.5),
    ("missing_text", "missing", 4.5),
    ("rejected", "missing_tint", 4.5),
    ("rejected", "verdict_rejected", 4.5),
    ("passed", "verdict_passed", 4.5),
    ("passed", "base", 4.5),
    ("rejected", "base", 4.5),
    ("refused", "base", 4.5),
    ("warning", "base", 4.5),
    ("json_key", "base", 4.5),
    ("json_string", "base", 4.5),
    ("json_number", "base", 4.5),
    ("tooltip_text", "tooltip", 4.5),
    ("edge", "base", 3.0),
    ("passed_fill", "bar_below", 3.0),
    ("rejected_fill", "bar_above", 3.0),
]


def contrast(a: str, b: str) -> float:
    """Return the contrast ratio of WCAG 2: 1 (none) to 21."""

    def luminance(name: str) -> float:
        color = QColor(name)
        channels = [color.redF(), color.greenF(), color.blueF()]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", NAMES)
def test_every_text_and_mark_stands_out_from_its_ground(name: str) -> None:
    colors = load_theme(name).colors
    weak = {
        (front, ground): round(contrast(colors[front], colors[ground]), 2)
        for front, ground, least in PAIRS
        if contrast(colors[front], colors[ground]) < least
    }
    assert weak == {}


def test_high_contrast_is_stronger_than_the_others() -> None:
    colors = load_theme("high-contrast").colors
    assert contrast(colors["text"], colors["base"]) == pytest.approx(21)
    assert contrast(colors["second"], colors["window"]) > 15


def test_all_themes_have_the_same_tokens() -> None:
    tokens = {name: set(load_theme(name).colors) for name in NAMES}
    assert tokens["light"] == tokens["dark"] == tokens["high-contrast"]


@pytest.mark.parametrize("name", NAMES)
def test_the_glyphs_of_the_style_sheet_have_colours_of_their_theme(name: str) -> None:
    colors = {color.lower() for color in load_theme(name).colors.values()}
    files = list(resource("themes", name).glob("*.svg"))
    assert files
    for file in files:
        used = {color.lower() for color in re.findall(r"#[0-9A-Fa-f]{6}", file.read_text("utf-8"))}
        assert used <= colors, file.name


def test_every_icon_of_an_action_is_drawn() -> None:
    for spec in ACTIONS:
        if spec.icon:
            image = icon_pixmap(spec.icon).toImage()
            assert any(image.pixelColor(x, y).alpha() for x in range(16) for y in range(16)), spec.icon


def test_icons_of_actions_follow_the_theme(qapp: QApplication) -> None:
    action = QAction("x")
    set_icon(action, "save")
    light = action.icon().pixmap(16).toImage()
    try:
        apply_theme(qapp, "dark")
        assert theme().name == "dark"
        assert action.icon().pixmap(16).toImage() != light
        assert qapp.palette().window().color().name() == load_theme("dark").colors["window"].lower()
    finally:
        apply_theme(qapp, "light")
    assert action.icon().pixmap(16).toImage() == light


def test_a_line_that_shows_whole_sentences_ends_in_no_colon(qtbot: QtBot) -> None:
    line = TokenLabel(
        "recorded. Recorded answers: no model runs, and only these are answered.", sentences=True
    )
    qtbot.addWidget(line)
    line.resize(QFontMetrics(line.shown_font()).horizontalAdvance("recorded. Recorded answers:") + 8, 20)
    assert line.shown_text() == "recorded. Recorded answers"


def test_a_label_of_figures_is_cut_between_them_and_never_inside_one(qapp: QApplication) -> None:
    label = TokenLabel("ECE 0.177, 10 bins", elide=True)
    label.show_whole_parts()
    whole, first = (label.fontMetrics().horizontalAdvance(text) for text in (label.text(), "ECE 0.177"))
    shown = []
    for width in (whole + 4, whole - 4, first - 4):
        label.resize(width, 20)
        shown.append(label.shown_text())
    assert shown == ["ECE 0.177, 10 bins", "ECE 0.177", ""]
    label.deleteLater()
