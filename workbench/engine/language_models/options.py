"""Reads a model's table in the project into checked values, with one clear error for each wrong one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from workbench.engine.http import HttpError, is_loopback, join_endpoint, without_endpoint
from workbench.engine.json_text import dumps
from workbench.engine.language_models.base import LanguageModelError
from workbench.engine.model_options import HEADER_NAME, header_problem, whole_call
from workbench.engine.model_settings import ModelSettings
from workbench.engine.prices import DEFAULT_CURRENCY, PRICE_OPTIONS, Prices, price_problem

_ENDPOINTS = (
    "chat/completions",
    "completions",
    "responses",
    "messages",
    "models",
    "embeddings",
    "decisions",
    "systemone",
    "api/chat",
    "api/generate",
    "api/tags",
)


@dataclass(frozen=True, slots=True)
class Options:
    """The keys that every chat provider understands beside address, model and secret.

    `temperature` is `None` when none is to be sent. `timeout` (seconds) covers one attempt, and in a stream
    the time between two pieces; `total_budget` (seconds) is the time within which a retry may begin.
    `call_limit` (seconds) is the time after which a call is cut off, streamed or not, with all its attempts.
    `max_retries` counts the requests after the first. `body` is merged into every request.
    """

    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int | None = None
    timeout: float = 120.0
    total_budget: float = 300.0
    call_limit: float = 300.0
    max_retries: int = 3
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    secret_header: str | None = None
    prices: Prices = field(default_factory=Prices)


def read_options(settings: ModelSettings) -> Options:
    """Return the options of `settings`.

    Raises:
        LanguageModelError: `settings`, when a value has the wrong type or a header carries a key.
    """
    read = OptionReader(settings)
    temperature: float | None = read.number("temperature", 0.0, 0, 2)
    if settings.options.get("temperature") is False:
        temperature = None
    timeout, budget = read.number("timeout", 120.0, 0.001), read.number("total_budget", 300.0, 0)
    return Options(
        temperature=temperature,
        seed=read.integer("seed"),
        max_tokens=read.integer("max_tokens", least=1),
        timeout=timeout,
        total_budget=budget,
        call_limit=whole_call(settings.options, "total_budget", budget, timeout),
        max_retries=read.integer("max_retries", 3, least=0) or 0,
        headers=_headers(settings),
        body=_body(read),
        secret_header=_secret_header(read),
        prices=read.prices(),
    )


class OptionReader:
    """Reads single options of one model by type."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings

    def given(self, key: str) -> bool:
        """Tell whether the project sets `key`."""
        return key in self._settings.options

    def number(self, key: str, default: float, least: float, most: float = float("inf")) -> float:
        """Return a number within [least, most]."""
        value = self._settings.options.get(key)
        if value is None or value is False:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            raise self.wrong(
                key, f"a number from {least:g} to {most:g}" if most < float("inf") else "a positive number"
            )
        try:
            return float(value)
        except OverflowError:  # a whole number may be longer than any float
            raise self.wrong(key, "a number that fits a float") from None

    def integer(self, key: str, default: int | None = None, least: int | None = None) -> int | None:
        """Return a whole number, not under `least`."""
        value = self._settings.options.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
            raise self.wrong(key, "a whole number" + (f" from {least}" if least is not None else ""))
        return int(value)

    def text(self, key: str) -> str | None:
        """Return a text that is not empty."""
        value = self._settings.options.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, "a text")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self._settings.options.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def mapping(self, key: str) -> Mapping[str, Any]:
        """Return a table."""
        value = self._settings.options.get(key, {})
        if not isinstance(value, Mapping):
            raise self.wrong(key, "a table")
        return dict(value)

    def prices(self) -> Prices:
        """Return the prices that the project states."""
        stated = {key: self._settings.options.get(key) for key in PRICE_OPTIONS}
        for key, value in stated.items():
            if value is not None and (wanted := price_problem(key, value)) is not None:
                raise self.wrong(key, wanted)
        given, taken = stated["input_price"], stated["output_price"]
        return Prices(
            None if given is None else float(given),
            None if taken is None else float(taken),
            stated["currency"] or DEFAULT_CURRENCY,
        )

    def wrong(self, key: str, wanted: str) -> LanguageModelError:
        """Return the error for an option of the wrong kind."""
        return LanguageModelError(
            "settings", f"The option {key!r} of the model {self._settings.name!r} must be {wanted}."
        )


def _headers(settings: ModelSettings) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in OptionReader(settings).mapping("headers").items():
        whose = f"The header {name!r} of the model {settings.name!r}"
        if not isinstance(value, str):
            raise LanguageModelError("settings", f"{whose} must be a text.")
        headers[name] = value.strip()
        if (wrong := header_problem(name, headers[name])) is not None:
            problem, hint = wrong
            more = f" {hint[0].upper()}{hint[1:]}." if hint else ""
            raise LanguageModelError("settings", f"{whose} {problem}.{more}")
    return headers


def _secret_header(read: OptionReader) -> str | None:
    name = read.text("secret_header")
    if name is not None and not HEADER_NAME.fullmatch(name):
        raise read.wrong("secret_header", "the name of an HTTP header: letters, digits and dashes")
    return name


def _body(read: OptionReader) -> Mapping[str, Any]:
    body = read.mapping("body")
    try:
        dumps(body)
    except (TypeError, ValueError, RecursionError) as error:  # TOML has dates, and numbers that JSON has not
        raise read.wrong("body", f"a table that JSON can hold ({error})") from None
    return body


def endpoint(base_url: str, path: str, version: str = "v1") -> str:
    """Return the address of `path`, given a base address, a bare host, or the address of any endpoint.

    A bare host gets `version` in front of the path. An address that ends in another known endpoint is cut
    back to its base first, so that a change of provider does not need a change of address.

    Raises:
        LanguageModelError: `settings`, when the address cannot be used.
    """
    try:
        join_endpoint(base_url)
    except HttpError as error:
        raise LanguageModelError("settings", error.message) from None
    base = without_endpoint(base_url.strip(), _ENDPOINTS)
    bare = not urlsplit(base).path.strip("/")
    return join_endpoint(base, version, path) if bare and version else join_endpoint(base, path)


def is_local(base_url: str) -> bool:
    """Tell whether `base_url` is an address of this computer."""
    return is_loopback(urlsplit(base_url).hostname or "")
