"""What decision models are worth and what our layers cost: figures to read, with nothing asserted.

Run `python -m tests.bench.guardrails [quality] [fit] [http]`; without a word all parts run.

- `quality`: AUROC, accuracy and log loss of the embedded model on texts that it was not fitted on, with no
  examples and with two a side, in both directions, beside sparrow-decider's real server.
- `fit`: the weights of the zero-shot score, fitted anew on the development set and the samples' cases, and what
  they are worth on checks that took no part: with one check left out at a time, and in both directions.
- `http`: overhead of one guardrail call over a bare httpx post, and 1,000 cases against a plain asyncio loop.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.bench import zero_shot
from workbench.engine.decisions import (
    DecisionRequest,
    YesNoAnswer,
    YesNoQuestion,
    open_decision_model,
)
from workbench.engine.decisions.embedded import EmbeddedDecisionModel
from workbench.engine.decisions.model_files import built_in_files
from workbench.engine.decisions.zero_shot import sigmoid
from workbench.engine.evaluation import Case, EvaluationRun, metrics
from workbench.engine.guardrails import CheckSettings, GuardrailSettings, guardrail_from_settings
from workbench.engine.model_settings import ModelSettings


@dataclass(frozen=True)
class Labelled:
    """Labelled texts by check."""

    questions: Mapping[str, YesNoQuestion]
    rows: Mapping[str, list[tuple[str, bool]]]
    listed: Sequence[zero_shot.Row]

    @classmethod
    def of(cls, listed: Sequence[zero_shot.Row]) -> Labelled:
        """Gather rows by check."""
        rows: dict[str, list[tuple[str, bool]]] = {row.check: [] for row in listed}
        for row in listed:
            rows[row.check].append((row.text, row.label))
        return cls({row.check: row.question for row in listed}, rows, listed)


async def scores(model: Any, labelled: Labelled) -> list[float]:
    found = []
    for row in labelled.listed:
        response = await model.decide(DecisionRequest(row.text, {row.check: row.question}))
        answer = response.answers[row.check]
        if not isinstance(answer, YesNoAnswer):
            raise SystemExit(f"no probability for {row.check}: {answer}")
        found.append(answer.probability)
    return found


def show(what: str, p: Sequence[float], rows: Sequence[zero_shot.Row]) -> None:
    y = [row.label for row in rows]
    c = metrics.confusion(p, y, 0.5)
    low, high = zero_shot.interval(p, rows)
    print(
        f"{what:64} AUROC {metrics.auc(p, y):.3f} ({low:.2f} to {high:.2f})  accuracy {c.accuracy:.3f}  "
        f"log loss {metrics.log_loss(p, y):.3f}  n {len(p)}"
    )


async def quality() -> None:
    """Print the figures of the embedded model and of sparrow-decider."""
    development, held_out = (
        Labelled.of(zero_shot.development_rows()),
        Labelled.of(zero_shot.held_out_rows()),
    )
    files = built_in_files()
    plain = EmbeddedDecisionModel(files)
    await plain.decide(DecisionRequest("The wording is embedded once.", held_out.questions))
    started = time.perf_counter()
    p = await scores(plain, held_out)
    each = (time.perf_counter() - started) / len(held_out.listed) * 1000
    show("embedded, no examples, on held-out texts", p, held_out.listed)
    print(f"{'':64} {each:.1f} ms a text, wording cached")
    show(
        "embedded, no examples, on the development set (fitted on)",
        await scores(plain, development),
        development.listed,
    )
    for chosen, other, name in (
        (development, held_out, "development, on held-out texts"),
        (held_out, development, "held-out, on the development set"),
    ):
        fitted, _ = await plain.fit(chosen.questions, chosen.rows)
        model = EmbeddedDecisionModel(files, fitted=fitted)
        show(f"embedded, two examples a side of {name}", await scores(model, other), other.listed)
    await sparrow(held_out)


async def sparrow(held_out: Labelled) -> None:
    from tests.engine.decisions.servers import running

    with running("sparrow-decider", "serve") as url:
        model = open_decision_model(ModelSettings("sparrow", "system-one", url, "sparrow"))
        p = await scores(model, held_out)
        show("sparrow-decider, yes/no with descriptions, on held-out texts", p, held_out.listed)
        await model.aclose()


async def fit() -> None:
    """Print the zero-shot weights for each set of descriptions, and figures on checks and texts not fitted on."""
    model = EmbeddedDecisionModel(built_in_files())
    development, samples = zero_shot.development_rows(), zero_shot.sample_rows()
    for yes, no in itertools.product((True, False), repeat=2):
        rows = zero_shot.reworded([*development, *samples], yes=yes, no=no)
        windowed = await zero_shot.features(model, rows)
        p = [sigmoid(logit) for logit in zero_shot.left_out(windowed, rows)]
        what = f"{'with' if yes else 'without'} yes_means, {'with' if no else 'without'} no_means"
        weights, intercept = zero_shot.fit(windowed, rows)
        print(f"{what}: yes, parts, no {weights.round(2)} intercept {intercept:.2f}")
        count = len(development)
        show("  one check left out at a time, development", p[:count], rows[:count])
        show("  one check left out at a time, samples' cases", p[count:], rows[count:])
    held_out = zero_shot.held_out_rows()
    for what, chosen, other in (
        ("fitted on development and samples, on held-out texts", [*development, *samples], held_out),
        ("fitted on development only, on held-out texts", development, held_out),
        ("fitted on held-out texts and samples, on development", [*held_out, *samples], development),
        ("fitted on held-out texts only, on development", held_out, development),
    ):
        fitted = zero_shot.fit(await zero_shot.features(model, chosen), chosen)
        found = zero_shot.logits(await zero_shot.features(model, other), fitted)
        show(what, [sigmoid(logit) for logit in found], other)


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
