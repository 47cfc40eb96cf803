"""Renames a parameter in everything of a project that speaks of it: templates, parameter sets, schema, options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.engine.json_text import parse_json, resolve_pointer, split_pointer
from workbench.engine.projects.descriptions import schema_place
from workbench.engine.projects.snapshot import ProjectSnapshot

if TYPE_CHECKING:
    from workbench.engine.json_text import JsonDocument
    from workbench.engine.templates import TemplateOptions


@dataclass(frozen=True, slots=True)
class Renaming:
    """The texts of a project after a renaming; what is not named stays as it is.

    `messages` are by index, `parameter_sets` by name. `required` and `optional` are the declared names, `None`
    when they stay. `placeholders` counts those that changed. `unread` are the sets that are no JSON and could
    not be changed.
    """

    messages: Mapping[int, str] = field(default_factory=dict)
    graph: str | None = None
    parameter_sets: Mapping[str, str] = field(default_factory=dict)
    parameters_schema: str | None = None
    required: tuple[str, ...] | None = None
    optional: tuple[str, ...] | None = None
    placeholders: int = 0
    unread: tuple[str, ...] = ()


def rename_parameter(snapshot: ProjectSnapshot, pointer: str, new_name: str) -> Renaming:
    """Return what a project becomes when the parameter at `pointer` (a JSON Pointer) is called `new_name`.

    Items of a list are alike: `/orders/0/item` is renamed in every order. Sets that lack the parameter stay.

    Raises:
        ValueError: where a set has another parameter of the new name in the same place.
    """
    from workbench.engine.templates import (
        GraphText,
        apply_fixes,
        rename_in_graph,
        rename_in_template,
        rename_keys,
        template_names,
    )

    options = snapshot.template
    documents = {name: parse_json(text.text) for name, text in snapshot.parameter_sets.items()}
    names: frozenset[str] = frozenset()
    sets: dict[str, str] = {}
    for name, document in documents.items():
        if not document.ok:
            continue
        names |= template_names(document.value, options)
        try:
            fixes = rename_keys(document, pointer, new_name)
        except ValueError as error:
            raise ValueError(f"in the set {name}, {error}") from None
        if fixes:
            sets[name] = apply_fixes(document.text, fixes)
    count = 0
    messages: dict[int, str] = {}
    for index, message in enumerate(snapshot.messages):
        fixes = rename_in_template(message.content, pointer, new_name, options, names=names)
        if fixes:
            messages[index] = apply_fixes(message.content, fixes)
            count += len(fixes)
    graph = None
    if snapshot.graph is not None:
        text = GraphText(parse_json(snapshot.graph.text))
        fixes = rename_in_graph(text, pointer, new_name, options, names=names)
        if fixes:
            graph = apply_fixes(snapshot.graph.text, fixes)
            count += len(fixes)
    schema = None if snapshot.parameters_schema is None else parse_json(snapshot.parameters_schema.text)
    return Renaming(
        messages,
        graph,
        sets,
        None if schema is None or not schema.ok else _in_schema(schema, pointer, new_name),
        _declared(options.required, pointer, new_name, options),
        _declared(options.optional, pointer, new_name, options),
        count,
        tuple(name for name, document in documents.items() if not document.ok),
    )


def _declared(
    declared: tuple[str, ...], pointer: str, new_name: str, options: TemplateOptions
) -> tuple[str, ...] | None:
    """Return the declared names after the renaming, `None` when they stay."""
    renamed = tuple(_declared_name(name, pointer, new_name, options) for name in declared)
    return None if renamed == declared else renamed


def _declared_name(name: str, pointer: str, new_name: str, options: TemplateOptions) -> str:
    """Rename a declared name as the body of a placeholder, or as a path behind the context name."""
    from workbench.engine.templates import apply_fixes, rename_in_template
    from workbench.engine.templates.spans import DELIMITERS

    opener, closer = DELIMITERS[options.dialect]
    for lead in ("", f"{options.context_name}."):
        token = f"{opener}{lead}{name}{closer}"
        fixes = rename_in_template(token, pointer, new_name, replace(options, fields={}), names=(name,))
        if fixes:
            return apply_fixes(token, fixes)[len(opener) + len(lead) : -len(closer)]
    return name


def _in_schema(schema: JsonDocument, pointer: str, new_name: str) -> str | None:
    """Return the schema's text with the property at `pointer` renamed, where it is described and where required."""
    from workbench.engine.diagnostics import Fix
    from workbench.engine.json_text import dumps, escape_pointer
    from workbench.engine.templates import apply_fixes, rename_key

    *above, last = split_pointer(pointer)
    owner = schema_place(schema.value, above)
    if owner is None:
        return None
    described = resolve_pointer(schema.value, owner)
    properties, required = described.get("properties"), described.get("required")
    fixes: list[Fix] = []
    if isinstance(properties, dict) and last in properties and new_name not in properties:
        fix = rename_key(schema, f"{owner}/properties/{escape_pointer(last)}", new_name)
        fixes += [fix] if fix is not None else []
    for index, name in enumerate(required if isinstance(required, list) else ()):
        span = schema.span(f"{owner}/required/{index}") if name == last else None
        if span is not None:
            fixes.append(Fix("Rename", *span, dumps(new_name)))
    return apply_fixes(schema.text, fixes) if fixes else None
