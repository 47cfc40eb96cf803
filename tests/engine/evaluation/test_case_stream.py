"""Files of cases are surveyed before anything is asked, and read case by case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.engine.evaluation import Case, CaseStream, read_table
from workbench.engine.projects import Project, sample_folder


def stream(tmp_path: Path, data: bytes) -> CaseStream:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(data)
    return CaseStream(path)


def test_a_streamed_file_gives_the_cases_that_a_project_reads(tmp_path: Path) -> None:
    folder = sample_folder("support-triage")
    cases = tuple(CaseStream(folder / "cases.jsonl"))
    assert cases == Project.load(folder).snapshot().cases
    survey = CaseStream(folder / "cases.jsonl").survey()
    assert survey.stages.total() == len(cases)
    assert survey.labels["promptInjection"] == sum("promptInjection" in case.labels for case in cases)
    assert survey.diagnostics == []


def test_it_can_be_read_again_and_again(tmp_path: Path) -> None:
    cases = stream(tmp_path, b'{"id":"1","text":"a","labels":{}}\n{"id":"2","text":"b","labels":{}}')
    assert list(cases) == list(cases) == [Case("1", "a"), Case("2", "b")]


@pytest.mark.parametrize(
    ("data", "code", "line", "column"),
    [
        (b'{"id":"1","text":"a","labels":{}}\n{"id":}\n', "syntax", 2, 7),
        (b'\n\n{"id":"1","labels":{}}\n', "case", 3, 1),
        (b'{"id":"1","text":"a","labels":{"x":1}}\n', "case", 1, 36),
        (b'{"id":"1","text":"\xff"}\n', "encoding", 1, 19),
        (b'\xef\xbb\xbf{"id":"1","text":"a"}\n{"id":"1","text":"b","stage":"in"}\n', "case", 2, 30),
        (b'{"id":"1","text":"a"}\r\n{"id":"1","text":"b"}\r\n', "double_id", None, None),
    ],
    ids=["syntax", "no-text", "label", "encoding", "stage", "double-id"],
)
def test_what_is_wrong_is_named_at_its_place(
    tmp_path: Path, data: bytes, code: str, line: int | None, column: int | None
) -> None:
    [found] = stream(tmp_path, data).survey().diagnostics
    assert (found.code, found.line, found.column) == (code, line, column)
    assert found.file is not None
    assert found.file.endswith("cases.jsonl")


def test_a_byte_order_mark_and_blank_lines_are_no_matter(tmp_path: Path) -> None:
    cases = stream(tmp_path, b'\xef\xbb\xbf{"id":"1","text":"a"}\r\n\r\n{"id":"2","text":"b"}')
    assert [case.id for case in cases] == ["1", "2"]
    assert cases.survey().diagnostics == []


def test_a_file_full_of_errors_names_the_first_ones(tmp_path: Path) -> None:
    found = stream(tmp_path, b"{\n" * 1000).survey().diagnostics
    assert len(found) == 50
    assert [d.line for d in found[:3]] == [1, 2, 3]


def test_a_long_file_is_not_held(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "cases.jsonl"
    with path.open("w") as file:
        for i in range(5000):
            file.write(json.dumps({"id": f"c{i}", "text": "x" * 1000, "labels": {"a": True}}) + "\n")
    tracemalloc.start()
    survey = CaseStream(path).survey()
    total = sum(1 for _ in CaseStream(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert survey.stages["input"] == total == 5000
    assert peak < path.stat().st_size / 4


def test_a_table_is_read_by_its_column_names(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text("id,message,rude\n1,you fool,yes\n2,hello,no\n3,hm,perhaps\n", encoding="utf-8")
    cases, survey = read_table(path, ["rude"])
    assert [(case.text, dict(case.labels)) for case in cases] == [
        ("you fool", {"rude": True}),
        ("hello", {"rude": False}),
        ("hm", {}),
    ]
    assert survey.stages["input"] == 3
    assert [d.severity for d in survey.diagnostics] == ["warning"]


def test_a_table_without_a_text_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    cases, survey = read_table(path, ["rude"])
    assert cases == []
    assert "no column looks like the text of a case (there are: a, b)" in survey.diagnostics[0].message
