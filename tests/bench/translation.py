"""Extraction and validation of replies: time, growth with length, and right answers beside two peers.

Run with `python -m tests.bench.translation`. The first table is our own extraction on long replies and its growth
from half the length; the second compares the answers on replies as models write them with `json_repair` and with
`pydantic_core` reading the slice from the first to the last brace. A peer that is not installed is left out.
"""

from __future__ import annotations

import importlib
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.engine.schemas import JsonSchema
from workbench.engine.translation import extract_json

ROUNDS = 5
FENCE = "```"
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "log": {"type": "string"}},
    "additionalProperties": False,
    "minProperties": 1,
}
NOTHING: Any = object()
"""Stands for an answer that refuses the reply, which is the right one where no value can be trusted."""


@dataclass(frozen=True)
class Reply:
    """A reply and the one right answer to it."""

    name: str
    text: str
    right: Any


REPLIES = (
    Reply("plain", '{"a": 1}', {"a": 1}),
    Reply("prose around", 'Sure!\n{"a": 1}\nHope it helps', {"a": 1}),
    Reply("fence", f'{FENCE}json\n{{"a": 1}}\n{FENCE}', {"a": 1}),
    Reply("braces in prose", 'Using {x, y}, answer {"a": 1} and {so on}', {"a": 1}),
    Reply("brace in a string", 'Sure: {"log": "char \'}\' at 42"}', {"log": "char '}' at 42"}),
    Reply("fence in a string", f'{{"log": "run {FENCE}x{FENCE}"}}', {"log": f"run {FENCE}x{FENCE}"}),
    Reply("reasoning with a draft", '<think>{"a": 0}</think>{"a": 1}', {"a": 1}),
    Reply("tags in a string", '{"log": "<think>x</think>"}', {"log": "<think>x</think>"}),
    Reply("citations", 'See [1] and [2]. {"a": 1}', {"a": 1}),
    Reply("schema echoed first", f'{json.dumps(SCHEMA)}\n{{"a": 1}}', {"a": 1}),
    Reply("big integer", '{"a": 12345678901234567890}', {"a": 12345678901234567890}),
    Reply("NaN", '{"a": NaN}', NOTHING),
    Reply("overflow", '{"a": 1e999}', NOTHING),
    Reply("cut off", '{"a": 1, "log": "half a sen', NOTHING),
    Reply("cut off inside", '{"log": "x", "a": {"a": 1}', NOTHING),
    Reply("array of one", '[{"a": 1}]', NOTHING),
    Reply("wrong type", '{"a": "1"}', NOTHING),
    Reply("prose only", "I cannot help with that.", NOTHING),
)

Reader = Callable[[str], Any]


def ours() -> Reader:
    """Return our reader: extraction with validation."""
    schema = JsonSchema.from_value(SCHEMA)

    def read(text: str) -> Any:
        found = extract_json(text, schema=schema)
        return found.value if found.ok else NOTHING

    return read


def peers() -> dict[str, Reader]:
    """Return the peers that are installed. Each gets our validation behind its parsing."""
    schema = JsonSchema.from_value(SCHEMA)

    def checked(value: Any) -> Any:
        return value if not schema.check(value) else NOTHING

    found: dict[str, Reader] = {}
    try:
        repair = importlib.import_module("json_repair")
        found["json_repair"] = lambda text: checked(repair.loads(text))
    except ImportError:
        print("json_repair is not installed and is left out")
    try:
        core = importlib.import_module("pydantic_core")
    except ImportError:
        print("pydantic_core is not installed and is left out")
        return found

    def sliced(text: str) -> Any:
        try:
            return checked(core.from_json(text[text.index("{") : text.rindex("}") + 1]))
        except ValueError:
            return NOTHING

    found["pydantic"] = sliced
    return found


def seconds(action: Callable[[], Any]) -> float:
    """Return the median processor time of some rounds."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return statistics.median(times)


LONG: dict[str, Callable[[int], str]] = {
    "prose, then JSON": lambda size: "lorem ipsum dolor sit, " * (size // 23) + '{"a": 1}',
    "brackets only": lambda size: "[" * size,
    "braces, then JSON": lambda size: "{" * size + '"a": 1}',
    "one large object in prose": lambda size: 'Here: {"log": "' + "word " * (size // 5) + '"} ok',
    "JSON alone": lambda size: '{"log": "' + "word " * (size // 5) + '"}',
}


def main() -> None:
    """Print both tables."""
    read = ours()
    read('{"a": 1}')
    print(f"{'reply of 5 MB':28} {'seconds':>8} {'growth from 2.5 MB':>19}")
    for name, make in LONG.items():
        half, whole = make(2_500_000), make(5_000_000)
        before, after = seconds(lambda text=half: read(text)), seconds(lambda text=whole: read(text))
        print(f"{name:28} {after:8.3f} {after / max(before, 1e-9):18.1f}x")
    print()
    readers = {"ours": read, **peers()}
    print(f"{'reply':28} " + " ".join(f"{name:>16}" for name in readers))
    right = dict.fromkeys(readers, 0)
    for reply in REPLIES:
        cells = []
        for name, reader in readers.items():
            answer = _answer(reader, reply.text)
            good = answer == reply.right and type(answer) is type(reply.right)
            right[name] += good
            micros = (
                seconds(lambda reader=reader, text=reply.text: [_answer(reader, text) for _ in range(20)])
                / 20
            )
            cells.append(f"{'right' if good else 'WRONG':>6} {micros * 1e6:6.0f} us")
        print(f"{reply.name:28} " + " ".join(f"{cell:>16}" for cell in cells))
    print(f"{'right answers':28} " + " ".join(f"{right[name]:>10} of {len(REPLIES)}" for name in readers))


def _answer(reader: Reader, text: str) -> Any:
    try:
        return reader(text)
    except Exception:
        return NOTHING


if __name__ == "__main__":
    main()
