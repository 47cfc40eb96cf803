"""Opens every connection of the program: retries, time limits, caps, cancelling and redaction in one place.

The rules of retrying are those of the official clients of decision servers: 408, 429 and all 5xx (529
included), failed connections and timeouts are tried again; other answers are final, and an answer with
status 200 is never asked for again because of its content. `retry-after-ms` comes before `Retry-After`
(seconds or a date); both count up to 60 s. Certificates are always checked, redirects are not followed (they
could carry a key elsewhere), and an address on this computer is never reached through a proxy.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import email.utils
import ipaddress
import json
import math
import random
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from workbench import __version__
from workbench.engine.json_text import JsonDocument, dumps, parse_json_bytes
from workbench.engine.secrets import Secret, origin_of
from workbench.engine.text import one_line, shorten, visible

if TYPE_CHECKING:
    import httpx

    Transport = httpx.AsyncBaseTransport
else:
    Transport = Any  # what may stand in for the network; named here so that no other module needs httpx

BODY_CAP = 32 * 1024 * 1024
"""Bytes of an answer that are read by default; an answer that is longer is an error."""

ERROR_BODY_CAP = 256 * 1024
"""Bytes of the body of an error answer that are read; the rest does not matter."""

LONGEST_RETRY_AFTER = 60.0
"""Seconds of waiting that a server may ask for; above that its wish is not a time to wait but a refusal."""

LONGEST_STREAM = 600.0
"""Seconds that one streamed answer may take by default."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
_RAW_LIMIT = 200
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key", "cookie", "set-cookie"}
)
_SECRET_QUERY = re.compile(r"key|token|secret|sig|password", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)

ErrorKind = Literal["url", "secret", "connect", "tls", "timeout", "status", "body", "too_large", "broken_off"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, without secrets: fit for the window, the history and a report.

    `request_body` is the JSON value that was sent. `status` is `None` when no answer came. `repr` shows no
    bodies, since they hold what people wrote.
    """

    method: str
    url: str
    request_headers: Mapping[str, str]
    request_body: Any = field(repr=False)
    status: int | None = None
    response_headers: Mapping[str, str] = field(default_factory=dict)
    response_text: str = field(default="", repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the exchange as a JSON-like value."""
        return {
            "method": self.method,
            "url": self.url,
            "request_headers": dict(self.request_headers),
            "request_body": self.request_body,
            "status": self.status,
            "response_headers": dict(self.response_headers),
            "response_text": self.response_text,
        }


@dataclass(frozen=True, slots=True)
class HttpReply:
    """An answer with a status of success.

    `elapsed_ms` covers all attempts and pauses, `attempts` counts requests from 1. `json` is the parsed
    body; `text` is the body. `request` is the exchange without secrets.
    """

    status: int
    headers: Mapping[str, str]
    text: str = field(repr=False)
    json: JsonDocument | None = field(repr=False)
    elapsed_ms: float
    attempts: int
    request: Exchange

    @property
    def request_id(self) -> str | None:
        """The server's name for this request, for questions to its operators."""
        for name in ("x-request-id", "x-typesafe-request-id", "request-id"):
            if name in self.headers:
                return self.headers[name]
        return None


class HttpError(Exception):
    """A request that brought no usable answer; the text names the address and what the server said.

    `kind`: `url` (an address that cannot be used), `secret` (a key for another server), `connect`, `tls`,
    `timeout`, `status` (an error status; `server_message` is what the server said), `body` (success, but no
    JSON), `too_large`, `broken_off` (the connection ended in the middle). `retry_after` is in seconds.
    Cancelling is not an error of this kind: it stays `asyncio.CancelledError`.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        url: str = "",
        status: int | None = None,
        server_message: str | None = None,
        retry_after: float | None = None,
        attempts: int = 0,
        exchange: Exchange | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.url = url
        self.status = status
        self.server_message = server_message
        self.retry_after = retry_after
        self.attempts = attempts
        self.exchange = exchange
        self.retryable = kind in ("connect", "timeout", "broken_off")


class LineStream:
    """The lines of an answer as they arrive, without their line ends (LF, CR LF or CR, and nothing else)."""

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        exchange: Exchange,
        attempts: int,
        chunks: AsyncIterator[bytes],
    ) -> None:
        self.status = status
        self.headers = headers
        self.exchange = exchange
        self.attempts = attempts
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[str]:
        rest = bytearray()
        searched = 0
        async for chunk in self._chunks:
            rest += chunk
            while (end := _line_end(rest, searched)) is not None:
                yield rest[: end[0]].decode("utf-8", "replace")
                del rest[: end[1]]
                searched = 0
            searched = max(0, len(rest) - 1)
        if rest:
            yield rest.rstrip(b"\r").decode("utf-8", "replace")

    async def text(self) -> str:
        """Return the whole rest of the answer, for servers that do not stream."""
        return b"".join([chunk async for chunk in self._chunks]).decode("utf-8", "replace")


def _line_end(data: bytearray, start: int) -> tuple[int, int] | None:
    """Return (end of the line, start of the next) or `None`; a CR at the very end may be half a CR LF."""
    lf = data.find(b"\n", start)
    cr = data.find(b"\r", start, lf if lf >= 0 else len(data))
    if cr >= 0 and cr + 1 < len(data):
        return cr, cr + (2 if data[cr + 1] == 0x0A else 1)
    return (lf, lf + 1) if lf >= 0 else None


Sleep = Callable[[float], Awaitable[None]]


class HttpClient:
    """Sends JSON to servers, for one model at a time.

    `attempt_timeout` (seconds) covers one attempt with its body, for a stream the time to its head and
    between two pieces; `stream_limit` (seconds) covers all of a stream, so that a server that sends a little
    for ever is left in the end. `total_budget` (seconds) limits when a retry may begin: when the next one would begin
    later, the last real error is raised. `max_retries` counts the requests after the first. `body_cap` is
    in bytes. `retry_header` names the header in which a retry tells its number. `transport` replaces the
    network in tests; `clock`, `sleep` and `jitter` replace time.
    """

    def __init__(
        self,
        *,
        transport: Transport | None = None,
        total_budget: float = 30.0,
        attempt_timeout: float = 10.0,
        stream_limit: float = LONGEST_STREAM,
        max_retries: int = 2,
        body_cap: int = BODY_CAP,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        retry_header: str = "X-Retry-Count",
    ) -> None:
        self.total_budget = total_budget
        self.attempt_timeout = attempt_timeout
        self.stream_limit = stream_limit
        self.max_retries = max_retries
        self.body_cap = body_cap
        self._transport = transport
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._retry_header = retry_header
        self._clients: dict[bool, httpx.AsyncClient] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post_json(
        self,
        url: str,
        body: Any,
        *,
        headers: Mapping[str, str] | None = None,
        secret: Secret | None = None,
        secret_header: str = "Authorization",
    ) -> HttpReply:
        """Post `body` as JSON and return the JSON answer.

        `secret` is sent as `Authorization: Bearer …`, or plain in another `secret_header`.

        Raises:
            HttpError: see there.
        """
        return await self._json("POST", url, body, headers, secret, secret_header)

    async def get_json(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        secret: Secret | None = None,
        secret_header: str = "Authorization",
    ) -> HttpReply:
        """Get a JSON answer; otherwise as `post_json`."""
        return await self._json("GET", url, None, headers, secret, secret_header)

    @contextlib.asynccontextmanager
    async def stream_lines(
        self,
        url: str,
        body: Any,
        *,
        headers: Mapping[str, str] | None = None,
        secret: Secret | None = None,
        secret_header: str = "Authorization",
    ) -> AsyncIterator[LineStream]:
        """Post `body` as JSON and give the lines of the answer as they come.

        Only opening the stream is retried. Leaving the block closes the connection.

        Raises:
            HttpError: see there; also while the lines are read.
        """
        call = _Call("POST", url, body, dict(headers or {}), secret, secret_header)
        response, attempts = await self._retrying(call, self._open)
        try:
            exchange = replace(
                call.exchange(), status=response.status_code, response_headers=_safe_headers(response)
            )
            chunks = self._within(call, self._chunks(call, response, self.body_cap))
            yield LineStream(response.status_code, dict(response.headers), exchange, attempts, chunks)
        finally:
            await _close(response)

    async def aclose(self) -> None:
        """Close all connections; a later request opens new ones."""
        clients, self._clients = list(self._clients.values()), {}
        if self._loop is asyncio.get_running_loop():
            for client in clients:
                await client.aclose()

    # ---- one request with its retries ----

    async def _json(
        self,
        method: str,
        url: str,
        body: Any,
        headers: Mapping[str, str] | None,
        secret: Secret | None,
        secret_header: str,
    ) -> HttpReply:
        began = self._clock()
        call = _Call(method, url, body, dict(headers or {}), secret, secret_header)
        (response, data), attempts = await self._retrying(call, self._fetch)
        document = parse_json_bytes(data)
        text = data.decode("utf-8", "replace")
        exchange = call.exchange(response, text)
        if not document.ok:
            raise HttpError(
                "body",
                f"{call.shown_url} answered with status {response.status_code}, but {_why_no_json(text, document)}.",
                url=call.shown_url,
                status=response.status_code,
                server_message=_cut_raw(call.scrub(text)),
                attempts=attempts,
                exchange=exchange,
            )
        elapsed = (self._clock() - began) * 1000
        return HttpReply(
            response.status_code, dict(response.headers), text, document, elapsed, attempts, exchange
        )

    async def _retrying(self, call: _Call, attempt: Callable[[_Call], Awaitable[Any]]) -> tuple[Any, int]:
        """Run `attempt` until it succeeds or its error is final; return its result and the count of requests."""
        began = self._clock()
        number = 0
        while True:
            number += 1
            if number > 1:
                call.retries = number - 1
            try:
                return await attempt(call), number
            except HttpError as error:
                error.attempts = number
                if not error.retryable or number > self.max_retries:
                    raise
                pause = self._pause(error, number)
                if self._clock() - began + pause > self.total_budget:
                    raise
            await self._sleep(pause)

    def _pause(self, error: HttpError, number: int) -> float:
        if error.retry_after is not None and error.retry_after <= LONGEST_RETRY_AFTER:
            return error.retry_after
        pause: float = min(_FIRST_PAUSE * 2 ** (number - 1), _LONGEST_PAUSE)
        return pause * (1 - 0.25 * self._jitter())

    async def _fetch(self, call: _Call) -> tuple[httpx.Response, bytes]:
        """Do one attempt and read its body, all within the time of an attempt."""
        try:
            async with asyncio.timeout(self.attempt_timeout):
                response = await self._send(call)
                try:
                    await self._refuse_status(call, response)
                    data = b"".join(
                        [chunk async for chunk in self._chunks(call, response, self.body_cap, None)]
                    )
                finally:
                    await _close(response)
        except TimeoutError:
            raise self._timeout(call) from None
        return response, data.removeprefix(codecs.BOM_UTF8)

    async def _open(self, call: _Call) -> httpx.Response:
        """Do one attempt up to the head of the answer; the caller closes what is returned."""
        try:
            async with asyncio.timeout(self.attempt_timeout):
                response = await self._send(call)
                try:
                    await self._refuse_status(call, response)
                except BaseException:
                    await _close(response)
                    raise
                return response
        except TimeoutError:
            raise self._timeout(call) from None

    async def _send(self, call: _Call) -> httpx.Response:
        import httpx

        client = self._client(call)
        try:
            request = client.build_request(
                call.method, call.url, headers=call.wire_headers(self._retry_header), content=call.content
            )
            if _httpx_origin(request.url) != call.origin:
                raise HttpError(
                    "url",
                    f"The address {call.shown_url} is read differently by programs.",
                    url=call.shown_url,
                )
            return await client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise self._transport_error(call, error) from error
        except httpx.InvalidURL as error:
            raise HttpError(
                "url", f"The address {call.shown_url} cannot be used: {error}.", url=call.shown_url
            ) from error

    def _client(self, call: _Call) -> httpx.AsyncClient:
        """Return the client for this event loop: one that knows the proxies, one for this computer that does not."""
        import httpx

        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._clients = {}  # connections of a loop that is gone cannot be closed any more
            self._loop = loop
        local = is_loopback(call.host)
        if local not in self._clients:
            # Proxies of the environment would also take the place of a transport that was given.
            environment = not local and self._transport is None
            self._clients[local] = httpx.AsyncClient(
                transport=self._transport, trust_env=environment, timeout=None, follow_redirects=False
            )
        return self._clients[local]

    async def _refuse_status(self, call: _Call, response: httpx.Response) -> None:
        """Raise what an answer without success means; its body is read as far as it is useful."""
        status = response.status_code
        if 200 <= status < 300:
            return
        text = ""
        with contextlib.suppress(HttpError):
            text = await self._head_of_body(call, response)
        said = server_message(status, call.scrub(text))
        if 300 <= status < 400 and not text.strip() and response.headers.get("location"):
            target = shorten(visible(redact_url(call.scrub(response.headers["location"]))), 200)
            said = f"a redirect to {target}, which is not followed"
        error = HttpError(
            "status",
            f"{call.shown_url} answered with status {status}: {said}",
            url=call.shown_url,
            status=status,
            server_message=said,
            retry_after=retry_after(response.headers),
            exchange=call.exchange(response, text),
        )
        transient = status in (408, 429) or status >= 500
        error.retryable = transient and response.headers.get("x-should-retry", "").lower() != "false"
        raise error

    async def _head_of_body(self, call: _Call, response: httpx.Response) -> str:
        data = bytearray()
        async for chunk in self._chunks(call, response, None, None):
            data += chunk
            if len(data) > ERROR_BODY_CAP:
                break
        return data[:ERROR_BODY_CAP].decode("utf-8", "replace")

    async def _chunks(
        self, call: _Call, response: httpx.Response, cap: int | None, idle: float | None = -1
    ) -> AsyncIterator[bytes]:
        """Give the pieces of a body, at most `cap` bytes, each within `idle` seconds (-1: as an attempt)."""
        import httpx

        if idle == -1:
            idle = self.attempt_timeout
        length = response.headers.get("content-length", "")
        if cap is not None and length.isascii() and length.isdigit() and int(length) > cap:
            raise self._too_large(call, cap)
        seen = 0
        pieces = response.aiter_bytes()
        try:
            while True:
                async with asyncio.timeout(idle):
                    chunk = await anext(pieces, None)
                if chunk is None:
                    return
                seen += len(chunk)
                if cap is not None and seen > cap:
                    raise self._too_large(call, cap)
                yield chunk
        except TimeoutError:
            if idle is None:
                raise  # the time of the whole attempt is over
            raise self._timeout(call) from None
        except httpx.HTTPError as error:
            raise self._transport_error(call, error) from error

    async def _within(self, call: _Call, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Give the pieces of a stream until its time is over, however busily they come."""
        end = self._clock() + self.stream_limit
        while True:
            try:
                async with asyncio.timeout(max(0.0, end - self._clock())):
                    chunk = await anext(chunks, None)
            except TimeoutError:
                raise HttpError(
                    "timeout",
                    f"{call.shown_url} was still answering after {self.stream_limit:g} s and was stopped.",
                    url=call.shown_url,
                    exchange=call.exchange(),
                ) from None
            if chunk is None:
                return
            yield chunk

    # ---- errors ----

    def _timeout(self, call: _Call) -> HttpError:
        return HttpError(
            "timeout",
            f"{call.shown_url} did not answer within {self.attempt_timeout:g} s.",
            url=call.shown_url,
            exchange=call.exchange(),
        )

    def _too_large(self, call: _Call, cap: int) -> HttpError:
        return HttpError(
            "too_large",
            f"{call.shown_url} answered with more than {cap:,} bytes; the answer was not read.",
            url=call.shown_url,
            exchange=call.exchange(),
        )

    def _transport_error(self, call: _Call, error: Exception) -> HttpError:
        kind, what = _classify(error)
        return HttpError(
            kind,
            f"{call.shown_url} {what}: {call.scrub(_innermost(error))}",
            url=call.shown_url,
            exchange=call.exchange(),
        )


def _classify(error: Exception) -> tuple[ErrorKind, str]:
    import httpx

    if any(isinstance(cause, ssl.SSLError) for cause in _causes(error)):
        return "tls", "has no certificate that this computer trusts"
    if isinstance(error, httpx.TimeoutException):
        return "timeout", "did not answer in time"
    if isinstance(error, (httpx.ConnectError, httpx.ProxyError)):
        return "connect", "cannot be reached"
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
        return "url", "cannot be called"
    if isinstance(error, httpx.DecodingError):
        return "body", "answered with a body that cannot be decoded"
    return "broken_off", "ended the connection before the answer was complete"


def _causes(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _innermost(error: Exception) -> str:
    """Return the most telling text among an error and its causes: the operating system's, when there is one."""
    causes = _causes(error)
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message or str(cause)
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
    return next((str(cause) for cause in causes if str(cause)), type(error).__name__)


class _Call:
    """One request as it is sent, and as it may be shown."""

    def __init__(
        self,
        method: str,
        url: str,
        body: Any,
        headers: dict[str, str],
        secret: Secret | None,
        secret_header: str,
    ) -> None:
        self.shown_url = redact_url(url)
        try:
            self.origin = origin_of(url)
        except ValueError as error:
            raise HttpError("url", f"{str(error)[:1].upper()}{str(error)[1:]}.", url=self.shown_url) from None
        if secret is not None and secret.origin != self.origin:
            raise HttpError(
                "secret",
                f"The secret {secret.name!r} belongs to {secret.origin}, not to {self.origin}; nothing was sent.",
                url=self.shown_url,
            )
        self.method = method
        self.url = url
        self.host = urlsplit(self.origin).hostname or ""
        self.body = body
        self.content = None if body is None else _encode(body)
        self.retries = 0
        self._headers = headers
        self._secret = secret
        self._secret_header = secret_header

    def wire_headers(self, retry_header: str = "") -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": f"prompt-workbench/{__version__}"}
        if self.content is not None:
            headers["Content-Type"] = "application/json"
        headers.update(self._headers)
        if self._secret is not None:
            bearer = self._secret_header.lower() == "authorization"
            headers[self._secret_header] = f"Bearer {self._secret.value}" if bearer else self._secret.value
        if self.retries and retry_header:
            headers[retry_header] = str(self.retries)
        return headers

    def scrub(self, text: str) -> str:
        return text if self._secret is None else self._secret.scrub(text)

    def exchange(self, response: httpx.Response | None = None, text: str = "") -> Exchange:
        body = self.body
        if self._secret is not None and body is not None:
            # A key that was pasted into a prompt must not reach the history through its record either.
            written = json.dumps(body)
            scrubbed = self.scrub(written)
            body = body if scrubbed == written else json.loads(scrubbed)
        made = Exchange(self.method, self.shown_url, redact_headers(self.wire_headers()), body)
        if response is None:
            return made
        headers = {name: self.scrub(value) for name, value in _safe_headers(response).items()}
        return replace(
            made, status=response.status_code, response_headers=headers, response_text=self.scrub(text)
        )


def _encode(body: Any) -> bytes:
    try:
        return dumps(body).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(body).encode("ascii")  # half a surrogate pair can only travel as an escape


async def _close(response: httpx.Response) -> None:
    with contextlib.suppress(Exception):
        await response.aclose()


def _safe_headers(response: httpx.Response) -> dict[str, str]:
    return redact_headers(dict(response.headers))


def _httpx_origin(url: httpx.URL) -> str:
    host = url.raw_host.decode("ascii")
    host = f"[{host}]" if ":" in host else host
    port = "" if url.port is None else f":{url.port}"
    return origin_of(f"{url.scheme}://{host}{port}")


# ---- addresses ----------------------------------------------------------------------------------------


def join_endpoint(base_url: str, *path: str) -> str:
    """Return the address of the endpoint `path` under `base_url`, which may hold all or part of it already.

    `join_endpoint("http://h/v1", "v1", "chat/completions")` and the same with the full address as base both
    give `http://h/v1/chat/completions`. A query of the base is kept, a fragment is dropped.

    Raises:
        HttpError: `url`, when the base is no http(s) address.
    """
    try:
        origin_of(base_url.strip())
    except ValueError as error:
        raise HttpError(
            "url", f"{str(error)[:1].upper()}{str(error)[1:]}.", url=redact_url(base_url)
        ) from None
    parts = urlsplit(base_url.strip())
    base = [segment for segment in parts.path.split("/") if segment]
    pieces = [segment for piece in path for segment in piece.split("/") if segment]
    wanted = [quote(segment, safe="~:@!$&'()*+,;=%") for segment in pieces]
    overlap = max(n for n in range(min(len(base), len(wanted)) + 1) if base[len(base) - n :] == wanted[:n])
    joined = "/".join([*base, *wanted[overlap:]])
    return urlunsplit((parts.scheme, parts.netloc, "/" + joined, parts.query, ""))


def is_loopback(host: str) -> bool:
    """Tell whether `host` names this computer."""
    host = host.strip("[]").rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def redact_url(url: str) -> str:
    """Return `url` without user name, password, fragment and the values of telling query parameters."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return shorten(url, 100)
    query = parts.query
    if query:
        pairs = parse_qsl(query, keep_blank_values=True)
        query = urlencode(
            [(name, "***" if _SECRET_QUERY.search(name) else value) for name, value in pairs], safe="*"
        )
    netloc = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, netloc, parts.path, query, ""))


def redact_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return `headers` with the values that carry keys or cookies replaced by `***`."""
    return {name: "***" if name.lower() in _SECRET_HEADERS else value for name, value in headers.items()}


# ---- what servers say ---------------------------------------------------------------------------------


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a server asks to wait, `None` when it does not say so in a way that makes sense.

    `retry-after-ms` (milliseconds) counts before `retry-after` (seconds, with a fraction, or an HTTP date).
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _seconds(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    wait = (moment - (now or datetime.now(UTC))).total_seconds()
    return wait if wait >= 0 else None


def _seconds(value: str | None) -> float | None:
    try:
        number = float((value or "").strip())
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def server_message(status: int, text: str) -> str:
    """Return what a server says in the body of an error, in one line without control characters.

    Understood are texts, `error`, `error.message`, `message`, `detail`, `detail.message` and the lists of
    FastAPI; anything else is cut to 200 characters, and of an HTML page only its title is used.
    """
    stripped = text.strip()
    if not stripped:
        return f"status {status} (no body)"
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return _cut_raw(stripped)
    said = _said(value)
    return shorten(one_line(said), 1000) if said and said.strip() else _cut_raw(stripped)


def _said(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        value = value[0]  # Google wraps its errors in a list
    if not isinstance(value, dict):
        return None
    error, detail = value.get("error"), value.get("detail")
    if isinstance(error, str):
        return error
    for candidate in (_member(error), value.get("message"), detail, _member(detail)):
        if isinstance(candidate, str) and candidate:
            return candidate
    if isinstance(detail, list):
        return "; ".join(_fastapi_line(entry) for entry in detail) or None
    return None


def _member(value: Any) -> Any:
    return value.get("message") if isinstance(value, dict) else None


def _fastapi_line(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    where = entry.get("loc")
    steps = [str(step) for step in where] if isinstance(where, list) else []
    if steps and steps[0] == "body":
        steps = steps[1:]
    path, what = ".".join(steps), str(entry.get("msg", ""))
    return f"{path}: {what}" if path else what


def _cut_raw(text: str) -> str:
    text = text.strip()
    if text[:200].lstrip("\ufeff").lower().startswith(("<!doctype", "<html", "<head", "<?xml")):
        title = _TITLE.search(text[:20000])
        name = one_line(title.group(1)) if title else ""
        if name:
            return f"an HTML page titled “{shorten(name, 120)}”"
        words = one_line(re.sub(r"<[^<>]{0,2000}>", " ", text[:20000]))
        return f"an HTML page that says “{shorten(words, 120)}”" if words else "an HTML page"
    return shorten(one_line(text[:2000]), _RAW_LIMIT)


def excerpt_of(text: str) -> str:
    """Return what an answer said, fit for a message: at most 200 characters in one line; of a page, its title."""
    return _cut_raw(text) if text.strip() else "nothing"


def _why_no_json(text: str, document: JsonDocument) -> str:
    if not text.strip():
        return "with an empty body"
    if text.lstrip()[:1] == "<":
        return f"with {_cut_raw(text)}, not JSON; check that this is the address of the API"
    if not document.diagnostics:
        return "its body is not JSON"
    found = document.diagnostics[0]
    return f"its body is not valid JSON: {found.one_line()}".rstrip(".")
