"""What the filling of templates needs to know, made once from options or from a builder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.engine.templates.escapers import ESCAPERS, Escaper
from workbench.engine.templates.options import Dialect, Many, TemplateOptions, Unresolved
from workbench.engine.templates.spans import declared_name
from workbench.engine.text import nearest

ContextResolver = Callable[[str, str], Any]
BodyReplacer = Callable[[str], Any]

_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class FillSettings:
    """Options in the form in which they are applied.

    `escaper` is `None` for no escaping. `resolver` and `replacer` are callables of a library user; `contexts`
    and `fields` are their data-only counterparts. `touches_bodies` says that a body without a context has
    somebody who answers for it, so that one without an answer is unresolved rather than none of our concern.
    """

    dialect: Dialect = "context"
    context_name: str = "param"
    literal_escape: bool = True
    unresolved: Unresolved = "keep"
    null_text: str = ""
    many: Many = "join"
    escaper: Escaper | None = None
    escaper_name: str = "none"
    resolver: ContextResolver | None = None
    replacer: BodyReplacer | None = None
    contexts: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NOTHING)
    fields: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    touches_bodies: bool = True
    required: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()
    expand_parameters: bool = False
    replace_keys: bool = False
    collapse_blank_lines: bool = False


def settings_from_options(options: TemplateOptions) -> FillSettings:
    """Return the settings that `options` stand for.

    Raises:
        ValueError: when `options.escape` names no escaper, or `options.dialect` no dialect.
    """
    found = _recent.get(id(options))
    if found is not None and found[0] is options:
        return found[1]
    settings = _settings(options)
    if len(_recent) >= 64:
        _recent.clear()
    _recent[id(options)] = (options, settings)  # holds the options, so that the identity stays theirs
    return settings


_recent: dict[int, tuple[TemplateOptions, FillSettings]] = {}


def _settings(options: TemplateOptions) -> FillSettings:
    if options.dialect not in ("context", "braces", "double-braces"):
        raise ValueError(f"unknown dialect {options.dialect!r}; use context, braces or double-braces")
    return FillSettings(
        dialect=options.dialect,
        context_name=options.context_name,
        literal_escape=options.literal_escape,
        unresolved=options.unresolved,
        null_text=options.null_text,
        many=options.many,
        escaper=named_escaper(options.escape),
        escaper_name=options.escape,
        contexts=options.contexts,
        fields=options.fields,
        required=tuple(dict.fromkeys(declared_name(name, options.dialect) for name in options.required)),
        optional=frozenset(declared_name(name, options.dialect) for name in options.optional),
        expand_parameters=options.expand_parameters,
        replace_keys=options.replace_keys,
        collapse_blank_lines=options.collapse_blank_lines,
    )


def named_escaper(name: str) -> Escaper | None:
    """Return the escaper called `name`, `None` for `none`.

    Raises:
        ValueError: when there is no such escaper.
    """
    if name == "none":
        return None
    escaper = ESCAPERS.get(name)
    if escaper is None:
        near = nearest(name, ESCAPERS)
        hint = f"; did you mean {near}?" if near else f"; use one of {', '.join(ESCAPERS)}"
        raise ValueError(f"unknown escaper {name!r}{hint}")
    return escaper
