"""A prompt shows its schema as JSON Schema, as TypeScript or as an outline; the project says which."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import pytest

from tests.engine.translation.scripted import S1, S6, ScriptedModel
from workbench.engine.projects import Project
from workbench.engine.schemas import JsonSchema
from workbench.engine.translation import JsonSchemaValidator, JsonTranslator, translator_from_settings
from workbench.engine.translation.settings import TranslationSettings

SCHEMA = JsonSchema.from_value(S6)
SHOWN = {
    "json": ("This JSON Schema describes", "```json\n{", '"anyOf"'),
    "typescript": ("This TypeScript describes", "```typescript\nexport interface Plan {", 'kind: "add"'),
    "outline": ("This outline describes", "```\nPlan: object", 'kind: "add"'),
}


def first_prompt(settings: TranslationSettings) -> str:
    model: Any = ScriptedModel('{"actions": []}')
    assert asyncio.run(translator_from_settings(settings, model, SCHEMA).translate("do it")).success
    return model.sent[0][-1].text()


@pytest.mark.parametrize("style", list(SHOWN))
def test_the_prompt_shows_the_schema_in_the_style_of_the_project(style: Any) -> None:
    text = first_prompt(TranslationSettings(type_name="Plan", schema_style=style))
    assert all(word in text for word in SHOWN[style])


@pytest.mark.parametrize("style", list(SHOWN))
def test_a_projects_own_prompt_gets_the_same_text(style: Any) -> None:
    settings = TranslationSettings(type_name="Plan", schema_style=style, request_prompt="{schema}|{request}")
    text = first_prompt(settings)
    assert text == JsonSchemaValidator(SCHEMA, "Plan", show=style).schema_text() + "|do it"


def test_structured_output_gets_the_schema_itself_whatever_the_prompt_shows() -> None:
    model: Any = ScriptedModel('{"a": 1}')
    settings = TranslationSettings(schema_style="outline", mode="schema")
    asyncio.run(translator_from_settings(settings, model, JsonSchema.from_value(S1)).translate("x"))
    assert model.options[0]["response_format"]["json_schema"]["schema"]["properties"] == S1["properties"]


def test_a_wrong_style_and_a_wrong_type_name_are_refused_before_the_model_is_asked() -> None:
    with pytest.raises(ValueError, match="json, typescript, outline"):
        JsonSchemaValidator(S1, show="yaml")  # type: ignore[arg-type]  # the case
    settings = TranslationSettings(type_name="my type", schema_style="typescript")
    with pytest.raises(ValueError, match="TypeScript"):
        translator_from_settings(settings, ScriptedModel(), SCHEMA)  # type: ignore[arg-type]  # never asked
    assert "my type" in first_prompt(replace(settings, schema_style="outline"))


def test_the_style_is_read_written_and_checked(tmp_path: Path) -> None:
    project = Project.new(tmp_path / "p", "P")
    assert project.snapshot().translation.schema_style == "json"
    project.set_translation("schema_style", "outline")
    project.save()
    assert Project.load(tmp_path / "p").snapshot().translation.schema_style == "outline"
    file = tmp_path / "p" / "workbench.toml"
    file.write_text(file.read_text().replace('"outline"', '"outlin"'))
    loaded = Project.load(tmp_path / "p")
    (problem,) = [each for each in loaded.diagnostics if each.severity == "error"]
    assert problem.pointer == "/translation/schema_style"
    assert "outline" in f"{problem.message} {problem.hint}"
    assert loaded.snapshot().translation.schema_style == "json"


def test_typescript_needs_a_type_name_that_it_knows(tmp_path: Path) -> None:
    project = Project.new(tmp_path / "p", "P")
    project.set_translation("type_name", "Support ticket")
    project.set_translation("schema_style", "typescript")
    (problem,) = [each for each in project.diagnostics if each.severity == "error"]
    assert (problem.code, problem.pointer) == ("bad_type_name", "/translation/type_name")
    project.set_translation("schema_style", "outline")
    assert not [each for each in project.diagnostics if each.severity == "error"]


@dataclass
class Task:
    """Something to do."""

    title: Annotated[str, "In a few words"]
    days: int | None = None


def test_a_python_type_is_validated_and_shown_as_its_own_typescript() -> None:
    validator = JsonSchemaValidator.from_type(Task, show="typescript")
    model = ScriptedModel('{"title": 1}', '{"title": "Mow"}')
    result = asyncio.run(JsonTranslator(model, validator).translate("mow"))
    assert result.data == {"title": "Mow"}  # type: ignore[union-attr]  # it succeeded
    prompt = model.sent[0][0].text()
    assert (
        "// Something to do.\nexport interface Task {\n    // In a few words\n    title: string;\n    days?: number | null;\n}"
        in prompt
    )
    assert JsonSchemaValidator.from_type(Task).schema_text().startswith("{")


def test_a_python_type_without_a_form_is_refused_when_the_validator_is_made() -> None:
    with pytest.raises(TypeError, match="complex"):
        JsonSchemaValidator.from_type(list[complex])
    with pytest.raises(ValueError, match="does not say what it holds"):
        JsonSchemaValidator.from_type(dict, show="typescript")


def test_a_pydantic_model_is_shown_by_its_schema() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Order", amount=(int, pydantic.Field(ge=1, description="How many")))
    text = JsonSchemaValidator.from_type(model, show="typescript").schema_text()
    assert "export interface Order {" in text
    assert "// How many\n    // integer, minimum 1\n    amount: number;" in text
