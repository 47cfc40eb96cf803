"""Reads what a server says besides its answer: how long to wait, why it refused, why its body is no JSON."""

from __future__ import annotations

import email.utils
import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from workbench.engine.json_text import JsonDocument
from workbench.engine.text import one_line, shorten

_RAW_LIMIT = 200
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)


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
        return cut_raw(stripped)
    said = _said(value)
    return shorten(one_line(said), 1000) if said and said.strip() else cut_raw(stripped)


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


def cut_raw(text: str) -> str:
    """Return at most 200 characters of a body in one line; of an HTML page its title, or the words it begins with."""
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
    return cut_raw(text) if text.strip() else "nothing"


def not_utf8(data: bytes | bytearray, before: int = 0) -> str | None:
    """Return which byte of a reply is not UTF-8, as the end of a sentence; `before` bytes came earlier, from 0."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"the reply is not UTF-8, byte {before + error.start} (0x{data[error.start]:02X})"
    return None


def why_no_json(text: str, document: JsonDocument, data: bytes = b"") -> str:
    """Return what is wrong with a body (`data` as it came) that should be JSON, as the end of a sentence on the server."""
    if not text.strip():
        return "with an empty body"
    if text.lstrip()[:1] == "<":
        return f"with {cut_raw(text)}, not JSON; check that this is the address of the API"
    broken = not_utf8(data)
    if broken is not None:
        return broken
    if not document.diagnostics:
        return "its body is not JSON"
    found = document.diagnostics[0]
    return f"its body is not valid JSON: {found.one_line()}".rstrip(".")
