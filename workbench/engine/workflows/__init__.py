"""What a person does with a project, in one call each: fill the prompt, run its checks, translate a request.

The window and the command line stand on these functions, so that both do the same. They take a frozen
`ProjectSnapshot`; what they send and receive is appended to a history while it happens.
"""

from workbench.engine.workflows.attempt_run import run_of_attempt
from workbench.engine.workflows.checking import check_project, check_rows
from workbench.engine.workflows.errors import WorkflowError
from workbench.engine.workflows.guard_record import GuardFold, GuardRecord, GuardStep, replay_guard
from workbench.engine.workflows.guarding import (
    Loop,
    LoopOutcome,
    loop_messages,
    run_loop,
    was_guarded,
)
from workbench.engine.workflows.models import (
    EMBEDDED,
    ENVIRONMENT,
    LOCAL,
    chat_settings,
    decision_settings,
    describe_chat_model,
    describe_decision_model,
    environment_settings,
)
from workbench.engine.workflows.programs import as_program, target_of, with_target
from workbench.engine.workflows.prompt_text import PromptText
from workbench.engine.workflows.recording import Recorder, history_path
from workbench.engine.workflows.regression import RunDifference, compare_runs
from workbench.engine.workflows.rendering import (
    GRAPH_FILE,
    OUTPUT_SCHEMA_FILE,
    PARAMETERS_SCHEMA_FILE,
    ProjectRendering,
    render_project,
    validate_project,
)
from workbench.engine.workflows.replaying import (
    PlainRecord,
    replay_events,
    replay_run,
    replay_translation,
    step_cuts,
)
from workbench.engine.workflows.rerunning import RUNS_AGAIN, run_again
from workbench.engine.workflows.schema_rules import schema_rule
from workbench.engine.workflows.tool_record import ToolEntry, ToolFold, ToolRecord, replay_tools
from workbench.engine.workflows.tooling import run_project_tools
from workbench.engine.workflows.translating import (
    branch_translation,
    output_schema,
    preview_translation,
    translate_project,
)

__all__ = [
    "EMBEDDED",
    "ENVIRONMENT",
    "GRAPH_FILE",
    "LOCAL",
    "OUTPUT_SCHEMA_FILE",
    "PARAMETERS_SCHEMA_FILE",
    "RUNS_AGAIN",
    "GuardFold",
    "GuardRecord",
    "GuardStep",
    "Loop",
    "LoopOutcome",
    "PlainRecord",
    "ProjectRendering",
    "PromptText",
    "Recorder",
    "RunDifference",
    "ToolEntry",
    "ToolFold",
    "ToolRecord",
    "WorkflowError",
    "as_program",
    "branch_translation",
    "chat_settings",
    "check_project",
    "check_rows",
    "compare_runs",
    "decision_settings",
    "describe_chat_model",
    "describe_decision_model",
    "environment_settings",
    "history_path",
    "loop_messages",
    "output_schema",
    "preview_translation",
    "render_project",
    "replay_events",
    "replay_guard",
    "replay_run",
    "replay_tools",
    "replay_translation",
    "run_again",
    "run_loop",
    "run_of_attempt",
    "run_project_tools",
    "schema_rule",
    "step_cuts",
    "target_of",
    "translate_project",
    "validate_project",
    "was_guarded",
    "with_target",
]
