"""Gives the lines of an answer while it still comes in, and refuses what is no text."""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator, Mapping

from workbench.engine.http_replies import not_utf8
from workbench.engine.http_values import Exchange, HttpError

__all__ = ["LineStream"]


class LineStream:
    """The lines of an answer as they arrive, without their line ends (LF, CR LF or CR, and nothing else).

    Reading raises `HttpError` of kind `body` at the first byte that is not UTF-8.
    """

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
        self.cut_off = False
        """Whether the last line had no end: it may be a piece of what the server meant to say."""
        self._chunks = chunks
        self._before = 0  # bytes of the lines that were given already

    async def __aiter__(self) -> AsyncIterator[str]:
        rest = bytearray()
        searched = 0
        async for chunk in self._chunks:
            rest += chunk
            if not self._before and rest.startswith(codecs.BOM_UTF8):
                del rest[:3]
                self._before, searched = 3, 0
            while (end := _line_end(rest, searched)) is not None:
                yield self._decoded(rest[: end[0]])
                del rest[: end[1]]
                self._before += end[1]
                searched = 0
            searched = max(0, len(rest) - 1)
        if rest:
            self.cut_off = rest[-1:] != b"\r"
            yield self._decoded(rest.rstrip(b"\r"))

    async def text(self) -> str:
        """Return the whole rest of the answer, for servers that do not stream."""
        return self._decoded(b"".join([chunk async for chunk in self._chunks]))

    def _decoded(self, data: bytes | bytearray) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            url = self.exchange.url
            why = not_utf8(data, self._before)
            message = f"{url} answered with status {self.status}, but {why}."
            raise HttpError(
                "body", message, url=url, status=self.status, attempts=self.attempts, exchange=self.exchange
            ) from None


def _line_end(data: bytearray, start: int) -> tuple[int, int] | None:
    """Return (end of the line, start of the next) or `None`; a CR at the very end may be half a CR LF."""
    lf = data.find(b"\n", start)
    cr = data.find(b"\r", start, lf if lf >= 0 else len(data))
    if cr >= 0 and cr + 1 < len(data):
        return cr, cr + (2 if data[cr + 1] == 0x0A else 1)
    return (lf, lf + 1) if lf >= 0 else None
