"""Which colour of the theme stands for which outcome, in one place."""

from __future__ import annotations

from typing import Literal

from PySide6.QtGui import QColor, QFont

from workbench.gui.shell.theme import mono_font, theme

_TEXT_OF_STATUS: dict[str, str] = {
    "passed": "passed",
    "rejected": "rejected",
    "error_mark": "rejected",
    "refused": "refused",
    "no_answer": "second",
    "error": "warning",
    "queued": "second",
    "stale": "second",
    "idle": "second",
    "info": "second",
    "recorded": "second",
}


def color(token: str) -> QColor:
    """Return a colour of the theme in use; `name:60` is the colour `name` with an opacity of 60 of 255."""
    name, _, alpha = token.partition(":")
    return QColor(theme().color(name, int(alpha) if alpha else 255))


def status_color(status: str) -> QColor:
    """Return the colour of a status' icon and word."""
    return color(_TEXT_OF_STATUS.get(status, "text"))


def mono(pixels: float = 12.0) -> QFont:
    """Return the theme's monospace font for figures and pointers outside editors."""
    return mono_font(pixels)


Size = Literal["normal", "second", "section", "title"]

_SCALE: dict[Size, float] = {"normal": 1.0, "second": 11.5 / 13, "section": 14 / 13, "title": 22 / 13}


def scaled_font(base: QFont, size: Size = "normal", bold: bool = False) -> QFont:
    """Return `base` at one of the sizes of the design, in regular or semibold weight."""
    font = QFont(base)
    if font.pixelSize() > 0:
        font.setPixelSize(max(1, round(font.pixelSize() * _SCALE[size])))
    else:
        font.setPointSizeF(font.pointSizeF() * _SCALE[size])
    if bold:
        font.setWeight(QFont.Weight.DemiBold)
    return font
