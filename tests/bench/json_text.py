"""Time of the strict JSON reader beside the standard library, which reads the same text without the care.

Run with `python -m tests.bench.json_text`; prints one line a text with seconds and the ratio.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import Any

from workbench.engine.json_text import parse_json

ROUNDS = 3


def texts() -> dict[str, str]:
    """Return the texts by name: 10 MB of each common shape, and small ones as users type them."""
    rng = random.Random(1)
    row = {
        "id": 7,
        "name": "user é",
        "tags": ["a", "b"],
        "price": 1.5,
        "ok": True,
        "o": {"x": [1, {"y": "z\n"}]},
    }
    return {
        "10 MB of objects": json.dumps([row] * 90_000, ensure_ascii=False),
        "10 MB of numbers": json.dumps([rng.uniform(-1e6, 1e6) for _ in range(520_000)]),
        "10 MB of prose": json.dumps(["Lorem ipsum dolor sit amet, “consectetur” {elit}. " * 20] * 10_000),
        "300 bytes of parameters": json.dumps({"user": {"name": "Ann", "tags": ["x", "y"]}, "items": [row]}),
    }


def best(action: Callable[[], Any]) -> float:
    """Return the best wall time of some rounds, in seconds."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Print the table."""
    print(f"{'text':28} {'MB':>6} {'json.loads':>11} {'parse_json':>11} {'ratio':>6} {'first span':>11}")
    for name, text in texts().items():
        plain = best(lambda text=text: json.loads(text))
        ours = best(lambda text=text: parse_json(text))
        positions = best(lambda text=text: parse_json(text).span("")) - ours
        megabytes = len(text) / 1e6
        print(
            f"{name:28} {megabytes:6.2f} {plain:10.4f}s {ours:10.4f}s {ours / plain:6.2f} {positions:10.4f}s"
        )


if __name__ == "__main__":
    main()
