"""The words of problems: what is quoted stands in quotation marks, and numbers are grouped alike everywhere."""

from __future__ import annotations

import pytest

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.guardrails import LengthCheck
from workbench.engine.projects.case_file import LargeCases
from workbench.engine.projects.case_lines import read_line
from workbench.engine.templates import TextCounts
from workbench.gui.models.figures import counted, grouped
from workbench.gui.models.words import plain
from workbench.gui.panes.preview.words import count_words
from workbench.gui.panes.problems import DIAGNOSTIC_ROLE, ProblemsModel, second_line


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("it is called `row-124`", "it is called “row-124”"),
        ("`a` and `b c`", "“a” and “b c”"),
        ("a lone ` stays", "a lone ` stays"),
        ("`` stays", "`` stays"),
        ("nothing quoted", "nothing quoted"),
    ],
)
def test_what_stands_in_backquotes_is_quoted_as_in_a_sentence(said: str, shown: str) -> None:
    assert plain(said) == shown


def test_a_problem_is_shown_and_read_out_without_backquotes(qapp: object) -> None:
    [found] = [
        each
        for each in read_line('{"text": "Hello"}', 124, "cases.jsonl").diagnostics
        if each.code == "missing_key"
    ]
    assert "`row-124`" in found.message
    found = Diagnostic(**{**{k: getattr(found, k) for k in found.__slots__}, "hint": "add an `id`"})
    model = ProblemsModel(lambda _diagnostic: "cases.jsonl")
    model.set_rows([found])
    index = model.index(0)
    assert index.data().endswith("it is called “row-124”")
    assert second_line(found) == "Add an “id”"
    from PySide6.QtCore import Qt

    for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
        assert "“row-124”" in index.data(role)
        assert "`" not in index.data(role)
    assert index.data(DIAGNOSTIC_ROLE) == found


def test_numbers_of_the_engine_and_of_the_window_are_grouped_alike() -> None:
    shown = grouped(1253)
    assert shown == "1\u202f253"
    assert counted(1253, "case") == f"{shown} cases"
    assert count_words(TextCounts(1253, 1253, 1253)).count(shown) == 3
    assert count_words(TextCounts(1, 1, 1)) == "1 character · 1 word · about 1 token"
    assert f"{shown} characters" in LengthCheck(9).answer("x" * 1253).detail
    assert f"first {shown} cases" in LargeCases(2**25, 1253).words()
