"""Remembers which project a pane shows, so that what somebody typed outlives a reload and a save under another name."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.engine.projects import Project


class ShownProject:
    """A project is the same when it is the same object (saved elsewhere) or lies in the same folder (read again)."""

    def __init__(self) -> None:
        self._project: weakref.ref[Project] | None = None
        self._root: Path | None = None

    def becomes(self, project: Project | None) -> bool:
        """Take `project` as the shown one; tell whether it is another than before."""
        before, root = None if self._project is None else self._project(), self._root
        self._project = None if project is None else weakref.ref(project)
        self._root = None if project is None else project.root
        if project is None:
            return True
        return project is not before and (root is None or root != self._root)
