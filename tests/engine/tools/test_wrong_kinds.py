"""What has the wrong kind is refused when it is given, not later where nobody sees why."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from workbench.engine.language_models import Completion, Message, ToolCall
from workbench.engine.tools import (
    ImageContent,
    TextContent,
    Tool,
    ToolDefinition,
    ToolExecutionResult,
    ToolPolicies,
    execute_tool,
    run_tools,
)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ToolExecutionResult.builder().result_text_supplier("text"),
        lambda: ToolExecutionResult.builder().is_error("no"),
        lambda: ToolExecutionResult.builder().attributes([1]),
        lambda: TextContent(None),
        lambda: ImageContent(data=b"bytes"),
        lambda: ToolPolicies(unknown_tool="ignore"),
        lambda: ToolPolicies(compensation="all"),
        lambda: ToolPolicies(max_round_trips=0),
    ],
)
def test_a_wrong_kind_is_a_value_error(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"is|takes|holds|must"):
        make()


class Grid:
    """Compares element by element, as arrays do, so that its comparison is no truth value."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        return NoTruth()


class NoTruth:
    def __bool__(self) -> bool:
        raise ValueError("ambiguous")


def test_results_whose_raw_objects_cannot_be_compared_are_equal_only_with_the_same_object() -> None:
    grid = Grid()
    first = ToolExecutionResult.builder().result_text("a").result(grid).build()
    assert first == ToolExecutionResult.builder().result_text("a").result(grid).build()
    assert first != ToolExecutionResult.builder().result_text("a").result(Grid()).build()


def test_a_tool_that_returns_something_endless_does_not_hang() -> None:
    loop: list[Any] = []
    loop.append(loop)
    tool = Tool(ToolDefinition("loop"), lambda arguments: loop)
    execution = asyncio.run(execute_tool(ToolCall("1", "loop", "{}"), [tool]))
    assert json.loads(execution.result.result_text()) == ["<list that holds itself>"]


class Scripted:
    def __init__(self, *script: Completion) -> None:
        self.script = list(script)

    async def complete(self, messages: Any, **options: Any) -> Completion:
        return self.script.pop(0)


@pytest.mark.parametrize(("reason", "called"), [("length", False), ("tool_calls", True)])
def test_arguments_that_were_cut_off_are_not_completed(reason: str, called: bool) -> None:
    given: list[Any] = []
    schema = '{"type": "object", "properties": {"n": {"type": "integer"}}}'
    tool = Tool(ToolDefinition("pay", "", schema), given.append)
    call = Completion("", reason, tool_calls=(ToolCall("1", "pay", '{"n": 12'),))
    run = asyncio.run(run_tools(Scripted(call, Completion("done", "stop")), [Message("user", "x")], [tool]))
    assert bool(given) is called
    assert run.executions[0].result.is_error is not called
