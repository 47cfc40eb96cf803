"""Notices that files which a schema refers to were changed, so that the schema is checked again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, Signal

from workbench.gui.shell.timers import one_shot

SOON_MS = 150


class FileWatch(QObject):
    """Tells `changed` when one of the watched files was written, made, replaced or removed."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._paths: tuple[Path, ...] = ()
        self._seen: tuple[tuple[int, int] | None, ...] = ()
        self._watcher = QFileSystemWatcher(self)
        self._soon = one_shot(self, self._look, SOON_MS)
        self._watcher.fileChanged.connect(lambda _path: self._soon.start())
        self._watcher.directoryChanged.connect(lambda _path: self._soon.start())

    def watch(self, root: Path | None, files: Sequence[str]) -> None:
        """Watch these files of a folder, also those that are not there yet, and no others."""
        self._paths = () if root is None else tuple(root / file for file in files)
        self._seen = self._state()
        self._attach()

    def watched(self) -> tuple[Path, ...]:
        """Return the files that are watched."""
        return self._paths

    def _state(self) -> tuple[tuple[int, int] | None, ...]:
        return tuple(_stamp(path) for path in self._paths)

    def _attach(self) -> None:
        """Attach to the files, and to their folders: a file that is replaced is another file."""
        wanted = {str(path) for path in self._paths if path.is_file()}
        wanted |= {str(_nearest_folder(path)) for path in self._paths}
        attached = {*self._watcher.files(), *self._watcher.directories()}
        if gone := sorted(attached - wanted):
            self._watcher.removePaths(gone)
        if new := sorted(wanted - attached):
            self._watcher.addPaths(new)

    def _look(self) -> None:
        self._attach()
        state = self._state()
        if state != self._seen:
            self._seen = state
            self.changed.emit()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _nearest_folder(path: Path) -> Path:
    """Return the folder of a file, or the nearest one above that is there."""
    return next((folder for folder in path.parents if folder.is_dir()), path.parents[-1])
