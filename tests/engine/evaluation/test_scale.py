"""Long runs take no more memory than short ones: measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs the module resource"),
]

ROOT = Path(__file__).resolve().parents[3]
CASES = 50_000
CHECKS = 4
ALLOWED_MB = 25
"""200,000 rows held as objects take several times this."""

PROGRAM = """
import asyncio, collections, json, resource, sys
from pathlib import Path
from tests.engine.guardrails.support import Scripted
from workbench.engine.evaluation import Case, CaseStream, Evaluation, EvaluationRun
from workbench.engine.guardrails import CheckSettings, GuardrailSettings

folder, count = Path(sys.argv[1]), int(sys.argv[2])
names = [f"check{i}" for i in range(int(sys.argv[3]))]
settings = GuardrailSettings(0.5, tuple(CheckSettings(name, "Q?") for name in names))

def peak():
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says there includes the process that started this one
        [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1024
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale

def write(path, cases):
    with path.open("w") as file:
        for i in range(cases):
            labels = {name: (i + k) % 7 == 0 for k, name in enumerate(names)}
            file.write(json.dumps({"id": f"case-{i}", "text": f"the text of case {i} " * 5, "labels": labels}) + "\\n")

async def go(path, results):
    model = Scripted({name: 0.1 + 0.2 * k for k, name in enumerate(names)})
    evaluation = Evaluation(settings)
    stream = CaseStream(path)
    stream.survey()
    model.requests = collections.deque(maxlen=1)
    run = EvaluationRun(stream, settings, model, results=results)
    async for row in run.rows():
        evaluation.add(row)
    report = evaluation.report(suggestions=False)
    return {"rows": sum(c.n for c in report.checks.values()), "asked": run.asked, "mb": peak()}

write(folder / "few.jsonl", 2000)
write(folder / "many.jsonl", count)
say = {}
say["few"] = asyncio.run(go(folder / "few.jsonl", folder / "few-results.jsonl"))
say["many"] = asyncio.run(go(folder / "many.jsonl", folder / "results.jsonl"))
say["again"] = asyncio.run(go(folder / "many.jsonl", folder / "results.jsonl"))
print(json.dumps(say))
"""


@pytest.mark.timeout(600)
def test_two_hundred_thousand_rows_take_little_more_memory_than_eight_thousand(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(CASES), str(CHECKS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    say: dict[str, Any] = json.loads(done.stdout)
    assert say["many"]["rows"] == say["again"]["rows"] == CASES * CHECKS
    assert (say["many"]["asked"], say["again"]["asked"]) == (CASES, 0)
    assert say["many"]["mb"] - say["few"]["mb"] < ALLOWED_MB
    assert say["again"]["mb"] - say["few"]["mb"] < ALLOWED_MB
