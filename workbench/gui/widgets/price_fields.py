"""The prices of a model in one line: what a million tokens cost, or nothing where nobody knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from workbench.engine.prices import DEFAULT_CURRENCY, PRICE_OPTIONS, price_problem
from workbench.gui.shell.scale import fit
from workbench.gui.widgets.labels import TokenLabel
from workbench.gui.widgets.option_fields import option_field, read_number, typed_value

_WORDS = {
    "input_price": ("input", "unknown", "Price of a million input tokens; empty where it is not known"),
    "output_price": ("output", "unknown", "Price of a million output tokens; empty where it is not known"),
    "currency": ("in", DEFAULT_CURRENCY, "Currency of the prices, three capital letters"),
}


class PriceFields(QWidget):
    """Three fields: a price for input, a price for output, and their currency."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self.fields: dict[str, QLineEdit] = {}
        self._shown: dict[str, Any] = {}
        for key in PRICE_OPTIONS:
            label, placeholder, about = _WORDS[key]
            row.addWidget(TokenLabel(label, "second"))
            field = option_field(about, self.changed.emit)
            field.setPlaceholderText(placeholder)
            row.addWidget(field, 0 if key == "currency" else 1)
            self.fields[key] = field
        fit(self.fields["currency"], width=64)

    def show_options(self, options: Mapping[str, Any]) -> None:
        """Show the prices among the options of a model."""
        self._shown = {key: options[key] for key in PRICE_OPTIONS if key in options}
        for key, field in self.fields.items():
            field.setText(str(self._shown.get(key, "")))

    def merged(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return `options` with the prices of the fields; an empty field takes its option out.

        A text that is no price stays what it was, so that a typing mistake never reaches the project.
        """
        merged = {key: value for key, value in options.items() if key not in PRICE_OPTIONS}
        for key in PRICE_OPTIONS:
            value = self._value(key)
            if value is not None and price_problem(key, value) is None:
                merged[key] = value
            elif value is not None and key in options:
                merged[key] = options[key]
        return merged

    def problem(self) -> str | None:
        """Return what is wrong with a field, `None` when all can be saved."""
        for key, words in (
            ("input_price", "The price of input"),
            ("output_price", "The price of output"),
            ("currency", "The currency"),
        ):
            value = self._value(key)
            wanted = None if value is None else price_problem(key, value)
            if wanted is not None:
                return f"{words} must be {wanted}."
        return None

    def _value(self, key: str) -> Any:
        read = str if key == "currency" else read_number
        return typed_value(self.fields[key].text(), self._shown.get(key), read)
