"""`history`: list, show and replay the stored runs of a project."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.cli.commands.check import check_table
from workbench.cli.commands.translate import record_text, record_to_json
from workbench.cli.errors import GOOD, CliError
from workbench.cli.inputs import project_folder
from workbench.cli.output import complain, print_json, table, write
from workbench.engine.history import HistoryError, HistoryStore, RunSummary, run_to_json, run_to_markdown
from workbench.engine.text import shorten


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "history",
        help="list, show and replay stored runs",
        description="Show what was sent and what came back in earlier runs. Nothing is sent again.",
        epilog="Exit status: 0 done, 2 a wrong call or file.",
    )
    parser.add_argument("project", help="the project's folder")
    actions = parser.add_subparsers(dest="action", metavar="list | show RUN | replay RUN")
    listing = actions.add_parser("list", help="the runs, newest first (the default)")
    listing.add_argument("--search", metavar="WORDS", help="only runs whose texts hold these words")
    listing.add_argument(
        "--kind", choices=("check", "translate", "evaluate", "tool"), help="only runs of a kind"
    )
    listing.add_argument("--limit", type=int, default=50, help="how many at the most (default: 50)")
    for name, text in (("show", "one run with all its events"), ("replay", "one run as it was shown live")):
        actions.add_parser(name, help=text).add_argument("run_id", metavar="RUN", type=int)
    parser.set_defaults(run=run, search=None, kind=None, limit=50)


def run(arguments: argparse.Namespace) -> int:
    """Answer from the history file and return the exit status."""
    from workbench.engine.workflows import history_path

    path = history_path(project_folder(arguments.project))
    if not path.exists():
        if arguments.action in (None, "list"):
            return _list([], arguments)
        raise CliError(f"{arguments.project}: this project has no history yet")
    try:
        with _opened(path) as store:
            if store.notice:
                complain(f"warning: {store.notice}")
            return _answer(store, arguments)
    except HistoryError as error:
        raise CliError(str(error)) from error


def _opened(path: Path) -> HistoryStore:
    """Open the history; where it cannot be written (another's folder, a full disk), open it to be read."""
    try:
        return HistoryStore.open(path)
    except HistoryError as error:
        try:
            return HistoryStore.read(path)
        except HistoryError:
            raise error from None


def _answer(store: HistoryStore, arguments: argparse.Namespace) -> int:
    from workbench.engine.translation import TranslationRecord
    from workbench.engine.workflows import WorkflowError, replay_run

    if arguments.action in (None, "list"):
        found = store.runs(search=arguments.search, kind=arguments.kind, limit=arguments.limit)
        return _list(found, arguments)
    try:
        if arguments.action == "show":
            stored = store.run(arguments.run_id)
            if arguments.json:
                print_json(run_to_json(stored))
            else:
                write(run_to_markdown(stored))
            return GOOD
        shown = replay_run(store, arguments.run_id)
    except (KeyError, WorkflowError) as error:
        raise CliError(f"{arguments.project}: {error.args[0]}") from error
    if isinstance(shown, TranslationRecord):
        if arguments.json:
            print_json(record_to_json(shown))
        else:
            write(record_text(shown))
    elif arguments.json:
        print_json({"format": 1, **shown.to_json()})
    else:
        write(check_table(shown))
    return GOOD


def _list(runs: list[RunSummary], arguments: argparse.Namespace) -> int:
    if arguments.json:
        print_json({"format": 1, "runs": [_row(summary) for summary in runs]})
        return GOOD
    if not runs:
        write("no runs\n")
        return GOOD
    rows = [["run", "started", "what", "result", "took"]]
    for summary in runs:
        started = datetime.fromtimestamp(summary.started_at).strftime("%Y-%m-%d %H:%M")
        took = "" if summary.elapsed_ms is None else f"{summary.elapsed_ms:.0f} ms"
        result = summary.outcome + (
            f", {summary.summary}" if summary.summary not in ("", summary.outcome) else ""
        )
        rows.append([str(summary.id), started, summary.name or summary.title, shorten(result, 60), took])
    write(table(rows, right=frozenset({0, 4})))
    return GOOD


def _row(summary: RunSummary) -> dict[str, Any]:
    return {
        "id": summary.id,
        "kind": summary.kind,
        "title": summary.title,
        "name": summary.name,
        "outcome": summary.outcome,
        "summary": summary.summary,
        "model": summary.model,
        "started_at": summary.started_at,
        "elapsed_ms": summary.elapsed_ms,
        "attempts": len(summary.attempts),
        "starred": summary.starred,
    }
