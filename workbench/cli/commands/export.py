"""`export`: write a project in the form of another framework."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.errors import GOOD, CliError
from workbench.cli.inputs import load_project, refuse_unknown_set
from workbench.cli.output import complain, print_json, table, write


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "export",
        help="write the project for another framework",
        description="Write the configured prompt and checks in the form of another framework, and say what it cannot express.",
        epilog="Exit status: 0 written, 2 a wrong call or file.",
    )
    parser.add_argument("project", nargs="?", help="the project's folder")
    parser.add_argument("--to", metavar="TARGET", help="the target's name; --list shows them")
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="the folder to write (default: print the files)"
    )
    parser.add_argument(
        "--parameter-set", metavar="NAME", help="the parameter set that a filled example uses"
    )
    parser.add_argument("--list", action="store_true", help="show the targets, and what each cannot express")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List the targets or write one export; return the exit status."""
    if arguments.list:
        return _list(arguments)
    if arguments.project is None or arguments.to is None:
        raise CliError(
            "export: name a project and a target with --to TARGET (export --list shows the targets)"
        )
    from workbench.engine.exports import find_target, foreign_file, readme, targets, write_export

    target = find_target(arguments.to)
    if target is None:
        raise CliError(
            f"--to {arguments.to}: there is no such target (there are: {', '.join(t.name for t in targets())})"
        )
    snapshot = load_project(arguments.project).snapshot()
    refuse_unknown_set(snapshot, arguments.parameter_set, arguments.project)
    export = target.export(snapshot, parameter_set=arguments.parameter_set)
    written: list[Path] = []
    if arguments.output is not None:
        folder = Path(arguments.output)
        try:
            if (foreign := foreign_file(export, folder)) is not None:
                raise CliError(
                    f"{foreign}: this file would be replaced, and no earlier export wrote it (move it away, or"
                    " write to another folder)"
                )
            written = write_export(export, folder, extra=(readme(export, snapshot, target.title),))
        except OSError as error:
            raise CliError(f"{arguments.output}: {error.strerror or error}") from error
    losses = [{"kind": loss.kind, "subject": loss.subject, "detail": loss.detail} for loss in export.losses]
    if arguments.json:
        files = [{"path": file.path, "text": file.text} for file in export.files]
        print_json(
            {
                "format": 1,
                "target": target.name,
                "files": files,
                "written": [str(p) for p in written],
                "losses": losses,
            }
        )
        return GOOD
    if written:
        write("".join(f"{path}\n" for path in written))
    elif len(export.files) == 1:
        write(export.files[0].text)
    else:
        write("".join(f"--- {file.path} ---\n{file.text}" for file in export.files))
    for loss in export.losses:
        complain(f"{loss.kind}: {loss.subject}: {loss.detail}")
    return GOOD


def _list(arguments: argparse.Namespace) -> int:
    from workbench.engine.exports import targets

    snapshot = None if arguments.project is None else load_project(arguments.project).snapshot()
    rows = []
    for target in targets():
        row: dict[str, Any] = {
            "name": target.name,
            "title": target.title,
            "description": target.description,
            "cannot_express": list(target.cannot_express),
        }
        if snapshot is not None:
            row["losses"] = len(target.export(snapshot).losses)
        rows.append(row)
    if arguments.json:
        print_json({"format": 1, "targets": rows})
        return GOOD
    for row in rows:
        losses = f" ({row['losses']} losses for this project)" if "losses" in row else ""
        write(table([[row["name"], row["title"] + losses]]) + f"    {row['description']}\n")
        for item in row["cannot_express"]:
            write(f"    cannot express: {item}\n")
    return GOOD
