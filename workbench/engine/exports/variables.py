"""Placeholders as the flat variables of frameworks that know neither paths nor contexts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from workbench.engine.exports.base import identifier
from workbench.engine.json_text import parse_json
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import parse_template, template_names
from workbench.engine.templates.program import Token, read_token
from workbench.engine.templates.settings import FillSettings, settings_from_options


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the exported template: its name there, and the path into the parameters it stands for."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message: literal text, or the variable `text` names."""

    kind: Literal["text", "variable"]
    text: str


@dataclass(frozen=True, slots=True)
class FlatPrompt:
    """The messages of a project as literal text and variables.

    `renamed` are the variables whose path is no plain name, so that the caller has to look the value up;
    `fixed` are placeholders whose text the project itself gives, put in as text; `unknown` are those that nothing
    gives a value, left as text. `optional` are the variables that may be missing.
    """

    messages: tuple[tuple[str, tuple[Part, ...]], ...]
    variables: tuple[Variable, ...]
    renamed: tuple[Variable, ...]
    fixed: tuple[str, ...]
    unknown: tuple[str, ...]
    optional: tuple[str, ...]


def flatten(snapshot: ProjectSnapshot, *, reserved: Collection[str] = ()) -> FlatPrompt:
    """Return the project's messages with every placeholder turned into a variable or into its fixed text.

    No variable gets one of the `reserved` names, which have a meaning of their own in the framework.
    """
    options = snapshot.template
    settings = settings_from_options(options)
    names: dict[str, str] = {}
    fixed: dict[str, None] = {}
    unknown: dict[str, None] = {}
    optional: dict[str, None] = {}
    messages = []
    known = _known_names(snapshot)
    for message in snapshot.messages:
        parts: list[Part] = []
        literal: list[str] = []
        for span in parse_template(message.content, options, names=known).spans:
            if span.kind == "literal":
                literal.append(message.content[span.start : span.end])
            elif span.kind == "escaped":
                literal.append(span.body)
            elif (text := _fixed_text(settings, token := read_token(span, settings))) is not None:
                fixed[span.body.strip()] = None
                literal.append(text)
            elif token.kind != "path":
                unknown[span.body.strip()] = None
                literal.append(message.content[span.start : span.end])
            else:
                parts += _texts(literal)
                literal.clear()
                name = _name(names, token.content.removeprefix("$."), reserved)
                parts.append(Part("variable", name))
                if token.optional:
                    optional[name] = None
        messages.append((message.role, (*parts, *_texts(literal))))
    variables = tuple(Variable(name, path) for path, name in names.items())
    return FlatPrompt(
        tuple(messages),
        variables,
        tuple(v for v in variables if v.name != v.path),
        tuple(fixed),
        tuple(unknown),
        tuple(optional),
    )


def _known_names(snapshot: ProjectSnapshot) -> frozenset[str]:
    """Return the names that count as placeholders in the `braces` dialect because a parameter set has them."""
    names: frozenset[str] = frozenset()
    if snapshot.template.dialect == "braces":
        for file in snapshot.parameter_sets.values():
            names |= frozenset(template_names(parse_json(file.text).value, snapshot.template))
    return names


def _texts(literal: list[str]) -> list[Part]:
    text = "".join(literal)
    return [Part("text", text)] if text else []


def _fixed_text(settings: FillSettings, token: Token) -> str | None:
    """Return the text, escaped, that the project's own contexts or fields give for a placeholder, else `None`."""
    context, _, key = token.content.partition(".")
    if settings.dialect == "context":
        context, key = token.context, token.content
    text = None
    if settings.dialect != "braces" and token.kind != "bare":
        text = settings.contexts.get(context, {}).get(key)
    if text is None and (token.kind == "bare" or settings.dialect != "context"):
        text = settings.fields.get(token.span.body, settings.fields.get(token.content))
    return text if text is None or settings.escaper is None else settings.escaper(text)


def _name(names: dict[str, str], path: str, reserved: Collection[str]) -> str:
    if path not in names:
        wanted = path if path.isidentifier() and path.isascii() else identifier(path)
        name, number = wanted, 2
        while name in names.values() or name in reserved:
            name, number = f"{wanted}_{number}", number + 1
        names[path] = name
    return names[path]
