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
import json
import os
import random
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from workbench import __version__
from workbench.engine.http_addresses import (
    is_loopback,
    join_endpoint,
    redact_headers,
    redact_url,
    without_endpoint,
)
from workbench.engine.http_bodies import ENCODINGS, PackingError, decoded_pieces
from workbench.engine.http_lines import LineStream
from workbench.engine.http_replies import cut_raw, excerpt_of, retry_after, server_message, why_no_json
from workbench.engine.http_values import ErrorKind, Exchange, HttpError, HttpReply
from workbench.engine.json_text import dumps, parse_json_bytes
from workbench.engine.secrets import Secret, origin_of
from workbench.engine.text import shorten, visible

if TYPE_CHECKING:
    import httpx

    Transport = httpx.AsyncBaseTransport
else:
    Transport = Any  # what may stand in for the network; named here so that no other module needs httpx

__all__ = [
    "BODY_CAP",
    "ERROR_BODY_CAP",
    "LONGEST_RETRY_AFTER",
    "LONGEST_STREAM",
    "ErrorKind",
    "Exchange",
    "HttpClient",
    "HttpError",
    "HttpReply",
    "LineStream",
    "Transport",
    "excerpt_of",
    "is_loopback",
    "join_endpoint",
    "redact_headers",
    "redact_url",
    "retry_after",
    "server_message",
    "without_endpoint",
]

BODY_CAP = 32 * 1024 * 1024
"""Bytes of an answer that are read by default; an answer that is longer is an error."""

ERROR_BODY_CAP = 256 * 1024
"""Bytes of the body of an error answer that are read; the rest does not matter."""

LONGEST_RETRY_AFTER = 60.0
"""Seconds of waiting that a server may ask for; above that its wish is not a time to wait but a refusal."""

LONGEST_STREAM = 600.0
"""Seconds that one streamed answer may take by default."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
_CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


Sleep = Callable[[float], Awaitable[None]]


class HttpClient:
    """Sends JSON to servers, for one model at a time.

    `attempt_timeout` (seconds) covers one attempt with its body, for a stream the time to its head and
    between two pieces; `stream_limit` (seconds) covers all of a stream from its first request on, so that a
    server that sends a little for ever is left in the end. `total_budget` (seconds) limits when a retry may
    begin: when the next one would begin later, the last real error is raised. `call_limit` (seconds) covers all attempts
    and pauses of a call and cuts the last attempt short; by default it is the longer one of the budget and an
    attempt. `max_retries` counts the requests after the first. `body_cap` is in bytes. `retry_header` names the header in which a retry tells its number. `transport` replaces the
    network in tests; `clock`, `sleep` and `jitter` replace time.
    """

    def __init__(
        self,
        *,
        transport: Transport | None = None,
        total_budget: float = 30.0,
        attempt_timeout: float = 10.0,
        call_limit: float | None = None,
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
        self.call_limit = max(total_budget, attempt_timeout) if call_limit is None else call_limit
        self.stream_limit = stream_limit
        self.max_retries = max_retries
        self.body_cap = body_cap
        self._transport = transport
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._retry_header = retry_header
        self._clients: dict[tuple[bool, bool], httpx.AsyncClient] = {}
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
            chunks = self._within(call, self._chunks(call, response, self.body_cap))
            yield LineStream(
                response.status_code, dict(response.headers), call.exchange(response), attempts, chunks
            )
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
                f"{call.shown_url} answered with status {response.status_code}, but "
                f"{call.scrub(why_no_json(text, document, data))}.",
                url=call.shown_url,
                status=response.status_code,
                server_message=cut_raw(call.scrub(text)),
                attempts=attempts,
                exchange=exchange,
            )
        elapsed = (self._clock() - began) * 1000
        return HttpReply(
            response.status_code, dict(response.headers), text, document, elapsed, attempts, exchange
        )

    async def _retrying(self, call: _Call, attempt: Callable[[_Call], Awaitable[Any]]) -> tuple[Any, int]:
        """Run `attempt` until it succeeds or its error is final; return its result and the count of requests."""
        call.began = began = self._clock()
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
                elapsed = self._clock() - began + pause
                if elapsed > self.total_budget or elapsed >= self.call_limit:
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
            async with asyncio.timeout(self._seconds(call)):
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
            async with asyncio.timeout(self._seconds(call)):
                response = await self._send(call)
                try:
                    await self._refuse_status(call, response)
                except BaseException:
                    await _close(response)
                    raise
                return response
        except TimeoutError:
            raise self._timeout(call) from None

    def _seconds(self, call: _Call) -> float:
        """Return the time that an attempt has which begins now: less than usual where the call's time runs out."""
        left = call.began + self.call_limit - self._clock()
        call.cut_short = left < self.attempt_timeout
        return max(0.0, min(left, self.attempt_timeout))

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
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._clients = {}  # connections of a loop that is gone cannot be closed any more
            self._loop = loop
        local = is_loopback(call.host)
        key = local, call.origin.startswith("https:")
        if key not in self._clients:
            self._clients[key] = self._new_client(call, *key)
        return self._clients[key]

    def _new_client(self, call: _Call, local: bool, secure: bool) -> httpx.AsyncClient:
        import httpx

        # Proxies of the environment would also take the place of a transport that was given.
        environment = not local and self._transport is None
        own_certificates = any(os.environ.get(name) for name in _CERTIFICATE_VARIABLES)
        try:
            # Certificates of one's own count for a server on this computer, too.
            verify = httpx.create_ssl_context() if local and secure and own_certificates else True
            return httpx.AsyncClient(
                transport=self._transport,
                verify=verify,
                trust_env=environment,
                timeout=None,
                follow_redirects=False,
            )
        except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
            raise _environment_error(call, error) from error

    async def _refuse_status(self, call: _Call, response: httpx.Response) -> None:
        """Raise what an answer without success means; its body is read as far as it is useful."""
        status = response.status_code
        if 200 <= status < 300:
            return
        text = ""
        with contextlib.suppress(HttpError):
            text = await self._head_of_body(call, response)
        # Once more after its escapes are read: the server may have written the key with some.
        said = call.scrub(server_message(status, call.scrub(text)))
        if 300 <= status < 400 and response.headers.get("location"):
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
        pieces = decoded_pieces(response)
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
        except (httpx.HTTPError, PackingError) as error:
            raise self._transport_error(call, error) from error

    async def _within(self, call: _Call, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Give the pieces of a stream until its time is over, however busily they come."""
        end = call.began + self.stream_limit
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
        said = f"did not answer within {self.attempt_timeout:g} s"
        if call.cut_short:
            said = f"was not done after {self.call_limit:g} s, which is all the time that one call has"
        return HttpError(
            "timeout",
            f"{call.shown_url} {said}.",
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


def _environment_error(call: _Call, error: Exception) -> HttpError:
    """Return why no client can be made here; a proxy's address, which may carry a password, is not shown."""
    if isinstance(error, OSError):
        named = " or ".join(name for name in _CERTIFICATE_VARIABLES if os.environ.get(name))
        why = f"the certificates that {named or 'the system'} names cannot be read: {_innermost(error)}"
    else:
        upper = (name for name in os.environ if name.upper() in _PROXY_VARIABLES and os.environ[name])
        why = f"the proxy settings in {', '.join(sorted(upper)) or 'the system'} cannot be used"
        if isinstance(error, ImportError):
            why += '; for a SOCKS proxy run: pip install "httpx[socks]"'
    made = HttpError(
        "tls" if isinstance(error, OSError) else "connect",
        f"{call.shown_url} cannot be reached: {why}.",
        url=call.shown_url,
        exchange=call.exchange(),
    )
    made.retryable = False
    return made


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
    if isinstance(error, (httpx.DecodingError, PackingError)):
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
        self.began = 0.0  # when its first attempt began, by the client's clock
        self.cut_short = False  # whether the present attempt has less time than others
        self._headers = headers
        self._secret = secret
        self._secret_header = secret_header

    def wire_headers(self, retry_header: str = "") -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": ENCODINGS,
            "User-Agent": f"prompt-workbench/{__version__}",
        }
        if self.content is not None:
            headers["Content-Type"] = "application/json"
        headers = _headers_with(headers, self._headers)
        if self._secret is not None:
            bearer = self._secret_header.lower() == "authorization"
            value = f"Bearer {self._secret.value}" if bearer else self._secret.value
            headers = _headers_with(headers, {self._secret_header: value})
        if self.retries and retry_header:
            headers[retry_header] = str(self.retries)
        return headers

    def scrub(self, text: str) -> str:
        return text if self._secret is None else self._secret.scrub(text)

    def exchange(self, response: httpx.Response | None = None, text: str = "") -> Exchange:
        # A key that was pasted into a prompt must not reach the history through its record either.
        body = self.body if self._secret is None else _scrubbed(self.body, self.scrub)
        sent = {name: self.scrub(value) for name, value in redact_headers(self.wire_headers()).items()}
        if self._secret is not None:
            sent[self._secret_header] = "***"  # whatever the header is called, and however short the key is
        made = Exchange(self.method, self.shown_url, sent, body)
        if response is None:
            return made
        headers = {name: self.scrub(value) for name, value in _safe_headers(response).items()}
        return replace(
            made, status=response.status_code, response_headers=headers, response_text=self.scrub(text)
        )


def _headers_with(headers: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Return `headers` with `more` in the place of those of the same name; the names of headers have no case."""
    taken = {name.lower() for name in more}
    return {name: value for name, value in headers.items() if name.lower() not in taken} | dict(more)


def _scrubbed(value: Any, scrub: Callable[[str], str]) -> Any:
    """Return a JSON-like value, however deep, with `scrub` done to its texts; numbers stay what they are."""
    top: list[Any] = [value]
    copies: list[Any] = [top]
    while copies:
        copy = copies.pop()
        for key, member in copy.items() if isinstance(copy, dict) else enumerate(copy):
            if isinstance(member, str):
                copy[key] = scrub(member)
            elif isinstance(member, Mapping):
                copy[key] = {scrub(k) if isinstance(k, str) else k: each for k, each in member.items()}
                copies.append(copy[key])
            elif isinstance(member, list | tuple):
                copy[key] = list(member)
                copies.append(copy[key])
    return top[0]


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
