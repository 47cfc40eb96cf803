"""Lays out `--help`: paragraphs are filled, lists keep their lines, and options stand in one column with their help."""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from typing import Any

MAX_WIDTH = 100
COLUMN = 26
"""Where the help of an option begins; longer options have it on the next line."""

_PARTS = r"-\S+ [A-Z]\S*|\(.*?\)(?=\s|$)|\[.*?\](?=\s|$)|\S+"


class HelpFormatter(argparse.HelpFormatter):
    """Fills a description or an epilog paragraph by paragraph; a paragraph with an indented line stays as it is."""

    def __init__(self, prog: str) -> None:
        columns = shutil.get_terminal_size().columns
        super().__init__(prog, max_help_position=COLUMN, width=max(40, min(columns, MAX_WIDTH) - 2))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            paragraph if "\n " in paragraph else textwrap.fill(
                " ".join(paragraph.split()), width, initial_indent=indent, subsequent_indent=indent,
                break_on_hyphens=False, break_long_words=False,
            )
            for paragraph in text.strip("\n").split("\n\n")
        )  # fmt: skip

    def _split_lines(self, text: str, width: int) -> list[str]:
        # An option or a path in the help is never cut at a hyphen.
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False, break_long_words=False)

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any) -> str:
        """Break the usage between its parts, and a group that is too long before one of its bars."""
        if usage is not None or prefix == "":  # without a prefix it is the name that subcommands begin with
            return super()._format_usage(usage, actions, groups, prefix)
        width, self._width = self._width, 1_000_000
        try:
            line = super()._format_usage(usage, actions, groups, prefix).strip()
        finally:
            self._width = width
        head = f"usage: {self._prog} "
        indent = len(head) if len(head) <= width // 2 else 8
        pieces = []
        whole = [
            f"{action.metavar} ..." for action in actions if isinstance(action, argparse._SubParsersAction)
        ]
        for part in re.findall("|".join([*map(re.escape, whole), _PARTS]), line[len(head) :]):
            pieces += [part] if len(part) <= width - indent else re.split(r" (?=\|)", part)
        rows = [head.rstrip()]
        for piece in pieces:
            if len(rows[-1]) + 1 + len(piece) > width and rows[-1].strip():
                rows.append(" " * (indent - 1))
            rows[-1] += f" {piece}"
        return "\n".join(rows) + "\n\n"

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):
            # argparse puts the list of commands below a line with its metavar, which says nothing.
            return "".join(self._command(each) for each in action._get_subactions())
        return super()._format_action(action)

    def _command(self, action: argparse.Action) -> str:
        name = self._format_action_invocation(action)
        lines = self._split_lines(action.help or "", max(20, self._width - COLUMN))
        head = f"  {name.ljust(COLUMN - 3)} " if len(name) <= COLUMN - 3 else f"  {name}\n{' ' * COLUMN}"
        return head + f"\n{' ' * COLUMN}".join(lines) + "\n"
