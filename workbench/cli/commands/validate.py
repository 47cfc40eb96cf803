"""`validate`: look for mistakes in a project."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.errors import BAD_VERDICT, GOOD
from workbench.cli.output import complain_about, print_json, write
from workbench.engine.diagnostics import has_errors, sort_diagnostics

if TYPE_CHECKING:
    from workbench.engine.translation import SchemaAdvice


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "validate",
        help="look for mistakes in a project",
        description="Read every file of a project: settings, templates with each parameter set, schemas, cases.",
        epilog="Exit status: 0 no errors (warnings alone are no error), 1 errors, 2 the folder is no project.",
    )
    parser.add_argument("project", help="the project's folder")
    parser.add_argument(
        "--hints",
        action="store_true",
        help="also say what would make the output schema easier for models, and its size in each schema_style",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print every diagnostic and return the exit status."""
    from workbench.cli.inputs import project_folder, with_folder
    from workbench.engine.workflows import validate_project

    folder = project_folder(arguments.project)
    found = sort_diagnostics(with_folder(d, folder) for d in validate_project(folder))
    bad = has_errors(found)
    advice = _advice(folder) if arguments.hints else None
    if arguments.json:
        report = {"format": 1, "valid": not bad, "diagnostics": [d.to_json() for d in found]}
        if arguments.hints:
            report["hints"] = (
                [] if advice is None else [with_folder(d, folder).to_json() for d in advice.hints]
            )
            report["schema_tokens"] = {} if advice is None else dict(advice.sizes)
        print_json(report)
    else:
        complain_about(found)
        if advice is not None:
            complain_about([with_folder(hint, folder) for hint in advice.hints])
            sizes = ", ".join(f"{style} {tokens}" for style, tokens in advice.sizes.items())
            write(f"output schema in tokens, about: {sizes}\n")
        errors = sum(d.severity == "error" for d in found)
        warnings = sum(d.severity == "warning" for d in found)
        write(f"{arguments.project}: {_count(errors, 'error')}, {_count(warnings, 'warning')}\n")
    return BAD_VERDICT if bad else GOOD


def _advice(folder: Path) -> SchemaAdvice | None:
    """Return the advice on the output schema, `None` where there is none or it is no sound schema."""
    from workbench.engine.projects import Project, ProjectError
    from workbench.engine.translation import schema_advice
    from workbench.engine.workflows import WorkflowError, output_schema

    try:
        snapshot = Project.load(folder).snapshot()
        return schema_advice(output_schema(snapshot), snapshot.translation.type_name)
    except (ProjectError, WorkflowError):  # said already by the diagnostics
        return None


def _count(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"
