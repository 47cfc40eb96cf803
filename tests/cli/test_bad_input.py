"""Whatever a file, a link or an output does, the command line answers with one clear line and a status."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.cli import main

REQUEST = "Table by the window, two people, Saturday 18:45, name Quill."


def change(project: Path, old: str, new: str) -> None:
    file = project / "workbench.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


CHECK = ("check", "--text", "hi", "--no-history")


@pytest.mark.parametrize(
    ("command", "old", "new", "place"),
    [
        (CHECK, "threshold = 0.38", 'threshold = "0.38"', "workbench.toml:31:13: `threshold` must be"),
        (CHECK, 'name = "promptInjection"', "name = 7", "workbench.toml:27:8: `name` must be"),
        (
            CHECK,
            'provider = "embedded"',
            'provider = "embeded"',
            "workbench.toml:62:12: `provider` cannot be",
        ),
        (("render",), 'dialect = "double-braces"', "dialect = 5", "workbench.toml:6:11: `dialect` must be"),
        (("export", "--to", "python"), "max_repairs = 1", "max_repairs = -1", "workbench.toml:45:15: "),
        (("translate", "--request", REQUEST), 'op = ">="', 'op = "matches"\n#', "workbench.toml:"),
    ],
    ids=["threshold", "check name", "provider", "dialect", "repairs", "rule"],
)
def test_a_setting_that_cannot_be_read_is_never_replaced_by_its_default(
    run: Run, booking: Path, command: tuple[str, ...], old: str, new: str, place: str
) -> None:
    change(booking, old, new)
    if command[0] == "translate":
        change(booking, 'value = "12:00"', 'value = "("')
    outcome = run(command[0], booking, *command[1:])
    assert (outcome.status, outcome.out) == (2, b"")
    assert f"{booking}/{place}" in outcome.err
    assert outcome.err.count("\n") == 1


def test_an_unknown_key_is_no_reason_to_stop(run: Run, booking: Path) -> None:
    change(booking, "format = 1\n", "format = 1\nsurprise = 1\n")
    assert run("render", booking).status == 0


def test_another_parameter_set_never_stands_in_for_one_that_is_a_link_out(
    run: Run, booking: Path, tmp_path: Path
) -> None:
    default = booking / "parameters" / "default.json"
    outside = tmp_path / "outside.json"
    default.rename(outside)
    default.symlink_to(outside)
    outcome = run("render", booking)
    assert (outcome.status, outcome.out) == (2, b"")
    assert "parameters/default.json" in outcome.err
    assert "leads out of the project folder" in outcome.err


@pytest.mark.parametrize("graph", ["../graph.json", "/etc/hostname", "missing.json"])
def test_messages_never_stand_in_for_a_graph_that_is_not_read(run: Run, booking: Path, graph: str) -> None:
    change(booking, "[template]", f'[template]\ngraph = "{graph}"')
    outcome = run("render", booking)
    assert (outcome.status, outcome.out) == (2, b"")
    assert graph in outcome.err


def test_a_broken_graph_is_named_with_its_place_and_nothing_is_written(run: Run, booking: Path) -> None:
    change(booking, "[template]", '[template]\ngraph = "graph.json"')
    (booking / "graph.json").write_text('{"a": [1, ', encoding="utf-8")
    outcome = run("render", booking)
    assert (outcome.status, outcome.out) == (2, b"")
    assert f"{booking}/graph.json:1:7: " in outcome.err


@pytest.mark.parametrize("command", [("render",), ("check", "--no-history")], ids=lambda c: c[0])
def test_broken_parameters_are_named_instead_of_every_placeholder_that_lacks_them(
    run: Run, booking: Path, command: tuple[str, ...]
) -> None:
    (booking / "parameters" / "default.json").write_text('{"a": [1, ', encoding="utf-8")
    outcome = run(command[0], booking, *command[1:])
    assert (outcome.status, outcome.out) == (2, b"")
    assert f"{booking}/parameters/default.json:1:7: " in outcome.err
    assert outcome.err.count("\n") == 1


def test_validate_says_once_that_parameters_are_broken(run: Run, booking: Path) -> None:
    (booking / "parameters" / "default.json").write_text('{"a": [1, ', encoding="utf-8")
    outcome = run("validate", booking, "--json")
    assert outcome.status == 1
    assert [d["code"] for d in outcome.json["diagnostics"]] == ["unclosed"]


def test_parameters_may_come_from_standard_input(run: Run, booking: Path) -> None:
    values = (booking / "parameters" / "default.json").read_bytes()
    expected = run("render", booking)
    outcome = run("render", booking, "--parameters", "-", stdin=values)
    assert (outcome.status, outcome.out) == (0, expected.out)


def test_problems_of_given_parameters_name_the_file_that_was_given(
    run: Run, booking: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text('{"house": 1}', encoding="utf-8")
    outcome = run("render", booking, "--parameters", mine)
    assert f"{mine}:1:" in outcome.err
    assert "command-line" not in outcome.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_behind_the_output_is_one_line(booking: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = os.open("/dev/full", os.O_WRONLY)
    kept = os.dup(1)
    try:
        os.dup2(out, 1)
        with (
            pytest.MonkeyPatch.context() as patch,
            io.TextIOWrapper(io.FileIO(1, "w", closefd=False)) as stdout,
        ):
            patch.setattr(sys, "stdout", stdout)
            status = main(["render", str(booking)])
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(out)
    assert status == 2
    assert capsys.readouterr().err == "the result cannot be written: No space left on device\n"


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_a_closed_standard_stream_is_one_line(
    booking: Path, stream: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, stream, None)
    status = main(["check", str(booking), "--text", "-"] if stream == "stdin" else ["render", str(booking)])
    monkeypatch.undo()
    assert status == 2
    assert "closed" in capsys.readouterr().err


def test_control_characters_of_a_project_do_not_reach_the_terminal(run: Run, booking: Path) -> None:
    change(booking, "format = 1\n", 'format = 1\n"\\u001b[2Jclear" = 1\n')
    outcome = run("validate", booking)
    assert "\x1b" not in outcome.err
    assert "\\x1b[2Jclear" in outcome.err


def test_a_check_with_a_line_end_in_its_question_stays_one_row(run: Run, booking: Path) -> None:
    change(booking, 'question = "Does the message', 'question = "Does\\n\\u001b[31mthe message')
    outcome = run("check", booking, "--text", "hi", "--no-history")
    assert "Does\\n\\x1b[31mthe message" in outcome.text


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ('timeout = "x"', "`timeout` must be a number"),
        ("timeout = nan", "`timeout` must be a number"),
        ('fitted = "../fitted.json"', "../fitted.json lies outside the project"),
        ('path = "../weights"', "../weights lies outside the project"),
        ('path = ["weights"]', "path of the model 'decision' must be a text"),
        ('provider_is = 1\nbase_url = "ftp://h"', ""),
    ],
)
def test_an_option_of_a_model_that_cannot_be_used_is_a_wrong_call(
    run: Run, booking: Path, option: str, words: str
) -> None:
    change(
        booking,
        'provider = "embedded"',
        f'provider = "{"openai" if not words else "embedded"}"\nmodel = "m"\n{option}',
    )
    outcome = run("check", booking, "--text", "hi", "--no-history")
    assert (outcome.status, outcome.out) == (2, b"")
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs permission bits that hold")
def test_a_folder_that_may_not_be_looked_into_is_one_line(run: Run, booking: Path) -> None:
    booking.chmod(0)
    try:
        outcome = run("validate", booking)
    finally:
        booking.chmod(0o755)
    assert outcome.status == 2
    assert outcome.err == f"{booking}: Permission denied\n"


def test_a_name_that_no_folder_can_have_is_one_line(run: Run) -> None:
    for command in (("render", "a\0b"), ("render", "x" * 5000), ("check", "a\0b", "--text", "x")):
        outcome = run(*command)
        assert outcome.status == 2
        assert outcome.err.count("\n") == 1


def test_a_run_is_not_written_through_a_link_out_of_the_project(
    run: Run, booking: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (booking / ".workbench").symlink_to(outside)
    outcome = run("check", booking, "--text", "hi")
    assert outcome.status in (0, 1)
    assert "is a link" in outcome.err
    assert list(outside.iterdir()) == []
