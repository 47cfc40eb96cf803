"""A small worker for the tests of `workbench.engine.workers`: every way in which a worker can behave."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from workbench.engine.workers import CallContext, run_worker


def echo(params: Any, context: CallContext) -> Any:
    return params


def sleep(params: Any, context: CallContext) -> Any:
    time.sleep(params)
    return params


def count(params: Any, context: CallContext) -> Any:
    for i in range(params):
        context.check()
        context.emit(i)
    return params


def count_slowly(params: Any, context: CallContext) -> Any:
    for i in range(params):
        context.emit(i)
        time.sleep(0.1)
    return params


def patient(params: Any, context: CallContext) -> Any:
    """Waits, but looks every 10 ms whether anybody still listens, and leaves a mark when nobody does."""
    end = time.monotonic() + params["seconds"]
    while time.monotonic() < end:
        if context.cancelled.is_set():
            with open(params["mark"], "w", encoding="utf-8") as file:
                file.write("cancelled")
        context.check()
        time.sleep(0.01)
    return "done"


def crash(params: Any, context: CallContext) -> Any:
    print("about to fail badly", file=sys.stderr, flush=True)
    os.abort()


def leave(params: Any, context: CallContext) -> Any:
    os._exit(7)


def fail(params: Any, context: CallContext) -> Any:
    raise ValueError(params)


def unserialisable(params: Any, context: CallContext) -> Any:
    return object()


def pid(params: Any, context: CallContext) -> Any:
    print("chatter of a library on standard output")
    os.write(1, b"and of a native one\n")
    return os.getpid()


def cwd_on_path(params: Any, context: CallContext) -> Any:
    return "" in sys.path or os.getcwd() in sys.path


def loaded(params: Any, context: CallContext) -> Any:
    return bool(LOADED)


def setup() -> None:
    how = sys.argv[1] if len(sys.argv) > 1 else ""
    if how == "half-second-start":
        time.sleep(0.5)
    if how == "slow-start":
        time.sleep(30)
    if how == "failed-start":
        raise RuntimeError("the weights are not there")
    if how == "crash-start":
        os._exit(9)
    LOADED.append(True)


LOADED: list[bool] = []
HANDLERS = {
    f.__name__: f
    for f in (
        echo,
        sleep,
        count,
        count_slowly,
        patient,
        crash,
        leave,
        fail,
        unserialisable,
        pid,
        cwd_on_path,
        loaded,
    )
}

if __name__ == "__main__":
    run_worker(HANDLERS, setup=setup, threads=1 if sys.argv[1:] == ["one-thread"] else 4)
