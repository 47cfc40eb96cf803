"""What decision models are worth and what our layers cost: figures to read, with nothing asserted.

Run `python -m tests.bench.guardrails [quality] [fit] [http]`; without a word all parts run.

- `quality`: AUROC, accuracy and log loss of the embedded model on texts that it was not fitted on, with no
  examples and with two a side, in both directions, beside sparrow-decider's real server.
- `fit`: the weights of the zero-shot score, fitted anew on the development set, with one check left out at a time.
- `http`: overhead of one guardrail call over a bare httpx post, and 1,000 cases against a plain asyncio loop.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from tests.shared_data import SHARED
from workbench.engine.decisions import (
    DecisionRequest,
    YesNoAnswer,
    YesNoQuestion,
    open_decision_model,
)
from workbench.engine.decisions.embedded import EmbeddedDecisionModel
from workbench.engine.decisions.model_files import built_in_files
from workbench.engine.decisions.zero_shot import descriptions
from workbench.engine.evaluation import Case, EvaluationRun, metrics
from workbench.engine.guardrails import CheckSettings, GuardrailSettings, guardrail_from_settings
from workbench.engine.model_settings import ModelSettings

HELD_OUT = Path(__file__).resolve().parents[1] / "data" / "decisions" / "held_out.jsonl"


@dataclass(frozen=True)
class Labelled:
    """Labelled texts by check."""

    questions: Mapping[str, YesNoQuestion]
    rows: Mapping[str, list[tuple[str, bool]]]

    def flat(self) -> list[tuple[str, str, bool]]:
        return [(name, text, label) for name, rows in self.rows.items() for text, label in rows]


def load(path: Path, questions: Mapping[str, YesNoQuestion]) -> Labelled:
    rows: dict[str, list[tuple[str, bool]]] = {name: [] for name in questions}
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for name, label in case["labels"].items():
            rows[name].append((case["text"], label))
    return Labelled(questions, rows)


def sets() -> tuple[Labelled, Labelled]:
    folder = SHARED / "guardrail-cases"
    if not folder.exists():
        raise SystemExit("the development set is not here: ../shared/data/guardrail-cases")
    checks = json.loads((folder / "checks.json").read_text(encoding="utf-8"))
    questions = {c["name"]: YesNoQuestion(c["question"], c["yes_means"], c["no_means"]) for c in checks}
    return load(folder / "development.jsonl", questions), load(HELD_OUT, questions)


async def scores(model: Any, labelled: Labelled) -> tuple[list[float], list[bool]]:
    p, y = [], []
    for name, text, label in labelled.flat():
        response = await model.decide(DecisionRequest(text, {name: labelled.questions[name]}))
        answer = response.answers[name]
        if isinstance(answer, YesNoAnswer):
            p.append(answer.probability)
            y.append(label)
    return p, y


def show(what: str, p: list[float], y: list[bool]) -> None:
    c = metrics.confusion(p, y, 0.5)
    print(
        f"{what:58} AUROC {metrics.auc(p, y):.3f}  accuracy {c.accuracy:.3f}  "
        f"log loss {metrics.log_loss(p, y):.3f}  n {len(p)}"
    )


async def quality() -> None:
    """Print the figures of the embedded model and of sparrow-decider."""
    development, held_out = sets()
    files = built_in_files()
    plain = EmbeddedDecisionModel(files)
    await plain.warm()
    started = time.perf_counter()
    show("embedded, no examples, on held-out texts", *await scores(plain, held_out))
    print(
        f"{'':58} {(time.perf_counter() - started) / len(held_out.flat()) * 1000:.1f} ms a text, wording cached"
    )
    show("embedded, no examples, on the development set (fitted on)", *await scores(plain, development))
    for chosen, other, name in (
        (development, held_out, "development, on held-out texts"),
        (held_out, development, "held-out, on the development set"),
    ):
        fitted, _ = await plain.fit(chosen.questions, chosen.rows)
        model = EmbeddedDecisionModel(files, fitted=fitted)
        show(f"embedded, two examples a side of {name}", *await scores(model, other))
    await sparrow(held_out)


async def sparrow(held_out: Labelled) -> None:
    from tests.engine.decisions.servers import running

    with running("sparrow-decider", "serve") as url:
        model = open_decision_model(ModelSettings("sparrow", "system-one", url, "sparrow"))
        show("sparrow-decider, yes/no with descriptions, on held-out texts", *await scores(model, held_out))
        await model.aclose()


async def fit() -> None:
    """Print the zero-shot weights for each set of descriptions, and their figures with one check left out."""
    from sklearn.linear_model import LogisticRegression

    development, _ = sets()
    model = EmbeddedDecisionModel(built_in_files())
    rows, labels, checks = [], [], []
    for name, text, label in development.flat():
        texts = [text, *descriptions(development.questions[name])]
        vectors = await model._text_vectors(texts)
        rows.append([float(np.dot(vectors[text], vectors[d])) for d in texts[1:]])
        labels.append(label)
        checks.append(name)
    x, y, groups = np.array(rows), np.array(labels), np.array(checks)
    for what, columns in (("yes, no, question", [0, 1, 2]), ("yes, question", [0, 2]), ("question", [2])):
        for strength in (3, 10, 30, 100):
            p = np.zeros(len(y))
            for group in set(checks):
                inside = groups == group
                part = LogisticRegression(C=strength, max_iter=10_000).fit(x[~inside][:, columns], y[~inside])
                p[inside] = part.predict_proba(x[inside][:, columns])[:, 1]
            whole = LogisticRegression(C=strength, max_iter=10_000).fit(x[:, columns], y)
            show(f"{what}, C = {strength}, one check left out", p.tolist(), y.tolist())
            print(f"{'':58} weights {whole.coef_[0].round(2)} intercept {whole.intercept_[0]:.2f}")


CHECKS = tuple(CheckSettings(f"check{i}", f"Is it number {i}?", None, "yes", "no") for i in range(8))


class Server:
    """A decision server of ours on this computer that answers at once, or after `delay` seconds."""

    def __init__(self, delay: float = 0.0) -> None:
        self.delay = delay
        answers = {c.name: {"type": "noul", "noul": 0.25} for c in CHECKS}
        body = json.dumps(
            {"model": "stub-1", "answers": answers, "usage": {"input_tokens": 1, "output_tokens": 0}}
        )
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._reply = (head + body).encode()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(self._reply)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()


async def serve(delay: float, action: Callable[[str], Any]) -> Any:
    listener = await asyncio.start_server(Server(delay).handle, "127.0.0.1", 0)
    try:
        return await action(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}")
    finally:
        listener.close()


async def http() -> None:
    """Print the overhead of a call and the throughput of a batch."""
    await serve(0.0, overhead)
    await serve(0.02, throughput)


async def overhead(url: str) -> None:
    settings = GuardrailSettings(0.5, CHECKS)
    model: Any = open_decision_model(ModelSettings("d", "system-one", url, "stub"))
    guardrail: Any = guardrail_from_settings(settings, model, "input")
    text = "A message of ordinary length, as people write them to a support desk. " * 4
    body = model.dialect.encode(DecisionRequest(text, guardrail._questions), model._wire)
    ours, bare = [], []
    async with httpx.AsyncClient(trust_env=False) as client:
        for i in range(1100):
            # Alternating, so that a busy moment of the machine falls on both.
            started = time.perf_counter()
            (await client.post(url + "/v1/systemone", json=body)).json()
            middle = time.perf_counter()
            await guardrail.validate(text)
            ended = time.perf_counter()
            if i >= 100:
                bare.append((middle - started) * 1000)
                ours.append((ended - middle) * 1000)
    await model.aclose()
    p50 = statistics.median(ours) - statistics.median(bare)
    print(
        f"one call of 8 checks: bare httpx post {statistics.median(bare):.2f} ms, guardrail "
        f"{statistics.median(ours):.2f} ms, overhead {p50:.2f} ms (p50; target under 1 ms)"
    )


async def throughput(url: str) -> None:
    cases = [Case(f"c{i}", f"message number {i}", {"check0": i % 2 == 0}) for i in range(1000)]
    settings = GuardrailSettings(0.5, CHECKS)
    model: Any = open_decision_model(ModelSettings("d", "system-one", url, "stub"))
    questions = {c.name: YesNoQuestion(c.question, c.yes_means, c.no_means) for c in CHECKS}
    gate = asyncio.Semaphore(8)

    async def plain(client: httpx.AsyncClient, case: Case) -> None:
        async with gate:
            body = model.dialect.encode(DecisionRequest(case.text, questions), model._wire)
            (await client.post(url + "/v1/systemone", json=body)).json()

    loops, runs = [], []
    for _ in range(3):
        started = time.perf_counter()
        async with httpx.AsyncClient(trust_env=False) as client:
            await asyncio.gather(*(plain(client, case) for case in cases))
        loops.append(time.perf_counter() - started)
        started = time.perf_counter()
        rows = await EvaluationRun(cases, settings, model, concurrency=8).collect()
        runs.append(time.perf_counter() - started)
    loop, ours = min(loops), min(runs)
    await model.aclose()
    print(
        f"1,000 cases × 8 checks, 20 ms a call, 8 at a time: plain loop {1000 / loop:.0f} cases/s, "
        f"evaluation {1000 / ours:.0f} cases/s, ratio {loop / ours:.2f} (target 0.95), {len(rows)} rows"
    )


PARTS = {"quality": quality, "fit": fit, "http": http}


def main(words: list[str]) -> None:
    """Run the parts named, or all."""
    for word in words or list(PARTS):
        if word not in PARTS:
            raise SystemExit(f"there is no part {word}; parts are {', '.join(PARTS)}")
        asyncio.run(PARTS[word]())


if __name__ == "__main__":
    main(sys.argv[1:])
