"""Placeholders as the flat variables of frameworks that know neither paths nor contexts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.engine.exports.base import identifier
from workbench.engine.json_text import parse_json
from workbench.engine.projects.snapshot import ProjectSnapshot
from workbench.engine.templates import parse_template, template_names


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
    `fixed` are placeholders whose text the project itself gives, put in as text.
    """

    messages: tuple[tuple[str, tuple[Part, ...]], ...]
    variables: tuple[Variable, ...]
    renamed: tuple[Variable, ...]
    fixed: tuple[str, ...]
    optional: tuple[str, ...]


def flatten(snapshot: ProjectSnapshot) -> FlatPrompt:
    """Return the project's messages with every placeholder turned into a variable or into its fixed text."""
    options = snapshot.template
    names: dict[str, str] = {}
    fixed: dict[str, None] = {}
    messages = []
    known = _known_names(snapshot)
    for message in snapshot.messages:
        parts: list[Part] = []
        for span in parse_template(message.content, options, names=known).spans:
            if span.kind == "literal":
                _add(parts, message.content[span.start : span.end])
            elif span.kind == "escaped":
                _add(parts, span.body)
            elif (text := _fixed_text(snapshot, span.body)) is not None:
                fixed[span.body] = None
                _add(parts, text)
            elif (path := _parameter_path(snapshot, span.body)) is None:
                _add(parts, message.content[span.start : span.end])
            else:
                parts.append(Part("variable", _name(names, path)))
        messages.append((message.role, tuple(parts)))
    variables = tuple(Variable(name, path) for path, name in names.items())
    return FlatPrompt(
        tuple(messages),
        variables,
        tuple(v for v in variables if v.name != v.path),
        tuple(fixed),
        tuple(name for name in options.optional if name in names),
    )


def _known_names(snapshot: ProjectSnapshot) -> frozenset[str]:
    """Return the names that count as placeholders in the `braces` dialect because a parameter set has them."""
    names: frozenset[str] = frozenset()
    if snapshot.template.dialect == "braces":
        for file in snapshot.parameter_sets.values():
            names |= frozenset(template_names(parse_json(file.text).value, snapshot.template))
    return names


def _add(parts: list[Part], text: str) -> None:
    if not text:
        return
    if parts and parts[-1].kind == "text":
        parts[-1] = Part("text", parts[-1].text + text)
    else:
        parts.append(Part("text", text))


def _fixed_text(snapshot: ProjectSnapshot, body: str) -> str | None:
    """Return the text that the project's own contexts or fields give for a placeholder, else `None`."""
    options = snapshot.template
    context, dot, key = body.partition(".")
    if dot and context in options.contexts and key in options.contexts[context]:
        return options.contexts[context][key]
    return options.fields.get(body)


def _parameter_path(snapshot: ProjectSnapshot, body: str) -> str | None:
    options = snapshot.template
    if options.dialect != "context":
        return body.strip()
    context, dot, path = body.partition(".")
    if not dot or context != options.context_name or not path:
        return None
    return path.removeprefix("$.")


def _name(names: dict[str, str], path: str) -> str:
    if path not in names:
        wanted = path if path.isidentifier() and path.isascii() else identifier(path)
        name, number = wanted, 2
        while name in names.values():
            name, number = f"{wanted}_{number}", number + 1
        names[path] = name
    return names[path]
