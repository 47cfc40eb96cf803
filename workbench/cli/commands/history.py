"""`history`: list, show, replay, compare and keep the stored runs of a project, run them again, and branch from them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.cli import history_edits
from workbench.cli.errors import BAD_VERDICT, GOOD, CliError
from workbench.cli.history_places import Which, run_or_attempt, run_words, stored_run
from workbench.cli.inputs import load_project, project_folder, refuse_unknown_set
from workbench.cli.output import complain, print_json, table, tell, write
from workbench.cli.replays import difference_text, replay_json, replay_text
from workbench.cli.runs import add_model_options, close_history, open_history, secrets_for, wait_for
from workbench.engine.history import HistoryError, HistoryStore, Run, RunSummary, run_to_json, run_to_markdown
from workbench.engine.text import shorten

_ACTIONS = "list | show RUN | replay RUN | compare RUN RUN | again RUN… | branch RUN ATTEMPT | mark RUN… | delete RUN… | prune"


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "history",
        help="list, show and replay stored runs",
        description="Show what was sent and what came back in earlier runs. Only `again` and `branch` ask a model.",
        epilog="Exit status: 0 done, 1 compare or again found a change, or a branch gave no value, 2 a wrong call or file.",
    )
    parser.add_argument("project", help="the project's folder")
    actions = parser.add_subparsers(dest="action", metavar=_ACTIONS)
    listing = actions.add_parser("list", help="the runs, newest first (the default)")
    listing.add_argument("--search", metavar="WORDS", help="only runs whose texts hold these words")
    listing.add_argument(
        "--kind", choices=("check", "translate", "evaluate", "tool"), help="only runs of a kind"
    )
    listing.add_argument(
        "--outcome", metavar="WORD", action="append", help="only runs that ended so, such as ok or invalid"
    )
    listing.add_argument("--starred", action="store_true", help="only runs with a star")
    listing.add_argument(
        "--limit", type=history_edits.positive, default=50, help="how many at the most (default: 50)"
    )
    show = actions.add_parser("show", help="one run with all its events; with --json as it is exported")
    show.add_argument("run_id", metavar="RUN", type=int)
    replay = actions.add_parser("replay", help="one run as it was shown live")
    replay.add_argument("run_id", metavar="RUN", type=int)
    replay.add_argument("--step", metavar="N", type=int, help="as it stood after its Nth step")
    compare = actions.add_parser("compare", help="what differs between two runs, or attempts as in 3.1 3.2")
    compare.add_argument("runs", metavar="RUN[.ATTEMPT]", type=run_or_attempt, nargs=2)
    again = actions.add_parser("again", help="run runs again with today's prompt, and tell what changed")
    again.add_argument("run_ids", metavar="RUN", type=int, nargs="+")
    again.add_argument("--parameter-set", metavar="NAME", help="the parameter set of a template preamble")
    add_model_options(again)
    history_edits.add_branch(actions)
    history_edits.add_keeping(actions)
    delete = actions.add_parser("delete", help="take runs out of the history")
    delete.add_argument("run_ids", metavar="RUN", type=int, nargs="+")
    parser.set_defaults(run=run, search=None, kind=None, outcome=None, starred=False, limit=50)


def run(arguments: argparse.Namespace) -> int:
    """Answer from the history file and return the exit status."""
    from workbench.engine.workflows import WorkflowError, history_path

    path = history_path(project_folder(arguments.project))
    if not path.exists():
        if arguments.action in (None, "list"):
            return _list([], arguments)
        raise CliError(f"{arguments.project}: this project has no history yet")
    try:
        if arguments.action == "again":
            return _again(arguments)
        if arguments.action == "branch":
            return history_edits.branch(arguments)
        with _opened(path) as store:
            if store.notice:
                complain(f"warning: {store.notice}")
            return _answer(store, arguments)
    except HistoryError as error:
        raise CliError(str(error)) from error
    except (KeyError, WorkflowError) as error:
        raise CliError(f"{arguments.project}: {error.args[0]}") from error


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
    action = arguments.action or "list"
    if action == "list":
        found = store.runs(
            search=arguments.search,
            kind=arguments.kind,
            outcome=None if arguments.outcome is None else [_storable(word) for word in arguments.outcome],
            starred=arguments.starred,
            limit=arguments.limit,
        )
        return _list(found, arguments)
    return {
        "show": _show,
        "replay": _replay,
        "compare": _compare,
        "delete": _delete,
        "mark": history_edits.mark,
        "prune": history_edits.prune,
    }[action](store, arguments)


def _storable(word: str) -> str:
    """Return a word as the history would hold it; bytes of the command line that are not UTF-8 have no place in it."""
    return word.encode("utf-8", "replace").decode("utf-8")


def _show(store: HistoryStore, arguments: argparse.Namespace) -> int:
    stored = store.run(arguments.run_id)
    if arguments.json:
        print_json(run_to_json(stored))
    else:
        tell(run_to_markdown(stored))
    return GOOD


def _replay(store: HistoryStore, arguments: argparse.Namespace) -> int:
    from workbench.engine.workflows import replay_run

    record = replay_run(store, arguments.run_id, step=arguments.step)
    if arguments.json:
        print_json(replay_json(record))
    else:
        tell(replay_text(record))
    return GOOD


def _compare(store: HistoryStore, arguments: argparse.Namespace) -> int:
    before, after = (stored_run(store, *which) for which in arguments.runs)
    names = [run_words(*which) for which in arguments.runs]
    return _tell_differences([(before, after)], arguments, (names[0], names[1]), arguments.runs)


def _delete(store: HistoryStore, arguments: argparse.Namespace) -> int:
    # All are looked up first: a number that is wrong deletes nothing.
    run_ids = list(dict.fromkeys(arguments.run_ids))
    for run_id in run_ids:
        store.run(run_id)
    for run_id in run_ids:
        store.delete(run_id)
    if arguments.json:
        print_json({"format": 1, "deleted": run_ids})
    else:
        write("".join(f"run {run_id} deleted\n" for run_id in run_ids))
    return GOOD


def _again(arguments: argparse.Namespace) -> int:
    """Run stored runs again and tell what changed; each new run is stored below the old one."""
    from workbench.engine.workflows import RUNS_AGAIN, run_again

    if arguments.no_history:
        raise CliError(
            "history again: the new runs are compared in the history, so --no-history cannot be given"
        )
    project = load_project(arguments.project)
    snapshot = project.snapshot()
    refuse_unknown_set(snapshot, arguments.parameter_set, arguments.project)
    secrets = secrets_for(arguments, snapshot)
    store = open_history(project.root, arguments, secrets)
    if store is None:
        raise CliError(
            f"{arguments.project}: the history cannot be written, so there is nothing to compare with"
        )
    pairs: list[tuple[Run, Run]] = []
    try:
        stored = [store.run(run_id) for run_id in arguments.run_ids]
        for before in stored:
            if before.summary.kind not in RUNS_AGAIN:
                raise CliError(
                    f"run {before.summary.id} is of the kind {before.summary.kind}, which cannot run again"
                )
        for run_id, before in zip(arguments.run_ids, stored, strict=True):
            made = wait_for(
                lambda run_id=run_id: run_again(  # type: ignore[misc]
                    snapshot,
                    store,
                    run_id,
                    model_name=arguments.model,
                    parameter_set=arguments.parameter_set,
                    secrets=secrets,
                )
            )
            pairs.append((before, store.run(made)))
        return _tell_differences(pairs, arguments)
    finally:
        close_history(store)


def _tell_differences(
    pairs: list[tuple[Run, Run]],
    arguments: argparse.Namespace,
    names: tuple[str, str] | None = None,
    places: Sequence[Which] = (),
) -> int:
    """Print how each pair differs; `places` says which attempts of two runs are meant."""
    from workbench.engine.workflows import compare_runs

    found = [compare_runs(before, after) for before, after in pairs]
    changed = sum(1 for each in found if not each.same)
    if arguments.json:
        compared = [attempt for _run, attempt in places]
        which = {"compared_attempts": compared} if any(compared) else {}
        rows = [{**each.to_json(), **which} for each in found]
        print_json({"format": 1, "changed": changed, "runs": rows})
    else:
        tell("".join(difference_text(each, names) for each in found))
        if len(found) > 1:
            write(f"{len(found)} runs: {changed} changed\n")
    return BAD_VERDICT if changed else GOOD


def _list(runs: list[RunSummary], arguments: argparse.Namespace) -> int:
    if arguments.json:
        print_json({"format": 1, "runs": [_row(summary) for summary in runs]})
        return GOOD
    if not runs:
        write("no runs\n")
        return GOOD
    # A column that has nothing to say is left out: most models have no prices.
    priced = any(summary.cost is not None for summary in runs)
    rows = [["run", "started", "what", "result", "took", *(["cost"] if priced else [])]]
    for summary in runs:
        started = datetime.fromtimestamp(summary.started_at).strftime("%Y-%m-%d %H:%M")
        took = "" if summary.elapsed_ms is None else f"{summary.elapsed_ms:.0f} ms"
        result = summary.outcome + (
            f", {summary.summary}" if summary.summary not in ("", summary.outcome) else ""
        )
        row = [str(summary.id), started, summary.name or summary.title, shorten(result, 60), took]
        cost = "unknown" if summary.cost is None else summary.cost.words()
        rows.append([*row, *([cost] if priced else [])])
    write(table(rows, right=frozenset({0, 4, 5})))
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
        "cost": None if summary.cost is None else summary.cost.to_json(),
        "parent": summary.parent_run,
        "attempts": len(summary.attempts),
        "starred": summary.starred,
    }
