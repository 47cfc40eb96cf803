"""Projects that exports are tried on: the samples, and one in which every text is hostile."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects import Project, copy_sample, list_samples
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import MessageTemplate, TemplateOptions
from workbench.engine.text import TextFile
from workbench.engine.tools.definitions import ToolDefinition
from workbench.engine.translation.settings import Rule, TranslationSettings

SAMPLES = ("answer-from-documents", "support-triage", "table-booking")

HOSTILE_TEXT = (
    'a "quote" \\u0022 \\ back\\\\slash\ttab\r\nline ␊ 🙂 \x07 */ {{ not }} {{{ { \'\'\' """ #{x} $y ${z} `'
)


def hostile_snapshot() -> ProjectSnapshot:
    """Return a project whose every text tries to break out of the place it is put in."""
    return ProjectSnapshot(
        name='Naïve */ "name" \\u002a/ 🙂\nsecond',
        template=TemplateOptions(
            contexts={"shop": {"name": 'Fern "hill" {{x}}'}},
            fields={"form": "field\\text"},
            escape="json_string",
        ),
        messages=(
            MessageTemplate(
                "system", HOSTILE_TEXT + "[%param.customer.name%] {[%param.items[*].n%]} [%shop.name%]"
            ),
            MessageTemplate(
                "critic", "\\[%param.literal%] [%form%] [%param.['odd key']%] [%param.customer_name%]\n"
            ),
        ),
        parameter_sets={
            "default": TextFile(
                '{"customer": {"name": "Ann"}, "items": [{"n": "a"}, {"n": "b"}], "odd key": 1, "customer_name": null}'
            )
        },
        output_schema=TextFile(
            '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
        ),
        input_guardrail=GuardrailSettings(
            threshold=1.0,
            checks=(
                CheckSettings(
                    "one", 'Is it "bad"?\\u0022\nreally', 0.0, yes_means="yes: {{x}}", no_means="no"
                ),
                CheckSettings("zwei ü: - #", "Is it\ttoo: bad?"),
            ),
        ),
        output_guardrail=GuardrailSettings(
            checks=(CheckSettings("out", HOSTILE_TEXT, 0.25),), reprompt='Again, "please"\\', max_retries=4
        ),
        translation=TranslationSettings(
            type_name="Odd Name", rules=(Rule("a", "<=", 3, 'at "most" 3'),), budget={"calls": 2}
        ),
        tools=(ToolDefinition("look up", "Looks up", '{"type": "object"}'),),
        models={"decision": ModelSettings("decision", "system-one", "http://127.0.0.1:9/v1", "m", "my key")},
        cases=(Case("c1", "text", {"one": True}),),
    )


@pytest.fixture(params=[*SAMPLES, "hostile"])
def snapshot(request: pytest.FixtureRequest, tmp_path: Path) -> ProjectSnapshot:
    """Each project in turn."""
    if request.param == "hostile":
        return hostile_snapshot()
    assert {sample.name for sample in list_samples()} == set(SAMPLES)
    copy_sample(request.param, tmp_path / "copy")
    return Project.load(tmp_path / "copy").snapshot()
