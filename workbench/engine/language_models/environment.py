"""Opens the chat model that the environment variables of the vendors describe: no project has to name it.

Understood are `OPENAI_API_KEY`, `OPENAI_MODEL`, `OPENAI_ENDPOINT` (or `OPENAI_BASE_URL`) and
`OPENAI_ORGANIZATION` (or `OPENAI_ORG_ID`, `OPENAI_ORG`); `AZURE_OPENAI_API_KEY` with `AZURE_OPENAI_ENDPOINT`;
`ANTHROPIC_API_KEY`, `ANTHROPIC_MODEL` and `ANTHROPIC_BASE_URL`. OpenAI comes before Azure, Azure before
Anthropic, and an empty key counts as none, as in TypeChat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.engine.http import Transport
from workbench.engine.language_models.base import LanguageModel, LanguageModelError
from workbench.engine.language_models.opening import _open_http, _target, vendor_secret
from workbench.engine.model_settings import ModelSettings
from workbench.engine.secrets import AZURE_KEY, Secrets, origin_of


def settings_from_environment(env: Mapping[str, str]) -> tuple[ModelSettings, str]:
    """Return the settings that `env` describes, and the name of the variable that holds the key.

    Raises:
        LanguageModelError: `settings`; it names the variables that are missing.
    """
    if _value(env, "OPENAI_API_KEY"):
        return _openai(env), "OPENAI_API_KEY"
    if _value(env, AZURE_KEY):
        endpoint = _needed(env, "AZURE_OPENAI_ENDPOINT", AZURE_KEY)
        return ModelSettings("azure", "openai", endpoint, secret=AZURE_KEY), AZURE_KEY
    if _value(env, "ANTHROPIC_API_KEY"):
        model = _needed(env, "ANTHROPIC_MODEL", "ANTHROPIC_API_KEY")
        return ModelSettings(
            "anthropic", "anthropic", _value(env, "ANTHROPIC_BASE_URL"), model, "ANTHROPIC_API_KEY"
        ), "ANTHROPIC_API_KEY"
    raise LanguageModelError(
        "settings",
        "The environment describes no chat model: set OPENAI_API_KEY and OPENAI_MODEL, or AZURE_OPENAI_API_KEY and "
        "AZURE_OPENAI_ENDPOINT, or ANTHROPIC_API_KEY and ANTHROPIC_MODEL.",
    )


def model_from_environment(
    env: Mapping[str, str],
    *,
    secrets: Secrets | None = None,
    transport: Transport | None = None,
) -> LanguageModel:
    """Return the model that `env` describes.

    A key goes to its vendor's own servers. To any other address it goes only when `secrets` says that this
    address was accepted for the name of the variable.

    Raises:
        LanguageModelError: `settings`; it names the variables that are missing.
        OriginNotAccepted: the address is not the vendor's, and nobody accepted it.
    """
    settings, variable = settings_from_environment(env)
    target = _target(settings, None)
    secret = vendor_secret(variable, env[variable], settings, origin_of(target.base_url), secrets)
    return _open_http(replace(target, secret=secret, secret_name=variable), settings, transport)


def _openai(env: Mapping[str, str]) -> ModelSettings:
    model = _needed(env, "OPENAI_MODEL", "OPENAI_API_KEY")
    base = _value(env, "OPENAI_ENDPOINT") or _value(env, "OPENAI_BASE_URL")
    names = ("OPENAI_ORGANIZATION", "OPENAI_ORG_ID", "OPENAI_ORG")
    organization = next((value for name in names if (value := _value(env, name))), None)
    options = {"headers": {"OpenAI-Organization": organization}} if organization else {}
    return ModelSettings("openai", "openai", base, model, "OPENAI_API_KEY", options)


def _value(env: Mapping[str, str], name: str) -> str | None:
    return env.get(name, "").strip() or None


def _needed(env: Mapping[str, str], name: str, because: str) -> str:
    value = _value(env, name)
    if value is None:
        raise LanguageModelError("settings", f"{because} is set, but {name} is missing.")
    return value
