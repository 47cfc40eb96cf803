"""Calls with odd values, as an unset variable, a wrong locale or a damaged file makes them, are refused in one line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Outcome, Run
from tests.cli.test_bad_input import REQUEST, change

NOT_UTF8 = "\udcff\udcfe"
"""How Python holds bytes of the command line that are not UTF-8."""
NINES = "9" * 6000


def refused(outcome: Outcome, words: str) -> None:
    assert (outcome.status, outcome.out) == (2, b"")
    assert words in outcome.err
    assert outcome.err.count("\n") == 1
    assert len(outcome.err) < 600


@pytest.mark.parametrize(
    "call",
    [
        ("render", ""),
        ("render", "--template", ""),
        ("render", "PROJECT", "--parameters", ""),
        ("check", "PROJECT", "--text-file", ""),
        ("translate", "PROJECT", "--requests", ""),
        ("evaluate", "PROJECT", "--cases", ""),
        ("evaluate", "PROJECT", "--results", ""),
        ("evaluate", "PROJECT", "--html", ""),
        ("export", "PROJECT", "--to", "python", "-o", ""),
        ("samples", "copy", "table-booking", ""),
        ("history", ""),
        ("history", "PROJECT", "branch", "1", "1", "--schema", ""),
        ("screenshot", "PROJECT", "-o", ""),
    ],
    ids=" ".join,
)
def test_an_empty_name_is_never_the_folder_one_happens_to_be_in(
    run: Run, booking: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: tuple[str, ...]
) -> None:
    here = booking if call[:2] == ("render", "") else tmp_path / "here"
    here.mkdir(exist_ok=True)
    monkeypatch.chdir(here)
    before = sorted(here.iterdir())
    refused(run(*(booking if word == "PROJECT" else word for word in call)), "the name is empty")
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    "call",
    [
        ("render",),
        ("check", "--text", "hi"),
        ("check", "--rendered"),
        ("translate", "--request", REQUEST, "--model", "recorded"),
        ("export", "--to", "python"),
        ("export", "--to", "openai-request"),
        ("history", "again", "1"),
    ],
    ids=" ".join,
)
def test_a_parameter_set_that_is_not_there_is_named_with_those_that_are(
    run: Run, booking: Path, call: tuple[str, ...]
) -> None:
    text = (booking / "workbench.toml").read_text(encoding="utf-8")
    preamble, models = text.index("[[translation.preamble]]"), text.index("[models.decision]")
    text = text[:preamble] + text[models:]
    text = text.replace("[translation]\n", '[translation]\npreamble = "template"\n')
    (booking / "workbench.toml").write_text(text, encoding="utf-8")
    if call[0] == "history":
        run("check", booking, "--text", "hi", "--model", "recorded")
    outcome = run(call[0], booking, *call[1:], "--parameter-set", "nope")
    refused(outcome, "there is no parameter set 'nope' (there are: default, injection, large-party)")


def test_tools_are_not_asked_with_a_parameter_set_that_is_not_there(run: Run, triage: Path) -> None:
    outcome = run(
        "translate", triage, "--tools", "--request", "x", "--model", "recorded", "--parameter-set", "nope"
    )
    refused(outcome, "there is no parameter set 'nope'")


@pytest.mark.parametrize("place", [NINES, f"{NINES}/x", "01", "-1", "٣", ""])
def test_an_index_that_no_list_has_is_a_wrong_call(run: Run, triage: Path, place: str) -> None:
    refused(run("render", triage, "--set", f"/customer/orders/{place}=1"), "there is no place")


def test_a_long_setting_is_not_repeated_whole(run: Run, triage: Path) -> None:
    refused(run("render", triage, "--set", f"/a={NINES}x"), "the value is not JSON")


def test_problems_of_set_parameters_have_their_places_in_the_file_as_it_is(run: Run, triage: Path) -> None:
    lines = (triage / "parameters" / "default.json").read_text(encoding="utf-8").split("\n")
    at = next(number for number, line in enumerate(lines, 1) if '"name": ' in line and number > 5)
    outcome = run("render", triage, "--set", "/customer/name=5", "--set", "/surplus=1")
    assert f"{triage}/parameters/default.json:{at}:" in outcome.err
    assert "warning: --set: the parameter /surplus is not used" in outcome.err


def test_a_blank_context_name_is_refused_as_in_a_project(run: Run, triage: Path) -> None:
    refused(run("render", triage, "--context-name", " "), "--context-name: the name is blank")


@pytest.mark.parametrize(
    "call",
    [
        ("check", "--text", NOT_UTF8),
        ("check", "--stage", "output", "--text", "x", "--user-message", NOT_UTF8),
        ("translate", "--request", NOT_UTF8),
    ],
    ids=["text", "user message", "request"],
)
def test_a_text_that_is_not_utf8_is_not_sent_as_another_one(
    run: Run, triage: Path, call: tuple[str, ...]
) -> None:
    refused(run(call[0], triage, *call[1:]), "this text on the command line is not UTF-8")


def test_an_outcome_that_is_not_utf8_finds_no_runs(run: Run, booking: Path) -> None:
    run("check", booking, "--text", "hi", "--model", "recorded")
    outcome = run("history", booking, "list", "--outcome", NOT_UTF8, "--json")
    assert (outcome.status, outcome.json["runs"]) == (0, [])


@pytest.mark.parametrize(
    ("model", "status", "words"),
    [
        ('provider = "embedded"', 2, "'embedded' is no provider of chat models"),
        ('provider = "openai"\nmodel = "m"\nbase_url = "ftp://h"', 2, "must begin with http"),
        ('provider = "gguf"\npath = "missing.gguf"', 3, "missing.gguf cannot be read"),
    ],
    ids=["no chat model", "address", "weights"],
)
def test_a_chat_model_that_cannot_be_opened_is_wrong_settings_or_a_missing_model(
    run: Run, booking: Path, model: str, status: int, words: str
) -> None:
    change(booking, "[models.chat]", f"[models.mine]\n{model}\n\n[models.chat]")
    outcome = run("translate", booking, "--request", REQUEST, "--model", "mine")
    assert outcome.status == status
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ('recording = "{long}"', "no recording"),
        ('recording = "a\\u0000b"', "recording"),
    ],
    ids=["long", "NUL"],
)
def test_a_recording_with_a_name_that_no_file_can_have_is_one_line(
    run: Run, booking: Path, option: str, words: str
) -> None:
    change(booking, 'provider = "recorded"', 'provider = "recorded"\n' + option.format(long="x" * 5000))
    for command in (("check", "--text", "hi"), ("translate", "--request", REQUEST)):
        outcome = run(command[0], booking, *command[1:], "--model", "recorded", "--no-history")
        assert outcome.status in (2, 3)
        assert outcome.err.count("\n") == 1
    outcome = run("check", booking, "--text", "hi", "--model", "recorded", "--no-history")
    assert words in outcome.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_named_pipe_among_the_recordings_is_not_waited_for(run: Run, booking: Path) -> None:
    os.mkfifo(booking / "recordings" / "pipe.jsonl")
    for command in (("check", "--text", "hi"), ("translate", "--request", REQUEST)):
        outcome = run(command[0], booking, *command[1:], "--model", "recorded", "--no-history")
        refused(outcome, "recordings/pipe.jsonl is no regular file")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b'{"kind": "chat", "request": "a", "reply": "x", "elapsed_ms": ' + b"9" * 400 + b"}", ":2: 'elapsed_ms'"),
        (b'{"kind": "chat", "request": "\xe4"}', ":2: the byte 0xe4 is not UTF-8"),
        (b'{"kind": "chat", "request": ', ":2: "),
    ],
    ids=["elapsed", "latin-1", "cut off"],
)  # fmt: skip
def test_a_broken_row_of_recorded_replies_is_named_with_its_line(
    run: Run, booking: Path, row: bytes, words: str
) -> None:
    (booking / "recordings" / "translations.jsonl").write_bytes(b"\n" + row + b"\n")
    outcome = run("translate", booking, "--request", "a", "--model", "recorded", "--no-history")
    refused(outcome, f"recordings/translations.jsonl{words}")


def test_recorded_decisions_that_are_not_utf8_are_named_with_their_line(run: Run, booking: Path) -> None:
    (booking / "recordings" / "decisions.jsonl").write_bytes(b"\n\n\xe4\n")
    outcome = run("check", booking, "--text", "hi", "--model", "recorded", "--no-history")
    refused(outcome, "recordings/decisions.jsonl:3: the byte 0xe4 is not UTF-8")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (b'id,"te"xt,promptInjection\n1,a,true\n', ":1:1: the names of the columns cannot be read"),
        (b'id,text,promptInjection\n1,a,true\n2,"b"c,true\n', ":3: the row that begins here cannot be read"),
        (b'id,text,promptInjection\n1,"a\n\n\n', ":2: the row that begins here cannot be read"),
        (b"id,text,promptInjection\n1,a,true\n2,\xe4,true\n", ":3:3: this byte (0xe4) is not UTF-8 text"),
    ],
    ids=["header", "quote", "open quote", "latin-1"],
)
def test_a_broken_table_of_cases_is_named_with_its_line(
    run: Run, booking: Path, tmp_path: Path, table: bytes, words: str
) -> None:
    file = tmp_path / "cases.csv"
    file.write_bytes(table)
    refused(run("evaluate", booking, "--cases", file, "--no-history"), f"{file}{words}")


def test_cases_of_standard_input_are_named_as_such(run: Run, booking: Path) -> None:
    outcome = run("evaluate", booking, "--cases", "-", "--no-history", stdin=b'{"id": "a", "text": 1}\n')
    refused(outcome, "-:1:21: `text` must be a text")


def test_cases_of_a_closed_standard_input_are_one_line(
    booking: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from workbench.cli import main

    monkeypatch.setattr(sys, "stdin", None)
    assert main(["evaluate", str(booking), "--cases", "-", "--no-history"]) == 2
    assert capsys.readouterr().err == "--cases -: standard input is closed\n"


class _FullDisk:
    """A standard error on a disk that is full."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None:
        raise OSError(28, "No space left on device")

    def isatty(self) -> bool:
        return False


def test_a_prompt_that_cannot_be_written_ends_no_loop(
    run: Run, booking: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full: Any = _FullDisk()
    monkeypatch.setattr(sys, "stderr", full)
    outcome = run(
        "translate", booking, "--interactive", "--model", "recorded", "--no-history",
        stdin=f"{REQUEST}\nquit\n".encode(),
    )  # fmt: skip
    assert outcome.status == 0


def test_the_cost_of_a_miss_and_the_rate_are_numbers_that_can_be_worked_with(run: Run, booking: Path) -> None:
    for option in (("--rate", "1e-320"), ("--miss-cost", "1e308"), ("--scheduler", "")):
        assert run("evaluate", booking, *option).status == 2


@pytest.mark.parametrize("size", ["10001x900", "99999x99999"])
def test_a_picture_that_nothing_could_draw_is_a_wrong_call(run: Run, booking: Path, size: str) -> None:
    refused(run("screenshot", booking, "-o", booking / "x.png", "--size", size), "is too large")


def test_an_export_replaces_no_file_that_no_export_wrote(run: Run, booking: Path, tmp_path: Path) -> None:
    own = (booking / "README.md").read_bytes()
    refused(run("export", booking, "--to", "python", "-o", booking), f"{booking}/README.md: this file would")
    assert (booking / "README.md").read_bytes() == own
    assert not list(booking.glob("*.py"))
    out = tmp_path / "out"
    out.mkdir()
    (out / "thresholds.json").write_text("{}", encoding="utf-8")
    refused(run("export", booking, "--to", "openai-request", "-o", out), f"{out}/thresholds.json: ")
    assert json.loads((out / "thresholds.json").read_text(encoding="utf-8")) == {}


def test_an_export_is_written_anew_over_an_earlier_one(run: Run, booking: Path, tmp_path: Path) -> None:
    assert run("export", booking, "--to", "openai-request", "-o", tmp_path / "out").status == 0
    change(booking, "up to {{house.largest_table}} guests", "{{house.largest_table}} guests")
    assert run("export", booking, "--to", "openai-request", "-o", tmp_path / "out").status == 0
    assert "up to" not in (tmp_path / "out" / "chat.json").read_text(encoding="utf-8")


def test_an_export_to_a_name_that_no_folder_can_have_is_one_line(run: Run, booking: Path) -> None:
    outcome = run("export", booking, "--to", "python", "-o", "x" * 300)
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
