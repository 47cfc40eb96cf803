"""Translates requests that no one here wrote with the local chat model, and counts how each of them ended.

Run with `python -m tests.bench.translation_requests`. The requests are the public ones beside the project, the
schemas are ours (`tests/bench/data/requests`). Each request runs twice with one repair allowed: `constrained` (the
model can only write what the schema allows) and `free` (the type stands in the prompt, and that is all). What is
counted is whether a value was valid, which is not whether it is right; two columns say a little of the latter: how
many of the free texts in the valid values stand in their request, and, where it can be worked out, how many values
are right.

`--limit N` takes the first N requests of each file, `--only NAME` (repeatable) one file, `--mode` one way,
`--rows FILE` writes one JSON line for each request. The whole takes an hour on two processors that do nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.shared_data import SHARED
from workbench.engine.language_models import LanguageModel, language_model_available, open_language_model
from workbench.engine.model_settings import ModelSettings
from workbench.engine.schemas import JsonSchema
from workbench.engine.translation import Failure, Success, read_requests, translator_from_settings
from workbench.engine.translation.settings import TranslationSettings
from workbench.engine.workers import close_shared_workers

SCHEMAS = Path(__file__).parent / "data" / "requests"
REQUESTS = SHARED / "typechat-requests"
MODES = {"constrained": "schema", "free": "prompt"}
MAX_TOKENS = 320
RIGHT_MOODS = {
    "hello, world": "neutral",
    "TypeChat is awesome!": "positive",
    "I'm having a good day": "positive",
}
RIGHT_SUMS = {"1 + 2": 3.0, "1 + 2 * 3": 7.0, "2 * 3 + 4 * 5": 26.0, "2 3 * 4 5 * +": 26.0}


@dataclass
class Tally:
    """What came of the requests of one file in one mode."""

    first: int = 0
    repaired: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    crashed: int = 0
    tokens: int = 0
    seconds: float = 0.0
    grounded: int = 0
    texts: int = 0
    right: int = 0
    judged: int = 0

    def __add__(self, other: Tally) -> Tally:
        mine, theirs = vars(self), vars(other)
        return Tally(**{name: mine[name] + theirs[name] for name in mine})

    @property
    def requests(self) -> int:
        """How many requests ran."""
        return self.first + self.repaired + self.failed.total() + self.crashed

    def cells(self) -> list[str]:
        """Return the tally as the cells of one line."""
        failed = ", ".join(f"{count} {outcome}" for outcome, count in self.failed.most_common()) or "0"
        return [
            str(self.requests),
            str(self.first),
            str(self.repaired),
            failed,
            str(self.crashed),
            f"{self.tokens / self.seconds:.0f}" if self.seconds else "?",
            f"{self.grounded} of {self.texts}" if self.texts else "-",
            f"{self.right} of {self.judged}" if self.judged else "-",
        ]


HEADS = ["requests", "first", "repaired", "failed", "crashed", "tokens/s", "texts found", "right"]


def requests_of(name: str) -> list[str]:
    """Return the requests of a file; comments, and lines that are commands of the demo, are none."""
    text = (REQUESTS / f"{name}.txt").read_text(encoding="utf-8")
    return [request for request in read_requests(text) if not request.startswith("@")]


def texts_of(value: Any, schema: Any) -> Iterator[str]:
    """Yield the texts of a value that are not a choice out of a list."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        for name, inner in value.items():
            rule = properties.get(name, {})
            if "enum" not in rule and "const" not in rule:
                yield from texts_of(inner, rule)
    elif isinstance(value, list):
        rule = schema.get("items", {}) if isinstance(schema, Mapping) else {}
        for inner in value:
            yield from texts_of(inner, rule)


def stands_in(text: str, request: str) -> bool:
    """Tell whether every word of a text is a word of the request."""
    words = re.findall(r"\w+", text.lower())
    return bool(words) and set(words) <= set(re.findall(r"\w+", request.lower()))


def calculated(value: Any) -> float | None:
    """Return what the steps of a calculation give, `None` when they cannot be followed."""
    actions: dict[str, Callable[[float, float], float]] = {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b,
    }
    results: list[float] = []
    try:
        for step in value["steps"]:
            sides = [
                s if isinstance(s, int | float) else results[s["step"]] for s in (step["left"], step["right"])
            ]
            results.append(actions[step["operation"]](*sides))
    except (KeyError, IndexError, ZeroDivisionError):
        return None
    return results[-1]


def is_right(name: str, request: str, value: Any) -> bool | None:
    """Tell whether a valid value is right, `None` where nobody worked it out."""
    if name == "sentiment" and request in RIGHT_MOODS:
        return bool(value["sentiment"] == RIGHT_MOODS[request])
    if name == "math" and request in RIGHT_SUMS:
        return calculated(value) == RIGHT_SUMS[request]
    return None


async def run_one(
    model: LanguageModel, name: str, schema: JsonSchema, request: str, mode: str
) -> Success[Any] | Failure:
    """Translate one request."""
    settings = TranslationSettings(
        type_name=name[0].upper() + name[1:],
        mode=MODES[mode],  # type: ignore[arg-type]
        max_repairs=1,
        schema_style="typescript",
        budget={"max_tokens": MAX_TOKENS},
    )
    return await translator_from_settings(settings, model, schema).translate(request)


def count(tally: Tally, name: str, schema: JsonSchema, request: str, result: Success[Any] | Failure) -> None:
    """Add one result to a tally."""
    for attempt in result.attempts:
        if attempt.usage is not None and attempt.usage.output_tokens and attempt.elapsed_ms:
            tally.tokens += attempt.usage.output_tokens
            tally.seconds += attempt.elapsed_ms / 1000
    if isinstance(result, Failure):
        tally.failed[result.code] += 1
        return
    tally.first += len(result.attempts) == 1
    tally.repaired += len(result.attempts) > 1
    texts = [text for text in texts_of(result.data, schema.value) if text.strip()]
    tally.texts += len(texts)
    tally.grounded += sum(stands_in(text, request) for text in texts)
    verdict = is_right(name, request, result.data)
    tally.judged += verdict is not None
    tally.right += bool(verdict)


def run_file(
    model: LanguageModel, name: str, mode: str, limit: int | None, note: Callable[[dict[str, Any]], None]
) -> Tally:
    """Translate the requests of one file in one mode."""
    schema = JsonSchema.parse((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    tally = Tally()
    for request in requests_of(name)[:limit]:
        row: dict[str, Any] = {"file": name, "mode": mode, "request": request}
        try:
            result = asyncio.run(run_one(model, name, schema, request, mode))
            count(tally, name, schema, request, result)
            good = isinstance(result, Success)
            row |= {"outcome": "ok" if good else result.code, "attempts": len(result.attempts)}  # type: ignore[union-attr]
            row["value"] = result.data if isinstance(result, Success) else None
            row["elapsed_ms"] = [attempt.elapsed_ms for attempt in result.attempts]
            row["replies"] = [attempt.reply for attempt in result.attempts]
        except Exception as error:  # the very thing that is counted here
            tally.crashed += 1
            row |= {"outcome": "crashed", "error": f"{type(error).__name__}: {error}"}
        note(row)
    return tally


def print_table(tallies: Mapping[tuple[str, str], Tally]) -> None:
    """Print one line for each file and mode, and a sum for each mode."""
    rows = [["file", "mode", *HEADS]]
    rows += [[name, mode, *tally.cells()] for (name, mode), tally in tallies.items()]
    for mode in dict.fromkeys(mode for _, mode in tallies):
        total = sum((t for (_, m), t in tallies.items() if m == mode), Tally())
        rows.append(["all", mode, *total.cells()])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def main() -> None:
    """Run what the arguments choose and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, help="only the first N requests of each file")
    parser.add_argument("--only", action="append", help="only this file (calendar, coffeeShop, ...)")
    parser.add_argument("--mode", choices=sorted(MODES), action="append")
    # Threads that wait for each other by turning cost more than they bring where others use the processor too.
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=Path, help="write one JSON line for each request")
    arguments = parser.parse_args()
    settings = ModelSettings("chat", "local", options={"timeout": 120, "n_threads": arguments.threads})
    reason = language_model_available(settings)
    if reason is not None or not REQUESTS.is_dir():
        raise SystemExit(reason or f"There are no requests at {REQUESTS}.")
    rows = arguments.rows.open("w", encoding="utf-8") if arguments.rows else None

    def note(row: dict[str, Any]) -> None:
        print(f"{row['file']:12} {row['mode']:12} {row['outcome']:12} {row['request'][:60]}", flush=True)
        if rows is not None:
            rows.write(json.dumps(row, ensure_ascii=False) + "\n")
            rows.flush()

    model = open_language_model(settings)
    names = [path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json")]
    names.sort(
        key=lambda name: (len(requests_of(name)), name)
    )  # a run that is stopped has told of most files
    began = time.monotonic()
    tallies: dict[tuple[str, str], Tally] = {}
    try:
        for name in names:
            for mode in arguments.mode or list(MODES):
                if not arguments.only or name in arguments.only:
                    tallies[name, mode] = run_file(model, name, mode, arguments.limit, note)
    except KeyboardInterrupt:
        print("\nStopped; the file that was being read is left out.")
    finally:
        close_shared_workers()
        if rows is not None:
            rows.close()
    print()
    print_table(tallies)
    print(f"{time.monotonic() - began:.0f} s, at most {MAX_TOKENS} tokens a reply")


if __name__ == "__main__":
    main()
