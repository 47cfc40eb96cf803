"""What a request and its answer are once they are over: the values and the error that the HTTP client gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.engine.json_text import JsonDocument

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
