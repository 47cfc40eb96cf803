"""The Qt binding in use does not lose references to None, as one release does on older Pythons."""

from __future__ import annotations

import os
import subprocess
import sys

CALLS = 2_000
# Each call of the faulty release drops one reference; the interpreter itself gains or loses a few dozen.
TOLERANCE = 200

_SCRIPT = f"""
import sys
from PySide6.QtWidgets import QApplication, QWidget

app = QApplication([])
widget = QWidget()
widget.update()
before = sys.getrefcount(None)
for _ in range({CALLS}):
    widget.update()
print(sys.getrefcount(None) - before)
"""


def test_calls_that_return_nothing_keep_their_references_to_none() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    # From Python 3.12 on None is immortal and its count stands still, which is as good.
    assert done.returncode == 0, f"the process died with {done.returncode}: {done.stderr}"
    assert abs(int(done.stdout)) < TOLERANCE, (
        f"{CALLS} calls changed the count of None by {done.stdout.strip()}"
    )
