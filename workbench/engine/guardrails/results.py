"""What a guardrail found: one result per check and the verdict over all of them, failing closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from workbench.engine.decisions import (
    Answer,
    BadAnswer,
    Exchange,
    NoAnswer,
    Refusal,
    Usage,
    YesNoAnswer,
)
from workbench.engine.guardrails.settings import GuardrailSettings, Stage

Status = Literal["passed", "rejected", "refused", "no_answer", "error"]
Verdict = Literal["passed", "rejected", "error"]

STATUSES: tuple[Status, ...] = ("passed", "rejected", "refused", "no_answer", "error")
FORMAT = 1

_STATUS_WORDS = {"refused": "refused", "no_answer": "no answer", "error": "error"}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check on one text.

    `probability` is that of "yes", from 0 to 1, or `None` where there is none; a missing number is never 0.
    `threshold` is the one that was applied: the check fails from it on, inclusively. `lower` and `upper`
    bound the probability where the model left room, `mass` is the share of the model's own probability that
    fell on an answer at all. `span` is the part of the judged text that decided (half-open, from 0), where it is
    known and not the whole. `kind` is `model`, or the kind of a check that asks no model.
    """

    name: str
    question: str
    probability: float | None
    threshold: float
    status: Status
    detail: str | None = None
    lower: float | None = None
    upper: float | None = None
    mass: float | None = None
    kind: str = "model"
    span: tuple[int, int] | None = None

    @property
    def passed(self) -> bool:
        """Whether the check passed; refused, unanswered and broken checks did not."""
        return self.status == "passed"

    @property
    def margin(self) -> float | None:
        """The probability minus the threshold: negative below it, `None` without a probability."""
        return None if self.probability is None else self.probability - self.threshold

    @property
    def uncertain(self) -> bool:
        """Whether the bounds of the probability lie on both sides of the threshold."""
        if self.lower is None or self.upper is None:
            return False
        return self.lower < self.threshold <= self.upper

    def with_threshold(self, threshold: float) -> CheckResult:
        """Return the result under another threshold. A check without a probability stays as it is."""
        if self.probability is None:
            return replace(self, threshold=threshold)
        # A threshold that is not a number lets nothing through.
        status: Status = "passed" if self.probability < threshold else "rejected"
        if self.status not in ("passed", "rejected"):
            status = self.status
        return replace(self, threshold=threshold, status=status)

    def to_json(self) -> dict[str, Any]:
        """Return `{"name", "question", "probability", "threshold", "status", "detail", "kind"}`, more where known."""
        data: dict[str, Any] = {
            "name": self.name,
            "question": self.question,
            "probability": self.probability,
            "threshold": self.threshold,
            "status": self.status,
            "detail": self.detail,
        }
        for key in ("lower", "upper", "mass"):
            if getattr(self, key) is not None:
                data[key] = getattr(self, key)
        data["kind"] = self.kind
        if self.span is not None:
            data["span"] = list(self.span)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CheckResult:
        """Read what `to_json` wrote."""
        status = data["status"]
        return cls(
            data["name"],
            data["question"],
            data["probability"],
            data["threshold"],
            # What a later version may have written must not read as passed.
            status if status in STATUSES else "error",
            data.get("detail"),
            data.get("lower"),
            data.get("upper"),
            data.get("mass"),
            data.get("kind", "model"),
            _span(data.get("span")),
        )


def _span(value: Any) -> tuple[int, int] | None:
    return (int(value[0]), int(value[1])) if isinstance(value, list) and len(value) == 2 else None


def judge(name: str, question: str, threshold: float, answer: Answer) -> CheckResult:
    """Apply a threshold to a decision model's answer."""
    if isinstance(answer, YesNoAnswer):
        status: Status = "rejected" if answer.is_yes(threshold) else "passed"
        return CheckResult(
            name,
            question,
            answer.probability,
            threshold,
            status,
            answer.detail,
            answer.lower,
            answer.upper,
            answer.mass,
            span=answer.span,
        )
    statuses: dict[type, Status] = {Refusal: "refused", NoAnswer: "no_answer", BadAnswer: "error"}
    return CheckResult(name, question, None, threshold, statuses.get(type(answer), "error"), answer.detail)


def verdict_of(checks: Sequence[CheckResult]) -> Verdict:
    """Return `rejected` if any check rejected or refused, else `error` if any did not pass, else `passed`."""
    if any(check.status in ("rejected", "refused") for check in checks):
        return "rejected"
    return "passed" if all(check.passed for check in checks) else "error"


@dataclass(frozen=True, slots=True)
class GuardrailResult:
    """The outcome of one validation.

    `checks` are in the order in which they were defined; there are none when the text was blank, which
    passes without a call. `message` is empty for a text that passed; it never holds a probability, since it
    may reach the person who is screened. `model_version` is the version that answered.
    """

    stage: Stage
    checks: tuple[CheckResult, ...]
    message: str
    model_name: str | None = None
    model_version: str | None = None
    usage: Usage | None = None
    elapsed_ms: float = 0.0
    exchanges: tuple[Exchange, ...] = ()
    recorded: bool = False
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict over all checks; see `verdict_of`."""
        return verdict_of(self.checks)

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return self.verdict == "passed"

    @property
    def failed_checks(self) -> tuple[str, ...]:
        """Names of the checks that rejected or were refused, in their order."""
        return tuple(check.name for check in self.checks if check.status in ("rejected", "refused"))

    @property
    def unanswered_checks(self) -> tuple[str, ...]:
        """Names of the checks that have no sound answer, in their order."""
        return tuple(check.name for check in self.checks if check.status in ("no_answer", "error"))

    @property
    def exchange(self) -> Exchange | None:
        """The first request with its reply, secrets removed; `None` where nothing was sent."""
        return self.exchanges[0] if self.exchanges else None

    def check(self, name: str) -> CheckResult:
        """Return the result of the check `name`; raises `KeyError` where there is none."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    def with_thresholds(self, settings: GuardrailSettings) -> GuardrailResult:
        """Return the result under the thresholds of `settings`, from the stored probabilities alone.

        Checks that `settings` do not have keep their threshold.
        """
        thresholds = {check.name: settings.threshold_of(check) for check in settings.checks}
        checks = tuple(
            check.with_threshold(thresholds.get(check.name, check.threshold)) for check in self.checks
        )
        return replace(self, checks=checks, message=failure_message(self.stage, checks))

    def to_json(self) -> dict[str, Any]:
        """Return the shape that `prompt-workbench check --json` prints."""
        return {
            "format": FORMAT,
            "stage": self.stage,
            "verdict": self.verdict,
            "message": self.message or None,
            "failed": list(self.failed_checks),
            "checks": [check.to_json() for check in self.checks],
            "model": {"name": self.model_name, "version": self.model_version},
            "usage": self.usage.to_json() if self.usage is not None else None,
            "elapsed_ms": self.elapsed_ms,
            "recorded": self.recorded,
            "notes": list(self.notes),
        }

    def to_record(self) -> dict[str, Any]:
        """Return `to_json` and the exchanges: everything that a history needs to show the run again."""
        return {**self.to_json(), "exchanges": [exchange.to_json() for exchange in self.exchanges]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GuardrailResult:
        """Read what `to_json` or `to_record` wrote. The verdict is worked out anew from the checks."""
        usage, model = data.get("usage"), data.get("model") or {}
        return cls(
            data.get("stage", "input"),
            tuple(CheckResult.from_json(check) for check in data["checks"]),
            data.get("message") or "",
            model.get("name"),
            model.get("version"),
            Usage(usage.get("input_tokens"), usage.get("output_tokens")) if usage else None,
            data.get("elapsed_ms", 0.0),
            tuple(Exchange(**exchange) for exchange in data.get("exchanges", ())),
            bool(data.get("recorded", False)),
            tuple(data.get("notes", ())),
        )


def rejection_message(stage: Stage, names: Sequence[str]) -> str:
    """Return the reference system's sentence for the checks that rejected."""
    what = "The user message" if stage == "input" else "The response"
    return f"{what} was rejected by the following checks: {', '.join(names)}"


def failure_message(stage: Stage, checks: Sequence[CheckResult]) -> str:
    """Return the sentence for `checks`: empty when all passed, never with a probability in it."""
    failed = [check.name for check in checks if check.status in ("rejected", "refused")]
    if failed:
        return rejection_message(stage, failed)
    broken = [f"{check.name} ({_STATUS_WORDS[check.status]})" for check in checks if not check.passed]
    if broken:
        what = "The user message" if stage == "input" else "The response"
        return f"{what} was not let through, because these checks have no sound answer: {', '.join(broken)}"
    return ""
