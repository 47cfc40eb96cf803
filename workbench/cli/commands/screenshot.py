"""`screenshot`: a picture of the real window on a project."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any

from workbench.cli.errors import GOOD, CliError
from workbench.cli.inputs import load_project
from workbench.cli.output import print_json, write

DEFAULT_SIZE = (1440, 900)
LONGEST_SIDE = 10_000
"""In pixels. Qt draws nothing at all on much larger pictures, which would not fit into the memory either."""


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the subcommand and its options."""
    parser = commands.add_parser(
        "screenshot",
        help="a picture of the window on a project",
        description="Open the window on a project without a display, wait until it has drawn everything, and save it.",
        epilog="Exit status: 0 saved, 2 a wrong call or file.",
    )
    parser.add_argument("project", help="the project's folder")
    parser.add_argument("-o", "--output", metavar="FILE.png", required=True, help="where to save the picture")
    parser.add_argument("--size", metavar="WxH", type=_size, default=DEFAULT_SIZE, help="default: 1440x900")
    parser.add_argument("--theme", choices=("light", "dark", "high-contrast"), default="light")
    parser.add_argument("--pane", metavar="NAME", help="the pane or layout to bring to the front")
    parser.set_defaults(run=run)


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9]\d{1,4})[xX]([1-9]\d{1,4})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write WIDTHxHEIGHT, for example 1440x900")
    size = int(match[1]), int(match[2])
    if max(size) > LONGEST_SIDE:
        raise argparse.ArgumentTypeError(f"{text} is too large; {LONGEST_SIDE}x{LONGEST_SIDE} is the most")
    return size


def run(arguments: argparse.Namespace) -> int:
    """Take the picture and return the exit status."""
    project = load_project(arguments.project, strict=False)
    assert project.root is not None
    take(
        project.root, Path(arguments.output), size=arguments.size, theme=arguments.theme, pane=arguments.pane
    )
    if arguments.json:
        print_json({"format": 1, "file": arguments.output})
    else:
        write(f"{arguments.output}\n")
    return GOOD


def take(folder: Path, output: Path, *, size: tuple[int, int], theme: str, pane: str | None = None) -> None:
    """Save a picture of the window on the project in `folder`.

    Raises:
        CliError: where Qt cannot start, there is no such pane, or the file cannot be written.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    try:
        from workbench.gui import screenshot
    except ImportError as error:
        raise CliError(f"the window cannot start: {error} (see prompt-workbench doctor)") from error
    try:
        screenshot.take(folder, output, size=size, theme=theme, pane=pane)
    except screenshot.ScreenshotError as error:
        raise CliError(str(error)) from error
    except OSError as error:
        raise CliError(f"{output}: {error.strerror or error}") from error
