"""The texts in JSON values: all of them for the search, each changed where secrets are taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def strings_of(value: Any) -> Iterable[str]:
    """Yield every text in a JSON value but the keys, in order, without what UTF-8 cannot write."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item.encode("utf-8", "replace").decode("utf-8")
        elif isinstance(item, Mapping):
            stack.extend(reversed(list(item.values())))
        elif isinstance(item, list | tuple):
            stack.extend(reversed(item))


def map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with `change` done to each of its texts, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(key): map_strings(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [map_strings(item, change) for item in value]
    return value
