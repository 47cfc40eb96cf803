"""Offers what may stand in a placeholder: context names, parameter paths and fields, with types and samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.engine.templates.options import Dialect, TemplateOptions
from workbench.engine.templates.paths import format_path
from workbench.engine.templates.spans import DELIMITERS, declared_name
from workbench.engine.templates.values import type_name, value_text
from workbench.engine.text import shorten

_LIMIT = 1000
_DEPTH = 12
_LOOK_BACK = 400
_SAMPLE = 60


@dataclass(frozen=True, slots=True)
class Candidate:
    """One possible body of a placeholder, the type of its value and a shortened sample of it.

    `type` is a JSON type, or `text` for what contexts and fields give, or `undefined` for a declared
    placeholder without a value.
    """

    text: str
    type: str
    sample: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What can be put at the caret inside a placeholder.

    `candidates` replace the text between `start` and `end` (code points); `closing` is what must follow the
    chosen text, empty where the placeholder is closed already. `prefix` is the text before the caret that
    the candidates were chosen by.
    """

    start: int
    end: int
    prefix: str
    candidates: tuple[Candidate, ...]
    closing: str


def placeholder_candidates(parameters: Any, options: TemplateOptions | None = None) -> list[Candidate]:
    """Return the bodies that placeholders may have, outer values before inner ones; at most 1,000.

    Of a list the first item and, where items are objects, each of their members for all items are offered.
    """
    options = options or TemplateOptions()
    found: dict[str, Candidate] = {}
    for candidate in _candidates(parameters, options):
        found.setdefault(candidate.text, candidate)
        if len(found) >= _LIMIT:
            break
    return list(found.values())


def _candidates(parameters: Any, options: TemplateOptions) -> Iterator[Candidate]:
    dialect = options.dialect
    if dialect != "braces":
        for context, texts in options.contexts.items():
            for key, text in texts.items():
                yield Candidate(f"{context}.{key}", "text", shorten(text, _SAMPLE))
    for body, text in options.fields.items():
        yield Candidate(body, "text", shorten(text, _SAMPLE))
    if dialect == "braces":
        if isinstance(parameters, Mapping):
            for key, value in parameters.items():
                yield Candidate(str(key), type_name(value), _sample(value))
    else:
        prefix = f"{options.context_name}." if dialect == "context" else ""
        for path, value in _paths(parameters):
            yield Candidate(prefix + path, type_name(value), _sample(value))
    for name in (*options.required, *options.optional):
        yield Candidate(declared_name(name, dialect), "undefined", "")


def _paths(parameters: Any) -> Iterator[tuple[str, Any]]:
    waiting: deque[tuple[str, Any, int]] = deque([("", parameters, 0)])
    while waiting:
        path, value, depth = waiting.popleft()
        if path:
            yield path, value
        if depth >= _DEPTH:
            continue
        if isinstance(value, Mapping):
            for key, item in value.items():
                waiting.append((_below(path, str(key)), item, depth + 1))
        elif isinstance(value, list | tuple) and value:
            if isinstance(value[0], Mapping) and "[*]" not in path:
                for key, item in value[0].items():
                    waiting.append((_below(f"{path}[*]" if path else "$[*]", str(key)), item, depth + 1))
            waiting.append((f"{path}[0]" if path else "$[0]", value[0], depth + 1))


def _below(path: str, name: str) -> str:
    step = format_path((name,))
    return path + step if not path or step.startswith("[") else f"{path}.{step}"


def _sample(value: Any) -> str:
    """Return the beginning of the value's text; large containers are described rather than written out."""
    if isinstance(value, Mapping):
        return shorten(
            "{" + ", ".join(str(key) for _, key in zip(range(8), value, strict=False)) + "}", _SAMPLE
        )
    if isinstance(value, list | tuple):
        return f"{len(value)} item{'' if len(value) == 1 else 's'}"
    if isinstance(value, str):
        return shorten(value, _SAMPLE)
    try:
        return shorten(value_text(value, "null"), _SAMPLE)
    except (TypeError, ValueError):
        return ""


def completion_at(
    text: str, offset: int, parameters: Any, options: TemplateOptions | None = None
) -> Completion | None:
    """Return what may be put at `offset` (code points), or `None` when the caret is in no open placeholder.

    Candidates begin with what was typed; where none does, those that contain it are offered.
    """
    options = options or TemplateOptions()
    start = _body_start(text, offset, options.dialect)
    if start is None:
        return None
    prefix = text[start:offset]
    end, closing = _body_end(text, offset, options.dialect)
    every = placeholder_candidates(parameters, options)
    typed = prefix.strip().casefold()
    chosen = [c for c in every if c.text.casefold().startswith(typed)]
    if not chosen:
        chosen = [c for c in every if typed in c.text.casefold()]
    return Completion(start, end, prefix, tuple(chosen), closing)


def _body_start(text: str, offset: int, dialect: Dialect) -> int | None:
    opener, closer = DELIMITERS[dialect]
    low = max(0, offset - _LOOK_BACK)
    low = max(low, text.rfind("\n", low, offset) + 1, text.rfind("\r", low, offset) + 1)
    start = text.rfind(opener, low, offset)
    if start < 0:
        return None
    slashes = start
    while slashes > 0 and text[slashes - 1] == "\\":
        slashes -= 1
    if (start - slashes) % 2:
        return None  # the token is literal text
    start += len(opener)
    return None if text.find(closer, start, offset) >= 0 else start


def _body_end(text: str, offset: int, dialect: Dialect) -> tuple[int, str]:
    """Return the end of the body that the caret is in, and the closing mark when there is none on the line."""
    opener, closer = DELIMITERS[dialect]
    ends = [text.find(mark, offset, offset + _LOOK_BACK) for mark in ("\n", "\r", opener)]
    limit = min((end for end in ends if end >= 0), default=min(len(text), offset + _LOOK_BACK))
    end = text.find(closer, offset, limit + (len(closer) if limit == len(text) else 0))
    return (end, "") if end >= 0 else (offset, closer)
