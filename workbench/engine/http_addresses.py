"""Joins, judges and shows addresses; what is shown carries no key."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from workbench.engine.http_values import HttpError
from workbench.engine.secrets import origin_of
from workbench.engine.text import shorten

_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key", "cookie", "set-cookie"}
)
_SECRET_QUERY = re.compile(r"key|token|secret|sig|password", re.IGNORECASE)


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


def without_endpoint(address: str, endpoints: Iterable[str]) -> str:
    """Return `address` cut back to its base where its path ends in one of `endpoints`, the longest that fits."""
    parts = urlsplit(address)
    path = parts.path.rstrip("/")
    for endpoint in sorted(endpoints, key=len, reverse=True):
        if path.endswith(f"/{endpoint}"):
            return urlunsplit(parts._replace(path=path.removesuffix(endpoint)))
    return address


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
