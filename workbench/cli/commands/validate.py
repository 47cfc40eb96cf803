"""`validate`: look for mistakes in a project."""

from __future__ import annotations

import argparse
from typing import Any

from workbench.cli.errors import BAD_VERDICT, GOOD
from workbench.cli.output import complain_about, print_json, write
from workbench.engine.diagnostics import has_errors, sort_diagnostics


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "validate",
        help="look for mistakes in a project",
        description="Read every file of a project: settings, templates with each parameter set, schemas, cases.",
        epilog="Exit status: 0 no errors (warnings alone are no error), 1 errors, 2 the folder is no project.",
    )
    parser.add_argument("project", help="the project's folder")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print every diagnostic and return the exit status."""
    from workbench.cli.inputs import project_folder, with_folder
    from workbench.engine.workflows import validate_project

    folder = project_folder(arguments.project)
    found = sort_diagnostics(with_folder(d, folder) for d in validate_project(folder))
    bad = has_errors(found)
    if arguments.json:
        print_json({"format": 1, "valid": not bad, "diagnostics": [d.to_json() for d in found]})
    else:
        complain_about(found)
        errors = sum(d.severity == "error" for d in found)
        warnings = sum(d.severity == "warning" for d in found)
        write(f"{arguments.project}: {_count(errors, 'error')}, {_count(warnings, 'warning')}\n")
    return BAD_VERDICT if bad else GOOD


def _count(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"
