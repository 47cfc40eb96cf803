"""What the tests of the panes stand on: a session on a copy of a sample, with real parts behind it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from workbench.engine.language_models import Completion, Message, Usage
from workbench.engine.resources import resource
from workbench.engine.secrets import Secrets
from workbench.gui.shell.session import Session
from workbench.gui.shell.settings import AppSettings
from workbench.gui.shell.theme import apply_theme

REQUEST = "My tent pole broke on the first night, order FH-20418. I need a new one by 2027-05-07."
BROKEN = {
    "category": "damage",
    "urgency": "urgent",
    "summary": "A tent pole broke on the first night",
    "order_number": "20418",
}
MENDED = {
    "category": "defect",
    "urgency": "high",
    "summary": "A tent pole broke on the first night",
    "order_number": "FH-20418",
    "wanted_by": "2027-05-07",
}
SCHEMA = {
    "type": "object",
    "required": ["category", "urgency", "summary", "order_number"],
    "additionalProperties": False,
    "properties": {
        "category": {"enum": ["delivery", "defect", "question"]},
        "urgency": {"enum": ["low", "normal", "high"]},
        "summary": {"type": "string"},
        "order_number": {"type": "string", "pattern": "^FH-[0-9]{5}$"},
        "wanted_by": {"type": "string", "format": "date"},
    },
}
FIRST_REPLY = (
    f"Here is the ticket:\n\n```json\n{json.dumps(BROKEN, indent=2)}\n```\n\nShall I draft an answer?"
)
SECOND_REPLY = json.dumps(MENDED, indent=2)
WAIT_MS = 30_000


def make_project(folder: Path) -> Path:
    """Copy the sample *Support triage* into `folder`, with a schema and recordings that these tests know."""
    project = folder / "project"
    shutil.copytree(
        resource("samples", "support-triage"), project, ignore=shutil.ignore_patterns(".workbench")
    )
    (project / "output.schema.json").write_text(json.dumps(SCHEMA, indent=2), encoding="utf-8")
    recordings = project / "recordings"
    shutil.rmtree(recordings, ignore_errors=True)
    recordings.mkdir()
    rows = [
        {"kind": "chat", "request": REQUEST, "reply": FIRST_REPLY, "elapsed_ms": 1840, "model": "written by hand",
         "usage": {"input_tokens": 403, "output_tokens": 88}},
        {"kind": "chat", "request": REQUEST, "reply": SECOND_REPLY, "elapsed_ms": 1210, "model": "written by hand",
         "usage": {"input_tokens": 618, "output_tokens": 79}},
    ]  # fmt: skip
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (recordings / "chat.jsonl").write_text(lines, encoding="utf-8")
    return project


def open_sample(qtbot: QtBot, session: Session, folder: Path) -> None:
    """Open a copy of the sample, made in `folder`, with its recordings as chat model, and wait for its prompt."""
    session.open(make_project(folder))
    session.set_chat_model("recorded")
    qtbot.waitUntil(lambda: session.rendering() is not None, timeout=WAIT_MS)


@pytest.fixture
def sample_session(qtbot: QtBot, tmp_path: Path) -> Iterator[Session]:
    """A session on a copy of the sample, whose prompt is filled.

    A file whose tests all stand on it makes it theirs with `session = sample_session`.
    """
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, "light")
    settings = AppSettings(tmp_path / "config")
    settings.set("checks.live", False)
    session = Session(settings, secrets=Secrets(os.environ))
    open_sample(qtbot, session, tmp_path)
    yield session
    session.close()
    session.deleteLater()


def saved_toml(session: Session) -> str:
    """Save the project and return its settings file."""
    session.save()
    root = session.snapshot().root
    assert root is not None
    return (root / "workbench.toml").read_text(encoding="utf-8")


def run_checks(qtbot: QtBot, session: Session, start: Any) -> None:
    """Call `start` and wait until the check run that it begins is over."""
    with qtbot.waitSignals([session.run_started, session.results_changed], timeout=WAIT_MS):
        start()


class ScriptedModel:
    """A language model that gives the replies it was made with, piece by piece; `hold` keeps the last piece back."""

    name = "scripted"
    provider = "scripted"

    def __init__(self, replies: Sequence[str], *, hold: bool = False) -> None:
        self.replies = list(replies)
        self.asked: list[list[Message]] = []
        self.hold = hold
        self.cancelled = False

    async def complete(self, messages: Sequence[Message], **options: Any) -> Completion:
        """Stream the next reply and return it."""
        self.asked.append(list(messages))
        self._loop, self._gate = asyncio.get_running_loop(), asyncio.Event()
        if not self.hold:
            self._gate.set()
        text = self.replies[min(len(self.asked), len(self.replies)) - 1]
        on_delta = options.get("on_delta")
        middle = len(text) // 2
        try:
            for piece in (text[:middle], text[middle:]):
                if on_delta is not None:
                    on_delta(piece)
                await asyncio.sleep(0)
                await self._gate.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return Completion(text, "stop", usage=Usage(10, 5), model="scripted-1", elapsed_ms=3.0)

    def release(self) -> None:
        """Let a held reply go on; may be called from any thread."""
        self.hold = False
        self._loop.call_soon_threadsafe(self._gate.set)

    async def describe(self) -> Any:
        """Say what this is."""
        from workbench.engine.language_models import ModelDescription

        return ModelDescription("scripted", "scripted", "this test", "Says what it was told to.", local=True)

    async def aclose(self) -> None:
        """Nothing to release."""


def use_model(monkeypatch: Any, model: ScriptedModel) -> None:
    """Let every translation ask `model`."""
    package = "workbench.engine.language_models"
    monkeypatch.setattr(f"{package}.open_language_model", lambda *_args, **_options: model)
    monkeypatch.setattr(f"{package}.language_model_available", lambda *_args: None)
