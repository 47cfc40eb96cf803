"""Gives memory back that starting costs and nothing needs afterwards, and keeps the collector's pauses short."""

from __future__ import annotations

import gc
import linecache


def forget_sources() -> None:
    """Drop the source lines of imported modules from Python's cache of lines.

    PySide reads the source of every module that is imported after it, to see whether the module uses PySide, and
    `linecache` keeps what was read: 15 MB by the time a project is open. A traceback reads its lines again.
    Called after each step that imports much, so that the next step gets the same memory again.
    """
    linecache.clearcache()


def spare_long_lived() -> None:
    """Take what lives as long as the window out of the garbage collector's sight.

    A full collection walks through every object of Python, Qt's wrappers and the modules included: some 50 ms,
    in the midst of dragging a threshold. What has been made by the first sight of the window stays anyhow.
    """
    gc.collect()
    gc.freeze()
