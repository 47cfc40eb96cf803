"""Cases come in from CSV files as people write them, and nothing is guessed into a label."""

from __future__ import annotations

import time

import pytest

from workbench.engine.evaluation.csv_cases import ColumnMapping, csv_header, guess_mapping, read_csv_cases

MAPPING = ColumnMapping("text", {"rude": "rude"}, "id", "note")


def test_columns_become_a_case() -> None:
    cases, problems = read_csv_cases('id,text,rude,note\n7,"Hello, ""you""\nfool",yes,hm\n', MAPPING)
    assert problems == []
    assert (cases[0].id, cases[0].text, dict(cases[0].labels), cases[0].note) == (
        "7",
        'Hello, "you"\nfool',
        {"rude": True},
        "hm",
    )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_separators_line_ends_and_a_mark_at_the_front_are_understood(separator: str, newline: str) -> None:
    text = "\ufeff" + newline.join(
        separator.join(row) for row in [("id", "text", "rude", "note"), ("1", "a", "0", "")]
    )
    cases, _ = read_csv_cases(text, MAPPING)
    assert [(c.id, c.text, dict(c.labels)) for c in cases] == [("1", "a", {"rude": False})]


@pytest.mark.parametrize(
    ("word", "label"),
    [("1", True), ("TRUE", True), ("reject", True), ("No", False), ("0", False), ("", None), ("?", None)],
)
def test_words_for_yes_and_no(word: str, label: bool | None) -> None:
    cases, problems = read_csv_cases(f"text,rude\nx,{word}\n", ColumnMapping("text", {"rude": "rude"}))
    assert cases[0].labels.get("rude") is label
    assert problems == []


def test_another_word_is_reported_with_its_line_and_labels_nothing() -> None:
    cases, problems = read_csv_cases(
        "text,rude\nx,1\ny,perhaps\n", ColumnMapping("text", {"rude": "rude"}), file="c.csv"
    )
    assert dict(cases[1].labels) == {}
    assert problems[0].one_line() == "c.csv:3: 'perhaps' in column rude is neither yes nor no"


def test_ids_that_are_taken_or_missing_are_made_anew() -> None:
    cases, _ = read_csv_cases("id,text\na,1\na,2\n,3\n", ColumnMapping("text", id="id"), taken_ids=["a"])
    assert [c.id for c in cases] == ["a-2", "a-3", "case-3"]


def test_rows_without_text_are_passed_over() -> None:
    assert len(read_csv_cases("text,rude\n,1\n  ,1\n\nx,1\n", ColumnMapping("text"))[0]) == 1


def test_a_column_that_is_not_there_is_named() -> None:
    cases, problems = read_csv_cases("a,b\n1,2\n", ColumnMapping("text"))
    assert cases == []
    assert problems[0].message == "the file has no column 'text' (it has: a, b)"


def test_a_quote_that_never_ends_is_reported() -> None:
    _, problems = read_csv_cases('text\n"never ends', ColumnMapping("text"))
    assert problems[0].code == "csv_syntax"


@pytest.mark.parametrize(
    ("header", "checks", "labels"),
    [
        (["Message", "promptInjection"], ["promptInjection"], {"promptInjection": "promptInjection"}),
        (
            ["text", "prompt_injection", "x"],
            ["promptInjection", "rude"],
            {"promptInjection": "prompt_injection"},
        ),
        (["text", "label"], ["rude"], {"rude": "label"}),
        (["text", "label"], ["rude", "late"], {}),
    ],
)
def test_the_mapping_is_guessed_from_the_header(
    header: list[str], checks: list[str], labels: dict[str, str]
) -> None:
    mapping = guess_mapping(header, checks)
    assert mapping is not None
    assert mapping.text == header[0]
    assert mapping.labels == labels


def test_a_header_without_a_text_gives_no_mapping() -> None:
    assert guess_mapping(["a", "b"], ["rude"]) is None
    assert csv_header("") == []
    assert csv_header("a; b\n1;2") == ["a", "b"]


def test_labels_that_a_table_program_wrote_as_numbers_are_labels() -> None:
    mapping = ColumnMapping("text", {"a": "a"})
    cases, problems = read_csv_cases("text,a\nx,1.0\ny,0.0\nz,\n", mapping)
    assert [dict(case.labels) for case in cases] == [{"a": True}, {"a": False}, {}]
    assert problems == []


def test_one_id_for_all_rows_makes_an_id_for_each_without_delay() -> None:
    """With a column that is no id, such as a user's name, each row would else try all ids before it."""
    rows = 20_000
    began = time.perf_counter()
    cases, _ = read_csv_cases("id,text\n" + "x,a\n" * rows, ColumnMapping("text", {}, "id"))
    assert len({case.id for case in cases}) == rows
    assert time.perf_counter() - began < 5


def test_ids_made_anew_meet_none_that_is_there() -> None:
    text = "id,text\nx,a\nx,b\nx-2,c\nx,d\nx-2,e\n"
    cases, _ = read_csv_cases(text, ColumnMapping("text", {}, "id"), taken_ids=["x-3"])
    assert [case.id for case in cases] == ["x", "x-2", "x-2-2", "x-4", "x-2-3"]
