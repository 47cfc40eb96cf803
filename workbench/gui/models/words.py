"""Makes the engine's sentences fit for the window, where what is quoted stands in quotation marks."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"`([^`\n]+)`")


def plain(text: str) -> str:
    """Return `text` with “…” for what stands in backquotes; a lone backquote stays."""
    return _QUOTED.sub(r"“\1”", text)
