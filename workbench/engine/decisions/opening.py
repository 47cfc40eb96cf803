"""Makes a decision model from the settings of a project, and says beforehand why one cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.engine.decisions.errors import DecisionError
from workbench.engine.decisions.fitted import FittedChecks
from workbench.engine.decisions.model import DecisionModel
from workbench.engine.decisions.model_files import ModelFiles, ModelFilesMissing, built_in_files, files_in
from workbench.engine.model_settings import DECISION_PROVIDERS, ModelSettings

FITTED_FILE = "fitted-checks.json"
"""Where a project keeps the weights of *Fit on my cases*, unless the model's option `fitted` names a file."""


def open_decision_model(
    settings: ModelSettings,
    *,
    root: Path | None = None,
    secrets: Any | None = None,
    transport: Any | None = None,
) -> DecisionModel:
    """Return the decision model that `settings` describe. Nothing is sent and no process started yet.

    `root` is the project's folder, against which paths in the settings are resolved. `transport` replaces
    the network, for tests.

    Raises:
        DecisionError: of kind `configuration` or `unavailable`, where the model cannot be used as it is.
    """
    provider = settings.provider
    if provider == "embedded":
        return _open_embedded(settings, root)
    if provider == "recorded":
        from workbench.engine.decisions.recorded import RecordedDecisionModel

        return RecordedDecisionModel.open(settings, root)
    if provider == "gguf":
        from workbench.engine.decisions.gguf import GgufDecisionModel

        return GgufDecisionModel.open(settings, root)
    if provider == "chat-logprobs":
        from workbench.engine.decisions.chat_logprobs import ChatLogprobsDecisionModel

        return ChatLogprobsDecisionModel.open(settings, secrets=secrets, transport=transport)
    if provider in ("openai", "system-one", "sglang"):
        from workbench.engine.decisions.remote import RemoteDecisionModel

        return RemoteDecisionModel.open(settings, secrets=secrets, transport=transport)
    known = ", ".join(DECISION_PROVIDERS)
    raise DecisionError(
        f"the model '{settings.name}' has the unknown provider '{provider}'",
        kind="configuration",
        hint=f"decision providers are {known}",
    )


def decision_model_available(settings: ModelSettings, root: Path | None) -> str | None:
    """Return `None` when the model can be used, else the reason in one sentence. Sends nothing."""
    try:
        open_decision_model(settings, root=root)
    except DecisionError as error:
        return str(error)
    return None


def embedded_files(settings: ModelSettings, root: Path | None) -> ModelFiles:
    """Return the files of an `embedded` model: of the folder in its option `path`, else the built-in ones.

    Raises:
        DecisionError: of kind `unavailable`, where they are missing or not the ones expected.
    """
    folder = text_option(settings, "path")
    try:
        return files_in(resolve(folder, root)) if folder else built_in_files()
    except (ModelFilesMissing, OSError) as error:
        raise DecisionError(f"the embedded model is not available: {error}", kind="unavailable") from error


def fitted_path(settings: ModelSettings, root: Path | None) -> Path | None:
    """Return where the fitted weights of an `embedded` model are kept; `None` for an unsaved project.

    They belong to the project: for an option `fitted` that leads out of its folder there is no place either.
    """
    try:
        return _fitted_path(settings, root)
    except DecisionError:
        return None


def _fitted_path(settings: ModelSettings, root: Path | None) -> Path | None:
    name = text_option(settings, "fitted")
    return None if root is None else inside_project(name or FITTED_FILE, root)


def text_option(settings: ModelSettings, key: str) -> str | None:
    """Return a text from the settings, `None` where it is not set.

    Raises:
        DecisionError: of kind `configuration`, where it is no text.
    """
    value = settings.options.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip() or "\0" in value):
        raise DecisionError(
            f"the option {key} of the model '{settings.name}' must be a text", kind="configuration"
        )
    return value


def inside_project(path: str, root: Path) -> Path:
    """Return the relative `path` in the project's folder `root`.

    Raises:
        DecisionError: of kind `configuration`, where it leads out of the folder, be it through a link.
    """
    found = root / path
    try:
        inside = found.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        inside = False
    if not inside:
        raise DecisionError(f"{path} lies outside the project, and is not read", kind="configuration")
    return found


def resolve(path: str, root: Path | None) -> Path:
    """Return `path` as the user means it: `~` is the home folder, other relative paths lie in the project.

    Raises:
        DecisionError: of kind `configuration`, where a relative path leads out of the project.
    """
    try:
        expanded = Path(path).expanduser()
    except RuntimeError as error:
        raise DecisionError(f"the path {path} cannot be used: {error}", kind="configuration") from None
    return expanded if expanded.is_absolute() or root is None else inside_project(path, root)


def _open_embedded(settings: ModelSettings, root: Path | None) -> DecisionModel:
    from workbench.engine.decisions.embedded import EmbeddedDecisionModel
    from workbench.engine.decisions.remote import number_option

    files = embedded_files(settings, root)
    path = _fitted_path(settings, root)
    try:
        fitted = FittedChecks.load(path) if path is not None else None
    except ValueError as error:
        raise DecisionError(f"the fitted checks cannot be used: {error}", kind="configuration") from error
    timeout = number_option(settings.options, "timeout", 30.0) or 30.0
    return EmbeddedDecisionModel(files, name=settings.name, fitted=fitted, timeout=timeout)
