"""Runs the checks of a project on a text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.engine.guardrails.settings import GuardrailSettings, Stage
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.workflows.errors import WorkflowError, settle
from workbench.engine.workflows.models import decision_settings
from workbench.engine.workflows.prompt_text import PromptText
from workbench.engine.workflows.recording import Recorder, titled

if TYPE_CHECKING:
    from workbench.engine.decisions import DecisionError, DecisionModel
    from workbench.engine.guardrails import GuardrailResult
    from workbench.engine.history import HistoryStore
    from workbench.engine.secrets import Secrets


async def check_project(
    snapshot: ProjectSnapshot,
    stage: Stage,
    text: str | PromptText,
    *,
    user_message: str | None = None,
    model: DecisionModel | None = None,
    model_name: str | None = None,
    history: HistoryStore | None = None,
    secrets: Secrets | None = None,
    live_key: str | None = None,
    parent: int | None = None,
) -> GuardrailResult:
    """Run all checks of a stage on `text` in one call and store the run.

    At the output stage `text` is the response and `user_message` the message it answers. Of a prompt of several
    messages a model gets the lines that name the roles; the other checks, and every position and count in the
    result, are about the messages alone (`PromptText.plain`). `live_key` marks a
    run that happened by itself while somebody typed: of those only the last is kept. `parent` is the stored run
    that is run again; the new run is stored below it.

    Raises:
        WorkflowError: where the stage has no checks.
        DecisionError: where the model cannot be reached or its whole answer is unusable; `found` tells what the
            checks said that ask no model. Where all checks are such, no model is opened.
    """
    from workbench.engine.guardrails import guardrail_from_settings

    settings = snapshot.guardrail(stage)
    if not settings.checks:
        raise WorkflowError(f"the project has no {stage} checks; add one under [[guardrails.{stage}.checks]]")
    opened = model is None and settings.asks_model
    if opened:
        model = _open_model(snapshot, settings, text, model_name, secrets)
    name = model.name if model is not None and settings.asks_model else ""
    recorder = Recorder(history)
    prompt = text if isinstance(text, PromptText) else None
    sent = text if isinstance(text, str) else text.sent
    asked = {"stage": stage, "text": sent, "user_message": user_message, "checks": check_rows(settings)}
    stored = asked if prompt is None else {**asked, "messages": prompt.to_json()}
    recorder.start(
        "check",
        # The first messages of a project's prompts are the same in all; the last one tells its runs apart.
        titled(stage.title(), sent if prompt is None else prompt.messages[-1][1]),
        stored,
        model=name,
        live_key=live_key,
        parent=None if parent is None else (parent, None),
    )
    try:
        recorder.add("check_request", asked)
        guardrail: Any = settle(lambda: guardrail_from_settings(settings, model, stage))
        if stage == "input":
            plain = None if prompt is None else prompt.plain
            result: GuardrailResult = await guardrail.validate(sent, rule_text=plain)
        else:
            result = await guardrail.validate(sent, user_message=user_message)
        if prompt is not None:
            result = _in_plain(result, prompt)
        recorder.add("check_result", result.to_record())
        summary = result.verdict + (f" by {', '.join(result.failed_checks)}" if result.failed_checks else "")
        recorder.finish(result.verdict, summary, model=result.model_version or result.model_name or name)
        return result
    except BaseException as error:
        recorder.fail(error)
        raise
    finally:
        if opened and model is not None:
            await model.aclose()


def _open_model(
    snapshot: ProjectSnapshot,
    settings: GuardrailSettings,
    text: str | PromptText,
    model_name: str | None,
    secrets: Secrets | None,
) -> DecisionModel:
    """Open the model; where that fails, the error says what is known of the text without one."""
    from workbench.engine.decisions import DecisionError, open_decision_model

    try:
        return open_decision_model(
            decision_settings(snapshot, model_name), root=snapshot.root, secrets=secrets
        )
    except DecisionError as error:
        raise with_rule_findings(error, settings, text) from error.__cause__


def _in_plain(result: GuardrailResult, prompt: PromptText) -> GuardrailResult:
    """Return a result on `prompt.sent` with its places in `prompt.plain`, which is what people are shown."""
    checks = tuple(
        replace(check, span=None if check.span is None else prompt.plain_span(*check.span))
        for check in result.checks
    )
    return replace(result, checks=checks)


def with_rule_findings(
    error: DecisionError, settings: GuardrailSettings, text: str | PromptText
) -> DecisionError:
    """Return `error` with what those checks of a guardrail say of `text` that ask no model."""
    from workbench.engine.guardrails import is_blank, rule_result, with_findings

    sent, plain = (text, text) if isinstance(text, str) else (text.sent, text.plain)
    checks = () if is_blank(sent) else settings.checks
    found = tuple(rule_result(check, plain) for check in checks if check.rule is not None)
    return with_findings(error, found)


def check_rows(settings: GuardrailSettings) -> list[dict[str, Any]]:
    """Return the checks of a guardrail as the history keeps them: all that is needed to ask them again."""
    from workbench.engine.projects.check_rows import rule_values

    return [
        {
            "name": check.name,
            "question": check.question,
            "threshold": settings.threshold_of(check),
            "yes_means": check.yes_means,
            "no_means": check.no_means,
            "kind": check.kind,
            **(rule_values(check.rule) if check.rule is not None else {}),
        }
        for check in settings.checks
    ]
