"""A stored run as a document that can leave the program: JSON for tools, Markdown for people."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from workbench.engine.history.records import Run


def run_to_json(run: Run) -> dict[str, Any]:
    """Return a run with its inputs and events as JSON-like data (`"format": 1`)."""
    summary = run.summary
    return {
        "format": 1,
        "id": summary.id,
        "kind": summary.kind,
        "title": summary.title,
        "name": summary.name,
        "note": summary.note,
        "starred": summary.starred,
        "outcome": summary.outcome,
        "summary": summary.summary,
        "model": summary.model,
        "started_at": _time(summary.started_at),
        "finished_at": None if summary.finished_at is None else _time(summary.finished_at),
        "cost": None if summary.cost is None else summary.cost.to_json(),
        "parent": None
        if summary.parent_run is None
        else {"run": summary.parent_run, "attempt": summary.parent_attempt},
        "inputs": dict(run.inputs),
        "events": [{"kind": event.kind, "at": event.at, "data": event.data} for event in run.events],
    }


def run_to_markdown(run: Run) -> str:
    """Return a run as Markdown: a heading, its facts, its inputs, and every event in order."""
    summary = run.summary
    lines = [
        f"# Run {summary.id}: {summary.name or summary.title}",
        "",
        f"- kind: {summary.kind}",
        f"- outcome: {summary.outcome}{f' ({summary.summary})' if summary.summary else ''}",
        f"- model: {summary.model or 'not known'}",
        f"- started: {_time(summary.started_at)}",
    ]
    if summary.elapsed_ms is not None:
        lines.append(f"- took: {summary.elapsed_ms:.0f} ms")
    if summary.cost is not None:
        lines.append(f"- cost: {summary.cost.words()}")
    if summary.note:
        lines += ["", summary.note]
    lines += ["", "## Inputs", "", *_fenced(run.inputs)]
    for event in run.events:
        lines += ["", f"## {event.kind} (+{event.at:.3f} s)", "", *_fenced(event.data)]
    return "\n".join(lines) + "\n"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _fenced(value: Any) -> list[str]:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    # Half a surrogate pair is written as JSON escapes it.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}json", text, fence]
