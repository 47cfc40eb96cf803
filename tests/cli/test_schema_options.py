"""What the command line says and does about schemas: hints, sizes, styles, and files that a schema refers to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.engine.history import HistoryStore
from workbench.engine.translation import replay
from workbench.engine.workflows import history_path


def schema_of(project: Path, value: object) -> None:
    (project / "output.schema.json").write_text(json.dumps(value, indent=2), encoding="utf-8")


def test_validate_gives_hints_only_when_asked(run: Run, triage: Path) -> None:
    plain = run("validate", triage, "--json")
    assert "hints" not in plain.json
    hinted = run("validate", triage, "--hints", "--json")
    assert hinted.status == plain.status == 0
    assert {hint["code"] for hint in hinted.json["hints"]} == {"no_description"}
    assert hinted.json["hints"][0]["file"].endswith("output.schema.json")
    sizes = hinted.json["schema_tokens"]
    assert list(sizes) == ["json", "typescript", "outline"]
    assert sizes["typescript"] < sizes["json"]
    words = run("validate", triage, "--hints")
    assert "members have no description" in words.err
    assert f"typescript {sizes['typescript']}" in words.out.decode()


def test_hints_of_a_schema_that_is_none_are_its_errors(run: Run, triage: Path) -> None:
    schema_of(triage, {"type": "objekt"})
    outcome = run("validate", triage, "--hints", "--json")
    assert outcome.status == 1
    assert outcome.json["hints"] == []
    assert outcome.json["schema_tokens"] == {}


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        ("parts/a.json", "parts/a.json:3:"),
        ("../a.json", "output.schema.json:2:"),
        ("https://example.org/a.json", "output.schema.json:2:"),
        ("parts/b.json", "output.schema.json:2:"),
    ],
)
def test_a_bad_reference_is_named_with_its_file_and_line(
    run: Run, triage: Path, reference: str, place: str
) -> None:
    (triage / "parts").mkdir()
    (triage / "parts" / "a.json").write_text('{\n"properties": {"x":\n{"type": "strng"}}}')
    schema_of(triage, {"$ref": reference})
    outcome = run("validate", triage)
    assert outcome.status == 1
    assert place in outcome.err


def test_a_style_that_is_none_is_refused_with_its_line(run: Run, triage: Path) -> None:
    settings = triage / "workbench.toml"
    settings.write_text(
        settings.read_text().replace("[translation]\n", '[translation]\nschema_style = "yaml"\n')
    )
    outcome = run("validate", triage)
    assert outcome.status == 1
    assert "schema_style" in outcome.err
    assert "typescript" in outcome.err


def test_a_type_name_must_suit_the_style(run: Run, triage: Path) -> None:
    settings = triage / "workbench.toml"
    text = settings.read_text()
    named = [line for line in text.splitlines() if line.startswith("type_name")]
    for line in named:
        text = text.replace(line + "\n", "")
    text = text.replace(
        "[translation]\n", '[translation]\ntype_name = "Support ticket"\nschema_style = "typescript"\n'
    )
    settings.write_text(text)
    outcome = run("validate", triage)
    assert outcome.status == 1
    assert "`Support ticket` is no name of a TypeScript type" in outcome.err


@pytest.mark.parametrize(
    ("style", "word"),
    [("json", '"properties"'), ("typescript", "export interface"), ("outline", "A ? marks")],
)
def test_translate_shows_the_schema_in_the_style_that_is_asked_for(
    run: Run, triage: Path, style: str, word: str
) -> None:
    outcome = run(
        "translate", triage, "--request", "My tent broke.", "--schema-style", style, "--model", "recorded"
    )
    assert outcome.status == 3, "nothing is recorded for this request"
    with HistoryStore.open(history_path(triage)) as store:
        record = replay(store.run(store.runs()[0].id).events)
    assert word in record.attempts[0].prompt
