"""Asks a model what it is and what to expect of it, without sending anything, for the words under the panes."""

from __future__ import annotations

from collections.abc import Callable

from workbench.engine.model_settings import ModelSettings
from workbench.gui.models.model_title import model_title
from workbench.gui.shell.session import Session


def describe_decisions(session: Session, settings: ModelSettings, on_done: Callable[[str], None]) -> None:
    """Call `on_done` with `name. expectation` of a decision model, or with why it cannot be used."""
    root, secrets = session.snapshot().root, session.secrets

    async def describe() -> str:
        from workbench.engine.decisions import open_decision_model

        model = open_decision_model(settings, root=root, secrets=secrets)
        try:
            info = await model.describe()
        finally:
            await model.aclose()
        moving = " The name may point to another version tomorrow." if info.moving else ""
        return f"{model_title(settings)}. {info.expectation}{moving}"

    _ask(session, describe, settings, on_done, "describe-decisions")


def describe_chat(session: Session, settings: ModelSettings, on_done: Callable[[str], None]) -> None:
    """Call `on_done` with `name (place). expectation` of a language model, or with why it cannot be used."""
    root, secrets = session.snapshot().root, session.secrets

    async def describe() -> str:
        from workbench.engine.language_models import open_language_model

        model = open_language_model(settings, root=root, secrets=secrets)
        try:
            description = await model.describe()
        finally:
            await model.aclose()
        return str(description.one_line())

    _ask(session, describe, settings, on_done, "describe-chat")


def _ask(
    session: Session,
    describe: Callable[..., object],
    settings: ModelSettings,
    on_done: Callable[[str], None],
    key: str,
) -> None:
    session.jobs.run_async(
        describe,
        on_done,
        lambda error: on_done(f"{model_title(settings)} cannot be used: {error}"),
        key=key,
    )
