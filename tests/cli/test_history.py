"""`history`: every kind of run replays step by step, runs are compared and run again, and filters are taken as typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.engine.events import RunEvent
from workbench.engine.history import HistoryStore
from workbench.engine.workflows import history_path

REQUEST = "A table for two tonight at eight, please."
SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
CHECK = {"name": "bad", "question": "Is it bad?", "probability": 0.9, "threshold": 0.5, "status": "rejected"}
REJECTED = {"stage": "output", "checks": [CHECK], "message": "rejected"}
PASSED = {"stage": "output", "checks": [{**CHECK, "probability": 0.1, "status": "passed"}], "message": ""}


@pytest.fixture
def project(tmp_path: Path, run: Run) -> Path:
    """A project whose recorded chat model answers the request in two ways, one after the other."""
    folder = tmp_path / "project"
    (folder / "recordings").mkdir(parents=True)
    (folder / "output.schema.json").write_text(SCHEMA, encoding="utf-8")
    rows = [{"kind": "chat", "request": REQUEST, "reply": '{"a": 1}', "model": "by hand",
             "usage": {"input_tokens": 7, "output_tokens": 3}}]  # fmt: skip
    (folder / "recordings" / "chat.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    (folder / "workbench.toml").write_text(
        'format = 1\nname = "P"\n\n[[template.messages]]\nrole = "user"\ncontent = "Hi"\n\n'
        '[translation]\ntype_name = "A"\npreamble = []\nchat_model = "rec"\n\n'
        '[models.rec]\nprovider = "recorded"\nfolder = "recordings"\n',
        encoding="utf-8",
    )
    return folder


Event = tuple[str, dict[str, object]]


def store_run(
    project: Path, kind: str, outcome: str, *events: Event, inputs: dict[str, object] | None = None
) -> int:
    with HistoryStore.open(history_path(project)) as store:
        run_id = store.start_run(kind, f"a {kind}", inputs or {"request": REQUEST, "schema": SCHEMA})
        for number, (name, data) in enumerate(events):
            store.append(run_id, RunEvent(name, number / 10, dict(data)))
        store.finish_run(run_id, outcome)
    return run_id


GUARD = (
    ("check_request", {"stage": "output", "text": "money back", "checks": [], "most": 2}),
    ("validation", {"number": 1, "text": "money back", "reprompt": "Again.", "results": [REJECTED]}),
    ("response_asked", {"reprompt": "Again.", "messages": [{"role": "user", "content": "Again."}]}),
    ("response", {"text": "no promise", "model": "m", "elapsed_ms": 4.0}),
    ("validation", {"number": 2, "text": "no promise", "reprompt": None, "results": [PASSED]}),
    ("check_result", PASSED),
    ("finished", {"outcome": "passed", "response": "no promise", "message": ""}),
)
TOOLS = (
    ("started", {"messages": [{"role": "user", "content": "Where is it?"}], "tools": ["lookup"]}),
    ("sent", {"round_trip": 1, "messages": [{"role": "user", "content": "Where is it?"}]}),
    ("reply", {"round_trip": 1, "text": "", "tool_calls": [{"id": "1", "name": "lookup", "arguments": "{}"}]}),
    ("tool_result", {"round_trip": 1, "name": "lookup", "is_error": False, "elapsed_ms": 2.0,
                     "sent": {"contents": [{"type": "text", "text": "on its way"}]},
                     "not_sent": {"result": {"row": 7}, "attributes": {}}}),
    ("reply", {"round_trip": 2, "text": "It is on its way.", "tool_calls": []}),
    ("finished", {"outcome": "ok", "text": "It is on its way.", "message": "", "round_trips": 2}),
)  # fmt: skip


def test_a_guarded_response_replays_with_each_validation_reprompt_and_new_response(
    run: Run, project: Path
) -> None:
    run_id = store_run(project, "check", "passed", *GUARD)
    text = run("history", project, "replay", run_id).text
    order = [
        "money back",
        "validation 1, rejected",
        "Again.",
        "no promise",
        "validation 2, passed",
        "delivered",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    steps = run("history", project, "replay", run_id, "--json").json["steps"]
    assert [step["label"] for step in steps] == [
        "checks asked", "rejected", "reprompt", "new response", "passed", "delivered",
    ]  # fmt: skip
    half = run("history", project, "replay", run_id, "--step", 3, "--json").json
    assert half["verdict"] == "rejected"
    assert half["outcome"] == "running"
    assert half["steps"] == steps[:3]


def test_a_tool_conversation_replays_with_what_the_model_never_saw(run: Run, project: Path) -> None:
    run_id = store_run(project, "tool", "ok", *TOOLS)
    text = run("history", project, "replay", run_id).text
    order = [
        "Where is it?",
        "lookup({})",
        "on its way",
        "not sent to the model",
        '"row": 7',
        "It is on its way.",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    early = run("history", project, "replay", run_id, "--step", 3).text
    assert "lookup({})" in early
    assert "on its way" not in early
    assert run("history", project, "replay", run_id, "--json").json["executions"][0]["name"] == "lookup"


def test_an_evaluation_replays_as_what_happened_when(run: Run, project: Path) -> None:
    run_id = store_run(project, "evaluate", "done", ("evaluated", {"answers": 3, "words": "3 answers"}))
    assert run("history", project, "replay", run_id).text == "+0.000 s  evaluated: 3 answers\n"


@pytest.mark.parametrize("step", [0, 7, -1])
def test_a_step_that_is_not_there_is_refused(run: Run, project: Path, step: int) -> None:
    run_id = store_run(project, "check", "passed", *GUARD)
    outcome = run("history", project, "replay", run_id, f"--step={step}")
    assert outcome.status == 2
    assert f"run {run_id} has 6 steps, and no step {step}" in outcome.err


def test_a_request_runs_again_with_today_s_prompt_and_tells_what_changed(run: Run, project: Path) -> None:
    assert run("translate", project, "--request", REQUEST, "--model", "rec").status == 0
    same = run("history", project, "again", 1, "--model", "rec")
    assert same.status == 0, same.err
    assert "run 1 and run 2: the same" in same.text
    chat = project / "recordings" / "chat.jsonl"
    chat.write_text(chat.read_text().replace('\\"a\\": 1', '\\"a\\": 2'), encoding="utf-8")
    toml = project / "workbench.toml"
    toml.write_text(
        toml.read_text().replace(
            'type_name = "A"', 'type_name = "A"\nrequest_prompt = "As {type_name}: {request}"'
        ),
        encoding="utf-8",
    )
    changed = run("history", project, "again", 1, 2, "--model", "rec", "--json")
    assert changed.status == 1
    assert changed.json["changed"] == 2
    first = changed.json["runs"][0]
    assert (first["before"], first["after"]) == (1, 3)
    assert first["changes"] == [{"kind": "changed", "pointer": "/a", "before": 1, "after": 2}]
    assert first["prompt"][1].endswith(f"As A: {REQUEST}")
    assert first["schema"] is None
    with HistoryStore.read(history_path(project)) as store:
        assert [store.run(k).summary.parent_run for k in (2, 3, 4)] == [1, 1, 2]
    text = run("history", project, "compare", 1, 3).text
    assert "  changed /a: 1 -> 2" in text
    assert f"    +As A: {REQUEST}" in text


def test_runs_of_two_kinds_are_not_compared_or_run_again(run: Run, project: Path) -> None:
    check = store_run(project, "check", "passed", *GUARD)
    tool = store_run(project, "tool", "ok", *TOOLS)
    outcome = run("history", project, "compare", check, tool)
    assert (outcome.status, "cannot be compared" in outcome.err) == (2, True)
    evaluation = store_run(project, "evaluate", "done")
    outcome = run("history", project, "again", evaluation)
    assert (outcome.status, "of the kind evaluate, which cannot run again" in outcome.err) == (2, True)
    outcome = run("history", project, "again", check)
    assert (outcome.status, "the project has no input checks" in outcome.err) == (2, True)


def test_the_list_is_filtered_by_words_outcome_and_star(run: Run, project: Path) -> None:
    first = store_run(project, "check", "passed", *GUARD)
    second = store_run(project, "tool", "ok", *TOOLS)
    with HistoryStore.open(history_path(project)) as store:
        store.star(second)

    def ids(*options: str) -> list[int]:
        return [row["id"] for row in run("history", project, "list", *options, "--json").json["runs"]]

    assert ids() == [second, first]
    assert ids("--search", 'lookup" OR (') == []
    assert ids("--search", "on its way") == [second]
    assert ids("--outcome", "passed") == [first]
    assert ids("--outcome", "passed", "--outcome", "ok") == [second, first]
    assert ids("--starred") == [second]


def test_deleting_takes_all_or_nothing(run: Run, project: Path) -> None:
    first = store_run(project, "check", "passed", *GUARD)
    second = store_run(project, "check", "passed", *GUARD)
    assert run("history", project, "delete", first, 99).status == 2
    assert len(run("history", project, "--json").json["runs"]) == 2
    assert (
        run("history", project, "delete", first, second).text
        == f"run {first} deleted\nrun {second} deleted\n"
    )
    assert run("history", project, "--json").json["runs"] == []


SHOP = """
[[tools]]
name = "lookup"
description = "Finds an order."
parameters = '{"type": "object", "properties": {"id": {"type": "string"}}}'

[tools.simulate]
text = "sent"

[[guardrails.input.checks]]
name = "short"
max_length = 10

[guardrails.output]
reprompt = "Shorter, please."

[[guardrails.output.checks]]
name = "brief"
max_length = 12
"""


@pytest.fixture
def shop(project: Path) -> Path:
    """The project with a tool and with checks that ask no model; its chat model answers what is asked below."""
    with (project / "workbench.toml").open("a", encoding="utf-8") as file:
        file.write(SHOP)
    return project


def stored(project: Path, kind: str, inputs: dict[str, object], *events: Event) -> int:
    """Store a run that ended as its last event says."""
    outcome = str(events[-1][1].get("outcome", "passed"))
    return store_run(project, kind, outcome, *events, inputs=inputs)


def test_a_check_runs_again_below_the_first(run: Run, shop: Path) -> None:
    checked = run("check", shop, "--text", "far too long a text")
    assert checked.status == 1
    outcome = run("history", shop, "again", 1, "--json")
    [found] = outcome.json["runs"]
    assert (outcome.status, found["same"], found["outcome"]) == (0, True, ["rejected", "rejected"])
    assert [row["parent"] for row in run("history", shop, "--json").json["runs"]] == [1, None]


def test_checks_that_run_again_tell_the_verdict_and_what_each_check_said_before_and_after(
    run: Run, shop: Path
) -> None:
    run("check", shop, "--text", "far too long a text")
    same = run("history", shop, "again", 1)
    assert same.text.splitlines() == [
        "run 1 and run 2: the same",
        "  verdict: rejected",
        "  short: rejected (19 characters)",
    ]
    config = shop / "workbench.toml"
    text = config.read_text("utf-8")
    added = '[[guardrails.input.checks]]\nname = "card"\npattern = "[0-9]"\n\n[guardrails.output]'
    text = text.replace("max_length = 10\n", "max_length = 100\n").replace("[guardrails.output]", added)
    config.write_text(text, encoding="utf-8")
    changed = run("history", shop, "again", 1)
    assert (same.status, changed.status) == (0, 1)
    lines = changed.text.splitlines()
    assert lines[:4] == [
        "run 1 and run 3: different",
        "  verdict: rejected -> passed",
        "  short: rejected (19 characters) -> passed (19 characters)",
        "  card: no answer -> passed (not found)",
    ]
    assert lines[4] == "  questions:"
    assert not any(word in changed.text for word in ("attempts", "tokens", "value:"))


def test_the_check_of_a_model_tells_its_probability_before_and_after(run: Run, project: Path) -> None:
    for probability, status in ((0.91, "rejected"), (0.12, "passed")):
        row = {"name": "rude", "question": "Rude?", "probability": probability, "threshold": 0.5}
        result = {"stage": "input", "checks": [{**row, "status": status, "detail": None}], "elapsed_ms": 1.0}
        inputs = {"stage": "input", "text": "t", "checks": [{"name": "rude", "question": "Rude?"}]}
        stored(project, "check", inputs, ("check_request", inputs), ("check_result", result))
    lines = run("history", project, "compare", 1, 2).text.splitlines()
    assert "  rude: rejected, p 0.91 at 0.50 -> passed, p 0.12 at 0.50" in lines


def test_a_guarded_response_runs_again_with_the_stored_response_and_message(run: Run, shop: Path) -> None:
    row = {"kind": "chat", "request": "Shorter, please.", "reply": "short", "model": "by hand"}
    with (shop / "recordings" / "chat.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    inputs = {"stage": "output", "text": "far too long a text", "user_message": REQUEST, "most": 2}
    first = stored(shop, "check", inputs, *GUARD)
    outcome = run("history", shop, "again", first, "--model", "rec", "--json")
    assert outcome.status == 1, outcome.err
    [found] = outcome.json["runs"]
    assert (found["before"], found["after"], found["attempts"]) == (first, first + 1, [2, 2])
    assert {"pointer": "/response", "kind": "changed", "before": "no promise", "after": "short"} in found[
        "changes"
    ]
    text = run("history", shop, "replay", first + 1).text
    order = ["far too long a text", "validation 1, rejected", "Shorter, please.", "short", "delivered"]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    with HistoryStore.open(history_path(shop)) as store:
        again = store.run(first + 1)
    assert (again.summary.parent_run, again.inputs["user_message"]) == (first, REQUEST)


def test_a_run_of_tools_runs_again_below_the_first(run: Run, shop: Path) -> None:
    inputs = {"request": REQUEST, "with_prompt": False}
    first = stored(shop, "tool", inputs, *TOOLS)
    outcome = run("history", shop, "again", first, "--model", "rec", "--json")
    assert outcome.status == 1, outcome.err
    [found] = outcome.json["runs"]
    assert (outcome.status, found["outcome"], found["attempts"]) == (1, ["ok", "ok"], [2, 1])
    changes = {change["pointer"]: change["after"] for change in found["changes"]}
    assert changes["/text"] == '{"a": 1}'
    with HistoryStore.open(history_path(shop)) as store:
        assert store.run(first + 1).summary.parent_run == first


def test_a_one_off_program_replays_with_its_steps_and_runs_again_as_a_program(run: Run, shop: Path) -> None:
    reply = json.dumps({"@steps": [{"@func": "lookup", "@args": ["A7"]}]})
    row = {"kind": "chat", "request": "Where is A7?", "reply": reply, "model": "by hand"}
    with (shop / "recordings" / "chat.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    assert run("translate", shop, "--program", "--request", "Where is A7?", "--model", "rec").status == 0
    replayed = run("history", shop, "replay", 1, "--json").json
    assert replayed["program"]["value"] == "sent"
    labels = [step["label"] for step in replayed["steps"]]
    assert labels[-4:] == ["begins", "step 0: lookup", "0 done", "value"]
    assert 'step 0: lookup("A7") = sent' in run("history", shop, "replay", 1).text
    half = run("history", shop, "replay", 1, "--step", len(labels) - 2, "--json").json
    assert (half["program"]["outcome"], len(half["program"]["steps"])) == ("running", 1)
    outcome = run("history", shop, "again", 1, "--model", "rec", "--json")
    assert (outcome.status, outcome.json["runs"][0]["same"]) == (0, True)
    with HistoryStore.open(history_path(shop)) as store:
        assert store.run(2).summary.title == "Program: Where is A7?"


def test_the_list_tells_what_runs_cost_where_that_is_known(run: Run, project: Path) -> None:
    store_run(project, "check", "passed", *GUARD)
    assert "cost" not in run("history", project, "list").text
    cost = {"amount": 0.0042, "currency": "EUR"}
    store_run(
        project, "tool", "ok", ("reply", {"round_trip": 1, "text": "x", "tool_calls": [], "cost": cost})
    )
    rows = run("history", project, "list", "--json").json["runs"]
    assert [row["cost"] for row in rows] == [cost, None]
    lines = run("history", project, "list").text.splitlines()
    assert [line.split("  ")[-1].strip() for line in lines] == ["cost", "0.0042 EUR", "unknown"]


HUGE = "9" * 30


@pytest.mark.parametrize(
    "action", [("show", HUGE), ("replay", HUGE), ("delete", HUGE), ("compare", "1", HUGE)]
)
def test_a_number_larger_than_any_run_can_have_is_a_run_that_is_not_there(
    run: Run, project: Path, action: tuple[str, ...]
) -> None:
    run_id = store_run(project, "translate", "ok")
    outcome = run("history", project, *action)
    assert outcome.status == 2
    assert f"there is no run {HUGE}" in outcome.err
    assert run("history", project, "show", run_id).status == 0


@pytest.mark.parametrize("limit", ["0", "-1", HUGE])
def test_a_limit_that_limits_nothing_is_refused(run: Run, project: Path, limit: str) -> None:
    store_run(project, "translate", "ok")
    outcome = run("history", project, "list", f"--limit={limit}")
    assert outcome.status == 2
    assert f"{limit} is not a number from 1" in outcome.err
    assert outcome.err.startswith("prompt-workbench history project list:")


def test_a_run_named_twice_is_deleted_once(run: Run, project: Path) -> None:
    run_id = store_run(project, "translate", "ok")
    assert run("history", project, "delete", run_id, run_id).text == f"run {run_id} deleted\n"


def test_a_stored_reply_steers_no_terminal(run: Run, project: Path) -> None:
    reply = {"attempt": 1, "text": "\x1b]0;title\x07red\tand\nline\r", "elapsed_ms": 1.0}
    run_id = store_run(project, "translate", "no_json", ("sent", {"attempt": 1}), ("reply", reply))
    for action in ("show", "replay"):
        text = run("history", project, action, run_id).text
        assert not set(text) & set("\x1b\x07\r")
        assert r"\x1b]0;title\x07red" in text or r"\u001b]0;title\u0007red" in text


def test_a_translation_that_goes_on_or_was_cut_off_says_so_in_words(run: Run, project: Path) -> None:
    sent = {"attempt": 1, "messages": [{"role": "user", "content": "x"}], "base_count": 1}
    run_id = store_run(project, "translate", "interrupted", ("started", {}), ("sent", sent))
    text = run("history", project, "replay", run_id).text
    assert text.startswith("attempt 1: interrupted (no answer)\n")
    assert text.endswith("no value (interrupted): The run was interrupted before it ended.\n")
    assert run("history", project, "replay", run_id, "--json").json["outcome"] == "interrupted"
    step = run("history", project, "replay", run_id, "--step", 1).text
    assert step.startswith("attempt 1: running (no answer yet)\n")
    assert step.endswith("no value yet\n")
    assert run("translate", project, "--replay", run_id).status == 1


@pytest.mark.parametrize("order", [("--json", "list"), ("list", "--json"), ("--json",)], ids=" ".join)
def test_json_may_stand_before_or_behind_the_action(run: Run, project: Path, order: tuple[str, ...]) -> None:
    run_id = store_run(project, "translate", "ok")
    assert [row["id"] for row in run("history", project, *order).json["runs"]] == [run_id]
    assert run("history", project, "list").text.startswith("run  started")
    assert run("samples", "--json", "list").json["samples"]
