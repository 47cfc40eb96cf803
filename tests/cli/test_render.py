"""`render` writes the filled prompt byte for byte, or says which placeholder has no value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "p.json").write_text(
        '{"user": {"name": "Ann <a>", "tags": ["x", "y"], "note": null}, "price": 1.0, "inner": "[%param.price%]"}'
    )
    return tmp_path


def template(folder: Path, text: bytes, name: str = "t.txt") -> Path:
    (folder / name).write_bytes(text)
    return folder / name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"Hi [%param.user.name%]!", b"Hi Ann <a>!"),
        (b"a\r\n[%param.price%]\r\n", b"a\r\n1.0\r\n"),
        ("\ufeffü\u2028 [%param.price%]".encode(), "\ufeffü\u2028 1.0".encode()),
        (b"", b""),
    ],
    ids=["plain", "crlf", "bom", "empty"],
)
def test_the_text_is_written_byte_for_byte(run: Run, files: Path, text: bytes, expected: bytes) -> None:
    outcome = run("render", "--template", template(files, text), "--parameters", files / "p.json")
    assert (outcome.status, outcome.out) == (0, expected)


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        (["--escape", "html"], "[%param.user.name%]", "Ann &lt;a&gt;"),
        (["--null", "none"], "[%param.user.note%]", "none"),
        (["--many", "json"], "[%param.user.tags[*]%]", '["x", "y"]'),
        (["--many", "first"], "[%param.user.tags[*]%]", "x"),
        (["--context-name", "p"], "[%p.price%]", "1.0"),
        (["--expand-parameters"], "[%param.inner%]", "1.0"),
        (["--dialect", "braces"], '{"a": {price}}', '{"a": 1.0}'),
        (["--dialect", "double-braces"], "{{user.name}}", "Ann <a>"),
        (["--set", '/user/name="Bo"'], "[%param.user.name%]", "Bo"),
        (["--set", "/new/deep=[1, 2]"], "[%param.new.deep[1]%]", "2"),
        (["--set", '/user/tags/-="z"'], "[%param.user.tags[*]%]", "x, y, z"),
        (["--unresolved", "keep"], "a [%param.gone%]", "a [%param.gone%]"),
        (["--unresolved", "empty"], "a [%param.gone%]", "a "),
    ],
)
def test_each_option_does_what_it_says(
    run: Run, files: Path, options: list[str], text: str, expected: str
) -> None:
    path = template(files, text.encode())
    outcome = run("render", "--template", path, "--parameters", files / "p.json", *options)
    assert (outcome.status, outcome.text) == (0, expected)


def test_an_unresolved_placeholder_is_an_error_that_names_it_and_nothing_is_written(
    run: Run, files: Path
) -> None:
    path = template(files, b"line one\nHi [%param.user.nam%]")
    outcome = run("render", "--template", path, "--parameters", files / "p.json")
    assert outcome.status == 1
    assert outcome.out == b""
    assert "param.user.nam" in outcome.err
    assert "t.txt:2:4" in outcome.err
    assert "user.name" in outcome.err  # the near match is offered


def test_json_output_has_the_records_of_the_contract(run: Run, files: Path) -> None:
    path = template(files, b"Hi [%param.user.name%] [%param.gone%]")
    outcome = run(
        "render", "--template", path, "--parameters", files / "p.json", "--unresolved", "keep", "--json"
    )
    document = outcome.json
    assert document["format"] == 1
    assert document["value"] == "Hi Ann <a> [%param.gone%]"
    first, second = document["placeholders"]
    assert set(first) == {"node", "start", "end", "body", "status", "text", "pointer", "match_count"}
    assert (first["start"], first["end"], first["body"]) == (3, 22, "param.user.name")
    assert (first["status"], first["text"], first["pointer"], first["match_count"]) == (
        "resolved", "Ann <a>", "/user/name", 1,
    )  # fmt: skip
    assert second["status"] == "kept"
    assert document["diagnostics"][0].keys() >= {
        "severity", "code", "message", "line", "column", "start", "end", "pointer", "hint", "file",
    }  # fmt: skip


def test_a_json_template_is_an_object_graph(run: Run, files: Path) -> None:
    path = template(files, b'{"messages": [{"content": "[%param.user.name%]"}], "n": 3}', "graph.json")
    outcome = run("render", "--template", path, "--parameters", files / "p.json", "--json")
    assert outcome.json["value"] == {"messages": [{"content": "Ann <a>"}], "n": 3}
    assert outcome.json["placeholders"][0]["node"] == "/messages/0/content"


def test_standard_input_is_a_dash(run: Run, files: Path) -> None:
    outcome = run("render", "--template", "-", "--parameters", files / "p.json", stdin=b"[%param.price%]\n")
    assert outcome.out == b"1.0\n"


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        (b'{"a": 1,}', "p.json:1:9"),
        (b'{"a":\n NaN}', "p.json:2:2"),
        (b'{"a": "\xff"}', "p.json:1:8"),
        (b"", "p.json:1:1"),
    ],
    ids=["trailing comma", "NaN", "not utf-8", "empty"],
)
def test_a_broken_parameter_file_is_one_line_with_its_place(
    run: Run, tmp_path: Path, parameters: bytes, place: str
) -> None:
    (tmp_path / "p.json").write_bytes(parameters)
    outcome = run("render", "--template", template(tmp_path, b"x"), "--parameters", tmp_path / "p.json")
    assert outcome.status == 2
    assert place in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["render"],
        ["render", "--template", "gone.txt"],
        ["render", "--template", "t.txt", "--escape", "klingon"],
        ["render", "--template", "t.txt", "--set", "/a"],
        ["render", "--template", "t.txt", "--set", "/a=oops"],
        ["render", "--template", "t.txt", "--dialect", "mustache"],
        ["render", "nowhere"],
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    template(tmp_path, b"x")
    outcome = run(*arguments)
    assert outcome.status == 2
    assert outcome.out == b""
    assert len(outcome.err.strip().splitlines()) == 1


def test_a_project_prints_its_messages_under_their_roles(run: Run, triage: Path) -> None:
    outcome = run("render", triage)
    assert outcome.status == 0
    assert outcome.text.startswith("--- system ---\n")
    assert "\n--- user ---\n" in outcome.text
    assert "[%" not in outcome.text


def test_a_project_gives_a_list_of_messages_as_json(run: Run, triage: Path) -> None:
    value = run("render", triage, "--json").json["value"]
    assert [sorted(message) for message in value] == [["content", "role"]] * len(value)


def test_a_parameter_set_is_chosen_by_name_and_a_wrong_name_lists_the_right_ones(
    run: Run, triage: Path
) -> None:
    names = sorted(path.stem for path in (triage / "parameters").glob("*.json"))
    texts = {run("render", triage, "--parameter-set", name).text for name in names}
    assert len(texts) == len(names) > 1
    outcome = run("render", triage, "--parameter-set", "nope")
    assert outcome.status == 2
    assert all(name in outcome.err for name in names)


def test_values_set_by_hand_go_into_the_project_s_own_parameters(run: Run, documents: Path) -> None:
    outcome = run("render", documents, "--set", '/input="What is a lychgate?"')
    assert outcome.status == 0
    assert "What is a lychgate?" in outcome.text


def test_an_optional_value_that_is_null_drops_its_lines(run: Run, documents: Path) -> None:
    with_it = run("render", documents, "--set", '/queries="one; two"').text
    without = run("render", documents, "--set", "/queries=null").text
    assert "one; two" in with_it
    assert len(without.splitlines()) < len(with_it.splitlines())
    assert "{queries}" not in without


def test_a_project_with_one_message_prints_its_text_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "parameters").mkdir()
    (tmp_path / "parameters" / "b.json").write_text('{"x": "B"}')
    (tmp_path / "parameters" / "a.json").write_text('{"x": "A"}')
    (tmp_path / "workbench.toml").write_text(
        'format = 1\nname = "n"\n\n[[template.messages]]\nrole = "user"\ncontent = "no newline [%param.x%]"\n'
    )
    assert run("render", tmp_path).out == b"no newline A"


@pytest.mark.parametrize("command", ["render", "check", "translate", "export", "validate", "history"])
def test_every_command_says_that_a_folder_is_no_project(run: Run, tmp_path: Path, command: str) -> None:
    extra = {"translate": ["--request", "x"], "export": ["--to", "python"]}.get(command, [])
    outcome = run(command, tmp_path, *extra)
    assert outcome.status == 2
    assert "no project" in outcome.err
    assert "workbench.toml" in outcome.err


def test_help_and_version_are_there(run: Run) -> None:
    with pytest.raises(SystemExit) as ended:
        run("--version")
    assert ended.value.code == 0
    for command in (
        "render",
        "check",
        "translate",
        "export",
        "validate",
        "history",
        "samples",
        "screenshot",
        "doctor",
    ):
        with pytest.raises(SystemExit) as ended:
            run(command, "--help")
        assert ended.value.code == 0


def test_a_missing_command_and_an_unknown_option_are_named(run: Run) -> None:
    outcome = run("render", "--frobnicate")
    assert outcome.status == 2
    assert "--frobnicate" in outcome.err


def test_json_is_accepted_after_every_subcommand(run: Run, triage: Path) -> None:
    assert json.loads(run("samples", "list", "--json").out)["format"] == 1
    assert json.loads(run("history", triage, "list", "--json").out) == {"format": 1, "runs": []}
    assert json.loads(run("export", "--list", "--json").out)["targets"]
    assert json.loads(run("validate", triage, "--json").out)["valid"] is True
