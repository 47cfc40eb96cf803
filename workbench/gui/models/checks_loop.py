"""Starts the response loop of the project that is open, as one job that the toolbar can stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.engine.workflows.guarding import Loop, LoopOutcome, loop_messages, run_loop

if TYPE_CHECKING:
    from workbench.engine.events import RunEvent
    from workbench.gui.shell.session import Session

KIND = "guard"


def start_loop(
    session: Session,
    response: str,
    user_message: str | None,
    tell: Callable[[RunEvent], None] | None = None,
    parent: int | None = None,
) -> Loop | None:
    """Guard a response as the one job of kind `guard` and return what it runs with; `None` where it cannot begin.

    A blank response is first asked of the chat model. `tell` hears every event, on the window's thread. `parent` is the
    stored run that is run again; the new run is stored below it.
    """
    if session.project is None:
        return None
    if KIND in session.running():
        session.status.emit("A response is being guarded; wait for it, or stop it.")
        return None
    snapshot = session.snapshot()
    if not snapshot.output_guardrail.checks:
        session.status.emit("The project has no output checks, so there is nothing to guard a response with.")
        return None
    loop = Loop(
        snapshot,
        response,
        user_message or None,
        loop_messages(session.rendering(), user_message),
        session.decision_settings(),
        session.chat_settings(),
        session.secrets,
        session.history if session.records else None,
        session.parameter_set,
        parent,
    )
    post = session.jobs.post

    def happened(event: RunEvent) -> None:
        if tell is not None:
            post(tell, event)

    def done(outcome: LoopOutcome) -> None:
        session.end_run(KIND, outcome)
        session.history_changed.emit()

    def broke(error: BaseException) -> None:
        session.end_run(KIND, failure=session.scrub(str(error) or type(error).__name__))
        session.history_changed.emit()

    session.begin_run(KIND)
    session.jobs.run_async(lambda: run_loop(loop, happened), done, broke, key=KIND)
    return loop
