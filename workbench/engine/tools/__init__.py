"""Tools: their definitions, what they answer, how a call is executed, and the conversation that calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.lazy import lazy_names

if TYPE_CHECKING:
    from workbench.engine.tools.arguments import ToolArguments, read_arguments
    from workbench.engine.tools.checking import check_compensation, check_tool, check_tools
    from workbench.engine.tools.compensation import Rollback
    from workbench.engine.tools.definitions import Simulation, ToolDefinition
    from workbench.engine.tools.execution import (
        RefusedArgumentsError,
        Tool,
        ToolArgumentsError,
        ToolContext,
        ToolError,
        ToolExecution,
        ToolPolicies,
        UnknownToolError,
        execute_tool,
        run_tool,
    )
    from workbench.engine.tools.kept import kept_back
    from workbench.engine.tools.loop import ToolRun, run_tools
    from workbench.engine.tools.results import (
        Content,
        ImageContent,
        TextContent,
        ToolExecutionResult,
        ToolExecutionResultBuilder,
    )
    from workbench.engine.tools.returns import contents_text
    from workbench.engine.tools.simulation import (
        SimulatedToolError,
        check_answer,
        check_simulation,
        simulated_tool,
        simulated_tools,
    )

__all__ = [
    "Content",
    "ImageContent",
    "RefusedArgumentsError",
    "Rollback",
    "SimulatedToolError",
    "Simulation",
    "TextContent",
    "Tool",
    "ToolArguments",
    "ToolArgumentsError",
    "ToolContext",
    "ToolDefinition",
    "ToolError",
    "ToolExecution",
    "ToolExecutionResult",
    "ToolExecutionResultBuilder",
    "ToolPolicies",
    "ToolRun",
    "UnknownToolError",
    "check_answer",
    "check_compensation",
    "check_simulation",
    "check_tool",
    "check_tools",
    "contents_text",
    "execute_tool",
    "kept_back",
    "read_arguments",
    "run_tool",
    "run_tools",
    "simulated_tool",
    "simulated_tools",
]

_MODULES = (
    "definitions",
    "arguments",
    "checking",
    "compensation",
    "execution",
    "kept",
    "loop",
    "results",
    "returns",
    "simulation",
)

__getattr__, __dir__ = lazy_names(__name__, _MODULES, __all__)
