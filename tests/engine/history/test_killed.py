"""A process that is killed at any moment of a run costs no attempt that had ended, and what it left torn is marked."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workbench.engine.history import HistoryStore, RunSummary
from workbench.engine.translation import replay

ROUNDS = 200
LONGEST = 0.12
ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forks")

Kill = Callable[[int, float], None]


@pytest.fixture
def kill_a_writer(tmp_path: Path) -> Iterator[Kill]:
    """Start a writer on the history in `tmp_path` and kill it after so many seconds."""
    launcher = subprocess.Popen(
        [
            sys.executable, "-m", "tests.engine.history.writer",
            str(tmp_path / ".workbench" / "history.sqlite"), str(tmp_path / "report"),
        ],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    stdin, stdout = launcher.stdin, launcher.stdout
    assert stdin is not None
    assert stdout is not None

    def kill(number: int, seconds: float) -> None:
        stdin.write(f"{number}\n")
        stdin.flush()
        writer = int(stdout.readline())
        time.sleep(seconds)
        os.kill(writer, signal.SIGKILL)
        # Only once it was waited for is the process gone for those who look.
        assert stdout.readline() == "gone\n"

    yield kill
    stdin.close()
    launcher.wait(timeout=10)
    stdout.close()


def reported(path: Path, offset: int) -> tuple[dict[str, dict[int, str]], set[str], int]:
    """Return the attempts by request and the finished requests that were told since `offset`."""
    attempts: dict[str, dict[int, str]] = {}
    finished: set[str] = set()
    data = path.read_bytes() if path.exists() else b""
    for line in data[offset:].decode().splitlines():
        request, number, outcome = json.loads(line)
        if number:
            attempts.setdefault(request, {})[number] = outcome
        else:
            finished.add(request)
    return attempts, finished, len(data)


def test_200_kills_at_random_moments_lose_no_attempt_that_had_ended(
    tmp_path: Path, kill_a_writer: Kill
) -> None:
    path, report = tmp_path / ".workbench" / "history.sqlite", tmp_path / "report"
    draw = random.Random(20418)
    newest = offset = torn = whole = 0
    for number in range(ROUNDS):
        kill_a_writer(number, draw.uniform(0, LONGEST))
        told, finished, offset = reported(report, offset)
        with HistoryStore.open(path) as store:
            assert store.notice is None
            if number % 20 == 0:
                assert store.quick_check() == []
            runs = {
                str(store.run(summary.id).inputs["request"]): summary
                for summary in store.runs(limit=1000)
                if summary.id > newest
            }
            newest = max([newest, *(summary.id for summary in runs.values())])
            assert told.keys() | finished <= runs.keys()
            for request, summary in runs.items():
                check_run(store, summary, told.get(request, {}), finished=request in finished)
                torn += summary.outcome == "interrupted"
                whole += summary.outcome != "interrupted"
    with HistoryStore.open(path) as store:
        assert store.quick_check() == []
        assert store.count() == torn + whole
        assert store.count(outcome="interrupted") == torn
        # Torn runs are found by their texts as others are.
        assert store.count(search="round", outcome="interrupted") == torn
    # Were the writers never caught at work, nothing of this would have been seen.
    assert torn >= ROUNDS // 4
    assert whole >= ROUNDS // 4


def check_run(store: HistoryStore, summary: RunSummary, told: dict[int, str], *, finished: bool) -> None:
    """Hold one run against what its writer had told of it before it was killed."""
    stored = {attempt.number: attempt.outcome for attempt in summary.attempts}
    assert told.items() <= stored.items()
    if finished:
        assert summary.outcome != "interrupted"
    assert summary.outcome != "running"
    # The events replay as far as they go, and the attempts are those that they tell of.
    shown = replay(store.run(summary.id).events).attempts
    ended = {attempt.number: attempt.outcome for attempt in shown if attempt.outcome != "running"}
    assert ended.items() <= stored.items()
    if summary.outcome == "interrupted":
        assert summary.finished_at is None
        assert {stored[number] for number in stored.keys() - ended.keys()} <= {"interrupted"}
