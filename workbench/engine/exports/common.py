"""Losses that several targets share, worded once."""

from __future__ import annotations

from dataclasses import replace

from workbench.engine.exports.base import Loss
from workbench.engine.exports.variables import FlatPrompt
from workbench.engine.guardrails.settings import CheckSettings, GuardrailSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.schemas import bundled_text, schema_files


def plural(number: int, word: str) -> str:
    """Return a count with its word, such as `1 check` or `3 checks`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def question_with_meanings(check: CheckSettings) -> str:
    """Return the question with what yes and no mean on lines below it, for formats with one text a check."""
    lines = [check.question]
    if check.yes_means:
        lines.append(f"Yes means: {check.yes_means}")
    if check.no_means:
        lines.append(f"No means: {check.no_means}")
    return "\n".join(lines)


def all_checks(snapshot: ProjectSnapshot) -> list[tuple[GuardrailSettings, CheckSettings]]:
    """Return the checks of both stages, each with its guardrail."""
    guardrails = (snapshot.input_guardrail, snapshot.output_guardrail)
    return [(guardrail, check) for guardrail in guardrails for check in guardrail.checks]


def output_schema_text(snapshot: ProjectSnapshot) -> str:
    """Return the text of the output schema as one file: what it refers to in other files is put into it."""
    assert snapshot.output_schema is not None
    return bundled_text(snapshot.output_schema.text, "output.schema.json", schema_files(snapshot))


def schema_problem(snapshot: ProjectSnapshot) -> str | None:
    """Return why the output schema cannot be used, `None` where it can or where there is none."""
    from workbench.engine.schemas import JsonSchema, SchemaError

    if snapshot.output_schema is None:
        return None
    try:
        JsonSchema.parse(output_schema_text(snapshot))
    except SchemaError as error:
        return f"The output schema cannot be used: {error}".rstrip(".").replace(".; ", "; ")
    return None


def without_rules(snapshot: ProjectSnapshot) -> tuple[ProjectSnapshot, list[Loss]]:
    """Return the project without the checks that ask no model, and a loss for each, for formats without such."""
    losses, guardrails = [], []
    for guardrail in (snapshot.input_guardrail, snapshot.output_guardrail):
        for check in guardrail.checks:
            if check.rule is not None:
                detail = f"It asks no model, and this format has only questions to one: {check.question}"
                losses.append(Loss("left out", f"{check.kind} check {check.name}", detail))
        asking = tuple(check for check in guardrail.checks if check.rule is None)
        guardrails.append(replace(guardrail, checks=asking))
    return replace(snapshot, input_guardrail=guardrails[0], output_guardrail=guardrails[1]), losses


def meanings_joined(snapshot: ProjectSnapshot) -> list[Loss]:
    """Return the loss of formats without a place for what yes and no mean."""
    count = sum(1 for _, check in all_checks(snapshot) if check.yes_means or check.no_means)
    if not count:
        return []
    return [
        Loss(
            "changed",
            "yes and no meanings",
            f"Joined to the question of {plural(count, 'check')} as one text",
        )
    ]


def decision_model_changed(snapshot: ProjectSnapshot) -> list[Loss]:
    """Return the loss of formats that cannot run the project's decision model."""
    if not all_checks(snapshot):
        return []
    settings = snapshot.models.get("decision")
    if settings is not None and settings.provider in ("openai", "system-one"):
        return []
    name = "embedded" if settings is None else settings.provider
    return [
        Loss(
            "changed",
            "decision model",
            f"The {name} model cannot run there; name another and tune the thresholds again",
        )
    ]


def prompt_losses(snapshot: ProjectSnapshot, prompt: FlatPrompt) -> list[Loss]:
    """Return what a flat template with named variables loses of the project's template."""
    options = snapshot.template
    losses = []
    if prompt.renamed:
        pairs = ", ".join(f"{v.name} = {v.path}" for v in prompt.renamed)
        losses.append(
            Loss("changed", "placeholder paths", f"The caller passes the values found at the paths: {pairs}")
        )
    if prompt.fixed:
        losses.append(
            Loss("changed", "contexts and fields", f"Put in as fixed text: {', '.join(prompt.fixed)}")
        )
    if options.escape != "none":
        losses.append(
            Loss("left out", "escaper", f"Values are inserted as they are, not escaped with {options.escape}")
        )
    if prompt.optional:
        names = ", ".join(prompt.optional)
        losses.append(
            Loss("runs differently", "optional placeholders", f"A missing {names} does not drop its lines")
        )
    for body in prompt.unknown:
        losses.append(
            Loss("changed", f"placeholder {body}", "Nothing gives it a value; it stands there as text")
        )
    if options.expand_parameters:
        detail = "Placeholders inside the values stay as they are; fill them before the call"
        losses.append(Loss("runs differently", "placeholders in parameters", detail))
    if snapshot.graph is not None:
        losses.append(Loss("left out", "object graph", "Only messages are written"))
    return losses


def left_out(snapshot: ProjectSnapshot, *, template: bool = False, translation: bool = False,
             parameters: bool = False, tools: bool = False, chat: bool = False) -> list[Loss]:  # fmt: skip
    """Return losses for whole parts of a project that a format has no place for; cases have one nowhere."""
    losses = []
    if chat and "chat" in snapshot.models:
        losses.append(Loss("left out", "chat model", "The caller chooses the model that answers"))
    if snapshot.cases:
        detail = "They belong to the project, not to the running program"
        losses.append(Loss("left out", "labelled cases", detail))
    if template and snapshot.messages:
        count = plural(len(snapshot.messages), "template message")
        losses.append(Loss("left out", count, "This format holds no prompt"))
    if parameters and snapshot.parameters_schema is not None:
        losses.append(
            Loss("left out", "parameters schema", "No place for it; parameters stay with the caller")
        )
    if translation and snapshot.output_schema is not None:
        losses.append(
            Loss("left out", "translation", "No place for the output schema, the repairs and the rules")
        )
    if tools and snapshot.tools:
        losses.append(Loss("left out", plural(len(snapshot.tools), "tool"), "No place for tool definitions"))
    return losses
