"""A project's tools run with its chat model, and the conversation is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from workbench.engine.history import HistoryStore
from workbench.engine.language_models import Completion, Message, ToolCall, Usage
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import MessageTemplate
from workbench.engine.text import TextFile
from workbench.engine.tools.definitions import Simulation, ToolDefinition
from workbench.engine.workflows import WorkflowError, run_project_tools

LOOKUP = ToolDefinition(
    "lookup", "Finds an order.", '{"type": "object"}', Simulation(json='{"state": "sent"}')
)


class Caller:
    """Calls `lookup` once, then answers."""

    name = "caller"

    def __init__(self) -> None:
        self.asked: list[list[Message]] = []

    async def complete(self, messages: Sequence[Message], **_options: Any) -> Completion:
        self.asked.append(list(messages))
        if len(self.asked) == 1:
            return Completion(
                "", "tool_calls", usage=Usage(5, 1), tool_calls=(ToolCall("1", "lookup", "{}"),)
            )
        return Completion("It was sent.", "stop", usage=Usage(9, 3))


def snapshot(**changes: Any) -> ProjectSnapshot:
    fields: dict[str, Any] = {
        "messages": (MessageTemplate("system", "Be [%param.mood%]."),),
        "parameter_sets": {"default": TextFile('{"mood": "kind"}')},
        "tools": (LOOKUP,),
    }
    return ProjectSnapshot("shop", **{**fields, **changes})


def run(project: ProjectSnapshot, request: str = "Where is it?", **options: Any) -> tuple[Any, Caller]:
    model: Any = Caller()
    return asyncio.run(run_project_tools(project, request, model=model, **options)), model


def test_the_filled_prompt_goes_first_and_the_tool_s_text_back_to_the_model() -> None:
    result, model = run(snapshot())
    assert (result.outcome, result.text) == ("ok", "It was sent.")
    assert [message.text() for message in model.asked[0]] == ["Be kind.", "Where is it?"]
    assert model.asked[1][-1].role == "tool"
    assert model.asked[1][-1].text() == '{"state": "sent"}'


def test_the_prompt_can_be_left_out() -> None:
    _result, model = run(snapshot(), with_prompt=False)
    assert [message.role for message in model.asked[0]] == ["user"]


def test_the_conversation_is_stored_with_what_was_not_sent() -> None:
    history = HistoryStore.in_memory()
    run(snapshot(), history=history)
    stored = history.run(1)
    assert (stored.summary.kind, stored.summary.outcome, stored.summary.summary) == (
        "tool",
        "ok",
        "1 tool call",
    )
    (execution,) = [event.data for event in stored.events if event.kind == "tool_result"]
    assert execution["not_sent"]["result"] == {"state": "sent"}
    assert stored.inputs["request"] == "Where is it?"
    history.close()


@pytest.mark.parametrize(
    ("changes", "request_text", "options", "words"),
    [
        pytest.param({"tools": ()}, "x", {}, "no tools", id="no tools"),
        pytest.param({"tools": (ToolDefinition("mute"),)}, "x", {}, "no simulation", id="no simulation"),
        pytest.param(
            {"parameter_sets": {"default": TextFile("{}")}}, "x", {}, "no value", id="unfilled prompt"
        ),
        pytest.param({}, " ", {"with_prompt": False}, "nothing to send", id="nothing to send"),
    ],
)
def test_what_cannot_run_is_refused_before_a_model_is_asked(
    changes: dict[str, Any], request_text: str, options: dict[str, Any], words: str
) -> None:
    model: Any = Caller()
    with pytest.raises(WorkflowError, match=words):
        asyncio.run(run_project_tools(snapshot(**changes), request_text, model=model, **options))
    assert model.asked == []
