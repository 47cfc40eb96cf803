"""Reads the command line, runs one command, and turns every way of ending into an exit status."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from workbench import __version__
from workbench.cli import commands
from workbench.cli.errors import INTERRUPTED, CliError, guarded
from workbench.cli.output import complain

DESCRIPTION = (
    "Edit prompts and see them filled, test guardrail checks, turn requests into schema-valid JSON,\n"
    "and export the result. Without a subcommand the window opens on PROJECT."
)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with a call in one line."""

    def error(self, message: str) -> NoReturn:
        raise CliError(f"{self.prog}: {message} (see {self.prog} --help)")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every subcommand."""
    parser = _Parser(
        prog="prompt-workbench",
        usage="prompt-workbench [PROJECT]\n       prompt-workbench COMMAND ...",
        description=DESCRIPTION,
        epilog="Exit status: 0 done and good, 1 done and bad, 2 a wrong call or input file, 3 a model or the"
        " network failed, 130 interrupted.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"Prompt Workbench {__version__}")
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", parser_class=_Parser, prog="prompt-workbench"
    )
    for module in commands.all_commands():
        module.add_parser(subparsers)
    for subparser in set(subparsers.choices.values()):
        for each in (subparser, *_nested(subparser)):
            if "--json" not in each._option_string_actions:
                each.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _nested(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Return the parsers of a subcommand's own subcommands."""
    found: list[argparse.ArgumentParser] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += list(action.choices.values())
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (the process's own by default) and return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(arguments)
    except CliError as error:
        complain(error.message)
        return error.status
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away, as `head` does. Nobody is left to tell; keep the interpreter from trying.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + getattr(signal, "SIGPIPE", 13)


def _run(arguments: list[str]) -> int:
    names = {module.__name__.rpartition(".")[2] for module in commands.all_commands()}
    first = next((a for a in arguments if not a.startswith("-")), None)
    wants_parser = first in names or any(a in ("-h", "--help", "--version") for a in arguments[:1])
    if not wants_parser or (
        first in names
        and arguments
        and Path(arguments[0]).is_dir()
        and len(arguments) == 1
        and (Path(arguments[0]) / "workbench.toml").exists()
    ):
        return _open_window(arguments)
    parsed = build_parser().parse_args(arguments)
    run: Any = getattr(parsed, "run", None)
    if run is None:
        raise CliError("prompt-workbench: name a command (see prompt-workbench --help)")
    return guarded(run, parsed)


def _refuse_unknown_word(word: str) -> None:
    """Say of a word that is no folder that it is no command either: it may be a misspelt one."""
    if not os.path.lexists(word):
        names = [module.__name__.rpartition(".")[2] for module in commands.all_commands()]
        raise CliError(f"{word}: there is no such folder and no such command (commands: {', '.join(names)})")


def _open_window(arguments: list[str]) -> int:
    parser = _Parser(prog="prompt-workbench", add_help=False)
    parser.add_argument("project", nargs="?")
    parser.add_argument("--sample", metavar="NAME")
    parser.add_argument("--no-window", action="store_true")
    parsed, rest = parser.parse_known_args(arguments)
    if parsed.project is not None and Path(parsed.project).name == parsed.project:
        _refuse_unknown_word(parsed.project)
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    from workbench.cli import start

    return start.start(parsed.project, sample=parsed.sample, window=not parsed.no_window)
