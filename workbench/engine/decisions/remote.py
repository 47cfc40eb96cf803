"""Asks a decision server over HTTP: one call for all questions, in the dialect that the settings name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import urlsplit

from workbench.engine.decisions.errors import DecisionError, ErrorKind
from workbench.engine.decisions.hints import hint_for_refusal, hint_for_reply
from workbench.engine.decisions.model import DecisionModel, ModelInfo
from workbench.engine.decisions.questions import (
    BadAnswer,
    DecisionRequest,
    DecisionResponse,
    Exchange,
    real_number,
)
from workbench.engine.decisions.wire import MIN_MASS, Decoded, Dialect, WireOptions, envelope
from workbench.engine.model_options import header_problem, whole_call
from workbench.engine.model_settings import ModelSettings
from workbench.engine.text import shorten

OLLAMA_PORT = 11434
OLLAMA_MOST_QUESTIONS = 64

_KINDS: dict[str, ErrorKind] = {
    "url": "configuration",
    "secret": "configuration",
    "connect": "connect",
    "tls": "connect",
    "broken_off": "connect",
    "timeout": "timeout",
    "status": "status",
    "body": "body",
    "too_large": "body",
}
_ENDPOINTS = ("systemone", "decisions", "chat/completions", "completions", "responses", "messages")
"""Where a full address of some provider ends."""
_MOVING = ("latest", "stable", "default", "current", "preview", "nightly", "beta")


def dialect_named(provider: str) -> Dialect:
    """Return the dialect of a provider; raises `KeyError` for one that has none."""
    from workbench.engine.decisions.openai import OpenAiDialect
    from workbench.engine.decisions.sglang import SglangDialect
    from workbench.engine.decisions.system_one import SystemOneDialect

    dialects: dict[str, type[Dialect]] = {
        "openai": OpenAiDialect,
        "system-one": SystemOneDialect,
        "sglang": SglangDialect,
    }
    return dialects[provider]()


def endpoint(base_url: str, path: tuple[str, ...], endings: tuple[str, ...]) -> str:
    """Return the full address for a base address, a partial one or the endpoint itself; nothing is joined twice.

    Raises:
        DecisionError: of kind `configuration`, where it is no http(s) address.
    """
    from workbench.engine.http import HttpError, join_endpoint, without_endpoint

    base_url = base_url.strip()
    try:
        join_endpoint(base_url)  # refuses an address that cannot be used
        last = urlsplit(base_url).path.rstrip("/").rpartition("/")[2]
        if last in endings:
            return join_endpoint(base_url)
        # To the endpoint of another dialect nothing can be joined.
        return join_endpoint(without_endpoint(base_url, _ENDPOINTS), *path)
    except HttpError as error:
        raise DecisionError(error.message, kind="configuration", url=error.url) from error


def is_moving(model: str | None) -> bool:
    """Tell whether a model's name is an alias that may point to another version tomorrow.

    A name is taken for fixed when it ends in a version or a date; words such as `latest` make it an alias.
    """
    if model is None:
        return True
    name = model.lower().rpartition("/")[2]
    if name.startswith("~") or model.startswith("~"):
        return True
    words = name.replace(":", "-").replace("_", "-").split("-")
    return any(word in _MOVING for word in words)


class HttpDecisionModel(DecisionModel):
    """What all models behind HTTP share: the address, the key, the limits and the errors."""

    def __init__(
        self,
        settings: ModelSettings,
        url: str,
        *,
        secrets: Any | None = None,
        transport: Any | None = None,
        retry_header: str = Dialect.retry_header,
    ) -> None:
        from workbench.engine.http import HttpClient

        options = settings.options
        self.settings = settings
        self.name = settings.name
        self.url = url
        self._secrets = secrets
        budget, timeout = number_option(options, "budget", 30.0), number_option(options, "timeout", 10.0)
        self._client = HttpClient(
            transport=transport,
            total_budget=budget,
            attempt_timeout=timeout,
            call_limit=whole_call(options, "budget", budget, timeout),
            max_retries=count_option(options, "max_retries", 2),
            retry_header=retry_header,
        )
        self._headers = _headers(options)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def describe(self) -> ModelInfo:
        """Return the name asked for, and whether it is an alias."""
        model = self.settings.model
        moving = is_moving(model)
        expectation = f"A server at {self.url}. Choose thresholds on your own labelled cases."
        if moving:
            expectation += " Its name is an alias: thresholds belong to the version that answers."
        return ModelInfo(self.provider, model or self.name, None, expectation, moving=moving)

    async def post(self, body: Any, *, url: str | None = None) -> Any:
        """Post `body` and return the `HttpReply`.

        Raises:
            DecisionError: with the server's message and what to do about it.
            OriginNotAccepted: where the secret was not accepted for this server.
        """
        from workbench.engine.http import HttpError

        target = url or self.url
        try:
            return await self._client.post_json(
                target, body, headers=self._headers, secret=self._secret(target)
            )
        except HttpError as error:
            self._fail(error)

    def unsound(self, error: DecisionError, reply: Any) -> DecisionError:
        """Return `error`, which says what is wrong with a reply, with the address and what the reply said."""
        from workbench.engine.http import excerpt_of

        why = f"{error.message}. It said: {excerpt_of(reply.request.response_text)}"
        return DecisionError(
            f"{reply.request.url} gave no decision: {why}",
            kind=error.kind,
            status=reply.status,
            url=reply.request.url,
            server_message=error.server_message,
            hint=error.hint,
        )

    def _secret(self, url: str) -> Any | None:
        if self._secrets is None:
            return None
        if self.settings.secret is not None:
            return self._secrets.lookup(self.settings.secret, url)
        return self._secrets.provider_key(self.provider, self.settings.base_url)

    def _fail(self, error: Any) -> NoReturn:
        hint = hint_for_refusal(error.status, error.server_message, self.provider)
        raise DecisionError(
            error.message,
            kind=_KINDS.get(error.kind, "connect"),
            status=error.status,
            url=error.url,
            server_message=error.server_message,
            hint=hint,
        ) from error


class RemoteDecisionModel(HttpDecisionModel):
    """A decision server in one of the three dialects with one call for all questions."""

    def __init__(
        self,
        settings: ModelSettings,
        dialect: Dialect,
        url: str,
        *,
        secrets: Any | None = None,
        transport: Any | None = None,
    ) -> None:
        super().__init__(
            settings, url, secrets=secrets, transport=transport, retry_header=dialect.retry_header
        )
        self.dialect = dialect
        self.provider = dialect.name
        self.most_questions = count_option(
            settings.options, "max_questions", _default_limit(dialect, url), least=1
        )
        self.split = settings.options.get("split") is True
        self._wire = WireOptions(settings.model, min_mass_option(settings.options), settings.options)

    @classmethod
    def open(
        cls, settings: ModelSettings, *, secrets: Any | None = None, transport: Any | None = None
    ) -> RemoteDecisionModel:
        """Return the model that `settings` describe; nothing is sent.

        Raises:
            DecisionError: of kind `configuration`, where the address or the model's name is missing or wrong.
        """
        dialect = dialect_named(settings.provider)
        base_url = settings.base_url or dialect.default_base_url
        if base_url is None:
            raise incomplete(settings, "base_url")
        if dialect.needs_model and not (settings.model or "").strip():
            raise incomplete(settings, "model")
        url = endpoint(base_url, dialect.path, dialect.endings)
        return cls(settings, dialect, url, secrets=secrets, transport=transport)

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Ask all questions in one call; in several only where the settings allow it and the limit demands it."""
        names = list(request.questions)
        if len(names) <= self.most_questions:
            return await self._call(request)
        if not self.split:
            raise DecisionError(
                f"{len(names)} questions are more than the {self.most_questions} that {self.provider} takes in one call",
                kind="limit",
                hint="set split = true for this model to allow several calls",
            )
        parts = [
            await self._call(request.part(names[start : start + self.most_questions]))
            for start in range(0, len(names), self.most_questions)
        ]
        return merged(parts)

    async def _call(self, request: DecisionRequest) -> DecisionResponse:
        reply = await self.post(self.dialect.encode(request, self._wire))
        try:
            value = envelope(reply.json, self.dialect.name)
            decoded = self.dialect.decode(value, request, self._wire)
            self._refuse_other_dialect(value, decoded)
        except DecisionError as error:
            raise self.unsound(error, reply) from None
        return DecisionResponse(
            decoded.answers, decoded.model_name or self.settings.model, decoded.usage, (exchange_of(reply),)
        )

    def _refuse_other_dialect(self, value: Mapping[str, Any], decoded: Decoded) -> None:
        """Raise where no answer is sound because all are in another dialect of the same envelope."""
        hint = hint_for_reply(value, self.dialect.name)
        if hint is not None and all(isinstance(answer, BadAnswer) for answer in decoded.answers.values()):
            raise DecisionError("the answers are in another form than asked for", kind="envelope", hint=hint)


def merged(parts: list[DecisionResponse]) -> DecisionResponse:
    """Return several responses as one; usage that is unknown in one part is unknown in all."""
    answers = {name: answer for part in parts for name, answer in part.answers.items()}
    versions = list(dict.fromkeys(part.model_name for part in parts))
    usage = parts[0].usage
    for part in parts[1:]:
        usage = usage.plus(part.usage) if usage is not None and part.usage is not None else None
    notes: tuple[str, ...] = (f"asked in {len(parts)} calls",) if len(parts) > 1 else ()
    if len(versions) > 1:
        notes += (f"the calls were answered by different versions: {', '.join(map(str, versions))}",)
    exchanges = tuple(exchange for part in parts for exchange in part.exchanges)
    return DecisionResponse(answers, versions[0], usage, exchanges, notes=notes)


def exchange_of(reply: Any) -> Exchange:
    """Return the record of an HTTP call, whose secrets the HTTP client has removed."""
    record = reply.request
    return Exchange(
        record.url,
        json.dumps(record.request_body, ensure_ascii=False),
        record.response_text,
        reply.status,
        reply.elapsed_ms,
        reply.attempts,
        dict(record.request_headers),
    )


def number_option(options: Mapping[str, Any], name: str, default: float) -> float:
    """Return a number from the settings.

    Raises:
        DecisionError: of kind `configuration`, where it is no number or negative.
    """
    value = options.get(name, default)
    number = real_number(value)
    if number is None or not number >= 0:
        raise DecisionError(
            f"the option {name} must be a number from 0 on, but is {value!r}", kind="configuration"
        )
    return number


def count_option(options: Mapping[str, Any], name: str, default: int, *, least: int = 0) -> int:
    """Return a whole number from the settings.

    Raises:
        DecisionError: of kind `configuration`, where it is no whole number or below `least`.
    """
    value = options.get(name, default)
    number = real_number(value)
    if number is None or not number.is_integer() or number < least:
        raise DecisionError(
            f"the option {name} must be a whole number from {least} on, but is {shorten(repr(value))}",
            kind="configuration",
        )
    return int(number)


def min_mass_option(options: Mapping[str, Any]) -> float:
    """Return the share of probability that must fall on yes and no, from 0 to 1; raises as `number_option`."""
    value = number_option(options, "min_mass", MIN_MASS)
    if value > 1:
        raise DecisionError(
            f"the option min_mass must be a number from 0 to 1, but is {value:g}", kind="configuration"
        )
    return value


def _headers(options: Mapping[str, Any]) -> dict[str, str]:
    headers = options.get("headers") or {}
    if not isinstance(headers, Mapping):
        raise DecisionError("the option headers must be a table of texts", kind="configuration")
    result = {str(name): value for name, value in headers.items()}
    for option, header in (("organization", "OpenAI-Organization"), ("project", "OpenAI-Project")):
        if options.get(option):
            result[header] = options[option]
    return {name: _header(name, value) for name, value in result.items()}


def _header(name: str, value: object) -> str:
    """Return the value of a header; raises `DecisionError` for what HTTP cannot carry."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise DecisionError(f"the header {name} must be a text", kind="configuration")
    text = str(value).strip()
    if (wrong := header_problem(name, text)) is not None:
        problem, hint = wrong
        raise DecisionError(f"the header {shorten(name)!r} {problem}", kind="configuration", hint=hint)
    return text


def _default_limit(dialect: Dialect, url: str) -> int:
    try:
        port = urlsplit(url).port
    except ValueError:
        port = None
    if dialect.name == "system-one" and port == OLLAMA_PORT:
        return OLLAMA_MOST_QUESTIONS
    return dialect.most_questions


def incomplete(settings: ModelSettings, key: str) -> DecisionError:
    """Return the error for settings that lack `key`."""
    return DecisionError(
        f"the model '{settings.name}' ({settings.provider}) has no {key}",
        kind="configuration",
        hint=f"set {key} under [models.{settings.name}]",
    )
