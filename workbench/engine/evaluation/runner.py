"""Runs the checks of a stage over labelled cases: some at a time, no faster than allowed, and able to go on."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.engine.decisions import DecisionError, ModelInfo
from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.rows import (
    OTHER_VERSION,
    ResultRow,
    ResultsFile,
    applied,
    asked_hash,
    row_of,
    stale_reason,
)
from workbench.engine.evaluation.run_lock import RunLock
from workbench.engine.evaluation.stored_rows import StoredRows
from workbench.engine.evaluation.version_drift import earlier_path
from workbench.engine.guardrails.guardrail import guardrail_from_settings, rule_result
from workbench.engine.guardrails.results import Status
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings, Stage
from workbench.engine.guardrails.texts import is_blank

GIVE_UP_AFTER = 5
"""Failed calls in a row after which a run stops: then it is the model that fails, not a case."""

_HOPELESS = ("configuration", "unavailable")
_OF_THE_MODEL = ("connect", "timeout", "crashed")

MOST_STALE = 1000
"""Stale rows that a run names one by one; it counts all of them."""
BLANK = "the text is blank: it passes without a question to the model"
_KEPT_AT_ONCE = 200
_TURN_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class StaleRow:
    """A stored row that does not answer the present question, and why."""

    case: str
    check: str
    reason: str
    model: str | None = None


@dataclass(slots=True)
class Batch:
    """Cases for which the model must be asked the same checks, with the rows that they have already.

    `complete` holds the rows of `settled` cases that miss nothing; `last` is true where no case follows.
    """

    checks: tuple[CheckSettings, ...] = ()
    cases: list[Case] = field(default_factory=list)
    kept: list[list[ResultRow]] = field(default_factory=list)
    complete: list[ResultRow] = field(default_factory=list)
    settled: int = 0
    last: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `asked` counts cases that needed a call, `kept` those that did not.

    `remaining_s` estimates the seconds left, `None` before there is anything to estimate from.
    """

    done: int
    total: int | None
    asked: int
    kept: int
    failed: int
    elapsed_s: float
    remaining_s: float | None


class EvaluationRun:
    """One pass of a guardrail's checks over cases.

    Iterate over `rows()`; rows come case by case, in the order in which the calls end. With a `results` file,
    rows already in it that answer the present text and wording (and come from the same model, and from the
    same version where it is known beforehand) are taken from there, and every new row is written at once, so
    that a run that was stopped or killed goes on where it ended. A row of another version of the model is asked
    again and kept beside (see `earlier_path`), so that both can be compared. No row is held; of a results file about 30
    bytes a case are (see `StoredRows`).

    Checks that ask no model are answered here, whoever the others are asked of; `model` may be `None` where
    there are no others. `rate` limits the calls per second, `concurrency` the calls at the same time. `model_version` is the
    version that answers, where the caller knows better than the model. `who` is told to others who want to
    write into the results file meanwhile. `stop()` lets the calls under way end
    and then ends the run.
    """

    batch_size = 1

    def __init__(
        self,
        cases: Iterable[Case],
        settings: GuardrailSettings,
        model: Any,
        *,
        stage: Stage = "input",
        results: Path | None = None,
        concurrency: int = 4,
        rate: float | None = None,
        total: int | None = None,
        model_version: str | None = None,
        who: str = "another run",
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        if rate is not None and not rate > 0:
            raise ValueError("rate must be above 0")
        self.settings = settings
        self.model = model
        self.stage = stage
        self.model_version = model_version
        self.info: ModelInfo | None = None
        self.stale: list[StaleRow] = []
        self.stale_counts: Counter[str] = Counter()
        self._cases = cases
        self._results = ResultsFile(results) if results is not None else None
        self._earlier = ResultsFile(earlier_path(results)) if results is not None else None
        self.earlier_rows = 0
        self._lock = RunLock(results, who) if results is not None else None
        self._stored: StoredRows | None = None
        self._concurrency = concurrency
        self._rate = rate
        self._total = total if total is not None else _length(cases, stage)
        self._on_progress = on_progress
        self._stopped = False
        self._failures = 0
        self._next_start = 0.0
        self._asked = self._kept = self._failed = 0
        self._latest: tuple[tuple[str, ...], Any] | None = None
        self._held: tuple[Case, list[ResultRow], tuple[CheckSettings, ...]] | None = None
        self._source = ""
        self._answering: str | None = None

    def stop(self) -> None:
        """Start no more calls; what is under way is still waited for and kept."""
        self._stopped = True

    @property
    def problems(self) -> list[str]:
        """What could not be read of an existing results file."""
        return self._stored.problems if self._stored is not None else []

    @property
    def version_now(self) -> str | None:
        """The version that answered last in this run, else the one known beforehand; rows of others are stale."""
        return self._answering or self.model_version

    @property
    def asked(self) -> int:
        """How many cases needed a call."""
        return self._asked

    async def rows(self) -> AsyncIterator[ResultRow]:
        """Give the rows of all cases of the stage.

        Raises:
            DecisionError: where the model cannot be used at all, or fails for every case in a row. What was
                found until then is in the results file.
            ValueError: where the settings do not make a guardrail.
            ResultsBusy: where another run is writing into the results file.
            OSError: where the results file cannot be read or written.
        """
        guardrail_from_settings(self.settings, self.model, self.stage)
        self._started = time.perf_counter()
        self._warm: tuple[float, int] | None = None
        if self._lock is not None:
            self._lock.acquire()
        pending: set[asyncio.Task[list[ResultRow]]] = set()
        sizes: dict[asyncio.Task[list[ResultRow]], int] = {}
        source = (case for case in self._cases if case.stage == self.stage)
        last = False
        try:
            await self._prepare()
            async with self._opened():
                while True:
                    while not (last or self._stopped) and len(pending) < self._concurrent_batches():
                        batch = self._next_batch(source)
                        last = batch.last
                        for row in batch.complete:
                            yield row
                        if batch.settled:
                            self._kept += batch.settled
                            self._report()
                            await asyncio.sleep(0)  # rows that are only read must not lock others out
                        if batch.cases:
                            task = asyncio.ensure_future(self._ask_batch(batch))
                            pending.add(task)
                            sizes[task] = len(batch.cases)
                    if not pending:
                        break
                    finished, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                    for task in finished:
                        for row in task.result():
                            yield row
                        self._asked += sizes.pop(task)
                        self._report()
            if last and self._stored is not None:
                self._close_results()
                self._stored.tidy()
        finally:
            # Not `pending` alone: of batches that failed together only the first one's error was looked at.
            for task in sizes:
                task.cancel()
            if sizes:
                await asyncio.gather(*sizes, return_exceptions=True)
            self._close_results()
            if self._stored is not None:
                self._stored.close()
            if self._lock is not None:
                self._lock.release()

    async def collect(self) -> list[ResultRow]:
        """Return all rows at once."""
        return [row async for row in self.rows()]

    async def _prepare(self) -> None:
        """Learn what the model says of itself, and where the rows of an earlier run lie."""
        describe = getattr(self.model, "describe", None)
        if describe is not None:
            self.info = await describe()
            self._source = model_source(self.info, self.model)
            if self.model_version is None:
                self.model_version = self.info.version
        if self._results is not None:
            self._stored = StoredRows(self._results.path)
            await asyncio.to_thread(self._stored.scan)

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[None]:
        """Hold what a run needs while it asks; a run on this machine needs nothing."""
        yield

    def _concurrent_batches(self) -> int:
        return self._concurrency

    def _close_results(self) -> None:
        if self._results is not None:
            self._results.close()
        if self._earlier is not None:
            self._earlier.close()

    def _next_batch(self, source: Iterator[Case]) -> Batch:
        """Return the next cases to ask for, and what was found on the way to them."""
        batch = Batch()
        # Rules are worked out on the way; others on this loop must get their turn between them.
        ends = time.perf_counter() + _TURN_SECONDS
        while len(batch.cases) < self.batch_size and batch.settled < _KEPT_AT_ONCE:
            if batch.settled and time.perf_counter() > ends:
                break
            if self._held is not None:
                (case, kept, missing), self._held = self._held, None
            else:
                following = next(source, None)
                if following is None:
                    batch.last = True
                    break
                case, (kept, missing) = following, self._split(following)
            if not missing:
                batch.complete += kept
                batch.settled += 1
                continue
            if batch.cases and batch.checks != missing:
                self._held = case, kept, missing
                break
            batch.checks = missing
            batch.cases.append(case)
            batch.kept.append(kept)
        return batch

    def _split(self, case: Case) -> tuple[list[ResultRow], tuple[CheckSettings, ...]]:
        """Return the rows of `case` that are stored or need no model, and the checks that must be asked."""
        found = self._stored.of_case(case.id) if self._stored else []
        kept: list[ResultRow] = []
        missing: list[CheckSettings] = []
        for check in self.settings.checks:
            row = self._stored_row(case, check, found) if found else None
            if row is None and check.rule is not None:
                row = self._rule_row(case, check)
                self._store([row])
            if row is None:
                missing.append(check)
            else:
                kept.append(row)
        return kept, tuple(missing)

    def _rule_row(self, case: Case, check: CheckSettings) -> ResultRow:
        """Return what a check that asks no model says of `case`; as in a guardrail, a blank text passes unseen."""
        if is_blank(case.text):
            return replace(self._row_without_number(case, check, "no_answer", BLANK), source="")
        started = time.perf_counter()
        result = rule_result(check, case.text)
        return row_of(case, check, result, None, (time.perf_counter() - started) * 1000)

    def _stored_row(self, case: Case, check: CheckSettings, found: Sequence[Any]) -> ResultRow | None:
        """Return the row that answers `check`, under the present label; the others of the check are dropped."""
        assert self._stored is not None
        assert self._results is not None
        mine = [(place, row) for place, row in found if row.check == check.name]
        best: ResultRow | None = None
        reason = None
        for place, row in reversed(mine):
            why = stale_reason(row, case, check, self.model_version, self._source)
            reason = reason or why
            if best is None and why is None:
                best = applied(row, case, self.settings, check)
                if best == row:
                    self._stored.keep(place)
                    continue
                self._results.append([best])
            elif why == OTHER_VERSION and self._earlier is not None:
                self._earlier.append([row])
                self.earlier_rows += 1
            self._stored.drop(place)
        if best is None and mine and reason is not None:
            self.stale_counts[reason] += 1
            if len(self.stale) < MOST_STALE:
                self.stale.append(StaleRow(case.id, check.name, reason, mine[-1][1].model))
        return best

    async def _ask_batch(self, batch: Batch) -> list[ResultRow]:
        """Ask for the one case of a batch and store the answers."""
        [case], [kept] = batch.cases, batch.kept
        fresh = await self._ask(case, batch.checks)
        self._store(fresh)
        return [*kept, *fresh]

    def _store(self, fresh: Sequence[ResultRow]) -> None:
        for row in fresh:
            self._answering = row.model or self._answering
        if self._results is not None:
            self._results.append(fresh)

    async def _ask(self, case: Case, checks: Sequence[CheckSettings]) -> list[ResultRow]:
        await self._wait_for_turn()
        started = time.perf_counter()
        guardrail = self._guardrail(checks)
        try:
            if self.stage == "input":
                result = await guardrail.validate(case.text)
            else:
                result = await guardrail.validate(case.text, case.user_message)
        except DecisionError as error:
            return self._failed_rows(case, checks, error, started)
        self._failures = 0
        elapsed = (time.perf_counter() - started) * 1000
        by_name = {check.name: check for check in result.checks}
        return [
            row_of(case, check, by_name[check.name], result.model_version, elapsed, self._source)
            if check.name in by_name
            else self._row_without_number(case, check, "no_answer", BLANK)
            for check in checks
        ]

    def _guardrail(self, checks: Sequence[CheckSettings]) -> Any:
        """Return the guardrail of these checks; cases mostly need the same ones, so it is kept."""
        names = tuple(check.name for check in checks)
        if self._latest is None or self._latest[0] != names:
            settings = replace(self.settings, checks=tuple(checks))
            self._latest = names, guardrail_from_settings(settings, self.model, self.stage)
        return self._latest[1]

    def _failed_rows(
        self, case: Case, checks: Sequence[CheckSettings], error: DecisionError, started: float
    ) -> list[ResultRow]:
        """Return rows that say what went wrong, or raise where going on has no sense."""
        if error.kind in _HOPELESS and self.model.__class__.__name__ != "RecordedDecisionModel":
            raise error
        self._failed += 1
        if error.kind in _OF_THE_MODEL or error.status in (401, 403, 429) or (error.status or 0) >= 500:
            self._failures += 1
            if self._failures >= GIVE_UP_AFTER:
                raise error
        elapsed = round((time.perf_counter() - started) * 1000, 3)
        return [self._row_without_number(case, check, "error", str(error), elapsed) for check in checks]

    def _row_without_number(
        self, case: Case, check: CheckSettings, status: Status, detail: str, elapsed_ms: float = 0.0
    ) -> ResultRow:
        return ResultRow(
            case.id,
            check.name,
            None,
            status,
            case.labels.get(check.name),
            self.settings.threshold_of(check),
            None,
            elapsed_ms,
            asked_hash(case, check),
            detail,
            self._source,
        )

    async def _wait_for_turn(self) -> None:
        if self._rate is None:
            return
        now = time.perf_counter()
        start = max(now, self._next_start)
        self._next_start = start + 1 / self._rate
        if start > now:
            await asyncio.sleep(start - now)

    def _report(self) -> None:
        if self._on_progress is None:
            return
        elapsed = time.perf_counter() - self._started
        done = self._asked + self._kept
        self._on_progress(
            Progress(
                done,
                self._total,
                self._asked,
                self._kept,
                self._failed,
                elapsed,
                self._remaining(elapsed, done),
            )
        )

    def _remaining(self, elapsed: float, done: int) -> float | None:
        """Estimate the seconds left from the calls after the first ones, which may have waited for the model to load."""
        if self._total is None:
            return None
        if done >= self._total:
            return 0.0
        if self._warm is None and self._asked >= self._concurrency:
            self._warm = (elapsed, self._asked)
        if self._warm is None or self._asked == self._warm[1]:
            return None
        since, first = self._warm
        return (elapsed - since) / (self._asked - first) * (self._total - done)


def model_source(info: ModelInfo, model: Any) -> str:
    """Return the hash of provider, name and address by which stored rows know who was asked; see `ResultRow`."""
    parts = [info.provider, info.name, getattr(model, "url", None)]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:12]


def _length(cases: Iterable[Case], stage: Stage) -> int | None:
    """Return how many cases of the stage there are, `None` where counting would use the cases up."""
    if isinstance(cases, (list, tuple)):
        return sum(1 for case in cases if case.stage == stage)
    return None
