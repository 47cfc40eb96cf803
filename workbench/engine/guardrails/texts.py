"""Turns the content of a message into the one text that the checks see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_KINDS = ("image", "audio", "video", "pdf")


def message_text(content: str | Sequence[Any]) -> str:
    """Return the text of a message: its parts joined by newlines, an attachment as `[attached image]`.

    `content` is a text or a list of parts. A part is a text, a mapping with `type` (`text`, `image`, `audio`,
    `video`, `pdf`) and, for a text, `text`; or an object with a `text` attribute, or of a class named after
    its kind, such as `ImageContent`. The markers are the reference system's: the decision model never sees
    the attachment, but a check can still reject a message for having one.

    Raises:
        TypeError: where a part is none of these.
    """
    if isinstance(content, str):
        return content
    if content is None or isinstance(content, (bytes, Mapping)):
        raise TypeError(f"a message is a text or a list of parts, not {type(content).__name__}")
    return "\n".join(_part_text(part) for part in content)


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping):
        kind, text = str(part.get("type", "")), part.get("text")
    else:
        kind, text = type(part).__name__, getattr(part, "text", None)
    if isinstance(text, str):
        return text
    kind = kind.lower()
    for known in _KINDS:
        if known in kind:
            return f"[attached {known}]"
    raise TypeError(f"a part of a message is of an unknown kind: {kind or type(part).__name__}")


def is_blank(text: str) -> bool:
    """Tell whether a text is empty or Unicode white space only.

    A no-break space counts as blank here; the reference system, on Java's notion, would send it.
    """
    return not text.strip()
