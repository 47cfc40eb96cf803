"""One undoable change of the open project, as the undo stack keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QUndoCommand

ProjectEdit = Callable[[Any], object]

_MERGE_SECONDS = 2.0


class UndoableEdit(QUndoCommand):
    """Does and undoes a change of `area` through `edit`, which takes the area and the change.

    Edits with the same `merge` key that follow each other quickly are one step.
    """

    def __init__(
        self,
        edit: Callable[[str, ProjectEdit], None],
        area: str,
        text: str,
        do: ProjectEdit,
        undo: ProjectEdit,
        merge: str | None,
    ) -> None:
        super().__init__(text)
        self._edit, self.area, self._do, self._undo, self._merge = edit, area, do, undo, merge
        self._made = time.monotonic()

    def id(self) -> int:
        return -1 if self._merge is None else hash(self._merge) & 0x3FFFFFFF

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, UndoableEdit) or other._merge != self._merge:
            return False
        if other._made - self._made > _MERGE_SECONDS:
            return False
        self._do, self._made = other._do, other._made
        return True

    def redo(self) -> None:
        self._edit(self.area, self._do)

    def undo(self) -> None:
        self._edit(self.area, self._undo)
