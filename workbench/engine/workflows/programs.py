"""Lets a project's requests become programs over its tools, and evaluates them with the simulated tools."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.engine.events import RunEvent
from workbench.engine.json_text import dumps, parse_json
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.workflows.errors import WorkflowError, settle

if TYPE_CHECKING:
    from workbench.engine.history import Run
    from workbench.engine.tools import Tool, ToolDefinition
    from workbench.engine.translation import ProgramFunction, ProgramValidator
    from workbench.engine.translation.settings import Target, TranslationSettings

# The title of program runs from before runs stored their target; it told nothing of the request.
_OLD_TITLE = "Translate to a program"


def program_validator(snapshot: ProjectSnapshot) -> ProgramValidator:
    """Return what judges programs over the project's tools; its text, the API, is shown to the model.

    Raises:
        WorkflowError: where there is no tool, a tool's schema is wrong, or its name is none that a program can call.
    """
    from workbench.engine.translation import ProgramValidator

    if not snapshot.tools:
        raise WorkflowError("the project has no tools, so there is nothing that a program could call")
    return settle(lambda: ProgramValidator([_function(tool) for tool in snapshot.tools]))


def as_program(snapshot: ProjectSnapshot) -> ProjectSnapshot:
    """Return a project whose requests become programs, this once: its own prompts, which ask for a value, are left out."""
    return _retargeted(snapshot, "program")


def with_target(snapshot: ProjectSnapshot, target: Target) -> ProjectSnapshot:
    """Return a project whose requests become `target`; where that is another than its own, its prompts ask for the
    wrong thing and are left out."""
    return snapshot if snapshot.translation.target == target else _retargeted(snapshot, target)


def _retargeted(snapshot: ProjectSnapshot, target: Target) -> ProjectSnapshot:
    settings = replace(snapshot.translation, target=target, request_prompt=None, repair_prompt=None)
    return replace(snapshot, translation=settings)


def target_of(run: Run) -> Target:
    """Return what the request of a stored translation became, also for runs that did not store it yet."""
    stored = run.inputs.get("target")
    if stored is None:
        evaluated = any(event.kind.startswith("program_") for event in run.events)
        stored = "program" if evaluated or run.summary.title == _OLD_TITLE else "value"
    return "program" if stored == "program" else "value"


def program_settings(settings: TranslationSettings) -> TranslationSettings:
    """Return settings as they are for programs, which have no JSON Schema: what needs one, and the rules for a value,
    do not apply. In the modes `schema` and `tool` a program is asked for as a JSON object."""
    return replace(
        settings,
        mode="json" if settings.mode in ("schema", "tool") else settings.mode,
        strip_nulls="off" if settings.strip_nulls == "schema" else settings.strip_nulls,
        rules=(),
    )


def _function(tool: ToolDefinition) -> ProgramFunction:
    """Describe a tool as a function: its properties are the parameters, in their order, required ones first."""
    from workbench.engine.tools import check_tool
    from workbench.engine.translation import ProgramFunction, ProgramParameter

    problems = [d for d in check_tool(tool, [tool.name]) if d.node == "parameters" and d.severity == "error"]
    if problems:
        raise WorkflowError(problems[0].message, problems)
    needed = _schema(tool).get("required") or ()
    parameters = [
        ProgramParameter(name, dict(schema) if isinstance(schema, Mapping) else schema, name in needed)
        for name, schema in _parameters(tool)
    ]
    return ProgramFunction(tool.name, tuple(parameters), tool.description)


def _schema(tool: ToolDefinition) -> Mapping[str, Any]:
    schema = parse_json(tool.parameters).value
    return schema if isinstance(schema, Mapping) else {}


def _parameters(tool: ToolDefinition) -> list[tuple[str, Any]]:
    """Return the properties of a tool's arguments; positional arguments need the required ones in front."""
    schema = _schema(tool)
    properties, needed = schema.get("properties") or {}, schema.get("required") or ()
    return sorted(properties.items(), key=lambda item: item[0] not in needed)


async def evaluate_with_tools(
    snapshot: ProjectSnapshot, program: Any, *, on_event: Callable[[RunEvent], None], began: float
) -> str:
    """Evaluate a program with the project's simulated tools; return why it failed, nothing where it did not.

    The events are `program_call` for each call, `program_step` for each step, and `program_result` at the end;
    `translation.replay_program` folds them. `began` is when the run began, on the monotonic clock.
    """
    run = _Evaluation(snapshot, on_event, began)
    return await run.evaluate(program)


class _CallFailedError(Exception):
    """A tool gave an error; the message names the step and the tool."""


class _Evaluation:
    def __init__(self, snapshot: ProjectSnapshot, on_event: Callable[[RunEvent], None], began: float) -> None:
        self.snapshot = snapshot
        self.on_event = on_event
        self.began = began
        self.step = 0

    def emit(self, event_kind: str, /, **data: Any) -> None:
        self.on_event(RunEvent(event_kind, round(time.monotonic() - self.began, 6), data))

    async def evaluate(self, program: Any) -> str:
        from workbench.engine.tools import simulated_tools
        from workbench.engine.translation import evaluate_program_async

        self.emit("program_started", steps=len(program["@steps"]))
        try:
            tools = simulated_tools(self.snapshot.tools)
            functions = {tool.name: self.function(tool) for tool in tools}
            value = await evaluate_program_async(program, functions, on_step=self.step_done)
        except (_CallFailedError, ValueError) as error:
            self.emit("program_result", outcome="tool_error", value=None, message=str(error))
            return str(error)
        self.emit("program_result", outcome="ok", value=_plain(value), message="")
        return ""

    def step_done(self, index: int, value: Any) -> None:
        self.step = index + 1
        self.emit("program_step", step=index, value=_plain(value))

    def function(self, tool: Tool) -> Callable[..., Any]:
        names = [name for name, _schema in _parameters(tool.definition)]

        async def call(*arguments: Any) -> Any:
            return await self.call(tool, names, arguments)

        return call

    async def call(self, tool: Tool, names: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Call one tool; its raw result is the value, else its text."""
        from workbench.engine.language_models import ToolCall
        from workbench.engine.tools import ToolPolicies, contents_text, execute_tool

        given = {name: _plain(value) for name, value in zip(names, arguments, strict=False)}
        made = ToolCall(f"step-{self.step}", tool.name, dumps(given))
        # A program's values have their types already: nothing is mended or converted.
        policies = ToolPolicies(lenient_arguments=False, coerce_arguments=False)
        execution = await execute_tool(made, [tool], policies)
        text = contents_text(execution.result)
        self.emit(
            "program_call",
            step=self.step,
            name=tool.name,
            arguments=[_plain(value) for value in arguments],
            is_error=execution.has_failed,
            text=text,
            elapsed_ms=execution.elapsed_ms,
        )
        if execution.has_failed:
            raise _CallFailedError(f"step {self.step}, {tool.name}: {text}")
        return text if execution.result.result is None else execution.result.result


def _plain(value: Any) -> Any:
    from workbench.engine.translation.json_values import plain_copy

    return plain_copy(value)
