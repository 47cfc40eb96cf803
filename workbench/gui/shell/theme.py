"""Colours, fonts and icons by name, so that no widget carries a colour of its own."""

from __future__ import annotations

import tomllib
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MethodType

from PySide6.QtCore import QByteArray, QDir, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget

from workbench.engine.resources import resource
from workbench.gui.shell.scale import px, refit_fonts, scale, take_scale, wanted_scale
from workbench.gui.shell.stylesheet import style_sheet

THEMES = ("system", "light", "dark", "high-contrast")


@dataclass(frozen=True)
class Theme:
    """One palette: its name, whether its ground is dark, and its colours by token."""

    name: str
    dark: bool
    colors: Mapping[str, str]

    def color(self, token: str, alpha: int = 255) -> QColor:
        """Return the colour of `token`, with an opacity from 0 to 255."""
        color = QColor(self.colors[token])
        color.setAlpha(alpha)
        return color

    def hex(self, token: str) -> str:
        """Return the colour of `token` as `#RRGGBB`, for style sheets and rich text."""
        return self.colors[token]


class _Notifier(QObject):
    changed = Signal()


@lru_cache(maxsize=8)
def load_theme(name: str) -> Theme:
    """Read a shipped theme: `light`, `dark` or `high-contrast`."""
    data = tomllib.loads(resource("themes", f"{name}.toml").read_text(encoding="utf-8"))
    return Theme(name, data["dark"], data["colors"])


_current: list[Theme] = []
_notifier: list[_Notifier] = []
_icon_users: weakref.WeakKeyDictionary[QObject, tuple[str, str]] = weakref.WeakKeyDictionary()


def theme() -> Theme:
    """Return the theme in use; before any was applied, the light one."""
    return _current[0] if _current else load_theme("light")


def theme_changed() -> Signal:
    """Return the signal that fires after another theme was applied."""
    if not _notifier:
        _notifier.append(_Notifier())
    return _notifier[0].changed


def on_theme_changed(owner: QObject, refresh: Callable[[], None]) -> None:
    """Call `refresh` after every change of theme for as long as `owner` lives."""
    bound = isinstance(refresh, MethodType)
    reference = weakref.WeakMethod(refresh) if bound else (lambda: refresh)
    signal = theme_changed()

    def forward() -> None:
        if (call := reference()) is not None:
            call()

    signal.connect(forward)
    owner.destroyed.connect(lambda: _disconnect(forward))


def _disconnect(slot: Callable[[], None]) -> None:
    try:
        theme_changed().disconnect(slot)
    except (RuntimeError, TypeError):
        return  # the program is being torn down


def system_theme_name() -> str:
    """Return the shipped theme that fits the system: its contrast wish first, then its colour scheme."""
    hints = QApplication.styleHints()
    accessibility = getattr(hints, "accessibility", lambda: None)()
    contrast = getattr(accessibility, "contrastPreference", lambda: None)()
    if getattr(contrast, "name", "") == "HighContrast":
        return "high-contrast"
    return "dark" if hints.colorScheme() == Qt.ColorScheme.Dark else "light"


def apply_theme(app: QApplication, name: str) -> Theme:
    """Dress the whole application in the theme `name` (one of `THEMES`), at the wanted size, and return it."""
    chosen = load_theme(system_theme_name() if name == "system" else name)
    before = scale()
    dressed = _current and _current[0] is chosen and app.property("workbench-theme") == chosen.name
    if dressed and wanted_scale() == before:
        return chosen
    _current[:] = [chosen]
    if app.style().name().lower() != "fusion":
        app.setStyle(QStyleFactory.create("Fusion"))
    QDir.setSearchPaths("theme", [str(resource("themes", chosen.name))])
    now = take_scale()
    app.setFont(interface_font())
    app.setPalette(_palette(chosen))
    app.setStyleSheet(style_sheet(chosen.colors, now))
    if now != before:
        # A style sheet gives widgets the fonts back that it found them with, so it has to be there already.
        refit_fonts(before, now, app.allWidgets())
    app.setProperty("workbench-theme", chosen.name)
    _refresh_icons()
    theme_changed().emit()
    return chosen


def _palette(chosen: Theme) -> QPalette:
    role = QPalette.ColorRole
    roles = {
        role.Window: "window",
        role.WindowText: "text",
        role.Base: "base",
        role.AlternateBase: "alternate",
        role.Text: "text",
        role.Button: "window",
        role.ButtonText: "text",
        role.BrightText: "on_accent",
        role.Highlight: "selection",
        role.HighlightedText: "text",
        role.ToolTipBase: "tooltip",
        role.ToolTipText: "tooltip_text",
        role.PlaceholderText: "second",
        role.Link: "accent",
        role.LinkVisited: "accent",
        role.Light: "base",
        role.Midlight: "alternate",
        role.Mid: "line",
        role.Dark: "edge",
        role.Shadow: "edge",
    }
    if hasattr(role, "Accent"):
        roles[role.Accent] = "accent"
    palette = QPalette()
    for each, token in roles.items():
        palette.setColor(each, chosen.color(token))
    for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, chosen.color("disabled"))
    return palette


# -- fonts ---------------------------------------------------------------------------------------------


def interface_font(pixels: float = 13.0, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the interface font at `pixels` of the design: the system's own, a narrow cut where that is very wide."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    if QFontInfo(font).family() == "DejaVu Sans":
        if "DejaVu Sans Condensed" in QFontDatabase.families():
            font = QFont("DejaVu Sans Condensed")
        else:
            pixels *= 12 / 13
    font.setPixelSize(px(pixels))
    font.setWeight(weight)
    return font


def small_font(weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the font of second texts: questions, hints, captions."""
    return interface_font(12, weight)


def strong_font(pixels: float = 13.0) -> QFont:
    """Return the interface font in the weight of names and titles."""
    return interface_font(pixels, QFont.Weight.DemiBold)


def mono_font(pixels: float | None = None) -> QFont:
    """Return the font of editors, JSON and figures, at `pixels` of the design; ligatures are off."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    families = set(QFontDatabase.families())
    for family in ("JetBrains Mono", "Cascadia Mono", "SF Mono", "Menlo", "DejaVu Sans Mono"):
        if family in families:
            font.setFamily(family)
            break
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    font.setPixelSize(px(pixels if pixels is not None else mono_size()))
    if hasattr(font, "setFeature"):
        font.setFeature(QFont.Tag("liga"), 0)
        font.setFeature(QFont.Tag("calt"), 0)
    return font


_mono_pixels = [12.0]


def mono_size() -> float:
    """Return the size of editor text in pixels, at an interface size of 100 %."""
    return _mono_pixels[0]


def set_mono_size(pixels: float) -> None:
    """Set the size of editor text in pixels, from 8 to 32; widgets take it up on the next theme signal."""
    _mono_pixels[0] = max(8.0, min(32.0, pixels))
    theme_changed().emit()


# -- icons ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _svg(name: str) -> str:
    return resource("icons", f"{name}.svg").read_text(encoding="utf-8")


@lru_cache(maxsize=1024)
def _pixmap(name: str, color: str, size: int, ratio: float) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(_svg(name).replace("currentColor", color).encode()))
    pixels = round(size * ratio)
    pixmap = QPixmap(pixels, pixels)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def icon_pixmap(name: str, color_token: str = "text", size: int = 16, ratio: float | None = None) -> QPixmap:
    """Return a drawn icon as a pixmap of `size` pixels of the design in the colour of `color_token`."""
    if ratio is None:
        app = QApplication.instance()
        ratio = app.devicePixelRatio() if isinstance(app, QApplication) else 1.0
    return _pixmap(name, theme().hex(color_token), px(size), ratio)


def icon(name: str, color_token: str = "text") -> QIcon:
    """Return a drawn icon in the colour of `color_token`; disabled, it takes the colour of disabled text."""
    result = QIcon()
    for ratio in (1.0, 2.0):
        result.addPixmap(_pixmap(name, theme().hex(color_token), px(16), ratio), QIcon.Mode.Normal)
        result.addPixmap(_pixmap(name, theme().hex("disabled"), px(16), ratio), QIcon.Mode.Disabled)
        for mode in (QIcon.Mode.Active, QIcon.Mode.Selected):
            result.addPixmap(_pixmap(name, theme().hex(color_token), px(16), ratio), mode)
    return result


def set_icon(target: QObject, name: str, color_token: str = "text") -> None:
    """Give an action or a button an icon that follows the theme for as long as it lives."""
    _icon_users[target] = (name, color_token)
    target.setIcon(icon(name, color_token))


def _refresh_icons() -> None:
    for target, (name, color_token) in list(_icon_users.items()):
        try:
            target.setIcon(icon(name, color_token))
        except RuntimeError:  # its C++ part is gone already
            _icon_users.pop(target, None)


def application_icon() -> QIcon:
    """Return the program's own icon."""
    result = QIcon()
    renderer = QSvgRenderer(QByteArray(_svg("prompt-workbench").encode()))
    for pixels in (16, 32, 48, 64, 128, 256):
        pixmap = QPixmap(QSize(pixels, pixels))
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter)
        painter.end()
        result.addPixmap(pixmap)
    return result


def set_role(widget: QWidget, role: str) -> None:
    """Mark `widget` for the style sheet: `main` (accent button), `flat`, `second`, `head`, `card`, …"""
    if widget.property("role") == role:
        return
    # Polishing again would take the widget back to the font of the application.
    font = widget.font() if widget.testAttribute(Qt.WidgetAttribute.WA_SetFont) else None
    widget.setProperty("role", role)
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    if font is not None:
        widget.setFont(font)
