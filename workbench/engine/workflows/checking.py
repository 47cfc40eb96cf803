"""Runs the checks of a project on a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.engine.guardrails.settings import Stage
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.workflows.errors import WorkflowError, settle
from workbench.engine.workflows.models import decision_settings
from workbench.engine.workflows.recording import Recorder

if TYPE_CHECKING:
    from workbench.engine.decisions import DecisionModel
    from workbench.engine.guardrails import GuardrailResult
    from workbench.engine.history import HistoryStore
    from workbench.engine.secrets import Secrets


async def check_project(
    snapshot: ProjectSnapshot,
    stage: Stage,
    text: str,
    *,
    user_message: str | None = None,
    model: DecisionModel | None = None,
    model_name: str | None = None,
    history: HistoryStore | None = None,
    secrets: Secrets | None = None,
    title: str = "",
    live_key: str | None = None,
) -> GuardrailResult:
    """Run all checks of a stage on `text` in one call and store the run.

    At the output stage `text` is the response and `user_message` the message it answers. `live_key` marks a
    run that happened by itself while somebody typed: of those only the last is kept.

    Raises:
        WorkflowError: where the stage has no checks.
        DecisionError: where the model cannot be reached or its whole answer is unusable.
    """
    from workbench.engine.decisions import open_decision_model
    from workbench.engine.guardrails import guardrail_from_settings

    settings = snapshot.guardrail(stage)
    if not settings.checks:
        raise WorkflowError(f"the project has no {stage} checks; add one under [[guardrails.{stage}.checks]]")
    opened = model is None
    if model is None:
        model = open_decision_model(
            decision_settings(snapshot, model_name), root=snapshot.root, secrets=secrets
        )
    recorder = Recorder(history)
    checks = [
        {
            "name": check.name,
            "question": check.question,
            "threshold": settings.threshold_of(check),
            "yes_means": check.yes_means,
            "no_means": check.no_means,
        }
        for check in settings.checks
    ]
    recorder.start(
        "check",
        title or f"Check {stage}, {len(checks)} check{'s' if len(checks) != 1 else ''}",
        {"stage": stage, "text": text, "user_message": user_message, "checks": checks},
        model=model.name,
        live_key=live_key,
    )
    try:
        recorder.add(
            "check_request", {"stage": stage, "text": text, "user_message": user_message, "checks": checks}
        )
        guardrail: Any = settle(lambda: guardrail_from_settings(settings, model, stage))
        if stage == "input":
            result: GuardrailResult = await guardrail.validate(text)
        else:
            result = await guardrail.validate(text, user_message=user_message)
        recorder.add("check_result", result.to_record())
        summary = result.verdict + (f" by {', '.join(result.failed_checks)}" if result.failed_checks else "")
        recorder.finish(
            result.verdict, summary, model=result.model_version or result.model_name or model.name
        )
        return result
    except BaseException as error:
        recorder.fail(error)
        raise
    finally:
        if opened:
            await model.aclose()
