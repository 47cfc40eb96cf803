"""Each target's files are read by what they are written for, and every loss is named."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.engine.exports.conftest import hostile_snapshot
from workbench.engine.decisions import DecisionModel, DecisionRequest, DecisionResponse, YesNoAnswer
from workbench.engine.exports import Export, find_target, readme, targets, write_export
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import MessageTemplate
from workbench.engine.workflows import render_project

STUBS = Path(__file__).resolve().parents[2] / "data" / "langchain4j"


def export(name: str, snapshot: ProjectSnapshot) -> Export:
    target = find_target(name)
    assert target is not None
    return target.export(snapshot)


def losses(export: Export) -> set[tuple[str, str]]:
    return {(loss.kind, loss.subject) for loss in export.losses}


class HalfModel(DecisionModel):
    """Answers one half to everything."""

    name = "half"

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        return DecisionResponse(
            answers={name: YesNoAnswer(0.5) for name in request.questions}, model_name="half"
        )


@pytest.mark.parametrize("target", targets(), ids=lambda t: t.name)
def test_a_target_describes_itself_and_is_found_by_its_name(target: Any) -> None:
    assert find_target(target.name) is target
    assert target.title
    assert target.description
    assert target.cannot_express


@pytest.mark.parametrize("target", targets(), ids=lambda t: t.name)
def test_exporting_is_a_pure_function_and_never_writes_a_secret(
    target: Any, snapshot: ProjectSnapshot
) -> None:
    first, second = target.export(snapshot), target.export(snapshot)
    assert first == second
    assert all(file.text.endswith("\n") for file in first.files)


@pytest.mark.parametrize("target", targets(), ids=lambda t: t.name)
def test_an_export_is_written_with_a_readme_that_names_every_loss(
    target: Any, snapshot: ProjectSnapshot, tmp_path: Path
) -> None:
    made = target.export(snapshot)
    paths = write_export(made, tmp_path / "out", extra=(readme(made, snapshot, target.title),))
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in paths] == [*(file.path for file in made.files), "README.md"]
    assert all(loss.subject in text and loss.detail in text for loss in made.losses)
    for file in made.files:
        assert (tmp_path / "out" / file.path).read_bytes() == file.text.encode("utf-8")


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_python_module_fills_the_same_messages_and_runs_the_same_checks(
    snapshot: ProjectSnapshot, tmp_path: Path
) -> None:
    [path] = write_export(export("python", snapshot), tmp_path)
    module = load(path)
    rendering = render_project(snapshot, validate=False)
    assert module.messages(module.EXAMPLE) == [
        {"role": m.role, "content": m.text} for m in rendering.messages
    ]

    result = asyncio.run(module.check_input("some text", model=HalfModel()))
    settings = snapshot.input_guardrail
    assert [check.name for check in result.checks] == [check.name for check in settings.checks]
    assert [check.threshold for check in result.checks] == [
        settings.threshold_of(check) for check in settings.checks
    ]
    expected = [c.name for c in settings.checks if settings.threshold_of(c) <= 0.5]
    assert list(result.failed_checks) == expected


def test_the_python_module_refuses_to_send_a_prompt_with_a_missing_value(tmp_path: Path) -> None:
    [path] = write_export(export("python", hostile_snapshot()), tmp_path)
    with pytest.raises(Exception, match=re.escape("customer")):
        load(path).messages({})


def test_the_python_module_runs_as_a_program(tmp_path: Path) -> None:
    snapshot = hostile_snapshot()
    [path] = write_export(export("python", ProjectSnapshot(
        name=snapshot.name, messages=snapshot.messages, template=snapshot.template,
        parameter_sets=snapshot.parameter_sets)), tmp_path)  # fmt: skip
    done = subprocess.run([sys.executable, str(path)], capture_output=True, timeout=60, check=True)
    assert b"--- system ---" in done.stdout


def test_the_java_class_compiles_against_the_interfaces_it_names(
    snapshot: ProjectSnapshot, tmp_path: Path
) -> None:
    made = export("langchain4j", snapshot)
    assert made.files[0].path.endswith(".java")
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("no Java compiler is here")
    [path] = write_export(made, tmp_path / "src")
    stubs = [str(file) for file in STUBS.rglob("*.java")]
    command = [javac, "-encoding", "UTF-8", "-d", str(tmp_path / "classes"), str(path), *stubs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_java_texts_and_thresholds_arrive_as_they_were_written(tmp_path: Path) -> None:
    javac, java = shutil.which("javac"), shutil.which("java")
    if javac is None or java is None:
        pytest.skip("no Java is here")
    snapshot = hostile_snapshot()
    made = export("langchain4j", snapshot)
    [path] = write_export(made, tmp_path / "src")
    main = tmp_path / "src" / "Main.java"
    main.write_text(
        "public class Main { public static void main(String[] a) throws Exception {"
        f' var out = new java.io.PrintStream(System.out, true, "UTF-8"); {path.stem}.inputGuardrail(null);'
        f" {path.stem}.outputGuardrail(null);"
        " java.util.Map<String, Object> v = new java.util.HashMap<>();"
        ' v.put("customer_name", "Ann"); v.put("items_n", "a, b"); v.put("odd_key", "1"); v.put("customer_name_2", "");'
        f" for (var m : {path.stem}.messages(v)) dev.langchain4j.Log.add(m.toString());"
        " out.print(dev.langchain4j.Log.text()); } }",
        encoding="utf-8",
    )
    files = [str(path), str(main), *(str(file) for file in STUBS.rglob("*.java"))]
    subprocess.run([javac, "-encoding", "UTF-8", "-d", str(tmp_path / "c"), *files], check=True, timeout=120)
    done = subprocess.run(
        [java, "-cp", str(tmp_path / "c"), "Main"], capture_output=True, check=True, timeout=60
    )
    logged = done.stdout.decode("utf-8").split("\x1e")
    one, two = snapshot.input_guardrail.checks
    assert f"check {one.name} 0.0 {one.question}\nYes means: yes: {{{{x}}}}\nNo means: no" in logged
    assert f"check {two.name} null {two.question}" in logged
    assert "threshold 1.0" in logged
    assert f"check out 0.25 {snapshot.output_guardrail.checks[0].question}" in logged
    assert f"reprompt {snapshot.output_guardrail.reprompt}" in logged
    # The project's own texts are escaped as in the workbench; these values are the same in either form.
    for message in render_project(snapshot, validate=False).messages:
        assert message.text in logged


def test_java_losses_name_the_variables_that_stand_for_paths() -> None:
    made = export("langchain4j", hostile_snapshot())
    found = {loss.subject: loss.detail for loss in made.losses}
    assert "customer.name" in found["placeholder paths"]
    assert "shop.name" in found["contexts and fields"]
    assert losses(made) >= {
        ("left out", "escaper"), ("changed", "literal braces"), ("changed", "role critic"),
        ("left out", "translation"), ("left out", "max_retries"), ("changed", "yes and no meanings"),
    }  # fmt: skip


def test_litellm_reads_its_config_and_builds_each_guardrail(snapshot: ProjectSnapshot) -> None:
    guardrails = pytest.importorskip("litellm.types.guardrails", reason="LiteLLM is not installed")
    hooks = pytest.importorskip("litellm.proxy.guardrails.guardrail_hooks.decision_model")
    config = yaml.safe_load(export("litellm", snapshot).files[0].text)
    assert config["model_list"][0]["litellm_params"]["api_key"].startswith("os.environ/")
    for entry, stage in zip(config["guardrails"], ("input", "output"), strict=False):
        parameters = guardrails.LitellmParams(**entry["litellm_params"])
        built = hooks.initialize_guardrail(parameters, entry)
        settings = snapshot.guardrail(stage)  # type: ignore[arg-type]
        assert [check.name for check in built.checks] == [check.name for check in settings.checks]
        assert [check.threshold for check in built.checks] == [
            settings.threshold_of(c) for c in settings.checks
        ]
        assert all(
            check.instructions.startswith(c.question)
            for check, c in zip(built.checks, settings.checks, strict=True)
        )


def test_litellm_losses_name_what_stays_behind() -> None:
    assert losses(export("litellm", hostile_snapshot())) >= {
        ("left out", "2 template messages"), ("left out", "translation"), ("left out", "reprompt"),
        ("changed", "yes and no meanings"), ("runs differently", "screening of messages"),
    }  # fmt: skip


def test_openai_bodies_are_of_the_vendors_own_types(snapshot: ProjectSnapshot) -> None:
    pydantic = pytest.importorskip("pydantic")
    chat_types = pytest.importorskip("openai.types.chat.completion_create_params")
    decision_types = pytest.importorskip("openai.types.decision_create_params")
    files = {file.path: json.loads(file.text) for file in export("openai-request", snapshot).files}
    pydantic.TypeAdapter(chat_types.CompletionCreateParamsNonStreaming).validate_python(files["chat.json"])
    for stage in ("input", "output"):
        settings = snapshot.guardrail(stage)  # type: ignore[arg-type]
        if not settings.checks:
            assert f"decisions-{stage}.json" not in files
            continue
        body = files[f"decisions-{stage}.json"]
        pydantic.TypeAdapter(decision_types.DecisionCreateParams).validate_python(body)
        assert {
            q["name"]: files["thresholds.json"][stage][q["name"]]["threshold"] for q in body["questions"]
        } == {check.name: settings.threshold_of(check) for check in settings.checks}


def test_the_chat_request_holds_the_filled_messages_and_the_schema(snapshot: ProjectSnapshot) -> None:
    body = json.loads(export("openai-request", snapshot).files[0].text)
    assert [m["content"] for m in body["messages"]] == [m.text for m in render_project(snapshot).messages]
    if snapshot.output_schema is not None:
        assert body["response_format"]["json_schema"]["schema"] == json.loads(snapshot.output_schema.text)


def test_a_project_without_anything_still_exports_everywhere() -> None:
    for target in targets():
        assert target.export(ProjectSnapshot(name="")).files


@pytest.mark.parametrize("target", targets(), ids=lambda t: t.name)
@pytest.mark.parametrize(
    "name", ["a" * 5000, "half a pair \ud83d", "word " * 400], ids=["long", "half", "words"]
)
def test_a_name_of_any_kind_makes_files_that_can_be_written(target: Any, name: str, tmp_path: Path) -> None:
    made = target.export(ProjectSnapshot(name=name, messages=(MessageTemplate("user", name),)))
    written = write_export(made, tmp_path / "out")
    assert len(written) == len(made.files)
    assert all(len(path.name) < 100 for path in written)
    assert all(path.read_bytes().decode("utf-8") for path in written)
