"""Runs a conversation with tools: ask the model, execute what it calls, tell it the results, until it answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.engine.events import RunEvent
from workbench.engine.prices import Cost, total_cost
from workbench.engine.tools.compensation import roll_back
from workbench.engine.tools.execution import Tool, ToolExecution, ToolPolicies, execute_tool
from workbench.engine.tools.returns import contents_text

if TYPE_CHECKING:
    from workbench.engine.language_models import Completion, Message, Usage


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A conversation with tools that has ended.

    `outcome` is `ok`, `refused`, `truncated`, `limit` (the model was asked as often as is allowed), `model_error` or
    `cancelled`. `text` is the final answer, `messages` the whole conversation with it, `executions` every executed
    call in the order in which the model made them; a call that was undone is there as it was rewritten. `usage` and
    `cost` are unknown (None) where one call did not tell it, or failed. `immediate` tells that `text` is a tool's result, not the model's.
    """

    outcome: str
    text: str
    messages: tuple[Message, ...]
    executions: tuple[ToolExecution, ...]
    message: str = ""
    usage: Usage | None = None
    round_trips: int = 0
    immediate: bool = False
    cost: Cost | None = None


async def run_tools(
    model: Any,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    *,
    policies: ToolPolicies | None = None,
    max_tokens: int | None = None,
    on_event: Callable[[RunEvent], Any] | None = None,
    cancel: Any = None,
) -> ToolRun:
    """Let a model answer with the help of tools.

    Several calls in one turn run concurrently; their results are told in the order of the calls, each by its place
    in the turn and the call's own id, so equal calls do not collapse. A turn whose calls all go to tools that return
    immediately, and all succeed, ends the run with their texts. When a call fails, calls that succeeded and can
    be undone are, the last one first; the messages that told their results say so from then on. The
    caller's list is not changed. `cancel` is anything with `is_set()`.

    Raises:
        ToolError: by policy `raise` (and what a tool itself raised, by its policy); what can be undone is, first.
        asyncio.CancelledError: the surrounding task was cancelled; the events say so first.
    """
    run = _ToolLoop(
        model, list(messages), list(tools), policies or ToolPolicies(), max_tokens, on_event, cancel
    )
    return await run.run()


@dataclass(slots=True)
class _ToolLoop:
    model: Any
    messages: list[Message]
    tools: list[Tool]
    policies: ToolPolicies
    max_tokens: int | None
    on_event: Callable[[RunEvent], Any] | None
    cancel: Any
    executions: list[ToolExecution] = field(default_factory=list)
    places: list[int | None] = field(default_factory=list)
    """Where in `messages` each execution is told; None where a raised error kept it from being told."""
    usages: list[Usage] = field(default_factory=list)
    costs: list[Cost | None] = field(default_factory=list)
    unanswered: bool = False
    """Whether the last call gave no answer: what it used is unknown, since servers may charge for it."""
    began: float = field(default_factory=time.monotonic)
    trips: int = 0

    async def run(self) -> ToolRun:
        from workbench.engine.translation.record import messages_to_json

        self.emit(
            "started",
            messages=messages_to_json(self.messages),
            tools=[tool.name for tool in self.tools],
            model=str(getattr(self.model, "name", "")),
        )
        try:
            while self.trips < self.policies.max_round_trips:
                ended = await self.round_trip()
                if ended is not None:
                    return ended
            limit = self.policies.max_round_trips
            return self.end("limit", "", f"The model still called tools after {limit} round trips.")
        except asyncio.CancelledError:
            self.end("cancelled", "", "The run was stopped.")
            raise
        except Exception as error:
            self.end("tool_error", "", str(error))
            raise

    async def round_trip(self) -> ToolRun | None:
        from workbench.engine.language_models import Message
        from workbench.engine.translation.calls import CallStoppedError, ModelFailedError

        self.trips += 1
        try:
            completion = await self.ask()
        except ModelFailedError as error:
            return self.end("model_error", "", error.message)
        except CallStoppedError:
            return self.end("cancelled", "", "The run was stopped.")
        if not completion.tool_calls:
            self.messages.append(Message("assistant", completion.text))
            return self.answered(completion)
        self.messages.append(Message("assistant", completion.text, tuple(completion.tool_calls)))
        first = len(self.executions)
        await self.execute(completion)
        if self.cancel is not None and self.cancel.is_set():
            return self.end("cancelled", "", "The run was stopped.")
        turn = self.executions[first:]
        failed = next((each for each in turn if each.has_failed), None)
        if failed is not None:
            await self.compensate(failed.call.name, first)
        elif all(self.returns_immediately(each) for each in turn):
            return self.end("ok", "\n".join(contents_text(each.result) for each in turn), "", immediate=True)
        return None

    async def ask(self) -> Completion:
        from workbench.engine.translation.calls import call_model
        from workbench.engine.translation.record import completion_to_json, messages_to_json

        trip = self.trips
        self.emit("sent", round_trip=trip, messages=messages_to_json(self.messages))
        self.unanswered = True
        completion = await call_model(
            self.model,
            self.messages,
            {"tools": [tool.definition for tool in self.tools] or None, "max_tokens": self.max_tokens},
            on_delta=(lambda piece: self.emit("delta", round_trip=trip, text=piece))
            if self.on_event
            else None,
            cancel=self.cancel,
        )
        self.unanswered = False
        self.usages.append(completion.usage)
        self.costs.append(completion.cost)
        self.emit(
            "reply",
            round_trip=trip,
            elapsed_ms=completion.elapsed_ms,
            **completion_to_json(completion),
        )
        return completion

    async def execute(self, completion: Completion) -> None:
        """Execute the calls of one answer together and tell their results in the order of the calls."""
        policies = self.policies
        if completion.finish_reason == "length":  # what is missing at the end of the arguments is not a slip
            policies = replace(policies, lenient_arguments=False)
        tasks = [
            asyncio.ensure_future(
                execute_tool(call, self.tools, policies, round_trip=self.trips, position=position)
            )
            for position, call in enumerate(completion.tool_calls)
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        raised = next((each for each in outcomes if isinstance(each, Exception)), None)
        first = len(self.executions)
        for outcome in outcomes:
            if isinstance(outcome, ToolExecution):
                self.tell(outcome, told=raised is None)
        if raised is not None:
            name = completion.tool_calls[outcomes.index(raised)].name
            await self.compensate(name, first)
            raise raised

    def tell(self, execution: ToolExecution, *, told: bool) -> None:
        self.executions.append(execution)
        self.places.append(len(self.messages) if told else None)
        if told:
            self.messages.append(execution.message())
        self.emit("tool_result", round_trip=self.trips, told=told, **execution.to_json())

    async def compensate(self, because: str, first: int) -> None:
        """Undo what succeeded, the last call first, and rewrite what was told of it. `first` begins the turn."""
        if self.policies.compensation == "off":
            return
        by_name = {tool.name: tool for tool in self.tools if tool.undo is not None}
        begin = first if self.policies.compensation == "turn" else 0
        for index in reversed(range(begin, len(self.executions))):
            execution = self.executions[index]
            if execution.has_failed or execution.call.name not in by_name:
                continue
            undone = await roll_back(execution, by_name[execution.call.name], because)
            self.executions[index] = undone
            place = self.places[index]
            if place is not None:
                self.messages[place] = undone.message()
            self.emit("rolled_back", round_trip=self.trips, index=index, **undone.to_json())

    def returns_immediately(self, execution: ToolExecution) -> bool:
        return any(
            tool.name == execution.call.name and tool.definition.return_immediately for tool in self.tools
        )

    def answered(self, completion: Completion) -> ToolRun:
        if completion.refusal is not None:
            return self.end("refused", completion.text, f"The model refused: {completion.refusal}")
        if completion.finish_reason == "length":
            return self.end("truncated", completion.text, "The answer was cut off at the token limit.")
        return self.end("ok", completion.text, "")

    def end(self, outcome: str, text: str, message: str, *, immediate: bool = False) -> ToolRun:
        self.emit(
            "finished",
            outcome=outcome,
            text=text,
            message=message,
            round_trips=self.trips,
            immediate=immediate,
        )
        return ToolRun(
            outcome,
            text,
            tuple(self.messages),
            tuple(self.executions),
            message,
            self.usage(),
            self.trips,
            immediate,
            total_cost([*self.costs, None] if self.unanswered else self.costs),
        )

    def usage(self) -> Usage | None:
        from workbench.engine.language_models import Usage

        if not self.usages:
            return None
        total = self.usages[0]
        for usage in self.usages[1:]:
            total = total + usage
        return total + Usage() if self.unanswered else total

    def emit(self, event_kind: str, /, **data: Any) -> None:
        """Hand an event on; what a listener raises never ends the run."""
        if self.on_event is None:
            return
        try:
            self.on_event(RunEvent(event_kind, round(time.monotonic() - self.began, 6), data))
        except Exception:
            return
