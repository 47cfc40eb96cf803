"""Which placeholders are required or optional, and what they mean: read from a project, and changed in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.engine.projects.snapshot import ProjectSnapshot

if TYPE_CHECKING:
    from workbench.engine.templates import PlaceholderUse, TemplateOptions
    from workbench.engine.workflows import ProjectRendering
    from workbench.gui.shell.places import Place

NEEDS = ("", "required", "optional")


@dataclass(frozen=True)
class Row:
    """One placeholder of the project: its body, what was declared of it, and every place where it stands."""

    body: str
    need: str
    description: str
    uses: tuple[tuple[Place, PlaceholderUse], ...] = field(default=(), compare=False)
    status: str = ""
    value: str = ""
    count: int = 0


def rows_of(rendering: ProjectRendering, snapshot: ProjectSnapshot) -> list[Row]:
    """Return a row per placeholder, in the order in which they first occur; declared ones that do not, last."""
    from workbench.engine.templates import declared_name
    from workbench.gui.panes.preview.texts import placed_uses

    found: dict[str, list[tuple[Place, PlaceholderUse]]] = {}
    for use, place in placed_uses(rendering):
        found.setdefault(use.body, []).append((place, use))
    options, schema = snapshot.template, parsed_schema(snapshot)
    rows = [_row(body, uses, options, schema) for body, uses in found.items()]
    known = {name for body in found for name in names_of(body, options)}
    for need, names in (("required", options.required), ("optional", options.optional)):
        for name in names:
            bare = declared_name(name, options.dialect)
            if bare not in known:
                tokens = tokens_of(bare, options)
                rows.append(Row(bare, need, _description(schema, tokens), status="absent"))
    return rows


def _row(body: str, uses: list[tuple[Place, PlaceholderUse]], options: TemplateOptions, schema: Any) -> Row:
    first = uses[0][1]
    tokens = tokens_of(body, options) if first.source in (None, "parameter") else None
    value = "" if first.status == "kept" else first.text
    return Row(
        body,
        need_of(body, options),
        _description(schema, tokens),
        tuple(uses),
        first.status,
        value if len(value) <= 200 else value[:200] + "…",
        len(uses),
    )


def _description(schema: Any, tokens: list[str] | None) -> str:
    from workbench.engine.projects.descriptions import description_at

    return "" if tokens is None or schema is None else description_at(schema, tokens)


def parsed_schema(snapshot: ProjectSnapshot) -> Any:
    """Return the parameters' schema as a value, `None` where there is none that can be read."""
    from workbench.engine.json_text import parse_json

    if snapshot.parameters_schema is None:
        return None
    document = parse_json(snapshot.parameters_schema.text)
    return document.value if document.ok else None


def names_of(body: str, options: TemplateOptions) -> tuple[str, ...]:
    """Return the names under which a placeholder may be declared: its body, or its path behind the context name."""
    body = body.strip()
    lead = f"{options.context_name}."
    return (body, body[len(lead) :]) if options.dialect == "context" and body.startswith(lead) else (body,)


def need_of(body: str, options: TemplateOptions) -> str:
    """Return `required`, `optional` or nothing."""
    from workbench.engine.templates import declared_name

    names = names_of(body, options)
    for need, declared in (("required", options.required), ("optional", options.optional)):
        if any(declared_name(each, options.dialect) in names for each in declared):
            return need
    return ""


def tokens_of(body: str, options: TemplateOptions) -> list[str] | None:
    """Return the tokens of the JSON Pointer that a placeholder reads, `None` where its path is no plain one.

    A wildcard over the items of a list is its first item: items are alike.
    """
    from workbench.engine.json_path import JsonPathError, plain_segments

    path = names_of(body, options)[-1]
    if options.dialect == "braces":
        return [path]
    if options.dialect == "context" and path == body.strip() and "." in path:
        return None
    try:
        segments = plain_segments(path.replace("[*]", "[0]"))
    except JsonPathError:
        return None
    return None if segments is None else [str(segment) for segment in segments]


def declaring(
    snapshot: ProjectSnapshot, body: str, need: str
) -> tuple[Callable[[Any], None], Callable[[Any], None]]:
    """Return what declares a placeholder `required`, `optional` or neither, and what takes that back."""
    from workbench.engine.templates import declared_name

    options = snapshot.template
    names = names_of(body, options)

    def without(declared: tuple[str, ...]) -> list[str]:
        return [each for each in declared if declared_name(each, options.dialect) not in names]

    required, optional = without(options.required), without(options.optional)
    if need == "required":
        required.append(names[-1])
    elif need == "optional":
        optional.append(names[-1])
    return _writing(required, optional), _writing(list(options.required), list(options.optional))


def _writing(required: list[str], optional: list[str]) -> Callable[[Any], None]:
    def do(project: Any) -> None:
        project.set_template_option("required", required)
        project.set_template_option("optional", optional)

    return do
