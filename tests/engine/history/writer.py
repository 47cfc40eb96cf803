"""A process that translates without end into one history, to be killed; run as `python -m tests.engine.history.writer`.

Everything is imported once; each round is a fork, so that many can be killed in a second. The launcher answers each
line on its input with the number of a new process, and with `gone` once that one was killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.engine.events import RunEvent
from workbench.engine.history import HistoryStore
from workbench.engine.language_models import Completion, Message, Usage
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.text import TextFile
from workbench.engine.translation.settings import TranslationSettings
from workbench.engine.workflows import translate_project

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
REPLIES = ('{"a": 1}', '{"a": "one"}', "no JSON at all", 'Sure:\n```json\n{"a": 2}\n```', '{"b": [1, 2')


class _Model:
    """Gives one reply after the other, and waits a moment before each as a server would."""

    name = "scripted"
    provider = "scripted"

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw

    async def complete(self, messages: Sequence[Message], **_options: Any) -> Completion:
        await asyncio.sleep(self._draw.random() / 500)
        text = self._draw.choice(REPLIES)
        return Completion(text, "stop", usage=Usage(10, 5), model="scripted-1", elapsed_ms=1.0)


def write(path: Path, report: int, number: int) -> None:
    """Translate without end; each attempt that has ended is reported once the store has it."""
    draw = random.Random(number)
    snapshot = ProjectSnapshot(
        "killed",
        output_schema=TextFile(SCHEMA),
        translation=TranslationSettings(type_name="A", max_repairs=2),
    )
    with HistoryStore.open(path) as store:
        count = 0
        while True:
            count += 1
            request = f"round {number} request {count}"

            def tell(event: RunEvent, request: str = request) -> None:
                if event.kind in ("validated", "failed"):
                    row = [request, event.data["attempt"], event.data["outcome"]]
                    os.write(report, f"{json.dumps(row)}\n".encode())

            asyncio.run(
                translate_project(snapshot, request, model=_Model(draw), history=store, on_event=tell)
            )
            os.write(report, f"{json.dumps([request, 0, 'finished'])}\n".encode())


def _warm_up() -> None:
    """Load what is loaded on first use, or every writer would spend its short life on that."""
    snapshot = ProjectSnapshot("warm", output_schema=TextFile(SCHEMA))
    with HistoryStore.in_memory() as store:
        asyncio.run(translate_project(snapshot, "warm", model=_Model(random.Random(1)), history=store))


def main() -> None:
    """Start a writer for each line of the input: the number of its round."""
    path, report_path = Path(sys.argv[1]), sys.argv[2]
    _warm_up()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            write(path, os.open(report_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), int(line))
        print(child, flush=True)
        os.waitpid(child, 0)
        print("gone", flush=True)


if __name__ == "__main__":
    main()
