"""The real window on a virtual screen: each journey in `journeys` is a process that must end well."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ON_SCREEN
from tests.e2e.screen import VirtualScreen
from tests.shared_data import ROOT

JOURNEYS = Path(__file__).with_name("journeys")
PATIENCE = 280
# Names of the machine's own settings, screens and test runs that a journey must not inherit.
NOT_INHERITED = ("WAYLAND_DISPLAY", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST")


def screen_environment(screen: VirtualScreen, home: Path) -> dict[str, str]:
    """Return the environment of a process on the screen whose settings and data live below `home`."""
    environment = {key: value for key, value in os.environ.items() if key not in NOT_INHERITED}
    environment |= {
        "DISPLAY": screen.display,
        "QT_QPA_PLATFORM": "xcb",
        "QT_SCALE_FACTOR": "1",
        "PROMPT_WORKBENCH_CONFIG": str(home / "config" / "prompt-workbench"),
        "HOME": str(home),
        ON_SCREEN: "1",
    }
    for name in ("config", "data", "cache", "state"):
        environment[f"XDG_{name.upper()}_HOME"] = str(home / name)
    return environment


@pytest.mark.xvfb
@pytest.mark.timeout(PATIENCE + 10)
@pytest.mark.parametrize("journey", sorted(path.stem for path in JOURNEYS.glob("test_*.py")))
def test_a_person_can_use_the_real_window(
    virtual_screen: VirtualScreen, tmp_path: Path, journey: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = [
        sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist",
        "-o", f"timeout={PATIENCE - 20}", f"--basetemp={tmp_path / 'journey'}", str(JOURNEYS / f"{journey}.py"),
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, env=screen_environment(virtual_screen, home), timeout=PATIENCE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"pictures of the screen are below {tmp_path}\n{done.stdout}"
    # A journey that collects nothing, or skips, has shown nothing.
    assert re.search(r"\d+ passed", done.stdout), done.stdout
    assert "skipped" not in done.stdout, done.stdout
    assert list(tmp_path.rglob("*.png")), "the journey took no pictures of the screen"
