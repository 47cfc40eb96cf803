"""`samples`: list the sample projects, or copy one to a folder of one's own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.errors import GOOD, CliError, wrong_input
from workbench.cli.output import print_json, table, write


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "samples",
        help="list the sample projects, or copy one",
        description="The samples show what the workbench does. Copy one and make it your own.",
        epilog="Exit status: 0 done, 2 a wrong name or a folder that is not empty.",
    )
    actions = parser.add_subparsers(dest="action", metavar="list | copy NAME DIR")
    actions.add_parser("list", help="the samples (the default)")
    copy = actions.add_parser("copy", help="make the folder DIR a copy of the sample NAME")
    copy.add_argument("name", metavar="NAME")
    copy.add_argument("folder", metavar="DIR")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List or copy, and return the exit status."""
    from workbench.engine.projects import ProjectError, copy_sample, list_samples

    samples = list_samples()
    if arguments.action == "copy":
        try:
            copy_sample(arguments.name, Path(arguments.folder))
        except ProjectError as error:
            raise wrong_input(error.diagnostics) from error
        except OSError as error:
            raise CliError(f"{arguments.folder}: {error.strerror or error}") from error
        if arguments.json:
            print_json({"format": 1, "name": arguments.name, "folder": arguments.folder})
        else:
            write(f"{arguments.folder}\n")
        return GOOD
    rows = [{"name": s.name, "title": s.title, "description": s.description} for s in samples]
    if arguments.json:
        print_json({"format": 1, "samples": rows})
    else:
        write(table([[s.name, s.title, s.description] for s in samples]))
    return GOOD
