"""A worker process answers, fails, times out, is cancelled, crashes and never outlives its parent."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.engine import workers
from workbench.engine.workers import (
    WorkerCrashed,
    WorkerError,
    WorkerProcess,
    WorkerTimeout,
    close_shared_workers,
    run_frozen_worker,
    shared_worker,
    worker_command,
)

PROGRAM = "tests.engine.worker_program"


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    made = WorkerProcess(PROGRAM, start_timeout=30, cancel_grace=0.3)
    yield made
    made.close_now()


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Tell whether process `pid` has ended (or waits to be reaped) within `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = (
                Path(f"/proc/{pid}/stat")
                .read_text(encoding="ascii", errors="replace")
                .rsplit(")", 1)[1]
                .split()[0]
            )
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize(
    "value",
    [None, 0, 1.5, "text", "é😀\n", "\ud800", {"a": [1, {"b": None}]}, "x" * 300_000],
    ids=["null", "zero", "float", "text", "unicode", "lone-surrogate", "nested", "long"],
)
def test_values_arrive_and_return_unchanged(worker: WorkerProcess, value: Any) -> None:
    assert asyncio.run(worker.call("echo", value)) == value


def test_one_process_serves_successive_event_loops(worker: WorkerProcess) -> None:
    first = asyncio.run(worker.call("pid"))
    second = asyncio.run(worker.call("pid"))
    assert first == second == worker.pid


def test_concurrent_calls_are_matched_by_number(worker: WorkerProcess) -> None:
    async def both() -> list[Any]:
        await worker.start()
        began = time.monotonic()
        results = await asyncio.gather(
            worker.call("sleep", 0.4), worker.call("sleep", 0.1), worker.call("echo", "now")
        )
        assert time.monotonic() - began < 0.5 + 0.4
        return results

    assert asyncio.run(both()) == [0.4, 0.1, "now"]


def test_two_first_calls_start_one_process(worker: WorkerProcess) -> None:
    async def both() -> list[Any]:
        return await asyncio.gather(worker.call("pid"), worker.call("pid"))

    assert len(set(asyncio.run(both()))) == 1


def test_events_arrive_in_order_before_the_result(worker: WorkerProcess) -> None:
    seen: list[int] = []

    async def run() -> list[int]:
        await worker.call("count", 200, on_event=seen.append)
        return list(seen)

    assert asyncio.run(run()) == list(range(200))


def test_a_failing_method_gives_its_message_and_the_worker_lives_on(worker: WorkerProcess) -> None:
    async def run() -> None:
        before = await worker.call("pid")
        with pytest.raises(WorkerError, match="bad number") as caught:
            await worker.call("fail", "bad number")
        assert caught.value.kind == "ValueError"
        assert await worker.call("pid") == before

    asyncio.run(run())


@pytest.mark.parametrize(
    ("method", "words"), [("nonsense", "no method 'nonsense'"), ("unserialisable", "JSON")]
)
def test_a_call_that_cannot_be_served_says_why(worker: WorkerProcess, method: str, words: str) -> None:
    with pytest.raises(WorkerError, match=words):
        asyncio.run(worker.call(method))


def test_a_crash_carries_the_end_of_standard_error_and_the_next_call_restarts(worker: WorkerProcess) -> None:
    async def run() -> None:
        before = await worker.call("pid")
        with pytest.raises(WorkerCrashed) as caught:
            await worker.call("crash")
        assert "about to fail badly" in caught.value.stderr_tail
        assert "SIGABRT" in str(caught.value)
        after = await worker.call("pid")
        assert after != before

    asyncio.run(run())


def test_a_crash_fails_every_call_that_waits(worker: WorkerProcess) -> None:
    async def run() -> list[Any]:
        waiting = [asyncio.ensure_future(worker.call("sleep", 20)) for _ in range(2)]
        await asyncio.sleep(0.3)
        waiting.append(asyncio.ensure_future(worker.call("leave")))
        return await asyncio.gather(*waiting, return_exceptions=True)

    results = asyncio.run(run())
    assert [type(result) for result in results] == [WorkerCrashed] * 3
    assert {result.exit_code for result in results} == {7}


def test_a_call_over_its_limit_is_a_timeout_and_the_stuck_process_is_replaced(worker: WorkerProcess) -> None:
    async def run() -> None:
        before = await worker.call("pid")
        began = time.monotonic()
        with pytest.raises(WorkerTimeout, match=r"0\.2 s"):
            await worker.call("sleep", 60, timeout=0.2)
        assert time.monotonic() - began < 2
        await asyncio.sleep(0.6)
        assert gone(before)
        assert await worker.call("pid") != before

    asyncio.run(run())


def test_a_cancelled_call_that_notices_keeps_its_process(worker: WorkerProcess, tmp_path: Path) -> None:
    mark = tmp_path / "mark"

    async def run() -> None:
        before = await worker.call("pid")
        task = asyncio.ensure_future(worker.call("patient", {"seconds": 30, "mark": str(mark)}))
        await asyncio.sleep(0.1)
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 0.05
        await asyncio.sleep(0.6)
        assert mark.read_text(encoding="utf-8") == "cancelled"
        assert await worker.call("pid") == before

    asyncio.run(run())


def test_calls_of_others_survive_the_replacement_of_a_stuck_process(worker: WorkerProcess) -> None:
    async def run() -> None:
        await worker.start()
        stuck = [asyncio.ensure_future(worker.call("sleep", 60)) for _ in range(4)]  # every thread is taken
        await asyncio.sleep(0.2)
        innocent = asyncio.ensure_future(worker.call("echo", "still here"))
        await asyncio.sleep(0.1)
        for task in stuck:
            task.cancel()
        assert await asyncio.wait_for(innocent, 20) == "still here"

    asyncio.run(run())


def test_a_call_that_moves_to_a_new_process_waits_until_that_one_has_loaded() -> None:
    worker = WorkerProcess(PROGRAM, ["half-second-start"], start_timeout=30, cancel_grace=0.1)

    async def run() -> None:
        await worker.start()
        stuck = [asyncio.ensure_future(worker.call("sleep", 60)) for _ in range(4)]
        await asyncio.sleep(0.2)
        moved = asyncio.ensure_future(worker.call("loaded"))
        await asyncio.sleep(0.1)
        for task in stuck:
            task.cancel()
        assert await asyncio.wait_for(moved, 20) is True

    asyncio.run(run())
    worker.close_now()


def test_a_start_that_takes_too_long_is_a_timeout() -> None:
    worker = WorkerProcess(PROGRAM, ["slow-start"], start_timeout=0.5)
    with pytest.raises(WorkerTimeout, match="start of"):
        asyncio.run(worker.call("echo"))
    assert worker.pid is None
    worker.close_now()


def test_a_worker_that_cannot_serve_says_why_in_its_own_words() -> None:
    worker = WorkerProcess(PROGRAM, ["failed-start"])
    with pytest.raises(WorkerError, match="the weights are not there"):
        asyncio.run(worker.call("echo"))
    worker.close_now()


@pytest.mark.parametrize(("module", "args"), [(PROGRAM, ["crash-start"]), ("workbench.no_such_module", [])])
def test_a_process_that_ends_during_its_start_is_a_crash(module: str, args: list[str]) -> None:
    worker = WorkerProcess(module, args)
    with pytest.raises(WorkerCrashed):
        asyncio.run(worker.call("echo"))
    worker.close_now()


def test_a_missing_module_is_named_in_the_crash() -> None:
    worker = WorkerProcess("workbench.no_such_module")
    with pytest.raises(WorkerCrashed, match="no_such_module"):
        asyncio.run(worker.call("echo"))
    worker.close_now()


def test_closing_ends_the_process_and_refuses_further_calls(worker: WorkerProcess) -> None:
    async def run() -> int:
        pid: int = await worker.call("pid")
        await worker.close()
        with pytest.raises(WorkerError, match="closed"):
            await worker.call("echo")
        return pid

    assert gone(asyncio.run(run()))
    worker.close_now()  # twice does no harm


def test_the_current_folder_is_not_on_the_workers_import_path(
    worker: WorkerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger ran')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert asyncio.run(worker.call("cwd_on_path")) is False


@pytest.mark.parametrize("ending", ["killed", "exit"])
def test_a_worker_does_not_outlive_its_parent(ending: str) -> None:
    code = textwrap.dedent(
        f"""
        import asyncio, sys, time
        from workbench.engine.workers import WorkerProcess
        worker = WorkerProcess({PROGRAM!r})
        print(asyncio.run(worker.call("pid")), flush=True)
        if {ending!r} == "killed":
            time.sleep(60)
        """
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=env)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    if ending == "killed":
        parent.send_signal(signal.SIGKILL)
    parent.wait(20)
    parent.stdout.close()
    assert gone(child)


def test_a_worker_that_still_loads_does_not_outlive_its_parent_either() -> None:
    process = subprocess.Popen(
        worker_command(PROGRAM, ["slow-start"]), stdin=subprocess.PIPE, env=workers._environment()
    )
    assert process.stdin is not None
    time.sleep(0.5)
    process.stdin.close()
    assert process.wait(10) == 0


def test_a_shared_worker_is_one_per_key_until_it_is_closed() -> None:
    made: list[WorkerProcess] = []

    def factory() -> WorkerProcess:
        made.append(WorkerProcess(PROGRAM))
        return made[-1]

    try:
        first = shared_worker("test-shared", factory)
        assert shared_worker("test-shared", factory) is first
        assert shared_worker("test-other", factory) is not first
        pid = asyncio.run(first.call("pid"))
        close_shared_workers()
        assert gone(pid)
        assert shared_worker("test-shared", factory) is not first
    finally:
        close_shared_workers()
    assert len(made) == 3


@pytest.mark.parametrize(
    "argv", [[], ["render"], ["--worker"], ["--worker", "os"], ["--worker", "tests.engine.worker_program"]]
)
def test_a_frozen_program_runs_only_workers_of_this_package(argv: list[str]) -> None:
    assert run_frozen_worker(argv) is False


def test_a_frozen_program_starts_itself_as_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert worker_command("workbench.engine.x", ["a"]) == [
        sys.executable,
        "--worker",
        "workbench.engine.x",
        "a",
    ]


def test_leaving_a_call_that_has_not_begun_does_not_disturb_the_one_that_runs() -> None:
    worker = WorkerProcess(PROGRAM, ("one-thread",), start_timeout=30, cancel_grace=0.3)

    async def run() -> None:
        await worker.start()
        before = worker.pid
        events: list[Any] = []
        begun = asyncio.Event()

        def take(event: Any) -> None:
            events.append(event)
            begun.set()

        running = asyncio.create_task(worker.call("count_slowly", 12, on_event=take))
        await begun.wait()
        queued = asyncio.create_task(worker.call("echo", 1))
        await asyncio.sleep(0.05)
        queued.cancel()
        assert await running == 12
        assert events == list(range(12))  # begun again in another process, it would count twice
        assert worker.pid == before

    try:
        asyncio.run(run())
    finally:
        worker.close_now()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_of_this_process_starts_a_worker_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import asyncio, os, signal, threading
            from workbench.engine.workers import WorkerProcess

            worker = WorkerProcess({PROGRAM!r}, start_timeout=30)

            def ask():
                return asyncio.run(worker.call("pid", timeout=20))

            def hold():
                with worker._lock:
                    held.set()
                    forked.wait()

            first = ask()
            held, forked = threading.Event(), threading.Event()
            threading.Thread(target=hold).start()
            held.wait()  # the fork has no such thread, which could let go of the lock
            child = os.fork()
            if child == 0:
                signal.alarm(40)
                os._exit(0 if ask() != first else 1)
            forked.set()
            status = os.waitpid(child, 0)[1]
            print(status, ask() == first)
            worker.close_now()
            """
        )
    )
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.stdout == "0 True\n", done.stderr
