"""Timers that go off once: for what is to wait for a pause, or until the present event is done."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def one_shot(owner: QObject, act: Callable[[], object], milliseconds: int = 0) -> QTimer:
    """Return a timer that calls `act` once, `milliseconds` after each start, and dies with its owner.

    Starting it again before that begins the wait anew. With 0 it acts as soon as the present event is done.
    """
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(act)
    return timer
