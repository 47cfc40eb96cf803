"""`--help` fits the terminal, and nothing in it is broken in the middle of a part."""

from __future__ import annotations

import argparse
import re

import pytest

from workbench.cli.help import HelpFormatter
from workbench.cli.main import build_parser


def parsers() -> dict[str, argparse.ArgumentParser]:
    root = build_parser()
    (commands,) = [a for a in root._actions if isinstance(a, argparse._SubParsersAction)]
    return {"": root, **commands.choices}


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("name", list(parsers()))
def test_no_line_is_wider_than_the_terminal_or_a_hundred_columns(
    monkeypatch: pytest.MonkeyPatch, name: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = parsers()[name].format_help()
    # A line that stands as its author wrote it may be wider than a narrow terminal, and an option with its choices.
    listed = {line for line in text.splitlines() if re.match(r" +(-|without asking|set unsaved)", line)}
    long = [line for line in text.splitlines() if len(line) > min(columns, 100) and line not in listed]
    assert long == []


@pytest.mark.parametrize("name", list(parsers()))
def test_a_choice_in_the_usage_is_broken_only_before_a_bar(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    usage = parsers()[name].format_usage()
    for line in usage.splitlines()[1:]:
        word = line.strip()
        assert word[0] in "[(|-{" or re.match(r"[a-z]", word), usage
    metavars = re.findall(r"--(?!interactive)[a-z-]+$", usage, flags=re.MULTILINE)
    assert metavars == [], "an option is parted from its value"


def test_commands_are_listed_with_their_help_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = parsers()[""].format_help()
    assert re.search(r"^  translate +turn a request into", text, flags=re.MULTILINE)
    assert re.search(r"^  screenshot +a picture", text, flags=re.MULTILINE)


def test_paragraphs_are_filled_and_lists_keep_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    description = "one two three four five\nsix seven eight nine ten eleven twelve\n\nlist:\n  - a\n  - b"
    parser = argparse.ArgumentParser("x", description=description, formatter_class=HelpFormatter)
    text = parser.format_help()
    assert "one two three four five six seven eight nine" in text
    assert "list:\n  - a\n  - b\n" in text
