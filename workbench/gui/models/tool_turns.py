"""A conversation with tools as turns, folded from its events, so that a live run and a replay show the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.engine.json_text import dumps
from workbench.gui.models.figures import counted, format_duration
from workbench.gui.models.runs import word_of
from workbench.gui.widgets.conversation import Turn

if TYPE_CHECKING:
    from workbench.engine.events import RunEvent

NOT_SENT = "not sent to the model"


def turns_of_tools(events: Iterable[RunEvent]) -> list[Turn]:
    """Return what was sent and what came, call by call; what a tool kept back is a turn that says so."""
    turns: list[Turn] = []
    arriving: list[str] = []
    for event in events:
        data = event.data
        if event.kind == "started":
            turns += [Turn(m["role"], _content(m["content"]), "sent") for m in data.get("messages", ())]
        elif event.kind == "delta":
            arriving.append(str(data.get("text", "")))
        elif event.kind == "reply":
            arriving.clear()
            turns.append(_reply(data))
        elif event.kind == "tool_result":
            turns += _result(data)
        elif event.kind == "finished" and data.get("outcome") != "ok":
            turns.append(Turn("run", str(data.get("message", "")), word_of(str(data.get("outcome", "")))))
        elif event.kind == "failed":
            turns.append(Turn("run", str(data.get("message", "")), "failed"))
    if arriving:
        turns.append(Turn("assistant", "".join(arriving), "arriving"))
    if turns:
        last = turns[-1]
        turns[-1] = Turn(last.role, last.text, last.caption, current=True)
    return turns


def executions_of(events: Iterable[RunEvent]) -> list[dict[str, Any]]:
    """Return every executed call as JSON values, with what was sent and what was not told apart."""
    return [dict(event.data) for event in events if event.kind == "tool_result"]


def tool_steps(events: Iterable[RunEvent]) -> list[tuple[str, float, str]]:
    """Return label, seconds since the start, and outcome of each event as a step on a timeline."""
    return [(_label(event), event.at, _status(event)) for event in events]


def _label(event: RunEvent) -> str:
    if event.kind == "reply":
        calls = len(event.data.get("tool_calls", ()))
        return f"asks for {counted(calls, 'tool')}" if calls else "answer"
    if event.kind == "tool_result":
        return str(event.data.get("name", "tool"))
    return event.kind.replace("_", " ")


def _status(event: RunEvent) -> str:
    if event.kind == "tool_result":
        return "rejected" if event.data.get("is_error") else "passed"
    return "error" if event.kind == "failed" else ""


def _reply(data: Mapping[str, Any]) -> Turn:
    calls = data.get("tool_calls", ())
    lines = [str(data["text"])] if data.get("text") else []
    lines += [f"{call['name']}({call['arguments']})" for call in calls]
    if data.get("refusal"):
        lines.append(f"refused: {data['refusal']}")
    caption = f"asks for {counted(len(calls), 'tool')}" if calls else "answer"
    facts = [caption, format_duration(data.get("elapsed_ms"))]
    if data.get("recorded"):
        facts.append("recorded")
    return Turn("assistant", "\n".join(lines), ", ".join(fact for fact in facts if fact))


def _result(data: Mapping[str, Any]) -> list[Turn]:
    name = str(data.get("name", ""))
    contents = data.get("sent", {}).get("contents", ())
    kind = "error" if data.get("is_error") else "result"
    caption = f"{kind} of {name} after {format_duration(data.get('elapsed_ms'))}, sent to the model"
    turns = [Turn("tool", "\n".join(_part(part) for part in contents), caption)]
    kept = {key: value for key, value in data.get("not_sent", {}).items() if value not in (None, {}, "")}
    if kept:
        turns.append(Turn("tool", dumps(kept, indent=2), f"{', '.join(kept)} of {name}, {NOT_SENT}"))
    return turns


def _content(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(_part(part) for part in content)


def _part(part: Mapping[str, Any]) -> str:
    if part.get("type") == "text":
        return str(part.get("text", ""))
    shown = {key: value for key, value in part.items() if key != "data"}
    return dumps(shown)
