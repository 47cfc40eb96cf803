"""Runs the checks of a stage over labelled cases: some at a time, no faster than allowed, and able to go on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.engine.decisions import DecisionError
from workbench.engine.evaluation.cases import Case
from workbench.engine.evaluation.rows import ResultRow, ResultsFile, applied, asked_hash, row_of, usable
from workbench.engine.guardrails.guardrail import guardrail_from_settings
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings, Stage

GIVE_UP_AFTER = 5
"""Failed calls in a row after which a run stops: then it is the model that fails, not a case."""

_HOPELESS = ("configuration", "unavailable")
_OF_THE_MODEL = ("connect", "timeout", "crashed")


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
    rows already in it that answer the present text and wording (and model version, where it is known) are
    taken from there, and every new row is written at once, so that a run that was stopped or killed goes on
    where it ended. Memory does not grow with the number of cases, apart from the rows taken over.

    `rate` limits the calls per second, `concurrency` the calls at the same time. `stop()` lets the calls
    under way end and then ends the run.
    """

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
        self._cases = cases
        self._results = ResultsFile(results) if results is not None else None
        self._concurrency = concurrency
        self._rate = rate
        self._total = total if total is not None else _length(cases, stage)
        self._on_progress = on_progress
        self._stopped = False
        self._failures = 0
        self._next_start = 0.0
        self._asked = self._kept = self._failed = 0
        self._going_on = False
        self._latest: tuple[tuple[str, ...], Any] | None = None
        self._fresh: set[tuple[str, str]] = set()

    def stop(self) -> None:
        """Start no more calls; what is under way is still waited for and kept."""
        self._stopped = True

    @property
    def problems(self) -> list[str]:
        """What could not be read of an existing results file."""
        return self._results.problems if self._results is not None else []

    async def rows(self) -> AsyncIterator[ResultRow]:
        """Give the rows of all cases of the stage.

        Raises:
            DecisionError: where the model cannot be used at all, or fails for every case in a row. What was
                found until then is in the results file.
            ValueError: where the settings do not make a guardrail.
        """
        guardrail_from_settings(self.settings, self.model, self.stage)
        stored = self._results.read() if self._results is not None else {}
        self._going_on = bool(stored)
        seen: set[tuple[str, str]] | None = set() if stored else None
        self._started = time.perf_counter()
        pending: set[asyncio.Task[list[ResultRow]]] = set()
        source = self._source()
        try:
            while True:
                while not self._stopped and len(pending) < self._concurrency:
                    case = next(source, None)
                    if case is None:
                        break
                    kept, missing = self._split(case, stored)
                    if seen is not None:
                        seen.update((case.id, check.name) for check in self.settings.checks)
                        stored.update({(row.case, row.check): row for row in kept})
                    if not missing:
                        self._kept += 1
                        for row in kept:
                            yield row
                        self._report()
                        continue
                    pending.add(asyncio.ensure_future(self._ask(case, missing, kept)))
                if not pending:
                    if seen is not None and not self._stopped:
                        self._tidy(stored, seen)
                    return
                finished, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    for row in task.result():
                        yield row
                    self._asked += 1
                    self._report()
        finally:
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.gather(*pending, return_exceptions=True)
            if self._results is not None:
                self._results.close()

    async def collect(self) -> list[ResultRow]:
        """Return all rows at once."""
        return [row async for row in self.rows()]

    def _tidy(self, stored: dict[tuple[str, str], ResultRow], seen: set[tuple[str, str]]) -> None:
        """Leave one row per case and check in a results file that was gone on with, under the present labels."""
        assert self._results is not None
        self._results.close()
        final = {**stored, **{k: row for k, row in self._results.read().items() if k in self._fresh}}
        self._results.rewrite(row for key, row in final.items() if key in seen)

    def _source(self) -> Iterator[Case]:
        return (case for case in self._cases if case.stage == self.stage)

    def _split(
        self, case: Case, stored: dict[tuple[str, str], ResultRow]
    ) -> tuple[list[ResultRow], list[CheckSettings]]:
        """Return the rows that a results file holds for `case`, and the checks that must be asked."""
        kept, missing = [], []
        for check in self.settings.checks:
            row = stored.get((case.id, check.name))
            if row is not None and usable(row, case, check, self.model_version):
                kept.append(applied(row, case, self.settings, check))
            else:
                missing.append(check)
        return kept, missing

    async def _ask(self, case: Case, checks: list[CheckSettings], kept: list[ResultRow]) -> list[ResultRow]:
        await self._wait_for_turn()
        started = time.perf_counter()
        guardrail = self._guardrail(checks)
        try:
            if self.stage == "input":
                result = await guardrail.validate(case.text)
            else:
                result = await guardrail.validate(case.text, case.user_message)
        except DecisionError as error:
            fresh = self._failed_rows(case, checks, error, started)
        else:
            self._failures = 0
            elapsed = (time.perf_counter() - started) * 1000
            by_name = {check.name: check for check in result.checks}
            fresh = [
                row_of(case, check, by_name[check.name], result.model_version, elapsed)
                if check.name in by_name
                else self._blank_row(case, check)
                for check in checks
            ]
        if self._results is not None:
            self._results.append(fresh)
            if self._going_on:
                self._fresh.update((row.case, row.check) for row in fresh)
        return [*kept, *fresh]

    def _guardrail(self, checks: list[CheckSettings]) -> Any:
        """Return the guardrail of these checks; cases mostly need the same ones, so it is kept."""
        names = tuple(check.name for check in checks)
        if self._latest is None or self._latest[0] != names:
            settings = replace(self.settings, checks=tuple(checks))
            self._latest = names, guardrail_from_settings(settings, self.model, self.stage)
        return self._latest[1]

    def _failed_rows(
        self, case: Case, checks: list[CheckSettings], error: DecisionError, started: float
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
        return [
            ResultRow(
                case.id,
                check.name,
                None,
                "error",
                case.labels.get(check.name),
                self.settings.threshold_of(check),
                None,
                elapsed,
                asked_hash(case, check),
                str(error),
            )
            for check in checks
        ]

    def _blank_row(self, case: Case, check: CheckSettings) -> ResultRow:
        """Return the row of a blank text, which passes without a call and has no probability."""
        return ResultRow(
            case.id,
            check.name,
            None,
            "no_answer",
            case.labels.get(check.name),
            self.settings.threshold_of(check),
            None,
            0.0,
            asked_hash(case, check),
            "the text is blank: it passes without a question to the model",
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
        remaining = None
        if self._total is not None and self._asked:
            remaining = elapsed / self._asked * max(0, self._total - done)
        self._on_progress(
            Progress(done, self._total, self._asked, self._kept, self._failed, elapsed, remaining)
        )


def _length(cases: Iterable[Case], stage: Stage) -> int | None:
    """Return how many cases of the stage there are, `None` where counting would use the cases up."""
    if isinstance(cases, (list, tuple)):
        return sum(1 for case in cases if case.stage == stage)
    return None
