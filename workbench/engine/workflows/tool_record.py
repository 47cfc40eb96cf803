"""Folds the events of a conversation with tools into what was sent, asked for and kept back, live and in a replay alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.engine.events import RunEvent
from workbench.engine.prices import Cost, cost_from_json, total_cost
from workbench.engine.tools.kept import kept_back


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One thing that was said in the conversation.

    `kind` is `sent` (a message the run began with), `reply` (of the model), `arriving` (as far as it came),
    `result` (of a tool, as the model got it), `rolled_back` (what took its place when the call was undone),
    `kept` (what the tool returned and the model never saw), `returned` (a tool's result that ended the run) or `ended`.
    `name` is the tool's, `calls` what a reply asks for (`id`, `name`, `arguments`). `kept` names the parts that were
    kept back. `elapsed_ms` is in milliseconds, `None` where it is not known.
    """

    kind: str
    role: str
    text: str = ""
    name: str = ""
    calls: tuple[Mapping[str, Any], ...] = ()
    parts: tuple[Mapping[str, Any], ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False
    elapsed_ms: float | None = None
    recorded: bool = False
    refusal: str | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One step on a timeline: `round_trip` counts the calls of the model from 1, `at` is in seconds."""

    kind: str
    at: float
    round_trip: int
    label: str
    status: str = ""


@dataclass(frozen=True, slots=True)
class ToolRecord:
    """A conversation with tools as far as its events go; `executions` are the stored results of every call."""

    entries: tuple[ToolEntry, ...] = ()
    steps: tuple[ToolStep, ...] = ()
    executions: tuple[Mapping[str, Any], ...] = ()
    outcome: str = "running"
    text: str = ""
    message: str = ""
    model: str = ""
    messages: tuple[Mapping[str, Any], ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: Cost | None = None


def replay_tools(events: Iterable[RunEvent]) -> ToolRecord:
    """Return the record that the run itself had after these events; no model is needed, any events will do."""
    fold = ToolFold()
    for event in events:
        fold.apply(event)
    return fold.record()


class ToolFold:
    """Takes events one by one; `record` gives the state after the last one."""

    def __init__(self) -> None:
        self._entries: list[ToolEntry] = []
        self._steps: list[ToolStep] = []
        self._executions: list[Mapping[str, Any]] = []
        self._arriving: list[str] = []
        self._fields: dict[str, Any] = {}
        self._trip = 1
        self._usages: list[Mapping[str, Any]] = []
        self._costs: list[Cost | None] = []
        self._unanswered = False

    def apply(self, event: RunEvent) -> None:
        """Take one event; other kinds are passed over."""
        handle = getattr(self, f"_on_{event.kind}", None)
        if handle is None:
            return
        trip = event.data.get("round_trip")
        if isinstance(trip, int) and not isinstance(trip, bool):
            self._trip = trip
        label, status = handle(event.data)
        if label:
            self._steps.append(ToolStep(event.kind, event.at, self._trip, label, status))

    def record(self) -> ToolRecord:
        """Return the record as far as the events went."""
        entries = list(self._entries)
        if self._arriving:
            entries.append(ToolEntry("arriving", "assistant", "".join(self._arriving)))
        return ToolRecord(
            tuple(entries),
            tuple(self._steps),
            tuple(self._executions),
            input_tokens=self._sum("input_tokens"),
            output_tokens=self._sum("output_tokens"),
            cost=total_cost(self._costs),
            **self._fields,
        )

    def _sum(self, name: str) -> int | None:
        """Return the tokens of all calls; what one of them did not tell is unknown in the sum."""
        known = [number for usage in self._usages if isinstance(number := usage.get(name), int)]
        return sum(known) if known and len(known) == len(self._usages) else None

    # --- one method per kind of event; each returns the label of its step, and how it went ----------------

    def _on_started(self, data: Mapping[str, Any]) -> tuple[str, str]:
        for message in data.get("messages") or ():
            self._entries.append(
                ToolEntry("sent", str(message["role"]), *_content(message.get("content", "")))
            )
        self._fields["model"] = str(data.get("model") or "")
        return "started", ""

    def _on_sent(self, data: Mapping[str, Any]) -> tuple[str, str]:
        self._fields["messages"] = tuple(data.get("messages") or ())
        self._unanswered = True
        return "sent", ""

    def _on_delta(self, data: Mapping[str, Any]) -> tuple[str, str]:
        self._arriving.append(str(data.get("text", "")))
        return "", ""

    def _on_reply(self, data: Mapping[str, Any]) -> tuple[str, str]:
        self._arriving.clear()
        self._unanswered = False
        calls = tuple(data.get("tool_calls") or ())
        self._usages.append(data.get("usage") or {})
        self._costs.append(cost_from_json(data.get("cost")))
        self._fields["text"] = str(data.get("text") or "")
        self._entries.append(
            ToolEntry(
                "reply",
                "assistant",
                str(data.get("text") or ""),
                calls=calls,
                elapsed_ms=data.get("elapsed_ms"),
                recorded=bool(data.get("recorded")),
                refusal=data.get("refusal"),
            )
        )
        if not calls:
            return "answer", ""
        return f"asks for {len(calls)} tool{'s' if len(calls) != 1 else ''}", ""

    def _on_tool_result(self, data: Mapping[str, Any]) -> tuple[str, str]:
        self._executions.append(dict(data))
        name, is_error = str(data.get("name", "")), bool(data.get("is_error"))
        self._entries.append(_told("result", name, data, is_error=is_error))
        kept = kept_back(data)
        if kept:
            self._entries.append(ToolEntry("kept", "tool", name=name, kept=kept))
        return name or "tool", "rejected" if is_error else "passed"

    def _on_rolled_back(self, data: Mapping[str, Any]) -> tuple[str, str]:
        index, name = data.get("index"), str(data.get("name", ""))
        if isinstance(index, int) and 0 <= index < len(self._executions):
            self._executions[index] = dict(data)
        self._entries.append(_told("rolled_back", name, data, is_error=True))
        undone = bool((data.get("rolled_back") or {}).get("undone"))
        return f"{name} {'rolled back' if undone else 'not rolled back'}", "rejected" if undone else "error"

    def _on_finished(self, data: Mapping[str, Any]) -> tuple[str, str]:
        outcome, message = str(data.get("outcome") or ""), str(data.get("message") or "")
        self._fields |= {"outcome": outcome, "message": message}
        self._count_unanswered()
        if data.get("text"):
            self._fields["text"] = str(data["text"])
        if outcome == "ok" and data.get("immediate"):
            self._entries.append(ToolEntry("returned", "run", str(data.get("text") or ""), outcome=outcome))
            return "returned at once", "passed"
        if outcome == "ok":
            return "finished", "passed"
        self._entries.append(ToolEntry("ended", "run", message, outcome=outcome))
        return outcome.replace("_", " "), "error"

    def _on_failed(self, data: Mapping[str, Any]) -> tuple[str, str]:
        message = str(data.get("message") or "")
        self._fields |= {"outcome": "error", "message": message}
        self._count_unanswered()
        self._entries.append(ToolEntry("ended", "run", message, outcome="failed"))
        return "failed", "error"

    def _count_unanswered(self) -> None:
        """Count a call that never gave an answer: what it used and cost is unknown."""
        if self._unanswered:
            self._unanswered = False
            self._usages.append({})
            self._costs.append(None)


def _told(kind: str, name: str, data: Mapping[str, Any], *, is_error: bool) -> ToolEntry:
    """Return the entry of what the model was told of a tool's call."""
    parts = tuple((data.get("sent") or {}).get("contents") or ())
    return ToolEntry(
        kind, "tool", name=name, parts=parts, is_error=is_error, elapsed_ms=data.get("elapsed_ms")
    )


def _content(content: Any) -> tuple[str, str, tuple[Any, ...], tuple[Mapping[str, Any], ...]]:
    """Return a message's content as text, name, calls and parts: a text, or the parts as they stand."""
    return (content, "", (), ()) if isinstance(content, str) else ("", "", (), tuple(content or ()))
