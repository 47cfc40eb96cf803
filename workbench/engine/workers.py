"""Runs native or heavy code in a process of its own, so that a crash or a hang there harms nothing here.

A worker is `python -m MODULE`, started with `subprocess`, that speaks JSON lines over its standard input and
output. The near side is `WorkerProcess`: calls are matched by number, may run at the same time, have a time
limit and can be cancelled. It belongs to no event loop, so one worker serves successive `asyncio.run` calls
and calls from several threads. The far side is `run_worker`, which a worker module calls under its
`if __name__ == "__main__"` guard. A worker ends when its standard input ends, hence also when the
process that started it is killed.

Lines to a worker: `{"id", "method", "params"}` and `{"cancel": id}`. Lines from it: `{"ready": true}` or
`{"failed", "kind"}` once, then `{"id", "event"}`, `{"id", "result"}` and `{"id", "error", "kind"}`.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import itertools
import json
import os
import queue
import runpy
import signal
import subprocess
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar

TAIL_CHARACTERS = 4000
"""How much of a worker's standard error is kept for the report of a crash."""

_FROZEN_FLAG = "--worker"

Event = Callable[[Any], None]
T = TypeVar("T")


class WorkerError(Exception):
    """A call failed inside the worker, which goes on living. `kind` is the name of the exception there."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind


class WorkerCrashed(WorkerError):  # noqa: N818 - the name that the rooms agreed on
    """The worker process ended before it answered. `stderr_tail` is the end of what it wrote."""

    def __init__(self, stderr_tail: str, exit_code: int | None = None) -> None:
        reason = _exit_reason(exit_code)
        last = next((line for line in reversed(stderr_tail.splitlines()) if line.strip()), "")
        super().__init__(f"the worker process {reason}" + (f": {last.strip()}" if last else ""), "crash")
        self.stderr_tail = stderr_tail
        self.exit_code = exit_code


class WorkerTimeout(WorkerError):  # noqa: N818 - as above
    """The worker did not start, or did not answer, within its time limit (in seconds)."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"{what} took longer than {seconds:g} s and was stopped", "timeout")
        self.seconds = seconds


def _exit_reason(exit_code: int | None) -> str:
    if exit_code is None:
        return "ended"
    if exit_code < 0:
        try:
            return f"was ended by {signal.Signals(-exit_code).name}"
        except ValueError:
            return f"was ended by signal {-exit_code}"
    return f"ended with status {exit_code}"


def worker_command(module: str, args: Sequence[str] = ()) -> list[str]:
    """Return the command that starts `module` as a worker.

    `-P` keeps the current folder out of the import path: a project's folder may hold files of strangers.
    A frozen program has no `-m`; it is started again with a flag that `run_frozen_worker` understands.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable, _FROZEN_FLAG, module, *args]
    return [sys.executable, "-P", "-X", "faulthandler", "-m", module, *args]


def run_frozen_worker(argv: Sequence[str]) -> bool:
    """Run the worker that `argv` (without the program's name) asks for; return False when it asks for none.

    A frozen program calls this before anything else. Only modules of this package are accepted.
    """
    if len(argv) < 2 or argv[0] != _FROZEN_FLAG or not argv[1].startswith("workbench."):
        return False
    sys.argv = list(argv[1:])
    runpy.run_module(argv[1], run_name="__main__")
    return True


def _environment() -> dict[str, str]:
    """Return the environment of a worker: the package must be importable as it is here."""
    root = str(Path(__file__).resolve().parent.parent.parent)
    inherited = os.environ.get("PYTHONPATH", "")
    paths = [root, *(path for path in inherited.split(os.pathsep) if path and path != root)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}


@dataclass(slots=True)
class _Pending:
    number: int
    line: bytes
    future: Future[Any]
    on_event: Event | None
    loop: asyncio.AbstractEventLoop | None


class _Child:
    """One run of the worker program with the threads that read and write its pipes."""

    def __init__(self, command: Sequence[str]) -> None:
        self.popen: subprocess.Popen[bytes] = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self.ready: Future[None] = Future()
        self.pending: dict[int, _Pending] = {}
        self.lock = threading.Lock()
        self.ended = False
        self.replaced = False
        self._tail = ""
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._errors = self._thread(self._read_stderr, "stderr")
        self._threads = [self._thread(self._write, "stdin"), self._errors, self._thread(self._read, "stdout")]
        for thread in self._threads:
            thread.start()

    def _thread(self, target: Callable[[], None], name: str) -> threading.Thread:
        return threading.Thread(target=target, name=f"worker-{self.popen.pid}-{name}", daemon=True)

    def submit(self, pending: _Pending) -> bool:
        """Send a call; return False when the process has ended already."""
        with self.lock:
            if self.ended or self.replaced:
                return False
            self.pending[pending.number] = pending
        self._outbox.put(pending.line)
        return True

    def send(self, message: Mapping[str, Any]) -> None:
        self._outbox.put(_line(message))

    def close(self, patience: float) -> None:
        """End the process: close its input, wait `patience` seconds, then kill."""
        self._outbox.put(None)
        try:
            self.popen.wait(patience)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(1)

    def let_go(self) -> None:
        """Close this copy's ends of the pipes, so that the worker still sees when its real owner ends."""
        self.popen.returncode = 0  # it is not ours to wait for
        for pipe in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            # Without its buffer, whose lock may be held by a thread that is no more.
            raw: Any = getattr(pipe, "raw", pipe)
            with contextlib.suppress(OSError, ValueError):
                raw.close()

    def take_pending(self) -> list[_Pending]:
        """Take over the calls that wait here, so that they can move to another process."""
        with self.lock:
            self.replaced = True
            taken = [self.pending.pop(number) for number in sorted(self.pending)]
        return taken

    def _write(self) -> None:
        pipe = self.popen.stdin
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError):  # the reader reports the end
            while (line := self._outbox.get()) is not None:
                pipe.write(line)
                pipe.flush()
        with contextlib.suppress(OSError, ValueError):
            pipe.close()

    def _read_stderr(self) -> None:
        pipe = self.popen.stderr
        assert pipe is not None
        with pipe:
            while data := os.read(pipe.fileno(), 65536):
                self._tail = (self._tail + data.decode("utf-8", "replace"))[-TAIL_CHARACTERS:]

    def _read(self) -> None:
        pipe = self.popen.stdout
        assert pipe is not None
        with pipe:
            for line in pipe:
                self._receive(line)
        self._end()

    def _receive(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return  # a library wrote to the pipe before `run_worker` took it over
        if not isinstance(message, dict):
            return
        if "ready" in message:
            _settle(self.ready, lambda future: future.set_result(None))
        elif "failed" in message:
            error = WorkerError(str(message["failed"]), str(message.get("kind", "")))
            _settle(self.ready, lambda future: future.set_exception(error))
        elif "event" in message:
            with self.lock:
                pending = self.pending.get(message.get("id", -1))
            if pending is not None:
                _deliver(pending, message["event"])
        else:
            self._answer(message)

    def _answer(self, message: Mapping[str, Any]) -> None:
        with self.lock:
            pending = self.pending.pop(message.get("id", -1), None)
        if pending is None:
            return
        if "error" in message:
            error = WorkerError(str(message["error"]), str(message.get("kind", "")))
            _settle(pending.future, lambda future: future.set_exception(error))
        else:
            _settle(pending.future, lambda future: future.set_result(message.get("result")))

    def _end(self) -> None:
        self._outbox.put(None)
        code = self.popen.wait()
        self._errors.join(1)
        with self.lock:
            self.ended = True
            lost = list(self.pending.values())
            self.pending.clear()
        for future in (self.ready, *(pending.future for pending in lost)):
            _settle(future, lambda f: f.set_exception(WorkerCrashed(self._tail, code)))


def _line(message: Mapping[str, Any]) -> bytes:
    return (json.dumps(message) + "\n").encode("ascii")


def _settle(future: Future[T], change: Callable[[Future[T]], None]) -> None:
    with contextlib.suppress(InvalidStateError):  # cancelled, or settled by the other side of a race
        change(future)


def _deliver(pending: _Pending, event: Any) -> None:
    """Hand an event to the loop that made the call; a loop that is gone needs no events."""
    if pending.on_event is not None and pending.loop is not None:
        with contextlib.suppress(RuntimeError):
            pending.loop.call_soon_threadsafe(pending.on_event, event)


_living: weakref.WeakSet[WorkerProcess] = weakref.WeakSet()


class WorkerProcess:
    """A worker program, started on the first call and again after a crash.

    `module` is run with `args` as its command line. `start_timeout` (seconds) covers its start up to the
    ready line, which includes what it loads. A call that ran out of time or was cancelled gets
    `cancel_grace` seconds to notice; then the process is stopped, because native code cannot be told to
    stop otherwise, and the calls of others that wait are sent again to a new process.
    """

    def __init__(
        self, module: str, args: Sequence[str] = (), *, start_timeout: float = 60.0, cancel_grace: float = 1.0
    ) -> None:
        self.module = module
        self.args = tuple(args)
        self.start_timeout = start_timeout
        self.cancel_grace = cancel_grace
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._child: _Child | None = None
        self._timers: set[threading.Timer] = set()
        self._closed = False
        _living.add(self)

    @property
    def pid(self) -> int | None:
        """The number of the running process, `None` when there is none."""
        child = self._child
        return child.popen.pid if child is not None and not child.ended else None

    @property
    def closed(self) -> bool:
        """Whether the worker was closed; a closed worker takes no more calls."""
        return self._closed

    async def start(self) -> None:
        """Start the process, if none runs, and wait until it is ready.

        Raises:
            WorkerTimeout: it was not ready within `start_timeout`.
            WorkerCrashed: it ended before it was ready.
            WorkerError: it said why it cannot serve.
        """
        child = self._running_child()
        try:
            async with asyncio.timeout(self.start_timeout):
                # Others may wait for the same start: the cancellation of one wait must not reach it.
                await asyncio.shield(asyncio.wrap_future(child.ready))
        except TimeoutError:
            self._replace(child)
            raise WorkerTimeout(f"the start of {self.module}", self.start_timeout) from None
        except WorkerError:
            self._drop(child)
            raise

    async def call(
        self,
        method: str,
        params: Any = None,
        *,
        timeout: float | None = None,
        on_event: Event | None = None,
    ) -> Any:
        """Call `method` with JSON-like `params` and return its JSON-like result.

        `timeout` is in seconds from the moment the process is ready; `None` sets no limit. `on_event` gets,
        on this event loop and before the result, whatever the method emits.

        Raises:
            WorkerError: the method raised, or there is no such method.
            WorkerTimeout: the answer took too long.
            WorkerCrashed: the process ended during the call; the next call starts a new one.
        """
        await self.start()
        number = next(self._numbers)
        line = _line({"id": number, "method": method, "params": params})
        pending = _Pending(number, line, Future(), on_event, asyncio.get_running_loop())
        self._submit(pending)
        try:
            async with asyncio.timeout(timeout):
                return await asyncio.wrap_future(pending.future)
        except TimeoutError:
            self._abandon(pending)
            raise WorkerTimeout(f"{method} in {self.module}", timeout or 0.0) from None
        except asyncio.CancelledError:
            self._abandon(pending)
            raise

    async def close(self) -> None:
        """End the process without blocking the event loop; safe to call twice."""
        await asyncio.to_thread(self.close_now)

    def close_now(self, patience: float = 1.0) -> None:
        """End the process and wait for it, at most about `patience` seconds before it is killed."""
        with self._lock:
            self._closed = True
            child, self._child = self._child, None
            timers = list(self._timers)
        for timer in timers:
            timer.cancel()
        if child is not None:
            child.close(patience)

    def forget(self) -> None:
        """Let go of the process without ending it, for a copy of this program that did not start it."""
        self._lock = threading.RLock()  # a thread that is no more may have held it
        child, self._child = self._child, None
        self._timers = set()
        if child is not None:
            child.let_go()

    def _running_child(self) -> _Child:
        with self._lock:
            if self._closed:
                raise WorkerError(f"the worker {self.module} is closed", "closed")
            if self._child is None or self._child.ended or self._child.replaced:
                self._child = _Child(worker_command(self.module, self.args))
            return self._child

    def _submit(self, pending: _Pending) -> None:
        # A process that ends between the start and this line is replaced once; what is written to a
        # starting process waits in its pipe.
        for _ in range(2):
            if self._running_child().submit(pending):
                return
        raise WorkerCrashed("", None)

    def _abandon(self, pending: _Pending) -> None:
        """Tell the worker that nobody waits for a call any more, and see to it that it stops."""
        with self._lock:
            child = self._child
        if child is None or pending.number not in child.pending:
            return
        child.send({"cancel": pending.number})
        timer = threading.Timer(self.cancel_grace, self._enforce, (child, pending))
        timer.daemon = True
        with self._lock:
            self._timers = {t for t in self._timers if t.is_alive()} | {timer}
            timer.start()

    def _enforce(self, child: _Child, pending: _Pending) -> None:
        if pending.number in child.pending:
            with child.lock:
                child.pending.pop(pending.number, None)
            self._replace(child)

    def _replace(self, child: _Child) -> None:
        """Stop `child` for good and let a new process answer the calls that still wait."""
        waiting = [pending for pending in child.take_pending() if not pending.future.done()]
        self._drop(child)
        for pending in waiting:
            try:
                self._submit(pending)
            except WorkerError as error:
                _settle(pending.future, lambda future, error=error: future.set_exception(error))  # type: ignore[misc]

    def _drop(self, child: _Child) -> None:
        with self._lock:
            if self._child is child:
                self._child = None
        if child.popen.poll() is None:
            child.popen.kill()


_shared: dict[str, WorkerProcess] = {}
_shared_lock = threading.Lock()


def shared_worker(key: str, factory: Callable[[], WorkerProcess]) -> WorkerProcess:
    """Return this process's one worker for `key`, made by `factory` when there is none or it was closed.

    Models are heavy: everything that names the same weights shares one process. Shared workers are
    closed when the program ends, or by `close_shared_workers`.
    """
    with _shared_lock:
        worker = _shared.get(key)
        if worker is None or worker.closed:
            worker = _shared[key] = factory()
        return worker


def close_shared_workers() -> None:
    """Close every shared worker now; the next use starts new ones."""
    with _shared_lock:
        workers = list(_shared.values())
        _shared.clear()
    for worker in workers:
        worker.close_now()


def _forget_in_fork() -> None:
    """Leave the workers to the process that started them: their threads do not live on in one that was forked."""
    global _shared_lock
    _shared_lock = threading.Lock()
    for worker in list(_living):
        worker.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_fork)


def _close_all() -> None:
    for worker in list(_living):
        worker.close_now(patience=0.2)


atexit.register(_close_all)


# ---- the worker's side --------------------------------------------------------------------------------


class CallCancelled(Exception):  # noqa: N818 - not an error: the caller left
    """Raised inside a method by `CallContext.check` when nobody waits for its result any more."""


class CallContext:
    """What a method of a worker knows of its call: whether it was cancelled, and where its events go."""

    def __init__(self, emit: Event) -> None:
        self.waiting: Future[None] | None = None
        self.cancelled = threading.Event()
        self.emit = emit

    def check(self) -> None:
        """Raise `CallCancelled` when the call was cancelled."""
        if self.cancelled.is_set():
            raise CallCancelled


Handler = Callable[[Any, CallContext], Any]


def run_worker(
    handlers: Mapping[str, Handler], *, setup: Callable[[], None] | None = None, threads: int = 1
) -> NoReturn:
    """Serve calls from standard input until it ends; this is the body of a worker's main program.

    `setup` runs first; what it raises is reported as the reason why the worker cannot serve. `handlers`
    maps a method's name to a function of its parameters and its `CallContext`; at most `threads` run at
    the same time. Whatever libraries print to standard output is sent to standard error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    _Server(handlers, threads).run(setup)


class _Server:
    def __init__(self, handlers: Mapping[str, Handler], threads: int) -> None:
        self._handlers = handlers
        self._pool = ThreadPoolExecutor(threads)
        self._calls: dict[int, CallContext] = {}
        self._loaded = threading.Event()
        self._lock = threading.Lock()
        self._out = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr

    def run(self, setup: Callable[[], None] | None) -> NoReturn:
        # The input is watched from the first moment: a parent that dies while we load must not leave us.
        loaded = threading.Thread(target=self._load, args=(setup,), daemon=True)
        loaded.start()
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "cancel" in message:
                context = self._calls.get(message["cancel"])
                if context is not None:
                    self._cancel(message["cancel"], context)
            else:
                self._begin(message)
        os._exit(0)  # threads in native code cannot be joined

    def _load(self, setup: Callable[[], None] | None) -> None:
        try:
            if setup is not None:
                setup()
        except BaseException as error:
            traceback.print_exc()
            self._send({"failed": str(error) or type(error).__name__, "kind": type(error).__name__})
            os._exit(1)
        self._loaded.set()
        self._send({"ready": True})

    def _begin(self, message: dict[str, Any]) -> None:
        number = message["id"]
        context = CallContext(lambda event: self._send({"id": number, "event": event}))
        self._calls[number] = context
        context.waiting = self._pool.submit(
            self._serve, number, message["method"], message.get("params"), context
        )

    def _cancel(self, number: int, context: CallContext) -> None:
        context.cancelled.set()
        if context.waiting is not None and context.waiting.cancel():
            # It had not begun. Without an answer the near side would think that it hangs, and stop the whole process
            # with the call of somebody else that runs in it.
            self._calls.pop(number, None)
            self._send({"id": number, "error": "the call was cancelled", "kind": CallCancelled.__name__})

    def _serve(self, number: int, method: str, params: Any, context: CallContext) -> None:
        try:
            self._loaded.wait()  # a call that moved here from a process that was stopped may come before that
            context.check()
            handler = self._handlers.get(method)
            if handler is None:
                raise LookupError(f"the worker has no method {method!r}")
            reply = {"id": number, "result": handler(params, context)}
            _line(reply)  # a result that is no JSON is the method's fault, not the pipe's
        except BaseException as error:
            kind = type(error).__name__
            reply = {"id": number, "error": str(error) or kind, "kind": kind}
        self._calls.pop(number, None)
        self._send(reply)

    def _send(self, message: Mapping[str, Any]) -> None:
        data = memoryview(_line(message))
        with self._lock:
            try:
                while data:  # a raw pipe may take less than it was given
                    data = data[_write_some(self._out, data) :]
            except OSError:
                os._exit(0)  # nobody reads any more


def _write_some(out: IO[bytes], data: memoryview) -> int:
    return out.write(data)
