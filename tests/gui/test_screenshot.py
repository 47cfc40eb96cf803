"""Pictures of the window are the same every time."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.shared_data import ROOT
from workbench.gui.screenshot import ScreenshotError, take

_TAKE = """
import sys
from pathlib import Path
from workbench.gui.screenshot import take
take(Path(sys.argv[1]), Path(sys.argv[2]), (900, 600), "dark", run_checks=False)
"""


def test_two_processes_take_the_same_picture(project_folder: Path, tmp_path: Path) -> None:
    digests = set()
    for number in range(2):
        out = tmp_path / f"{number}.png"
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", _TAKE, str(project_folder), str(out)],
            env=environment, capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        image = QImage(str(out))
        assert (image.width(), image.height()) == (900, 600)
        digests.add(hashlib.sha256(out.read_bytes()).hexdigest())
    assert len(digests) == 1


def test_a_picture_leaves_no_trace_in_the_project(project_folder: Path, tmp_path: Path) -> None:
    before = {file: file.read_bytes() for file in project_folder.rglob("*") if file.is_file()}
    take(project_folder, tmp_path / "p.png", size=(900, 600))
    assert {file: file.read_bytes() for file in project_folder.rglob("*") if file.is_file()} == before


def test_one_pane_can_be_taken_alone(project_folder: Path, tmp_path: Path) -> None:
    out = take(project_folder, tmp_path / "p.png", pane="preview", run_checks=False)
    image = QImage(str(out))
    assert 100 < image.width() < 1000


@pytest.mark.parametrize("pane", ["history", "template"])
def test_layouts_and_center_panes_have_names_too(project_folder: Path, tmp_path: Path, pane: str) -> None:
    assert take(project_folder, tmp_path / "p.png", pane=pane, run_checks=False).exists()


def test_an_unknown_pane_and_a_folder_that_is_no_project_are_said(
    project_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(ScreenshotError, match="preview"):
        take(project_folder, tmp_path / "p.png", pane="nothing", run_checks=False)
    with pytest.raises(ScreenshotError):
        take(tmp_path, tmp_path / "p.png", run_checks=False)
    assert not (tmp_path / "p.png").exists()
