"""The limits of a translation in one block: what a run may use, and how long a reply may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QSpinBox, QWidget


@dataclass(frozen=True, slots=True)
class _Limit:
    """One limit: the value below all others stands for none."""

    none: float
    most: float
    without: str
    prefix: str
    suffix: str
    name: str
    step: float = 1
    decimals: int = 0


_LIMITS = {
    "calls": _Limit(-1, 1000, "calls: no limit", "", " calls", "Stop a run after so many calls"),
    "tokens": _Limit(-1, 100_000_000, "tokens: no limit", "", " tokens", "Stop a run after so many tokens"),
    "seconds": _Limit(-1, 86_400, "seconds: no limit", "", " seconds", "Stop a run after so many seconds"),
    "cost": _Limit(
        -0.01,
        100_000,
        "cost: no limit",
        "cost ",
        "",
        "Stop a run once it cost so much, in the currency of the model's prices",
        0.01,
        4,
    ),
    "max_tokens": _Limit(
        0, 10_000_000, "reply: no limit", "reply ", " tokens", "Let a reply have so many tokens"
    ),
    "token_ramp": _Limit(
        1, 10, "cut reply: not again", "cut reply: again, ", "× room",
        "Ask for a cut reply again, with so many times the tokens", 0.5, 1,
    ),
}  # fmt: skip
_COLUMNS = 2


class BudgetFields(QWidget):
    """One spin box a limit, by its key in `[translation.budget]`."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        self.spins: dict[str, QSpinBox | QDoubleSpinBox] = {}
        for position, (key, limit) in enumerate(_LIMITS.items()):
            spin = _spin(limit)
            spin.valueChanged.connect(lambda _value: self.changed.emit())
            grid.addWidget(spin, position // _COLUMNS, position % _COLUMNS)
            self.spins[key] = spin

    def show_value(self, budget: Mapping[str, float]) -> None:
        """Show the limits of a project."""
        for key, spin in self.spins.items():
            value = budget.get(key, _LIMITS[key].none)
            spin.setValue(float(value) if isinstance(spin, QDoubleSpinBox) else int(value))

    def value(self, old: Mapping[str, float]) -> dict[str, float]:
        """Return the limits; what the fields cannot show (a fraction of a second) stays as `old` has it."""
        budget = {key: value for key, value in old.items() if key not in self.spins}
        for key, spin in self.spins.items():
            if spin.value() > _LIMITS[key].none:
                budget[key] = old[key] if _same(spin, old.get(key)) else spin.value()
        return budget


def _spin(limit: _Limit) -> QSpinBox | QDoubleSpinBox:
    if limit.decimals:
        spin: QSpinBox | QDoubleSpinBox = QDoubleSpinBox()
        assert isinstance(spin, QDoubleSpinBox)
        spin.setDecimals(limit.decimals)
        spin.setRange(limit.none, limit.most)
        spin.setSingleStep(limit.step)
    else:
        spin = QSpinBox()
        spin.setRange(int(limit.none), int(limit.most))
    spin.setSpecialValueText(limit.without)
    spin.setPrefix(limit.prefix)
    spin.setSuffix(limit.suffix)
    spin.setAccessibleName(limit.name)
    spin.setToolTip(limit.name)
    spin.setKeyboardTracking(False)
    return spin


def _same(spin: QSpinBox | QDoubleSpinBox, old: float | None) -> bool:
    """Tell whether the field shows an old value as far as it can."""
    if old is None:
        return False
    if isinstance(spin, QDoubleSpinBox):
        return round(old, spin.decimals()) == round(spin.value(), spin.decimals())
    return int(old) == spin.value()
