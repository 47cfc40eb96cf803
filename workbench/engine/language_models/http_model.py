"""What all models behind an HTTP server share: sending, streaming, errors, probing, describing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.engine.http import Exchange, HttpClient, HttpError, LineStream, Transport, excerpt_of
from workbench.engine.json_text import dumps, parse_json
from workbench.engine.language_models.base import (
    Completion,
    ErrorKind,
    FinishReason,
    LanguageModelError,
    Message,
    ModelDescription,
    OnDelta,
    Probe,
    ResponseFormat,
    Tool,
    ToolCall,
    Usage,
    count,
    json_schema_format,
)
from workbench.engine.language_models.options import Options, is_local
from workbench.engine.secrets import Secret, variable_name
from workbench.engine.text import one_line, shorten

Lines = AsyncIterable[str]

LONGEST_BLANK_RUN = 1000
"""Blank characters in a row after which a stream is cut: constrained servers may go on with them forever."""

AFTER_THE_END = 5.0
"""Seconds that a complete answer waits for what may still follow: the usage, the end of the stream."""

_KINDS: dict[str, ErrorKind] = {
    "url": "settings",
    "secret": "secret",
    "connect": "connect",
    "tls": "connect",
    "timeout": "timeout",
    "status": "status",
    "body": "bad_shape",
    "too_large": "too_large",
    "broken_off": "broken_off",
}
_TOO_LONG = (
    "context length",
    "context size",
    "context window",
    "maximum context",
    "prompt is too long",
    "too many tokens",
)


class ShapeError(Exception):
    """An answer that is JSON, but no completion; the text says what is missing."""


class ServerError(Exception):
    """An error that the server reports inside an answer of success."""


@dataclass(slots=True)
class Parts:
    """What an answer consists of, in the words of no dialect."""

    text: str = ""
    finish_reason: FinishReason | None = None
    refusal: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()


class StreamDecoder(ABC):
    """Takes the events of one streamed answer and puts it together.

    `complete` tells that the answer is there; `last_word` whether nothing that matters can follow then.
    """

    last_word = True

    def __init__(self) -> None:
        self.parts = Parts()
        self.complete = False

    @abstractmethod
    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one event; return the text that it adds.

        Raises:
            ShapeError: the event is none of this dialect.
            ServerError: the server reports a failure.
        """

    def finish(self) -> Parts:
        """Return the whole answer."""
        return self.parts


@dataclass(frozen=True, slots=True)
class Target:
    """Where and as what a model is called."""

    name: str
    provider: str
    base_url: str
    model: str | None
    options: Options
    secret: Secret | None = None
    secret_name: str | None = None


class _Heard:
    """Passes the lines of a stream on and remembers the first of them, for the message when none makes sense."""

    _MOST = 4000

    def __init__(self, stream: LineStream) -> None:
        self._stream = stream
        self._lines: list[str] = []
        self._size = 0

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._stream:
            if self._size < self._MOST:
                self._lines.append(line[: self._MOST])
                self._size += len(line) + 1
            yield line

    def text(self) -> str:
        """Return what was heard, cut short."""
        return "\n".join(self._lines)[: self._MOST]


class HttpLanguageModel(ABC):
    """A language model behind an HTTP server. A subclass knows one wire dialect."""

    default_secret_header = "Authorization"
    _sends_temperature = True

    def __init__(self, target: Target, *, transport: Transport | None = None) -> None:
        self._target = target
        self._options = target.options
        self._http = HttpClient(
            transport=transport,
            total_budget=target.options.total_budget,
            attempt_timeout=target.options.timeout,
            call_limit=target.options.call_limit,
            stream_limit=target.options.call_limit,
            max_retries=target.options.max_retries,
        )

    # ---- the dialect ----

    @abstractmethod
    def _url(self) -> str:
        """Return the address of the completion endpoint."""

    @abstractmethod
    def _models_url(self) -> str:
        """Return the address of the list of models."""

    @abstractmethod
    def _body(
        self,
        messages: Sequence[Message],
        response_format: ResponseFormat | None,
        max_tokens: int | None,
        tools: Sequence[Tool] | None,
        stream: bool,
    ) -> dict[str, Any]:
        """Return the request."""

    @abstractmethod
    def _decode(self, value: Any, body: Mapping[str, Any]) -> Parts:
        """Return the parts of the whole answer to `body`; raises `ShapeError` and `ServerError`."""

    @abstractmethod
    def _decoder(self, body: Mapping[str, Any]) -> StreamDecoder:
        """Return a decoder for the streamed answer to `body`."""

    def _headers(self) -> dict[str, str]:
        return dict(self._options.headers)

    def _events(self, stream: Lines) -> AsyncIterator[str]:
        return sse_data(stream)

    def _adapt(self, error: LanguageModelError) -> bool:
        """Learn from an error what this server does not take; True when it was that, whoever learned it first."""
        return False

    def _learns_of_temperature(self, error: LanguageModelError) -> bool:
        """Leave out the temperature from now on where the model says that it takes none."""
        said = (error.server_message or "").lower()
        if error.status != 400 or "temperature" not in said:
            return False
        self._sends_temperature = False
        return True

    # ---- the protocol ----

    @property
    def name(self) -> str:
        """The model's name, else the name of its table in the project."""
        return self._target.model or self._target.name

    @property
    def provider(self) -> str:
        """The chat provider by its name in projects."""
        return self._target.provider

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        response_format: ResponseFormat | None = None,
        max_tokens: int | None = None,
        tools: Sequence[Tool] | None = None,
        on_delta: OnDelta | None = None,
    ) -> Completion:
        """Complete `messages`; see `LanguageModel.complete`."""
        began = time.perf_counter()
        limit = max_tokens or self._options.max_tokens
        tried: list[dict[str, Any]] = []
        refused: LanguageModelError | None = None
        while True:
            body = self._body(messages, response_format, limit, tools, on_delta is not None)
            body.update(self._options.body)
            if refused is not None and body in tried:
                raise refused  # nothing was left out: the project itself puts it in
            try:
                if on_delta is None:
                    parts, exchange = await self._whole(body)
                else:
                    parts, exchange = await self._streamed(body, on_delta)
                break
            except LanguageModelError as error:
                if time.perf_counter() - began > self._options.call_limit or not self._adapt(error):
                    raise
                tried.append(body)
                refused = error
        return Completion(
            text=parts.text,
            finish_reason=parts.finish_reason,
            refusal=parts.refusal,
            usage=parts.usage,
            model=parts.model or self.name,
            elapsed_ms=(time.perf_counter() - began) * 1000,
            tool_calls=parts.tool_calls,
            exchange=exchange,
            cost=self._options.prices.cost(parts.usage),
        )

    async def probe(self) -> Probe:
        """Ask for a tiny object by a schema, and for the list of models."""
        models = await self._list_models()
        deltas: list[str] = []
        schema = {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": False,
        }
        question = [Message("user", 'Answer with the JSON object {"ok": true} and nothing else.')]
        obeyed: bool | None = None
        try:
            try:
                answer = await self.complete(
                    question,
                    response_format=json_schema_format("probe", schema),
                    max_tokens=200,
                    on_delta=deltas.append,
                )
                obeyed = _is_ok_object(answer.text)
            except LanguageModelError as error:
                if error.status not in (400, 422):
                    raise
                obeyed, deltas = False, []
                answer = await self.complete(question, max_tokens=200, on_delta=deltas.append)
        except LanguageModelError as error:
            return Probe(False, error.message, self.name, models)
        known = answer.usage.total_tokens is not None
        return Probe(True, f"{answer.model} answered.", answer.model, models, obeyed, len(deltas) > 1, known)

    async def describe(self) -> ModelDescription:
        """Return which model this is and what to expect of it."""
        local = is_local(self._target.base_url)
        place = "a server on this computer" if local else self._target.base_url
        expectation = (
            "Answers come from the server that you run; what is asked does not leave this computer."
            if local
            else "What is asked is sent to this server, which may charge for it."
        )
        return ModelDescription(self.name, self.provider, place, expectation, local)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    # ---- sending ----

    async def _whole(self, body: Mapping[str, Any]) -> tuple[Parts, Exchange]:
        try:
            reply = await self._http.post_json(
                self._url(),
                body,
                headers=self._headers(),
                secret=self._target.secret,
                secret_header=self._secret_header(),
            )
        except HttpError as error:
            raise self._failure(error) from error
        assert reply.json is not None
        return self._decoded(reply.json.value, body, reply.request), reply.request

    async def _streamed(self, body: Mapping[str, Any], on_delta: OnDelta) -> tuple[Parts, Exchange]:
        try:
            async with self._http.stream_lines(
                self._url(),
                body,
                headers=self._headers(),
                secret=self._target.secret,
                secret_header=self._secret_header(),
            ) as stream:
                if "application/json" in stream.headers.get("content-type", "").lower():
                    return await self._unstreamed(stream, body, on_delta)
                return await self._folded(stream, body, on_delta)
        except HttpError as error:
            raise self._failure(error) from error

    async def _unstreamed(
        self, stream: LineStream, body: Mapping[str, Any], on_delta: OnDelta
    ) -> tuple[Parts, Exchange]:
        """Read an answer of a server that does not stream though it was asked to."""
        text = await stream.text()
        exchange = self._with_text(stream.exchange, text)
        document = parse_json(text)
        if not document.ok:
            raise self._bad_shape("its body is not valid JSON", exchange)
        parts = self._decoded(document.value, body, exchange)
        if parts.text:
            on_delta(parts.text)
        return parts, exchange

    async def _folded(
        self, stream: LineStream, body: Mapping[str, Any], on_delta: OnDelta
    ) -> tuple[Parts, Exchange]:
        decoder = self._decoder(body)
        lines: list[str] = []
        blank_run = 0
        heard = _Heard(stream)
        async with contextlib.aclosing(self._events(heard)) as events:  # type: ignore[type-var]
            while (data := await _next_event(events, decoder)) is not None:
                lines.append(data)
                if data == "[DONE]":
                    decoder.complete = True
                    break
                if stream.cut_off and not parse_json(data).ok:
                    break  # the connection ended within this event
                delta = self._fed(decoder, data, stream.exchange)
                if decoder.complete and decoder.last_word:
                    if delta:
                        on_delta(delta)
                    break  # a server may keep the connection open after its last word
                if delta:
                    on_delta(delta)
                    kept = len(delta) - len(delta.rstrip())
                    blank_run = blank_run + kept if kept == len(delta) else kept
                    if blank_run > LONGEST_BLANK_RUN:
                        decoder.parts.finish_reason = "length"
                        decoder.complete = True
                        break
        if not lines:
            raise self._bad_shape("it holds no events", self._with_text(stream.exchange, heard.text()))
        exchange = self._with_text(stream.exchange, "\n".join(lines))
        if not decoder.complete:
            raise LanguageModelError(
                "broken_off",
                f"{stream.exchange.url} ended the answer before it was complete. It said: "
                + excerpt_of(exchange.response_text),
                exchange=exchange,
            )
        try:
            return decoder.finish(), exchange
        except ShapeError as error:
            raise self._bad_shape(str(error), exchange) from None

    def _fed(self, decoder: StreamDecoder, data: str, exchange: Exchange) -> str:
        document = parse_json(data)
        if not document.ok or not isinstance(document.value, dict):
            raise self._bad_shape("a piece of its stream is no JSON object", self._with_text(exchange, data))
        try:
            return decoder.feed(document.value)
        except ShapeError as error:
            raise self._bad_shape(str(error), self._with_text(exchange, data)) from None
        except ServerError as error:
            raise self._reported(str(error), self._with_text(exchange, data)) from None

    def _decoded(self, value: Any, body: Mapping[str, Any], exchange: Exchange) -> Parts:
        try:
            return self._decode(value, body)
        except ShapeError as error:
            raise self._bad_shape(str(error), exchange) from None
        except ServerError as error:
            raise self._reported(str(error), exchange) from None

    def _secret_header(self) -> str:
        return self._options.secret_header or self.default_secret_header

    def _with_text(self, exchange: Exchange, text: str) -> Exchange:
        return replace(exchange, response_text=self._scrub(text))

    def _scrub(self, text: str) -> str:
        """Take the key out of what a server said: some repeat it when they refuse it."""
        return text if self._target.secret is None else self._target.secret.scrub(text)

    # ---- errors ----

    def _bad_shape(self, why: str, exchange: Exchange) -> LanguageModelError:
        excerpt = excerpt_of(exchange.response_text)
        return LanguageModelError(
            "bad_shape",
            f"{exchange.url} answered with something that is no completion: {why}. It said: {excerpt}",
            status=exchange.status,
            exchange=exchange,
        )

    def _reported(self, said: str, exchange: Exchange) -> LanguageModelError:
        said = self._scrub(said)
        kind: ErrorKind = "context" if _says_too_long(said) else "status"
        return LanguageModelError(
            kind,
            f"{exchange.url} reported a failure: {shorten(one_line(said), 500)}",
            status=exchange.status,
            server_message=said,
            exchange=exchange,
        )

    def _failure(self, error: HttpError) -> LanguageModelError:
        kind = _KINDS[error.kind]
        said = error.server_message or ""
        if error.kind == "status" and error.status in (400, 413, 422) and _says_too_long(said):
            kind = "context"
        return LanguageModelError(
            kind,
            error.message,
            status=error.status,
            server_message=error.server_message,
            hint=self._hint(error),
            exchange=error.exchange,
        )

    def _hint(self, error: HttpError) -> str | None:
        if error.status in (401, 403):
            return self._key_hint()
        if error.status == 404:
            return f"Is the model {self.name!r} there, and is {self._url()} the address of a {self.provider} server?"
        if error.status == 400 and "decision" in (error.server_message or "").lower():
            return "This is a decision model: use it under [models.decision] with the provider openai or system-one."
        if error.kind == "connect" and is_local(self._target.base_url):
            return "Is the server running on this computer?"
        return None

    def _key_hint(self) -> str:
        if self._target.secret is not None:
            return f"The server does not take the secret {self._target.secret.name!r}."
        name = self._target.secret_name
        if name is None:
            return "The project names no secret for this model: set `secret` to the name of one."
        return f"There is no value for the secret {name!r}: enter it, or set {variable_name(name)}."

    async def _list_models(self) -> tuple[str, ...] | None:
        try:
            reply = await self._http.get_json(
                self._models_url(),
                headers=self._headers(),
                secret=self._target.secret,
                secret_header=self._secret_header(),
            )
        except (HttpError, LanguageModelError):
            return None
        value = reply.json.value if reply.json is not None else None
        rows = (value.get("data") or value.get("models")) if isinstance(value, dict) else None
        if not isinstance(rows, list):
            return None
        names = [row.get("id") or row.get("name") for row in rows if isinstance(row, dict)]
        return tuple(name for name in names if isinstance(name, str))


def _says_too_long(said: str) -> bool:
    lowered = said.lower()
    return any(words in lowered for words in _TOO_LONG)


def _is_ok_object(text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and set(value) == {"ok"} and isinstance(value["ok"], bool)


async def _next_event(events: AsyncIterator[str], decoder: StreamDecoder) -> str | None:
    """Return the next event, `None` at the end; an answer that is complete waits a moment for its count of tokens."""
    if not decoder.complete:
        return await anext(events, None)
    try:
        async with asyncio.timeout(AFTER_THE_END):
            return await anext(events, None)
    except (TimeoutError, HttpError):
        return None


def listed(value: Any, what: str) -> list[Any]:
    """Return a list that may be missing.

    Raises:
        ShapeError: it is something else.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise ShapeError(f"{what} are no list")
    return value


def arguments_text(value: Any) -> str:
    """Return the arguments of a call as JSON text; some servers send the object itself instead of its text."""
    if isinstance(value, str):
        return value
    return "" if value is None else dumps(value)


async def sse_data(stream: Lines) -> AsyncIterator[str]:
    """Yield the data of each server-sent event; comments and other fields are skipped."""
    data: list[str] = []
    async for line in stream:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)


def usage_of(value: Any, input_name: str, output_name: str) -> Usage:
    """Return the usage that an object tells; what it does not tell is unknown."""
    if not isinstance(value, Mapping):
        return Usage()
    return Usage(count(value.get(input_name)), count(value.get(output_name)))


def error_text(value: Any) -> str | None:
    """Return the text of an `error` member inside an answer, `None` when there is no error."""
    error = value.get("error") if isinstance(value, Mapping) else None
    if not error:
        said = value.get("message") if isinstance(value, Mapping) and value.get("object") == "error" else None
        return said if isinstance(said, str) else None
    if isinstance(error, Mapping):
        return str(error.get("message") or error.get("type") or json.dumps(error))
    return str(error)
