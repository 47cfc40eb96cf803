"""Runs what must not block the window: one asyncio loop in a thread, a small pool, and one way back."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

CoroutineFactory = Callable[[], Coroutine[Any, Any, Any]]
OnDone = Callable[[Any], None]
OnError = Callable[[BaseException], None]

STOPPED = "stopped by you"
"""How a run that a person stopped is told apart from one that failed."""


class Handle:
    """One job: it can be cancelled, and after that neither of its callbacks is called."""

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.cancelled = False
        self.done = False
        self._stop: Callable[[], None] | None = None
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Stop the job: an async job gets `CancelledError` at its next wait, a pool job finishes unheard."""
        with self._lock:
            if self.done or self.cancelled:
                return
            self.cancelled = True
            stop = self._stop
        if stop is not None:
            stop()

    def _arm(self, stop: Callable[[], None]) -> bool:
        """Remember how to stop the job; False when it was cancelled before it began."""
        with self._lock:
            self._stop = stop
            return not self.cancelled


class Jobs(QObject):
    """Owner of the loop thread and the pool. Callbacks arrive on the thread that made this object."""

    _posted = Signal(object)

    def __init__(self, parent: QObject | None = None, workers: int = 2) -> None:
        super().__init__(parent)
        self._workers = workers
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._by_key: dict[str, Handle] = {}
        self._live: set[Handle] = set()
        self._closed = False
        self._posted.connect(self._call, Qt.ConnectionType.QueuedConnection)

    # -- starting -------------------------------------------------------------------------------------

    def run_async(
        self,
        factory: CoroutineFactory,
        on_done: OnDone | None = None,
        on_error: OnError | None = None,
        key: str | None = None,
    ) -> Handle:
        """Run `factory()`'s coroutine on the loop thread. A job of the same `key` is cancelled first."""
        handle = self._register(key)
        loop = self._running_loop()

        async def body() -> None:
            try:
                result = await factory()
            except asyncio.CancelledError:
                self._finish(handle, None)
            except BaseException as error:
                self._finish(handle, on_error, error)
            else:
                self._finish(handle, on_done, result)

        def begin() -> None:
            if handle.cancelled:
                self._finish(handle, None)
                return
            task = loop.create_task(body())
            if not handle._arm(lambda: loop.call_soon_threadsafe(task.cancel)):
                task.cancel()

        loop.call_soon_threadsafe(begin)
        return handle

    def run_pool(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        on_done: OnDone | None = None,
        on_error: OnError | None = None,
        key: str | None = None,
    ) -> Handle:
        """Run `function(*arguments)` on a worker thread. A job of the same `key` is cancelled first."""
        handle = self._register(key)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="workbench-pool")

        def body() -> None:
            if handle.cancelled:
                self._finish(handle, None)
                return
            try:
                result = function(*arguments)
            except BaseException as error:
                self._finish(handle, on_error, error)
            else:
                self._finish(handle, on_done, result)

        self._pool.submit(body)
        return handle

    def post(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call `function(*arguments)` soon on the GUI thread; may be called from any thread."""
        if not self._closed:
            self._posted.emit((function, arguments))

    # -- state ----------------------------------------------------------------------------------------

    def busy(self, key: str | None = None) -> bool:
        """Tell whether a job (of `key`) has not ended yet."""
        if key is not None:
            return key in self._by_key
        return bool(self._live)

    def cancel(self, key: str) -> None:
        """Cancel the job of `key`, if there is one."""
        if (handle := self._by_key.pop(key, None)) is not None:
            handle.cancel()

    @property
    def closed(self) -> bool:
        """Tell whether the runner was shut down: nothing can be started any more."""
        return self._closed

    def shutdown(self, timeout: float = 5.0, last: CoroutineFactory | None = None) -> None:
        """Cancel everything, run `last` on the loop (if there is one) and wait for the threads to end.

        Each of the three steps may take up to `timeout` seconds.
        """
        if self._closed:
            return
        self._closed = True
        for handle in list(self._live):
            handle.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        if self._loop is not None and self._thread is not None:
            loop = self._loop
            asyncio.run_coroutine_threadsafe(_drain(timeout, last), loop).add_done_callback(
                lambda _: loop.call_soon_threadsafe(loop.stop)
            )
            self._thread.join(2 * timeout + 1)
        self._by_key.clear()
        self._live.clear()

    # -- inner ----------------------------------------------------------------------------------------

    def _register(self, key: str | None) -> Handle:
        if self._closed:
            raise RuntimeError("the job runner was shut down")
        if key is not None:
            self.cancel(key)
        handle = Handle(key)
        self._live.add(handle)
        if key is not None:
            self._by_key[key] = handle
        return handle

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            loop = self._loop = asyncio.new_event_loop()

            def run() -> None:
                asyncio.set_event_loop(loop)
                try:
                    loop.run_forever()
                finally:
                    loop.run_until_complete(loop.shutdown_asyncgens())
                    loop.run_until_complete(loop.shutdown_default_executor())
                    loop.close()

            self._thread = threading.Thread(target=run, name="workbench-loop", daemon=True)
            self._thread.start()
        return self._loop

    def _finish(self, handle: Handle, callback: Callable[[Any], None] | None, value: Any = None) -> None:
        self.post(self._deliver, handle, callback, value)

    def _deliver(self, handle: Handle, callback: Callable[[Any], None] | None, value: Any) -> None:
        handle.done = True
        self._live.discard(handle)
        if handle.key is not None and self._by_key.get(handle.key) is handle:
            del self._by_key[handle.key]
        if handle.cancelled:
            return
        if callback is not None:
            callback(value)
        elif isinstance(value, BaseException):
            raise value

    def _call(self, call: tuple[Callable[..., None], tuple[Any, ...]]) -> None:
        function, arguments = call
        if not self._closed:
            function(*arguments)


async def _drain(timeout: float, last: CoroutineFactory | None) -> None:
    """Cancel every task of the running loop but this one, wait for them, then run `last`."""
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=timeout)
    if last is not None:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(last(), timeout)
