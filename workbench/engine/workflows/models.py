"""Finds the models that a project names, and what to expect of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.model_settings import ModelSettings
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.workflows.errors import WorkflowError

if TYPE_CHECKING:
    from workbench.engine.decisions import ModelInfo
    from workbench.engine.language_models import LanguageModel, ModelDescription
    from workbench.engine.secrets import Secrets


EMBEDDED = ModelSettings("embedded", "embedded")


LOCAL = ModelSettings("local", "local")


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

    A model asked for by `name` is returned as it is. Without a name: `[models.chat]` when it is usable, else
    the local model, else the project's recorded replies.

    Raises:
        WorkflowError: where the project names no such model.
    """
    from workbench.engine.language_models import language_model_available

    if name not in (None, "chat"):
        return LOCAL if name == "local" and name not in snapshot.models else _named_model(snapshot, str(name))
    candidates = [snapshot.models["chat"]] if "chat" in snapshot.models else [LOCAL]
    candidates += [m for m in snapshot.models.values() if m.provider == "recorded"]
    candidates.append(ModelSettings("recorded", "recorded"))
    for settings in candidates:
        if language_model_available(settings, snapshot.root) is None:
            return settings
    return snapshot.models.get("chat")


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
        open_language_model,
    )

    chosen = chat_settings(snapshot, name)
    if chosen is None:
        raise WorkflowError("no chat model can answer: the project has none, and no recorded replies")
    if reason := language_model_available(chosen, snapshot.root):
        raise LanguageModelError("unavailable", f"the chat model {chosen.name!r} is not available: {reason}")
    return open_language_model(chosen, root=snapshot.root, secrets=secrets)
