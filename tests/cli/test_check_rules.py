"""Checks that ask no model, from the command line: they need none, say what they are, and are told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

HEAD = 'format = 1\nname = "Rules"\n[guardrails.input]\nthreshold = 0.5\n'
RULES = """\
[[guardrails.input.checks]]
name = "card"
pattern = '\\d{4}'
[[guardrails.input.checks]]
name = "long"
max_length = 20
"""
QUESTION = '[[guardrails.input.checks]]\nname = "rude"\nquestion = "Is it rude?"\n'
NO_MODEL = '[models.decision]\nprovider = "gguf"\npath = "nowhere.gguf"\n'
CASES = (("a", "card 1234", True, False), ("b", "nothing", False, False), ("c", "1234 " * 9, True, True))


def make(folder: Path, *parts: str) -> Path:
    folder.mkdir()
    (folder / "workbench.toml").write_text(HEAD + "".join(parts), encoding="utf-8")
    rows = [
        json.dumps({"id": i, "text": text, "labels": {"card": card, "long": long}})
        for i, text, card, long in CASES
    ]
    (folder / "cases.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A project with rules alone, and a model that is not there."""
    return make(tmp_path / "rules", RULES, NO_MODEL)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A project with a question too, and the model for it not there."""
    return make(tmp_path / "mixed", RULES, QUESTION, NO_MODEL)


def test_the_rendered_prompt_is_counted_without_the_lines_that_name_the_roles(
    run: Run, tmp_path: Path
) -> None:
    messages = '[[template.messages]]\nrole = "system"\ncontent = "Be kind."\n[[template.messages]]\nrole = "user"\ncontent = "card 1234"\n'
    prompt = make(tmp_path / "prompt", RULES, messages)
    shown = run("render", prompt).text
    assert "--- user ---" in shown
    outcome = run("check", prompt, "--json")
    assert outcome.status == 1
    details = {check["name"]: check["detail"] for check in outcome.json["checks"]}
    assert details == {"card": "found at character 15", "long": "18 characters"}


def test_rules_alone_run_without_their_model(run: Run, rules: Path) -> None:
    outcome = run("check", rules, "--text", "my card 1234")
    assert outcome.status == 1
    assert "verdict: rejected" in outcome.text
    assert "model: none was asked" in outcome.text
    card, long = outcome.text.splitlines()[1:3]
    assert card.split("  ")[0] == "card"
    assert "pattern" in card
    assert "rejected (found at character 9)" in card
    assert "passed (12 characters)" in long
    assert "1.00" not in outcome.text
    assert run("check", rules, "--text", "hello").status == 0


def test_the_json_says_of_each_check_what_it_is(run: Run, rules: Path) -> None:
    document = run("check", rules, "--text", "my card 1234", "--json").json
    assert [(c["name"], c["kind"], c["probability"], c["status"]) for c in document["checks"]] == [
        ("card", "pattern", 1.0, "rejected"),
        ("long", "length", 0.0, "passed"),
    ]
    assert document["failed"] == ["card"]
    assert document["model"] == {"name": None, "version": None}
    assert document["usage"] == {"input_tokens": 0, "output_tokens": 0}


def test_where_the_model_fails_nothing_passes_and_the_findings_are_told(run: Run, mixed: Path) -> None:
    outcome = run("check", mixed, "--text", "my card 1234")
    assert outcome.status == 3
    assert "nowhere.gguf" in outcome.err
    assert "card: rejected (found at character 9), long: passed (12 characters)" in outcome.err


def test_validate_names_the_line_of_a_rule_that_cannot_be_used(run: Run, rules: Path) -> None:
    toml = rules / "workbench.toml"
    toml.write_text(
        toml.read_text(encoding="utf-8").replace(r"\d{4}", "(").replace("= 20", "= 20\nthreshold = 1")
    )
    outcome = run("validate", rules)
    assert outcome.status == 1
    assert "workbench.toml:7:11" in outcome.text + outcome.err
    assert "no regular expression" in outcome.text + outcome.err
    assert "`threshold` has no effect" in outcome.text + outcome.err


def test_evaluate_gives_their_figures_and_no_suggestion_without_a_model(run: Run, rules: Path) -> None:
    outcome = run("evaluate", rules, "--suggest")
    assert outcome.status == 0
    lines = {
        line.split()[0]: line for line in outcome.text.splitlines() if line.startswith(("card ", "long "))
    }
    assert lines["card"].split()[:10] == [
        "card",
        "3",
        "2",
        "0",
        "0",
        "0",
        "pattern",
        "1.000",
        "1.000",
        "0.000",
    ]
    assert lines["long"].split()[6] == "length"
    assert "no suggestions for card: it asks no model, and its answer is 0 or 1" in outcome.text
    assert run("evaluate", rules, "--min-recall", "0.9", "--max-ece", "0").status == 0


def test_evaluate_as_json_and_html(run: Run, rules: Path, tmp_path: Path) -> None:
    document: Any = run("evaluate", rules, "--json", "--html", tmp_path / "r.html").json
    card = document["checks"]["card"]
    assert (card["kind"], card["recall"], card["ece"], card["suggestions"]) == ("pattern", 1.0, None, [])
    assert document["stages"]["input"]["asked"] == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "2 caught, 0 missed, 0 false alarms, 1 let through rightly." in page
    assert "A check of the kind pattern: it asks no model" in page
    assert "<td>pattern</td>" in page


def test_a_cluster_is_not_even_called_for_rules_alone(run: Run, rules: Path) -> None:
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    outcome = run("evaluate", rules, "--scheduler", "tcp://127.0.0.1:1")
    assert outcome.status == 0
    assert "card" in outcome.text


def test_a_threshold_whose_meanings_changed_is_told(run: Run, triage: Path) -> None:
    from workbench.engine.projects import Project, ThresholdOrigin

    project = Project.load(triage)
    [check] = [c for c in project.snapshot().input_guardrail.checks if c.name == "legalThreat"]
    origin = ThresholdOrigin("", check.question, "2027-01-01", "other words", check.no_means or "")
    project.set_threshold("input", "legalThreat", 0.6, origin=origin)
    project.set_cases(project.snapshot().cases[:2])
    project.save()
    err = run("evaluate", triage, "--stage", "input").err
    assert "legalThreat: the threshold is stale: it was chosen for another description of yes" in err
