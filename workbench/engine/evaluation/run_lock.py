"""Keeps two runs from writing into one results file: a lock of the operating system, with a name on it."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from pathlib import Path
from typing import Any

_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_LOCKED_BYTE = 1 << 20
"""Where the lock lies on systems that lock bytes: behind the words, so that others can read them."""


class ResultsBusy(OSError):  # noqa: N818 - a state of the file, not a fault of the program
    """Another run is writing into the file; `filename` names it, `strerror` says who and what to do."""

    def __init__(self, path: Path, holder: str) -> None:
        words = (
            f"{holder} is writing into this file; wait until that run ends or stop it, then start again"
            " (or keep the answers elsewhere: --results FILE)"
        )
        super().__init__(errno.EAGAIN, words, str(path))

    def __str__(self) -> str:
        return f"{Path(str(self.filename)).name}: {self.strerror}"


class RunLock:
    """The right to write into a results file, held by one run at a time, on this machine.

    The lock is a file `NAME.lock` beside it. It ends with the process, however that ends. On a file system that knows no
    locks a run goes on without one.
    """

    def __init__(self, results: Path, who: str) -> None:
        self.results = results
        self.path = results.with_name(results.name + ".lock")
        self._who = who
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock; it is not waited for.

        Raises:
            ResultsBusy: where another run has it.
            OSError: where the lock's file cannot be written.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while self._descriptor is None:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _lock(descriptor)
            except OSError as error:
                busy = error.errno in _BUSY
                holder = _holder(descriptor) if busy else ""
                os.close(descriptor)
                if busy:
                    raise ResultsBusy(self.results, holder) from None
                return
            if _is_at(descriptor, self.path):
                self._descriptor = descriptor
            else:  # the one before removed the file while this one was opening it
                os.close(descriptor)
        words = json.dumps({"who": self._who, "pid": os.getpid(), "since": time.strftime("%H:%M")})
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, words.encode())

    def release(self) -> None:
        """Give the lock back; without one nothing happens."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        if os.name != "nt":
            with contextlib.suppress(OSError):
                self.path.unlink()
        os.close(descriptor)
        if os.name == "nt":
            with contextlib.suppress(OSError):
                self.path.unlink()


def _lock(descriptor: int) -> None:
    if os.name == "nt":
        import msvcrt

        system: Any = msvcrt
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        system.locking(descriptor, system.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_at(descriptor: int, path: Path) -> bool:
    """Tell whether the file that is open is still the one at `path`."""
    if os.name == "nt":
        return True
    try:
        here, there = os.fstat(descriptor), path.stat()
    except OSError:
        return False
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def _holder(descriptor: int) -> str:
    """Return who wrote their name on the lock."""
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        found = json.loads(os.read(descriptor, 1000))
        return f"{found['who']} (process {int(found['pid'])}, since {found['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another run"
