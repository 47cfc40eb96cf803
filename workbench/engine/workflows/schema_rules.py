"""Finds the rule of the output schema that a diagnostic of a reply speaks of, where somebody wrote it."""

from __future__ import annotations

from workbench.engine.diagnostics import Diagnostic
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.workflows.errors import WorkflowError
from workbench.engine.workflows.translating import output_schema

__all__ = ["schema_rule"]


def schema_rule(snapshot: ProjectSnapshot, diagnostic: Diagnostic) -> Diagnostic:
    """Return the place of the rule that a reply broke, as an info diagnostic in the file that holds the rule.

    `diagnostic` is one of a reply; its `schema_pointer` leads into the output schema with the files that this
    refers to. The answer has `file`, `pointer`, `start` and `end` (half-open, from 0, in the file's text), `line`
    and `column`. It is found in the schema as it is now, whatever schema judged the reply.

    Raises:
        WorkflowError: where the diagnostic names no rule, the schema of today has no such rule, or the project has
            no output schema that can be read.
    """
    if diagnostic.schema_pointer is None:
        raise WorkflowError("this diagnostic comes from no rule of a schema")
    if snapshot.translation.target == "program":
        raise WorkflowError("programs are judged by the tools, not by the output schema")
    place = output_schema(snapshot).place(diagnostic.schema_pointer)
    if place.get("start") is None:
        raise WorkflowError(f"today's schema has no rule at {diagnostic.schema_pointer}")
    return Diagnostic("info", "schema_rule", diagnostic.message, **place)
