"""`history branch`, `mark` and `prune`: a new run goes on from a stored attempt, and what stays is the user's to say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.engine.history import HistoryStore
from workbench.engine.workflows import history_path

REQUEST = "Seven, please."
SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'


@pytest.fixture
def project(tmp_path: Path, run: Run) -> Path:
    """A project with one stored run, whose only attempt broke the schema and was not repaired."""
    folder = tmp_path / "project"
    (folder / "recordings").mkdir(parents=True)
    (folder / "output.schema.json").write_text(SCHEMA, encoding="utf-8")
    rows = [
        {"kind": "chat", "request": REQUEST, "reply": '{"a": "7"}'},
        {"kind": "chat", "request": REQUEST, "attempt": 2, "reply": '{"a": 7}'},
    ]
    (folder / "recordings" / "chat.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    (folder / "workbench.toml").write_text(
        'format = 1\nname = "P"\n\n[translation]\ntype_name = "A"\nattempt_repair = false\n\n'
        '[models.chat]\nprovider = "recorded"\n',
        encoding="utf-8",
    )
    assert run("translate", folder, "--request", REQUEST).status == 1
    return folder


def newest(project: Path) -> tuple[int, str, int | None, int | None]:
    with HistoryStore.open(history_path(project)) as store:
        summary = store.runs(limit=1)[0]
    return summary.id, summary.outcome, summary.parent_run, summary.parent_attempt


def test_a_reply_that_holds_ends_a_branch_without_a_call(run: Run, project: Path) -> None:
    outcome = run("history", project, "branch", 1, 1, "--reply", '{"a": 8}', "--json")
    assert (outcome.status, outcome.json["outcome"], outcome.json["value"]) == (0, "ok", {"a": 8})
    assert newest(project) == (2, "ok", 1, 1)


def test_another_schema_judges_the_reply_and_the_project_keeps_its_own(
    run: Run, project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text(SCHEMA.replace("integer", "string"), encoding="utf-8")
    outcome = run("history", project, "branch", 1, 1, "--schema", other)
    assert outcome.status == 0
    assert "branched from run 1, attempt 1" in outcome.text
    assert '"a": "7"' in outcome.text
    assert (project / "output.schema.json").read_text(encoding="utf-8") == SCHEMA


def test_a_branch_asks_for_the_repair_with_the_prompt_that_was_given(
    run: Run, project: Path, tmp_path: Path
) -> None:
    text = (project / "workbench.toml").read_text(encoding="utf-8")
    (project / "workbench.toml").write_text(text.replace("attempt_repair = false\n", ""), encoding="utf-8")
    reply = tmp_path / "reply.txt"
    reply.write_text('{"a": "seven"}', encoding="utf-8")
    outcome = run(
        "history", project, "branch", 1, 1, "--reply-file", reply, "--repair-prompt", "A number!", "--json"
    )
    first, second = outcome.json["attempts"]
    assert (first["reply"], first["outcome"]) == ('{"a": "seven"}', "invalid")
    assert second["messages"][-1] == {"role": "user", "content": "A number!"}
    assert (outcome.status, outcome.json["value"]) == (0, {"a": 7})


def test_a_branch_that_still_breaks_the_schema_is_a_bad_verdict(
    run: Run, project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text(SCHEMA.replace("integer", "boolean"), encoding="utf-8")
    outcome = run("history", project, "branch", 1, 1, "--schema", other)
    assert outcome.status == 1
    assert "attempt 1: invalid (nobody was asked)" in outcome.text
    assert newest(project) == (2, "invalid", 1, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("branch", 9, 1), "run 9"),
        (("branch", 1, 5), "no attempt 5"),
        (("branch", 1, 1, "--schema", "nowhere.json"), "nowhere.json"),
        (("branch", 1, 1, "--no-history"), "--no-history cannot be given"),
        (("mark", 1), "--star"),
        (("mark", 1, 9, "--star"), "run 9"),
        (("prune",), "--days"),
        (("prune", "--runs", "0"), "not a number from 1"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_a_wrong_call_changes_nothing_and_names_what_is_wrong(
    run: Run, project: Path, arguments: tuple[object, ...], words: str
) -> None:
    outcome = run("history", project, *arguments)
    assert outcome.status == 2
    assert words in outcome.err
    (row,) = run("history", project, "list", "--json").json["runs"]
    assert (row["id"], row["starred"], row["name"]) == (1, False, "")


def test_a_marked_run_is_named_and_outlives_pruning(run: Run, project: Path) -> None:
    for _ in range(2):
        run("translate", project, "--request", REQUEST)
    assert run("history", project, "mark", 1, "--star", "--name", "the first", "--note", "why").status == 0
    assert "the first" in run("history", project, "list").text
    assert run("history", project, "list", "--starred", "--json").json["runs"][0]["id"] == 1
    assert run("history", project, "prune", "--runs", 1, "--json").json == {"format": 1, "deleted": 1}
    assert [row["id"] for row in run("history", project, "--json").json["runs"]] == [3, 1]
    run("history", project, "mark", 1, "--no-star", "--name", "", "--note", "")
    assert run("history", project, "prune", "--runs", 1).text == "1 run deleted\n"
    assert [row["id"] for row in run("history", project, "--json").json["runs"]] == [3]


def test_two_attempts_of_a_run_are_compared(run: Run, project: Path) -> None:
    run("history", project, "branch", 1, 1)  # judges the stored reply again, and asks for a repair
    outcome = run("history", project, "compare", "2.1", "2.2")
    assert outcome.status == 1
    assert outcome.text.startswith("attempt 1 of run 2 and attempt 2 of run 2: different\n")
    assert "  outcome: invalid -> ok\n" in outcome.text
    assert '  changed /a: "7" -> 7\n' in outcome.text
    assert "+--- assistant ---" in outcome.text
    assert run("history", project, "compare", "1.1", "2.1").text.startswith(
        "attempt 1 of run 1 and attempt 1 of run 2: the same\n"
    )
    assert run("history", project, "compare", 1, "2.2", "--json").json["runs"][0]["outcome"] == [
        "invalid",
        "ok",
    ]


@pytest.mark.parametrize(
    ("which", "words"),
    [("1.7", "run 1 has no attempt 7"), ("9.1", "run 9"), ("one", "neither a run"), ("1.x", "neither a run")],
)
def test_an_attempt_that_is_not_there_is_named(run: Run, project: Path, which: str, words: str) -> None:
    outcome = run("history", project, "compare", "1.1", which)
    assert outcome.status == 2
    assert words in outcome.err


def test_compared_attempts_are_named_in_the_document_too(run: Run, project: Path) -> None:
    run("history", project, "branch", 1, 1)
    [row] = run("history", project, "compare", "2.1", "2.2", "--json").json["runs"]
    assert (row["before"], row["after"], row["compared_attempts"]) == (2, 2, [1, 2])
    [row] = run("history", project, "compare", "1", "2.2", "--json").json["runs"]
    assert row["compared_attempts"] == [None, 2]
    [row] = run("history", project, "compare", 1, 2, "--json").json["runs"]
    assert "compared_attempts" not in row


@pytest.mark.parametrize(
    ("text", "place"),
    [('{"type": "objct"}', "1:10: /type"), ('{\n"type" 3}', "2:8: ")],
    ids=["schema", "JSON"],
)
def test_a_wrong_schema_is_named_by_the_file_that_was_given(
    run: Run, project: Path, tmp_path: Path, text: str, place: str
) -> None:
    other = tmp_path / "other.json"
    other.write_text(text, encoding="utf-8")
    outcome = run("history", project, "branch", 1, 1, "--schema", other)
    assert outcome.status == 2
    assert outcome.err.startswith(f"{other}:{place}")
    # The project's own schema keeps its own name.
    (project / "output.schema.json").write_text('{"type": "objct"}', encoding="utf-8")
    assert "output.schema.json:1:10: " in run("history", project, "branch", 1, 1).err


def test_a_run_named_twice_is_marked_once(run: Run, project: Path) -> None:
    assert run("history", project, "mark", 1, 1, "--star").text == "run 1 marked\n"
    assert run("history", project, "mark", 1, 1, "--no-star", "--json").json["marked"] == [1]


def test_what_was_stripped_and_mended_in_a_reply_is_told(run: Run, project: Path) -> None:
    file = project / "workbench.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"A"\n', '"A"\nstrip_nulls = "all"\nlenient = true\n'), encoding="utf-8")
    reply = '{"a": 8, "b": null, "c": {"d": null},}'
    outcome = run("history", project, "branch", 1, 1, "--reply", reply)
    assert outcome.status == 0
    assert "  mended: Leave out the trailing comma\n" in outcome.text
    assert "  removed, since null: /b, /c/d\n" in outcome.text
