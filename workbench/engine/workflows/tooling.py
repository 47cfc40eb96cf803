"""Runs the simulated tools of a project with its chat model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.engine.events import RunEvent
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.workflows.errors import WorkflowError
from workbench.engine.workflows.models import open_chat_model
from workbench.engine.workflows.recording import Recorder
from workbench.engine.workflows.translating import filled_messages

if TYPE_CHECKING:
    from workbench.engine.history import HistoryStore
    from workbench.engine.language_models import LanguageModel
    from workbench.engine.secrets import Secrets
    from workbench.engine.tools import ToolRun


async def run_project_tools(
    snapshot: ProjectSnapshot,
    request: str,
    *,
    with_prompt: bool = True,
    model: LanguageModel | None = None,
    model_name: str | None = None,
    parameter_set: str | None = None,
    max_round_trips: int = 20,
    history: HistoryStore | None = None,
    secrets: Secrets | None = None,
    on_event: Callable[[RunEvent], None] | None = None,
    parent: int | None = None,
) -> ToolRun:
    """Let the chat model answer with the help of the project's simulated tools, and store the conversation.

    The filled prompt is sent first (not without `with_prompt`), then `request` as a message of the user, where it
    is not empty. A prompt that ends with a message of the user is sent as it is, so there are two of them then. `parent` is the stored run that is run again; the new run is stored below it.

    Raises:
        WorkflowError: where there is no tool, a tool has no usable simulated answer, the prompt has placeholders
            without a value, there is nothing to send, or no chat model can answer.
    """
    from workbench.engine.language_models import Message
    from workbench.engine.tools import (
        ToolPolicies,
        check_compensation,
        check_simulation,
        run_tools,
        simulated_tools,
    )

    names = [tool.name for tool in snapshot.tools]
    problems = [
        problem
        for tool in snapshot.tools
        for problem in (*check_simulation(tool), *check_compensation(tool, names))
    ]
    if problems or not snapshot.tools:
        raise WorkflowError(problems[0].message if problems else "the project has no tools", problems)
    messages = filled_messages(snapshot, parameter_set) if with_prompt else []
    if request.strip():
        messages.append(Message("user", request))
    if not messages:
        raise WorkflowError("there is nothing to send: write a message, or send the prompt too")
    opened = model is None
    if model is None:
        model = open_chat_model(snapshot, model_name, secrets)
    recorder = Recorder(history)

    def forward(event: RunEvent) -> None:
        recorder.store(event)
        if on_event is not None:
            on_event(event)

    inputs = {"request": request, "with_prompt": with_prompt, "parameter_set": parameter_set, "tools": names}
    try:
        recorder.start(
            "tool",
            f"Tools {', '.join(names)}",
            {**inputs, "model": model_name},
            model=model.name,
            parent=None if parent is None else (parent, None),
        )
        result = await run_tools(
            model,
            messages,
            simulated_tools(snapshot.tools),
            policies=ToolPolicies(max_round_trips=max_round_trips),
            on_event=forward,
        )
        recorder.finish(result.outcome, _summary(result))
        return result
    except BaseException as error:
        recorder.fail(error)
        raise
    finally:
        if opened:
            await model.aclose()


def _summary(result: ToolRun) -> str:
    """Return how many calls there were, how many were undone, and whether a tool had the last word."""
    calls = len(result.executions)
    undone = sum(execution.rolled_back is not None for execution in result.executions)
    facts = [f"{calls} tool call{'s' if calls != 1 else ''}"]
    if undone:
        facts.append(f"{undone} rolled back")
    if result.immediate:
        facts.append("returned at once")
    return ", ".join(facts)
