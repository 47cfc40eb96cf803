"""The actions of `history` that add to it or change what is kept: branch from an attempt, mark runs, prune old ones."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from workbench.cli.errors import GOOD, CliError
from workbench.cli.inputs import load_project, read_file, text_argument
from workbench.cli.output import print_json, tell, write
from workbench.cli.runs import add_model_options, close_history, open_history, secrets_for, wait_for
from workbench.cli.translations import exit_status, record_text, record_to_json
from workbench.engine.events import RunEvent
from workbench.engine.history import HistoryStore

if TYPE_CHECKING:
    from workbench.engine.workflows import WorkflowError

BYTES_OF_MEGABYTE = 1_000_000


def add_branch(actions: argparse._SubParsersAction[Any]) -> None:
    """Add `branch`."""
    branch = actions.add_parser(
        "branch", help="go on from an attempt of a translation, with another reply, prompt, schema or model"
    )
    branch.add_argument("run_id", metavar="RUN", type=int)
    branch.add_argument("attempt", metavar="ATTEMPT", type=int)
    reply = branch.add_mutually_exclusive_group()
    reply.add_argument(
        "--reply", metavar="T", help="go on as if the model had replied this; - reads standard input"
    )
    reply.add_argument("--reply-file", metavar="FILE", help="the same from a file")
    branch.add_argument("--repair-prompt", metavar="T", help="ask for the repair with this text")
    branch.add_argument("--schema", metavar="FILE", help="judge by this schema; the project keeps its own")
    add_model_options(branch)


def add_keeping(actions: argparse._SubParsersAction[Any]) -> None:
    """Add `mark` and `prune`."""
    mark = actions.add_parser("mark", help="star, name or annotate runs, which also keeps them from prune")
    mark.add_argument("run_ids", metavar="RUN", type=int, nargs="+")
    mark.add_argument("--star", action=argparse.BooleanOptionalAction, help="give a star, or take it away")
    mark.add_argument("--name", metavar="T", help="a name of your own; an empty one takes it away")
    mark.add_argument("--note", metavar="T", help="a note; an empty one takes it away")
    prune = actions.add_parser("prune", help="delete old runs; starred, named and annotated ones stay")
    prune.add_argument("--days", type=positive, metavar="N", help="those that are older than so many days")
    prune.add_argument("--runs", type=positive, metavar="N", help="all but the newest so many")
    prune.add_argument("--megabytes", type=positive, metavar="N", help="the oldest, as long as all take more")


def positive(text: str) -> int:
    """Return a number of the command line that counts something: from 1, and no larger than SQLite takes.

    Raises:
        argparse.ArgumentTypeError: where it is another one.
    """
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number < 2**63:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1")
    return number


def mark(store: HistoryStore, arguments: argparse.Namespace) -> int:
    """Change what the user says of runs."""
    if arguments.star is None and arguments.name is None and arguments.note is None:
        raise CliError("history mark: give --star, --no-star, --name or --note")
    # All are looked up first: a number that is wrong marks nothing.
    run_ids = list(dict.fromkeys(arguments.run_ids))
    for run_id in run_ids:
        store.run(run_id)
    for run_id in run_ids:
        if arguments.star is not None:
            store.star(run_id, arguments.star)
        if arguments.name is not None:
            store.rename(run_id, arguments.name)
        if arguments.note is not None:
            store.annotate(run_id, arguments.note)
    if arguments.json:
        print_json({"format": 1, "marked": run_ids})
    else:
        write("".join(f"run {run_id} marked\n" for run_id in run_ids))
    return GOOD


def prune(store: HistoryStore, arguments: argparse.Namespace) -> int:
    """Delete runs by age, number or size."""
    if arguments.days is None and arguments.runs is None and arguments.megabytes is None:
        raise CliError("history prune: say what may go with --days, --runs or --megabytes")
    deleted = store.prune(
        max_age_days=arguments.days,
        max_runs=arguments.runs,
        max_bytes=None if arguments.megabytes is None else arguments.megabytes * BYTES_OF_MEGABYTE,
    )
    if arguments.json:
        print_json({"format": 1, "deleted": deleted})
    else:
        write(f"{deleted} run{'' if deleted == 1 else 's'} deleted\n")
    return GOOD


def branch(arguments: argparse.Namespace) -> int:
    """Go on from a stored attempt; the new run is stored below the old one. Exit status as of `translate`."""
    from workbench.engine.workflows import WorkflowError, branch_translation, replay_translation

    if arguments.no_history:
        raise CliError("history branch: a branch is stored in the history, so --no-history cannot be given")
    project = load_project(arguments.project)
    snapshot = project.snapshot()
    reply, schema_text = _reply(arguments), _schema_text(arguments)
    secrets = secrets_for(arguments, snapshot)
    store = open_history(project.root, arguments, secrets)
    if store is None:
        raise CliError(f"{arguments.project}: the history cannot be written, so nothing can branch from it")
    events: list[RunEvent] = []
    try:
        wait_for(
            lambda: branch_translation(
                snapshot,
                store,
                arguments.run_id,
                arguments.attempt,
                reply=reply,
                repair_prompt=arguments.repair_prompt,
                schema_text=schema_text,
                repair_model_too=arguments.model is not None,
                model_name=arguments.model,
                secrets=secrets,
                on_event=events.append,
            )
        )
    except WorkflowError as error:
        raise _in_the_given_schema(error, arguments.schema) from error
    finally:
        close_history(store)
    record = replay_translation(events)
    if arguments.json:
        print_json(record_to_json(record))
    else:
        write(f"branched from run {arguments.run_id}, attempt {arguments.attempt}\n")
        tell(record_text(record))
    return exit_status(record)


def _reply(arguments: argparse.Namespace) -> str | None:
    if arguments.reply_file is not None:
        return read_file(arguments.reply_file).text
    return None if arguments.reply is None else text_argument(arguments.reply)


def _in_the_given_schema(error: WorkflowError, file: str | None) -> Exception:
    """Let an error in the schema that stood in for the project's name the file that it came from."""
    from workbench.engine.workflows import OUTPUT_SCHEMA_FILE

    first = error.diagnostics[0] if error.diagnostics else None
    if file is None or first is None or first.file != OUTPUT_SCHEMA_FILE:
        return error
    return CliError(first.at(file).one_line())


def _schema_text(arguments: argparse.Namespace) -> str | None:
    return None if arguments.schema is None else read_file(arguments.schema).text
