"""Reads one request after another from standard input and answers each, until somebody says quit."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from workbench.cli.errors import GOOD, CliError, guarded
from workbench.cli.output import complain

PROMPT = "> "
LAST_WORDS = frozenset({"quit", "exit"})


def request_loop(answer: Callable[[str], int]) -> int:
    """Call `answer` with each request, a line each, and return the worst status that it gave.

    The prompt goes to standard error. Blank lines are passed over; `quit` or `exit`, in either case and with spaces
    around, and the end of the input end the loop. A request that fails is told and does not.
    """
    worst = GOOD
    for request in _requests():
        try:
            status = guarded(answer, request)
        except CliError as error:
            complain(error.message)
            status = error.status
        worst = max(worst, status)
    return worst


def _requests() -> Iterator[str]:
    stream = sys.stdin
    if stream is None:
        raise CliError("--interactive: standard input is closed")
    first = True
    while True:
        _prompt(PROMPT)
        try:
            line = stream.readline()
            line.encode("utf-8")  # where the locale is C, wrong bytes come as halves of surrogate pairs
        except (UnicodeDecodeError, UnicodeEncodeError) as error:
            raise CliError(f"--interactive: standard input is not UTF-8: {error.reason}") from error
        if not line:
            _prompt("\n")  # the shell's own prompt begins on a line of its own
            return
        if first:
            line, first = line.removeprefix("\ufeff"), False
        request = line.strip()
        if request.lower() in LAST_WORDS:
            return
        if request:
            yield request


def _prompt(text: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):  # nobody is there to be prompted
            sys.stderr.write(text)
            sys.stderr.flush()
