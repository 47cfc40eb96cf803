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
from workbench.engine.text import LineIndex, TextFile


def read_file(name: str) -> TextFile:
    """Read a UTF-8 file, or standard input for `-`.

    Raises:
        CliError: where it cannot be read or is not UTF-8; the message names the file, and the line and
            column of the first byte that is wrong.
    """
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CliError(f"{name}: {error.strerror or error}") from error
    try:
        return TextFile.decode(data)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        line, column = LineIndex(before).position(len(before))
        raise CliError(
            f"{name}:{line}:{column}: this byte (0x{data[error.start]:02x}) is not UTF-8 text"
        ) from error


def text_argument(value: str) -> str:
    """Return a text given on the command line; `-` stands for standard input."""
    if value != "-":
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
    if not path.is_dir():
        raise CliError(f"{name}: there is no such folder")
    if not (path / "workbench.toml").is_file():
        raise CliError(f"{name}: this folder is no project: it has no workbench.toml")
    return path


def load_project(name: str) -> Project:
    """Open the project in folder `name` (or whose `workbench.toml` is `name`).

    Raises:
        CliError: where it is no project or cannot be read.
    """
    path = project_folder(name)
    try:
        return Project.load(path)
    except ProjectError as error:
        raise wrong_input([with_folder(d, path) for d in error.diagnostics]) from error


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
        if not equals or (pointer and not pointer.startswith("/")):
            raise CliError(f"--set {setting}: write POINTER=JSON, for example /customer/name='\"Ann\"'")
        document = parse_json(text)
        if not document.ok:
            problem = document.diagnostics[0]
            raise CliError(
                f"--set {setting}: the value is not JSON, column {problem.column}: {problem.message}"
                " (texts need quotes)"
            )
        parameters = _put(parameters, pointer, document.value, setting)
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
            raise CliError(f"--set {setting}: there is no place {token!r} in the parameters") from error
    last = tokens[-1]
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list) and last == "-":
        parent.append(value)
    elif isinstance(parent, list) and last.isdecimal() and int(last) < len(parent):
        parent[int(last)] = value
    else:
        raise CliError(f"--set {setting}: there is no place {last!r} in the parameters")
    return root
