"""The settings, drawn from their declarations."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QSpinBox,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.gui.shell.scale import fit, resize_window
from workbench.gui.shell.settings import AppSettings, SettingSpec
from workbench.gui.shell.theme import set_role, small_font
from workbench.gui.widgets.scrolled import scrolled


class SettingsDialog(QDialog):
    """One page per section; a change holds at once."""

    def __init__(self, settings: AppSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self._settings = settings
        self.fields: dict[str, QWidget] = {}
        tabs = QTabWidget()
        pages: dict[str, QFormLayout] = {}
        for spec in settings.specs():
            if spec.section not in pages:
                page = QWidget()
                set_role(page, "base")
                form = QFormLayout(page)
                form.setContentsMargins(20, 20, 20, 20)
                form.setHorizontalSpacing(20)
                form.setVerticalSpacing(10)
                pages[spec.section] = form
                tabs.addTab(scrolled(page), spec.section)
            self._add(pages[spec.section], spec)
        where = QLabel(f"Kept in {settings.folder}")
        where.setFont(small_font())
        set_role(where, "second")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(tabs, 1)
        layout.addWidget(where)
        layout.addWidget(buttons)
        resize_window(self, 560, 380)

    def _add(self, form: QFormLayout, spec: SettingSpec) -> None:
        value = self._settings.get(spec.key)
        put = partial(self._settings.set, spec.key)
        field: QWidget
        if isinstance(spec.default, bool):
            box = QCheckBox(spec.title)
            box.setChecked(value)
            box.toggled.connect(put)
            field = box
            form.addRow(box)
        elif spec.choices:
            combo = QComboBox()
            combo.addItems(list(spec.choices))
            combo.setCurrentText(value)
            combo.currentTextChanged.connect(put)
            field = combo
            form.addRow(spec.title, combo)
        else:
            field = self._number(spec, value, put)
            form.addRow(spec.title, field)
        field.setAccessibleName(spec.title)
        field.setAccessibleDescription(spec.help)
        field.setToolTip(spec.help)
        hint = QLabel(spec.help)
        hint.setFont(small_font())
        hint.setWordWrap(True)
        set_role(hint, "second")
        form.addRow(hint)
        self.fields[spec.key] = field

    def _number(self, spec: SettingSpec, value: Any, put: Any) -> QSpinBox:
        spin = QSpinBox()
        # A size that is typed digit by digit would dress the whole window for each digit.
        spin.setKeyboardTracking(False)
        spin.setRange(int(spec.low or 0), int(spec.high or 1_000_000))
        spin.setValue(int(value))
        spin.valueChanged.connect(put)
        fit(spin, width=100)
        return spin
