"""When a call fails, calls that had succeeded are undone, the last one first, and the model is told."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.engine.translation.scripted import ScriptedModel
from workbench.engine.events import RunEvent
from workbench.engine.language_models import Completion, Message, ToolCall
from workbench.engine.tools import (
    Simulation,
    Tool,
    ToolDefinition,
    ToolExecution,
    ToolPolicies,
    ToolRun,
    run_tools,
    simulated_tools,
)


def calls(*names: str) -> Completion:
    return Completion(
        "", "tool_calls", tool_calls=tuple(ToolCall(f"{name}-id", name, '{"n": 1}') for name in names)
    )


def run(model: Any, tools: list[Tool], **more: Any) -> ToolRun:
    return asyncio.run(run_tools(model, [Message("user", "go")], tools, **more))


class Shop:
    """Two things that can be done and undone, one that fails, and a list of all that happened."""

    def __init__(self, *, undo_fails: bool = False) -> None:
        self.log: list[str] = []
        self.undo_fails = undo_fails
        self.tools = [
            Tool(ToolDefinition("book"), self.doing("book"), self.undoing("book")),
            Tool(ToolDefinition("pay"), self.doing("pay"), self.undoing("pay")),
            Tool(ToolDefinition("look"), self.doing("look")),
            Tool(ToolDefinition("fail"), self.failing),
        ]

    def doing(self, name: str) -> Any:
        async def do(arguments: dict[str, Any]) -> dict[str, Any]:
            self.log.append(name)
            return {"done": name}

        return do

    def undoing(self, name: str) -> Any:
        def undo(execution: ToolExecution) -> str:
            assert execution.result.result == {"done": name}
            if self.undo_fails:
                raise OSError("nobody answers")
            self.log.append(f"undo {name}")
            return f"{name} taken back"

        return undo

    def failing(self, arguments: dict[str, Any]) -> Any:
        self.log.append("fail")
        raise ValueError("out of stock")


def tool_messages(model: ScriptedModel, trip: int) -> dict[str | None, Message]:
    return {m.tool_call_id: m for m in model.sent[trip] if m.role == "tool"}


def test_calls_of_earlier_turns_are_undone_in_reverse_and_their_messages_rewritten_A9_20() -> None:  # noqa: N802
    shop, model = Shop(), ScriptedModel(calls("book"), calls("pay", "look"), calls("fail"), "sorry")
    result = run(model, shop.tools)
    assert sorted(shop.log[:3]) == ["book", "look", "pay"]
    assert shop.log[3:] == ["fail", "undo pay", "undo book"]
    before, after = tool_messages(model, 2), tool_messages(model, 3)
    assert before["book-id"].content == '{"done": "book"}'
    assert before["book-id"].is_error is False
    assert after["book-id"].text().startswith("Rolled back: book")
    assert "fail" in after["book-id"].text()
    assert "book taken back" in after["book-id"].text()
    assert after["book-id"].is_error is True
    assert after["look-id"] == before["look-id"]
    assert after["fail-id"].text() == "out of stock"
    assert [e.has_failed for e in result.executions] == [True, True, False, True]
    assert [e.rolled_back is not None for e in result.executions] == [True, True, False, False]
    assert result.executions[0].result.result == {"done": "book"}
    assert result.outcome == "ok"


def test_what_was_undone_is_not_undone_again() -> None:
    shop = Shop()
    run(ScriptedModel(calls("book"), calls("fail"), calls("fail"), "sorry"), shop.tools)
    assert shop.log.count("undo book") == 1


def test_an_unknown_tool_is_a_failure_like_any_other() -> None:
    shop = Shop()
    run(ScriptedModel(calls("book", "nowhere"), "sorry"), shop.tools)
    assert shop.log == ["book", "undo book"]


@pytest.mark.parametrize(
    ("compensation", "undone"),
    [("run", ["undo pay", "undo book"]), ("turn", ["undo pay"]), ("off", [])],
)
def test_how_far_back_it_goes_is_a_policy(compensation: Any, undone: list[str]) -> None:
    shop, model = Shop(), ScriptedModel(calls("book"), calls("pay", "fail"), "sorry")
    run(model, shop.tools, policies=ToolPolicies(compensation=compensation))
    assert [each for each in shop.log if each.startswith("undo")] == undone


def test_what_cannot_be_undone_is_said_to_the_model() -> None:
    shop, model = Shop(undo_fails=True), ScriptedModel(calls("book", "fail"), "sorry")
    result = run(model, shop.tools)
    told = tool_messages(model, 1)["book-id"]
    assert told.text().startswith("Not rolled back")
    assert "nobody answers" in told.text()
    assert told.is_error
    rollback = result.executions[0].rolled_back
    assert rollback is not None
    assert not rollback.undone


def test_an_error_that_ends_the_loop_is_preceded_by_undoing_what_ran_beside_it() -> None:
    shop, events = Shop(), []

    async def late(arguments: dict[str, Any]) -> None:
        await asyncio.sleep(0.02)
        raise ValueError("out of stock")

    tools = [*shop.tools[:3], Tool(ToolDefinition("fail"), late)]
    with pytest.raises(ValueError, match="out of stock"):
        run(
            ScriptedModel(calls("book"), calls("pay", "fail")),
            tools,
            policies=ToolPolicies(execution_error="raise"),
            on_event=events.append,
        )
    assert shop.log == ["book", "pay", "undo pay", "undo book"]
    kinds = [event.kind for event in events]
    assert kinds[-3:] == ["rolled_back", "rolled_back", "finished"]


def test_events_tell_what_was_rolled_back_and_fit_json() -> None:
    events: list[RunEvent] = []
    run(ScriptedModel(calls("book", "fail"), "sorry"), Shop().tools, on_event=events.append)
    (told,) = [event.data for event in events if event.kind == "rolled_back"]
    assert (told["name"], told["id"], told["index"], told["is_error"]) == ("book", "book-id", 0, True)
    assert told["rolled_back"] == {
        "undone": True,
        "text": "book taken back",
        "because": "fail",
        "contents": [{"type": "text", "text": '{"done": "book"}'}],
    }
    assert json.loads(json.dumps(told)) == told


# --- tools of a project -------------------------------------------------------------------------------------

BY_ID = '{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}'


def test_a_project_s_tool_is_undone_by_the_tool_it_names_with_the_id_that_it_gave() -> None:
    tools = simulated_tools(
        [
            ToolDefinition("book", simulate=Simulation(json='{"id": 7, "seat": "4A"}'), compensate="cancel"),
            ToolDefinition("cancel", parameters=BY_ID, simulate=Simulation(text="cancelled")),
            ToolDefinition("broken", simulate=Simulation(error="closed")),
        ]
    )
    result = run(ScriptedModel(calls("book", "broken"), "sorry"), tools)
    assert result.executions[0].result.result_text().endswith("it was undone: cancelled")


def test_arguments_that_do_not_fit_the_undoing_tool_are_said() -> None:
    tools = simulated_tools(
        [
            ToolDefinition("book", simulate=Simulation(text="booked"), compensate="cancel"),
            ToolDefinition("cancel", parameters=BY_ID, simulate=Simulation(text="cancelled")),
            ToolDefinition("broken", simulate=Simulation(error="closed")),
        ]
    )
    text = run(ScriptedModel(calls("book", "broken"), "sorry"), tools).executions[0].result.result_text()
    assert text.startswith("Not rolled back")
    assert "id" in text


@pytest.mark.parametrize(
    ("compensate", "words"),
    [
        (Simulation(text="back on the shelf"), "it was undone: back on the shelf"),
        (Simulation(error="too late"), "too late Its effect may remain."),
    ],
)
def test_what_undoing_answers_may_be_written_with_the_tool(compensate: Simulation, words: str) -> None:
    tools = simulated_tools(
        [
            ToolDefinition("take", simulate=Simulation(text="taken"), compensate=compensate),
            ToolDefinition("broken", simulate=Simulation(error="closed")),
        ]
    )
    text = run(ScriptedModel(calls("take", "broken"), "sorry"), tools).executions[0].result.result_text()
    assert text.endswith(words)


# --- immediate return ---------------------------------------------------------------------------------------

TICKET = ToolDefinition("ticket", simulate=Simulation(text="Ticket 12"), return_immediately=True)
NOTE = ToolDefinition("note", simulate=Simulation(text="Noted"), return_immediately=True)
PLAIN = ToolDefinition("plain", simulate=Simulation(text="plain"))
BROKEN = ToolDefinition("broken", simulate=Simulation(error="closed"), return_immediately=True)


@pytest.mark.parametrize(
    ("names", "text", "round_trips"),
    [
        pytest.param(("ticket",), "Ticket 12", 1, id="one"),
        pytest.param(("ticket", "note"), "Ticket 12\nNoted", 1, id="two"),
        pytest.param(("ticket", "plain"), "the model", 2, id="with one that does not return"),
        pytest.param(("ticket", "broken"), "the model", 2, id="with an error"),
        pytest.param(("broken",), "the model", 2, id="an error alone"),
        pytest.param(("ticket", "nowhere"), "the model", 2, id="with an unknown tool"),
    ],
)
def test_a_tool_may_end_the_conversation_with_its_result_unless_something_failed_A9_20(  # noqa: N802
    names: tuple[str, ...], text: str, round_trips: int
) -> None:
    events: list[RunEvent] = []
    model = ScriptedModel(calls(*names), "the model")
    result = run(model, simulated_tools([TICKET, NOTE, PLAIN, BROKEN]), on_event=events.append)
    assert (result.outcome, result.text, model.calls) == ("ok", text, round_trips)
    assert result.immediate is (round_trips == 1)
    assert events[-1].data["immediate"] is result.immediate
