"""Lines of `cases.jsonl`: the fast reader says what the careful one says, and edits touch their own line only."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.engine.evaluation import Case, CaseStream
from workbench.engine.projects import Project, case_lines
from workbench.engine.projects import project as project_module
from workbench.engine.projects.case_file import CaseFile
from workbench.engine.projects.case_lines import read_line

LINES = {
    "plain": '{"id": "a", "text": "Hi", "labels": {"x": true, "y": false}}',
    "all keys": '{"id":"a","text":"t","labels":{},"note":"n","stage":"output","user_message":"u"}',
    "no labels": '{"id": "a", "text": "Hi"}',
    "no id": '{"text": "Hi"}',
    "no text": '{"id": "a"}',
    "null label": '{"id": "a", "text": "Hi", "labels": {"x": null}}',
    "null labels": '{"id": "a", "text": "Hi", "labels": null}',
    "number as label": '{"id": "a", "text": "Hi", "labels": {"x": 1}}',
    "label in quotes": '{"id": "a", "text": "Hi", "labels": {"x": "yes"}}',
    "unknown key": '{"id": "a", "text": "Hi", "lables": {"x": true}}',
    "twice the same key": '{"id": "a", "text": "Hi", "text": "Ho"}',
    "twice the same label": '{"id": "a", "text": "Hi", "labels": {"x": true, "x": false}}',
    "number as text": '{"id": "a", "text": 7}',
    "number as id": '{"id": 7, "text": "Hi"}',
    "other stage": '{"id": "a", "text": "Hi", "stage": "middle"}',
    "list as stage": '{"id": "a", "text": "Hi", "stage": ["input"]}',
    "null note": '{"id": "a", "text": "Hi", "note": null, "user_message": null}',
    "a list": '["a", "Hi"]',
    "broken": '{"id": "a", "text": "Hi"',
    "trailing": '{"id": "a", "text": "Hi"} x',
    "blank": "   ",
    "escape": '{"id": "a", "text": "caf\\u00e9"}',
    "half a pair": '{"id": "a", "text": "\\ud83d"}',
    "not a number": '{"id": "a", "text": "Hi", "note": NaN}',
    "deep": '{"id": "a", "text": "Hi", "labels": ' + "[" * 600 + "]" * 600 + "}",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_the_fast_reader_never_says_anything_else_than_the_careful_one(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = read_line(line, 3, "cases.jsonl")
    monkeypatch.setattr(case_lines, "_plain_case", lambda _body: None)
    careful = read_line(line, 3, "cases.jsonl")
    assert fast == careful
    if fast.case is not None:
        assert list(fast.case.labels.items()) == list(careful.case.labels.items())  # type: ignore[union-attr]


def test_random_edits_leave_every_other_line_as_it_was_and_the_text_reads_back_as_the_cases() -> None:
    chance = random.Random(5)
    lines = [json.dumps({"labels": {"x": k % 2 == 0}, "id": f"c{k}", "text": f"text {k}"}) for k in range(60)]
    lines.insert(7, "no JSON at all")
    lines.insert(20, "")
    file = CaseFile("\r\n".join(lines))
    for _ in range(40):
        cases, before = list(file.cases), file.text.split("\r\n")
        k = chance.randrange(len(cases))
        cases[k] = replace(cases[k], text=f"new {chance.random()}", labels={"x": chance.random() < 0.5})
        file.replace(cases)
        after = file.text.split("\r\n")
        assert len([1 for a, b in zip(before, after, strict=True) if a != b]) == 1
        assert CaseFile(file.text).cases == file.cases == tuple(cases)
    assert not file.text.endswith("\n")
    assert [(d.code, d.line, d.start) for d in file.diagnostics] == [
        (d.code, d.line, d.start) for d in CaseFile(file.text).diagnostics
    ]


def test_the_places_of_what_is_wrong_move_with_an_edit_before_them() -> None:
    file = CaseFile(
        '{"id": "a", "text": "short"}\n{"id": "b", "text": "x", "odd": 1}\n{"id": "a", "text": "z"}\n'
    )
    cases = list(file.cases)
    cases[0] = replace(cases[0], text="a much longer text than before")
    file.replace(cases)
    assert [d.code for d in file.diagnostics] == ["unknown_key", "double_id"]
    for found, word in zip(file.diagnostics, ('"odd"', '"a"'), strict=True):
        assert file.text[found.start : found.end] == word
    cases[1] = replace(cases[1], note="seen")
    file.replace(cases)
    assert '"odd": 1' in file.text
    assert [d.code for d in file.diagnostics] == ["unknown_key", "double_id"]


def test_equal_label_sets_are_one_object() -> None:
    text = "".join(f'{{"id": "{k}", "text": "t", "labels": {{"x": true, "y": false}}}}\n' for k in range(50))
    assert len({id(case.labels) for case in CaseFile(text).cases}) == 1


@pytest.fixture
def large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project whose file of cases counts as too long to be held."""
    rows = [
        json.dumps({"id": f"c{k}", "text": f"text {k}", "labels": {"offTopic": k % 2 == 0}})
        for k in range(200)
    ]
    (folder / "cases.jsonl").write_text("\n".join(rows) + "\n")
    monkeypatch.setattr(project_module, "LARGE_BYTES", 5_000)
    monkeypatch.setattr(project_module, "HEAD_BYTES", 1_000)
    return folder


def test_of_a_very_long_file_the_first_cases_are_shown_and_all_are_streamed(large: Path) -> None:
    project = Project.load(large)
    held = project.snapshot().cases
    assert 5 < len(held) < 30
    assert held == tuple(CaseStream(large / "cases.jsonl"))[: len(held)]
    every = project.every_case()
    assert isinstance(every, CaseStream)
    assert sum(1 for _ in every) == 200
    [said] = [d for d in project.diagnostics if d.code == "large_cases"]
    assert f"its first {len(held)} cases are shown" in said.message
    assert "evaluate" in (said.hint or "")


def test_a_very_long_file_is_never_written_and_goes_along_when_the_project_is_saved_elsewhere(
    large: Path, tmp_path: Path
) -> None:
    before = (large / "cases.jsonl").read_bytes()
    project = Project.load(large)
    with pytest.raises(ValueError, match="cannot be edited here"):
        project.set_cases([Case("z", "new")])
    project.set_name("Other")
    assert project.changed_on_disk() == []
    project.save()
    assert (large / "cases.jsonl").read_bytes() == before
    project.save_as(tmp_path / "copy")
    assert (tmp_path / "copy" / "cases.jsonl").read_bytes() == before
    assert sum(1 for _ in project.every_case()) == 200


def test_an_edit_and_its_undo_leave_the_project_as_saved(folder: Path) -> None:
    project = Project.load(folder)
    before = project.snapshot().cases
    project.set_cases([replace(before[0], labels={"promptInjection": False}), *before[1:]])
    assert project.dirty
    project.set_cases(before)
    assert not project.dirty


def test_all_cases_of_a_very_long_file_are_validated(large: Path) -> None:
    from workbench.engine.workflows import validate_project

    with (large / "cases.jsonl").open("a") as file:
        file.write('{"id": "z", "text": 7}\n')
    [found] = [d for d in validate_project(large) if d.severity == "error"]
    assert (found.file, found.line, found.column) == ("cases.jsonl", 201, 21)
    assert "`text` must be a text" in found.message
