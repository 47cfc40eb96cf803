"""How quick the history stays with 100,000 attempts; prints a table. Run as `python -m tests.bench.history`."""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from workbench.engine.events import RunEvent
from workbench.engine.history import AttemptSummary, HistoryStore

ATTEMPTS = 100_000
LIST_LIMIT_MS, SEARCH_LIMIT_MS = 50.0, 200.0
WORDS = ["tent", "helmet", "parcel", "refund", "zipper", "lantern", "invoice", "strap", "kettle", "compass"]


def fill(store: HistoryStore, attempts: int) -> int:
    """Store translations of one to four attempts until there are `attempts`; return the number of runs."""
    draw = random.Random(7)
    made = runs = 0
    while made < attempts:
        count = min(draw.choice((1, 1, 2, 2, 3, 4)), attempts - made)
        request = f"The {draw.choice(WORDS)} of order FC-{runs:06} {' '.join(draw.choices(WORDS, k=24))}"
        parent = (draw.randint(1, runs), 1) if runs and draw.random() < 0.1 else None
        run_id = store.start_run(
            "translate", "Translate to Ticket", {"request": request}, model="bench", parent=parent
        )
        for number in range(1, count + 1):
            at = float(number)
            store.append(
                run_id,
                RunEvent("sent", at, {"attempt": number, "messages": [{"role": "user", "content": request}]}),
            )
            store.append(
                run_id, RunEvent("reply", at, {"attempt": number, "text": f'{{"summary": "{request}"}}'})
            )
            store.append(run_id, RunEvent("validated", at, {"attempt": number, "outcome": "ok"}))
        store.set_attempts(
            run_id,
            [
                AttemptSummary(n, "ok" if n == count else "invalid", 12.0, 400, 80)
                for n in range(1, count + 1)
            ],
        )
        store.finish_run(run_id, "ok" if draw.random() < 0.8 else "invalid", f"{count} attempts")
        made += count
        runs += 1
    return runs


def median_ms(work: Callable[[], object], rounds: int = 7) -> float:
    """Return the middle of several timings in milliseconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def main() -> int:
    """Fill a store, time what the window asks of it, and return 1 where a limit is missed."""
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else ATTEMPTS
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with HistoryStore.open(Path(folder) / "history.sqlite") as store:
            runs = fill(store, attempts)
            filled = time.perf_counter() - began
            size = store.size() / 1e6
            print(f"{attempts} attempts in {runs} runs, {size:.0f} MB, stored in {filled:.1f} s")
            cases: list[tuple[str, float, Callable[[], object]]] = [
                ("list the newest 300 runs", LIST_LIMIT_MS, lambda: store.runs(limit=300)),
                ("list 300 runs from the middle", LIST_LIMIT_MS, lambda: store.runs(limit=300, offset=runs // 2)),
                ("list by kind and outcome", LIST_LIMIT_MS, lambda: store.runs(kind="translate", outcome=("invalid", "budget"), limit=300)),
                ("list a rare outcome", LIST_LIMIT_MS, lambda: store.runs(outcome="refused", limit=300)),
                ("list starred runs", LIST_LIMIT_MS, lambda: store.runs(starred=True, limit=300)),
                ("count runs", LIST_LIMIT_MS, store.count),
                ("search a word of nearly every run", SEARCH_LIMIT_MS, lambda: store.runs(search="tent", limit=300)),
                ("count what that finds", SEARCH_LIMIT_MS, lambda: store.count(search="tent")),
                ("search one order", SEARCH_LIMIT_MS, lambda: store.runs(search="FC-004242", limit=300)),
                ("search three words", SEARCH_LIMIT_MS, lambda: store.runs(search="zip lant comp", limit=300)),
                ("search nothing there", SEARCH_LIMIT_MS, lambda: store.runs(search="submarine", limit=300)),
                ("open one run", LIST_LIMIT_MS, lambda: store.run(runs // 2)),
            ]  # fmt: skip
            for words, limit, work in cases:
                took = median_ms(work)
                missed += took > limit
                print(
                    f"{words:36} {took:8.2f} ms  (limit {limit:.0f} ms){'  MISSED' if took > limit else ''}"
                )
            began = time.perf_counter()
            problems = store.quick_check()
            print(f"{'quick check':36} {(time.perf_counter() - began) * 1000:8.0f} ms  {problems or 'sound'}")
            began = time.perf_counter()
            gone = store.prune(max_runs=runs // 2)
            print(f"{f'prune {gone} runs and shrink':36} {(time.perf_counter() - began) * 1000:8.0f} ms")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
