"""Folds the events of a translation into attempts, live and in a replay alike, so that both show the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.engine.diagnostics import Diagnostic, Fix
from workbench.engine.events import RunEvent
from workbench.engine.language_models import (
    Completion,
    Cost,
    Message,
    ToolCall,
    Usage,
    cost_from_json,
    total_cost,
)
from workbench.engine.translation.diff import PointerChange, pointer_diff
from workbench.engine.translation.extraction import Candidate

OUTCOMES = (
    "ok",
    "no_json",
    "syntax",
    "invalid",
    "instance_rejected",
    "ambiguous",
    "schema_echo",
    "truncated",
    "refused",
    "empty",
    "model_error",
    "hook_error",
    "cancelled",
    "budget",
    "no_progress",
)
"""How an attempt or a run can end; `running` stands for one that has not ended."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an attempt on a timeline.

    `kind` is the kind of the event, `at` the seconds since the run began, `label` a few words for people.
    """

    kind: str
    at: float
    attempt: int
    label: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of the model and everything that came of it.

    `messages` is the whole conversation that was sent; its first `base_count` messages are preamble and
    request. `prompt` is the prompt that this attempt added: the request prompt, or the repair prompt.
    `reply` is the model's full reply, empty while there is none. `span` (half-open, in the reply), `source`,
    `candidates`, `edits` and `notes` tell how the JSON was found; `partial` is the preview of a cut reply.
    `value` is the JSON value before a hook changed it, without the nulls at `removed_nulls` (pointers
    into the value as it came). `usage` is None where the model said nothing, `cost` where it cannot be known. `edited` marks a reply that a
    person changed before going on from it. `elapsed_ms` is the time of the model's call. `failure` tells of a call
    that failed the `kind` of the error, the HTTP `status`, and what the `server_said` (without secrets, cut short).
    """

    number: int
    messages: tuple[Message, ...] = ()
    base_count: int = 0
    prompt: str = ""
    reply: str = ""
    finish_reason: str | None = None
    refusal: str | None = None
    outcome: str = "running"
    value: Any = None
    has_value: bool = False
    span: tuple[int, int] | None = None
    source: str | None = None
    candidates: tuple[Candidate, ...] = ()
    edits: tuple[Fix, ...] = ()
    partial: Any = None
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    removed_nulls: tuple[str, ...] = ()
    usage: Usage | None = None
    model: str = ""
    elapsed_ms: float | None = None
    recorded: bool = False
    tool_calls: tuple[ToolCall, ...] = ()
    message: str = ""
    edited: bool = False
    cost: Cost | None = None
    failure: Mapping[str, Any] | None = None

    @property
    def json_text(self) -> str | None:
        """The chosen JSON as it stands in the reply."""
        return None if self.span is None else self.reply[self.span[0] : self.span[1]]

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form that the command line prints."""
        return {
            "number": self.number,
            "messages": messages_to_json(self.messages),
            "reply": self.reply,
            "finish_reason": self.finish_reason,
            "outcome": self.outcome,
            "value": self.value,
            "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics],
            "notes": list(self.notes),
            "removed_nulls": list(self.removed_nulls),
            "usage": None if self.usage is None else usage_to_json(self.usage),
            "elapsed_ms": self.elapsed_ms,
            "cost": None if self.cost is None else self.cost.to_json(),
            "failure": None if self.failure is None else dict(self.failure),
        }


@dataclass(frozen=True, slots=True)
class TranslationRecord:
    """A translation as far as its events go.

    `outcome` is one of `OUTCOMES`, or `running`. `value` is the final value as JSON, `message` the text of a
    failure. `usage` sums all attempts; a part that one of them did not tell is unknown (None) in the sum.
    `inputs` is what the run was started with: request, type name, schema text and settings.
    """

    attempts: tuple[Attempt, ...] = ()
    steps: tuple[Step, ...] = ()
    outcome: str = "running"
    value: Any = None
    message: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    elapsed: float = 0.0

    @property
    def usage(self) -> Usage | None:
        """Tokens of all attempts together, None where nothing is known."""
        return total_usage(self.attempts)

    @property
    def cost(self) -> Cost | None:
        """What all attempts together cost, None where one of them is unknown or was paid in another currency."""
        costs = [attempt.cost for attempt in called(self.attempts)]
        # A call that was under way when the process died may have been charged for.
        lost = any(a.outcome == "interrupted" and a.messages and a.elapsed_ms is None for a in self.attempts)
        return total_cost([*costs, None] if lost else costs)

    @property
    def request(self) -> str:
        """The request that was translated."""
        return str(self.inputs.get("request", ""))

    def ended(self, outcome: str) -> TranslationRecord:
        """Return the record of a run that was broken off: what still ran in it ended with `outcome`."""
        attempts = tuple(
            replace(each, outcome=outcome) if each.outcome == "running" else each for each in self.attempts
        )
        return replace(self, attempts=attempts, outcome=outcome)

    def changes(self, before: int, after: int) -> list[PointerChange]:
        """Return what attempt number `after` changed against attempt number `before`, by JSON Pointer.

        An attempt without a value counts as null.

        Raises:
            KeyError: there is no attempt of that number.
        """
        by_number = {attempt.number: attempt for attempt in self.attempts}
        return pointer_diff(by_number[before].value, by_number[after].value)


def total_usage(attempts: Iterable[Attempt]) -> Usage | None:
    """Return the sum over the attempts that called a model; what one did not tell is unknown in the sum."""
    asked = called(attempts)
    if not asked or all(attempt.usage is None for attempt in asked):
        return None
    total = Usage(0, 0)
    for attempt in asked:
        total = total + (attempt.usage or Usage())
    return total


def called(attempts: Iterable[Attempt]) -> list[Attempt]:
    """Return the attempts for which a model was called; a reply that a person edited is none of them."""
    return [attempt for attempt in attempts if attempt.elapsed_ms is not None and not attempt.edited]


def replay(events: Iterable[RunEvent]) -> TranslationRecord:
    """Return the record that the run itself had after these events. No model is needed; any events will do.

    Events of other kinds are passed over, so a run may also store what only others read.
    """
    fold = TranslationFold()
    for event in events:
        fold.apply(event)
    return fold.record()


class TranslationFold:
    """Takes events one by one; `record` gives the state after the last one."""

    def __init__(self) -> None:
        self._attempts: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, list[str]] = {}
        self._steps: list[Step] = []
        self._run: dict[str, Any] = {}

    def apply(self, event: RunEvent) -> None:
        """Take one event."""
        handle = getattr(self, f"_on_{event.kind}", None)
        if handle is None:
            return
        data = event.data
        number = data.get("attempt")
        fields: dict[str, Any] = {}
        if isinstance(number, int):
            fields = self._attempts.setdefault(number, {"number": number})
        label = handle(fields, data)
        if label:
            self._steps.append(Step(event.kind, event.at, number if isinstance(number, int) else 0, label))
        self._run["elapsed"] = event.at

    def record(self) -> TranslationRecord:
        """Return the record as far as the events went."""
        return TranslationRecord(self.attempts(), tuple(self._steps), **self._run)

    def attempts(self) -> tuple[Attempt, ...]:
        """Return the attempts so far, in their order."""
        made = []
        for number, fields in self._attempts.items():
            pieces = self._pieces.get(number)
            arrived: dict[str, Any] = {}
            if pieces and "reply" not in fields:
                arrived["reply"] = "".join(pieces)
            made.append(Attempt(**fields, **arrived))
        return tuple(made)

    # --- one method per kind of event; each returns the label of its step, or nothing -----------------------

    def _on_started(self, fields: dict[str, Any], data: Mapping[str, Any]) -> str:
        self._run["inputs"] = dict(data)
        return ""

    def _on_prompt(self, fields: dict[str, Any], data: Mapping[str, Any]) -> str:
        fields["prompt"] = str(data.get("text", ""))
        return "prompt"

    def _on_repair(self, fields: dict[str, Any], data: Mapping[str, Any]) -> str:
        fields["prompt"] = str(data.get("text", ""))
        return "repair asked"

    def _on_sent(self, fields: dict[str, Any], data: Mapping[str, Any]) -> str:
        fields["messages"] = tuple(message_from_json(message) for message in data.get("messages", ()))
        fields["base_count"] = int(data.get("base_count", 0))
        return "sent"

    def _on_delta(self, fields: dict[str, Any], data: Mapping[str, Any]) -> str:
        self._pieces.setdefault(fields["number"], []).append(str(data.get("text", "")))
        return ""

    def _on_reply(self, fields: dict[str, Any], data: Mapping[str, Any]) -> str:
        usage = data.get("usage")
        fields.update(
            reply=str(data.get("text", "")),
            finish_reason=data.get("finish_reason"),
            refusal=data.get("refusal"),
            usage=None if usage is None else Usage(usage.get("input_tokens"), usage.get("output_tokens")),
            model=str(data.get("model", "")),
            elapsed_ms=data.get("elapsed_ms"),
            recorded=bool(data.get("recorded", False)),
            cost=cost_from_json(data.get("cost")),
            edited=bool(data.get("edited", False)),
            notes=tuple(data.get("notes", ())),
            tool_calls=tuple(
                ToolCall(call["id"], call["name"], call["arguments"]) for call in data.get("tool_calls", ())
            ),
        )
        return "edited reply" if fields["edited"] else "reply"

    def _on_extracted(self, fields: dict[str, Any], data: Mapping[str, Any]) -> str:
        span = data.get("span")
        fields.update(
            span=None if span is None else (span[0], span[1]),
            source=data.get("source"),
            notes=(*fields.get("notes", ()), *data.get("notes", ())),
            candidates=tuple(Candidate(**candidate) for candidate in data.get("candidates", ())),
            edits=tuple(Fix(**edit) for edit in data.get("edits", ())),
            partial=data.get("partial"),
        )
        return "JSON found" if data.get("found") else "no JSON" if span is None else "broken JSON"

    def _on_validated(self, fields: dict[str, Any], data: Mapping[str, Any]) -> str:
        diagnostics = tuple(diagnostic_from_json(item) for item in data.get("diagnostics", ()))
        fields.update(
            outcome=str(data.get("outcome", "")),
            diagnostics=diagnostics,
            removed_nulls=tuple(data.get("removed_nulls", ())),
            message=str(data.get("message", "")),
        )
        if data.get("has_value"):
            fields.update(value=data.get("value"), has_value=True)
        return _verdict(fields["outcome"], diagnostics)

    def _on_failed(self, fields: dict[str, Any], data: Mapping[str, Any]) -> str:
        """The attempt ended without a verdict on a reply: the model, a hook, a limit or the user ended it."""
        fields["outcome"] = str(data.get("outcome", "model_error"))
        fields["message"] = str(data.get("message", ""))
        if data.get("elapsed_ms") is not None:
            fields["elapsed_ms"] = data["elapsed_ms"]
        if data.get("text") is not None and "reply" not in fields:
            fields["reply"] = str(data["text"])
        if isinstance(data.get("failure"), Mapping):
            fields["failure"] = data["failure"]
        problem = Diagnostic("error", fields["outcome"], fields["message"], hint=data.get("hint"))
        fields["diagnostics"] = (*fields.get("diagnostics", ()), problem)
        return _verdict(fields["outcome"], ())

    def _on_finished(self, fields: dict[str, Any], data: Mapping[str, Any]) -> str:
        self._run.update(
            outcome=str(data.get("outcome", "")),
            value=data.get("value"),
            message=str(data.get("message", "")),
        )
        return ""


def _verdict(outcome: str, diagnostics: tuple[Diagnostic, ...]) -> str:
    if outcome == "ok":
        return "valid"
    errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    if outcome in ("invalid", "instance_rejected") and errors:
        return f"{errors} error{'s' if errors != 1 else ''}"
    return outcome.replace("_", " ")


# --- JSON forms of the records that events carry ------------------------------------------------------------


def message_to_json(message: Message) -> dict[str, Any]:
    """Return a message as a JSON object; tool calls only where there are some."""
    content = message.content
    data: dict[str, Any] = {
        "role": message.role,
        "content": content if isinstance(content, str) else [dict(part) for part in content],
    }
    if message.tool_calls:
        data["tool_calls"] = [tool_call_to_json(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        data["tool_call_id"] = message.tool_call_id
    if message.is_error is not None:
        data["is_error"] = message.is_error
    return data


def messages_to_json(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return a conversation as events carry it."""
    return [message_to_json(message) for message in messages]


def message_from_json(data: Mapping[str, Any]) -> Message:
    """Return the message that `message_to_json` wrote."""
    content = data["content"]
    calls = tuple(ToolCall(c["id"], c["name"], c["arguments"]) for c in data.get("tool_calls", ()))
    return Message(
        data["role"],
        content if isinstance(content, str) else tuple(content),
        calls,
        data.get("tool_call_id"),
        data.get("is_error"),
    )


def tool_call_to_json(call: ToolCall) -> dict[str, Any]:
    """Return a tool call as a JSON object."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def usage_to_json(usage: Usage) -> dict[str, Any]:
    """Return the token counts as a JSON object; unknown is null."""
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def completion_to_json(completion: Completion) -> dict[str, Any]:
    """Return what the event of a model's answer holds of it; how long it took, and its place, are the run's to say."""
    return {
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "refusal": completion.refusal,
        "usage": usage_to_json(completion.usage),
        "model": completion.model,
        "recorded": completion.recorded,
        "cost": None if completion.cost is None else completion.cost.to_json(),
        "tool_calls": [tool_call_to_json(call) for call in completion.tool_calls],
    }


def fix_to_json(fix: Fix) -> dict[str, Any]:
    """Return a change of text as a JSON object."""
    return {"title": fix.title, "start": fix.start, "end": fix.end, "replacement": fix.replacement}


def diagnostic_to_event(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic with all its fields, for an event."""
    from workbench.engine.translation.json_values import plain_copy

    data = diagnostic.to_json()
    data["expected"] = plain_copy(diagnostic.expected)
    for name in ("node", "keyword", "schema_pointer", "excerpt"):
        data[name] = getattr(diagnostic, name)
    data["fixes"] = [fix_to_json(fix) for fix in diagnostic.fixes]
    return data


def diagnostic_from_json(data: Mapping[str, Any]) -> Diagnostic:
    """Return the diagnostic that `diagnostic_to_event` wrote; unknown members are passed over."""
    known = {name: data[name] for name in Diagnostic.__dataclass_fields__ if name in data and name != "fixes"}
    return Diagnostic(**known, fixes=tuple(Fix(**fix) for fix in data.get("fixes", ())))
