"""Work that must not block the window."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from workbench.gui.jobs import Jobs


@pytest.fixture
def jobs(qapp):
    made = Jobs()
    yield made
    made.shutdown()


def test_a_result_arrives_on_the_gui_thread(jobs: Jobs, qtbot) -> None:
    got: list[object] = []

    async def work() -> int:
        await asyncio.sleep(0)
        return threading.get_ident()

    jobs.run_async(work, lambda value: got.append((value, threading.get_ident())))
    qtbot.waitUntil(lambda: bool(got))
    worker, here = got[0]
    assert here == threading.get_ident()
    assert worker != here


def test_a_pool_job_delivers_its_result_and_its_error(jobs: Jobs, qtbot) -> None:
    got: list[object] = []
    jobs.run_pool(lambda a, b: a + b, 2, 3, on_done=got.append)
    jobs.run_pool(lambda: 1 / 0, on_error=lambda error: got.append(type(error)))
    qtbot.waitUntil(lambda: len(got) == 2)
    assert set(got) == {5, ZeroDivisionError}


def test_cancelling_reaches_a_waiting_coroutine_at_once_and_silences_it(jobs: Jobs, qtbot) -> None:
    seen: list[str] = []
    started = threading.Event()

    async def work() -> None:
        try:
            started.set()
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    handle = jobs.run_async(work, lambda _: seen.append("done"), lambda _: seen.append("error"))
    assert started.wait(5)
    begun = time.monotonic()
    handle.cancel()
    qtbot.waitUntil(lambda: not jobs.busy())
    assert time.monotonic() - begun < 2
    assert seen == ["cancelled"]


def test_a_job_of_the_same_key_replaces_the_older(jobs: Jobs, qtbot) -> None:
    got: list[str] = []

    async def slow() -> str:
        await asyncio.sleep(30)
        return "old"

    async def quick() -> str:
        return "new"

    jobs.run_async(slow, got.append, key="k")
    jobs.run_async(quick, got.append, key="k")
    qtbot.waitUntil(lambda: not jobs.busy())
    assert got == ["new"]


def test_a_job_cancelled_before_it_begins_never_runs(jobs: Jobs, qtbot) -> None:
    ran: list[int] = []
    gate = threading.Event()
    for _ in range(2):
        jobs.run_pool(gate.wait, 10)
    handle = jobs.run_pool(lambda: ran.append(1))
    handle.cancel()
    gate.set()
    qtbot.waitUntil(lambda: not jobs.busy())
    assert not ran


def test_shutdown_cancels_all_and_runs_the_last_coroutine(qapp) -> None:
    jobs, seen = Jobs(), []

    async def forever() -> None:
        await asyncio.sleep(600)

    async def last() -> None:
        seen.append("closed")

    jobs.run_async(forever)
    jobs.shutdown(last=last)
    assert seen == ["closed"]
    with pytest.raises(RuntimeError):
        jobs.run_pool(print)
