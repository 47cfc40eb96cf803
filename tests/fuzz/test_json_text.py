"""Random and damaged texts: the strict reader never raises, never hangs, and agrees with the standard library."""

from __future__ import annotations

import json
import math
import random
import time
from typing import Any

from workbench.engine.json_text import JsonDocument, parse_json, parse_json_bytes

SECONDS = 2.0
PIECES = [
    "{", "}", "[", "]", ":", ",", '"', "'", "\\", "\\u", "\\ud83d", "\\ude00", "\\n", "true", "false", "null", "None",
    "NaN", "-Infinity", "1e999", "-", "+", ".", "0", "12", "1e5", " ", "\n", "\r", "\t", "\x00", "\u2028", "\ud800",
    "é", "😀", "\ufeff", "//", "/*", "*/", "#", "“", "a", '"a"', '"a":', "[[[[", "]]]]", '{"a":1}',
]  # fmt: skip


def damaged(rng: random.Random) -> str:
    """Return a random text, or a JSON text with a few changes."""
    if rng.random() < 0.5:
        return "".join(rng.choice(PIECES) for _ in range(rng.randrange(40)))
    text = json.dumps(some_value(rng, 0), ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1]))
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice([*PIECES, ""]) + text[at + rng.randrange(3) :]
    return text


def some_value(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(8 if depth < 4 else 6)
    if kind == 6:
        return [some_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 7:
        return {rng.choice(["a", "b", "é", ""]): some_value(rng, depth + 1) for _ in range(rng.randrange(4))}
    return [None, True, rng.randrange(-(10**20), 10**20), rng.uniform(-1e9, 1e9), 'te"x\\t', "é😀\u2028"][
        kind
    ]


def expected_ok(text: str) -> bool:
    """Tell by the standard library, made strict, whether the text is JSON."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    def finite(digits: str) -> float:
        if math.isinf(float(digits)):
            raise ValueError(digits)
        return float(digits)

    try:
        value = json.loads(text.removeprefix("\ufeff"), parse_constant=refuse, parse_float=finite)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        text.encode("utf-8")
    except ValueError:
        return False
    return True


def check_places(document: JsonDocument) -> None:
    for item in document.diagnostics:
        assert item.start is not None
        assert item.end is not None
        assert 0 <= item.start <= item.end <= len(document.text)
        assert item.message
    for pointer in document.pointers():
        span = document.span(pointer)
        assert span is not None
        assert 0 <= span[0] < span[1] <= len(document.text)
        if document.ok and not document.diagnostics:
            assert parse_json(document.text[slice(*span)]).ok


def test_random_texts_are_judged_as_by_the_standard_library() -> None:
    rng = random.Random(20260331)
    until, rounds, good = time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < until or rounds < 200:
        text = damaged(rng)
        document = parse_json(text)
        assert document.ok == expected_ok(text), ascii(text)
        if document.ok:
            good += 1
            assert document.value == json.loads(text.removeprefix("\ufeff"))
        else:
            assert any(item.severity == "error" for item in document.diagnostics)
        check_places(document)
        rounds += 1
    assert good > 10


def test_random_bytes_never_raise() -> None:
    rng = random.Random(7)
    until, rounds = time.monotonic() + SECONDS / 2, 0
    while time.monotonic() < until or rounds < 100:
        data = bytearray(damaged(rng).encode("utf-8", "surrogatepass"))
        for _ in range(rng.randrange(3)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        document = parse_json_bytes(bytes(data))
        assert document.ok == (not any(item.severity == "error" for item in document.diagnostics))
        rounds += 1
