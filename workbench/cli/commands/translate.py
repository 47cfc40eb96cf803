"""`translate`: turn requests into JSON of the project's output schema, and show each attempt."""

from __future__ import annotations

import argparse
from typing import Any

from workbench.cli.errors import BAD_VERDICT, GOOD, MODEL_FAILED, CliError
from workbench.cli.inputs import load_project, read_file, text_argument
from workbench.cli.output import print_json, write
from workbench.cli.runs import add_model_options, close_history, open_history, secrets_for, wait_for
from workbench.engine.json_text import dumps
from workbench.engine.projects import Project
from workbench.engine.text import shorten
from workbench.engine.translation import Attempt, TranslationRecord, pointer_diff, read_requests


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "translate",
        help="turn a request into schema-valid JSON",
        description="Ask the chat model for JSON of the project's output schema; replies that break it are repaired.",
        epilog="Exit status: 0 a valid value, 1 none, 2 a wrong call or file, 3 the model or the network failed.",
    )
    parser.add_argument("project", help="the project's folder")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--request", metavar="T", help="the request; - reads standard input")
    source.add_argument(
        "--requests", metavar="FILE", help="a file with one request a line; # starts a comment line"
    )
    source.add_argument("--replay", metavar="RUN", type=int, help="show a stored run again, without a model")
    parser.add_argument("--parameter-set", metavar="NAME", help="the parameter set of a template preamble")
    add_model_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Translate or replay, print every attempt, and return the exit status."""
    project = load_project(arguments.project)
    if arguments.replay is not None:
        return _replay(project, arguments)
    if arguments.requests is not None:
        return _batch(project, arguments)
    record = _translate(project, text_argument(arguments.request), arguments)
    if arguments.json:
        print_json(record_to_json(record))
    else:
        write(record_text(record) + _expectation(project, arguments))
    return exit_status(record)


def _expectation(project: Project, arguments: argparse.Namespace) -> str:
    """Return a line that names the model that answered and says what to expect of it."""
    from workbench.engine.workflows import describe_chat_model

    snapshot = project.snapshot()
    secrets = secrets_for(arguments, snapshot)
    described = wait_for(lambda: describe_chat_model(snapshot, arguments.model, secrets=secrets))
    return "" if described is None else f"model: {described.one_line()}\n"


def _translate(project: Project, request: str, arguments: argparse.Namespace) -> TranslationRecord:
    from workbench.engine.events import RunEvent
    from workbench.engine.translation import replay
    from workbench.engine.workflows import translate_project

    if not request.strip():
        raise CliError("translate: the request is empty")
    secrets = secrets_for(arguments, project.snapshot())
    history = open_history(project.root, arguments, secrets)
    events: list[RunEvent] = []
    try:
        wait_for(
            lambda: translate_project(
                project.snapshot(),
                request,
                model_name=arguments.model,
                parameter_set=arguments.parameter_set,
                history=history,
                secrets=secrets,
                on_event=events.append,
            )
        )
    finally:
        close_history(history)
    return replay(events)


def _replay(project: Project, arguments: argparse.Namespace) -> int:
    from workbench.engine.workflows import WorkflowError, replay_run

    history = open_history(project.root, arguments, None)
    if history is None:
        raise CliError(f"{arguments.project}: there is no history to replay from")
    with history:
        try:
            record = replay_run(history, arguments.replay)
        except (KeyError, WorkflowError) as error:
            raise CliError(f"{arguments.project}: {error.args[0]}") from error
    if not isinstance(record, TranslationRecord):
        raise CliError(f"run {arguments.replay} is a check; see prompt-workbench history PROJECT replay")
    if arguments.json:
        print_json(record_to_json(record))
    else:
        write(f"replay of run {arguments.replay}; nothing is sent\n" + record_text(record))
    return exit_status(record)


def _batch(project: Project, arguments: argparse.Namespace) -> int:
    requests = read_requests(read_file(arguments.requests).text)
    if not requests:
        raise CliError(f"{arguments.requests}: there is no request in this file")
    results = []
    worst = GOOD
    for number, request in enumerate(requests, 1):
        record = _translate(project, request, arguments)
        worst = max(worst, exit_status(record))
        results.append((request, record))
        if not arguments.json:
            outcome = record.outcome if record.outcome != "ok" else dumps(record.value)
            write(f"{number}/{len(requests)}  {shorten(request, 60)}\n    {outcome}\n")
    if arguments.json:
        rows = [{"request": request, **record_to_json(record)} for request, record in results]
        print_json({"format": 1, "results": rows})
    else:
        first = sum(1 for _, r in results if r.outcome == "ok" and len(r.attempts) == 1)
        repaired = sum(1 for _, r in results if r.outcome == "ok" and len(r.attempts) > 1)
        write(
            f"{len(results)} requests: {first} valid at first, {repaired} repaired, "
            f"{len(results) - first - repaired} failed\n"
        )
    return worst


def exit_status(record: TranslationRecord) -> int:
    """Return the exit status for an outcome."""
    if record.outcome == "ok":
        return GOOD
    return MODEL_FAILED if record.outcome == "model_error" else BAD_VERDICT


def record_to_json(record: TranslationRecord) -> dict[str, Any]:
    """Return the stable JSON form of a translation."""
    return {
        "format": 1,
        "outcome": record.outcome,
        "value": record.value,
        "message": record.message,
        "attempts": [attempt.to_json() for attempt in record.attempts],
    }


def record_text(record: TranslationRecord) -> str:
    """Return a translation for people: each attempt, what was wrong with it, and what the repair changed."""
    lines: list[str] = []
    before: Attempt | None = None
    for attempt in record.attempts:
        lines.append(_headline(attempt))
        lines += [f"    {line}" for line in attempt.reply.splitlines()] or ["    (no reply)"]
        lines += [f"  {d.severity}: {d.message}" for d in attempt.diagnostics]
        lines += [f"  note: {note}" for note in attempt.notes]
        if before is not None and attempt.value is not None:
            lines += _changes(before, attempt)
        before = attempt
        lines.append("")
    if record.outcome == "ok":
        lines += ["value:", dumps(record.value, indent=2)]
        if len(record.attempts) > 1:
            lines.append(
                "Valid means that the schema holds, not that the values are right. Read what the repair changed."
            )
    else:
        told = {d.message for attempt in record.attempts[-1:] for d in attempt.diagnostics}
        reason = "see the error above" if record.message in told else record.message
        lines.append(f"no value ({record.outcome}): {reason}")
    return "\n".join(lines) + "\n"


def _headline(attempt: Attempt) -> str:
    facts = [f"{attempt.elapsed_ms:.0f} ms"] if attempt.elapsed_ms is not None else []
    if attempt.usage is not None and attempt.usage.input_tokens is not None:
        facts.append(f"{attempt.usage.input_tokens} + {attempt.usage.output_tokens} tokens")
    if attempt.model:
        facts.append(attempt.model)
    if attempt.recorded:
        facts.append("recorded")
    return f"attempt {attempt.number}: {attempt.outcome} ({', '.join(facts)})"


def _changes(before: Attempt, after: Attempt) -> list[str]:
    if before.value is None:
        return []
    changes = pointer_diff(before.value, after.value)
    lines = ["  changed by the repair:"] if changes else ["  the repair changed no value"]
    for change in changes:
        old = "" if change.kind == "added" else dumps(change.before)
        new = "" if change.kind == "removed" else dumps(change.after)
        lines.append(
            f"    {change.kind} {change.pointer or '(root)'}: {old}{' -> ' if old and new else ''}{new}"
        )
    return lines
