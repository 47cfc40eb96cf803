"""Reads what the command line names: files, standard input, projects, and values set by hand."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.cli.errors import CliError, wrong_input
from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import (
    JsonDocument,
    PointerError,
    join_pointer,
    parse_json,
    resolve_pointer,
    split_pointer,
)
from workbench.engine.projects import Project, ProjectError
from workbench.engine.projects.project import CASES
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.projects.toml_values import first_lone_surrogate
from workbench.engine.text import LineIndex, TextFile, shorten


def read_file(name: str) -> TextFile:
    """Read a UTF-8 file, or standard input for `-`.

    Raises:
        CliError: where it cannot be read or is not UTF-8; the message names the file, and the line and
            column of the first byte that is wrong.
    """
    try:
        data = _standard_input() if name == "-" else Path(name).read_bytes()
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise CliError(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    try:
        return TextFile.decode(data)
    except UnicodeDecodeError as error:
        raise not_utf8(name, error) from error


def not_utf8(name: str, error: UnicodeDecodeError) -> CliError:
    """Return the error that names line and column of the byte at which the file `name` could not be decoded."""
    before = error.object[: error.start].decode("utf-8", "replace")
    line, column = LineIndex(before).position(len(before))
    return CliError(
        f"{name}:{line}:{column}: this byte (0x{error.object[error.start]:02x}) is not UTF-8 text"
    )


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read()


def text_argument(value: str) -> str:
    """Return a text given on the command line; `-` stands for standard input.

    Raises:
        CliError: where it is not UTF-8, since another text than the one meant would be sent.
    """
    if value != "-":
        # Bytes that are not come as halves of surrogate pairs.
        if first_lone_surrogate(value) is not None:
            raise CliError(f"{shorten(value)}: this text on the command line is not UTF-8")
        return value
    text = read_file("-").text
    return text.removesuffix("\n").removesuffix("\r")


def read_json(name: str) -> JsonDocument:
    """Read and parse a JSON file.

    Raises:
        CliError: where it is not JSON; the message names file, line and column.
    """
    document = parse_json(read_file(name).text, file=name)
    if not document.ok:
        raise wrong_input(document.diagnostics)
    return document


def project_folder(name: str) -> Path:
    """Return the folder of the project `name`, which may also be the path of its `workbench.toml`.

    Raises:
        CliError: where there is no such folder, or it holds no project.
    """
    path = Path(name)
    if path.name == "workbench.toml":
        path = path.parent
    try:
        if not path.is_dir():
            raise CliError(f"{name}: there is no such folder")
        if not (path / "workbench.toml").is_file():
            raise CliError(f"{name}: this folder is no project: it has no workbench.toml")
    except (OSError, ValueError) as error:  # no permission to look into it; a name that cannot be one
        raise CliError(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    return path


def load_project(name: str, *, strict: bool = True) -> Project:
    """Open the project in folder `name` (or whose `workbench.toml` is `name`).

    Where the project says something that cannot be read, a default stands in its place. A window shows both;
    a script would take the default for what was meant, so `strict` refuses it. Cases are not looked at here.

    Raises:
        CliError: where it is no project or cannot be read, and with `strict` where a setting or file is wrong.
    """
    path = project_folder(name)
    try:
        project = Project.load(path)
    except ProjectError as error:
        raise wrong_input([with_folder(d, path) for d in error.diagnostics]) from error
    if strict:
        refuse([d for d in project.diagnostics if d.file != CASES], path)
    return project


def refuse_unknown_set(snapshot: ProjectSnapshot, name: str | None, project: str) -> None:
    """Refuse a parameter set that the project does not have.

    Raises:
        CliError: it names the sets that there are.
    """
    if name is not None and name not in snapshot.parameter_sets:
        known = ", ".join(sorted(snapshot.parameter_sets)) or "none"
        raise CliError(f"{project}: there is no parameter set {shorten(name)!r} (there are: {known})")


def refuse(diagnostics: Sequence[Diagnostic], folder: Path | None) -> None:
    """Raise a `CliError` that names the errors among `diagnostics`, if there are any."""
    errors = [d for d in diagnostics if d.severity == "error"]
    if errors:
        raise wrong_input([d if folder is None else with_folder(d, folder) for d in errors])


def with_folder(diagnostic: Diagnostic, folder: Path) -> Diagnostic:
    """Return `diagnostic` with a file that can be opened from here instead of one relative to the project."""
    if diagnostic.file and not Path(diagnostic.file).is_absolute():
        return diagnostic.at(str(folder / diagnostic.file))
    return diagnostic


def apply_settings(parameters: Any, settings: Sequence[str]) -> Any:
    """Return `parameters` with each `POINTER=JSON` of `settings` put in; objects on the way are made.

    Raises:
        CliError: where a setting has no `=`, its value is not JSON, or its pointer leads into a scalar.
    """
    for setting in settings:
        pointer, equals, text = setting.partition("=")
        said = shorten(setting)
        if not equals or (pointer and not pointer.startswith("/")):
            raise CliError(f"--set {said}: write POINTER=JSON, for example /customer/name='\"Ann\"'")
        document = parse_json(text)
        if not document.ok:
            problem = document.diagnostics[0]
            raise CliError(
                f"--set {said}: the value is not JSON, column {problem.column}: {problem.message}"
                " (texts need quotes)"
            )
        parameters = _put(parameters, pointer, document.value, said)
    return parameters


def _put(root: Any, pointer: str, value: Any, setting: str) -> Any:
    tokens = split_pointer(pointer)
    if not tokens:
        return value
    root = {} if root is None else root
    parent = root
    for token, following in itertools.pairwise(tokens):
        if isinstance(parent, dict) and token not in parent:
            parent[token] = [] if following == "-" else {}
        try:
            parent = resolve_pointer(parent, join_pointer(token))
        except PointerError as error:
            raise CliError(
                f"--set {setting}: there is no place {shorten(token)!r} in the parameters"
            ) from error
    last = tokens[-1]
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list) and last == "-":
        parent.append(value)
    elif isinstance(parent, list) and last in map(str, range(len(parent))):
        parent[int(last)] = value
    else:
        raise CliError(f"--set {setting}: there is no place {shorten(last)!r} in the parameters")
    return root
