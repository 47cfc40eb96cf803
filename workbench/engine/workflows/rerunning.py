"""Runs what a stored run was started with again, with today's project, so that both can be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.engine.events import RunEvent
from workbench.engine.guardrails.settings import Stage
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.workflows.checking import check_project
from workbench.engine.workflows.errors import WorkflowError
from workbench.engine.workflows.guarding import Loop, loop_messages, run_loop, was_guarded
from workbench.engine.workflows.models import chat_settings, decision_settings
from workbench.engine.workflows.programs import target_of, with_target
from workbench.engine.workflows.prompt_text import PromptText
from workbench.engine.workflows.rendering import render_project
from workbench.engine.workflows.tooling import run_project_tools
from workbench.engine.workflows.translating import translate_project

if TYPE_CHECKING:
    from workbench.engine.history import HistoryStore, Run
    from workbench.engine.secrets import Secrets

RUNS_AGAIN = frozenset({"translate", "check", "tool"})
"""The kinds of runs that can be run again."""

_RECENT = 100


async def run_again(
    snapshot: ProjectSnapshot,
    history: HistoryStore,
    run_id: int,
    *,
    model_name: str | None = None,
    parameter_set: str | None = None,
    secrets: Secrets | None = None,
    on_event: Callable[[RunEvent], None] | None = None,
) -> int:
    """Run a stored run again with today's project and return the number of the new one, which is stored below it.

    A request becomes what it became then: a value, or a program. A guarded response is guarded again, from the stored
    response and user message on. `model_name` is the decision model for checks, else the chat model. `parameter_set` is
    that of the first run where none is given. `on_event` hears nothing of checks that are run once.

    Raises:
        KeyError: where there is no such run.
        WorkflowError: where its kind cannot be run again, the project has no longer what it needs, or the new run could
            not be stored.
        DecisionError, LanguageModelError: where the model fails.
    """
    run = history.run(run_id)
    kind, inputs = run.summary.kind, run.inputs
    if kind not in RUNS_AGAIN:
        raise WorkflowError(f"run {run_id} is of the kind {kind}, which cannot be run again")
    newest = max((each.id for each in history.runs(limit=1)), default=0)
    chosen = parameter_set or inputs.get("parameter_set")
    options: dict[str, Any] = {
        "model_name": model_name,
        "history": history,
        "secrets": secrets,
        "parent": run_id,
    }
    request = str(inputs.get("request", ""))
    if was_guarded(run):
        loop = _loop(snapshot, run, history, model_name, chosen, secrets)
        await run_loop(loop, on_event or (lambda _event: None))
    elif kind == "check":
        stage: Stage = "output" if inputs.get("stage") == "output" else "input"
        text = PromptText.from_inputs(inputs)
        await check_project(snapshot, stage, text, user_message=inputs.get("user_message"), **options)
    elif kind == "tool":
        await run_project_tools(
            snapshot,
            request,
            with_prompt=bool(inputs.get("with_prompt", True)),
            parameter_set=chosen,
            on_event=on_event,
            **options,
        )
    else:
        snapshot = with_target(snapshot, target_of(run))
        await translate_project(snapshot, request, parameter_set=chosen, on_event=on_event, **options)
    # Another process may have begun a run of the kind meanwhile; it does not stand below this one.
    recent = history.runs(kind=kind, limit=_RECENT)
    made = [each.id for each in recent if each.id > newest and each.parent_run == run_id]
    if not made:
        raise WorkflowError(f"the new run is not in the history: {history.problem}")
    return made[0]


def _loop(
    snapshot: ProjectSnapshot,
    run: Run,
    history: HistoryStore,
    model_name: str | None,
    parameter_set: str | None,
    secrets: Secrets | None,
) -> Loop:
    """Return what guards a stored response again; the model that is named answers the reprompts."""
    from workbench.engine.secrets import Secrets

    if not snapshot.output_guardrail.checks:
        raise WorkflowError("the project has no output checks, so there is nothing to guard a response with")
    user_message = run.inputs.get("user_message")
    rendering = render_project(snapshot, parameter_set, validate=False)
    return Loop(
        snapshot,
        str(run.inputs.get("text") or ""),
        user_message,
        loop_messages(rendering, user_message),
        decision_settings(snapshot, None),
        chat_settings(snapshot, model_name),
        secrets if secrets is not None else Secrets.for_user(),
        history,
        parameter_set,
        run.summary.id,
    )
