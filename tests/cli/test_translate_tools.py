"""`translate --tools` and `--program` use the project's tools, with simulated answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

TOOLS = """
[[tools]]
name = "book"
parameters = '{"type": "object", "properties": {"people": {"type": "integer"}}, "required": ["people"]}'
compensate = "cancel"

[tools.simulate]
json = '{"id": 7}'
attributes = '{"trace": "t-1"}'

[[tools]]
name = "cancel"

[tools.simulate]
text = "cancelled"

[[tools]]
name = "ticket"
return_immediately = true

[tools.simulate]
text = "Ticket 12"

[[tools]]
name = "broken"

[tools.simulate]
error = "the kitchen is closed"
"""
REQUEST = "a table for 4"


def call(name: str, arguments: str = "{}") -> dict[str, str]:
    return {"name": name, "arguments": arguments}


def program(*calls: Any) -> dict[str, Any]:
    steps = [{"@func": name, "@args": list(arguments)} for name, *arguments in calls]
    return {"reply": json.dumps({"@steps": steps})}


def record(project: Path, *rows: dict[str, Any]) -> None:
    """Give the project its tools, and these replies to `REQUEST` in their order."""
    with (project / "workbench.toml").open("a", encoding="utf-8") as file:
        file.write(TOOLS)
    lines = [json.dumps({"kind": "chat", "request": REQUEST, "reply": "", **row}) + "\n" for row in rows]
    (project / "recordings" / "tools.jsonl").write_text("".join(lines), encoding="utf-8")


def translate(run: Run, project: Path, *options: str) -> Any:
    return run("translate", project, "--request", REQUEST, "--model", "recorded", *options)


def test_the_model_answers_with_the_help_of_the_tools(run: Run, booking: Path) -> None:
    record(booking, {"tool_calls": [call("book", '{"people": 4}')]}, {"reply": "Booked."})
    outcome = translate(run, booking, "--tools", "--json")
    document = outcome.json
    assert (outcome.status, document["outcome"], document["text"]) == (0, "ok", "Booked.")
    (made,) = document["calls"]
    assert made["sent"]["contents"] == [{"type": "text", "text": '{"id": 7}'}]
    assert made["not_sent"] == {"result": {"id": 7}, "attributes": {"trace": "t-1"}}


def test_the_text_says_what_was_sent_kept_back_and_rolled_back(run: Run, booking: Path) -> None:
    record(
        booking,
        {"tool_calls": [call("book", '{"people": "4"}')]},
        {"tool_calls": [call("broken")]},
        {"reply": "Sorry."},
    )
    outcome = translate(run, booking, "--tools")
    assert outcome.status == 0
    assert "rolled back: Rolled back: book had succeeded, but broken failed, so it was undone: cancelled" in (
        outcome.text
    )
    assert 'not sent to the model: attributes {"trace": "t-1"}' in outcome.text
    assert "note: /people was" in outcome.text
    assert "error: the kitchen is closed" in outcome.text
    assert "answer:\nSorry." in outcome.text
    [stored] = run("history", booking, "--json").json["runs"]
    assert (stored["kind"], stored["summary"]) == ("tool", "2 tool calls, 1 rolled back")


def test_a_tool_may_have_the_last_word(run: Run, booking: Path) -> None:
    record(booking, {"tool_calls": [call("ticket")]})
    outcome = translate(run, booking, "--tools", "--json")
    assert (outcome.json["immediate"], outcome.json["text"]) == (True, "Ticket 12")
    assert "without the model" in translate(run, booking, "--tools").text


def test_a_project_without_tools_says_so(run: Run, booking: Path) -> None:
    for option in ("--tools", "--program"):
        outcome = translate(run, booking, option)
        assert outcome.status == 2
        assert "no tools" in outcome.err


def test_a_request_becomes_a_program_that_is_run(run: Run, booking: Path) -> None:
    record(booking, program(("book", 4), ("cancel",)))
    outcome = translate(run, booking, "--program", "--json")
    evaluated = outcome.json["program"]
    assert (outcome.status, evaluated["outcome"], evaluated["value"]) == (0, "ok", "cancelled")
    assert [step["value"] for step in evaluated["steps"]] == [{"id": 7}, "cancelled"]
    text = translate(run, booking, "--program").text
    assert 'step 0: book(4) = {"id": 7}' in text
    assert 'value:\n"cancelled"' in text
    for stored in run("history", booking, "--json").json["runs"]:
        replayed = run("translate", booking, "--replay", stored["id"], "--json").json
        assert replayed["program"]["value"] == "cancelled"


def test_a_step_that_fails_is_a_bad_verdict(run: Run, booking: Path) -> None:
    record(booking, program(("broken",)))
    outcome = translate(run, booking, "--program")
    assert outcome.status == 1
    assert "no value (tool error): step 0, broken: the kitchen is closed" in outcome.text
    live = translate(run, booking, "--program", "--json").json
    assert (live["outcome"], live["message"]) == ("tool_error", "step 0, broken: the kitchen is closed")
    assert run("translate", booking, "--replay", 2, "--json").json == live


def test_the_project_itself_may_ask_for_programs(run: Run, booking: Path) -> None:
    record(booking, program(("book", 4)))
    settings = booking / "workbench.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(
        text.replace("[translation]", '[translation]\ntarget = "program"', 1), encoding="utf-8"
    )
    assert translate(run, booking, "--json").json["program"]["value"] == {"id": 7}


@pytest.mark.parametrize("option", ["--tools", "--program"])
def test_a_file_of_requests_takes_the_same_options(
    run: Run, booking: Path, tmp_path: Path, option: str
) -> None:
    reply = {"reply": "Hello."} if option == "--tools" else program(("book", 4))
    record(booking, reply)
    file = tmp_path / "requests.txt"
    file.write_text(f"# two\n{REQUEST}\n{REQUEST}\n", encoding="utf-8")
    outcome = run("translate", booking, "--requests", file, "--model", "recorded", option)
    assert outcome.status == 0
    assert ("2 answered" if option == "--tools" else "2 valid at first") in outcome.text
