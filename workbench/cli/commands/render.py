"""`render`: fill a template or a project's prompt."""

from __future__ import annotations

import argparse
import copy
import dataclasses
from pathlib import Path
from typing import Any

from workbench.cli.errors import BAD_VERDICT, GOOD, CliError, wrong_input
from workbench.cli.inputs import (
    apply_settings,
    load_project,
    read_file,
    read_json,
    refuse_unknown_set,
    with_folder,
)
from workbench.cli.output import complain_about, print_json, write
from workbench.engine.diagnostics import Diagnostic, has_errors
from workbench.engine.json_text import JsonDocument, dumps
from workbench.engine.projects import Project
from workbench.engine.templates import PlaceholderUse, TemplateOptions, render_graph, render_text
from workbench.engine.templates.options import DIALECTS
from workbench.engine.text import TextFile


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "render",
        help="fill a template or a project's prompt",
        description="Fill a project's prompt, or one template file, and write the result. What no option says is as"
        " the project says; the defaults below are those of a template file.",
        epilog="Exit status: 0 filled, 1 a placeholder has no value, 2 a file or an option is wrong.",
    )
    parser.add_argument("project", nargs="?", help="the project's folder")
    parser.add_argument("--template", metavar="FILE", help="a template file; .json is an object graph")
    parser.add_argument("--parameters", metavar="FILE", help="a JSON file with the values")
    parser.add_argument("--parameter-set", metavar="NAME", help="a parameter set of the project")
    parser.add_argument("--dialect", choices=DIALECTS, help="how placeholders are written (default: context)")
    parser.add_argument(
        "--context-name", metavar="NAME", help="the context of the parameters (default: param)"
    )
    parser.add_argument(
        "--escape",
        metavar="NAME",
        help="how inserted values are escaped: json_string, xml, … (default: none)",
    )
    parser.add_argument(
        "--unresolved",
        choices=("error", "keep", "empty"),
        default="error",
        help="what to do with a placeholder without a value (default: error)",
    )
    parser.add_argument("--null", metavar="TEXT", help="the text of a null value (default: empty)")
    parser.add_argument(
        "--many",
        choices=("join", "json", "first", "error"),
        help="what to do with several matches of one path (default: join)",
    )
    parser.add_argument(
        "--expand-parameters", action="store_true", help="fill placeholders inside parameter texts first"
    )
    parser.add_argument(
        "--set",
        metavar="POINTER=JSON",
        action="append",
        default=[],
        help="set one parameter, as /customer/name='\"Ann\"'; may be repeated",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Fill and write; return the exit status."""
    if (arguments.project is None) == (arguments.template is None):
        raise CliError("render: name a project, or a template with --template FILE")
    if arguments.project is not None:
        return _render_project(arguments)
    return _render_file(arguments)


def _options(arguments: argparse.Namespace, base: TemplateOptions) -> TemplateOptions:
    changes: dict[str, Any] = {"unresolved": "keep"}  # the verdict is ours, after every record is there
    for field, value in (
        ("dialect", arguments.dialect),
        ("context_name", arguments.context_name),
        ("escape", arguments.escape),
        ("null_text", arguments.null),
        ("many", arguments.many),
        ("expand_parameters", arguments.expand_parameters or None),
    ):
        if value is not None:
            changes[field] = value
    if arguments.unresolved == "empty":
        changes["unresolved"] = "empty"
    _check_escaper(changes.get("escape"))
    if not changes.get("context_name", "param").strip():
        raise CliError("--context-name: the name is blank")
    return dataclasses.replace(base, **changes)


def _check_escaper(name: str | None) -> None:
    from workbench.engine.templates import ESCAPERS

    if name is not None and name not in ESCAPERS:
        raise CliError(f"--escape {name}: there is no such escaper; choose from {', '.join(ESCAPERS)}")


def _render_project(arguments: argparse.Namespace) -> int:
    from workbench.engine.workflows import render_project

    if arguments.parameters is not None and arguments.parameter_set is not None:
        raise CliError("render: give either --parameters or --parameter-set, not both")
    project = load_project(arguments.project)
    snapshot = project.snapshot()
    name = arguments.parameter_set
    refuse_unknown_set(snapshot, name, arguments.project)
    if arguments.parameters is not None:
        name = _COMMAND_LINE
        snapshot = dataclasses.replace(snapshot, parameter_sets={name: read_file(arguments.parameters)})
    unchanged: JsonDocument | None = None
    if arguments.set:
        name = name or snapshot.default_parameter_set() or _COMMAND_LINE
        unchanged = _parameters_of(snapshot.parameter_sets.get(name), _file_of(name, arguments, project))
        values = apply_settings(copy.deepcopy(unchanged.value), arguments.set)
        sets = {**snapshot.parameter_sets, name: TextFile(dumps(values))}
        snapshot = dataclasses.replace(snapshot, parameter_sets=sets)
    rendering = render_project(snapshot, name, options=_options(arguments, snapshot.template))
    assert project.root is not None
    found = [_in_file(d, f"parameters/{name}.json", unchanged) for d in rendering.diagnostics]
    diagnostics = [d if d.file == _SET else _placed(d, arguments, project.root) for d in found]
    if rendering.broken:
        raise wrong_input([_placed(d, arguments, project.root) for d in rendering.broken])
    value: Any = (
        rendering.graph.value
        if rendering.graph is not None
        else [{"role": m.role, "content": m.text} for m in rendering.messages]
    )
    text = dumps(value, indent=2) + "\n" if rendering.graph is not None else rendering.text()
    return _finish(arguments, value, text, list(rendering.placeholders), diagnostics)


_COMMAND_LINE = "command-line"
_SET = "--set"
"""The place of what no file holds."""


def _placed(diagnostic: Diagnostic, arguments: argparse.Namespace, root: Path) -> Diagnostic:
    """Return `diagnostic` with a file that can be opened from here, be it of the project or of the call."""
    if diagnostic.file == f"parameters/{_COMMAND_LINE}.json" and arguments.parameters is not None:
        return diagnostic.at(arguments.parameters)
    return with_folder(diagnostic, root)


def _file_of(name: str, arguments: argparse.Namespace, project: Project) -> str:
    """Return the file that holds the parameter set `name`, as a path from here."""
    if arguments.parameters is not None:
        return str(arguments.parameters)
    assert project.root is not None
    return str(project.root / (project.parameter_set_file(name) or f"parameters/{name}.json"))


def _in_file(diagnostic: Diagnostic, file: str, unchanged: JsonDocument | None) -> Diagnostic:
    """Return a diagnostic of parameters that `--set` changed with its place in the file, which is as it was.

    What the file does not have came with `--set`.
    """
    if unchanged is None or diagnostic.file != file:
        return diagnostic
    pointer = diagnostic.pointer
    span = None if pointer is None else unchanged.key_span(pointer) or unchanged.span(pointer)
    if span is None:
        return diagnostic.at(_SET, start=None, end=None, line=None, column=None)
    line, column = unchanged.lines.position(span[0])
    return diagnostic.at(start=span[0], end=span[1], line=line, column=column)


def _parameters_of(file: TextFile | None, name: str) -> JsonDocument:
    from workbench.engine.json_text import parse_json

    document = parse_json(file.text if file is not None else "{}", file=name)
    if not document.ok:
        raise wrong_input(document.diagnostics)
    return document


def _render_file(arguments: argparse.Namespace) -> int:
    if arguments.parameter_set is not None:
        raise CliError("render: --parameter-set goes with a project; give --parameters FILE")
    parameters: Any = None
    notes: list[Diagnostic] = []
    if arguments.parameters is not None:
        document = read_json(arguments.parameters)
        parameters = document.value
        notes += document.diagnostics
    parameters = apply_settings(parameters, arguments.set)
    options = _options(arguments, TemplateOptions())
    if arguments.template.endswith(".json"):
        graph = render_graph(read_json(arguments.template).value, parameters, options)
        records = list(graph.placeholders)
        notes += graph.diagnostics
        return _finish(arguments, graph.value, dumps(graph.value, indent=2) + "\n", records, notes)
    file = read_file(arguments.template)
    rendering = render_text(file.text, parameters, options)
    notes += [d.at(d.file or arguments.template) for d in rendering.diagnostics]
    text = file.with_text(rendering.text)
    written = ("\ufeff" if text.bom else "") + text.text
    return _finish(arguments, rendering.text, written, list(rendering.placeholders), notes)


def _finish(
    arguments: argparse.Namespace,
    value: Any,
    text: str,
    placeholders: list[PlaceholderUse],
    diagnostics: list[Diagnostic],
) -> int:
    unresolved = [use for use in placeholders if use.status == "kept"]
    lacking = any(d.code == "required_absent" for d in diagnostics)
    refused = arguments.unresolved == "error" and (bool(unresolved) or lacking)
    if arguments.many == "error":
        refused = refused or has_errors(diagnostics)
    if arguments.json:
        print_json(
            {
                "format": 1,
                "value": None if refused else value,
                "placeholders": [placeholder_to_json(use) for use in placeholders],
                "diagnostics": [d.to_json() for d in diagnostics],
            }
        )
    else:
        shown = [d for d in diagnostics if d.severity != "info"]
        if not refused and arguments.unresolved != "error":
            shown = [d for d in shown if d.severity == "warning" or d.code not in _UNRESOLVED_CODES]
        complain_about(shown)
        if not refused:
            write(text)
    return BAD_VERDICT if refused else GOOD


_UNRESOLVED_CODES = {"unresolved"}


def placeholder_to_json(use: PlaceholderUse) -> dict[str, Any]:
    """Return the stable JSON form of one placeholder record."""
    return {
        "node": use.node,
        "start": use.start,
        "end": use.end,
        "body": use.body,
        "status": use.status,
        "text": use.text,
        "pointer": use.pointer,
        "match_count": use.match_count,
    }
