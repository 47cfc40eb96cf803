"""Renames a parameter in templates and in the JSON of the parameters, and makes a parameter of a selection."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from workbench.engine.diagnostics import Fix
from workbench.engine.json_text import JsonDocument, split_pointer
from workbench.engine.templates.options import TemplateOptions
from workbench.engine.templates.paths import format_path
from workbench.engine.templates.program import Token, read_token
from workbench.engine.templates.settings import settings_from_options
from workbench.engine.templates.spans import parse_template
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

    A path with a wildcard is changed where the renamed name stands before the wildcard. Edits do not overlap
    and come from left to right; `apply_fixes` carries them out. `names` as in `parse_template`.
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
    assert token.path is not None
    if options.dialect == "braces":
        return new_name if len(target) == 1 and token.content == target[0] else None
    root = token.path.root
    if len(root) < len(target) or any(str(a) != b for a, b in zip(root, target, strict=False)):
        return None
    at = len(target) - 1
    if not isinstance(root[at], str):
        return None
    renamed = (*root[:at], new_name, *root[at + 1 :])
    rest = token.content[root_length(token.content, root) :] if token.path.segments is None else ""
    dollar = "$" if token.content.startswith("$") else ""
    path = format_path(renamed)
    if dollar:
        path = dollar + (path if path.startswith("[") else f".{path}")
    return path + rest


def root_length(content: str, root: Sequence[str | int]) -> int:
    """Return how many characters of a path spell its plain beginning `root`."""
    from workbench.engine.json_path import plain_segments

    for end in range(len(content), 0, -1):
        if content[end : end + 1] in (".", "[") and plain_segments(content[:end]) == tuple(root):
            return end
    return 0


def rename_key(document: JsonDocument, pointer: str, new_name: str) -> Fix | None:
    """Return the edit that renames the member at `pointer` in a JSON text; `None` when there is no such name."""
    place = document.key_span(pointer)
    if place is None:
        return None
    return Fix(f"Rename to {shorten(new_name, 40)}", *place, json.dumps(new_name, ensure_ascii=False))


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
