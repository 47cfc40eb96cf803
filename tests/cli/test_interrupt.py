"""Ctrl+C ends the request loop of a real process with 130, at its prompt and while a model is asked, and stores what happened."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.engine.history import HistoryStore
from workbench.engine.workflows import history_path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGINT is sent as a terminal of POSIX does it")

REQUEST = "A table for two."
WAIT_SECONDS = 30


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that takes connections and never answers."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(WAIT_SECONDS)
    yield server
    server.close()


@pytest.fixture
def loop(tmp_path: Path, silent: socket.socket) -> Iterator[subprocess.Popen[bytes]]:
    """The request loop as a process of its own, on a project whose model is the silent server."""
    (tmp_path / "output.schema.json").write_text('{"type": "object"}', encoding="utf-8")
    (tmp_path / "workbench.toml").write_text(
        'format = 1\nname = "P"\n\n[[template.messages]]\nrole = "user"\ncontent = "Hi"\n\n'
        '[translation]\ntype_name = "A"\npreamble = []\n\n'
        f'[models.silent]\nprovider = "openai"\nbase_url = "http://127.0.0.1:{silent.getsockname()[1]}/v1"\nmodel = "m"\n',
        encoding="utf-8",
    )
    home = {
        f"XDG_{name}_HOME": str(tmp_path / "home" / name) for name in ("CONFIG", "DATA", "CACHE", "STATE")
    }
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; from workbench.cli import main; sys.exit(main())",
         "translate", str(tmp_path), "--interactive", "--model", "silent"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **home},
    )  # fmt: skip
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def interrupted(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Press Ctrl+C and return the exit status and what came on standard error after that."""
    process.send_signal(signal.SIGINT)
    _out, error = process.communicate(timeout=WAIT_SECONDS)
    return process.returncode, error.decode()


def at_its_prompt(process: subprocess.Popen[bytes]) -> None:
    """Wait until the process asks for a request."""
    assert process.stderr is not None
    assert process.stderr.read(2) == b"> "


def test_at_the_prompt_it_ends_with_130(loop: subprocess.Popen[bytes]) -> None:
    at_its_prompt(loop)
    time.sleep(0.1)  # from the prompt to the reading of the line
    assert interrupted(loop) == (130, "interrupted\n")


def test_while_a_model_is_asked_it_ends_with_130_and_the_run_is_stored_as_stopped(
    loop: subprocess.Popen[bytes], silent: socket.socket, tmp_path: Path
) -> None:
    at_its_prompt(loop)
    assert loop.stdin is not None
    loop.stdin.write(REQUEST.encode() + b"\n")
    loop.stdin.flush()
    connection, _address = silent.accept()
    assert connection.recv(4).startswith(b"POST"[:4])
    assert interrupted(loop) == (130, "interrupted\n")
    connection.close()
    with HistoryStore.open(history_path(tmp_path)) as store:
        [summary] = store.runs()
    assert summary.outcome == "cancelled"
