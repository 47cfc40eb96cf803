"""A conversation with tools as turns, made from its record, so that a live run and a replay show the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.engine.json_text import dumps
from workbench.gui.models.figures import counted, format_duration
from workbench.gui.models.runs import word_of
from workbench.gui.models.turns import last_current
from workbench.gui.widgets.conversation import Turn

if TYPE_CHECKING:
    from workbench.engine.events import RunEvent
    from workbench.engine.workflows import ToolEntry, ToolRecord

NOT_SENT = "not sent to the model"


def turns_of_tools(events: Iterable[RunEvent]) -> list[Turn]:
    """Return what was sent and what came, call by call; what a tool kept back is a turn that says so."""
    from workbench.engine.workflows import replay_tools

    return turns_of_record(replay_tools(events))


def turns_of_record(record: ToolRecord) -> list[Turn]:
    """Return the turns of a record; the last one is the current turn."""
    return last_current(_turn(entry) for entry in record.entries)


def _turn(entry: ToolEntry) -> Turn:
    if entry.kind == "reply":
        return Turn("assistant", _reply_text(entry), _reply_caption(entry))
    if entry.kind == "result":
        kind = "error" if entry.is_error else "result"
        took = "" if entry.elapsed_ms is None else f" after {format_duration(entry.elapsed_ms)}"
        caption = f"{kind} of {entry.name}{took}, sent to the model"
        return Turn("tool", _parts(entry), caption)
    if entry.kind == "rolled_back":
        return Turn("tool", _parts(entry), f"{entry.name} was rolled back: sent to the model instead")
    if entry.kind == "returned":
        return Turn("run", entry.text, "answered with the tool's result, without the model")
    if entry.kind == "kept":
        return Turn(
            "tool", dumps(dict(entry.kept), indent=2), f"{', '.join(entry.kept)} of {entry.name}, {NOT_SENT}"
        )
    if entry.kind == "ended":
        return Turn("run", entry.text, word_of(entry.outcome))
    return Turn(entry.role, entry.text or _parts(entry), entry.kind)


def _reply_text(entry: ToolEntry) -> str:
    lines = [entry.text] if entry.text else []
    lines += [f"{call['name']}({call['arguments']})" for call in entry.calls]
    if entry.refusal:
        lines.append(f"refused: {entry.refusal}")
    return "\n".join(lines)


def _reply_caption(entry: ToolEntry) -> str:
    calls = len(entry.calls)
    facts = [f"asks for {counted(calls, 'tool')}" if calls else "answer", format_duration(entry.elapsed_ms)]
    if entry.recorded:
        facts.append("recorded")
    return ", ".join(fact for fact in facts if fact)


def _parts(entry: ToolEntry) -> str:
    return "\n".join(_part(part) for part in entry.parts)


def _part(part: Mapping[str, Any]) -> str:
    if part.get("type") == "text":
        return str(part.get("text", ""))
    shown = {key: value for key, value in part.items() if key != "data"}
    return dumps(shown)
