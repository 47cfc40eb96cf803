"""A tiny HTTP server on this computer whose every byte a test decides."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Received:
    """One request that reached the server."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    """The address of a running server and what reached it; `arrived` is set with the first, `closed` when a client hangs up early."""

    url: str = ""
    requests: list[Received] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)


Answer = Callable[[Received, asyncio.StreamWriter, Server, asyncio.StreamReader], Awaitable[None]]


def reply(body: Any, status: int = 200, headers: str = "") -> bytes:
    """Return the bytes of a whole answer; anything but bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(data)}\r\nConnection: close\r\n{headers}\r\n"
    return head.encode() + data


def answers(*whole: bytes) -> Answer:
    """Answer the n-th request with the n-th of `whole`, and with the last ever after."""

    async def answer(
        request: Received, writer: asyncio.StreamWriter, server: Server, reader: asyncio.StreamReader
    ) -> None:
        writer.write(whole[min(len(server.requests), len(whole)) - 1])

    return answer


def endless(head: bytes, piece: bytes, pause: float) -> Answer:
    """Answer with `head` and then `piece` for ever, every `pause` seconds."""

    async def answer(
        request: Received, writer: asyncio.StreamWriter, server: Server, reader: asyncio.StreamReader
    ) -> None:
        writer.write(head)
        while not reader.at_eof():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


@contextlib.asynccontextmanager
async def serve(answer: Answer, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """Run a server on a free port of this computer."""
    state = Server()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path, _ = head[0].split(" ", 2)
            headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            state.requests.append(Received(method, path, headers, body))
            state.arrived.set()
            await answer(state.requests[-1], writer, state, reader)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    state.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield state
    finally:
        server.close()
