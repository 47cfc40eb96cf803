"""Reads the path in a placeholder once, and writes paths the way a person would."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.engine.json_path import JsonPathError, compile_path, plain_segments
from workbench.engine.json_text import join_pointer
from workbench.engine.templates.cache import BoundedCache
from workbench.engine.text import nearest

if TYPE_CHECKING:
    from workbench.engine.json_path import CompiledPath

_NAME = re.compile(r"[^\W\d]\w*")
_STEP = re.compile(r"(?=[.\[])")


@dataclass(frozen=True, slots=True)
class Path:
    """A path as read: `segments` when it consists of names and indexes, else `compiled`, else `error`.

    `definite` paths match exactly one value or none. `root` are the names and indexes that every match
    begins with: for an indefinite path, the part before its first wildcard, slice, filter or union.
    """

    segments: tuple[str | int, ...] | None
    compiled: CompiledPath | None
    error: JsonPathError | None
    definite: bool
    root: tuple[str | int, ...]


_cache: BoundedCache[Path] = BoundedCache(entries=8192, weight=4_000_000)


def read_path(text: str) -> Path:
    """Read the path of a placeholder; a bad one gives a `Path` with an `error`. Results are cached."""
    path = _cache.get(text)
    if path is None:
        path = _read(text)
        _cache.put(text, path, len(text) + 200)
    return path


def _read(text: str) -> Path:
    try:
        segments = plain_segments(text)
        if segments is not None:
            return Path(tuple(segments), None, None, True, tuple(segments))
        compiled = compile_path(text)
    except JsonPathError as error:
        return Path(None, None, error, True, ())
    return Path(None, compiled, None, compiled.definite, _plain_root(text))


_MOST_DOTS = 64


def _plain_root(text: str) -> tuple[str | int, ...]:
    """Return the names and indexes of the longest beginning of `text` that is a plain path."""
    best: tuple[str | int, ...] = ()
    for match in list(_STEP.finditer(text))[:64]:
        beginning = text[: match.start()]
        if not beginning or beginning.endswith("."):
            continue
        segments = plain_segments(beginning)
        if segments is None:
            break
        best = tuple(segments)
    return best


def format_path(segments: Sequence[str | int]) -> str:
    """Return the shortest plain spelling of a path: `user.name`, `items[0]`, `['x y'].z`; `$` for the root."""
    text = ""
    for segment in segments:
        if isinstance(segment, int):
            text += f"[{segment}]"
        elif _NAME.fullmatch(segment):
            text += f".{segment}" if text else segment
        else:
            text += f"[{quote_name(segment)}]"
    return text or "$"


def quote_name(name: str) -> str:
    """Return `name` as a quoted name for use in brackets."""
    inside = json.dumps(name, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{inside}'"


@dataclass(frozen=True, slots=True)
class Advice:
    """Why a path found nothing, and a corrected path when there is a likely one."""

    reason: str
    hint: str
    better: tuple[str | int, ...] | None = None


def advise(
    segments: Sequence[str | int], reached: Any, steps: Sequence[str | int], *, search: bool = True
) -> Advice:
    """Explain why `segments` lead nowhere: `steps` of them were found and lead to `reached`.

    `search` allows the look for a name that was probably meant, which costs time in large maps.
    """
    wanted = segments[len(steps)]
    where = f"{format_path(steps)}" if steps else "the parameters"
    rest = tuple(segments[len(steps) + 1 :])
    if isinstance(reached, Mapping):
        return _advise_in_map(segments, reached, steps, where, rest, search)
    if isinstance(reached, list | tuple):
        if isinstance(wanted, int):
            return Advice(
                f"{where} has {len(reached)} items, so there is no index {wanted}", "use an index in range"
            )
        hint = f"name one item, as in {format_path([*steps, 0, wanted])}, or all with [*]"
        return Advice(f"{where} is a list, which has no names", hint)
    kind = "null" if reached is None else "a single value"
    return Advice(f"{where} is {kind}, so nothing lies below it", "shorten the path or change the parameters")


def _advise_in_map(
    segments: Sequence[str | int],
    reached: Mapping[Any, Any],
    steps: Sequence[str | int],
    where: str,
    rest: tuple[str | int, ...],
    search: bool,
) -> Advice:
    wanted = segments[len(steps)]
    if isinstance(wanted, int):
        name = str(wanted)
        better = (*steps, name, *rest) if name in reached else None
        return Advice(f"{where} is an object, which has names and no indexes", "use a name", better)
    verb = "has" if steps else "have"
    missing = f"{where} {verb} no {json.dumps(wanted, ensure_ascii=False)}"
    joined = wanted
    # A name with more dots than that is not what was meant, and each longer one costs its length.
    for count, segment in enumerate(rest[:_MOST_DOTS], start=1):
        joined += f".{segment}"
        if joined in reached:
            better = (*steps, joined, *rest[count:])
            return Advice(missing, f"quote the name with the dot: {format_path(better)}", better)
    near = nearest(wanted, [key for key in reached if isinstance(key, str)]) if search else None
    if near is None:
        return Advice(missing, "add the parameter or correct the path")
    better = (*steps, near, *rest)
    case = " (case counts)" if near.casefold() == wanted.casefold() else ""
    return Advice(missing, f"did you mean {format_path(better)}?{case}", better)


def pointer_of(segments: Sequence[str | int]) -> str:
    """Return the JSON Pointer of a path of names and indexes."""
    return join_pointer(*segments)
