"""`translate --interactive` answers one line after another until somebody says quit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_translate import RECORDED, recorded_request


def loop(run: Run, project: Path, text: str, *options: str) -> tuple[int, list[str], str]:
    """Return status, the requests that were answered, and what went to standard error."""
    outcome = run("translate", project, "--interactive", *RECORDED, "--json", *options, stdin=text.encode())
    return outcome.status, [json.loads(line)["request"] for line in outcome.text.splitlines()], outcome.err


@pytest.mark.parametrize(
    ("end", "answered"),
    [
        pytest.param("", 1, id="end of the input"),
        pytest.param("quit\n{request}\n", 1, id="quit"),
        pytest.param("  EXIT  \n{request}\n", 1, id="exit in capitals with spaces"),
        pytest.param("\n   \n\t\n{request}", 2, id="blank lines, and a last line without its end"),
        pytest.param("\r\n{request}\r\n", 2, id="CR LF"),
    ],
)
def test_the_loop_goes_on_until_it_is_told_to_stop(run: Run, booking: Path, end: str, answered: int) -> None:
    request = recorded_request(booking)
    text = "\ufeff" + request + "\n" + end.format(request=request)
    status, requests, error = loop(run, booking, text)
    assert (status, requests) == (0, [request] * answered)
    assert error.startswith("> ")


def test_a_word_within_a_request_does_not_end_the_loop(run: Run, booking: Path) -> None:
    assert len(loop(run, booking, "quit smoking\nexit\n")[1]) == 1


def test_a_request_that_fails_does_not_end_the_loop_and_its_status_stays(run: Run, booking: Path) -> None:
    request = recorded_request(booking)
    status, requests, _error = loop(run, booking, f"nobody recorded this\n{request}\n")
    assert (status, requests) == (3, ["nobody recorded this", request])


def test_an_error_before_a_model_is_asked_is_told_for_each_request(run: Run, documents: Path) -> None:
    outcome = run("translate", documents, "--interactive", *RECORDED, stdin=b"one\ntwo\nquit\n")
    assert outcome.status == 2
    assert outcome.err.count("output.schema.json") == 2
    assert outcome.out == b""


def test_the_text_of_each_answer_is_printed_and_the_prompt_is_not_among_it(run: Run, booking: Path) -> None:
    text = f"{recorded_request(booking)}\nexit\n".encode()
    outcome = run("translate", booking, "--interactive", *RECORDED, stdin=text)
    assert "attempt 2: ok" in outcome.text
    assert not outcome.text.startswith(">")
    assert len(run("history", booking, "--json").json["runs"]) == 1


def test_input_that_is_no_utf_8_is_named(run: Run, booking: Path) -> None:
    outcome = run("translate", booking, "--interactive", *RECORDED, stdin=b"\xff\xfe\n")
    assert outcome.status == 2
    assert "UTF-8" in outcome.err


def test_one_source_of_requests_is_enough(run: Run, booking: Path) -> None:
    outcome = run("translate", booking, "--interactive", "--request", "x")
    assert outcome.status == 2
    assert "not allowed with" in outcome.err
