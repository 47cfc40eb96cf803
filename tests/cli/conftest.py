"""Runs the command line in this process, with settings and data folders of the test's own."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main
from workbench.engine.projects import copy_sample


@dataclass(frozen=True)
class Outcome:
    """What one call of the command line gave."""

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Return a function that calls the command line with its arguments, and `stdin` as its input."""
    for variable in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{variable}_HOME", str(tmp_path / "home" / variable.lower()))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)

    def call(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capfdbinary.readouterr()
        status = main([str(argument) for argument in arguments])
        captured = capfdbinary.readouterr()
        return Outcome(status, captured.out, captured.err.decode("utf-8"))

    return call


@pytest.fixture
def triage(tmp_path: Path) -> Path:
    """A copy of the sample Support triage."""
    return _copy("support-triage", tmp_path)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A copy of the sample Answer from documents."""
    return _copy("answer-from-documents", tmp_path)


@pytest.fixture
def booking(tmp_path: Path) -> Path:
    """A copy of the sample Table booking."""
    return _copy("table-booking", tmp_path)


def _copy(name: str, tmp_path: Path) -> Path:
    folder = tmp_path / name
    copy_sample(name, folder)
    return folder
