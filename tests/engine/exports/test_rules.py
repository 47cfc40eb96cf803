"""What a target does with checks that ask no model: the Python module runs them, the others name each as lost."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.engine.exports.conftest import HOSTILE_TEXT, hostile_snapshot
from tests.engine.exports.test_targets import STUBS, HalfModel, export, load
from workbench.engine.exports import write_export
from workbench.engine.guardrails import (
    BrokenCheck,
    CheckSettings,
    GuardrailSettings,
    LanguageCheck,
    LengthCheck,
    PatternCheck,
)
from workbench.engine.projects.snapshot import ProjectSnapshot

RULES = (
    CheckSettings('card "no"', rule=PatternCheck(r"\d{4}\"'\\ */ ?\d{4}|x{{y}}", True, False)),
    CheckSettings("long", rule=LengthCheck(300, 2)),
    CheckSettings("words", rule=LanguageCheck(("en", "de"))),
)
OTHERS = ("langchain4j", "litellm", "openai-request")


def mixed() -> ProjectSnapshot:
    """Return the hostile project with rules between its questions, and rules alone at the output."""
    plain = hostile_snapshot()
    one, two = plain.input_guardrail.checks
    return replace(
        plain,
        input_guardrail=replace(plain.input_guardrail, checks=(RULES[0], one, RULES[1], two)),
        output_guardrail=GuardrailSettings(checks=(RULES[2],), reprompt="Again", max_retries=3),
    )


def test_the_python_module_runs_the_same_rules_in_the_same_order(tmp_path: Path) -> None:
    snapshot = mixed()
    made = export("python", snapshot)
    [path] = write_export(made, tmp_path)
    module = load(path)
    assert snapshot.input_guardrail == module.INPUT_GUARDRAIL
    assert snapshot.output_guardrail == module.OUTPUT_GUARDRAIL
    assert not [loss for loss in made.losses if "check" in loss.subject]
    result = asyncio.run(module.check_input("harmless text", model=HalfModel()))
    assert [(c.kind, c.status) for c in result.checks] == [
        ("pattern", "rejected"), ("model", "rejected"), ("length", "passed"), ("model", "passed"),
    ]  # fmt: skip


def test_a_stage_of_rules_alone_takes_no_model_and_names_none(tmp_path: Path) -> None:
    snapshot = replace(mixed(), input_guardrail=GuardrailSettings(checks=RULES), output_schema=None)
    [path] = write_export(export("python", snapshot), tmp_path)
    text = path.read_text(encoding="utf-8")
    assert "decision" not in text.lower().replace("decisions", "")
    module = load(path)
    german = "Wo ist das Paket und die Rechnung?"
    assert asyncio.run(
        module.check_output("Où est le colis que vous avez envoyé pour la fête ?")
    ).failed_checks == ("words",)
    assert asyncio.run(module.check_output(german, "asked")).passed


def test_a_rule_that_cannot_be_used_is_written_so_that_nothing_passes(tmp_path: Path) -> None:
    broken = CheckSettings("x", rule=BrokenCheck("pattern", HOSTILE_TEXT, {"pattern": "("}))
    snapshot = ProjectSnapshot(name="b", input_guardrail=GuardrailSettings(checks=(broken,)))
    [path] = write_export(export("python", snapshot), tmp_path)
    assert asyncio.run(load(path).check_input("text")).verdict == "error"


@pytest.mark.parametrize("target", OTHERS)
def test_each_rule_is_a_loss_by_name_with_why_and_what_it_looked_for(target: str) -> None:
    found = {loss.subject: loss for loss in export(target, mixed()).losses if "asks no model" in loss.detail}
    assert list(found) == ['pattern check card "no"', "length check long", "language check words"]
    assert {loss.kind for loss in found.values()} == {"left out"}
    assert found["length check long"].detail.endswith(
        "the text has more than 300 characters or fewer than 2 characters"
    )


@pytest.mark.parametrize("target", OTHERS)
def test_the_rest_is_written_as_if_the_rules_were_not_there(target: str) -> None:
    plain = replace(mixed(), input_guardrail=hostile_snapshot().input_guardrail)
    without = replace(plain, output_guardrail=replace(plain.output_guardrail, checks=()))
    assert export(target, mixed()).files == export(target, without).files


def test_the_java_class_still_compiles(tmp_path: Path) -> None:
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("no Java compiler is here")
    [path] = write_export(export("langchain4j", mixed()), tmp_path / "src")
    stubs = [str(file) for file in STUBS.rglob("*.java")]
    command = [javac, "-encoding", "UTF-8", "-d", str(tmp_path / "classes"), str(path), *stubs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "outputGuardrail" not in path.read_text(encoding="utf-8")


def test_litellm_still_builds_the_guardrail_of_the_questions() -> None:
    guardrails = pytest.importorskip("litellm.types.guardrails", reason="LiteLLM is not installed")
    hooks = pytest.importorskip("litellm.proxy.guardrails.guardrail_hooks.decision_model")
    [entry] = yaml.safe_load(export("litellm", mixed()).files[0].text)["guardrails"]
    built = hooks.initialize_guardrail(guardrails.LitellmParams(**entry["litellm_params"]), entry)
    assert [check.name for check in built.checks] == ["one", "zwei ü: - #"]


def test_with_rules_alone_a_target_of_questions_has_no_guardrail_at_all() -> None:
    snapshot = ProjectSnapshot(name="r", input_guardrail=GuardrailSettings(checks=RULES))
    assert "guardrails" not in yaml.safe_load(export("litellm", snapshot).files[0].text)
    assert [file.path for file in export("openai-request", snapshot).files] == ["chat.json"]
    assert json.loads(export("openai-request", snapshot).files[0].text)["messages"] == []
