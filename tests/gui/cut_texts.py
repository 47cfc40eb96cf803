"""Finds words in a window that have less room than they need: labels, buttons, tabs and heads of tables."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QComboBox,
    QHeaderView,
    QLabel,
    QTabBar,
    QToolButton,
    QWidget,
)

from workbench.gui.widgets.labels import Banner, TokenLabel

# Antialiasing may need a pixel less than reckoned.
SLACK = 1


def cut_texts(window: QWidget) -> list[str]:
    """Return a line for every text of `window` that is visible and cut: what it is, what it says, what it lacks."""
    found = []
    for widget in window.findChildren(QWidget):
        if widget.isVisible() and not widget.visibleRegion().isEmpty():
            found += [f"{_where(widget)}: {words}" for words in _cuts(widget)]
    return found


def _cuts(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QLabel):
        yield from _label(widget)
    elif isinstance(widget, QTabBar):
        yield from _tabs(widget)
    elif isinstance(widget, QHeaderView):
        yield from _heads(widget)
    elif isinstance(widget, QComboBox):
        yield from _combo(widget)
    elif isinstance(widget, QAbstractButton) and widget.text():
        if not isinstance(widget, QToolButton) or _shows_text(widget):
            yield from _whole(widget, widget.text())
    elif isinstance(widget, Banner) and widget.height() < widget.heightForWidth(widget.width()) - SLACK:
        yield f"{widget.headline()!r} lacks height"


def _shows_text(button: QToolButton) -> bool:
    # An action's button has a text; it shows it only where it has no icon or is told to.
    return button.icon().isNull() or button.toolButtonStyle() in (
        Qt.ToolButtonStyle.ToolButtonTextBesideIcon,
        Qt.ToolButtonStyle.ToolButtonTextUnderIcon,
        Qt.ToolButtonStyle.ToolButtonTextOnly,
    )


def _whole(widget: QWidget, text: str) -> Iterator[str]:
    """Say what a widget lacks of the size that it asks for, and whether an edge cuts it off."""
    hint = widget.sizeHint()
    if widget.width() < hint.width() - SLACK:
        yield f"{text!r} lacks {hint.width() - widget.width()} of {hint.width()} pixels"
    elif over := _beyond_edge(widget):
        yield f"{text!r} is cut off by {over} pixels at an edge"
    if widget.height() < QFontMetrics(widget.font()).height() - SLACK:
        yield f"{text!r} lacks height"


def _label(label: QLabel) -> Iterator[str]:
    text = label.text()
    if not text:
        return
    metrics = QFontMetrics(label.shown_font() if isinstance(label, TokenLabel) else label.font())
    room = label.contentsRect()
    if label.wordWrap():
        needed = label.heightForWidth(label.width())
        if needed > label.height() + SLACK + 2:
            yield f"{text!r} lacks {needed - label.height()} of {needed} pixels of height"
        return
    shown = label.shown_text() if isinstance(label, TokenLabel) and label._sentences else text
    if shown != text and not shown.endswith("…") and text in label.toolTip():
        return  # whole sentences, and the tip has the rest
    needed = max(map(metrics.horizontalAdvance, text.split("\n")))
    if "<" not in text and needed > room.width() + SLACK:
        yield f"{text!r} lacks {needed - room.width()} of {needed} pixels"
    elif over := _beyond_edge(label):
        yield f"{text!r} is cut off by {over} pixels at an edge"
    if metrics.height() * (text.count("\n") + 1) > label.height() + SLACK + 2:
        yield f"{text!r} lacks height"


def _tabs(bar: QTabBar) -> Iterator[str]:
    for index in range(bar.count()):
        if not bar.isTabVisible(index):
            continue
        text, area = bar.tabText(index), bar.tabRect(index)
        needed = bar.fontMetrics().horizontalAdvance(text)
        if area.width() < needed + SLACK:
            yield f"tab {text!r} lacks {needed - area.width()} pixels"
        elif area.right() > bar.width() + SLACK or area.left() < -SLACK:
            yield f"tab {text!r} is beyond the edge by {max(area.right() - bar.width(), -area.left())} pixels"


def _heads(header: QHeaderView) -> Iterator[str]:
    model = header.model()
    if header.orientation() != Qt.Orientation.Horizontal or model is None:
        return
    for section in range(header.count()):
        text = model.headerData(section, Qt.Orientation.Horizontal)
        if header.isSectionHidden(section) or not text:
            continue
        needed = header.fontMetrics().horizontalAdvance(str(text))
        if header.sectionSize(section) < needed + 8:
            yield f"head {text!r} lacks {needed + 8 - header.sectionSize(section)} pixels"
        elif not header.isSectionHidden(section):
            left = header.sectionViewportPosition(section)
            if left + needed > header.viewport().width() + SLACK:
                yield f"head {text!r} is beyond the edge"


def _combo(combo: QComboBox) -> Iterator[str]:
    needed = combo.fontMetrics().horizontalAdvance(combo.currentText()) + 28
    if combo.width() < needed - SLACK:
        yield f"choice {combo.currentText()!r} lacks {needed - combo.width()} pixels"


def _beyond_edge(widget: QWidget) -> int:
    """Return by how many pixels a widget reaches over an edge of what holds it; what scrolls is no edge."""
    parent, left, right = widget.parentWidget(), 0, widget.width()
    while parent is not None and not widget.isWindow():
        left, right = left + widget.x(), right + widget.x()
        if isinstance(parent.parentWidget(), QAbstractScrollArea):
            return 0
        if right > parent.width() + SLACK or left < -SLACK:
            return max(right - parent.width(), -left)
        widget, parent = parent, parent.parentWidget()
    return 0


def _where(widget: QWidget) -> str:
    """Return the names of what holds a widget, from the dock inwards."""
    names: list[str] = []
    each: QWidget | None = widget
    while each is not None and not each.isWindow():
        name = each.objectName() or type(each).__name__
        if name not in ("QWidget", "QFrame") and not name.startswith("qt_"):
            names.append(name)
        each = each.parentWidget()
    return "/".join(reversed(names[:4]))
