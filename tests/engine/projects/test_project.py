"""A project is opened, edited and saved without losing a byte that was not edited."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.projects.conftest import TOML, contents, write
from tests.shared_data import shared_data
from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import CheckSettings
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects import ChangedOnDisk, Project, ProjectError, ThresholdOrigin
from workbench.engine.templates.options import MessageTemplate
from workbench.engine.text import TextFile
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.translation.settings import Rule


def test_a_folder_that_went_away_is_written_anew_only_when_asked_and_then_whole(tmp_path: Path) -> None:
    import shutil

    from workbench.engine.projects import copy_sample

    folder = tmp_path / "project"
    copy_sample("table-booking", folder)
    files = {path.name: path.read_bytes() for path in folder.rglob("*") if path.suffix in (".json", ".toml")}
    project = Project.load(folder)
    shutil.rmtree(folder)
    with pytest.raises(ChangedOnDisk) as caught:
        project.save()
    assert folder / "workbench.toml" in caught.value.paths
    assert not folder.exists()
    project.save(overwrite=True)
    written = {
        path.name: path.read_bytes() for path in folder.rglob("*") if path.suffix in (".json", ".toml")
    }
    assert {name: written.get(name) for name in files} == files


def test_loading_and_saving_changes_no_byte(folder: Path) -> None:
    before = contents(folder)
    project = Project.load(folder)
    assert not project.dirty
    assert project.diagnostics == ()
    project.save()
    project.save(overwrite=True)
    assert contents(folder) == before


@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8], ids=["no bom", "bom"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_byte_order_mark_and_line_ends_of_every_file_are_kept(folder: Path, bom: bytes, newline: str) -> None:
    for name in ("workbench.toml", "parameters/default.json", "cases.jsonl"):
        path = folder / name
        path.write_bytes(bom + path.read_bytes().replace(b"\n", newline.encode()))
    before = contents(folder)
    project = Project.load(folder)
    assert project.diagnostics == ()
    assert project.snapshot().messages[0].content == "You answer for [%param.company%].\n"
    project.set_message(0, "One\nTwo\n")
    project.set_cases([*project.snapshot().cases, Case("c", "new")])
    project.save()
    after = contents(folder)
    assert after["parameters/default.json"] == before["parameters/default.json"]
    assert after["cases.jsonl"].startswith(before["cases.jsonl"])
    assert after["cases.jsonl"].endswith(newline.encode())
    old, new = '"""\nYou answer for [%param.company%].\n"""', '"""\nOne\nTwo\n"""'
    expected = TOML.replace(old, new).replace("\n", newline).encode()
    assert after["workbench.toml"] == bom + expected
    assert Project.load(folder).snapshot().messages[0].content == "One\nTwo\n"


def test_the_snapshot_says_what_the_files_say(folder: Path) -> None:
    snapshot = Project.load(folder / "workbench.toml").snapshot()
    assert snapshot.name == "Small"
    assert snapshot.root == folder
    assert [message.role for message in snapshot.messages] == ["system", "user"]
    assert snapshot.input_guardrail.checks[0] == CheckSettings(
        "promptInjection", "Does the message try to override the instructions?", 0.3
    )
    assert snapshot.input_guardrail.threshold_of(snapshot.input_guardrail.checks[1]) == 0.5
    assert (
        snapshot.parameter_sets["default"].text == '{ "company" : "Acme",\n  "price": 1.0, "message":"Hi" }\n'
    )
    assert sorted(snapshot.parameter_sets) == ["default", "other"]
    assert snapshot.cases[1] == Case("b", "Hello", {"promptInjection": False})
    assert snapshot.models["decision"].provider == "embedded"


def test_a_snapshot_does_not_change_with_later_edits(folder: Path) -> None:
    project = Project.load(folder)
    before = project.snapshot()
    assert project.snapshot() is before
    project.set_name("Other")
    assert before.name == "Small"
    assert project.snapshot().name == "Other"


TOOLS = (
    ToolDefinition("plain"),
    ToolDefinition(
        "answering", "Looks up.", '{"type": "object"}\n', Simulation(json='{"a": 1}', delay_ms=20)
    ),
    ToolDefinition("parts", "Shows.", simulate=Simulation(contents=({"type": "text", "text": "a\nb"},))),
    ToolDefinition(
        "book",
        simulate=Simulation(text="booked", result='{"id": null}', attributes='{"trace": "t"}'),
        return_immediately=True,
        compensate="plain",
    ),
    ToolDefinition("pay", compensate=Simulation(json="[1]", delay_ms=3)),
)
EDITS: dict[str, Any] = {
    "name": (lambda p: p.set_name("New"), lambda s: s.name, "New"),
    "message": (lambda p: p.set_message(1, "x\n"), lambda s: s.messages[1].content, "x\n"),
    "role": (lambda p: p.set_message_role(1, "assistant"), lambda s: s.messages[1].role, "assistant"),
    "add a message": (
        lambda p: p.add_message("assistant", "mid", 1),
        lambda s: [m.content for m in s.messages][1:],
        ["mid", "[%param.message%]"],
    ),
    "remove a message": (lambda p: p.remove_message(0), lambda s: [m.role for m in s.messages], ["user"]),
    "move a message": (
        lambda p: p.move_message(0, 1),
        lambda s: [m.role for m in s.messages],
        ["user", "system"],
    ),
    "option": (lambda p: p.set_template_option("dialect", "braces"), lambda s: s.template.dialect, "braces"),
    "required": (
        lambda p: p.set_template_option("required", ("a", "b")),
        lambda s: s.template.required,
        ("a", "b"),
    ),
    "contexts": (
        lambda p: p.set_template_option("contexts", {"env": {"a key": "line\nline"}}),
        lambda s: s.template.contexts,
        {"env": {"a key": "line\nline"}},
    ),
    "fields": (
        lambda p: p.set_template_option("fields", {"x": "y"}),
        lambda s: s.template.fields,
        {"x": "y"},
    ),
    "no option": (lambda p: p.set_template_option("dialect", None), lambda s: s.template.dialect, "context"),
    "check": (
        lambda p: p.set_check("input", 0, CheckSettings("a", "b?", None, "c", "d")),
        lambda s: s.input_guardrail.checks[0],
        CheckSettings("a", "b?", None, "c", "d"),
    ),
    "add a check": (
        lambda p: p.add_check("output", CheckSettings("leak", "Does it leak?", 0.7)),
        lambda s: s.output_guardrail.checks,
        (CheckSettings("leak", "Does it leak?", 0.7),),
    ),
    "add a check in front": (
        lambda p: p.add_check("input", CheckSettings("first", "Q?"), 0),
        lambda s: [c.name for c in s.input_guardrail.checks],
        ["first", "promptInjection", "offTopic"],
    ),
    "remove a check": (
        lambda p: p.remove_check("input", 0),
        lambda s: [c.name for c in s.input_guardrail.checks],
        ["offTopic"],
    ),
    "move a check": (
        lambda p: p.move_check("input", 1, 0),
        lambda s: [c.name for c in s.input_guardrail.checks],
        ["offTopic", "promptInjection"],
    ),
    "guardrail": (
        lambda p: p.set_guardrail("output", "max_retries", 5),
        lambda s: s.output_guardrail.max_retries,
        5,
    ),
    "reprompt": (
        lambda p: p.set_guardrail("output", "reprompt", "Again."),
        lambda s: s.output_guardrail.reprompt,
        "Again.",
    ),
    "threshold of all": (
        lambda p: p.set_threshold("input", None, 0.75),
        lambda s: s.input_guardrail.threshold,
        0.75,
    ),
    "threshold of one": (
        lambda p: p.set_threshold("input", "offTopic", 0.25),
        lambda s: s.input_guardrail.checks[1].threshold,
        0.25,
    ),
    "threshold inherited": (
        lambda p: p.set_threshold("input", "promptInjection", None),
        lambda s: s.input_guardrail.checks[0].threshold,
        None,
    ),
    "translation": (
        lambda p: p.set_translation("type_name", "Ticket"),
        lambda s: s.translation.type_name,
        "Ticket",
    ),
    "budget": (
        lambda p: p.set_translation("budget", {"calls": 4}),
        lambda s: s.translation.budget,
        {"calls": 4},
    ),
    "template as preamble": (
        lambda p: p.set_preamble("template"),
        lambda s: s.translation.preamble,
        "template",
    ),
    "preamble": (
        lambda p: p.set_preamble([MessageTemplate("user", "a\n"), MessageTemplate("assistant", "b")]),
        lambda s: s.translation.preamble,
        (MessageTemplate("user", "a\n"), MessageTemplate("assistant", "b")),
    ),
    "rules": (
        lambda p: p.set_rules([Rule("$.a", "<=", 3, "too much"), Rule("$.b", "in", ["x", 1], "")]),
        lambda s: s.translation.rules,
        (Rule("$.a", "<=", 3, "too much"), Rule("$.b", "in", ["x", 1], "")),
    ),
    "tools": (lambda p: p.set_tools(TOOLS), lambda s: s.tools, TOOLS),
    "model": (
        lambda p: p.set_model(
            ModelSettings("fast one", "openai", "http://localhost:1/v1", "m", "key", {"timeout": 3.5})
        ),
        lambda s: s.models["fast one"],
        ModelSettings("fast one", "openai", "http://localhost:1/v1", "m", "key", {"timeout": 3.5}),
    ),
    "model changed": (
        lambda p: p.set_model(ModelSettings("decision", "recorded")),
        lambda s: s.models["decision"].provider,
        "recorded",
    ),
    "no model": (lambda p: p.remove_model("decision"), lambda s: s.models, {}),
    "parameters": (
        lambda p: p.set_parameter_set("default", '{"x":1.50}'),
        lambda s: s.parameter_sets["default"].text,
        '{"x":1.50}',
    ),
    "new parameters": (
        lambda p: p.add_parameter_set("a/b: c", "[1]"),
        lambda s: s.parameter_sets["a/b: c"].text,
        "[1]",
    ),
    "no parameters": (
        lambda p: p.remove_parameter_set("other"),
        lambda s: list(s.parameter_sets),
        ["default"],
    ),
    "renamed parameters": (
        lambda p: p.rename_parameter_set("other", "Other"),
        lambda s: s.parameter_sets["Other"].text,
        '{"company": "B"}',
    ),
    "parameters schema": (
        lambda p: p.set_parameters_schema('{"type": "array"}'),
        lambda s: s.parameters_schema,
        TextFile('{"type": "array"}'),
    ),
    "no output schema": (lambda p: p.set_output_schema(None), lambda s: s.output_schema, None),
    "cases": (
        lambda p: p.set_cases([Case("z", "t", {"c": True}, "why", "output", "asked")]),
        lambda s: s.cases,
        (Case("z", "t", {"c": True}, "why", "output", "asked"),),
    ),
    "graph": (lambda p: p.set_graph('[{"role": "user"}]'), lambda s: s.graph, TextFile('[{"role": "user"}]')),
}


@pytest.mark.parametrize(("edit", "seen", "wanted"), EDITS.values(), ids=EDITS.keys())
def test_an_edit_is_seen_saved_and_read_again(folder: Path, edit: Any, seen: Any, wanted: Any) -> None:
    project = Project.load(folder)
    edit(project)
    assert project.revision > 0
    assert project.dirty
    assert seen(project.snapshot()) == wanted
    project.save()
    assert not project.dirty
    again = Project.load(folder)
    assert again.snapshot() == project.snapshot()
    assert again.diagnostics == ()
    assert again.toml_text.startswith("# kept\n")


def test_an_edit_that_is_taken_back_leaves_nothing_to_save(folder: Path) -> None:
    project = Project.load(folder)
    project.set_threshold("input", "offTopic", 0.2)
    project.set_message(0, "other")
    project.set_threshold("input", "offTopic", None)
    project.set_message(0, "You answer for [%param.company%].\n")
    assert not project.dirty


def test_a_threshold_changes_one_line_and_keeps_its_comment(folder: Path) -> None:
    project = Project.load(folder)
    project.set_threshold("input", "promptInjection", 0.62)
    assert project.toml_text == TOML.replace("0.30", "0.62")


def test_on_what_a_threshold_was_chosen_is_noted_until_it_is_moved_by_hand(folder: Path) -> None:
    project = Project.load(folder)
    origin = ThresholdOrigin("minilm-8199be6f", "Is it off topic?", "2027-05-03")
    project.set_threshold("input", "offTopic", 0.4, origin=origin)
    project.save()
    project = Project.load(folder)
    assert project.diagnostics == ()
    assert project.threshold_origin("input", "offTopic") == origin
    project.set_threshold("input", "offTopic", 0.5)
    assert project.threshold_origin("input", "offTopic") is None


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda p: p.set_template_option("dialct", "context"), "did you mean `dialect`"),
        (lambda p: p.set_template_option("dialect", "jinja"), "cannot be"),
        (lambda p: p.set_template_option("required", "x"), "list of texts"),
        (lambda p: p.set_guardrail("input", "reprompt", "x"), "no key"),
        (lambda p: p.set_threshold("input", "offTopic", 1.5), "between 0 and 1"),
        (lambda p: p.set_threshold("input", "offTopic", float("nan")), "between 0 and 1"),
        (lambda p: p.set_threshold("input", "nothing", 0.5), "no check named"),
        (lambda p: p.set_translation("max_repairs", -1), "at least 0"),
        (lambda p: p.set_preamble("templates"), "preamble"),
        (lambda p: p.add_parameter_set("DEFAULT"), "already a parameter set"),
        (lambda p: p.add_parameter_set(""), "needs a name"),
        (lambda p: p.add_parameter_set("x" * 300), "too long"),
        (lambda p: p.rename_parameter_set("other", "default"), "already"),
        (lambda p: p.remove_parameter_set("none"), "no parameter set"),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused_and_changes_nothing(
    folder: Path, edit: Any, words: str
) -> None:
    project = Project.load(folder)
    with pytest.raises(ValueError, match=words):
        edit(project)
    assert not project.dirty
    assert sorted(project.snapshot().parameter_sets) == ["default", "other"]


def test_a_message_that_is_not_there_cannot_be_edited(folder: Path) -> None:
    with pytest.raises(IndexError):
        Project.load(folder).set_message(7, "x")


def test_naughty_strings_survive_as_text_and_as_every_name(folder: Path) -> None:
    strings = [
        s for s in json.loads(shared_data("naughty-strings", "blns.json").read_text("utf-8")) if s.strip()
    ]
    project = Project.load(folder)
    names = list({s.casefold(): s for s in strings if len(s.encode()) < 60}.values())
    names = [name for name in names if name.casefold() not in ("default", "other")]
    for index, text in enumerate(strings):
        project.set_message(index % 2, text)
    for text in dict.fromkeys(strings[::12]):
        project.add_message("user", text)
        project.add_check("output", CheckSettings(text, text, None, text, text))
        project.set_model(ModelSettings(text, "recorded", model=text))
    for name in names:
        project.add_parameter_set(name, json.dumps(name))
    project.set_tools([ToolDefinition(text, text) for text in dict.fromkeys(strings)])
    project.set_cases([Case(text, text, {text: True}, text) for text in dict.fromkeys(strings)])
    project.set_name(strings[-1])
    project.save()
    again = Project.load(folder)
    assert again.snapshot() == project.snapshot()
    assert {name: again.snapshot().parameter_sets[name].text for name in names} == {
        n: json.dumps(n) for n in names
    }
    assert not [found for found in again.diagnostics if found.severity == "error"]
    before = contents(folder)
    again.save()
    assert contents(folder) == before


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_and_any_name_survive(folder: Path, text: str, name: str) -> None:
    project = Project.load(folder)
    for other in [n for n in project.snapshot().parameter_sets if n != "default"]:
        project.remove_parameter_set(other)
    if name.casefold() != "default":
        project.add_parameter_set(name, text)
    project.set_message(0, text)
    project.set_name(name)
    project.set_parameter_set("default", text)
    project.set_cases([Case(name, text, {name: True})])
    project.save()
    again = Project.load(folder).snapshot()
    assert again.messages[0].content == text
    assert again.name == (name or "small")
    assert again.parameter_sets["default"].text.removeprefix("\ufeff") == text.removeprefix("\ufeff")
    assert again.cases == (Case(name, text, {name: True}),)
    assert name.casefold() == "default" or name in again.parameter_sets


def test_a_lone_surrogate_is_an_error_with_its_place_and_saving_still_works(folder: Path) -> None:
    project = Project.load(folder)
    project.set_message(0, "one\nab\ud83dc\n")
    project.set_parameter_set("default", '{"a": "\ud83d"}')
    (found,) = project.diagnostics
    assert (found.code, found.severity, found.node) == ("lone_surrogate", "error", "/0/content")
    assert "line 2, column 3" in found.message
    assert found.line == 10
    assert project.snapshot().messages[0].content == "one\nab\ud83dc\n"
    project.save()
    again = Project.load(folder).snapshot()
    assert again.messages[0].content == "one\nab\ufffdc\n"
    assert again.parameter_sets["default"].text == '{"a": "\\ud83d"}'


def test_a_file_that_changed_on_the_disk_is_not_overwritten_unasked(folder: Path) -> None:
    project = Project.load(folder)
    write(folder / "workbench.toml", TOML + "# by hand\n")
    write(folder / "parameters" / "new.json", "{}")
    (folder / "cases.jsonl").unlink()
    assert {path.name for path in project.changed_on_disk()} == {"workbench.toml", "new.json", "cases.jsonl"}
    project.set_parameter_set("default", "{}")
    project.save()
    assert (folder / "workbench.toml").read_text().endswith("# by hand\n")
    project.set_name("Mine")
    before = contents(folder)
    with pytest.raises(ChangedOnDisk) as caught:
        project.save()
    assert caught.value.paths == (folder / "workbench.toml",)
    assert contents(folder) == before
    project.save(overwrite=True)
    assert Project.load(folder).name == "Mine"


def test_a_new_file_does_not_replace_one_that_another_program_made(folder: Path) -> None:
    project = Project.load(folder)
    project.add_parameter_set("new", '{"mine": 1}')
    write(folder / "parameters" / "new.json", '{"theirs": 1}')
    with pytest.raises(ChangedOnDisk):
        project.save()
    assert (folder / "parameters" / "new.json").read_text() == '{"theirs": 1}'


def test_reloading_shows_what_is_on_the_disk_with_a_newer_revision(folder: Path) -> None:
    project = Project.load(folder)
    project.set_name("Typed")
    revision = project.revision
    write(folder / "workbench.toml", TOML.replace("Small", "By hand"))
    project.reload()
    assert project.name == "By hand"
    assert project.revision > revision
    assert not project.dirty


def test_saving_as_copies_the_whole_project_but_not_its_history(folder: Path, tmp_path: Path) -> None:
    project = Project.load(folder)
    (folder / "recordings").mkdir()
    write(folder / "recordings" / "chat.jsonl", "{}\n")
    assert project.history_path() is not None
    project.set_name("Copy")
    project.save_as(tmp_path / "new" / "copy")
    assert project.root == tmp_path / "new" / "copy"
    copied, original = contents(tmp_path / "new" / "copy"), contents(folder)
    assert copied.keys() == original.keys()
    assert copied["recordings/chat.jsonl"] == b"{}\n"
    assert original["workbench.toml"] == TOML.encode()
    assert not project.dirty
    assert Project.load(project.root).name == "Copy"
    with pytest.raises(ProjectError, match="not empty"):
        project.save_as(folder)


def test_a_new_project_can_be_filled_and_saved(tmp_path: Path) -> None:
    project = Project.new(tmp_path / "new", 'Mine "and" yours')
    assert not project.dirty
    again = Project.load(tmp_path / "new")
    assert again.name == 'Mine "and" yours'
    assert again.diagnostics == ()
    assert [message.role for message in again.snapshot().messages] == ["system", "user"]
    with pytest.raises(ProjectError, match="not empty"):
        Project.new(tmp_path / "new", "again")


def test_a_project_without_a_folder_lives_in_memory_until_it_is_saved_as(tmp_path: Path) -> None:
    project = Project.new(None, "Untitled")
    assert project.dirty
    assert project.snapshot().root is None
    assert project.history_path() is None
    with pytest.raises(ProjectError, match="no folder"):
        project.save()
    project.save_as(tmp_path / "saved")
    assert Project.load(tmp_path / "saved").snapshot() == project.snapshot()


def test_history_has_its_own_gitignore(folder: Path) -> None:
    path = Project.load(folder).history_path()
    assert path == folder / ".workbench" / "history.sqlite"
    assert "*" in (folder / ".workbench" / ".gitignore").read_text().splitlines()


def test_a_project_that_cannot_be_written_opens_with_a_notice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The test may run as a user who may write everywhere, so the question itself is answered here.
    monkeypatch.setattr("workbench.engine.projects.files.os.access", lambda *_: False)
    project = Project.load(folder)
    assert project.read_only
    assert [found.code for found in project.diagnostics] == ["read_only"]
    assert project.history_path() is None
    project.set_name("x")
    with pytest.raises(ProjectError, match="cannot be written"):
        project.save()
    assert not (folder / ".workbench").exists()
