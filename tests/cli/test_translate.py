"""`translate` shows every attempt, what was wrong with it and what the repair changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_check import Server, on_server
from tests.http_server import serving

RECORDED = ("--model", "recorded")


def recorded_request(project: Path) -> str:
    from workbench.engine.language_models import recorded_requests

    return next(iter(recorded_requests(project)))


@pytest.mark.parametrize("sample", ["triage", "booking"])
def test_a_recorded_reply_that_breaks_the_schema_is_repaired(
    run: Run, sample: str, request: pytest.FixtureRequest
) -> None:
    project = request.getfixturevalue(sample)
    outcome = run("translate", project, "--request", recorded_request(project), *RECORDED, "--json")
    assert outcome.status == 0
    document = outcome.json
    assert document["outcome"] == "ok"
    first, second = document["attempts"]
    assert first["outcome"] == "invalid"
    assert first["diagnostics"]
    assert second["outcome"] == "ok"
    assert second["messages"][-1]["role"] == "user"
    assert len(second["messages"]) > len(first["messages"])
    assert first.keys() >= {
        "number", "messages", "reply", "finish_reason", "outcome", "value", "diagnostics", "notes",
        "removed_nulls", "usage", "elapsed_ms", "cost", "failure",
    }  # fmt: skip


def test_the_text_names_attempts_errors_and_changes_and_says_that_it_is_recorded(
    run: Run, booking: Path
) -> None:
    text = run("translate", booking, "--request", recorded_request(booking), *RECORDED).text
    assert "attempt 1: invalid" in text
    assert "attempt 2: ok" in text
    assert "recorded" in text
    assert "changed by the repair:" in text
    assert "not that the values are right" in text


def test_a_stored_translation_is_replayed_without_a_model(run: Run, booking: Path) -> None:
    live = run("translate", booking, "--request", recorded_request(booking), *RECORDED, "--json").json
    [stored] = run("history", booking, "--json").json["runs"]
    for path in (booking / "recordings").iterdir():
        path.unlink()
    assert run("translate", booking, "--replay", stored["id"], "--json").json == live
    assert run("history", booking, "replay", stored["id"], "--json").json == live


def test_a_file_of_requests_is_run_line_by_line(run: Run, booking: Path, tmp_path: Path) -> None:
    request = recorded_request(booking)
    file = tmp_path / "requests.txt"
    file.write_bytes(b"\xef\xbb\xbf# a comment\r\n\r\n" + request.encode() + b"\r\n   \r\n#x\r\n")
    rows = run("translate", booking, "--requests", file, *RECORDED, "--json").json["results"]
    assert [row["request"] for row in rows] == [request]
    assert "1 repaired" in run("translate", booking, "--requests", file, *RECORDED).text


def test_a_project_without_an_output_schema_says_so(run: Run, documents: Path) -> None:
    outcome = run("translate", documents, "--request", "x", *RECORDED)
    assert outcome.status == 2
    assert "output.schema.json" in outcome.err


def test_a_schema_that_is_none_is_named_before_any_model_is_asked(run: Run, booking: Path) -> None:
    (booking / "output.schema.json").write_text('{\n  "type": "objekt"\n}')
    outcome = run("translate", booking, "--request", "x", *RECORDED)
    assert outcome.status == 2
    assert "output.schema.json:2" in outcome.err


def test_an_empty_request_and_a_run_that_is_not_there_are_wrong_calls(run: Run, booking: Path) -> None:
    assert run("translate", booking, "--request", "  ").status == 2
    assert run("translate", booking, "--replay", 7).status == 2


def test_a_reply_of_a_chat_server_goes_the_whole_way(run: Run, booking: Path) -> None:
    handler = type("Handler", (Server,), {"requests": []})
    reply = {
        "choices": [{"message": {"role": "assistant", "content": "no json at all"}, "finish_reason": "stop"}]
    }
    handler.reply = (200, "application/json", json.dumps(reply).encode())
    with serving(handler) as address:
        project = on_server(booking, f"{address}/v1", "openai")
        outcome = run("translate", project, "--request", "a table for two", "--model", "server", "--json")
    assert outcome.status == 1
    assert outcome.json["outcome"] == "no_json"
    assert len(outcome.json["attempts"]) == 2
    assert [r["path"] for r in handler.requests] == ["/v1/chat/completions"] * 2
