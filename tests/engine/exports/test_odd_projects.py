"""Exports of projects with odd names, broken files, long texts and settings that a format cannot hold."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from workbench.engine.exports import Export, find_target, targets, write_export
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings
from workbench.engine.guardrails.text_checks import LengthCheck
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import MessageTemplate, TemplateOptions
from workbench.engine.text import TextFile
from workbench.engine.tools.definitions import ToolDefinition
from workbench.engine.translation.settings import Rule, TranslationSettings

STUBS = Path(__file__).resolve().parents[2] / "data" / "langchain4j"


def project(name: str = "Odd", content: str = "Hi [%param.a%]", **values: Any) -> ProjectSnapshot:
    given = {
        "messages": (MessageTemplate("user", content),),
        "parameter_sets": {"default": TextFile('{"a": "x"}')},
        **values,
    }
    return ProjectSnapshot(name=name, **given)


def export(target: str, snapshot: ProjectSnapshot) -> Export:
    found = find_target(target)
    assert found is not None
    return found.export(snapshot)


def losses(made: Export) -> dict[str, str]:
    return {loss.subject: loss.detail for loss in made.losses}


def run(made: Export, folder: Path) -> str:
    [path] = write_export(made, folder)
    done = subprocess.run(
        [sys.executable, path.name], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def load(made: Export, folder: Path) -> ModuleType:
    [path] = write_export(made, folder)
    spec = importlib.util.spec_from_file_location("exported_" + path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def java(made: Export, folder: Path, values: dict[str, str]) -> list[str]:
    """Compile the class, fill its messages and return their texts."""
    javac, machine = shutil.which("javac"), shutil.which("java")
    if javac is None or machine is None:
        pytest.skip("no Java is here")
    [path] = write_export(made, folder / "src")
    puts = " ".join(f"v.put({json.dumps(key)}, {json.dumps(value)});" for key, value in values.items())
    main = folder / "src" / "Main.java"
    main.write_text(
        "public class Main { public static void main(java.lang.String[] a) throws Exception {"
        ' var out = new java.io.PrintStream(System.out, true, "UTF-8");'
        f" java.util.Map<java.lang.String, java.lang.Object> v = new java.util.HashMap<>(); {puts}"
        f" for (var m : {path.stem}.messages(v)) dev.langchain4j.Log.add(m.toString());"
        " out.print(dev.langchain4j.Log.text()); } }",
        encoding="utf-8",
    )
    files = [str(path), str(main), *(str(file) for file in STUBS.rglob("*.java"))]
    command = [javac, "-encoding", "UTF-8", "-d", str(folder / "c"), *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    ran = subprocess.run(
        [machine, "-cp", str(folder / "c"), "Main"], capture_output=True, check=True, timeout=60
    )
    return [text for text in ran.stdout.decode("utf-8").split("\x1e") if text]


@pytest.mark.parametrize("name", ["Workbench", "JSON", "asyncio", "class", "httpx"])
def test_a_python_module_never_stands_in_front_of_a_package_it_needs(name: str, tmp_path: Path) -> None:
    assert run(export("python", project(name)), tmp_path) == "--- user ---\nHi x\n"


def test_a_python_module_can_be_imported_though_the_project_is_called_like_a_keyword() -> None:
    assert [file.path for file in export("python", project("Class")).files] == ["class_prompt.py"]


@pytest.mark.parametrize("name", ["List", "string"])
def test_a_java_class_never_takes_the_name_of_a_class_it_uses(name: str, tmp_path: Path) -> None:
    [text] = java(export("langchain4j", project(name)), tmp_path, {"a": "x"})
    assert text.endswith("Hi x")


def test_a_text_longer_than_a_java_constant_may_be_compiles_and_arrives(tmp_path: Path) -> None:
    texts = ["é" * 70_000, "\U0001f642" * 30_000, 'line "of" text\n' * 9_000]
    snapshot = project(messages=tuple(MessageTemplate("user", text) for text in texts))
    arrived = java(export("langchain4j", snapshot), tmp_path, {})
    assert [text[-len(sent) :] for text, sent in zip(arrived, texts, strict=True)] == texts


def test_blank_messages_which_langchain4j_refuses_are_left_out_and_named(tmp_path: Path) -> None:
    snapshot = project(messages=(MessageTemplate("system", " \n"), MessageTemplate("user", "Hi")))
    made = export("langchain4j", snapshot)
    assert "1 blank message" in losses(made)
    [text] = java(made, tmp_path, {})
    assert text.endswith("Hi")


def test_variables_that_the_framework_fills_itself_get_other_names_that_are_reported(tmp_path: Path) -> None:
    content = "[%param.current_date%] {{[%param.openBrace%]"
    made = export("langchain4j", project(content=content))
    assert "current_date_2 = current_date, openBrace_2 = openBrace" in losses(made)["placeholder paths"]
    [text] = java(made, tmp_path, {"current_date_2": "today", "openBrace_2": "mine"})
    assert text.endswith("today {{mine")


def test_placeholders_are_read_in_exports_as_the_workbench_reads_them() -> None:
    options = TemplateOptions(
        contexts={"shop": {"name": "A & B"}}, fields={"form": "f", "no.field": "g"}, escape="xml",
        optional=("param.note",), expand_parameters=True,
    )  # fmt: skip
    content = "[% param.a %] [% shop.name %] [%form%] [%no.field%] [%oops%] [%param.note%]"
    made = export("langchain4j", project(content=content, template=options))
    assert '"{{a}} A &amp; B f [%no.field%] [%oops%] {{note}}"' in made.files[0].text
    found = losses(made)
    assert found["contexts and fields"].endswith("shop.name, form")
    assert "note" in found["optional placeholders"]
    assert {"placeholder no.field", "placeholder oops", "placeholders in parameters"} <= set(found)


@pytest.mark.parametrize(
    ("values", "subject"),
    [
        ({"parameter_sets": {"default": TextFile('{"a":')}, "messages": (MessageTemplate("user", "Hi"),)},
         "parameter set default"),
        ({"graph": TextFile('{"m":'), "messages": ()}, "object graph"),
        ({"output_schema": TextFile('{"type":'), "messages": (MessageTemplate("user", "Hi"),)}, "translation"),
        ({"output_schema": TextFile('{"type": "odd"}'), "messages": (MessageTemplate("user", "Hi"),)}, "translation"),
    ],
    ids=["parameters", "graph", "schema text", "schema"],
)  # fmt: skip
def test_a_broken_file_is_a_loss_and_the_python_module_still_starts(
    values: dict[str, Any], subject: str, tmp_path: Path
) -> None:
    made = export("python", project(**values))
    assert subject in losses(made)
    run(made, tmp_path)


@pytest.mark.parametrize("text", ['{"type": "odd"}', '{"$ref": "gone.json"}', '{"type":', "true"])
def test_a_chat_request_holds_no_schema_that_cannot_be_used_and_says_so(text: str, tmp_path: Path) -> None:
    made = export("openai-request", project(root=tmp_path, output_schema=TextFile(text)))
    assert "response_format" not in json.loads(made.files[0].text)
    assert "output schema" in losses(made)


def test_numbers_that_are_not_finite_arrive_in_the_python_module(tmp_path: Path) -> None:
    rules = (Rule("a", "<=", math.inf, "m"), Rule("a", "in", [-math.inf, {"x": [1.5]}], "m"))
    snapshot = project(output_schema=TextFile("{}"), translation=TranslationSettings(rules=rules))
    assert load(export("python", snapshot), tmp_path).TRANSLATION.rules == rules


def test_a_byte_order_mark_does_not_stop_the_python_module(tmp_path: Path) -> None:
    snapshot = project(
        messages=(),
        graph=TextFile('\ufeff{"m": "[%param.a%]"}'),
        parameter_sets={"default": TextFile('\ufeff{"a": "x"}')},
    )
    assert json.loads(run(export("python", snapshot), tmp_path)) == {"m": "x"}


def test_the_python_module_asks_the_repair_model_and_an_object_graph_has_no_preamble(tmp_path: Path) -> None:
    snapshot = project(
        messages=(),
        graph=TextFile('{"m": "[%param.a%]"}'),
        output_schema=TextFile('{"type": "object", "required": ["a"]}'),
        translation=TranslationSettings(repair_model="fix", preamble="template"),
        models={"chat": ModelSettings("chat", "local"), "fix": ModelSettings("fix", "ollama", model="m")},
    )
    module = load(export("python", snapshot), tmp_path)
    from workbench.engine.language_models import Completion, LanguageModel

    asked: list[str] = []

    class Scripted(LanguageModel):
        def __init__(self, name: str, reply: str) -> None:
            self.called, self.reply = name, reply

        @property
        def name(self) -> str:
            return self.called

        async def complete(self, messages: Any, **_options: Any) -> Completion:
            asked.append(self.name)
            return Completion(self.reply)

        async def aclose(self) -> None:
            asked.append(f"{self.name} closed")

    assert snapshot.models["fix"] == module.REPAIR_MODEL
    module.open_language_model = lambda settings: Scripted(settings.name, '{"a": 1}')  # type: ignore[attr-defined]
    result = asyncio.run(module.translate("x", model=Scripted("first", "{}")))
    assert result.data == {"a": 1}
    assert asked == ["first", "fix", "fix closed"]


def test_the_example_checks_what_the_workbench_checks(tmp_path: Path) -> None:
    messages = (MessageTemplate("system", "one"), MessageTemplate("user", "two"))
    guardrail = GuardrailSettings(checks=(CheckSettings("long", rule=LengthCheck(most=8)),))
    made = export("python", project(messages=messages, input_guardrail=guardrail))
    # `one`, a line end and `two` are seven characters; the lines that name the roles do not count.
    assert run(made, tmp_path).endswith("passed\n")


def test_python_losses_name_what_the_module_lacks(tmp_path: Path) -> None:
    (tmp_path / "fitted-checks.json").write_text("{}", encoding="utf-8")
    snapshot = project(
        root=tmp_path,
        parameters_schema=TextFile("{}"),
        output_schema=TextFile("{}"),
        translation=TranslationSettings(target="program"),
        input_guardrail=GuardrailSettings(checks=(CheckSettings("a", "Is it?"),)),
        models={
            "decision": ModelSettings("decision", "embedded", options={"path": "weights"}),
            "cheap": ModelSettings("cheap", "ollama"),
        },
    )
    found = losses(export("python", snapshot))
    assert {"parameters schema", "programs", "fitted checks"} <= set(found)
    assert "cheap" in found["other models"]
    assert "decision (path)" in found["files of models"]


def test_a_chat_request_holds_the_sampling_and_names_what_it_cannot_say() -> None:
    snapshot = project(
        output_schema=TextFile("{}"),
        translation=TranslationSettings(request_prompt="Now: {request}"),
        tools=(ToolDefinition("wetter für"), ToolDefinition("wetter f?r"), ToolDefinition("plain")),
        models={"chat": ModelSettings("chat", "ollama", model="m", options={"temperature": 0.2, "max_tokens": 9, "seed": 3})},
    )  # fmt: skip
    made = export("openai-request", snapshot)
    body = json.loads(made.files[0].text)
    assert (body["temperature"], body["max_completion_tokens"], body["seed"]) == (0.2, 9, 3)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["wetter_f_r", "wetter_f_r_2", "plain"]
    found = losses(made)
    assert {"chat model", "prompts of the translation", "tool wetter für", "tool wetter f?r"} <= set(found)
    assert "tool plain" not in found


def test_a_chat_request_of_a_server_of_ones_own_says_that_it_names_no_server() -> None:
    settings = ModelSettings("chat", "openai", "http://127.0.0.1:9/v1", "m")
    assert "address of the chat model" in losses(export("openai-request", project(models={"chat": settings})))


@pytest.mark.parametrize("target", targets(), ids=lambda each: each.name)
def test_labelled_cases_are_never_lost_silently(target: Any) -> None:
    from workbench.engine.evaluation.cases import Case

    made = target.export(project(cases=(Case("c", "text", {}),)))
    assert ("left out", "labelled cases") in {(loss.kind, loss.subject) for loss in made.losses}
