"""One results file, one run: the second is told who has it and what to do, and a dead holder holds nothing."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.engine.decisions import DecisionModel, DecisionRequest, DecisionResponse, YesNoAnswer
from workbench.engine.evaluation import Case, EvaluationRun, ResultsBusy
from workbench.engine.evaluation.run_lock import RunLock
from workbench.engine.guardrails import CheckSettings, GuardrailSettings

SETTINGS = GuardrailSettings(0.5, (CheckSettings("spam", "Is it spam?"),))
CASES = [Case(f"c{k}", f"text {k}", {"spam": k % 2 == 0}) for k in range(6)]
HOLD = (
    "import sys, pathlib; from workbench.engine.evaluation.run_lock import RunLock;"
    " lock = RunLock(pathlib.Path(sys.argv[1]), 'a test'); lock.acquire(); print('held', flush=True); sys.stdin.read()"
)


class Slow(DecisionModel):
    """Answers when it is let."""

    name = "slow"

    def __init__(self) -> None:
        self.gate, self.asked = asyncio.Event(), asyncio.Event()

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Return the answers."""
        self.asked.set()
        await self.gate.wait()
        return DecisionResponse({name: YesNoAnswer(0.25) for name in request.questions}, "slow-1")


def run_of(path: Path, model: DecisionModel, who: str = "the first") -> EvaluationRun:
    """Return a run over the cases that keeps its answers at `path`."""
    return EvaluationRun(CASES, SETTINGS, model, results=path, who=who)


def test_a_second_run_is_refused_and_told_who_writes_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"

    async def both() -> str:
        model = Slow()
        first = asyncio.ensure_future(run_of(path, model, "the window").collect())
        await model.asked.wait()
        with pytest.raises(ResultsBusy) as refused:
            await run_of(path, Slow()).collect()
        model.gate.set()
        assert len(await first) == len(CASES)
        assert len(await run_of(path, model).collect()) == len(CASES)
        return str(refused.value)

    words = asyncio.run(both())
    assert words.startswith("results.jsonl: the window (process ")
    assert str(os.getpid()) in words
    assert "wait" in words
    assert "--results" in words
    assert len(path.read_text().splitlines()) == len(CASES)
    assert not RunLock(path, "").path.exists()


def test_the_lock_is_given_back_when_a_run_is_broken_off(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"

    async def broken() -> None:
        model = Slow()
        task = asyncio.ensure_future(run_of(path, model).collect())
        await model.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        model.gate.set()
        assert len(await run_of(path, model).collect()) == len(CASES)

    asyncio.run(broken())


def test_another_process_holds_the_lock_until_it_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with pytest.raises(ResultsBusy, match=f"a test \\(process {child.pid}, since "):
            RunLock(path, "me").acquire()
    finally:
        child.kill()
        child.communicate()
    lock = RunLock(path, "me")
    lock.acquire()
    lock.release()


def test_a_lock_with_torn_words_still_locks(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    held = RunLock(path, "me")
    held.acquire()
    held.path.write_text("{")
    with pytest.raises(ResultsBusy, match="another run is writing"):
        RunLock(path, "you").acquire()
    held.release()
