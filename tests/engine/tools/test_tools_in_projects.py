"""The keys of `[[tools]]`: what is read, what is said of wrong ones and where, and what is written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.engine.projects import Project
from workbench.engine.tools import Simulation

HEAD = 'format = 1\nname = "Shop"\n\n'
BOOK = """[[tools]]
name = "book"
return_immediately = true
compensate = "cancel"

[tools.simulate]
text = "booked"
attributes = '{"trace": "t-1"}'

"""
CANCEL = """[[tools]]
name = "cancel"

[tools.simulate]
text = "cancelled"
"""


def load(folder: Path, text: str) -> Project:
    (folder / "workbench.toml").write_text(HEAD + text, encoding="utf-8")
    return Project.load(folder)


def test_the_keys_are_read(tmp_path: Path) -> None:
    project = load(tmp_path, BOOK + CANCEL)
    book, cancel = project.snapshot().tools
    assert (book.return_immediately, book.compensate) == (True, "cancel")
    assert book.simulate == Simulation(text="booked", attributes='{"trace": "t-1"}')
    assert (cancel.return_immediately, cancel.compensate) == (False, None)
    assert project.diagnostics == ()


def test_a_compensation_may_be_a_table_of_its_own(tmp_path: Path) -> None:
    text = '[[tools]]\nname = "pay"\n[tools.compensate]\nerror = "too late"\ndelay_ms = 5\n'
    (pay,) = load(tmp_path, text).snapshot().tools
    assert pay.compensate == Simulation(error="too late", delay_ms=5)


WRONG = [
    pytest.param('name = "book"\ncompensate = "cancle"\n', 6, "no such tool", id="unknown tool"),
    pytest.param('name = "book"\ncompensate = "book"\n', 6, "itself", id="itself"),
    pytest.param('name = "a b"\n', 5, "no name for a tool", id="name"),
    pytest.param('name = "book"\nparameters = \'{"type": "objekt"}\'\n', 6, "objekt", id="schema"),
    pytest.param('name = "book"\nparameters = "{"\n', 6, "Parameters of book", id="schema is no JSON"),
    pytest.param('name = "book"\nparameters = \'{"type": "array"}\'\n', 6, "object", id="no object"),
    pytest.param('name = "book"\n[tools.simulate]\njson = "{"\n', 7, "broken JSON", id="simulated JSON"),
    pytest.param(
        'name = "book"\n[tools.simulate]\ntext = "x"\nattributes = "[]"\n',
        8,
        "no JSON object",
        id="attributes",
    ),
    pytest.param('name = "book"\n[tools.compensate]\njson = "{"\n', 7, "broken JSON", id="compensation"),
]


@pytest.mark.parametrize(("text", "line", "words"), WRONG)
def test_a_wrong_key_is_named_with_its_line_and_the_project_still_opens(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    (found,) = load(tmp_path, "[[tools]]\n" + text).diagnostics
    assert found.severity == ("warning" if "no name" in words else "error")
    assert words in found.message
    # The line is that of the value, counted in the whole file.
    assert (found.file, found.line) == ("workbench.toml", line)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("", 5, "no tool", id="no tools"),
        pytest.param('[[tools]]\nname = "take-back"\n', 7, "cannot call", id="name"),
        pytest.param('[[tools]]\nname = "take_back"\n', None, "", id="good"),
    ],
)
def test_programs_need_tools_that_they_can_call(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    found = load(tmp_path, '[translation]\ntarget = "program"\n' + text).diagnostics
    assert [(d.severity, d.line) for d in found] == ([("warning", line)] if line else [])
    assert all(words in d.message for d in found)


def test_a_near_name_is_suggested(tmp_path: Path) -> None:
    project = load(tmp_path, BOOK.replace('"cancel"', '"cancle"') + CANCEL)
    assert "'cancel'" in str(project.diagnostics[0].hint)


def test_an_answer_that_is_none_is_an_error_of_the_file(tmp_path: Path) -> None:
    project = load(tmp_path, '[[tools]]\nname = "pay"\n[tools.compensate]\ndelay_ms = 5\n')
    assert "exactly one" in project.diagnostics[0].message
