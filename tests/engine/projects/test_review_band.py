"""The review band of a check in the project file: read, checked, written and taken back without a trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.engine.projects import Project

from .conftest import TOML, write


def test_a_band_is_written_beside_its_check_and_its_removal_restores_the_file(folder: Path) -> None:
    project = Project.load(folder)
    assert project.review_from("input", "promptInjection") is None
    project.set_review("input", "promptInjection", 0.1)
    assert project.review_from("input", "promptInjection") == 0.1
    assert project.review_from("input", "offTopic") is None
    project.save()
    again = Project.load(folder)
    assert again.review_from("input", "promptInjection") == 0.1
    assert again.diagnostics == ()
    again.set_review("input", "promptInjection", None)
    assert again.toml_text == TOML


def test_a_band_stays_when_its_check_is_edited_or_its_threshold_moves(folder: Path) -> None:
    project = Project.load(folder)
    project.set_review("input", "promptInjection", 0.1)
    check = project.snapshot().input_guardrail.checks[0]
    project.set_check("input", 0, check)
    project.set_threshold("input", "promptInjection", 0.4)
    assert project.review_from("input", "promptInjection") == 0.1


@pytest.mark.parametrize(
    ("line", "severity", "words"),
    [
        ("review_from = 0.3", "warning", "`review_from` (0.3) is not below the threshold (0.3)"),
        ("review_from = 0.9", "warning", "nothing is left to a person"),
        ("review_from = 1.5", "error", "review_from"),
        ('review_from = "low"', "error", "review_from"),
        ("review_from = true", "error", "review_from"),
        ("review_from = nan", "error", "`review_from` must be between 0.0 and 1.0, but is nan"),
        ("review_from = inf", "error", "`review_from` must be between 0.0 and 1.0, but is inf"),
        ("review_from = -0.1", "error", "`review_from` must be between 0.0 and 1.0, but is -0.1"),
        (
            "review_from = [0.1]",
            "error",
            "`review_from` must be a number from 0 to 1, without quotes, not a list",
        ),
        ("review_from = 2024-01-01", "error", "without quotes, not a date"),
    ],
)
def test_a_band_that_cannot_be_meant_is_said_with_its_line(
    folder: Path, line: str, severity: str, words: str
) -> None:
    chosen = "threshold = 0.30  # chosen by hand\n"
    text = TOML.replace(chosen, chosen + line + "\n")
    write(folder / "workbench.toml", text)
    project = Project.load(folder)
    [found] = project.diagnostics
    assert found.severity == severity
    assert words in found.message
    assert found.line == text[: text.index(line)].count("\n") + 1
    if severity == "error":
        assert project.review_from("input", "promptInjection") is None


@pytest.mark.parametrize("value", [-0.1, 1.2, True])
def test_a_band_out_of_range_is_refused(folder: Path, value: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Project.load(folder).set_review("input", "promptInjection", value)


def test_a_band_of_no_check_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="no check named `nope`"):
        Project.load(folder).set_review("input", "nope", 0.1)


def test_a_check_that_asks_no_model_has_no_band(folder: Path) -> None:
    rule = '[[guardrails.input.checks]]\nname = "long"\nmax_length = 10\n'
    write(
        folder / "workbench.toml",
        TOML.replace("[models.decision]", f"{rule}review_from = 0.2\n\n[models.decision]"),
    )
    project = Project.load(folder)
    assert [d.code for d in project.diagnostics] == ["no_effect"]
    with pytest.raises(ValueError, match="asks no model"):
        project.set_review("input", "long", 0.3)


@pytest.mark.parametrize("value", ["nan", "-1", '"low"', "0.2"])
def test_a_band_of_a_rule_is_said_once_with_its_line_whatever_it_holds(folder: Path, value: str) -> None:
    rule = f'[[guardrails.input.checks]]\nname = "long"\nmax_length = 10\nreview_from = {value}\n\n'
    text = TOML.replace("[models.decision]", f"{rule}[models.decision]")
    write(folder / "workbench.toml", text)
    [found] = Project.load(folder).diagnostics
    assert (found.severity, found.code) == ("warning", "no_effect")
    assert found.line == text[: text.index("review_from")].count("\n") + 1
