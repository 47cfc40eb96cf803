"""Renames a parameter in templates and in the JSON of the parameters, and makes a parameter of a selection."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.engine.diagnostics import Fix
from workbench.engine.json_text import (
    JsonDocument,
    escape_pointer,
    join_pointer,
    resolve_pointer,
    split_pointer,
)
from workbench.engine.templates.options import TemplateOptions
from workbench.engine.templates.path_steps import rename_in_path
from workbench.engine.templates.paths import format_path
from workbench.engine.templates.program import Token, read_token
from workbench.engine.templates.settings import settings_from_options
from workbench.engine.templates.spans import DELIMITERS, parse_template
from workbench.engine.text import shorten


def rename_in_template(
    text: str,
    pointer: str,
    new_name: str,
    options: TemplateOptions | None = None,
    *,
    names: Iterable[str] = (),
) -> tuple[Fix, ...]:
    """Return the edits of `text` that follow when the parameter at `pointer` is called `new_name`.

    An index in `pointer` stands for all items of its list, so that `orders[*].item` and `orders[1].item` follow
    when `/orders/0/item` is renamed, filters included. Edits do not overlap and come from left to right;
    `apply_fixes` carries them out. `names` as in `parse_template`.
    """
    options = options or TemplateOptions()
    target = split_pointer(pointer)
    if not target:
        return ()
    settings = settings_from_options(options)
    edits = []
    for span in parse_template(text, options, names=names).placeholders:
        token = read_token(span, settings)
        if token.shadowed or token.path is None:
            continue
        better = _renamed(token, target, new_name, options)
        if better is not None and better != token.content:
            end = token.content_start + len(token.content)
            title = f"Rename to {shorten(new_name, 40)}"
            edits.append(Fix(title, token.content_start, end, better))
    return tuple(edits)


def _renamed(token: Token, target: Sequence[str], new_name: str, options: TemplateOptions) -> str | None:
    """Return the content of a placeholder after the renaming, `None` when it does not read the parameter."""
    if options.dialect == "braces":
        return new_name if len(target) == 1 and token.content == target[0] else None
    if token.path is None or token.path.error is not None:
        return None
    return rename_in_path(token.content, target, new_name)


def rename_key(document: JsonDocument, pointer: str, new_name: str) -> Fix | None:
    """Return the edit that renames the member at `pointer` in a JSON text; `None` when there is no such name."""
    place = document.key_span(pointer)
    if place is None:
        return None
    return Fix(f"Rename to {shorten(new_name, 40)}", *place, json.dumps(new_name, ensure_ascii=False))


def rename_keys(document: JsonDocument, pointer: str, new_name: str) -> tuple[Fix, ...]:
    """Return the edits that rename the member at `pointer`, in every item of the lists on the way to it.

    Raises:
        ValueError: where an object has a member called `new_name` already.
    """
    fixes = []
    for place in _alike(document.value, split_pointer(pointer)):
        owner = resolve_pointer(document.value, place.rpartition("/")[0])
        if new_name in owner:
            raise ValueError(f"{place.rpartition('/')[0] or 'the root'} has a member {new_name!r} already")
        fix = rename_key(document, place, new_name)
        if fix is not None:
            fixes.append(fix)
    return tuple(sorted(fixes, key=lambda fix: fix.start))


def _alike(value: Any, tokens: Sequence[str]) -> list[str]:
    """Return the pointers of the member at `tokens`, with every index of a list in the place of one."""
    found = [("", value)]
    for token in tokens:
        inner: list[tuple[str, Any]] = []
        for pointer, each in found:
            if isinstance(each, Mapping) and token in each:
                inner.append((f"{pointer}/{escape_pointer(token)}", each[token]))
            elif isinstance(each, list) and token.isdigit():
                inner += [(f"{pointer}/{index}", item) for index, item in enumerate(each)]
        found = inner
    return [pointer for pointer, _ in found]


def apply_fixes(text: str, fixes: Iterable[Fix]) -> str:
    """Return `text` with all `fixes` carried out.

    Raises:
        ValueError: when two of them overlap.
    """
    parts: list[str] = []
    done = 0
    for fix in sorted(fixes, key=lambda fix: (fix.start, fix.end)):
        if fix.start < done:
            raise ValueError(f"two changes overlap at offset {fix.start}")
        parts += (text[done : fix.start], fix.replacement)
        done = fix.end
    return "".join(parts) + text[done:]


@dataclass(frozen=True, slots=True)
class Extraction:
    """A selection that became a parameter: the new template, and the name and value of the parameter."""

    text: str
    name: str
    value: str


def extract_parameter(
    text: str,
    start: int,
    end: int,
    name: str,
    options: TemplateOptions | None = None,
    *,
    names: Collection[str] = (),
) -> Extraction:
    """Put a placeholder in the place of `text[start:end]`; the parameter `name` gets what the range put out.

    Raises:
        ValueError: when the range cuts a placeholder or holds one, when `name` is empty or taken, or when a
            placeholder cannot carry it.
    """
    options = options or TemplateOptions()
    if not name or name in names:
        raise ValueError(f"the name {name!r} is taken" if name else "the parameter needs a name")
    parsed = parse_template(text, options, names=names)
    value = ""
    for span in parsed.spans:
        if span.end <= start or span.start >= end:
            continue
        if span.kind == "placeholder":
            raise ValueError(f"the selection holds the placeholder at offset {span.start}; select text only")
        if span.kind == "escaped":
            if span.start < start or span.end > end:
                raise ValueError(f"the selection cuts the escaped token at offset {span.start}")
            value += span.body
        else:
            value += text[max(start, span.start) : min(end, span.end)]
    token = placeholder_for(name, options)
    result = text[:start] + token + text[end:]
    made = parse_template(result, options, names={*names, name})
    if not any(s.start == start and s.end == start + len(token) for s in made.placeholders):
        raise ValueError(f"a placeholder for {name!r} cannot stand here; choose another name or range")
    return Extraction(result, name, value)


def placeholder_for(name: str, options: TemplateOptions) -> str:
    """Return the placeholder of the top-level parameter `name` in the dialect of the options."""
    if options.dialect == "braces":
        return "{" + name + "}"
    path = format_path((name,))
    return f"[%{options.context_name}.{path}%]" if options.dialect == "context" else "{{" + path + "}}"


def missing_member(
    body: str, parameters: Any, options: TemplateOptions | None = None
) -> tuple[str, str, str] | None:
    """Return what must be added to the parameters so that the placeholder `body` has a value.

    The result is the JSON Pointer of the object that gets a member, the member as JSON text with an empty
    text for the value, and its name. `None` where the path is no plain one, or leads into something that
    cannot have members.
    """
    options = options or TemplateOptions()
    opener, closer = DELIMITERS[options.dialect]
    parsed = parse_template(f"{opener}{body}{closer}", options, names=(body,))
    if len(parsed.placeholders) != 1:
        return None
    token = read_token(parsed.placeholders[0], settings_from_options(options))
    if token.kind != "path" or token.path is None or token.path.segments is None:
        return None
    segments, value = token.path.segments, parameters
    for at, segment in enumerate(segments):
        if isinstance(value, Mapping) and isinstance(segment, str):
            if segment not in value:
                return _member_at(segments[: at + 1], segments[at + 1 :])
        elif not (
            isinstance(value, list) and isinstance(segment, int) and -len(value) <= segment < len(value)
        ):
            return None
        value = value[segment]
    return None


def _member_at(above: Sequence[str | int], below: Sequence[str | int]) -> tuple[str, str, str] | None:
    made: Any = ""
    for segment in reversed(below):
        if not isinstance(segment, str):
            return None
        made = {segment: made}
    name = str(above[-1])
    text = f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(made, ensure_ascii=False)}"
    return join_pointer(*above[:-1]), text, name
