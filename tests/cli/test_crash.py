"""An error that nobody foresaw is one line, a status of its own and a report in a file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from workbench.cli.commands import samples
from workbench.cli.main import build_parser


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a command raise what no command foresees; the message holds a secret."""
    monkeypatch.setenv("PROMPT_WORKBENCH_SECRET_SHOP", "hush-hush-hush")

    def fail(arguments: Any) -> int:
        raise ZeroDivisionError("division of hush-hush-hush\nby zero")

    monkeypatch.setattr(samples, "run", fail)


def report_in(error: str) -> Path:
    found = re.search(r"The report is in (.+)$", error.strip())
    assert found, error
    return Path(found[1])


@pytest.mark.usefixtures("broken")
def test_it_is_told_in_one_line_with_the_place_of_the_report(run: Run) -> None:
    outcome = run("samples", "--json")
    assert outcome.status == 70
    assert outcome.out == b""
    assert len(outcome.err.strip().splitlines()) == 1
    assert "ZeroDivisionError" in outcome.err
    assert "hush" not in outcome.err
    report = report_in(outcome.err)
    text = report.read_text(encoding="utf-8")
    assert "Traceback" in text
    assert "Options: --json" in text
    assert "hush" not in text
    assert report.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("broken")
def test_the_traceback_is_printed_where_it_was_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMPT_WORKBENCH_DEBUG", "1")
    outcome = run("samples")
    assert outcome.status == 70
    assert "Traceback" in outcome.err
    assert "hush" not in outcome.err
    monkeypatch.setenv("PROMPT_WORKBENCH_DEBUG", "0")
    assert "Traceback" not in run("samples").err


@pytest.mark.usefixtures("broken")
def test_a_report_that_cannot_be_written_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "data").write_text("a file where the folder should be")
    outcome = run("samples")
    assert outcome.status == 70
    assert "could not be written" in outcome.err


def test_the_status_is_documented() -> None:
    assert "70 an error of the program itself" in " ".join(build_parser().format_help().split())


def test_an_installation_that_lacks_a_package_names_it_in_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(arguments: Any) -> int:
        raise ModuleNotFoundError("No module named 'tomlkit'")

    monkeypatch.setattr(samples, "run", fail)
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    outcome = run("samples")
    assert outcome.status == 70
    assert len(outcome.err.strip().splitlines()) == 1
    assert "No module named 'tomlkit'" in outcome.err
    assert "could not be written" in outcome.err
