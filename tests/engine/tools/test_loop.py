"""The conversation with tools, driven by a scripted model."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import pytest

from tests.engine.translation.scripted import ScriptedModel, roles
from workbench.engine.events import RunEvent
from workbench.engine.language_models import (
    Completion,
    Cost,
    LanguageModelError,
    Message,
    ToolCall,
    Usage,
)
from workbench.engine.tools import (
    Simulation,
    Tool,
    ToolDefinition,
    ToolPolicies,
    ToolRun,
    UnknownToolError,
    run_tools,
    simulated_tools,
)
from workbench.engine.workflows import replay_tools

FREE = ToolDefinition("echo")
ECHO = Tool(FREE, lambda arguments: json.dumps(arguments))


def calls(*named: tuple[str, str, str], usage: Usage | None = None) -> Completion:
    return Completion(
        "", "tool_calls", usage=usage or Usage(), tool_calls=tuple(ToolCall(*call) for call in named)
    )


def run(model: Any, tools: list[Tool], **more: Any) -> ToolRun:
    return asyncio.run(run_tools(model, [Message("user", "go")], tools, **more))


def test_calls_are_executed_and_their_results_told_until_the_model_answers() -> None:
    model = ScriptedModel(
        calls(("1", "echo", '{"x": 1}'), usage=Usage(10, 2)), Completion("done", "stop", usage=Usage(20, 3))
    )
    result = run(model, [ECHO])
    assert (result.outcome, result.text, result.round_trips, result.usage) == ("ok", "done", 2, Usage(30, 5))
    assert roles(model.sent[1]) == ["user", "assistant", "tool"]
    assert (model.sent[1][2].content, model.sent[1][2].tool_call_id) == ('{"x": 1}', "1")
    assert roles(result.messages) == ["user", "assistant", "tool", "assistant"]
    assert model.options[0]["tools"] == [FREE]


def test_a_model_that_calls_nothing_answers_at_once() -> None:
    assert run(ScriptedModel("hello"), [ECHO]).executions == ()


def test_equal_calls_and_other_argument_orders_do_not_collapse_T115_D15() -> None:  # noqa: N802
    model = ScriptedModel(
        calls(("a", "echo", '{"x":1,"y":2}'), ("b", "echo", '{"y":2,"x":1}'), ("c", "echo", '{"x":1,"y":2}')),
        "ok",
    )
    result = run(model, [ECHO])
    tool_messages = [m for m in model.sent[1] if m.role == "tool"]
    assert [m.tool_call_id for m in tool_messages] == ["a", "b", "c"]
    assert tool_messages[1].content == '{"y": 2, "x": 1}'
    assert len(result.executions) == 3


def test_several_calls_of_one_turn_run_together() -> None:
    tools = simulated_tools([ToolDefinition("slow", simulate=Simulation(text="x", delay_ms=200))])
    result = run(ScriptedModel(calls(*[(str(i), "slow", "{}") for i in range(5)]), "ok"), tools)
    assert len(result.executions) == 5
    ends = [each.finished_at for each in result.executions]
    assert max(each.started_at or 0 for each in result.executions) < min(
        end for end in ends if end is not None
    )


def test_an_unknown_tool_lets_the_model_try_again_T114() -> None:  # noqa: N802
    model = ScriptedModel(calls(("1", "ecko", "{}")), calls(("2", "echo", "{}")), "ok")
    result = run(model, [ECHO])
    assert result.outcome == "ok"
    assert [e.has_failed for e in result.executions] == [True, False]
    assert "echo" in model.sent[1][2].text()


def test_by_policy_an_unknown_tool_ends_the_loop_T114() -> None:  # noqa: N802
    events: list[RunEvent] = []
    with pytest.raises(UnknownToolError):
        run(
            ScriptedModel(calls(("1", "ecko", "{}"))),
            [ECHO],
            policies=ToolPolicies(unknown_tool="raise"),
            on_event=events.append,
        )
    assert (events[-1].kind, events[-1].data["outcome"]) == ("finished", "tool_error")


def test_round_trips_are_limited() -> None:
    model = ScriptedModel(*[calls((str(i), "echo", "{}")) for i in range(9)])
    result = run(model, [ECHO], policies=ToolPolicies(max_round_trips=3))
    assert (result.outcome, model.calls) == ("limit", 3)
    assert "3" in result.message


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        pytest.param(LanguageModelError("status", "HTTP 500"), "model_error", id="error"),
        pytest.param(Completion("", "stop", refusal="no"), "refused", id="refusal"),
        pytest.param(Completion("half", "length"), "truncated", id="length"),
    ],
)
def test_how_the_model_can_end_it(entry: Any, outcome: str) -> None:
    result = run(ScriptedModel(calls(("1", "echo", "{}")), entry), [ECHO])
    assert result.outcome == outcome
    assert len(result.executions) == 1


def test_a_call_that_failed_makes_what_was_used_unknown_live_and_in_a_replay() -> None:
    paid = replace(calls(("1", "echo", "{}"), usage=Usage(10, 2)), cost=Cost(0.01, "EUR"))
    events: list[RunEvent] = []
    failed = run(
        ScriptedModel(paid, LanguageModelError("status", "HTTP 500")), [ECHO], on_event=events.append
    )
    assert (failed.usage, failed.cost) == (Usage(None, None), None)
    again = replay_tools(events)
    assert (again.input_tokens, again.output_tokens, again.cost) == (None, None, None)
    # As long as the call goes on, what the earlier ones used is known.
    under_way = replay_tools(events[:-1])
    assert (under_way.input_tokens, under_way.cost) == (10, Cost(0.01, "EUR"))


def test_cancel_ends_a_running_call_and_keeps_what_there_is() -> None:
    async def scene() -> tuple[ToolRun, float]:
        cancel = asyncio.Event()
        model = ScriptedModel(calls(("1", "echo", "{}")), 30.0, "late")
        task = asyncio.ensure_future(run_tools(model, [Message("user", "go")], [ECHO], cancel=cancel))
        await asyncio.sleep(0.15)
        began = time.monotonic()
        cancel.set()
        return await task, time.monotonic() - began

    result, seconds = asyncio.run(scene())
    assert seconds < 10  # of the 30 s that the model would have taken
    assert (result.outcome, len(result.executions)) == ("cancelled", 1)


def test_events_tell_what_was_sent_and_what_was_not() -> None:
    events: list[RunEvent] = []
    tools = simulated_tools([ToolDefinition("order", simulate=Simulation(json='{"id": 7}'))])
    run(ScriptedModel(calls(("1", "order", "{}")), "ok"), tools, on_event=events.append)
    kinds = [event.kind for event in events if event.kind != "delta"]
    assert kinds == ["started", "sent", "reply", "tool_result", "sent", "reply", "finished"]
    told = next(event.data for event in events if event.kind == "tool_result")
    assert told["sent"] == {"contents": [{"type": "text", "text": '{"id": 7}'}]}
    assert told["not_sent"] == {"result": {"id": 7}, "attributes": {}}
    for event in events:
        assert json.loads(json.dumps(event.data)) == event.data


def test_the_callers_messages_stay_as_they_are() -> None:
    messages = [Message("user", "go")]
    asyncio.run(run_tools(ScriptedModel(calls(("1", "echo", "{}")), "ok"), messages, [ECHO]))
    assert messages == [Message("user", "go")]
