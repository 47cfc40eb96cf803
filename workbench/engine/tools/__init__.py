"""Tools: their definitions, what they answer, how a call is executed, and the conversation that calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.lazy import lazy_names

if TYPE_CHECKING:
    from workbench.engine.tools.arguments import ToolArguments, read_arguments
    from workbench.engine.tools.definitions import Simulation, ToolDefinition
    from workbench.engine.tools.execution import (
        Tool,
        ToolArgumentsError,
        ToolError,
        ToolExecution,
        ToolPolicies,
        UnknownToolError,
        check_tools,
        execute_tool,
    )
    from workbench.engine.tools.loop import ToolRun, run_tools
    from workbench.engine.tools.results import (
        Content,
        ImageContent,
        TextContent,
        ToolExecutionResult,
        ToolExecutionResultBuilder,
    )
    from workbench.engine.tools.simulation import (
        SimulatedToolError,
        check_simulation,
        simulated_tool,
        simulated_tools,
    )

__all__ = [
    "Content",
    "ImageContent",
    "SimulatedToolError",
    "Simulation",
    "TextContent",
    "Tool",
    "ToolArguments",
    "ToolArgumentsError",
    "ToolDefinition",
    "ToolError",
    "ToolExecution",
    "ToolExecutionResult",
    "ToolExecutionResultBuilder",
    "ToolPolicies",
    "ToolRun",
    "UnknownToolError",
    "check_simulation",
    "check_tools",
    "execute_tool",
    "read_arguments",
    "run_tools",
    "simulated_tool",
    "simulated_tools",
]

_MODULES = (
    "definitions",
    "arguments",
    "execution",
    "loop",
    "results",
    "simulation",
)

__getattr__, __dir__ = lazy_names(__name__, _MODULES, __all__)
