"""Executes one tool call, so that whatever the tool or the model does wrong becomes a result or a clear error."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.json_text import parse_json
from workbench.engine.text import nearest
from workbench.engine.tools.arguments import ToolArguments, read_arguments
from workbench.engine.tools.definitions import ToolDefinition
from workbench.engine.tools.results import ToolExecutionResult
from workbench.engine.tools.returns import error_result, error_text, message_content, to_result

if TYPE_CHECKING:
    from workbench.engine.language_models import Message, ToolCall
    from workbench.engine.tools.compensation import Rollback

Policy = Literal["feed-back", "raise"]


class ToolError(Exception):
    """A tool call could not be executed and the policy says to stop. `call` is the call."""

    def __init__(self, message: str, call: ToolCall) -> None:
        super().__init__(message)
        self.call = call


class UnknownToolError(ToolError):
    """The model called a tool that there is not."""


class ToolArgumentsError(ToolError):
    """The model's arguments are no JSON object, or do not fit the tool's schema; `diagnostics` name the places."""

    def __init__(self, message: str, call: ToolCall, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(message, call)
        self.diagnostics = tuple(diagnostics)


class RefusedArgumentsError(ValueError):
    """Raised by a tool whose arguments fit the schema and still cannot be used; handled as bad arguments are."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that can be executed: its definition, and a plain or asynchronous function of its arguments.

    The function gets one dictionary. It may return a `ToolExecutionResult`, contents (one or a list), a text, None
    or any JSON value. Plain functions run in a thread. `undo(execution)`, which may be asynchronous and returns the
    like, takes back what a call that succeeded has done; with it the tool is compensable.
    """

    definition: ToolDefinition
    function: Callable[[dict[str, Any]], Any]
    undo: Callable[[ToolExecution], Any] | None = None

    @property
    def name(self) -> str:
        """The name by which a model calls the tool."""
        return self.definition.name


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where in a conversation a call stands, and what went wrong with it.

    `round_trip` counts the model's answers from 1 (0 outside of a loop), `position` the calls of one answer from 0.
    `error` is what was raised, before its cause was taken.
    """

    call: ToolCall
    round_trip: int = 0
    position: int = 0
    error: BaseException | None = None


Handler = Callable[[BaseException, ToolContext], str]


@dataclass(frozen=True, slots=True)
class ToolPolicies:
    """What happens when something goes wrong; `feed-back` tells the model, `raise` ends the loop.

    `unknown_tool`: the name is not among the tools. `bad_arguments`: no JSON object, or not by the schema, or refused
    by the tool. `execution_error`: the tool raised. `on_bad_arguments(error, context)` and
    `on_execution_error(error, context)` may give the text that the model reads instead of the default one; `error` is
    the cause of what was raised where it has one. What they raise ends the loop. `before(call)` runs for every call,
    unknown tools included; `after(execution)` for every result, not where an exception escapes.
    `max_round_trips` is how often the model may be asked in one loop (LangChain4j's limit is 100). `compensation`
    says which calls are undone when one fails: those of the whole conversation, of the same turn, or none.
    """

    unknown_tool: Policy = "feed-back"
    bad_arguments: Policy = "feed-back"
    execution_error: Policy = "feed-back"
    on_bad_arguments: Handler | None = None
    on_execution_error: Handler | None = None
    before: Callable[[ToolCall], None] | None = None
    after: Callable[[ToolExecution], None] | None = None
    lenient_arguments: bool = True
    coerce_arguments: bool = True
    max_round_trips: int = 100
    compensation: Literal["run", "turn", "off"] = "run"

    def __post_init__(self) -> None:
        """Refuse a policy that there is not: it would be taken for `feed-back` without a word.

        Raises:
            ValueError: an unknown policy, or a loop that never asks the model.
        """
        policies = (self.unknown_tool, self.bad_arguments, self.execution_error)
        if any(policy not in ("feed-back", "raise") for policy in policies):
            raise ValueError(
                "unknown_tool, bad_arguments and execution_error must be 'feed-back' or 'raise'."
            )
        if self.compensation not in ("run", "turn", "off"):
            raise ValueError(f"compensation must be 'run', 'turn' or 'off', not {self.compensation!r}.")
        if self.max_round_trips < 1:
            raise ValueError(f"max_round_trips must be at least 1, not {self.max_round_trips}.")


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """One executed call. `arguments` is None where they could not be read or the tool is unknown.

    `started_at` and `finished_at` are seconds of the monotonic clock around the tool alone, None where it did not
    run. `rolled_back` tells that the call was undone later; then the result is an error. Executions are
    equal by call and result.
    """

    call: ToolCall
    result: ToolExecutionResult
    arguments: ToolArguments | None = field(default=None, compare=False)
    context: ToolContext | None = field(default=None, compare=False)
    started_at: float | None = field(default=None, compare=False)
    finished_at: float | None = field(default=None, compare=False)
    rolled_back: Rollback | None = field(default=None, compare=False)

    @property
    def has_failed(self) -> bool:
        """Whether the result is an error."""
        return self.result.is_error

    @property
    def elapsed_ms(self) -> float | None:
        """How long the tool took, in milliseconds; None without a start and an end."""
        if self.started_at is None or self.finished_at is None:
            return None
        return round((self.finished_at - self.started_at) * 1000, 3)

    def message(self) -> Message:
        """Return the message that the model gets: contents only, no raw result and no attributes.

        Raises:
            ValueError: the result has no contents.
        """
        from workbench.engine.language_models import Message

        content, failed = message_content(self.result), self.result.is_error
        return Message("tool", content, tool_call_id=self.call.id, is_error=failed)

    def to_json(self) -> dict[str, Any]:
        """Return the execution as JSON values, with what was sent and what was not told apart."""
        from workbench.engine.translation.json_values import plain_copy

        arguments = self.arguments
        data = {
            "id": self.call.id,
            "name": self.call.name,
            "arguments_text": self.call.arguments,
            "arguments": None if arguments is None or not arguments.ok else plain_copy(arguments.value),
            "notes": [] if arguments is None else list(arguments.notes),
            "is_error": self.result.is_error,
            "sent": {"contents": [content.to_json() for content in self.result.result_contents()]},
            "not_sent": {
                "result": plain_copy(self.result.result),
                "attributes": plain_copy(dict(self.result.attributes)),
            },
            "elapsed_ms": self.elapsed_ms,
        }
        if self.rolled_back is not None:
            data["rolled_back"] = self.rolled_back.to_json()
        return data


async def execute_tool(
    call: ToolCall,
    tools: Sequence[Tool],
    policies: ToolPolicies | None = None,
    *,
    round_trip: int = 0,
    position: int = 0,
) -> ToolExecution:
    """Execute one call of a model.

    Raises:
        UnknownToolError, ToolArgumentsError: by policy `raise`.
        Exception: what the tool raised, by policy `raise`, or what a handler or hook raised.
    """
    one = _Call(call, tools, policies or ToolPolicies(), ToolContext(call, round_trip, position))
    if one.policies.before is not None:
        one.policies.before(call)
    execution = await one.execute()
    if one.policies.after is not None:
        one.policies.after(execution)
    return execution


async def run_tool(tool: Tool, arguments: dict[str, Any]) -> Any:
    """Call a tool's function, a plain one in a thread, and return what it returns."""
    if inspect.iscoroutinefunction(tool.function):
        return await tool.function(arguments)
    answer = await asyncio.to_thread(tool.function, arguments)
    return await answer if inspect.isawaitable(answer) else answer


@dataclass(frozen=True, slots=True)
class _Call:
    call: ToolCall
    tools: Sequence[Tool]
    policies: ToolPolicies
    context: ToolContext

    async def execute(self) -> ToolExecution:
        tool = next((tool for tool in self.tools if tool.name == self.call.name), None)
        if tool is None:
            return self.unknown()
        arguments = self.read(tool)
        if not arguments.ok:
            return self.refused(arguments)
        began = time.monotonic()
        try:
            answer = await run_tool(tool, arguments.value)
            # A lazy text that fails is a failure of the tool, so it is asked for here.
            result = to_result(answer)
            message_content(result)
        except RefusedArgumentsError as error:
            result = self.told(error, self.policies.bad_arguments, self.policies.on_bad_arguments)
        except Exception as error:
            result = self.told(error, self.policies.execution_error, self.policies.on_execution_error)
        return ToolExecution(self.call, result, arguments, self.context, began, time.monotonic())

    def told(self, error: Exception, policy: Policy, handler: Handler | None) -> ToolExecutionResult:
        """Return what the model is told of an exception; by policy, or by the handler's will, it goes on."""
        if handler is not None:
            return error_result(self.handled(handler, error))
        if policy == "raise":
            raise error
        return error_result(error_text(error))

    def handled(self, handler: Handler, error: Exception) -> str:
        context = ToolContext(self.call, self.context.round_trip, self.context.position, error)
        text: Any = handler(error.__cause__ or error, context)
        if not isinstance(text, str):
            # Said with the failure behind it, which a later complaint about an empty result would hide.
            message = f"The error handler of {self.call.name!r} gave {type(text).__name__}, not a text."
            raise TypeError(message) from error
        return text

    def unknown(self) -> ToolExecution:
        name, names = self.call.name, [tool.name for tool in self.tools]
        close = nearest(name, names)
        hint = f" Did you mean {close!r}?" if close else ""
        text = f"There is no tool {name!r}.{hint} The tools are: {', '.join(names) or 'none'}."
        if self.policies.unknown_tool == "raise":
            raise UnknownToolError(text, self.call)
        return ToolExecution(self.call, error_result(text), context=self.context)

    def read(self, tool: Tool) -> ToolArguments:
        schema = parse_json(tool.definition.parameters)
        if not schema.ok:
            return ToolArguments({}, schema.diagnostics)
        return read_arguments(
            self.call.arguments,
            schema.value,
            lenient=self.policies.lenient_arguments,
            coerce=self.policies.coerce_arguments,
        )

    def refused(self, arguments: ToolArguments) -> ToolExecution:
        from workbench.engine.translation.wording import list_diagnostics

        text = f"The arguments of {self.call.name} are not valid:\n{list_diagnostics(arguments.diagnostics)}"
        error = ToolArgumentsError(text, self.call, arguments.diagnostics)
        result = self.told(error, self.policies.bad_arguments, self.policies.on_bad_arguments)
        return ToolExecution(self.call, result, arguments, self.context)
