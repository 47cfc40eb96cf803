"""Leads from a diagnostic of a reply to the rule of the output schema that it speaks of."""

from __future__ import annotations

from workbench.engine.diagnostics import Diagnostic
from workbench.gui.shell.places import place_of
from workbench.gui.shell.session import Session


def show_rule(session: Session, diagnostic: Diagnostic) -> None:
    """Mark the rule in the schema's editor, or say in the status bar where it is or why it cannot be shown."""
    from workbench.engine.workflows import WorkflowError, schema_rule

    snapshot = session.snapshot()
    try:
        rule = schema_rule(snapshot, diagnostic)
    except WorkflowError as error:
        session.status.emit(f"The rule cannot be shown: {error}")
        return
    place = place_of(rule, snapshot, session.parameter_set)
    if place is None:
        session.status.emit(f"The rule is in {rule.file}, line {rule.line}, at {rule.pointer}")
        return
    session.go_to(place)
