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
from workbench.cli.crash import report_crash
from workbench.cli.errors import INTERRUPTED, CliError, guarded
from workbench.cli.help import HelpFormatter
from workbench.cli.output import complain

DESCRIPTION = (
    "Edit prompts and see them filled, test guardrail checks, turn requests into schema-valid JSON,\n"
    "and export the result. Without a subcommand the window opens on PROJECT."
)

WINDOW_OPTIONS = """options of the window:
  --sample NAME           open your copy of a sample, made at the first start
  --no-window             do the work of PROJECT in the terminal, as where there is no display
  --no-recovery-question  set unsaved work of an earlier start aside, in .workbench/recovery-*.json,
                          without asking; PROMPT_WORKBENCH_NO_RECOVERY_QUESTION=1 does the same"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with a call in one line, and lays out its help in ours."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"formatter_class": HelpFormatter, **options})

    def error(self, message: str) -> NoReturn:
        raise CliError(f"{self.prog}: {message} (see {self.prog} --help)")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every subcommand."""
    parser = _Parser(
        prog="prompt-workbench",
        usage="prompt-workbench [PROJECT]\n       prompt-workbench COMMAND ...",
        description=DESCRIPTION,
        epilog=f"{WINDOW_OPTIONS}\n\nExit status: 0 done and good, 1 done and bad, 2 a wrong call or input file, 3 a model or the"
        " network failed, 70 an error of the program itself (PROMPT_WORKBENCH_DEBUG=1 shows its traceback), 130"
        " interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"Prompt Workbench {__version__}")
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", parser_class=_Parser, prog="prompt-workbench"
    )
    for module in commands.all_commands():
        module.add_parser(subparsers)
    for subparser in set(subparsers.choices.values()):
        for each in (subparser, *_nested(subparser)):
            _refuse_empty_names(each)
            if "--json" not in each._option_string_actions:
                # An action's own default would take back a --json that stands in front of the action.
                default = False if each is subparser else argparse.SUPPRESS
                each.add_argument(
                    "--json", action="store_true", default=default, help="print one JSON document"
                )
    return parser


_NAMES = ("FILE", "FILE.png", "F", "PATH", "DIR", "ADDRESS")


def _refuse_empty_names(parser: argparse.ArgumentParser) -> None:
    """Let no empty text through as a file or folder: as a path it would be the folder one happens to be in."""
    for action in parser._actions:
        if action.dest == "project" or action.metavar in _NAMES:
            action.type = _filled_name


def _filled_name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


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
        return _reader_gone()
    except Exception as error:
        return report_crash(error, arguments)


def _reader_gone() -> int:
    """Return the status of a command whose reader went away, as `head` does. Nobody is left to tell."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # keeps the interpreter from trying
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
    parser.add_argument("--no-recovery-question", action="store_true")
    parsed, rest = parser.parse_known_args(arguments)
    if parsed.project is not None and Path(parsed.project).name == parsed.project:
        _refuse_unknown_word(parsed.project)
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    from workbench.cli import start

    return start.start(
        parsed.project,
        sample=parsed.sample,
        window=not parsed.no_window,
        ask_recovery=not parsed.no_recovery_question,
    )
