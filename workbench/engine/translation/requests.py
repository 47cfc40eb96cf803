"""Reads a file of requests, one a line, for batches."""

from __future__ import annotations

import re


def read_requests(text: str) -> list[str]:
    """Return the requests of a batch file's text.

    One request a line; CR LF and a byte order mark are understood, blank lines and lines that start with `#`
    are left out, and no request holds a line end.
    """
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    return [line for line in lines if line.strip() and not line.startswith("#")]
