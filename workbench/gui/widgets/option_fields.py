"""What the fields for the options of a model share: how one is made, and what its text says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QLineEdit


def option_field(about: str, changed: Callable[[], object]) -> QLineEdit:
    """Return a field whose tip is `about` and whose name is what stands there before the first semicolon."""
    field = QLineEdit()
    field.setAccessibleName(about.split(";", 1)[0])
    field.setToolTip(about)
    field.textChanged.connect(lambda _text: changed())
    return field


def typed_value(text: str, shown: Any, read: Callable[[str], Any]) -> Any:
    """Return what a text says: `None` where it is empty, what `read` makes of it, else the text itself.

    A text that still says what was `shown` is that: 2.0 stays 2.0 and does not become 2. `read` raises a `ValueError`
    where it cannot read the text.
    """
    text = text.strip()
    if not text:
        return None
    if shown is not None and text == str(shown):
        return shown
    try:
        return read(text)
    except ValueError:
        return text


def read_number(text: str) -> int | float:
    """Return a number with a point or a comma, whole where it is.

    Raises:
        ValueError: where the text is no number.
    """
    number = float(text.replace(",", "."))
    return int(number) if number.is_integer() else number
