"""Unpacks the body of an answer in small pieces, so that a few bytes cannot become more than memory holds."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

__all__ = ["ENCODINGS", "PIECE", "PackingError", "decoded_pieces"]

ENCODINGS = "gzip, deflate"
"""What a request says that it takes; other encodings have no bound on how much one piece unpacks to."""

PIECE = 1024 * 1024
"""Bytes that are unpacked at a time."""

_PLAIN = ("", "identity")
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class PackingError(Exception):
    """A body that cannot be unpacked; the text says why."""


async def decoded_pieces(response: Any) -> AsyncIterator[bytes]:
    """Give the body of an `httpx.Response` in unpacked pieces; of one that was packed, none is longer than `PIECE`.

    Raises:
        PackingError: where the body is packed in a way that was not asked for, more than once, or is damaged.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if (
        response.is_stream_consumed or encoding in _PLAIN
    ):  # a stand-in for the network may have read all of it
        async for chunk in response.aiter_bytes():
            yield chunk
        return
    bits = _WINDOW_BITS.get(encoding)
    if bits is None:
        raise PackingError(f"it is packed as {encoding[:60]!r}, which was not asked for")
    unpacker = _Unpacker(bits)
    async for chunk in response.aiter_raw():
        try:
            for piece in unpacker.feed(chunk):
                yield piece
        except zlib.error as error:
            raise PackingError(f"it is no {encoding}: {error}") from error
    if not unpacker.complete:
        raise PackingError(f"its {encoding} ends too early")


class _Unpacker:
    """Unpacks one member of gzip, or of deflate with or without the head that it should have."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._inflate: Any = zlib.decompressobj(bits)
        self._begun = False

    @property
    def complete(self) -> bool:
        """Whether the end was reached; nothing at all is complete, too."""
        return not self._begun or bool(self._inflate.eof)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Give what `data` unpacks to; what stands behind the end is dropped."""
        if data and not self._begun and self._bits == 15 and data[0] & 0x0F != 8:
            self._inflate = zlib.decompressobj(-15)  # many servers send deflate without its head
        self._begun = self._begun or bool(data)
        while data and not self._inflate.eof:
            piece = self._inflate.decompress(data, PIECE)
            if piece:
                yield piece
            data = self._inflate.unconsumed_tail
