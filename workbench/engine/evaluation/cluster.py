"""Runs a batch evaluation on a dask.distributed cluster, with the same rows as a run on this machine.

Needs the extra `cluster`. The workers need this package, the project's folder under the same path, and their
own secrets: values of secrets are never sent to them. The results file stays with the caller.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.engine.decisions import DecisionError, DecisionModel, open_decision_model
from workbench.engine.decisions.errors import ErrorKind
from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.rows import ResultRow
from workbench.engine.evaluation.runner import Batch, EvaluationRun
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings, Stage
from workbench.engine.model_settings import ModelSettings
from workbench.engine.secrets import Secrets, SystemKeyring

CONNECT_TIMEOUT = 15.0
"""Seconds in which the scheduler must answer and have a worker."""
BATCH = 25
"""Cases of one task: enough to hide the cluster's own cost, few enough to lose little with a worker."""


@dataclass(frozen=True, slots=True)
class ModelOpener:
    """Opens a decision model where it is called; can be sent to a worker.

    `origins` are those that the caller accepted for the secret of the model; the value is looked up where
    the model is opened.
    """

    settings: ModelSettings
    root: Path | None = None
    origins: tuple[str, ...] = ()

    def __call__(self) -> DecisionModel:
        """Open the model.

        Raises:
            DecisionError: where it cannot be used there, or the project's folder is not there.
        """
        if self.root is not None and not self.root.is_dir():
            raise DecisionError(f"the project's folder {self.root} is not there", kind="configuration")
        secrets = Secrets(os.environ, SystemKeyring())
        for origin in self.origins if self.settings.secret is not None else ():
            secrets.accept(str(self.settings.secret), origin)
        return open_decision_model(self.settings, root=self.root, secrets=secrets)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a batch ended early, in a form that travels."""

    message: str
    kind: ErrorKind
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker does at once: the cases, the checks to ask, and how fast (`rate` in calls per second)."""

    cases: tuple[Case, ...]
    settings: GuardrailSettings
    stage: Stage
    concurrency: int
    rate: float | None


def work(opener: Callable[[], DecisionModel], task: Task) -> tuple[list[ResultRow], Failure | None]:
    """Run one batch; this is what a worker calls. Rows found before a failure are returned with it."""
    return asyncio.run(_work(opener, task))


async def _work(opener: Callable[[], DecisionModel], task: Task) -> tuple[list[ResultRow], Failure | None]:
    started = time.perf_counter()
    rows: list[ResultRow] = []
    failure: Failure | None = None
    try:
        model = opener()
        try:
            run = EvaluationRun(
                task.cases,
                task.settings,
                model,
                stage=task.stage,
                concurrency=task.concurrency,
                rate=task.rate,
            )
            async for row in run.rows():
                rows.append(row)
        finally:
            await model.aclose()
    except DecisionError as error:
        failure = Failure(str(error), error.kind, error.status)
    except Exception as error:
        failure = Failure(f"{type(error).__name__}: {error}", "configuration")
    if task.rate is not None and failure is None:
        # The next batch begins at once, so that the last call's share of the time is waited for here.
        await asyncio.sleep(max(0.0, len(task.cases) / task.rate - (time.perf_counter() - started)))
    return rows, failure


class ClusterRun(EvaluationRun):
    """An `EvaluationRun` whose calls are made by the workers of a cluster.

    `opener` opens the model and is sent to the workers; `scheduler` is the address, such as
    `tcp://10.0.0.1:8786`. `concurrency` counts the calls at the same time in each task, of which a worker
    runs one per thread; `rate` holds for the whole cluster. A worker that dies loses the batch it was at,
    which another worker asks again.
    """

    batch_size = BATCH

    def __init__(
        self,
        cases: Iterable[Case],
        settings: GuardrailSettings,
        opener: Callable[[], DecisionModel],
        *,
        scheduler: str,
        **options: Any,
    ) -> None:
        super().__init__(cases, settings, opener(), **options)
        self._opener = opener
        self._address = scheduler
        self._client: Any = None
        self._threads = 1
        self._run_id = uuid.uuid4().hex[:12]
        self._numbers = itertools.count()

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[None]:
        """Hold a connection to the scheduler."""
        try:
            import distributed
        except ImportError as error:
            raise DecisionError(
                "a cluster needs the package distributed",
                kind="configuration",
                hint="install prompt-workbench[cluster]",
            ) from error
        async with contextlib.AsyncExitStack() as stack:
            try:
                client = distributed.Client(self._address, asynchronous=True, timeout=CONNECT_TIMEOUT)
                # Also where it never connects, a client holds what must be closed on this loop.
                stack.push_async_callback(_close, client)
                self._client = await client
                await client.wait_for_workers(1, timeout=CONNECT_TIMEOUT)
                self._threads = max(1, sum((await client.nthreads()).values()))
            except (OSError, TimeoutError, ValueError) as error:
                raise DecisionError(
                    f"the cluster at {self._address} cannot be used: {error}", kind="connect"
                ) from error
            stack.push_async_callback(self.model.aclose)
            yield

    def _concurrent_batches(self) -> int:
        # Twice the threads keep all workers busy; with a rate, no more than share it may run at once.
        return self._threads if self._rate is not None else 2 * self._threads

    async def _ask_batch(self, batch: Batch) -> list[ResultRow]:
        rate = None if self._rate is None else self._rate / self._concurrent_batches()
        settings = replace(self.settings, checks=batch.checks)
        task = Task(tuple(batch.cases), settings, self.stage, self._concurrency, rate)
        key = f"evaluate-{self._run_id}-{next(self._numbers)}"
        future = self._client.submit(work, self._opener, task, key=key, pure=False)
        try:
            fresh, failure = await future
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):
                await future.cancel()
            raise
        except Exception as error:
            raise DecisionError(f"the cluster lost a batch of cases: {error}", kind="crashed") from error
        self._store(fresh)
        self._failed += sum(1 for _ in _failed_cases(fresh))
        if failure is not None:
            message = f"a worker of the cluster stopped: {failure.message}"
            raise DecisionError(message, kind=failure.kind, status=failure.status)
        self._same_version(fresh)
        return list(_merged(batch, fresh, settings.checks))

    def _same_version(self, fresh: Sequence[ResultRow]) -> None:
        """Stop where a worker has other weights than this machine: its rows would not be a local run's."""
        for row in fresh:
            if self.model_version is not None and row.model not in (None, self.model_version):
                raise DecisionError(
                    f"a worker of the cluster answered with {row.model}, this machine has {self.model_version}",
                    kind="configuration",
                    hint="the workers need the same packages and the same project folder",
                )


async def _close(client: Any) -> None:
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        await client.close()


def _failed_cases(rows: Sequence[ResultRow]) -> Iterator[str]:
    for case, group in itertools.groupby(rows, key=lambda row: row.case):
        if any(row.status == "error" and row.model is None for row in group):
            yield case


def _merged(batch: Batch, fresh: Sequence[ResultRow], checks: Sequence[CheckSettings]) -> Iterator[ResultRow]:
    """Give the rows case by case, those that were kept first."""
    kept = {case.id: rows for case, rows in zip(batch.cases, batch.kept, strict=True)}
    for start in range(0, len(fresh), len(checks)):
        rows = fresh[start : start + len(checks)]
        yield from kept.get(rows[0].case, ())
        yield from rows
