"""Starts a virtual screen for tests that drive a real window, and ends it again."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time
from pathlib import Path

XVFB = "Xvfb"
SIZE = "1600x1000x24"
START_SECONDS = 20.0


class ScreenError(Exception):
    """The virtual screen did not start; the text says what it said."""


def missing_screen() -> str | None:
    """Return why no virtual screen can be started here, `None` where one can."""
    if shutil.which(XVFB) is None:
        return f"{XVFB} is not installed (on Debian: apt-get install -y xvfb)"
    return None


class VirtualScreen:
    """An Xvfb of our own, on a display number that it chose itself.

    `display` is the value for `DISPLAY`. Raises `ScreenError` where Xvfb ends or says nothing within 20 s.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        reading, writing = os.pipe()
        command = [XVFB, "-displayfd", str(writing), "-screen", "0", SIZE, "-nolisten", "tcp"]
        try:
            with log.open("wb") as output:
                self._process = subprocess.Popen(
                    command, pass_fds=(writing,), stdin=subprocess.DEVNULL, stdout=output, stderr=output
                )
        finally:
            os.close(writing)
        try:
            self.display = f":{self._read_number(reading)}"
        except ScreenError:
            self.close()
            raise
        finally:
            os.close(reading)

    def _read_number(self, reading: int) -> int:
        """Read the display number, which Xvfb writes once it takes clients."""
        deadline, text = time.monotonic() + START_SECONDS, b""
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(reading, 64) if ready else b""
            if not piece:
                said = self._log.read_text("utf-8", "replace").strip() or "nothing"
                raise ScreenError(f"{XVFB} gave no display; it said: {said}")
            text += piece
        return int(text)

    def alive(self) -> bool:
        """Tell whether the screen still runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the screen: this process alone, by its id."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(10)
