"""OpenAI: the filled prompt and the checks as request bodies, with the thresholds in a file beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from workbench.engine.exports import common
from workbench.engine.exports.base import Export, ExportedFile, ExportTarget, Loss
from workbench.engine.json_text import parse_json
from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot

CHAT_ROLES = ("system", "developer", "user", "assistant")
DEFAULT_CHAT_MODEL = "gpt-6"
DEFAULT_DECISION_MODEL = "gpt-6-luna"


class OpenAiRequestTarget(ExportTarget):
    """`chat.json`, `decisions.json` and `thresholds.json`."""

    name = "openai-request"
    title = "OpenAI request"
    description = "Chat and Decisions request bodies as JSON, with a sidecar for the thresholds"
    cannot_express = (
        "the template itself: a request holds one filled prompt",
        "thresholds (written to a sidecar that your code has to apply)",
        "checks on a pattern, a length or languages (they ask no model)",
        "repairs and rules of the translation",
        "asking again after a rejected response",
    )

    def export(self, snapshot: ProjectSnapshot, *, parameter_set: str | None = None) -> Export:
        """Return the request bodies, filled with `parameter_set` (the default set when not named)."""
        snapshot, losses = common.without_rules(snapshot)
        files = [ExportedFile("chat.json", _json(_chat(snapshot, parameter_set, losses)))]
        if snapshot.input_guardrail.checks or snapshot.output_guardrail.checks:
            for stage in ("input", "output"):
                if snapshot.guardrail(stage).checks:
                    body = _decisions(snapshot, stage)
                    files.append(ExportedFile(f"decisions-{stage}.json", _json(body)))
            files.append(ExportedFile("thresholds.json", _json(_thresholds(snapshot))))
            losses.append(
                Loss(
                    "left out",
                    "thresholds",
                    "The API has no field for them; your code compares with thresholds.json",
                )
            )
            losses += common.meanings_joined(snapshot)
        losses += common.decision_model_changed(snapshot) + common.left_out(snapshot)
        if snapshot.output_guardrail.reprompt is not None:
            losses.append(
                Loss("left out", "reprompt", "Asking again after a rejected response is up to your code")
            )
        if snapshot.translation.rules or (snapshot.output_schema and snapshot.translation.attempt_repair):
            losses.append(
                Loss(
                    "left out",
                    "repairs and rules",
                    "A request asks once; checking and repairing is up to your code",
                )
            )
        return Export(self.name, tuple(files), tuple(losses))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _chat(snapshot: ProjectSnapshot, parameter_set: str | None, losses: list[Loss]) -> dict[str, Any]:
    from workbench.engine.workflows import render_project

    settings = snapshot.models.get("chat")
    usable = settings is not None and settings.provider in ("openai", "openai-responses") and settings.model
    rendering = render_project(snapshot, parameter_set, validate=False)
    if rendering.graph is not None:
        losses.append(Loss("left out", "object graph", "A chat request holds messages"))
    if rendering.placeholders:
        name = rendering.parameter_set or "no parameter set"
        losses.append(Loss("changed", "template", f"Filled with {name}; the placeholders are gone"))
    for use in rendering.unresolved:
        losses.append(
            Loss("changed", f"placeholder {use.body}", "It has no value and stands in the request as text")
        )
    messages = []
    for message in rendering.messages:
        role = message.role if message.role in CHAT_ROLES else "user"
        if role != message.role:
            losses.append(
                Loss("changed", f"role {message.role}", "Chat requests do not know it; written as user")
            )
        messages.append({"role": role, "content": message.text})
    body: dict[str, Any] = {
        "model": settings.model if usable and settings is not None else DEFAULT_CHAT_MODEL,
        "messages": messages,
    }
    if settings is not None:
        body.update(_sampling(settings))
        losses += _chat_model_losses(settings, bool(usable))
    if snapshot.output_schema is not None:
        body.update(_response_format(snapshot, losses))
    tools = _tools(snapshot, losses)
    if tools:
        body["tools"] = tools
    return body


def _response_format(snapshot: ProjectSnapshot, losses: list[Loss]) -> dict[str, Any]:
    """Return the field of the body that asks for the output schema; empty where the schema cannot be used."""
    translation = snapshot.translation
    if translation.request_prompt is not None or translation.preamble not in ((), "template"):
        detail = (
            "The request holds the messages of the template, not what a translation puts around a request"
        )
        losses.append(Loss("left out", "prompts of the translation", detail))
    if (problem := common.schema_problem(snapshot)) is not None:
        losses.append(Loss("left out", "output schema", problem))
        return {}
    schema = parse_json(common.output_schema_text(snapshot)).value
    if not isinstance(schema, dict):
        losses.append(Loss("left out", "output schema", "It is not a JSON object"))
        return {}
    form = {"name": _name(translation.type_name), "schema": schema, "strict": False}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def _sampling(settings: ModelSettings) -> dict[str, Any]:
    """Return the fields of the body that the project sets for its chat model."""
    from workbench.engine.language_models import LanguageModelError
    from workbench.engine.language_models.options import read_options

    try:
        options = read_options(settings)
    except LanguageModelError:  # the project's own diagnostics say what is wrong
        return {}
    values = {
        "temperature": options.temperature if "temperature" in settings.options else None,
        "seed": options.seed,
        "max_completion_tokens": options.max_tokens,
    }
    return {key: value for key, value in values.items() if value is not None}


def _chat_model_losses(settings: ModelSettings, usable: bool) -> list[Loss]:
    if not usable:
        what = settings.model or "the model"
        detail = (
            f"{what} of {settings.provider} takes no such request; {DEFAULT_CHAT_MODEL} stands in its place"
        )
        return [Loss("changed", "chat model", detail)]
    losses = []
    if settings.base_url:
        detail = "A request names no server; send it to the one that the project names"
        losses.append(Loss("left out", "address of the chat model", detail))
    return losses


def _name(name: str) -> str:
    """Return a name of the form that the API takes: up to 64 of letters, digits, `_` and `-`."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:64] or "Response"


def _free_name(name: str, taken: Collection[str]) -> str:
    wanted = found = _name(name)
    number = 2
    while found in taken:
        found, number = f"{wanted[:60]}_{number}", number + 1
    return found


def _tools(snapshot: ProjectSnapshot, losses: list[Loss]) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    for tool in snapshot.tools:
        parameters = parse_json(tool.parameters)
        if not parameters.ok or not isinstance(parameters.value, dict):
            losses.append(
                Loss("left out", f"tool {tool.name}", "Its parameters are not a JSON Schema object")
            )
            continue
        name = _free_name(tool.name, {each["function"]["name"] for each in tools})
        if name != tool.name:
            losses.append(
                Loss("changed", f"tool {tool.name}", f"The API takes no such name; it is called {name}")
            )
        function = {"name": name, "description": tool.description, "parameters": parameters.value}
        tools.append({"type": "function", "function": function})
    if tools:
        losses.append(
            Loss(
                "left out",
                "simulated tool results",
                "A request defines tools; what they return is up to your code",
            )
        )
    return tools


def _decisions(snapshot: ProjectSnapshot, stage: Any) -> dict[str, Any]:
    settings = snapshot.models.get("decision")
    model = (
        settings.model if settings is not None and settings.provider == "openai" and settings.model else None
    )
    questions = [
        {"type": "predicate", "name": check.name, "instructions": common.question_with_meanings(check)}
        for check in snapshot.guardrail(stage).checks
    ]
    return {"model": model or DEFAULT_DECISION_MODEL, "input": "PUT THE TEXT HERE", "questions": questions}


def _thresholds(snapshot: ProjectSnapshot) -> dict[str, Any]:
    return {
        stage: {
            check.name: {
                "threshold": float(settings.threshold_of(check)),
                "action": "block",
                "comparison": ">=",
            }
            for check in settings.checks
        }
        for stage, settings in (("input", snapshot.input_guardrail), ("output", snapshot.output_guardrail))
        if settings.checks
    }
