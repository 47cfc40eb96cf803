"""Credentials that prompts and models ask for by name; values stay in the keyring or the environment."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, ClassVar

from workbench.engine.prompts.components import ConfigObject

if TYPE_CHECKING:
    from workbench.engine.secrets import Secrets


class BaseCredential(ConfigObject):
    """A key for one service: `SECRET` is its name among the secrets, `ORIGIN` the only server it is for.

    `secrets` is where values are looked up; without one, the environment and the system keyring.
    """

    TYPE: ClassVar[str] = "Credential"
    SECRET: ClassVar[str]
    ORIGIN: ClassVar[str]
    HEADER: ClassVar[tuple[str, str]] = ("Authorization", "Bearer {key}")

    def __init__(self, secrets: Secrets | None = None) -> None:
        self._secrets = secrets

    def _store(self) -> Secrets:
        if self._secrets is None:
            from workbench.engine.secrets import Secrets

            self._secrets = Secrets.for_user()
        return self._secrets

    def get_key(self) -> str | None:
        """Return the stored key, `None` when nothing is stored. Sending is what `apply` is for."""
        value = self._store().value(self.SECRET)
        return value.strip() if value is not None and value.strip() else None

    def apply(self, headers: MutableMapping[str, str] | None = None) -> None:
        """Put the key into the `headers` of a request to the credential's own server.

        With nothing stored, or without headers, this does nothing.

        Raises:
            OriginNotAccepted: when the stored key was not accepted for that server.
        """
        if headers is None:
            return
        secret = self._store().lookup(self.SECRET, self.ORIGIN)
        if secret is not None:
            name, form = self.HEADER
            headers[name] = form.replace("{key}", secret.value)


class HuggingFaceCredential(BaseCredential):
    """The access token for Hugging Face."""

    SECRET = "huggingface"
    ORIGIN = "https://huggingface.co"


class OpenAICredential(BaseCredential):
    """The API key for OpenAI."""

    SECRET = "openai"
    ORIGIN = "https://api.openai.com"


class AnthropicCredential(BaseCredential):
    """The API key for Anthropic."""

    SECRET = "anthropic"
    ORIGIN = "https://api.anthropic.com"
    HEADER = ("x-api-key", "{key}")
