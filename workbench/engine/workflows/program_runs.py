"""Folds a translation whose request may have become a program: its attempts, then the steps of the evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from workbench.engine.events import RunEvent
from workbench.engine.translation.program_record import ProgramRecord, replay_program
from workbench.engine.translation.record import Step, TranslationFold, TranslationRecord


@dataclass(frozen=True, slots=True)
class ProgramStepTaken(Step):
    """One step of a program's evaluation on a timeline; `status` is `passed`, `error` or empty while it goes on.

    `attempt` is the attempt whose program is evaluated.
    """

    status: str = ""


@dataclass(frozen=True, slots=True)
class ProgramRunRecord(TranslationRecord):
    """A translation to a program, and what the evaluation of the program gave so far.

    `value` is the program; the value that it gave is that of `program`. `outcome` and `message` are those of the whole
    run: a program whose tool gave an error ended it. The steps of the evaluation follow those of the attempts.
    """

    program: ProgramRecord = field(default_factory=ProgramRecord)

    def attempt_steps(self) -> tuple[Step, ...]:
        """Return the steps of the attempts alone."""
        return tuple(step for step in self.steps if not isinstance(step, ProgramStepTaken))

    def program_steps(self) -> tuple[ProgramStepTaken, ...]:
        """Return the steps of the evaluation alone."""
        return tuple(step for step in self.steps if isinstance(step, ProgramStepTaken))


class TranslationRunFold:
    """Takes the events of a translation one by one, those of a program's evaluation too."""

    def __init__(self) -> None:
        self._translation = TranslationFold()
        self._events: list[RunEvent] = []
        self._steps: list[ProgramStepTaken] = []
        self._attempt = 0

    def apply(self, event: RunEvent) -> None:
        """Take one event; other kinds are passed over."""
        if not event.kind.startswith("program_"):
            number = event.data.get("attempt")
            if isinstance(number, int):
                self._attempt = number
            self._translation.apply(event)
            return
        self._events.append(event)
        label, status = _step_words(event)
        if label:
            self._steps.append(ProgramStepTaken(event.kind, event.at, self._attempt, label, status))

    def record(self) -> TranslationRecord:
        """Return the record as far as the events went; a `ProgramRunRecord` once a program is evaluated."""
        record = self._translation.record()
        program = replay_program(self._events)
        if program is None:
            return record
        values = {each.name: getattr(record, each.name) for each in fields(record)}
        values["steps"] = (*record.steps, *self._steps)
        if program.outcome not in ("running", "ok"):
            values |= {"outcome": program.outcome, "message": program.message}
        values["elapsed"] = max(record.elapsed, self._events[-1].at)
        return ProgramRunRecord(**values, program=program)


def _step_words(event: RunEvent) -> tuple[str, str]:
    """Return the label of an event's step and how it went; no label where it has no step."""
    data = event.data
    if event.kind == "program_started":
        return "begins", ""
    if event.kind == "program_call":
        words = f"step {data.get('step')}: {data.get('name')}"
        return words, "error" if data.get("is_error") else "passed"
    if event.kind == "program_step":
        return f"{data.get('step')} done", "passed"
    if event.kind == "program_result":
        good = data.get("outcome") == "ok"
        return ("value", "passed") if good else (str(data.get("outcome")).replace("_", " "), "error")
    return "", ""
