"""Finds the models that a project names, and what to expect of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.engine.model_settings import CHAT_PROVIDERS, ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.workflows.errors import WorkflowError

if TYPE_CHECKING:
    from workbench.engine.decisions import ModelInfo
    from workbench.engine.language_models import LanguageModel, ModelDescription
    from workbench.engine.secrets import Secrets

EMBEDDED = ModelSettings("embedded", "embedded")
LOCAL = ModelSettings("local", "local")

ENVIRONMENT = "environment"
"""The name by which a person asks for the chat model that environment variables describe."""


def decision_settings(snapshot: ProjectSnapshot, name: str | None = None) -> ModelSettings:
    """Return the settings of the decision model `name`, else of `[models.decision]`, else the embedded one.

    Raises:
        WorkflowError: where the project names no such model.
    """
    if name in (None, "decision"):
        return snapshot.models.get("decision", EMBEDDED)
    if name == "embedded" and name not in snapshot.models:
        return EMBEDDED
    return _named_model(snapshot, str(name))


async def describe_decision_model(
    snapshot: ProjectSnapshot, name: str | None = None, *, secrets: Secrets | None = None
) -> ModelInfo:
    """Return what to expect of the decision model that `check_project` would ask; nothing is sent.

    Raises:
        WorkflowError: where the project names no such model.
    """
    from workbench.engine.decisions import open_decision_model

    model = open_decision_model(decision_settings(snapshot, name), root=snapshot.root, secrets=secrets)
    try:
        return await model.describe()
    finally:
        await model.aclose()


def chat_settings(snapshot: ProjectSnapshot, name: str | None = None) -> ModelSettings | None:
    """Return the settings of the chat model that can answer now, `None` where there is none.

    A model asked for by `name` is returned as it is; `environment` is the one that `OPENAI_…`, `AZURE_OPENAI_…` or
    `ANTHROPIC_…` variables describe, unless the project has a model of that name. Without a name: `[models.chat]`
    when it is usable, else the local model, else the project's recorded replies.

    Raises:
        WorkflowError: where the project names no such model, or the environment describes none.
    """
    from workbench.engine.language_models import language_model_available

    if _is_environment(snapshot, name):
        return environment_settings()
    if name not in (None, "chat"):
        return LOCAL if name == "local" and name not in snapshot.models else _named_model(snapshot, str(name))
    candidates = [snapshot.models["chat"]] if "chat" in snapshot.models else [LOCAL]
    candidates += [m for m in snapshot.models.values() if m.provider == "recorded"]
    candidates.append(ModelSettings("recorded", "recorded"))
    for settings in candidates:
        if language_model_available(settings, snapshot.root) is None:
            return settings
    return snapshot.models.get("chat")


def environment_settings(env: Mapping[str, str] | None = None) -> ModelSettings:
    """Return the settings that environment variables (of this process, unless given) describe.

    Raises:
        WorkflowError: it names the variables that are missing.
    """
    from workbench.engine.language_models import LanguageModelError, settings_from_environment

    try:
        return settings_from_environment(os.environ if env is None else env)[0]
    except LanguageModelError as error:
        raise WorkflowError(error.message) from error


def _is_environment(snapshot: ProjectSnapshot, name: str | None) -> bool:
    return name == ENVIRONMENT and name not in snapshot.models


def _named_model(snapshot: ProjectSnapshot, name: str) -> ModelSettings:
    if name not in snapshot.models:
        known = ", ".join(sorted(snapshot.models)) or "none"
        raise WorkflowError(f"the project has no model named {name!r} in [models] (it has: {known})")
    return snapshot.models[name]


async def describe_chat_model(
    snapshot: ProjectSnapshot, name: str | None = None, *, secrets: Secrets | None = None
) -> ModelDescription | None:
    """Return what to expect of the chat model that `translate_project` would ask, `None` where there is none.

    Nothing is sent.

    Raises:
        WorkflowError: where the project names no such model.
    """
    from workbench.engine.language_models import language_model_available, open_language_model

    settings = chat_settings(snapshot, name)
    if settings is None or language_model_available(settings, snapshot.root) is not None:
        return None
    model = open_language_model(settings, root=snapshot.root, secrets=secrets)
    try:
        return await model.describe()
    finally:
        await model.aclose()


def open_chat_model(snapshot: ProjectSnapshot, name: str | None, secrets: Secrets | None) -> LanguageModel:
    from workbench.engine.language_models import (
        LanguageModelError,
        language_model_available,
        model_from_environment,
        open_language_model,
    )
    from workbench.engine.secrets import Secrets

    if _is_environment(snapshot, name):
        secrets = secrets or Secrets()
        environment_settings(secrets.environment)  # says what is missing
        return model_from_environment(secrets.environment, secrets=secrets)
    chosen = chat_settings(snapshot, name)
    if chosen is None:
        raise WorkflowError("no chat model can answer: the project has none, and no recorded replies")
    if chosen.provider not in CHAT_PROVIDERS:
        raise WorkflowError(
            f"the model {chosen.name!r} cannot write texts: {chosen.provider!r} is no provider of chat models"
            f" (those are {', '.join(CHAT_PROVIDERS)})"
        )
    try:
        return open_language_model(chosen, root=snapshot.root, secrets=secrets)
    except LanguageModelError as error:  # its kind tells a wrong project from a model that is not there
        if language_model_available(chosen, snapshot.root) is None:
            raise
        message = f"the chat model {chosen.name!r} is not available: {error.message}"
        raise LanguageModelError(error.kind, message) from error
