"""Writes results: text for people, one JSON document for programs, messages to standard error."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from typing import Any

from workbench.cli.errors import CliError
from workbench.engine.diagnostics import Diagnostic, sort_diagnostics
from workbench.engine.text import visible


def print_json(document: dict[str, Any], *, indent: int | None = 2) -> None:
    """Write one JSON document and a newline; without `indent` it is one line."""
    write(json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False) + "\n")


def write(text: str) -> None:
    """Write `text` as UTF-8, byte for byte: no newline is added or changed.

    Raises:
        BrokenPipeError: where the reader went away.
        CliError: where the output is closed or its disk is full.
    """
    if sys.stdout is None:
        raise CliError("the result cannot be written: standard output is closed")
    # A lone surrogate has no UTF-8 form; a question mark is better than a lost output.
    data = text.encode("utf-8", "replace")
    try:
        sys.stdout.flush()
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is None:
            sys.stdout.write(data.decode("utf-8"))
        else:
            buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is still buffered would fail once more, and loudly, when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise CliError(f"the result cannot be written: {error.strerror or error}") from error


def tell(text: str) -> None:
    """Write a text for people, as `write` does, but with control characters shown.

    A model's reply or a stored run may hold characters that steer a terminal: that retitle it or hide lines.
    """
    write(visible(text, keep="\n\t"))


def complain(message: str) -> None:
    """Write a message for people to standard error; control characters, which steer terminals, are shown."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):  # a full disk behind it: there is nobody left to tell
            print(visible(message, keep="\n\t"), file=sys.stderr, flush=True)


def complain_about(diagnostics: Iterable[Diagnostic]) -> None:
    """Write diagnostics to standard error, a line each, worst first."""
    for diagnostic in sort_diagnostics(diagnostics):
        hint = f" ({diagnostic.hint})" if diagnostic.hint else ""
        node = f" [{diagnostic.node}]" if diagnostic.node and not diagnostic.file else ""
        complain(f"{diagnostic.severity}: {diagnostic.one_line()}{node}{hint}")


def table(rows: list[list[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Return rows of cells as aligned columns; columns named in `right` are set to the right."""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "".join(line + "\n" for line in lines)
