"""Turns what a project says of a chat model into a model that can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbench.engine.http import Transport
from workbench.engine.language_models.base import LanguageModel, LanguageModelError
from workbench.engine.language_models.options import OptionReader, endpoint, read_options
from workbench.engine.model_settings import CHAT_PROVIDERS, ModelSettings
from workbench.engine.secrets import AZURE_KEY, PROVIDER_KEYS, OriginNotAccepted, Secret, Secrets, origin_of
from workbench.engine.text import nearest

if TYPE_CHECKING:
    from workbench.engine.language_models.http_model import HttpLanguageModel, Target

DEFAULT_BASES: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "ollama": "http://localhost:11434",
}
"""Where a provider is when the project gives no address."""

_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")


def open_language_model(
    settings: ModelSettings,
    *,
    root: Path | None = None,
    secrets: Secrets | None = None,
    transport: Transport | None = None,
) -> LanguageModel:
    """Return the model that `settings` describe. Nothing is sent, and no weights are loaded, until it is asked.

    `root` is the project's folder, for recordings and relative paths. `transport` replaces the network in tests.

    Raises:
        LanguageModelError: `settings` or `unavailable`.
        OriginNotAccepted: the model's secret was not accepted for its server.
        SecretError: the value of the secret cannot be a key.
    """
    if settings.provider == "recorded":
        from workbench.engine.language_models.recorded import RecordedModel

        return RecordedModel.open(settings, root)
    if settings.provider in ("local", "gguf"):
        from workbench.engine.language_models.local import LocalModel, find_gguf

        return LocalModel(settings, find_gguf(settings, root))
    return _open_http(_target(settings, secrets), settings, transport)


def language_model_available(settings: ModelSettings, root: Path | None = None) -> str | None:
    """Return why the model of `settings` cannot be used here, `None` when nothing speaks against it.

    Connects to nothing and loads nothing: whether a server answers is for `LanguageModel.probe` to tell.
    """
    try:
        if settings.provider == "recorded":
            from workbench.engine.language_models.recorded import RecordedModel

            RecordedModel.open(settings, root)
        elif settings.provider in ("local", "gguf"):
            from workbench.engine.language_models.local import find_gguf

            find_gguf(settings, root)
        else:
            _target(settings, None)
    except LanguageModelError as error:
        return error.message
    return None


def _target(settings: ModelSettings, secrets: Secrets | None) -> Target:
    from workbench.engine.language_models.http_model import Target

    if settings.provider not in DEFAULT_BASES:
        meant = nearest(settings.provider, CHAT_PROVIDERS)
        raise LanguageModelError(
            "settings",
            f"The model {settings.name!r} has the provider {settings.provider!r}, which is no chat provider."
            + (f" Did you mean {meant!r}?" if meant else ""),
            hint="Chat providers are " + ", ".join(CHAT_PROVIDERS) + ".",
        )
    base_url = settings.base_url or DEFAULT_BASES[settings.provider]
    address = endpoint(base_url, "models")  # refuses an address that cannot be used
    if not settings.model and (settings.base_url is None or settings.provider != "openai"):
        raise LanguageModelError("settings", f"The model {settings.name!r} names no `model`.")
    return Target(
        name=settings.name,
        provider=settings.provider,
        base_url=base_url,
        model=settings.model,
        options=read_options(settings),
        secret=_secret(settings, secrets, origin_of(address)),
        secret_name=settings.secret,
    )


def vendor_secret(
    variable: str, value: str, settings: ModelSettings, origin: str, secrets: Secrets | None
) -> Secret:
    """Return the key in an environment variable of a vendor as a secret for `origin`.

    It goes to its vendor's own servers, and to any other address only when `secrets` says that this address was
    accepted for the name of the variable.

    Raises:
        OriginNotAccepted: the address is not the vendor's, and nobody accepted it.
        SecretError: the value cannot be an API key.
    """
    if variable == AZURE_KEY:
        own = is_azure(origin) and origin.startswith("https:")
    else:
        own = origin == origin_of(DEFAULT_BASES[settings.provider])
    if not own and not (secrets is not None and secrets.is_accepted(variable, origin)):
        raise OriginNotAccepted(variable, secrets.accepted(variable) if secrets is not None else (), origin)
    # Secrets also take the key out of everything that is stored.
    return (secrets or Secrets()).bind(variable, value.strip(), origin)


def _secret(settings: ModelSettings, secrets: Secrets | None, origin: str) -> Secret | None:
    """Return the secret to send: the one that the project names, else the vendor's own from the environment."""
    if secrets is None:
        return None
    own, _ = PROVIDER_KEYS.get(settings.provider, (None, None))
    if settings.secret and settings.secret in (own, AZURE_KEY):
        value = secrets.environment.get(settings.secret, "")
        if value.strip():
            return vendor_secret(settings.secret, value, settings, origin, secrets)
    named = secrets.lookup(settings.secret, origin) if settings.secret else None
    return named or secrets.provider_key(settings.provider, settings.base_url)


def _open_http(target: Target, settings: ModelSettings, transport: Transport | None) -> HttpLanguageModel:
    provider = target.provider
    if provider == "openai" and urlsplit(target.base_url).path.rstrip("/").endswith("/responses"):
        provider = "openai-responses"
    if provider == "openai" and is_azure(target.base_url):
        provider = "azure"
    model = _CLASSES[provider]()(target, transport=transport)
    if provider == "ollama":
        _read_ollama(model, OptionReader(settings))
    return model


def _read_ollama(model: HttpLanguageModel, read: OptionReader) -> None:
    from workbench.engine.language_models.ollama import OllamaModel

    assert isinstance(model, OllamaModel)
    model.num_ctx = read.integer("num_ctx", least=1)
    model.think = read.flag("think", False) if read.given("think") else None


def is_azure(base_url: str) -> bool:
    """Tell whether `base_url` is a deployment at Azure, which takes its key in the header `api-key`."""
    return (urlsplit(base_url).hostname or "").endswith(_AZURE_HOSTS)


def _chat() -> type[HttpLanguageModel]:
    from workbench.engine.language_models.openai_chat import OpenAIChatModel

    return OpenAIChatModel


def _azure() -> type[HttpLanguageModel]:
    from workbench.engine.language_models.openai_chat import AzureOpenAIChatModel

    return AzureOpenAIChatModel


def _responses() -> type[HttpLanguageModel]:
    from workbench.engine.language_models.openai_responses import OpenAIResponsesModel

    return OpenAIResponsesModel


def _anthropic() -> type[HttpLanguageModel]:
    from workbench.engine.language_models.anthropic import AnthropicModel

    return AnthropicModel


def _ollama() -> type[HttpLanguageModel]:
    from workbench.engine.language_models.ollama import OllamaModel

    return OllamaModel


# Each dialect is imported when a model of it is opened: the window starts without them.
_CLASSES: Mapping[str, Callable[[], type[HttpLanguageModel]]] = {
    "openai": _chat,
    "azure": _azure,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "ollama": _ollama,
}
