"""A row of a guardrail's checks is a question or one kind of rule, and an edit touches its own lines only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.projects.conftest import TOML, write
from workbench.engine.guardrails import (
    CheckSettings,
    LanguageCheck,
    LengthCheck,
    PatternCheck,
    guardrail_from_settings,
)
from workbench.engine.projects import Project, ThresholdOrigin
from workbench.engine.projects.check_rows import check_values, rule_values
from workbench.engine.resources import resource

BEFORE = TOML.replace('[models.decision]\nprovider = "embedded"\n', "")
FIRST = BEFORE.count("\n") + 1

RULES: dict[str, tuple[str, Any]] = {
    "pattern": ("pattern = '\\bcard\\b'", PatternCheck(r"\bcard\b")),
    "pattern, all": (
        'pattern = "Ticket"\nmust_match = true\nignore_case = false',
        PatternCheck("Ticket", True, False),
    ),
    "longest": ("max_length = 400", LengthCheck(400)),
    "shortest": ("min_length = 3", LengthCheck(least=3)),
    "both": ("max_length = 4\nmin_length = 4", LengthCheck(4, 4)),
    "languages": ('languages = ["en", "de"]', LanguageCheck(("en", "de"))),
}


def with_row(folder: Path, row: str, *, name: str = "rule") -> Project:
    """Load the small project with one more input check."""
    write(folder / "workbench.toml", f'{BEFORE}[[guardrails.input.checks]]\nname = "{name}"\n{row}\n')
    return Project.load(folder)


def last_check(project: Project) -> CheckSettings:
    return project.snapshot().input_guardrail.checks[-1]


@pytest.mark.parametrize(("row", "rule"), RULES.values(), ids=RULES.keys())
def test_a_row_says_a_rule_and_the_rule_says_the_row(folder: Path, row: str, rule: Any) -> None:
    project = with_row(folder, row)
    assert project.diagnostics == ()
    assert last_check(project) == CheckSettings("rule", rule=rule)
    other = with_row(folder, "question = 'Q?'")
    other.remove_check("input", 2)
    other.add_check("input", CheckSettings("rule", rule=rule))
    other.save()
    assert last_check(Project.load(folder)).rule == rule


PROBLEMS: dict[str, tuple[str, str, int, int, str]] = {
    # the row from its third line on, severity, line of the row, column, words of message or hint
    "nothing": ("", "error", 1, 1, "`question` is missing"),
    "two kinds": ('question = "Q?"\npattern = "x"', "error", 4, 1, "here: `question`, `pattern`"),
    "two rules": ("max_length = 4\nlanguages = ['en']", "error", 4, 1, "here: `max_length`, `languages`"),
    "bad pattern": ('pattern = "("', "error", 3, 11, "missing ) at position 1"),
    "huge pattern": ('pattern = "a{99999999}"', "error", 3, 11, "more than 50,000 items"),
    "empty pattern": ('pattern = ""', "error", 3, 11, "found in every text"),
    "pattern type": ("pattern = 3", "error", 3, 11, "a text in quotes"),
    "flag type": ('pattern = "x"\nmust_match = "yes"', "error", 4, 14, "true or false"),
    "contradiction": ("max_length = 4\nmin_length = 9", "error", 4, 14, "at least 9 and at most 4"),
    "below zero": ("max_length = -1", "error", 3, 14, "at least 0"),
    "length type": ('max_length = "4"', "error", 3, 14, "a whole number"),
    "half a length": ("min_length = 1.5", "error", 3, 14, "a whole number"),
    "unknown language": ('languages = ["en", "xx"]', "error", 3, 13, '"xx" cannot be recognised'),
    "no language": ("languages = []", "error", 3, 13, "names no language"),
    "language type": ('languages = "en"', "error", 3, 13, "a list of texts"),
    "threshold": ("max_length = 4\nthreshold = 0.3", "warning", 4, 1, "0 or 1"),
    "meaning": ('pattern = "x"\nyes_means = "y"', "warning", 4, 1, "`yes_means` has no effect"),
    "flag of another kind": ("max_length = 4\nmust_match = true", "warning", 4, 1, "`pattern` only"),
    "flag of a question": ('question = "Q?"\nignore_case = true', "warning", 4, 1, "`pattern` only"),
    "misspelt": ('pattern = "x"\nmust_mach = true', "warning", 4, 1, "must_match"),
}


@pytest.mark.parametrize(
    ("row", "severity", "line", "column", "words"), PROBLEMS.values(), ids=PROBLEMS.keys()
)
def test_what_is_wrong_with_a_row_is_said_with_its_line(
    folder: Path, row: str, severity: str, line: int, column: int, words: str
) -> None:
    project = with_row(folder, row)
    (found,) = project.diagnostics
    assert (found.severity, found.line, found.column) == (severity, FIRST + line - 1, column)
    assert words in f"{found.message} {found.hint}"
    project.set_name("Other")
    assert project.toml_text.endswith(f'name = "rule"\n{row}\n')


@pytest.mark.parametrize(
    "case", [name for name, p in PROBLEMS.items() if p[1] == "error" and name != "nothing"]
)
def test_a_check_that_cannot_be_used_lets_nothing_pass(folder: Path, case: str) -> None:
    import asyncio

    check = last_check(with_row(folder, PROBLEMS[case][0]))
    assert check.rule is not None
    settings = Project.load(folder).snapshot().input_guardrail
    guardrail = guardrail_from_settings(type(settings)(0.5, (check,)), None, "input")
    result = asyncio.run(guardrail.validate("harmless"))
    assert result.verdict == "error"


def test_the_schema_of_the_project_file_agrees_on_the_kinds(folder: Path) -> None:
    from jsonschema import Draft202012Validator

    from workbench.engine.projects.toml_document import read_toml

    schema = json.loads(resource("schemas", "project.schema.json").read_text("utf-8"))
    validator = Draft202012Validator(schema)
    head = BEFORE + '[[guardrails.input.checks]]\nname = "rule"\n'
    for name, (row, _) in RULES.items():
        assert validator.is_valid(read_toml(f"{head}{row}\n")), name
    beyond_it = ("bad pattern", "huge pattern", "contradiction")  # what JSON Schema cannot say
    for name, (row, severity, *_) in PROBLEMS.items():
        if name not in beyond_it:
            wrong = severity == "error" or name == "misspelt"
            assert validator.is_valid(read_toml(f"{head}{row}\n")) != wrong, name


def test_an_edit_of_a_rule_changes_its_own_line_and_keeps_the_comment(folder: Path) -> None:
    project = with_row(folder, "max_length = 400  # a mail\nthreshold = 0.3")
    text = project.toml_text
    project.set_check("input", 2, CheckSettings("rule", rule=LengthCheck(500)))
    assert project.toml_text == text.replace("400", "500")
    project.set_check("input", 2, CheckSettings("rule", rule=LengthCheck(400)))
    assert project.toml_text == text
    assert not project.dirty


def test_a_question_becomes_a_rule_and_the_other_way_round(folder: Path) -> None:
    project = Project.load(folder)
    before = project.snapshot().input_guardrail.checks[0]
    project.set_check("input", 0, CheckSettings("card", rule=PatternCheck("x", True)))
    project.save()
    again = Project.load(folder)
    assert again.diagnostics == ()
    assert again.snapshot().input_guardrail.checks[0] == CheckSettings("card", rule=PatternCheck("x", True))
    assert "override" not in again.toml_text
    again.set_check("input", 0, before)
    again.save()
    back = Project.load(folder)
    assert back.diagnostics == ()
    assert back.snapshot().input_guardrail.checks[0] == before
    assert "must_match" not in back.toml_text


def test_rules_are_moved_removed_and_brought_back(folder: Path) -> None:
    project = with_row(folder, 'languages = ["en"]')
    project.move_check("input", 2, 0)
    assert [check.kind for check in project.snapshot().input_guardrail.checks] == [
        "language",
        "model",
        "model",
    ]
    check = project.snapshot().input_guardrail.checks[0]
    project.remove_check("input", 0)
    project.add_check("input", check, 0)
    assert project.snapshot().input_guardrail.checks[0] == check


def test_a_rule_takes_no_threshold(folder: Path) -> None:
    project = with_row(folder, "max_length = 4")
    with pytest.raises(ValueError, match="asks no model"):
        project.set_threshold("input", "rule", 0.4)
    assert project.snapshot().input_guardrail.threshold_of(last_check(project)) == 0.5


def test_a_rule_of_ones_own_cannot_be_written() -> None:
    class Own:
        kind, description = "own", "is mine"

        def answer(self, text: str) -> Any:
            return None

    with pytest.raises(ValueError, match="cannot say a check of the kind 'own'"):
        rule_values(Own())
    assert check_values(CheckSettings("a", "Q?"))["question"] == "Q?"


ORIGIN = ThresholdOrigin("m@1", "Is it off topic?", "2027-05-03", "about science", "")
TOPIC = CheckSettings("offTopic", "Is it off topic?", 0.4, yes_means="about science")


def test_the_note_on_a_threshold_holds_what_yes_and_no_meant(folder: Path) -> None:
    project = Project.load(folder)
    project.set_threshold("input", "offTopic", 0.4, origin=ORIGIN)
    project.save()
    again = Project.load(folder)
    assert again.diagnostics == ()
    assert again.threshold_origin("input", "offTopic") == ORIGIN


def test_an_older_note_stays_as_it_is_and_is_not_held_against_the_meanings(folder: Path) -> None:
    old = ThresholdOrigin("m@1", "Is it off topic?", "2027-05-03")
    project = Project.load(folder)
    project.set_threshold("input", "offTopic", 0.4, origin=old)
    assert "yes_means" not in project.toml_text
    assert project.threshold_origin("input", "offTopic") == old
    assert old.reworded(TOPIC) is None


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (TOPIC, None),
        (CheckSettings("offTopic", "Is it about us?", 0.4, "about science"), "another question"),
        (CheckSettings("offTopic", "Is it off topic?", 0.4, "about sport"), "description of yes"),
        (CheckSettings("offTopic", "Is it off topic?", 0.4), "description of yes"),
        (
            CheckSettings("offTopic", "Is it off topic?", 0.4, "about science", "about us"),
            "description of no",
        ),
    ],
    ids=["same", "question", "yes", "yes taken away", "no added"],
)
def test_a_threshold_is_stale_when_the_wording_changed(check: CheckSettings, words: str | None) -> None:
    found = ORIGIN.reworded(check)
    assert found is None if words is None else words in (found or "")
