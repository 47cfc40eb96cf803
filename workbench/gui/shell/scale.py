"""How large the interface is: one factor for every font, row and gap, from the system's text size and the user's wish."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QTableView, QWidget

# The size of ordinary text, in pixels, for which the window was drawn.
DESIGNED_FOR = 13.0
SMALLEST, LARGEST = 0.8, 4.0
# A point is this many pixels where the screen says nothing else.
_PIXELS_A_POINT = 1.0 if sys.platform == "darwin" else 96 / 72

# The property of a widget for the size of its font: in the design, as first seen, and as set last.
_DESIGNED = "designed-font-size"

_wish = [1.0]
_scale = [1.0]
_fitted: weakref.WeakKeyDictionary[QObject, list[Callable[[float], None]]] = weakref.WeakKeyDictionary()


def scale() -> float:
    """Return the factor in use; 1.0 is the size of the design."""
    return _scale[0]


def px(designed: float) -> int:
    """Return a length of the design, in pixels, at the size in use; never less than one pixel."""
    return max(1, round(designed * _scale[0]))


def set_interface_size(percent: float) -> None:
    """Set the user's wish, from 80 to 200 percent; `apply_theme` puts it to work."""
    _wish[0] = max(80.0, min(200.0, percent)) / 100


def system_scale() -> float:
    """Return how much larger than the design the system's own interface text is; never below 1.0."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    points = font.pointSizeF()
    pixels = points * _PIXELS_A_POINT if points > 0 else float(font.pixelSize())
    screen = QGuiApplication.primaryScreen()
    density = screen.logicalDotsPerInchY() / (72 * _PIXELS_A_POINT) if screen is not None else 1.0
    return max(1.0, pixels / DESIGNED_FOR) * max(0.5, density)


def wanted_scale() -> float:
    """Return the factor that system and user ask for now, which may differ from the one in use."""
    return max(SMALLEST, min(LARGEST, system_scale() * _wish[0]))


def take_scale() -> float:
    """Make the wanted factor the one in use, give fonts and fixed sizes of all widgets that size, and return it."""
    before, now = _scale[0], wanted_scale()
    if before != now:
        _scale[0] = now
        for widget, fits in list(_fitted.items()):
            try:
                for each in fits:
                    each(now)
            except RuntimeError:  # its C++ part is gone already
                _fitted.pop(widget, None)
    return now


def fit(
    widget: QWidget,
    *,
    height: float | None = None,
    width: float | None = None,
    min_width: float | None = None,
    min_height: float | None = None,
    max_height: float | None = None,
) -> None:
    """Give a widget fixed or bounded sizes of the design; they follow the interface size for as long as it lives."""

    reference = weakref.ref(widget)

    def resize(_factor: float) -> None:
        target = reference()
        if target is None:
            return
        if height is not None:
            target.setFixedHeight(px(height))
        if width is not None:
            target.setFixedWidth(px(width))
        if min_width is not None:
            target.setMinimumWidth(px(min_width))
        if min_height is not None:
            target.setMinimumHeight(px(min_height))
        if max_height is not None:
            target.setMaximumHeight(px(max_height))

    on_scale(widget, resize)


def on_scale(owner: QObject, resize: Callable[[float], None]) -> None:
    """Call `resize` with the factor now and whenever it changes, for as long as `owner` lives.

    `resize` must not hold `owner` itself, or it would live for ever.
    """
    _fitted.setdefault(owner, []).append(resize)
    resize(_scale[0])


def resize_window(window: QWidget, width: float, height: float) -> None:
    """Give a window a size of the design, at the size in use, but no larger than the screen has room for."""
    wanted, screen, parent = QSize(px(width), px(height)), window.screen(), window.parentWidget()
    room = screen.availableSize() * 0.96 if screen is not None else wanted
    if parent is not None:
        # A screen that says little of itself has room for what is on it already.
        room = room.expandedTo(parent.window().size())
    window.resize(wanted.boundedTo(room) if scale() > 1 else wanted)


def fit_rows(view: QTableView, height: float) -> None:
    """Give the rows of a table a height of the design that follows the interface size."""
    reference = weakref.ref(view)

    def resize(_factor: float) -> None:
        if (target := reference()) is not None:
            target.verticalHeader().setDefaultSectionSize(px(height))

    on_scale(view, resize)


def refit_fonts(before: float, now: float, widgets: list[QWidget]) -> None:
    """Give fonts that widgets were made with the new size; others take it from the application.

    The size of the design is remembered on the widget, so that no rounding adds up. A style sheet that is set
    gives a widget its very first font back; that is told apart from a font that its owner set meanwhile.
    """
    for widget in widgets:
        font = widget.font()
        size = font.pixelSize()
        if not widget.testAttribute(Qt.WidgetAttribute.WA_SetFont) or size <= 0:
            continue
        known = widget.property(_DESIGNED)
        designed, first, last = known if known is not None else (0.0, 0, 0)
        if size not in (first, last):
            designed, first = size / before, size
        font.setPixelSize(max(1, round(designed * now)))
        widget.setProperty(_DESIGNED, (designed, first, font.pixelSize()))
        widget.setFont(font)
