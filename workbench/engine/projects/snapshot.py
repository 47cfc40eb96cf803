"""A project at one moment, frozen, so that a run is not disturbed by further edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.engine.evaluation.cases import Case
from workbench.engine.guardrails.settings import GuardrailSettings, Stage
from workbench.engine.model_settings import ModelSettings
from workbench.engine.templates.options import MessageTemplate, TemplateOptions
from workbench.engine.text import TextFile
from workbench.engine.tools.definitions import ToolDefinition
from workbench.engine.translation.settings import TranslationSettings


@dataclass(frozen=True, slots=True)
class ProjectSnapshot:
    """Everything a run needs of a project. Texts are raw: JSON is parsed where it is used.

    `root` is the project's folder, `None` for a project that was never saved. `graph` is the text of the
    object graph when the template has one instead of messages. `parameter_sets` maps a set's name to its
    JSON text. A schema that the project does not have is `None`. Without `all_cases_held` the file of cases is too long
    to be held, and `cases` are its first ones.
    """

    name: str
    root: Path | None = None
    template: TemplateOptions = field(default_factory=TemplateOptions)
    messages: tuple[MessageTemplate, ...] = ()
    graph: TextFile | None = None
    parameter_sets: Mapping[str, TextFile] = field(default_factory=dict)
    parameters_schema: TextFile | None = None
    output_schema: TextFile | None = None
    input_guardrail: GuardrailSettings = field(default_factory=GuardrailSettings)
    output_guardrail: GuardrailSettings = field(default_factory=GuardrailSettings)
    translation: TranslationSettings = field(default_factory=TranslationSettings)
    tools: tuple[ToolDefinition, ...] = ()
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    cases: tuple[Case, ...] = ()
    all_cases_held: bool = True

    def every_case(self) -> Iterable[Case]:
        """Return all labelled cases: those held, or a stream of the file where it is too long to be held."""
        if self.all_cases_held or self.root is None:
            return self.cases
        from workbench.engine.evaluation.case_stream import CaseStream

        return CaseStream(self.root / "cases.jsonl")

    def guardrail(self, stage: Stage) -> GuardrailSettings:
        """Return the settings of the guardrail at `stage`."""
        return self.input_guardrail if stage == "input" else self.output_guardrail

    def default_parameter_set(self) -> str | None:
        """Return `default` when there is such a set, else the first by name, else `None`."""
        if "default" in self.parameter_sets:
            return "default"
        return min(self.parameter_sets, default=None)
