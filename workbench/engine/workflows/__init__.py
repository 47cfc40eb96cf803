"""What a person does with a project, in one call each: fill the prompt, run its checks, translate a request.

The window and the command line stand on these functions, so that both do the same. They take a frozen
`ProjectSnapshot`; what they send and receive is appended to a history while it happens.
"""

from workbench.engine.workflows.checking import check_project
from workbench.engine.workflows.errors import WorkflowError
from workbench.engine.workflows.models import (
    EMBEDDED,
    LOCAL,
    chat_settings,
    decision_settings,
    describe_chat_model,
    describe_decision_model,
)
from workbench.engine.workflows.recording import history_path, replay_run
from workbench.engine.workflows.rendering import (
    GRAPH_FILE,
    OUTPUT_SCHEMA_FILE,
    PARAMETERS_SCHEMA_FILE,
    ProjectRendering,
    render_project,
    validate_project,
)
from workbench.engine.workflows.tooling import run_project_tools
from workbench.engine.workflows.translating import (
    branch_translation,
    output_schema,
    preview_translation,
    translate_project,
)

__all__ = [
    "EMBEDDED",
    "GRAPH_FILE",
    "LOCAL",
    "OUTPUT_SCHEMA_FILE",
    "PARAMETERS_SCHEMA_FILE",
    "ProjectRendering",
    "WorkflowError",
    "branch_translation",
    "chat_settings",
    "check_project",
    "decision_settings",
    "describe_chat_model",
    "describe_decision_model",
    "history_path",
    "output_schema",
    "preview_translation",
    "render_project",
    "replay_run",
    "run_project_tools",
    "translate_project",
    "validate_project",
]
