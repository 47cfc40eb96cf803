"""Folds the events of a guardrail run into what was validated, asked and answered, live and in a replay alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.engine.events import RunEvent

if TYPE_CHECKING:
    from workbench.engine.guardrails import GuardrailResult


@dataclass(frozen=True, slots=True)
class GuardStep:
    """One step of a guardrail run.

    `kind` is `request` (the checks were asked), `asked` (the chat model was asked for a response), `response`
    (it answered), `validated`, `failed` or `ended`. `validation` counts validations from 1: the one that the step
    belongs to. `text` is the checked text, the reprompt (empty where the first response is asked for), the new
    response, or the message. `result` is there for `validated` only. `at` is in seconds since the run began.
    """

    kind: str
    at: float
    validation: int
    label: str
    text: str = ""
    result: GuardrailResult | None = None
    status: str = ""
    elapsed_ms: float | None = None
    model: str = ""
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class GuardRecord:
    """A guardrail run as far as its events go.

    `text` is the text that the run was started with, `most` how many validations there may be. `checks` are the
    checks as they were sent. `result` is the last one; `outcome` is `passed`, `rejected`, `error`, `cancelled` or
    `running`. `response` is the response that passed, `message` why none did.
    """

    stage: str = "input"
    text: str = ""
    user_message: str | None = None
    checks: tuple[Mapping[str, Any], ...] = ()
    most: int = 1
    messages: tuple[Mapping[str, Any], ...] = ()
    steps: tuple[GuardStep, ...] = ()
    result: GuardrailResult | None = None
    outcome: str = "running"
    response: str | None = None
    message: str = ""

    @property
    def looped(self) -> bool:
        """Whether the run could ask for another response: it then has validations of its own."""
        return any(step.kind in ("asked", "ended") for step in self.steps)

    def validations(self) -> tuple[GuardStep, ...]:
        """Return the steps in which a text was validated, in order."""
        return tuple(step for step in self.steps if step.kind == "validated")


def replay_guard(events: Iterable[RunEvent]) -> GuardRecord:
    """Return the record that the run itself had after these events; no model is needed, any events will do."""
    fold = GuardFold()
    for event in events:
        fold.apply(event)
    return fold.record()


@dataclass(slots=True)
class GuardFold:
    """Takes events one by one; `record` gives the state after the last one."""

    _fields: dict[str, Any] = field(default_factory=dict)
    _steps: list[GuardStep] = field(default_factory=list)
    _number: int = 1

    def apply(self, event: RunEvent) -> None:
        """Take one event; other kinds are passed over."""
        handle = getattr(self, f"_on_{event.kind}", None)
        if handle is not None:
            handle(event.data, event.at)

    def record(self) -> GuardRecord:
        """Return the record as far as the events went."""
        return GuardRecord(steps=tuple(self._steps), **self._fields)

    # --- one method per kind of event ---------------------------------------------------------------------

    def _on_check_request(self, data: Mapping[str, Any], at: float) -> None:
        self._fields |= {
            "stage": str(data.get("stage", "input")),
            "text": str(data.get("text") or ""),
            "user_message": data.get("user_message"),
            "checks": tuple(data.get("checks") or ()),
            "most": int(data.get("most") or 1),
        }
        self._add("request", at, "checks asked", text=self._fields["text"])

    def _on_response_asked(self, data: Mapping[str, Any], at: float) -> None:
        # Runs of an earlier version kept the reprompt under `text` and no messages.
        reprompt = str(data.get("reprompt", data.get("text")) or "")
        if data.get("messages"):
            self._fields["messages"] = tuple(data["messages"])
        if self._steps and self._steps[-1].kind == "validated":
            self._number += 1
        self._add("asked", at, "reprompt" if reprompt else "response asked", text=reprompt)

    def _on_response(self, data: Mapping[str, Any], at: float) -> None:
        self._add(
            "response",
            at,
            "new response",
            text=str(data.get("text") or ""),
            elapsed_ms=data.get("elapsed_ms"),
            model=str(data.get("model") or ""),
            recorded=bool(data.get("recorded")),
        )

    def _on_validation(self, data: Mapping[str, Any], at: float) -> None:
        self._number = int(data.get("number") or self._number)
        results = [_result(each) for each in data.get("results") or ()]
        result = next((each for each in reversed(results) if each is not None), None)
        self._take(result)
        self._validated(at, str(data.get("text") or ""), result)

    def _on_check_result(self, data: Mapping[str, Any], at: float) -> None:
        result = _result(data)
        self._take(result)
        if result is not None:
            self._fields["outcome"] = result.verdict
        if any(step.kind == "validated" for step in self._steps):
            return  # the last validation of a loop, told once more
        self._validated(at, str(self._fields.get("text", "")), result)

    def _on_finished(self, data: Mapping[str, Any], at: float) -> None:
        outcome = str(data.get("outcome") or "")
        self._fields |= {
            "outcome": outcome,
            "response": data.get("response"),
            "message": str(data.get("message") or ""),
        }
        label = "delivered" if outcome == "passed" else "not delivered"
        self._add("ended", at, label, text=self._fields["message"], status=outcome)

    def _on_failed(self, data: Mapping[str, Any], at: float) -> None:
        outcome = str(data.get("outcome") or "error")
        self._fields |= {"outcome": outcome, "message": str(data.get("message") or "")}
        label = "stopped" if outcome == "cancelled" else "failed"
        self._add("failed", at, label, text=self._fields["message"], status=outcome)

    def _take(self, result: GuardrailResult | None) -> None:
        if result is not None:
            self._fields["result"] = result
            self._fields.setdefault("stage", result.stage)

    def _validated(self, at: float, text: str, result: GuardrailResult | None) -> None:
        status = result.verdict if result is not None else "error"
        self._add("validated", at, _verdict_words(result), text=text, result=result, status=status)

    def _add(self, kind: str, at: float, label: str, **values: Any) -> None:
        self._steps.append(GuardStep(kind, at, self._number, label, **values))


def _result(data: Any) -> GuardrailResult | None:
    """Return the stored result; a damaged one is none, and none never reads as passed."""
    from workbench.engine.guardrails import GuardrailResult

    try:
        return GuardrailResult.from_json(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _verdict_words(result: GuardrailResult | None) -> str:
    return "no sound answer" if result is None or result.verdict == "error" else result.verdict
