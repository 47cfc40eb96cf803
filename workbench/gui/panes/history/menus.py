"""The menus of the history: what can be done with the run, and what it can be compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QWidget

from workbench.gui.models.runs import word_of
from workbench.gui.shell.theme import set_icon

if TYPE_CHECKING:
    from workbench.engine.history import HistoryStore, Run, RunSummary

MenuItem = tuple[str, str, Callable[[], object]]
Compare = Callable[[int, int | None], object]
_MOST = 15


def show_menu(parent: QWidget, items: list[MenuItem], place: QPoint) -> None:
    """Show words (empty for a line), icon and what to call."""
    menu = QMenu(parent)
    for words, picture, slot in items:
        if not words:
            menu.addSeparator()
            continue
        action = menu.addAction(words)
        set_icon(action, picture)
        action.triggered.connect(lambda _checked=False, slot=slot: slot())
    menu.exec(place)
    menu.deleteLater()


def compare_menu(
    parent: QWidget,
    history: HistoryStore,
    run: Run,
    attempt: int | None,
    compare: Compare,
    base: MenuItem,
) -> QMenu:
    """Return a menu of what the run (for a translation: its `attempt`) can be compared with."""
    menu = QMenu(parent)
    kind = run.summary.kind
    if kind == "translate":
        _add_attempts(menu, run.summary, compare, without=attempt)
        others = menu.addMenu("Other runs")
        for summary in history.runs(kind=kind, limit=_MOST):
            if summary.id != run.summary.id:
                _add_attempts(others, summary, compare, name_run=True)
        others.setEnabled(not others.isEmpty())
    else:
        for summary in history.runs(kind=kind, limit=_MOST + 1):
            if summary.id != run.summary.id:
                words = f"Run {summary.id}, {word_of(summary.outcome)}, {summary.name or summary.title}"
                _add(menu, words, compare, summary.id, None)
    menu.addSeparator()
    words, picture, slot = base
    action = menu.addAction(words)
    set_icon(action, picture)
    action.triggered.connect(lambda _checked=False: slot())
    return menu


def _add_attempts(
    menu: QMenu, summary: RunSummary, compare: Compare, *, without: int | None = None, name_run: bool = False
) -> None:
    for attempt in summary.attempts:
        if attempt.number != without:
            title = f"Attempt {attempt.number}"
            if name_run:
                title = f"Run {summary.id}, attempt {attempt.number}"
            _add(menu, f"{title}, {word_of(attempt.outcome)}", compare, summary.id, attempt.number)


def _add(menu: QMenu, words: str, compare: Compare, run_id: int, number: int | None) -> None:
    action = menu.addAction(words)
    action.triggered.connect(lambda _checked=False: compare(run_id, number))
