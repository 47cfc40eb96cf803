"""Says on standard error how far a model's answer has come, so that a slow model does not look like a hung one."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from types import TracebackType
from typing import Any, TextIO

from workbench.engine.events import RunEvent

LIVE_SECONDS = 0.25
PLAIN_SECONDS = 5.0
_CLEAR = "\r\x1b[K"


def progress_for(arguments: Any) -> Progress:
    """Return the progress of a command: on a terminal unless the output is JSON, and wherever `--progress` asks for it."""
    stream = sys.stderr
    live = stream is not None and stream.isatty()
    wanted = arguments.progress or (live and not arguments.json)
    return Progress(stream if wanted else None, live=live)


class Progress:
    """Shows one line that changes (`live`), or a line for each change; without a stream it shows nothing.

    A context manager: inside it a thread keeps the seconds running. `prefix` goes in front of each line. `take` gets
    the events of the run, from any thread.
    """

    def __init__(self, stream: TextIO | None, *, live: bool) -> None:
        self._stream = stream
        self._live = live
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._label = ""
        self._began = 0.0
        self._pieces = 0
        self.prefix = ""

    def __enter__(self) -> Progress:
        if self._stream is not None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._tick, name="progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None
            self._label = ""
            if self._live:
                self._write(_CLEAR)

    def take(self, event: RunEvent) -> None:
        """Take one event of a translation or of a conversation with tools."""
        data = event.data
        if self._stream is None:
            return
        with self._lock:
            if event.kind == "sent":
                what = (
                    f"attempt {data['attempt']}" if "attempt" in data else f"round trip {data['round_trip']}"
                )
                self._label, self._began, self._pieces = what, time.monotonic(), 0
                self._show(f"{self._label}: the model is asked")
            elif event.kind == "delta":
                self._pieces += 1
            elif event.kind == "reply":
                self._show(f"{self._label}: replied after {self._seconds():.1f} s{_usage(data.get('usage'))}")
                self._label = ""
            elif event.kind in ("tool_result", "program_call"):
                self._show(f"tool {data['name']}: {'error' if data['is_error'] else 'done'}")

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _tick(self) -> None:
        while not self._stop.wait(LIVE_SECONDS if self._live else PLAIN_SECONDS):
            with self._lock:
                if self._label:
                    # A piece of a streamed reply is about a token; the true count comes with the reply.
                    pieces = f", about {self._pieces} tokens" if self._pieces else ""
                    self._show(f"{self._label}: {self._seconds():.0f} s{pieces}")

    def _show(self, line: str) -> None:
        self._write(f"{_CLEAR}{self.prefix}{line}" if self._live else f"{self.prefix}{line}\n")

    def _write(self, text: str) -> None:
        assert self._stream is not None
        with contextlib.suppress(OSError, ValueError):  # nobody reads it: the run matters, not its progress
            self._stream.write(text)
            self._stream.flush()


def _usage(usage: Any) -> str:
    if not usage or usage.get("input_tokens") is None:
        return ""
    return f", {usage['input_tokens']} + {usage.get('output_tokens')} tokens"
