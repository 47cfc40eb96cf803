"""The small style sheet over Fusion: what a palette alone cannot say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Template

_SHEET = Template("""
QMainWindow, QDialog { background: $window; }
QDialogButtonBox, QMessageBox { dialogbuttonbox-buttons-have-icons: 0; }
QLineEdit { lineedit-clear-button-icon: url(theme:close.svg); }
QMainWindow::separator { background: $line; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: $accent; }
QSplitter::handle { background: $line; }
QSplitter::handle:hover { background: $accent; }

QMenuBar { background: $window; border-bottom: 1px solid $line; padding: 0 8px; }
QMenuBar::item { padding: 6px 8px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: $hover; }
QMenu { background: $base; border: 1px solid $edge; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 10px; border-radius: 3px; }
QMenu::item:selected { background: $selection; color: $text; }
QMenu::item:disabled { color: $disabled; }
QMenu::separator { height: 1px; background: $line; margin: 4px 6px; }
QMenu::icon { padding-left: 8px; }

QToolBar { background: $window; border: none; border-bottom: 1px solid $line; spacing: 2px; padding: 0 6px; }
QToolBar::separator { background: $line; width: 1px; margin: 10px 4px; }
QToolBar QToolButton { padding: 4px 7px; border: 1px solid transparent; border-radius: 4px; color: $text; }
QToolBar QToolButton:hover { background: $hover; }
QToolBar QToolButton:pressed { background: $line; }
QToolBar QToolButton:disabled { color: $disabled; }
QToolBar QToolButton:focus { border-color: $accent; }

QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 3px; background: transparent; }
QToolButton:hover { background: $hover; }
QToolButton:checked { background: $selection; }
QToolButton:focus { border-color: $accent; }
QToolButton:disabled { color: $disabled; }
QToolButton::menu-indicator { image: none; width: 0; }

*[role="main"] { background: $accent; color: $on_accent; border: 1px solid $accent; border-radius: 4px;
  padding: 4px 12px; font-weight: 600; }
QToolBar QToolButton[role="main"] { background: $accent; color: $on_accent; font-weight: 600; padding: 4px 10px; }
*[role="main"]:hover, QToolBar QToolButton[role="main"]:hover { background: $accent_hover; }
*[role="main"]:focus { border: 2px solid $text; }
*[role="main"]:disabled, QToolBar QToolButton[role="main"]:disabled { background: transparent; color: $disabled;
  border-color: transparent; font-weight: 400; }

QPushButton { background: $base; color: $text; border: 1px solid $edge; border-radius: 4px; padding: 4px 12px;
  min-height: 18px; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $line; }
QPushButton:disabled { color: $disabled; border-color: $line; background: transparent; }
QPushButton:focus { border-color: $accent; }
QPushButton:checked { background: $selection; border-color: $accent; }
QPushButton[role="flat"] { background: transparent; border-color: transparent; padding: 4px 8px; }
QPushButton[role="flat"]:hover { background: $hover; }
QPushButton[role="flat"]:focus { border-color: $accent; }
QPushButton[role="link"] { background: transparent; border: 1px solid transparent; color: $accent; padding: 2px 4px;
  font-weight: 600; }
QPushButton[role="link"]:hover { text-decoration: underline; }
QPushButton[role="link"]:focus { border-color: $accent; }
QPushButton[role="section"] { background: $head; border: none; border-bottom: 1px solid $line; border-radius: 0; padding: 6px 8px;
  text-align: left; font-weight: 600; }
QPushButton[role="section"]:hover { background: $hover; }
QPushButton[role="section"]:focus { color: $accent; }
QPushButton[role="segment"] { border-radius: 0; padding: 3px 12px; margin: 0; min-height: 16px; }
QPushButton[role="segment"]:checked { background: $selection; border-color: $accent; font-weight: 600; color: $value_text; }

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox { background: $base; color: $text;
  selection-background-color: $selection; selection-color: $text; }
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox { border: 1px solid $edge; border-radius: 4px; min-height: 20px; padding: 2px 0 2px 6px; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus { border-color: $accent; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled { color: $disabled; border-color: $line;
  background: $window; }
QLineEdit[state="error"], QSpinBox[state="error"], QDoubleSpinBox[state="error"], QComboBox[state="error"] { border: 2px solid $rejected; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(theme:chevron-down.svg); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: $base; border: 1px solid $edge; selection-background-color: $selection;
  selection-color: $text; padding: 2px; outline: none; }
QComboBox QAbstractItemView::item { min-height: 24px; padding: 0 6px; }
QSpinBox, QDoubleSpinBox { padding-right: 2px; }
QSpinBox::up-button, QDoubleSpinBox::up-button { subcontrol-origin: border; subcontrol-position: top right; width: 16px;
  border: none; border-left: 1px solid $line; margin: 1px 1px 0 0; }
QSpinBox::down-button, QDoubleSpinBox::down-button { subcontrol-origin: border; subcontrol-position: bottom right; width: 16px;
  border: none; border-left: 1px solid $line; margin: 0 1px 1px 0; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url(theme:chevron-up.svg); width: 9px; height: 9px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url(theme:chevron-down.svg); width: 9px; height: 9px; }
QSpinBox::up-button:hover, QSpinBox::down-button:hover, QDoubleSpinBox::up-button:hover, QDoubleSpinBox::down-button:hover {
  background: $hover; }

QPlainTextEdit, QTextEdit { border: 1px solid $edge; border-radius: 4px; }
QPlainTextEdit:focus, QTextEdit:focus { border-color: $accent; }
QPlainTextEdit[role="bare"], QTextEdit[role="bare"] { border: none; border-radius: 0; }
QPlainTextEdit[role="framed"] { border: 1px solid transparent; border-radius: 0; }
QPlainTextEdit[role="framed"]:focus { border: 1px solid $accent; }

QCheckBox, QRadioButton { spacing: 8px; background: transparent; }
QCheckBox::indicator, QRadioButton::indicator { width: 14px; height: 14px; border: 1px solid $edge; background: $base; }
QCheckBox::indicator { border-radius: 3px; }
QRadioButton::indicator { border-radius: 7px; }
QCheckBox::indicator:focus, QRadioButton::indicator:focus, QCheckBox::indicator:hover, QRadioButton::indicator:hover { border-color: $accent; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url(theme:check.svg); }
QCheckBox::indicator:indeterminate { background: $accent; border-color: $accent; image: url(theme:minus.svg); }
QRadioButton::indicator:checked { background: $accent; border-color: $accent; image: url(theme:dot.svg); }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { border-color: $line; background: $window; }
QCheckBox:focus, QRadioButton:focus { color: $accent; }
QGroupBox { border: 1px solid $line; border-radius: 4px; margin-top: 20px; padding: 8px; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; left: 0; padding: 0 0 4px 0; }

QTabBar { background: $head; border: none; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $second; padding: 0 10px; height: 30px; border: none;
  border-bottom: 2px solid transparent; }
QTabBar::tab:selected { background: $base; color: $text; border-bottom: 2px solid $accent; font-weight: 600; }
QTabBar::tab:hover:!selected { color: $text; background: $hover; }
QTabBar::tab:focus { color: $accent; }
QTabBar::tab:disabled { color: $disabled; }
QTabWidget::pane { border: none; border-top: 1px solid $line; background: $base; }
QTabWidget::tab-bar { left: 0; }
QTabBar[role="layouts"], QTabBar[role="layouts"]::tab { background: transparent; }
QTabBar[role="layouts"]::tab { height: 26px; padding: 0 12px; }
QTabBar::close-button { image: url(theme:close.svg); subcontrol-position: right; }

QDockWidget { titlebar-close-icon: url(theme:close.svg); border: none; }
QDockWidget > QWidget { border: none; }
*[role="head"] { background: $head; border: none; border-bottom: 1px solid $line; }
*[role="bar"] { background: $window; border: none; border-bottom: 1px solid $line; }
*[role="foot"] { background: $window; border: none; border-top: 1px solid $line; }
*[role="base"] { background: $base; border: none; }
*[role="card"] { background: $base; border: 1px solid $line; border-radius: 4px; }
*[role="title"] { font-weight: 600; background: transparent; }
*[role="second"] { color: $second; background: transparent; }
*[role="plain"] { background: transparent; }
*[role="error"] { color: $rejected; background: transparent; }
*[role="warning"] { color: $warning; background: transparent; }
*[role="passed"] { color: $passed; background: transparent; }
*[role="verdict-rejected"] { background: $verdict_rejected; color: $rejected; }
*[role="verdict-passed"] { background: $verdict_passed; color: $passed; }
*[role="verdict-rejected"] QLabel { color: $rejected; background: transparent; }
*[role="verdict-passed"] QLabel { color: $passed; background: transparent; }
*[role="key"] { background: $window; color: $second; border: 1px solid $line; border-radius: 3px; padding: 1px 5px; }
*[role="chip"] { background: $value_tint; color: $value_text; border-radius: 3px; padding: 2px 6px; }

QTreeView, QListView, QTableView { background: $base; alternate-background-color: $alternate; border: none; outline: none;
  selection-background-color: $selection; selection-color: $text; }
QTreeView::item, QListView::item { min-height: 24px; border: none; }
QTreeView::item:hover, QListView::item:hover { background: $hover; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected { background: $selection; color: $text; }
QTreeView::branch { background: transparent; }
QTreeView::branch:selected { background: $selection; }
QTreeView::branch:hover:!selected { background: $hover; }
QTreeView::branch:has-children:closed { image: url(theme:branch-closed.svg); }
QTreeView::branch:has-children:open { image: url(theme:branch-open.svg); }
QHeaderView { background: $alternate; border: none; }
QHeaderView::section { background: $alternate; color: $second; border: none; border-bottom: 1px solid $line; padding: 0 8px;
  min-height: 24px; }
QHeaderView::section:hover { color: $text; }
QTableWidget::item { padding: 0 6px; }
QTableCornerButton::section { background: $alternate; border: none; }

QScrollArea { border: none; background: transparent; }
QAbstractScrollArea::corner { border: none; background: transparent; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle:vertical { background: $scroll; min-height: 28px; border-radius: 3px; margin: 2px 3px; }
QScrollBar::handle:horizontal { background: $scroll; min-width: 28px; border-radius: 3px; margin: 3px 2px; }
QScrollBar::handle:hover { background: $edge; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QProgressBar { background: $bar_above; border: none; border-radius: 3px; max-height: 8px; text-align: center; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QSlider::groove:horizontal { height: 4px; background: $bar_above; border-radius: 2px; }
QSlider::handle:horizontal { background: $accent; width: 12px; margin: -5px 0; border-radius: 6px; }

QStatusBar { background: $window; border-top: 1px solid $line; min-height: 27px; color: $second; }
QStatusBar::item { border: none; }
QStatusBar QLabel, QStatusBar QToolButton { color: $second; }
#status-rule { color: $line; background: $line; max-width: 1px; border: none; }
#palette-button { background: $base; border: 1px solid $edge; border-radius: 4px; }
#palette-button:hover, #palette-button:focus { border-color: $accent; }
#completion { border: 1px solid $edge; border-radius: 3px; }
#palette { border: 1px solid $edge; border-radius: 4px; background: $base; }
QToolTip { background: $tooltip; color: $tooltip_text; border: 1px solid $tooltip_edge; padding: 4px 6px; }
""")


# Lines stay as thin as they are; whatever is wider than a line grows with the text.
_LENGTH = re.compile(r"\b([3-9]|[1-9]\d+)px\b")
_ICONS = (
    "QPushButton, QToolBar, QTabBar, QTreeView, QListView, QCheckBox, QRadioButton { icon-size: 16px; }\n"
)


def style_sheet(colors: Mapping[str, str], scale: float = 1.0) -> str:
    """Return the style sheet in the colours of a theme (token to `#RRGGBB`), its lengths times `scale`."""
    sheet = _SHEET.substitute(colors)
    if scale == 1.0:
        return sheet
    return _LENGTH.sub(lambda found: f"{round(int(found[1]) * scale)}px", sheet + _ICONS)
