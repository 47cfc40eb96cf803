"""A project's schemas may be spread over files of its folder; runs, checks and exports see them as one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.translation.scripted import ScriptedModel
from workbench.engine.exports import targets
from workbench.engine.projects import Project
from workbench.engine.schemas import JsonSchema
from workbench.engine.workflows import (
    WorkflowError,
    output_schema,
    render_project,
    schema_rule,
    translate_project,
    validate_project,
)

OUTPUT = {
    "type": "object",
    "properties": {"who": {"$ref": "parts/person.json"}},
    "required": ["who"],
    "additionalProperties": False,
}
PERSON = {
    "type": "object",
    "properties": {"name": {"$ref": "#/$defs/name"}},
    "$defs": {"name": {"type": "string"}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    project = Project.new(folder, "Parts")
    project.set_output_schema(json.dumps(OUTPUT))
    project.set_parameters_schema('{"properties": {"message": {"$ref": "parts/person.json#/$defs/name"}}}')
    project.save()
    (folder / "parts").mkdir()
    (folder / "parts" / "person.json").write_text(json.dumps(PERSON))
    return folder


def exported(folder: Path, name: str) -> str:
    target = next(target for target in targets() if target.name == name)
    return target.export(Project.load(folder).snapshot()).files[0].text


def test_a_project_with_parts_has_no_problems(folder: Path) -> None:
    assert [d.one_line() for d in validate_project(folder) if d.severity == "error"] == []


def test_a_changed_part_is_read_again(folder: Path) -> None:
    snapshot = Project.load(folder).snapshot()
    assert not [d for d in render_project(snapshot).diagnostics if d.severity == "error"]
    part = folder / "parts" / "person.json"
    part.write_text(json.dumps({"$defs": {"name": {"type": "integer"}}}))
    assert [d.pointer for d in render_project(snapshot).diagnostics if d.keyword == "type"] == ["/message"]
    part.unlink()
    missing = [d for d in validate_project(folder) if d.severity == "error"]
    assert {(d.file, d.code) for d in missing} == {
        ("output.schema.json", "missing_file"),
        ("parameters.schema.json", "missing_file"),
    }


def test_a_model_is_sent_one_document(folder: Path) -> None:
    snapshot = Project.load(folder).snapshot()
    model = ScriptedModel('{"who": {"name": 1}}', '{"who": {"name": "Ann"}}')
    result = asyncio.run(translate_project(snapshot, "someone", model=model))
    assert result.success
    sent = model.sent[0][-1].text()
    assert "#/$defs/person" in sent
    assert "person.json" not in sent
    assert "/who/name" in model.sent[1][-1].text()


def test_a_reference_out_of_the_project_stops_a_run_before_the_model(folder: Path) -> None:
    project = Project.load(folder)
    project.set_output_schema('{"$ref": "../secret.json"}')
    model = ScriptedModel("{}")
    with pytest.raises(WorkflowError, match=r"output\.schema\.json:1:10: .*climbs"):
        asyncio.run(translate_project(project.snapshot(), "x", model=model))
    assert model.calls == 0


def test_exports_hold_the_whole_schema(folder: Path) -> None:
    whole = output_schema(Project.load(folder).snapshot())
    request: Any = json.loads(exported(folder, "openai-request"))
    sent = JsonSchema.from_value(request["response_format"]["json_schema"]["schema"])
    names: dict[str, Any] = {}
    exec(compile(exported(folder, "python"), "exported.py", "exec"), names)
    for schema in (sent, names["OUTPUT_SCHEMA"]):
        assert schema.value == whole.value
        assert not schema.is_valid({"who": {"name": 1}})


def test_a_saved_copy_keeps_its_parts(folder: Path, tmp_path: Path) -> None:
    Project.load(folder).save_as(tmp_path / "copy")
    assert output_schema(Project.load(tmp_path / "copy").snapshot()).files == ("parts/person.json",)


def broken_rules(folder: Path, value: Any) -> list[Any]:
    snapshot = Project.load(folder).snapshot()
    return [schema_rule(snapshot, found) for found in output_schema(snapshot).check(value)]


def test_a_broken_rule_is_found_in_the_file_in_which_it_is_written(folder: Path) -> None:
    (missing,) = broken_rules(folder, {})
    assert missing.file == "output.schema.json"
    assert json.dumps(OUTPUT)[missing.start : missing.end] == '["who"]'
    (wrong,) = broken_rules(folder, {"who": {"name": 1}})
    assert wrong.file == "parts/person.json"
    assert wrong.line == 1
    assert json.dumps(PERSON)[wrong.start : wrong.end] == '"string"'


def test_a_rule_that_is_gone_from_the_schema_is_said(folder: Path) -> None:
    project = Project.load(folder)
    (found,) = output_schema(project.snapshot()).check({})
    project.set_output_schema('{"type": "object"}')
    with pytest.raises(WorkflowError, match=r"today's schema has no rule at /required"):
        schema_rule(project.snapshot(), found)
    project.set_output_schema(None)
    with pytest.raises(WorkflowError, match=r"has no output\.schema\.json"):
        schema_rule(project.snapshot(), found)
