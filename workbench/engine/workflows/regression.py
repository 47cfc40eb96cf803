"""What is different when a stored request runs again with today's prompt: outcome, value, prompt, schema, tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.engine.json_text import dumps
from workbench.engine.workflows.errors import WorkflowError
from workbench.engine.workflows.guard_record import replay_guard
from workbench.engine.workflows.tool_record import replay_tools

if TYPE_CHECKING:
    from workbench.engine.guardrails import CheckResult
    from workbench.engine.history import Run
    from workbench.engine.translation import PointerChange

Tokens = tuple[int | None, int | None]
"""Input and output tokens; what nobody told is unknown, which is not zero."""


@dataclass(frozen=True, slots=True)
class RunDifference:
    """How run `after` differs from run `before`; pairs hold what each of them had, in this order.

    `changes` is the difference of the values by JSON Pointer, `None` where one of them has no value. The value of a
    program that was evaluated is `program` and `value`; that of a run of checks its answers by check (where a response
    was guarded also `response`, the one that was delivered); that of a run of tools is `text` and `calls`. `prompts` are
    the prompts of the request alone (for checks: what was asked), without the repairs. `tokens` are those of the whole
    runs; `attempts` counts attempts, validations, or round trips. `kind` is that of both runs; `checks` holds for runs of
    checks what each check said, by its name, `None` where a run did not have it or has no answer.
    """

    before: int
    after: int
    outcomes: tuple[str, str]
    changes: tuple[PointerChange, ...] | None
    prompts: tuple[str, str]
    schemas: tuple[str, str]
    tokens: tuple[Tokens, Tokens]
    attempts: tuple[int, int]
    elapsed_ms: tuple[float | None, float | None]
    kind: str
    checks: tuple[tuple[str, CheckResult | None, CheckResult | None], ...]

    @property
    def same(self) -> bool:
        """Whether outcome and value are the same; the ways there may differ."""
        both_without = self.changes is None
        return self.outcomes[0] == self.outcomes[1] and (both_without or not self.changes)

    def to_json(self) -> dict[str, Any]:
        """Return the difference as JSON values; texts of prompts and schemas only where they differ."""
        return {
            "before": self.before,
            "after": self.after,
            "same": self.same,
            "outcome": list(self.outcomes),
            "changes": None if self.changes is None else [_change(each) for each in self.changes],
            "prompt": None if self.prompts[0] == self.prompts[1] else list(self.prompts),
            "schema": None if self.schemas[0] == self.schemas[1] else list(self.schemas),
            "tokens": [{"input": tokens[0], "output": tokens[1]} for tokens in self.tokens],
            "attempts": list(self.attempts),
            "elapsed_ms": list(self.elapsed_ms),
        }


def compare_runs(before: Run, after: Run) -> RunDifference:
    """Return how a run differs from an earlier one of its kind, from what the history keeps of both.

    Raises:
        WorkflowError: where they are of two kinds, or of one that has nothing to compare.
    """
    kinds = {before.summary.kind, after.summary.kind}
    if len(kinds) > 1 or not kinds <= set(_SIDES):
        raise WorkflowError(
            f"run {before.summary.id} ({before.summary.kind}) and run {after.summary.id} ({after.summary.kind}) "
            "cannot be compared: both must be translations, or both checks, or both runs of tools"
        )
    make = _SIDES[before.summary.kind]
    sides = [make(before), make(after)]
    return RunDifference(
        before.summary.id,
        after.summary.id,
        (sides[0].outcome, sides[1].outcome),
        _changes(sides[0], sides[1]),
        (sides[0].prompt, sides[1].prompt),
        (sides[0].schema, sides[1].schema),
        (sides[0].tokens, sides[1].tokens),
        (sides[0].attempts, sides[1].attempts),
        (before.summary.elapsed_ms, after.summary.elapsed_ms),
        before.summary.kind,
        tuple(
            (name, sides[0].checks.get(name), sides[1].checks.get(name))
            for name in dict.fromkeys([*sides[0].checks, *sides[1].checks])
        ),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    outcome: str
    value: Any
    has_value: bool
    prompt: str
    schema: str
    tokens: Tokens
    attempts: int
    checks: Mapping[str, CheckResult] = field(default_factory=dict)


def _of_translation(run: Run) -> _Side:
    from workbench.engine.workflows.program_runs import ProgramRunRecord
    from workbench.engine.workflows.replaying import replay_translation

    record = replay_translation(run.events)
    first = record.attempts[0] if record.attempts else None
    messages = first.messages[: first.base_count] if first is not None else ()
    valued = [attempt for attempt in record.attempts if attempt.has_value]
    value = record.value if record.outcome == "ok" else valued[-1].value if valued else None
    if isinstance(record, ProgramRunRecord):
        value = {"program": value, "value": record.program.value}
    return _Side(
        record.outcome if record.outcome != "running" else run.summary.outcome,
        value,
        record.outcome == "ok" or bool(valued),
        "\n".join(f"--- {message.role} ---\n{message.shown_text()}" for message in messages),
        str(run.inputs.get("schema") or ""),
        _tokens(record.usage),
        len(record.attempts),
    )


def _of_check(run: Run) -> _Side:
    record = replay_guard(run.events)
    result = record.result
    checks = {each.name: each for each in result.checks} if result is not None else {}
    asked = run.inputs.get("checks") or ()
    value: dict[str, Any] = {
        name: {"status": each.status, "probability": each.probability, "threshold": each.threshold}
        for name, each in checks.items()
    }
    if record.looped:
        value = {"checks": value, "response": record.response}
    return _Side(
        result.verdict if result is not None else run.summary.outcome,
        value,
        result is not None,
        "\n".join(f"{each.get('name', '')}: {each.get('question') or dumps(dict(each))}" for each in asked),
        "",
        _tokens(result.usage if result is not None else None),
        len(record.validations()),
        checks,
    )


def _of_tools(run: Run) -> _Side:
    record = replay_tools(run.events)
    calls = [
        {
            "name": each.get("name"),
            "arguments": each.get("arguments"),
            "sent": (each.get("sent") or {}).get("contents"),
        }
        for each in record.executions
    ]
    sent = [entry for entry in record.entries if entry.kind == "sent"]
    return _Side(
        record.outcome if record.outcome != "running" else run.summary.outcome,
        {"text": record.text, "calls": calls},
        record.outcome == "ok" or bool(calls),
        "\n".join(f"--- {entry.role} ---\n{entry.text or dumps(list(entry.parts))}" for entry in sent),
        "",
        (record.input_tokens, record.output_tokens),
        sum(entry.kind == "reply" for entry in record.entries),
    )


_SIDES: dict[str, Callable[[Run], _Side]] = {
    "translate": _of_translation,
    "check": _of_check,
    "tool": _of_tools,
}
"""How a run of each kind that can be compared is read."""


def _tokens(usage: Any) -> Tokens:
    return (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)


def _changes(before: _Side, after: _Side) -> tuple[PointerChange, ...] | None:
    from workbench.engine.translation import pointer_diff

    if not (before.has_value and after.has_value):
        return None
    return tuple(pointer_diff(before.value, after.value))


def _change(change: PointerChange) -> dict[str, Any]:
    return {
        "kind": change.kind, "pointer": change.pointer, "before": change.before, "after": change.after,
    }  # fmt: skip
