"""Find and replace in an editor."""

from __future__ import annotations

import time

import pytest

from workbench.gui.editor import CodeEditor, FindBar


@pytest.fixture
def bar(qtbot) -> FindBar:
    editor = CodeEditor()
    made = FindBar(editor)
    qtbot.addWidget(editor)
    qtbot.addWidget(made)
    editor.set_text("one Two two\ntwo 😀 tw\ntwofold")
    editor.show()
    made.open(editor, replace=True)
    return made


def test_matches_are_counted_and_stepped_through_around_the_end(bar: FindBar) -> None:
    bar.needle.setText("two")
    assert bar.count.text() == "1 of 4"
    spans = []
    for _ in range(4):
        bar.step(1)
        spans.append(bar.editor.selection())
    assert spans == [(8, 11), (12, 15), (21, 24), (4, 7)]
    bar.step(-1)
    assert bar.editor.selection() == (21, 24)


@pytest.mark.parametrize(
    ("case", "word", "count"),
    [(False, False, 4), (True, False, 3), (False, True, 3), (True, True, 2)],
    ids=["plain", "case", "word", "both"],
)
def test_case_and_whole_words_narrow_the_search(bar: FindBar, case: bool, word: bool, count: int) -> None:
    bar.case.setChecked(case)
    bar.word.setChecked(word)
    bar.needle.setText("two")
    assert bar.count.text().endswith(f"of {count}")


def test_replace_all_is_one_undo_step(bar: FindBar) -> None:
    before = bar.editor.raw_text()
    bar.needle.setText("two")
    bar.replacement.setText("2")
    bar.replace_all()
    assert bar.editor.raw_text() == "one 2 2\n2 😀 tw\n2fold"
    bar.editor.undo()
    assert bar.editor.raw_text() == before


def test_replace_one_goes_on_to_the_next(bar: FindBar) -> None:
    bar.needle.setText("two")
    bar.replacement.setText("2")
    bar.replace_one()
    assert bar.editor.raw_text().startswith("one 2 two\n")
    assert bar.editor.selection() == (6, 9)


def test_a_pattern_may_use_its_groups_in_the_replacement(bar: FindBar) -> None:
    bar.pattern.setChecked(True)
    bar.case.setChecked(True)
    bar.needle.setText(r"(t)(w)o\b")
    bar.replacement.setText(r"\2\1")
    bar.replace_all()
    assert bar.editor.raw_text() == "one Two wt\nwt 😀 tw\ntwofold"


def test_a_broken_pattern_is_said_and_matches_nothing(bar: FindBar) -> None:
    bar.pattern.setChecked(True)
    bar.needle.setText("(")
    assert bar.count.text() == "not a pattern"
    assert bar.needle.property("state") == "error"


def test_a_pattern_that_runs_away_is_stopped(bar: FindBar) -> None:
    bar.editor.set_text("a" * 4000)
    bar.pattern.setChecked(True)
    started = time.monotonic()
    bar.needle.setText(r"(a|a|a|aa)+$b|((a+)+)+c")
    assert time.monotonic() - started < 5
    assert bar.count.text() in ("took too long", "no match")
