"""A virtual screen for the tests that drive a real window, which run in processes of their own.

A process has one Qt application and one platform. Tests of the single widgets run offscreen, so each journey through
the real window gets a process that is told of the screen before Qt is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.e2e.screen import VirtualScreen, missing_screen

ON_SCREEN = "PROMPT_WORKBENCH_TEST_ON_SCREEN"

collect_ignore = [] if os.environ.get(ON_SCREEN) == "1" else ["journeys"]


@pytest.fixture(scope="session")
def virtual_screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualScreen]:
    """A screen without a window manager. Where it is missing the test is skipped, but never in CI."""
    reason = missing_screen()
    if reason is not None:
        if os.environ.get("CI"):
            pytest.fail(f"the real window cannot be tested: {reason}")
        pytest.skip(reason)
    screen = VirtualScreen(tmp_path_factory.mktemp("screen") / "xvfb.log")
    yield screen
    survived = screen.alive()
    screen.close()
    assert survived, "the virtual screen died during the tests"
