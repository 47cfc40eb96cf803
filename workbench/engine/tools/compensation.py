"""Undoes what tools did before another one failed, so that a failed conversation leaves no half of its work behind."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.engine.json_text import dumps, parse_json
from workbench.engine.tools.arguments import read_arguments
from workbench.engine.tools.results import ToolExecutionResult
from workbench.engine.tools.returns import contents_text, error_text, to_result

if TYPE_CHECKING:
    from workbench.engine.tools.execution import Tool, ToolExecution


@dataclass(frozen=True, slots=True)
class Rollback:
    """What became of a call that had succeeded and was undone.

    `undone` is False where undoing failed too. `text` is what undoing answered, or why it failed; `original` is the
    result that the call had; `because` is the name of the call that failed.
    """

    undone: bool
    text: str
    original: ToolExecutionResult
    because: str

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values; the original contents are those that were sent before."""
        contents = [content.to_json() for content in self.original.result_contents()]
        return {"undone": self.undone, "text": self.text, "because": self.because, "contents": contents}


async def roll_back(execution: ToolExecution, tool: Tool, because: str) -> ToolExecution:
    """Undo one call with its tool's `undo`, and return it as rolled back: an error, whose text says so.

    The raw result and the attributes stay. A tool that cannot be undone after all does not raise here: the model
    is told that the effect may remain.
    """
    assert tool.undo is not None
    original = execution.result
    try:
        answer = tool.undo(execution)
        result = to_result(await answer if inspect.isawaitable(answer) else answer)
        undone, text = not result.is_error, contents_text(result)
    except Exception as error:
        undone, text = False, error_text(error)
    name = execution.call.name
    told = (
        f"Rolled back: {name} had succeeded, but {because} failed, so it was undone: {text}"
        if undone
        else f"Not rolled back: {because} failed, and undoing {name} failed too: {text} Its effect may remain."
    )
    rewritten = original.to_builder().result_contents(None).is_error(True).result_text(told).build()
    return replace(execution, result=rewritten, rolled_back=Rollback(undone, text, original, because))


def undo_by(tool: Tool) -> Callable[[ToolExecution], Any]:
    """Return an undo function that calls `tool`.

    It gets what its schema names, taken from the raw result of the call where that is an object, else from the
    arguments of the call; where the schema names nothing, the call's arguments. They are validated as any others.
    """

    async def undo(execution: ToolExecution) -> Any:
        from workbench.engine.tools.execution import run_tool
        from workbench.engine.translation.wording import list_diagnostics

        schema = parse_json(tool.definition.parameters).value
        given = undo_arguments(execution, schema)
        arguments = read_arguments(dumps(given), schema)
        if not arguments.ok:
            problems = list_diagnostics(arguments.diagnostics)
            raise ValueError(f"{tool.name} cannot be called with {dumps(given)}:\n{problems}")
        return await run_tool(tool, arguments.value)

    return undo


def undo_arguments(execution: ToolExecution, schema: Any) -> dict[str, Any]:
    """Return the arguments for the tool that undoes `execution`; see `undo_by`."""
    own = {} if execution.arguments is None else dict(execution.arguments.value)
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not properties:
        return own
    raw = execution.result.result
    known = {**own, **(raw if isinstance(raw, Mapping) else {})}
    return {name: known[name] for name in properties if name in known}
