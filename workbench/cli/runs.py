"""What the commands that call a model share: the history, the secrets, and the event loop."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from workbench.cli.errors import CliError
from workbench.cli.output import complain
from workbench.engine.history import HistoryError, HistoryStore
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.secrets import Secrets, origin_of
from workbench.engine.workflows import history_path

T = TypeVar("T")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that every command with a model has."""
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="a model of the project's [models] table; for translate also `local`, and `environment` for the one that"
        " OPENAI_..., AZURE_OPENAI_... or ANTHROPIC_... variables describe",
    )
    parser.add_argument(
        "--accept-origin",
        metavar="URL",
        action="append",
        default=[],
        help="allow the project's secret to be sent to this origin",
    )
    parser.add_argument(
        "--no-history", action="store_true", help="do not store the run in the project's history"
    )


def secrets_for(arguments: argparse.Namespace, snapshot: ProjectSnapshot) -> Secrets:
    """Return the user's secrets; those that the project names may also go to the origins the call accepts.

    Raises:
        CliError: where an accepted origin is not an address.
    """
    secrets = Secrets.for_user()
    for url in arguments.accept_origin:
        try:
            origin = origin_of(url)
        except ValueError as error:
            raise CliError(f"--accept-origin {url}: {error}") from error
        names = {model.secret for model in snapshot.models.values() if model.secret is not None}
        for name in names | _environment_key(arguments, snapshot):
            secrets.accept(name, origin)
    return secrets


def _environment_key(arguments: argparse.Namespace, snapshot: ProjectSnapshot) -> set[str]:
    """Return the variable whose key `--model environment` would send."""
    from workbench.engine.workflows import ENVIRONMENT

    if getattr(arguments, "model", None) != ENVIRONMENT or ENVIRONMENT in snapshot.models:
        return set()
    from workbench.engine.language_models import LanguageModelError, settings_from_environment

    try:
        return {settings_from_environment(os.environ)[1]}
    except LanguageModelError:  # the run itself says what is missing
        return set()


def open_history(
    root: Path | None, arguments: argparse.Namespace, secrets: Secrets | None
) -> HistoryStore | None:
    """Open the project's history; where it cannot be kept, say so and return `None`."""
    if root is None or getattr(arguments, "no_history", False):
        return None
    try:
        store = HistoryStore.open(history_path(root), scrub=secrets.scrub if secrets is not None else None)
    except HistoryError as error:
        complain(f"warning: this run is not stored: {error}")
        return None
    if store.notice:
        complain(f"warning: {store.notice}")
    return store


def close_history(history: HistoryStore | None) -> None:
    """Close the project's history, and say where it could not take in the run."""
    if history is not None:
        if history.problem:
            complain(f"warning: this run is not stored whole: {history.problem}")
        history.close()


def wait_for(start: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end; Ctrl+C cancels it, which closes its connections."""
    return asyncio.run(start())
