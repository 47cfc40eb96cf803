"""The command that a person types opens a window on the screen, and the next start finds the same project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.e2e.journeys.conftest import FEWEST_COLOURS, WAIT_MS, colours
from tests.shared_data import ROOT
from workbench.engine.projects import Project
from workbench.gui.shell.theme import apply_theme, theme

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the program in a process of its own; what still runs at the end is ended."""
    started: list[subprocess.Popen[bytes]] = []

    def run(*arguments: str) -> subprocess.Popen[bytes]:
        log = (tmp_path / "program.log").open("ab")
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench", *arguments],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=log, stderr=log,
        )  # fmt: skip
        log.close()
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait(20)


def screen() -> QImage:
    return QGuiApplication.primaryScreen().grabWindow(0).toImage()


def count_of(image: QImage, token: str) -> int:
    """Return how many of every third pixel have a colour of the theme."""
    rgb = theme().color(token).rgb()
    return sum(
        image.pixel(x, y) == rgb for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)
    )


def wait_for_window(qtbot: QtBot, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the main button and the filled values are on the screen."""

    def drawn() -> bool:
        assert process.poll() is None, f"the program ended: {log.read_text('utf-8')}"
        image = screen()
        return (
            colours(image) >= FEWEST_COLOURS
            and count_of(image, "accent") > 200
            and count_of(image, "value_tint") > 200
        )

    qtbot.waitUntil(drawn, timeout=WAIT_MS)


def test_the_sample_opens_as_a_copy_that_is_reopened(
    qtbot: QtBot, qapp: QApplication, start: Start, tmp_path: Path, picture: Callable[[str], QImage]
) -> None:
    apply_theme(qapp, "light")
    config = Path(os.environ["PROMPT_WORKBENCH_CONFIG"])
    config.mkdir(parents=True, exist_ok=True)
    (config / "settings.json").write_text(json.dumps({"theme": "light"}), "utf-8")
    log = tmp_path / "program.log"
    first = start("--sample", "support-triage")
    wait_for_window(qtbot, first, log)
    picture("first start")
    copy = Path(os.environ["XDG_DATA_HOME"]) / "prompt-workbench" / "samples" / "support-triage"
    assert Project.load(copy).name == "Support triage"
    # The person's copy is theirs: the second start must not put the sample over it.
    toml = copy / "workbench.toml"
    toml.write_text(
        toml.read_text("utf-8").replace('name = "Support triage"', 'name = "My own triage"'), "utf-8"
    )
    first.kill()
    first.wait(20)
    qtbot.waitUntil(lambda: colours(screen()) < FEWEST_COLOURS, timeout=WAIT_MS)

    second = start("--sample", "support-triage")
    wait_for_window(qtbot, second, log)
    picture("second start")
    recent = json.loads((config / "state.json").read_text("utf-8"))["recent"]
    assert recent[0]["name"] == "My own triage"
    assert Project.load(copy).name == "My own triage"
    assert "Traceback" not in log.read_text("utf-8")


def test_a_folder_that_is_no_project_ends_with_one_line_and_no_window(start: Start, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    begun = time.monotonic()
    process = start(str(empty))
    assert process.wait(60) == 2
    assert time.monotonic() - begun < 60
    said = (tmp_path / "program.log").read_text("utf-8").strip().splitlines()
    assert len(said) == 1
    assert str(empty) in said[0]
