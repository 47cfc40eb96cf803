"""Progress goes to standard error, on a terminal or where it was asked for, and never into a result."""

from __future__ import annotations

import argparse
import io
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_translate import RECORDED, recorded_request
from workbench.cli import progress
from workbench.cli.progress import Progress, progress_for
from workbench.engine.events import RunEvent


class Terminal(io.StringIO):
    """A standard error that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "asked", "json", "shown"),
    [
        (True, False, False, True),
        (True, False, True, False),
        (True, True, True, True),
        (False, False, False, False),
        (False, True, False, True),
        (False, True, True, True),
    ],
)
def test_it_is_shown_on_a_terminal_or_where_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, asked: bool, json: bool, shown: bool
) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_for(argparse.Namespace(progress=asked, json=json)) as made:
        made.take(RunEvent("sent", 0.0, {"attempt": 1}))
    assert ("attempt 1: the model is asked" in stream.getvalue()) is shown


def test_seconds_and_tokens_run_on_while_the_model_writes_and_the_line_is_cleared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "LIVE_SECONDS", 0.01)
    stream = Terminal()
    with Progress(stream, live=True) as shown:
        shown.prefix = "2/5 "
        shown.take(RunEvent("sent", 0.0, {"attempt": 2}))
        for _ in range(3):
            shown.take(RunEvent("delta", 0.0, {"attempt": 2, "text": "x"}))
        deadline = time.monotonic() + 5
        while "about 3 tokens" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "2/5 attempt 2: 0 s, about 3 tokens" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_without_a_terminal_each_change_is_a_line_without_control_characters() -> None:
    stream = io.StringIO()
    usage = {"input_tokens": 7, "output_tokens": 2}
    with Progress(stream, live=False) as shown:
        shown.take(RunEvent("sent", 0.0, {"round_trip": 1}))
        shown.take(RunEvent("reply", 0.0, {"round_trip": 1, "usage": usage}))
        shown.take(RunEvent("tool_result", 0.0, {"name": "look", "is_error": True}))
    assert stream.getvalue().splitlines() == [
        "round trip 1: the model is asked",
        "round trip 1: replied after 0.0 s, 7 + 2 tokens",
        "tool look: error",
    ]


def test_the_result_is_the_same_with_it_and_without(run: Run, booking: Path) -> None:
    call = ("translate", booking, "--request", recorded_request(booking), *RECORDED)
    plain, shown = run(*call), run(*call, "--progress")
    assert plain.err == ""
    assert "attempt 2: replied after" in shown.err
    assert [line for line in shown.text.splitlines() if "ms" not in line] == [
        line for line in plain.text.splitlines() if "ms" not in line
    ]
    assert run(*call, "--progress", "--json").json["outcome"] == "ok"
