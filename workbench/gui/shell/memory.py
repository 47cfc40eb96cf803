"""Gives memory back that starting costs and nothing needs afterwards."""

from __future__ import annotations

import linecache


def forget_sources() -> None:
    """Drop the source lines of imported modules from Python's cache of lines.

    PySide reads the source of every module that is imported after it, to see whether the module uses PySide, and
    `linecache` keeps what was read: 15 MB by the time a project is open. A traceback reads its lines again.
    Called after each step that imports much, so that the next step gets the same memory again.
    """
    linecache.clearcache()
