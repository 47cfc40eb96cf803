"""Bars and shapes, looked at by their pixels: the number's place, the mark's place, and shapes that need no colour."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.gui.delegates.ink import color
from workbench.gui.delegates.probability import BarState, mark_x, paint_bar, value_at
from workbench.gui.delegates.status import SHAPES, paint_status
from workbench.gui.shell.theme import apply_theme

BAR = QRectF(10, 10, 200, 10)
THEMES = ("light", "dark", "high-contrast")


@pytest.fixture(autouse=True)
def light(qtbot: QtBot) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, "light")


def picture(state: BarState) -> QImage:
    """Return a bar painted onto the base colour."""
    image = QImage(220, 40, QImage.Format.Format_ARGB32)
    image.fill(color("base"))
    painter = QPainter(image)
    paint_bar(painter, BAR, state)
    painter.end()
    return image


def at(image: QImage, value: float) -> QColor:
    """Return the colour in the middle of the bar where `value` lies."""
    return image.pixelColor(round(mark_x(BAR, value)), 15)


@pytest.mark.parametrize("theme", THEMES)
def test_the_fill_reaches_the_probability_and_ends_there(theme: str) -> None:
    apply_theme(QApplication.instance(), theme)  # type: ignore[arg-type]
    image = picture(BarState(0.6, 0.3, True, "rejected"))
    assert at(image, 0.1) == color("rejected_fill")
    assert at(image, 0.55) == color("rejected_fill")
    assert at(image, 0.7) == color("bar_above")
    passed = picture(BarState(0.2, 0.5, True, "passed"))
    assert at(passed, 0.1) == color("passed_fill")
    assert at(passed, 0.35) == color("bar_below")
    assert at(passed, 0.8) == color("bar_above")


def test_the_mark_lies_on_the_threshold_solid_for_an_own_one_and_hollow_for_an_inherited_one() -> None:
    own, inherited = (picture(BarState(None, 0.75, own, "idle")) for own in (True, False))
    x = round(mark_x(BAR, 0.75))
    assert own.pixelColor(x, 9) == inherited.pixelColor(x, 9) == color("text")
    assert own.pixelColor(x, 25) == color("text")
    assert inherited.pixelColor(x, 25) == color("base")


@pytest.mark.parametrize("status", ["refused", "no_answer", "error", "idle"])
def test_a_row_without_a_number_shows_no_fill(status: str) -> None:
    image = picture(BarState(None, 0.5, True, status))
    fills = {color("passed_fill").rgb(), color("rejected_fill").rgb()}
    seen = {image.pixelColor(x, y).rgb() for x in range(220) for y in range(8, 22)}
    assert not fills & seen


def test_states_without_a_number_are_told_apart_without_colour() -> None:
    pictures = {}
    for status in ("refused", "no_answer", "error", "idle"):
        pictures[status] = picture(BarState(None, 0.5, True, status)).convertToFormat(
            QImage.Format.Format_Mono
        )
    for one, other in itertools.combinations(pictures, 2):
        assert pictures[one] != pictures[other], (one, other)


def test_a_stale_bar_is_grey() -> None:
    assert at(picture(BarState(0.6, 0.3, True, "stale")), 0.5) == color("edge")


@pytest.mark.parametrize("x", [-50.0, 10.0, 110.0, 210.0, 999.0])
def test_positions_on_the_bar_and_values_are_one_another_s_inverse_within_the_bar(x: float) -> None:
    value = value_at(BAR, x)
    assert 0.0 <= value <= 1.0
    if 10 <= x <= 210:
        assert mark_x(BAR, value) == pytest.approx(x)


def test_every_outcome_has_a_shape_of_its_own() -> None:
    drawn = {}
    for status in SHAPES:
        image = QImage(32, 32, QImage.Format.Format_ARGB32)
        image.fill(QColor("white"))
        painter = QPainter(image)
        paint_status(painter, QRectF(0, 0, 32, 32), status, QColor("black"))
        painter.end()
        drawn[status] = image
    alike = {frozenset(("error", "error_mark")), frozenset(("queued", "stale"))}
    for one, other in itertools.combinations(SHAPES, 2):
        assert (drawn[one] == drawn[other]) == (frozenset((one, other)) in alike), (one, other)
