"""Executes one tool call, so that whatever the tool or the model does wrong becomes a result or a clear error."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from workbench.engine.diagnostics import Diagnostic, has_errors
from workbench.engine.json_text import dumps, parse_json
from workbench.engine.text import nearest
from workbench.engine.tools.arguments import ToolArguments, read_arguments
from workbench.engine.tools.definitions import ToolDefinition
from workbench.engine.tools.results import ImageContent, TextContent, ToolExecutionResult

if TYPE_CHECKING:
    from workbench.engine.language_models import Message, ToolCall

Policy = Literal["feed-back", "raise"]

DONE = "Done."
"""What the model reads of a tool that returns nothing."""


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


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that can be executed: its definition, and a plain or asynchronous function of its arguments.

    The function gets one dictionary. It may return a `ToolExecutionResult`, contents (one or a list), a text, None
    or any JSON value. Plain functions run in a thread.
    """

    definition: ToolDefinition
    function: Callable[[dict[str, Any]], Any]

    @property
    def name(self) -> str:
        """The name by which a model calls the tool."""
        return self.definition.name


@dataclass(frozen=True, slots=True)
class ToolPolicies:
    """What happens when something goes wrong; `feed-back` tells the model, `raise` ends the loop.

    `unknown_tool`: the name is not among the tools. `bad_arguments`: no JSON object, or not by the schema.
    `execution_error`: the tool raised. `on_bad_arguments(error, call)` and `on_execution_error(error, call)` may
    give the text that the model reads instead of the default one; what they raise ends the loop. `before(call)` runs
    for every call, unknown tools included; `after(execution)` for every result, not where an exception
    escapes. `max_round_trips` is how often the model may be asked in one loop (LangChain4j's limit is 100).
    """

    unknown_tool: Policy = "feed-back"
    bad_arguments: Policy = "feed-back"
    execution_error: Policy = "feed-back"
    on_bad_arguments: Callable[[Exception, ToolCall], str] | None = None
    on_execution_error: Callable[[BaseException, ToolCall], str] | None = None
    before: Callable[[ToolCall], None] | None = None
    after: Callable[[ToolExecution], None] | None = None
    lenient_arguments: bool = True
    coerce_arguments: bool = True
    max_round_trips: int = 100


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """One executed call. `arguments` is None where they could not be read or the tool is unknown.

    `elapsed_ms` is the time of the tool alone. Two executions are equal by call and result.
    """

    call: ToolCall
    result: ToolExecutionResult
    arguments: ToolArguments | None = field(default=None, compare=False)
    elapsed_ms: float = field(default=0.0, compare=False)

    @property
    def has_failed(self) -> bool:
        """Whether the result is an error."""
        return self.result.is_error

    def message(self) -> Message:
        """Return the message that the model gets: contents only, no raw result and no attributes.

        Raises:
            ValueError: the result has no contents.
        """
        from workbench.engine.language_models import Message

        return Message("tool", message_content(self.result), tool_call_id=self.call.id)

    def to_json(self) -> dict[str, Any]:
        """Return the execution as JSON values, with what was sent and what was not told apart."""
        from workbench.engine.translation.json_values import plain_copy

        arguments = self.arguments
        return {
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


def message_content(result: ToolExecutionResult) -> Any:
    """Return contents as a message holds them: one text as it is, anything else as a tuple of parts.

    Raises:
        ValueError: there are no contents (a supplier gave none), so there is nothing that could be sent.
    """
    contents = result.result_contents()
    if not contents:
        raise ValueError("A tool result without contents cannot be sent to a model.")
    if len(contents) == 1 and isinstance(contents[0], TextContent):
        return contents[0].text
    return tuple(
        {"type": "text", "text": content.text}
        if isinstance(content, TextContent)
        else {"type": "image_url", "image_url": {"url": content.address}}
        for content in contents
    )


async def execute_tool(
    call: ToolCall, tools: Sequence[Tool], policies: ToolPolicies | None = None
) -> ToolExecution:
    """Execute one call of a model.

    Raises:
        UnknownToolError, ToolArgumentsError: by policy `raise`.
        Exception: what the tool raised, by policy `raise`, or what a handler raised.
    """
    policies = policies or ToolPolicies()
    if policies.before is not None:
        policies.before(call)
    execution = await _execute(call, tools, policies)
    if policies.after is not None:
        policies.after(execution)
    return execution


async def _execute(call: ToolCall, tools: Sequence[Tool], policies: ToolPolicies) -> ToolExecution:
    tool = next((tool for tool in tools if tool.name == call.name), None)
    if tool is None:
        return _unknown(call, [tool.name for tool in tools], policies)
    arguments = _arguments(call, tool, policies)
    if not arguments.ok:
        return _refused(call, arguments, policies)
    began = time.monotonic()
    try:
        answer = await _run(tool, arguments.value)
        # A lazy text that fails is a failure of the tool, so it is asked for here.
        result = to_result(answer)
        message_content(result)
    except Exception as error:
        if policies.execution_error == "raise" and policies.on_execution_error is None:
            raise
        text = error_text(error) if policies.on_execution_error is None else ""
        if policies.on_execution_error is not None:
            text = policies.on_execution_error(error.__cause__ or error, call)
        result = _error_result(text)
    return ToolExecution(call, result, arguments, round((time.monotonic() - began) * 1000, 3))


async def _run(tool: Tool, arguments: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(tool.function):
        return await tool.function(arguments)
    answer = await asyncio.to_thread(tool.function, arguments)
    return await answer if inspect.isawaitable(answer) else answer


def _unknown(call: ToolCall, names: list[str], policies: ToolPolicies) -> ToolExecution:
    close = nearest(call.name, names)
    listed = ", ".join(names) or "none"
    message = f"There is no tool {call.name!r}."
    hint = f" Did you mean {close!r}?" if close else ""
    text = f"{message}{hint} The tools are: {listed}."
    if policies.unknown_tool == "raise":
        raise UnknownToolError(text, call)
    return ToolExecution(call, _error_result(text))


def _arguments(call: ToolCall, tool: Tool, policies: ToolPolicies) -> ToolArguments:
    schema = parse_json(tool.definition.parameters)
    if not schema.ok:
        return ToolArguments({}, schema.diagnostics)
    return read_arguments(
        call.arguments,
        schema.value,
        lenient=policies.lenient_arguments,
        coerce=policies.coerce_arguments,
    )


def _refused(call: ToolCall, arguments: ToolArguments, policies: ToolPolicies) -> ToolExecution:
    from workbench.engine.translation.wording import list_diagnostics

    text = f"The arguments of {call.name} are not valid:\n{list_diagnostics(arguments.diagnostics)}"
    error = ToolArgumentsError(text, call, arguments.diagnostics)
    if policies.on_bad_arguments is not None:
        text = policies.on_bad_arguments(error, call)
    elif policies.bad_arguments == "raise":
        raise error
    return ToolExecution(call, _error_result(text), arguments)


def _error_result(text: str) -> ToolExecutionResult:
    return ToolExecutionResult.builder().is_error(True).result_text(text).build()


def error_text(error: BaseException) -> str:
    """Return what a model reads of an exception: the message of its cause or of itself, else its type's name."""
    shown = error.__cause__ or error
    return str(shown).strip() or type(shown).__name__


def to_result(answer: Any) -> ToolExecutionResult:
    """Return what a tool returned as a result: results and contents as they are, texts verbatim, None as a word
    for success, everything else as JSON text with the object itself as the raw result.

    Raises:
        ValueError: the object is not JSON.
    """
    builder = ToolExecutionResult.builder()
    if isinstance(answer, ToolExecutionResult):
        return answer
    if isinstance(answer, (TextContent, ImageContent)):
        return builder.result_contents([answer]).build()
    is_contents = isinstance(answer, (list, tuple)) and len(answer) > 0
    if is_contents and all(isinstance(item, (TextContent, ImageContent)) for item in answer):
        return builder.result_contents(answer).build()
    if answer is None:
        return builder.result_text(DONE).build()
    text = answer if isinstance(answer, str) else dumps(_json_like(answer))
    return builder.result(answer).result_text(text).build()


def _json_like(answer: Any) -> Any:
    from workbench.engine.translation.json_values import plain_copy

    return answer if isinstance(answer, (bool, int, float)) else plain_copy(answer)


def check_tools(tools: Sequence[ToolDefinition]) -> list[Diagnostic]:
    """Return what is wrong with tool definitions: names, doubled names, schemas, simulations."""
    from workbench.engine.tools.simulation import check_simulation

    found: list[Diagnostic] = []
    seen: set[str] = set()
    for definition in tools:
        found += _definition_problems(definition)
        if definition.name in seen:
            found.append(Diagnostic("error", "tool", f"Two tools have the name {definition.name!r}."))
        seen.add(definition.name)
        if definition.simulate is not None:
            found += check_simulation(definition)
    return found


def _definition_problems(definition: ToolDefinition) -> list[Diagnostic]:
    from workbench.engine.schemas import check_schema_text

    found = []
    name = definition.name
    if not name or len(name) > 64 or not all(c.isascii() and (c.isalnum() or c in "_-") for c in name):
        hint = "Use 1 to 64 letters, digits, _ and -, as the providers demand."
        found.append(Diagnostic("error", "tool", f"{name!r} is no name for a tool.", hint=hint))
    problems = check_schema_text(definition.parameters)
    found += [d.at(message=f"Parameters of {name}: {d.message}") for d in problems]
    schema = parse_json(definition.parameters)
    if (
        not has_errors(problems)
        and isinstance(schema.value, Mapping)
        and schema.value.get("type") != "object"
    ):
        hint = 'Begin with {"type": "object", "properties": …}.'
        found.append(
            Diagnostic("error", "tool", f"The parameters of {name} do not describe an object.", hint=hint)
        )
    return found
