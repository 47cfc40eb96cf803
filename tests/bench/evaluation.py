"""A million cases through `EvaluationRun`: time, memory and the cost of going on; figures to read, nothing asserted.

Run `python -m tests.bench.evaluation [CASES] [CHECKS]` (1,000,000 cases and 2 checks unless told otherwise). The model
answers at once, so that what is measured is ours: reading cases, rows, the results file, and the report. With
`distributed` installed the same cases, a twentieth of them, also go through a local cluster of two workers.
"""

from __future__ import annotations

import asyncio
import functools
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from workbench.engine.decisions import DecisionModel, DecisionRequest, DecisionResponse, YesNoAnswer
from workbench.engine.evaluation import CaseStream, ClusterRun, Evaluation, EvaluationRun, html_report
from workbench.engine.guardrails import CheckSettings, GuardrailSettings
from workbench.engine.projects import Project


class Instant(DecisionModel):
    """Answers at once, with a number that depends on the text alone."""

    name = "instant"

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Return the answers."""
        number = hash(str(request.input)) % 1_000_003 / 1_000_003
        return DecisionResponse({name: YesNoAnswer(number) for name in request.questions}, "instant-1")


def resident() -> float:
    """Return the megabytes that this process holds now; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * 4096 / 2**20


def write_cases(path: Path, count: int, names: list[str]) -> None:
    """Write `count` cases with a label for every check."""
    rng = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for i in range(count):
            labels = {name: rng.random() < 0.1 for name in names}
            text = f"case {i}: the parcel of order {rng.randrange(10**8)} has not arrived yet"
            file.write(json.dumps({"id": f"case-{i}", "text": text, "labels": labels}) + "\n")


async def gathered(run: EvaluationRun, settings: GuardrailSettings) -> Evaluation:
    """Take in all rows of a run."""
    evaluation = Evaluation(settings)
    async for row in run.rows():
        evaluation.add(row)
    return evaluation


def timed(name: str, count: int, action: Any) -> Any:
    """Run `action` and print its time a case and the memory that is held after it."""
    before, started = resident(), time.perf_counter()
    result = action()
    took = time.perf_counter() - started
    print(
        f"{name:<44} {took:8.1f} s  {took / count * 1e6:7.1f} µs a case  {resident():7.0f} MB"
        f" ({resident() - before:+.0f})",
        flush=True,
    )
    return result


def main(words: list[str]) -> None:
    """Print the figures."""
    count = int(words[0]) if words else 1_000_000
    names = [f"check{i}" for i in range(int(words[1]) if len(words) > 1 else 2)]
    settings = GuardrailSettings(0.5, tuple(CheckSettings(name, "Is it so?") for name in names))
    print(f"{count:,} cases × {len(names)} checks, a model that answers at once")
    with tempfile.TemporaryDirectory() as folder:
        path, results = Path(folder) / "cases.jsonl", Path(folder) / "results.jsonl"
        write_cases(path, count, names)
        (Path(folder) / "workbench.toml").write_text('format = 1\nname = "Many cases"\n')
        timed("open a project that holds these cases", count, lambda: Project.load(folder))
        stream = CaseStream(path)
        timed("survey of the cases", count, stream.survey)

        def ask() -> Evaluation:
            return asyncio.run(
                gathered(EvaluationRun(stream, settings, Instant(), results=results), settings)
            )

        evaluation = timed("run, rows written to a results file", count, ask)
        timed("the same call again, nothing asked", count, ask)
        report = timed("report without suggestions", count, lambda: evaluation.report(suggestions=False))
        timed("report with suggestions", count, evaluation.report)
        page = timed("HTML report", count, lambda: html_report(report, evaluation.rows))
        print(f"cases {path.stat().st_size / 2**20:.0f} MB, results {results.stat().st_size / 2**20:.0f} MB,")
        print(f"HTML {len(page) / 1024:.0f} kB")
        cluster(path, settings, max(1, count // 20), names)


def cluster(path: Path, settings: GuardrailSettings, count: int, names: list[str]) -> None:
    """Run some cases on two workers of this machine, where the extra is installed."""
    try:
        import distributed
    except ImportError:
        print("no cluster: distributed is not installed")
        return
    write_cases(path, count, names)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as local:  # fmt: skip
        opener = functools.partial(Instant)
        run = ClusterRun(CaseStream(path), settings, opener, scheduler=local.scheduler_address)
        timed(
            f"{count:,} cases on a cluster of two threads",
            count,
            lambda: asyncio.run(gathered(run, settings)),
        )


if __name__ == "__main__":
    main(sys.argv[1:])
